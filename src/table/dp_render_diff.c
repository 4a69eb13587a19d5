/* dprofdiff's tables: the facts above them, the parts they share, and printing. */
#include "dp_render_diff.h"
#include "dp_diff_mix.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_render.h"
#include "dp_render_gate.h"
#include "dp_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- shared by the tables ---- */

/* Keeps the text of the scratch buffer until the end. */
struct dp_name dp_difftable_keep(struct dp_difftable *r)
{
    struct dp_name nothing = { "", 0 };
    uint32_t n = r->scratch.err ? DP_MAP_NONE
                                : dp_pool_intern(&r->texts, r->scratch.ptr ? r->scratch.ptr : "",
                                                 r->scratch.len);
    r->no_memory = r->no_memory || n == DP_MAP_NONE;
    r->scratch.len = 0;
    return n == DP_MAP_NONE ? nothing : *dp_pool_name(&r->texts, n);
}

struct dp_cell dp_difftable_kept(struct dp_difftable *r)
{
    struct dp_name text = dp_difftable_keep(r);
    return dp_cell_text(text.ptr, text.len);
}

/* The order in which a narrow terminal drops columns: the greatest number goes first. The change
 * and the name always stay. */
static unsigned spare_of(enum dp_difftable_kind kind)
{
    switch (kind) {
    case K_INTERVAL: return 9;
    case K_MOVED: case K_FATE: return 8;
    case K_BASE_PERCENT: return 7;
    case K_BASE_CALLS: case K_CALLS: return 6;
    case K_COMPUTE: return 5;
    case K_P: return 4;
    case K_BASE_HUMAN: case K_BASE: return 3;
    case K_HUMAN: case K_VALUE: return 2;
    case K_CHANGE: case K_SPREAD: case K_FAILS: return 1;
    default: return 0;
    }
}

void dp_difftable_column(struct dp_difftable *r, enum dp_difftable_kind kind, uint32_t side,
                         size_t key, const char *title, const char *name, unsigned width)
{
    if (dp_mem_grow((void **)&r->kinds, &r->kinds_cap, r->n_columns + 1, sizeof *r->kinds) < 0
        || dp_mem_grow((void **)&r->columns, &r->columns_cap, r->n_columns + 1, sizeof *r->columns)
               < 0) {
        r->no_memory = true;
        return;
    }
    bool numbered = !dp_difftable_is_two(r) && kind < K_STATUS;
    struct dp_column *c = &r->columns[r->n_columns];
    memset(c, 0, sizeof *c);
    dp_buf_adds(&r->scratch, title);
    if (numbered)
        dp_buf_addf(&r->scratch, "/%" PRIu32, side);
    c->title = dp_difftable_keep(r).ptr;
    dp_buf_adds(&r->scratch, name);
    if (numbered && side)
        dp_buf_addf(&r->scratch, "_%" PRIu32, side);
    c->key = dp_difftable_keep(r).ptr;
    c->width = width;
    c->spare = spare_of(kind);
    c->left = kind >= K_STATUS || kind == K_FORMULA || kind == K_VERDICT;
    r->kinds[r->n_columns++] = (struct dp_difftable_column){ kind, side, key };
}

struct dp_cell dp_difftable_amount(const struct dp_difftable *r, uint64_t value)
{
    return r->hz ? dp_cell_ticks(value) : dp_cell_count(value);
}

struct dp_cell dp_difftable_signed(const struct dp_difftable *r, uint64_t from, uint64_t to)
{
    struct dp_cell cell = dp_difftable_amount(r, to > from ? to - from : from - to);
    cell.negative = to < from;
    cell.sign = true;
    return cell;
}

struct dp_cell dp_difftable_real(double value, unsigned decimals)
{
    return (struct dp_cell){ .kind = DP_CELL_REAL, .real = value, .decimals = decimals };
}

struct dp_cell dp_difftable_percent(double value, bool sign)
{
    struct dp_cell cell = dp_cell_percent(value);
    cell.sign = sign;
    return cell;
}

struct dp_cell dp_difftable_words(const char *str) { return dp_cell_text(str, strlen(str)); }

/* How the difference was judged, in words: significant, too few runs, within layout ... */
struct dp_cell dp_difftable_verdict(const struct dp_diff_values *v)
{
    static const char *const texts[] = { "equal",       "exact",           "single",
                                         "significant", "not significant", "too few runs",
                                         "not tested",  "within layout" };
    return dp_difftable_words(texts[v->verdict]);
}

double dp_difftable_change_percent(const struct dp_diff_values *v)
{
    return v->base ? 100 * ((double)v->value - (double)v->base) / (double)v->base : NAN;
}

/* Appends one end of an interval, without its %: in percent of the baseline or, if that is 0, in
 * the metric's unit. */
