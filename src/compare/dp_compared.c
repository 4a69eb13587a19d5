#include "dp_compared.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_sort.h"

#include <math.h>
#include <string.h>

/* ---- computed columns ---- */

double dp_diff_share(double whole, uint64_t value)
{
    return whole > 0 ? 100.0 * (double)value / whole : NAN;
}

double dp_compared_computed(const struct dp_compared *c, const struct dp_diff_values *v,
                            uint32_t side, double *shown)
{
    const struct dp_diff_family *f = &c->families[side];
    *shown = NAN;
    if (!v->there)
        return NAN;
    switch (c->how->compute) {
    case DP_C_DELTA: case DP_C_DELTA_ABS:
        *shown = dp_diff_share(f->whole, v->value)
                 - (v->base_there || f->base_whole > 0 ? dp_diff_share(f->base_whole, v->base) : 0);
        return fabs(*shown);
    case DP_C_RATIO:
        if (!v->base)
            return NAN;
        *shown = (double)v->value / (double)v->base;
        return v->value ? fabs(log(*shown)) : INFINITY;
    case DP_C_WDIFF:
        if (!v->base_there)
            return NAN;
        *shown = (double)v->value * (double)c->how->weights[1]
                 - (double)v->base * (double)c->how->weights[0];
        return fabs(*shown);
    }
    return NAN;
}

/* ---- rows ---- */

/* Returns the section of the table that a row belongs to: on both sides, new, or gone. */
static enum dp_section section_of(const struct dp_compared *c, uint32_t entry)
{
    bool there = false;
    for (uint32_t s = 1; s < c->diff.n_sides; s++)
        there = there || dp_compared_of(c, entry, s)->there;
    return c->diff.n_sides < 2 || (there && dp_compared_of(c, entry, 1)->base_there) ? DP_BOTH
           : there ? DP_NEW
           : DP_GONE;
}

/* Returns the rank of a change in the sort, the first for 0. Entries that have changed sort before
 * those that have not, whatever happened to their shares. Significant changes sort before changes
 * that may be chance. */
static int rank_of(const struct dp_compared *c, const struct dp_diff_values *v)
{
    bool is_true = v->verdict == DP_DIFF_TRUE || v->verdict == DP_DIFF_EXACT;
    return v->verdict == DP_DIFF_EQUAL ? 2 : c->sets && !is_true;
}

/* Compares two numbers for a sort with the greatest first. NAN comes last. */
static int descending(double a, double b)
{
    bool x = !isnan(a), y = !isnan(b);
    if (x != y)
        return x ? -1 : 1;
    return !x || a == b ? 0 : a > b ? -1 : 1;
}

double dp_diff_size(const struct dp_diff_values *v)
{
    return fabs((double)v->value - (double)v->base);
}

/* Compares two rows by the computed column of a side, for a sort with the greatest first. */
static int compare_side(const struct dp_compared *c, uint32_t a, uint32_t b, uint32_t side)
{
    double shown;
    const struct dp_diff_values *v = dp_compared_of(c, a, side), *w = dp_compared_of(c, b, side);
    /* A volatile is stored, and so rounded. The x87 would compare one value in a register, with
     * more digits, to one that was rounded. */
    volatile double x = dp_compared_computed(c, v, side, &shown),
                    y = dp_compared_computed(c, w, side, &shown);
    return descending(x, y);
}

/* Orders rows by section; then, if the order is that of the change or of a side, by how certain the
 * change is, and by its size or by what that side shows; then by the baseline's value, and by what
 * the sides show and count; then by names. The greatest is first. */
