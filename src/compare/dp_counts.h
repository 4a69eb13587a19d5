/* Tests of counts, such as the samples of a sub: is a share of all samples, or a rate, the same on
 * two sides? A count has a chance of its own, which is known; what else differs from run to run is
 * told from the runs, where a side has several. */
#ifndef DP_COUNTS_H
#define DP_COUNTS_H

#include "dp_base.h"

/* What a run has counted. */
struct dp_counted {
    double count;
    double of;                  /* what a share is of: how many there are in all; what a rate is
                                 * for: its exposure, such as seconds */
};

/* All runs as one. */
struct dp_counted dp_counts_sum(const struct dp_counted *v, size_t n);

enum dp_counts_kind { DP_COUNTS_SHARE, DP_COUNTS_RATE };

struct dp_counts {
    double p;                   /* two-sided */
    double low, high;           /* interval of y's rate divided by x's; 0 and infinity where counts
                                 * are missing */
    double spread;              /* how many times the variance of the runs is that of counts; 1 at
                                 * least, and where there are no runs to tell */
};

/* Compares x..n with y..m. p is exact, given the sum of both sides: Fisher's test for shares (the
 * hypergeometric distribution), and for rates the binomial test of two Poisson means (J.
 * Przyborowski, H. Wilenski: Homogeneity of results in testing samples from Poisson series,
 * Biometrika 31, 1940), both twice the smaller tail. With more than two runs in all, counts may
 * vary more than those of chance: then p is the greater of that one and of Student's t of the score
 * divided by the root of the spread, Pearson's chi-square by its degrees of freedom (P. McCullagh,
 * J. A. Nelder: Generalized Linear Models, 1989, 4.5: quasi-likelihood). The interval is that of
 * Clopper and Pearson; with more runs it holds that of the logarithm with Student's t, too, as p is
 * the greater one of both tests. */
void dp_counts_compare(struct dp_counts *out, const struct dp_counted *x, size_t n,
                       const struct dp_counted *y, size_t m, enum dp_counts_kind kind,
                       double confidence);

/* The chance that Student's t, of so many degrees of freedom, is as far from 0 as t, or further;
 * no degrees: that a normal value is. (Abramowitz, Stegun: Handbook of Mathematical Functions,
 * 26.7.) */
double dp_counts_t_tails(double t, size_t freedom);
/* The t whose tails have that chance. */
double dp_counts_t_quantile(double chance, size_t freedom);

/* ---- what a test could have seen ---- */

/* Roots of counts have about the same variance, whatever the count is. How far apart, in their
 * standard deviations, must they be, that a test at level alpha finds them so four times of five?
 * (K. Gu, H. K. T. Ng, M. L. Tang, W. R. Schucany: Testing the ratio of two Poisson rates,
 * Biometrical Journal 50, 2008.) */
double dp_counts_reach(size_t freedom, double alpha);

/* The standard deviation of the root of a ratio of two rates near 1: of a baseline with so many
 * counts, of another side that has `ratio` times as much to count in. */
double dp_counts_sight(double count, double ratio, double spread);

#endif
