/* Samples need no hooks of calls. But a call that is a span has to be seen, and which sub is called
 * shows only at the call. So with detail=, and only then, each call pays for a look into a small
 * table. Only calls of listed subs get frames. No hook ends the frame of a Perl sub: the next call
 * in its place does, or the next sample.
 *
 * What this relies on: see dpx_hook.c, on entry and goto. */
#include "dpx_listed.h"
#include "dpx_adopt.h"
#include "dpx_builtin.h"
#include "dpx_callee.h"
#include "dpx_detail.h"
#include "dpx_detailed.h"
#include "dp_mem.h"

static Perl_ppaddr_t orig_entersub, orig_goto;

/* ---- which subs are listed ---- */

enum { ASKED = 512 };

/* Returns whether the name of a sub is in the list, and keeps the answer under key, if there is
 * memory. */
static DP_NOINLINE bool ask(struct dpx_ctx *ctx, CV *cv, const struct dpx_known *key)
{
    const HEK *package, *name;
    int why = errno;
    struct dpx_known *asked = ctx->spans.asked;
    if (!asked)
        asked = ctx->spans.asked = dp_mem_zalloc(ASKED * sizeof *asked);
    dpx_name_parts(cv, &package, &name);
    bool is = dpx_detail_has(package, name);
    if (asked) {
        struct dpx_known *k = &asked[(key->code >> 4 ^ key->name >> 4) & (ASKED - 1)];
        *k = *key;
        k->id = is;
    }
    errno = why;
    return is;
}

/* Is a sub in the list? start: its first op; NULL: it is an XS sub. */
DP_INLINE bool is_listed(struct dpx_ctx *ctx, CV *cv, const OP *start)
{
    struct dpx_known key = { .code = start ? PTR2UV(start) : PTR2UV(cv) };
    if (start && start->op_type == OP_NEXTSTATE)
        key.seq = cCOPx(start)->cop_seq;
    key.name = dpx_callee_name(cv, !start || key.seq);
    const struct dpx_known *k = ctx->spans.asked;
    if (DP_LIKELY(k != NULL)) {
        k += (key.code >> 4 ^ key.name >> 4) & (ASKED - 1);
        if (DP_LIKELY(k->code == key.code && k->name == key.name && k->seq == key.seq))
            return k->id;
    }
    return ask(ctx, cv, &key);
}

/* A listed sub has been entered: pushes the frame of its span. */
static void enter_listed(pTHX_ struct dpx_ctx *ctx, CV *cv, OP *next)
{
    U32 id = dpx_callee_any(aTHX_ ctx, cv, next);
    if (id & DPX_ID_DETAIL)
        dpx_detailed_perl(aTHX_ ctx, cv, id, next, dpx_frame_arrive(ctx));
}

/* Has a listed XS sub a span? Then it has been noted by its name. */
static bool is_wanted(pTHX_ struct dpx_ctx *ctx, CV *cv)
{
    return is_listed(ctx, cv, NULL) && (dpx_callee_xs(aTHX_ ctx, cv) & DPX_ID_DETAIL);
}

/* ---- the hooks ---- */

/* Begins the span of a call if its sub is listed in detail=. The span of an XS sub lasts for the
 * call; the frame of a Perl sub is ended by the next call in its place, or by the next sample. */
static OP *entersub_hook(pTHX)
{
    struct dpx_ctx *ctx = DPX_CTX;
    if (DP_UNLIKELY(ctx->thx != DPX_THX))
        return orig_entersub(aTHX);
    PERL_SI *si = PL_curstackinfo;
    I32 ix = si->si_cxix;
    if (DP_UNLIKELY(ctx->top != ctx->frames))
        dpx_frame_check_top(aTHX_ ctx, si, ix, dpx_frame_arrive(ctx));
    CV *xs = dpx_callee_peek_xs(aTHX_ *PL_stack_sp);
    if (xs)
        return DP_UNLIKELY(is_wanted(aTHX_ ctx, xs))
               ? dpx_detailed_xs(aTHX_ ctx, xs, dpx_frame_arrive(ctx), orig_entersub)
               : orig_entersub(aTHX);

    OP *next = orig_entersub(aTHX);
    if (DP_UNLIKELY(PL_curstackinfo != si || si->si_cxix != ix + 1))
        return next;
    const PERL_CONTEXT *cx = &si->si_cxstack[ix + 1];
    if (DP_LIKELY(CxTYPE(cx) == CXt_SUB && ctx->thx == DPX_THX)
        && DP_UNLIKELY(is_listed(ctx, cx->blk_sub.cv, next)))
        enter_listed(aTHX_ ctx, cx->blk_sub.cv, next);
    return next;
}

/* `goto &sub` keeps the context and changes the sub in it: the spans of the sub that goto leaves
 * end, and that of another one may begin. */
static OP *goto_hook(pTHX)
{
    struct dpx_ctx *ctx = DPX_CTX;
    SV *sv = PL_op->op_flags & OPf_STACKED ? *PL_stack_sp : NULL;
    PERL_SI *si = PL_curstackinfo;
    I32 ix = dpx_cursub(aTHX);
    if (ctx->thx != DPX_THX || !sv || !SvROK(sv) || SvTYPE(SvRV(sv)) != SVt_PVCV || ix < 0)
        return orig_goto(aTHX);
    CV *cv = (CV *)SvRV(sv);
    if (CvISXSUB(cv) && is_wanted(aTHX_ ctx, cv) && !CxMULTICALL(&si->si_cxstack[ix])) {
        U64 now = dpx_frame_arrive(ctx);
        dpx_way.settle(aTHX_ ctx, now);
        return dpx_detailed_goto_xs(aTHX_ ctx, cv, ix, now, orig_goto);
    }
    OP *next = orig_goto(aTHX);
    if (ctx->thx != DPX_THX || !next || PL_curstackinfo != si || si->si_cxix != ix)
        return next;
    const PERL_CONTEXT *cx = &si->si_cxstack[ix];
    if (CxTYPE(cx) != CXt_SUB || next != CvSTART(cx->blk_sub.cv))
        return next;
    dpx_way.settle(aTHX_ ctx, dpx_frame_arrive(ctx));
    if (is_listed(ctx, cx->blk_sub.cv, next))
        enter_listed(aTHX_ ctx, cx->blk_sub.cv, next);
    return next;
}

Perl_ppaddr_t dpx_listed_original(Optype type)
{
    return type == OP_ENTERSUB ? orig_entersub : type == OP_GOTO ? orig_goto : NULL;
}

void dpx_listed_install(void)
{
    dpx_adopt_type(OP_ENTERSUB, &orig_entersub, entersub_hook);
    dpx_adopt_type(OP_GOTO, &orig_goto, goto_hook);
    dpx_builtin_install();
}
