/* The speed of runs, and the values that all runs would have had at one speed and without
 * disturbances. */
#include "dp_diff_speed.h"
#include "dp_err.h"
#include "dp_hosts.h"
#include "dp_mem.h"
#include "dp_num.h"
#include "dp_stat.h"

#include <math.h>
#include <string.h>

/* ---- values without noise ---- */

static const double uneven = 0.25;  /* part of a sub's time; if its longest call exceeds the others
                                     * by more than that, its calls naturally differ */

int dp_diff_even(struct dp_diff *diff)
{
    double *shares = dp_mem_realloc(NULL, diff->n_runs + 1, sizeof *shares);
    if (!shares)
        return DP_E_NOMEM;
    for (size_t e = 0; e < dp_diff_entries(diff); e++) {
        for (size_t r = 0; r < diff->n_runs; r++) {
            const struct dp_diff_run *run = &diff->runs[r];
            double self = e < run->columns[0].cap ? (double)run->columns[0].self[e] : 0;
            shares[r] = self > 0 && e < run->excess_cap ? (double)run->excess[e] / self : 0;
        }
        if (dp_stat_median(shares, diff->n_runs) <= uneven)
            continue;
        for (size_t r = 0; r < diff->n_runs; r++)
            if (e < diff->runs[r].excess_cap)
                diff->runs[r].excess[e] = 0;
    }
    dp_mem_free(shares);
    return 0;
}

uint64_t dp_diff_calm(const struct dp_diff *diff, const struct dp_diff_run *run, uint32_t e,
                      bool incl, uint64_t value)
{
    const struct dp_diff_column *noise = &run->columns[diff->how->noise];
    if (!diff->how->noise || e >= noise->cap)
        return value;
    double ns = (double)(incl ? noise->incl : noise->self)[e];
    uint64_t ticks = dp_num_round(ns * (double)diff->hz / 1e9);
    if (e < run->excess_cap && run->excess[e] > ticks)
        ticks = run->excess[e];
    return value - (ticks < value ? ticks : value);
}

/* ---- the speed of runs ---- */

enum {
    FEW = 5,                    /* least number of subs for a median of ratios */
    SLOPE_LEAST = 5,            /* least number of runs a side for slopes */
    SLOPE_MOST = 60             /* largest number of runs a side for slopes, because all pairs are
                                 * visited */
};
static const double slope_doubt = 0.02;     /* two speeds closer than this say little about a
                                             * slope */

double dp_diff_speed(const struct dp_diff *diff, const struct dp_diff_run *run, uint32_t e,
                     bool incl)
{
    return incl || !diff->slopes ? run->speed : pow(run->speed, diff->slopes[e]);
}

/* Do all runs do the same work, so that times can be compared? For samples that is assumed. */
static bool is_of_same_work(const struct dp_diff *diff)
{
    return diff->how->work == diff->how->counts || dp_diff_has_units(diff->how);
}

/* The sub's time for a unit of work in a run or, if all runs do the same work, its time. 0: the run
 * has none, or diff->changed excludes the sub. */
static double rate_of(const struct dp_diff *diff, const struct dp_diff_run *run, size_t e)
{
    const struct dp_diff_column *time = &run->columns[0], *work = &run->columns[diff->how->work];
    bool tells = dp_diff_is_known(run, (uint32_t)e) && !(diff->changed && diff->changed[e]);
    if (is_of_same_work(diff))
        return tells && e < time->cap ? (double)time->self[e] : 0;
    if (e >= time->cap || e >= work->cap || !time->self[e] || !work->self[e])
        return 0;
    return (double)dp_diff_calm(diff, run, (uint32_t)e, false, time->self[e])
           / (double)work->self[e];
}

/* The sub's median time for a unit of work over all runs; 0 if a run lacks it, or if its time in
 * all runs together is below `floor`. */
static double usual_rate(const struct dp_diff *diff, size_t e, double floor, double *scratch)
{
    double sum = 0;
    for (size_t r = 0; r < diff->n_runs; r++) {
        scratch[r] = rate_of(diff, &diff->runs[r], e);
        if (scratch[r] == 0)
            return 0;
        sum += (double)diff->runs[r].columns[0].self[e];
    }
    return sum < floor ? 0 : dp_stat_median(scratch, diff->n_runs);
}