static int compare_rows(const void *ctx, uint32_t x, uint32_t y)
{
    const struct dp_compared *c = ctx;
    const struct dp_compared_row *a = &c->rows[x], *b = &c->rows[y];
    bool by_change = c->how->order == DP_DIFF_BY_CHANGE;
    uint32_t by = by_change ? 1 : (uint32_t)c->how->order;
    int d = (int)a->section - (int)b->section;
    if (!d && by)
        d = rank_of(c, dp_compared_of(c, a->entry, by))
            - rank_of(c, dp_compared_of(c, b->entry, by));
    if (!d && by)
        d = by_change ? descending(dp_diff_size(dp_compared_of(c, a->entry, by)),
                                   dp_diff_size(dp_compared_of(c, b->entry, by)))
                      : compare_side(c, a->entry, b->entry, by);
    if (!d && c->diff.n_sides > 1)
        d = descending((double)dp_compared_of(c, a->entry, 1)->base,
                       (double)dp_compared_of(c, b->entry, 1)->base);
    for (uint32_t s = 1; s < c->diff.n_sides && !d; s++)
        d = compare_side(c, a->entry, b->entry, s);
    for (uint32_t s = 1; s < c->diff.n_sides && !d; s++)
        d = descending((double)dp_compared_of(c, a->entry, s)->value,
                       (double)dp_compared_of(c, b->entry, s)->value);
    for (size_t k = 0; k < c->how->over.n_keys && !d; k++)
        d = dp_name_compare(dp_diff_text(&c->diff, a->entry, k),
                            dp_diff_text(&c->diff, b->entry, k));
    return d;
}

/* Is the entry unchanged? Both sides have it with the same values, it breaks no rule, and the ops
 * do not contradict. */
static bool is_unchanged(const struct dp_compared *c, const struct dp_compared_row *row)
{
    bool same = row->section == DP_BOTH && !row->fails && c->diff.n_sides > 1;
    for (uint32_t s = 1; s < c->diff.n_sides && same; s++) {
        const struct dp_diff_values *v = dp_compared_of(c, row->entry, s),
                                    *ops = c->ops ? &c->ops[s].values[row->entry] : NULL;
        same = v->verdict == DP_DIFF_EQUAL && v->there && v->base_there
               && (!ops || ops->verdict != DP_DIFF_EXACT);
    }
    return same;
}

/* Makes a row of each entry that is shown, with its section and its number in the findings, which
 * is counted from 1. Sorts them. Returns 0 or DP_E_NOMEM. */
static int make_rows(struct dp_compared *c)
{
    size_t n = dp_diff_entries(&c->diff);
    uint32_t *fails = dp_mem_zalloc((n + 1) * sizeof *fails);
    c->rows = dp_mem_realloc(NULL, n + 1, sizeof *c->rows);
    bool ok = fails && c->rows;
    for (size_t i = c->gate.n; ok && i-- > 0;)
        if (c->gate.findings[i].diff == &c->diff && c->gate.findings[i].entry != DP_GATE_TOTAL)
            fails[c->gate.findings[i].entry] = (uint32_t)i + 1;
    for (uint32_t e = 0; ok && e < n; e++) {
        enum dp_section section = section_of(c, e);
        if (!c->diff.shown[e] || (c->how->baseline_only && section != DP_BOTH))
            continue;
        struct dp_compared_row *row = &c->rows[c->n_rows++];
        *row = (struct dp_compared_row){ .entry = e, .section = section, .fails = fails[e] };
        row->unchanged = is_unchanged(c, row);
        c->unchanged += row->unchanged;
    }
    dp_mem_free(fails);
    return ok ? dp_sort_array(c->rows, c->n_rows, sizeof *c->rows, compare_rows, c) : DP_E_NOMEM;
}

/* Does the entry change more of the total than how->percent_limit, on any side? */
static bool is_large(const struct dp_compared *c, const struct dp_compared_row *row)
{
    bool large = false;
    for (uint32_t s = 1; s < c->diff.n_sides; s++) {
        const struct dp_diff_family *f = &c->families[s];
        double whole = f->base_whole > f->whole ? f->base_whole : f->whole;
        double size = dp_diff_size(&f->values[row->entry]);
        large = large || 100 * size >= c->how->percent_limit * whole;
    }
    return large;
}

bool dp_compared_is_shown(const struct dp_compared *c, const struct dp_compared_row *row, bool all)
{
    return is_large(c, row) && (all || c->how->verbose || !row->unchanged);
}

