#include "dp_stat.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_sort.h"

#include <math.h>
#include <string.h>

enum { EXACT = 50 };            /* with more values in all, the normal distribution is as
                                 * accurate */

/* Compares values by size, then by number. */
static int by_value(const void *ctx, uint32_t a, uint32_t b)
{
    const double *v = ctx;
    return v[a] < v[b] ? -1 : v[a] > v[b] ? 1 : a < b ? -1 : a > b;
}

/* Moves the value at `at' down in a heap of the n values, the greatest on top: the step of
 * heapsort. */
static void sift_value(double *v, size_t at, size_t n)
{
    for (size_t kid; (kid = 2 * at + 1) < n; at = kid) {
        if (kid + 1 < n && v[kid + 1] > v[kid])
            kid++;
        if (v[at] >= v[kid])
            return;
        double t = v[at];
        v[at] = v[kid];
        v[kid] = t;
    }
}

/* Sorts n numbers by heapsort, which needs no memory and is never quadratic. */
static void sort_values(double *v, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        sift_value(v, i, n);
    for (size_t i = n; i-- > 1;) {
        double t = v[0];
        v[0] = v[i];
        v[i] = t;
        sift_value(v, 0, i);
    }
}

double dp_stat_median(double *v, size_t n)
{
    if (!n)
        return 0;
    sort_values(v, n);
    return n % 2 ? v[n / 2] : v[n / 2 - 1] + (v[n / 2] - v[n / 2 - 1]) / 2;
}

/* ---- the distribution of a rank sum ---- */

/* The number of ways to choose k of the doubled ranks so that they add up to s, for all k up to
 * `most` and all s up to `sum`: ways[k * (sum + 1) + s]. The numbers are doubles, as there are up
 * to 1e29 ways to choose 50 of 100. The caller frees the array; NULL: memory is short. */
static double *ways_of(const uint32_t *rank, size_t n, size_t most, size_t sum)
{
    double *ways = dp_mem_zalloc((most + 1) * (sum + 1) * sizeof *ways);
    if (!ways)
        return NULL;
    ways[0] = 1;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i < most ? i + 1 : most; k > 0; k--) {
            double *to = ways + k * (sum + 1);
            const double *from = to - (sum + 1);
            for (size_t s = sum + 1; s-- > rank[i];)
                to[s] += from[s - rank[i]];
        }
    return ways;
}

static double normal_tail(double z) { return 0.5 * erfc(z / sqrt(2.0)); }

/* The z whose upper tail has this probability. */
static double normal_quantile(double tail)
{
    double low = 0, high = 40;
    for (int i = 0; i < 100; i++) {
        double z = (low + high) / 2;
        if (normal_tail(z) > tail)
            low = z;
        else
            high = z;
    }
    return high;
}

/* The doubled ranks, in the order of the values; equal values get their mean rank. */
static void ranks_of(const double *all, const uint32_t *order, uint32_t *rank, size_t total)
{
    for (size_t i = 0, end; i < total; i = end) {
        for (end = i + 1; end < total && all[order[end]] == all[order[i]]; end++)
            ;
        for (size_t k = i; k < end; k++)
            rank[k] = (uint32_t)(i + end + 1);
    }
}

/* The two-sided p for n of `total' values whose ranks have this sum: counts all choices of n ranks.
 * Returns 0 or DP_E_NOMEM. */
static int exact_p(double *p, const uint32_t *rank, size_t n, size_t total, size_t sum)
{
    size_t most = 0;
    for (size_t i = total - n; i < total; i++)
        most += rank[i];
    double *ways = ways_of(rank, total, n, most), below = 0, above = 0, all = 0;
    if (!ways)
        return DP_E_NOMEM;
    for (size_t s = 0; s <= most; s++) {
        double w = ways[n * (most + 1) + s];
        all += w;
        below += s <= sum ? w : 0;
        above += s >= sum ? w : 0;
    }
    dp_mem_free(ways);
    *p = 2 * (below < above ? below : above) / all;
    return 0;
}

/* The chance distribution of a sum of scores. */
struct moments { double mean, squares; };   /* of one score; of all scores, around the mean */

