/* dprofdiff's flat table: a row for each entry, with the sides side by side. */
#include "dp_render_diff.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_num.h"
#include "dp_render.h"
#include "dp_render_gate.h"
#include "dp_sort.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- columns ---- */

static const char *const compute_titles[] = { "Delta", "Delta Abs", "Ratio", "Weighted diff" };
static const char *const compute_keys[] = { "delta", "delta_abs", "ratio", "wdiff" };
static const unsigned compute_widths[] = { 7, 9, 14, 14 };

/* Adds the column of how often a sub ran: its samples, or its calls. */
static void often_column(struct dp_difftable *r, uint32_t side)
{
    static const char *const texts[2][4] = {
        { "Base calls", "baseline_calls", "Calls", "calls" },
        { "Base samples", "baseline_samples", "Samples", "samples" }
    };
    const char *const *text = texts[r->how->counts != 0] + (side ? 2 : 0);
    dp_difftable_column(r, side ? K_CALLS : K_BASE_CALLS, side, 0, text[0], text[1],
                        r->people ? (side ? 8 : 10) : 0);
}

/* Returns the title of a value: the median if a side has several runs. */
static const char *value_title(const struct dp_difftable *r, bool is_new)
{
    static const char *const titles[] = { "Value", "New value", "Median", "New median" };
    return titles[(r->c.diff.n_runs > r->c.diff.n_sides) * 2 + is_new];
}

/* Adds the columns of values that people see, which depend on the options. With several runs a
 * side, medians, intervals and p are among them. */
static void columns_for_people(struct dp_difftable *r)
{
    const struct dp_diff_how *how = r->how;
    bool values = how->period || how->verbose, amounts = how->amounts && !values && !r->c.sets;
    if (!how->amounts)
        dp_difftable_column(r, K_BASE_PERCENT, 0, 0, "Baseline", "baseline_pct", 8);
    else if (amounts)
        dp_difftable_column(r, K_BASE_HUMAN, 0, 0, "Baseline", "baseline", 8);
    if (r->c.sets)
        dp_difftable_column(r, K_BASE_HUMAN, 0, 0, value_title(r, false), "baseline", 10);
    if (values)
        dp_difftable_column(r, K_BASE, 0, 0, "Base period", "baseline", 14);
    if (how->verbose)
        often_column(r, 0);
    for (uint32_t s = 1; s < r->c.diff.n_sides; s++) {
        if (!how->amounts)
            dp_difftable_column(r, K_COMPUTE, s, 0, compute_titles[how->compute],
                                compute_keys[how->compute], compute_widths[how->compute]);
        else if (amounts)
            dp_difftable_column(r, K_HUMAN, s, 0, "New", "value", 8);
        if (how->formula)
            dp_difftable_column(r, K_FORMULA, s, 0, "Formula", "formula", 7);
        if (r->c.sets) {
            dp_difftable_column(r, K_HUMAN, s, 0, value_title(r, dp_difftable_is_two(r)), "value",
                                10);
            dp_difftable_column(r, K_CHANGE_PERCENT, s, 0, "Change", "change_pct", 7);
            dp_difftable_column(r, K_INTERVAL, s, 0, "Interval", "interval", 8);
            dp_difftable_column(r, K_P, s, 0, "p", "p", 7);
        } else {
            dp_difftable_column(r, K_CHANGE, s, 0, "Change", "change", 8);
            dp_difftable_column(r, K_CHANGE_PERCENT, s, 0, "Change %", "change_pct", 8);
        }
        if (values)
            dp_difftable_column(r, K_VALUE, s, 0, "Period", "value", 14);
        if (how->verbose)
            often_column(r, s);
    }
    if (r->c.gate.n)
        dp_difftable_column(r, K_FAILS, 0, 0, "Gate", "gate", 4);
}

/* Adds the columns of values for CSV and JSON: always the same ones, because programs rely on
 * them. */
