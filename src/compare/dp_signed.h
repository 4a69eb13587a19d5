/* Tests of the differences of pairs: is a value the same on two sides, if the k-th runs of both
 * found the machine in the same state? The difference of a pair does not contain what the pair
 * shares. */
#ifndef DP_SIGNED_H
#define DP_SIGNED_H

#include "dp_stat.h"

/* Compares x..n with y..n, where x[k] and y[k] are a pair, by Wilcoxon's signed rank test. p counts
 * all ways to exchange the values of pairs: it is exact up to 50 pairs, with ties. Differences of 0
 * have ranks, and no sign (J. W. Pratt, Journal of the American Statistical Association 54, 1959).
 * With more pairs, p is that of the normal distribution, with its correction for continuity. *shift
 * is the median of the averages of any two differences. The interval, at the level `confidence`,
 * holds the shifts that the test does not reject. Its ends are two of these averages, or infinite
 * if there are too few pairs. (F. Wilcoxon: Individual comparisons by ranking methods, Biometrics
 * Bulletin 1, 1945; J. L. Hodges, E. L. Lehmann, Annals of Mathematical Statistics 34, 1963.)
 * Returns 0 or DP_E_NOMEM. */
int dp_signed_compare(struct dp_stat *out, double *shift, const double *x, const double *y,
                      size_t n, double confidence);

/* Can this many pairs be significant at all? Their least p is that of differences of one sign; true
 * if that is no greater than alpha. */
bool dp_signed_decides(size_t n, double alpha);

#endif
