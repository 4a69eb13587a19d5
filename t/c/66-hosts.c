/* dp_hosts: Student's t of hosts, in pairs and not; what so many hosts can find. */
#include "dp_hosts.h"
#include "tap.h"

#include <math.h>

#include "random.h"

static bool near(double a, double b) { return fabs(a - b) <= 1e-4 * (1 + fabs(b)); }

static void known(void)
{
    /* R: t.test(extra ~ group, data = sleep, var.equal = TRUE): t = -1.8608, df = 18, p = 0.07919,
     * interval -3.363874 to 0.203874; paired = TRUE: t = -4.0621, df = 9, p = 0.002833, interval
     * -2.4598858 to -0.7001142; of x - y. */
    const double x[] = { 0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0 },
                 y[] = { 1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4 };
    struct dp_hosts_result s;
    dp_hosts_compare(&s, x, 10, y, 10, false, NULL, 0.95);
    ok(near(s.p, 0.07919), "p: %.5f", s.p);
    ok(near(s.low, -0.203874) && near(s.high, 3.363874), "interval: %.4f to %.4f", s.low, s.high);
    ok(near(s.mean[0], 0.75) && near(s.mean[1], 2.33), "means");
    dp_hosts_compare(&s, x, 10, y, 10, true, NULL, 0.95);
    ok(near(s.p, 0.002833), "pairs, p: %.6f", s.p);
    ok(near(s.low, 0.7001142) && near(s.high, 2.4598858), "interval: %.4f to %.4f", s.low, s.high);
    ok(near(s.error, 1.58 / 4.0621), "the standard error: %.4f", s.error);
    dp_hosts_compare(&s, x, 10, y, 1, false, NULL, 0.95);
    ok(s.p == 1 && isinf(s.low) && isinf(s.high), "one host tells nothing");
    ok(!dp_hosts_decide(10, 1) && !dp_hosts_decide(1, 1) && dp_hosts_decide(10, 2), "two can");
    const double same[] = { 3, 3, 3 }, other[] = { 4, 4, 4 };
    dp_hosts_compare(&s, same, 3, same, 3, false, NULL, 0.95);
    ok(s.p == 1 && s.low == 0 && s.high == 0, "all the same");
    dp_hosts_compare(&s, same, 3, other, 3, false, NULL, 0.95);
    ok(s.p == 0 && s.low == 1 && s.high == 1, "two values");
}

static double normal(void)
{
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += (double)rnd(1u << 20) / (1u << 20);
    return sum - 6;
}

/* How often, of 2,000 times, a shift is found. */
static int times_found(size_t n, size_t m, bool paired, double shift, double alpha)
{
    int found = 0;
    for (int t = 0; t < 2000; t++) {
        double x[40], y[40];
        struct dp_hosts_result s;
        for (size_t i = 0; i < n; i++)
            x[i] = normal();
        for (size_t i = 0; i < m; i++)
            y[i] = normal() + shift + (paired ? 5 * x[i] : 0);
        for (size_t i = 0; paired && i < n; i++)
            x[i] *= 5;
        dp_hosts_compare(&s, x, n, y, m, paired, NULL, 0.95);
        found += s.p <= alpha;
    }
    return found;
}

static void chance(void)
{
    static const struct { size_t n, m; bool paired; } of[] = {
        { 10, 2, false }, { 2, 2, false }, { 10, 10, false }, { 8, 8, true }, { 20, 25, false }
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        size_t n = of[i].n, m = of[i].m;
        bool paired = of[i].paired;
        int alarms = times_found(n, m, paired, 0, 0.05);
        ok(alarms > 60 && alarms < 135, "%zu and %zu hosts%s: p up to 0.05 by chance in %.1f %%", n,
           m, paired ? ", pairs" : "", alarms / 20.0);
        double errors = dp_hosts_reach(n, m, paired, NULL, 0.01);
        double shift = errors * sqrt(paired ? 1.0 / (double)n : 1.0 / (double)n + 1.0 / (double)m);
        int found = times_found(n, m, paired, shift, 0.01);
        ok(n + m < 5 || (found > 1450 && found < 1800),
           "... and what they can find, four times of five, in %.1f %%", found / 20.0);
        size_t needed = dp_hosts_needed(errors, n, m, paired, NULL, 0.01, 10000);
        ok(n != m || needed == n, "... for which so many are needed: %zu", needed);
    }
    is_i((long)dp_hosts_needed(1e-6, 10, 10, false, NULL, 0.01, 10000), 0, "or too many");
}

