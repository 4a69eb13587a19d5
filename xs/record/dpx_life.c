/* A recorder's life, and its states (enum dpx_state): made, begun, forked, in an exec, ended; in
 * the program's first interpreter or in a thread. */
#include "dpx_life.h"
#include "dpx_blocks.h"
#include "dpx_control.h"
#include "dpx_coro.h"
#include "dpx_ctx.h"
#include "dpx_events.h"
#include "dpx_file.h"
#include "dpx_filter.h"
#include "dpx_frame.h"
#include "dpx_heap.h"
#include "dpx_held.h"
#include "dpx_name.h"
#include "dpx_requests.h"
#include "dpx_span.h"
#include "dpx_span_rows.h"
#include "dpx_say.h"
#include "dpx_slice.h"
#include "dpx_stmt.h"
#include "dpx_ticker.h"
#include "dpx_values.h"
#include "dp_fmt.h"
#include "dp_mem.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAMES = 1024 };         /* number to begin with */

static void end_trip(struct dpx_ctx *ctx);
/* Reports that memory is short, and stops recording for good. */
static void no_memory(struct dpx_ctx *ctx);
static void tripped(void *arg) { end_trip(arg); }

/* ---- changes of the state ---- */

void dpx_life_begin(pTHX_ struct dpx_ctx *ctx)
{
    ctx->state = DPX_ON;
    ctx->thx = ctx->owner = DPX_THX;
    ctx->mainstack = PL_mainstack;
    dpx_ctx_show(aTHX_ ctx);
    dpx_run.count_heap = dpx_run.opt.heap ? dpx_values_count : NULL;
    bool good = dpx_run.opt.heap == DPX_HEAP_EXACT ? dpx_values_begin(aTHX_ ctx)
                : dpx_run.opt.heap == DPX_HEAP_SAMPLE ? dpx_blocks_begin(ctx)
                : true;
    if (!good)
        dpx_say("DProf: out of memory; the heap of process %ld is not followed", ctx->pid);
}

/* Ends a recording for good: hooks look at ctx->thx, and ignore this state from here on. */
static void end_state(struct dpx_ctx *ctx, enum dpx_state state)
{
    ctx->state = state;
    ctx->thx = NULL;
    dpx_blocks_end(ctx);
    ctx->statements.open = 0;
}

/* ---- states ---- */

/* Sets what belongs to the process whose recording begins: its process id, the time of day, and the
 * first slice. That slice has written no names and has no time left over. */
static void set_process(struct dpx_ctx *ctx)
{
    ctx->started = dpx_clock_today();
    ctx->pid = (long)getpid();
    ctx->slice = 1;
    ctx->named = 0;
    memset(&ctx->rest, 0, sizeof ctx->rest);
}

/* Releases all that a state owns, but not the state itself. The .live file is not deleted: in a
 * forked child it is the parent's. */
static void release_ctx(struct dpx_ctx *ctx)
{
    dp_rec_release(&ctx->rec);
    dpx_requests_release(ctx);
    dpx_span_release(ctx);
    dp_lines_release(&ctx->statements);
    dpx_events_close(ctx);
    dp_live_release(&ctx->live);
    dp_outfile_close(&ctx->out);
    dp_gzip_free(ctx->gzip);
    dp_writer_release(&ctx->writer);
    dpx_name_release(&ctx->names);
    dp_buf_release(&ctx->file.head);
    dp_mem_free(ctx->frames);
    dp_mem_free(ctx->sites);
    dpx_values_free(ctx);
    dpx_blocks_free(ctx);
    dp_mem_free(ctx->tick.stack);
    dp_mem_free(ctx->tick.placed);
    dp_mem_free(ctx->tick.called);
    dp_mem_free(ctx->tick.steps);
    dp_mem_free(ctx->tick.bodies);
    dpx_coro_release(ctx);
}

void dpx_life_free(struct dpx_ctx *ctx)
{
    release_ctx(ctx);
    end_state(ctx, DPX_ENDED);
    dpx_ctx_give_back(ctx);
}

