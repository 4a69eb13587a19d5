/* Inside the comparison of sides: corrects p for the number of tests, using what is known about the
 * entries besides their times. */
#ifndef DP_DIFF_CORRECT_H
#define DP_DIFF_CORRECT_H

#include "dp_base.h"
#include "dp_diff.h"

/* If noise is known: the part of alpha for values without noise (dp_diff_compare.c). */
#define DP_DIFF_CALM_SHARE  0.9

/* Gives everything that was tested its corrected p and its verdict.
 *
 * For times, alpha is divided between two groups. The first group are the entries whose ops or
 * calls are not known to differ. It gets as much of alpha as it needs to be decidable with this
 * number of runs: a tenth to a half. The second group gets the rest, most of it for times that
 * differ in the same direction as the work. A change to a program touches few subs, so the search
 * for what changed need not cover all subs. Neither the ops nor the number of runs depend on the
 * chance variation of times, so the probability of a false alarm stays alpha (dp_stat_holm).
 *
 * An entry that did exactly the same work in a different time may lie elsewhere in memory. A
 * difference up to how->layout gets the verdict DP_DIFF_LAYOUT. The default of the tools is ten
 * percent, because edits that change no code moved single subs by 3 to 9 % (xt/truth.pl; for C, T.
 * Mytkowicz and others report the like: Producing wrong data without doing anything obviously
 * wrong, ASPLOS 2009). Neither the variation between such subs nor that between runs can replace
 * the limit, because one sub in a hundred moves alone. Returns 0 or DP_E_NOMEM. */
int dp_diff_correct(struct dp_diff_family *family, const struct dp_diff *diff, size_t measure,
                    bool incl, uint32_t side);

/* Does a measure that repeats exactly decide about the entry by itself? If so, *values gets both
 * values and the verdict. room: space for three times as many values as there are runs, plus
 * one. */
bool dp_diff_exactly(const struct dp_diff *diff, size_t measure, bool incl, uint32_t side,
                     uint32_t e, double *room, struct dp_diff_values *values);

#endif
