/* Turns times in stamps into ticks whose sums are given: the times of statements must have the same
 * sums as those of contexts. */
#ifndef DP_SPREAD_H
#define DP_SPREAD_H

#include "dp_base.h"

/* Each contains the next one. */
enum dp_spread_time { DP_SPREAD_REAL, DP_SPREAD_CPU, DP_SPREAD_SYS, DP_SPREAD_TIMES };

struct dp_spread {
    double stamps[DP_SPREAD_TIMES];
    uint64_t t[DP_SPREAD_TIMES];        /* ticks: the outcome */
};

/* No item gets more CPU time than time, or more time in the kernel than CPU time, and all items
 * together get the sums, which must obey the same rule. */
void dp_spread(struct dp_spread *items, size_t n, double ticks_per_stamp,
               const uint64_t sums[DP_SPREAD_TIMES]);

#endif
