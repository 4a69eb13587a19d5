/* Finds, for the lines that a side has run, the lines of sides before it that are the same, file
 * by file. It compares their numbers, their texts or their distances (dp_line_pair_make.h). */
#ifndef DP_LINE_MATCH_H
#define DP_LINE_MATCH_H

#include "dp_base.h"
#include "dp_file_pair.h"
#include "dp_line_pair.h"
#include "dp_side_lines.h"

/* What is known of a line from the last side that has run it. */
struct dp_line_last {
    uint32_t sub;               /* as dp_side_line has it; so are the others */
    uint64_t begin, count;
};

/* Of a file, whose lines may have been paired by their distances. */
struct dp_file_guess {
    bool with_base;             /* some with the baseline's */
    bool told;                  /* pairs->guessed has it */
};

struct dp_line_match {
    struct dp_line_pairs *pairs;        /* borrowed: gets the lines, and the files guessed at */
    const struct dp_file_pairs *files;  /* borrowed */
    struct dp_side_lines own;   /* of the side that is being paired */
    struct dp_line_last *last;  /* by line of pairs */
    size_t last_cap;
    struct dp_file_guess *guesses;      /* by file */
};

/* Returns 0 or DP_E_NOMEM; the caller releases it in either case. */
int dp_line_match_init(struct dp_line_match *m, struct dp_line_pairs *pairs,
                       const struct dp_file_pairs *files);
void dp_line_match_release(struct dp_line_match *m);

/* Pairs the lines of a side with those of the baseline, and what is left with those of the sides
 * before it, which must have had their turn, the latest first; lines that no side has are new ones
 * of m->pairs. The places of the side's profiles get the numbers of their lines. Returns 0 or
 * DP_E_NOMEM. */
int dp_line_match_side(struct dp_line_match *m, uint32_t side);

#endif