static void columns_for_machines(struct dp_difftable *r)
{
    const struct dp_diff_how *how = r->how;
    dp_difftable_column(r, K_STATUS, 0, 0, "Status", "status", 0);
    dp_difftable_column(r, K_BASE_PERCENT, 0, 0, "Baseline", "baseline_pct", 0);
    dp_difftable_column(r, K_BASE, 0, 0, "Base period", "baseline", 0);
    dp_difftable_column(r, K_BASE_SPREAD, 0, 0, "Base spread", "baseline_spread", 0);
    often_column(r, 0);
    for (uint32_t s = 1; s < r->c.diff.n_sides; s++) {
        dp_difftable_column(r, K_PERCENT, s, 0, "New", "value_pct", 0);
        dp_difftable_column(r, K_VALUE, s, 0, "Period", "value", 0);
        dp_difftable_column(r, K_SPREAD, s, 0, "Spread", "spread", 0);
        often_column(r, s);
        dp_difftable_column(r, K_COMPUTE, s, 0, compute_titles[how->compute],
                            compute_keys[how->compute], 0);
        dp_difftable_column(r, K_CHANGE, s, 0, "Change", "change", 0);
        dp_difftable_column(r, K_CHANGE_PERCENT, s, 0, "Change %", "change_pct", 0);
        dp_difftable_column(r, K_LOW, s, 0, "Low", "change_low", 0);
        dp_difftable_column(r, K_HIGH, s, 0, "High", "change_high", 0);
        dp_difftable_column(r, K_P, s, 0, "p", "p", 0);
        dp_difftable_column(r, K_VERDICT, s, 0, "Verdict", "verdict", 0);
    }
    if (r->c.has_gate)
        dp_difftable_column(r, K_FAILS, 0, 0, "Gate", "gate", 0);
}

/* Returns what happened to a line in the source: moved, inserted, deleted. If both sides have the
 * line and one has not run it, says so. Otherwise, returns an empty text. */
static const char *fate_of(const struct dp_difftable *r, const struct dp_compared_row *row)
{
    static const char *const fates[] = { "", "", "moved", "inserted", "deleted" };
    const struct dp_paired_line *line = dp_diff_line(&r->c.diff, row->entry);
    if (!line)
        return "";
    return line->fate == DP_FATE_KEPT && row->section == DP_NEW ? "not run before"
           : line->fate == DP_FATE_KEPT && row->section == DP_GONE ? "not run"
           : fates[line->fate];
}

/* Is there a column of fates? People see it only if at least one row has a value. */
static bool has_fates(const struct dp_difftable *r)
{
    bool has = r->c.diff.by_line && !r->people;
    for (size_t i = 0; i < r->c.n_rows && r->c.diff.by_line && !has; i++)
        has = *fate_of(r, &r->c.rows[i]) != '\0';
    return has;
}

/* Adds the columns that say which entry a row is about: its keys, and where it came from. People
 * see only those that have a value; programs see all, and the ops. */
static void key_columns(struct dp_difftable *r)
{
    static const struct { const char *title, *key; } names[] = {
#define KEY(id, word, title, key, width) [id] = { title, key },
        DP_KEY_LIST(KEY)
#undef KEY
    };
    bool moved = !r->people;
    for (size_t k = 0; k < r->how->over.n_keys; k++) {
        int key = r->how->over.keys[k];
        dp_difftable_column(r, K_KEY, 0, k, names[key].title, names[key].key,
                            key == DP_K_SUB ? 6 : 4);
    }
    for (size_t i = 0; i < r->c.n_rows && !moved; i++)
        moved = dp_diff_moved_from(&r->c.diff, r->c.rows[i].entry) != NULL;
    if (moved)
        dp_difftable_column(r, K_MOVED, 0, 0, "Moved from", "moved_from", 10);
    if (has_fates(r))
        dp_difftable_column(r, K_FATE, 0, 0, "Source", "source", 6);
    if (!r->people)
        dp_difftable_column(r, K_PLACE, 0, 0, "Place", "place", 0);
    for (uint32_t s = 1; s < r->c.diff.n_sides && r->c.ops && !r->people; s++) {
        dp_difftable_column(r, K_BASE_OPS, s, 0, "Base ops", "ops_baseline", 0);
        dp_difftable_column(r, K_OPS, s, 0, "Ops", "ops", 0);
        dp_difftable_column(r, K_OPS_PERCENT, s, 0, "Ops %", "ops_change_pct", 0);
        dp_difftable_column(r, K_OPS_VERDICT, s, 0, "Ops verdict", "ops_verdict", 0);
    }
}