/* The runs of the sides as points: x is the logarithm of each run's speed. */
struct points {
    double *x, *y;
    size_t *sizes;              /* by side */
};

/* Fills in y, the logarithm of the entry's rate in each run. Returns false if the rate is 0 in a
 * run. */
static bool take_points(const struct points *to, const struct dp_diff *diff, size_t e)
{
    for (size_t r = 0; r < diff->n_runs; r++) {
        double rate = rate_of(diff, &diff->runs[r], e);
        if (rate <= 0)
            return false;
        to->y[r] = log(rate);
    }
    return true;
}

/* Measures how strongly each entry depends on a run's speed. A sub bound to memory suffers more
 * from one disturbance and less from another than a sub bound to the processor. Pairs of runs of
 * one side show how much, because they differ in nothing else. Sets diff->slopes; leaves it NULL if
 * a side has too few or too many runs, or if all runs do the same work. Returns 0 or a DP_E. */
static int measure_slopes(struct dp_diff *diff, const double *usual)
{
    size_t n = dp_diff_entries(diff);
    if (is_of_same_work(diff))
        return 0;
    for (size_t s = 0; s < diff->n_sides; s++)
        if (diff->sides[s].n_runs < SLOPE_LEAST || diff->sides[s].n_runs > SLOPE_MOST)
            return 0;
    struct points points = { .x = dp_mem_realloc(NULL, 2 * diff->n_runs, sizeof *points.x),
                             .sizes = dp_mem_zalloc(diff->n_sides * sizeof *points.sizes) };
    diff->slopes = dp_mem_realloc(NULL, n + 1, sizeof *diff->slopes);
    int rc = points.x && points.sizes && diff->slopes ? 0 : DP_E_NOMEM;
    for (size_t r = 0; rc == 0 && r < diff->n_runs; r++) {
        points.x[r] = log(diff->runs[r].speed);     /* runs are in the order of their sides */
        points.sizes[diff->runs[r].side]++;
    }
    for (size_t e = 0; rc == 0 && e < n; e++) {
        points.y = points.x + diff->n_runs;
        diff->slopes[e] = 1;
        if (usual[e] > 0 && take_points(&points, diff, e))
            rc = dp_stat_slope(&diff->slopes[e], points.x, points.y, points.sizes, diff->n_sides, 1,
                               slope_doubt);
    }
    dp_mem_free(points.x);
    dp_mem_free(points.sizes);
    return rc;
}

/* Sets the speed of each run, where above 1 is slower: the median, over the subs with enough time
 * that no run lacks, of the time for a unit of work relative to the sub's usual one. With fewer
 * than FEW such subs the speeds stay unknown. Returns 0 or a DP_E. */
static int measure_speed(struct dp_diff *diff)
{
    size_t n = dp_diff_entries(diff), count = 0;
    double *usual = dp_mem_zalloc((n + 1) * sizeof *usual), floor = 0;
    double *scratch = dp_mem_zalloc((n + diff->n_runs + 1) * sizeof *scratch);
    for (size_t r = 0; r < diff->n_runs; r++)
        floor += (double)diff->runs[r].columns[0].total * diff->how->floor / 100;
    for (size_t e = 0; usual && scratch && e < n; e++) {
        usual[e] = usual_rate(diff, e, floor, scratch);
        count += usual[e] > 0;
    }
    for (size_t r = 0; usual && scratch && count >= FEW && r < diff->n_runs; r++) {
        size_t k = 0;
        for (size_t e = 0; e < n; e++)
            if (usual[e] > 0)
                scratch[k++] = rate_of(diff, &diff->runs[r], e) / usual[e];
        diff->runs[r].speed = dp_stat_median(scratch, k);
        diff->has_speed = true;
    }
    int rc = !usual || !scratch ? DP_E_NOMEM
             : diff->has_speed ? measure_slopes(diff, usual)
             : 0;
    dp_mem_free(usual);
    dp_mem_free(scratch);
    return rc;
}

/* ---- to adjust, or not ---- */

/* A difference between the speeds of sides that chance produces less often is considered real. */
static const double chance = 0.05;

/* Compares the speeds like other values, in millionths of the usual speed, and sets *v. Returns 0
 * or a DP_E. */
