/* dprofdiff's tables: entries of a baseline and of other sides; their call trees as one. */
#include "dp_diff.h"
#include "dp_diff_tree.h"
#include "dp_err.h"
#include "dp_gate.h"
#include "dp_mem.h"
#include "dp_render.h"
#include "dp_render_gate.h"
#include "dp_sort.h"
#include "dp_table.h"
#include "dprof.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum kind {
    K_BASE_PERCENT, K_BASE, K_BASE_CALLS, K_BASE_HUMAN, K_BASE_SPREAD,
    K_COMPUTE, K_FORMULA, K_CHANGE, K_PERCENT, K_VALUE, K_CALLS,
    K_HUMAN, K_SPREAD, K_CHANGE_PERCENT, K_INTERVAL, K_LOW, K_HIGH, K_P, K_VERDICT,
    K_STATUS, K_FAILS, K_MOVED, K_PLACE, K_KEY
};

struct column {
    enum kind kind;
    uint32_t side;
    size_t key;
};

/* Where an entry stands: what both have, what is new, what is gone. */
enum section { S_BOTH, S_NEW, S_GONE };

struct row {
    uint32_t entry;
    enum section section;
    uint32_t fails;             /* of its rules the first, and 1 */
};

struct report {
    struct dp_diff diff;
    const struct dp_diff_how *how;
    struct dp_diff_family *families, *calls;    /* by side */
    struct dp_gate gate;
    bool has_gate;
    bool sets;                  /* some side has several runs that do not agree: medians are compared */
    bool people;                /* no table for machines */
    struct row *rows;
    size_t n_rows;
    struct dp_table table;
    struct column *kinds;
    struct dp_column *columns;
    size_t n_columns, kinds_cap, columns_cap;
    struct dp_pool texts;       /* what cells, titles and facts point to */
    struct dp_buf scratch;
    struct dp_buf findings;
    struct dp_diff_tree tree;
    uint64_t hz;                /* of the metric; 0: counts */
    bool no_memory;
};

static int write_out(void *ctx, const void *ptr, size_t n)
{
    const struct dp_host *host = ctx;
    return host->write(host->ctx, ptr, n) < 0 ? DP_E_IO : 0;
}

static int write_buf(void *ctx, const void *ptr, size_t n)
{
    dp_buf_add(ctx, ptr, n);
    return ((struct dp_buf *)ctx)->err;
}

/* The text in the scratch buffer, kept until the end. */
static struct dp_name keep(struct report *r)
{
    struct dp_name nothing = { "", 0 };
    uint32_t n = r->scratch.err ? DP_MAP_NONE : dp_pool_intern(&r->texts, r->scratch.ptr ? r->scratch.ptr : "", r->scratch.len);
    r->no_memory = r->no_memory || n == DP_MAP_NONE;
    r->scratch.len = 0;
    return n == DP_MAP_NONE ? nothing : *dp_pool_name(&r->texts, n);
}

static struct dp_cell kept_cell(struct report *r)
{
    struct dp_name text = keep(r);
    return dp_cell_text(text.ptr, text.len);
}

static const struct dp_diff_values *values_of(const struct report *r, uint32_t entry, uint32_t side)
{
    return &r->families[side].values[entry];
}

static bool is_two(const struct report *r) { return r->diff.n_sides == 2; }

/* ---- what is computed ---- */

/* Percent; NAN where nothing passed at all. */
static double share(double whole, uint64_t value) { return whole > 0 ? 100.0 * (double)value / whole : NAN; }

/* The size that rows are sorted by; NAN: there is none. */
static double computed(const struct report *r, const struct dp_diff_values *v, uint32_t side, double *shown)
{
    const struct dp_diff_family *f = &r->families[side];
    *shown = NAN;
    if (!v->there)
        return NAN;
    switch (r->how->compute) {
    case DP_C_DELTA: case DP_C_DELTA_ABS:
        *shown = share(f->whole, v->value) - (v->base_there || f->base_whole > 0 ? share(f->base_whole, v->base) : 0);
        return fabs(*shown);
    case DP_C_RATIO:
        if (!v->base)
            return NAN;
        *shown = (double)v->value / (double)v->base;
        return v->value ? fabs(log(*shown)) : INFINITY;
    case DP_C_WDIFF:
        if (!v->base_there)
            return NAN;
        *shown = (double)v->value * (double)r->how->weights[1] - (double)v->base * (double)r->how->weights[0];
        return fabs(*shown);
    }
    return NAN;
}

/* ---- rows ---- */

static enum section section_of(const struct report *r, uint32_t entry)
{
    bool there = false;
    for (uint32_t s = 1; s < r->diff.n_sides; s++)
        there = there || values_of(r, entry, s)->there;
    return r->diff.n_sides < 2 || (there && values_of(r, entry, 1)->base_there) ? S_BOTH : there ? S_NEW : S_GONE;
}

/* What has changed stands before what has not, whatever became of its share; what is true, before what may be chance. */
static int rank_of(const struct report *r, const struct dp_diff_values *v)
{
    bool is_true = v->verdict == DP_DIFF_TRUE || v->verdict == DP_DIFF_EXACT;
    return v->verdict == DP_DIFF_EQUAL ? 2 : r->sets && !is_true;
}

static int descending(double a, double b)
{
    bool x = !isnan(a), y = !isnan(b);
    if (x != y)
        return x ? -1 : 1;
    return !x || a == b ? 0 : a > b ? -1 : 1;
}

