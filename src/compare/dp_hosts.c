#include "dp_hosts.h"
#include "dp_counts.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_stat.h"

#include <math.h>
#include <string.h>

static size_t freedom_of(size_t n, size_t m, bool paired) { return paired ? n - 1 : n + m - 2; }

bool dp_hosts_decide(size_t n, size_t m) { return n > 1 && m > 1; }

double dp_hosts_mean(const double *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    return n ? sum / (double)n : 0;
}

/* The sum of squares around the mean of v or, if y is not NULL, of y - v. */
static double squares_of(const double *v, const double *y, size_t n)
{
    double mean = dp_hosts_mean(v, n), sum = 0;
    mean = y ? dp_hosts_mean(y, n) - mean : mean;
    for (size_t i = 0; i < n; i++) {
        double off = (y ? y[i] - v[i] : v[i]) - mean;
        sum += off * off;
    }
    return sum;
}

/* The square of the mean of all values. */
static double level_of(const double *x, size_t n, const double *y, size_t m)
{
    double mean = (dp_hosts_mean(x, n) * (double)n + dp_hosts_mean(y, m) * (double)m)
                  / (double)(n + m);
    return mean * mean;
}

struct dp_hosts_variance dp_hosts_variance(const double *x, size_t n, const double *y, size_t m,
                                           bool paired)
{
    struct dp_hosts_variance v = { 0, 0 };
    double level = level_of(x, n, y, m);
    if (!dp_hosts_decide(n, m) || level <= 0)
        return v;
    double squares = paired ? squares_of(x, y, n)
                            : squares_of(x, NULL, n) + squares_of(y, NULL, m);
    v.freedom = freedom_of(n, m, paired);
    v.relative = squares / (double)v.freedom / level;
    return v;
}

/* ---- the usual variance ---- */

/* The first derivative of the logarithm of the gamma function; trigamma is the second. The
 * recurrence moves x to 6 or more, where the asymptotic series is exact enough (Abramowitz and
 * Stegun, 6.3.18 and 6.4.12). */
static double digamma(double x)
{
    double sum = 0;
    for (; x < 6; x++)
        sum -= 1 / x;
    double z = 1 / (x * x);
    return sum + log(x) - 0.5 / x - z * (1.0 / 12 - z * (1.0 / 120 - z / 252));
}

/* Returns the trigamma function of x, in the same way as digamma. */
static double trigamma(double x)
{
    double sum = 0;
    for (; x < 6; x++)
        sum += 1 / (x * x);
    double z = 1 / (x * x);
    return sum + 1 / x + z / 2 + z / x * (1.0 / 6 - z * (1.0 / 30 - z / 42));
}

/* The x whose trigamma is y, by bisection of logarithms. dp_hosts_fit estimates the degrees of
 * freedom by it. */
static double trigamma_inverse(double y)
{
    double low = 1e-6, high = 1e6;          /* trigamma decreases */
    for (int i = 0; i < 100; i++) {
        double x = sqrt(low * high);
        if (trigamma(x) > y)
            low = x;
        else
            high = x;
    }
    return sqrt(low * high);
}

enum { FEW = 8 };               /* fewer variances are too few for an estimate */

void dp_hosts_fit(struct dp_hosts_prior *prior, const struct dp_hosts_variance *v, size_t n)
{
    double sum = 0, squares = 0, chance = 0;
    size_t k = 0;
    memset(prior, 0, sizeof *prior);
    for (size_t i = 0; i < n; i++) {
        if (!v[i].freedom || v[i].relative <= 0)
            continue;
        double half = (double)v[i].freedom / 2;
        double e = log(v[i].relative) - digamma(half) + log(half);
        sum += e;
        squares += e * e;
        chance += trigamma(half);
        prior->all += v[i].freedom;
        k++;
    }
    if (k < FEW)
        return;
    double mean = sum / (double)k;
    double spread = (squares - sum * mean) / (double)(k - 1) - chance / (double)k;
    if (spread <= 0) {
        prior->freedom = INFINITY;
        prior->relative = exp(mean);
        return;
    }
    double half = trigamma_inverse(spread);
    prior->freedom = 2 * half;
    prior->relative = exp(mean + digamma(half) - log(half));
}

