/* Inside the reader: contexts of a call graph. Some formats have no stacks, but functions with
 * their own values, and for each caller and callee the number of calls and the callee's inclusive
 * values. Not for anybody else. */
#ifndef DP_CALLGRAPH_H
#define DP_CALLGRAPH_H

#include "dp_import.h"

struct dp_callgraph_function {
    uint32_t sub;               /* the consumer's number, which the reader sets before
                                 * dp_callgraph_contexts */
    uint32_t calls;             /* the first edge to one that it calls; UINT32_MAX: it calls none */
    uint32_t arrivals;          /* the first of the contexts that it will have */
    uint32_t index, low, group; /* of the search for circles */
};

struct dp_callgraph_edge {
    uint32_t from, to, next;    /* next: of the same caller */
};

/* As many values for each function and edge as the header has kinds. */
struct dp_callgraph {
    size_t width;               /* that many */
    struct dp_callgraph_function *functions;
    uint64_t *own;              /* width for each function */
    size_t n_functions, functions_cap, own_cap;
    struct dp_callgraph_edge *edges;
    uint64_t *inclusive;        /* width for each edge; where the kind is calls, their number */
    size_t n_edges, edges_cap, inclusive_cap;
    struct dp_map edge_of;      /* caller and callee -> edge */
};

void dp_callgraph_init(struct dp_callgraph *g);
void dp_callgraph_release(struct dp_callgraph *g);

/* A new function, without any values. width has been set. Returns its number, DP_E_NOMEM, or
 * DP_E_LIMIT: there are too many. */
int64_t dp_callgraph_function(struct dp_callgraph *g);
/* The edge from a caller to a callee, made if there is none. Returns its number, or DP_E_NOMEM. */
int64_t dp_callgraph_edge(struct dp_callgraph *g, uint32_t from, uint32_t to);

/* Adds values. Returns 0, or DP_E_LIMIT: they add up to more than fits. */
int dp_callgraph_add(const struct dp_callgraph *g, uint64_t *to, const uint64_t *values);

/* Makes contexts and hands them over. For each function its own values, for each caller and callee
 * the inclusive values and the calls, and so for each function the inclusive values, are those of
 * the graph, to the last unit, as long as no function calls itself, be it by way of others. What a
 * function has is shared among its callers in proportion to what each of them has of it; what is
 * below 1/4096 of the total goes to whoever comes first, or there would be more contexts than
 * memory holds. Beyond two million contexts a function's values are kept, but no longer which of
 * its callers they are of.
 * Where functions call each other in a circle, what all calls of the circle have in common is taken
 * off them: it is a part of itself, and counts for the function where the circle was entered. Own
 * values, and calls into and out of the circle, stay as they are.
 * Where callers claim less of a function than it has, the rest is below the root. Where they claim
 * more, the surplus is left out. Returns 0 or a DP_E. */
int dp_callgraph_contexts(struct dp_reader *r, struct dp_callgraph *g);

#endif
