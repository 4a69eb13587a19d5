#include "dp_hosts.h"
#include "dp_counts.h"
#include "dp_err.h"
#include "dp_mem.h"

#include <math.h>
#include <string.h>

enum { BY_RANK = 20 };          /* hosts a side */

static bool is_ranked(size_t n, size_t m, bool paired)
{
    return !paired && n >= BY_RANK && m >= BY_RANK;
}

static size_t freedom_of(size_t n, size_t m, bool paired) { return paired ? n - 1 : n + m - 2; }

bool dp_hosts_decide(size_t n, size_t m) { return n > 1 && m > 1; }

static double mean_of(const double *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    return sum / (double)n;
}

/* The sum of the squares around the mean. */
static double squares_of(const double *v, size_t n)
{
    double mean = mean_of(v, n), sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (v[i] - mean) * (v[i] - mean);
    return sum;
}

/* The squared standard error of the difference of the means; room for n differences. */
static double variance_of(const double *x, size_t n, const double *y, size_t m, bool paired,
                          double *room)
{
    double freedom = (double)freedom_of(n, m, paired);
    for (size_t i = 0; i < n && paired; i++)
        room[i] = y[i] - x[i];
    if (paired)
        return squares_of(room, n) / freedom / (double)n;
    return (squares_of(x, n) + squares_of(y, m)) / freedom * (1 / (double)n + 1 / (double)m);
}

static void student(struct dp_stat *out, double change, double error, size_t freedom,
                    double confidence)
{
    double off = error * dp_counts_t_quantile(1 - confidence, freedom);
    out->p = error > 0 ? dp_counts_t_tails(fabs(change) / error, freedom) : change == 0;
    out->low = change - off;
    out->high = change + off;
}

static int compare_by_t(struct dp_stat *out, const double *x, size_t n, const double *y, size_t m,
                        bool paired, double confidence)
{
    double *room = dp_mem_realloc(NULL, n > m ? n : m, sizeof *room);
    if (!room)
        return DP_E_NOMEM;
    double variance = variance_of(x, n, y, m, paired, room);
    student(out, mean_of(y, m) - mean_of(x, n), sqrt(variance), freedom_of(n, m, paired),
            confidence);
    for (int side = 0; side < 2; side++) {
        size_t k = side ? m : n;
        memcpy(room, side ? y : x, k * sizeof *room);
        out->median[side] = dp_stat_median(room, k);
        out->spread[side] = dp_stat_spread(room, k, out->median[side]);
    }
    dp_mem_free(room);
    return 0;
}

int dp_hosts_compare(struct dp_stat *out, const double *x, size_t n, const double *y, size_t m,
                     bool paired, double confidence)
{
    if (dp_hosts_decide(n, m) && !is_ranked(n, m, paired)) {
        memset(out, 0, sizeof *out);
        return compare_by_t(out, x, n, y, m, paired, confidence);
    }
    int rc = dp_stat_compare(out, x, n, y, m, confidence);
    if (!dp_hosts_decide(n, m)) {
        out->p = 1;
        out->low = -INFINITY;
        out->high = INFINITY;
    }
    return rc;
}

/* What a standard error of the mean is multiplied by. */
static double sides_of(size_t n, size_t m, bool paired)
{
    return paired ? 1 / (double)n : 1 / (double)n + 1 / (double)m;
}

double dp_hosts_error(double low, double high, size_t n, size_t m, bool paired, double confidence)
{
    if (is_ranked(n, m, paired))
        return dp_stat_sigma(low, high, n, m, confidence) * sqrt(sides_of(n, m, paired));
    return (high - low) / 2 / dp_counts_t_quantile(1 - confidence, freedom_of(n, m, paired));
}

double dp_hosts_reach(size_t n, size_t m, bool paired, double alpha)
{
    if (is_ranked(n, m, paired))
        return dp_stat_seen(n, m, alpha) / sqrt(sides_of(n, m, paired));
    return dp_counts_reach(freedom_of(n, m, paired), alpha);
}

size_t dp_hosts_needed(double errors, size_t n, size_t m, bool paired, double alpha, size_t most)
{
    double sigmas = errors * sqrt(sides_of(n, m, paired));      /* of a host */
    size_t low = 1, high = most;
    if (sigmas / sqrt(sides_of(most, most, paired)) < dp_hosts_reach(most, most, paired, alpha))
        return 0;
    while (high - low > 1) {
        size_t k = low + (high - low) / 2;
        if (sigmas / sqrt(sides_of(k, k, paired)) >= dp_hosts_reach(k, k, paired, alpha))
            high = k;
        else
            low = k;
    }
    return high;
}
