/* dprofdiff's answer: what was compared, whether it became slower, which subs did, and why. The
 * statistics behind it are in perf's layout (dp_render_diff.c). */
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_notes.h"
#include "dp_render.h"
#include "dp_render_diff.h"
#include "dp_render_gate.h"
#include "dp_renamed.h"
#include "dp_sort.h"
#include "dp_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST_ROWS = 10,             /* default, without an option of the user */
    MOST_RENAMES = 5,
    SIDE_COLUMNS = 70
};
enum { C_SUB, C_BEFORE, C_AFTER, C_CHANGE, C_INTERVAL, C_WHY, N_COLUMNS };

static const struct dp_column columns_with_interval[] = {
    [C_SUB] = { "Sub", "sub", 0, true, 0 },
    [C_BEFORE] = { "Before", "before", 9, false, 2 },
    [C_AFTER] = { "After", "after", 9, false, 3 },
    [C_CHANGE] = { "Change", "change", 8, false, 0 },
    [C_INTERVAL] = { "Interval", "interval", 8, false, 4 },
    [C_WHY] = { "Why", "why", 0, true, 1 }
};

struct answer {
    struct dp_difftable *r;
    struct dp_buf text;         /* lines around the table */
    bool is_time;
    uint32_t *rows;             /* rows of subs that changed, by the size of the change */
    size_t changed;
    struct dp_notes notes;      /* what the rows show and the lines below them explain */
    bool tells_ops, tells_same, tells_unsure;
    size_t untold;              /* number of subs that so few runs cannot decide */
};

/* The word for what a row shows. */
static const char *noun(const struct answer *a) { return a->r->how->spans ? "span" : "sub"; }

static const struct dp_diff_values *values_of(const struct dp_diff_family *families, uint32_t entry)
{
    return families ? &families[1].values[entry] : NULL;
}

/* ---- why ---- */

static double ratio_of(const struct dp_diff_values *v)
{
    return v && v->base && v->value ? (double)v->value / (double)v->base : NAN;
}

/* Appends a growth in words: `12 % more ', or `5.0 times the ' for a large one. */
static void add_percent(struct dp_buf *to, double ratio)
{
    if (ratio >= 3) {
        dp_render_real(to, ratio, ratio < 10 ? 1 : 0, false);
        dp_buf_adds(to, " times the ");
        return;
    }
    unsigned decimals = ratio < 0.001 ? 2 : ratio < 0.1 || fabs(ratio - 1) < 0.0995 ? 1 : 0;
    dp_render_real(to, 100 * fabs(ratio - 1), decimals, false);
    dp_buf_adds(to, ratio > 1 ? " % more " : " % fewer ");
}

static const double same = 0.02;        /* smaller differences count as equal */

/* Are the calls of subs those that were recorded? Samples are no calls; calls per call are 1; those
 * of -n are scaled. */
static bool knows_calls(const struct answer *a)
{
    return !a->r->how->counts && !a->r->how->per_call && !a->r->how->normalize;
}

/* Returns the values of the ops of a row or, of an XS sub, which executes none, those of its calls
 * (*by_calls), if each run of a side has the same and the sides differ; else NULL. */
static const struct dp_diff_values *exact_work(const struct answer *a, uint32_t entry,
                                               bool *by_calls)
{
    const struct dp_diff_values *work = values_of(a->r->c.ops, entry);
    *by_calls = !work || isnan(ratio_of(work));
    if (*by_calls)
        work = work && knows_calls(a) ? values_of(a->r->c.calls, entry) : NULL;
    return work && work->verdict == DP_DIFF_EXACT && !isnan(ratio_of(work)) ? work : NULL;
}

/* The factors of a change of time: calls, ops per call, time per op (per call without ops). */
struct factors {
    bool knows_calls, knows_ops;
    double calls, ops_a_call, rest;
    double all;                 /* the size of the change, in logarithms */
};