/* Returns the mean of scores and the sum of their squared distances from it. */
static struct moments moments_of(const uint32_t *scores, size_t total)
{
    struct moments m = { 0, 0 };
    for (size_t i = 0; i < total; i++)
        m.mean += scores[i] / (double)total;
    for (size_t i = 0; i < total; i++)
        m.squares += (scores[i] - m.mean) * (scores[i] - m.mean);
    return m;
}

/* The standard deviation of the sum of n of `total` scores. */
static double deviation_of(const struct moments *by_chance, size_t n, size_t total)
{
    double N = (double)total, k = (double)n;
    return sqrt(k * (N - k) / (N * (N - 1)) * by_chance->squares);
}

/* How many standard deviations the sum of n of `total` scores is away from its mean; 0 if a sample
 * is empty. Possible sums are two apart. (J. Hajek, Z. Sidak: Theory of Rank Tests, 1967, chapter
 * II, theorem 3.1.c.) */
static double off_mean(const struct moments *by_chance, size_t n, size_t total, size_t sum)
{
    double deviation = deviation_of(by_chance, n, total);
    double off = fabs((double)sum - (double)n * by_chance->mean) - 1;
    return deviation <= 0 || off <= 0 ? 0 : off / deviation;
}

/* Sets *p to the two-sided p of n of `total` scores that add up to `sum`: exactly for up to EXACT
 * scores, else by the normal distribution. Returns 0 or DP_E_NOMEM. */
static int p_of_sum(double *p, const uint32_t *scores, size_t n, size_t total, size_t sum)
{
    int rc = 0;
    if (total <= EXACT) {
        rc = exact_p(p, scores, n, total, sum);
    } else {
        struct moments by_chance = moments_of(scores, total);
        *p = 2 * normal_tail(off_mean(&by_chance, n, total, sum));
    }
    if (*p > 1)
        *p = 1;
    return rc;
}

/* Numbers in the order of the values, with room for as many ranks behind them. The caller frees
 * them; NULL: no memory. */
static uint32_t *ordered_numbers(const double *all, size_t total)
{
    uint32_t *order = dp_mem_realloc(NULL, 2 * total, sizeof *order);
    if (!order)
        return NULL;
    for (uint32_t i = 0; i < total; i++)
        order[i] = i;
    dp_sort_u32(order, total, by_value, all);
    return order;
}

/* The score of a doubled rank: the rank itself, brought nearer to the middle rank if it is farther
 * away than is needed to tell that n values are all less, or all greater, than m others. */
static uint32_t bounded_score(uint32_t rank, size_t n, size_t m)
{
    size_t middle = n + m + 1, few = n < m ? n : m, many = n + m - few;
    uint32_t reach = (uint32_t)(many - few + (11 * few + 5) / 10);
    uint32_t low = (uint32_t)middle - reach, high = (uint32_t)middle + reach;
    return rank < low ? low : rank > high ? high : rank;
}

/* Replaces doubled ranks by scores. Returns the sum of the first sample's scores. */
static size_t make_scores(uint32_t *rank, const uint32_t *order, size_t n, size_t m)
{
    size_t sum = 0;
    for (size_t i = 0; i < n + m; i++) {
        rank[i] = bounded_score(rank[i], n, m);
        sum += order[i] < n ? rank[i] : 0;
    }
    return sum;
}

/* Sets p of the test on capped ranks: n values of the first side, then m of the second. Returns 0
 * or DP_E_NOMEM. */
static int test_scores(double *p, const double *all, size_t n, size_t m)
{
    uint32_t *order = ordered_numbers(all, n + m);
    if (!order)
        return DP_E_NOMEM;
    uint32_t *rank = order + n + m;
    ranks_of(all, order, rank, n + m);
    int rc = p_of_sum(p, rank, n, n + m, make_scores(rank, order, n, m));
    dp_mem_free(order);
    return rc;
}

/* Finds the place between groups where the rank sum of the values before it is furthest from its
 * mean. own: the ranks of v in its own order. Returns the distance in standard deviations. */
