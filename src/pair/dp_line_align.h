/* Pairs the lines of two versions of a source: by their texts or, if these are unknown, by their
 * distances. */
#ifndef DP_LINE_ALIGN_H
#define DP_LINE_ALIGN_H

#include "dp_align.h"
#include "dp_base.h"

/* Pairs words. to[j]: the one of the n words of a that the j-th of the m words of b is;
 * DP_ALIGN_NONE: the word was inserted. Words of a that are missing in `to` were deleted. Pairs are
 * in order, so a word that moved counts as deleted and inserted. Words that occur once on each side
 * are anchors (patience diff, Bram Cohen). Between anchors, the longest common sequence is used
 * (Myers, An O(ND) difference algorithm, 1986). If the sides differ too much, the common sequence
 * may not be the longest: time grows nearly linearly with the number of lines, memory no faster.
 * Words are below n_words. Returns 0 or DP_E_NOMEM. */
int dp_words_align(const uint32_t *a, size_t n, const uint32_t *b, size_t m, size_t n_words,
                   uint32_t *to);

/* A line without a known text. */
struct dp_line_seen {
    uint64_t number;            /* ascending */
    uint64_t count;             /* how often the line ran */
};

/* Pairs lines without known texts: as many as possible, in order. It prefers lines that ran equally
 * often, then lines whose distance to the line before is the same on both sides. If more than
 * DP_LINES_GUESS pairs are possible, lines with equal numbers are paired. Returns 0 or
 * DP_E_NOMEM. */
#define DP_LINES_GUESS ((size_t)1 << 24)
int dp_lines_align(const struct dp_line_seen *old, size_t n, const struct dp_line_seen *new,
                   size_t m, uint32_t *to);

#endif
