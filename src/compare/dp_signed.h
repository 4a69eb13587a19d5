/* Tests of the differences of pairs: is a value the same on two sides, whose k-th runs had the
 * machine in the same state? What a pair shares is in neither difference. */
#ifndef DP_SIGNED_H
#define DP_SIGNED_H

#include "dp_stat.h"

/* Compares x..n with y..n, of which x[k] and y[k] are pairs, by Wilcoxon's signed rank test: p is
 * that of all ways to exchange the values of pairs, exact up to 50 pairs, with ties; differences of
 * 0 have ranks, and no sign (J. W. Pratt, Journal of the American Statistical Association 54,
 * 1959). Beyond, it is that of the normal distribution, with its correction for continuity. *shift
 * is the median of the averages of any two differences, and the interval, at the level
 * `confidence`, holds the shifts that the test does not reject: its ends are two of these averages,
 * or infinite if there are too few pairs. (F. Wilcoxon: Individual comparisons by ranking methods,
 * Biometrics Bulletin 1, 1945; J. L. Hodges, E. L. Lehmann, Annals of Mathematical Statistics 34,
 * 1963.) Returns 0 or DP_E_NOMEM. */
int dp_signed_compare(struct dp_stat *out, double *shift, const double *x, const double *y,
                      size_t n, double confidence);

/* Is the least p that so many pairs can have, the one of differences of one sign, no greater than
 * alpha? */
bool dp_signed_decides(size_t n, double alpha);

#endif
