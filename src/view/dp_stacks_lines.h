/* What lines of source cost: the own values of the frames of stacks, by name, file and line.
 *
 * Statements tell it, in profiles that have them with times. They differ from frames in three
 * ways, and here the frames are right: the values of all lines of a name are exactly the sum of
 * the own values of its frames.
 * - A statement has what the XS subs and builtins have that it calls. That is subtracted from the
 *   line that they are called from.
 * - Frames have what statements do not tell: of subs that were left out, of statements that were
 *   not known, a rounded tick. It stands at the first line of the sub.
 * - Code of a file in no sub is the program's, but a file that a sub has loaded runs in the frames
 *   of that sub. Where the program has less than its lines, those of other files give way first. */
#ifndef DP_STACKS_LINES_H
#define DP_STACKS_LINES_H

#include "dp_base.h"
#include "dp_stacks.h"

/* A line of a name. */
struct dp_stacks_line {
    uint32_t name;              /* number in the names of the stacks */
    struct dp_name file;        /* len 0: not known */
    uint64_t line;              /* 0: not known */
};

struct dp_stacks_lines {
    struct dp_stacks_line *lines;       /* by name, file and line; those that have nothing are
                                         * left out */
    size_t count, n_columns;
    uint64_t *self;             /* by line, then column */
};

/* Makes the lines of stacks that are made as `how' says. What phases and parts have themselves is
 * the program's. If statements is false, or how has no by_site, all that a name has stands at the
 * first line of its sub; they are not used for one phase, which they do not tell apart. All is
 * borrowed. Returns 0 or DP_E_NOMEM; the caller releases it. */
int dp_stacks_lines_make(struct dp_stacks_lines *l, const struct dp_stacks *s,
                         const struct dp_stacks_how *how, bool statements);
void dp_stacks_lines_release(struct dp_stacks_lines *l);

static inline uint64_t dp_stacks_line_self(const struct dp_stacks_lines *l, size_t line,
                                           size_t column)
{
    return l->self[line * l->n_columns + column];
}

#endif
