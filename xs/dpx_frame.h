/* Inside the hooks: our own stack of frames, kept in step with the program's stacks, and its marks. Inline is
 * what a call comes by. How frames live and die is told in dpx_hook.c. */
#ifndef DPX_FRAME_H
#define DPX_FRAME_H

#include "dpx.h"

/* The hooks exist once for each way of recording, so that none asks which it
 * is. */
enum { DPX_COUNTER = 1, DPX_TREE = 2, DPX_HOWS = 4 };

/* Called directly, without a table of the linker's. */
#pragma GCC visibility push(hidden)

extern int dpx_how;             /* which hooks; -1: none yet */

/* A stamp, where speed does not matter. */
DP_COLD U64 dpx_frame_stamp(struct dpx_ctx *ctx);

/* Makes room for more frames. */
DP_COLD bool dpx_frame_more(struct dpx_ctx *ctx);

/* Ends the frames above keep, as of arrival stamp now. */
void dpx_frame_unwind_to(struct dpx_ctx *ctx, struct dpx_frame *keep, U64 now);

/* Is the sub of a frame still running? */
bool dpx_frame_is_alive(pTHX_ const struct dpx_frame *f);

/* dpx_frame_reconcile when a context beyond index ix of si has just been pushed: it may
 * stand where that of a dead frame stood. */
DP_COLD void dpx_frame_reconcile_below(pTHX_ struct dpx_ctx *ctx, const PERL_SI *si, I32 ix, U64 now);

#pragma GCC visibility pop

/* The mark goes out only with the frame: both or none. */
DP_INLINE bool dpx_frame_push(struct dpx_ctx *ctx, PERL_SI *si, I32 key, U32 id, U64 now, const int how)
{
    if (DP_UNLIKELY(ctx->top + 1 == ctx->frames_end) && !dpx_frame_more(ctx))
        return false;
    struct dpx_frame *f = ++ctx->top;
    f->si = si;
    f->key = key;
    f->id = f->runs = id;
    dp_rec_mark(&ctx->rec, DP_RAW_ENTER, id, &f->call, now, how & DPX_TREE);
    return true;
}

/* The frame on top ends. */
DP_INLINE void dpx_frame_pop(struct dpx_ctx *ctx, enum dp_raw_kind kind, U64 now, const int how)
{
    struct dpx_frame *f = ctx->top--;
    dp_rec_mark(&ctx->rec, kind, f->id, &f->call, now, how & DPX_TREE);
}

/* A further mark of the same arrival: no time has passed in the program. */
DP_INLINE void dpx_frame_same_arrival(struct dpx_ctx *ctx, U64 now)
{
    ctx->rec.left = now;
}

/* A C call has returned, whose frame was the at-th: ends that, with those above it. False: the frame has
 * gone before. */
DP_INLINE bool dpx_frame_end_call(struct dpx_ctx *ctx, ptrdiff_t at, U64 serial, const int kind, U64 now,
                                  const int how)
{
    struct dpx_frame *f = ctx->frames + at;
    if (DP_UNLIKELY(ctx->top < f || f->serial != serial || DPX_KEY_KIND(f->key) != kind))
        return false;
    dpx_frame_unwind_to(ctx, f, now);
    dpx_frame_pop(ctx, DP_RAW_LEAVE, now, how);
    return true;
}

/* CXt_NULL: Scope::Upper hides contexts in this way for a while. */
DP_INLINE bool dpx_frame_is_sub_slot(const PERL_SI *si, I32 ix)
{
    U8 type = CxTYPE(&si->si_cxstack[ix]);
    return type == CXt_SUB || type == CXt_NULL;
}

/* Is the frame on top alive, as it nearly always is? ix: the current index. */
DP_INLINE bool dpx_frame_is_fine(pTHX_ const struct dpx_frame *top, const PERL_SI *si, I32 ix)
{
    I32 at = DPX_KEY_IX(top->key);
    return top->si == si && at <= ix
        && (DPX_KEY_IS_XS(top->key) ? at == ix && top->saved < PL_savestack_ix : dpx_frame_is_sub_slot(si, at));
}

/* Before a frame is pushed at index ix of si, or just above: ends what is dead on top. */
DP_INLINE void dpx_frame_check_top(pTHX_ struct dpx_ctx *ctx, const PERL_SI *si, I32 ix, U64 now)
{
    if (DP_UNLIKELY(!dpx_frame_is_fine(aTHX_ ctx->top, si, ix))
        && (ctx->top != ctx->frames || dpx_coro_is_other(aTHX_ ctx)))
        dpx_frame_reconcile_below(aTHX_ ctx, si, ix, now);
}

/* Nothing for dpx_frame_reconcile to do? */
DP_INLINE bool dpx_frame_in_order(pTHX_ const struct dpx_ctx *ctx)
{
    return !dpx_coro_is_other(aTHX_ ctx) && (ctx->top == ctx->frames || dpx_frame_is_alive(aTHX_ ctx->top));
}

/* Leaving a hook that made no mark since the arrival at stamp now: the gap goes on,
 * without the time that the hook took. */
DP_INLINE void dpx_frame_unmarked(struct dpx_ctx *ctx, U64 now, const int how)
{
    ctx->rec.left += dpx_stamp(&ctx->clock, how & DPX_COUNTER) - now;
}

/* Ends the frames that the program has left, if the one on top is among them. */
DP_INLINE void dpx_frame_look(pTHX_ struct dpx_ctx *ctx)
{
    if (!dpx_frame_in_order(aTHX_ ctx)) {
        dpx_frame_reconcile(aTHX_ ctx, dpx_frame_stamp(ctx));
        ctx->rec.left = dpx_frame_stamp(ctx);
    }
}

/* Is it the frame of the Perl sub at index ix of si? */
DP_INLINE bool dpx_frame_stands_at(const struct dpx_frame *top, const PERL_SI *si, I32 ix)
{
    return top->si == si && top->key == DPX_KEY(ix, DPX_PERL);
}

#endif
