/* Inside the hooks: our own stack of frames, kept in step with the program's stacks, and its marks.
 * The code that every call executes is inline. dpx_hook.c explains how frames live and die. */
#ifndef DPX_FRAME_H
#define DPX_FRAME_H

#include "dpx_coro.h"
#include "dpx_events.h"
#include "dp_rec_mark.h"

/* The hooks exist once for each way of recording, so that none tests for the way: as a tree, with
 * counters of events, with the times of statements, by the processor's clock. There are four bits,
 * all taken. To add a fifth, give it the value that DPX_WAYS has now, double DPX_WAYS, and make
 * DPX_EACH_WAY a macro of twice as many: every table of ways grows by itself, and the hooks' code
 * doubles, too. */
enum { DPX_TREE = DP_REC_TREE, DPX_COUNTS = DP_REC_COUNTS, DPX_LINES = DP_REC_LINES,
       DPX_REC = DPX_TREE | DPX_COUNTS | DPX_LINES,
       DPX_COUNTER = DP_REC_HOST, DPX_WAYS = 16 };

/* One more way, beside these: where only samples are taken, frames make no mark, and no time passes
 * between arriving and leaving. The frames are those of spans, for the samples to find. */
enum { DPX_UNMARKED = 512 };

/* Expand X(number, ...) for 8 and for 16 ways. */
#define DPX_WAYS_8(X, ...) \
    X(0, __VA_ARGS__) X(1, __VA_ARGS__) X(2, __VA_ARGS__) X(3, __VA_ARGS__) \
    X(4, __VA_ARGS__) X(5, __VA_ARGS__) X(6, __VA_ARGS__) X(7, __VA_ARGS__)
#define DPX_WAYS_16(X, ...) \
    DPX_WAYS_8(X, __VA_ARGS__) \
    X(8, __VA_ARGS__) X(9, __VA_ARGS__) X(10, __VA_ARGS__) X(11, __VA_ARGS__) \
    X(12, __VA_ARGS__) X(13, __VA_ARGS__) X(14, __VA_ARGS__) X(15, __VA_ARGS__)

/* For functions that exist once for each way: DPX_EACH_WAY(X, name, ...) expands X(0, name, ...),
 * X(1, name, ...) ..., by which X defines name_0, name_1 ... DPX_EACH_OF makes a table of them. */
#define DPX_EACH_WAY            DPX_WAYS_16
#define DPX_EACH_OF(name)       { DPX_EACH_WAY(DPX_ENTRY_, name) }
#define DPX_ENTRY_(way, name)   name##_##way,

#define DPX_ONE_(way, name)     + 1
DP_CHECK(ways, DPX_EACH_WAY(DPX_ONE_, none) == DPX_WAYS
                   && (DPX_REC | DPX_COUNTER) == DPX_WAYS - 1
                   && (int)DP_REC_OF_C >= (int)DPX_WAYS && (int)DPX_UNMARKED > (int)DP_REC_OF_C);
#undef DPX_ONE_

/* A hook's functions for each way, and a table of them. */
#define DPX_HOOKS(type, name, call) \
    DPX_EACH_WAY(DPX_HOOK_, type, name, call) \
    static type (*const name[DPX_WAYS])(pTHX) = DPX_EACH_OF(name);
#define DPX_HOOK_(way, type, name, call)    static type name##_##way(pTHX) { return call(way); }

/* These are hidden, so that calls are direct, and not through the linker's table (PLT). */
#pragma GCC visibility push(hidden)

extern int dpx_way_bits;             /* the bits of the way of the hooks; -1: there are none yet */

/* Functions that are too large to be inline: one for each way. */
struct dpx_way {
    U64 (*arrive)(struct dpx_ctx *ctx);
    void (*leave)(struct dpx_ctx *ctx);
    void (*leave_to_c)(struct dpx_ctx *ctx);
    void (*unmarked)(struct dpx_ctx *ctx, U64 now);
    bool (*push)(struct dpx_ctx *ctx, PERL_SI *si, I32 key, U32 id, U64 now);
    void (*pop)(struct dpx_ctx *ctx, enum dp_raw_kind kind, U64 now);
    bool (*end_c)(struct dpx_ctx *ctx, ptrdiff_t at, U64 serial, U64 now);
    void (*unwind_to)(struct dpx_ctx *ctx, struct dpx_frame *keep, U64 now);
    void (*reconcile)(pTHX_ struct dpx_ctx *ctx, U64 now);
    void (*settle)(pTHX_ struct dpx_ctx *ctx, U64 now); /* for goto: also ends the spans of the sub
                                                         * around (dpx_span_frames.c) */
    void (*reconcile_below)(pTHX_ struct dpx_ctx *ctx, const PERL_SI *si, I32 ix, U64 now);
};
extern const struct dpx_way dpx_ways[DPX_WAYS], dpx_unmarked_way;
extern struct dpx_way dpx_way;  /* the functions of dpx_way_bits */

/* Has the process pushed frames of spans? */
extern bool dpx_frame_has_spans;

