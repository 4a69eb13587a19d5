/* dp_signed: Wilcoxon's signed ranks against a textbook, against all signs counted, against chance.
 * Machines stay as they are, or become slower. */
#include "dp_signed.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "tap.h"

#include <math.h>

#include "random.h"

static bool near(double a, double b) { return fabs(a - b) <= 1e-9 * (1 + fabs(b)); }

static void known(void)
{
    /* M. Hollander, D. A. Wolfe: Nonparametric Statistical Methods, 1973, depression scale factors.
     * R: wilcox.test(x, y, paired = TRUE, conf.int = TRUE): V = 40, p = 0.03906, estimate 0.46,
     * interval 0.010 to 0.786 of 96.1 %; of x - y. */
    const double x[] = { 1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30 },
                 y[] = { 0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29 };
    struct dp_stat s;
    double shift;
    is_i(dp_signed_compare(&s, &shift, x, y, 9, 0.95), 0, "nine pairs");
    ok(near(s.p, 0.0390625), "p: %.7f", s.p);
    ok(near(shift, -0.46), "the shift: %.3f", shift);
    ok(near(s.low, -0.786) && near(s.high, -0.01), "its interval: %.3f to %.3f", s.low, s.high);
    ok(near(s.median[0], 1.68) && near(s.median[1], 1.06), "medians");
    dp_signed_compare(&s, &shift, x, y, 5, 0.95);
    ok(isinf(s.low) && isinf(s.high) && s.low < 0 && s.high > 0, "five pairs exclude nothing");
    dp_signed_compare(&s, &shift, x, x, 9, 0.95);
    ok(s.p == 1 && shift == 0 && s.low == 0 && s.high == 0, "all the same");
    is_i(dp_signed_compare(&s, &shift, x, y, 0, 0.95), 0, "no pairs");
    ok(s.p == 1 && shift == 0 && isinf(s.low), "... tell nothing");
    ok(!dp_signed_decides(8, 0.005) && dp_signed_decides(9, 0.005) && !dp_signed_decides(0, 1)
       && dp_signed_decides(5000, 1e-300), "nine pairs can be significant at 0.005");
}

/* What the ranks of sizes add up to, zeros without a sign, doubled. */
static double naive_rank(const double *d, size_t n, size_t i)
{
    double rank = 1;
    for (size_t k = 0; k < n; k++)
        rank += fabs(d[k]) < fabs(d[i]) ? 2 : fabs(d[k]) == fabs(d[i]);
    return d[i] != 0 ? rank : 0;
}

/* Goes through all signs. */
static double naive_p(const double *d, size_t n)
{
    double rank[12], sum = 0, below = 0, above = 0;
    for (size_t i = 0; i < n; i++) {
        rank[i] = naive_rank(d, n, i);
        sum += d[i] > 0 ? rank[i] : 0;
    }
    for (unsigned set = 0; set < 1u << n; set++) {
        double s = 0;
        for (size_t i = 0; i < n; i++)
            s += set >> i & 1 ? rank[i] : 0;
        below += s <= sum;
        above += s >= sum;
    }
    return fmin(1, 2 * fmin(below, above) / (1u << n));
}

/* The p of pairs, if all of y was less by d. */
static double p_beyond(const double *x, const double *y, size_t n, double d)
{
    double apart[12];
    for (size_t i = 0; i < n; i++)
        apart[i] = y[i] - x[i] - d;
    return naive_p(apart, n);
}

static void against_naive(void)
{
    int wrong = 0, outside = 0;
    for (int t = 0; t < 400; t++) {
        size_t n = 1 + rnd(10);
        unsigned values = t % 2 ? 8 : 1u << 30;
        double x[12], y[12], shift;
        struct dp_stat s;
        for (size_t i = 0; i < n; i++) {
            x[i] = rnd(values);
            y[i] = rnd(values) + (t % 3 ? 0 : values / 2);
        }
        wrong += dp_signed_compare(&s, &shift, x, y, n, 0.95) != 0
                 || !near(s.p, p_beyond(x, y, n, 0));
        outside += !(s.low <= shift && shift <= s.high);
        if (values < 10 || isinf(s.low))
            continue;
        /* the ends are where p reaches 0.05, and 0 lies within if p is greater */
        wrong += p_beyond(x, y, n, s.low - 0.25) > 0.05 || p_beyond(x, y, n, s.low + 0.25) <= 0.05
                 || p_beyond(x, y, n, s.high + 0.25) > 0.05
                 || p_beyond(x, y, n, s.high - 0.25) <= 0.05
                 || (s.p > 0.05) != (s.low <= 0 && s.high >= 0);
    }
    is_i(wrong, 0, "p and interval are those of all signs counted, with ties and without");
    is_i(outside, 0, "the shift is in its interval");
}

/* ---- chance ---- */

static double normal(void)
{
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += (double)rnd(1u << 20) / (1u << 20);
    return sum - 6;
}

/* How often, in 2,000 times, pairs find a shift, and how often the ranks of the two sides do.
 * drift: how much slower the machine becomes with each run. */
static void times_found(int found[2], size_t n, double drift, double shift, double alpha)
{
    found[0] = found[1] = 0;
    for (int t = 0; t < 2000; t++) {
        double v[2][60], change;
        struct dp_stat s;
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < 2; k++) {
                size_t side = i % 2 ? 1 - k : k;        /* there and back, as --run does */
                v[side][i] = normal() + drift * (double)(2 * i + k) + (side ? shift : 0);
            }
        found[0] += dp_signed_compare(&s, &change, v[0], v[1], n, 0.95) == 0 && s.p <= alpha;
        found[1] += dp_stat_compare(&s, v[0], n, v[1], n, 0.95) == 0 && s.p <= alpha;
    }
}

static void against_chance(void)
{
    static const struct { size_t n; double drift; } of[] = { { 10, 0 }, { 10, 0.5 }, { 20, 0.2 },
                                                             { 55, 0.1 } };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        int alarms[2], found[2];
        times_found(alarms, of[i].n, of[i].drift, 0, 0.05);
        times_found(found, of[i].n, of[i].drift, 6 / sqrt((double)of[i].n), 0.005);
        ok(alarms[0] <= 135, "%zu pairs, drift of %.1f sigmas a run: p up to 0.05 in %.1f %%",
           of[i].n, of[i].drift, alarms[0] / 20.0);
        ok(of[i].drift > 0 ? found[0] > 2 * found[1] : found[0] > found[1] / 2,
           "... a shift is found in %.1f %% by pairs, in %.1f %% without", found[0] / 20.0,
           found[1] / 20.0);
    }
}

static void without_memory(void)
{
    double x[] = { 1, 2, 3, 4, 5, 6 }, y[] = { 2, 4, 3, 7, 9, 1 }, shift;
    int rc = DP_E_NOMEM, n = 0;
    for (; rc == DP_E_NOMEM && n < 100; n++) {
        struct dp_stat s;
        dp_mem_fail_after(n);
        rc = dp_signed_compare(&s, &shift, x, y, 6, 0.95);
        dp_mem_fail_after(-1);
    }
    ok(rc == 0 && n > 3, "memory that is short: %d allocations", n);
}

int main(void)
{
    known();
    against_naive();
    against_chance();
    without_memory();
    return tap_done();
}
