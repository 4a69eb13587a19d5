#include "dpx_frame.h"
#include "dp_mem.h"

struct dpx_way dpx_way;
bool dpx_frame_has_spans;

bool dpx_frame_more(struct dpx_ctx *ctx)
{
    size_t n = (size_t)(ctx->frames_end - ctx->frames);
    size_t top = (size_t)(ctx->top - ctx->frames);
    struct dpx_frame *frames = dp_mem_realloc(ctx->frames, n * 2, sizeof *frames);
    if (!frames)
        return false;
    ctx->rec.worked = true;
    ctx->frames = frames;
    ctx->frames_end = frames + n * 2;
    ctx->top = frames + top;
    return true;
}

/* Records the end of all calls above frame keep, which an exception or a jump ended at stamp
 * now. */
DP_INLINE void unwind_to(struct dpx_ctx *ctx, struct dpx_frame *keep, U64 now, const int way)
{
    while (ctx->top > keep) {
        dpx_frame_pop(ctx, DP_RAW_UNWIND, now, way);
        dpx_frame_same_arrival(ctx, now);
    }
}

static bool on_chain(const PERL_SI *of, const PERL_SI *from)
{
    for (; from; from = from->si_prev)
        if (from == of)
            return true;
    return false;
}

/* The least height of the save stack since the XS sub of f was called, as far as the contexts above
 * it show. While a scope around that call is being left, its destructors and defer blocks run below
 * the height of the call. */
static I32 save_height(pTHX_ const struct dpx_frame *f)
{
    I32 ix = DPX_KEY_IX(f->key);
    if (f->si->si_cxix > ix)
        return f->si->si_cxstack[ix + 1].blk_oldsaveix;
    const PERL_SI *above = PL_curstackinfo;
    if (above == f->si)
        return PL_savestack_ix;
    while (above->si_prev != f->si)
        above = above->si_prev;
    return above->si_cxix >= 0 ? above->si_cxstack[0].blk_oldsaveix : PL_savestack_ix;
}

/* Is a frame alive that looks dead? A span of an XS sub lives as long as the frame below it, and a
 * span outside of all subs ends by itself (dpx_span_frames.h). */
static DP_COLD bool lives_as_span(pTHX_ const struct dpx_frame *f)
{
    return !f->si || (DPX_KEY_IS_XS(f->key) && f->saved == DPX_SAVED_BELOW
                      && dpx_frame_is_alive(aTHX_ f - 1));
}

bool dpx_frame_is_alive(pTHX_ const struct dpx_frame *f)
{
    I32 ix = DPX_KEY_IX(f->key);
    if (on_chain(f->si, PL_curstackinfo) && ix <= f->si->si_cxix
        && (DPX_KEY_IS_XS(f->key) ? f->saved < save_height(aTHX_ f) && !dpx_frame_lost_caller(f)
                                  : dpx_frame_is_sub_slot(f->si, ix)))
        return true;
    return DP_UNLIKELY(dpx_frame_has_spans) && lives_as_span(aTHX_ f);
}

/* Does another sub run where the sub of an unmarked frame ran? */
static bool is_replaced(const struct dpx_frame *f)
{
    return f->si && !DPX_KEY_IS_XS(f->key) && f->call.start != PTR2UV(dpx_frame_sub(f));
}

/* Ends the calls on top that no longer run, which an exception or a jump has ended, and notices a
 * switch of coroutines. */
DP_INLINE void reconcile(pTHX_ struct dpx_ctx *ctx, U64 now, const int way)
{
    if (dpx_coro_is_other(aTHX_ ctx))
        dpx_coro_notice(aTHX_ ctx, now);
    while (ctx->top > ctx->frames
           && (!dpx_frame_is_alive(aTHX_ ctx->top)
               || (way & DPX_UNMARKED && is_replaced(ctx->top)))) {
        dpx_frame_pop(ctx, DP_RAW_UNWIND, now, way);
        dpx_frame_same_arrival(ctx, now);
    }
}

/* Works like reconcile(), before a call whose context is number ix of the stack si: ends the calls
 * with a higher number in the stack, too. */
DP_INLINE void reconcile_below(pTHX_ struct dpx_ctx *ctx, const PERL_SI *si, I32 ix, U64 now,
                               const int way)
{
    const struct dpx_frame *f;
    if (dpx_coro_is_other(aTHX_ ctx))
        dpx_coro_notice(aTHX_ ctx, now);
    while ((f = ctx->top) > ctx->frames
           && ((f->si == si && DPX_KEY_IX(f->key) > ix) || !dpx_frame_is_alive(aTHX_ f))) {
        dpx_frame_pop(ctx, DP_RAW_UNWIND, now, way);
        dpx_frame_same_arrival(ctx, now);
    }
}

#define WAY(n, name) \
    static U64 arrive_##n(struct dpx_ctx *ctx) { return dpx_arrive(ctx, n); } \
    static void leave_##n(struct dpx_ctx *ctx) { dpx_leave(ctx, n); } \
    static void leave_to_c_##n(struct dpx_ctx *ctx) { dpx_leave_to_c(ctx, n); } \
    static void unmarked_##n(struct dpx_ctx *ctx, U64 now) { dpx_frame_unmarked(ctx, now, n); } \
    static bool push_##n(struct dpx_ctx *ctx, PERL_SI *si, I32 key, U32 id, U64 now) \
        { return dpx_frame_push(ctx, si, key, id, now, n); } \
    static void pop_##n(struct dpx_ctx *ctx, enum dp_raw_kind kind, U64 now) \
        { dpx_frame_pop(ctx, kind, now, n); } \
    static bool end_c_##n(struct dpx_ctx *ctx, ptrdiff_t at, U64 serial, U64 now) \
        { return dpx_frame_end_call(ctx, at, serial, DPX_XS, now, n); } \
    static void unwind_to_##n(struct dpx_ctx *ctx, struct dpx_frame *keep, U64 now) \
        { unwind_to(ctx, keep, now, n); } \
    static void reconcile_##n(pTHX_ struct dpx_ctx *ctx, U64 now) \
        { reconcile(aTHX_ ctx, now, n); } \
    static void reconcile_below_##n(pTHX_ struct dpx_ctx *ctx, const PERL_SI *si, I32 ix, U64 now) \
        { reconcile_below(aTHX_ ctx, si, ix, now, n); }
DPX_EACH_WAY(WAY, none)
WAY(DPX_UNMARKED, none)
#undef WAY

#define FUNCTIONS(n) \
    { arrive_##n, leave_##n, leave_to_c_##n, unmarked_##n, push_##n, pop_##n, end_c_##n, \
      unwind_to_##n, reconcile_##n, reconcile_##n, reconcile_below_##n }
#define WAY(n, name) FUNCTIONS(n),
const struct dpx_way dpx_ways[DPX_WAYS] = { DPX_EACH_WAY(WAY, none) };
const struct dpx_way dpx_unmarked_way = FUNCTIONS(DPX_UNMARKED);
#undef WAY
#undef FUNCTIONS

void dpx_frame_reconcile(pTHX_ struct dpx_ctx *ctx, U64 now)
{
    dpx_way.reconcile(aTHX_ ctx, now);
}

void dpx_frame_unwind(struct dpx_ctx *ctx, U64 now)
{
    dpx_frame_unwind_to(ctx, ctx->frames, now);
}

U32 dpx_frame_caller(const struct dpx_ctx *ctx)
{
    return ctx->top > ctx->frames + 1 ? ctx->top[-1].runs : 0;
}