static double best_split(struct dp_split *out, const uint32_t *own, const uint32_t *sizes,
                         size_t groups, size_t total, const struct moments *by_chance, size_t *n,
                         size_t *sum_of_n)
{
    double best = 0;
    size_t before = 0, sum = 0;
    for (size_t g = 0; g + 1 < groups; g++) {
        for (size_t end = before + sizes[g]; before < end; before++)
            sum += own[before];
        double off = off_mean(by_chance, before, total, sum);
        if (off > best) {
            best = off;
            out->at = g + 1;
            *n = before;
            *sum_of_n = sum;
        }
    }
    return best;
}

int dp_stat_split(struct dp_split *out, const double *v, const uint32_t *sizes, size_t groups)
{
    size_t total = 0, n = 0, sum = 0;
    int rc = 0;
    for (size_t g = 0; g < groups; g++)
        total += sizes[g];
    *out = (struct dp_split){ .at = 1, .p = 1 };
    if (groups < 2 || total < 2)
        return 0;
    uint32_t *order = ordered_numbers(v, total), *own = dp_mem_realloc(NULL, total, sizeof *own);
    if (order && own) {
        uint32_t *rank = order + total;
        ranks_of(v, order, rank, total);
        struct moments by_chance = moments_of(rank, total);
        for (size_t i = 0; i < total; i++)
            own[order[i]] = rank[i];
        if (best_split(out, own, sizes, groups, total, &by_chance, &n, &sum) > 0)
            rc = p_of_sum(&out->p, rank, n, total, sum);
    } else {
        rc = DP_E_NOMEM;
    }
    out->p *= (double)(groups - 1);
    if (out->p > 1)
        out->p = 1;
    dp_mem_free(own);
    dp_mem_free(order);
    return rc;
}

/* ---- the interval ---- */

/* A volatile is stored, and so rounded: the x87 compares a difference in a register with more
 * digits. Rounding keeps the order, so the differences of sorted values are sorted, too. */
static double difference_of(double x, double y)
{
    volatile double difference = y - x;
    return difference;
}

/* Counts the differences up to a limit; x and y are sorted. *below: the greatest of these
 * differences, *above: the least of the others; each stays unchanged if there is none. */
static uint64_t count_up_to(double limit, const double *x, size_t n, const double *y, size_t m,
                            double *below, double *above)
{
    uint64_t count = 0;
    double greatest = -INFINITY, least = INFINITY;
    for (size_t i = 0, j = 0; i < n; i++, count += j) {
        while (j < m && difference_of(x[i], y[j]) <= limit)
            j++;
        if (j > 0 && difference_of(x[i], y[j - 1]) > greatest)
            greatest = difference_of(x[i], y[j - 1]);
        if (j < m && difference_of(x[i], y[j]) < least)
            least = difference_of(x[i], y[j]);
    }
    *below = count ? greatest : *below;
    *above = count < (uint64_t)n * m ? least : *above;
    return count;
}

/* The k-th of the n * m differences y - x, from 1 up; x and y are sorted. Instead of making the
 * differences, it halves a range that contains the k-th; the ends of the range are always
 * differences. */
static double kth_difference(uint64_t k, const double *x, size_t n, const double *y, size_t m)
{
    double low = difference_of(x[n - 1], y[0]), high = difference_of(x[0], y[m - 1]);
    while (low < high) {
        volatile double half = low + (high - low) / 2;
        double limit = half < high ? half : low, below = low, above = high;
        if (count_up_to(limit, x, n, y, m, &below, &above) >= k)
            high = below;
        else
            low = above;
    }
    return low;
}

/* The scores of n + m different values, in their order. */
static void plain_scores(uint32_t *scores, size_t n, size_t m)
{
    for (size_t i = 0; i < n + m; i++)
        scores[i] = bounded_score(2 * (uint32_t)i + 2, n, m);
}

/* Sets *sum to the greatest sum of the first sample's scores that the test considers too small at
 * this level; to less than any sum if there is none. Returns 0 or DP_E_NOMEM. The distribution is
 * symmetric, so the sums that are too great follow from it. */
