#include "dpx_span_frames.h"
#include "dpx_ctx.h"
#include "dpx_from.h"

/* A span whose variable has been freed while calls in it go on: it ends with them. */
static PERL_SI closed;

/* Ends the spans of the Perl sub around the current op, whose context goto gives to another sub. */
static void settle_spans(pTHX_ struct dpx_ctx *ctx, U64 now)
{
    dpx_frame_reconcile(aTHX_ ctx, now);
    const PERL_SI *si = PL_curstackinfo;
    I32 ix = dpx_cursub(aTHX);
    if (ix < 0 || CxMULTICALL(&si->si_cxstack[ix]))
        return;
    while (ctx->top > ctx->frames && ctx->top->si == si
           && ctx->top->key == DPX_KEY(ix, DPX_MULTICALL)) {
        dpx_way.pop(ctx, DP_RAW_UNWIND, now);
        dpx_frame_same_arrival(ctx, now);
    }
}

/* Pushes the frame of a span that has been counted before. Returns false if memory is short. */
static bool push_again(struct dpx_ctx *ctx, PERL_SI *si, I32 key, U32 id, U64 now)
{
    struct dpx_frame *f = dpx_frame_add(ctx, si, key, id);
    if (!f)
        return false;
    if (ctx->rec.tree) {
        dp_rec_charge_all(&ctx->rec, now);
        dp_rec_resume_here(&ctx->rec, id, &f->call);
        return true;
    }
    dp_rec_announce(&ctx->rec, DP_RAW_RESUME, 1, now);
    if (!ctx->rec.tree)         /* else the trace has ended, and the tree has all frames */
        dp_rec_trace(&ctx->rec, DP_RAW_ENTER, id, &f->call, now, dpx_way_bits & DPX_COUNTS);
    return true;
}

bool dpx_span_frames_push(struct dpx_ctx *ctx, PERL_SI *si, I32 key, U32 id, U64 now, bool is_again)
{
    dpx_way.settle = settle_spans;
    dpx_frame_has_spans = true;
    return (is_again && !dpx_run.only_samples ? push_again : dpx_way.push)(ctx, si, key, id, now);
}

/* ---- calls that are spans ---- */

/* Leaves a hook. marked: there is a frame more, or less. */
static void leave_after(struct dpx_ctx *ctx, U64 now, bool marked)
{
    if (marked)
        dpx_frame_leave(ctx);
    else
        dpx_way.unmarked(ctx, now);
}

/* The functions of each way to push the frame of the sub itself. */
#define WAY(way, name) \
    static bool name##_##way(pTHX_ struct dpx_ctx *ctx, PERL_SI *si, I32 key, U32 id, U64 now) \
    { return dpx_push_from(aTHX_ ctx, si, key, id, now, PL_curcop, way); }
DPX_EACH_WAY(WAY, push_sub)
#undef WAY
static bool (*const push_sub[DPX_WAYS])(pTHX_ struct dpx_ctx *ctx, PERL_SI *si, I32 key, U32 id,
                                        U64 now) = DPX_EACH_OF(push_sub);

bool dpx_span_frames_push_sub(pTHX_ struct dpx_ctx *ctx, PERL_SI *si, I32 key, U32 id, U64 now)
{
    if (dpx_run.only_samples)   /* samples find Perl subs by perl's own stacks */
        return id && DPX_KEY_IS_XS(key) && dpx_way.push(ctx, si, key, id, now);
    if (!id || !push_sub[dpx_way_bits](aTHX_ ctx, si, key, id, now))
        return false;
    dpx_frame_same_arrival(ctx, now);
    return true;
}

/* Has samples find the C code of the frame on top. They read the op first, and once more at
 * last. */
static void show_c(struct dpx_ctx *ctx)
{
    const struct dpx_frame *top = ctx->top;
    struct dpx_c_span *in_c = &ctx->spans.in_c;
    U32 sub = !top->runs ? top->id : top->saved == DPX_SAVED_BELOW ? top[-1].id : 0;
    __atomic_store_n(&in_c->op, NULL, __ATOMIC_RELEASE);
    if (!DPX_KEY_IS_XS(top->key))
        return;
    __atomic_store_n(&in_c->serial, (UV)top->serial, __ATOMIC_RELEASE);
    __atomic_store_n(&in_c->sub, sub, __ATOMIC_RELEASE);
    __atomic_store_n(&in_c->span, top->runs, __ATOMIC_RELEASE);
    __atomic_store_n(&in_c->op, INT2PTR(const OP *, top->call.start), __ATOMIC_RELEASE);
}

/* Keeps what samples find of the frame on top, and shows it to them. */
static void keep_c(struct dpx_ctx *ctx, const OP *op, U32 span)
{
    ctx->top->runs = span;
    ctx->top->call.start = PTR2UV(op);
    show_c(ctx);
}

