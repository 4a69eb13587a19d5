/* Tests of counts against textbooks' numbers, against sums of all outcomes, and against chance. */
#include "tap.h"
#include "random.h"
#include "dp_counts.h"

#include <math.h>

static bool near(double a, double b) { return fabs(a - b) <= 1e-9 * (1 + fabs(b)); }
static bool about(double a, double b) { return fabs(a - b) <= 6e-7 * (1 + fabs(b)); }

static struct dp_counts two(enum dp_counts_kind kind, double k, double n, double l, double m)
{
    struct dp_counted x = { k, n }, y = { l, m };
    struct dp_counts out;
    dp_counts_compare(&out, &x, 1, &y, 1, kind, 0.95);
    return out;
}

static void known(void)
{
    /* R: fisher.test(matrix(c(3, 1, 1, 3), 2)), Fisher's lady who tastes tea: p-value 0.4857 */
    struct dp_counts c = two(DP_COUNTS_SHARE, 3, 4, 1, 4);
    ok(near(c.p, 34.0 / 70), "the lady who tastes tea: %.4f", c.p);
    /* R: fisher.test(Convictions, alternative = "less"), Fisher's twins: p-value 0.0004652 */
    c = two(DP_COUNTS_SHARE, 2, 17, 10, 13);
    ok(fabs(c.p / 2 - 0.0004652) < 5e-8, "convictions of twins: twice %.7f", c.p / 2);
    /* R: poisson.test(c(11, 6+8+7), c(800, 1083+1050+878)), interval 0.8584264 4.2772659 */
    c = two(DP_COUNTS_RATE, 21, 3011, 11, 800);
    ok(about(c.low, 0.8584264) && about(c.high, 4.2772659), "Poisson: %.7f to %.7f", c.low, c.high);
    /* R: binom.test(682, 925), Mendel's plants in Conover's book: interval 0.7076683 0.7654066 */
    c = two(DP_COUNTS_RATE, 243, 1, 682, 1);
    double low = c.low / (1 + c.low), high = c.high / (1 + c.high);
    ok(fabs(low - 0.7076683) < 5e-8 && fabs(high - 0.7654066) < 5e-8,
       "Clopper and Pearson: %.7f to %.7f", low, high);
    static const struct { double t; size_t freedom; double p; } tables[] = {
        { 1.959963985, 0, 0.05 }, { 63.65674116, 1, 0.01 }, { 4.302652730, 2, 0.05 },
        { 3.182446305, 3, 0.05 }, { 4.032142984, 5, 0.01 }, { 2.228138852, 10, 0.05 },
        { 3.169272673, 10, 0.01 }, { 2.042272456, 30, 0.05 }, { 2.660283029, 60, 0.01 }
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        ok(fabs(dp_counts_t_tails(tables[i].t, tables[i].freedom) - tables[i].p) < 1e-9,
           "Student's t of %zu degrees, as tables have it", tables[i].freedom);
    ok(near(dp_counts_t_tails(0, 7), 1), "... and of 0");
}

static double log_choose(double n, double k)
{
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/* Twice the smaller tail, by the logarithms of factorials. */
static double naive_p(enum dp_counts_kind kind, double k, double n, double l, double m)
{
    double below = 0, above = 0, both = k + l;
    for (double i = 0; i <= both; i++) {
        double w = kind == DP_COUNTS_RATE
            ? exp(log_choose(both, i) + i * log(m / (n + m)) + (both - i) * log(n / (n + m)))
            : i > m || both - i > n ? 0
            : exp(log_choose(m, i) + log_choose(n, both - i) - log_choose(n + m, both));
        below += i <= l ? w : 0;
        above += i >= l ? w : 0;
    }
    double p = 2 * (below < above ? below : above);
    return p < 1 ? p : 1;
}

static void against_naive(void)
{
    int wrong = 0;
    for (int t = 0; t < 3000; t++) {
        double n = 1 + rnd(t % 3 ? 40 : 400), m = 1 + rnd(t % 3 ? 40 : 900);
        double k = rnd((unsigned)n + 1), l = rnd((unsigned)m + 1);
        for (int kind = DP_COUNTS_SHARE; kind <= DP_COUNTS_RATE && k + l > 0; kind++) {
            double p = two(kind, k, n, l, m).p, q = naive_p(kind, k, n, l, m);
            wrong += fabs(p - q) > 1e-9 * q + 1e-12;
        }
    }
    is_i(wrong, 0, "p is the sum of the chances of all outcomes");
    ok(two(DP_COUNTS_SHARE, 0, 100, 100, 100).p < 1e-50, "what cannot be chance is not");
    struct dp_counts c = two(DP_COUNTS_RATE, 5e8, 1, 5e8 + 2e5, 1);
    ok(c.p > 1e-11 && c.p < 1e-9 && c.low > 1 && c.high < 1.001, "a thousand million: %g", c.p);
    struct dp_counts d = two(DP_COUNTS_RATE, 5e8, 1, 5e8 + 2e5 - 2, 1);
    c = two(DP_COUNTS_RATE, 5e8, 1, 5e8 + 2e5 + 2, 1);
    ok(fabs(log(c.p / d.p)) < 0.01, "... and more go on where these end: %g", d.p);
    c = two(DP_COUNTS_SHARE, 1e18, 4e18, 1e18 + 1e10, 4e18);
    ok(c.p < 1e-6 && c.p > 0, "as many as there can be: %g", c.p);
}

/* The chance that y's count is l or more, or l or less, if its rate is so many times x's. */
static double chance(double k, double l, double ratio, bool more)
{
    double all = 0;
    for (double i = 0; i <= k + l; i++)
        all += (more ? i >= l : i <= l)
               * exp(log_choose(k + l, i) + i * log(ratio) - (k + l) * log1p(ratio));
    return all;
}

static void intervals(void)
{
    int wrong = 0;
    for (int t = 0; t < 200; t++) {
        double k = rnd(60), l = rnd(60), n = 1 + rnd(5), m = 1 + rnd(5);
        struct dp_counts c = two(DP_COUNTS_RATE, k, n, l, m);
        wrong += l > 0 ? !about(chance(k, l, c.low * m / n, true), 0.025) : c.low != 0;
        wrong += k > 0 ? !about(chance(k, l, c.high * m / n, false), 0.025) : !isinf(c.high);
    }
    is_i(wrong, 0, "beyond the ends of an interval such counts come in 2.5 percent");
    struct dp_counts c = two(DP_COUNTS_SHARE, 0, 9, 0, 9);
    ok(c.p == 1 && c.low == 0 && isinf(c.high), "no counts tell nothing");
    c = two(DP_COUNTS_SHARE, 0, 0, 3, 9);
    ok(c.p == 1, "nor does a side without samples");
    c = two(DP_COUNTS_SHARE, 9, 9, 3, 3);
    ok(c.p == 1, "all of both sides is the same share");
}

static void several(void)
{
    const struct dp_counted x[] = { { 10, 100 }, { 14, 100 }, { 12, 100 } },
                            y[] = { { 30, 100 }, { 20, 100 }, { 25, 200 } };
    struct dp_counts c;
    dp_counts_compare(&c, x, 3, y, 3, DP_COUNTS_SHARE, 0.95);
    double rate = 111.0 / 700, mean = 75.0 / 400, variance = rate * (1 - rate);
    double off[] = { -2, 2, 0, 30 - 100 * mean, 20 - 100 * mean, 25 - 200 * mean }, all = 0;
    for (int i = 0; i < 6; i++)
        all += off[i] * off[i] / (i == 5 ? 200 : 100) / variance;
    ok(near(c.spread, all / 4), "the spread is Pearson's chi-square by 4: %.3f", c.spread);
    double score = (mean - 0.12) / sqrt(variance * (1.0 / 300 + 1.0 / 400));
    ok(near(c.p, dp_counts_t_tails(score / sqrt(all / 4), 4)), "p is that of t: %.4f", c.p);
    double log_off = 2.776445105 * sqrt(c.spread * (1.0 / 36 + 1.0 / 75));
    ok(about(c.low, mean / 0.12 * exp(-log_off)) && about(c.high, mean / 0.12 * exp(log_off)),
       "the interval is one of logarithms: %.3f to %.3f", c.low, c.high);
    const struct dp_counted same[] = { { 10, 100 }, { 10, 100 } };
    dp_counts_compare(&c, same, 2, same, 2, DP_COUNTS_RATE, 0.95);
    ok(c.p == 1 && c.spread == 1, "runs that are all the same differ by nothing");
    const struct dp_counted more[] = { { 20, 100 }, { 20, 100 } };
    dp_counts_compare(&c, same, 2, more, 2, DP_COUNTS_SHARE, 0.95);
    ok(near(c.p, naive_p(DP_COUNTS_SHARE, 20, 200, 40, 200)),
       "where runs agree by chance, p is that of counts: %.4f", c.p);
}

/* ---- chance ---- */

static double normal(void)
{
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += (double)rnd(1u << 20) / (1u << 20);
    return sum - 6;
}

/* How many of n samples hit a sub that has that share. */
static double hits(int n, double share)
{
    double count = 0;
    for (int i = 0; i < n; i++)
        count += (double)rnd(1u << 24) / (1u << 24) < share;
    return count;
}

/* How often, of so many comparisons, p is alpha or less, if the share in a run is off the usual one
 * by such a standard deviation (of its logarithm), and the other side's is so many times as high.
 * That side has twice as many samples. */
static int seen(int rounds, size_t runs, int samples, double share, double off, double ratio,
                double alpha)
{
    int found = 0;
    for (int t = 0; t < rounds; t++) {
        struct dp_counted v[2][10];
        for (int side = 0; side < 2; side++)
            for (size_t i = 0; i < runs; i++) {
                int n = samples * (side + 1);
                double own = share * (side ? ratio : 1) * exp(off * normal());
                v[side][i] = (struct dp_counted){ hits(n, own), n };
            }
        struct dp_counts c;
        dp_counts_compare(&c, v[0], runs, v[1], runs, DP_COUNTS_SHARE, 0.95);
        found += c.p <= alpha;
    }
    return found;
}

static void alarms(void)
{
    static const struct { size_t runs; double share, off; } of[] = {
        { 1, 0.02, 0 }, { 1, 0.3, 0 }, { 2, 0.3, 0 }, { 2, 0.3, 0.3 }, { 3, 0.1, 0.3 },
        { 5, 0.3, 0 }, { 5, 0.3, 0.1 }, { 5, 0.3, 0.3 }, { 10, 0.1, 0.3 }
    };
    const int rounds = 2000;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        int got = seen(rounds, of[i].runs, 150, of[i].share, of[i].off, 1, 0.05);
        /* three standard deviations above what is allowed */
        ok(got <= 0.05 * rounds + 3 * sqrt(0.05 * 0.95 * rounds),
           "%zu runs of a share of %g that varies by %g %%: %d false alarms of %d at 0.05",
           of[i].runs, of[i].share, 100 * of[i].off, got, rounds);
    }
    int varied = seen(rounds, 5, 150, 0.3, 0.3, 1, 0.05);
    ok(varied > 0.02 * rounds, "where runs vary, p says as much as it could: %d", varied);
}

/* A change that is said to be found with 80 % power is found four times of five. */
static void power(void)
{
    static const struct { size_t runs; int samples; double share, alpha; } of[] = {
        { 1, 2000, 0.1, 0.005 }, { 1, 500, 0.3, 0.05 }, { 1, 4000, 0.02, 0.0005 }
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        double count = of[i].samples * of[i].share;
        double root = 1 + dp_counts_reach(0, of[i].alpha)
                              * dp_counts_sight(count * (1 - of[i].share), 2, 1);
        int got = seen(500, of[i].runs, of[i].samples, of[i].share, 0,
                       root * root / (1 + of[i].share * (root * root - 1)), of[i].alpha);
        ok(got > 350 && got < 470, "a growth of %.0f %% is seen four times of five: %d of 500",
           100 * (root * root - 1), got);
    }
    ok(isinf(dp_counts_sight(0, 1, 1)), "nothing is seen of what has no samples");
}

int main(void)
{
    known();
    against_naive();
    intervals();
    several();
    alarms();
    power();
    /* This would take hours if each count were looked at. */
    struct dp_counted none[2] = { { 0, 1 }, { 0, 1 } }, lots[2] = { { 1e18, 1 }, { 1.01e18, 1 } };
    struct dp_counts out;
    dp_counts_compare(&out, none, 2, lots, 2, DP_COUNTS_RATE, 0.95);
    ok(out.p < 1e-4 && out.low == 0 && isinf(out.high), "nothing beside 10^18: p %g", out.p);
    return tap_done();
}
