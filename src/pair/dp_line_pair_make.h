/* Which lines of source are the same in several profiles: of a baseline and of later sides, file by
 * file. Each side pairs with the baseline first; what is left, with the sides before it. Files pair
 * as those of subs do (dp_pair.h), and the program's own file with the baseline's, whatever its
 * name. Lines of a file pair
 * - by number, where the profiles tell that the sources are the same (size and CRC-32);
 * - by text, where those of both sides are given: a line that is nowhere on the other side was
 *   inserted or deleted, but for lines of a sub that have moved past others;
 * - else, sub by sub, by how often they ran and how far they are from each other: a guess. */
#ifndef DP_LINE_PAIR_MAKE_H
#define DP_LINE_PAIR_MAKE_H

#include "dp_line_pair.h"
#include "dp_pair.h"

/* Pairs the lines of the profiles whose subs are paired. texts: those sources that are known; the
 * others may be the same, or not. Returns 0 or DP_E_NOMEM; the caller releases it
 * (dp_line_pairs_release). */
int dp_line_pairs_make(struct dp_line_pairs *lp, const struct dp_pairs *subs,
                       const struct dp_source_text *texts, size_t n_texts,
                       const struct dp_pair_how *how);

#endif
