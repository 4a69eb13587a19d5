/* Slow builtins, recorded as calls: system calls, and ops that may work on much data. Their ops are
 * hooked only with the option builtins=slow.
 *
 * Each type of op gets a function of its own: some modules save an op's function and call it from
 * an op of another type. Ops that keep a context of their own (require, do FILE, eval, formats) are
 * not among them, nor is exec. */
#include "dpx_builtin.h"
#include "dpx_builtin_id.h"
#include "dpx_frame.h"
#include "dpx_life.h"
#include "dpx_span_frames.h"
#include "dpx_subject_op.h"

static Perl_ppaddr_t orig[DPX_BUILTIN_COUNT];

/* Records a builtin like an XS sub; but perl makes no scope for an op, so while the op runs, the
 * save stack need not be higher than before, only not lower. */
DP_INLINE OP *call_builtin(pTHX_ unsigned n, const int way)
{
    struct dpx_ctx *ctx = dpx_life_here(aTHX);
    if (!ctx)
        return orig[n](aTHX);
    U64 now = dpx_arrive(ctx, way);
    U32 id = dpx_builtin_number_id(aTHX_ ctx, n);
    PERL_SI *si = PL_curstackinfo;
    dpx_frame_check_top(aTHX_ ctx, si, si->si_cxix, now);
    if (!id || !dpx_frame_push(ctx, si, DPX_KEY(si->si_cxix, DPX_XS), id, now, way)) {
        dpx_frame_unmarked(ctx, now, way);
        return orig[n](aTHX);
    }
    U64 serial = ctx->top->serial = ++ctx->serial;
    ctx->top->saved = PL_savestack_ix - 1;
    ptrdiff_t at = ctx->top - ctx->frames;
    dpx_leave_to_c(ctx, way);

    OP *next = orig[n](aTHX);

    if (DP_UNLIKELY(ctx->thx != DPX_THX))
        return next;
    if (DP_UNLIKELY(ctx->state == DPX_BORN) && ctx->top == ctx->frames + at) {
        /* fork or open has returned in a child. The child begins with the builtin's caller, and has
         * no file if it only execs. */
        ctx->top--;
        ctx->child.depth = at - 1;
        return next;
    }
    now = dpx_arrive(ctx, way);
    if (DP_LIKELY(dpx_frame_end_call(ctx, at, serial, DPX_XS, now, way)))
        dpx_leave(ctx, way);
    else
        dpx_frame_unmarked(ctx, now, way);
    return next;
}

#define WAY(way, name) \
    static OP *name##_##way(pTHX_ unsigned n) { return call_builtin(aTHX_ n, way); }
DPX_EACH_WAY(WAY, call_builtin)
#undef WAY

/* The hook for the way of this recording. */
static OP *(*call_way)(pTHX_ unsigned n);

#define HOOK(op, name) static OP *hook_##op(pTHX) { return call_way(aTHX_ DPX_BUILTIN_##op); }
DP_BUILTINS(HOOK) DPX_BUILTINS_MORE(HOOK)
#undef HOOK

/* Records a builtin as call_builtin does, with detail=: its call may have a frame of its own, and
 * that of a span. */
static OP *call_detailed(pTHX_ unsigned n)
{
    struct dpx_ctx *ctx = dpx_life_here(aTHX);
    if (!ctx)
        return orig[n](aTHX);
    int why = errno;
    U64 now = dpx_frame_arrive(ctx);
    PERL_SI *si = PL_curstackinfo;
    dpx_frame_check_top(aTHX_ ctx, si, si->si_cxix, now);
    U32 id = dpx_run.opt.builtins && n < DPX_BUILTIN_SLOW ? dpx_builtin_number_id(aTHX_ ctx, n) : 0;
    struct dpx_subject s = { dpx_subject_op(aTHX_ ctx), 0, false };
    ptrdiff_t at = dpx_span_frames_push_c(aTHX_ ctx, id, &s, si->si_cxix,
                                          PL_savestack_ix - 1, now);
    U64 serial = ctx->serial;
    errno = why;
    dpx_span_frames_leave_to_c(ctx, at, now);

    OP *next = orig[n](aTHX);

    if (DP_UNLIKELY(ctx->thx != DPX_THX))
        return next;
    if (DP_UNLIKELY(ctx->state == DPX_BORN) && at && ctx->top >= ctx->frames + at) {
        ctx->top = ctx->frames + at - 1;        /* as in call_builtin */
        ctx->child.depth = dpx_recorded_top(ctx) - ctx->frames;
        return next;
    }
    dpx_span_frames_pop_c(ctx, at, serial);
    return next;
}

static const struct {
    Optype type;
    Perl_ppaddr_t hook;
} table[DPX_BUILTIN_COUNT] = {
#define ROW(op, name) { OP_##op, hook_##op },
    DP_BUILTINS(ROW) DPX_BUILTINS_MORE(ROW)
#undef ROW
};

void dpx_builtin_install(void)
{
    static OP *(*const ways[DPX_WAYS])(pTHX_ unsigned n) = DPX_EACH_OF(call_builtin);
    call_way = dpx_run.detail ? call_detailed : ways[dpx_way_bits];
    for (unsigned n = 0; n < DPX_BUILTIN_COUNT; n++) {
        if (!(dpx_run.opt.builtins && n < DPX_BUILTIN_SLOW)
            && !(dpx_run.detail & dpx_subject_kinds(table[n].type)))
            continue;
        orig[n] = PL_ppaddr[table[n].type];
        PL_ppaddr[table[n].type] = table[n].hook;
    }
}

Perl_ppaddr_t dpx_builtin_original(Optype type)
{
    bool some = dpx_run.opt.builtins || dpx_run.detail;
    for (unsigned n = 0; some && n < DPX_BUILTIN_COUNT; n++)
        if (table[n].type == type)
            return orig[n];
    return NULL;
}
