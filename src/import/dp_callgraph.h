/* Inside the reader: makes contexts from a call graph. Some formats have no stacks, but functions
 * with their own values and, for each caller and callee, the number of calls and the callee's
 * inclusive values. */
#ifndef DP_CALLGRAPH_H
#define DP_CALLGRAPH_H

#include "dp_import.h"

struct dp_callgraph_function {
    uint32_t sub;               /* the consumer's number, which the reader sets before
                                 * dp_callgraph_contexts */
    uint32_t calls;             /* first edge to a callee; UINT32_MAX: none */
    uint32_t arrivals;          /* first of its future contexts */
    uint32_t index, low, group; /* for the search for circles */
};

struct dp_callgraph_edge {
    uint32_t from, to, next;    /* next: next edge of the same caller */
};

/* A call graph. Each function and each edge has as many values as the header has kinds. */
struct dp_callgraph {
    size_t width;               /* number of these values */
    struct dp_callgraph_function *functions;
    uint64_t *own;              /* width for each function: own values */
    size_t n_functions, functions_cap, own_cap;
    struct dp_callgraph_edge *edges;
    uint64_t *inclusive;        /* width for each edge: inclusive values; if the kind is calls,
                                 * their number */
    size_t n_edges, edges_cap, inclusive_cap;
    struct dp_map edge_of;      /* caller and callee -> edge */
};

/* Make an empty call graph, and free what a graph holds. */
void dp_callgraph_init(struct dp_callgraph *g);
void dp_callgraph_release(struct dp_callgraph *g);

/* Adds a function without values. width must be set. Returns its number, DP_E_NOMEM, or DP_E_LIMIT:
 * there are too many. */
int64_t dp_callgraph_function(struct dp_callgraph *g);
/* Finds or makes the edge from a caller to a callee. Returns its number, or DP_E_NOMEM. */
int64_t dp_callgraph_edge(struct dp_callgraph *g, uint32_t from, uint32_t to);

/* Adds values. Returns 0, or DP_E_LIMIT: their sum does not fit. */
int dp_callgraph_add(const struct dp_callgraph *g, uint64_t *to, const uint64_t *values);

/* Makes contexts and hands them over. The tree reproduces the graph exactly: every function's own
 * values, every edge's calls and inclusive values, and hence every function's inclusive values.
 * Recursion, direct or mutual, is the exception (below).
 *
 * A function's values are divided among its callers in proportion to what each caller claims.
 * Amounts below 1/4096 of the total go undivided to the first caller, because there would otherwise
 * be more contexts than memory holds. Beyond two million contexts, a function's values are kept,
 * but no longer divided by caller.
 *
 * If functions call each other in a circle, the amount that all calls of the circle have in common
 * is subtracted from them: it is a part of itself, and counts for the function where the circle was
 * entered. Own values, and calls into and out of the circle, do not change.
 *
 * If callers claim less of a function than it has, the rest is below the root. If they claim more,
 * the surplus is left out. Returns 0 or a DP_E. */
int dp_callgraph_contexts(struct dp_reader *r, struct dp_callgraph *g);

#endif