void dp_difftable_flat_columns(struct dp_difftable *r)
{
    (r->people ? columns_for_people : columns_for_machines)(r);
    key_columns(r);
}

/* ---- cells ---- */

/* Returns the cell of a difference or a spread, which are computed as reals: in whole ticks or
 * counts as far as 64 bits hold them. It is empty for NAN and infinities. */
static struct dp_cell whole_amount(const struct dp_difftable *r, double value)
{
    struct dp_cell cell = { .kind = DP_CELL_EMPTY };
    if (!isfinite(value))
        return cell;
    if (fabs(value) < 1e18) {
        cell = dp_difftable_amount(r, dp_num_round(fabs(value)));
        cell.negative = value < 0;
    } else {
        cell = (struct dp_cell){ .kind = DP_CELL_REAL,
                                 .real = r->hz ? value / (double)r->hz : value };
    }
    return cell;
}

/* Returns the cell of what --compute asks for. It is empty, or N/A for people where a ratio or
 * weighted difference has no baseline, if a value that it needs is missing. */
static struct dp_cell compute_cell(const struct dp_difftable *r, const struct dp_diff_values *v,
                                   uint32_t side)
{
    struct dp_cell empty = { .kind = DP_CELL_EMPTY };
    double shown;
    dp_compared_computed(&r->c, v, side, &shown);
    bool none = r->how->compute == DP_C_RATIO ? !v->base : !v->base_there;
    if (r->how->compute >= DP_C_RATIO && v->there && none)
        return r->people ? dp_difftable_words("N/A") : empty;
    if (isnan(shown))
        return empty;
    if (r->how->compute == DP_C_RATIO)
        return dp_difftable_real(shown, 6);
    if (r->how->compute == DP_C_WDIFF)
        return whole_amount(r, shown);
    return dp_difftable_percent(shown, true);
}

/* Appends an amount to the text that is being made. */
static void add_amount(struct dp_difftable *r, uint64_t value)
{
    char num[DP_NUMBER_MAX];
    struct dp_cell cell = dp_difftable_amount(r, value);
    dp_buf_add(&r->scratch, num, dp_render_number(num, &cell, r->hz, false));
}

/* Returns the cell that shows how the number of compute_cell is calculated, as `perf diff
 * --formula' does; empty if the side lacks the entry. */
static struct dp_cell formula_cell(struct dp_difftable *r, const struct dp_diff_values *v,
                                   uint32_t side)
{
    const struct dp_diff_family *f = &r->c.families[side];
    struct dp_cell empty = { .kind = DP_CELL_EMPTY };
    if (!v->there)
        return empty;
    bool delta = r->how->compute <= DP_C_DELTA_ABS, ratio = r->how->compute == DP_C_RATIO;
    for (int which = 1; which >= 0; which--) {
        dp_buf_adds(&r->scratch, which ? "" : ratio ? " / " : " - ");
        dp_buf_adds(&r->scratch, ratio ? "" : "(");
        add_amount(r, which ? v->value : v->base);
        if (delta) {
            dp_buf_adds(&r->scratch, " * 100 / ");
            add_amount(r, dp_num_round(which ? f->whole : f->base_whole));
        } else if (!ratio) {
            dp_buf_addf(&r->scratch, " * %ld", r->how->weights[which]);
        }
        dp_buf_adds(&r->scratch, ratio ? "" : ")");
    }
    return dp_difftable_kept(r);
}

/* Returns the cell of a median in a suitable unit, and of how far the runs vary around it: `12.3 ms
 * +-2%`. A count has commas and no unit. */
static struct dp_cell human_cell(struct dp_difftable *r, uint64_t value, double spread)
{
    if (r->hz)
        dp_human(&r->scratch, &r->c.diff, 0, (double)value);
    else
        dp_render_grouped(&r->scratch, value);
    if (value && spread > 0) {
        dp_buf_adds(&r->scratch, " \xc2\xb1");
        dp_render_real(&r->scratch, 100 * spread / (double)value, 0, false);
        dp_buf_adds(&r->scratch, "%");
    }
    return dp_difftable_kept(r);
}

