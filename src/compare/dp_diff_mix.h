/* The values of hosts, as if each had had the calls of the baseline.
 *
 * Hosts record for longer or shorter, and serve more of this and less of that; so a sub's time on a
 * host says nothing, and neither does its share of the host's time. Its time per call does, and
 * where requests have phases, its time per call in each phase. Of samples, whose calls are not
 * known, it is the share of the time of each phase. They are put together with the weights of the
 * baseline: the calls that its hosts had on average, or the time of its phases (direct
 * standardization, as of rates of mortality).
 *
 * A host may have no calls of a sub in some phase:
 * - The other hosts of its side have some. Then the sub's value on this host is made of its other
 *   phases, enlarged to stand for all. If they are less than half of the sub's time in the
 *   baseline, the host has no value for the sub, and the sub is tested without this host.
 * - No host of its side has any, but all sides have the phase. Then the sub is gone, or new. A sub
 *   that is gone has the value 0. A new one has its time, multiplied as the other time of its phase
 *   is; there is no time per call that it could be compared with.
 * - No host of a side has the phase. Then the traffic differs, and what is in that phase is not
 *   compared. */
#ifndef DP_DIFF_MIX_H
#define DP_DIFF_MIX_H

#include "dp_diff.h"

/* Adds a row's values to those of its entry in its phase. Returns false if memory is short. */
bool dp_diff_mix_add(struct dp_diff *diff, struct dp_diff_run *run, size_t measure, uint32_t entry,
                     const struct dp_name *phase, const struct dp_over_row *row);

/* Puts the values that all runs would have had with the calls of the baseline in place of what they
 * have had, of all measures. The total of a run is treated as a sub is that has all of its time, so that
 * it holds what is new. Returns 0 or DP_E_NOMEM. */
int dp_diff_mix_settle(struct dp_diff *diff);

/* The share of the time that is not compared, on the side where it is greater. */
double dp_diff_mix_apart(const struct dp_diff *diff, uint32_t side);

void dp_diff_mix_release(struct dp_diff *diff);

/* A sub whose part of all calls (of samples: a phase, and its part of the time) differs. */
struct dp_diff_moved {
    uint32_t entry;
    double change, p;           /* 0.31: 31 % more; of this test alone */
};

/* What has moved most in a side, by p up to `chance`: up to n, in the order of the change. Subs of
 * less than how->floor percent are left out. Returns how many there are, or a DP_E. */
int dp_diff_mix_moved(const struct dp_diff *diff, uint32_t side, double chance,
                      struct dp_diff_moved *most, size_t n);

#endif
