#include "dp_diff.h"
#include "dp_diff_mix.h"
#include "dp_diff_speed.h"
#include "dp_err.h"
#include "dp_line_pair_make.h"
#include "dp_map.h"
#include "dp_mem.h"
#include "dp_num.h"
#include "dp_prof_pack.h"

#include <string.h>

uint64_t dp_diff_hz(const struct dp_diff *diff, size_t measure)
{
    return measure != DP_RULE_CALLS && dp_metric_is_time(diff->how->measures[measure].metric)
                   && (diff->is_time || diff->hz > 1)
               ? diff->hz : 0;
}

const struct dp_name *dp_diff_text(const struct dp_diff *diff, uint32_t entry, size_t k)
{
    uint32_t number;
    memcpy(&number, dp_pool_name(&diff->entries, entry)->ptr + k * sizeof number, sizeof number);
    return dp_pool_name(&diff->texts, number);
}

/* Returns the position of a key among the keys of the rows, or -1. */
static int key_at(const struct dp_diff *diff, enum dp_key key)
{
    for (size_t k = 0; k < diff->how->over.n_keys; k++)
        if (diff->how->over.keys[k] == key)
            return (int)k;
    return -1;
}

/* The number of an entry's label among the labels that were paired. DP_MAP_NONE: it is none of
 * them, or the rows have no subs. */
static uint32_t label_of(const struct dp_diff *diff, uint32_t entry)
{
    int k = key_at(diff, DP_K_SUB);
    if (k < 0)
        return DP_MAP_NONE;
    const struct dp_name *name = dp_diff_text(diff, entry, (size_t)k);
    return dp_pool_lookup(&diff->pairs.texts, name->ptr, name->len);
}

/* Makes the table of places on the first call. It has, by label, the last part that has the label,
 * and the sub there. Returns false if memory is short. */
static bool find_places(struct dp_diff *diff)
{
    size_t n = diff->pairs.texts.count;
    if (diff->places)
        return true;
    diff->places = dp_mem_zalloc((n + 1) * sizeof *diff->places);
    for (size_t k = 0; diff->places && k < diff->n_parts; k++) {
        const struct dp_subs *subs = &diff->parts[k].prof->subs;
        for (uint32_t i = 0; i < dp_subs_count(subs); i++)
            if (diff->pairs.profs[k].file[i] && subs->subs[i].line)
                diff->places[diff->pairs.profs[k].label[i]] =
                    (struct dp_diff_sub){ (uint32_t)k + 1, i };
    }
    return diff->places != NULL;
}

bool dp_diff_place(struct dp_diff *diff, uint32_t entry, struct dp_diff_place *place)
{
    const struct dp_paired_line *line = dp_diff_line(diff, entry);
    uint32_t label = label_of(diff, entry);
    place->line = 0;
    if (line) {
        place->file = dp_pool_name(&diff->lines.texts, line->file);
        for (uint32_t s = diff->lines.sides; s-- > 0 && !place->line;)
            place->line = dp_line_number(&diff->lines, (uint32_t)(line - diff->lines.lines), s);
        return true;
    }
    if (label == DP_MAP_NONE || !find_places(diff) || !diff->places[label].part)
        return false;
    size_t part = diff->places[label].part - 1;
    uint32_t sub = diff->places[label].sub;
    place->file = dp_pool_name(&diff->pairs.texts, diff->pairs.profs[part].file[sub]);
    place->line = diff->parts[part].prof->subs.subs[sub].line;
    return true;
}

const struct dp_name *dp_diff_moved_from(const struct dp_diff *diff, uint32_t entry)
{
    const struct dp_paired_line *line = dp_diff_line(diff, entry);
    int k = key_at(diff, DP_K_SUB);
    if (line)
        return line->moved ? dp_pool_name(&diff->lines.texts, line->moved) : NULL;
    return k < 0 ? NULL : dp_pairs_moved_from(&diff->pairs, dp_diff_text(diff, entry, (size_t)k));
}

const struct dp_paired_line *dp_diff_line(const struct dp_diff *diff, uint32_t entry)
{
    int k = diff->by_line ? key_at(diff, DP_K_SRCLINE) : -1;
    return k < 0 ? NULL : dp_line_pairs_find(&diff->lines, dp_diff_text(diff, entry, (size_t)k));
}

/* ---- reading ---- */

/* The entry of all runs that corresponds to an entry of one run; it is made if it is new.
 * DP_MAP_NONE: memory is short. */
static uint32_t entry_of(struct dp_diff *diff, const struct dp_overhead *over, uint32_t entry)
{
    uint32_t tuple[dp_key_count];
    size_t n_keys = diff->how->over.n_keys;     /* the phase may follow them */
    for (size_t k = 0; k < n_keys; k++) {
        const struct dp_name *text = dp_overhead_text(over, entry, k);
        tuple[k] = dp_pool_intern(&diff->texts, text->ptr, text->len);
        if (tuple[k] == DP_MAP_NONE)
            return DP_MAP_NONE;
    }
    return dp_pool_intern(&diff->entries, (const char *)tuple, n_keys * sizeof *tuple);
}

