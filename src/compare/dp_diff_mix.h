/* The values that hosts would have had with the calls of the baseline.
 *
 * Hosts record for different lengths of time, and serve different mixes of requests. So a sub's
 * time on a host means nothing by itself, and neither does its share of the host's time. Its time
 * per call does, and if requests have phases, its time per call in each phase. Calls are not known
 * for samples; there, the share of the time of each phase takes their place. These values are
 * combined with the weights of the baseline: the calls that its hosts had on average, or the time
 * of its phases (direct standardization, as for rates of mortality).
 *
 * A host may have no calls of a sub in some phase:
 * - Other hosts of its side have some. Then the sub's value on this host comes from the sub's other
 *   phases, scaled up to stand for all. If these are less than half of the sub's time in the
 *   baseline, the host has no value for the sub, and the sub is tested without this host.
 * - No host of its side has any, but all sides have the phase. Then the sub is gone, or new. A sub
 *   that is gone has the value 0. A new sub has its time, multiplied like the other time of its
 *   phase; there is no time per call to compare it with.
 * - No host of a side has the phase. Then the traffic differs, and the values of that phase are not
 *   compared. */
#ifndef DP_DIFF_MIX_H
#define DP_DIFF_MIX_H

#include "dp_diff.h"

/* Adds a row's values to the values of its entry in its phase. Returns false if memory is short. */
bool dp_diff_mix_add(struct dp_diff *diff, struct dp_diff_run *run, size_t measure, uint32_t entry,
                     const struct dp_name *phase, const struct dp_over_row *row);

/* Replaces the values of all runs, for all measures, with those that they would have had with the
 * calls of the baseline. The total of a run is treated like a sub that has all of the run's time,
 * so the total includes new subs. Returns 0 or DP_E_NOMEM. */
int dp_diff_mix_settle(struct dp_diff *diff);

/* The share of the time that is not compared, on the side where this share is greater. */
double dp_diff_mix_apart(const struct dp_diff *diff, uint32_t side);

/* Frees what the functions above have kept in diff. */
void dp_diff_mix_release(struct dp_diff *diff);

/* A sub whose part of all calls differs. */
struct dp_diff_moved {
    uint32_t entry;
    double change, p;           /* change 0.31: 31 % more; p: of this test alone */
};

/* Fills in `most` with the subs whose part of all calls moved most, with a p of at most `chance`:
 * up to n, the largest change first. Subs with less than how->floor percent of the self time of the
 * baseline's first run, and subs that some run never calls, are left out. If numbers of samples are
 * compared (how->counts), calls are unknown, and there are none. Returns their number, or
 * DP_E_NOMEM. */
int dp_diff_mix_moved(const struct dp_diff *diff, uint32_t side, double chance,
                      struct dp_diff_moved *most, size_t n);

#endif
