/* The own values of single frames, by line: what lines have, spread over the frames of their subs.
 *
 * Statements are known by sub, and not by context: what a line of a sub costs is known, but not in
 * which of its frames. So each frame gets a share of what each line of its name has: in proportion,
 * in whole ticks or counts, such that the shares of a frame are exactly its own values, and those
 * of a line, of all frames together, exactly what dp_stacks_lines tells of it.
 *
 * A frame with shares in ten lines is ten stacks for its reader. If all stacks together became
 * longer than DP_APPORTION_TIMES what they are without lines, names have all at their first lines,
 * those first that would take most. */
#ifndef DP_STACKS_APPORTION_H
#define DP_STACKS_APPORTION_H

#include "dp_base.h"
#include "dp_stacks.h"
#include "dp_stacks_lines.h"

enum { DP_APPORTION_TIMES = 4, DP_APPORTION_LEAST = 1 << 20 };    /* so many frames more are fine */

/* What a frame has in a line. */
struct dp_stacks_share {
    uint32_t line;              /* number in the lines; DP_STACKS_NONE: the first one of the sub */
    const uint64_t *self;       /* by column */
};

struct dp_stacks_apportion {
    const struct dp_stacks *s;
    bool used;                  /* if not, no profile tells of lines, and nothing else is set */
    struct dp_stacks_lines lines;       /* self: what is left for frames to come */
    uint32_t *first;            /* by name: its lines are first[name] up to first[name + 1] */
    uint64_t *left;             /* by name, then column: the sum of its lines */
    bool *whole;                /* by name: all that its frames have is at the first line */
    uint32_t program;           /* its name */
    uint64_t turn;              /* moves on, so that no line is always the one that gets a rest */
    struct dp_stacks_share *shares;     /* of the frame that was asked for last */
    uint64_t *self;             /* theirs */
};

/* Prepares shares of the stacks that are made as `how' says. depth: by frame, as dp_stacks_depths
 * gives it. All but depth is borrowed. Returns 0 or DP_E_NOMEM; the caller releases it. */
int dp_stacks_apportion_init(struct dp_stacks_apportion *w, const struct dp_stacks *s,
                             const struct dp_stacks_how *how, const uint32_t *depth);
void dp_stacks_apportion_release(struct dp_stacks_apportion *w);

/* Makes w->shares those of a frame, and returns how many there are; those that have nothing are
 * left out. It must be `used', and is asked once for each frame. */
size_t dp_stacks_apportion_next(struct dp_stacks_apportion *w, uint32_t frame);

#endif
