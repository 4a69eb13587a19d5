/* heap=sample: the blocks of memory that perl has allocated, by the context and the statement that
 * did. A few blocks are noted (dp_blocks.h); each counts as many of its kind, as long as it lives.
 *
 * perl takes the heads and bodies of values from arenas, which are never freed, so an arena says
 * nothing about the sub that needed it. A census looks at all values instead: a value whose string,
 * elements or buckets are a noted block counts with that block, and its head and body with it. A
 * scalar that has no memory of its own, a number or a reference, counts with the array or hash
 * that holds it, if nothing else does. Other such scalars are not counted.
 *
 * All interpreters of the process share one table and one lock, as a block may be freed by another
 * thread than the one that allocated it. */
#ifndef DPX_BLOCKS_H
#define DPX_BLOCKS_H

#include "dpx.h"

/* The columns of heap=sample, from plan.heap_at on. */
enum {
    DPX_BLOCKS_ALL, DPX_BLOCKS_ALL_BYTES,       /* allocated: blocks, bytes */
    DPX_BLOCKS_LIVE,                            /* blocks that are not freed yet, */
    DPX_BLOCKS_VALUES,                          /* values that live in them, */
    DPX_BLOCKS_LIVE_BYTES                       /* and the bytes of both */
};

/* Begins to note blocks. Returns false if memory is short. */
bool dpx_blocks_begin(struct dpx_ctx *ctx);

/* Counts the values that live, and leaves out perl's arenas. */
void dpx_blocks_count(pTHX_ struct dpx_ctx *ctx);

/* ---- where samples are taken, no place is known until the next safe point ---- */

/* Notes what an interpreter of this thread runs. */
void dpx_blocks_note_words(pTHX_ const struct dpx_ctx *ctx, struct dpx_words *words);

/* Called when a block waits for its place; set before the recording begins. */
extern void (*dpx_blocks_ask)(pTHX);

/* What ran when the n-th of the blocks that wait was allocated; NULL: there are not so many. */
const struct dpx_words *dpx_blocks_waiting(const struct dpx_ctx *ctx, size_t n);

/* Gives that block its context, NULL for that of the recorded calls, and the number of its
 * statement. */
void dpx_blocks_place(struct dpx_ctx *ctx, size_t n, struct dp_cct_node *node, U32 line);

/* Begins to find places: no block is noted until dpx_blocks_all_placed. Returns the number of
 * blocks that wait. Their places are to be found from the last to the first, so that of two blocks
 * with one address, the one that lives gets its own place. */
size_t dpx_blocks_to_place(struct dpx_ctx *ctx);

/* No block waits any more. */
void dpx_blocks_all_placed(struct dpx_ctx *ctx);

/* perl frees an op, which may be the statement of a block that waits. ctx has blocks. */
void dpx_blocks_forget_op(struct dpx_ctx *ctx, const OP *op);

/* ---- the end, slices and fork ---- */

/* Takes the live blocks over to the tree. dpx_blocks_count does so, too. Until then the tree has
 * those of the last time: another thread may free a block, and never touches the tree. */
void dpx_blocks_show(struct dpx_ctx *ctx);

/* The main program of an interpreter ends, or its recording: its blocks keep their counts, and
 * none is noted any more. */
void dpx_blocks_end(struct dpx_ctx *ctx);

/* Releases what an interpreter's recording has kept. */
void dpx_blocks_free(struct dpx_ctx *ctx);

/* Around the change to the tree of the next slice: dpx_blocks_keep notes the paths of what lives,
 * and dpx_blocks_resume counts it in the new tree. If memory is short, it is not counted. */
void dpx_blocks_keep(struct dpx_ctx *ctx);
void dpx_blocks_resume(struct dpx_ctx *ctx);

/* Around fork. A child begins without blocks, and notes none until dpx_blocks_resume: then it has a
 * tree. */
void dpx_blocks_before_fork(void);
void dpx_blocks_in_parent(void);
void dpx_blocks_in_child(void);

#endif
