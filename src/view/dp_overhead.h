/* Self and Children of entries. An entry is what contexts with equal sort keys have in common: by
 * default, a sub. Self is the entry's own value; Children includes its callees. Each distinct entry
 * counts once per stack, so recursion never exceeds the total. */
#ifndef DP_OVERHEAD_H
#define DP_OVERHEAD_H

#include "dp_base.h"
#include "dp_pair.h"
#include "dp_pool.h"
#include "dp_prof.h"
#include "dp_names.h"
#include "dprof/entry.h"

#define DP_REPORT_NONE UINT32_MAX

/* A context as the keys and filters see it. Contexts of all sides are in one list, parents before
 * kids. A profile's root is the first of its contexts. */
struct dp_report_node {
    uint32_t parent;            /* DP_REPORT_NONE: a root */
    uint32_t end;               /* first number after its subtree */
    uint32_t depth;             /* number of frames above */
    uint32_t entry;
    uint32_t name;              /* label of the sub: number in `values` */
    uint32_t site;              /* place of the call: number in `values`, or DP_REPORT_NONE */
    uint64_t self, incl;        /* values of the metric; incl: with callees */
    uint64_t real;              /* real ticks with callees */
    uint64_t calls;
    uint64_t longest, shortest; /* real ticks of one call; both 0: unknown */
    uint32_t side, node;        /* the profile's side and node; node 0: the root */
};

struct dp_over_row {
    uint32_t entry;
    uint32_t depth;             /* least depth of its contexts */
    uint64_t self, children, calls;
    uint64_t real;              /* real ticks, with callees */
    uint64_t longest, shortest; /* shortest has 1 added; both 0: unknown */
    bool shown;                 /* it passes the filters */
};

struct dp_overhead {
    struct dp_pool values;      /* texts of labels and of key values */
    struct dp_pool entries;     /* tuples of n_keys numbers in values */
    size_t n_keys;
    struct dp_report_node *nodes; /* in preorder */
    size_t n_nodes;
    struct dp_over_row *rows;   /* sorted rows of all entries */
    size_t n_rows;
    bool by_line;               /* rows are lines of source: calls are how often statements ran, and
                                 * entries of contexts do not belong to these rows */
    uint64_t hz;                /* ticks per second of all values: the finest of the sides' */
    uint64_t total;             /* of the metric */
    uint64_t base;              /* the value that is 100 %: the total, or the sum of what is
                                 * shown */
};

/* Computes the entries and rows. Returns 0 or a negative DP_E; the caller releases *over. */
int dp_overhead_make(struct dp_overhead *over, const struct dp_part *sides, size_t n,
                     const struct dp_report_how *how);
void dp_overhead_release(struct dp_overhead *over);

/* The text of key k of an entry; borrowed. */
const struct dp_name *dp_overhead_text(const struct dp_overhead *over, uint32_t entry, size_t k);

#endif
