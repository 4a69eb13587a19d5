/* Coro's functions that go on to another coroutine (cede, schedule, ...) set the function of the op
 * that called them to Coro's own pp_slf, and have the op run again. pp_slf returns in the coroutine
 * that goes on then, perhaps on another C stack, and calls pp_entersub for other functions. Here
 * pp_slf is wrapped, so that calls are counted and switches are seen.
 *
 * What this relies on: Coro sets op_ppaddr of the op that called it to its pp_slf, and refuses
 * an op whose function is neither that nor pp_entersub. */
#include "dpx_slf.h"
#include "dpx_callee.h"
#include "dpx_coro.h"
#include "dpx_frame.h"

enum { SLF_MAX = 64 };

static Perl_ppaddr_t orig_slf;

/* Is the sub one of Coro's functions that may go on to another coroutine (cede, schedule ...)? */
static bool is_slf(const struct dpx_ctx *ctx, const CV *cv)
{
    for (int i = 0; i < SLF_MAX && ctx->coro.slf[i]; i++)
        if (ctx->coro.slf[i] == cv)
            return true;
    return false;
}

bool dpx_slf_wraps(pTHX_ struct dpx_ctx *ctx, OP *op, CV *cv)
{
    if (!gv_stashpvs("Coro::State", 0))
        return false;
    if (!orig_slf)
        orig_slf = op->op_ppaddr;
    if (op->op_ppaddr != orig_slf)
        return false;
    for (int i = 0; i < SLF_MAX && !is_slf(ctx, cv); i++)
        if (!ctx->coro.slf[i])
            ctx->coro.slf[i] = cv;
    if (!is_slf(ctx, cv))
        return false;
    op->op_ppaddr = dpx_slf_hook;
    return true;
}

bool dpx_slf_waits(pTHX_ struct dpx_ctx *ctx, OP *op, ptrdiff_t at, U64 serial)
{
    struct dpx_frame *f = ctx->frames + at;
    if (ctx->top != f || f->serial != serial)
        return false;
    f->key = DPX_KEY(DPX_KEY_IX(f->key), DPX_SLF);
    f->serial = PTR2UV(op);
    f->saved = PL_savestack_ix - 1;                 /* nothing is saved above it */
    return true;
}

/* Is the topmost frame that of a function of Coro's in the context that runs now? */
static bool top_is_slf(pTHX_ const struct dpx_ctx *ctx)
{
    const struct dpx_frame *f = ctx->top;
    return f > ctx->frames && DPX_KEY_KIND(f->key) == DPX_SLF
        && f->si == PL_curstackinfo && DPX_KEY_IX(f->key) == PL_curstackinfo->si_cxix;
}

/* Pushes a frame for Coro's sub that is about to switch coroutines, if the sub is recorded and this
 * op has no frame yet. Else no mark is made, and the gap goes on. */
static void before_slf(pTHX_ struct dpx_ctx *ctx)
{
    U64 now = dpx_frame_arrive(ctx);
    CV *cv = dpx_callee_peek_xs(aTHX_ *PL_stack_sp);
    dpx_frame_reconcile(aTHX_ ctx, now);
    /* On a new C stack the op runs once more, with the frame in place. */
    U32 id = cv && is_slf(ctx, cv) && !(top_is_slf(aTHX_ ctx) && ctx->top->serial == PTR2UV(PL_op))
        ? dpx_callee_xs(aTHX_ ctx, cv) & DPX_ID_MASK : 0;
    if (id
        && dpx_frame_push(ctx, PL_curstackinfo, DPX_KEY(PL_curstackinfo->si_cxix, DPX_SLF), id, now,
                          dpx_way_bits)) {
        ctx->top->serial = PTR2UV(PL_op);
        ctx->top->saved = PL_savestack_ix - 1;
        dpx_frame_leave(ctx);
    } else {
        dpx_way.unmarked(ctx, now);
    }
}

/* Ends the frame of a function of Coro's when that has returned, if it is on top. */
static void after_slf(pTHX_ struct dpx_ctx *ctx)
{
    U64 now = dpx_frame_arrive(ctx);
    dpx_frame_reconcile(aTHX_ ctx, now);
    if (top_is_slf(aTHX_ ctx)) {
        dpx_way.pop(ctx, DP_RAW_LEAVE, now);
        dpx_frame_leave(ctx);
    } else {
        dpx_way.unmarked(ctx, now);
    }
}

/* Runs Coro's pp_slf, with our work before and after. Coro measures the height of the C stack to
 * find out whether a coroutine is within a call from C; if so, the coroutine keeps its C stack and
 * cannot be cancelled safely. So pp_slf is always called from here, and never from anywhere
 * else. */
OP *dpx_slf_hook(pTHX)
{
    struct dpx_ctx *ctx = DPX_CTX;
    if (ctx->thx == DPX_THX)
        before_slf(aTHX_ ctx);
    OP *next = orig_slf(aTHX);
    if (ctx->thx == DPX_THX)
        after_slf(aTHX_ ctx);
    return next;
}

void dpx_slf_wrap_first(pTHX)
{
    if (orig_slf && PL_op && PL_op->op_ppaddr == orig_slf)
        PL_op->op_ppaddr = dpx_slf_hook;
}

/* ---- visits ---- */

/* When a coroutine is freed, Coro puts its stacks in place for a while and destroys their contents,
 * by calls from C. No hook sees the end of that; so the end of the scope around each such call ends
 * the visit. */

/* Runs when the call's scope is left: the coroutine that was at work goes on. */
static void end_visit(pTHX_ void *mainstack)
{
    struct dpx_ctx *ctx = DPX_CTX;
    if (ctx->thx != DPX_THX || ctx->mainstack != PL_mainstack)
        return;
    U64 now = dpx_frame_arrive(ctx);
    dpx_frame_reconcile(aTHX_ ctx, now);
    dpx_coro_switch(aTHX_ ctx, (AV *)mainstack, now);
    dpx_frame_leave(ctx);
}

void dpx_slf_visit(pTHX_ struct dpx_ctx *ctx)
{
    I32 type = PL_curstackinfo->si_type;
    if (type == PERLSI_DESTROY || type == PERLSI_MAGIC)
        SAVEDESTRUCTOR_X(end_visit, ctx->mainstack);
}
