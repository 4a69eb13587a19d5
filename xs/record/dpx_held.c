#include "dpx_held.h"
#include "dpx_blocks.h"
#include "dpx_control.h"
#include "dpx_ctx.h"
#include "dpx_say.h"
#include "dp_held.h"

enum { SECONDS_MOST = 1000000000 };

/* Links each running call to a context of the tree that is recorded now. A call that began when the
 * program had used more than `from` stamps began in a tree that may never be part of the file: its
 * beginning is unknown. For the other calls, the time since then has not passed. */
static void relink_frames(struct dpx_ctx *ctx, U64 from, U64 passed)
{
    for (struct dpx_frame *f = ctx->frames + 1; f <= dpx_recorded_top(ctx); f++) {
        U64 start = f->call.start;
        if (ctx->rec.paused) {
            f->call.caller = ctx->rec.marks.cur;
            continue;
        }
        if (start != DP_REC_ELSEWHERE)
            start = start > from ? DP_REC_ELSEWHERE : start + passed;
        dp_rec_resume(&ctx->rec, f->runs, &f->call, start);
    }
}

/* Records into another stretch. is_kept: the stretch recorded so far is a part of the file's
 * tree. */
static void turn_to(struct dpx_ctx *ctx, U64 number, U64 now, bool is_kept)
{
    struct dp_rec *rec = &ctx->rec;
    bool leaves = dp_held_number(rec) && !is_kept;
    U64 from = rec->saving.held_from;
    dpx_blocks_all_placed(ctx);         /* their contexts are of the tree that is left */
    dp_held_turn(rec, number, now);
    if (!rec->over)
        relink_frames(ctx, leaves ? from : UINT64_MAX, leaves ? rec->marks.program - from : 0);
}

/* Ends the stretch that is recorded, or another one. Returns whether it was slow, and so is
 * kept. */
static bool end_stretch(struct dpx_ctx *ctx, U64 number, U64 now)
{
    bool is_slow = dp_held_is_slow(&ctx->rec, number, now);
    if (dp_held_number(&ctx->rec) == number)
        turn_to(ctx, 0, now, is_slow);
    else
        dp_rec_flush(&ctx->rec, now);
    if (!ctx->rec.over)
        dp_held_end(&ctx->rec, number, is_slow);
    return is_slow && !ctx->rec.over;
}

/* Does the work of the first event in a child, or after an exec that failed. While recording is
 * stopped only its next start does that. Returns whether stretches can be recorded now. */
static bool is_ready(struct dpx_ctx *ctx)
{
    if (!ctx->rec.paused)
        ctx->rec.saving.tripped(ctx->rec.saving.arg);
    return ctx->thx && !ctx->rec.over && ctx->state == DPX_ON && !ctx->block.runs;
}

/* Can a stretch be held back? A recording that has not begun, because it is stopped, begins first.
 * In a trace no stretch can be held back; a message says that once. */
static bool can_hold(struct dpx_ctx *ctx)
{
    if (ctx->state != DPX_ON && ctx->rec.paused) {
        dpx_control_start(ctx);
        dpx_control_stop(ctx);
    }
    if (!is_ready(ctx))
        return false;
    if (!ctx->rec.tree && !dpx_run.held_told) {
        dpx_run.held_told = true;
        dpx_say("DProf: a trace cannot drop what was fast, so all is recorded; -d:DProf=tree and"
                " sample=HZ can");
    }
    return ctx->rec.tree;
}

U64 dpx_held_begin(struct dpx_ctx *ctx, NV seconds)
{
    int why = errno;
    U64 number = 0;
    if (seconds > 0 && can_hold(ctx)) {
        U64 now = dpx_ctx_arrive(ctx);
        number = __atomic_add_fetch(&dpx_run.held, 1, __ATOMIC_RELAXED);
        if (seconds > SECONDS_MOST)
            seconds = SECONDS_MOST;
        if (dp_held_new(&ctx->rec, number, (U64)(seconds * 1e9), now) < 0) {
            dp_rec_flush(&ctx->rec, now);
            number = 0;
        } else {
            turn_to(ctx, number, now, false);
        }
        dpx_ctx_leave(ctx);
    }
    errno = why;
    return number;
}

U64 dpx_held_number(const struct dpx_ctx *ctx)
{
    return dp_held_number(&ctx->rec);
}

U64 dpx_held_turn(struct dpx_ctx *ctx, U64 number)
{
    int why = errno;
    bool ready = is_ready(ctx);
    U64 was = ready ? dp_held_number(&ctx->rec) : 0;
    if (ready && number != was && dp_held_is(&ctx->rec, number)) {
        turn_to(ctx, number, dpx_ctx_arrive(ctx), false);
        dpx_ctx_leave(ctx);
    }
    errno = why;
    return was;
}

bool dpx_held_end(struct dpx_ctx *ctx, U64 number)
{
    int why = errno;
    bool is_kept = false;
    if (number && is_ready(ctx) && dp_held_is(&ctx->rec, number)) {
        is_kept = end_stretch(ctx, number, dpx_ctx_arrive(ctx));
        dpx_ctx_leave(ctx);
    }
    errno = why;
    return is_kept;
}

void dpx_held_end_all(struct dpx_ctx *ctx, U64 now)
{
    U64 number;
    while ((number = dp_held_any(&ctx->rec)) != 0)
        end_stretch(ctx, number, now);
}

NV dpx_held_plain(pTHX_ SV *sv)
{
    if (SvMAGICAL(sv) || SvROK(sv) || !(SvNIOK(sv) || (SvPOK(sv) && looks_like_number(sv))))
        return 0;
    NV n = SvNV_nomg(sv);
    return n > 0 ? (n < 1e15 ? n : 1e15) : 0;
}
