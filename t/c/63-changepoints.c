/* Change points: the best split by hand, series with steps, false alarms, without memory. */
#include "tap.h"
#include "random.h"
#include "dp_mem.h"
#include "dp_stat.h"
#include "dprof/changepoints.h"

#include <math.h>
#include <string.h>

enum { GROUPS = 10, EACH = 8, VALUES = GROUPS * EACH, SERIES = 20 };

enum { EXACT = 50, FURTHEST = 15 * 6 };

/* Mann and Whitney's p of the first n of total values, by all ways to choose n of the doubled
 * midranks; of more than 50 values by the normal distribution. */
static double rank_p(const double *v, size_t n, size_t total)
{
    static double ways[EXACT + 1][EXACT * 2 * (EXACT + 1)];
    size_t rank[FURTHEST], sum = 0, most = 2 * total * (total + 1) / 2;
    double ties = 0, below = 0, above = 0, all = 0, N = (double)total, m = N - (double)n;
    for (size_t i = 0; i < total; i++) {
        double same = 0;
        rank[i] = 1;
        for (size_t k = 0; k < total; k++) {
            rank[i] += v[k] < v[i] ? 2 : v[k] == v[i];
            same += v[k] == v[i];
        }
        ties += same * same - 1;
        sum += i < n ? rank[i] : 0;
    }
    if (total > EXACT) {
        double off = fabs((double)sum / 2 - (double)n * (N + 1) / 2) - 0.5;
        double variance = (double)n * m / 12 * (N + 1 - ties / (N * (N - 1)));
        return off > 0 && variance > 0 ? erfc(off / sqrt(2 * variance)) : 1;
    }
    memset(ways, 0, sizeof ways);
    ways[0][0] = 1;
    for (size_t i = 0; i < total; i++)
        for (size_t k = i + 1; k > 0; k--)
            for (size_t s = rank[i]; s <= most; s++)
                ways[k][s] += ways[k - 1][s - rank[i]];
    for (size_t s = 0; s <= most; s++) {
        all += ways[n][s];
        below += s <= sum ? ways[n][s] : 0;
        above += s >= sum ? ways[n][s] : 0;
    }
    double p = 2 * (below < above ? below : above) / all;
    return p < 1 ? p : 1;
}

/* A split has the p of the same two samples, times the number of places. */
static void one_split(void)
{
    int wrong = 0;
    for (int t = 0; t < 200; t++) {
        uint32_t sizes[6];
        double v[90], least = 1;
        size_t groups = 2 + rnd(5), total = 0, before = 0;
        for (size_t g = 0; g < groups; g++)
            total += sizes[g] = 1 + rnd(t % 2 ? 15 : 5);
        for (size_t i = 0; i < total; i++)
            v[i] = rnd(t % 3 ? 1000 : 4) + (i > total / 2 ? 2.0 : 0);
        struct dp_split split;
        wrong += dp_stat_split(&split, v, sizes, groups) != 0;
        for (size_t g = 0; g + 1 < groups; g++) {
            before += sizes[g];
            double place = rank_p(v, before, total);
            least = place < least ? place : least;
            if (g + 1 == split.at) {
                double p = place * (double)(groups - 1);
                wrong += fabs(split.p - (p < 1 ? p : 1)) > 1e-12;
            }
        }
        wrong += split.p < least * 0.999999;
    }
    is_i(wrong, 0, "p of a split is that of its two samples, times the places");
    struct dp_split split;
    const double same[] = { 1, 1, 1, 1 };
    const uint32_t two[] = { 2, 2 }, none[] = { 0, 4 };
    dp_stat_split(&split, same, two, 2);
    ok(split.p == 1, "equal values have no split");
    dp_stat_split(&split, same, none, 2);
    ok(split.p == 1, "... nor has one group beside an empty one");
    dp_stat_split(&split, same, two, 1);
    ok(split.p == 1, "... nor one group alone");
    dp_stat_split(&split, same, two, 0);
    ok(split.p == 1, "... nor none");
}

static double values[SERIES * VALUES];
static uint32_t sizes[GROUPS];
static const struct dp_history history = { values, SERIES, sizes, GROUPS };

static void noise(void)
{
    for (size_t i = 0; i < SERIES * VALUES; i++)
        values[i] = 1000.0 + rnd(100);
    for (size_t g = 0; g < GROUPS; g++)
        sizes[g] = EACH;
}

