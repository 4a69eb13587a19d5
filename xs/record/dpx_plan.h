/* Counters of events beside the clock: which ones (the same for all threads of the process), and an
 * interpreter's own. A counter only grows: SVs and bytes, whose number goes up and down, have two
 * counters, one for those taken and one for those given back. */
#ifndef DPX_PLAN_H
#define DPX_PLAN_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_fmt.h"
#include "dp_perf.h"
#include "dp_pmu.h"

/* The events that are counted. */
struct dpx_plan {
    size_t n;                   /* columns of the file, without the ops of a tree */
    size_t n_perf;
    size_t perf_at[DP_FMT_COUNTERS];    /* the column of each event of the kernel */
    struct dp_pmu_event perf[DP_FMT_COUNTERS];
    bool ops, svs, bytes, noise;
    size_t samples_at, returned_at;
    size_t ops_at, svs_at, bytes_at;    /* columns; svs and bytes have two each */
    size_t noise_at, heap_at;   /* columns that the recorder fills by itself: heap has three ... */
    size_t n_own;               /* ... and the number of all of these */
    struct dp_buf columns;      /* NAME:UNIT, separated by blanks, for the header */
    struct dp_buf missing;      /* names of the optional events that are not available */
};

/* The counts of an interpreter. */
struct dpx_events {
    uint64_t total[DP_FMT_COUNTERS];    /* by column; only grows */
    struct dp_perf perf;
    uint64_t ops;               /* ops at the last arrival or leaving */
    int64_t svs, bytes;
    uintptr_t thread;           /* the thread that the kernel's counters count */
    bool stale;                 /* in a child that has recorded nothing yet, the kernel's counters
                                 * are the parent's */
};

#endif