/* Appends the change in ops, which is certain. It is needed if times cannot decide, and if people
 * want to know whether the sub did more, or did the same more slowly. Appends nothing if the change
 * in time is certain, or that in ops is unknown. */
static void add_ops(struct dp_difftable *r, const struct dp_diff_values *v,
                    const struct dp_diff_values *ops)
{
    bool certain = v->verdict == DP_DIFF_EXACT
                   || (ops && v->verdict == DP_DIFF_EQUAL && ops->verdict == DP_DIFF_EQUAL);
    if (!ops || certain
        || !ops->base           /* the baseline is 0, so there is no share: a sub in C */
        || (ops->verdict == DP_DIFF_EQUAL && v->verdict == DP_DIFF_SMALL))
        return;
    bool known = ops->verdict == DP_DIFF_EXACT || ops->verdict == DP_DIFF_TRUE
                 || ops->verdict == DP_DIFF_EQUAL;
    if (!known)
        return;
    dp_buf_adds(&r->scratch, r->scratch.len ? " (ops " : "(ops ");
    if (ops->verdict == DP_DIFF_EQUAL)
        dp_buf_adds(&r->scratch, "equal");
    else {
        dp_render_real(&r->scratch, dp_difftable_change_percent(ops), 1, true);
        dp_buf_adds(&r->scratch, " %");
    }
    /* with random seeds the ops repeat only approximately */
    bool exact = ops->verdict != DP_DIFF_TRUE && r->how->measures[r->how->beside].tolerance == 0;
    dp_buf_adds(&r->scratch, exact && ops->verdict == DP_DIFF_EXACT ? ", exact)" : ")");
}

static struct dp_cell growth_cell(struct dp_difftable *r, const struct dp_diff_values *v);

/* Returns the cell of the growth in percent. For people the change in ops follows, which explains a
 * change in time, unless a separator asks for bare values. */
static struct dp_cell change_cell(struct dp_difftable *r, const struct dp_diff_values *v,
                                  const struct dp_diff_values *ops)
{
    char num[DP_NUMBER_MAX];
    struct dp_cell alone = growth_cell(r, v);
    if (!r->people || !ops || (r->how->separator && *r->how->separator))
        return alone;
    dp_buf_add(&r->scratch, alone.kind == DP_CELL_TEXT ? alone.ptr : num,
               alone.kind == DP_CELL_TEXT ? alone.len : dp_render_number(num, &alone, 0, true));
    size_t before = r->scratch.len;
    add_ops(r, v, ops);
    if (r->scratch.len > before) {
        struct dp_cell both = dp_difftable_kept(r);
        both.sign = alone.sign;     /* this cell is coloured like a number */
        return both;
    }
    r->scratch.len = 0;
    return alone;
}

/* The cell of the growth in percent, without ops. For people it is `~` if no difference was seen,
 * `?` if there are too few runs, in parentheses if chance or memory layout may explain it, and
 * empty if it was not tested. */
static struct dp_cell growth_cell(struct dp_difftable *r, const struct dp_diff_values *v)
{
    if (r->people && r->c.sets && v->verdict == DP_DIFF_UNSURE && v->p > DP_DIFFTABLE_POSSIBLE)
        return dp_difftable_words("~");
    if (r->people && r->c.sets
        && (v->verdict == DP_DIFF_UNSURE || v->verdict == DP_DIFF_LAYOUT)) {
        char num[DP_NUMBER_MAX];
        struct dp_cell change = dp_difftable_percent(dp_difftable_change_percent(v), true);
        dp_buf_addc(&r->scratch, '(');
        dp_buf_add(&r->scratch, num, dp_render_number(num, &change, 0, true));
        dp_buf_adds(&r->scratch, v->verdict == DP_DIFF_LAYOUT ? ", within layout)" : ")");
        return dp_difftable_kept(r);
    }
    if (r->people && r->c.sets && v->verdict == DP_DIFF_FEW)
        return dp_difftable_words("?");
    if (r->people && v->verdict == DP_DIFF_SMALL)
        return (struct dp_cell){ .kind = DP_CELL_EMPTY };
    return dp_difftable_percent(dp_difftable_change_percent(v), true);
}

