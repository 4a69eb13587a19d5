/* Change points of a history: between which two versions its values changed. */
#ifndef DPROF_CHANGEPOINTS_H
#define DPROF_CHANGEPOINTS_H

#include <stddef.h>
#include <stdint.h>

/* Series of values with the same groups, in the order of time. */
struct dp_history {
    const double *values;       /* series by series, and group by group within a series */
    size_t series;
    const uint32_t *sizes;      /* of the groups */
    size_t groups;
};

struct dp_changepoint {
    uint32_t series;
    uint32_t at;                /* first group after the change */
    double p;                   /* p after Holm: the probability of one false alarm or more, over
                                 * all series; never less than that of the change point whose half
                                 * this one splits */
};

/* Finds the change points with a p of at most alpha, by binary segmentation: a series with a change
 * point is split there, and both halves are tested in turn, together with the halves of other
 * series (Scott, Knott: A cluster analysis method for grouping means, Biometrics 30, 1974). The
 * result is sorted by series and group. The caller frees *found with dp_changepoints_free. Returns
 * 0 or a negative DP_E. */
int dp_changepoints(struct dp_changepoint **found, size_t *count, const struct dp_history *history,
                    double alpha);
void dp_changepoints_free(struct dp_changepoint *found);

/* Could the clearest change between two groups have a p of at most alpha? */
int dp_changepoints_decide(const struct dp_history *history, double alpha);

#endif
