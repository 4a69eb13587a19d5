/* The hottest line of each entry: of the lines of its subs, the one that costs most. */
#ifndef DP_HOT_H
#define DP_HOT_H

#include "dp_base.h"
#include "dp_overhead.h"

struct dp_hot {
    uint32_t site;              /* FILE:LINE: of over->values; DP_REPORT_NONE: no line is known */
    uint64_t self;              /* what its statements cost, in the metric; how often they ran where
                                 * the metric is calls, or the profile has no costs of lines */
    uint64_t whole;             /* the same of all lines of the entry */
};

/* *hot is by entry of over, which is made of these sides, and not by line. The caller frees *hot.
 * Returns 0 or DP_E_NOMEM. */
int dp_hot_make(struct dp_hot **hot, struct dp_overhead *over, const struct dp_part *sides,
                size_t n, const struct dp_report_how *how);

#endif
