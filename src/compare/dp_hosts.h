/* Tests of values of hosts: is the mean the same on two sides? Everything that one host records
 * shares the host's peculiarities (its processor, where its memory lies, its users), so a host is
 * one value, however long it records.
 *
 * The test is Student's t, either for the differences of pairs or for two samples with one
 * variance. One variance will do because hosts that run the same program scatter alike on both
 * sides, and a few canaries alone could not show how much. A few hosts are a poor estimate of a
 * sub's variance. But the subs of a service vary about alike, relative to their means. So the
 * variances of all subs show how much a sub usually varies, and how much that differs from sub to
 * sub. The variance of a sub is then an average of its own and the usual one, weighted by how well
 * each is known, and the test has more degrees of freedom (G. K. Smyth: Linear models and empirical
 * Bayes methods for assessing differential expression in microarray experiments, 2004). A sub that
 * varies much more than usual keeps its own variance. */
#ifndef DP_HOSTS_H
#define DP_HOSTS_H

#include "dp_base.h"

/* The variance of a host's value (or of the difference of a pair), divided by the square of the
 * mean. */
struct dp_hosts_variance {
    double relative;
    size_t freedom;             /* degrees; 0: unknown */
};

/* The usual variance. All 0: unknown, and each sub has its own variance. */
struct dp_hosts_prior {
    double relative;
    double freedom;             /* degrees of freedom that the usual variance is worth; INFINITY:
                                 * all subs are alike */
    size_t all;                 /* degrees of freedom of all variances together */
};

struct dp_hosts_result {
    double mean[2];
    double spread[2];           /* standard deviations of a host's value */
    double p;                   /* of both tails together */
    double low, high;           /* interval of the difference of the means */
    double error;               /* standard error of the difference; INFINITY: unknown */
};

double dp_hosts_mean(const double *v, size_t n);

/* The variance of the hosts x..n of a baseline and of the hosts y..m. paired: n equals m, and x[k]
 * and y[k] belong to one host. */
struct dp_hosts_variance dp_hosts_variance(const double *x, size_t n, const double *y, size_t m,
                                           bool paired);

/* Estimates the usual variance from those of n subs. No sub's value may be part of another's. */
void dp_hosts_fit(struct dp_hosts_prior *prior, const struct dp_hosts_variance *v, size_t n);

/* Compares two sides. If dp_hosts_decide returns false, p is 1 and the interval is infinite. prior
 * may be NULL. */
void dp_hosts_compare(struct dp_hosts_result *out, const double *x, size_t n, const double *y,
                      size_t m, bool paired, const struct dp_hosts_prior *prior, double confidence);

/* Are there enough hosts for a test? One host on a side is too few: its peculiarities could not be
 * separated from the version. */
bool dp_hosts_decide(size_t n, size_t m);

/* How large a difference must be, in standard errors, to be detected with 80 % power at this
 * level. */
double dp_hosts_reach(size_t n, size_t m, bool paired, const struct dp_hosts_prior *prior,
                      double alpha);

/* The number of hosts on each side that detects a difference of `errors` standard errors of n and m
 * hosts; 0: more than `most`. */
size_t dp_hosts_needed(double errors, size_t n, size_t m, bool paired,
                       const struct dp_hosts_prior *prior, double alpha, size_t most);

#endif
