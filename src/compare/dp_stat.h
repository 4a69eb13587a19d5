/* Tells whether the difference between two samples is significant: medians, their spread, the
 * rank test, the interval of the shift, corrections for many tests. */
#ifndef DP_STAT_H
#define DP_STAT_H

#include "dp_base.h"

/* The median absolute deviation from the median, times 1.4826; overwrites v. */
double dp_stat_spread(double *v, size_t n, double median);

/* What two samples tell. */
struct dp_stat {
    double median[2];
    double spread[2];           /* median absolute deviation, x 1.4826: a normal
                                 * distribution's sigma */
    double p;                   /* two-sided: chance of such a sum of scores, or one further out,
                                 * if both come from one distribution */
    double low, high;           /* interval of the shift from x to y; infinite if there are too few
                                 * runs */
};

/* The middle value, or the mean of the two in the middle; sorts v. Returns 0 if v is empty. */
double dp_stat_median(double *v, size_t n);

/* Compares x..n with y..m by a rank test, whose p is exact whatever the distribution. Ties share
 * their rank. Ranks count up to 0.55 of the smaller sample's size from those that tell whether one
 * sample is all below the other; further out they count as much as that, so that a run that was
 * disturbed does not weigh the more, the greater it is. Of 10 and 10 values, the five least count
 * as the fifth, the five greatest likewise. On recorded runs, a sub of which was made 3 to 5 %
 * slower, that finds a fifth to a third of what Mann and Whitney's test leaves out, which is that
 * without a bound; of normal values it needs a ninth more runs. (Linear rank tests: J. Hajek, Z.
 * Sidak, Theory of Rank Tests, 1967.) Exact up to 50 values in all; beyond, the normal
 * approximation with its correction for continuity. The interval, at the level `confidence` (0.95),
 * holds the shifts that this test does not reject, so that it leaves out 0 if p is less than 0.05;
 * its ends are two of the n * m differences. (E. L. Lehmann: Nonparametric confidence intervals for
 * a shift parameter, Annals of Mathematical Statistics 34, 1963.) Returns 0 or DP_E_NOMEM. */
int dp_stat_compare(struct dp_stat *out, const double *x, size_t n, const double *y, size_t m,
                    double confidence);

/* Where a series of groups of values changes most. */
struct dp_split {
    size_t at;                  /* the first group behind it */
    double p;                   /* the chance of such a split, or a clearer one, somewhere between
                                 * groups, if all values come from one distribution: a bound */
};

/* The split between two groups whose rank sum is off its mean by most standard deviations. p is
 * that of Mann and Whitney's test at this place, times the number of places: Bonferroni's bound of
 * the maximally selected rank statistic (Lausen, Schumacher: Maximally selected rank statistics,
 * Biometrics 48, 1992). v: the values, group by group. Returns 0 or DP_E_NOMEM. */
int dp_stat_split(struct dp_split *out, const double *v, const uint32_t *sizes, size_t groups);

/* Adjusted p values in place of p, after Holm: the chance of one false alarm or more. weight: of
 * each test, as its p is to be divided by it; NULL: all are the same. The weights must not depend
 * on what is tested. (S. Holm: A simple sequentially rejective multiple test procedure,
 * Scandinavian Journal of Statistics 6, 1979; Genovese, Roeder and Wasserman: False discovery
 * control with p-value weighting, Biometrika 93, 2006.) order: n numbers of room. */
void dp_stat_holm(double *p, const double *weight, size_t n, uint32_t *order);

/* How much y grows for each 1 of x: the weighted median of the slopes between any two points of one
 * group, each by how far they are apart in x, and of `usual`, which has the weight of as many
 * points that are `doubt` apart. x..n: the groups, one behind the other, whose sizes are in
 * sizes..groups. (G. L. Sievers: Weighted rank statistics for simple linear regression, Journal of
 * the American Statistical Association 73, 1978.) Returns 0 or DP_E_NOMEM. */
int dp_stat_slope(double *slope, const double *x, const double *y, const size_t *sizes,
                  size_t groups, double usual, double doubt);

/* Adjusted p values in place of p, after Benjamini and Hochberg (Controlling the false discovery
 * rate, 1995): of all differences below a bound, at most that share is false. For pictures. order:
 * n numbers of room. */
void dp_stat_fdr(double *p, size_t n, uint32_t *order);

/* Could the smallest p that n and m runs can have stay below alpha after Holm's correction
 * of so many tests? Of tests that have parts of alpha, as many as share it alike: no whole
 * number. */
bool dp_stat_decides(size_t n, size_t m, double tests, double alpha);
/* The least number of runs on each side of which that is true. */
size_t dp_stat_runs_needed(double tests, double alpha);

/* ---- what a test could have seen ---- */

/* The least shift between samples of n and m values from one normal distribution, in its sigmas,
 * that the test at level alpha finds four times of five; INFINITY if there is none. Up to 50 values
 * in all, the test with its exact p is tried on a thousand samples, the same ones each time. Of
 * more, the sum of scores is taken for normal. */
double dp_stat_seen(size_t n, size_t m, double alpha);

/* The sigma of the normal distribution whose samples of n and m values have an interval of the
 * shift that is so wide, of the level `confidence`. (The spread will not do: it is 0 if half of the values are the
 * same.) */
double dp_stat_sigma(double width, size_t n, size_t m, double confidence);

/* How many values each sample needs for that shift to be seen so often; 0: more than `most`. */
size_t dp_stat_runs_to_see(double shift, double alpha, size_t most);

#endif
