/* Finds, file by file, the lines of earlier sides that are the same as the lines that a side has
 * run. It compares their numbers, their texts or their distances (dp_line_pair_make.h). */
#ifndef DP_LINE_MATCH_H
#define DP_LINE_MATCH_H

#include "dp_base.h"
#include "dp_file_pair.h"
#include "dp_line_pair.h"
#include "dp_side_lines.h"

/* A line on the last side that ran it. */
struct dp_line_last {
    uint32_t sub;               /* like the other fields, as in dp_side_line */
    uint64_t begin, count;
};

/* Notes on a file whose lines may have been paired by their distances. */
struct dp_file_guess {
    bool with_base;             /* some were paired with the baseline's */
    bool told;                  /* the file is in pairs->guessed */
};

struct dp_line_match {
    struct dp_line_pairs *pairs;        /* receives the lines, and the files with guessed pairs;
                                         * borrowed */
    const struct dp_file_pairs *files;  /* borrowed */
    struct dp_side_lines own;   /* lines of the side that is being paired */
    struct dp_line_last *last;  /* by line of pairs */
    size_t last_cap;
    struct dp_file_guess *guesses;      /* by file */
};

/* Starts matching. Returns 0 or DP_E_NOMEM; the caller releases *m in either case. */
int dp_line_match_init(struct dp_line_match *m, struct dp_line_pairs *pairs,
                       const struct dp_file_pairs *files);
void dp_line_match_release(struct dp_line_match *m);

/* Pairs the lines of a side with those of the baseline, and the remaining ones with those of the
 * sides before it, the latest first. These sides must have been paired already. Lines that no side
 * has become new lines of m->pairs. The places of the side's profiles get the numbers of their
 * lines. Returns 0 or DP_E_NOMEM. */
int dp_line_match_side(struct dp_line_match *m, uint32_t side);

#endif
