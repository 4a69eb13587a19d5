/* Coroutines (Coro): stacks of frames that take turns. */
#ifndef DPX_CORO_H
#define DPX_CORO_H

#include "dpx.h"

/* The frame below all others. */
void dpx_coro_bottom(struct dpx_frame *f);

/* Switches to another coroutine, at arrival stamp now: the one with this main stack, which is not
 * ctx->mainstack. */
void dpx_coro_switch(pTHX_ struct dpx_ctx *ctx, AV *mainstack, U64 now);

/* Switches to the coroutine with PL_mainstack, which may be new, at arrival stamp now. */
DP_COLD void dpx_coro_notice(pTHX_ struct dpx_ctx *ctx, U64 now);

/* Does a coroutine run that is not the one of the frames? */
DP_INLINE bool dpx_coro_is_other(pTHX_ const struct dpx_ctx *ctx)
{
    return DP_UNLIKELY(PL_mainstack != ctx->mainstack);
}

/* After a new tree has begun (dp_rec_renew): gives the calls of the coroutines that do not run
 * their contexts in it. links: rec->relinks before. */
void dpx_coro_renew(struct dpx_ctx *ctx, U64 links);

/* Frees what is kept about coroutines. */
void dpx_coro_release(struct dpx_ctx *ctx);

#endif
