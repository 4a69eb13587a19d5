/* What this relies on: a context has the statement that was current before it (blk_oldcop), and
 * that of a sub has its CV, its depth and the op that it returns to (blk_sub). The pad of depth
 * N is the N-th of the CV's padlist. A nextstate that perl leaves out stays in the tree as an
 * OP_NULL whose op_targ is its old type. The search for a statement follows closest_cop in
 * perl's util.c. */
#include "dpx_running.h"
#include "dpx_callee.h"
#include "dpx_stmt.h"

enum { STEPS_MAX = 2000 };      /* most ops of a statement that are searched */

/* Returns the pad of a sub at a depth of recursion, or NULL. */
static PAD *pad_of(const CV *cv, I32 depth)
{
    PADLIST *list = CvPADLIST(cv);
    return list && depth >= 0 && depth <= PadlistMAX(list) ? PadlistARRAY(list)[depth] : NULL;
}

bool dpx_running_has_pad(const CV *cv, const PAD *pad)
{
    const PADLIST *list = CvPADLIST(cv);
    for (SSize_t i = 1; list && i <= PadlistMAX(list); i++)
        if (PadlistARRAY(list)[i] == pad)
            return true;
    return false;
}

PAD *dpx_running_main_pad(pTHX) { return PL_main_cv ? pad_of(PL_main_cv, 1) : NULL; }

/* Describes the code that runs in a context. Returns false for contexts of blocks. */
static bool describe_context(const PERL_CONTEXT *cx, struct dpx_running *to)
{
    CV *cv;
    to->span = 0;
    to->from = cx->blk_oldcop;
    if (CxTYPE(cx) == CXt_EVAL) {
        cv = cx->blk_eval.cv;
        to->cv = NULL;
        to->start = to->to = NULL;
        to->pad = cv ? pad_of(cv, 1) : NULL;
        to->is_file = CxOLD_OP_TYPE(cx) == OP_REQUIRE || CxOLD_OP_TYPE(cx) == OP_DOFILE;
        return cv != NULL;
    }
    if (CxTYPE(cx) != CXt_SUB || (CXp_SUB_RE_FAKE && cx->cx_type & CXp_SUB_RE_FAKE))
        return false;
    to->cv = cv = cx->blk_sub.cv;
    if (!cv || SvTYPE(cv) != SVt_PVCV || CvISXSUB(cv) || !CvROOT(cv))
        return false;
    to->start = CvSTART(cv);
    to->to = cx->blk_sub.retop;
    to->pad = pad_of(cv, cx->blk_sub.olddepth + 1);
    to->is_file = false;
    return true;
}

/* Lists running code, the innermost first, but leaves out this many frames behind the innermost; at
 * most as much as there is room for. Returns the number of all that runs. */
static size_t list_running(pTHX_ struct dpx_running *to, size_t room, size_t left_out)
{
    size_t n = 0;
    for (const PERL_SI *si = PL_curstackinfo; si; si = si->si_prev) {
        for (I32 ix = si->si_cxix; ix >= 0; ix--) {
            struct dpx_running one;
            const PERL_CONTEXT *cx = &si->si_cxstack[ix];
            if (!describe_context(cx, &one))
                continue;
            one.si = si;
            one.ix = ix;
            one.loop = ix > 0 && dpx_running_is_loop(cx - 1) ? cx[-1].blk_oldcop : NULL;
            size_t at = n > left_out ? n - left_out : 0;
            if (!n || (at && at < room))
                to[at] = one;
            n++;
        }
    }
    return n;
}

size_t dpx_running_find(pTHX_ struct dpx_running *to, size_t room)
{
    size_t n = list_running(aTHX_ to, room, 0);
    if (n <= room)
        return n;
    list_running(aTHX_ to, room, n - room);
    return room;
}

/* ---- spans ---- */

/* Does the frame stand in running code, or in code that this has called? */
static bool is_inside(pTHX_ const struct dpx_frame *f, const struct dpx_running *r)
{
    if (f->si == r->si)
        return r->ix <= DPX_KEY_IX(f->key);
    for (const PERL_SI *si = f->si; si; si = si->si_prev)
        if (si == r->si)
            return true;
    return false;
}

/* A span in running code; outer: that code, or NULL. */
static struct dpx_running span_in(pTHX_ const struct dpx_frame *f, const struct dpx_running *outer)
{
    struct dpx_running span = { .from = PL_curcop, .pad = dpx_running_main_pad(aTHX) };
    if (outer) {
        span = *outer;
        span.cv = NULL;
        span.start = span.to = NULL;
    }
    span.span = f->id;
    return span;
}

