/* The own values of single frames, by line: the values of lines, apportioned to the frames of their
 * subs.
 *
 * Statements are known by sub, and not by context: the cost of a sub's line is known, but not in
 * which of the sub's frames. So each frame gets a proportional share of each line of its name, in
 * whole ticks or counts. The shares of a frame add up exactly to its own values, and the shares of
 * a line, over all frames, exactly to its values in dp_stacks_lines.
 *
 * A frame with shares in ten lines is ten stacks for its reader. If all stacks together became
 * longer than DP_APPORTION_TIMES their length without lines, the names that need the most room get
 * their whole value at their first lines. */
#ifndef DP_STACKS_APPORTION_H
#define DP_STACKS_APPORTION_H

#include "dp_base.h"
#include "dp_stacks.h"
#include "dp_stacks_lines.h"

enum { DP_APPORTION_TIMES = 4, DP_APPORTION_LEAST = 1 << 20 };    /* this many more frames are
                                                                   * always allowed */

/* A frame's share of a line. */
struct dp_stacks_share {
    uint32_t line;              /* number in the lines; DP_STACKS_NONE: the first line of the sub */
    const uint64_t *self;       /* by column */
};

struct dp_stacks_apportion {
    const struct dp_stacks *s;
    bool used;                  /* if false, no profile has lines, and nothing else is set */
    struct dp_stacks_lines lines;       /* self: the values left for later frames */
    uint32_t *first;            /* by name: its lines are first[name] up to first[name + 1] */
    uint64_t *left;             /* by name, then column: the sum of its lines */
    bool *whole;                /* by name: its frames have their whole value at the first line */
    uint32_t program;           /* the program's name */
    uint64_t turn;              /* advances, so that remainders do not always go to the same line */
    struct dp_stacks_share *shares;     /* shares of the frame of the last call */
    uint64_t *self;             /* values of the shares */
};

/* Prepares shares of stacks that were made with `how'. depth: by frame, from dp_stacks_depths. All
 * arguments but depth are borrowed. Returns 0 or DP_E_NOMEM; the caller releases *w. */
int dp_stacks_apportion_init(struct dp_stacks_apportion *w, const struct dp_stacks *s,
                             const struct dp_stacks_how *how, const uint32_t *depth);
void dp_stacks_apportion_release(struct dp_stacks_apportion *w);

/* Computes the shares of a frame in w->shares, without those that are 0, and returns their number.
 * w->used must be true. Call it once for each frame. */
size_t dp_stacks_apportion_next(struct dp_stacks_apportion *w, uint32_t frame);

#endif
