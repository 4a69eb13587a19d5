/* Paths without what differs from machine to machine: beginnings that are replaced. Paths are
 * replaced when a profile is taken, and not when it is written, so that two files that become one
 * hold one sub. */
#ifndef DP_REBASE_H
#define DP_REBASE_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dprof/profile.h"

/* The path as it is with the longest of these beginnings replaced; in buf, which is cleared, or
 * where it was. Sets *out and *out_len. Returns 0 or DP_E_NOMEM. */
int dp_rebase(const struct dp_base *bases, size_t n, const char *ptr, size_t len,
              struct dp_buf *buf, const char **out, size_t *out_len);

#endif
