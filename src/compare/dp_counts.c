#include "dp_counts.h"

#include <math.h>

/* Above these counts the normal distribution is as accurate, and does not take seconds. */
static const double many = 1e9, many_for_bounds = 1e5;

/* ---- exact tails ---- */

/* The distribution of the count of side y when both sides together have `both`. */
struct given {
    enum dp_counts_kind kind;
    double both;
    double of[2];               /* exposure of x, of y */
};

/* The least and the greatest count that side y can have. */
static double least_of(const struct given *g)
{
    double rest = g->both - g->of[0];
    return g->kind == DP_COUNTS_SHARE && rest > 0 ? rest : 0;
}

static double most_of(const struct given *g)
{
    return g->kind == DP_COUNTS_SHARE && g->of[1] < g->both ? g->of[1] : g->both;
}

/* Returns the ratio of the probabilities of two neighbouring counts, P(k + 1) / P(k). */
static double next_ratio(const struct given *g, double k)
{
    double rest = g->both - k;
    if (g->kind == DP_COUNTS_RATE)
        return rest / (k + 1) * (g->of[1] / g->of[0]);
    return rest / (k + 1) * ((g->of[1] - k) / (g->of[0] - rest + 1));
}

/* Returns roughly the most likely count. */
static double likely_count(const struct given *g)
{
    double one = g->kind == DP_COUNTS_SHARE;
    double k = floor((g->both + 1) * (g->of[1] + one) / (g->of[0] + g->of[1] + 2 * one));
    double least = least_of(g), most = most_of(g);
    return k < least ? least : k > most ? most : k;
}

static const double nothing = 1e-300;

/* Sets *below to the probability of k or less, and *above to that of k or more. Both are sums of
 * products of steps from the most likely count, so logarithms lose no digits and nothing overflows.
 * Terms beyond some 37 standard deviations are 0. */
static void count_tails(const struct given *g, double k, double *below, double *above)
{
    double middle = likely_count(g), least = least_of(g), most = most_of(g), all = 0, weight = 1;
    *below = *above = 0;
    for (double i = middle; i <= most && weight > nothing; weight *= next_ratio(g, i), i++) {
        all += weight;
        *below += i <= k ? weight : 0;
        *above += i >= k ? weight : 0;
    }
    weight = 1;
    for (double i = middle; i > least && (weight /= next_ratio(g, i - 1)) > nothing; i--) {
        all += weight;
        *below += i - 1 <= k ? weight : 0;
        *above += i - 1 >= k ? weight : 0;
    }
    *below /= all;
    *above /= all;
}

/* Returns the two-sided p if side y has the count k: twice the smaller one of the exact tails. */
static double exact_p(const struct given *g, double k)
{
    double below, above;
    count_tails(g, k, &below, &above);
    double p = 2 * (below < above ? below : above);
    return p < 1 ? p : 1;
}

/* A bound of the ratio of rates, y's by x's: the ratio at which a count of y has just this
 * probability to be k or less, if high is set, and otherwise to be k or more. */
static double ratio_bound(struct given g, double k, bool high, double chance)
{
    double low = -60, top = 60, from = g.of[0] / g.of[1];
    for (int i = 0; i < 60; i++) {
        double middle = (low + top) / 2, below, above;
        g.of[0] = 1;
        g.of[1] = exp(middle);
        count_tails(&g, k, &below, &above);
        if (high ? below > chance : above < chance)
            low = middle;
        else
            top = middle;
    }
    return exp(low) * from;
}

/* ---- Student's t ---- */

double dp_counts_t_tails(double t, size_t freedom)
{
    static const double half_pi = 1.57079632679489661923;
    if (!freedom)
        return erfc(t / sqrt(2));
    double angle = atan(t / sqrt((double)freedom)), c = cos(angle), s = sin(angle);
    bool odd = freedom % 2;
    double sum = 0, term = odd ? c : 1;
    for (size_t i = odd ? 1 : 0; i + 2 <= freedom; i += 2) {
        sum += term;
        term *= c * c * (double)(i + 1) / (double)(i + 2);
    }
    double p = 1 - (odd ? (angle + s * sum) / half_pi : s * sum);
    return p > 0 ? p : 0;
}

double dp_counts_t_quantile(double chance, size_t freedom)
{
    double low = 0, high = 1;
    while (high < 1e12 && dp_counts_t_tails(high, freedom) > chance)
        high *= 2;
    for (int i = 0; i < 100; i++) {
        double t = (low + high) / 2;
        if (dp_counts_t_tails(t, freedom) > chance)
            low = t;
        else
            high = t;
    }
    return high;
}

/* ---- sides of runs ---- */

struct dp_counted dp_counts_sum(const struct dp_counted *v, size_t n)
{
    struct dp_counted sum = { 0, 0 };
    for (size_t i = 0; i < n; i++) {
        sum.count += v[i].count;
        sum.of += v[i].of;
    }
    return sum;
}