static void add_interval_end(struct dp_difftable *r, const struct dp_diff_values *v, double end)
{
    char num[DP_NUMBER_MAX];
    if (v->base) {
        struct dp_cell cell = {
            .kind = DP_CELL_REAL, .real = 100 * end / (double)v->base, .decimals = 1, .sign = true
        };
        dp_buf_add(&r->scratch, num, dp_render_number(num, &cell, 0, true));
    } else {
        dp_human(&r->scratch, &r->c.diff, 0, end);
    }
}

/* Appends the interval: in percent of the baseline, `+4.1 to +6.3%`; in the metric's unit if the
 * baseline is 0. */
void dp_difftable_interval(struct dp_difftable *r, const struct dp_diff_values *v)
{
    add_interval_end(r, v, v->low);
    dp_buf_adds(&r->scratch, " to ");
    add_interval_end(r, v, v->high);
    dp_buf_adds(&r->scratch, v->base ? "%" : "");
}

/* ---- facts ---- */

static void add_fact(struct dp_difftable *r, const char *label, const char *key,
                     struct dp_cell value, const char *unit)
{
    dp_table_fact(&r->table, label, key, value, unit);
}

/* Returns a column's title: `one' if there are two sides, else `text' with the number of the
 * side. */
static const char *numbered_text(struct dp_difftable *r, const char *text, const char *one,
                                 uint32_t side)
{
    if (dp_difftable_is_two(r))
        return one;
    dp_buf_addf(&r->scratch, text, side);
    return dp_difftable_keep(r).ptr;
}

/* Adds a fact for each side: the names of its files, the number of runs, and whether one is
 * incomplete. */
static void side_facts(struct dp_difftable *r)
{
    for (uint32_t s = 0; s < r->c.diff.n_sides; s++) {
        const struct dp_diff_side *side = &r->c.diff.sides[s];
        dp_buf_adds(&r->scratch, side->name);
        if (side->n_runs > 1 && !side->bucketed && !r->how->units)
            dp_buf_addf(&r->scratch, " (%zu runs)", side->n_runs);
        if (side->cut)
            dp_buf_adds(&r->scratch, " (cut short)");
        struct dp_cell value = dp_difftable_kept(r);
        add_fact(r, s ? numbered_text(r, "File %" PRIu32, "New", s) : "Baseline",
                 s ? numbered_text(r, "file_%" PRIu32, "new", s) : "baseline", value, NULL);
    }
}

/* The total for people: `1.5000000 s (+25.00%)`, with the interval of several runs. */
static struct dp_cell total_text(struct dp_difftable *r, const struct dp_diff_values *v, bool base)
{
    char num[DP_NUMBER_MAX];
    struct dp_cell value = dp_difftable_amount(r, base ? v->base : v->value), part;
    dp_buf_add(&r->scratch, num, dp_render_number(num, &value, r->hz, true));
    dp_buf_adds(&r->scratch, r->hz && r->c.diff.is_time ? " s" : "");
    double spread = base ? v->base_spread : v->spread;
    uint64_t of = base ? v->base : v->value;
    if (spread > 0 && of) {
        dp_buf_adds(&r->scratch, " \xc2\xb1");
        dp_render_real(&r->scratch, 100 * spread / (double)of, 1, false);
        dp_buf_adds(&r->scratch, "%");
    }
    if (base || !v->base)
        return dp_difftable_kept(r);
    part = dp_difftable_percent(dp_difftable_change_percent(v), true);
    dp_buf_adds(&r->scratch, " (");
    dp_buf_add(&r->scratch, num, dp_render_number(num, &part, 0, true));
    if (isfinite(v->low) && dp_diff_is_tested(v)) {
        dp_buf_adds(&r->scratch, ", ");
        dp_difftable_interval(r, v);
    }
    if (dp_diff_is_tested(v))
        dp_gate_p(&r->scratch, v->p);
    dp_buf_adds(&r->scratch, v->verdict == DP_DIFF_FEW ? ": too few runs)"
                             : v->verdict != DP_DIFF_UNSURE ? ")"
                             : v->p <= DP_DIFFTABLE_POSSIBLE ? ": possible, not proven)"
                             : ": no difference seen)");
    return dp_difftable_kept(r);
}

/* Adds facts on the totals of the sides. People get one text for a total and its change; programs
 * get a fact for each number. */
