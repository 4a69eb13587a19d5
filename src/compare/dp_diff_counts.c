/* Tests samples of an entry on two sides. An entry has changed if two tests find a change in the
 * same direction:
 *
 * The first test compares the entry's share of all samples. A share does not depend on the speed of
 * a run, nor on the sampling rate. But a share shrinks, too, if another entry grows.
 *
 * The second test compares the entry's time: the number of its samples multiplied by what one of
 * them stands for. That is the usual value of a sample in the run, multiplied by the entry's own
 * mean in the side relative to the usual one. So a side with ten times as many samples a second has
 * the same time, and a sample of a sub that waits stands for little CPU time on both sides.
 *
 * p is the greater one of both tests. If each test finds a false change as rarely as it claims, so
 * do both together (R. L. Berger: Multiparameter hypothesis testing and acceptance sampling,
 * Technometrics 24, 1982: intersection-union tests). */
#include "dp_diff_counts.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_stat.h"

#include <math.h>
#include <string.h>

int dp_diff_counting_init(struct dp_diff_counting *c, const struct dp_diff *diff, size_t measure,
                          bool incl, uint32_t side)
{
    *c = (struct dp_diff_counting){ .diff = diff, .measure = measure, .incl = incl, .side = side };
    c->n[0] = diff->sides[0].n_runs;
    c->n[1] = diff->sides[side].n_runs;
    c->shares = dp_mem_realloc(NULL, c->n[0] + c->n[1], 2 * sizeof *c->shares);
    c->rates = c->shares ? c->shares + c->n[0] + c->n[1] : NULL;
    return c->shares ? 0 : DP_E_NOMEM;
}

void dp_diff_counting_release(struct dp_diff_counting *c)
{
    dp_mem_free(c->shares);
    memset(c, 0, sizeof *c);
}

/* The number of samples of a run for each unit of the measure. A slow run has more of them for the
 * same work. */
static double usual_rate(const struct dp_diff_counting *c, const struct dp_diff_run *run)
{
    double total = (double)run->columns[c->measure].total;
    double samples = (double)run->columns[c->diff->how->counts].total;
    double rate = total > 0 && samples > 0 ? samples / total : 1;
    return c->measure == 0 && c->diff->adjusted ? rate * run->speed : rate;
}

/* Loads an entry's counts in the runs of a side. v: the entry's value in each run of the side. A
 * rate's exposure is the number of samples that the run usually takes for one unit of the measure,
 * corrected by what this entry's own samples stand for. */
static void load_counts(const struct dp_diff_counting *c, uint32_t e, uint32_t side,
                        const double *v, struct dp_counted *shares, struct dp_counted *rates)
{
    double worth = 0, samples = 0;
    size_t n = 0;
    for (size_t r = 0; r < c->diff->n_runs; r++) {
        const struct dp_diff_run *run = &c->diff->runs[r];
        const struct dp_diff_column *column = &run->columns[c->diff->how->counts];
        if (run->side != side)
            continue;
        shares[n].count = e < column->cap ? (double)(c->incl ? column->incl : column->self)[e] : 0;
        shares[n].of = (double)column->total;
        /* samples that stand for nothing do not belong to this measure */
        rates[n].count = v[n] > 0 ? shares[n].count : 0;
        rates[n].of = usual_rate(c, run);
        worth += rates[n].count > 0 ? v[n] * rates[n].of : 0;
        samples += rates[n].count;
        n++;
    }
    /* this entry's samples stand for more or less than the usual ones: `worth` is the usual number
     * of samples for the entry's values */
    for (size_t i = 0; i < n && samples > 0; i++)
        rates[i].of *= samples / worth;
}

/* Returns the direction of a change: 1: the rate of y is greater; -1: that of x; 0: they are
 * equal. */
static int direction_of(struct dp_counted x, struct dp_counted y)
{
    double before = x.count * y.of, after = y.count * x.of;
    return after > before ? 1 : after < before ? -1 : 0;
}

int dp_diff_count(const struct dp_diff_counting *c, uint32_t e, double *x, double *y,
                  struct dp_diff_values *v)
{
    size_t n = c->n[0], m = c->n[1];
    double confidence = c->diff->how->confidence;
    struct dp_counts share, rate;
    load_counts(c, e, 0, x, c->shares, c->rates);
    load_counts(c, e, c->side, y, c->shares + n, c->rates + n);
    dp_counts_compare(&share, c->shares, n, c->shares + n, m, DP_COUNTS_SHARE, confidence);
    dp_counts_compare(&rate, c->rates, n, c->rates + n, m, DP_COUNTS_RATE, confidence);
    struct dp_counted shares[2] = { dp_counts_sum(c->shares, n), dp_counts_sum(c->shares + n, m) };
    struct dp_counted rates[2] = { dp_counts_sum(c->rates, n), dp_counts_sum(c->rates + n, m) };
    v->p = direction_of(shares[0], shares[1]) != direction_of(rates[0], rates[1]) ? 1
           : share.p > rate.p ? share.p
           : rate.p;
    if (v->base) {
        v->low = (double)v->base * (rate.low - 1);
        v->high = (double)v->base * (rate.high - 1);
    }
    double others = shares[0].of > 0 ? 1 - shares[0].count / shares[0].of : 0;
    v->sight = dp_counts_sight(rates[0].count * others, rates[1].of / rates[0].of,
                               share.spread > rate.spread ? share.spread : rate.spread);
    v->base_spread = dp_stat_spread(x, n, (double)v->base);
    v->spread = dp_stat_spread(y, m, (double)v->value);
    return 0;
}