/* Is the factor a quarter of the change or more? */
static bool matters(const struct factors *f, double factor)
{
    return fabs(log(factor)) >= f->all / 4 && fabs(factor - 1) > same;
}

/* Appends the factors that are named, and how the speed changed if that is another one. */
static void add_factors(struct answer *a, const struct factors *f, bool by_calls, bool by_ops)
{
    struct dp_buf *to = &a->r->scratch;
    if (by_calls) {
        add_percent(to, f->calls);
        dp_buf_adds(to, "calls");
    }
    if (by_ops) {
        dp_buf_adds(to, by_calls ? ", " : "");
        add_percent(to, f->ops_a_call);
        dp_buf_adds(to, "ops a call");
        a->tells_ops = true;
    }
    if (matters(f, f->rest))
        dp_buf_adds(to, f->rest > 1 ? ", each slower" : ", each faster");
}

/* Explains a change of time, which is the product of three factors. Those that make up a quarter of
 * it or more, in logarithms, are named. If only the speed does, the work is said to be the same
 * only if it is: calls and ops that differ are named beside a greater change of speed. */
static void explain_time(struct answer *a, uint32_t entry, const struct dp_diff_values *v)
{
    struct dp_buf *to = &a->r->scratch;
    double time = ratio_of(v), calls = ratio_of(values_of(a->r->c.calls, entry)),
           ops = ratio_of(values_of(a->r->c.ops, entry));
    struct factors f = {
        .knows_calls = !isnan(calls) && knows_calls(a), .knows_ops = !isnan(ops),
        .all = fabs(log(time))
    };
    f.calls = f.knows_calls ? calls : 1;
    f.ops_a_call = f.knows_ops ? ops / f.calls : 1;
    f.rest = time / f.calls / f.ops_a_call;
    if (isnan(time) || (!f.knows_calls && !f.knows_ops))
        return;
    bool by_calls = matters(&f, f.calls), by_ops = matters(&f, f.ops_a_call);
    if (!by_calls && !by_ops) {
        /* without ops, the calls are all that is known of the work */
        by_calls = f.knows_ops ? fabs(f.calls - 1) > same : f.calls != 1;
        by_ops = fabs(f.ops_a_call - 1) > same;
    }
    if (by_calls || by_ops) {
        add_factors(a, &f, by_calls, by_ops);
    } else if (fabs(log(f.rest)) >= f.all / 4) {
        a->tells_same = a->tells_same || f.knows_ops;
        a->tells_ops = a->tells_ops || f.knows_ops;
        dp_buf_adds(to, f.knows_ops ? "same work" : "same calls");
        dp_buf_adds(to, v->verdict == DP_DIFF_SINGLE ? ": may be chance"
                        : f.rest > 1 ? ", but slower"
                        : ", but faster");
    }
}

/* Is the sub on another line than before, and not only in a file of another name? */
static bool is_elsewhere(const struct answer *a, uint32_t entry, const struct dp_name *moved)
{
    struct dp_diff_place place;
    char line[32];
    if (!dp_diff_place(&a->r->c.diff, entry, &place))
        return true;
    int n = snprintf(line, sizeof line, ":%" PRIu64, place.line);
    return n < 0 || moved->len < (size_t)n
           || memcmp(moved->ptr + moved->len - (size_t)n, line, (size_t)n) != 0;
}

/* The cell that says in words why a row changed: more calls or ops, slower ops, a new sub, a moved
 * one. It is empty if the runs do not show why. */