static void total_facts(struct dp_difftable *r)
{
    const struct dp_diff_values *v = &r->c.families[1].total;
    add_fact(r, "Baseline total", "baseline_total",
             r->people ? total_text(r, v, true) : dp_difftable_amount(r, v->base), NULL);
    for (uint32_t s = 1; s < r->c.diff.n_sides; s++) {
        v = &r->c.families[s].total;
        add_fact(r, numbered_text(r, "Total %" PRIu32, "New total", s),
                 numbered_text(r, "total_%" PRIu32, "new_total", s),
                 r->people ? total_text(r, v, false) : dp_difftable_amount(r, v->value), NULL);
        if (r->people)
            continue;
        add_fact(r, "", numbered_text(r, "total_change_pct_%" PRIu32, "total_change_pct", s),
                 dp_difftable_percent(dp_difftable_change_percent(v), true), NULL);
        add_fact(r, "", numbered_text(r, "total_verdict_%" PRIu32, "total_verdict", s),
                 dp_difftable_verdict(v), NULL);
        if (dp_diff_is_tested(v))
            add_fact(r, "", numbered_text(r, "total_p_%" PRIu32, "total_p", s),
                     dp_difftable_real(v->p, 12), NULL);
    }
}

/* The number of pairs of runs that test a total; 0: pairs do not test it. */
static size_t pairs_of(const struct dp_difftable *r)
{
    return r->c.diff.n_sides > 1 && r->c.families[1].in_pairs ? r->c.diff.sides[0].n_runs : 0;
}

/* Appends how many rows were tested, and by which limits: the text of the fact `Tested'. */
static void test_text(struct dp_difftable *r, size_t tests)
{
    dp_buf_addf(&r->scratch, "%zu with at least ", tests);
    dp_render_given(&r->scratch, r->how->floor);
    dp_buf_adds(&r->scratch, " % of the total; a change is true when its corrected p is at most ");
    dp_render_given(&r->scratch, r->how->alpha);
    dp_buf_adds(&r->scratch, "; intervals are of ");
    dp_render_given(&r->scratch, 100 * r->how->confidence);
    dp_buf_adds(&r->scratch, " %, each for itself");
    if (pairs_of(r))
        dp_buf_addf(&r->scratch, "; the total is tested by %zu pairs of runs", pairs_of(r));
}

/* Adds facts on the tests, if a side has several runs: how many there were, and how many runs a
 * decision needs if there are too few. */
static void test_facts(struct dp_difftable *r)
{
    size_t tests = 0, needed = 0;
    for (uint32_t s = 1; s < r->c.diff.n_sides; s++) {
        tests += r->c.families[s].tests;
        needed = r->c.families[s].needed > needed ? r->c.families[s].needed : needed;
    }
    if (!r->c.sets)
        return;
    if (r->people)
        test_text(r, tests);
    if (r->people)
        add_fact(r, "Tested", "test", dp_difftable_kept(r), NULL);
    else
        add_fact(r, "", "tests", dp_cell_count(tests), NULL);
    if (!r->people && pairs_of(r))
        add_fact(r, "", "total_pairs", dp_cell_count(pairs_of(r)), NULL);
    if (needed) {
        dp_buf_addf(&r->scratch, "%zu a side needed to decide", needed);
        add_fact(r, !r->how->units ? "Not enough runs"
                : strcmp(r->how->units, "host") == 0 ? "Not enough hosts"
                : "Not enough processes",
                 "runs_needed",
                 r->people ? dp_difftable_kept(r) : dp_cell_count(needed), NULL);
        r->scratch.len = 0;
    }
}

/* Adds facts on the speed of whole runs, such as that of a slower machine: how much it differs, and
 * whether the subs' times are adjusted for it. */
static void speed_facts(struct dp_difftable *r)
{
    const struct dp_diff_values *v = &r->c.diff.speeds;
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < r->c.diff.n_runs; i++) {
        double speed = r->c.diff.runs[i].speed;
        least = speed < least ? speed : least;
        most = speed > most ? speed : most;
    }
    if (!r->c.diff.has_speed || !r->c.sets)
        return;
    if (!r->people) {
        add_fact(r, "", "adjusted_for_speed", dp_cell_count(r->c.diff.adjusted), NULL);
        add_fact(r, "", "speed_range_pct", dp_difftable_real(100 * (most / least - 1), 2), NULL);
        add_fact(r, "", "speed_change_pct",
                 dp_difftable_real(100 * ((double)v->value / (double)v->base - 1), 2), NULL);
        return;
    }
    dp_buf_adds(&r->scratch, r->how->counts ? "the usual sub's time differed by up to "
                             : r->how->units ? "time per call differed by up to "
                             : "time per op differed by up to ");
    dp_render_real(&r->scratch, 100 * (most / least - 1), 1, false);
    dp_buf_addf(&r->scratch, " %% among the %s, by ", dp_gate_units(r->how->units));
    dp_render_real(&r->scratch, 100 * ((double)v->value / (double)v->base - 1), 1, true);
    dp_buf_adds(&r->scratch, " % between the sides");
    dp_gate_p(&r->scratch, v->p);
    if (r->how->units && r->c.diff.adjusted && v->p <= DP_DIFFTABLE_POSSIBLE)
        dp_buf_adds(&r->scratch, ": all subs moved alike");
    dp_buf_adds(&r->scratch, r->c.diff.adjusted
                                 ? "; the subs' times, not the total, are adjusted for that"
                                 : "; times are as measured");
    add_fact(r, "Speed", "speed", dp_difftable_kept(r), NULL);
}

