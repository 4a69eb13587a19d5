/* Lines of source that a side has run in any of its profiles: the statements with a cost, and the
 * places of calls. */
#ifndef DP_SIDE_LINES_H
#define DP_SIDE_LINES_H

#include "dp_base.h"
#include "dp_file_pair.h"
#include "dp_line_pair.h"
#include "dp_pool.h"

struct dp_side_line {
    uint32_t file;              /* file, as in dp_file_of_site */
    uint32_t sub;               /* label of a sub that contains the line; 0: none */
    uint64_t number;
    uint64_t begin;             /* line where that sub begins; 0: unknown */
    uint64_t count;             /* how often the line ran, in the first profile that has it */
    size_t prof;                /* the first profile that has it */
    uint32_t line;              /* number of its paired line; DP_MAP_NONE: none yet */
};

struct dp_side_lines {
    struct dp_side_line *lines;
    size_t n, cap;
    struct dp_pool identities;  /* files and numbers; the number of an identity is that of its
                                 * line */
};

void dp_side_lines_init(struct dp_side_lines *s);
void dp_side_lines_release(struct dp_side_lines *s);

/* Replaces the lines by those of a side. The `line` of the side's profiles gets, for each place,
 * the number of its line, from 0 up; other places stay DP_MAP_NONE. Returns 0 or DP_E_NOMEM. */
int dp_side_lines_take(struct dp_side_lines *s, const struct dp_file_pairs *files,
                       const struct dp_line_prof *profs, uint32_t side);

#endif