static struct dp_cell why_cell(struct answer *a, const struct dp_compared_row *row)
{
    struct dp_difftable *r = a->r;
    const struct dp_diff_values *v = dp_compared_of(&r->c, row->entry, 1);
    const struct dp_name *moved = dp_diff_moved_from(&r->c.diff, row->entry);
    if (row->section != DP_BOTH) {
        dp_buf_adds(&r->scratch, row->section == DP_NEW ? "new" : "gone");
    } else if (a->is_time) {
        bool undecided = v->verdict == DP_DIFF_UNSURE || v->verdict == DP_DIFF_FEW
                         || v->verdict == DP_DIFF_EQUAL || v->verdict == DP_DIFF_SMALL, by_calls;
        const struct dp_diff_values *work = exact_work(a, row->entry, &by_calls);
        if (undecided && work) {
            add_percent(&r->scratch, ratio_of(work));
            dp_buf_adds(&r->scratch, by_calls ? "calls, exact; " : "ops, exact; ");
            a->tells_ops = a->tells_ops || !by_calls;
            dp_buf_adds(&r->scratch, v->verdict == DP_DIFF_SMALL ? "too little time to test"
                                     : v->verdict == DP_DIFF_FEW ? "too few runs to test the time"
                                     : "the time is not significant");
        } else if (!undecided) {
            explain_time(a, row->entry, v);
        }
    }
    if (moved && is_elsewhere(a, row->entry, moved)) {
        dp_buf_adds(&r->scratch, r->scratch.len ? "; moved from " : "moved from ");
        dp_buf_add(&r->scratch, moved->ptr, moved->len);
    }
    return dp_difftable_kept(r);
}

/* ---- rows ---- */

static const double least_untested = 0.001; /* part of the total; without a test, less is no
                                             * change */

/* Has the sub changed, as far as the runs can decide? */
static bool has_changed(const struct answer *a, const struct dp_compared_row *row)
{
    const struct dp_diff_values *v = dp_compared_of(&a->r->c, row->entry, 1), *work;
    bool by_calls;
    if (v->verdict == DP_DIFF_TRUE || v->verdict == DP_DIFF_EXACT || row->fails)
        return true;
    if (a->is_time && row->section == DP_BOTH && (work = exact_work(a, row->entry, &by_calls))
        && fabs(ratio_of(work) - 1) > same / 10)
        return true;
    /* that one side alone has the sub needs no test */
    return (v->verdict == DP_DIFF_SINGLE || row->section != DP_BOTH)
           && dp_diff_size(v) >= least_untested * (double)a->r->c.families[1].total.base;
}

/* Returns the cell of an amount: a time in a unit that fits, or a number with separators. */
static struct dp_cell amount_cell(struct answer *a, uint64_t value, bool is_there)
{
    struct dp_difftable *r = a->r;
    if (!is_there)
        return (struct dp_cell){ .kind = DP_CELL_EMPTY };
    if (r->hz)
        dp_human(&r->scratch, &r->c.diff, 0, (double)value);
    else
        dp_render_grouped(&r->scratch, value);
    return dp_difftable_kept(r);
}

static void add_signed(struct dp_buf *to, double percent)
{
    dp_render_real(to, percent, 1, true);
    dp_buf_addc(to, '%');
}

/* The cell of the growth in percent: `~` if the runs cannot tell whether there is any; empty if one
 * side lacks the sub. */
static struct dp_cell change_cell(struct answer *a, const struct dp_compared_row *row)
{
    struct dp_difftable *r = a->r;
    const struct dp_diff_values *v = dp_compared_of(&r->c, row->entry, 1);
    if (row->section != DP_BOTH || !v->base)
        return (struct dp_cell){ .kind = DP_CELL_EMPTY };
    if (v->verdict == DP_DIFF_UNSURE || v->verdict == DP_DIFF_FEW || v->verdict == DP_DIFF_SMALL) {
        a->tells_unsure = true;
        return dp_difftable_words("~");
    }
    double percent = dp_difftable_change_percent(v);
    add_signed(&r->scratch, percent);
    struct dp_cell cell = dp_difftable_kept(r);
    cell.sign = true;           /* so that it is coloured like a number */
    return cell;
}

/* Appends to the scratch buffer. No time falls by more than all of it, whatever runs scatter. */
static void add_interval(struct answer *a, const struct dp_diff_values *v)
{
    struct dp_diff_values possible = *v;
    if (possible.low < -(double)v->base)
        possible.low = -(double)v->base;
    dp_difftable_interval(a->r, &possible);
}

