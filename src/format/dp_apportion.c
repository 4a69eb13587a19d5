#include "dp_apportion.h"

/* The whole ticks of a running sum, at most `most`. The remainder is left for the next item. */
static uint64_t due_ticks(double *sum, uint64_t *done, double ticks, uint64_t most)
{
    *sum += ticks;
    uint64_t now = *sum > (double)most ? most : (uint64_t)*sum;
    uint64_t d = now > *done ? now - *done : 0;
    *done += d;
    return d;
}

/* Gives the rest of a sum to items that have room for it, the last item first. */
static void give_rest(struct dp_apportion *items, size_t n, uint64_t left, int time)
{
    for (size_t i = n; i-- > 0 && left;) {
        uint64_t room = items[i].t[time - 1] - items[i].t[time];
        uint64_t more = left < room ? left : room;
        items[i].t[time] += more;
        left -= more;
    }
}

void dp_apportion(struct dp_apportion *items, size_t n, double ticks_per_stamp,
                  const uint64_t sums[DP_APPORTION_TIMES])
{
    double sum[DP_APPORTION_TIMES] = { 0 };
    uint64_t done[DP_APPORTION_TIMES] = { 0 };
    for (size_t i = 0; i < n; i++) {
        uint64_t *t = items[i].t;
        for (int m = 0; m < DP_APPORTION_TIMES; m++) {
            t[m] = due_ticks(&sum[m], &done[m], items[i].stamps[m] * ticks_per_stamp, sums[m]);
            if (m > 0 && t[m] > t[m - 1]) {     /* later */
                done[m] -= t[m] - t[m - 1];
                t[m] = t[m - 1];
            }
        }
    }
    if (n)
        items[n - 1].t[DP_APPORTION_REAL] += sums[DP_APPORTION_REAL] - done[DP_APPORTION_REAL];
    for (int m = DP_APPORTION_CPU; m < DP_APPORTION_TIMES; m++)
        give_rest(items, n, sums[m] - done[m], m);
}
