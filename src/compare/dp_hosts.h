/* Tests of values of hosts: is the mean the same on two sides? What differs from host to host (its
 * processor, where its memory lies, its users) differs the same way in all that one host records,
 * so that a host is one value, however long it records.
 *
 * The test is Student's t: of the differences of pairs; or of two samples with one variance, because
 * hosts that run the same scatter the same on both sides, and a few canaries alone would not tell
 * how much. A few hosts tell the variance of a sub badly. But the subs of a service vary about
 * alike, relative to their means, so the variances of all subs tell how much a sub usually varies,
 * and how much that differs from sub to sub. A sub's variance is then an average of its own and the
 * usual one, weighted by how well each is known, and the test has more degrees of freedom (G. K.
 * Smyth: Linear models and empirical Bayes methods for assessing differential expression in
 * microarray experiments, 2004). A sub that varies much more than is usual keeps its own. */
#ifndef DP_HOSTS_H
#define DP_HOSTS_H

#include "dp_base.h"

/* The variance of a host's value (of the difference of a pair), over the square of the mean. */
struct dp_hosts_variance {
    double relative;
    size_t freedom;             /* degrees; 0: not known */
};

/* What is usual. All 0: not known, and each sub has its own variance. */
struct dp_hosts_prior {
    double relative;
    double freedom;             /* as if that many degrees told it; INFINITY: all subs are alike */
    size_t all;                 /* degrees of freedom of all variances together */
};

struct dp_hosts_result {
    double mean[2];
    double spread[2];           /* standard deviations of a host's value */
    double p;                   /* of both tails */
    double low, high;           /* the interval of the difference of the means */
    double error;               /* the difference's standard error; INFINITY: not known */
};

double dp_hosts_mean(const double *v, size_t n);

/* The variance of the hosts x..n of a baseline and of y..m. paired: n is m, and x[k] and y[k] are of
 * one host. */
struct dp_hosts_variance dp_hosts_variance(const double *x, size_t n, const double *y, size_t m,
                                           bool paired);

/* Learns from the variances of n subs what is usual. The subs must not be parts of one another. */
void dp_hosts_fit(struct dp_hosts_prior *prior, const struct dp_hosts_variance *v, size_t n);

/* Compares two sides. p is 1, and the interval has no ends, where dp_hosts_decide says no. prior may
 * be NULL. */
void dp_hosts_compare(struct dp_hosts_result *out, const double *x, size_t n, const double *y,
                      size_t m, bool paired, const struct dp_hosts_prior *prior, double confidence);

/* Can so many hosts tell anything? One on a side cannot: what differs between hosts cannot be told
 * from the version. */
bool dp_hosts_decide(size_t n, size_t m);

/* How many standard errors a difference must be, to be found four times of five at that level. */
double dp_hosts_reach(size_t n, size_t m, bool paired, const struct dp_hosts_prior *prior,
                      double alpha);

/* How many hosts on each side find a difference of so many standard errors of n and m hosts; 0:
 * more than `most`. */
size_t dp_hosts_needed(double errors, size_t n, size_t m, bool paired,
                       const struct dp_hosts_prior *prior, double alpha, size_t most);

#endif