static int compare_speeds(const struct dp_diff *diff, uint32_t side, struct dp_diff_values *v)
{
    size_t n = 0, m = 0;
    double *x = dp_mem_realloc(NULL, 2 * (diff->n_runs + 1), sizeof *x), *y;
    memset(v, 0, sizeof *v);
    if (!x)
        return DP_E_NOMEM;
    y = x + diff->n_runs + 1;
    for (size_t r = 0; r < diff->n_runs; r++) {
        double speed = 1e6 * diff->runs[r].speed;
        if (diff->runs[r].side == 0)
            x[n++] = speed;
        else if (diff->runs[r].side == side)
            y[m++] = speed;
    }
    int rc = 0;
    if (dp_diff_has_units(diff->how)) {
        struct dp_hosts_result result;
        dp_hosts_compare(&result, x, n, y, m, diff->how->paired, NULL, diff->how->confidence);
        v->p = result.p;
        v->base = dp_num_round(result.mean[0]);
        v->value = dp_num_round(result.mean[1]);
    } else {
        struct dp_stat stat;
        rc = dp_stat_compare(&stat, x, n, y, m, diff->how->confidence);
        v->p = stat.p;
        v->base = dp_num_round(stat.median[0]);
        v->value = dp_num_round(stat.median[1]);
    }
    dp_mem_free(x);
    return rc;
}

/* Did more than a third of the tested entries differ? Then the median run's speed may reflect these
 * differences. For hosts, notes which entries differ. Returns 1, 0 or a DP_E. */
static int changed_much(struct dp_diff *diff, uint32_t side)
{
    struct dp_diff_family family;
    struct dp_diff whole = *diff;
    struct dp_diff_how how = *diff->how;
    size_t changed = 0;
    how.spending = 0;           /* this is not an interim analysis that spends alpha */
    whole.how = &how;
    int rc = dp_diff_compare(&family, &whole, 0, false, side);
    if (rc < 0)
        return rc;
    for (size_t e = 0; e < dp_diff_entries(diff); e++) {
        bool differs = family.values[e].p <= chance;
        changed += differs;
        if (diff->changed && differs)
            diff->changed[e] = 1;
    }
    rc = 3 * changed > family.tests;
    dp_diff_family_release(&family);
    return rc;
}

/* Measures the speeds, and sets diff->adjusted to whether values are divided by them. Returns 0 or
 * a DP_E. */
static int adjust_once(struct dp_diff *diff)
{
    uint32_t shown =
        (uint32_t)(diff->how->order > 0 && diff->how->order < diff->n_sides ? diff->how->order : 1);
    int measured = measure_speed(diff);
    if (measured < 0 || !diff->has_speed)
        return measured;
    diff->adjusted = true;
    for (uint32_t s = 1; s < diff->n_sides; s++) {
        struct dp_diff_values speeds;
        int rc = compare_speeds(diff, s, &speeds);
        bool tells = dp_stat_decides(diff->sides[0].n_runs, diff->sides[s].n_runs, 1, chance);
        if (rc < 0)
            return rc;
        if (s == shown)
            diff->speeds = speeds;
        /* that all hosts of a side are slower is a result by itself */
        bool same = tells && speeds.p > chance;
        diff->adjusted = diff->adjusted && (same || dp_diff_has_units(diff->how));
    }
    for (uint32_t s = 1; s < diff->n_sides && diff->adjusted; s++) {
        int rc = changed_much(diff, s);
        if (rc < 0)
            return rc;
        diff->adjusted = rc == 0;
    }
    return 0;
}

/* Measures the speed of each run, and decides whether the values of the runs are adjusted by the
 * speeds. For hosts, the speed is measured again without the entries that differ. One sub that
 * became slower raises the median of a few others a little, which is significant if there are
 * enough hosts. */
int dp_diff_adjust(struct dp_diff *diff)
{
    size_t changed = 0, n = dp_diff_entries(diff);
    if (diff->how->per_call && !(diff->changed = dp_mem_zalloc(n + 1)))
        return DP_E_NOMEM;
    int rc = adjust_once(diff);
    for (size_t e = 0; diff->changed && e < n; e++)
        changed += diff->changed[e];
    return rc == 0 && changed && diff->adjusted ? adjust_once(diff) : rc;
}
