/* Inside the formats of stacks: their list, and their arguments. A format is a file with its
 * function, and a row here. */
#ifndef DP_PRINT_STACKS_H
#define DP_PRINT_STACKS_H

#include "dp_flame.h"
#include "dp_io.h"
#include "dp_stacks.h"
#include "dprof/stacks.h"

/* Name; suffixes; needs. The first format for eyes, the first for programs, and the first of other
 * tools are the defaults of dprofflame, dproffold and dprofexport. The printer of a format is
 * dp_print_NAME. */
#define DP_STACKS_FORMATS(ROW)                                              \
    ROW(folded, ".folded", 0)                                               \
    ROW(svg, ".svg", DP_STACKS_VISUAL | DP_STACKS_LAYOUT)                   \
    ROW(html, ".html .htm", DP_STACKS_VISUAL | DP_STACKS_METRICS)           \
    ROW(pprof, ".pb.gz .pb .pprof",                                         \
        DP_STACKS_EXPORT | DP_STACKS_METRICS | DP_STACKS_LABELS | DP_STACKS_BASE) \
    ROW(speedscope, ".speedscope.json .speedscope",                         \
        DP_STACKS_EXPORT | DP_STACKS_METRICS | DP_STACKS_APART | DP_STACKS_TIMELINE \
            | DP_STACKS_NO_SITES)                                           \
    ROW(firefox, ".firefox.json",                                           \
        DP_STACKS_EXPORT | DP_STACKS_METRICS | DP_STACKS_APART | DP_STACKS_TIMELINE) \
    ROW(callgrind, ".callgrind",                                            \
        DP_STACKS_EXPORT | DP_STACKS_METRICS | DP_STACKS_CALLS)             \
    ROW(cachegrind, ".cachegrind", DP_STACKS_EXPORT | DP_STACKS_METRICS | DP_STACKS_BASE) \
    ROW(chrome, ".trace.json .perfetto.json",                               \
        DP_STACKS_EXPORT | DP_STACKS_APART | DP_STACKS_TRACE)

/* All is borrowed. */
struct dp_stacks_printing {
    const struct dp_stacks_job *job;
    const struct dp_stacks *s;  /* NULL: with DP_STACKS_TRACE */
    const struct dp_flame *layout;      /* for a format that needs it */
    const double *factor;       /* by column: factor of values */
    const struct dp_host *host; /* for its progress */
    struct dp_sink *sink;       /* the caller flushes it */
    struct dp_stacks_outcome *out;
    /* Stacks of the same parts in order of time; NULL: unknown. The first measure of its job is
     * real time; the others are the counters among those of this job. */
    const struct dp_stacks_printing *timeline;
};

/* Each printer prints p->s, and stores in p->out what the driver cannot know. Returns 0 or a
 * DP_E. */
#define ROW(name, suffixes, needs) int dp_print_##name(const struct dp_stacks_printing *p);
DP_STACKS_FORMATS(ROW)
#undef ROW

#endif
