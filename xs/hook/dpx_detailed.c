#include "dpx_detailed.h"
#include "dpx_name.h"
#include "dpx_span_frames.h"
#include "dpx_span_rows.h"
#include "dpx_stmt.h"
#include "dpx_subject.h"
#include "dpx_subject_sql.h"

/* ---- XS subs ---- */

/* A call of an XS sub: its arguments, where it is called, and how its results lie on perl's
 * stack. */
struct xs_call {
    Perl_ppaddr_t run;          /* the function of the op that calls it */
    struct dpx_args args;
    I32 ix, saved;              /* the caller's context; the height of the save stack */
    SSize_t mark;               /* below the results */
    U8 gimme;
};

/* Adds the rows that the call has returned to those of its span, if it is one that gives rows. */
static void count_rows(pTHX_ struct dpx_ctx *ctx, const struct dpx_detail_sub *sub,
                       const struct dpx_subject *s, const struct xs_call *call)
{
    SV **values = PL_stack_base + call->mark + 1;
    SSize_t n = PL_stack_sp - values + 1;
    bool is_list = call->gimme == G_LIST;
    if (s->id && dpx_subject_has_rows(sub) && call->gimme != G_VOID)
        dpx_span_add_rows(ctx, s->id, dpx_subject_rows(aTHX_ sub, values, n, is_list));
}

/* Runs an XS sub between the frames of the sub and of its span, as far as they are recorded, and
 * counts the rows that it returns. Returns the next op. */
static OP *run_xs(pTHX_ struct dpx_ctx *ctx, CV *cv, const struct xs_call *call, U64 now)
{
    U32 id = 0;
    int why = errno;
    const struct dpx_detail_sub *sub = dpx_detail_find(ctx, PTR2UV(cv), &id);
    struct dpx_subject s = sub ? dpx_subject_find(aTHX_ ctx, sub, &call->args)
                               : (struct dpx_subject){ 0, 0, false };
    struct dpx_inside before = ctx->spans.sql;
    ptrdiff_t at = dpx_span_frames_push_c(aTHX_ ctx, id, &s, call->ix, call->saved, now);
    U64 serial = ctx->serial;
    if (at && s.statement && s.id)
        ctx->spans.sql = (struct dpx_inside){ at, serial, s.statement };
    errno = why;
    dpx_span_frames_leave_to_c(ctx, at, now);

    OP *next = call->run(aTHX);

    if (DP_UNLIKELY(ctx->thx != DPX_THX))
        return next;
    dpx_span_frames_pop_c(ctx, at, serial);
    count_rows(aTHX_ ctx, sub, &s, call);
    ctx->spans.sql = before;
    return next;
}

OP *dpx_detailed_xs(pTHX_ struct dpx_ctx *ctx, CV *cv, U64 now, Perl_ppaddr_t orig)
{
    SSize_t mark = TOPMARK;
    struct xs_call call = {
        .run = orig,
        .args = { PL_stack_base + mark + 1, PL_stack_sp - PL_stack_base - mark - 1 },
        .ix = PL_curstackinfo->si_cxix, .saved = PL_savestack_ix, .mark = mark, .gimme = GIMME_V
    };
    return run_xs(aTHX_ ctx, cv, &call, now);
}

/* Returns the arguments of the Perl sub at index ix, which runs; none if it has no @_, or a tied
 * one. */
static struct dpx_args args_at(pTHX_ const PERL_SI *si, I32 ix)
{
    static const struct dpx_args none;
    AV *av = CxHASARGS(&si->si_cxstack[ix]) ? GvAV(PL_defgv) : NULL;
    return av && !SvRMAGICAL(av) ? (struct dpx_args){ AvARRAY(av), AvFILLp(av) + 1 } : none;
}

/* Ends the frame of the sub at index ix, if it has one. */
static void end_sub(struct dpx_ctx *ctx, const PERL_SI *si, I32 ix, U64 now)
{
    if (!dpx_frame_stands_at(ctx->top, si, ix))
        return;
    dpx_way.pop(ctx, DP_RAW_LEAVE, now);
    dpx_frame_same_arrival(ctx, now);
}

