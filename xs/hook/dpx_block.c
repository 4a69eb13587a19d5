/* Blocks: stretches of a program that Test::DProf measures alone. The recorder is the one that -d
 * starts, with the same hooks. Each block has a phase of its own. Where the whole program is
 * recorded, a block is a part of that recording. Where nothing else is recorded (dpx_run.own), the
 * hooks see between blocks the state of an interpreter that does not record, so that they return at
 * once (2,000,000 calls: 0.143 s, and 0.14 without the module). A block does not know the frames
 * that ran before it, and ends the frames that are left over at its end.
 *
 * A run loop counts ops in the state that the hooks saw when the loop began. A block is called from
 * C, and so gets a run loop of its own, below the XS sub `Devel::DProf::_block`. The block's
 * profile is cut out of the whole one on demand (dp_prof_take): it is what that sub called in that
 * phase, in all files of the run. So forked children and threads need no code of their own, and a
 * program that is recorded as a whole has its blocks, too. */
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