struct dpx_ctx *dpx_life_new(void)
{
    struct dpx_ctx *ctx = dpx_ctx_take();
    if (!ctx)
        return NULL;
    dp_outfile_init(&ctx->out);
    ctx->clock = dpx_run.clock;
    ctx->frames = dp_mem_realloc(NULL, FRAMES, sizeof *ctx->frames);
    ctx->frames_end = ctx->frames + FRAMES;
    if (dpx_run.opt.compress)
        ctx->gzip = dp_gzip_new((int)dpx_run.opt.compress);
    if (!ctx->frames || (dpx_run.opt.compress && !ctx->gzip)
        || dp_writer_init(&ctx->writer, dpx_run.opt.ticks, dpx_file_sink, ctx) < 0) {
        dpx_life_free(ctx);
        return NULL;
    }
    ctx->top = ctx->frames;
    ctx->maker = pthread_self();
    dpx_coro_bottom(ctx->frames);
    set_process(ctx);
    return ctx;
}

static void begin_file(void *arg) { dpx_file_begin(arg); }

static void slice_is_over(void *arg)
{
    if (!dpx_slice_cut(arg))
        no_memory(arg);
}

/* Starts a state's clocks. */
void dpx_life_start_clocks(struct dpx_ctx *ctx)
{
    /* A buffer smaller than usual is used only if there is a file to write to. */
    bool waits = ctx->file.unopened && dpx_run.opt.buffer < DPX_BUFFER;
    struct dp_rec_how how = {
        .words = waits ? DPX_BUFFER : (size_t)dpx_run.opt.buffer,
        .contexts = (size_t)dpx_run.opt.contexts,
        .tree = dpx_run.opt.tree,
        .ops = dpx_run.opt.tree && dpx_run.opt.ops ? &ctx->ops : NULL,
        .counts = ctx->events.total,
        .n_counts = dpx_run.plan.n,
        .n_counted = dpx_run.plan.n > dpx_run.plan.n_own ? dpx_run.plan.n : 0,
        .noise = dpx_run.plan.noise ? dpx_run.plan.noise_at + 1 : 0,
        .site = dpx_run.site,
        .lines = dpx_run.opt.lines ? &ctx->statements : NULL,
        .line_times = dpx_run.opt.lines == DP_LINES_TIMES && !dpx_line_samples(),
        .reads_once = ctx->clock.reads_once,
        .line_samples = dpx_line_samples(),
        .sample = dpx_run.only_samples ? dpx_run.opt.sample : 0,
        .checkpoint = dpx_run.opt.spool ? dpx_run.opt.slice : dpx_run.opt.checkpoint,
    };
    ctx->statements.texts = dpx_run.opt.source;
    dp_rec_init(&ctx->rec, &how, &ctx->writer, dpx_clock_host(&ctx->clock), &ctx->clock);
    ctx->rec.saving.tripped = tripped;
    ctx->rec.saving.flushed = dpx_file_flushed;
    ctx->rec.saving.save = dpx_run.opt.spool ? slice_is_over : dpx_file_save;
    ctx->rec.saving.on_first_second = ctx->file.unopened ? begin_file : NULL;
    ctx->rec.saving.arg = ctx;
}

/* ---- the end ---- */

/* Ends a recording whose file has not been made yet: there will be none. */
static void leave_nothing(struct dpx_ctx *ctx)
{
    end_state(ctx, DPX_ENDED);
    ctx->file.unopened = false;
    dp_live_release(&ctx->live);
    dpx_events_close(ctx);
}

/* Stops recording for good; after dp_rec_give_up, the recorder may still be called. */
static void give_up(struct dpx_ctx *ctx)
{
    DPX_DTHX(ctx);
    if (ctx->thx)
        dpx_ctx_show(aTHX_ NULL); /* or the hooks would take this for a new thread's interpreter */
    end_state(ctx, DPX_ENDED);
    dp_rec_give_up(&ctx->rec);
    for (struct dpx_frame *f = ctx->frames + 1; f <= ctx->top; f++)
        f->call.caller = ctx->rec.marks.cur;
    dp_live_release(&ctx->live);
    dp_outfile_drop(&ctx->out);
    dpx_events_close(ctx);
}

