/* Statistics against R's numbers, against all orders, and against each other. */
#include "tap.h"
#include "random.h"
#include "dp_mem.h"
#include "dp_stat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool near(double a, double b) { return fabs(a - b) <= 1e-9 * (1 + fabs(b)); }

/* Scores of all values: midranks, doubled, those beyond 0.55 of the smaller sample from where the
 * samples could part taken back to there. */
static void naive_scores(double *score, const double *all, size_t n, size_t m)
{
    size_t few = n < m ? n : m, many = n < m ? m : n;
    double middle = (double)(n + m) + 1;
    double reach = (double)(many - few) + floor(1.1 * (double)few + 0.5);
    for (size_t i = 0; i < n + m; i++) {
        double rank = 1;
        for (size_t k = 0; k < n + m; k++)
            rank += all[k] < all[i] ? 2 : all[k] == all[i];
        score[i] = fmin(fmax(rank, middle - reach), middle + reach);
    }
}

/* Goes through all choices of n of the values. */
static double naive_p(const double *x, size_t n, const double *y, size_t m)
{
    double all[20], score[20], sum = 0;
    size_t total = n + m;
    double below = 0, above = 0, count = 0;
    for (size_t i = 0; i < total; i++)
        all[i] = i < n ? x[i] : y[i - n];
    naive_scores(score, all, n, m);
    for (size_t i = 0; i < n; i++)
        sum += score[i];
    for (unsigned long set = 0; set < 1ul << total; set++) {
        double s = 0;
        size_t members = 0;
        for (size_t i = 0; i < total; i++)
            if (set >> i & 1) {
                members++;
                s += score[i];
            }
        if (members != n)
            continue;
        count++;
        below += s <= sum;
        above += s >= sum;
    }
    double p = 2 * (below < above ? below : above) / count;
    return p < 1 ? p : 1;
}

static void against_naive(void)
{
    int wrong = 0;
    for (int t = 0; t < 300; t++) {
        double x[7], y[7];
        size_t n = 1 + rnd(7), m = 1 + rnd(7);
        unsigned values = t % 3 == 0 ? 4 : t % 3 == 1 ? 10 : 1000000;
        for (size_t i = 0; i < n; i++)
            x[i] = rnd(values);
        for (size_t i = 0; i < m; i++)
            y[i] = rnd(values) + (t % 5 == 0 ? 3 : 0);
        struct dp_stat s;
        wrong += dp_stat_compare(&s, x, n, y, m, 0.95) != 0 || !near(s.p, naive_p(x, n, y, m));
    }
    is_i(wrong, 0, "p is that of all orders counted, with ties and without");
}

/* Where there are too many orders: the sum of x's scores, taken for normal, corrected for being a
 * whole number. */
static double normal_p(const double *x, size_t n, const double *y, size_t m)
{
    double all[120], score[120], N = (double)(n + m), sum = 0, mean = 0, squares = 0;
    for (size_t i = 0; i < n + m; i++)
        all[i] = i < n ? x[i] : y[i - n];
    naive_scores(score, all, n, m);
    for (size_t i = 0; i < n + m; i++) {
        sum += i < n ? score[i] : 0;
        mean += score[i] / N;
        squares += score[i] * score[i] / N;
    }
    double variance = (double)(n * m) * (squares - mean * mean) / (N - 1);
    double off = fabs(sum - (double)n * mean) - 1;
    return off > 0 ? erfc(off / sqrt(2 * variance)) : 1;
}

static void against_normal(void)
{
    int wrong = 0;
    for (int t = 0; t < 300; t++) {
        double x[60], y[60];
        size_t n = 26 + rnd(35), m = 26 + rnd(35);
        for (size_t i = 0; i < n; i++)
            x[i] = rnd(t % 2 ? 10 : 1000000);
        for (size_t i = 0; i < m; i++)
            y[i] = rnd(t % 2 ? 10 : 1000000) + (t % 3 == 0 ? 1 : 0);
        struct dp_stat s;
        wrong += dp_stat_compare(&s, x, n, y, m, 0.95) != 0 || !near(s.p, normal_p(x, n, y, m));
    }
    is_i(wrong, 0, "p of larger samples is the normal distribution's");
}

/* ---- the power of a test ---- */

/* A normal value. */
static double normal(void)
{
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += (double)rnd(1u << 20) / (1u << 20);
    return sum - 6;
}

