/* A whole comparison: its entries as sorted rows, what a gate finds, and call trees. Tables, and
 * rows for hosts, are made from it. */
#ifndef DP_COMPARED_H
#define DP_COMPARED_H

#include "dp_base.h"
#include "dp_diff.h"
#include "dp_diff_tree.h"
#include "dp_gate.h"
#include "dprof/diff.h"

/* Where an entry stands: among those that both sides have, the new ones, or those that are gone. */
enum dp_section { DP_BOTH, DP_NEW, DP_GONE };

struct dp_compared_row {
    uint32_t entry;
    enum dp_section section;
    uint32_t fails;             /* the number of the first finding about the row, plus 1; 0: there
                                 * is none */
    bool unchanged;             /* on all sides */
};

struct dp_compared {
    const struct dp_diff_how *how;      /* borrowed */
    struct dp_diff diff;
    struct dp_diff_family *families;    /* by side */
    struct dp_diff_family *calls;       /* by side: calls, or samples */
    struct dp_diff_family *ops; /* by side: the ops, which are certain and stand beside times; NULL:
                                 * unknown */
    struct dp_gate gate;
    bool has_gate;
    bool sets;                  /* some side has several runs that do not agree, so medians are
                                 * compared */
    struct dp_compared_row *rows;       /* the entries that pass the filters */
    size_t n_rows;
    size_t unchanged;           /* number of rows that have not changed */
    struct dp_diff_tree tree;
};

/* What a caller wants besides the gate. */
enum {
    DP_COMPARE_ROWS = 1,
    DP_COMPARE_CALLS = 2,
    DP_COMPARE_TREE = 4,
    DP_COMPARE_SAMPLES = 8      /* the number of samples, or calls where nothing was sampled */
};

/* Compares sides. The tree is that of how->view: the whole tree, or the callers or callees of
 * how->edges_of. Returns 0 or a DP_E; DP_E_ARG if no side has the sub of how->edges_of. The caller
 * releases *c in any case. sides and how are borrowed. */
int dp_compare(struct dp_compared *c, const struct dp_diff_side *sides, size_t n,
               const struct dp_diff_how *how, unsigned what);
void dp_compared_release(struct dp_compared *c);

static inline const struct dp_diff_values *dp_compared_of(const struct dp_compared *c,
                                                          uint32_t entry, uint32_t side)
{
    return &c->families[side].values[entry];
}

/* The value in percent of the whole; NAN if the whole is 0. */
double dp_diff_share(double whole, uint64_t value);

/* Computes what how->compute asks for from the values of a side. *shown gets the result, or NAN if
 * there is no value. Returns the size that sorts the rows, or NAN. */
double dp_compared_computed(const struct dp_compared *c, const struct dp_diff_values *v,
                            uint32_t side, double *shown);

/* The absolute change: how much was added or removed. */
double dp_diff_size(const struct dp_diff_values *v);

/* Is the row shown? how->percent_limit may hide the row, and so may the lack of how->verbose. all:
 * shows every row. */
bool dp_compared_is_shown(const struct dp_compared *c, const struct dp_compared_row *row, bool all);

#endif
