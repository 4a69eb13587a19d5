/* Inside the comparison of sides: corrects p for the number of tests, by what is known about the
 * entries beside their times. */
#ifndef DP_DIFF_CORRECT_H
#define DP_DIFF_CORRECT_H

#include "dp_base.h"
#include "dp_diff.h"

/* Where noise is known, the part of alpha that is for values without it (dp_diff_compare.c). */
#define DP_DIFF_CALM_SHARE  0.9

/* Gives what was tested its p and verdict.
 *
 * Of times, all entries but those of which ops or calls are known to differ have as much of alpha
 * as they need to be decided by so many runs: a tenth to a half. The others have the rest, most of
 * it for times that differ in the same direction: few subs are changed in a program, and what has
 * changed is then not looked for among all of them. Neither the ops nor the number of runs say
 * anything of what chance does to times, so that the chance of a false alarm stays alpha
 * (dp_stat_holm).
 *
 * An entry that did exactly the same work, but in another time, may lie elsewhere in memory. A
 * difference up to how->layout is called that. Ten percent are the tools' default: edits that
 * change no code were seen to move single subs by 3 to 9 % (xt/truth.pl; T. Mytkowicz and others:
 * Producing wrong data without doing anything obviously wrong, ASPLOS 2009, have the like for C).
 * Neither how far such subs are apart nor how far runs are tells it, as one sub in a hundred is
 * moved alone. Returns 0 or DP_E_NOMEM. */
int dp_diff_correct(struct dp_diff_family *family, const struct dp_diff *diff, size_t measure,
                    bool incl, uint32_t side);

/* Is an entry's value of a measure that repeats exactly decided by that? Then *values has both, and
 * the verdict. room: for three times as many values as there are runs, and one. */
bool dp_diff_exactly(const struct dp_diff *diff, size_t measure, bool incl, uint32_t side,
                     uint32_t e, double *room, struct dp_diff_values *values);

#endif