/* Returns the cell of a change's confidence interval; empty if nothing was tested, or if the
 * interval has no limit on some side. */
static struct dp_cell interval_cell(struct dp_difftable *r, const struct dp_diff_values *v)
{
    struct dp_cell empty = { .kind = DP_CELL_EMPTY };
    if (!isfinite(v->low) || !isfinite(v->high) || !dp_diff_is_tested(v))
        return empty;
    dp_difftable_interval(r, v);
    return dp_difftable_kept(r);
}

/* Returns the cell of p, with more digits for programs. */
static struct dp_cell p_cell(const struct dp_difftable *r, const struct dp_diff_values *v)
{
    struct dp_cell empty = { .kind = DP_CELL_EMPTY };
    if (!dp_diff_is_tested(v))
        return empty;
    if (r->people)
        return v->p < 0.00001 ? dp_difftable_words("<0.00001") : dp_difftable_real(v->p, 5);
    return dp_difftable_real(v->p, 12);
}

/* Returns the cell of the rules that the row breaks, which must be at least one. */
static struct dp_cell fails_cell(struct dp_difftable *r, const struct dp_compared_row *row)
{
    uint32_t last = UINT32_MAX;
    for (size_t i = row->fails - 1; i < r->c.gate.n; i++) {
        const struct dp_finding *f = &r->c.gate.findings[i];
        if (f->diff != &r->c.diff || f->entry != row->entry || f->rule == last)
            continue;
        dp_buf_adds(&r->scratch, last == UINT32_MAX ? "" : ", ");
        dp_buf_adds(&r->scratch, r->how->rules[last = f->rule].text);
    }
    return dp_difftable_kept(r);
}

/* Returns the cell of a row in a column. It is empty if the side lacks the entry. */
static struct dp_cell flat_cell(struct dp_difftable *r, const struct dp_compared_row *row,
                                const struct dp_difftable_column *c)
{
    static const char *const statuses[] = { "both", "new", "gone" };
    struct dp_cell empty = { .kind = DP_CELL_EMPTY };
    uint32_t side = c->side ? c->side : 1;
    const struct dp_diff_values *v = dp_compared_of(&r->c, row->entry, side),
                                *calls = r->c.calls ? &r->c.calls[side].values[row->entry] : NULL;
    const struct dp_diff_values *ops = r->c.ops ? &r->c.ops[side].values[row->entry] : NULL;
    const struct dp_diff_family *f = &r->c.families[side];
    const struct dp_name *text;
    struct dp_diff_place place;
    switch (c->kind) {
    case K_BASE_PERCENT:
        return v->base_there ? dp_difftable_percent(dp_diff_share(f->base_whole, v->base), false)
                             : empty;
    case K_BASE: return v->base_there || r->people ? dp_difftable_amount(r, v->base) : empty;
    case K_BASE_CALLS: return v->base_there ? dp_cell_count(calls->base) : empty;
    case K_BASE_HUMAN: return v->base_there ? human_cell(r, v->base, v->base_spread) : empty;
    case K_BASE_SPREAD: return v->base_there && r->c.sets ? whole_amount(r, v->base_spread) : empty;
    case K_COMPUTE: return compute_cell(r, v, side);
    case K_FORMULA: return formula_cell(r, v, side);
    case K_CHANGE:
        return v->there || v->base_there ? dp_difftable_signed(r, v->base, v->value) : empty;
    case K_PERCENT:
        return v->there ? dp_difftable_percent(dp_diff_share(f->whole, v->value), false) : empty;
    case K_VALUE: return v->there ? dp_difftable_amount(r, v->value) : empty;
    case K_CALLS: return v->there ? dp_cell_count(calls->value) : empty;
    case K_HUMAN: return v->there ? human_cell(r, v->value, v->spread) : empty;
    case K_SPREAD: return v->there && r->c.sets ? whole_amount(r, v->spread) : empty;
    case K_CHANGE_PERCENT: return v->there && v->base_there ? change_cell(r, v, ops) : empty;
    case K_INTERVAL: return interval_cell(r, v);
    case K_LOW: return dp_diff_is_tested(v) ? whole_amount(r, v->low) : empty;
    case K_HIGH: return dp_diff_is_tested(v) ? whole_amount(r, v->high) : empty;
    case K_P: return p_cell(r, v);
    case K_VERDICT: return v->there || v->base_there ? dp_difftable_verdict(v) : empty;
    case K_BASE_OPS: return ops->base_there ? dp_cell_count(ops->base) : empty;
    case K_OPS: return ops->there ? dp_cell_count(ops->value) : empty;
    case K_OPS_PERCENT:
        return ops->there && ops->base_there
                ? dp_difftable_percent(dp_difftable_change_percent(ops), true) : empty;
    case K_OPS_VERDICT: return ops->there || ops->base_there ? dp_difftable_verdict(ops) : empty;
    case K_STATUS: return dp_difftable_words(statuses[row->section]);
    case K_FAILS: return row->fails ? fails_cell(r, row) : empty;
    case K_MOVED:
        text = dp_diff_moved_from(&r->c.diff, row->entry);
        return text ? dp_cell_text(text->ptr, text->len) : empty;
    case K_FATE: return dp_difftable_words(fate_of(r, row));
    case K_PLACE:
        if (!dp_diff_place(&r->c.diff, row->entry, &place))
            return empty;
        dp_buf_add(&r->scratch, place.file->ptr, place.file->len);
        dp_buf_addf(&r->scratch, ":%" PRIu64, place.line);
        return dp_difftable_kept(r);
    case K_KEY:
        text = dp_diff_text(&r->c.diff, row->entry, c->key);
        return dp_cell_text(text->ptr, text->len);
    }
    return empty;
}