int dp_difftable_mix(struct dp_difftable *r)
{
    struct dp_diff_moved most[3];
    int n = dp_diff_mix_moved(&r->c.diff, 1, DP_DIFFTABLE_POSSIBLE, most, DP_ARRAY_LEN(most));
    r->no_memory = r->no_memory || n < 0;
    for (int i = 0; i < n; i++) {
        const struct dp_name *name = dp_diff_text(&r->c.diff, most[i].entry, 0);
        dp_buf_adds(&r->scratch, i ? ", " : "");
        dp_buf_add(&r->scratch, name->ptr, name->len);
        dp_buf_addc(&r->scratch, ' ');
        dp_render_real(&r->scratch, 100 * most[i].change, 1, true);
        dp_buf_adds(&r->scratch, " %");
    }
    dp_buf_adds(&r->scratch, n > 0 ? " of all calls; times are per call: a sub that calls more than"
                                     " before is seen in incl"
                                   : "no sub's part of all calls has moved by more than chance");
    return n;
}

/* Adds a fact: do the sides do the same work in the same proportions? If time per call is compared,
 * a different mix is no change of any sub. */
static void add_mix_fact(struct dp_difftable *r)
{
    if (!dp_difftable_has_mix(r) || !r->people)
        return;
    dp_difftable_mix(r);
    add_fact(r, "Mix", "mix", dp_difftable_kept(r), NULL);
}

static const double least_apart = 0.1;      /* percent: less is not worth a line */

/* Adds a fact on the time that has no counterpart on a side, and that no test covers. */
static void apart_fact(struct dp_difftable *r)
{
    if (!r->how->per_call || r->c.diff.n_sides != 2)
        return;
    double share = 100 * dp_diff_mix_apart(&r->c.diff, 1);
    if (!r->people) {
        add_fact(r, "", "not_compared_pct", dp_difftable_real(share, 2), NULL);
        return;
    }
    if (share < least_apart)
        return;
    dp_render_real(&r->scratch, share, 1, false);
    dp_buf_adds(&r->scratch, " % of one side's time");
    dp_buf_adds(&r->scratch, " belongs to phases, or calls in a phase, that the other side lacks");
    add_fact(r, "Not compared", "not_compared", dp_difftable_kept(r), NULL);
}

/* The share of the time of all runs that was noise, in percent. */
static double noise_of(const struct dp_diff *diff)
{
    double noise = 0, all = 0;
    for (size_t i = 0; i < diff->n_runs; i++) {
        noise += (double)diff->runs[i].columns[diff->how->noise].total * (double)diff->hz / 1e9;
        all += (double)diff->runs[i].raw_total;
    }
    return all > 0 ? 100 * noise / all : 0;
}

enum { MOST_RENAMES = 100 };

void dp_difftable_rename(struct dp_buf *to, const struct dp_diff *diff,
                         const struct dp_renamed *renamed)
{
    const struct dp_name *from = dp_diff_text(diff, renamed->from, 0),
                         *name = dp_diff_text(diff, renamed->to, 0);
    dp_text_escape(to, from->ptr, from->len);
    dp_buf_adds(to, " -> ");
    dp_text_escape(to, name->ptr, name->len);
    dp_buf_adds(to, ", ");
    dp_render_grouped(to, renamed->calls);
    dp_buf_adds(to, renamed->certain ? " calls, the same ops: --map auto compares them as one sub"
                                     : " calls: --map OLD=NEW compares them as one sub");
}

/* Appends the pairs as a list of JSON. */
static void add_renames_json(struct dp_buf *to, const struct dp_diff *diff,
                             const struct dp_renamed *renames, int n)
{
    dp_buf_addc(to, '[');
    for (int i = 0; i < n; i++) {
        const struct dp_name *from = dp_diff_text(diff, renames[i].from, 0),
                             *name = dp_diff_text(diff, renames[i].to, 0);
        dp_buf_adds(to, i ? ", {\"from\": " : "{\"from\": ");
        dp_json_string(to, from->ptr, from->len);
        dp_buf_adds(to, ", \"to\": ");
        dp_json_string(to, name->ptr, name->len);
        dp_buf_addf(to, ", \"calls\": %" PRIu64 ", \"certain\": %s}", renames[i].calls,
                    renames[i].certain ? "true" : "false");
    }
    dp_buf_addc(to, ']');
}

/* Adds the subs that may only have another name: a fact for each, and a list in JSON. Text has them
 * in the answer, and the other table is that of perf. */
