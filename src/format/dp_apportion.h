/* Turns times in stamps into ticks whose sums are given: the times of statements must have the same
 * sums as those of contexts. */
#ifndef DP_APPORTION_H
#define DP_APPORTION_H

#include "dp_base.h"

/* Each contains the next one. */
enum dp_apportion_time {
    DP_APPORTION_REAL, DP_APPORTION_CPU, DP_APPORTION_SYS,
    DP_APPORTION_TIMES
};

struct dp_apportion {
    double stamps[DP_APPORTION_TIMES];
    uint64_t t[DP_APPORTION_TIMES];        /* ticks: the outcome */
};

/* No item gets more CPU time than time, or more time in the kernel than CPU time, and all items
 * together get the sums, which must obey the same rule. */
void dp_apportion(struct dp_apportion *items, size_t n, double ticks_per_stamp,
                  const uint64_t sums[DP_APPORTION_TIMES]);

#endif
