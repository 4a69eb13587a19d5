/* The callers or callees of a sub: the edges of the call graph at one sub, with calls, time and, if
 * recorded, the place of the call. */
#ifndef DP_EDGES_H
#define DP_EDGES_H

#include "dp_base.h"
#include "dp_overhead.h"
#include "dprof/report.h"

struct dp_edge {
    uint32_t name;              /* the other sub: number in over->values */
    uint32_t of;                /* number in over->values of the sub whose edges are wanted; for
                                 * dp_edges_of_lines, the sub of the line or the called sub */
    uint32_t site;              /* number in over->values; DP_REPORT_NONE: unknown */
    uint64_t calls;
    uint64_t incl;              /* value of the metric including callees; recursion counts once */
    uint64_t self;              /* value of the called sub itself */
};

struct dp_edges {
    struct dp_edge *edges;      /* the largest first */
    size_t count;
    bool found;                 /* for dp_edges_make: there is such a sub */
};

/* Makes the edges at a sub. name: a label. Returns 0 or DP_E_NOMEM; the caller releases *edges. */
int dp_edges_make(struct dp_edges *edges, const struct dp_overhead *over, const char *name,
                  size_t len, bool callees);
/* Makes the edges from lines, or to the lines that call subs. wanted: labels of subs; for callees
 * also places, as the nodes have them. An XS sub, builtin or span that calls back has no lines, so
 * its callees count as called from the line that called it. Returns 0 or DP_E_NOMEM; the caller
 * releases *edges. */
int dp_edges_of_lines(struct dp_edges *edges, const struct dp_overhead *over,
                      const struct dp_part *sides, const struct dp_report_name *wanted,
                      size_t n, bool callees);
void dp_edges_release(struct dp_edges *edges);

#endif
