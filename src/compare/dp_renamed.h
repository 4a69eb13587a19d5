/* Subs that one side alone has, and that may be one sub which has another name on the other side. */
#ifndef DP_RENAMED_H
#define DP_RENAMED_H

#include "dp_compared.h"

struct dp_renamed {
    uint32_t from, to;          /* entries */
    uint64_t calls;             /* of the new one */
    bool certain;               /* both have exactly the same calls and the same ops, and no other
                                 * sub that is new or gone has */
};

/* Finds up to `most` of them, those that take most time first. A sub that is gone and one that is
 * new go together if they have nearly as many calls (2 % apart), and do nearly the same in each:
 * as many ops or, where ops are not known, half to twice the time. Those that have less than
 * how->floor percent of the time on both sides are left out. Calls must be known
 * (DP_COMPARE_CALLS), which they are not of samples. Returns how many there are, or DP_E_NOMEM. */
int dp_renamed_find(struct dp_renamed *renames, size_t most, const struct dp_compared *c);

#endif