/* Is the variance so much greater than the usual one that chance exceeds it less than once in
 * twenty? (The quantile of chi-square after Wilson and Hilferty, 1931.) */
static bool is_unusual(const struct dp_hosts_variance *v, const struct dp_hosts_prior *prior)
{
    double part = 2 / (9 * (double)v->freedom), root = 1 - part + 1.6448536 * sqrt(part);
    return v->relative > prior->relative * root * root * root;
}

/* Returns the average of a variance and the usual one, or the variance itself if the usual one is
 * unknown or far smaller. */
static struct dp_hosts_variance moderate_variance(struct dp_hosts_variance v,
                                                  const struct dp_hosts_prior *prior)
{
    if (!prior || prior->freedom <= 0 || is_unusual(&v, prior))
        return v;
    if (isinf(prior->freedom)) {
        v.relative = prior->relative;
    } else {
        double own = (double)v.freedom;
        v.relative = (prior->freedom * prior->relative + own * v.relative)
                     / (prior->freedom + own);
    }
    double freedom = (double)v.freedom + prior->freedom;
    v.freedom = freedom < (double)prior->all ? (size_t)freedom : prior->all;
    return v;
}

/* ---- the test ---- */

/* The factor from the variance of one value to that of a difference of means. */
static double sides_of(size_t n, size_t m, bool paired)
{
    return paired ? 1 / (double)n : 1 / (double)n + 1 / (double)m;
}

void dp_hosts_compare(struct dp_hosts_result *out, const double *x, size_t n, const double *y,
                      size_t m, bool paired, const struct dp_hosts_prior *prior, double confidence)
{
    *out = (struct dp_hosts_result){
        .mean = { dp_hosts_mean(x, n), dp_hosts_mean(y, m) },
        .p = 1, .low = -INFINITY, .high = INFINITY, .error = INFINITY
    };
    out->spread[0] = n > 1 ? sqrt(squares_of(x, NULL, n) / (double)(n - 1)) : 0;
    out->spread[1] = m > 1 ? sqrt(squares_of(y, NULL, m) / (double)(m - 1)) : 0;
    if (!dp_hosts_decide(n, m))
        return;
    struct dp_hosts_variance v = moderate_variance(dp_hosts_variance(x, n, y, m, paired), prior);
    double change = out->mean[1] - out->mean[0];
    double error = sqrt(v.relative * level_of(x, n, y, m) * sides_of(n, m, paired));
    double off = error > 0 ? error * dp_counts_t_quantile(1 - confidence, v.freedom) : 0;
    out->p = error > 0 ? dp_counts_t_tails(fabs(change) / error, v.freedom) : change == 0;
    out->error = error;
    out->low = change - off;
    out->high = change + off;
}

/* The degrees of freedom of an average sub's variance. */
static size_t all_freedom(size_t n, size_t m, bool paired, const struct dp_hosts_prior *prior)
{
    struct dp_hosts_variance v = { 0, freedom_of(n, m, paired) };
    return moderate_variance(v, prior).freedom;
}

double dp_hosts_reach(size_t n, size_t m, bool paired, const struct dp_hosts_prior *prior,
                      double alpha)
{
    return dp_counts_reach(all_freedom(n, m, paired, prior), alpha);
}

size_t dp_hosts_needed(double errors, size_t n, size_t m, bool paired,
                       const struct dp_hosts_prior *prior, double alpha, size_t most)
{
    double sigmas = errors * sqrt(sides_of(n, m, paired));      /* of a host */
    size_t low = 1, high = most;
    if (sigmas / sqrt(sides_of(most, most, paired))
        < dp_hosts_reach(most, most, paired, prior, alpha))
        return 0;
    while (high - low > 1) {
        size_t k = low + (high - low) / 2;
        if (sigmas / sqrt(sides_of(k, k, paired)) >= dp_hosts_reach(k, k, paired, prior, alpha))
            high = k;
        else
            low = k;
    }
    return high;
}