/* Makes room for entry n of an array; new elements are 0. Returns false if memory is short. */
static bool make_room(void **ptr, size_t *cap, size_t n, size_t size)
{
    return dp_mem_grow_cleared(ptr, cap, n + 1, size) == 0;
}

/* Makes room for entry e in all arrays of a run's column. Returns false if memory is short. */
static bool room_of_run(struct dp_diff *diff, struct dp_diff_run *run,
                        struct dp_diff_column *column, uint32_t e)
{
    size_t cap = column->cap;
    return make_room((void **)&column->self, &cap, e, sizeof *column->self)
        && make_room((void **)&column->incl, &column->cap, e, sizeof *column->incl)
        && make_room((void **)&run->calls, &run->calls_cap, e, sizeof *run->calls)
        && make_room((void **)&run->excess, &run->excess_cap, e, sizeof *run->excess)
        && make_room((void **)&run->there, &run->there_cap, e, sizeof *run->there)
        && make_room((void **)&diff->shown, &diff->shown_cap, e, sizeof *diff->shown);
}

/* The ticks by which the self time of the longest call exceeds the mean of the other calls.
 * Recorders time calls with their callees and their waits. So the excess of subs that call others
 * is unknown, and the sub's waits are assumed to be waits of the longest call. */
static uint64_t excess_of(const struct dp_over_row *row)
{
    if (row->calls < 2 || row->children != row->self || row->real < row->longest)
        return 0;
    uint64_t others = (row->real - row->longest) / (row->calls - 1);
    uint64_t waits = row->real > row->self ? row->real - row->self : 0;
    return row->longest > others + waits ? row->longest - others - waits : 0;
}

/* Adds a report's values of a measure to the run's columns. The first measure also gives the calls.
 * Entries without values are skipped. Returns 0 or DP_E_NOMEM. */
static int take_rows(struct dp_diff *diff, struct dp_diff_run *run, size_t measure,
                     const struct dp_overhead *over)
{
    struct dp_diff_column *column = &run->columns[measure];
    int key = key_at(diff, DP_K_PHASE);
    size_t phase = key < 0 ? over->n_keys - 1 : (size_t)key;    /* if values are by phase */
    for (size_t i = 0; i < over->n_rows; i++) {
        const struct dp_over_row *row = &over->rows[i];
        /* An entry without values ran outside of the slice of time; the program itself is always
         * present. */
        if (!row->calls && !row->children && row->depth)
            continue;
        uint32_t e = entry_of(diff, over, row->entry);
        if (e == DP_MAP_NONE || !room_of_run(diff, run, column, e))
            return DP_E_NOMEM;
        if (diff->how->per_call
            && !dp_diff_mix_add(diff, run, measure, e, dp_overhead_text(over, row->entry, phase),
                                row))
            return DP_E_NOMEM;
        column->self[e] += row->self;
        column->incl[e] += row->children;
        diff->shown[e] |= row->shown;
        column->shown += row->shown ? row->self : 0;
        run->there[e] = 1;
        if (measure == 0) {
            run->calls[e] += row->calls;
            run->excess[e] += excess_of(row);
            run->all_calls += row->calls;
        }
    }
    if (measure == 0)
        run->raw_total = over->total;
    column->total = over->total;
    column->base = over->base;
    return 0;
}

/* The purpose of a pass over the runs. */
enum pass { ROWS, EACH };

/* Makes the report of a measure from the parts from..end-1 of a run, which are unpacked. ROWS: adds
 * its rows to the run. each: a callback for the report, or NULL. Returns 0 or a DP_E. */
static int read_awake(struct dp_diff *diff, size_t r, size_t from, size_t end, size_t measure,
                      enum pass pass, dp_diff_each_fn *each, void *ctx)
{
    struct dp_diff_run *run = &diff->runs[r];
    const struct dp_diff_measure *m = &diff->how->measures[measure];
    struct dp_report_how how = diff->how->over;
    struct dp_overhead over;
    if (diff->how->per_call && key_at(diff, DP_K_PHASE) < 0)
        how.keys[how.n_keys++] = DP_K_PHASE;
    how.metric = m->metric;
    how.hz = diff->hz;
    how.no_lines = !diff->by_line;
    for (size_t i = from; i < end; i++)
        diff->parts[i].counter = m->counters ? m->counters[i] : 0;
    int rc = dp_overhead_make(&over, diff->parts + from, end - from, &how);
    if (rc < 0)
        return rc;
    rc = pass == ROWS ? take_rows(diff, run, measure, &over) : 0;
    if (rc == 0 && each)
        rc = each(ctx, diff, run, &over);
    dp_overhead_release(&over);
    return rc;
}