/* Returns the cell of a change's confidence interval; empty if nothing was tested. */
static struct dp_cell interval_cell(struct answer *a, const struct dp_compared_row *row)
{
    const struct dp_diff_values *v = dp_compared_of(&a->r->c, row->entry, 1);
    if (!isfinite(v->low) || !isfinite(v->high) || !dp_diff_is_tested(v) || row->section != DP_BOTH
        || !v->base)
        return (struct dp_cell){ .kind = DP_CELL_EMPTY };
    add_interval(a, v);
    return dp_difftable_kept(a->r);
}

/* Adds the row of a sub that changed. Growth is tinted hot and a decrease warm, if the change is
 * significant or if there is one run a side. */
static int add_row(struct answer *a, const struct dp_compared_row *row)
{
    struct dp_difftable *r = a->r;
    const struct dp_diff_values *v = dp_compared_of(&r->c, row->entry, 1);
    const struct dp_name *name = dp_diff_text(&r->c.diff, row->entry, 0);
    bool known = v->verdict == DP_DIFF_TRUE || v->verdict == DP_DIFF_EXACT
                 || v->verdict == DP_DIFF_SINGLE;
    struct dp_cell *cells = dp_table_row(&r->table);
    if (!cells)
        return DP_E_NOMEM;
    size_t at = 0;
    dp_notes_look(&a->notes, name->ptr, name->len);
    cells[at++] = dp_cell_text(name->ptr, name->len);
    cells[at++] = amount_cell(a, v->base, row->section != DP_NEW);
    cells[at++] = amount_cell(a, v->value, row->section != DP_GONE);
    cells[at++] = change_cell(a, row);
    if (r->c.sets)
        cells[at++] = interval_cell(a, row);
    cells[at] = why_cell(a, row);
    dp_table_last(&r->table)->tint = !known || v->value == v->base ? 0 : v->value > v->base ? 2 : 1;
    return 0;
}

/* Sorts rows by the size of their change, the largest first. */
static int by_size(const void *ctx, uint32_t x, uint32_t y)
{
    const struct dp_compared *c = ctx;
    double a = dp_diff_size(dp_compared_of(c, c->rows[x].entry, 1)),
           b = dp_diff_size(dp_compared_of(c, c->rows[y].entry, 1));
    return a > b ? -1 : a < b ? 1 : x < y ? -1 : x > y;
}

/* Finds the rows to show, those with the greatest change first. Counts in a->untold the subs that
 * need more runs. */
static int find_changed(struct answer *a)
{
    const struct dp_compared *c = &a->r->c;
    a->rows = dp_mem_realloc(NULL, c->n_rows + 1, sizeof *a->rows);
    if (!a->rows)
        return DP_E_NOMEM;
    for (uint32_t i = 0; i < c->n_rows; i++) {
        const struct dp_compared_row *row = &c->rows[i];
        if (dp_compared_is_shown(c, row, false) && has_changed(a, row))
            a->rows[a->changed++] = i;
        else
            a->untold += dp_compared_of(c, row->entry, 1)->verdict == DP_DIFF_FEW;
    }
    dp_sort_u32(a->rows, a->changed, by_size, c);
    return 0;
}

/* Adds the changed rows to the table, as many as are shown. Returns 0 or a DP_E. */
static int fill_rows(struct answer *a)
{
    const struct dp_difftable *r = a->r;
    size_t most = r->how->rows ? r->how->rows : MOST_ROWS;
    int rc = find_changed(a);
    for (size_t i = 0; i < a->changed && rc == 0 && (i < most || r->how->verbose); i++)
        rc = add_row(a, &r->c.rows[a->rows[i]]);
    return rc;
}

/* ---- the lines around the table ---- */