static int compare_side(const struct report *r, uint32_t a, uint32_t b, uint32_t side)
{
    double shown;
    const struct dp_diff_values *v = values_of(r, a, side), *w = values_of(r, b, side);
    return descending(computed(r, v, side, &shown), computed(r, w, side, &shown));
}

static int compare_rows(const void *ctx, uint32_t x, uint32_t y)
{
    const struct report *r = ctx;
    const struct row *a = &r->rows[x], *b = &r->rows[y];
    uint32_t by = (uint32_t)r->how->order;
    int c = (int)a->section - (int)b->section;
    if (!c && by)
        c = rank_of(r, values_of(r, a->entry, by)) - rank_of(r, values_of(r, b->entry, by));
    if (!c && by)
        c = compare_side(r, a->entry, b->entry, by);
    if (!c && r->diff.n_sides > 1)
        c = descending((double)values_of(r, a->entry, 1)->base, (double)values_of(r, b->entry, 1)->base);
    for (uint32_t s = 1; s < r->diff.n_sides && !c; s++)
        c = compare_side(r, a->entry, b->entry, s);
    for (uint32_t s = 1; s < r->diff.n_sides && !c; s++)
        c = descending((double)values_of(r, a->entry, s)->value, (double)values_of(r, b->entry, s)->value);
    for (size_t k = 0; k < r->how->over.n_keys && !c; k++)
        c = dp_name_compare(dp_diff_text(&r->diff, a->entry, k), dp_diff_text(&r->diff, b->entry, k));
    return c;
}

static int make_rows(struct report *r)
{
    size_t n = dp_diff_entries(&r->diff);
    uint32_t *order = dp_mem_realloc(NULL, n + 1, sizeof *order);
    uint32_t *fails = dp_mem_zalloc((n + 1) * sizeof *fails);
    struct row *sorted = dp_mem_realloc(NULL, n + 1, sizeof *sorted);
    r->rows = dp_mem_realloc(NULL, n + 1, sizeof *r->rows);
    bool ok = order && fails && sorted && r->rows;
    for (size_t i = r->gate.n; ok && i-- > 0;)
        if (r->gate.findings[i].entry != DP_GATE_TOTAL)
            fails[r->gate.findings[i].entry] = r->gate.findings[i].rule + 1;
    for (uint32_t e = 0; ok && e < n; e++) {
        enum section section = section_of(r, e);
        if (!r->diff.shown[e] || (r->how->baseline_only && section != S_BOTH))
            continue;
        order[r->n_rows] = (uint32_t)r->n_rows;
        r->rows[r->n_rows++] = (struct row){ e, section, fails[e] };
    }
    if (ok) {
        dp_sort_u32(order, r->n_rows, compare_rows, r);
        for (size_t i = 0; i < r->n_rows; i++)
            sorted[i] = r->rows[order[i]];
        dp_mem_free(r->rows);
        r->rows = sorted;
        sorted = NULL;
    }
    dp_mem_free(order);
    dp_mem_free(fails);
    dp_mem_free(sorted);
    return ok ? 0 : DP_E_NOMEM;
}

/* ---- columns ---- */

static void add_column(struct report *r, enum kind kind, uint32_t side, size_t key, const char *title, const char *name, unsigned width)
{
    if (dp_mem_grow((void **)&r->kinds, &r->kinds_cap, r->n_columns + 1, sizeof *r->kinds) < 0
        || dp_mem_grow((void **)&r->columns, &r->columns_cap, r->n_columns + 1, sizeof *r->columns) < 0) {
        r->no_memory = true;
        return;
    }
    bool numbered = !is_two(r) && kind < K_STATUS;
    struct dp_column *c = &r->columns[r->n_columns];
    memset(c, 0, sizeof *c);
    dp_buf_adds(&r->scratch, title);
    if (numbered)
        dp_buf_addf(&r->scratch, "/%" PRIu32, side);
    c->title = keep(r).ptr;
    dp_buf_adds(&r->scratch, name);
    if (numbered && side)
        dp_buf_addf(&r->scratch, "_%" PRIu32, side);
    c->key = keep(r).ptr;
    c->width = width;
    c->left = kind >= K_STATUS || kind == K_FORMULA || kind == K_VERDICT;
    r->kinds[r->n_columns++] = (struct column){ kind, side, key };
}

static const char *const compute_titles[] = { "Delta", "Delta Abs", "Ratio", "Weighted diff" };
static const char *const compute_keys[] = { "delta", "delta_abs", "ratio", "wdiff" };
static const unsigned compute_widths[] = { 7, 9, 14, 14 };

static void columns_for_people(struct report *r)
{
    const struct dp_diff_how *how = r->how;
    bool values = how->period || how->verbose;
    add_column(r, K_BASE_PERCENT, 0, 0, "Baseline", "baseline_pct", 8);
    if (r->sets)
        add_column(r, K_BASE_HUMAN, 0, 0, "Median", "baseline", 10);
    if (values)
        add_column(r, K_BASE, 0, 0, "Base period", "baseline", 14);
    if (how->verbose)
        add_column(r, K_BASE_CALLS, 0, 0, "Base calls", "baseline_calls", 10);
    for (uint32_t s = 1; s < r->diff.n_sides; s++) {
        add_column(r, K_COMPUTE, s, 0, compute_titles[how->compute], compute_keys[how->compute], compute_widths[how->compute]);
        if (how->formula)
            add_column(r, K_FORMULA, s, 0, "Formula", "formula", 7);
        if (r->sets) {
            add_column(r, K_HUMAN, s, 0, is_two(r) ? "New median" : "Median", "value", 10);
            add_column(r, K_CHANGE_PERCENT, s, 0, "Change", "change_pct", 7);
            add_column(r, K_INTERVAL, s, 0, "Interval", "interval", 8);
            add_column(r, K_P, s, 0, "p", "p", 7);
        } else {
            add_column(r, K_CHANGE, s, 0, "Change", "change", 8);
        }
        if (values)
            add_column(r, K_VALUE, s, 0, "Period", "value", 14);
        if (how->verbose)
            add_column(r, K_CALLS, s, 0, "Calls", "calls", 8);
    }
    if (r->gate.n)
        add_column(r, K_FAILS, 0, 0, "Gate", "gate", 4);
}

