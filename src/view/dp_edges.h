/* Who calls a sub, or what it calls: the edges of the call graph at one sub, with calls
 * and time, and the place of the call where it was recorded. */
#ifndef DP_EDGES_H
#define DP_EDGES_H

#include "dp_base.h"
#include "dp_overhead.h"

struct dp_edge {
    uint32_t name;              /* the other sub: a number in over->values */
    uint32_t site;              /* likewise, DP_OVER_NONE: not known */
    uint64_t calls;
    uint64_t incl;              /* value of the metric, with what is called; recursion counts
                                 * once */
    uint64_t self;              /* of the called sub itself */
};

struct dp_edges {
    struct dp_edge *edges;      /* the largest first */
    size_t count;
    bool found;                 /* is there such a sub at all? */
};

/* name: a label. Returns 0 or DP_E_NOMEM; the caller releases it. */
int dp_edges_make(struct dp_edges *edges, const struct dp_overhead *over, const char *name,
                  size_t len, bool callees);
void dp_edges_release(struct dp_edges *edges);

#endif
