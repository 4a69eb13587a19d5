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
    struct dp_stat s;
    is_i(dp_hosts_compare(&s, x, 10, y, 10, false, 0.95), 0, "two samples");
    ok(near(s.p, 0.07919), "p: %.5f", s.p);
    ok(near(s.low, -0.203874) && near(s.high, 3.363874), "interval: %.4f to %.4f", s.low, s.high);
    ok(near(s.middle[0], 0.75) && near(s.middle[1], 2.33), "means");
    dp_hosts_compare(&s, x, 10, y, 10, true, 0.95);
    ok(near(s.p, 0.002833), "pairs, p: %.6f", s.p);
    ok(near(s.low, 0.7001142) && near(s.high, 2.4598858), "interval: %.4f to %.4f", s.low, s.high);
    ok(near(dp_hosts_error(s.high - s.low, 10, 10, true, 0.95), 1.58 / 4.0621),
       "the interval tells the standard error");
    dp_hosts_compare(&s, x, 10, y, 1, false, 0.95);
    ok(s.p == 1 && isinf(s.low) && isinf(s.high), "one host tells nothing");
    ok(!dp_hosts_decide(10, 1) && !dp_hosts_decide(1, 1) && dp_hosts_decide(10, 2), "two can");
    const double same[] = { 3, 3, 3 }, other[] = { 4, 4, 4 };
    dp_hosts_compare(&s, same, 3, same, 3, false, 0.95);
    ok(s.p == 1 && s.low == 0 && s.high == 0, "all the same");
    dp_hosts_compare(&s, same, 3, other, 3, false, 0.95);
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
        struct dp_stat s;
        for (size_t i = 0; i < n; i++)
            x[i] = normal();
        for (size_t i = 0; i < m; i++)
            y[i] = normal() + shift + (paired ? 5 * x[i] : 0);
        for (size_t i = 0; paired && i < n; i++)
            x[i] *= 5;
        found += dp_hosts_compare(&s, x, n, y, m, paired, 0.95) == 0 && s.p <= alpha;
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
        double errors = dp_hosts_reach(n, m, paired, 0.01);
        double shift = errors * sqrt(paired ? 1.0 / (double)n : 1.0 / (double)n + 1.0 / (double)m);
        int found = times_found(n, m, paired, shift, 0.01);
        ok(n + m < 5 || (found > 1450 && found < 1800),
           "... and what they can find, four times of five, in %.1f %%", found / 20.0);
        size_t needed = dp_hosts_needed(errors, n, m, paired, 0.01, 10000);
        ok(n != m || needed == n, "... for which so many are needed: %zu", needed);
    }
    is_i((long)dp_hosts_needed(1e-6, 10, 10, false, 0.01, 10000), 0, "or too many");
}

int main(void)
{
    known();
    chance();
    return tap_done();
}
