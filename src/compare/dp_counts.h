/* Tests of counts, such as the samples of a sub: is a share of all samples, or a rate, the same on
 * two sides? Chance alone makes a count vary by a known amount. If a side has several runs, the
 * runs show how much more the counts vary. */
#ifndef DP_COUNTS_H
#define DP_COUNTS_H

#include "dp_base.h"

/* The count of one run. */
struct dp_counted {
    double count;
    double of;                  /* for shares, the count of all entries; for rates, the exposure,
                                 * such as seconds */
};

/* The sum of all runs. */
struct dp_counted dp_counts_sum(const struct dp_counted *v, size_t n);

enum dp_counts_kind { DP_COUNTS_SHARE, DP_COUNTS_RATE };

struct dp_counts {
    double p;                   /* two-sided */
    double low, high;           /* interval of y's rate divided by x's; 0 and infinity if counts are
                                 * missing */
    double spread;              /* variance of the runs divided by the variance of counts: at least
                                 * 1, and 1 if there are too few runs */
};

/* Compares the runs x..n with y..m. p is exact, given the sum of both sides, and is twice the
 * smaller tail. For shares, the test is Fisher's (the hypergeometric distribution). For rates, it
 * is the binomial test of two Poisson means (J. Przyborowski, H. Wilenski: Homogeneity of results
 * in testing samples from Poisson series, Biometrika 31, 1940).
 *
 * With more than two runs in all, counts may vary by more than chance. Then p is the greater of the
 * exact p and the p of Student's t for the score divided by the root of the spread. The spread is
 * Pearson's chi-square divided by its degrees of freedom (P. McCullagh, J. A. Nelder: Generalized
 * Linear Models, 1989, 4.5: quasi-likelihood).
 *
 * The interval is that of Clopper and Pearson. With more than two runs, it also covers the interval
 * of the logarithm with Student's t, because p is the greater of both tests. */
void dp_counts_compare(struct dp_counts *out, const struct dp_counted *x, size_t n,
                       const struct dp_counted *y, size_t m, enum dp_counts_kind kind,
                       double confidence);

/* The two-sided tail of Student's t with these degrees of freedom: the probability of a value as
 * far from 0 as t, or further. No degrees: the tail of the normal distribution. (Abramowitz,
 * Stegun: Handbook of Mathematical Functions, 26.7.) */
double dp_counts_t_tails(double t, size_t freedom);
/* The t whose two-sided tail has this probability. */
double dp_counts_t_quantile(double chance, size_t freedom);

/* ---- the power of a test ---- */

/* How far apart the roots of two counts must be, in standard deviations, so that a test at level
 * alpha detects the difference with 80 % power. Roots of counts have about the same variance
 * whatever the count is. (K. Gu, H. K. T. Ng, M. L. Tang, W. R. Schucany: Testing the ratio of two
 * Poisson rates, Biometrical Journal 50, 2008.) */
double dp_counts_reach(size_t freedom, double alpha);

/* The standard deviation of the root of a ratio of two rates near 1. The baseline has `count`
 * counts, and the other side has `ratio` times the exposure. */
double dp_counts_sight(double count, double ratio, double spread);

#endif