static void no_memory(struct dpx_ctx *ctx)
{
    dpx_say("DProf: out of memory; process %ld is not profiled", ctx->pid);
    give_up(ctx);
}

/* Ends the recording after another program has truncated the file of the pieces. */
static void end_lost(struct dpx_ctx *ctx)
{
    const char *profile = ctx->out.path ? ctx->out.path : dpx_run.path;
    dpx_say("DProf: %s" DP_FMT_LIVE
                 " was cut off by another program; the recording of process %ld has"
                 " ended, the program goes on",
                 profile, ctx->pid);
    dp_live_remove(&ctx->live);
    give_up(ctx);
}

/* Writes the file's end. All marks are in the file, or in the tree. */
static void complete_file(struct dpx_ctx *ctx)
{
    if (dpx_run.opt.spool) {
        dpx_slice_end(ctx);
        return;
    }
    dpx_file_begin(ctx);
    dpx_file_rest(ctx);
    if (ctx->out.failed)
        return;
    dpx_file_end(ctx);
    if (!dp_outfile_is_there(&ctx->out) && !dpx_run.blocks_only)
        dpx_say("DProf: %s was removed while the program ran; there is no profile",
                     ctx->out.path);
}

/* Does the file get an end? Nothing is written in a child that has recorded nothing, or that was
 * made without fork(): its file is the parent's. */
static bool has_an_end(const struct dpx_ctx *ctx)
{
    return ctx->pid == (long)getpid() && !(ctx->state == DPX_BORN && ctx->rec.paused);
}

/* Ends a recording: ends the running calls, and completes the file, unless its blocks were read in
 * the program. A state that has no end of its own, or has ended already, writes nothing. */
static void finish_state(struct dpx_ctx *ctx)
{
    if (ctx->state >= DPX_ENDING)
        return;
    if (!has_an_end(ctx)) {
        end_state(ctx, DPX_ENDED);
        return;
    }
    U64 now = dpx_ctx_arrive(ctx);
    end_trip(ctx);
    if (ctx->state == DPX_ENDED)
        return;
    dpx_held_end_all(ctx, now);
    dpx_ctx_look_at_loop(ctx);
    dpx_blocks_show(ctx);
    end_state(ctx, DPX_ENDING);
    ctx->rec.saving.save = NULL;       /* all is written now */
    bool is_read = dpx_run.blocks_only && !ctx->child.is && !ctx->tid;
    if (!is_read)               /* else, the blocks have been read */
        dpx_frame_unwind(ctx, now);
    dp_rec_flush(&ctx->rec, now);
    if (!is_read && ctx->live.lost)
        end_lost(ctx);
    if (ctx->state == DPX_ENDED)
        return;
    if (!is_read)
        complete_file(ctx);
    if (!is_read && ctx->live.lost)
        end_lost(ctx);          /* lost while it was written */
    dp_outfile_drop(&ctx->out);
    if (!is_read && ctx->rec.tree)
        dp_cct_release(&ctx->rec.cct);
    dp_live_release(&ctx->live);
    dpx_events_close(ctx);
    end_state(ctx, DPX_ENDED);
}

/* Ends the slice, and notes how many calls the next one goes on with if exec fails. Returns whether
 * the slice is written. */
static bool slice_before_exec(struct dpx_ctx *ctx)
{
    ctx->exec.depth = dpx_recorded_top(ctx) - ctx->frames;
    return dpx_slice_end(ctx);
}

/* Completes the file, and keeps the data to undo that. Returns false if the file cannot be
 * written. */
