/* Inside dprofdiff's tables: what their parts share. */
#ifndef DP_RENDER_DIFF_H
#define DP_RENDER_DIFF_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_diff.h"
#include "dp_diff_tree.h"
#include "dp_gate.h"
#include "dp_pool.h"
#include "dp_table.h"
#include "dprof/diff.h"

enum dp_rdiff_kind {
    K_BASE_PERCENT, K_BASE, K_BASE_CALLS, K_BASE_HUMAN, K_BASE_SPREAD,
    K_COMPUTE, K_FORMULA, K_CHANGE, K_PERCENT, K_VALUE, K_CALLS,
    K_HUMAN, K_SPREAD, K_CHANGE_PERCENT, K_INTERVAL, K_LOW, K_HIGH, K_P, K_VERDICT,
    K_BASE_OPS, K_OPS, K_OPS_PERCENT, K_OPS_VERDICT,
    K_STATUS, K_FAILS, K_MOVED, K_PLACE, K_KEY
};

struct dp_rdiff_column {
    enum dp_rdiff_kind kind;
    uint32_t side;
    size_t key;
};

/* A change with a p up to that is possible, though not proven. */
#define DP_RDIFF_POSSIBLE 0.05

/* Where an entry stands: what both have, what is new, what is gone. */
enum dp_rdiff_section { S_BOTH, S_NEW, S_GONE };

struct dp_rdiff_row {
    uint32_t entry;
    enum dp_rdiff_section section;
    uint32_t fails;             /* the first finding that is about it, and 1; 0: none */
    bool unchanged;             /* on all sides */
};

struct dp_rdiff {
    struct dp_diff diff;
    const struct dp_diff_how *how;
    struct dp_diff_family *families, *calls;    /* by side */
    struct dp_diff_family *ops; /* by side: what is certain beside times; NULL: it is not known */
    struct dp_gate gate;
    bool has_gate;
    bool sets;                  /* some side has several runs that do not agree:
                                 * medians are compared */
    bool people;                /* no table for machines */
    struct dp_rdiff_row *rows;
    size_t n_rows;
    size_t unchanged;           /* of them: nothing has changed in them */
    struct dp_table table;
    struct dp_rdiff_column *kinds;
    struct dp_column *columns;
    size_t n_columns, kinds_cap, columns_cap;
    struct dp_pool texts;       /* what cells, titles and facts point to */
    struct dp_buf scratch;
    struct dp_buf findings;
    struct dp_diff_tree tree;
    uint64_t hz;                /* of the metric; 0: counts */
    bool no_memory;
};

static inline bool dp_rdiff_is_two(const struct dp_rdiff *r) { return r->diff.n_sides == 2; }

/* The text in the scratch buffer, kept until the end; and as a cell. */
struct dp_name dp_rdiff_keep(struct dp_rdiff *r);
struct dp_cell dp_rdiff_kept(struct dp_rdiff *r);

/* A column; title and key get the number of the side where there are more than two. */
void dp_rdiff_column(struct dp_rdiff *r, enum dp_rdiff_kind kind, uint32_t side, size_t key,
                     const char *title, const char *name, unsigned width);

/* Cells of the metric, and others. */
struct dp_cell dp_rdiff_amount(const struct dp_rdiff *r, uint64_t value);
struct dp_cell dp_rdiff_signed(const struct dp_rdiff *r, uint64_t from, uint64_t to);
struct dp_cell dp_rdiff_words(const char *str);
struct dp_cell dp_rdiff_percent(double value, bool sign);
struct dp_cell dp_rdiff_real(double value, unsigned decimals);
struct dp_cell dp_rdiff_verdict(const struct dp_diff_values *v);

/* What has been added, in percent of the baseline; NAN. */
double dp_rdiff_change_percent(const struct dp_diff_values *v);
/* Was it put to a test, whatever came of it? */
bool dp_rdiff_is_tested(const struct dp_diff_values *v);
/* Appends to the scratch buffer: in percent of the baseline, `+4.1 to +6.3%`; in its unit where
 * that has nothing. */
void dp_rdiff_interval(struct dp_rdiff *r, const struct dp_diff_values *v);

/* The flat table: its rows in order; its columns; all of it. Each returns 0 or a DP_E. */
int dp_rdiff_make_rows(struct dp_rdiff *r);
void dp_rdiff_flat_columns(struct dp_rdiff *r);
int dp_rdiff_fill_flat(struct dp_rdiff *r);
/* What grew most, and what shrank most, as facts. */
void dp_rdiff_largest(struct dp_rdiff *r);

/* The call tree, or callers and callees. */
void dp_rdiff_tree_columns(struct dp_rdiff *r);
int dp_rdiff_fill_tree(struct dp_rdiff *r);

#endif
