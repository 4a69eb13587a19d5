/* The states of the interpreters: all of a process, and the one that the hooks see. */
#ifndef DPX_CTX_H
#define DPX_CTX_H

#include "dpx.h"

/* Arrive in a hook, and leave it, whatever the way of recording; dpx_frame.h has the faster ones
 * that the hooks use. */
U64 dpx_ctx_arrive(struct dpx_ctx *ctx);
void dpx_ctx_leave(struct dpx_ctx *ctx);

/* Prepares an interpreter for dpx_ctx_show, once: the hooks see a state that does not record. perl
 * calls `ends` when the interpreter ends; it is the same function for all interpreters. */
void dpx_ctx_join(pTHX_ ATEXIT_t ends);

/* Has this interpreter called dpx_ctx_join, or been cloned from one that has? */
bool dpx_ctx_has_joined(pTHX);

/* Makes the hooks see this state; NULL: one that does not record. */
void dpx_ctx_show(pTHX_ struct dpx_ctx *ctx);
bool dpx_ctx_is_nobody(const struct dpx_ctx *ctx);

/* Give a state that is all 0, or NULL, and take one back, off the list. A state is never freed: an
 * interpreter that has inherited a pointer to it may read thx and state at any time. */
struct dpx_ctx *dpx_ctx_take(void);
void dpx_ctx_give_back(struct dpx_ctx *ctx);

/* Puts a state on the list of the process, under a thread's number. */
void dpx_ctx_enlist(struct dpx_ctx *ctx);

/* The state of this interpreter, shown to the hooks or not; NULL: it does not record. */
struct dpx_ctx *dpx_ctx_find(pTHX);

/* The state of this interpreter, also after its recording has ended; NULL: it never recorded. */
struct dpx_ctx *dpx_ctx_owned(pTHX);

/* The state of the interpreter that this thread runs; NULL: it runs none, or one that does not
 * record. Only compares pointers; the caller holds the lock. */
struct dpx_ctx *dpx_ctx_own(void);

/* Does this thread alone touch this state? It does if it runs the state's interpreter, or has made
 * that interpreter, and the interpreter is no clone. */
bool dpx_ctx_is_mine(const struct dpx_ctx *ctx);

/* Returns this thread's recording state with the greatest number below that; NULL: there is none.
 * To go through all of them, begin with UINT_MAX and go on with the number of the last. */
struct dpx_ctx *dpx_ctx_mine(unsigned below);

/* Does the list hold another interpreter than this state's that is no clone? */
bool dpx_ctx_has_programs(const struct dpx_ctx *but);

/* Returns this interpreter's state, or NULL when it does not record. */
struct dpx_ctx *dpx_ctx_current(pTHX);

/* Is PL_runops still ours? */
DP_INLINE bool dpx_ctx_has_loop(pTHX)
{
    return dpx_run.loop && PL_runops == dpx_run.loop;
}

/* Notes whether another module has the run loop; at the end, the note before stays. */
DP_INLINE void dpx_ctx_look_at_loop(struct dpx_ctx *ctx)
{
    DPX_DTHX(ctx);
    if (ctx->thx)
        ctx->runops_taken = dpx_run.loop && !dpx_ctx_has_loop(aTHX);
}

#endif