/* Makes the report of a measure of run r, as read_awake does; parts with packed contexts unpack
 * them for this time. Returns 0 or a DP_E. */
static int read_run(struct dp_diff *diff, size_t r, size_t from, size_t end, size_t measure,
                    enum pass pass, dp_diff_each_fn *each, void *ctx)
{
    struct dp_part *parts = diff->parts + from;
    size_t n = end - from, awake = 0;
    const struct dp_prof **own = dp_mem_realloc(NULL, n, sizeof *own);
    struct dp_prof *copies = dp_mem_realloc(NULL, n, sizeof *copies);
    int rc = own && copies ? 0 : DP_E_NOMEM;
    for (; rc == 0 && awake < n; awake++) {
        own[awake] = parts[awake].prof;
        if (own[awake]->packed) {
            if ((rc = dp_prof_unpacked(&copies[awake], own[awake])) < 0)
                break;
            parts[awake].prof = &copies[awake];
        }
    }
    if (rc == 0)
        rc = read_awake(diff, r, from, end, measure, pass, each, ctx);
    for (size_t i = 0; i < awake; i++)
        if (own[i]->packed) {
            parts[i].prof = own[i];
            dp_prof_release_unpacked(&copies[i]);
        }
    dp_mem_free(own);
    dp_mem_free(copies);
    return rc;
}

/* Makes the reports of a measure of all runs, each from its parts. pass, each: as for read_awake.
 * Returns 0 or a DP_E. */
static int read_measure(struct dp_diff *diff, size_t measure, enum pass pass, dp_diff_each_fn *each,
                        void *ctx)
{
    size_t r = 0, part = 0;
    for (size_t s = 0; s < diff->n_sides; s++) {
        size_t start = part;
        for (size_t k = 0; k < diff->sides[s].n_runs; k++, r++) {
            size_t end = start + diff->sides[s].ends[k];
            int rc = read_run(diff, r, part, end, measure, pass, each, ctx);
            if (rc < 0)
                return rc;
            part = end;
        }
    }
    return 0;
}

/* Scales the values of a measure so that each run has the mean total of the baseline's runs. */
static void normalize_measure(struct dp_diff *diff, size_t measure)
{
    double base = 0;
    size_t n = 0;
    for (size_t r = 0; r < diff->n_runs && diff->runs[r].side == 0; r++, n++)
        base += (double)diff->runs[r].columns[measure].total;
    base = n ? base / (double)n : 0;
    for (size_t r = 0; r < diff->n_runs; r++) {
        struct dp_diff_column *c = &diff->runs[r].columns[measure];
        double factor = c->total ? base / (double)c->total : 1;
        if (factor == 1)
            continue;
        for (size_t e = 0; e < c->cap; e++) {
            c->self[e] = dp_num_round((double)c->self[e] * factor);
            c->incl[e] = dp_num_round((double)c->incl[e] * factor);
        }
        c->base = dp_num_round((double)c->base * factor);
        c->total = dp_num_round(base);
    }
}

/* Sets the factor of each run that turns its calls into those of the baseline (-n). */
static void normalize_calls(struct dp_diff *diff)
{
    double base = 0;
    for (size_t r = 0; r < diff->n_runs && diff->runs[r].side == 0; r++)
        base += (double)diff->runs[r].all_calls / (double)diff->sides[0].n_runs;
    for (size_t r = 0; r < diff->n_runs; r++)
        if (diff->runs[r].all_calls)
            diff->runs[r].calls_factor = base / (double)diff->runs[r].all_calls;
}

/* Are entries lines of source? They are if each part has lines and the keys are those of a line. */
static bool is_by_line(const struct dp_diff *diff)
{
    bool lines = false;
    for (size_t k = 0; k < diff->how->over.n_keys; k++) {
        enum dp_key key = diff->how->over.keys[k];
        lines = lines || key == DP_K_SRCLINE;
        if (key == DP_K_PHASE || key == DP_K_CALLER || key == DP_K_PARENT)
            return false;
    }
    for (size_t i = 0; i < diff->n_parts; i++)
        lines = lines && diff->parts[i].prof->n_lines;
    return lines;
}

/* Pairs the lines of all sides by their texts, for rows that are lines, and sets diff->by_line.
 * Returns 0 or a DP_E. */
static int pair_lines(struct dp_diff *diff)
{
    const struct dp_diff_how *how = diff->how;
    int rc = dp_line_pairs_make(&diff->lines, &diff->pairs, how->sources, how->n_sources,
                                &how->pair);
    for (size_t i = 0; i < diff->n_parts && rc == 0; i++)
        diff->parts[i].lines = &diff->lines;
    diff->by_line = rc == 0;
    return rc;
}