/* How often, of a thousand times, a shift is seen. */
static int times_seen(size_t n, size_t m, double shift, double alpha)
{
    int seen = 0;
    for (int t = 0; t < 1000; t++) {
        double x[50], y[50];
        struct dp_stat s;
        for (size_t i = 0; i < n; i++)
            x[i] = normal();
        for (size_t i = 0; i < m; i++)
            y[i] = normal() + shift;
        seen += dp_stat_compare(&s, x, n, y, m, 0.95) == 0 && s.p <= alpha;
    }
    return seen;
}

static void against_chance(void)
{
    static const struct { size_t n, m; double alpha; } of[] = {
        { 10, 10, 0.005 }, { 20, 20, 0.005 }, { 20, 20, 0.005 / 7 }, { 10, 20, 0.005 },
        { 50, 50, 0.005 / 50 }, { 20, 50, 0.005 / 7 }
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        double shift = dp_stat_seen(of[i].n, of[i].m, of[i].alpha);
        int seen = times_seen(of[i].n, of[i].m, shift, of[i].alpha);
        ok(seen > 750 && seen < 920, "%zu and %zu values see %.2f sigmas four times of five: %d",
           of[i].n, of[i].m, shift, seen);
    }
    ok(isinf(dp_stat_seen(5, 5, 0.005)), "five and five values see nothing");
    ok(isinf(dp_stat_seen(0, 9, 0.005)), "... nor does one side alone");
    double sum = 0;
    for (int t = 0; t < 200; t++) {
        double x[20], y[20];
        struct dp_stat s;
        for (int i = 0; i < 20; i++) {
            x[i] = 3 * normal();
            y[i] = 3 * normal() + 5;
        }
        if (dp_stat_compare(&s, x, 20, y, 20, 0.95) == 0)
            sum += dp_stat_sigma(s.high - s.low, 20, 20, 0.95);
    }
    ok(sum / 200 > 2.8 && sum / 200 < 3.3, "the interval tells sigma, 3: %.2f", sum / 200);
    int wrong = 0;
    for (size_t n = 8; n < 60; n += 3) {
        double shift = dp_stat_seen(n, n, 0.005);
        wrong += dp_stat_runs_to_see(shift * 1.0001, 0.005, 1000) != n;
    }
    is_i(wrong, 0, "so many runs as see a shift are needed to see it");
    is_i(dp_stat_runs_to_see(0.001, 0.005, 1000), 0, "... or too many");
}

/* ---- the interval, by all pairs ---- */

enum { MOST = 36 };             /* of one sample */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The test's result if y is less by d and a bit: 1, it still is greater than x; -1, it is less; 0,
 * neither. x and y are sorted. */
static int judged(double d, const double *x, size_t n, const double *y, size_t m)
{
    double ranks[2][MOST], sum = 0;
    struct dp_stat s;
    for (size_t i = 0; i < n; i++) {
        size_t below = i;
        for (size_t j = 0; j < m; j++)
            below += y[j] - x[i] <= d;
        sum += ranks[0][i] = (double)below;
    }
    for (size_t j = 0; j < m; j++) {
        size_t below = j;
        for (size_t i = 0; i < n; i++)
            below += y[j] - x[i] > d;
        ranks[1][j] = (double)below;
    }
    if (dp_stat_compare(&s, ranks[0], n, ranks[1], m, 0.95) != 0 || s.p > 0.05)
        return 0;
    return 2 * sum < (double)n * (double)(n + m - 1) ? 1 : -1;
}

static bool has_interval(const struct dp_stat *s, double *x, size_t n, double *y, size_t m)
{
    static double all[MOST * MOST];
    double low = -INFINITY, high = INFINITY;
    qsort(x, n, sizeof *x, ascending);
    qsort(y, m, sizeof *y, ascending);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            all[i * m + j] = y[j] - x[i];
    qsort(all, n * m, sizeof *all, ascending);
    bool ends = judged(all[0] - 1, x, n, y, m) > 0;
    for (size_t k = n * m; ends && k-- > 0;) {
        if (judged(all[k], x, n, y, m) <= 0)
            low = all[k];
        if (judged(all[k], x, n, y, m) < 0)
            high = all[k];
    }
    return memcmp(&s->low, &low, sizeof low) == 0 && memcmp(&s->high, &high, sizeof high) == 0;
}

/* A value of some kind: many ties; few; none, and no whole number; some far larger than others. */
static double of_kind(int kind)
{
    switch (kind) {
    case 0: return rnd(4);
    case 1: return rnd(100);
    case 2: return rnd(1000000) / 7.0;
    default: return rnd(4) ? rnd(1000) : ldexp(rnd(1000), (int)rnd(54));
    }
}