size_t dpx_running_add_spans(pTHX_ const struct dpx_ctx *ctx, UV last, struct dpx_running *to,
                             size_t n, size_t room)
{
    const struct dpx_frame *f = ctx->frames + 1;
    size_t spans = 0, i = n;
    for (const struct dpx_frame *one = f; one <= ctx->top; one++)
        spans += (UV)one->serial <= last;
    if (n + spans > room)
        return n;
    n += spans;
    for (size_t at = n; at-- > 0 && f <= ctx->top;) {
        while (f <= ctx->top && (UV)f->serial > last)
            f++;
        bool is_span = f <= ctx->top && (!i || !is_inside(aTHX_ f, &to[i - 1]));
        if (is_span)
            to[at] = span_in(aTHX_ f++, at + 1 < n ? &to[at + 1] : NULL);
        else
            to[at] = to[--i];
    }
    return n;
}

/* ---- subs ---- */

U32 dpx_running_sub(pTHX_ struct dpx_ctx *ctx, const struct dpx_running *r)
{
    return r->cv ? dpx_callee_perl(aTHX_ ctx, r->cv, r->start) & DPX_ID_MASK : 0;
}

/* ---- statements ---- */

/* A search for an op, by its address alone. */
struct search {
    const OP *op;
    const CV *callee;           /* search for calls of it that return to the op; NULL: for the op
                                 * itself */
    PAD *pad;                   /* that of the calling sub */
    unsigned steps;
    const COP *caller;          /* the statement of the best call that returns to it ... */
    int rank;                   /* ... the rank of that call, or 0 ... */
    bool many;                  /* ... and whether several calls have that rank */
    const COP *any;             /* the statement of the last call of any rank ... */
    bool differ;                /* ... and whether another call is in another statement */
};

/* Takes into account one of the calls that return to the op; the calls in all branches of an if do
 * so. Keeps the statement of the call with the highest rank, and s->many if two statements have it.
 * A call of the sub by its name has rank 3, one without a name 2, one of another sub 1. */
static void rank_call(pTHX_ struct search *s, const COP *cop, const OP *call)
{
    const CV *cv = dpx_callee_named(call, s->pad);
    int rank = cv == s->callee ? 3 : cv ? 1 : 2;
    s->differ = s->differ || (s->any && s->any != cop);
    s->any = cop;
    if (rank < s->rank)
        return;
    s->many = rank == s->rank && (s->many || s->caller != cop);
    s->rank = rank;
    s->caller = cop;
}

/* Finds the last statement before the op below top, like perl's closest_cop. In a block that is one
 * statement, perl makes that statement null. NULL: the op is not there. */
static const COP *closest_statement(pTHX_ const COP *cop, const OP *top, struct search *s)
{
    /* The op to which a call returns may stand around the call: that of a map does. */
    if (s->callee && top->op_type == OP_ENTERSUB && top->op_next == s->op)
        rank_call(aTHX_ s, cop, top);
    else if (!s->callee && top == s->op)
        return cop;
    if (!(top->op_flags & OPf_KIDS))
        return NULL;
    for (const OP *kid = cUNOPx(top)->op_first; kid;
         kid = OpHAS_SIBLING(kid) ? OpSIBLING(kid) : NULL) {
        if (++s->steps > STEPS_MAX)
            return NULL;
        if (kid->op_type == OP_NULL && (kid->op_targ == OP_NEXTSTATE || kid->op_targ == OP_DBSTATE))
            cop = (const COP *)kid;
        const COP *found = closest_statement(aTHX_ cop, kid, s);
        if (found)
            return found;
    }
    return NULL;
}

/* The statement of an op, or of a call of a sub that returns to it: cop or a null statement inside
 * of it; NULL: it is not there, or in several. */
static const COP *statement_of(pTHX_ const COP *cop, struct search *s)
{
    for (const OP *o = (const OP *)cop; s->op && OpHAS_SIBLING(o);) {
        o = OpSIBLING(o);
        if (dpx_stmt_is(o))
            break;
        const COP *found = closest_statement(aTHX_ cop, o, s);
        if (found)
            return found;
    }
    return s->many ? NULL : s->caller;
}

const COP *dpx_running_statement(pTHX_ const COP *cop, const OP *op)
{
    struct search s = { .op = op };
    return statement_of(aTHX_ cop, &s);
}

const COP *dpx_running_call(pTHX_ const struct dpx_running *r, PAD *pad, const COP **around,
                            bool *is_any)
{
    struct search s = { .op = r->to, .callee = r->cv, .pad = pad };
    const COP *cop = statement_of(aTHX_ *around = r->from, &s);
    if (!s.any && r->to && r->loop && dpx_stmt_is((const OP *)r->loop)) {
        s.steps = 0;
        cop = statement_of(aTHX_ r->loop, &s);
        if (s.any)
            *around = r->loop;
    }
    *is_any = !s.differ;
    return cop;
}