/* Appends a name, escaped for a terminal. */
static void add_name(struct dp_buf *to, const char *ptr, size_t len)
{
    dp_text_escape(to, ptr, len);
}

/* Appends the names of a side's files; the middle of a long list is left out. */
static void add_side(struct answer *a, const char *name)
{
    struct dp_buf *shown = &a->r->scratch;
    dp_text_escape(shown, name, strlen(name));
    dp_render_cut(&a->text, shown->ptr, shown->len, SIDE_COLUMNS);
    shown->len = 0;
}

/* Appends the line that says what was compared: the files of both sides, the number of runs, and
 * the metric. */
static void add_sides(struct answer *a)
{
    const struct dp_diff_side *sides = a->r->c.diff.sides;
    struct dp_buf *to = &a->text;
    for (int s = 0; s < 2; s++) {
        dp_buf_adds(to, s ? " -> " : "");
        add_side(a, sides[s].name);
        dp_buf_adds(to, sides[s].cut ? " (incomplete)" : "");
    }
    size_t runs[2] = { sides[0].n_runs, sides[1].n_runs };
    bool bucketed = sides[0].bucketed || sides[1].bucketed;
    const char *unit = bucketed ? "bucket" : a->r->how->units ? a->r->how->units : "run",
               *ending = strcmp(unit, "process") == 0 ? "es" : "s";
    if (runs[0] == runs[1])
        dp_buf_addf(to, "; %zu %s%s a side", runs[0], unit, runs[0] == 1 ? "" : ending);
    else
        dp_buf_addf(to, "; %zu and %zu %s%s", runs[0], runs[1], unit, ending);
    for (size_t i = 0; i < a->r->how->n_facts; i++) {
        const struct dp_report_fact *f = &a->r->how->facts[i];
        if (strcmp(f->key, "metric") != 0)
            continue;
        static const char in_seconds[] = ", in seconds";        /* amounts have their units here */
        size_t tail = sizeof in_seconds - 1;
        bool cut = f->len > tail && memcmp(f->text + f->len - tail, in_seconds, tail) == 0;
        dp_buf_adds(to, "; ");
        add_name(to, f->text, cut ? f->len - tail : f->len);
    }
    dp_buf_adds(to, "\n");
}

/* Appends what matters in a comparison of hosts: that there are too few, that all subs became
 * faster or slower alike, that the sides do other work. */
static void add_hosts(struct answer *a)
{
    struct dp_difftable *r = a->r;
    const struct dp_diff_values *speed = &r->c.diff.speeds;
    for (size_t i = 0; i < r->how->n_facts; i++)
        if (strcmp(r->how->facts[i].key, "too_few") == 0) {
            dp_buf_adds(&a->text, "Too few: ");
            add_name(&a->text, r->how->facts[i].text, r->how->facts[i].len);
            dp_buf_adds(&a->text, "\n");
        }
    if (r->how->units && r->c.diff.has_speed && r->c.diff.adjusted
        && speed->p <= DP_DIFFTABLE_POSSIBLE) {
        dp_buf_adds(&a->text, "Speed: all subs moved alike, by ");
        add_signed(&a->text, dp_difftable_change_percent(speed));
        dp_buf_adds(&a->text, "; the rows are adjusted for that\n");
    }
    if (dp_difftable_has_mix(r)) {
        if (dp_difftable_mix(r) > 0) {
            dp_buf_adds(&a->text, "Mix: ");
            add_name(&a->text, r->scratch.ptr, r->scratch.len);
            dp_buf_adds(&a->text, "\n");
        }
        r->scratch.len = 0;
    }
}

/* The verdict in one word, or the reason why there is none. */
static const char *verdict_of(const struct answer *a, const struct dp_diff_values *v)
{
    bool more = v->value > v->base;
    switch (v->verdict) {
    case DP_DIFF_EQUAL: return "no change";
    case DP_DIFF_TRUE: case DP_DIFF_EXACT: case DP_DIFF_LAYOUT:
        return a->is_time ? (more ? "slower" : "faster") : more ? "more" : "less";
    case DP_DIFF_SINGLE:
        return "one run a side: may be chance; --run repeats";
    case DP_DIFF_FEW: return "too few runs to tell";
    case DP_DIFF_UNSURE: case DP_DIFF_SMALL: break;
    }
    return "no significant change";
}

