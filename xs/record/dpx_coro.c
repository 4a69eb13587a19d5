/* Coroutines (Coro). Each coroutine has stacks of its own, and so a stack of frames of its own
 * here. It is found by PL_mainstack, which no two coroutines share at a time. The next event
 * notices a switch; the frames of the coroutine that ran are left without having ended, and those
 * of the next one go on without being called.
 *
 * What this relies on: PL_mainstack is another one in each coroutine. Coro sets PL_runops of a new
 * coroutine to perl's own loop. */
#include "dpx_coro.h"
#include "dpx_control.h"
#include "dp_mem.h"
#include "dp_rec_mark.h"

#include <string.h>

enum {
    FRAMES = 32,                /* number to begin with */
    PRUNE = 128
};

struct dpx_coro {
    AV *mainstack;
    struct dpx_frame *frames, *frames_end, *top;    /* frames: NULL while it runs */
    struct dp_cct_node *cur;    /* the node of a tree, valid while rec.relinks is `links` */
    U64 links;
    U64 program;                /* stamps that had passed in the program when it was left */
};

void dpx_coro_bottom(struct dpx_frame *f)
{
    /* This frame is no sub's: it matches nothing and never ends. */
    memset(f, 0, sizeof *f);
    f->key = DPX_KEY(-1, DPX_MULTICALL);
}

/* Forgets coroutines that are gone, so that a program that makes them without end does not fill the
 * memory. Perl never gives back the heads of SVs, and the type of a head shows whether it was freed
 * or reused. */
static void prune_coros(struct dpx_ctx *ctx)
{
    size_t n = 0;
    dp_map_clear(&ctx->coro.of);
    for (size_t i = 0; i < ctx->coro.n; i++) {
        struct dpx_coro *c = &ctx->coro.list[i];
        struct dp_map_slot *slot = NULL;
        if (c->mainstack == ctx->mainstack || SvTYPE(c->mainstack) == SVt_PVAV)
            slot = dp_map_put(&ctx->coro.of, PTR2UV(c->mainstack));
        if (!slot) {
            dp_mem_free(c->frames);
            continue;
        }
        slot->value = (uint32_t)n;
        ctx->coro.list[n++] = *c;
    }
    ctx->coro.n = n;
    ctx->coro.prune_at = n * 2 < PRUNE ? PRUNE : n * 2;
}

/* Finds or adds a coroutine; adding one may move the table. NULL: memory is short. */
static struct dpx_coro *coro_of(struct dpx_ctx *ctx, AV *mainstack)
{
    struct dp_map_slot *slot = dp_map_find(&ctx->coro.of, PTR2UV(mainstack));
    if (slot)
        return &ctx->coro.list[slot->value];
    if (ctx->coro.n >= ctx->coro.prune_at)
        prune_coros(ctx);
    struct dpx_coros *all = &ctx->coro;
    if (dp_mem_grow((void **)&all->list, &all->cap, all->n + 1, sizeof *all->list) < 0
        || (slot = dp_map_put(&all->of, PTR2UV(mainstack))) == NULL)
        return NULL;
    struct dpx_coro *c = &all->list[all->n];
    memset(c, 0, sizeof *c);
    c->mainstack = mainstack;
    slot->value = (uint32_t)all->n++;
    return c;
}

/* Makes the stack of frames of a coroutine, unless it has one. Returns false if memory is short. */
static bool make_frames(struct dpx_coro *c)
{
    if (c->frames)
        return true;
    c->frames = dp_mem_realloc(NULL, FRAMES, sizeof *c->frames);
    if (!c->frames)
        return false;
    c->frames_end = c->frames + FRAMES;
    c->top = c->frames;
    dpx_coro_bottom(c->frames);
    return true;
}

/* Ends the time of the coroutine that has run until now, as another one goes on. */
static void leave_coro(struct dpx_ctx *ctx, U64 now)
{
    if (dpx_run.only_samples)
        return;
    if (ctx->rec.tree)
        dp_rec_charge_all(&ctx->rec, now);
    else if (ctx->top > ctx->frames)
        dpx_control_suspend(ctx, now);
    ctx->rec.marks.left = now;
}