static int too_small(double *sum, const uint32_t *scores, size_t n, size_t total, double tail)
{
    double mean = (double)n * (double)(total + 1);
    *sum = -1;
    if (total > EXACT) {
        struct moments by_chance = moments_of(scores, total);
        *sum = floor(mean - 1 - normal_quantile(tail) * deviation_of(&by_chance, n, total));
        return 0;
    }
    size_t most = (size_t)mean;
    double *ways = ways_of(scores, total, n, most), all = 1, below = 0;
    if (!ways)
        return DP_E_NOMEM;
    for (size_t i = 1; i <= n; i++)
        all *= (double)(total - n + i) / (double)i;
    for (size_t s = 0; s <= most && (below += ways[n * (most + 1) + s]) <= tail * all; s++)
        *sum = (double)s;
    dp_mem_free(ways);
    return 0;
}

/* Two sorted samples, and the scores of their order. */
struct two_samples {
    const double *x, *y;
    size_t n, m;
    const uint32_t *scores;
};

/* The sum of x's scores if all of y were less by d, and by a bit more. */
static double sum_beyond(const struct two_samples *s, double d)
{
    double sum = 0;
    for (size_t i = 0, j = 0; i < s->n; i++) {
        while (j < s->m && difference_of(s->x[i], s->y[j]) <= d)
            j++;
        sum += s->scores[i + j];
    }
    return sum;
}

/* The least of the differences beyond which x's sum is that great; infinite if there is none. The
 * sum does not decrease as the differences grow. */
static double first_beyond(const struct two_samples *s, double sum)
{
    uint64_t low = 1, high = (uint64_t)s->n * s->m;
    double d = kth_difference(high, s->x, s->n, s->y, s->m);
    if (sum_beyond(s, d) < sum)
        return INFINITY;
    while (low < high) {
        uint64_t k = low + (high - low) / 2;
        d = kth_difference(k, s->x, s->n, s->y, s->m);
        if (sum_beyond(s, d) >= sum)
            high = k;
        else
            low = k + 1;
    }
    return kth_difference(low, s->x, s->n, s->y, s->m);
}

/* Sets out->low and out->high to the bounds of the shifts that the test does not reject; infinite:
 * there is no bound. x and y are sorted. Returns 0 or DP_E_NOMEM. */
static int shift_interval(struct dp_stat *out, const double *x, size_t n, const double *y, size_t m,
                          double confidence)
{
    out->low = -INFINITY;
    out->high = INFINITY;
    uint32_t *scores = n && m ? dp_mem_realloc(NULL, n + m, sizeof *scores) : NULL;
    if (!scores)
        return n && m ? DP_E_NOMEM : 0;
    struct two_samples s = { x, y, n, m, scores };
    double small, least = 0;
    plain_scores(scores, n, m);
    for (size_t i = 0; i < n; i++)
        least += scores[i];
    int rc = too_small(&small, scores, n, n + m, (1 - confidence) / 2);
    if (rc == 0 && small >= least) {
        out->low = first_beyond(&s, small + 1);
        out->high = first_beyond(&s, 2 * (double)n * (double)(n + m + 1) - small);
    }
    dp_mem_free(scores);
    return rc;
}

double dp_stat_spread(double *v, size_t n, double median)
{
    for (size_t i = 0; i < n; i++)
        v[i] = fabs(v[i] - median);
    return 1.4826 * dp_stat_median(v, n);
}

int dp_stat_compare(struct dp_stat *out, const double *x, size_t n, const double *y, size_t m,
                    double confidence)
{
    memset(out, 0, sizeof *out);
    double *all = dp_mem_realloc(NULL, n + m + 1, sizeof *all);
    if (!all)
        return DP_E_NOMEM;
    for (size_t i = 0; i < n + m; i++)
        all[i] = i < n ? x[i] : y[i - n];
    out->p = 1;
    int rc = n && m ? test_scores(&out->p, all, n, m) : 0;
    out->median[0] = dp_stat_median(all, n);
    out->median[1] = dp_stat_median(all + n, m);
    if (rc == 0)                /* the medians have sorted both samples */
        rc = shift_interval(out, all, n, all + n, m, confidence);
    out->spread[0] = dp_stat_spread(all, n, out->median[0]);
    out->spread[1] = dp_stat_spread(all + n, m, out->median[1]);
    dp_mem_free(all);
    return rc;
}