/* dpx_arrive, dpx_leave and dpx_leave_to_c, for callers that do not have the way as a constant. */
#define dpx_frame_arrive(ctx)   (dpx_way.arrive(ctx))
#define dpx_frame_leave(ctx)    (dpx_way.leave(ctx))
#define dpx_frame_leave_to_c(ctx)   (dpx_way.leave_to_c(ctx))

/* Makes room for more frames. */
DP_COLD bool dpx_frame_more(struct dpx_ctx *ctx);

/* Ends the frames above keep, as of arrival stamp now. */
#define dpx_frame_unwind_to(ctx, keep, now)     (dpx_way.unwind_to(ctx, keep, now))

/* Is the sub of a frame still running? */
bool dpx_frame_is_alive(pTHX_ const struct dpx_frame *f);

/* Does the work of dpx_frame_reconcile when a context beyond index ix of si has just been pushed:
 * it may stand where the context of a dead frame stood. */
#define dpx_frame_reconcile_below(ctx, si, ix, now) \
    (dpx_way.reconcile_below(aTHX_ ctx, si, ix, now))

#pragma GCC visibility pop

/* Ends the frames that the program has left, as of stamp now. */
void dpx_frame_reconcile(pTHX_ struct dpx_ctx *ctx, U64 now);

/* Ends all frames. */
void dpx_frame_unwind(struct dpx_ctx *ctx, U64 now);

/* Returns, within an XSUB, the id of the sub that called it and was charged with the time; 0: the
 * program. */
U32 dpx_frame_caller(const struct dpx_ctx *ctx);

/* Arrives in a hook. Returns the stamp up to which time is the program's, and counts the program's
 * events. */
DP_INLINE U64 dpx_arrive(struct dpx_ctx *ctx, const int way)
{
    if (way & DPX_UNMARKED)
        return ctx->rec.marks.left;
    U64 now = dpx_stamp(&ctx->clock, way & DPX_COUNTER);
    if (way & DPX_COUNTS)
        dpx_events_arrive(ctx);
    return now;
}

/* At the beginning of a statement, a second reading of the processor's counter would take as long
 * as the rest of the hook, so there is only one. If events are counted, too, or the clock is
 * another one, there are two. struct dp_rec_how has the same, as reads_once. */
#define DPX_READS_ONCE(way) \
    (((way) & (DPX_LINES | DPX_COUNTER | DPX_COUNTS)) == (DPX_LINES | DPX_COUNTER))

/* Leaves a hook to an XS sub or a builtin, whose gap counts in full (DP_REC_OF_C). */
DP_INLINE void dpx_leave_to_c(struct dpx_ctx *ctx, const int way)
{
    if (way & DPX_UNMARKED)
        return;
    if (way & DPX_COUNTS)
        dpx_events_leave(ctx);
    ctx->rec.marks.left = dpx_stamp(&ctx->clock, way & DPX_COUNTER);
}

/* Leaves a hook: the time that follows is the program's again. */
DP_INLINE void dpx_leave(struct dpx_ctx *ctx, const int way)
{
    dpx_leave_to_c(ctx, way);
    if (DPX_READS_ONCE(way))
        dp_rec_leave(&ctx->rec, ctx->rec.marks.left);
}

/* Pushes a frame without its mark; NULL: there is no memory. */
DP_INLINE struct dpx_frame *dpx_frame_add(struct dpx_ctx *ctx, PERL_SI *si, I32 key, U32 id)
{
    if (DP_UNLIKELY(ctx->top + 1 == ctx->frames_end) && !dpx_frame_more(ctx))
        return NULL;
    struct dpx_frame *f = ++ctx->top;
    f->si = si;
    f->key = key;
    f->id = f->runs = id;
    return f;
}

/* The sub in whose context a frame stands; NULL: in no sub's. */
DP_INLINE const CV *dpx_frame_sub(const struct dpx_frame *f)
{
    const PERL_CONTEXT *cx = f->si && DPX_KEY_IX(f->key) >= 0
                             ? &f->si->si_cxstack[DPX_KEY_IX(f->key)] : NULL;
    return cx && CxTYPE(cx) == CXt_SUB ? cx->blk_sub.cv : NULL;
}

/* Keeps what shows later whether an unmarked frame is alive: no hook may see that its sub ends. */
DP_INLINE void dpx_frame_keep(struct dpx_frame *f, U64 serial)
{
    f->serial = serial;
    f->call.start = PTR2UV(dpx_frame_sub(f));
}

/* Pushes a frame and makes its mark. Returns false, and makes no mark, if there is no memory. */
DP_INLINE bool dpx_frame_push(struct dpx_ctx *ctx, PERL_SI *si, I32 key, U32 id, U64 now,
                              const int way)
{
    struct dpx_frame *f = dpx_frame_add(ctx, si, key, id);
    if (f && way & DPX_UNMARKED)
        dpx_frame_keep(f, ctx->serial);
    else if (DP_LIKELY(f != NULL))
        dp_rec_mark(&ctx->rec, DP_RAW_ENTER, id, &f->call, now, way & DPX_REC);
    return f != NULL;
}

