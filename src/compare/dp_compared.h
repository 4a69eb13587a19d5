/* A whole comparison: entries as rows in their order, what a gate finds, call trees. Tables, and
 * rows for hosts, are made of it. */
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
    uint32_t fails;             /* 1 and the number of the first finding about it; 0: there is
                                 * none */
    bool unchanged;             /* on all sides */
};

struct dp_compared {
    const struct dp_diff_how *how;      /* borrowed */
    struct dp_diff diff;
    struct dp_diff_family *families;    /* by side */
    struct dp_diff_family *calls;       /* by side: calls, or samples */
    struct dp_diff_family *ops; /* by side: what ops say, which is certain, beside times; NULL: not
                                 * known */
    struct dp_gate gate;
    bool has_gate;
    bool sets;                  /* some side has several runs that do not agree:
                                 * medians are compared */
    struct dp_compared_row *rows;       /* of entries that the filters show */
    size_t n_rows;
    size_t unchanged;           /* how many of these have not changed */
    struct dp_diff_tree tree;
};

/* What is wanted besides the gate. */
enum {
    DP_COMPARE_ROWS = 1,
    DP_COMPARE_CALLS = 2,
    DP_COMPARE_TREE = 4,
    DP_COMPARE_SAMPLES = 8      /* the number of samples, or calls where nothing was sampled */
};

/* Compares. The tree is that of how->view: all of it, or the callers or callees of how->edges_of;
 * DP_E_ARG where no side has that sub. Returns 0 or a DP_E; in any case the caller releases it.
 * sides and how are borrowed. */
int dp_compare(struct dp_compared *c, const struct dp_diff_side *sides, size_t n,
               const struct dp_diff_how *how, unsigned what);
void dp_compared_release(struct dp_compared *c);

static inline const struct dp_diff_values *dp_compared_of(const struct dp_compared *c,
                                                          uint32_t entry, uint32_t side)
{
    return &c->families[side].values[entry];
}

/* Percent; NAN where nothing passed at all. */
double dp_diff_share(double whole, uint64_t value);

/* Computes what how->compute makes of the values of a side, in *shown; NAN if there is no value.
 * Returns the size by which rows are sorted, or NAN. */
double dp_compared_computed(const struct dp_compared *c, const struct dp_diff_values *v,
                            uint32_t side, double *shown);

/* How much was added or taken off. */
double dp_diff_size(const struct dp_diff_values *v);

/* Is a row shown? how->percent_limit may hide it, and how->verbose, unless all rows are wanted. */
bool dp_compared_is_shown(const struct dp_compared *c, const struct dp_compared_row *row, bool all);

#endif
