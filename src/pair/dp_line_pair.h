/* Lines of source in several profiles, of a baseline and of later sides: each line once, with its
 * number on every side, and what became of it. */
#ifndef DP_LINE_PAIR_H
#define DP_LINE_PAIR_H

#include "dp_base.h"
#include "dp_map.h"
#include "dp_pool.h"
#include "dp_prof.h"
#include "dprof/line_pair.h"

/* A line that some side has run. */
struct dp_paired_line {
    uint32_t file;              /* number of a text: its name for all sides */
    uint32_t sub;               /* likewise: label of a sub that it stands in; 0: none */
    uint32_t label;             /* number of a text: FILE:LINE of the last side that has it; of a
                                 * line that is gone, ` (old)` behind it */
    uint32_t moved;             /* number of a text: FILE:LINE of the baseline, if that is another
                                 * number than the label's; 0 */
    enum dp_fate fate;          /* from the baseline to the last side */
};

/* A profile's part. */
struct dp_line_prof {
    const struct dp_prof *prof;
    uint32_t side;
    uint32_t *line;             /* by place (0: none; else its number in prof->sites and 1): the
                                 * number of the line; DP_MAP_NONE: it has none */
};

struct dp_line_pairs {
    struct dp_pool texts;       /* 0 is the empty one */
    struct dp_line_prof *profs; /* as those of the dp_pairs */
    size_t n_profs;
    uint32_t sides;
    struct dp_paired_line *lines;
    size_t n_lines, lines_cap;
    uint64_t *numbers;          /* by line, by side: its number there; 0: the side does not have it,
                                 * as far as is known. Lines that a side has not run have one, too,
                                 * if the source is known */
    size_t numbers_cap;
    struct dp_map of_label;     /* label -> line */
    struct dp_map side_names;   /* file << 32 | side -> number of a text: its name there */
    uint32_t *guessed;          /* numbers of texts: files whose lines were paired by their
                                 * distances, and differ in these */
    size_t n_guessed, guessed_cap;
};

void dp_line_pairs_init(struct dp_line_pairs *lp);
void dp_line_pairs_release(struct dp_line_pairs *lp);

/* The number of a line on a side; 0: none. */
static inline uint64_t dp_line_number(const struct dp_line_pairs *lp, uint32_t line, uint32_t side)
{
    return lp->numbers[(size_t)line * lp->sides + side];
}

/* The name of a line's file as a side's profiles have it; NULL: the side does not have the file. */
const struct dp_name *dp_line_file(const struct dp_line_pairs *lp,
                                   const struct dp_paired_line *line, uint32_t side);

/* The line of a label, or NULL. */
const struct dp_paired_line *dp_line_pairs_find(const struct dp_line_pairs *lp,
                                                const struct dp_name *label);

#endif
