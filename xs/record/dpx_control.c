/* Stretches that are not recorded, and phases: the program asks for them, or reaches the next stage
 * of its run. While nothing is recorded the hooks still keep the frames, so that a start finds the
 * running ones, whatever has happened meanwhile. */
#include "dpx_control.h"
#include "dpx_ctx.h"
#include "dpx_file.h"
#include "dpx_name.h"
#include "dpx_ticker.h"
#include "dpx_values.h"
#include "dp_mem.h"
#include "dp_rec_mark.h"

#include <string.h>

enum { PHASES_MAX = 1000 };     /* names beyond these are one phase, `other` */

/* Leaves the frames of a trace without ending them: writes an exit for each, from the top down. If
 * the window is full in the middle of this, a trace writes it and may go on as a tree, which has
 * then taken over all frames. */
void dpx_control_suspend(struct dpx_ctx *ctx, U64 now)
{
    if (ctx->rec.tree)
        return;
    dp_rec_announce(&ctx->rec, DP_RAW_SUSPEND, (size_t)(ctx->top - ctx->frames), now);
    for (struct dpx_frame *f = ctx->top; f > ctx->frames && !ctx->rec.tree; f--) {
        dp_rec_trace(&ctx->rec, DP_RAW_UNWIND, f->id, &f->call, now, DP_REC_COUNTS);
        ctx->rec.marks.left = now;
    }
}

/* Resumes all running calls in the recording. elsewhere: their time up to now belongs to no
 * recorded call. */
static void relink_frames(struct dpx_ctx *ctx, bool elsewhere)
{
    for (struct dpx_frame *f = ctx->frames + 1; f <= dpx_recorded_top(ctx); f++)
        dp_rec_resume(&ctx->rec, f->runs, &f->call, elsewhere ? DP_REC_ELSEWHERE : f->call.start);
}

void dpx_control_resume(struct dpx_ctx *ctx, U64 now)
{
    if (ctx->rec.tree) {
        /* As in a trace, the duration of an interrupted call is not kept. */
        relink_frames(ctx, true);
        return;
    }
    dp_rec_announce(&ctx->rec, DP_RAW_RESUME, (size_t)(ctx->top - ctx->frames), now);
    for (struct dpx_frame *f = ctx->frames + 1; f <= dpx_recorded_top(ctx) && !ctx->rec.tree; f++) {
        f->id = f->runs;
        dp_rec_trace(&ctx->rec, DP_RAW_ENTER, f->id, &f->call, now, DP_REC_COUNTS);
        ctx->rec.marks.left = now;
    }
}

void dpx_control_stop(struct dpx_ctx *ctx)
{
    U64 now = dpx_ctx_arrive(ctx);
    if (!ctx->rec.paused)               /* a child of a tree may be a trace again */
        ctx->rec.saving.tripped(ctx->rec.saving.arg);
    if (ctx->rec.paused)
        return;
    ctx->rec.marks.deadline = 0;      /* so that the CPU clock is read where the stretch ends */
    dpx_control_suspend(ctx, now);
    dp_rec_pause(&ctx->rec, now);
    for (struct dpx_frame *f = ctx->top; f > ctx->frames && ctx->rec.tree; f--)
        f->call.caller = ctx->rec.marks.cur;
}

void dpx_control_start(struct dpx_ctx *ctx)
{
    U64 now = dpx_ctx_arrive(ctx);
    if (!ctx->rec.paused)
        return;
    dp_rec_unpause(&ctx->rec, now);
    bool has_all = ctx->state == DPX_BORN;
    if (has_all)                /* the child's file begins here */
        ctx->child.depth = dpx_recorded_top(ctx) - ctx->frames;
    ctx->rec.saving.tripped(ctx->rec.saving.arg);
    if (!has_all)
        dpx_control_resume(ctx, now);
    dpx_ticker_wake();
    dpx_ctx_leave(ctx);
}

/* Finds or makes a phase; `other` if there are too many, unless `last` is set. NULL: memory is
 * short. Phases live as long as the process, since threads share them. */
