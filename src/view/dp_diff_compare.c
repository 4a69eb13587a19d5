/* Compares values of runs: is a difference significant? Decides before that whether values are
 * adjusted for the speed of the runs. */
#include "dp_diff_counts.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_num.h"
#include "dp_stat.h"

#include <math.h>
#include <string.h>

struct comparing {
    const struct dp_diff *diff;
    size_t measure;
    bool incl;
    uint32_t side;
    size_t n[2];                /* runs of the baseline, of the side */
    double *x, *y, *scratch;    /* their values; room for as many */
    struct dp_diff_counting counting;   /* of samples */
};

#define TOTAL UINT32_MAX        /* in place of an entry */

static uint64_t value_of(const struct comparing *c, const struct dp_diff_run *run, uint32_t e)
{
    if (c->measure == DP_RULE_CALLS) {
        uint64_t calls = e == TOTAL ? run->all_calls : e < run->calls_cap ? run->calls[e] : 0;
        return e == TOTAL || run->calls_factor == 1
                   ? calls : dp_num_round((double)calls * run->calls_factor);
    }
    const struct dp_diff_column *column = &run->columns[c->measure];
    if (e == TOTAL)
        return c->measure == 0 ? run->raw_total : column->total;
    uint64_t value = e < column->cap ? (c->incl ? column->incl : column->self)[e] : 0;
    return c->measure == 0 && c->diff->adjusted ? dp_num_round((double)value / run->speed) : value;
}

static bool is_there(const struct dp_diff_run *run, uint32_t e)
{
    return e == TOTAL || (e < run->there_cap && run->there[e]);
}

/* The median of a side's values, as a whole number; of one run, its value. v..n are the same values
 * as doubles, and stay in order. */
static uint64_t middle(const struct comparing *c, const double *v, size_t n, uint64_t only)
{
    if (n == 1)
        return only;
    memcpy(c->scratch, v, n * sizeof *v);
    return dp_num_round(dp_stat_median(c->scratch, n));
}

static void load(const struct comparing *c, uint32_t e, struct dp_diff_values *to)
{
    const struct dp_diff *diff = c->diff;
    size_t n[2] = { 0, 0 };
    uint64_t value, last[2] = { 0, 0 };
    memset(to, 0, sizeof *to);
    for (size_t r = 0; r < diff->n_runs; r++) {
        const struct dp_diff_run *run = &diff->runs[r];
        if (run->side != 0 && run->side != c->side)
            continue;
        int which = run->side != 0;
        bool *there = which ? &to->there : &to->base_there;
        last[which] = value = value_of(c, run, e);
        (which ? c->y : c->x)[n[which]++] = (double)value;
        *there = *there || is_there(run, e);
    }
    to->base = middle(c, c->x, n[0], last[0]);
    to->value = middle(c, c->y, n[1], last[1]);
    to->p = 1;
    to->low = -INFINITY;
    to->high = INFINITY;
}

static bool all_equal(const double *v, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (v[i] != v[0])
            return false;
    return true;
}

/* For a measure that repeats exactly: any difference is certain, unless runs of one side do not
 * agree. */
static bool decided_exactly(const struct comparing *c, struct dp_diff_values *v)
{
    static const struct dp_diff_measure calls = { .metric = DP_M_CALLS, .exact = 1 };
    const struct dp_diff_measure *m = c->measure == DP_RULE_CALLS
                                          ? &calls : &c->diff->how->measures[c->measure];
    if (!m->exact || !all_equal(c->x, c->n[0]) || !all_equal(c->y, c->n[1]))
        return false;
    double apart = v->value > v->base ? (double)(v->value - v->base) : (double)(v->base - v->value);
    v->verdict = apart <= m->tolerance * (double)v->base ? DP_DIFF_EQUAL : DP_DIFF_EXACT;
    v->low = v->high = (double)v->value - (double)v->base;
    return true;
}

/* Does no run differ from any other? */
static bool all_one(const struct comparing *c)
{
    return c->x[0] == c->y[0] && all_equal(c->x, c->n[0]) && all_equal(c->y, c->n[1]);
}

/* The sum of what was loaded. */
static double pooled(const struct comparing *c)
{
    double sum = 0;
    for (size_t i = 0; i < c->n[0]; i++)
        sum += c->x[i];
    for (size_t i = 0; i < c->n[1]; i++)
        sum += c->y[i];
    return sum;
}