/* Appends the line about a sum: both values, the growth, and whether it is significant. */
static void add_sum(struct answer *a, const char *title, const struct dp_diff_values *v)
{
    struct dp_difftable *r = a->r;
    struct dp_buf *to = &a->text;
    dp_buf_addf(to, "%s: ", title);
    for (int s = 0; s < 2; s++) {
        uint64_t value = s ? v->value : v->base;
        dp_buf_adds(to, s ? " -> " : "");
        if (r->hz)
            dp_human(to, &r->c.diff, 0, (double)value);
        else
            dp_render_grouped(to, value);
    }
    if (v->base && v->value != v->base) {
        dp_buf_adds(to, ", ");
        add_signed(to, dp_difftable_change_percent(v));
        if (isfinite(v->low) && isfinite(v->high) && dp_diff_is_tested(v)) {
            add_interval(a, v);
            dp_buf_adds(to, " (");
            dp_render_given(to, 100 * r->how->confidence);
            dp_buf_adds(to, "% interval: ");
            dp_buf_add(to, r->scratch.ptr, r->scratch.len);
            dp_buf_adds(to, ")");
            r->scratch.len = 0;
        }
    }
    dp_buf_addf(to, ": %s\n", verdict_of(a, v));
    if (r->how->startup)
        dp_buf_addf(to, "%s\n", r->how->startup);
}

/* Appends the subs that may only have another name. */
static void add_renames(struct answer *a)
{
    struct dp_renamed renames[MOST_RENAMES];
    int n = dp_renamed_find(renames, MOST_RENAMES, &a->r->c);
    for (int i = 0; i < n; i++) {
        dp_buf_adds(&a->text, "Renamed? ");
        dp_difftable_rename(&a->text, &a->r->c.diff, &renames[i]);
        dp_buf_adds(&a->text, "\n");
    }
    if (n > 0)
        dp_buf_adds(&a->text, "(Here each of these counts as two subs, one gone and one new.)\n");
    a->r->no_memory = a->r->no_memory || n < 0;
}

/* Explains the columns, marks and words that the rows use, one line each. */
static void add_notes(struct answer *a)
{
    struct dp_buf *to = &a->text;
    if (a->r->table.n_rows)
        dp_buf_addf(to, "Before, After: the %s %s the subs that it calls%s.\n", noun(a),
                    a->r->how->over.no_children ? "alone, without" : "with",
                    a->r->c.sets ? "; the median of the runs" : "");
    dp_notes_add(to, &a->notes);
    if (a->tells_unsure)
        dp_buf_adds(to, "~: the runs cannot tell whether the time has changed.\n");
    if (a->tells_same)
        dp_buf_adds(to, "same work: as many calls and ops as before, or nearly as many.\n");
    if (a->tells_ops)
        dp_buf_adds(to, "ops: the single steps that perl executes.\n");
}

/* Appends what it means that the other subs did not change. */
static void add_others(struct answer *a, size_t others)
{
    struct dp_difftable *r = a->r;
    struct dp_buf *to = &a->text;
    dp_render_grouped(to, others);
    dp_buf_addf(to, " %s%s%s did not change", a->changed ? "other " : "", noun(a),
                others == 1 ? "" : "s");
    if (r->c.sets) {
        dp_buf_adds(to, " significantly: any difference may be chance");
        if (r->how->floor > 0) {
            dp_buf_addf(to, ", or the %s has less than ", noun(a));
            dp_render_given(to, r->how->floor);
            dp_buf_adds(to, " % of the total");
        }
    } else if (a->is_time) {
        dp_buf_adds(to, " by as much as ");
        dp_render_given(to, 100 * least_untested);
        dp_buf_adds(to, " % of the total");
    }
    dp_buf_adds(to, ".\n");
}

