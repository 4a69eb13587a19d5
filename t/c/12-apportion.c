/* Times in stamps become ticks: the sums are met to the tick, and no item gets more of a time than
 * of the time that contains it. */
#include "dp_apportion.h"
#include "tap.h"

#include <string.h>

enum { MOST = 40 };

static uint64_t state = 88172645463325252u;

static uint64_t pick(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

static void fill(struct dp_apportion *items, size_t n)
{
    memset(items, 0, n * sizeof *items);
    for (size_t i = 0; i < n; i++) {
        uint64_t real = pick(5) ? pick(100000) : 0;
        uint64_t cpu = pick(3) ? real : pick(real + 1);
        items[i].stamps[DP_APPORTION_REAL] = (double)real;
        items[i].stamps[DP_APPORTION_CPU] = (double)cpu;
        /* A reading charges the kernel's share to the item that runs then: it may exceed the item's
         * own time. */
        items[i].stamps[DP_APPORTION_SYS] = pick(4) ? 0 : (double)pick(300000);
    }
}

static bool is_right(const struct dp_apportion *items, size_t n, const uint64_t *sums)
{
    uint64_t got[DP_APPORTION_TIMES] = { 0 };
    for (size_t i = 0; i < n; i++) {
        const uint64_t *t = items[i].t;
        if (t[DP_APPORTION_CPU] > t[DP_APPORTION_REAL] || t[DP_APPORTION_SYS] > t[DP_APPORTION_CPU])
            return false;
        for (int m = 0; m < DP_APPORTION_TIMES; m++)
            got[m] += t[m];
    }
    return memcmp(got, sums, sizeof got) == 0;
}

int main(void)
{
    struct dp_apportion items[MOST];
    size_t wrong = 0;
    for (int round = 0; round < 20000; round++) {
        size_t n = 1 + (size_t)pick(MOST);
        double f = (double)(1 + pick(1000)) / (double)(1 + pick(1000));
        fill(items, n);
        uint64_t sums[DP_APPORTION_TIMES];
        sums[DP_APPORTION_REAL] = pick(10000000);
        sums[DP_APPORTION_CPU] = pick(sums[DP_APPORTION_REAL] + 1);
        sums[DP_APPORTION_SYS] = pick(sums[DP_APPORTION_CPU] + 1);
        dp_apportion(items, n, f, sums);
        wrong += !is_right(items, n, sums);
    }
    ok(wrong == 0, "the sums are met for random stamps");

    const uint64_t sums[DP_APPORTION_TIMES] = { 30, 20, 10 };
    struct dp_apportion two[2] = { { .stamps = { 100, 50, 0 } }, { .stamps = { 200, 150, 100 } } };
    dp_apportion(two, 2, 0.1, sums);
    ok(two[0].t[DP_APPORTION_REAL] == 10 && two[0].t[DP_APPORTION_CPU] == 5
       && two[0].t[DP_APPORTION_SYS] == 0 && two[1].t[DP_APPORTION_REAL] == 20
       && two[1].t[DP_APPORTION_CPU] == 15
       && two[1].t[DP_APPORTION_SYS] == 10, "where stamps and sums agree, each item gets its own");
    dp_apportion(two, 0, 0.1, sums);
    ok(two[0].t[DP_APPORTION_REAL] == 10, "without items nothing is done");
    return tap_done();
}
