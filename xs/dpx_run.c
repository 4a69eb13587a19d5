/* A recording's life: options from the environment, the beginning, fork, threads,
 * and the end. */
#include "dpx.h"
#include "dpx_heap.h"
#include "dp_fmt.h"
#include "dp_mem.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

enum { FRAMES = 1024 };         /* to begin with */

#ifdef DPX_MULTIPLICITY
int dpx_index = -1;
#else
struct dpx_ctx *dpx_only;
#endif

struct dpx_process dpx_run = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The state that interpreters have which do not record. */
static struct dpx_ctx nobody;

static void set_ctx(pTHX_ struct dpx_ctx *ctx)
{
#ifdef DPX_MULTIPLICITY
    PL_my_cxt_list[dpx_index] = ctx;
#else
    dpx_only = ctx;
#endif
}

void dpx_run_show(pTHX_ struct dpx_ctx *ctx) { set_ctx(aTHX_ ctx ? ctx : &nobody); }

static void tripped(void *arg);

U64 dpx_run_arrive(struct dpx_ctx *ctx)
{
    U64 now = dpx_clock_host(&ctx->clock)->stamp(&ctx->clock);
    if (ctx->rec.how.n_counts)
        dpx_events_arrive(ctx);
    return now;
}

void dpx_run_leave(struct dpx_ctx *ctx)
{
    if (ctx->rec.how.n_counts) {
        ctx->rec.worked = true;
        dpx_events_leave(ctx);
    }
    ctx->rec.left = dpx_clock_host(&ctx->clock)->stamp(&ctx->clock);
}

/* ---- what it is at ---- */

static void begin(pTHX_ struct dpx_ctx *ctx)
{
    ctx->state = DPX_ON;
    ctx->thx = DPX_THX;
    ctx->mainstack = PL_mainstack;
    set_ctx(aTHX_ ctx);
}

/* The hooks look at thx: they have nothing to do with it from here on. */
static void ends(struct dpx_ctx *ctx, enum dpx_state state)
{
    ctx->state = state;
    ctx->thx = NULL;
}

/* ---- states ---- */

static U64 cpu_us_so_far(void)
{
    struct rusage ru;
    getrusage(RUSAGE_SELF, &ru);
    return (U64)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000000
         + (U64)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec);
}