/* Appends lines about the subs that the table does not show, and about the options that show
 * more. */
static void add_lines_about_rest(struct answer *a)
{
    struct dp_difftable *r = a->r;
    size_t shown = r->table.n_rows, others = r->c.n_rows - a->changed - a->untold;
    struct dp_buf *to = &a->text;
    if (a->changed > shown)
        dp_buf_addf(to, "%zu more changed less (--rows N shows more).\n", a->changed - shown);
    if (a->untold)
        dp_buf_addf(to, "%zu %s%s: too few runs to tell.\n", a->untold, noun(a),
                    a->untold == 1 ? "" : "s");
    if (others)
        add_others(a, others);
    add_notes(a);
    if (r->how->next) {
        add_name(to, r->how->next, strlen(r->how->next));
        dp_buf_adds(to, "\n");
    }
}

/* Prints the text that was collected, wrapped at the width of the output, and empties it. */
static int print_text(struct answer *a, struct dp_sink *sink)
{
    if (a->r->how->quiet)
        a->text.len = 0;
    if (a->r->how->width)
        dp_render_wrapped(sink, a->text.ptr, a->text.len, a->r->how->width, "  ");
    else
        dp_sink_add(sink, a->text.ptr, a->text.len);
    a->text.len = 0;
    return a->text.err;
}

/* Prints the whole answer: lines about the comparison, the table, and lines about the other subs
 * and the gate. */
static int print_answer(struct answer *a, struct dp_sink *sink)
{
    struct dp_difftable *r = a->r;
    struct dp_table_how how = { .format = DP_TEXT, .colour = r->how->colour != 0,
                                .quiet = r->how->quiet != 0,
                                .width = r->how->width,
                                .names_width = r->how->names_width };
    if (r->c.has_gate) {
        dp_buf_adds(&a->text, "Gate: ");
        dp_gate_verdict(&a->text, &r->c.gate, &r->c.diff);
        dp_buf_adds(&a->text, "\n");
    }
    add_sides(a);
    add_sum(a, "Total", &r->c.families[1].total);
    if (dp_diff_is_filtered(&r->c.diff))
        add_sum(a, "Shown (self)", &r->c.families[1].shown);
    add_hosts(a);
    dp_buf_adds(&a->text, r->table.n_rows ? "\n" : "");
    int rc = print_text(a, sink);
    if (rc == 0 && r->table.n_rows)
        rc = dp_table_print(&r->table, &how, sink);
    dp_buf_adds(&a->text, r->table.n_rows ? "\n" : "");
    add_renames(a);
    add_lines_about_rest(a);
    if (r->c.has_gate) {
        dp_buf_adds(&a->text, "\n");
        dp_gate_text(&a->text, &r->c.gate, &r->c.diff, "");
    }
    return rc < 0 ? rc : print_text(a, sink);
}

int dp_difftable_answer(struct dp_difftable *r, struct dp_sink *sink)
{
    struct answer a = { .r = r, .is_time = r->hz && r->c.diff.is_time };
    struct dp_column columns[N_COLUMNS];
    size_t n = 0;
    for (size_t i = 0; i < N_COLUMNS; i++)
        if (i != C_INTERVAL || r->c.sets)
            columns[n++] = columns_with_interval[i];
    if (r->how->spans)
        columns[C_SUB].title = "Span";
    dp_table_init(&r->table, columns, n, r->c.diff.hz);
    dp_buf_init(&a.text);
    int rc = fill_rows(&a);
    if (rc == 0)
        rc = print_answer(&a, sink);
    if (rc == 0 && (r->no_memory || r->table.no_memory || a.text.err))
        rc = DP_E_NOMEM;
    dp_buf_release(&a.text);
    dp_mem_free(a.rows);
    return rc;
}