static bool file_before_exec(struct dpx_ctx *ctx)
{
    struct dp_buf text;
    dpx_file_begin(ctx);
    if (ctx->out.failed)
        return false;
    ctx->exec.size = ctx->out.size;
    ctx->exec.live = ctx->live.path != NULL;
    ctx->exec.pending = ctx->writer.pending;
    ctx->exec.sums = ctx->writer.sums;
    memcpy(ctx->exec.counts, ctx->writer.pending_counts, sizeof ctx->exec.counts);
    dpx_file_rest(ctx);
    if (ctx->out.failed)
        return false;
    dp_buf_init(&text);
    for (const struct dpx_frame *f = ctx->top;
         f > ctx->frames && !ctx->rec.tree && !ctx->rec.paused; f--)
        dp_buf_addf(&text, "/ %lx\n", (unsigned long)f->id);
    U64 open_frames = ctx->rec.tree || ctx->rec.paused ? 0 : (U64)(ctx->top - ctx->frames);
    if (!text.err && text.len)
        dpx_file_sink(ctx, text.ptr, text.len);
    dp_buf_release(&text);
    ctx->writer.marks += open_frames;
    dpx_file_end(ctx);
    ctx->writer.marks -= open_frames;
    return true;
}

/* Completes the file before exec(), as nothing runs after it. If exec fails, the first event
 * removes that end again, and the recording goes on. */
static void before_exec(struct dpx_ctx *ctx)
{
    dpx_life_after_exec(ctx);    /* the exec before has failed */
    /* A forked child that has recorded nothing leaves nothing. */
    if (ctx->state == DPX_BORN)
        return;
    DPX_DTHX(ctx);
    U64 now = dpx_ctx_arrive(ctx);
    dpx_held_end_all(ctx, now);
    dp_rec_flush(&ctx->rec, now);
    dpx_values_count(aTHX_ ctx);
    if (ctx->live.lost)
        end_lost(ctx);
    if (ctx->rec.over)
        return;
    bool ready = dpx_run.opt.spool ? slice_before_exec(ctx) : file_before_exec(ctx);
    if (ctx->live.lost)
        end_lost(ctx);          /* lost while it was written */
    if (!ready)
        return;
    ctx->state = DPX_EXEC;
    /* exec may die, or call subs of a tied value, before it fails: the first event removes the end
     * again. */
    dp_rec_trip(&ctx->rec);
    dpx_ctx_leave(ctx);
}

void dpx_life_before_exec(void)
{
    int why = errno;
    struct dpx_ctx *ctx;
    for (unsigned n = UINT_MAX; (ctx = dpx_ctx_mine(n)) != NULL; n = ctx->tid) {
        DPX_DTHX(ctx);
        if (dpx_ctx_current(aTHX) == ctx)       /* else nothing is recorded between two blocks */
            before_exec(ctx);
    }
    errno = why;
}

/* Undoes dpx_life_before_exec. */
static void undo_exec(struct dpx_ctx *ctx)
{
    int why = errno;
    ctx->state = DPX_ON;
    dp_rec_untrip(&ctx->rec);
    if (dpx_run.opt.spool) {
        if (!dpx_slice_next(ctx, ctx->frames + ctx->exec.depth, 0))
            no_memory(ctx);
        errno = why;
        return;
    }
    if (ctx->rec.tree)          /* the tree stays as a saved one, with its sums */
        dpx_file_trailer(ctx);
    else
        dp_outfile_cut(&ctx->out, ctx->exec.size);
    ctx->writer.pending = ctx->exec.pending;
    ctx->writer.sums = ctx->exec.sums;
    memcpy(ctx->writer.pending_counts, ctx->exec.counts, sizeof ctx->exec.counts);
    if (!ctx->rec.tree)
        dpx_file_trailer(ctx);
    if (ctx->exec.live && !ctx->out.failed)
        dp_live_restore(&ctx->live, ctx->out.path);
    errno = why;
}

/* Resumes the recording when an exec has failed. This is no mark, so the gap goes on. */
void dpx_life_after_exec(struct dpx_ctx *ctx)
{
    if (ctx->state != DPX_EXEC)
        return;
    U64 left = ctx->rec.marks.left, now = dpx_ctx_arrive(ctx);
    undo_exec(ctx);
    dpx_ctx_leave(ctx);
    ctx->rec.marks.left = left + (ctx->rec.marks.left - now);
}

