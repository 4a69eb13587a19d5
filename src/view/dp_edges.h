/* Who calls a sub, or what it calls: the edges of the call graph at one sub, with calls
 * and time, and the place of the call where it was recorded. */
#ifndef DP_EDGES_H
#define DP_EDGES_H

#include "dp_base.h"
#include "dp_overhead.h"
#include "dprof/report.h"

struct dp_edge {
    uint32_t name;              /* the other sub: a number in over->values */
    uint32_t of;                /* likewise, the sub whose callers or callees are asked for; of
                                 * dp_edges_of_lines the sub of the line, or the called one */
    uint32_t site;              /* likewise, DP_REPORT_NONE: not known */
    uint64_t calls;
    uint64_t incl;              /* value of the metric, with what is called; recursion counts
                                 * once */
    uint64_t self;              /* of the called sub itself */
};

struct dp_edges {
    struct dp_edge *edges;      /* the largest first */
    size_t count;
    bool found;                 /* of dp_edges_make: is there such a sub at all? */
};

/* name: a label. Returns 0 or DP_E_NOMEM; the caller releases it. */
int dp_edges_make(struct dp_edges *edges, const struct dp_overhead *over, const char *name,
                  size_t len, bool callees);
/* The calls that are made from lines, or the lines from which subs are called. wanted: labels of
 * subs, and for callees also places as the nodes have them. An XS sub or a builtin that calls back
 * has no lines: what it calls is called from the line that it was called from itself. Returns 0 or
 * DP_E_NOMEM; the caller releases it. */
int dp_edges_of_lines(struct dp_edges *edges, const struct dp_overhead *over,
                      const struct dp_part *sides, const struct dp_report_name *wanted,
                      size_t n, bool callees);
void dp_edges_release(struct dp_edges *edges);

#endif
