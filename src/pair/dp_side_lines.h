/* Lines of source that a side has run, in any of its profiles: the statements that cost something,
 * and the places of calls. */
#ifndef DP_SIDE_LINES_H
#define DP_SIDE_LINES_H

#include "dp_base.h"
#include "dp_file_pair.h"
#include "dp_line_pair.h"
#include "dp_pool.h"

struct dp_side_line {
    uint32_t file;              /* as dp_file_of_site has it */
    uint32_t sub;               /* label of a sub that it stands in; 0: none */
    uint64_t number;
    uint64_t begin;             /* where that sub begins; 0: not known */
    uint64_t count;             /* how often it ran, in the first profile that has it */
    size_t prof;                /* that */
    uint32_t line;              /* which paired line it is; DP_MAP_NONE: none yet */
};

struct dp_side_lines {
    struct dp_side_line *lines;
    size_t n, cap;
    struct dp_pool identities;  /* file and number; its numbers are those of lines */
};

void dp_side_lines_init(struct dp_side_lines *s);
void dp_side_lines_release(struct dp_side_lines *s);

/* Takes the lines of a side, in place of those that it has. The `line` of the side's profiles tells
 * for each place which of them it is, from 0 up; others stay DP_MAP_NONE. Returns 0 or
 * DP_E_NOMEM. */
int dp_side_lines_take(struct dp_side_lines *s, const struct dp_file_pairs *files,
                       const struct dp_line_prof *profs, uint32_t side);

#endif
