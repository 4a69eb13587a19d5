#include "dp_diff_mix.h"
#include "dp_err.h"
#include "dp_hosts.h"
#include "dp_map.h"
#include "dp_mem.h"
#include "dp_num.h"

#include <math.h>
#include <string.h>

/* An entry in a phase. Its number is that of its text in diff->strata; the text consists of these
 * two numbers. */
struct stratum { uint32_t entry, phase; };

/* Returns a stratum, which is a kind of call within a phase, by its number. */
static struct stratum stratum_at(const struct dp_diff *diff, uint32_t s)
{
    struct stratum stratum;
    memcpy(&stratum, dp_pool_name(&diff->strata, s)->ptr, sizeof stratum);
    return stratum;
}

static bool make_room(void **ptr, size_t *cap, size_t n, size_t size)
{
    return dp_mem_grow_cleared(ptr, cap, n + 1, size) == 0;
}

bool dp_diff_mix_add(struct dp_diff *diff, struct dp_diff_run *run, size_t measure, uint32_t entry,
                     const struct dp_name *phase, const struct dp_over_row *row)
{
    struct stratum key = { entry, dp_pool_intern(&diff->texts, phase->ptr, phase->len) };
    uint32_t s = key.phase == DP_MAP_NONE
        ? DP_MAP_NONE : dp_pool_intern(&diff->strata, (const char *)&key, sizeof key);
    if (!run->strata)
        run->strata = dp_mem_zalloc(diff->how->n_measures * sizeof *run->strata);
    if (s == DP_MAP_NONE || !run->strata)
        return false;
    struct dp_diff_column *column = &run->strata[measure];
    size_t cap = column->cap;
    if (!make_room((void **)&column->self, &cap, s, sizeof *column->self)
        || !make_room((void **)&column->incl, &column->cap, s, sizeof *column->incl)
        || !make_room((void **)&run->strata_calls, &run->strata_cap, s, sizeof *run->strata_calls))
        return false;
    column->self[s] += row->self;
    column->incl[s] += row->children;
    if (measure == 0)
        run->strata_calls[s] += row->calls;
    return true;
}

void dp_diff_mix_release(struct dp_diff *diff)
{
    for (size_t r = 0; r < diff->n_runs; r++) {
        struct dp_diff_run *run = &diff->runs[r];
        for (size_t m = 0; run->strata && m < diff->how->n_measures; m++) {
            dp_mem_free(run->strata[m].self);
            dp_mem_free(run->strata[m].incl);
        }
        dp_mem_free(run->strata);
        dp_mem_free(run->strata_calls);
        dp_mem_free(run->unknown);
    }
    dp_pool_release(&diff->strata);
    dp_mem_free(diff->changed);
}

/* ---- weights ---- */

static uint64_t value_at(const uint64_t *v, size_t cap, size_t i) { return i < cap ? v[i] : 0; }

static uint64_t self_at(const struct dp_diff_run *run, size_t measure, size_t s)
{
    return run->strata ? value_at(run->strata[measure].self, run->strata[measure].cap, s) : 0;
}

static uint64_t incl_at(const struct dp_diff_run *run, size_t measure, size_t s)
{
    return run->strata ? value_at(run->strata[measure].incl, run->strata[measure].cap, s) : 0;
}

/* Self and inclusive time. */
struct both { double self, incl; };

static void add_both(struct both *to, double factor, struct both values)
{
    to->self += factor * values.self;
    to->incl += factor * values.incl;
}

static struct both both_at(const struct dp_diff_run *run, size_t measure, size_t s)
{
    return (struct both){ (double)self_at(run, measure, s), (double)incl_at(run, measure, s) };
}

struct mixing {
    struct dp_diff *diff;
    size_t n;                   /* number of strata */
    double *of;                 /* by stratum: the divisor of the run's time */
    double *phases;             /* by text: the run's time in that phase */
    double *weight;             /* by stratum: mean divisor of the baseline's runs */
    struct both *time;          /* by stratum: total time of the baseline's runs */
    struct both *all;           /* by entry: total time of the baseline's runs */
    unsigned char *in_side;     /* by side and stratum: some run has calls in the stratum */
    unsigned char *phase_in_side;       /* by side and text: some run has the phase */
    /* for the run that is being computed */
    struct both *sums;          /* by entry: the time with the baseline's calls */
    struct both *known;         /* by entry: the baseline's time in the strata that `sums` covers */
    struct both *added;         /* by entry: the time in strata that the baseline lacks */
    unsigned char *apart;       /* by entry: some time is in a phase that the baseline lacks */
    struct both *factors;       /* by text: the phase's time before and after the division; behind
                                 * the last text, that of all phases */
};

