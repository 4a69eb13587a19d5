/* Lines of source in several profiles, of a baseline and of later sides: each line once, with its
 * number on every side, and its fate. */
#ifndef DP_LINE_PAIR_H
#define DP_LINE_PAIR_H

#include "dp_base.h"
#include "dp_map.h"
#include "dp_pool.h"
#include "dp_prof.h"
#include "dprof/line_pair.h"

/* A line that some side has run. */
struct dp_paired_line {
    uint32_t file;              /* the file's name for all sides: number of a text */
    uint32_t sub;               /* label of a sub that contains the line: number of a text; 0:
                                 * none */
    uint32_t label;             /* FILE:LINE of the last side that has the line, with ` (old)`
                                 * appended for a line that is gone: number of a text */
    uint32_t moved;             /* FILE:LINE in the baseline, if its number differs from the
                                 * label's: number of a text; else 0 */
    enum dp_fate fate;          /* from the baseline to the last side */
};

/* The lines of a profile. */
struct dp_line_prof {
    const struct dp_prof *prof;
    uint32_t side;
    uint32_t *line;             /* by place (0: none; else its number in prof->sites plus 1): the
                                 * number of the line, or DP_MAP_NONE */
};

struct dp_line_pairs {
    struct dp_pool texts;       /* text 0 is empty */
    struct dp_line_prof *profs; /* in the order of the dp_pairs */
    size_t n_profs;
    uint32_t sides;
    struct dp_paired_line *lines;
    size_t n_lines, lines_cap;
    uint64_t *numbers;          /* by line, then by side: the line's number there; 0: the side is
                                 * not known to have the line. If the source is known, lines that a
                                 * side has not run have a number, too */
    size_t numbers_cap;
    struct dp_map of_label;     /* label -> line */
    struct dp_map side_names;   /* file << 32 | side -> the file's name there: number of a text */
    uint32_t *guessed;          /* numbers of texts: files that differ and whose lines were paired
                                 * by their distances */
    size_t n_guessed, guessed_cap;
};

/* Make an empty set of paired lines, and free what a set holds. */
void dp_line_pairs_init(struct dp_line_pairs *lp);
void dp_line_pairs_release(struct dp_line_pairs *lp);

/* The number of a line on a side; 0: none. */
static inline uint64_t dp_line_number(const struct dp_line_pairs *lp, uint32_t line, uint32_t side)
{
    return lp->numbers[(size_t)line * lp->sides + side];
}

/* The name of a line's file in a side's profiles; NULL: the side lacks the file. */
const struct dp_name *dp_line_file(const struct dp_line_pairs *lp,
                                   const struct dp_paired_line *line, uint32_t side);

/* The line with a label, or NULL. */
const struct dp_paired_line *dp_line_pairs_find(const struct dp_line_pairs *lp,
                                                const struct dp_name *label);

#endif