static void rename_facts(struct dp_difftable *r)
{
    struct dp_renamed renames[MOST_RENAMES];
    if (r->how->format == DP_TEXT)
        return;
    int n = r->how->over.n_keys == 1 && r->how->over.keys[0] == DP_K_SUB
            ? dp_renamed_find(renames, MOST_RENAMES, &r->c) : 0;
    r->no_memory = r->no_memory || n < 0;
    if (n > 0 && r->how->format == DP_JSON) {
        add_renames_json(&r->scratch, &r->c.diff, renames, n);
        struct dp_cell cell = dp_difftable_kept(r);
        cell.kind = DP_CELL_JSON;
        add_fact(r, "", "renamed", cell, NULL);
    }
    for (int i = 0; i < n && r->people; i++) {
        dp_difftable_rename(&r->scratch, &r->c.diff, &renames[i]);
        add_fact(r, "Renamed?", "renamed", dp_difftable_kept(r), NULL);
    }
}

/* Adds facts on the part of several runs' times that is not the work of subs. */
static void noise_facts(struct dp_difftable *r)
{
    const struct dp_diff_family *f = &r->c.families[r->c.diff.n_sides > 1];
    if (r->c.sets && r->how->noise) {
        double noise = noise_of(&r->c.diff);
        if (r->people) {
            dp_render_real(&r->scratch, noise, 1, false);
            dp_buf_adds(&r->scratch, " % of the time, in stretches that took 20 us more than their"
                                     " ops mostly do; subs are compared with it and without");
        }
        add_fact(r, "Noise", "noise_pct",
                 r->people ? dp_difftable_kept(r) : dp_difftable_real(noise, 2), NULL);
    }
    if (!r->c.sets || f->layout <= 0 || r->c.diff.n_sides != 2)
        return;
    if (!r->people) {
        add_fact(r, "", "layout_pct", dp_difftable_real(100 * f->layout, 2), NULL);
        return;
    }
    dp_buf_adds(&r->scratch, "up to ");
    dp_render_real(&r->scratch, 100 * f->layout, 1, false);
    dp_buf_adds(&r->scratch, " % may come of where code and data lie, in subs that did the same"
                             " work on both sides");
    add_fact(r, "Layout", "layout_pct", dp_difftable_kept(r), NULL);
}

/* Adds a fact for machines; its key has the rule's number, and the side's. */
static void power_fact(struct dp_difftable *r, const struct dp_power *power, const char *key,
                       struct dp_cell value)
{
    dp_buf_addf(&r->scratch, "%s_%" PRIu32 "_%" PRIu32, key, power->rule + 1, power->side);
    add_fact(r, "", dp_difftable_keep(r).ptr, value, NULL);
}

/* Adds facts on the growth that a gate could have detected. */
static void power_facts(struct dp_difftable *r)
{
    for (size_t i = 0; r->c.has_gate && i < r->c.gate.n_powers; i++) {
        const struct dp_power *p = &r->c.gate.powers[i];
        if (r->people) {
            dp_gate_power(&r->scratch, p, &r->c.diff);
            add_fact(r, "Power", "power", dp_difftable_kept(r), NULL);
            continue;
        }
        if (isfinite(p->all)) {
            power_fact(r, p, "seen_pct", dp_difftable_percent(p->half, false));
            power_fact(r, p, "seen_in_all_pct", dp_difftable_percent(p->all, false));
        }
        if (p->needed)
            power_fact(r, p, "runs_to_see", dp_cell_count(p->needed));
        if (p->samples > 0 && p->is_limited)
            power_fact(r, p, "samples_to_see", dp_difftable_real(p->samples, 3));
    }
}

/* Adds the result of a gate, before the facts about the comparison. */
static void gate_facts(struct dp_difftable *r)
{
    /* Markdown prints the verdict as a heading, so it needs no fact */
    if (r->c.has_gate && r->people && r->how->format != DP_MARKDOWN) {
        dp_gate_verdict(&r->scratch, &r->c.gate, &r->c.diff);
        add_fact(r, "Gate", "gate", dp_difftable_kept(r), NULL);
    }
    if (r->c.has_gate && r->how->format == DP_HTML)
        dp_gate_facts(&r->table, &r->texts, &r->c.gate, &r->c.diff);
}

/* Adds a fact that names the sources whose lines may be paired wrongly. */
static void guessed_fact(struct dp_difftable *r)
{
    const struct dp_line_pairs *lp = r->c.gate.lines ? &r->c.gate.lines->lines : &r->c.diff.lines;
    if ((!r->c.diff.by_line && !r->c.gate.lines) || (r->people && !lp->n_guessed))
        return;
    if (!r->people) {
        add_fact(r, "", "guessed", dp_cell_count(lp->n_guessed), NULL);
        return;
    }
    dp_buf_adds(&r->scratch, "not found as they were recorded (--symfs), so that lines are paired"
                             " by their distances, which may be wrong: ");
    for (size_t i = 0; i < lp->n_guessed && i < 3; i++) {
        const struct dp_name *file = dp_pool_name(&lp->texts, lp->guessed[i]);
        dp_buf_adds(&r->scratch, i ? ", " : "");
        dp_buf_add(&r->scratch, file->ptr, file->len);
    }
    if (lp->n_guessed > 3)
        dp_buf_addf(&r->scratch, ", and %zu more", lp->n_guessed - 3);
    add_fact(r, "Sources", "guessed", dp_difftable_kept(r), NULL);
}