void dpx_life_end(pTHX_ struct dpx_ctx *ctx)
{
    int why = errno;
    if (ctx->state < DPX_ENDING) {
        dpx_values_last(aTHX_ ctx);
        dpx_values_end(aTHX_ ctx);
    }
    finish_state(ctx);
    dpx_ctx_show(aTHX_ NULL);
    errno = why;
}

void dpx_life_end_all(void)
{
    struct dpx_ctx *ctx;
    for (unsigned n = UINT_MAX; (ctx = dpx_ctx_mine(n)) != NULL; n = ctx->tid) {
        DPX_DTHX(ctx);
        dpx_life_end(aTHX_ ctx);
    }
}

void dpx_life_forget(pTHX_ struct dpx_ctx *ctx)
{
    if (ctx->file.unopened && ctx->state != DPX_BORN) {
        leave_nothing(ctx);
        dpx_ctx_show(aTHX_ NULL);
    } else {
        dpx_life_end(aTHX_ ctx);
    }
}

/* Runs last in perl_destruct, after the objects of global variables are gone. The state that the
 * interpreters of the process share ends with the last of them; threads leave it to the others. */
static void at_perl_exit(pTHX_ void *arg)
{
    struct dpx_ctx *ctx = dpx_ctx_owned(aTHX);
    PERL_UNUSED_ARG(arg);
    if (!ctx)
        return;
    bool is_last = !ctx->is_thread && !dpx_ctx_has_programs(ctx);
    if (is_last)
        dpx_ticker_end();
    /* The program never began, and did not end by itself: it could not be compiled, or was only to
     * be compiled. */
    if (ctx->file.unopened && (PL_minus_c || (!ctx->exits && PL_statusvalue)))
        dpx_life_forget(aTHX_ ctx);
    else
        dpx_life_end(aTHX_ ctx);
    if (is_last)
        dpx_heap_unwatch();
    dpx_filter_release(aTHX_ &ctx->names.filter);
    dpx_life_free(ctx);
}

/* Completes the files of this thread's interpreters, in a process that ends without perl_destruct.
 * Other threads may still be running, and only they may touch what they record: their files end as
 * if they were killed. */
static void at_exit(void)
{
    struct dpx_ctx *ctx;
    for (unsigned n = UINT_MAX; (ctx = dpx_ctx_mine(n)) != NULL; n = ctx->tid)
        finish_state(ctx);
}

/* ---- fork ---- */

/* Keeps the number of the current statement, in which the child of a fork goes on. */
static void keep_line(struct dpx_ctx *ctx)
{
    if (ctx->state == DPX_BORN) {
        /* A child that has recorded nothing has only the statements that it keeps itself. */
        const struct dpx_child *child = &ctx->child;
        if (child->n_early)
            ctx->rec.line_before = child->early[child->n_early - 1].number;
    } else if (ctx->state < DPX_ENDING) {
        dp_rec_keep_line(&ctx->rec);
    }
}

/* Prepares for a fork: takes the lock, and keeps the current line of each of this thread's states.
 * perl blocks all signals around fork. But if the mapped file of another interpreter was cut, the
 * kernel kills a process that has SIGBUS blocked. */