/* Returns the tint of a row: 2 for hot, 1 for warm, 0 for none. Growth is hot, and a decrease is
 * warm. Tinted are significant changes, and changes between one run on each side. */
static int tint_of(const struct dp_difftable *r, const struct dp_compared_row *row)
{
    for (uint32_t s = 1; s < r->c.diff.n_sides; s++) {
        const struct dp_diff_values *v = dp_compared_of(&r->c, row->entry, s);
        bool counts = v->verdict == DP_DIFF_TRUE || v->verdict == DP_DIFF_EXACT
                      || v->verdict == DP_DIFF_SINGLE;
        if (counts && v->value != v->base)
            return v->value > v->base ? 2 : 1;
    }
    return 0;
}

/* The heading above the rows that only one side has; NULL for those that both have. */
static const char *section_title(struct dp_difftable *r, enum dp_section section)
{
    if (section == DP_BOTH)
        return NULL;
    dp_buf_adds(&r->scratch, section == DP_NEW ? "New: not in "
                             : dp_difftable_is_two(r) ? "Gone: in "
                             : "Gone: in no file but ");
    dp_buf_adds(&r->scratch, r->c.diff.sides[0].name);
    if (section == DP_GONE && dp_difftable_is_two(r)) {
        dp_buf_adds(&r->scratch, ", not in ");
        dp_buf_adds(&r->scratch, r->c.diff.sides[1].name);
    }
    return dp_difftable_keep(r).ptr;
}

/* Names the largest change in a direction, among changes that are not known to be chance. Rows are
 * sorted at this point. */
