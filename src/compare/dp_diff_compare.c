/* Compares the values of runs: is a difference significant? */
#include "dp_counts.h"
#include "dp_diff_correct.h"
#include "dp_diff_counts.h"
#include "dp_diff_speed.h"
#include "dp_err.h"
#include "dp_hosts.h"
#include "dp_mem.h"
#include "dp_num.h"
#include "dp_signed.h"
#include "dp_stat.h"

#include <math.h>
#include <string.h>

struct comparing {
    const struct dp_diff *diff;
    size_t measure;
    bool incl;
    bool calm;                  /* use values without noise */
    bool is_counter;            /* the measure is a counter that does not repeat exactly, with
                                 * several runs a side */
    uint32_t side;
    size_t n[2];                /* number of runs of the baseline, and of the side, that have a
                                 * value */
    double *x, *y, *scratch;    /* their values; room for as many */
    double *shares;             /* room for a number of each run of both, and for as many more */
    struct dp_diff_counting counting;   /* of samples */
    const struct dp_hosts_prior *prior; /* of hosts; NULL: unknown */
};

/* These stand for entries: the whole run, and all that passes the filters. */
#define TOTAL UINT32_MAX
#define SHOWN (UINT32_MAX - 1)

static bool is_sum(uint32_t e) { return e >= SHOWN; }

/* An entry's value in a run, or that of the whole run if e is TOTAL. Calls are multiplied by the
 * run's factor. Times are without noise if c->calm is set, and those at the usual speed if the runs
 * were adjusted. Totals are as they were read. */
static uint64_t value_of(const struct comparing *c, const struct dp_diff_run *run, uint32_t e)
{
    if (c->measure == DP_RULE_CALLS) {
        uint64_t calls = is_sum(e) ? run->all_calls : e < run->calls_cap ? run->calls[e] : 0;
        return is_sum(e) || run->calls_factor == 1
                   ? calls : dp_num_round((double)calls * run->calls_factor);
    }
    const struct dp_diff_column *column = &run->columns[c->measure];
    if (e == TOTAL)
        return c->measure == 0 ? run->raw_total : column->total;
    if (e == SHOWN)
        return column->shown;
    uint64_t value = e < column->cap ? (c->incl ? column->incl : column->self)[e] : 0;
    if (c->calm)
        value = dp_diff_calm(c->diff, run, e, c->incl, value);
    if (c->measure != 0 || !c->diff->adjusted)
        return value;
    return dp_num_round((double)value / dp_diff_speed(c->diff, run, e, c->incl));
}

static bool is_there(const struct dp_diff_run *run, uint32_t e)
{
    return is_sum(e) || (e < run->there_cap && run->there[e]);
}

/* Returns the middle of a side's values: the median or, if means are compared, the mean; 0 without
 * values. Keeps the order of v..n. */
static double middle_of(const struct comparing *c, const double *v, size_t n)
{
    if (dp_diff_has_units(c->diff->how))
        return dp_hosts_mean(v, n);
    memcpy(c->scratch, v, n * sizeof *v);
    return n ? dp_stat_median(c->scratch, n) : 0;
}

/* Returns the middle as a whole number; for one run, `only`, the run's value, which a double might
 * not hold exactly. */
static uint64_t whole_middle(const struct comparing *c, const double *v, size_t n, uint64_t only)
{
    return n == 1 ? only : dp_num_round(middle_of(c, v, n));
}

/* Removes the runs that have no value (NAN) and, in pairs, their partners. */
static void leave_out(struct comparing *c)
{
    size_t n[2] = { c->n[0], c->n[1] };
    if (c->diff->how->paired)
        for (size_t i = 0; i < n[0]; i++)
            if (isnan(c->x[i]) || isnan(c->y[i]))
                c->x[i] = c->y[i] = NAN;
    for (int side = 0; side < 2; side++) {
        double *v = side ? c->y : c->x;
        c->n[side] = 0;
        for (size_t i = 0; i < n[side]; i++)
            if (!isnan(v[i]))
                v[c->n[side]++] = v[i];
    }
}

/* Loads the values of all runs that have one into c->x and c->y, and their numbers into c->n. Sets
 * *to to the middles of both sides, without a result of a test. */