static void columns_for_machines(struct report *r)
{
    const struct dp_diff_how *how = r->how;
    add_column(r, K_STATUS, 0, 0, "Status", "status", 0);
    add_column(r, K_BASE_PERCENT, 0, 0, "Baseline", "baseline_pct", 0);
    add_column(r, K_BASE, 0, 0, "Base period", "baseline", 0);
    add_column(r, K_BASE_SPREAD, 0, 0, "Base spread", "baseline_spread", 0);
    add_column(r, K_BASE_CALLS, 0, 0, "Base calls", "baseline_calls", 0);
    for (uint32_t s = 1; s < r->diff.n_sides; s++) {
        add_column(r, K_PERCENT, s, 0, "New", "value_pct", 0);
        add_column(r, K_VALUE, s, 0, "Period", "value", 0);
        add_column(r, K_SPREAD, s, 0, "Spread", "spread", 0);
        add_column(r, K_CALLS, s, 0, "Calls", "calls", 0);
        add_column(r, K_COMPUTE, s, 0, compute_titles[how->compute], compute_keys[how->compute], 0);
        add_column(r, K_CHANGE, s, 0, "Change", "change", 0);
        add_column(r, K_CHANGE_PERCENT, s, 0, "Change %", "change_pct", 0);
        add_column(r, K_LOW, s, 0, "Low", "change_low", 0);
        add_column(r, K_HIGH, s, 0, "High", "change_high", 0);
        add_column(r, K_P, s, 0, "p", "p", 0);
        add_column(r, K_VERDICT, s, 0, "Verdict", "verdict", 0);
    }
    if (r->has_gate)
        add_column(r, K_FAILS, 0, 0, "Gate", "gate", 0);
}

static void key_columns(struct report *r)
{
    static const struct { const char *title, *key; } names[DP_KEYS] = {
        { "Symbol", "symbol" }, { "Package", "package" }, { "Script", "script" }, { "Pid", "pid" }, { "Thread", "thread" },
        { "Source:Line", "srcline" }, { "Phase", "phase" }, { "Caller", "caller" }, { "Parent symbol", "parent" },
    };
    bool moved = !r->people;
    for (size_t k = 0; k < r->how->over.n_keys; k++) {
        int key = r->how->over.keys[k];
        add_column(r, K_KEY, 0, k, names[key].title, names[key].key, key == DP_K_SUB ? 6 : 4);
    }
    for (size_t i = 0; i < r->n_rows && !moved; i++)
        moved = dp_diff_moved_from(&r->diff, r->rows[i].entry) != NULL;
    if (moved)
        add_column(r, K_MOVED, 0, 0, "Moved from", "moved_from", 10);
    if (!r->people)
        add_column(r, K_PLACE, 0, 0, "Place", "place", 0);
}

/* ---- cells ---- */

static struct dp_cell amount(const struct report *r, uint64_t value)
{
    return r->hz ? dp_cell_ticks(value) : dp_cell_count(value);
}

static struct dp_cell signed_amount(const struct report *r, uint64_t from, uint64_t to)
{
    struct dp_cell cell = amount(r, to > from ? to - from : from - to);
    cell.negative = to < from;
    cell.sign = true;
    return cell;
}

static struct dp_cell signed_real(const struct report *r, double value)
{
    struct dp_cell cell = { .kind = DP_CELL_EMPTY };
    if (!isfinite(value))
        return cell;
    if (fabs(value) < 1e18) {
        cell = amount(r, (uint64_t)(fabs(value) + 0.5));
        cell.negative = value < 0;
    } else {
        cell = (struct dp_cell){ .kind = DP_CELL_REAL, .real = r->hz ? value / (double)r->hz : value };
    }
    return cell;
}

static struct dp_cell real(double value, unsigned decimals)
{
    return (struct dp_cell){ .kind = DP_CELL_REAL, .real = value, .decimals = decimals };
}

static struct dp_cell percent(double value, bool sign)
{
    struct dp_cell cell = dp_cell_percent(value);
    cell.sign = sign;
    return cell;
}

static struct dp_cell words(const char *str) { return dp_cell_text(str, strlen(str)); }

static struct dp_cell compute_cell(const struct report *r, const struct dp_diff_values *v, uint32_t side)
{
    struct dp_cell empty = { .kind = DP_CELL_EMPTY };
    double shown;
    computed(r, v, side, &shown);
    bool none = r->how->compute == DP_C_RATIO ? !v->base : !v->base_there;
    if (r->how->compute >= DP_C_RATIO && v->there && none)
        return r->people ? words("N/A") : empty;
    if (isnan(shown))
        return empty;
    if (r->how->compute == DP_C_RATIO)
        return real(shown, 6);
    if (r->how->compute == DP_C_WDIFF)
        return signed_real(r, shown);
    return percent(shown, true);
}

