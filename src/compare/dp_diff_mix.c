#include "dp_diff_mix.h"
#include "dp_err.h"
#include "dp_hosts.h"
#include "dp_map.h"
#include "dp_mem.h"
#include "dp_num.h"

#include <math.h>
#include <string.h>

/* An entry in a phase: its number in diff->strata, whose text is both numbers. */
struct stratum { uint32_t entry, phase; };

static struct stratum stratum_at(const struct dp_diff *diff, uint32_t s)
{
    struct stratum stratum;
    memcpy(&stratum, dp_pool_name(&diff->strata, s)->ptr, sizeof stratum);
    return stratum;
}

static bool room(void **ptr, size_t *cap, size_t n, size_t size)
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
    if (!room((void **)&column->self, &cap, s, sizeof *column->self)
        || !room((void **)&column->incl, &column->cap, s, sizeof *column->incl)
        || !room((void **)&run->strata_calls, &run->strata_cap, s, sizeof *run->strata_calls))
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
    }
    dp_pool_release(&diff->strata);
    dp_mem_free(diff->alike);
    dp_mem_free(diff->changed);
}

/* ---- weights ---- */

static uint64_t value_at(const uint64_t *v, size_t cap, size_t i) { return i < cap ? v[i] : 0; }

static uint64_t self_at(const struct dp_diff_run *run, size_t measure, size_t s)
{
    return run->strata ? value_at(run->strata[measure].self, run->strata[measure].cap, s) : 0;
}

/* For each stratum of each run, what its time is divided by: its calls; of samples, the time of its
 * phase. */
static void divide_by(const struct dp_diff *diff, const struct dp_diff_run *run, double *of,
                      double *phases)
{
    size_t n = diff->strata.count;
    bool sampled = diff->how->counts != 0;
    memset(phases, 0, diff->texts.count * sizeof *phases);
    for (uint32_t s = 0; s < n && sampled; s++)
        phases[stratum_at(diff, s).phase] += (double)self_at(run, 0, s);
    for (uint32_t s = 0; s < n; s++)
        of[s] = sampled ? phases[stratum_at(diff, s).phase]
                        : (double)value_at(run->strata_calls, run->strata_cap, s);
}

struct mixing {
    struct dp_diff *diff;
    double *of;                 /* of a run */
    double *phases;             /* room, by text */
    double *weight;             /* by stratum: that of the baseline's runs on average; 0 where a run
                                 * has nothing to divide by */
    double *time;               /* by stratum: of the baseline */
};

static void weigh(struct mixing *mix)
{
    const struct dp_diff *diff = mix->diff;
    size_t n = diff->strata.count, runs = diff->sides[0].n_runs;
    for (size_t r = 0; r < diff->n_runs; r++) {
        const struct dp_diff_run *run = &diff->runs[r];
        divide_by(diff, run, mix->of, mix->phases);
        for (size_t s = 0; s < n && run->side == 0; s++) {
            mix->weight[s] += mix->of[s] / (double)runs;
            mix->time[s] += (double)self_at(run, 0, s);
        }
    }
    for (size_t r = 0; r < diff->n_runs; r++) {
        divide_by(diff, &diff->runs[r], mix->of, mix->phases);
        for (size_t s = 0; s < n; s++)
            mix->weight[s] = mix->of[s] > 0 ? mix->weight[s] : 0;
    }
}

/* An entry is comparable if half of its time in the baseline is in strata that all runs have. */
static bool find_alike(struct mixing *mix)
{
    struct dp_diff *diff = mix->diff;
    size_t n = dp_diff_entries(diff);
    double *time = dp_mem_zalloc(2 * (n + 1) * sizeof *time), *known = time ? time + n + 1 : NULL;
    diff->alike = dp_mem_zalloc(n + 1);
    for (uint32_t s = 0; time && diff->alike && s < diff->strata.count; s++) {
        time[stratum_at(diff, s).entry] += mix->time[s];
        known[stratum_at(diff, s).entry] += mix->weight[s] > 0 ? mix->time[s] : 0;
    }
    for (size_t e = 0; time && diff->alike && e < n; e++)
        diff->alike[e] = known[e] > 0 && 2 * known[e] >= time[e];
    bool ok = time && diff->alike;
    dp_mem_free(time);
    return ok;
}

/* ---- values ---- */

/* sums: room for two values of each entry. */
static void settle_measure(const struct mixing *mix, struct dp_diff_run *run, size_t measure,
                           double *sums)
{
    const struct dp_diff *diff = mix->diff;
    struct dp_diff_column *column = &run->columns[measure], *from = &run->strata[measure];
    size_t n = dp_diff_entries(diff);
    double total = 0;
    memset(sums, 0, 2 * n * sizeof *sums);
    for (uint32_t s = 0; s < diff->strata.count && s < from->cap; s++) {
        double factor = mix->weight[s] > 0 ? mix->weight[s] / mix->of[s] : 0;
        uint32_t e = stratum_at(diff, s).entry;
        sums[2 * e] += factor * (double)from->self[s];
        sums[2 * e + 1] += factor * (double)from->incl[s];
    }
    for (size_t e = 0; e < n && e < column->cap; e++) {
        if (!diff->alike[e])
            continue;
        column->self[e] = dp_num_round(sums[2 * e]);
        column->incl[e] = dp_num_round(sums[2 * e + 1]);
        total += sums[2 * e];
    }
    column->total = column->base = dp_num_round(total);
    if (measure == 0)
        run->raw_total = column->total;
}

int dp_diff_mix_settle(struct dp_diff *diff)
{
    size_t n = diff->strata.count + 1, entries = dp_diff_entries(diff) + 1;
    double *all = dp_mem_zalloc((3 * n + diff->texts.count + 2 * entries) * sizeof *all);
    struct mixing mix = { .diff = diff, .of = all };
    int rc = all ? 0 : DP_E_NOMEM;
    if (rc == 0) {
        mix.weight = all + n;
        mix.time = all + 2 * n;
        mix.phases = all + 3 * n;
        weigh(&mix);
        rc = find_alike(&mix) ? 0 : DP_E_NOMEM;
    }
    for (size_t r = 0; rc == 0 && r < diff->n_runs; r++) {
        struct dp_diff_run *run = &diff->runs[r];
        divide_by(diff, run, mix.of, mix.phases);
        for (size_t m = 0; run->strata && m < diff->how->n_measures; m++)
            settle_measure(&mix, run, m, mix.phases + diff->texts.count);
    }
    dp_mem_free(all);
    return rc;
}

/* ---- what has moved ---- */

/* The entry's part of all calls of each run of both sides. Returns false where a run has none. */
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
        struct dp_stat stat;
        if (!diff->alike || !diff->alike[e] || diff->how->counts
            || 100 * (double)value_at(column->self, column->cap, e)
                   < diff->how->floor * (double)column->total
            || !parts_of(diff, side, e, x, y))
            continue;
        rc = dp_hosts_compare(&stat, x, runs[0], y, runs[1], diff->how->paired != 0, 0.95);
        double change = stat.median[1] / stat.median[0] - 1;
        if (rc == 0 && stat.p <= chance)
            keep_most(most, n, &count, (struct dp_diff_moved){ e, change, stat.p });
    }
    dp_mem_free(x);
    return rc < 0 ? rc : count;
}