static void load_values(struct comparing *c, uint32_t e, struct dp_diff_values *to)
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
        bool known = is_sum(e) || c->measure == DP_RULE_CALLS || dp_diff_is_known(run, e);
        value = value_of(c, run, e);
        (which ? c->y : c->x)[n[which]++] = known ? (double)value : NAN;
        last[which] = known ? value : last[which];
        *there = *there || is_there(run, e);
    }
    memcpy(c->n, n, sizeof n);
    leave_out(c);
    to->base = whole_middle(c, c->x, c->n[0], last[0]);
    to->value = whole_middle(c, c->y, c->n[1], last[1]);
    to->p = 1;
    to->low = -INFINITY;
    to->high = to->sight = INFINITY;
}

static bool all_equal(const double *v, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (v[i] != v[0])
            return false;
    return true;
}

/* Decides for a measure that repeats exactly: any difference is certain, unless the runs of one
 * side disagree. Returns false, and decides nothing, for other measures and for such runs. */
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

/* Are all runs equal? */
static bool all_one(const struct comparing *c)
{
    return c->x[0] == c->y[0] && all_equal(c->x, c->n[0]) && all_equal(c->y, c->n[1]);
}

/* The sum of all loaded values. */
static double pooled_sum(const struct comparing *c)
{
    double sum = 0;
    for (size_t i = 0; i < c->n[0]; i++)
        sum += c->x[i];
    for (size_t i = 0; i < c->n[1]; i++)
        sum += c->y[i];
    return sum;
}

/* Makes room for the values of all runs, five times: for the baseline's (c->x), the side's (c->y),
 * a copy that middle_of sorts (c->scratch), and the parts of both that are noise (c->shares).
 * Returns c->x, which holds all of them and which the caller frees; NULL when memory is short. */
static double *make_value_room(struct comparing *c)
{
    size_t n = c->diff->n_runs + 1;
    c->x = dp_mem_realloc(NULL, 5 * n, sizeof *c->x);
    c->y = c->x ? c->x + n : NULL;
    c->scratch = c->x ? c->y + n : NULL;
    c->shares = c->x ? c->scratch + n : NULL;
    return c->x;
}

/* Copies the result of a test into the values of an entry. */
static void copy_result(const struct comparing *c, struct dp_diff_values *v,
                        const struct dp_stat *stat)
{
    v->base_spread = stat->spread[0];
    v->spread = stat->spread[1];
    v->p = stat->p;
    v->low = stat->low;
    v->high = stat->high;
    v->sight = dp_stat_sigma(stat->high - stat->low, c->n[0], c->n[1], c->diff->how->confidence);
}

/* Tests the difference of two groups of hosts, or of processes, with the usual variance of such
 * groups (c->prior), and stores the result in v. */
static void test_hosts(const struct comparing *c, struct dp_diff_values *v)
{
    struct dp_hosts_result result;
    dp_hosts_compare(&result, c->x, c->n[0], c->y, c->n[1], c->diff->how->paired, c->prior,
                     c->diff->how->confidence);
    v->base_spread = result.spread[0];
    v->spread = result.spread[1];
    v->p = result.p;
    v->low = result.low;
    v->high = result.high;
    v->sight = result.error;
}

/* Tests the values in c->x and c->y, and stores p and the interval of the difference in v. Returns
 * 0 or a DP_E. */
static int test_values(const struct comparing *c, struct dp_diff_values *v)
{
    const struct dp_diff_how *how = c->diff->how;
    struct dp_stat stat;
    if (dp_diff_has_units(how)) {
        test_hosts(c, v);
        return 0;
    }
    int rc = dp_stat_compare(&stat, c->x, c->n[0], c->y, c->n[1], how->confidence);
    copy_result(c, v, &stat);
    return rc;
}

/* Are totals tested by the differences of runs that were recorded in turn? Only the number of runs
 * decides that, never a value. HACKING has the measurements ("Pairs of runs"): the total is not
 * divided by the speed of the runs, which the runs of a pair share; subs are divided. */
