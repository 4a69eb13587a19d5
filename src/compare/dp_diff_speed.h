/* Inside the comparison of sides: what a run's values would be had it been as fast as the others,
 * and not been disturbed. */
#ifndef DP_DIFF_SPEED_H
#define DP_DIFF_SPEED_H

#include "dp_base.h"
#include "dp_diff.h"

/* Forgets the excess of the longest calls of entries whose calls differ by themselves: in half of
 * the runs the longest one has a quarter more of the entry's time than the others have on average.
 * All runs are looked at, whatever their side, so that they stay exchangeable. Returns 0 or
 * DP_E_NOMEM. */
int dp_diff_even(struct dp_diff *diff);

/* A time of an entry of a run, in ticks, without its noise, where the recorder has looked for that;
 * else the same. Noise is what the recorder has found (the counter `noise` in Devel::DProf), or, if
 * that is more, what the longest call took more than the others. */
uint64_t dp_diff_calm(const struct dp_diff *diff, const struct dp_diff_run *run, uint32_t e,
                      bool incl, uint64_t value);

/* What an entry's times are divided by: the run's speed, to the power of what that means for it. */
double dp_diff_speed(const struct dp_diff *diff, const struct dp_diff_run *run, uint32_t e,
                     bool incl);

#endif