static void add(size_t series, size_t from, double by)
{
    for (size_t i = from * EACH; i < VALUES; i++)
        values[series * VALUES + i] += by;
}

static void steps(void)
{
    struct dp_changepoint *found;
    size_t n;
    noise();
    add(3, 9, 90);
    add(7, 2, 90);
    add(7, 6, -90);
    add(12, 1, -90);
    is_i(dp_changepoints(&found, &n, &history, 0.001), 0, "series with steps");
    is_i((int)n, 4, "all steps are found");
    const uint32_t wanted[][2] = { { 3, 9 }, { 7, 2 }, { 7, 6 }, { 12, 1 } };
    for (size_t i = 0; i < n && i < 4; i++)
        ok(found[i].series == wanted[i][0] && found[i].at == wanted[i][1]
           && found[i].p <= 0.001, "series %u at %u", (unsigned)wanted[i][0],
           (unsigned)wanted[i][1]);
    dp_changepoints_free(found);
    is_i(dp_changepoints(&found, &n, &history, 1e-300), 0, "none is as sure as that");
    is_i((int)n, 0, "... and none is told");
    dp_changepoints_free(found);
    struct dp_history one = { values, SERIES, sizes, 1 }, empty = { values, 0, sizes, 0 };
    is_i(dp_changepoints(&found, &n, &one, 0.5) + (int)n, 0, "one group");
    dp_changepoints_free(found);
    is_i(dp_changepoints(&found, &n, &empty, 0.5) + (int)n, 0, "nothing");
    dp_changepoints_free(found);
}

/* The second change of a bump is clearer than the first one, without which the test would not have
 * searched for it: so it is no surer. */
static void bump(void)
{
    struct dp_changepoint *found;
    struct dp_split first;
    struct dp_history one = history;
    size_t n;
    noise();
    add(0, 6, 90);
    add(0, 8, -90);
    one.series = 1;
    dp_stat_split(&first, values, sizes, GROUPS);
    is_i(dp_changepoints(&found, &n, &one, 0.01) + (int)n, 2, "a bump has two changes");
    ok(n == 2 && found[0].at == 6 && found[1].at == 8, "... where it begins and ends");
    ok(n == 2 && found[0].p == first.p && found[1].p == first.p, "... as sure as the first");
    dp_changepoints_free(found);
}

/* The results for equal distributions: alpha bounds histories with an alarm. */
static void alarms(void)
{
    int count = 0;
    const int rounds = 2000;
    for (int i = 0; i < rounds; i++) {
        struct dp_changepoint *found;
        size_t n;
        noise();
        dp_changepoints(&found, &n, &history, 0.05);
        count += n > 0;
        dp_changepoints_free(found);
    }
    ok(count <= rounds * 0.05 && count >= rounds * 0.005,
       "alpha 0.05: alarms in %.2f %% of unchanged histories", 100.0 * count / rounds);
}

static void decides(void)
{
    struct dp_history h = { values, 1, sizes, 2 };
    sizes[0] = sizes[1] = 5;    /* 2 / C(10, 5) */
    ok(dp_changepoints_decide(&h, 0.008) && !dp_changepoints_decide(&h, 0.007),
       "what so few values decide");
    h.series = 2;
    ok(!dp_changepoints_decide(&h, 0.008), "... and of two series");
    h.groups = 3;
    sizes[2] = 5;               /* 2 / C(15, 5), for two series with two places each */
    ok(dp_changepoints_decide(&h, 0.00267) && !dp_changepoints_decide(&h, 0.00266),
       "... and of three groups");
}

static void no_memory(void)
{
    int failures = 0;
    noise();
    add(0, 5, 200);
    sizes[0] = 4;               /* the last four values are not used */
    for (long n = 0; n < 400; n++) {
        struct dp_changepoint *found;
        size_t count;
        dp_mem_fail_after(n);
        int rc = dp_changepoints(&found, &count, &history, 0.01);
        failures += rc < 0 && !found && !count;
        dp_changepoints_free(found);
    }
    dp_mem_fail_after(-1);
    ok(failures >= 20, "no memory at %d places", failures);
    is_i(dp_mem_live(), 0, "nothing is left behind");
}

int main(void)
{
    one_split();
    steps();
    bump();
    alarms();
    decides();
    no_memory();
    return tap_done();
}