/* ---- the whole comparison ---- */

/* Compares a side's values of the table's measure with the baseline's. Then, as far as they are
 * wanted, its samples or else its calls, and its ops. Fills in c->families, c->calls and c->ops of
 * the side, and sets c->sets if the total or an entry was tested. Returns 0 or a DP_E. */
static int compare_side_with_baseline(struct dp_compared *c, uint32_t side, unsigned what)
{
    const struct dp_diff_how *how = c->how;
    bool incl = how->children != 0;
    int rc = dp_diff_compare(&c->families[side], &c->diff, 0, incl, side);
    if (rc == 0 && what & DP_COMPARE_SAMPLES && how->counts)
        rc = dp_diff_compare(&c->calls[side], &c->diff, how->counts, incl, side);
    else if (rc == 0 && what & (DP_COMPARE_CALLS | DP_COMPARE_SAMPLES))
        rc = dp_diff_compare(&c->calls[side], &c->diff, DP_RULE_CALLS, false, side);
    if (rc == 0 && c->ops)
        rc = dp_diff_compare(&c->ops[side], &c->diff, how->beside, incl, side);
    if (rc < 0)
        return rc;
    c->sets = c->sets || dp_diff_is_tested(&c->families[side].total);
    for (size_t e = 0; e < dp_diff_entries(&c->diff) && !c->sets; e++)
        c->sets = dp_diff_is_tested(&c->families[side].values[e]);
    return 0;
}

/* Compares each side with the baseline, and checks the rules if there are any. Returns 0 or a DP_E;
 * the caller releases what was made in any case. */
static int compare_all(struct dp_compared *c, unsigned what)
{
    const struct dp_diff_how *how = c->how;
    size_t n = c->diff.n_sides;
    c->families = dp_mem_zalloc(n * sizeof *c->families);
    c->calls = dp_mem_zalloc(n * sizeof *c->calls);
    c->ops = how->beside ? dp_mem_zalloc(n * sizeof *c->ops) : NULL;
    int rc = c->families && c->calls && (c->ops || !how->beside) ? 0 : DP_E_NOMEM;
    for (uint32_t s = 1; s < n && rc == 0; s++)
        rc = compare_side_with_baseline(c, s, what);
    if (rc == 0 && how->n_rules) {
        rc = dp_gate_check(&c->gate, &c->diff);
        c->has_gate = rc == 0;
    }
    return rc;
}

int dp_compare(struct dp_compared *c, const struct dp_diff_side *sides, size_t n,
               const struct dp_diff_how *how, unsigned what)
{
    bool tree = what & DP_COMPARE_TREE;
    const char *edges_of = how->view != DP_V_FLAT ? how->edges_of : NULL;
    memset(c, 0, sizeof *c);
    c->how = how;
    dp_diff_tree_init(&c->tree, n, edges_of, how->edges_of_len, how->view == DP_V_CALLEES);
    int rc = dp_diff_make(&c->diff, sides, n, how, tree ? dp_diff_tree_add : NULL, &c->tree);
    if (rc == 0)
        rc = compare_all(c, what);
    if (rc == 0 && tree)
        rc = dp_diff_tree_end(&c->tree, &c->diff);
    if (rc == 0 && what & DP_COMPARE_ROWS)
        rc = make_rows(c);
    return rc == 0 && tree && edges_of && !c->tree.found ? DP_E_ARG : rc;
}

void dp_compared_release(struct dp_compared *c)
{
    struct dp_diff_family *const families[] = { c->families, c->calls, c->ops };
    for (size_t i = 0; i < DP_ARRAY_LEN(families); i++) {
        for (size_t s = 0; families[i] && s < c->diff.n_sides; s++)
            dp_diff_family_release(&families[i][s]);
        dp_mem_free(families[i]);
    }
    dp_mem_free(c->rows);
    dp_gate_release(&c->gate);
    dp_diff_tree_release(&c->tree);
    dp_diff_release(&c->diff);
    memset(c, 0, sizeof *c);
}