/* Leaves the time of other coroutines out of the durations of the calls. */
static void delay_starts(struct dpx_ctx *ctx, U64 by)
{
    for (struct dpx_frame *f = ctx->top; f > ctx->frames; f--)
        if (f->call.start != DP_REC_ELSEWHERE)
            f->call.start += by;
}

/* Goes on in the context where the coroutine was left, or finds the contexts of its frames anew if
 * that one is no longer valid. */
static void enter_coro(struct dpx_ctx *ctx, const struct dpx_coro *c, U64 now)
{
    if (dpx_run.only_samples)
        return;
    /* The node is still valid if running calls got no new contexts since. */
    if (ctx->rec.tree && c->cur && c->links == ctx->rec.relinks) {
        ctx->rec.marks.cur = c->cur;
        delay_starts(ctx, ctx->rec.marks.program - c->program);
        return;
    }
    dp_rec_rebase(&ctx->rec);
    if (ctx->rec.tree || ctx->top > ctx->frames)
        dpx_control_resume(ctx, now);
}

void dpx_coro_switch(pTHX_ struct dpx_ctx *ctx, AV *mainstack, U64 now)
{
    int why = errno;
    struct dpx_coro *from = coro_of(ctx, ctx->mainstack),
                    *to = from ? coro_of(ctx, mainstack) : NULL;
    if (to && make_frames(to)) {
        /* the table may have moved; the running coroutine is never pruned */
        from = coro_of(ctx, ctx->mainstack);
        leave_coro(ctx, now);
        from->frames = ctx->frames;
        from->frames_end = ctx->frames_end;
        from->top = ctx->top;
        from->cur = ctx->rec.marks.cur;
        from->links = ctx->rec.relinks;
        from->program = ctx->rec.marks.program;
        ctx->frames = to->frames;
        ctx->frames_end = to->frames_end;
        ctx->top = to->top;
        to->frames = NULL;      /* ctx has them now */
        enter_coro(ctx, to, now);
    }
    ctx->mainstack = mainstack;
    errno = why;
}

void dpx_coro_notice(pTHX_ struct dpx_ctx *ctx, U64 now)
{
    dpx_coro_switch(aTHX_ ctx, PL_mainstack, now);
    if (dpx_run.only_samples)   /* there is no run loop of ours */
        return;
    /* A coroutine that begins may get a C stack of its own: see new_stage in dpx_hook.c. */
    if (ctx->stage >= 0)
        ctx->stage = ~ctx->stage;
    /* When Coro makes a coroutine it sets PL_runops to perl's own loop, and to the standard one
     * even in a perl with DEBUGGING. The loop of another module is left alone. */
    if (PL_runops == dpx_run.loop_before || PL_runops == Perl_runops_standard)
        PL_runops = dpx_run.loop;
}

void dpx_coro_renew(struct dpx_ctx *ctx, U64 links)
{
    for (size_t i = 0; i < ctx->coro.n; i++) {
        struct dpx_coro *c = &ctx->coro.list[i];
        if (!c->frames || !c->cur || c->links != links)
            continue;
        dp_rec_rebase(&ctx->rec);
        for (struct dpx_frame *f = c->frames + 1; f <= c->top; f++)
            dp_rec_resume(&ctx->rec, f->runs, &f->call, f->call.start);
        c->cur = ctx->rec.marks.cur;
        c->links = ctx->rec.relinks;
    }
    dp_rec_rebase(&ctx->rec);
}

void dpx_coro_release(struct dpx_ctx *ctx)
{
    for (size_t i = 0; i < ctx->coro.n; i++)
        dp_mem_free(ctx->coro.list[i].frames);
    dp_mem_free(ctx->coro.list);
    dp_map_release(&ctx->coro.of);
}