/* Adds a fact: rows are left out because they have not changed, or there are no other rows. */
static void unchanged_fact(struct dp_difftable *r)
{
    size_t n = r->c.unchanged;
    bool subs = r->how->over.keys[0] == DP_K_SUB,
         text = r->how->format != DP_MARKDOWN && r->how->format != DP_HTML;
    if (!r->people) {
        add_fact(r, "", "unchanged", dp_cell_count(n), NULL);
        return;
    }
    if (!n || r->how->verbose || (n < r->c.n_rows && r->how->separator && *r->how->separator))
        return;                 /* all rows are present */
    if (n == r->c.n_rows)
        dp_buf_adds(&r->scratch, "nothing changed: ");
    dp_render_grouped(&r->scratch, n);
    dp_buf_addf(&r->scratch, " %s%s did not change (-v shows %s)",
                subs ? "sub"
                : r->how->over.n_keys > 1 ? "combination"
                : "entr",
                subs || r->how->over.n_keys > 1 ? n == 1 ? "" : "s"
                : n == 1 ? "y"
                : "ies",
                n == 1 ? "it" : "them");
    add_fact(r, text ? "" : "Unchanged", "unchanged", dp_difftable_kept(r), NULL);
}

/* Adds all facts, in the order in which people see them above the table. */
static void add_facts(struct dp_difftable *r)
{
    gate_facts(r);
    side_facts(r);
    for (size_t i = 0; i < r->how->n_facts; i++) {
        const struct dp_report_fact *f = &r->how->facts[i];
        add_fact(r, f->label, f->key, dp_cell_text(f->text, f->len), NULL);
    }
    if (r->how->view == DP_V_FLAT)
        dp_difftable_certain(r);
    if (r->c.diff.n_sides > 1)
        total_facts(r);
    if (r->how->view == DP_V_FLAT) {
        test_facts(r);
        power_facts(r);
        add_mix_fact(r);
        apart_fact(r);
        speed_facts(r);
        noise_facts(r);
        dp_difftable_largest(r);
        guessed_fact(r);
        unchanged_fact(r);
        rename_facts(r);
    }
    if (r->c.has_gate && !r->people) {
        bool failed = r->c.gate.failed || (r->c.gate.undecided && r->how->strict);
        add_fact(r, "", "below_time_floor", dp_cell_count(r->c.gate.below), NULL);
        add_fact(r, "", "gate",
                 dp_difftable_words(failed ? "failed"
                                    : r->c.gate.undecided ? "undecided"
                                    : "passed"),
                 NULL);
        add_fact(r, "", "findings",
                 (struct dp_cell){
                 .kind = DP_CELL_JSON, .ptr = r->findings.ptr, .len = r->findings.len },
             NULL);
    }
}

/* ---- the whole table ---- */

/* Makes the table of how->view: columns, facts and rows. Returns 0 or a DP_E. */
static int fill_table(struct dp_difftable *r)
{
    bool tree = r->how->view != DP_V_FLAT;
    if (r->c.has_gate && r->how->format == DP_JSON)
        dp_gate_json(&r->findings, &r->c.gate, &r->c.diff);
    if (tree) {
        dp_difftable_tree_columns(r);
    } else {
        dp_difftable_flat_columns(r);
    }
    if (r->no_memory || r->findings.err)
        return DP_E_NOMEM;
    dp_table_init(&r->table, r->columns, r->n_columns, r->c.diff.hz);
    add_facts(r);
    int rc = tree ? dp_difftable_fill_tree(r) : dp_difftable_fill_flat(r);
    return rc < 0 ? rc : r->no_memory || r->table.no_memory || r->scratch.err ? DP_E_NOMEM : 0;
}

/* Prints the table in a format. */
static int print_table(struct dp_difftable *r, int format, struct dp_sink *sink)
{
    struct dp_table_how how = {
        .format = format, .separator = r->how->separator, .quiet = r->how->quiet != 0,
        .colour = r->how->colour != 0 && r->how->format == DP_TEXT, .title = r->how->title,
        .width = r->how->format == DP_TEXT ? r->how->width : 0,
    };
    return dp_table_print(&r->table, &how, sink);
}

