/* Tests of values of hosts: is the mean the same on two sides? What differs from host to host (its
 * processor, where its memory lies, its users) differs the same way in all that one host records,
 * so that a host is one value, however long it records. */
#ifndef DP_HOSTS_H
#define DP_HOSTS_H

#include "dp_stat.h"

/* Compares the hosts x..n of a baseline with y..m. paired: n is m, and x[k] and y[k] are of one
 * host. Student's t: of the differences of pairs; or of two samples with one variance, for hosts
 * that run the same scatter the same on both sides, and a few canaries alone would not tell how
 * much. With 20 hosts and more on each side, which are no pairs, it is the rank test of dp_stat.h,
 * which asks nothing of how values are distributed. p is 1, and the interval has no ends, where
 * dp_hosts_decide says no. Returns 0 or DP_E_NOMEM. */
int dp_hosts_compare(struct dp_stat *out, const double *x, size_t n, const double *y, size_t m,
                     bool paired, double confidence);

/* Can so many hosts tell anything? One on a side cannot: what differs between hosts cannot be told
 * from the version. */
bool dp_hosts_decide(size_t n, size_t m);

/* The standard error of a difference that has such an interval. */
double dp_hosts_error(double low, double high, size_t n, size_t m, bool paired, double confidence);

/* How many standard errors a difference must be, to be found four times of five at that level. */
double dp_hosts_reach(size_t n, size_t m, bool paired, double alpha);

/* How many hosts on each side find a difference of so many standard errors of n and m hosts; 0:
 * more than `most`. */
size_t dp_hosts_needed(double errors, size_t n, size_t m, bool paired, double alpha, size_t most);

#endif