/* Room for the values of all runs, three times; NULL when memory is short. */
static double *begin(struct comparing *c)
{
    size_t n = c->diff->n_runs + 1;
    c->x = dp_mem_realloc(NULL, 3 * n, sizeof *c->x);
    c->y = c->x ? c->x + n : NULL;
    c->scratch = c->x ? c->y + n : NULL;
    return c->x;
}

static int test(const struct comparing *c, struct dp_diff_values *v)
{
    struct dp_stat stat;
    int rc = dp_stat_compare(&stat, c->x, c->n[0], c->y, c->n[1], c->diff->how->confidence);
    v->base_spread = stat.spread[0];
    v->spread = stat.spread[1];
    v->p = stat.p;
    v->low = stat.low;
    v->high = stat.high;
    return rc;
}

/* Compares two values before any correction; those that are to be tested stay UNSURE. */
static int judge(const struct comparing *c, uint32_t e, double floor, struct dp_diff_values *v)
{
    load(c, e, v);
    if (decided_exactly(c, v))
        return 0;
    bool counted = e != TOTAL && c->counting.shares;
    if (!counted && c->n[0] < 2 && c->n[1] < 2) {
        v->verdict = v->value == v->base ? DP_DIFF_EQUAL : DP_DIFF_SINGLE;
        return 0;
    }
    if (all_one(c))
        return 0;
    if (e == TOTAL || pooled(c) >= floor) {
        v->verdict = DP_DIFF_UNSURE;
        return counted ? dp_diff_count(&c->counting, e, c->x, c->y, v) : test(c, v);
    }
    v->verdict = DP_DIFF_SMALL;
    v->base_spread = dp_stat_spread(c->x, c->n[0], (double)v->base);
    v->spread = dp_stat_spread(c->y, c->n[1], (double)v->value);
    return 0;
}

static int correct(struct dp_diff_family *f, const struct comparing *c, size_t n)
{
    double *p = dp_mem_realloc(NULL, f->tests + 1, sizeof *p);
    uint32_t *order = dp_mem_realloc(NULL, f->tests + 1, sizeof *order);
    const struct dp_diff_how *how = c->diff->how;
    size_t k = 0;
    /* where false discoveries are limited, the least p of all tests decides */
    size_t tests = how->discoveries && f->tests ? 1 : f->tests;
    bool decides = f->counted || dp_stat_decides(c->n[0], c->n[1], tests, how->alpha);
    if (p && order) {
        for (size_t e = 0; e < n; e++)
            if (f->values[e].verdict == DP_DIFF_UNSURE)
                p[k++] = f->values[e].p;
        if (how->discoveries)
            dp_stat_fdr(p, k, order);
        else
            dp_stat_holm(p, k, order);
        k = 0;
        for (size_t e = 0; e < n; e++) {
            struct dp_diff_values *v = &f->values[e];
            if (v->verdict != DP_DIFF_UNSURE)
                continue;
            v->p = p[k++];
            v->verdict = !decides ? DP_DIFF_FEW
                         : v->p <= how->alpha ? DP_DIFF_TRUE
                         : DP_DIFF_UNSURE;
        }
    }
    if (f->total.verdict == DP_DIFF_UNSURE)
        f->total.verdict = !dp_stat_decides(c->n[0], c->n[1], 1, how->alpha) ? DP_DIFF_FEW
                         : f->total.p <= how->alpha ? DP_DIFF_TRUE : DP_DIFF_UNSURE;
    if (f->tests && !decides)
        f->needed = dp_stat_runs_needed(tests, how->alpha);
    bool ok = p && order;
    dp_mem_free(p);
    dp_mem_free(order);
    return ok ? 0 : DP_E_NOMEM;
}

/* The median of the totals (100 %) of the runs of a side. */
static double whole_of(const struct comparing *c, uint32_t side)
{
    double *v = c->x;
    size_t n = 0;
    for (size_t r = 0; r < c->diff->n_runs; r++) {
        const struct dp_diff_run *run = &c->diff->runs[r];
        if (run->side == side)
            v[n++] = c->measure == DP_RULE_CALLS
                         ? (double)run->all_calls * run->calls_factor
                         : (double)run->columns[c->measure].base
                               / (c->measure || !c->diff->adjusted ? 1 : run->speed);
    }
    return dp_stat_median(v, n);
}

