/* Replaces the beginnings of paths that vary between machines. Paths are replaced when a profile is
 * read, and not when it is written, so two files that become one contain one sub. */
#ifndef DP_REBASE_H
#define DP_REBASE_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dprof/profile.h"

/* Replaces the longest of these beginnings of a path. The result is in buf, which is cleared, or at
 * its old place. Sets *out and *out_len. Returns 0 or DP_E_NOMEM. */
int dp_rebase(const struct dp_base *bases, size_t n, const char *ptr, size_t len,
              struct dp_buf *buf, const char **out, size_t *out_len);

#endif