OP *dpx_detailed_goto_xs(pTHX_ struct dpx_ctx *ctx, CV *cv, I32 ix, U64 now, Perl_ppaddr_t orig)
{
    const PERL_SI *si = PL_curstackinfo;
    const PERL_CONTEXT *cx = &si->si_cxstack[ix];
    struct xs_call call = {
        .run = orig, .args = args_at(aTHX_ si, ix), .ix = ix - 1, .saved = cx->blk_oldsaveix - 1,
        .mark = cx->blk_oldsp, .gimme = cx->blk_gimme
    };
    end_sub(ctx, si, ix, now);
    return run_xs(aTHX_ ctx, cv, &call, now);
}

/* ---- Perl subs ---- */

/* Does the call send a request that is being sent? A sub that wraps another one has the name of
 * that sub. *object: the request of the call, or NULL if it sends none. */
static bool is_sending(struct dpx_ctx *ctx, const struct dpx_detail_sub *sub,
                       const struct dpx_args *args, const void **object)
{
    const struct dpx_request *r = &ctx->spans.request;
    const struct dpx_frame *f = ctx->frames + r->at;
    SV *request = sub->of == DPX_OF_REQUEST ? dpx_subject_argument(args, 1) : NULL;
    *object = request && SvROK(request) ? SvRV(request) : NULL;
    return *object && r->object == *object && f <= ctx->top && f->serial == r->serial;
}

/* Pushes both frames of a call that is a span, and notes the request that it sends. request: NULL
 * for none. */
static void push_both(pTHX_ struct dpx_ctx *ctx, U32 own, const struct dpx_subject *s,
                      const void *request, U64 now)
{
    PERL_SI *si = PL_curstackinfo;
    I32 ix = si->si_cxix;
    dpx_span_frames_push_sub(aTHX_ ctx, si, DPX_KEY(ix, DPX_PERL), own, now);
    if (!dpx_span_frames_push(ctx, si, DPX_KEY(ix, DPX_MULTICALL), s->id, now, s->is_again))
        return;
    ctx->top->serial = ++ctx->serial;
    if (request)
        ctx->spans.request = (struct dpx_request){ ctx->top - ctx->frames, ctx->serial, request };
}

/* Decides which frames a Perl sub gets that has been entered. If the call is a span, pushes the
 * frames of both, the sub and the span, and returns 0. Otherwise, returns the id of the frame that
 * the caller pushes, or 0 for none. is_goto: the frame of another sub stands where that of this one
 * belongs; before frames are pushed, that frame is ended. */
static U32 enter_detailed(pTHX_ struct dpx_ctx *ctx, CV *cv, U32 id, OP *next, bool is_goto,
                          U64 now)
{
    U32 own = 0;
    const void *request;
    const PERL_SI *si = PL_curstackinfo;
    const struct dpx_detail_sub *sub = id & DPX_ID_DETAIL
                                           ? dpx_detail_find(ctx, PTR2UV(next), &own) : NULL;
    if (!sub)
        return dpx_name_wanted(aTHX_ ctx, cv, id, next);
    int why = errno;
    struct dpx_args args = args_at(aTHX_ si, si->si_cxix);
    struct dpx_subject s = { 0, 0, false };
    if (!is_sending(ctx, sub, &args, &request))
        s = dpx_subject_find(aTHX_ ctx, sub, &args);
    if (s.id) {
        if (is_goto)
            end_sub(ctx, si, si->si_cxix, now);
        push_both(aTHX_ ctx, own, &s, request, now);
        if (dpx_run.opt.lines && !dpx_run.opt.sample)
            dpx_stmt_go_on(aTHX_ ctx, next);
        dpx_frame_same_arrival(ctx, now);
        own = 0;
    }
    errno = why;
    return own;
}

U32 dpx_detailed_perl(pTHX_ struct dpx_ctx *ctx, CV *cv, U32 id, OP *next, U64 now)
{
    return enter_detailed(aTHX_ ctx, cv, id, next, false, now);
}

U32 dpx_detailed_goto(pTHX_ struct dpx_ctx *ctx, I32 ix, U32 id, OP *next, U64 now)
{
    CV *cv = PL_curstackinfo->si_cxstack[ix].blk_sub.cv;
    return enter_detailed(aTHX_ ctx, cv, id, next, true, now);
}