/* Variances of subs: all alike, or apart by a factor. */
static void usual(void)
{
    struct dp_hosts_variance v[40];
    struct dp_hosts_prior prior;
    for (size_t i = 0; i < 7; i++)
        v[i] = (struct dp_hosts_variance){ 1, 10 };
    dp_hosts_fit(&prior, v, 7);
    ok(prior.freedom == 0, "a few subs tell nothing");
    for (size_t i = 0; i < 40; i++)
        v[i] = (struct dp_hosts_variance){ 0.01, 10 };
    dp_hosts_fit(&prior, v, 40);
    ok(isinf(prior.freedom) && prior.all == 400, "variances that differ less than by chance");
    /* digamma(5) - log(5) = -0.1033203 */
    ok(near(prior.relative, 0.01 * exp(0.1033203)), "the usual one: %.6f", prior.relative);
    for (size_t i = 0; i < 40; i++)
        v[i].relative = i % 2 ? 0.1 : 0.001;
    dp_hosts_fit(&prior, v, 40);
    ok(prior.freedom > 0.1 && prior.freedom < 1, "variances that differ much tell little: %.3f",
       prior.freedom);

    const double x[] = { 99, 100, 101 }, y[] = { 103, 104, 105 }, wild[] = { 60, 104, 148 };
    struct dp_hosts_result own, with;
    prior = (struct dp_hosts_prior){ .relative = 1e-4, .freedom = INFINITY, .all = 100 };
    dp_hosts_compare(&own, x, 3, y, 3, false, NULL, 0.95);
    dp_hosts_compare(&with, x, 3, y, 3, false, &prior, 0.95);
    ok(near(with.error, 1.02 * sqrt(2.0 / 3)) && with.p < own.p / 50,
       "a usual variance decides better: %.6f and %.6f", own.p, with.p);
    dp_hosts_compare(&own, x, 3, wild, 3, false, NULL, 0.95);
    dp_hosts_compare(&with, x, 3, wild, 3, false, &prior, 0.95);
    ok(near(own.p, with.p), "an unusual one stays as it is");
    prior.freedom = 4;
    dp_hosts_compare(&with, x, 3, y, 3, false, &prior, 0.95);
    ok(near(with.error, sqrt((1.02 * 1.02 + 1) / 2 * 2 / 3)), "half and half");
}

/* With 10 hosts against 2: how often is any of 30 subs significant, and how often the one that is
 * slower? Variances of subs are alike, or differ by a factor of up to 4. */
static void families(void)
{
    static const double apart[] = { 1, 4 };
    for (size_t k = 0; k < 2; k++) {
        int alarms = 0, found = 0;
        for (int t = 0; t < 1000; t++) {
            double x[30][10], y[30][2];
            struct dp_hosts_variance v[30];
            struct dp_hosts_prior prior;
            for (size_t i = 0; i < 30; i++) {
                double sigma = 3 * pow(apart[k], (double)(i % 5) / 8);
                for (size_t h = 0; h < 10; h++)
                    x[i][h] = 100 + sigma * normal();
                for (size_t h = 0; h < 2; h++)
                    y[i][h] = 100 + sigma * normal() + (i == 5 ? 15 : 0);
                v[i] = dp_hosts_variance(x[i], 10, y[i], 2, false);
            }
            dp_hosts_fit(&prior, v, 30);
            bool any = false;
            for (size_t i = 0; i < 30; i++) {
                struct dp_hosts_result s;
                dp_hosts_compare(&s, x[i], 10, y[i], 2, false, &prior, 0.95);
                any |= i != 5 && s.p <= 0.05 / 30;
                found += i == 5 && s.p <= 0.05 / 30;
            }
            alarms += any;
        }
        ok(alarms < 75, "variances apart by %.0f: false alarms in %d of 1,000 at 0.05", apart[k],
           alarms);
        ok(found > 900, "... and what is 5 sigmas slower is found in %d", found);
    }
}

int main(void)
{
    known();
    usual();
    families();
    chance();
    return tap_done();
}
