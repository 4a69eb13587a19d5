/* Where what runs is in the tree. */
#ifndef DPX_PLACED_H
#define DPX_PLACED_H

#include "dpx_running.h"

struct dpx_place {
    struct dp_cct_node *node;
    U32 sub;                    /* the innermost that is recorded, of the same file; 0: none */
    const COP *left_out;        /* what has called subs that are not recorded, or NULL */
};

/* Makes room for stacks of n, the same n each time; it is there as long as the state. Returns false
 * if memory is short. */
bool dpx_placed_room(struct dpx_tick *t, size_t n);

/* The place of what runs, the innermost first. There must be room. */
struct dpx_place dpx_placed_find(pTHX_ struct dpx_ctx *ctx, const struct dpx_running *stack,
                                 size_t n);

#endif