static void add_amount(struct report *r, uint64_t value)
{
    char num[DP_NUMBER_MAX];
    struct dp_cell cell = amount(r, value);
    dp_buf_add(&r->scratch, num, dp_render_number(num, &cell, r->hz, false));
}

static struct dp_cell formula_cell(struct report *r, const struct dp_diff_values *v, uint32_t side)
{
    const struct dp_diff_family *f = &r->families[side];
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
            add_amount(r, (uint64_t)(which ? f->whole : f->base_whole));
        } else if (!ratio) {
            dp_buf_addf(&r->scratch, " * %ld", r->how->weights[which]);
        }
        dp_buf_adds(&r->scratch, ratio ? "" : ")");
    }
    return kept_cell(r);
}

/* `12.3 ms +-2%`: the median, and how far the runs are off it. */
static struct dp_cell human_cell(struct report *r, uint64_t value, double spread)
{
    dp_human(&r->scratch, &r->diff, 0, (double)value);
    if (value && spread > 0)
        dp_buf_addf(&r->scratch, " \xc2\xb1%.0f%%", 100 * spread / (double)value);
    return kept_cell(r);
}

static double change_percent(const struct dp_diff_values *v)
{
    return v->base ? 100 * ((double)v->value - (double)v->base) / (double)v->base : NAN;
}

static struct dp_cell change_cell(const struct report *r, const struct dp_diff_values *v)
{
    if (r->people && r->sets && v->verdict == DP_DIFF_UNSURE)
        return words("~");
    if (r->people && r->sets && v->verdict == DP_DIFF_FEW)
        return words("?");
    if (r->people && v->verdict == DP_DIFF_SMALL)
        return (struct dp_cell){ .kind = DP_CELL_EMPTY };
    return percent(change_percent(v), true);
}

static void add_end(struct report *r, const struct dp_diff_values *v, double end)
{
    char num[DP_NUMBER_MAX];
    if (v->base) {
        struct dp_cell cell = { .kind = DP_CELL_REAL, .real = 100 * end / (double)v->base, .decimals = 1, .sign = true };
        dp_buf_add(&r->scratch, num, dp_render_number(num, &cell, 0, true));
    } else {
        dp_human(&r->scratch, &r->diff, 0, end);
    }
}

/* In percent of the baseline, `+4.1 to +6.3%`; in its unit where that has nothing. */
static void add_interval(struct report *r, const struct dp_diff_values *v)
{
    add_end(r, v, v->low);
    dp_buf_adds(&r->scratch, " to ");
    add_end(r, v, v->high);
    dp_buf_adds(&r->scratch, v->base ? "%" : "");
}

static bool is_tested(const struct dp_diff_values *v)
{
    return v->verdict == DP_DIFF_TRUE || v->verdict == DP_DIFF_UNSURE || v->verdict == DP_DIFF_FEW;
}

static struct dp_cell interval_cell(struct report *r, const struct dp_diff_values *v)
{
    struct dp_cell empty = { .kind = DP_CELL_EMPTY };
    if (!isfinite(v->low) || !isfinite(v->high) || !is_tested(v))
        return empty;
    add_interval(r, v);
    return kept_cell(r);
}

static struct dp_cell p_cell(const struct report *r, const struct dp_diff_values *v)
{
    struct dp_cell empty = { .kind = DP_CELL_EMPTY };
    if (!is_tested(v))
        return empty;
    if (r->people)
        return v->p < 0.00001 ? words("<0.00001") : real(v->p, 5);
    return real(v->p, 12);
}

static struct dp_cell verdict_cell(const struct dp_diff_values *v)
{
    static const char *const texts[] = { "equal", "exact", "single", "significant", "not significant", "too few runs", "not tested" };
    return words(texts[v->verdict]);
}

static struct dp_cell cell(struct report *r, const struct row *row, const struct column *c)
{
    static const char *const statuses[] = { "both", "new", "gone" };
    struct dp_cell empty = { .kind = DP_CELL_EMPTY };
    uint32_t side = c->side ? c->side : 1;
    const struct dp_diff_values *v = values_of(r, row->entry, side), *calls = r->calls ? &r->calls[side].values[row->entry] : NULL;
    const struct dp_diff_family *f = &r->families[side];
    const struct dp_name *text;
    struct dp_diff_place place;
    switch (c->kind) {
    case K_BASE_PERCENT: return v->base_there ? percent(share(f->base_whole, v->base), false) : empty;
    case K_BASE: return v->base_there || r->people ? amount(r, v->base) : empty;
    case K_BASE_CALLS: return v->base_there ? dp_cell_count(calls->base) : empty;
    case K_BASE_HUMAN: return v->base_there ? human_cell(r, v->base, v->base_spread) : empty;
    case K_BASE_SPREAD: return v->base_there && r->sets ? signed_real(r, v->base_spread) : empty;
    case K_COMPUTE: return compute_cell(r, v, side);
    case K_FORMULA: return formula_cell(r, v, side);
    case K_CHANGE: return v->there || v->base_there ? signed_amount(r, v->base, v->value) : empty;
    case K_PERCENT: return v->there ? percent(share(f->whole, v->value), false) : empty;
    case K_VALUE: return v->there ? amount(r, v->value) : empty;
    case K_CALLS: return v->there ? dp_cell_count(calls->value) : empty;
    case K_HUMAN: return v->there ? human_cell(r, v->value, v->spread) : empty;
    case K_SPREAD: return v->there && r->sets ? signed_real(r, v->spread) : empty;
    case K_CHANGE_PERCENT: return v->there && v->base_there ? change_cell(r, v) : empty;
    case K_INTERVAL: return interval_cell(r, v);
    case K_LOW: return is_tested(v) ? signed_real(r, v->low) : empty;
    case K_HIGH: return is_tested(v) ? signed_real(r, v->high) : empty;
    case K_P: return p_cell(r, v);
    case K_VERDICT: return v->there || v->base_there ? verdict_cell(v) : empty;
    case K_STATUS: return words(statuses[row->section]);
    case K_FAILS: return row->fails ? words(r->how->rules[row->fails - 1].text) : empty;
    case K_MOVED:
        text = dp_diff_moved_from(&r->diff, row->entry);
        return text ? dp_cell_text(text->ptr, text->len) : empty;
    case K_PLACE:
        if (!dp_diff_place(&r->diff, row->entry, &place))
            return empty;
        dp_buf_add(&r->scratch, place.file->ptr, place.file->len);
        dp_buf_addf(&r->scratch, ":%" PRIu64, place.line);
        return kept_cell(r);
    case K_KEY:
        text = dp_diff_text(&r->diff, row->entry, c->key);
        return dp_cell_text(text->ptr, text->len);
    }
    return empty;
}

