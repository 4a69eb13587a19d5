/* Random bytes from the system. */
#ifndef DP_RANDOM_H
#define DP_RANDOM_H

#include "dp_base.h"

/* Where the bytes may come from; tests leave one out. */
enum { DP_RANDOM_CALL = 1, DP_RANDOM_DEVICE = 2, DP_RANDOM_ALL = 3 };

/* Fills in len bytes, 256 at most: with those of getrandom(), or, where a kernel or a sandbox does
 * not have that, of /dev/urandom. Never waits. Returns false if there is neither; then the bytes
 * are undefined. Sets errno as it likes. */
bool dp_random(void *to, size_t len, unsigned from);

#endif
