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
 * Of times, entries of which ops or calls are known to differ have half of alpha for themselves,
 * most of that for times that differ in the same direction, and all others have the other half: few
 * subs are changed in a program, and what has changed is then not looked for among all of them. The
 * ops say nothing of what chance does to times, so that the chance of a false alarm stays alpha
 * (dp_stat_holm).
 *
 * An entry that did exactly the same work, but in another time, may lie elsewhere in memory. How
 * much that makes is told by the others of which the same is true: what is no more than four
 * times their spread off, or twice its own spread among runs, or 3 %, is called layout; never what
 * is more than 10 % off, because most subs may have changed. (B. Efron: Large-scale simultaneous
 * hypothesis testing: the choice of a null hypothesis, Journal of the American Statistical
 * Association 99, 2004.) Returns 0 or DP_E_NOMEM. */
int dp_diff_correct(struct dp_diff_family *family, const struct dp_diff *diff, size_t measure,
                    bool incl, uint32_t side);

/* Is an entry's value of a measure that repeats exactly decided by that? Then *values has both, and
 * the verdict. room: for three times as many values as there are runs, and one. */
bool dp_diff_exactly(const struct dp_diff *diff, size_t measure, bool incl, uint32_t side,
                     uint32_t e, double *room, struct dp_diff_values *values);

#endif
