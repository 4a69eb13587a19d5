/* Finds out which lines of two versions of a source are the same: by their texts, or, where these
 * are not known, by their distances. */
#ifndef DP_LINE_ALIGN_H
#define DP_LINE_ALIGN_H

#include "dp_align.h"
#include "dp_base.h"

/* to[j]: which of the n words of a the j-th of the m words of b is; DP_ALIGN_NONE: it was inserted.
 * Words of a that are nowhere in `to` were deleted. Pairs are in order: what has moved is deleted
 * and inserted. Words that each side has once are anchors (patience diff, Bram Cohen), between
 * which the longest common sequence is taken (Myers, An O(ND) difference algorithm, 1986), or,
 * where the sides differ too much, a common sequence that may not be the longest: time grows nearly
 * as the number of lines, memory no faster. Words are below n_words. Returns 0 or DP_E_NOMEM. */
int dp_words_align(const uint32_t *a, size_t n, const uint32_t *b, size_t m, size_t n_words,
                   uint32_t *to);

/* A line whose text is not known. */
struct dp_line_seen {
    uint64_t number;            /* these ascend */
    uint64_t count;             /* how often it ran */
};

/* Does the same for such lines. As many as possible are paired, in order: those first that ran
 * equally often, then those whose distance to the line before is the same on both sides. If more
 * than DP_LINES_GUESS pairs are possible, those with equal numbers are taken. Returns 0 or
 * DP_E_NOMEM. */
#define DP_LINES_GUESS ((size_t)1 << 24)
int dp_lines_align(const struct dp_line_seen *old, size_t n, const struct dp_line_seen *new,
                   size_t m, uint32_t *to);

#endif