static const struct dpx_phase *find_phase(const char *name, size_t len, bool last)
{
    struct dpx_phase *p;
    size_t n = 0;
    pthread_mutex_lock(&dpx_run.lock);
    for (p = dpx_run.phases; p; p = p->next, n++)
        if (p->len == len && memcmp(p->name, name, len) == 0)
            break;
    if (!p && n >= PHASES_MAX && !last) {
        pthread_mutex_unlock(&dpx_run.lock);
        return find_phase("other", 5, true);
    }
    if (!p && (p = dp_mem_alloc(sizeof *p + len)) != NULL) {
        p->len = len;
        memcpy(p->name, name, len);
        p->next = dpx_run.phases;
        dpx_run.phases = p;
    }
    pthread_mutex_unlock(&dpx_run.lock);
    return p;
}

const struct dpx_phase *dpx_control_phase(const char *name, size_t len)
{
    return find_phase(name, len, true);
}

const struct dpx_phase *dpx_control_phase_of(const char *name, size_t len)
{
    return find_phase(name, len, false);
}

void dpx_control_in_phase(struct dpx_ctx *ctx, const struct dpx_phase *phase, U64 now)
{
    U32 id = phase ? dpx_name_phase(ctx, phase->name, phase->len) : 0;
    if (!id)
        return;
    ctx->phase = phase;
    dp_rec_phase(&ctx->rec, id, now);
    if (ctx->rec.tree && !ctx->rec.paused)
        relink_frames(ctx, false);
}

void dpx_control_mark(struct dpx_ctx *ctx, const char *name, size_t len)
{
    int why = errno;
    if (len) {
        dpx_control_in_phase(ctx, find_phase(name, len, false), dpx_ctx_arrive(ctx));
        dpx_ctx_leave(ctx);
    }
    errno = why;
}

void dpx_control_begin(struct dpx_ctx *ctx)
{
    dpx_control_in_phase(ctx, find_phase("BEGIN", 5, true), ctx->rec.marks.left);
    dpx_ctx_leave(ctx);
    if (dpx_run.opt.start != DPX_START_BEGIN)
        dpx_control_stop(ctx);
}

/* Begins the file of the recording, when the program is compiled; its INIT blocks come first.
 * Making the file is no mark, so the gap goes on. */
static void begin_init(struct dpx_ctx *ctx)
{
    U64 now = dpx_ctx_arrive(ctx), left = ctx->rec.marks.left;
    int why = errno;
    dpx_file_begin(ctx);
    dpx_ctx_leave(ctx);
    ctx->rec.marks.left = left + (ctx->rec.marks.left - now);
    errno = why;
}

/* Begins the phase "main", and the file if it has waited for it, when the program is compiled. */
static void begin_main(struct dpx_ctx *ctx)
{
    int why = errno;
    U64 now = dpx_ctx_arrive(ctx);
    dpx_control_in_phase(ctx, find_phase("main", 4, false), now);
    dpx_file_begin(ctx);
    if (!ctx->rec.tree && !ctx->rec.paused && ctx->rec.marks.pos >= ctx->rec.marks.end)
        dp_rec_flush(&ctx->rec, now);       /* the buffer has become smaller */
    dpx_ctx_leave(ctx);
    errno = why;
}

void dpx_control_stage(pTHX_ struct dpx_ctx *ctx)
{
    ctx->stage = PL_phase;
    if (ctx->block.runs || dpx_run.blocks_only)
        return;
    if (PL_phase == PERL_PHASE_RUN) {
        if (dpx_run.opt.heap)
            dpx_values_watch_end(aTHX);
        begin_main(ctx);
        if (dpx_run.opt.start == DPX_START_MAIN)
            dpx_control_start(ctx);
    } else if (PL_phase == PERL_PHASE_INIT && ctx->file.unopened) {
        begin_init(ctx);
    } else if (PL_phase >= PERL_PHASE_END) {
        dpx_control_mark(ctx, "END", 3);
    }
}
