/* What the parts of dprofdiff's tables share. */
#ifndef DP_RENDER_DIFF_H
#define DP_RENDER_DIFF_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_compared.h"
#include "dp_pool.h"
#include "dp_renamed.h"
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

/* The largest p of a change that is called possible though it is not proven. */
#define DP_DIFFTABLE_POSSIBLE 0.05

struct dp_difftable {
    struct dp_compared c;
    const struct dp_diff_how *how;
    bool people;                /* the format is for people, not for machines */
    struct dp_table table;
    struct dp_difftable_column *kinds;
    struct dp_column *columns;
    size_t n_columns, kinds_cap, columns_cap;
    struct dp_pool texts;       /* texts that cells, titles and facts point to */
    struct dp_buf scratch;
    struct dp_buf findings;
    uint64_t hz;                /* of the metric; 0: counts */
    bool no_memory;
};

static inline bool dp_difftable_is_two(const struct dp_difftable *r)
{
    return r->c.diff.n_sides == 2;
}

/* Keeps the text of the scratch buffer until the end, as a name or as a cell. */
struct dp_name dp_difftable_keep(struct dp_difftable *r);
struct dp_cell dp_difftable_kept(struct dp_difftable *r);

/* Adds a column. With more than two sides, title and key get the side's number. */
void dp_difftable_column(struct dp_difftable *r, enum dp_difftable_kind kind, uint32_t side,
                         size_t key, const char *title, const char *name, unsigned width);

/* Make cells: of an amount of the metric, of its difference with a sign, and of the other values in
 * the tables. */
struct dp_cell dp_difftable_amount(const struct dp_difftable *r, uint64_t value);
struct dp_cell dp_difftable_signed(const struct dp_difftable *r, uint64_t from, uint64_t to);
struct dp_cell dp_difftable_words(const char *str);
struct dp_cell dp_difftable_percent(double value, bool sign);
struct dp_cell dp_difftable_real(double value, unsigned decimals);
struct dp_cell dp_difftable_verdict(const struct dp_diff_values *v);

/* The growth in percent of the baseline, or NAN. */
double dp_difftable_change_percent(const struct dp_diff_values *v);
/* Appends the interval to the scratch buffer: in percent of the baseline, `+4.1 to +6.3%`; in the
 * metric's unit if the baseline is 0. */
void dp_difftable_interval(struct dp_difftable *r, const struct dp_diff_values *v);

/* The flat table: its columns; all of it. The latter returns 0 or a DP_E. */
void dp_difftable_flat_columns(struct dp_difftable *r);
int dp_difftable_fill_flat(struct dp_difftable *r);
/* Adds a fact on times whose ops repeat exactly: which rows differ in ops. */
void dp_difftable_certain(struct dp_difftable *r);
/* Adds facts on the largest growth and the largest decrease. */
void dp_difftable_largest(struct dp_difftable *r);

/* Is time per call compared, so that the sides may differ in what they call how often? */
static inline bool dp_difftable_has_mix(const struct dp_difftable *r)
{
    return r->how->per_call && !r->how->counts && dp_difftable_is_two(r);
}
/* Then: appends to the scratch buffer which subs' parts of all calls have moved. Returns how many
 * have, or DP_E_NOMEM. */
int dp_difftable_mix(struct dp_difftable *r);

/* Prints the answer instead of the tables: what changed, and why, in words (dp_render_answer.c).
 * The table holds the rows of the answer. Returns 0 or a DP_E. */
int dp_difftable_answer(struct dp_difftable *r, struct dp_sink *sink);

/* The call tree, or callers and callees. */
void dp_difftable_tree_columns(struct dp_difftable *r);
int dp_difftable_fill_tree(struct dp_difftable *r);

/* Appends a pair of subs that may be one sub under two names, and the option that compares them as
 * one. */
void dp_difftable_rename(struct dp_buf *to, const struct dp_diff *diff,
                         const struct dp_renamed *renamed);

#endif
