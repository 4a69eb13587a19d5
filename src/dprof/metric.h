/* What is counted: kinds of time, calls, counters of events. */
#ifndef DPROF_METRIC_H
#define DPROF_METRIC_H

#include "dprof/list.h"

/* The kinds of time: what they are called on command lines, in sentences and in dprofpp's headings;
 * how often the user, system and real time that a file tells of each are part of them. */
#define DP_TIME_LIST(X) \
    X(DP_T_CPU,    "cpu",    "user+system time", "User+System", 1, 1, 0) \
    X(DP_T_USER,   "user",   "user time",        "User",        1, 0, 0) \
    X(DP_T_SYSTEM, "system", "system time",      "System",      0, 1, 0) \
    X(DP_T_REAL,   "real",   "real time",        "Real",        0, 0, 1)

/* All metrics. Which counter DP_M_COUNTER is, is said beside it: files differ in their order. */
#define DP_METRIC_LIST(X) \
    DP_TIME_LIST(X) \
    X(DP_M_CALLS,   "calls",   "calls",   "Calls",   0, 0, 0) \
    X(DP_M_COUNTER, "counter", "counter", "Counter", 0, 0, 0)
DP_ENUM(dp_metric, DP_METRIC_LIST);

/* Is it measured in ticks? (The one value of folded stacks counts as a time, whatever it is.) */
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

/* Is it one of a file's own counters? */
static inline int dp_metric_is_counter(enum dp_metric metric)
{
    return metric == DP_M_COUNTER;
}

#endif
