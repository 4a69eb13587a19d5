/* Places of calls. All ways of recording have the same ones:
 *
 * - An op calls: the place is the statement that the op stands in. caller looks for that statement,
 *   too, but knows only the op where the call returns to. Several calls may return to one op, as
 *   those in the branches of an `if` do, and the condition of a `while` is not below the statement
 *   that ran last; there caller is wrong, and the profile is not.
 * - Perl itself calls, or an XS sub does: the place is the statement that caller names. This is
 *   PL_curcop; but MULTICALL, by which an XS sub calls a block, leaves PL_curcop at the last
 *   statement of the block, and the context still has the statement that called the XS sub.
 * - goto replaces a sub: the place of the call stays.
 *
 * With the times of statements (lines), the recorder knows the running statement, and asks here
 * only for calls of the second kind. Samples find the place later, by the context
 * (dpx_running.c).
 *
 * Finding a place means walking the statement's ops, and making the place's text. So places are
 * kept by statement and op. Addresses may be another statement's later, but not with the same
 * cop_seq. */
#include "dpx_site.h"
#include "dpx_name.h"
#include "dpx_running.h"
#include "dpx_stmt.h"
#include "dp_mem.h"

enum { PLACES = 2048 };

struct dpx_site {
    const OP *op;
    const COP *cop;
    U32 seq;
    U32 site;
};

static struct dpx_site *slot_of(const struct dpx_ctx *ctx, const COP *cop, const OP *op)
{
    UV hash = PTR2UV(op) >> 3 ^ PTR2UV(cop) >> 9;
    return &ctx->sites[hash & (PLACES - 1)];
}

DP_INLINE bool is_kept(const struct dpx_site *s, const COP *cop, const OP *op)
{
    return s->op == op && s->cop == cop && s->seq == cop->cop_seq;
}

/* The statement of an op outside of the statement that ran last: the op is in the condition of the
 * loop that goes on. NULL: it is not. The context on top is the sub's, if perl has entered one. */
static const COP *loop_statement(pTHX_ const OP *op, const COP **loop)
{
    for (I32 ix = cxstack_ix; ix >= 0 && ix >= cxstack_ix - 1; ix--) {
        const PERL_CONTEXT *cx = &cxstack[ix];
        *loop = cx->blk_oldcop;
        if (dpx_running_is_loop(cx) && dpx_stmt_is((const OP *)*loop)) {
            const COP *found = dpx_running_statement(aTHX_ *loop, op);
            if (found)
                return found;
        }
    }
    return NULL;
}

/* Finds the place of a call. cop: the statement that caller names; op: the op that calls; cop
 * itself if no op does. 0: it is unknown. */
static U32 place_of(pTHX_ struct dpx_ctx *ctx, const COP *cop, const OP *op)
{
    const COP *around = cop, *found = NULL;
    if (op != (const OP *)cop && op->op_next) {
        found = dpx_running_statement(aTHX_ cop, op);
        if (!found && (found = loop_statement(aTHX_ op, &around)) == NULL)
            around = cop;
    }
    if (!found) {
        const struct dp_stmt *line = dpx_stmt_of(ctx, (const OP *)cop);
        if (line)
            return line->site;
    }
    return dpx_stmt_place(aTHX_ ctx, found ? found : around, around);
}

/* Finds the place of a call, and keeps it for the next call of the op, unless the line is the
 * compiler's. */
static DP_NOINLINE U32 find_place(pTHX_ struct dpx_ctx *ctx, const COP *cop, const OP *op)
{
    int why = errno;
    ctx->rec.worked = true;
    if (!cop || !dpx_stmt_is((const OP *)cop))      /* the compiler's line goes on */
        return dpx_name_site_of(aTHX_ ctx, cop);
    if (!ctx->sites)
        ctx->sites = dp_mem_zalloc(PLACES * sizeof *ctx->sites);
    U32 site = place_of(aTHX_ ctx, cop, op);
    if (ctx->sites)
        *slot_of(ctx, cop, op) = (struct dpx_site){ op, cop, cop->cop_seq, site };
    errno = why;
    return site;
}

/* Returns the number of the place of a call: from the memory of the places of the latest calls, or
 * else by find_place(). cop: the statement that runs; op: the op that calls. */
DP_INLINE U32 look_up_place(pTHX_ struct dpx_ctx *ctx, const COP *cop, const OP *op)
{
    if (DP_LIKELY(ctx->sites != NULL) && DP_LIKELY(cop != NULL)) {
        const struct dpx_site *s = slot_of(ctx, cop, op);
        if (is_kept(s, cop, op))
            return s->site;
    }
    return find_place(aTHX_ ctx, cop, op);
}

uint32_t dpx_site_of(pTHX_ struct dpx_ctx *ctx, const COP *cop)
{
    return look_up_place(aTHX_ ctx, cop, (const OP *)cop);
}

/* The place of a call of a block, or of a sub that replaced one which is not recorded, by goto:
 * that of the statement in the context. */
static DP_NOINLINE U32 site_from(pTHX_ struct dpx_ctx *ctx, const PERL_CONTEXT *cx)
{
    const struct dp_stmt *line = dpx_stmt_of(ctx, (const OP *)cx->blk_oldcop);
    return line ? line->site : dpx_site_of(aTHX_ ctx, cx->blk_oldcop);
}

/* Returns the context of a call of a block, or of a sub by goto, if one is on top of perl's stack;
 * else NULL. */
static const PERL_CONTEXT *context_of_call(pTHX)
{
    const PERL_SI *si = PL_curstackinfo;
    const PERL_CONTEXT *cx = si->si_cxstack;
    if (PL_op->op_type == OP_GOTO) {
        I32 ix = dpx_cursub(aTHX);
        return ix >= 0 ? cx + ix : NULL;
    }
    if (si->si_cxix != 0 || (si->si_type != PERLSI_SORT && si->si_type != PERLSI_MULTICALL))
        return NULL;
    return CxTYPE(cx) == CXt_SUB && PL_op == CvSTART(cx->blk_sub.cv) ? cx : NULL;
}

/* Finds the place of a call that is not kept: those by goto, and those of blocks, never are. */
static DP_NOINLINE U32 find_call(pTHX_ struct dpx_ctx *ctx, const COP *cop, const OP *op)
{
    const PERL_CONTEXT *cx = context_of_call(aTHX);
    return cx ? site_from(aTHX_ ctx, cx) : find_place(aTHX_ ctx, cop, op);
}

uint32_t dpx_site(void *arg)
{
    struct dpx_ctx *ctx = (struct dpx_ctx *)((char *)arg - offsetof(struct dpx_ctx, clock));
#ifdef DPX_MULTIPLICITY
    PerlInterpreter *my_perl = ctx->thx;
#endif
    const COP *cop = PL_curcop;
    const OP *op = PL_op;
    if (op->op_type == OP_NEXTSTATE)    /* not an op that calls, but nearly all blocks begin so */
        return site_from(aTHX_ ctx, PL_curstackinfo->si_cxstack);
    if (DP_LIKELY(ctx->sites != NULL) && DP_LIKELY(cop != NULL)) {
        const struct dpx_site *s = slot_of(ctx, cop, op);
        if (is_kept(s, cop, op))
            return s->site;
    }
    return find_call(aTHX_ ctx, cop, op);
}