static bool is_in_pairs(const struct comparing *c)
{
    const struct dp_diff_how *how = c->diff->how;
    double alpha = how->alpha * (how->spending > 0 ? how->spending : 1);
    return how->paired && !dp_diff_has_units(how) && c->measure == 0
           && dp_metric_is_time(how->measures[0].metric) && c->n[0] == c->n[1]
           && dp_signed_decides(c->n[0], alpha);
}

/* Tests the total by pairs. The change is that of pairs, too, because the medians of sides belong
 * to different moments; v->value is the base and that change. Returns 0 or a DP_E. */
static int test_pairs(const struct comparing *c, struct dp_diff_values *v)
{
    struct dp_stat stat;
    double shift;
    int rc = dp_signed_compare(&stat, &shift, c->x, c->y, c->n[0], c->diff->how->confidence);
    copy_result(c, v, &stat);
    v->value = dp_num_round((double)v->base + shift);
    return rc;
}

/* Tests a counter of the kernel or of memory. The counts of runs vary either little, or like
 * numbers of events. Ranks detect changes of the former, given enough runs. The latter have a test
 * of their own, for which a few runs are enough (dp_counts.h). Each test has half of alpha. Returns
 * 0 or a DP_E. */
static int test_counter(const struct comparing *c, struct dp_diff_values *v)
{
    struct dp_counted *room = dp_mem_realloc(NULL, c->n[0] + c->n[1], sizeof *room);
    struct dp_counts counts;
    if (!room)
        return DP_E_NOMEM;
    for (size_t i = 0; i < c->n[0] + c->n[1]; i++)
        room[i] = (struct dp_counted){ i < c->n[0] ? c->x[i] : c->y[i - c->n[0]], 1 };
    dp_counts_compare(&counts, room, c->n[0], room + c->n[0], c->n[1], DP_COUNTS_RATE,
                      c->diff->how->confidence);
    dp_mem_free(room);
    int rc = test_values(c, v);
    if (counts.p < v->p) {
        v->p = counts.p;
        v->low = v->base ? (double)v->base * (counts.low - 1) : -INFINITY;
        v->high = v->base ? (double)v->base * (counts.high - 1) : INFINITY;
    }
    v->p = 2 * v->p < 1 ? 2 * v->p : 1;
    return rc;
}

/* ---- with noise, and without ---- */

/* Noise of more than this part of an entry's time in most runs is no disturbance: the entry has
 * long stretches by nature. */
static const double most_noise = 0.25;
/* Parts of noise that chance makes differ less often, between sides, are work of one side. */
static const double work_chance = 0.01;

/* What the stretches that look like noise are to an entry. */
enum stretches {
    STRETCHES_NOISE,            /* disturbances, alike on both sides */
    STRETCHES_OF_SIDE,          /* one side has more of them than the other by more than chance */
    STRETCHES_WORK              /* much of the entry's work, on one side or on both */
};

/* Is each of a..n less than each of b..m? */
static bool is_below(const double *a, size_t n, const double *b, size_t m)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            if (a[i] >= b[j])
                return false;
    return true;
}

/* Decides what the stretches are, by their parts of the time of each run, c->shares. STRETCHES_WORK
 * does not depend on the sides of the runs, only on their numbers, so that a test may follow
 * without a correction. Returns an enum stretches or a DP_E. */
static int judge_stretches(const struct comparing *c)
{
    const double *x = c->shares, *y = x + c->n[0];
    size_t high = 0, fewer = c->n[0] < c->n[1] ? c->n[0] : c->n[1];
    struct dp_stat stat;
    for (size_t i = 0; i < c->n[0] + c->n[1]; i++)
        high += x[i] > most_noise;
    if (high && 2 * high >= fewer)
        return STRETCHES_WORK;
    if (!dp_stat_decides(c->n[0], c->n[1], 1, work_chance))
        return is_below(x, c->n[0], y, c->n[1]) || is_below(y, c->n[1], x, c->n[0])
               ? STRETCHES_OF_SIDE : STRETCHES_NOISE;
    int rc = dp_stat_compare(&stat, x, c->n[0], y, c->n[1], c->diff->how->confidence);
    return rc < 0 ? rc : stat.p <= work_chance ? STRETCHES_OF_SIDE : STRETCHES_NOISE;
}

