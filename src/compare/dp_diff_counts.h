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
    size_t n[2];                /* runs of the baseline, of the side */
    struct dp_counted *shares, *rates;  /* by run, those of the baseline first; NULL: nothing is
                                         * counted */
};

/* Returns 0 or DP_E_NOMEM; in any case the caller releases it. */
int dp_diff_counting_init(struct dp_diff_counting *c, const struct dp_diff *diff, size_t measure,
                          bool incl, uint32_t side);
void dp_diff_counting_release(struct dp_diff_counting *c);

/* Fills in p, interval and spreads of an entry, whose values in the runs are x and y; sorts these.
 * Returns 0. */
int dp_diff_count(const struct dp_diff_counting *c, uint32_t e, double *x, double *y,
                  struct dp_diff_values *v);

#endif
