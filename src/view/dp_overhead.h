/* Self and children overhead of entries: an entry is what the sort keys have in
 * common, by default a sub. Self is what passed in it; Children also what passed in
 * what it called. Each distinct entry counts once per stack, so that recursion
 * never exceeds the total. */
#ifndef DP_OVERHEAD_H
#define DP_OVERHEAD_H

#include "dp_base.h"
#include "dp_pair.h"
#include "dp_pool.h"
#include "dp_prof.h"
#include "dp_names.h"
#include "dprof/entry.h"

#define DP_REPORT_NONE UINT32_MAX

/* What a context is, as the keys and filters see it. Contexts of all sides stand in one
 * list, parents before kids; a profile's root is its first. */
struct dp_report_node {
    uint32_t parent;            /* DP_REPORT_NONE: a root */
    uint32_t end;               /* first number behind its subtree */
    uint32_t depth;             /* frames above */
    uint32_t entry;
    uint32_t name;              /* label of the sub: a number in `values` */
    uint32_t site;              /* place of the call, likewise; DP_REPORT_NONE */
    uint64_t self, incl;        /* values of the metric; incl: with what it called */
    uint64_t real;              /* real ticks, with what it called */
    uint64_t calls;
    uint64_t longest, shortest; /* real ticks of one call; both 0: not known */
    uint32_t side, node;        /* the node that it was made of; node 0: the root */
};

struct dp_over_row {
    uint32_t entry;
    uint32_t depth;             /* the least one */
    uint64_t self, children, calls;
    uint64_t real;              /* real ticks, as children */
    uint64_t longest, shortest; /* shortest and 1; both 0: not known */
    bool shown;                 /* by the filters */
};

struct dp_overhead {
    struct dp_pool values;      /* texts of labels and of key values */
    struct dp_pool entries;     /* tuples of n_keys numbers of values */
    size_t n_keys;
    struct dp_report_node *nodes; /* in preorder */
    size_t n_nodes;
    struct dp_over_row *rows;   /* sorted; of all entries */
    size_t n_rows;
    bool by_line;               /* rows are lines of source: calls are how often statements ran, and
                                 * entries of contexts do not belong to these rows */
    uint64_t hz;                /* ticks per second of all values: the finest of the sides' */
    uint64_t total;             /* of the metric, all of it */
    uint64_t base;              /* what 100 % is: the total, or the sum of what is shown */
};

/* Computes it. Returns 0 or a negative DP_E; the caller releases it. */
int dp_overhead_make(struct dp_overhead *over, const struct dp_part *sides, size_t n,
                     const struct dp_report_how *how);
void dp_overhead_release(struct dp_overhead *over);

/* The text of key k of an entry; borrowed. */
const struct dp_name *dp_overhead_text(const struct dp_overhead *over, uint32_t entry, size_t k);

#endif
