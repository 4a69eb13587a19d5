#include "dp_signed.h"
#include "dp_counts.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_sort.h"

#include <math.h>
#include <string.h>

enum { EXACT = 50 };            /* with more pairs, the normal distribution is as accurate */

bool dp_signed_decides(size_t n, double alpha)
{
    return n && ldexp(2, -(int)(n < 1000 ? n : 1000)) <= alpha;
}

/* ---- p ---- */

/* Compares differences by their size without the sign, then by number. */
static int by_size(const void *ctx, uint32_t a, uint32_t b)
{
    const double *d = ctx;
    double x = fabs(d[a]), y = fabs(d[b]);
    return x < y ? -1 : x > y ? 1 : a < b ? -1 : a > b;
}

/* The doubled ranks of the sizes of differences, by difference. Equal sizes get their mean rank. A
 * difference of 0 uses up a rank and counts for nothing. Returns 0 or DP_E_NOMEM. */
static int ranks_of(uint32_t *rank, const double *d, size_t n)
{
    uint32_t *order = dp_sort_order(n, by_size, d);
    if (!order)
        return DP_E_NOMEM;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && fabs(d[order[end]]) == fabs(d[order[i]]); end++)
            ;
        for (size_t k = i; k < end; k++)
            rank[order[k]] = d[order[k]] != 0 ? (uint32_t)(i + end + 1) : 0;
    }
    dp_mem_free(order);
    return 0;
}

/* The number of ways to choose ranks that add up to s, for each s up to `most`. The numbers are
 * doubles, as there are 2^50 ways to choose from 50 ranks. The caller frees the array; NULL: memory
 * is short. */
static double *ways_of(const uint32_t *rank, size_t n, size_t most)
{
    double *ways = dp_mem_zalloc((most + 1) * sizeof *ways);
    if (!ways)
        return NULL;
    ways[0] = 1;
    for (size_t i = 0; i < n; i++)
        for (size_t s = most + 1; rank[i] && s-- > rank[i];)
            ways[s] += ways[s - rank[i]];
    return ways;
}

/* Computes the two-sided p of a sum of signed ranks exactly, from all ways to choose the signs.
 * most: the sum of all ranks; sum: that of the positive differences. Returns 0 or DP_E_NOMEM. */
static int exact_p_of_sum(double *p, const uint32_t *rank, size_t n, size_t most, size_t sum)
{
    double *ways = ways_of(rank, n, most), below = 0, above = 0, all = 0;
    if (!ways)
        return DP_E_NOMEM;
    for (size_t s = 0; s <= most; s++) {
        all += ways[s];
        below += s <= sum ? ways[s] : 0;
        above += s >= sum ? ways[s] : 0;
    }
    dp_mem_free(ways);
    *p = fmin(2 * fmin(below, above) / all, 1);
    return 0;
}

/* Sets *p to the two-sided p of the sum of the ranks of positive differences. Returns 0 or
 * DP_E_NOMEM. */
static int test_ranks(double *p, const double *d, const uint32_t *rank, size_t n)
{
    size_t sum = 0, most = 0;
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        most += rank[i];
        sum += d[i] > 0 ? rank[i] : 0;
        squares += (double)rank[i] * rank[i];
    }
    if (n <= EXACT)
        return exact_p_of_sum(p, rank, n, most, sum);
    /* possible sums are two apart */
    double off = fabs((double)sum - (double)most / 2) - 1;
    *p = squares > 0 && off > 0 ? dp_counts_t_tails(off / (sqrt(squares) / 2), 0) : 1;
    return 0;
}

/* ---- the interval ---- */

/* Sets *sum to the greatest sum of ranks of n different differences that the test considers too
 * small at this level; -1: there is none. Returns 0 or DP_E_NOMEM. */
static int too_small(double *sum, size_t n, double chance)
{
    size_t most = n * (n + 1) / 2;
    *sum = -1;
    if (n > EXACT) {
        double deviation = sqrt((double)most * (2 * (double)n + 1) / 12);
        *sum = floor((double)most / 2 - 0.5 - dp_counts_t_quantile(chance, 0) * deviation);
        return 0;
    }
    uint32_t rank[EXACT];
    for (size_t i = 0; i < n; i++)
        rank[i] = (uint32_t)i + 1;
    double *ways = ways_of(rank, n, most), below = 0, tail = ldexp(chance / 2, (int)n);
    if (!ways)
        return DP_E_NOMEM;
    for (size_t s = 0; s <= most && (below += ways[s]) <= tail; s++)
        *sum = (double)s;
    dp_mem_free(ways);
    return 0;
}

/* Sets out->low and out->high, which stay as they are if there are too few differences, and *shift,
 * the median of the averages of two. If the sizes differ, the sum of the ranks of the differences
 * above a shift equals the number of averages above it. (J. W. Tukey: The simplest signed-rank
 * tests, 1949.) Returns 0 or DP_E_NOMEM. */
static int shift_interval(struct dp_stat *out, double *shift, const double *d, size_t n,
                          double confidence)
{
    size_t count = n * (n + 1) / 2, k = 0;
    double *averages = dp_mem_realloc(NULL, count + 1, sizeof *averages), small;
    if (!averages)
        return DP_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            averages[k++] = (d[i] + d[j]) / 2;
    *shift = dp_stat_median(averages, count);   /* this call sorts them */
    int rc = too_small(&small, n, 1 - confidence);
    if (rc == 0 && small >= 0) {
        out->low = averages[(size_t)small];
        out->high = averages[count - 1 - (size_t)small];
    }
    dp_mem_free(averages);
    return rc;
}

/* ---- the comparison ---- */

/* Sets the median and the spread of a side. room: space for n numbers. */
static void sum_up(struct dp_stat *out, int side, const double *v, size_t n, double *room)
{
    memcpy(room, v, n * sizeof *v);
    out->median[side] = dp_stat_median(room, n);
    out->spread[side] = dp_stat_spread(room, n, out->median[side]);
}

int dp_signed_compare(struct dp_stat *out, double *shift, const double *x, const double *y,
                      size_t n, double confidence)
{
    *out = (struct dp_stat){ .p = 1, .low = -INFINITY, .high = INFINITY };
    *shift = 0;
    double *d = n ? dp_mem_realloc(NULL, n, sizeof *d) : NULL;
    uint32_t *rank = n ? dp_mem_realloc(NULL, n, sizeof *rank) : NULL;
    int rc = !n ? 0 : d && rank ? 1 : DP_E_NOMEM;
    if (rc > 0) {
        for (int side = 0; side < 2; side++)
            sum_up(out, side, side ? y : x, n, d);
        for (size_t i = 0; i < n; i++)
            d[i] = y[i] - x[i];
        rc = ranks_of(rank, d, n);
    }
    if (rc == 0 && n)
        rc = test_ranks(&out->p, d, rank, n);
    if (rc == 0 && n)
        rc = shift_interval(out, shift, d, n, confidence);
    dp_mem_free(rank);
    dp_mem_free(d);
    return rc;
}