/* Growth is hot, what shrinks warm: of true changes, and of those that one run a side shows. */
static int tint_of(const struct report *r, const struct row *row)
{
    for (uint32_t s = 1; s < r->diff.n_sides; s++) {
        const struct dp_diff_values *v = values_of(r, row->entry, s);
        bool counts = v->verdict == DP_DIFF_TRUE || v->verdict == DP_DIFF_EXACT || v->verdict == DP_DIFF_SINGLE;
        if (counts && v->value != v->base)
            return v->value > v->base ? 2 : 1;
    }
    return 0;
}

static const char *section_title(struct report *r, enum section section)
{
    if (section == S_BOTH)
        return NULL;
    dp_buf_adds(&r->scratch, section == S_NEW ? "New: not in " : is_two(r) ? "Gone: in " : "Gone: in no file but ");
    dp_buf_adds(&r->scratch, r->diff.sides[0].name);
    if (section == S_GONE && is_two(r)) {
        dp_buf_adds(&r->scratch, ", not in ");
        dp_buf_adds(&r->scratch, r->diff.sides[1].name);
    }
    return keep(r).ptr;
}

static int fill_flat(struct report *r)
{
    enum section section = S_BOTH;
    for (size_t i = 0; i < r->n_rows && (!r->how->rows || i < r->how->rows); i++) {
        struct dp_cell *cells = dp_table_row(&r->table);
        if (!cells)
            return DP_E_NOMEM;
        for (size_t c = 0; c < r->n_columns; c++) {
            cells[c] = cell(r, &r->rows[i], &r->kinds[c]);
            if (r->kinds[c].kind == K_BASE_PERCENT)
                cells[c].cool = 2;
        }
        struct dp_row_of_table *row = dp_table_last(&r->table);
        row->tint = tint_of(r, &r->rows[i]);
        if (r->rows[i].section != section)
            row->section = section_title(r, section = r->rows[i].section);
    }
    return 0;
}

/* ---- the tree, callers and callees ---- */

static void tree_columns(struct report *r)
{
    bool edges = r->how->edges_of != NULL;
    const char *symbol = !edges ? "Symbol" : r->how->view == DP_V_CALLERS ? "Caller" : "Callee";
    const char *key = !edges ? "symbol" : r->how->view == DP_V_CALLERS ? "caller" : "callee";
    add_column(r, K_BASE, 0, 0, "Baseline", "baseline", 10);
    add_column(r, K_BASE_CALLS, 0, 0, "Base calls", "baseline_calls", 8);
    for (uint32_t s = 1; s < r->diff.n_sides; s++) {
        add_column(r, K_VALUE, s, 0, is_two(r) ? "New" : "Value", "value", 10);
        add_column(r, K_CALLS, s, 0, "Calls", "calls", 8);
        add_column(r, K_CHANGE, s, 0, "Delta", "delta", 10);
        add_column(r, K_SPREAD, s, 0, "Self delta", "self_delta", 10);
    }
    add_column(r, K_KEY, 0, 0, symbol, key, 6);
}

static void branch_cells(struct report *r, struct dp_cell *cells, const struct dp_diff_amount *amounts, struct dp_cell name)
{
    size_t c = 0;
    cells[c++] = amount(r, amounts[0].incl);
    cells[c++] = dp_cell_count(amounts[0].calls);
    for (size_t s = 1; s < r->diff.n_sides; s++) {
        cells[c++] = amount(r, amounts[s].incl);
        cells[c++] = dp_cell_count(amounts[s].calls);
        cells[c++] = signed_amount(r, amounts[0].incl, amounts[s].incl);
        cells[c++] = signed_amount(r, amounts[0].self, amounts[s].self);
    }
    cells[c] = name;
}

static int add_branch(struct report *r, const struct dp_diff_amount *amounts, struct dp_cell name, unsigned level)
{
    struct dp_cell *cells = dp_table_row(&r->table);
    if (!cells)
        return DP_E_NOMEM;
    branch_cells(r, cells, amounts, name);
    dp_table_last(&r->table)->indent = level;
    return 0;
}