int dp_diff_compare(struct dp_diff_family *family, const struct dp_diff *diff, size_t measure,
                    bool incl, uint32_t side)
{
    size_t n = dp_diff_entries(diff);
    struct comparing c = { .diff = diff, .measure = measure, .incl = incl, .side = side };
    memset(family, 0, sizeof *family);
    c.n[0] = diff->sides[0].n_runs;
    c.n[1] = diff->sides[side].n_runs;
    family->values = dp_mem_zalloc((n + 1) * sizeof *family->values);
    family->counted = dp_diff_is_counted(diff, measure);
    int rc = begin(&c) && family->values ? 0 : DP_E_NOMEM;
    if (rc == 0 && family->counted)
        rc = dp_diff_counting_init(&c.counting, diff, measure, incl, side);
    if (rc == 0)
        rc = judge(&c, TOTAL, 0, &family->total);
    /* the total is still loaded */
    double floor = rc == 0 ? pooled(&c) * diff->how->floor / 100 : 0;
    for (uint32_t e = 0; e < n && rc == 0; e++) {
        rc = judge(&c, e, floor, &family->values[e]);
        family->tests += family->values[e].verdict == DP_DIFF_UNSURE;
    }
    if (rc == 0)
        rc = correct(family, &c, n);
    if (rc == 0) {
        family->base_whole = whole_of(&c, 0);
        family->whole = whole_of(&c, side);
    }
    dp_diff_counting_release(&c.counting);
    dp_mem_free(c.x);
    if (rc < 0)
        dp_diff_family_release(family);
    return rc;
}

void dp_diff_family_release(struct dp_diff_family *family)
{
    dp_mem_free(family->values);
    memset(family, 0, sizeof *family);
}

/* ---- the speed of runs ---- */

enum { FEW = 5 };               /* a median of ratios is made of so many subs, at least */

/* The time for a unit of work; of samples, the time. */
static double rate_of(const struct dp_diff *diff, const struct dp_diff_run *run, size_t e)
{
    const struct dp_diff_column *time = &run->columns[0], *work = &run->columns[diff->how->work];
    if (diff->how->work == diff->how->counts)
        return e < time->cap ? (double)time->self[e] : 0;
    if (e >= time->cap || e >= work->cap || !time->self[e] || !work->self[e])
        return 0;
    return (double)time->self[e] / (double)work->self[e];
}

/* The sub's median time per op over all runs; 0 where it is too small, or not in all of them. */
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
    bool ok = usual && scratch;
    dp_mem_free(usual);
    dp_mem_free(scratch);
    return ok ? 0 : DP_E_NOMEM;
}

/* ---- to adjust, or not ---- */

/* if the speeds of sides differ so rarely by chance, the difference is taken for true */
static const double chance = 0.05;

/* The speeds as values like others: a million is that of the median run. */
static int compare_speeds(const struct dp_diff *diff, uint32_t side, struct dp_diff_values *v)
{
    struct comparing c = { .diff = diff, .side = side };
    memset(v, 0, sizeof *v);
    if (!begin(&c))
        return DP_E_NOMEM;
    for (size_t r = 0; r < diff->n_runs; r++) {
        double speed = 1e6 * diff->runs[r].speed;
        if (diff->runs[r].side == 0)
            c.x[c.n[0]++] = speed;
        else if (diff->runs[r].side == side)
            c.y[c.n[1]++] = speed;
    }
    int rc = test(&c, v);
    v->base = dp_num_round(dp_stat_median(c.x, c.n[0]));
    v->value = dp_num_round(dp_stat_median(c.y, c.n[1]));
    dp_mem_free(c.x);
    return rc;
}

/* If more than a third of what was tested differs, it may be these differences that the median
 * run's speed shows. */
static int changed_much(const struct dp_diff *diff, uint32_t side)
{
    struct dp_diff_family family;
    size_t changed = 0;
    int rc = dp_diff_compare(&family, diff, 0, false, side);
    if (rc < 0)
        return rc;
    for (size_t e = 0; e < dp_diff_entries(diff); e++)
        changed += family.values[e].p <= chance;
    rc = 3 * changed > family.tests;
    dp_diff_family_release(&family);
    return rc;
}

int dp_diff_adjust(struct dp_diff *diff)
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
        diff->adjusted = diff->adjusted && tells && speeds.p > chance;
    }
    for (uint32_t s = 1; s < diff->n_sides && diff->adjusted; s++) {
        int rc = changed_much(diff, s);
        if (rc < 0)
            return rc;
        diff->adjusted = rc == 0;
    }
    return 0;
}