/* ---- a slope ---- */

/* Sets *median to the value at which half of the weights are reached. Returns 0 or DP_E_NOMEM. */
static int weighted_median(double *median, const double *v, const double *weight, size_t n)
{
    uint32_t *order = ordered_numbers(v, n);
    double all = 0, sum = 0;
    if (!order)
        return DP_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        all += weight[i];
    for (size_t i = 0; i < n && 2 * sum < all; i++) {
        sum += weight[order[i]];
        *median = v[order[i]];
    }
    dp_mem_free(order);
    return 0;
}

int dp_stat_slope(double *slope, const double *x, const double *y, const size_t *sizes,
                  size_t groups, double usual, double doubt)
{
    size_t pairs = 0, n = 0, from = 0;
    for (size_t g = 0; g < groups; g++)
        pairs += sizes[g] * sizes[g] / 2;
    double *v = dp_mem_realloc(NULL, 2 * (pairs + 1), sizeof *v);
    if (!v)
        return DP_E_NOMEM;
    double *weight = v + pairs + 1, points = 0;
    for (size_t g = 0; g < groups; from += sizes[g++])
        for (size_t i = from; i < from + sizes[g]; i++)
            for (size_t k = from; k < i; k++, points++)
                if (x[i] != x[k]) {
                    v[n] = (y[i] - y[k]) / (x[i] - x[k]);
                    weight[n++] = fabs(x[i] - x[k]);
                }
    v[n] = usual;
    weight[n++] = doubt * points;
    *slope = usual;
    int rc = weighted_median(slope, v, weight, n);
    dp_mem_free(v);
    return rc;
}

/* ---- many tests ---- */

static void by_p(const double *p, size_t n, uint32_t *order)
{
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    dp_sort_u32(order, n, by_value, p);
}

void dp_stat_holm(double *p, const double *weight, size_t n, uint32_t *order)
{
    double least = 0, left = 0;
    for (size_t i = 0; i < n; i++) {
        left += weight ? weight[i] : 1;
        p[i] /= weight ? weight[i] : 1;
    }
    by_p(p, n, order);
    for (size_t i = 0; i < n; i++) {
        double adjusted = p[order[i]] * left;
        left -= weight ? weight[order[i]] : 1;
        least = adjusted > least ? adjusted : least;
        p[order[i]] = least < 1 ? least : 1;
    }
}

void dp_stat_fdr(double *p, size_t n, uint32_t *order)
{
    double most = 1;
    by_p(p, n, order);
    for (size_t i = n; i-- > 0;) {
        double adjusted = p[order[i]] * (double)n / (double)(i + 1);
        most = adjusted < most ? adjusted : most;
        p[order[i]] = most;
    }
}

/* The probability of the two orders without overlap, among all orders of the samples. */
static double least_p(size_t n, size_t m)
{
    double p = 2;
    for (size_t i = 1; i <= n; i++)
        p *= (double)i / (double)(m + i);
    return p < 1 ? p : 1;
}

bool dp_stat_decides(size_t n, size_t m, double tests, double alpha)
{
    return n && m && least_p(n, m) * (tests > 0 ? tests : 1) <= alpha;
}

size_t dp_stat_runs_needed(double tests, double alpha)
{
    size_t n = 2;
    while (n < 1000 && !dp_stat_decides(n, n, tests, alpha))
        n++;
    return n;
}

/* ---- the power of a test ---- */

enum { TRIALS = 1000 };

/* A test of small samples: the samples, which are the same at each call, and the test's results. */
struct trial {
    size_t n, m;
    uint32_t *scores, *order;
    double *normal, *shifted;   /* TRIALS samples of both; room for one */
    double small;
};

/* Fills in normal values, the same on each machine: a Lehmer generator, and sums of twelve. */
static void fill_normal(double *to, size_t n)
{
    uint64_t state = 48271;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (int k = 0; k < 12; k++) {
            state = state * 48271 % 2147483647;
            sum += (double)state / 2147483647;
        }
        to[i] = sum - 6;
    }
}