/* Determines the divisor of a run's time for each stratum: its calls; for samples, the time of its
 * phase. */
static void divide_by(const struct mixing *mix, const struct dp_diff_run *run)
{
    const struct dp_diff *diff = mix->diff;
    bool sampled = diff->how->counts != 0;
    memset(mix->phases, 0, diff->texts.count * sizeof *mix->phases);
    for (uint32_t s = 0; s < mix->n && sampled; s++)
        mix->phases[stratum_at(diff, s).phase] += (double)self_at(run, 0, s);
    for (uint32_t s = 0; s < mix->n; s++)
        mix->of[s] = sampled ? mix->phases[stratum_at(diff, s).phase]
                             : (double)value_at(run->strata_calls, run->strata_cap, s);
}

/* Computes from all runs: the weights and times of the strata in the baseline, and which strata and
 * phases each side has. */
static void weigh_strata(const struct mixing *mix)
{
    const struct dp_diff *diff = mix->diff;
    size_t runs = diff->sides[0].n_runs;
    for (size_t r = 0; r < diff->n_runs; r++) {
        const struct dp_diff_run *run = &diff->runs[r];
        divide_by(mix, run);
        for (uint32_t s = 0; s < mix->n; s++) {
            struct stratum at = stratum_at(diff, s);
            if (mix->of[s] > 0) {
                mix->in_side[run->side * mix->n + s] = 1;
                mix->phase_in_side[run->side * diff->texts.count + at.phase] = 1;
            }
            if (run->side != 0)
                continue;
            mix->weight[s] += mix->of[s] / (double)runs;
            add_both(&mix->time[s], 1, both_at(run, 0, s));
            add_both(&mix->all[at.entry], 1, both_at(run, 0, s));
        }
    }
}

/* ---- values ---- */

enum place {
    KNOWN,                      /* the run's time per call counts with the baseline's weight; it is
                                 * 0 if its side makes no such calls any more */
    MISSING,                    /* this run has no calls and others of its side have some; or its
                                 * side lacks the phase */
    ADDED,                      /* the baseline makes no such calls in this phase */
    APART                       /* the baseline lacks the phase */
};

/* Returns how a stratum of a run counts (enum place): it depends on whether the baseline and the
 * run's side have such calls and their phase. */
static enum place place_of(const struct mixing *mix, const struct dp_diff_run *run, uint32_t s)
{
    uint32_t phase = stratum_at(mix->diff, s).phase;
    const unsigned char *phases = mix->phase_in_side;
    if (mix->weight[s] <= 0)
        return phases[phase] ? ADDED : APART;
    bool gone = !mix->in_side[run->side * mix->n + s]
                && phases[run->side * mix->diff->texts.count + phase];
    return mix->of[s] > 0 || gone ? KNOWN : MISSING;
}

/* Returns the factor for a run's time in a phase if the baseline has no calls: the one that the
 * known calls of that phase, or of all phases, get on the whole. It is 1 if none are known. */
static double factor_of(const struct mixing *mix, uint32_t phase)
{
    const struct both *one = &mix->factors[phase], *whole = &mix->factors[mix->diff->texts.count];
    return one->self > 0 ? one->incl / one->self
           : whole->self > 0 ? whole->incl / whole->self
           : 1;
}

/* The factor from the run's time in a stratum to its time with the baseline's calls; 0 if the run
 * has no calls there. */
static double weight_of(const struct mixing *mix, uint32_t s)
{
    return mix->of[s] > 0 ? mix->weight[s] / mix->of[s] : 0;
}

/* Sums up the run's known time in each phase and in all, as it is and with the baseline's calls;
 * factor_of divides the two. */
static void measure_factors(const struct mixing *mix, const struct dp_diff_run *run)
{
    struct both *whole = &mix->factors[mix->diff->texts.count];
    memset(mix->factors, 0, (mix->diff->texts.count + 1) * sizeof *mix->factors);
    for (uint32_t s = 0; s < mix->n; s++) {
        struct both *factor = &mix->factors[stratum_at(mix->diff, s).phase];
        double self = (double)self_at(run, 0, s);
        if (place_of(mix, run, s) == KNOWN) {
            factor->self += self;
            factor->incl += self * weight_of(mix, s);
            add_both(whole, 1, (struct both){ self, self * weight_of(mix, s) });
        }
    }
}