ptrdiff_t dpx_span_frames_push_c(pTHX_ struct dpx_ctx *ctx, U32 id, const struct dpx_subject *s,
                                 I32 ix, I32 saved, U64 now)
{
    PERL_SI *si = PL_curstackinfo;
    I32 key = DPX_KEY(ix, DPX_XS);
    ptrdiff_t at = ctx->top - ctx->frames + 1;
    ctx->serial++;
    bool both = dpx_span_frames_push_sub(aTHX_ ctx, si, key, id, now);
    if (both) {
        ctx->top->serial = ctx->serial;
        ctx->top->saved = saved;
    }
    if (s->id && dpx_span_frames_push(ctx, si, key, s->id, now, s->is_again)) {
        ctx->top->serial = ctx->serial;
        ctx->top->saved = both ? DPX_SAVED_BELOW : saved;
    }
    bool any = ctx->top - ctx->frames >= at;
    if (any && dpx_run.only_samples)
        keep_c(ctx, PL_op, s->id);
    else if (dpx_run.only_samples)
        show_c(ctx);
    return any ? at : 0;
}

void dpx_span_frames_leave_to_c(struct dpx_ctx *ctx, ptrdiff_t at, U64 now)
{
    if (at)
        dpx_frame_leave_to_c(ctx);
    else
        dpx_way.unmarked(ctx, now);
}

void dpx_span_frames_pop_c(struct dpx_ctx *ctx, ptrdiff_t at, U64 serial)
{
    if (!at)
        return;
    U64 now = dpx_frame_arrive(ctx);
    leave_after(ctx, now, dpx_way.end_c(ctx, at, serial, now));
    if (dpx_run.only_samples)
        show_c(ctx);
}

/* ---- spans of the program ---- */

/* Arrives within an XS sub that is not recorded and that a Perl sub calls: that sub is at index ix.
 * Ends the dead frames that stood where the sub stands now. */
static U64 arrive_in(pTHX_ struct dpx_ctx *ctx, PERL_SI *si, I32 ix)
{
    U64 now = dpx_frame_arrive(ctx);
    dpx_frame_check_top(aTHX_ ctx, si, ix - 1, now);
    return now;
}

void dpx_span_frames_enter(pTHX_ struct dpx_ctx *ctx, U32 id)
{
    PERL_SI *si = PL_curstackinfo;
    I32 ix = dpx_cursub(aTHX);
    if (ix < 0)
        return;
    U64 now = arrive_in(aTHX_ ctx, si, ix);
    ctx->serial++;
    leave_after(ctx, now, dpx_span_frames_push(ctx, si, DPX_KEY(ix, DPX_PERL), id, now, false));
}

/* Ends the span with this number, if it has not ended yet. */
static void close_span(pTHX_ struct dpx_ctx *ctx, U64 serial)
{
    struct dpx_frame *f = ctx->top;
    while (f > ctx->frames && (DPX_KEY_KIND(f->key) != DPX_MULTICALL || f->serial != serial))
        f--;
    if (f == ctx->frames)
        return;
    U64 now = dpx_frame_arrive(ctx);
    dpx_frame_reconcile(aTHX_ ctx, now);
    if (ctx->top == f)
        dpx_way.pop(ctx, DP_RAW_LEAVE, now);
    else if (ctx->top > f)
        f->si = &closed;
    dpx_frame_leave(ctx);
}

/* Ends a span: perl calls this when the span's variable is freed. */
static int free_guard(pTHX_ SV *sv, MAGIC *mg)
{
    struct dpx_ctx *ctx = dpx_ctx_current(aTHX);
    PERL_UNUSED_ARG(sv);
    if (ctx && mg->mg_len)
        close_span(aTHX_ ctx, (U64)mg->mg_len);
    return 0;
}

#ifdef USE_ITHREADS
/* Makes the copy of a span's variable in a new thread end no span: the span belongs to the thread
 * that has begun it. */
static int dup_guard(pTHX_ MAGIC *mg, CLONE_PARAMS *param)
{
    PERL_UNUSED_ARG(param);
    mg->mg_len = 0;
    return 0;
}
#else
#define dup_guard NULL
#endif

static const MGVTBL guard = { NULL, NULL, NULL, NULL, free_guard, NULL, dup_guard, NULL };

/* The context of the sub around the one at index ix; -1: none. */
static I32 sub_around(const PERL_SI *si, I32 ix)
{
    while (--ix >= 0 && CxTYPE(&si->si_cxstack[ix]) != CXt_SUB)
        ;
    return ix;
}

SV *dpx_span_frames_open(pTHX_ struct dpx_ctx *ctx, U32 id)
{
    PERL_SI *si = PL_curstackinfo;
    I32 ix = dpx_cursub(aTHX), around = ix >= 0 ? sub_around(si, ix) : -1;
    if (ix < 0)
        return newSV(0);
    U64 now = arrive_in(aTHX_ ctx, si, ix);
    bool pushed = dpx_span_frames_push(ctx, around < 0 ? NULL : si,
                                       DPX_KEY(around, DPX_MULTICALL), id, now, false);
    SSize_t serial = pushed ? (SSize_t)(ctx->top->serial = ++ctx->serial) : 0;
    leave_after(ctx, now, pushed);
    SV *sv = newSV(0);
    MAGIC *mg = sv_magicext(sv, NULL, PERL_MAGIC_ext, &guard, NULL, 0);
    mg->mg_len = serial;
    mg->mg_flags |= MGf_DUP;
    return newRV_noinc(sv);
}
