/* The costs of lines of source: the own values of the frames of stacks, by name, file and line.
 *
 * The costs come from statements, in profiles that have them with times. Statements differ from
 * frames in three ways, and frames are right: the values of all lines of a name add up exactly to
 * the own values of its frames.
 * - A statement includes the XS subs, builtins and spans that it calls. Their values are subtracted
 *   from the line that calls them.
 * - Frames have values that statements lack: those of subs that were left out, of statements that
 *   were not known, a rounded tick. These values go to the first line of the sub.
 * - Code of a file outside of subs is the program's, but a file that a sub has loaded runs in the
 *   frames of that sub. If the program has less than its lines, lines of other files are reduced
 *   first. */
#ifndef DP_STACKS_LINES_H
#define DP_STACKS_LINES_H

#include "dp_base.h"
#include "dp_stacks.h"

/* A line of a name. */
struct dp_stacks_line {
    uint32_t name;              /* number in the names of the stacks */
    struct dp_name file;        /* len 0: unknown */
    uint64_t line;              /* 0: unknown */
};

struct dp_stacks_lines {
    struct dp_stacks_line *lines;       /* by name, file and line; without lines whose values are
                                         * 0 */
    size_t count, n_columns;
    uint64_t *self;             /* by line, then column */
};

/* Makes the lines of stacks that were made with `how'. The own values of phases and parts belong to
 * the program. If statements is false, or how has no by_site, the whole value of a name goes to the
 * first line of its sub. Statements cannot be used for one phase, because they do not distinguish
 * phases. All arguments are borrowed. Returns 0 or DP_E_NOMEM; the caller releases *l. */
int dp_stacks_lines_make(struct dp_stacks_lines *l, const struct dp_stacks *s,
                         const struct dp_stacks_how *how, bool statements);
void dp_stacks_lines_release(struct dp_stacks_lines *l);

static inline uint64_t dp_stacks_line_self(const struct dp_stacks_lines *l, size_t line,
                                           size_t column)
{
    return l->self[line * l->n_columns + column];
}

#endif