static void interval_of_pairs(void)
{
    static const char *const kinds[] = {
        "many ties", "few ties", "fractions", "values far apart"
    };
    for (int kind = 0; kind < 4; kind++) {
        int wrong = 0;
        for (int t = 0; t < 60; t++) {
            double x[MOST], y[MOST];
            unsigned least = t % 4 ? 1 : 26;                /* exact, or approximate */
            size_t n = least + rnd(10), m = least + rnd(10);
            for (size_t i = 0; i < n; i++)
                x[i] = of_kind(kind);
            for (size_t i = 0; i < m; i++)
                y[i] = of_kind(kind);
            struct dp_stat s;
            wrong += dp_stat_compare(&s, x, n, y, m, 0.95) != 0 || !has_interval(&s, x, n, y, m);
        }
        is_i(wrong, 0, "the interval ends where the test ends to reject, to the bit: %s",
             kinds[kind]);
    }
}

static void known(void)
{
    /* R: wilcox.test(c(0.80,0.83,1.89,1.04,1.45,1.38,1.91,1.64,0.73,1.46),
     * c(1.15,0.88,0.90,0.74,1.21), conf.int=TRUE): interval -0.15 0.76, of x - y */
    const double x[] = { 0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46 },
                 y[] = { 1.15, 0.88, 0.90, 0.74, 1.21 };
    struct dp_stat s;
    dp_stat_compare(&s, x, 10, y, 5, 0.95);
    ok(near(s.low, -0.76) && near(s.high, 0.15), "a textbook's interval: %.2f to %.2f", s.low,
       s.high);
    ok(near(s.median[0], 1.415) && near(s.median[1], 0.90), "medians of an even and an odd number");
    /* The five greatest of twenty count the same: one that is far out is one that is above. */
    double low[10], up[10], out[10];
    for (int i = 0; i < 10; i++) {
        low[i] = i;
        up[i] = 20 + i;
    }
    memcpy(out, low, sizeof low);
    out[9] = 100;
    dp_stat_compare(&s, out, 10, up, 10, 0.95);
    double far_out = s.p;
    out[9] = 25.5;
    dp_stat_compare(&s, out, 10, up, 10, 0.95);
    ok(near(s.p, far_out) && s.p < 0.001, "how far out one run is does not matter: p %.6f", s.p);
    int wrong = 0;
    for (size_t n = 1; n <= 10; n++)
        for (size_t m = 1; m <= 10; m++) {
            double orders = 1;
            for (size_t i = 1; i <= n; i++)
                orders *= (double)(m + i) / (double)i;
            dp_stat_compare(&s, low, n, up, m, 0.95);
            wrong += !near(s.p, 2 / orders);
            dp_stat_compare(&s, up, n, low, m, 0.95);
            wrong += !near(s.p, 2 / orders);
        }
    is_i(wrong, 0, "samples apart have the least p that there is, of whatever size they are");
    const double few[] = { 1, 2, 3 }, other[] = { 4, 5, 6 };
    dp_stat_compare(&s, few, 3, other, 3, 0.95);
    ok(near(s.p, 0.1), "three runs a side: p is 0.1 at the least");
    ok(isinf(s.low) && isinf(s.high), "and the interval has no ends");
    ok(near(s.spread[0], 1.4826), "spread");
    dp_stat_compare(&s, few, 3, few, 3, 0.95);
    ok(near(s.p, 1), "equal samples: p is 1");
    double same[40];
    for (int i = 0; i < 40; i++)
        same[i] = 7;
    dp_stat_compare(&s, same, 40, same, 40, 0.95);
    ok(near(s.p, 1) && near(s.low, 0) && near(s.high, 0),
       "nothing but ties, many: p is 1, no shift");
    dp_stat_compare(&s, few, 3, NULL, 0, 0.95);
    ok(near(s.p, 1) && near(s.median[1], 0), "nothing to compare with");
}

/* The approximation beyond 50 values goes on where the exact one ends. */
static void seam(void)
{
    double x[26], y[26];
    for (int i = 0; i < 26; i++) {
        x[i] = 100 + 10 * i + 0.1 * (i % 3);
        y[i] = 130 + 10 * i + 0.2 * (i % 5);
    }
    struct dp_stat exact, more;
    dp_stat_compare(&exact, x, 25, y, 25, 0.95);
    dp_stat_compare(&more, x, 26, y, 26, 0.95);
    ok(fabs(exact.p - more.p) < 0.02, "p on both sides of the seam: %.4f and %.4f", exact.p,
       more.p);
    ok(fabs(exact.low - more.low) < 11 && fabs(exact.high - more.high) < 11,
       "the interval, too: %.1f to %.1f, %.1f to %.1f", exact.low, exact.high, more.low, more.high);
}