/* Puts all parts and all runs into one list each, finds the common tick rate, and pairs the subs
 * and, if rows are lines, the lines. Returns 0 or a DP_E. */
static int prepare_sides(struct dp_diff *diff)
{
    size_t n = 0, runs = 0, at = 0;
    for (size_t s = 0; s < diff->n_sides; s++) {
        n += diff->sides[s].n_runs ? diff->sides[s].ends[diff->sides[s].n_runs - 1] : 0;
        runs += diff->sides[s].n_runs;
    }
    diff->parts = dp_mem_zalloc((n + 1) * sizeof *diff->parts);
    diff->runs = dp_mem_zalloc((runs + 1) * sizeof *diff->runs);
    struct dp_pair_side *pairs = dp_mem_zalloc((n + 1) * sizeof *pairs);
    int rc = diff->parts && diff->runs && pairs ? 0 : DP_E_NOMEM;
    diff->hz = 1;
    for (size_t s = 0; s < diff->n_sides && rc == 0; s++) {
        const struct dp_diff_side *side = &diff->sides[s];
        size_t parts = side->n_runs ? side->ends[side->n_runs - 1] : 0;
        for (size_t i = 0; i < parts; i++, at++) {
            diff->parts[at] = side->parts[i];
            diff->parts[at].pairs = &diff->pairs;
            diff->parts[at].pair = at;
            pairs[at] = (struct dp_pair_side){ side->parts[i].prof, (uint32_t)s };
            uint64_t hz = dp_prof_hz(side->parts[i].prof);
            diff->hz = hz > diff->hz ? hz : diff->hz;
        }
        for (size_t k = 0; k < side->n_runs && rc == 0; k++) {
            struct dp_diff_run *run = &diff->runs[diff->n_runs++];
            run->side = (uint32_t)s;
            run->speed = run->calls_factor = 1;
            run->columns = dp_mem_zalloc(diff->how->n_measures * sizeof *run->columns);
            rc = run->columns ? 0 : DP_E_NOMEM;
        }
    }
    if (rc == 0)
        rc = dp_pairs_make(&diff->pairs, pairs, n, &diff->how->pair);
    diff->n_parts = n;
    dp_mem_free(pairs);
    if (rc == 0 && is_by_line(diff))
        rc = pair_lines(diff);
    if (rc == 0 && n)
        diff->is_time = strcmp(dp_prof_unit(diff->parts[0].prof), "s") == 0;
    return rc;
}

int dp_diff_make(struct dp_diff *diff, const struct dp_diff_side *sides, size_t n,
                 const struct dp_diff_how *how, dp_diff_each_fn *each, void *ctx)
{
    memset(diff, 0, sizeof *diff);
    dp_pool_init(&diff->texts);
    dp_pool_init(&diff->entries);
    dp_pool_init(&diff->strata);
    diff->sides = sides;
    diff->n_sides = n;
    diff->how = how;
    int rc = prepare_sides(diff);
    for (size_t m = 0; m < how->n_measures && rc == 0; m++) {
        rc = read_measure(diff, m, ROWS, m == 0 && !how->work ? each : NULL, ctx);
        if (rc == 0 && how->normalize && (!m || m != how->counts))
            normalize_measure(diff, m);
    }
    if (rc == 0 && how->normalize)
        normalize_calls(diff);
    if (rc == 0 && how->per_call)
        rc = dp_diff_mix_settle(diff);
    if (rc == 0 && how->noise)
        rc = dp_diff_even(diff);
    if (rc == 0 && (how->work || how->per_call))
        rc = dp_diff_adjust(diff);
    if (rc == 0 && how->work && each)       /* the runs are read again, because their speeds are
                                             * known now */
        rc = read_measure(diff, 0, EACH, each, ctx);
    if (rc < 0)
        dp_diff_release(diff);
    return rc;
}

void dp_diff_release(struct dp_diff *diff)
{
    dp_diff_mix_release(diff);
    for (size_t r = 0; r < diff->n_runs; r++) {
        struct dp_diff_run *run = &diff->runs[r];
        for (size_t m = 0; run->columns && m < diff->how->n_measures; m++) {
            dp_mem_free(run->columns[m].self);
            dp_mem_free(run->columns[m].incl);
        }
        dp_mem_free(run->columns);
        dp_mem_free(run->calls);
        dp_mem_free(run->excess);
        dp_mem_free(run->there);
    }
    dp_mem_free(diff->runs);
    dp_mem_free(diff->parts);
    dp_mem_free(diff->shown);
    dp_mem_free(diff->slopes);
    dp_mem_free(diff->places);
    dp_pairs_release(&diff->pairs);
    dp_line_pairs_release(&diff->lines);
    dp_pool_release(&diff->texts);
    dp_pool_release(&diff->entries);
    memset(diff, 0, sizeof *diff);
}
