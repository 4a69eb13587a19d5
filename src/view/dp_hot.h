/* The hottest line of each entry: the costliest line of its subs. */
#ifndef DP_HOT_H
#define DP_HOT_H

#include "dp_base.h"
#include "dp_overhead.h"

struct dp_hot {
    uint32_t site;              /* FILE:LINE, a number in over->values; DP_REPORT_NONE: no line is
                                 * known */
    uint64_t self;              /* cost of the line's statements, in the metric; for the metric
                                 * calls, or without costs of lines, how often they ran */
    uint64_t whole;             /* sum over all lines of the entry */
};

/* Finds the hottest lines. *hot is by entry of over, which was made from these sides, and not by
 * line. The caller frees *hot. Returns 0 or DP_E_NOMEM. */
int dp_hot_make(struct dp_hot **hot, struct dp_overhead *over, const struct dp_part *sides,
                size_t n, const struct dp_report_how *how);

#endif
