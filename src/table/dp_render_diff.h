/* What the parts of dprofdiff's tables share. */
#ifndef DP_RENDER_DIFF_H
#define DP_RENDER_DIFF_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_compared.h"
#include "dp_pool.h"
#include "dp_table.h"
#include "dprof/diff.h"

enum dp_difftable_kind {
    K_BASE_PERCENT, K_BASE, K_BASE_CALLS, K_BASE_HUMAN, K_BASE_SPREAD,
    K_COMPUTE, K_FORMULA, K_CHANGE, K_PERCENT, K_VALUE, K_CALLS,
    K_HUMAN, K_SPREAD, K_CHANGE_PERCENT, K_INTERVAL, K_LOW, K_HIGH, K_P, K_VERDICT,
    K_BASE_OPS, K_OPS, K_OPS_PERCENT, K_OPS_VERDICT,
    K_STATUS, K_FAILS, K_MOVED, K_FATE, K_PLACE, K_KEY
};

struct dp_difftable_column {
    enum dp_difftable_kind kind;
    uint32_t side;
    size_t key;
};

/* A change with a p up to this is called possible, though it is not proven. */
#define DP_DIFFTABLE_POSSIBLE 0.05

struct dp_difftable {
    struct dp_compared c;
    const struct dp_diff_how *how;
    bool people;                /* no table for machines */
    struct dp_table table;
    struct dp_difftable_column *kinds;
    struct dp_column *columns;
    size_t n_columns, kinds_cap, columns_cap;
    struct dp_pool texts;       /* what cells, titles and facts point to */
    struct dp_buf scratch;
    struct dp_buf findings;
    uint64_t hz;                /* of the metric; 0: counts */
    bool no_memory;
};

static inline bool dp_difftable_is_two(const struct dp_difftable *r)
{
    return r->c.diff.n_sides == 2;
}

/* Keeps the text of the scratch buffer until the end; makes a cell of it. */
struct dp_name dp_difftable_keep(struct dp_difftable *r);
struct dp_cell dp_difftable_kept(struct dp_difftable *r);

/* A column; title and key get the number of the side where there are more than two. */
void dp_difftable_column(struct dp_difftable *r, enum dp_difftable_kind kind, uint32_t side,
                         size_t key, const char *title, const char *name, unsigned width);

/* Make cells: of an amount of the metric, of its difference with a sign, and of what else stands in
 * the tables. */
struct dp_cell dp_difftable_amount(const struct dp_difftable *r, uint64_t value);
struct dp_cell dp_difftable_signed(const struct dp_difftable *r, uint64_t from, uint64_t to);
struct dp_cell dp_difftable_words(const char *str);
struct dp_cell dp_difftable_percent(double value, bool sign);
struct dp_cell dp_difftable_real(double value, unsigned decimals);
struct dp_cell dp_difftable_verdict(const struct dp_diff_values *v);

/* What has been added, in percent of the baseline, or NAN. */
double dp_difftable_change_percent(const struct dp_diff_values *v);
/* Appends to the scratch buffer: in percent of the baseline, `+4.1 to +6.3%`; in its unit where
 * that has nothing. */
void dp_difftable_interval(struct dp_difftable *r, const struct dp_diff_values *v);

/* The flat table: its columns; all of it. Returns 0 or a DP_E. */
void dp_difftable_flat_columns(struct dp_difftable *r);
int dp_difftable_fill_flat(struct dp_difftable *r);
/* Where ops differ, of times whose ops repeat exactly, as a fact. */
void dp_difftable_certain(struct dp_difftable *r);
/* What grew most, and what shrank most, as facts. */
void dp_difftable_largest(struct dp_difftable *r);

/* Instead of all these: what changed, and why, in words (dp_render_answer.c). The table holds its
 * rows. Returns 0 or a DP_E. */
int dp_difftable_answer(struct dp_difftable *r, struct dp_sink *sink);

/* The call tree, or callers and callees. */
void dp_difftable_tree_columns(struct dp_difftable *r);
int dp_difftable_fill_tree(struct dp_difftable *r);

#endif