/* The factor that scales the known part of the baseline's time to all of it. */
static double scale_factor(double all, double known) { return known > 0 ? all / known : 1; }

/* Is so little of the entry's time known in the run that the entry cannot be compared there? */
static bool is_unknown(const struct mixing *mix, size_t e)
{
    const struct both *all = &mix->all[e], *known = &mix->known[e];
    if (all->incl > 0)
        return 2 * known->incl < all->incl;
    return mix->apart[e] && mix->added[e].incl <= 0;
}

/* Fills in the sums of a run by entry. What a stratum adds depends on its place: its time with the
 * baseline's calls, its time as a whole, or nothing. */
static void sum_up(const struct mixing *mix, const struct dp_diff_run *run, size_t measure)
{
    size_t n = dp_diff_entries(mix->diff);
    memset(mix->sums, 0, n * sizeof *mix->sums);
    memset(mix->known, 0, n * sizeof *mix->known);
    memset(mix->added, 0, n * sizeof *mix->added);
    memset(mix->apart, 0, n);
    for (uint32_t s = 0; s < mix->n; s++) {
        struct stratum at = stratum_at(mix->diff, s);
        struct both values = both_at(run, measure, s);
        switch (place_of(mix, run, s)) {
        case KNOWN:
            add_both(&mix->sums[at.entry], weight_of(mix, s), values);
            add_both(&mix->known[at.entry], 1, mix->time[s]);
            break;
        case ADDED:
            if (values.incl > 0)
                add_both(&mix->added[at.entry], factor_of(mix, at.phase), values);
            break;
        case APART:
            mix->apart[at.entry] |= values.incl > 0;
            break;
        case MISSING:
            break;
        }
    }
}

/* The time of a run that is not part of its values. */
static uint64_t time_apart(const struct mixing *mix, const struct dp_diff_run *run)
{
    uint64_t sum = 0;
    for (uint32_t s = 0; s < mix->n; s++)
        if (place_of(mix, run, s) == APART || run->unknown[stratum_at(mix->diff, s).entry])
            sum += self_at(run, 0, s);
    return sum;
}

/* Replaces the run's values of a measure by those that it would have with the baseline's calls. An
 * entry with too little in common with the baseline gets 0 and is marked as unknown. */
static void settle_measure(const struct mixing *mix, struct dp_diff_run *run, size_t measure)
{
    const struct dp_diff *diff = mix->diff;
    struct dp_diff_column *column = &run->columns[measure];
    double sum = 0, all = 0, known = 0, added = 0;
    sum_up(mix, run, measure);
    for (size_t e = 0; e < dp_diff_entries(diff); e++) {
        struct both of = mix->sums[e];
        bool unknown = is_unknown(mix, e);
        sum += of.self;
        added += mix->added[e].self;
        all += mix->all[e].self;
        known += mix->known[e].self;
        of.self *= scale_factor(mix->all[e].self, mix->known[e].self);
        of.incl *= scale_factor(mix->all[e].incl, mix->known[e].incl);
        run->unknown[e] = unknown;
        if (e >= column->cap)
            continue;
        column->self[e] = unknown ? 0 : dp_num_round(of.self + mix->added[e].self);
        column->incl[e] = unknown ? 0 : dp_num_round(of.incl + mix->added[e].incl);
    }
    column->total = column->base = dp_num_round(sum * scale_factor(all, known) + added);
    if (measure == 0) {
        run->apart = run->raw_total ? (double)time_apart(mix, run) / (double)run->raw_total : 0;
        run->raw_total = column->total;
    }
}

/* Turns the values of a run into those that it would have with the baseline's mix of calls. Returns
 * 0 or DP_E_NOMEM. */
static int settle_run(const struct mixing *mix, struct dp_diff_run *run)
{
    run->unknown = dp_mem_zalloc(dp_diff_entries(mix->diff) + 1);
    if (!run->unknown)
        return DP_E_NOMEM;
    divide_by(mix, run);
    measure_factors(mix, run);
    for (size_t m = 0; m < mix->diff->how->n_measures; m++)
        settle_measure(mix, run, m);
    return 0;
}

