/* Inside the comparison of sides: entries of sampled profiles, tested by counts of samples. */
#ifndef DP_DIFF_COUNTS_H
#define DP_DIFF_COUNTS_H

#include "dp_base.h"
#include "dp_counts.h"
#include "dp_diff.h"

struct dp_diff_counting {
    const struct dp_diff *diff;
    size_t measure;
    bool incl;
    uint32_t side;
    size_t n[2];                /* number of runs of the baseline, and of the side */
    struct dp_counted *shares, *rates;  /* of one entry, by run, the baseline's first; NULL:
                                         * nothing is counted */
};

/* Prepares tests of a measure's entries, one entry after the other: keeps what is compared, and
 * makes the room for the runs' counts. Nothing is counted yet. diff is borrowed. Returns 0 or
 * DP_E_NOMEM; the caller releases *c in any case. */
int dp_diff_counting_init(struct dp_diff_counting *c, const struct dp_diff *diff, size_t measure,
                          bool incl, uint32_t side);
void dp_diff_counting_release(struct dp_diff_counting *c);

/* Fills in p, the interval and the spreads of an entry with the values x and y in the runs; sorts x
 * and y. Returns 0. */
int dp_diff_count(const struct dp_diff_counting *c, uint32_t e, double *x, double *y,
                  struct dp_diff_values *v);

#endif
