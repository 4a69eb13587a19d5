/* Pairs lines of source in several profiles, file by file: those of a baseline and of later sides.
 * Each side pairs with the baseline first, and the remaining lines with the sides before it. Files
 * pair like those of subs (dp_pair.h). The program's own file pairs with the baseline's, whatever
 * its name. Lines of a file pair
 * - by number, if the profiles show that the sources are the same (size and CRC-32);
 * - by text, if those of both sides are given: a line without a counterpart was inserted or
 *   deleted, except for lines of a sub that moved past others;
 * - else, sub by sub, by how often they ran and how far they are from each other: a guess. */
#ifndef DP_LINE_PAIR_MAKE_H
#define DP_LINE_PAIR_MAKE_H

#include "dp_line_pair.h"
#include "dp_pair.h"

/* Pairs the lines of the profiles whose subs are paired. texts: the known sources; other sources
 * may or may not be the same. Returns 0 or DP_E_NOMEM; the caller releases *lp
 * (dp_line_pairs_release). */
int dp_line_pairs_make(struct dp_line_pairs *lp, const struct dp_pairs *subs,
                       const struct dp_source_text *texts, size_t n_texts,
                       const struct dp_pair_how *how);

#endif