/* Returns Pearson's chi-square of the runs of a side around the side's own rate, before it is
 * divided by the variance of a count. */
static double run_scatter(const struct dp_counted *v, size_t n, struct dp_counted sum)
{
    double all = 0, rate = sum.count / sum.of;
    for (size_t i = 0; i < n; i++) {
        double off = v[i].count - v[i].of * rate;
        all += v[i].of > 0 ? off * off / v[i].of : 0;
    }
    return all;
}

/* Sets the confidence interval of the ratio of two rates, which is symmetric on a logarithmic
 * scale. t: half its width, in standard errors. */
static void log_interval(struct dp_counts *out, const struct dp_counted sum[2], double t)
{
    double off = t * sqrt(out->spread * (1 / sum[0].count + 1 / sum[1].count));
    double ratio = sum[1].count / sum[1].of / (sum[0].count / sum[0].of);
    out->low = ratio * exp(-off);
    out->high = ratio * exp(off);
}

/* Sets out->low and out->high to the bounds of the ratios that neither test rejects: the exact one
 * and, with several runs, Student's. p is the greater one of both tests. */
static void ratio_interval(struct dp_counts *out, const struct dp_counted sum[2], size_t freedom,
                           double confidence)
{
    struct given g = { DP_COUNTS_RATE, sum[0].count + sum[1].count, { sum[0].of, sum[1].of } };
    out->low = 0;
    out->high = INFINITY;
    double least = sum[0].count < sum[1].count ? sum[0].count : sum[1].count;
    double chance = (1 - confidence) / 2;
    bool approximate = freedom ? least > 0 : least > many_for_bounds;
    if (approximate)
        log_interval(out, sum, dp_counts_t_quantile(1 - confidence, freedom));
    if (least > many_for_bounds || g.both > many)   /* one side has none of so many counts: any
                                                     * ratio is far from 1 */
        return;
    double low = sum[1].count > 0 ? ratio_bound(g, sum[1].count, false, chance) : 0;
    double high = sum[0].count > 0 ? ratio_bound(g, sum[1].count, true, chance) : INFINITY;
    out->low = !approximate || low < out->low ? low : out->low;
    out->high = !approximate || high > out->high ? high : out->high;
}

/* The variance of a count per unit of exposure, if both sides have the same rate. */
static double variance_of(const struct given *g)
{
    double rate = g->both / (g->of[0] + g->of[1]);
    return g->kind == DP_COUNTS_SHARE ? rate * (1 - rate) : rate;
}

/* The p of Student's t for sides whose runs vary `spread` times as much as counts do by chance. */
static double p_of_runs(const struct dp_counted sum[2], double variance, double spread,
                        size_t freedom)
{
    double score = fabs(sum[1].count / sum[1].of - sum[0].count / sum[0].of)
                   / sqrt(variance * (1 / sum[0].of + 1 / sum[1].of));
    if (spread > 0)
        return dp_counts_t_tails(score / sqrt(spread), freedom);
    return score > 0 ? 0 : 1;
}

void dp_counts_compare(struct dp_counts *out, const struct dp_counted *x, size_t n,
                       const struct dp_counted *y, size_t m, enum dp_counts_kind kind,
                       double confidence)
{
    struct dp_counted sum[2] = { dp_counts_sum(x, n), dp_counts_sum(y, m) };
    struct given g = { kind, sum[0].count + sum[1].count, { sum[0].of, sum[1].of } };
    size_t freedom = n + m > 2 ? n + m - 2 : 0;
    *out = (struct dp_counts){ .p = 1, .high = INFINITY, .spread = 1 };
    if (!(g.of[0] > 0) || !(g.of[1] > 0) || g.both <= 0)
        return;
    double variance = variance_of(&g);
    out->p = g.both > many && variance > 0 ? p_of_runs(sum, variance, 1, 0)
                                           : exact_p(&g, sum[1].count);
    if (freedom && variance > 0) {
        double all = run_scatter(x, n, sum[0]) + run_scatter(y, m, sum[1]);
        double spread = all / variance / (double)freedom;
        double p = p_of_runs(sum, variance, spread, freedom);
        out->spread = spread > 1 ? spread : 1;
        out->p = p > out->p ? p : out->p;
    }
    ratio_interval(out, sum, freedom, confidence);
}

/* ---- the power of a test ---- */

double dp_counts_reach(size_t freedom, double alpha)
{
    static const double four_of_five = 0.84162123357291;
    return dp_counts_t_quantile(alpha, freedom) + four_of_five;
}

double dp_counts_sight(double count, double ratio, double spread)
{
    return count > 0 && ratio > 0 ? sqrt(spread * (1 + ratio) / (ratio * count)) / 2 : INFINITY;
}