static void name_largest(struct dp_difftable *r, bool grown, const char *label, const char *key)
{
    uint32_t best[3], n = 0;
    for (size_t i = 0; i < r->c.n_rows; i++) {
        uint32_t e = r->c.rows[i].entry, k;
        const struct dp_diff_values *v = dp_compared_of(&r->c, e, 1);
        bool counts = v->verdict == DP_DIFF_TRUE || v->verdict == DP_DIFF_EXACT
                      || v->verdict == DP_DIFF_SINGLE;
        double whole = r->c.families[1].base_whole > r->c.families[1].whole
                ? r->c.families[1].base_whole : r->c.families[1].whole;
        if (!counts || 100 * dp_diff_size(v) < r->how->floor * whole
            || (grown ? v->value <= v->base : v->value >= v->base))
            continue;
        for (k = n; k > 0; k--) {
            if (dp_diff_size(v) <= dp_diff_size(dp_compared_of(&r->c, best[k - 1], 1)))
                break;
            if (k < DP_ARRAY_LEN(best))
                best[k] = best[k - 1];
        }
        if (k < DP_ARRAY_LEN(best))
            best[k] = e;
        n += n < DP_ARRAY_LEN(best);
    }
    for (uint32_t k = 0; k < n; k++) {
        const struct dp_diff_values *v = dp_compared_of(&r->c, best[k], 1);
        const struct dp_name *name = dp_diff_text(&r->c.diff, best[k], 0);
        dp_buf_adds(&r->scratch, k ? ", " : "");
        dp_buf_add(&r->scratch, name->ptr, name->len);
        dp_buf_adds(&r->scratch, grown ? " +" : " -");
        dp_human(&r->scratch, &r->c.diff, 0, dp_diff_size(v));
        dp_buf_adds(&r->scratch, !v->base_there ? " (new)" : !v->there ? " (gone)" : "");
    }
    if (n)
        dp_table_fact(&r->table, label, key, dp_difftable_kept(r), NULL);
}

/* The difference in ops of a row, if it is certain; else 0. */
static uint64_t certain_ops(const struct dp_difftable *r, size_t row)
{
    const struct dp_diff_values *ops = &r->c.ops[1].values[r->c.rows[row].entry];
    return ops->verdict == DP_DIFF_EXACT ? (uint64_t)dp_diff_size(ops) : 0;
}

/* Finds the three rows that differ by most ops, in their order. Returns the number of rows that
 * differ. */
static size_t most_ops(const struct dp_difftable *r, size_t best[3])
{
    size_t n = 0;
    for (size_t i = 0; i < r->c.n_rows; i++) {
        size_t k;
        if (!certain_ops(r, i))
            continue;
        for (k = n < 3 ? n : 3; k > 0 && certain_ops(r, best[k - 1]) < certain_ops(r, i); k--)
            if (k < 3)
                best[k] = best[k - 1];
        if (k < 3)
            best[k] = i;
        n++;
    }
    return n;
}

/* The number of rows whose ops differ among the runs of a side. */
static size_t varying_ops(const struct dp_difftable *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->c.n_rows; i++) {
        enum dp_diff_verdict verdict = r->c.ops[1].values[r->c.rows[i].entry].verdict;
        n += verdict != DP_DIFF_EXACT && verdict != DP_DIFF_EQUAL;
    }
    return n;
}

/* By how much the calls of a row differ if it has no ops: ops say nothing about an XS sub. 0: there
 * are ops, the calls are equal, or they vary among the runs of a side. */
static uint64_t certain_calls(const struct dp_difftable *r, size_t row)
{
    uint32_t e = r->c.rows[row].entry;
    const struct dp_diff_values *ops = &r->c.ops[1].values[e], *calls = &r->c.calls[1].values[e];
    return !ops->base && !ops->value && calls->verdict == DP_DIFF_EXACT
           && r->c.rows[row].section == DP_BOTH ? (uint64_t)dp_diff_size(calls) : 0;
}

/* Appends that XS subs, which execute no ops, are called more or less often: the sub with the
 * greatest difference, and the number of others. */
static void add_xs_calls(struct dp_difftable *r)
{
    size_t n = 0, best = 0;
    if (r->how->counts || r->how->per_call || !r->c.calls[1].values)
        return;
    for (size_t i = 0; i < r->c.n_rows; i++)
        if (certain_calls(r, i)) {
            best = n++ && certain_calls(r, best) >= certain_calls(r, i) ? best : i;
        }
    if (!n)
        return;
    uint32_t e = r->c.rows[best].entry;
    const struct dp_diff_values *calls = &r->c.calls[1].values[e];
    const struct dp_name *name = dp_diff_text(&r->c.diff, e, 0);
    dp_buf_adds(&r->scratch, "; XS subs have no ops, but other calls: ");
    dp_buf_add(&r->scratch, name->ptr, name->len);
    dp_buf_addc(&r->scratch, ' ');
    if (calls->base) {
        dp_render_real(&r->scratch, dp_difftable_change_percent(calls), 1, true);
        dp_buf_adds(&r->scratch, " %");
    } else {
        dp_buf_addf(&r->scratch, "+%" PRIu64, calls->value);
    }
    if (n > 1)
        dp_buf_addf(&r->scratch, ", and %zu more", n - 1);
}

