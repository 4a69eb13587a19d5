/* The place of running code in the tree. */
#ifndef DPX_PLACED_H
#define DPX_PLACED_H

#include "dpx_running.h"

struct dpx_place {
    struct dp_cct_node *node;
    U32 sub;                    /* id of the innermost recorded sub of the same file; 0: none */
    const COP *left_out;        /* the statement that called subs which are not recorded, or NULL */
};

/* Makes room for stacks of n frames, the same n each time; the room lasts as long as the state.
 * Returns false if memory is short. */
bool dpx_placed_room(struct dpx_tick *t, size_t n);

/* Returns the place of a stack of running code (struct dpx_place): the node of its innermost
 * recorded frame, the innermost sub, and what was left out. Adds the nodes that the tree lacks.
 * stack: n frames, the innermost first. Outer frames that are those of the last call are not looked
 * up again. dpx_placed_room must have made room. */
struct dpx_place dpx_placed_find(pTHX_ struct dpx_ctx *ctx, const struct dpx_running *stack,
                                 size_t n);

#endif
