/* Metrics: kinds of time, calls, counters of events. */
#ifndef DPROF_METRIC_H
#define DPROF_METRIC_H

#include "dprof/list.h"

/* The kinds of time: their names on command lines, in sentences and in dprofpp's headings; how
 * often each includes user, system and real time. */
#define DP_TIME_LIST(X) \
    X(DP_T_CPU,    "cpu",    "user+system time", "User+System", 1, 1, 0) \
    X(DP_T_USER,   "user",   "user time",        "User",        1, 0, 0) \
    X(DP_T_SYSTEM, "system", "system time",      "System",      0, 1, 0) \
    X(DP_T_REAL,   "real",   "real time",        "Real",        0, 0, 1)

/* All metrics. The number of the counter is stored next to DP_M_COUNTER, because files have
 * different orders. */
#define DP_METRIC_LIST(X) \
    DP_TIME_LIST(X) \
    X(DP_M_CALLS,   "calls",   "calls",   "Calls",   0, 0, 0) \
    X(DP_M_COUNTER, "counter", "counter", "Counter", 0, 0, 0)
DP_ENUM(dp_metric, DP_METRIC_LIST);

/* Is it measured in ticks? (The single value of folded stacks counts as a time, whatever its
 * unit.) */
static inline int dp_metric_is_time(enum dp_metric metric)
{
    switch (metric) {
#define DP_METRIC_IS_TIME(id, ...) case id:
    DP_TIME_LIST(DP_METRIC_IS_TIME)
#undef DP_METRIC_IS_TIME
        return 1;
    case DP_M_CALLS:
    case DP_M_COUNTER:
        break;
    }
    return 0;
}

/* Is it a counter of the file? */
static inline int dp_metric_is_counter(enum dp_metric metric)
{
    return metric == DP_M_COUNTER;
}

#endif
