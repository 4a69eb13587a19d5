/* Inside the comparison of sides: the values that a run would have had at the speed of the others,
 * and without disturbances. */
#ifndef DP_DIFF_SPEED_H
#define DP_DIFF_SPEED_H

#include "dp_base.h"
#include "dp_diff.h"

/* Forgets the excess of the longest call for entries whose calls naturally differ. In half of the
 * runs, the longest call of such an entry has a quarter more of the entry's time than the others
 * have on average. All runs of all sides are used, so they stay exchangeable. Returns 0 or
 * DP_E_NOMEM. */
int dp_diff_even(struct dp_diff *diff);

/* The time of an entry in a run, in ticks, without its noise. If the recorder did not look for
 * noise, the time itself. The noise is what the recorder found (the counter `noise` in
 * Devel::DProf), or the excess of the longest call over the others if that is more. */
uint64_t dp_diff_calm(const struct dp_diff *diff, const struct dp_diff_run *run, uint32_t e,
                      bool incl, uint64_t value);

/* The divisor of an entry's times: the run's speed to the power of the entry's slope. */
double dp_diff_speed(const struct dp_diff *diff, const struct dp_diff_run *run, uint32_t e,
                     bool incl);

#endif