void dp_difftable_certain(struct dp_difftable *r)
{
    size_t best[3];
    if (!r->c.ops || r->how->measures[r->how->beside].tolerance != 0 || r->c.diff.n_sides != 2)
        return;
    size_t n = most_ops(r, best), varying = varying_ops(r);
    if (!r->people) {
        dp_table_fact(&r->table, "", "ops_differ", dp_cell_count(n), NULL);
        return;
    }
    for (size_t k = 0; k < n && k < 3; k++) {
        uint32_t e = r->c.rows[best[k]].entry;
        const struct dp_diff_values *ops = &r->c.ops[1].values[e];
        const struct dp_name *name = dp_diff_text(&r->c.diff, e, 0);
        dp_buf_adds(&r->scratch, k ? ", " : "");
        dp_buf_add(&r->scratch, name->ptr, name->len);
        if (ops->base) {
            dp_buf_addc(&r->scratch, ' ');
            dp_render_real(&r->scratch, dp_difftable_change_percent(ops), 1, true);
            dp_buf_adds(&r->scratch, " %");
        } else {
            dp_buf_addf(&r->scratch, " +%" PRIu64, ops->value);
        }
    }
    if (n > 3)
        dp_buf_addf(&r->scratch, ", and %zu more", n - 3);
    if (varying)
        dp_buf_addf(&r->scratch, "%s%s in each run of a side",
                    n ? "; " : "not certain: ",
                    varying == 1 ? "there is a sub that does not execute as many"
                                 : "there are subs that do not execute as many");
    else
        dp_buf_adds(&r->scratch, n ? "; the others execute as many as before, exactly"
                                   : "as many as before in every sub, exactly");
    add_xs_calls(r);
    dp_table_fact(&r->table, "Ops", "ops_differ", dp_difftable_kept(r), NULL);
}

void dp_difftable_largest(struct dp_difftable *r)
{
    bool is_time = r->hz && r->c.diff.is_time;
    name_largest(r, true, is_time ? "Slower" : "More", "grown");
    name_largest(r, false, is_time ? "Faster" : "Less", "shrunk");
}

/* Does the format need all rows? Programs that read fields do. */
static bool wants_all(const struct dp_difftable *r)
{
    return !r->people || (r->how->separator && *r->how->separator);
}

int dp_difftable_fill_flat(struct dp_difftable *r)
{
    enum dp_section section = DP_BOTH, titled = DP_BOTH;
    size_t shown = 0;
    for (size_t i = 0; i < r->c.n_rows; i++) {
        if (r->c.rows[i].section != section)
            shown = 0;
        section = r->c.rows[i].section;
        if ((r->how->rows && shown >= r->how->rows)
            || !dp_compared_is_shown(&r->c, &r->c.rows[i], wants_all(r)))
            continue;
        struct dp_cell *cells = dp_table_row(&r->table);
        if (!cells)
            return DP_E_NOMEM;
        shown++;
        for (size_t c = 0; c < r->n_columns; c++) {
            cells[c] = flat_cell(r, &r->c.rows[i], &r->kinds[c]);
            /* the value that the colour is about: a share may shrink because others have grown */
            if (r->kinds[c].kind != K_CHANGE && r->kinds[c].kind != K_CHANGE_PERCENT)
                cells[c].cool = 2;
        }
        struct dp_row_of_table *row = dp_table_last(&r->table);
        row->tint = tint_of(r, &r->c.rows[i]);
        if (section != titled)
            row->section = section_title(r, titled = section);
    }
    return 0;
}