/* The branches of a parent that are too small, as one line, so that the lines add up. */
static int add_rest(struct report *r, uint32_t from, uint32_t end, unsigned level)
{
    size_t n = r->diff.n_sides;
    struct dp_diff_amount *sum = dp_mem_zalloc(n * sizeof *sum);
    if (!sum)
        return DP_E_NOMEM;
    for (uint32_t k = from; k < end; k++)
        for (size_t s = 0; s < n; s++) {
            const struct dp_diff_amount *a = dp_diff_amount_of(&r->tree, r->tree.order[k], s);
            sum[s].incl += a->incl;
            sum[s].self += a->incl;     /* with what they call, so that Self adds up, too */
            sum[s].calls += a->calls;
        }
    dp_buf_addf(&r->scratch, "[%" PRIu32 " more]", end - from);
    int rc = add_branch(r, sum, kept_cell(r), level);
    dp_mem_free(sum);
    return rc;
}

/* Puts kids that are to be seen before those that are not. How many there are, or DP_E_NOMEM. */
static int64_t seen_kids(const struct report *r, uint32_t from, uint32_t end, double least)
{
    uint32_t *kids = r->tree.order + from, n = 0, hidden = 0;
    uint32_t *rest = dp_mem_realloc(NULL, end - from + 1, sizeof *rest);
    if (!rest)
        return DP_E_NOMEM;
    for (uint32_t k = 0; k < end - from; k++) {
        uint32_t b = kids[k];
        if ((double)r->tree.branches[b].gross >= least)
            kids[n++] = b;
        else
            rest[hidden++] = b;
    }
    memcpy(kids + n, rest, hidden * sizeof *rest);
    dp_mem_free(rest);
    return n;
}

struct level { uint32_t at, seen, end; };

static int fill_tree(struct report *r)
{
    struct dp_diff_tree *t = &r->tree;
    const struct dp_diff_amount *all = dp_diff_amount_of(t, 0, 0);
    uint64_t most = all[0].incl > all[t->by].incl ? all[0].incl : all[t->by].incl;
    double least = r->how->percent_limit / 100 * (double)most;
    struct level *levels = NULL;
    size_t depth = 0, cap = 0;
    int rc = 0;
    if (!t->edges_of)
        rc = add_branch(r, all, dp_cell_text(DP_FMT_PROGRAM, strlen(DP_FMT_PROGRAM)), 0);
    uint32_t next = 0;          /* the branch to go down into */
    do {
        if (rc == 0 && dp_mem_grow((void **)&levels, &cap, depth + 1, sizeof *levels) < 0)
            rc = DP_E_NOMEM;
        if (rc < 0)
            break;
        struct level *l = &levels[depth++];
        *l = (struct level){ t->first[next], 0, t->first[next + 1] };
        int64_t seen = seen_kids(r, l->at, l->end, least);
        rc = seen < 0 ? (int)seen : 0;
        l->seen = l->at + (uint32_t)(seen < 0 ? 0 : seen);
        while (depth && rc == 0) {
            l = &levels[depth - 1];
            if (r->how->rows && r->table.n_rows >= r->how->rows)
                depth = 0;
            else if (l->at < l->seen) {
                next = t->order[l->at++];
                const struct dp_name *name = dp_pool_name(&t->texts, t->branches[next].name);
                rc = add_branch(r, dp_diff_amount_of(t, next, 0), dp_cell_text(name->ptr, name->len), (unsigned)depth - (t->edges_of != NULL));
                break;
            } else {
                if (l->at < l->end)
                    rc = add_rest(r, l->at, l->end, (unsigned)depth - (t->edges_of != NULL));
                depth--;
            }
        }
    } while (depth && rc == 0);
    dp_mem_free(levels);
    return rc;
}

/* ---- facts ---- */

static void fact(struct report *r, const char *label, const char *key, struct dp_cell value, const char *unit)
{
    dp_table_fact(&r->table, label, key, value, unit);
}

static const char *numbered(struct report *r, const char *text, const char *one, uint32_t side)
{
    if (is_two(r))
        return one;
    dp_buf_addf(&r->scratch, text, side);
    return keep(r).ptr;
}

static void side_facts(struct report *r)
{
    for (uint32_t s = 0; s < r->diff.n_sides; s++) {
        const struct dp_diff_side *side = &r->diff.sides[s];
        dp_buf_adds(&r->scratch, side->name);
        if (side->n_runs > 1)
            dp_buf_addf(&r->scratch, " (%zu runs)", side->n_runs);
        if (side->cut)
            dp_buf_adds(&r->scratch, " (cut short)");
        struct dp_cell value = kept_cell(r);
        fact(r, s ? numbered(r, "File %" PRIu32, "New", s) : "Baseline", s ? numbered(r, "file_%" PRIu32, "new", s) : "baseline", value, NULL);
    }
}

/* For people: `1.5000000 s (+25.00%)`, with what several runs tell. */
static struct dp_cell total_text(struct report *r, const struct dp_diff_values *v, bool base)
{
    char num[DP_NUMBER_MAX];
    struct dp_cell value = amount(r, base ? v->base : v->value), part;
    dp_buf_add(&r->scratch, num, dp_render_number(num, &value, r->hz, true));
    dp_buf_adds(&r->scratch, r->hz && r->diff.is_time ? " s" : "");
    double spread = base ? v->base_spread : v->spread;
    uint64_t of = base ? v->base : v->value;
    if (spread > 0 && of)
        dp_buf_addf(&r->scratch, " \xc2\xb1%.1f%%", 100 * spread / (double)of);
    if (base || !v->base)
        return kept_cell(r);
    part = percent(change_percent(v), true);
    dp_buf_adds(&r->scratch, " (");
    dp_buf_add(&r->scratch, num, dp_render_number(num, &part, 0, true));
    if (isfinite(v->low) && is_tested(v)) {
        dp_buf_adds(&r->scratch, ", ");
        add_interval(r, v);
    }
    if (is_tested(v))
        dp_buf_addf(&r->scratch, v->p < 0.00001 ? ", p < 0.00001" : ", p = %.5f", v->p);
    dp_buf_adds(&r->scratch, v->verdict == DP_DIFF_UNSURE ? ": not significant)" : v->verdict == DP_DIFF_FEW ? ": too few runs)" : ")");
    return kept_cell(r);
}

