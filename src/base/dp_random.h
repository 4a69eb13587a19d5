/* Random bytes from the system. */
#ifndef DP_RANDOM_H
#define DP_RANDOM_H

#include "dp_base.h"

/* The permitted sources of the bytes; tests leave one out. */
enum { DP_RANDOM_CALL = 1, DP_RANDOM_DEVICE = 2, DP_RANDOM_ALL = 3 };

/* Fills in len bytes, 256 at most: from getrandom() or, if a kernel or a sandbox lacks it, from
 * /dev/urandom. Never blocks. Returns false if there is neither; then the bytes are undefined. May
 * change errno. */
bool dp_random(void *to, size_t len, unsigned from);

#endif
