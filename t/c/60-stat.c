/* Statistics against R's numbers, against all orders there are, and against each other. */
#include "tap.h"
#include "dp_mem.h"
#include "dp_stat.h"

#include <math.h>

static bool near(double a, double b) { return fabs(a - b) <= 1e-9 * (1 + fabs(b)); }

/* By going through all choices of n of the values: midranks, doubled. */
static double naive_p(const double *x, size_t n, const double *y, size_t m)
{
    double all[20];
    long rank[20], sum = 0;
    size_t total = n + m;
    double below = 0, above = 0, count = 0;
    for (size_t i = 0; i < total; i++)
        all[i] = i < n ? x[i] : y[i - n];
    for (size_t i = 0; i < total; i++) {
        rank[i] = 1;
        for (size_t k = 0; k < total; k++)
            rank[i] += all[k] < all[i] ? 2 : all[k] == all[i];
        if (i < n)
            sum += rank[i];
    }
    for (unsigned long set = 0; set < 1ul << total; set++) {
        long s = 0;
        size_t members = 0;
        for (size_t i = 0; i < total; i++)
            if (set >> i & 1) {
                members++;
                s += rank[i];
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

static uint64_t state = 1;

static unsigned rnd(unsigned n)
{
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned)((state >> 33) % n);
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

static void known(void)
{
    /* R: wilcox.test(c(0.80,0.83,1.89,1.04,1.45,1.38,1.91,1.64,0.73,1.46),
     * c(1.15,0.88,0.90,0.74,1.21), conf.int=TRUE): W = 35, p-value = 0.2544, interval
     * -0.15 0.76, of x - y */
    const double x[] = { 0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46 },
                 y[] = { 1.15, 0.88, 0.90, 0.74, 1.21 };
    struct dp_stat s;
    dp_stat_compare(&s, x, 10, y, 5, 0.95);
    ok(fabs(s.p - 0.2544) < 5e-5, "a textbook's p: %.5f", s.p);
    ok(near(s.low, -0.76) && near(s.high, 0.15), "and its interval: %.2f to %.2f", s.low, s.high);
    ok(near(s.median[0], 1.415) && near(s.median[1], 0.90), "medians of an even and an odd number");
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

static void corrections(void)
{
    uint32_t order[4];
    double holm[] = { 0.01, 0.04, 0.03, 0.005 };
    dp_stat_holm(holm, 4, order);
    ok(near(holm[3], 0.02) && near(holm[0], 0.03) && near(holm[2], 0.06) && near(holm[1], 0.06),
       "Holm's, as R's p.adjust has them");
    dp_stat_holm(holm, 0, order);
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
    int in = 0, alarms = 0, rounds = 2000;
    for (int t = 0; t < rounds; t++) {
        double x[10], y[10];
        struct dp_stat s;
        for (int i = 0; i < 10; i++) {
            x[i] = rnd(1000) + rnd(1000) + rnd(1000);
            y[i] = rnd(1000) + rnd(1000) + rnd(1000) + 300.0;
        }
        dp_stat_compare(&s, x, 10, y, 10, 0.95);
        in += s.low <= 300 && s.high >= 300;
        for (int i = 0; i < 10; i++)
            y[i] -= 300;
        dp_stat_compare(&s, x, 10, y, 10, 0.95);
        alarms += s.p <= 0.05;
    }
    ok(in >= rounds * 0.94 && in <= rounds * 0.975,
       "the interval of 95 %% holds the true shift in %.1f %%", 100.0 * in / rounds);
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
    known();
    seam();
    corrections();
    coverage();
    no_memory();
    return tap_done();
}