static void slopes(void)
{
    /* two groups, each on a line of slope 2, the second one higher; one point is far off */
    const double x[] = { 0, 1, 2, 3, 0, 1, 2, 3 }, y[] = { 0, 2, 4, 6, 50, 52, 54, 99 };
    const size_t sizes[] = { 4, 4 };
    double slope = 0;
    is_i(dp_stat_slope(&slope, x, y, sizes, 2, 1, 0), 0, "a slope");
    ok(near(slope, 2), "groups do not mix, and a point far off does not matter: %g", slope);
    dp_stat_slope(&slope, x, y, sizes, 2, 1, 1000);
    ok(near(slope, 1), "the usual slope, where points tell little: %g", slope);
    const double same[] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    dp_stat_slope(&slope, same, y, sizes, 2, 1, 0.01);
    ok(near(slope, 1), "the same, where they tell nothing: %g", slope);
}

static void corrections(void)
{
    uint32_t order[4];
    double holm[] = { 0.01, 0.04, 0.03, 0.005 };
    dp_stat_holm(holm, NULL, 4, order);
    ok(near(holm[3], 0.02) && near(holm[0], 0.03) && near(holm[2], 0.06) && near(holm[1], 0.06),
       "Holm's, as R's p.adjust has them");
    dp_stat_holm(holm, NULL, 0, order);
    double p[] = { 0.01, 0.04, 0.03 }, weight[] = { 0.5, 0.25, 0.25 };
    dp_stat_holm(p, weight, 3, order);
    /* 0.01 / 0.5 = 0.02; 0.03 / 0.25 of the half that is left: 0.06; the last one: 0.04 */
    ok(near(p[0], 0.02) && near(p[2], 0.06) && near(p[1], 0.06), "with weights: %g %g %g", p[0],
       p[1], p[2]);
    ok(!dp_stat_decides(3, 3, 1, 0.05) && dp_stat_decides(4, 4, 1, 0.05),
       "four runs a side can decide one test at 0.05, three cannot");
    is_i((long)dp_stat_runs_needed(1, 0.05), 4, "and that is what is needed");
    is_i((long)dp_stat_runs_needed(40, 0.001), 10, "ten decide forty at 0.001");
    ok(!dp_stat_decides(10, 1, 1, 0.05) && dp_stat_decides(39, 1, 1, 0.05 + 1e-12),
       "sides of different size");
}

/* A true shift is in the interval as often as it says; a false alarm is as rare as p says. */
static void coverage(void)
{
    int in = 0, alarms = 0, rounds = 2000, apart = 0;
    for (int t = 0; t < rounds; t++) {
        double x[10], y[10];
        struct dp_stat s;
        for (int i = 0; i < 10; i++) {
            x[i] = rnd(1000) + rnd(1000) + rnd(1000) + rnd(1000000) / 1e6;
            y[i] = rnd(1000) + rnd(1000) + rnd(1000) + 300.0 + rnd(1000000) / 1e6;
        }
        dp_stat_compare(&s, x, 10, y, 10, 0.95);
        in += s.low <= 300 && s.high >= 300;
        apart += (s.p <= 0.05) != (s.low > 0 || s.high < 0);
        for (int i = 0; i < 10; i++)
            y[i] -= 300;
        dp_stat_compare(&s, x, 10, y, 10, 0.95);
        alarms += s.p <= 0.05;
    }
    ok(in >= rounds * 0.94 && in <= rounds * 0.975,
       "the interval of 95 %% holds the true shift in %.1f %%", 100.0 * in / rounds);
    is_i(apart, 0, "it leaves 0 out where p is up to 0.05, and only there");
    ok(alarms <= rounds * 0.055 && alarms >= rounds * 0.03,
       "p up to 0.05 of equal distributions in %.1f %%", 100.0 * alarms / rounds);
}

static void no_memory(void)
{
    const double x[] = { 1, 2, 3, 4, 5 }, y[] = { 2, 3, 4, 5, 6 };
    struct dp_stat s;
    int failures = 0;
    for (long n = 0; n < 20; n++) {
        dp_mem_fail_after(n);
        failures += dp_stat_compare(&s, x, 5, y, 5, 0.9) < 0;
    }
    dp_mem_fail_after(-1);
    ok(failures >= 4, "no memory at %d places", failures);
    is_i(dp_mem_live(), 0, "nothing is left behind");
}

int main(void)
{
    against_naive();
    against_normal();
    interval_of_pairs();
    known();
    seam();
    corrections();
    slopes();
    coverage();
    against_chance();
    no_memory();
    return tap_done();
}
