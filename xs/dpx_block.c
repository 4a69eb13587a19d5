/* Blocks: stretches of a program that are looked at alone, by Test::DProf. Each has a phase of its
 * own. Where the whole program is recorded, a block is a part of that. Where nothing else is
 * (dpx_run.own), the hooks see no recorder between blocks, so that a call costs next to nothing;
 * the frames that run when a block begins are not known to it, and those that are
 * left over end with it.
 *
 * Ops are counted by the run loop, which keeps its counter: a block must be called from C, so that
 * it has a loop of its own. */
#include "dpx_block.h"
#include "dpx_control.h"
#include "dpx_ctx.h"
#include "dpx_frame.h"
#include "dpx_life.h"

bool dpx_block_begin(pTHX_ const char *name, size_t len)
{
    struct dpx_ctx *ctx = dpx_life_known(aTHX);
    const struct dpx_phase *phase = ctx && !ctx->block.runs ? dpx_control_phase(name, len) : NULL;
    int why = errno;
    if (!phase)
        return false;
    if (dpx_run.own) {
        ctx->mainstack = PL_mainstack;
        ctx->ended = ctx->ended || PL_phase >= PERL_PHASE_END;
        ctx->stage = PL_phase;
        dpx_ctx_show(aTHX_ ctx);
    }
    ctx->block.before = ctx->phase;
    dpx_control_in_phase(ctx, phase, dpx_ctx_arrive(ctx));
    dpx_ctx_leave(ctx);
    ctx->block.runs = true;
    ctx->block.started = ctx->rec.paused;
    if (ctx->rec.paused)
        dpx_control_start(ctx);
    errno = why;
    return true;
}

void dpx_block_end(pTHX)
{
    struct dpx_ctx *ctx = dpx_life_known(aTHX);
    int why = errno;
    if (!ctx || !ctx->block.runs)
        return;
    U64 now = dpx_ctx_arrive(ctx);
    if (dpx_run.own)
        dpx_frame_unwind(ctx, now);
    else
        dpx_frame_reconcile(aTHX_ ctx, now);
    dpx_ctx_leave(ctx);
    if (ctx->block.started)
        dpx_control_stop(ctx);
    ctx->block.runs = false;
    if (ctx->block.before)
        dpx_control_in_phase(ctx, ctx->block.before, dpx_ctx_arrive(ctx));
    dpx_ctx_leave(ctx);
    if (dpx_run.own)
        dpx_ctx_show(aTHX_ NULL);
    errno = why;
}