/* Loads the values without noise in the place of those with noise, and sets c->shares to the part
 * of each run that was noise, those of the baseline first. Then multiplies all values by the same
 * number, so that they have the usual noise of these runs again: a run is compared by what it
 * differs from others, and values stay those that a run without disturbances has. Sets *to to the
 * middles. */
static void load_calm(struct comparing *c, uint32_t e, struct dp_diff_values *to)
{
    size_t n = c->n[0], all = n + c->n[1];
    double *shares = c->shares, *sorted = shares + all;
    memcpy(shares, c->x, n * sizeof *shares);
    memcpy(shares + n, c->y, (all - n) * sizeof *shares);
    c->calm = true;
    load_values(c, e, to);
    for (size_t i = 0; i < all; i++) {
        double calm = i < n ? c->x[i] : c->y[i - n];
        shares[i] = shares[i] > 0 ? 1 - calm / shares[i] : 0;
    }
    memcpy(sorted, shares, all * sizeof *shares);
    double usual = dp_stat_median(sorted, all);
    if (usual <= 0 || usual >= 1)
        return;
    for (size_t i = 0; i < all; i++)
        *(i < n ? &c->x[i] : &c->y[i - n]) /= 1 - usual;
    to->base = dp_num_round(middle_of(c, c->x, c->n[0]));
    to->value = dp_num_round(middle_of(c, c->y, c->n[1]));
}

static int direction_of(const struct dp_diff_values *v)
{
    return (v->value > v->base) - (v->value < v->base);
}

/* Tests the values with noise and those without, and keeps the result with the smaller p. A change
 * in rare long stretches looks like noise, so the values without noise show less of it. The
 * probability that one of the two tests has so small a p is at most the sum of their shares of
 * alpha. The values without noise get the greater share.
 *
 * An op may rightly take long: a sort, an XS call that runs perl code, a regex. If the noise of the
 * sides differs by more than chance, values without it would hide work. Then the values with noise
 * are kept, and the smaller p if it says nothing else about them. If the noise is much of the time,
 * only the values with noise are tested, with all of alpha. Returns 0 or a DP_E. */
static int test_both(const struct comparing *c, uint32_t e, struct dp_diff_values *v)
{
    static const double share = DP_DIFF_CALM_SHARE;
    struct comparing calm = *c;
    struct dp_diff_values other;
    int rc = test_values(c, v);
    load_calm(&calm, e, &other);
    int stretches = rc < 0 ? rc : judge_stretches(&calm);
    if (stretches < 0 || stretches == STRETCHES_WORK)
        return stretches < 0 ? stretches : 0;
    rc = test_values(&calm, &other);
    v->p /= 1 - share;
    other.p /= share;
    other.verdict = v->verdict;
    if (stretches == STRETCHES_OF_SIDE) {
        bool agree = direction_of(v) == direction_of(&other) && (v->low > 0 || v->high < 0);
        v->p = agree && other.p < v->p ? other.p : v->p;
    } else if (other.p <= v->p) {
        *v = other;
    }
    v->p = v->p < 1 ? v->p : 1;
    return rc;
}

/* Tests the loaded values by the test for samples, counters, pairs or times, and widens the
 * interval so that it contains the shown change. Returns 0 or a DP_E. */
static int test_as(const struct comparing *c, uint32_t e, bool counted, struct dp_diff_values *v)
{
    int rc = counted ? dp_diff_count(&c->counting, e, c->x, c->y, v)
             : c->is_counter ? test_counter(c, v)
             : is_sum(e) && is_in_pairs(c) ? test_pairs(c, v)
             : !is_sum(e) && c->measure == 0 && c->diff->how->noise ? test_both(c, e, v)
             : test_values(c, v);
    /* The shown change may be one of medians, while the interval is one of all pairs of runs, or of
     * sums. If runs are uneven, the interval might exclude the change. */
    double change = (double)v->value - (double)v->base;
    v->low = v->low < change ? v->low : change;
    v->high = v->high > change ? v->high : change;
    return rc;
}

/* Loads and compares two values before any correction. A value with a test stays UNSURE, because
 * the correction decides about it. Returns 0 or a DP_E. */
