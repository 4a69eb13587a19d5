/* Change points: between which two versions of a history values became others. */
#ifndef DPROF_CHANGEPOINTS_H
#define DPROF_CHANGEPOINTS_H

#include <stddef.h>
#include <stdint.h>

/* Series of values that have the same groups, which are in the order of time. */
struct dp_history {
    const double *values;       /* series by series, and in each group by group */
    size_t series;
    const uint32_t *sizes;      /* of the groups */
    size_t groups;
};

struct dp_changepoint {
    uint32_t series;
    uint32_t at;                /* the first group that is changed */
    double p;                   /* after Holm: the chance of one false alarm or more, of all series;
                                 * never less than that of the change point it was found beside */
};

/* Finds those whose p is no greater than alpha, by binary segmentation: a series that has one is
 * split there, and both halves are tested in turn, together with the halves of other series
 * (Scott, Knott: A cluster analysis method for grouping means, Biometrics 30, 1974). They come by
 * series and group. *found is the caller's, to be freed by dp_changepoints_free. Returns 0 or a
 * negative DP_E. */
int dp_changepoints(struct dp_changepoint **found, size_t *count, const struct dp_history *history,
                    double alpha);
void dp_changepoints_free(struct dp_changepoint *found);

/* Could the clearest change between two groups have a p no greater than alpha? */
int dp_changepoints_decide(const struct dp_history *history, double alpha);

#endif