int dp_diff_mix_settle(struct dp_diff *diff)
{
    size_t n = diff->strata.count, texts = diff->texts.count, entries = dp_diff_entries(diff);
    struct mixing mix = {
        .diff = diff, .n = n,
        .of = dp_mem_zalloc((2 * n + texts + 1) * sizeof *mix.of),
        .time = dp_mem_zalloc((n + 4 * entries + texts + 1) * sizeof *mix.time),
        .in_side = dp_mem_zalloc(diff->n_sides * (n + texts) + entries + 1)
    };
    int rc = mix.of && mix.time && mix.in_side ? 0 : DP_E_NOMEM;
    if (rc == 0) {
        mix.weight = mix.of + n;
        mix.phases = mix.weight + n;
        mix.all = mix.time + n;
        mix.sums = mix.all + entries;
        mix.known = mix.sums + entries;
        mix.added = mix.known + entries;
        mix.factors = mix.added + entries;
        mix.phase_in_side = mix.in_side + diff->n_sides * n;
        mix.apart = mix.phase_in_side + diff->n_sides * texts;
        weigh_strata(&mix);
    }
    for (size_t r = 0; rc == 0 && r < diff->n_runs; r++)
        rc = settle_run(&mix, &diff->runs[r]);
    dp_mem_free(mix.of);
    dp_mem_free(mix.time);
    dp_mem_free(mix.in_side);
    return rc;
}

double dp_diff_mix_apart(const struct dp_diff *diff, uint32_t side)
{
    double parts[2] = { 0, 0 };
    for (size_t r = 0; r < diff->n_runs; r++) {
        const struct dp_diff_run *run = &diff->runs[r];
        if (run->side == 0 || run->side == side)
            parts[run->side != 0] += run->apart / (double)diff->sides[run->side].n_runs;
    }
    return parts[0] > parts[1] ? parts[0] : parts[1];
}

/* ---- parts of all calls ---- */

/* Computes the entry's part of all calls in each run of both sides: x for the baseline, y for the
 * side. Returns false if a run has no calls of the entry. */
static bool parts_of(const struct dp_diff *diff, uint32_t side, uint32_t e, double *x, double *y)
{
    for (size_t r = 0; r < diff->n_runs; r++) {
        const struct dp_diff_run *run = &diff->runs[r];
        double calls = (double)value_at(run->calls, run->calls_cap, e);
        if (run->side != 0 && run->side != side)
            continue;
        if (calls <= 0 || !run->all_calls)
            return false;
        *(run->side ? y++ : x++) = calls / (double)run->all_calls;
    }
    return true;
}

/* Inserts a moved entry into a list of the n with the largest changes, which may push the last one
 * out, or leave this one out. *count: the length of the list. */
static void keep_most(struct dp_diff_moved *most, size_t n, int *count, struct dp_diff_moved one)
{
    size_t k = (size_t)*count < n ? (size_t)(*count)++ : n;
    for (; k > 0 && fabs(most[k - 1].change) < fabs(one.change); k--)
        if (k < n)
            most[k] = most[k - 1];
    if (k < n)
        most[k] = one;
}

int dp_diff_mix_moved(const struct dp_diff *diff, uint32_t side, double chance,
                      struct dp_diff_moved *most, size_t n)
{
    size_t runs[2] = { diff->sides[0].n_runs, diff->sides[side].n_runs };
    double *x = dp_mem_realloc(NULL, runs[0] + runs[1] + 1, sizeof *x), *y = x ? x + runs[0] : NULL;
    int count = 0, rc = x ? 0 : DP_E_NOMEM;
    for (uint32_t e = 0; rc == 0 && e < dp_diff_entries(diff); e++) {
        const struct dp_diff_column *column = &diff->runs[0].columns[0];
        struct dp_hosts_result result;
        if (diff->how->counts
            || 100 * (double)value_at(column->self, column->cap, e)
                   < diff->how->floor * (double)column->total
            || !parts_of(diff, side, e, x, y))
            continue;
        dp_hosts_compare(&result, x, runs[0], y, runs[1], diff->how->paired != 0, NULL, 0.95);
        double change = result.mean[1] / result.mean[0] - 1;
        if (result.p <= chance)
            keep_most(most, n, &count, (struct dp_diff_moved){ e, change, result.p });
    }
    dp_mem_free(x);
    return rc < 0 ? rc : count;
}