static void total_facts(struct report *r)
{
    const struct dp_diff_values *v = &r->families[1].total;
    fact(r, "Baseline total", "baseline_total", r->people ? total_text(r, v, true) : amount(r, v->base), NULL);
    for (uint32_t s = 1; s < r->diff.n_sides; s++) {
        v = &r->families[s].total;
        fact(r, numbered(r, "Total %" PRIu32, "New total", s), numbered(r, "total_%" PRIu32, "new_total", s),
             r->people ? total_text(r, v, false) : amount(r, v->value), NULL);
        if (r->people)
            continue;
        fact(r, "", numbered(r, "total_change_pct_%" PRIu32, "total_change_pct", s), percent(change_percent(v), true), NULL);
        fact(r, "", numbered(r, "total_verdict_%" PRIu32, "total_verdict", s), verdict_cell(v), NULL);
        if (is_tested(v))
            fact(r, "", numbered(r, "total_p_%" PRIu32, "total_p", s), real(v->p, 12), NULL);
    }
}

static void test_facts(struct report *r)
{
    size_t tests = 0, needed = 0;
    for (uint32_t s = 1; s < r->diff.n_sides; s++) {
        tests += r->families[s].tests;
        needed = r->families[s].needed > needed ? r->families[s].needed : needed;
    }
    if (!r->sets)
        return;
    if (r->people)
        dp_buf_addf(&r->scratch, "Mann-Whitney U of %zu above %g %%, p after Holm, true up to %g; intervals of %g %%",
                    tests, r->how->floor, r->how->alpha, 100 * r->how->confidence);
    if (r->people)
        fact(r, "Test", "test", kept_cell(r), NULL);
    else
        fact(r, "", "tests", dp_cell_count(tests), NULL);
    if (needed) {
        dp_buf_addf(&r->scratch, "%zu a side needed to decide", needed);
        fact(r, "Not enough runs", "runs_needed", r->people ? kept_cell(r) : dp_cell_count(needed), NULL);
        r->scratch.len = 0;
    }
}

static void speed_facts(struct report *r)
{
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < r->diff.n_runs; i++) {
        double speed = r->diff.runs[i].speed;
        least = speed < least ? speed : least;
        most = speed > most ? speed : most;
    }
    if (!r->diff.adjusted || !r->sets)
        return;
    dp_buf_addf(&r->scratch, "%s%.1f%s", r->people ? "runs took up to " : "", 100 * (most / least - 1),
                r->people ? " % longer than others for the same work; the subs' values (not the total) are adjusted for that" : "");
    fact(r, "Speed", r->people ? "speed" : "adjusted_for_speed_pct", kept_cell(r), NULL);
}

static void facts(struct report *r)
{
    side_facts(r);
    for (size_t i = 0; i < r->how->n_facts; i++) {
        const struct dp_report_fact *f = &r->how->facts[i];
        fact(r, f->label, f->key, dp_cell_text(f->text, f->len), NULL);
    }
    if (r->diff.n_sides > 1)
        total_facts(r);
    test_facts(r);
    speed_facts(r);
    if (r->has_gate && !r->people) {
        bool failed = r->gate.failed || (r->gate.undecided && r->how->strict);
        fact(r, "", "gate", words(failed ? "failed" : r->gate.undecided ? "undecided" : "passed"), NULL);
        fact(r, "", "findings", (struct dp_cell){ .kind = DP_CELL_JSON, .ptr = r->findings.ptr, .len = r->findings.len }, NULL);
    }
}

/* ---- all of it ---- */

static int compare_all(struct report *r)
{
    const struct dp_diff_how *how = r->how;
    size_t n = r->diff.n_sides;
    bool calls = how->verbose || !r->people;
    r->families = dp_mem_zalloc(n * sizeof *r->families);
    r->calls = dp_mem_zalloc(n * sizeof *r->calls);
    int rc = r->families && r->calls ? 0 : DP_E_NOMEM;
    for (uint32_t s = 1; s < n && rc == 0; s++) {
        rc = dp_diff_compare(&r->families[s], &r->diff, 0, how->children != 0, s);
        if (rc == 0 && calls)
            rc = dp_diff_compare(&r->calls[s], &r->diff, DP_RULE_CALLS, false, s);
        r->sets = r->sets || (rc == 0 && is_tested(&r->families[s].total));
        for (size_t e = 0; e < dp_diff_entries(&r->diff) && rc == 0 && !r->sets; e++)
            r->sets = is_tested(&r->families[s].values[e]);
    }
    if (rc == 0 && how->n_rules) {
        rc = dp_gate_check(&r->gate, &r->diff);
        r->has_gate = rc == 0;
    }
    return rc;
}

