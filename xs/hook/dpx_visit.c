/* Visits to coroutines. When a coroutine is freed, Coro puts its stacks in place for a while, and
 * destroys what they hold, by calls from C. No hook sees the end of that; so the end of the scope
 * that each such call is made in ends the visit. */
#include "dpx_visit.h"
#include "dpx_coro.h"
#include "dpx_frame.h"

/* The call's scope is left: the coroutine that was at work goes on. */
static void visit_over(pTHX_ void *mainstack)
{
    struct dpx_ctx *ctx = DPX_CTX;
    if (ctx->thx != DPX_THX || ctx->mainstack != PL_mainstack)
        return;
    U64 now = dpx_frame_arrive(ctx);
    dpx_frame_reconcile(aTHX_ ctx, now);
    dpx_coro_switch(aTHX_ ctx, (AV *)mainstack, now);
    dpx_frame_leave(ctx);
}

void dpx_visit_begins(pTHX_ struct dpx_ctx *ctx)
{
    I32 type = PL_curstackinfo->si_type;
    if (type == PERLSI_DESTROY || type == PERLSI_MAGIC)
        SAVEDESTRUCTOR_X(visit_over, ctx->mainstack);
}