static int judge_entry(struct comparing *c, uint32_t e, double floor, struct dp_diff_values *v)
{
    load_values(c, e, v);
    if (!c->n[0] || !c->n[1]) {
        v->verdict = DP_DIFF_SMALL;
        return 0;
    }
    if (decided_exactly(c, v))
        return 0;
    bool counted = !is_sum(e) && c->counting.shares;
    if (!counted && c->n[0] < 2 && c->n[1] < 2 && !dp_diff_has_units(c->diff->how)) {
        v->verdict = v->value == v->base ? DP_DIFF_EQUAL : DP_DIFF_SINGLE;
        return 0;
    }
    if (all_one(c))
        return 0;
    if (is_sum(e) || pooled_sum(c) >= floor) {
        v->verdict = DP_DIFF_UNSURE;
        return test_as(c, e, counted, v);
    }
    v->verdict = DP_DIFF_SMALL;
    v->base_spread = dp_stat_spread(c->x, c->n[0], (double)v->base);
    v->spread = dp_stat_spread(c->y, c->n[1], (double)v->value);
    return 0;
}

/* Estimates how much the values of hosts vary, from the subs that will be tested, and sets
 * c->prior. Does nothing for other runs, and for inclusive values, which are parts of one another:
 * only a sub's self value says something about another sub's. Returns 0 or DP_E_NOMEM. */
static int learn_variances(struct comparing *c, double floor, struct dp_hosts_prior *prior)
{
    size_t n = dp_diff_entries(c->diff), count = 0;
    struct dp_diff_values values;
    if (!dp_diff_has_units(c->diff->how) || c->incl)
        return 0;
    struct dp_hosts_variance *v = dp_mem_realloc(NULL, n + 1, sizeof *v);
    if (!v)
        return DP_E_NOMEM;
    for (uint32_t e = 0; e < n; e++) {
        load_values(c, e, &values);
        if (values.base && values.value && pooled_sum(c) >= floor)
            v[count++] = dp_hosts_variance(c->x, c->n[0], c->y, c->n[1], c->diff->how->paired);
    }
    dp_hosts_fit(prior, v, count);
    c->prior = prior;
    dp_mem_free(v);
    return 0;
}

/* The middle of the totals (100 %) of a side's runs. Overwrites c->x. */
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
    return middle_of(c, v, n);
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
    const struct dp_diff_measure *m = measure == DP_RULE_CALLS ? NULL
                                                               : &diff->how->measures[measure];
    c.is_counter = family->by_counts = m && m->metric == DP_M_COUNTER && !m->exact
                                       && !family->counted && c.n[0] > 1 && c.n[1] > 1
                                       && !dp_diff_has_units(diff->how);
    family->in_pairs = is_in_pairs(&c);
    int rc = make_value_room(&c) && family->values ? 0 : DP_E_NOMEM;
    if (rc == 0 && family->counted)
        rc = dp_diff_counting_init(&c.counting, diff, measure, incl, side);
    if (rc == 0)
        rc = judge_entry(&c, SHOWN, 0, &family->shown);
    if (rc == 0)
        rc = judge_entry(&c, TOTAL, 0, &family->total);
    /* the total is still loaded */
    double floor = rc == 0 ? pooled_sum(&c) * diff->how->floor / 100 : 0;
    if (rc == 0)
        rc = learn_variances(&c, floor, &family->prior);
    for (uint32_t e = 0; e < n && rc == 0; e++) {
        rc = judge_entry(&c, e, floor, &family->values[e]);
        family->tests += family->values[e].verdict == DP_DIFF_UNSURE;
    }
    if (rc == 0)
        rc = dp_diff_correct(family, diff, measure, incl, side);
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

double dp_diff_reach(size_t n, size_t m, double alpha) { return dp_stat_seen(n, m, alpha); }

bool dp_diff_exactly(const struct dp_diff *diff, size_t measure, bool incl, uint32_t side,
                     uint32_t e, double *room, struct dp_diff_values *values)
{
    size_t n = diff->n_runs + 1;
    struct comparing c = {
        .diff = diff, .measure = measure, .incl = incl, .side = side,
        .n = { diff->sides[0].n_runs, diff->sides[side].n_runs },
        .x = room, .y = room + n, .scratch = room + 2 * n
    };
    load_values(&c, e, values);
    return decided_exactly(&c, values);
}