static void set_process(struct dpx_ctx *ctx)
{
    struct timeval tv;
    gettimeofday(&tv, NULL);
    ctx->started = (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
    ctx->pid = (long)getpid();
}

static void release_ctx(struct dpx_ctx *ctx)
{
    dp_rec_release(&ctx->rec);
    dpx_events_close(ctx);
    dp_live_release(&ctx->live);
    dp_outfile_close(&ctx->out);
    dp_gzip_free(ctx->gzip);
    dp_writer_release(&ctx->writer);
    dpx_name_release(&ctx->names);
    dp_buf_release(&ctx->file.head);
    dp_mem_free(ctx->frames);
    dpx_coro_release(ctx);
}

/* States are used again and never freed: until its first event, a new interpreter
 * looks at the one it has inherited, whatever has become of that. */
static struct dpx_ctx *spare;

static struct dpx_ctx *take_ctx(void)
{
    pthread_mutex_lock(&dpx_run.lock);
    struct dpx_ctx *ctx = spare;
    if (ctx)
        spare = ctx->next;
    pthread_mutex_unlock(&dpx_run.lock);
    if (!ctx)
        return dp_mem_zalloc(sizeof *ctx);
    memset(ctx, 0, sizeof *ctx);
    return ctx;
}

static void free_ctx(struct dpx_ctx *ctx)
{
    release_ctx(ctx);
    pthread_mutex_lock(&dpx_run.lock);
    for (struct dpx_ctx **p = &dpx_run.all; *p; p = &(*p)->next)
        if (*p == ctx) {
            *p = ctx->next;
            break;
        }
    ends(ctx, DPX_ENDED);       /* the rest is cleared when it is used again */
    ctx->next = spare;
    spare = ctx;
    pthread_mutex_unlock(&dpx_run.lock);
}

static struct dpx_ctx *new_ctx(void)
{
    struct dpx_ctx *ctx = take_ctx();
    if (!ctx)
        return NULL;
    dp_outfile_init(&ctx->out);
    ctx->frames = dp_mem_realloc(NULL, FRAMES, sizeof *ctx->frames);
    ctx->frames_end = ctx->frames + FRAMES;
    if (dpx_run.opt.compress)
        ctx->gzip = dp_gzip_new((int)dpx_run.opt.compress);
    if (!ctx->frames || (dpx_run.opt.compress && !ctx->gzip)
        || !dpx_clock_choose(&ctx->clock, dpx_run.opt.clock)
        || dp_writer_init(&ctx->writer, dpx_run.opt.ticks, dpx_file_sink, ctx) < 0) {
        free_ctx(ctx);
        return NULL;
    }
    ctx->top = ctx->frames;
    dpx_coro_bottom(ctx->frames);
    set_process(ctx);
    return ctx;
}

static void aged(void *arg) { dpx_file_begin(arg); }

/* Starts a state's clocks. */
static void start_clocks(struct dpx_ctx *ctx)
{
    /* Each mark is written at once only when there is something to write to. */
    bool waits = ctx->file.unopened && dpx_run.opt.buffer < DPX_BUFFER;
    struct dp_rec_how how = {
        .words = waits ? DPX_BUFFER : (size_t)dpx_run.opt.buffer,
        .contexts = (size_t)dpx_run.opt.contexts,
        .tree = dpx_run.opt.tree,
        .ops = dpx_run.opt.tree && dpx_run.opt.ops ? &ctx->ops : NULL,
        .counts = ctx->events.total,
        .n_counts = dpx_run.plan.n,
        .site = dpx_run.opt.callsites ? dpx_name_site : NULL,
        .checkpoint = dpx_run.opt.checkpoint,
    };
    dp_rec_init(&ctx->rec, &how, &ctx->writer, dpx_clock_host(&ctx->clock), &ctx->clock);
    ctx->rec.tripped = tripped;
    ctx->rec.flushed = dpx_file_flushed;
    ctx->rec.save = dpx_file_save;
    ctx->rec.aged = ctx->file.unopened ? aged : NULL;
    ctx->rec.arg = ctx;
}

static void enlist(struct dpx_ctx *ctx)
{
    pthread_mutex_lock(&dpx_run.lock);
    ctx->tid = dpx_run.tids++;
    ctx->next = dpx_run.all;
    /* on_signal reads it at any moment */
    __atomic_store_n(&dpx_run.all, ctx, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&dpx_run.lock);
}

/* ---- the end ---- */

static void leave_nothing(struct dpx_ctx *ctx)
{
    ends(ctx, DPX_ENDED);
    ctx->file.unopened = false;
    dp_live_release(&ctx->live);
    dpx_events_close(ctx);
}

/* Does not record any more; what the recorder is still told, dp_rec_give_up sees to. */
static void give_up(struct dpx_ctx *ctx)
{
    dTHX;
    ends(ctx, DPX_ENDED);
    set_ctx(aTHX_ &nobody);     /* or the hooks would take it for a new thread's interpreter */
    dp_rec_give_up(&ctx->rec);
    for (struct dpx_frame *f = ctx->frames + 1; f <= ctx->top; f++)
        f->call.caller = ctx->rec.cur;
    dp_live_release(&ctx->live);
    dp_outfile_drop(&ctx->out);
    dpx_events_close(ctx);
}

/* Somebody else has cut off the file of the pieces. */
static void lost(struct dpx_ctx *ctx)
{
    const char *profile = ctx->out.path ? ctx->out.path : dpx_run.path;
    dpx_file_say("DProf: %s" DP_FMT_LIVE
                 " was cut off by another program; the recording of process %ld has"
                 " ended, the program goes on",
                 profile, ctx->pid);
    dp_live_remove(&ctx->live);
    give_up(ctx);
}

/* The file gets its end. All marks are in it, or in the tree. */
static void complete(struct dpx_ctx *ctx)
{
    dpx_file_begin(ctx);
    dpx_file_rest(ctx);
    if (ctx->out.failed)
        return;
    dpx_file_trailer(ctx, true);
    if (!dp_outfile_is_there(&ctx->out) && !dpx_run.own)
        dpx_file_say("DProf: %s was removed while the program ran; there is no profile",
                     ctx->out.path);
}

/* Nothing is written of a child that has recorded nothing, or was made behind fork()'s back: there
 * the parent writes. */
static bool has_an_end(const struct dpx_ctx *ctx)
{
    return ctx->pid == (long)getpid() && !(ctx->state == DPX_BORN && ctx->rec.paused);
}

static void finish(struct dpx_ctx *ctx)
{
    if (ctx->state >= DPX_ENDING)
        return;
    if (!has_an_end(ctx)) {
        ends(ctx, DPX_ENDED);
        return;
    }
    U64 now = dpx_run_arrive(ctx);
    dpx_run_end_trip(ctx);
    if (ctx->state == DPX_ENDED)
        return;
    ends(ctx, DPX_ENDING);
    ctx->rec.save = NULL;       /* all is written now */
    bool is_read = dpx_run.own && !ctx->child.is && !ctx->tid;
    if (!is_read)               /* else, who wanted the blocks has read them */
        dpx_frame_unwind(ctx, now);
    dp_rec_flush(&ctx->rec, now);
    if (!is_read && ctx->live.lost)
        lost(ctx);
    if (ctx->state == DPX_ENDED)
        return;
    if (!is_read)
        complete(ctx);
    dp_outfile_drop(&ctx->out);
    if (!is_read && ctx->rec.tree)
        dp_cct_release(&ctx->rec.cct);
    dp_live_release(&ctx->live);
    dpx_events_close(ctx);
    ends(ctx, DPX_ENDED);
}

void dpx_run_before_exec(struct dpx_ctx *ctx)
{
    struct dp_buf text;
    int why = errno;
    dpx_run_after_exec(ctx);    /* of the one before, which has failed */
    /* A forked child that has recorded nothing leaves nothing. */
    if (ctx->state == DPX_BORN)
        return;
    dp_rec_flush(&ctx->rec, dpx_run_arrive(ctx));
    if (ctx->live.lost)
        lost(ctx);
    if (ctx->rec.over)
        return;
    dpx_file_begin(ctx);
    if (ctx->out.failed)
        return;
    ctx->state = DPX_EXEC;
    ctx->exec.size = ctx->out.size;
    ctx->exec.live = ctx->live.path != NULL;
    ctx->exec.pending = ctx->writer.pending;
    ctx->exec.sums = ctx->writer.sums;
    memcpy(ctx->exec.counts, ctx->writer.pending_counts, sizeof ctx->exec.counts);
    dpx_file_rest(ctx);
    dp_buf_init(&text);
    for (const struct dpx_frame *f = ctx->top;
         f > ctx->frames && !ctx->rec.tree && !ctx->rec.paused; f--)
        dp_buf_addf(&text, "/ %lx\n", (unsigned long)f->id);
    U64 open_frames = ctx->rec.tree || ctx->rec.paused ? 0 : (U64)(ctx->top - ctx->frames);
    if (!text.err && text.len)
        dpx_file_sink(ctx, text.ptr, text.len);
    dp_buf_release(&text);
    ctx->writer.marks += open_frames;
    dpx_file_trailer(ctx, true);
    ctx->writer.marks -= open_frames;
    /* exec may die, or call subs of a tied value, before it fails: the first event takes
     * the end back. */
    dp_rec_trip(&ctx->rec);
    dpx_run_leave(ctx);
    errno = why;
}

void dpx_run_after_exec(struct dpx_ctx *ctx)
{
    int why = errno;
    if (ctx->state != DPX_EXEC)
        return;
    ctx->state = DPX_ON;
    dp_rec_untrip(&ctx->rec);
    if (ctx->rec.tree)          /* it stays as one that was saved, with its sums */
        dpx_file_trailer(ctx, false);
    else
        dp_outfile_cut(&ctx->out, ctx->exec.size);
    ctx->writer.pending = ctx->exec.pending;
    ctx->writer.sums = ctx->exec.sums;
    memcpy(ctx->writer.pending_counts, ctx->exec.counts, sizeof ctx->exec.counts);
    if (!ctx->rec.tree)
        dpx_file_trailer(ctx, false);
    if (ctx->exec.live && !ctx->out.failed)
        dp_live_restore(&ctx->live, ctx->out.path);
    errno = why;
}

void dpx_run_end(pTHX_ struct dpx_ctx *ctx)
{
    int why = errno;
    finish(ctx);
    set_ctx(aTHX_ &nobody);
    errno = why;
}

void dpx_run_forget(pTHX_ struct dpx_ctx *ctx)
{
    if (ctx->file.unopened && ctx->state != DPX_BORN) {
        leave_nothing(ctx);
        set_ctx(aTHX_ &nobody);
    } else {
        dpx_run_end(aTHX_ ctx);
    }
}

/* The state of this interpreter, shown to the hooks or not. */
static struct dpx_ctx *find(pTHX)
{
    pthread_mutex_lock(&dpx_run.lock);
    struct dpx_ctx *ctx = dpx_run.all;
    while (ctx && ctx->thx != DPX_THX)
        ctx = ctx->next;
    pthread_mutex_unlock(&dpx_run.lock);
    return ctx;
}

/* Runs last in perl_destruct, after the objects of global variables are gone. */
static void at_perl_exit(pTHX_ void *arg)
{
    struct dpx_ctx *ctx = find(aTHX);
    PERL_UNUSED_ARG(arg);
    if (ctx) {
        /* Never begun, and not ended by itself: it could not be compiled, or was only to be. */
        if (ctx->file.unopened && (PL_minus_c || (!ctx->exits && PL_statusvalue)))
            dpx_run_forget(aTHX_ ctx);
        else
            dpx_run_end(aTHX_ ctx);
        if (ctx->tid == 0)      /* threads that end leave it to the others */
            dpx_heap_unwatch();
        dpx_filter_release(aTHX_ &ctx->names.filter);
        free_ctx(ctx);
    }
}

/* The state of the interpreter that this thread runs, if any: a thread that is not
 * perl's may fork, too. Only compares pointers; the caller holds the lock. */
static struct dpx_ctx *own_ctx(void)
{
#ifdef DPX_MULTIPLICITY
    void *own = PERL_GET_CONTEXT;
#else
    void *own = DPX_THX;
#endif
    struct dpx_ctx *ctx = own ? dpx_run.all : NULL;
    while (ctx && ctx->thx != own)
        ctx = ctx->next;
    return ctx;
}

/* For a process that ends without perl_destruct. Other threads may be running still, and what
 * they record is theirs alone to touch: it ends as if they were killed. */
static void at_exit(void)
{
    pthread_mutex_lock(&dpx_run.lock);
    struct dpx_ctx *ctx = own_ctx();
    pthread_mutex_unlock(&dpx_run.lock);
    if (ctx)
        finish(ctx);
}

/* ---- fork ---- */

static void before_fork(void)
{
    pthread_mutex_lock(&dpx_run.lock);
}

static void after_fork_parent(void)
{
    pthread_mutex_unlock(&dpx_run.lock);
}

/* In the child, where only this thread lives on. What the window holds is the
 * parent's; time starts over here. The rest waits for the first event: a child
 * that only execs should not pay for it. */
static void after_fork_child(void)
{
    /* none in a thread that is not perl's, but then it has no state of ours */
    dTHX;
    struct dpx_ctx *mine = own_ctx();
    int why = errno;
    pthread_mutex_init(&dpx_run.lock, NULL);
    dpx_run.off |= !dpx_run.opt.fork;
    for (struct dpx_ctx *ctx = dpx_run.all; ctx; ctx = ctx->next) {
        dp_outfile_drop(&ctx->out);
        if (ctx != mine || !dpx_run.opt.fork)
            ends(ctx, DPX_ENDED);
        bool goes_on = ctx->state < DPX_ENDING;
        if (dpx_run.plan.n)
            dpx_events_fork(aTHX_ ctx, goes_on);
        if (!goes_on)
            continue;
        set_process(ctx);
        ctx->before_cpu_us = 0;
        ctx->child.depth = ctx->top - ctx->frames;
        ctx->state = DPX_BORN;
        ctx->child.is = true;
        dp_rec_restart(&ctx->rec);
    }
    errno = why;
}

/* Opens the file of a child or a thread, and what goes with it. */
static void open_all(pTHX_ struct dpx_ctx *ctx)
{
    struct dp_err err;
    dp_err_init(&err);
    /* one that outlives its parent has no folder */
    if (dpx_file_open(aTHX_ ctx, &err) < 0 && !dpx_run.own)
        dpx_file_say("DProf: %s; process %ld is not profiled, the program goes on", err.message,
                     ctx->pid);
    if (dpx_file_open_live(ctx) < 0) {
        dpx_file_say("DProf: out of memory; process %ld is not profiled", ctx->pid);
        give_up(ctx);
    }
}

/* The first event of a child: what runs now began in the parent. */
static void forked(struct dpx_ctx *ctx)
{
    dTHX;
    int why = errno;
    /* What was counted since the fork is for the mark that is coming, not for those of
     * what runs already. */
    U64 seen[DP_FMT_COUNTERS];
    memcpy(seen, ctx->rec.counts_seen, sizeof seen);
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
    for (U32 id = 1; id < ctx->writer.next_id; id++)
        dpx_file_keep_name(ctx, id);
    for (U32 site = 1; site <= ctx->names.sites.count; site++)
        dpx_file_keep_site(ctx, site);
    for (size_t i = 1; i <= n; i++) {
        struct dpx_frame *f = ctx->frames + i;
        f->id = f->runs;
        if (ctx->rec.tree)
            dp_rec_resume(&ctx->rec, f->runs, &f->call, DP_REC_ELSEWHERE);
        else
            dp_rec_trace(&ctx->rec, DP_RAW_ENTER, f->id, &f->call, ctx->rec.left, DP_REC_COUNTS);
    }
    memcpy(ctx->rec.counts_seen, seen, sizeof seen);
    errno = why;
}

void dpx_run_end_trip(struct dpx_ctx *ctx)
{
    if (ctx->state == DPX_EXEC)
        dpx_run_after_exec(ctx);
    else if (ctx->state == DPX_BORN)
        forked(ctx);
    if (ctx->live.lost)
        lost(ctx);
}

static void tripped(void *arg)
{
    dpx_run_end_trip(arg);
}

/* ---- saving ---- */

void dpx_run_save(pTHX_ struct dpx_ctx *ctx)
{
    int why = errno;
    PERL_UNUSED_CONTEXT;
    if (ctx->state == DPX_BORN)
        return;
    U64 now = dpx_run_arrive(ctx);
    dpx_run_end_trip(ctx);
    dp_rec_save(&ctx->rec, now);
    dpx_run_leave(ctx);
    errno = why;
}

/* ---- threads ---- */

struct dpx_ctx *dpx_run_current(pTHX)
{
#ifdef DPX_MULTIPLICITY
    if (dpx_index < 0)
        return NULL;
#endif
    struct dpx_ctx *ctx = DPX_CTX;
    return ctx && ctx->thx == DPX_THX ? ctx : NULL;
}

/* Of a new thread. parent: of the one that it was made in, or any. */
static struct dpx_ctx *new_thread(pTHX_ const struct dpx_ctx *parent)
{
    struct dpx_ctx *ctx = NULL;
    int why = errno;
    if (!dpx_run.off && dpx_run.opt.threads && (ctx = new_ctx()) != NULL) {
        enlist(ctx);
        dpx_events_open(aTHX_ ctx);
        start_clocks(ctx);
        begin(aTHX_ ctx);
        open_all(aTHX_ ctx);
        ctx->stage = PL_phase;
        if (ctx->state == DPX_ENDED)
            return set_ctx(aTHX_ &nobody), errno = why, NULL;
        dpx_filter_init(aTHX_ &ctx->names.filter);
        dpx_control_in_phase(ctx, parent->phase, ctx->rec.left);
        ctx->block.runs = !dpx_run.own && parent->block.runs;
        ctx->toggles = parent->toggles;
        dpx_run_leave(ctx);
        if (parent->rec.paused)
            dpx_control_stop(ctx);
    }
    set_ctx(aTHX_ ctx ? ctx : &nobody);
    errno = why;
    return ctx;
}

struct dpx_ctx *dpx_run_other(pTHX)
{
    const struct dpx_ctx *parent = DPX_CTX;
    return parent == &nobody ? NULL : new_thread(aTHX_ parent);
}

struct dpx_ctx *dpx_run_known(pTHX)
{
#ifdef DPX_MULTIPLICITY
    if (dpx_index < 0)
        return NULL;
#endif
    struct dpx_ctx *ctx = find(aTHX);
    if (ctx || !dpx_run.own || !dpx_run.all)
        return ctx;
    ctx = new_thread(aTHX_ dpx_run.all);
    if (ctx && !ctx->rec.paused)
        dpx_control_stop(ctx);
    return ctx;
}

/* ---- the beginning ---- */

void dpx_run_clean_env(pTHX)
{
    HV *env = GvHV(PL_envgv);
    SV **svp = env ? hv_fetchs(env, "PERL5DB", 0) : NULL;
    if (svp && *svp && SvPOK(*svp)
        && (strnEQ(SvPVX_const(*svp), "use Devel::DProf", 16)
            || strnEQ(SvPVX_const(*svp), "no Devel::DProf", 15)))
        (void)hv_deletes(env, "PERL5DB", G_DISCARD);
}

/* While the debugger's flags were set, perl kept the source of what it compiled:
 * of our own module. With threads nothing points to these globs. */
static void forget_sources(pTHX)
{
#ifdef USE_ITHREADS
    HE *he;
    hv_iterinit(PL_defstash);
    while ((he = hv_iternext(PL_defstash))) {
        I32 len;
        const char *key = hv_iterkey(he, &len);
        if (len > 5 && key[0] == '_' && key[1] == '<' && memcmp(key + len - 3, ".pm", 3) == 0)
            (void)hv_delete(PL_defstash, key, len, G_DISCARD);
    }
#endif
}

static bool is_open(const char *item)
{
    bool open = false;
    for (const char *p = item; *p; p++)
        open ^= *p == '/';
    return open && strnEQ(item, "events=", 7);
}

/* perl splits the list at commas; those of cpu/event=0x3c,umask=1/ do not separate options. The
 * result is for the life of the process. */
static const char *join_items(pTHX_ const char *const *items, size_t n, size_t *i)
{
    const char *item = items[*i];
    while (is_open(item) && *i + 1 < n)
        item = SvPVX(newSVpvf("%s,%s", item, items[++*i]));
    return item;
}

/* Sets the options, the plan of counters and the path from the environment and the list. Croaks
 * where the user has something wrong. False: out of memory. */
static bool read_options(pTHX_ const char *const *items, size_t n)
{
    struct dp_err err;
    struct dpx_clock clock;
    bool tainted = TAINTING_get || getuid() != geteuid() || getgid() != getegid();
    dp_err_init(&err);
    dpx_options_init(&dpx_run.opt);
    if (!dpx_run.own && dpx_options_environment(&dpx_run.opt, tainted, &err) < 0)
        Perl_croak(aTHX_ "DProf: %s\n", err.message);
    const char *wish = dpx_run.opt.clock;
    if (!dpx_clock_choose(&clock, wish))
        Perl_croak(aTHX_ "DProf: PERL_DPROF_CLOCK=%s: there is no such clock here\n", wish);
    for (size_t i = 0; i < n; i++) {
        if (strEQ(items[i], "help")) {
            struct dp_buf text;
            dp_buf_init(&text);
            dpx_options_help(&text);
            PerlIO_write(PerlIO_stdout(), text.ptr, text.len);
            dp_buf_release(&text);
            my_exit(0);
        }
        if (dpx_options_take(&dpx_run.opt, join_items(aTHX_ items, n, &i), &err) < 0)
            Perl_croak(aTHX_ "DProf: %s\n", err.message);
    }
    dpx_signal_choose(aTHX);
    /* The strings are the caller's and the environment's. */
    if (dpx_options_keep(&dpx_run.opt) < 0)
        return false;
    if (!dpx_filter_check(aTHX_ &err))
        Perl_croak(aTHX_ "DProf: %s\n", err.message);
    int rc = dpx_events_plan(aTHX_ &dpx_run.plan, dpx_run.opt.events, &err);
    if (rc == DP_E_NOMEM)
        return false;
    if (rc < 0)
        Perl_croak(aTHX_ "DProf: %s\n", err.message);
    dpx_run.path = dp_outfile_absolute(dpx_run.opt.out ? dpx_run.opt.out : "tmon.out");
    if (dpx_run.opt.out)
        dpx_run.opt.out = dpx_run.path;
    if (!dpx_clock_choose(&clock, dpx_run.opt.clock))
        Perl_croak(aTHX_ "DProf: clock=%s: there is no such clock here\n", dpx_run.opt.clock);
    return true;
}

static void make_run_id(void)
{
    struct timeval tv;
    gettimeofday(&tv, NULL);
    snprintf(dpx_run.run, sizeof dpx_run.run, "%lx.%lx.%lx", (unsigned long)tv.tv_sec,
             (unsigned long)tv.tv_usec, (unsigned long)getpid());
}

/* What cannot be is said; of blocks, by an exception. */
static bool refused(pTHX_ const char *why)
{
    if (dpx_run.own)
        Perl_croak(aTHX_ "DProf: %s\n", why);
    dpx_file_say("DProf: %s; the program is not profiled", why);
    return false;
}

/* Is nothing to be run, but compiled (-c) or told (-V, which is a program in the place
 * of the script)? */
static bool runs_nothing(pTHX)
{
    if (PL_minus_c)
        return true;
    SV *line = PL_parser ? PL_parser->linestr : NULL;
    return PL_origfilename && strEQ(PL_origfilename, BIT_BUCKET) && line && SvPOK(line)
        && strstr(SvPVX_const(line), "use Config; Config::");
}

static bool start(pTHX_ const char *const *items, size_t n)
{
    struct dp_err err;
    struct stat st;
    U64 before = cpu_us_so_far();
#ifdef DPX_MULTIPLICITY
    if (dpx_index < 0)
        Perl_my_cxt_init(aTHX_ &dpx_index, sizeof(void *));
#endif
    set_ctx(aTHX_ &nobody);
    if (!dpx_run.own) {
        PL_perldb = 0;
        dpx_run_clean_env(aTHX);
        forget_sources(aTHX);
        if (runs_nothing(aTHX))
            return false;
    }
    if (fstat(2, &st) == 0) {
        dpx_run.stderr_dev = st.st_dev;
        dpx_run.stderr_ino = st.st_ino;
    }
    bool enough = read_options(aTHX_ items, n);
    make_run_id();
    dpx_signal_install();
    struct dpx_ctx *ctx = enough ? new_ctx() : NULL;
    if (!ctx || !dpx_run.path)
        return refused(aTHX_ "out of memory");
    ctx->before_cpu_us = before;
    dp_err_init(&err);
    int rc = dpx_run.own ? dpx_file_open(aTHX_ ctx, &err) : dpx_file_prepare(aTHX_ ctx, &err);
    if (rc == DP_E_ARG) {
        dpx_signal_restore();
        SV *message = newSVpvf("DProf: %s\n", err.message);
        free_ctx(ctx);
        croak_sv(sv_2mortal(message));
    }
    if (rc == 0) {
        dpx_events_open(aTHX_ ctx);
        start_clocks(ctx);
        rc = dpx_file_open_live(ctx);
    }
    if (rc < 0) {
        free_ctx(ctx);
        return refused(aTHX_ err.code ? err.message : dp_err_text(rc));
    }
    dpx_run.tids = 0;
    enlist(ctx);
    perl_atexit(at_perl_exit, NULL);
    atexit(at_exit);
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
    dpx_filter_init(aTHX_ &ctx->names.filter);
    begin(aTHX_ ctx);
    ctx->stage = PL_phase;
    dpx_control_begin(ctx);
    dpx_hook_install(aTHX_ ctx);
    dpx_signal_follow(aTHX);
    return true;
}

bool dpx_run_start(pTHX_ const char *const *items, size_t n) { return start(aTHX_ items, n); }

void dpx_run_start_own(pTHX_ const char *const *items, size_t n)
{
    if (dpx_run.all)
        return;
    dpx_run.own = true;
    start(aTHX_ items, n);
    dpx_run_show(aTHX_ NULL);
}