static void before_fork(void)
{
    dpx_blocks_before_fork();
    sigset_t bus, before;
    sigemptyset(&bus);
    sigaddset(&bus, SIGBUS);
    pthread_mutex_lock(&dpx_run.lock);
    pthread_sigmask(SIG_UNBLOCK, &bus, &before);
    for (struct dpx_ctx *ctx = dpx_run.all; ctx; ctx = ctx->next)
        if (dpx_ctx_is_mine(ctx))
            keep_line(ctx);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void after_fork_parent(void)
{
    dpx_blocks_in_parent();
    pthread_mutex_unlock(&dpx_run.lock);
}

/* Prepares a state in a forked child. The marks in the window are the parent's; time starts over
 * here. The rest of the work waits for the first event: a child that only execs should not pay for
 * it. */
static void go_on_in_child(struct dpx_ctx *ctx)
{
    set_process(ctx);
    dpx_requests_release(ctx);
    dpx_span_clear(ctx);
    ctx->before_cpu_us = 0;
    ctx->child.depth = dpx_recorded_top(ctx) - ctx->frames;
    ctx->state = DPX_BORN;
    ctx->child.is = true;
    ctx->child.n_early = 0;             /* the parent's, if it has recorded nothing itself */
    ctx->maker = pthread_self();
    dp_rec_restart(&ctx->rec);
}

/* Runs in the child, where only this thread lives on, with the interpreters that it runs, or has
 * made. */
static void after_fork_child(void)
{
    int why = errno;
    pthread_mutex_init(&dpx_run.lock, NULL);
    dpx_blocks_in_child();
    dpx_run.off |= !dpx_run.opt.fork;
    if (dpx_run.opt.sample)
        dpx_ticker_forked();
    for (struct dpx_ctx *ctx = dpx_run.all; ctx; ctx = ctx->next) {
        DPX_DTHX(ctx);
        bool goes_on = dpx_run.opt.fork && dpx_ctx_is_mine(ctx) && ctx->state < DPX_ENDING;
        dp_outfile_drop(&ctx->out);
        if (!goes_on)
            end_state(ctx, DPX_ENDED);
        if (dpx_run.plan.n)
            dpx_events_fork(aTHX_ ctx, goes_on);
        if (!goes_on)
            continue;
        go_on_in_child(ctx);
        if (dpx_run.opt.sample)
            dpx_ticker_wait_for(aTHX_ &ctx->tick);
    }
    errno = why;
}

/* Keeps this module in memory until the process ends. Some hosts unload the modules of an
 * interpreter with it. perl goes on to call the hooks, so this module stays. */
static void stay_loaded(void)
{
#ifdef RTLD_NODELETE
    Dl_info self;
    if (dladdr(&dpx_run, &self))
        (void)dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
#endif
}

void dpx_life_join(pTHX)
{
    stay_loaded();
    dpx_ctx_join(aTHX_ at_perl_exit);
}

void dpx_life_watch(void)
{
    atexit(at_exit);
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

/* Opens the file of a child or a thread, and the file of pieces. Stops recording if memory is
 * short. */
static void open_all(pTHX_ struct dpx_ctx *ctx)
{
    struct dp_err err;
    dp_err_init(&err);
    /* with blocks_only, a child that outlives its parent has lost the folder */
    if (dpx_file_open(aTHX_ ctx, &err) < 0 && !dpx_run.blocks_only)
        dpx_say("DProf: %s; process %ld is not profiled, the program goes on", err.message,
                     ctx->pid);
    if (dpx_file_open_live(ctx) < 0)
        no_memory(ctx);
}

/* Handles the first event of a child: the running calls began in the parent. */
static void begin_child(struct dpx_ctx *ctx)
{
    DPX_DTHX(ctx);
    int why = errno;
    /* Counts since the fork belong to the coming mark, not to those of the frames that run
     * already. */
    U64 seen[DP_FMT_COUNTERS], ops = ctx->rec.marks.ops_seen;
    memcpy(seen, ctx->rec.marks.counts_seen, sizeof seen);
    dp_rec_skip_counts(&ctx->rec);
    dp_rec_untrip(&ctx->rec);
    ctx->state = DPX_ON;
    size_t n = (size_t)ctx->child.depth;
    dp_rec_release(&ctx->rec);
    dp_live_release(&ctx->live);
    dp_outfile_close(&ctx->out);
    dp_writer_restart(&ctx->writer);
    ctx->child.inherited = n;
    dp_rec_shrink(&ctx->rec, (size_t)dpx_run.opt.buffer);
    dpx_events_forked(aTHX_ ctx);
    open_all(aTHX_ ctx);
    if (ctx->state == DPX_ENDED) {
        errno = why;
        return;
    }
    dpx_file_keep_all(ctx);
    for (size_t i = 1; i <= n; i++) {
        struct dpx_frame *f = ctx->frames + i;
        f->id = f->runs;
        if (ctx->rec.tree)
            dp_rec_resume(&ctx->rec, f->runs, &f->call, DP_REC_ELSEWHERE);
        else
            dp_rec_trace(&ctx->rec, DP_RAW_ENTER, f->id, &f->call, ctx->rec.marks.left,
                         DP_REC_COUNTS);
    }
    memcpy(ctx->rec.marks.counts_seen, seen, sizeof seen);
    memcpy(ctx->rec.samples.counts, seen, sizeof seen);
    ctx->rec.marks.ops_seen = ctx->rec.marks.line_ops_seen = ops;
    dpx_stmt_forked(ctx);
    dpx_values_forget(aTHX_ ctx);
    dpx_blocks_resume(ctx);
    errno = why;
}

/* Does the work of the first event after a fork or a failed exec, or after the pieces were lost. */
static void end_trip(struct dpx_ctx *ctx)
{
    if (ctx->state == DPX_EXEC)
        undo_exec(ctx);
    else if (ctx->state == DPX_BORN)
        begin_child(ctx);
    if (ctx->live.lost)
        end_lost(ctx);
}

bool dpx_life_event(struct dpx_ctx *ctx)
{
    if (!ctx->rec.paused)
        end_trip(ctx);
    return ctx->thx && !ctx->rec.over;
}

/* ---- saving ---- */

void dpx_life_save(pTHX_ struct dpx_ctx *ctx)
{
    int why = errno;
    PERL_UNUSED_CONTEXT;
    if (ctx->state == DPX_BORN)
        return;
    U64 now = dpx_ctx_arrive(ctx);
    end_trip(ctx);
    dp_rec_save(&ctx->rec, now);
    dpx_ctx_leave(ctx);
    errno = why;
}

/* ---- threads ---- */

/* Makes the state of a new thread. parent: the state of the thread that made it, or any. NULL:
 * threads are not recorded, or memory is short. */
static struct dpx_ctx *new_thread(pTHX_ const struct dpx_ctx *parent)
{
    struct dpx_ctx *ctx = NULL;
    int why = errno;
    if (!dpx_run.off && dpx_run.opt.threads && (ctx = dpx_life_new()) != NULL) {
        ctx->is_thread = true;
        ctx->path = parent->path;
        dpx_ctx_enlist(ctx);
        dpx_events_open(aTHX_ ctx);
        dpx_life_start_clocks(ctx);
        dpx_life_begin(aTHX_ ctx);
        open_all(aTHX_ ctx);
        ctx->stage = PL_phase;
        if (ctx->state == DPX_ENDED)
            return dpx_ctx_show(aTHX_ NULL), errno = why, NULL;
        dpx_values_forget(aTHX_ ctx);       /* they have begun before the tree */
        if (ctx->values)                    /* threads.pm may be newer than our hook */
            dpx_values_watch_end(aTHX);
        dpx_filter_init(aTHX_ &ctx->names.filter);
        dpx_control_in_phase(ctx, parent->phase, ctx->rec.marks.left);
        ctx->block.runs = !dpx_run.blocks_only && parent->block.runs;
        ctx->toggles = parent->toggles;
        dpx_ctx_leave(ctx);
        if (parent->rec.paused)
            dpx_control_stop(ctx);
    }
    dpx_ctx_show(aTHX_ ctx);
    errno = why;
    return ctx;
}

struct dpx_ctx *dpx_life_other(pTHX_ const struct dpx_ctx *parent)
{
    bool is_clone = !dpx_ctx_is_nobody(parent) && parent->owner != DPX_THX;
    return is_clone ? new_thread(aTHX_ parent) : NULL;
}

struct dpx_ctx *dpx_life_known(pTHX)
{
    if (!dpx_ctx_has_joined(aTHX))
        return NULL;
    struct dpx_ctx *ctx = dpx_ctx_find(aTHX);
    if (ctx || !dpx_run.blocks_only || !dpx_run.all)
        return ctx;
    ctx = new_thread(aTHX_ dpx_run.all);
    if (ctx && !ctx->rec.paused)
        dpx_control_stop(ctx);
    return ctx;
}
