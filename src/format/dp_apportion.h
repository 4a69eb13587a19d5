/* Converts times in stamps into ticks with given sums: the times of statements must have the same
 * sums as those of contexts. */
#ifndef DP_APPORTION_H
#define DP_APPORTION_H

#include "dp_base.h"

/* Each time includes the next one. */
enum dp_apportion_time {
    DP_APPORTION_REAL, DP_APPORTION_CPU, DP_APPORTION_SYS,
    DP_APPORTION_TIMES
};

struct dp_apportion {
    double stamps[DP_APPORTION_TIMES];
    uint64_t t[DP_APPORTION_TIMES];        /* ticks; the result */
};

/* Fills in t. No item gets more CPU time than real time, or more kernel time than CPU time. All
 * items together get the sums, which must obey the same rule. */
void dp_apportion(struct dp_apportion *items, size_t n, double ticks_per_stamp,
                  const uint64_t sums[DP_APPORTION_TIMES]);

#endif
