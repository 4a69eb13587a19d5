/* The states of the interpreters: all of a process, and the one that the hooks see. */
#ifndef DPX_CTX_H
#define DPX_CTX_H

#include "dpx.h"

/* Arrive in a hook, and leave it, whatever the way of recording; dpx_frame.h has the faster ones
 * that the hooks use. */
U64 dpx_ctx_arrive(struct dpx_ctx *ctx);
void dpx_ctx_leave(struct dpx_ctx *ctx);

/* Makes the hooks see this state; NULL: one that does not record. */
void dpx_ctx_show(pTHX_ struct dpx_ctx *ctx);
bool dpx_ctx_is_nobody(const struct dpx_ctx *ctx);

/* Give a state that is all 0, or NULL, and take one back, off the list. A state is never freed:
 * whoever has inherited a pointer to it may look at thx and state at any time. */
struct dpx_ctx *dpx_ctx_take(void);
void dpx_ctx_give_back(struct dpx_ctx *ctx);

/* Puts a state on the list of the process, under a thread's number. */
void dpx_ctx_enlist(struct dpx_ctx *ctx);

/* The state of this interpreter, shown to the hooks or not; NULL: it does not record. */
struct dpx_ctx *dpx_ctx_find(pTHX);

/* The state of the interpreter that this thread runs, if any: a thread that is not
 * perl's may fork, too. It only compares pointers; the caller holds the lock. */
struct dpx_ctx *dpx_ctx_own(void);

/* This interpreter's state, or NULL when it does not record. */
struct dpx_ctx *dpx_ctx_current(pTHX);

/* Is PL_runops still ours? */
DP_INLINE bool dpx_ctx_has_loop(pTHX)
{
    return dpx_run.loop && PL_runops == dpx_run.loop;
}

#endif
