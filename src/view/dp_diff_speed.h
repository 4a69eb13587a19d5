/* Inside the comparison of sides: what a run's values would be had it been as fast as the others,
 * and not been disturbed. */
#ifndef DP_DIFF_SPEED_H
#define DP_DIFF_SPEED_H

#include "dp_base.h"
#include "dp_diff.h"

/* A time of an entry of a run, in ticks, without the noise that the recorder has found (the counter
 * `noise` in Devel::DProf); the same where there is none. */
uint64_t dp_diff_calm(const struct dp_diff *diff, const struct dp_diff_run *run, uint32_t e,
                      bool incl, uint64_t value);

/* What an entry's times are divided by: the run's speed, to the power of what that means for it. */
double dp_diff_speed(const struct dp_diff *diff, const struct dp_diff_run *run, uint32_t e,
                     bool incl);

#endif
