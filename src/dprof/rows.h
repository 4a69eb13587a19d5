/* Views as rows of data, for a host that searches them and prints nothing. Names are UTF-8 as far
 * as the program's are, and borrowed until the callback returns. */
#ifndef DPROF_ROWS_H
#define DPROF_ROWS_H

#include "dprof/diff.h"

/* An edge of the call graph at one sub. */
struct dp_edge_row {
    const char *name, *site;    /* the other sub; the place of the call, NULL: unknown */
    size_t name_len, site_len;
    uint64_t calls;
    uint64_t self, incl;        /* of the metric, in ticks or counts: of the called sub itself, and
                                 * with its callees */
};

/* Receives each edge; returns 0, or a negative number to stop. */
typedef int dp_edge_row_fn(void *ctx, const struct dp_edge_row *row);

/* Hands over the callers of the sub with a label, or with `callees` its callees, the largest first.
 * Returns 0 or a negative DP_E; DP_E_ARG if there is no such sub. */
int dp_edge_rows(const struct dp_part *sides, size_t n, const struct dp_report_how *how,
                 const char *name, size_t len, int callees, dp_edge_row_fn *fn, void *ctx);

/* ---- a comparison ---- */

struct dp_compared;

/* Compares, once, for all functions below; with_tree: for dp_compared_lines, too. The caller frees
 * *c. Returns 0 or a negative DP_E. sides and how are borrowed during its lifetime. */
int dp_compared_new(struct dp_compared **c, const struct dp_diff_side *sides, size_t n,
                    const struct dp_diff_how *how, int with_tree);
void dp_compared_free(struct dp_compared *c);

/* The values of a side and of the baseline. Times are in ticks of 1/hz s; if hz is 0 they are
 * counts. */
struct dp_change {
    uint64_t hz;
    int base_there, there;
    uint64_t base, value;
    uint64_t base_calls, calls;
};

/* The totals; calls are 0. */
void dp_compared_total(const struct dp_compared *c, size_t side, struct dp_change *total);

#define DP_CHANGE_ROW_FIELDS(X) \
    X(NAME, name)               /* its first key; NULL for a line that represents several \
                                 * branches */ \
    X(NAME, other)              /* its second key; NULL: none */ \
    X(NAME, file)               /* for an entry that is a line of source: its file, by the name \
                                 * that all sides share; else NULL */ \
    X(NAME, baseline_file)      /* its file in the profiles of both sides; NULL: the side lacks \
                                 * the file */ \
    X(NAME, own_file) \
    X(COUNT, baseline_line)     /* its number on both sides; 0: the side is not known to have the \
                                 * line */ \
    X(COUNT, line) \
    X(TEXT, fate)               /* the word of enum dp_fate; NULL: no line of source */ \
    X(SIZE, level)              /* of a line of the tree: its depth */ \
    X(SIZE, more)               /* number of branches that it represents */
struct dp_change_row {
    DP_CHANGE_ROW_FIELDS(DP_MEMBER)
    struct dp_change change;
};
/* Returns 0, or a negative number to stop. */
typedef int dp_change_row_fn(void *ctx, const struct dp_change_row *row);

/* Hands over the entries that pass the filters, in the order of how->order. */
int dp_compared_rows(const struct dp_compared *c, size_t side, dp_change_row_fn *fn, void *ctx);

/* Hands over the lines of the call tree from the program down: calls and values are those of
 * branches, with callees. Branches that change by less than least_percent of the total are one line
 * below their parent. Returns 0 or a negative DP_E. */
int dp_compared_lines(const struct dp_compared *c, size_t side, double least_percent,
                      dp_change_row_fn *fn, void *ctx);

/* A finding of the gate. */
#define DP_FINDING_ROW_FIELDS(X) \
    X(NAME, rule)               /* as the user wrote it */ \
    X(NAME, name)               /* the sub, or its keys; a line; "(total)" */ \
    X(NAME, sub)                /* if name is a line of source: the sub that contains it; or \
                                 * NULL */ \
    X(SIZE, side) \
    X(FLAG, undecided)
struct dp_finding_row {
    DP_FINDING_ROW_FIELDS(DP_MEMBER)
    struct dp_change change;    /* of a rule of growth; of others neither value is there */
};
typedef int dp_finding_row_fn(void *ctx, const struct dp_finding_row *row);

/* Hands over the findings by rule, by side, the largest growth first. Returns 0 or a negative
 * DP_E. */
int dp_compared_findings(const struct dp_compared *c, dp_finding_row_fn *fn, void *ctx);

/* The numbers of findings; see dp_diff_outcome. */
struct dp_gate_numbers { DP_GATE_FIELDS(DP_MEMBER) };
void dp_compared_gate(const struct dp_compared *c, struct dp_gate_numbers *numbers);

#endif