static int fill(struct report *r)
{
    bool tree = r->how->view != DP_V_FLAT;
    int rc = compare_all(r);
    if (rc == 0)
        rc = tree ? dp_diff_tree_end(&r->tree, &r->diff) : make_rows(r);
    if (rc < 0)
        return rc;
    if (r->how->edges_of && !r->tree.found)
        return DP_E_ARG;
    if (r->has_gate && r->how->format == DP_JSON)
        dp_gate_json(&r->findings, &r->gate, &r->diff);
    if (tree) {
        tree_columns(r);
    } else {
        (r->people ? columns_for_people : columns_for_machines)(r);
        key_columns(r);
    }
    if (r->no_memory || r->findings.err)
        return DP_E_NOMEM;
    dp_table_init(&r->table, r->columns, r->n_columns, r->diff.hz);
    facts(r);
    rc = tree ? fill_tree(r) : fill_flat(r);
    return rc < 0 ? rc : r->no_memory || r->table.no_memory || r->scratch.err ? DP_E_NOMEM : 0;
}

static int print_table(struct report *r, int format, struct dp_sink *sink)
{
    struct dp_table_how how = {
        .format = format, .separator = r->how->separator, .quiet = r->how->quiet != 0, .colour = r->how->colour != 0, .title = r->how->title,
    };
    return dp_table_print(&r->table, &how, sink);
}

/* What tests runners read: the table is text within it. */
static int print_tests(struct report *r, struct dp_sink *sink)
{
    struct dp_buf table, out;
    dp_buf_init(&table);
    dp_buf_init(&out);
    sink->write = write_buf;
    void *ctx = sink->ctx;
    sink->ctx = &table;
    int rc = print_table(r, DP_TEXT, sink);
    sink->write = write_out;
    sink->ctx = ctx;
    if (rc == 0) {
        if (r->how->format == DP_TAP)
            dp_gate_tap(&out, &r->gate, &r->diff, table.ptr, table.len);
        else if (r->how->format == DP_JUNIT)
            dp_gate_junit(&out, &r->gate, &r->diff, table.ptr, table.len);
        else
            dp_gate_github(&out, &r->gate, &r->diff);
        rc = out.err;
        dp_sink_add(sink, out.ptr, out.len);
    }
    dp_buf_release(&table);
    dp_buf_release(&out);
    return rc;
}

static int print_all(struct report *r, struct dp_sink *sink)
{
    struct dp_buf buf;
    int rc = 0, format = r->how->format;
    if (format >= DP_TAP)
        return print_tests(r, sink);
    dp_buf_init(&buf);
    bool text = format == DP_TEXT && !(r->how->separator && *r->how->separator);
    if (r->has_gate && format == DP_MARKDOWN)
        dp_gate_markdown(&buf, &r->gate, &r->diff);
    dp_sink_add(sink, buf.ptr, buf.len);
    rc = print_table(r, format, sink);
    buf.len = 0;
    if (r->has_gate && text)
        dp_gate_text(&buf, &r->gate, &r->diff);
    if (buf.len)
        dp_sink_adds(sink, "\n");
    dp_sink_add(sink, buf.ptr, buf.len);
    rc = rc < 0 ? rc : buf.err;
    dp_buf_release(&buf);
    return rc;
}

static void release(struct report *r)
{
    for (size_t s = 0; s < r->diff.n_sides; s++) {
        if (r->families)
            dp_diff_family_release(&r->families[s]);
        if (r->calls)
            dp_diff_family_release(&r->calls[s]);
    }
    dp_mem_free(r->families);
    dp_mem_free(r->calls);
    dp_mem_free(r->rows);
    dp_mem_free(r->kinds);
    dp_table_release(&r->table);
    dp_mem_free(r->columns);
    dp_gate_release(&r->gate);
    dp_buf_release(&r->scratch);
    dp_buf_release(&r->findings);
    dp_pool_release(&r->texts);
    dp_diff_tree_release(&r->tree);
    dp_diff_release(&r->diff);
}

int dp_diff_print(const struct dp_diff_side *sides, size_t n, const struct dp_diff_how *how, const struct dp_host *host,
                  struct dp_diff_outcome *out)
{
    struct report r;
    struct dp_sink *sink = dp_mem_alloc(sizeof *sink);
    bool tree = how->view != DP_V_FLAT;
    memset(&r, 0, sizeof r);
    memset(out, 0, sizeof *out);
    if (!sink)
        return DP_E_NOMEM;
    dp_sink_init(sink, write_out, (void *)(uintptr_t)host);
    dp_pool_init(&r.texts);
    dp_buf_init(&r.scratch);
    dp_buf_init(&r.findings);
    r.how = how;
    r.people = how->format != DP_CSV && how->format != DP_JSON;
    dp_diff_tree_init(&r.tree, n, tree ? how->edges_of : NULL, how->edges_of_len, how->view == DP_V_CALLEES);
    int rc = dp_diff_make(&r.diff, sides, n, how, tree ? dp_diff_tree_add : NULL, &r.tree);
    if (rc == 0) {
        r.hz = dp_diff_hz(&r.diff, 0);
        rc = fill(&r);
    }
    if (rc == 0)
        rc = print_all(&r, sink);
    int flushed = dp_sink_flush(sink);
    out->rows = r.table.n_rows;
    out->failed = r.gate.failed;
    out->undecided = r.gate.undecided;
    for (size_t s = 1; rc == 0 && s < n; s++)
        out->needed = r.families[s].needed > out->needed ? r.families[s].needed : out->needed;
    release(&r);
    dp_mem_free(sink);
    return rc < 0 ? rc : flushed;
}
