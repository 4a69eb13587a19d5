#include "dpx_detailed.h"
#include "dpx_hook.h"
#include "dpx_name.h"
#include "dpx_span.h"
#include "dpx_spans.h"
#include "dpx_stmt.h"

/* Counts the rows that have been returned on perl's stack, above the mark. */
static void count_rows(pTHX_ struct dpx_ctx *ctx, const struct dpx_detail_sub *sub,
                       const struct dpx_subject *s, SSize_t mark)
{
    SV **values = PL_stack_base + mark + 1;
    SSize_t n = PL_stack_sp - values + 1;
    if (s->id && dpx_subject_has_rows(sub) && GIMME_V != G_VOID)
        dpx_span_add_rows(ctx, s->id, dpx_subject_rows(aTHX_ sub, values, n, GIMME_V == G_LIST));
}

OP *dpx_detailed_xs(pTHX_ struct dpx_ctx *ctx, CV *cv, U64 now)
{
    U32 id = 0;
    int why = errno;
    SSize_t mark = TOPMARK;
    struct dpx_args args = { PL_stack_base + mark + 1, PL_stack_sp - PL_stack_base - mark - 1 };
    const struct dpx_detail_sub *sub = dpx_detail_find(ctx, PTR2UV(cv), &id);
    struct dpx_subject s = sub ? dpx_subject_find(aTHX_ ctx, sub, &args)
                               : (struct dpx_subject){ 0, 0, false };
    struct dpx_inside before = ctx->spans.sql;
    ptrdiff_t at = dpx_spans_push_c(aTHX_ ctx, id, &s, PL_savestack_ix, now);
    U64 serial = ctx->serial;
    if (at && s.statement && s.id)
        ctx->spans.sql = (struct dpx_inside){ at, serial, s.statement };
    errno = why;
    dpx_spans_leave_to_c(ctx, at, now);

    OP *next = dpx_hook_original(OP_ENTERSUB)(aTHX);

    if (DP_UNLIKELY(ctx->thx != DPX_THX))
        return next;
    dpx_spans_pop_c(ctx, at, serial);
    count_rows(aTHX_ ctx, sub, &s, mark);
    ctx->spans.sql = before;
    return next;
}

/* The arguments of the Perl sub that has been entered at index ix. */
static struct dpx_args entered_args(pTHX_ const PERL_SI *si, I32 ix)
{
    static const struct dpx_args none;
    AV *av = CxHASARGS(&si->si_cxstack[ix]) ? GvAV(PL_defgv) : NULL;
    return av && !SvRMAGICAL(av) ? (struct dpx_args){ AvARRAY(av), AvFILLp(av) + 1 } : none;
}

U32 dpx_detailed_perl(pTHX_ struct dpx_ctx *ctx, CV *cv, U32 id, OP *next, U64 now)
{
    U32 own = 0;
    PERL_SI *si = PL_curstackinfo;
    I32 ix = si->si_cxix;
    const struct dpx_detail_sub *sub = id & DPX_ID_DETAIL
                                           ? dpx_detail_find(ctx, PTR2UV(next), &own) : NULL;
    if (!sub)
        return dpx_name_wanted(aTHX_ ctx, cv, id, next);
    int why = errno;
    struct dpx_args args = entered_args(aTHX_ si, ix);
    struct dpx_subject s = dpx_subject_find(aTHX_ ctx, sub, &args);
    if (!s.id) {
        errno = why;
        return own;
    }
    dpx_spans_push_sub(aTHX_ ctx, si, DPX_KEY(ix, DPX_PERL), own, now);
    if (dpx_spans_push(ctx, si, DPX_KEY(ix, DPX_MULTICALL), s.id, now, s.is_again))
        ctx->top->serial = ++ctx->serial;
    if (dpx_run.opt.lines && !dpx_line_samples())
        dpx_stmt_go_on(aTHX_ ctx, next);
    dpx_frame_same_arrival(ctx, now);
    errno = why;
    return 0;
}