/* Prints in a format for test runners, which contains the table as text. */
static int print_tests(struct dp_difftable *r, struct dp_sink *sink)
{
    struct dp_buf table, out;
    dp_buf_init(&table);
    dp_buf_init(&out);
    sink->write = dp_buf_write;
    void *ctx = sink->ctx;
    sink->ctx = &table;
    int rc = print_table(r, DP_TEXT, sink);
    sink->write = dp_host_write;
    sink->ctx = ctx;
    if (rc == 0) {
        if (r->how->format == DP_TAP)
            dp_gate_tap(&out, &r->c.gate, &r->c.diff, table.ptr, table.len);
        else if (r->how->format == DP_JUNIT)
            dp_gate_junit(&out, &r->c.gate, &r->c.diff, table.ptr, table.len);
        else
            dp_gate_github(&out, &r->c.gate, &r->c.diff);
        rc = out.err;
        dp_sink_add(sink, out.ptr, out.len);
    }
    dp_buf_release(&table);
    dp_buf_release(&out);
    return rc;
}

/* Prints the table in its format, with the gate's findings: above it in Markdown, below it in text.
 * Formats for test runners have both in one output. */
static int print_with_findings(struct dp_difftable *r, struct dp_sink *sink)
{
    struct dp_buf buf;
    int rc = 0, format = r->how->format;
    if (format >= DP_TAP)
        return print_tests(r, sink);
    dp_buf_init(&buf);
    bool text = format == DP_TEXT && !(r->how->separator && *r->how->separator);
    if (r->c.has_gate && format == DP_MARKDOWN)
        dp_gate_markdown(&buf, &r->c.gate, &r->c.diff);
    dp_sink_add(sink, buf.ptr, buf.len);
    rc = print_table(r, format, sink);
    buf.len = 0;
    if (r->c.has_gate && format == DP_TEXT && (text || !r->how->quiet))
        dp_gate_text(&buf, &r->c.gate, &r->c.diff, text ? "" : "# ");
    if (buf.len && text)
        dp_sink_adds(sink, "\n");
    if (text)
        dp_render_wrapped(sink, buf.ptr, buf.len, r->how->width, "      ");
    else
        dp_sink_add(sink, buf.ptr, buf.len);
    rc = rc < 0 ? rc : buf.err;
    dp_buf_release(&buf);
    return rc;
}

/* Frees the table and what was made for it. */
static void release_table(struct dp_difftable *r)
{
    dp_mem_free(r->kinds);
    dp_table_release(&r->table);
    dp_mem_free(r->columns);
    dp_buf_release(&r->scratch);
    dp_buf_release(&r->findings);
    dp_pool_release(&r->texts);
    dp_compared_release(&r->c);
}

/* The gate's findings as lines of text, for the outcome; NULL when memory is short. The caller
 * frees them. */
static char *findings_text(const struct dp_compared *c)
{
    struct dp_buf buf;
    char *copy = NULL;
    dp_buf_init(&buf);
    dp_gate_text(&buf, &c->gate, &c->diff, "");
    if (!buf.err && (copy = dp_mem_alloc(buf.len + 1)) != NULL) {
        memcpy(copy, buf.ptr, buf.len);
        copy[buf.len] = '\0';
    }
    dp_buf_release(&buf);
    return copy;
}

void dp_diff_outcome_release(struct dp_diff_outcome *out)
{
    dp_mem_free(out->findings);
    dp_mem_free(out->open_names);
    dp_mem_free(out->renames);
    dp_mem_free(out->renamed);
    out->findings = out->open_names = out->renames = out->renamed = NULL;
}

/* Is the result of a test still open: neither a change nor its absence is known? */
static bool is_open(const struct dp_diff_values *v, double effect)
{
    double most = effect / 100 * (double)v->base;
    return (v->verdict == DP_DIFF_UNSURE || v->verdict == DP_DIFF_FEW)
           && !(v->low >= -most && v->high <= most);
}

/* Counts the open entries, and names the first three, in the order of rows. */
static int find_open(const struct dp_compared *c, struct dp_diff_outcome *out)
{
    struct dp_buf names;
    dp_buf_init(&names);
    for (size_t i = 0; i < c->n_rows; i++) {
        bool open = false;
        for (uint32_t s = 1; s < c->diff.n_sides; s++)
            open = open || is_open(dp_compared_of(c, c->rows[i].entry, s), c->how->effect);
        if (!open)
            continue;
        const struct dp_name *name = dp_diff_text(&c->diff, c->rows[i].entry, 0);
        if (out->open++ < 3) {
            dp_buf_adds(&names, names.len ? ", " : "");
            dp_buf_add(&names, name->ptr, name->len);
        }
    }
    dp_buf_addc(&names, '\0');
    out->open_names = names.err ? NULL : names.ptr;
    return names.err ? DP_E_NOMEM : 0;
}

/* Stores the renames for the tool: those that are certain as a line OLD=NEW each, as it compares
 * again with them (--map auto), and all as people read them. */