static void trial_release(struct trial *t)
{
    dp_mem_free(t->scores);
    dp_mem_free(t->normal);
}

/* Prepares trials of samples of n and m values: the scores, the random values, and the sum of
 * scores up to which a test finds a difference. Returns 0 or a DP_E, and has then released what it
 * made. */
static int trial_init(struct trial *t, size_t n, size_t m, double alpha)
{
    size_t total = n + m;
    *t = (struct trial){
        .n = n, .m = m, .scores = dp_mem_realloc(NULL, 2 * total, sizeof *t->scores),
        .normal = dp_mem_realloc(NULL, (TRIALS + 1) * total, sizeof *t->normal)
    };
    int rc = t->scores && t->normal ? 0 : DP_E_NOMEM;
    if (rc == 0) {
        t->order = t->scores + total;
        t->shifted = t->normal + TRIALS * total;
        plain_scores(t->scores, n, m);
        fill_normal(t->normal, TRIALS * total);
        rc = too_small(&t->small, t->scores, n, total, alpha / 2);
    }
    if (rc < 0)
        trial_release(t);
    return rc;
}

/* The fraction of the trials in which the test detects the shift. */
static double trial_power(const struct trial *t, double shift)
{
    size_t total = t->n + t->m, found = 0;
    for (size_t k = 0; k < TRIALS; k++) {
        double sum = 0;
        for (uint32_t i = 0; i < total; i++) {
            t->shifted[i] = t->normal[k * total + i] + (i < t->n ? 0 : shift);
            t->order[i] = i;
        }
        dp_sort_u32(t->order, total, by_value, t->shifted);
        for (size_t i = 0; i < total; i++)
            sum += t->order[i] < t->n ? t->scores[i] : 0;
        found += sum <= t->small;
    }
    return (double)found / TRIALS;
}

static const double often = 0.8;
/* The efficiency of the test with capped scores relative to Student's t, for samples of one size
 * (Hajek and Sidak, chapter VII; with 0.275 on each side of the middle, (erf(0.755) / (2
 * sqrt(pi)))^2 / 0.0479). It is greater for samples of different sizes. */
static const double efficiency = 0.849;

/* The shift that large samples detect, if the sum of scores is taken as normal. The variance of the
 * sum shrinks as the samples move apart, and its mean grows more slowly. Trials with 40 to 60
 * values need about that much more. */
static double large_seen(double n, double m, double alpha)
{
    static const double more = 0.15;
    double z = normal_quantile(alpha / 2) + normal_quantile(1 - often);
    return z / sqrt(efficiency * n * m / (n + m)) * (1 + more * z * z / (n + m));
}

double dp_stat_seen(size_t n, size_t m, double alpha)
{
    double low = 0, high = 20;
    struct trial trial;
    if (!dp_stat_decides(n, m, 1, alpha))
        return INFINITY;
    if (n + m > EXACT)
        return large_seen((double)n, (double)m, alpha);
    if (trial_init(&trial, n, m, alpha) < 0)
        return INFINITY;
    for (int i = 0; i < 30; i++) {
        double shift = (low + high) / 2;
        if (trial_power(&trial, shift) < often)
            low = shift;
        else
            high = shift;
    }
    trial_release(&trial);
    return high < 20 ? high : INFINITY;
}

double dp_stat_sigma(double width, size_t n, size_t m, double confidence)
{
    double sides = 1 / (double)n + 1 / (double)m;
    return width / (2 * normal_quantile((1 - confidence) / 2) * sqrt(sides / efficiency));
}

size_t dp_stat_runs_to_see(double shift, double alpha, size_t most)
{
    size_t low = 1, high = most;
    if (dp_stat_seen(most, most, alpha) > shift)
        return 0;
    while (high - low > 1) {
        size_t n = low + (high - low) / 2;
        if (dp_stat_seen(n, n, alpha) <= shift)
            high = n;
        else
            low = n;
    }
    return high;
}