/* Ends the frame on top. */
DP_INLINE void dpx_frame_pop(struct dpx_ctx *ctx, enum dp_raw_kind kind, U64 now, const int way)
{
    struct dpx_frame *f = ctx->top--;
    if (way & DPX_UNMARKED)
        return;
    dp_rec_mark(&ctx->rec, kind, f->id, &f->call, now, way & (DPX_REC | DP_REC_OF_C));
}

/* A further mark of the same arrival: no time has passed in the program. */
DP_INLINE void dpx_frame_same_arrival(struct dpx_ctx *ctx, U64 now)
{
    ctx->rec.marks.left = now;
}

/* Ends the frame of a C call that has returned, and the frames above it. at: its index. Returns
 * false if the frame had ended before. */
DP_INLINE bool dpx_frame_end_call(struct dpx_ctx *ctx, ptrdiff_t at, U64 serial, const int kind,
                                  U64 now, const int way)
{
    struct dpx_frame *f = ctx->frames + at;
    if (DP_UNLIKELY(ctx->top < f || f->serial != serial || DPX_KEY_KIND(f->key) != kind))
        return false;
    dpx_frame_unwind_to(ctx, f, now);
    dpx_frame_pop(ctx, DP_RAW_LEAVE, now, kind == DPX_XS ? way | DP_REC_OF_C : way);
    return true;
}

/* Is this the context of a sub, or CXt_NULL, with which Scope::Upper hides contexts for a while? */
DP_INLINE bool dpx_frame_is_sub_slot(const PERL_SI *si, I32 ix)
{
    U8 type = CxTYPE(&si->si_cxstack[ix]);
    return type == CXt_SUB || type == CXt_NULL;
}

/* Has the Perl sub that called the XS sub of f ended? Then another context may stand at its index,
 * such as that of a defer block in a scope that is being left. */
DP_INLINE bool dpx_frame_lost_caller(const struct dpx_frame *f)
{
    const struct dpx_frame *by = f - 1;         /* the frame at the bottom has no stack-info */
    I32 ix = DPX_KEY_IX(by->key);
    return by->si == f->si && DPX_KEY_KIND(by->key) == DPX_PERL
           && (ix > by->si->si_cxix || !dpx_frame_is_sub_slot(by->si, ix));
}

/* Is the frame on top alive, as it nearly always is? ix: the current index. */
DP_INLINE bool dpx_frame_is_fine(pTHX_ const struct dpx_frame *top, const PERL_SI *si, I32 ix)
{
    I32 at = DPX_KEY_IX(top->key);
    return top->si == si && at <= ix
           && (DPX_KEY_IS_XS(top->key) ? at == ix && top->saved < PL_savestack_ix
                                         && !dpx_frame_lost_caller(top)
                                       : dpx_frame_is_sub_slot(si, at));
}

/* Before a frame is pushed at index ix of si, or just above: ends the dead frames on top. */
DP_INLINE void dpx_frame_check_top(pTHX_ struct dpx_ctx *ctx, const PERL_SI *si, I32 ix, U64 now)
{
    if (DP_UNLIKELY(!dpx_frame_is_fine(aTHX_ ctx->top, si, ix))
        && (ctx->top != ctx->frames || dpx_coro_is_other(aTHX_ ctx)))
        dpx_frame_reconcile_below(ctx, si, ix, now);
}

/* Has dpx_frame_reconcile nothing to do? */
DP_INLINE bool dpx_frame_in_order(pTHX_ const struct dpx_ctx *ctx)
{
    return !dpx_coro_is_other(aTHX_ ctx)
           && (ctx->top == ctx->frames || dpx_frame_is_alive(aTHX_ ctx->top));
}

/* Leaves a hook that made no mark since the arrival at stamp now: the gap goes on, without the time
 * that the hook took. */
DP_INLINE void dpx_frame_unmarked(struct dpx_ctx *ctx, U64 now, const int way)
{
    if (way & DPX_UNMARKED)
        return;
    if (way & DPX_COUNTS)
        dpx_events_leave(ctx);
    ctx->rec.marks.left += dpx_stamp(&ctx->clock, way & DPX_COUNTER) - now;
}

/* Ends the frames that the program has left, if the one on top is among them. */
DP_INLINE void dpx_frame_look(pTHX_ struct dpx_ctx *ctx)
{
    if (!dpx_frame_in_order(aTHX_ ctx)) {
        dpx_frame_reconcile(aTHX_ ctx, dpx_frame_arrive(ctx));
        dpx_frame_leave(ctx);
    }
}

/* Is `top` the frame of the Perl sub at index ix of si? */
DP_INLINE bool dpx_frame_stands_at(const struct dpx_frame *top, const PERL_SI *si, I32 ix)
{
    return top->si == si && top->key == DPX_KEY(ix, DPX_PERL);
}

#endif