static int store_renames(const struct dp_compared *c, struct dp_diff_outcome *out)
{
    struct dp_renamed renames[MOST_RENAMES];
    struct dp_buf text, all;
    int n = dp_renamed_find(renames, MOST_RENAMES, c);
    dp_buf_init(&text);
    dp_buf_init(&all);
    for (int i = 0; i < n; i++) {
        dp_difftable_rename(&all, &c->diff, &renames[i]);
        dp_buf_addc(&all, '\n');
        const struct dp_name *from = dp_diff_text(&c->diff, renames[i].from, 0),
                             *to = dp_diff_text(&c->diff, renames[i].to, 0);
        if (!renames[i].certain)
            continue;
        dp_buf_add(&text, from->ptr, from->len);
        dp_buf_addc(&text, '=');
        dp_buf_add(&text, to->ptr, to->len);
        dp_buf_addc(&text, '\n');
    }
    dp_buf_addc(&text, '\0');
    dp_buf_addc(&all, '\0');
    out->renames = text.err ? NULL : text.ptr;
    out->renamed = all.err ? NULL : all.ptr;
    return n < 0 ? n : text.err ? text.err : all.err;
}

/* Sets *out: the gate's result and findings, the open entries and the renames. rows: how many rows
 * pass the filters, equal ones included, or how many rows a tree has. Returns 0 or DP_E_NOMEM. */
static int fill_outcome(const struct dp_compared *c, size_t rows, struct dp_diff_outcome *out)
{
    out->rows = rows;
    out->failed = c->gate.failed;
    out->undecided = c->gate.undecided;
    out->needed = c->gate.needed;
    if (c->how->effect > 0 && find_open(c, out) < 0)
        return DP_E_NOMEM;
    if (c->how->over.n_keys == 1 && c->how->over.keys[0] == DP_K_SUB && store_renames(c, out) < 0)
        return DP_E_NOMEM;
    return !c->has_gate || (out->findings = findings_text(c)) ? 0 : DP_E_NOMEM;
}

/* Is the answer wanted, and not the table? */
static bool is_answer(const struct dp_diff_how *how, size_t sides)
{
    return how->answer && sides == 2 && how->format == DP_TEXT && how->view == DP_V_FLAT
           && how->over.n_keys == 1 && how->over.keys[0] == DP_K_SUB
           && !(how->separator && *how->separator);
}

/* Prints the answer in words, or the tables; with -v the tables follow the answer. */
static int print_comparison(struct dp_difftable *r, struct dp_sink *sink, bool answer)
{
    int rc = answer ? dp_difftable_answer(r, sink) : 0;
    if (rc < 0 || (answer && !r->how->verbose))
        return rc;
    if (answer) {
        dp_table_release(&r->table);
        dp_sink_adds(sink, "\n");
    }
    rc = fill_table(r);
    return rc == 0 ? print_with_findings(r, sink) : rc;
}

int dp_diff_print(const struct dp_diff_side *sides, size_t n, const struct dp_diff_how *how,
                  const struct dp_host *host, struct dp_diff_outcome *out)
{
    struct dp_difftable r;
    struct dp_sink *sink = dp_sink_of_host(host);
    memset(&r, 0, sizeof r);
    memset(out, 0, sizeof *out);
    if (!sink)
        return DP_E_NOMEM;
    dp_pool_init(&r.texts);
    dp_buf_init(&r.scratch);
    dp_buf_init(&r.findings);
    r.how = how;
    r.people = how->format != DP_CSV && how->format != DP_JSON;
    bool answer = is_answer(how, n);
    int rc = dp_compare(&r.c, sides, n, how,
                        (how->view != DP_V_FLAT ? DP_COMPARE_TREE : DP_COMPARE_ROWS)
                            | (how->verbose || answer || !r.people ? DP_COMPARE_SAMPLES : 0)
                            | (how->format != DP_TEXT || how->beside ? DP_COMPARE_CALLS : 0));
    if (rc == 0) {
        r.hz = dp_diff_hz(&r.c.diff, 0);
        rc = print_comparison(&r, sink, answer);
    }
    int ended = dp_sink_end(sink);
    /* A flat table leaves out entries that are equal. They exist, and must not be reported as
     * missing. */
    int told = fill_outcome(&r.c, how->view == DP_V_FLAT ? r.c.n_rows : r.table.n_rows, out);
    rc = rc < 0 ? rc : told;
    release_table(&r);
    return rc < 0 ? rc : ended;
}

int dp_diff_check(const struct dp_diff_side *sides, size_t n, const struct dp_diff_how *how,
                  struct dp_diff_outcome *out)
{
    struct dp_compared c;
    memset(out, 0, sizeof *out);
    int rc = dp_compare(&c, sides, n, how, DP_COMPARE_ROWS | DP_COMPARE_CALLS);
    if (rc == 0)
        rc = fill_outcome(&c, c.n_rows, out);
    dp_compared_release(&c);
    return rc;
}
