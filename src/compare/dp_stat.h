/* Statistics of two samples: is their difference significant? Medians, their spread, the rank test,
 * the interval of the shift, corrections for many tests. */
#ifndef DP_STAT_H
#define DP_STAT_H

#include "dp_base.h"

/* The median absolute deviation from the median, multiplied by 1.4826; overwrites v. */
double dp_stat_spread(double *v, size_t n, double median);

/* The result of comparing two samples. */
struct dp_stat {
    double median[2];
    double spread[2];           /* median absolute deviation multiplied by 1.4826: the sigma of a
                                 * normal distribution */
    double p;                   /* two-sided: the probability of a sum of scores as far from its
                                 * mean, or further, if both samples come from one distribution */
    double low, high;           /* interval of the shift from x to y; infinite if there are too few
                                 * runs */
};

/* The middle value, or the mean of the two middle values; sorts v. Returns 0 if v is empty. */
double dp_stat_median(double *v, size_t n);

/* Compares x..n with y..m by a rank test with capped ranks. p is exact for any distribution;
 * ties share their rank. A rank's distance from the middle is capped, so one disturbed run
 * cannot dominate. The cap lies 0.55 times the smaller sample's size beyond the ranks that show
 * whether one sample is entirely below the other. With 10 and 10 values, the five least count
 * like the fifth, and the five greatest like the fifth from the end. In recordings where a sub
 * was made 3 to 5 % slower, this test detects a fifth to a third of the changes that the
 * uncapped test (Mann-Whitney) misses. The cap costs one ninth more runs if values are normal.
 * (Linear rank tests: J. Hajek, Z. Sidak, Theory of Rank Tests, 1967.)
 *
 * p is exact up to 50 values in all; beyond, it is the normal approximation with its correction
 * for continuity. The interval, at the level `confidence` (0.95), holds the shifts that this
 * test does not reject, so it excludes 0 if p is less than 0.05. Its ends are two of the n * m
 * differences. (E. L. Lehmann: Nonparametric confidence intervals for a shift parameter, Annals
 * of Mathematical Statistics 34, 1963.) Returns 0 or DP_E_NOMEM. */
int dp_stat_compare(struct dp_stat *out, const double *x, size_t n, const double *y, size_t m,
                    double confidence);

/* The place where a series of groups of values changes most. */
struct dp_split {
    size_t at;                  /* the first group after the place */
    double p;                   /* upper bound of the probability of such a split, or a clearer one,
                                 * anywhere between groups, if all values come from one
                                 * distribution */
};

/* Finds the split between two groups whose rank sum is most standard deviations from its mean. p is
 * that of the Mann-Whitney test at this place, multiplied by the number of places: Bonferroni's
 * bound of the maximally selected rank statistic (Lausen, Schumacher: Maximally selected rank
 * statistics, Biometrics 48, 1992). v: the values, group by group. Returns 0 or DP_E_NOMEM. */
int dp_stat_split(struct dp_split *out, const double *v, const uint32_t *sizes, size_t groups);

/* Replaces p values by those adjusted after Holm, which bound the probability of one false alarm or
 * more. weight: by test, the divisor of its p; NULL: all tests are equal. The weights must not
 * depend on the data that are tested. (S. Holm: A simple sequentially rejective multiple test
 * procedure, Scandinavian Journal of Statistics 6, 1979; Genovese, Roeder and Wasserman: False
 * discovery control with p-value weighting, Biometrika 93, 2006.) order: room for n numbers. */
void dp_stat_holm(double *p, const double *weight, size_t n, uint32_t *order);

/* The growth of y for each 1 of x: a weighted median of slopes. The slopes are those between any
 * two points of one group, weighted by their distance in x, and the slope `usual`, which has the
 * weight of as many points at a distance of `doubt`. x..n: the groups, one after the other, with
 * their sizes in sizes..groups. (G. L. Sievers: Weighted rank statistics for simple linear
 * regression, Journal of the American Statistical Association 73, 1978.) Returns 0 or
 * DP_E_NOMEM. */
int dp_stat_slope(double *slope, const double *x, const double *y, const size_t *sizes,
                  size_t groups, double usual, double doubt);

/* Replaces p values by those adjusted after Benjamini and Hochberg (Controlling the false discovery
 * rate, 1995): among all differences below a bound, at most that share is false. For pictures.
 * order: room for n numbers. */
void dp_stat_fdr(double *p, size_t n, uint32_t *order);

/* Can the smallest possible p of n and m runs stay below alpha after Holm's correction for this
 * many tests? If tests have different parts of alpha, `tests` is the number of tests that would
 * share alpha equally, which need not be whole. */
bool dp_stat_decides(size_t n, size_t m, double tests, double alpha);
/* The least number of runs on each side for which dp_stat_decides is true. */
size_t dp_stat_runs_needed(double tests, double alpha);

/* ---- the power of a test ---- */

/* The least shift between samples of n and m normal values, in sigmas, that the test at level alpha
 * detects with 80 % power; INFINITY if there is none. Up to 50 values in all, the exact test is
 * tried on a thousand samples, which are the same each time. With more values, the sum of scores is
 * assumed to be normal. */
double dp_stat_seen(size_t n, size_t m, double alpha);

/* The sigma of the normal distribution for which samples of n and m values have an interval of the
 * shift of this width, at the level `confidence`. (The spread cannot be used: it is 0 if half of
 * the values are equal.) */
double dp_stat_sigma(double width, size_t n, size_t m, double confidence);

/* The number of values that each sample needs so that the shift is detected with 80 % power; 0:
 * more than `most`. */
size_t dp_stat_runs_to_see(double shift, double alpha, size_t most);

#endif
