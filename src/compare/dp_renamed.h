/* Subs that only one side has, and that may be one sub under two names. */
#ifndef DP_RENAMED_H
#define DP_RENAMED_H

#include "dp_compared.h"

struct dp_renamed {
    uint32_t from, to;          /* entries */
    uint64_t calls;             /* calls of the new sub */
    bool certain;               /* both have exactly the same calls and ops, and no other sub that
                                 * is new or gone has these */
};

/* Finds up to `most` pairs, those with the most time first. A sub that is gone is paired with a new
 * one if they have nearly as many calls (within 2 %) and do nearly the same in each: as many ops
 * or, if ops are unknown, half to twice the time. Subs with less than how->floor percent of the
 * time on both sides are left out. Calls must be known (DP_COMPARE_CALLS), so samples cannot be
 * used. Returns the number of pairs, or DP_E_NOMEM. */
int dp_renamed_find(struct dp_renamed *renames, size_t most, const struct dp_compared *c);

#endif
