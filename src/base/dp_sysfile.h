/* Small files of /sys and /proc, read whole. */
#ifndef DP_SYSFILE_H
#define DP_SYSFILE_H

#include "dp_base.h"
#include "dp_pool.h"

/* Reads the file `root`/`path` (`path` is a printf format) into to: at most size - 1 bytes, without
 * white space at the end, and a NUL. Returns the number of bytes, or -1 if the file cannot be read
 * or its name is too long. */
long dp_sysfile_read(char *to, size_t size, const char *root, const char *fmt, ...) DP_PRINTF(4, 5);

/* Is there a file or folder with the path that fmt and its values make, below root? */
bool dp_sysfile_is(const char *root, const char *fmt, ...) DP_PRINTF(2, 3);

/* Names in a folder, sorted, in the pool, without those that begin with a dot. An unreadable folder
 * has none. */
struct dp_sysfile_names {
    const char **ptr;
    size_t count, cap;
};

/* Lists a folder. Returns 0 or DP_E_NOMEM. Release *names in both cases. */
int dp_sysfile_list(struct dp_sysfile_names *names, struct dp_pool *pool, const char *root,
                    const char *fmt, ...) DP_PRINTF(4, 5);
void dp_sysfile_release(struct dp_sysfile_names *names);

#endif
