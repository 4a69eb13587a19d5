/* A recording's life: options from the environment, the file and its header,
 * fork, threads, and the end. */
#include "dpx.h"
#include "dp_fmt.h"
#include "dp_mem.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

enum {
    FRAMES = 1024,              /* to begin with */
    NAMES = 32 * 1024,          /* bytes of a piece of names */
    TRAILER_WIDTH = 400         /* blanks kept free for what is known at the end */
};

#ifdef DPX_MULTIPLICITY
int dpx_index = -1;
#else
struct dpx_ctx *dpx_only;
#endif

/* What all threads of the process share, set before the first of them. */
static struct {
    pthread_mutex_t lock;       /* for `all` and `tids` */
    struct dpx_ctx *all;
    unsigned tids;
    char run[40];
    struct dpx_options opt;
    char *path;                 /* as the user gave it, absolute */
    dev_t stderr_dev;           /* what descriptor 2 was when we began */
    ino_t stderr_ino;
} run = { .lock = PTHREAD_MUTEX_INITIALIZER };

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

/* One line, past all of perl's layers: a tied STDERR is the program's. Not if
 * the program has opened something else under that number. */
static void say(const char *fmt, ...)
{
    char text[1024];
    struct stat st;
    if (fstat(2, &st) < 0 || st.st_dev != run.stderr_dev || st.st_ino != run.stderr_ino)
        return;
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text - 1, fmt, ap);
    va_end(ap);
    if (n < 0)
        return;
    if (n > (int)sizeof text - 2)
        n = (int)sizeof text - 2;
    text[n++] = '\n';
    if (write(2, text, (size_t)n) < 0) {
        /* nobody left to tell */
    }
}

static void tripped(void *arg);
static void flushed(void *arg);

/* ---- the file ---- */

static int to_file(void *arg, const char *ptr, size_t len)
{
    struct dpx_ctx *ctx = arg;
    struct dp_err err;
    int why = errno;            /* the program's $! */
    uint64_t before = ctx->out.size;
    dp_err_init(&err);
    int rc = dp_outfile_write(&ctx->out, ptr, len, &err);
    if (rc < 0 && ctx->out.regular && ctx->live.path) {
        /* What survives us takes room that the profile can use. */
        size_t done = (size_t)(ctx->out.size - before);
        dp_live_detach(&ctx->live);
        ctx->out.failed = false;
        dp_err_init(&err);
        rc = dp_outfile_write(&ctx->out, ptr + done, len - done, &err);
    }
    if (rc < 0) {
        say("DProf: %s; the profile ends here, the program goes on", err.message);
        errno = why;
        return err.code;
    }
    errno = why;
    return 0;
}

static void add_quoted(struct dp_buf *to, const char *name, const char *value)
{
    dp_buf_addf(to, "$%s=", name);
    dp_fmt_quote(to, value ? value : "", value ? strlen(value) : 0);
    dp_buf_addc(to, ';');
}

/* The last line of the header, as far as it is known. */
static void trailer(struct dp_buf *to, const struct dpx_ctx *ctx, U64 now)
{
    uint64_t own_cpu = 0, own_real = 0;
    const struct dp_ticks *sums = &ctx->writer.sums;
    dp_rec_own(&ctx->rec, now, &own_cpu, &own_real);
    dp_buf_addf(to, "$rrun_utime=%" UVuf "; $rrun_stime=%" UVuf "; $rrun_rtime=%" UVuf "; ",
                (UV)sums->user, (UV)sums->sys, (UV)sums->real);
    dp_buf_addf(to, "$total_marks=%" UVuf "; $dprof_own_cpu=%" UVuf "; $dprof_own_real=%" UVuf "; ",
                (UV)ctx->writer.marks, (UV)own_cpu, (UV)own_real);
    dp_buf_addf(to, "$dprof_clock_zero=%.1f; ", (double)ctx->rec.zero / ctx->rec.rate);
    if (ctx->rec.dropped)
        dp_buf_addf(to, "$dprof_dropped_cpu=%" UVuf "; ",
                    (UV)((double)ctx->rec.dropped / ctx->rec.rate * (double)ctx->writer.hz / 1e9));
    if (ctx->rec.tree && !ctx->rec.how.tree)
        dp_buf_adds(to, "$dprof_limit_reached=1; ");
    if (ctx->rec.tree && ctx->rec.cct.folded)
        dp_buf_addf(to, "$dprof_folded=%" UVuf "; ", (UV)ctx->rec.cct.folded);
    dp_buf_adds(to, "$dprof_complete=1;");
}

static void write_trailer(struct dpx_ctx *ctx)
{
    struct dp_buf text;
    dp_buf_init(&text);
    trailer(&text, ctx, dpx_clock_host(&ctx->clock)->stamp(&ctx->clock));
    if (!text.err && text.len <= TRAILER_WIDTH)
        dp_outfile_patch(&ctx->out, ctx->trailer_at, text.ptr, text.len);
    dp_buf_release(&text);
}

static void header(pTHX_ struct dp_buf *to, struct dpx_ctx *ctx)
{
    SV *script = get_sv("0", 0);
    dp_buf_adds(to, DP_FMT_MAGIC "\n");
    dp_buf_addf(to, "$hz=%" UVuf ";\n$XS_VERSION='DProf %s';\n", (UV)ctx->writer.hz, XS_VERSION);
    dp_buf_adds(to, "# All values are given in HZ\n"
                    "$over_utime=0; $over_stime=0; $over_rtime=0;\n$over_tests=10000;\n");
    if (run.opt.tree)
        dp_buf_adds(to, "$dprof_format='tree 1'; ");
    else
        dp_buf_addf(to, "$dprof_format='%s %d'; ", DP_FMT_TRACE, DP_FMT_TRACE_VERSION);
    add_quoted(to, "dprof_run", run.run);
    dp_buf_addf(to, " $dprof_pid=%ld; $dprof_ppid=%ld; $dprof_tid=%u;\n",
                ctx->pid, (long)getppid(), ctx->tid);
    dp_buf_addf(to, "$dprof_perl='%d.%d.%d'; ", PERL_REVISION, PERL_VERSION, PERL_SUBVERSION);
    add_quoted(to, "dprof_script", script && SvPOK(script) ? SvPVX_const(script) : PL_origfilename);
    dp_buf_addf(to, " $dprof_start=%.6f; $dprof_clock='%s';\n", ctx->started, ctx->clock.name);
    dp_buf_adds(to, "$dprof_options='");
    dpx_options_text(&run.opt, to);
    dp_buf_adds(to, "'; ");
    if (ctx->rec.how.ops)
        dp_buf_adds(to, "$dprof_counters='ops:ops';\n");
    add_quoted(to, "dprof_hash_seed", getenv("PERL_HASH_SEED"));
    dp_buf_addc(to, ' ');
    add_quoted(to, "dprof_perturb_keys", getenv("PERL_PERTURB_KEYS"));
    dp_buf_addf(to, " $dprof_inherited=%lu; $dprof_before_cpu=%" UVuf ";\n",
                (unsigned long)ctx->inherited_count,
                (UV)((double)ctx->before_cpu_us * (double)ctx->writer.hz / 1e6));
    ctx->trailer_at = to->len;
    dp_buf_addf(to, "%*s\n\n%s\n", (int)TRAILER_WIDTH, "", run.opt.tree ? "PART3" : "PART2");
}

/* The file's name: %p, %t and %n filled in, or the process and thread behind
 * it where they are not the first. */
static void file_name(pTHX_ struct dp_buf *to, const struct dpx_ctx *ctx)
{
    bool has_pid = false, has_tid = false;
    SV *script = get_sv("0", 0);
    for (const char *p = run.path; *p; p++) {
        if (p[0] != '%' || !p[1] || !strchr("ptn%", p[1])) {
            dp_buf_addc(to, *p);
            continue;
        }
        const char *name = script && SvPOK(script) ? SvPVX_const(script) : PL_origfilename;
        const char *base = name && strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
        switch (*++p) {
        case 'p': dp_buf_addf(to, "%ld", ctx->pid); has_pid = true; break;
        case 't': dp_buf_addf(to, "%u", ctx->tid); has_tid = true; break;
        case 'n': dp_buf_adds(to, base && *base ? base : "perl"); break;
        default:  dp_buf_addc(to, '%');
        }
    }
    if ((ctx->tid || ctx->forked) && !has_pid)
        dp_buf_addf(to, ".%ld", ctx->pid);
    if (ctx->tid && !has_tid)
        dp_buf_addf(to, ".%u", ctx->tid);
}

/* Opens this process' or thread's file and writes its header. Returns 0 or an
 * error code with the detail in err. */
static int open_file(pTHX_ struct dpx_ctx *ctx, struct dp_err *err)
{
    struct dp_buf text;
    dp_buf_init(&text);
    int flags = run.opt.out ? DP_OUT_KEEP_OLD : DP_OUT_NOFOLLOW | DP_OUT_KEEP_OLD;
    file_name(aTHX_ &text, ctx);
    int rc = dp_outfile_open(&ctx->out, dp_buf_cstr(&text), flags, err);
    if (rc == 0) {
        dp_buf_clear(&text);
        header(aTHX_ &text, ctx);
        rc = text.err ? dp_err_set(err, text.err, "out of memory")
                      : dp_outfile_write(&ctx->out, text.ptr, text.len, err);
    }
    dp_buf_release(&text);
    return rc;
}

/* ---- what survives the process ---- */

void dpx_run_keep_name(struct dpx_ctx *ctx, U32 id)
{
    const struct dp_writer *w = &ctx->writer;
    if (ctx->rec.trip)
        return;                 /* the pieces are the parent's; forked() sees to it */
    size_t at = w->id_names[id].at;
    size_t len = (id + 1 < w->next_id ? w->id_names[id + 1].at : w->names.len) - at;
    if (!ctx->fresh.ptr || len >= ctx->fresh.size - ctx->fresh.used) {
        size_t size = len < NAMES ? NAMES : len + 1;
        ctx->fresh.ptr = dp_live_add(&ctx->live, DP_LIVE_NAMES, size);
        ctx->fresh.size = size;
        ctx->fresh.used = 0;
    }
    if (ctx->fresh.ptr) {
        memcpy(ctx->fresh.ptr + ctx->fresh.used, w->names.ptr + at, len);
        ctx->fresh.used += len;
    }
}

/* Makes the recorder's memory. Returns 0 or DP_E_NOMEM. */
static int open_live(struct dpx_ctx *ctx)
{
    ctx->fresh.ptr = NULL;
    ctx->fresh.size = ctx->fresh.used = 0;
    dp_live_init(&ctx->live, ctx->out.regular && !ctx->out.failed ? ctx->out.path : NULL);
    int rc = dp_rec_open(&ctx->rec, &ctx->live);
    if (rc == 0) {
        memcpy(ctx->rec.state->run, run.run, sizeof ctx->rec.state->run);
        ctx->rec.state->pid = (U64)ctx->pid;
        ctx->rec.state->tid = ctx->tid;
    }
    return rc;
}

/* A window is written: the text has all names now, and has grown. */
static void flushed(void *arg)
{
    struct dpx_ctx *ctx = arg;
    int why = errno;
    if (ctx->fresh.ptr && !ctx->writer.lazy) {
        memset(ctx->fresh.ptr, 0, ctx->fresh.used);
        ctx->fresh.used = 0;
    }
    if (run.opt.limit && ctx->out.size >= run.opt.limit && dp_rec_to_tree(&ctx->rec) == 0) {
        for (struct dpx_frame *f = ctx->frames + 1; f <= ctx->top; f++)
            dp_rec_resume(&ctx->rec, f->runs, &f->call);
        for (U32 id = 1; id < ctx->writer.next_id; id++)
            dpx_run_keep_name(ctx, id);
    }
    errno = why;
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

static void free_ctx(struct dpx_ctx *ctx)
{
    dp_rec_release(&ctx->rec);
    dp_live_release(&ctx->live);
    dp_outfile_close(&ctx->out);
    dp_writer_release(&ctx->writer);
    dp_pool_release(&ctx->names);
    dp_pool_release(&ctx->sites);
    dp_pool_release(&ctx->folds);
    dp_map_release(&ctx->known);
    dp_map_release(&ctx->owners);
    dp_buf_release(&ctx->line);
    dp_buf_release(&ctx->fold);
    dp_mem_free(ctx->fold_counts);
    dp_mem_free(ctx->frames);
    dp_mem_free(ctx->inherited);
    dp_mem_free(ctx);
}

static struct dpx_ctx *new_ctx(void)
{
    struct dpx_ctx *ctx = dp_mem_zalloc(sizeof *ctx);
    if (!ctx)
        return NULL;
    dp_outfile_init(&ctx->out);
    ctx->frames = dp_mem_realloc(NULL, FRAMES, sizeof *ctx->frames);
    ctx->frames_end = ctx->frames + FRAMES;
    if (!ctx->frames || !dpx_clock_choose(&ctx->clock, run.opt.clock)
        || dp_writer_init(&ctx->writer, run.opt.ticks, to_file, ctx) < 0) {
        free_ctx(ctx);
        return NULL;
    }
    /* The bottom frame is no sub's: it matches nothing and never ends. */
    ctx->top = ctx->frames;
    ctx->top->si = NULL;
    ctx->top->key = DPX_KEY(-1, DPX_MULTICALL);
    ctx->top->id = 0;
    ctx->top->serial = 0;
    set_process(ctx);
    return ctx;
}

/* Starts a state's clocks. */
static void start_clocks(struct dpx_ctx *ctx)
{
    struct dp_rec_how how = {
        .words = (size_t)run.opt.buffer,
        .contexts = (size_t)run.opt.contexts,
        .tree = run.opt.tree,
        .ops = run.opt.tree && run.opt.ops ? &ctx->ops : NULL,
        .site = run.opt.callsites ? dpx_name_site : NULL,
    };
    dp_rec_init(&ctx->rec, &how, &ctx->writer, dpx_clock_host(&ctx->clock), &ctx->clock);
    ctx->rec.tripped = tripped;
    ctx->rec.flushed = flushed;
    ctx->rec.arg = ctx;
}

static void enlist(struct dpx_ctx *ctx)
{
    pthread_mutex_lock(&run.lock);
    ctx->tid = run.all ? ++run.tids : 0;
    ctx->next = run.all;
    run.all = ctx;
    pthread_mutex_unlock(&run.lock);
}

/* ---- the end ---- */

/* All that is not written yet, with what the writer still holds. */
static void write_rest(struct dpx_ctx *ctx)
{
    ctx->rec.flushed = NULL;
    dp_writer_finish(&ctx->writer);
    if (ctx->rec.tree) {
        struct dp_buf text;
        struct dp_cct_text how = {
            .ticks_per_stamp = dp_rec_ticks_per_stamp(&ctx->rec),
            .names = &ctx->names,
            .sites = &ctx->sites,
            .ops = ctx->rec.how.ops != NULL,
        };
        dp_buf_init(&text);
        if (!ctx->rec.how.tree)
            dp_buf_adds(&text, "PART3\n");
        int rc = dp_cct_write(&ctx->rec.cct, &how, &text);
        if (rc < 0)
            say("DProf: out of memory; there is no tree in %s", ctx->out.path);
        else
            to_file(ctx, text.ptr, text.len);
        dp_buf_release(&text);
        ctx->writer.sums.user += how.user;
        ctx->writer.sums.sys += how.sys;
        ctx->writer.sums.real += how.real;
    }
    dp_live_remove(&ctx->live);
    ctx->rec.flushed = flushed;
}

static void finish(struct dpx_ctx *ctx)
{
    if (ctx->finished)
        return;
    ctx->finished = true;
    if (ctx->pid != (long)getpid()) {
        ctx->thx = NULL;        /* a child made behind fork()'s back: the parent writes */
        return;
    }
    struct dpx_clock *clock = &ctx->clock;
    const struct dp_rec_host *host = dpx_clock_host(clock);
    U64 now = host->stamp(clock);
    if (ctx->rec.trip)
        tripped(ctx);
    dpx_hook_unwind(ctx, now);
    ctx->thx = NULL;
    dp_rec_flush(&ctx->rec, now);
    write_rest(ctx);
    if (!ctx->out.failed) {
        write_trailer(ctx);
        if (!dp_outfile_is_there(&ctx->out))
            say("DProf: %s was removed while the program ran; there is no profile", ctx->out.path);
    }
    dp_outfile_drop(&ctx->out);
    if (ctx->rec.tree)
        dp_cct_release(&ctx->rec.cct);
    dp_live_release(&ctx->live);
}

void dpx_run_before_exec(struct dpx_ctx *ctx)
{
    struct dp_buf text;
    int why = errno;
    if (ctx->exec_size)
        dpx_run_after_exec(ctx);
    /* A forked child that has recorded nothing leaves nothing. */
    if (ctx->rec.trip)
        return;
    dp_rec_flush(&ctx->rec, dpx_clock_host(&ctx->clock)->stamp(&ctx->clock));
    if (ctx->out.failed)
        return;
    ctx->exec_size = ctx->out.size;
    ctx->exec_pending = ctx->writer.pending;
    ctx->exec_sums = ctx->writer.sums;
    write_rest(ctx);
    dp_buf_init(&text);
    for (const struct dpx_frame *f = ctx->top; f > ctx->frames && !ctx->rec.tree; f--)
        dp_buf_addf(&text, "/ %lx\n", (unsigned long)f->id);
    U64 open_frames = ctx->rec.tree ? 0 : (U64)(ctx->top - ctx->frames);
    if (!text.err && text.len)
        to_file(ctx, text.ptr, text.len);
    dp_buf_release(&text);
    ctx->writer.marks += open_frames;
    write_trailer(ctx);
    ctx->writer.marks -= open_frames;
    /* exec may die, or call subs of a tied value, before it fails: the first event takes
     * the end back. */
    dp_rec_trip(&ctx->rec);
    ctx->rec.left = dpx_clock_host(&ctx->clock)->stamp(&ctx->clock);
    errno = why;
}

void dpx_run_after_exec(struct dpx_ctx *ctx)
{
    int why = errno;
    if (ctx->exec_size) {
        dp_rec_untrip(&ctx->rec);
        dp_outfile_cut(&ctx->out, ctx->exec_size);
        ctx->writer.pending = ctx->exec_pending;
        ctx->writer.sums = ctx->exec_sums;
    }
    ctx->exec_size = 0;
    errno = why;
}

void dpx_run_end(pTHX_ struct dpx_ctx *ctx)
{
    int why = errno;
    finish(ctx);
    set_ctx(aTHX_ &nobody);
    errno = why;
}

/* Runs last in perl_destruct, after the objects of global variables are gone. */
static void at_perl_exit(pTHX_ void *arg)
{
    struct dpx_ctx *ctx = DPX_CTX;
    PERL_UNUSED_ARG(arg);
    if (ctx->thx == DPX_THX)
        dpx_run_end(aTHX_ ctx);
}

/* For a process that ends without perl_destruct, and for threads still
 * running then. */
static void at_exit(void)
{
    for (struct dpx_ctx *ctx = run.all; ctx; ctx = ctx->next)
        finish(ctx);
}

/* ---- fork ---- */

static void before_fork(void)
{
    pthread_mutex_lock(&run.lock);
}

static void after_fork_parent(void)
{
    pthread_mutex_unlock(&run.lock);
}

/* In the child, where only this thread lives on. What the window holds is the
 * parent's; time starts over here. The rest waits for the first event: a child
 * that only execs should not pay for it. */
static void after_fork_child(void)
{
    dTHX;
    struct dpx_ctx *mine = DPX_CTX;
    int why = errno;
    pthread_mutex_init(&run.lock, NULL);
    for (struct dpx_ctx *ctx = run.all; ctx; ctx = ctx->next) {
        dp_outfile_drop(&ctx->out);
        if (ctx != mine || !run.opt.fork) {
            ctx->finished = true;
            ctx->thx = NULL;
        }
        if (ctx->finished)
            continue;
        set_process(ctx);
        ctx->before_cpu_us = 0;
        ctx->exec_size = 0;
        ctx->fork_depth = ctx->top - ctx->frames;
        ctx->forked = true;
        dp_rec_restart(&ctx->rec);
    }
    errno = why;
}

/* Opens the file of a child or a thread, and what goes with it. */
static void open_all(pTHX_ struct dpx_ctx *ctx)
{
    struct dp_err err;
    dp_err_init(&err);
    if (open_file(aTHX_ ctx, &err) < 0)
        say("DProf: %s; process %ld is not profiled, the program goes on", err.message, ctx->pid);
    if (open_live(ctx) < 0) {
        say("DProf: out of memory; process %ld is not profiled", ctx->pid);
        ctx->finished = true;
        ctx->thx = NULL;
    }
}

/* The first event of a child: what runs now began in the parent. */
static void forked(struct dpx_ctx *ctx)
{
    dTHX;
    int why = errno;
    dp_rec_untrip(&ctx->rec);
    size_t n = (size_t)ctx->fork_depth;
    dp_rec_release(&ctx->rec);
    dp_live_release(&ctx->live);
    dp_writer_restart(&ctx->writer);
    uint32_t *ids = dp_mem_realloc(ctx->inherited, n ? n : 1, sizeof *ids);
    if (!ids)
        n = 0;
    else
        ctx->inherited = ids;
    for (size_t i = 0; i < n; i++)
        ids[i] = ctx->frames[i + 1].id = ctx->frames[i + 1].runs;
    ctx->inherited_count = n;
    open_all(aTHX_ ctx);
    for (U32 id = 1; id < ctx->writer.next_id; id++)
        dpx_run_keep_name(ctx, id);
    if (!ctx->rec.tree)
        dp_writer_inherit(&ctx->writer, ctx->inherited, n);
    for (size_t i = 0; i < n && ctx->rec.tree; i++)
        dp_rec_resume(&ctx->rec, ids[i], &ctx->frames[i + 1].call);
    errno = why;
}

/* The first event after a fork or a failed exec. */
static void tripped(void *arg)
{
    struct dpx_ctx *ctx = arg;
    if (ctx->exec_size)
        dpx_run_after_exec(ctx);
    else
        forked(ctx);
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

struct dpx_ctx *dpx_run_other(pTHX)
{
    struct dpx_ctx *parent = DPX_CTX, *ctx = NULL;
    int why = errno;
    if (parent == &nobody)
        return NULL;
    if (parent->thx && run.opt.threads && (ctx = new_ctx()) != NULL) {
        enlist(ctx);
        start_clocks(ctx);
        ctx->thx = DPX_THX;
        set_ctx(aTHX_ ctx);
        open_all(aTHX_ ctx);
        if (ctx->finished)
            ctx = NULL;
    }
    set_ctx(aTHX_ ctx ? ctx : &nobody);
    errno = why;
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

static void read_options(pTHX_ const char *const *items, size_t n)
{
    struct dp_err err;
    struct dpx_clock clock;
    bool tainted = TAINTING_get || getuid() != geteuid() || getgid() != getegid();
    dp_err_init(&err);
    dpx_options_init(&run.opt);
    if (dpx_options_environment(&run.opt, tainted, &err) < 0)
        Perl_croak(aTHX_ "DProf: %s\n", err.message);
    const char *wish = run.opt.clock;
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
        if (dpx_options_take(&run.opt, items[i], &err) < 0)
            Perl_croak(aTHX_ "DProf: %s\n", err.message);
    }
    /* The strings are the caller's and the environment's. */
    run.opt.clock = run.opt.clock ? savepv(run.opt.clock) : NULL;
    run.path = dp_outfile_absolute(run.opt.out ? run.opt.out : "tmon.out");
    if (run.opt.out)
        run.opt.out = run.path;
    if (!dpx_clock_choose(&clock, run.opt.clock))
        Perl_croak(aTHX_ "DProf: clock=%s: there is no such clock here\n", run.opt.clock);
}

static void make_run_id(void)
{
    struct timeval tv;
    gettimeofday(&tv, NULL);
    snprintf(run.run, sizeof run.run, "%lx.%lx.%lx", (unsigned long)tv.tv_sec,
             (unsigned long)tv.tv_usec, (unsigned long)getpid());
}

bool dpx_run_start(pTHX_ const char *const *items, size_t n)
{
    struct dp_err err;
    struct stat st;
    U64 before = cpu_us_so_far();
#ifdef DPX_MULTIPLICITY
    if (dpx_index < 0)
        Perl_my_cxt_init(aTHX_ &dpx_index, sizeof(void *));
#endif
    set_ctx(aTHX_ &nobody);
    PL_perldb = 0;
    dpx_run_clean_env(aTHX);
    forget_sources(aTHX);
    if (fstat(2, &st) == 0) {
        run.stderr_dev = st.st_dev;
        run.stderr_ino = st.st_ino;
    }
    read_options(aTHX_ items, n);
    make_run_id();
    struct dpx_ctx *ctx = new_ctx();
    if (!ctx || !run.path) {
        say("DProf: out of memory; the program is not profiled");
        return false;
    }
    ctx->before_cpu_us = before;
    dp_err_init(&err);
    ctx->rec.how.ops = run.opt.tree && run.opt.ops ? &ctx->ops : NULL;
    int rc = open_file(aTHX_ ctx, &err);
    if (rc == DP_E_ARG) {
        SV *message = newSVpvf("DProf: %s\n", err.message);
        free_ctx(ctx);
        croak_sv(sv_2mortal(message));
    }
    if (rc == 0) {
        start_clocks(ctx);
        rc = open_live(ctx);
    }
    if (rc < 0) {
        say("DProf: %s; the program is not profiled", err.code ? err.message : dp_err_text(rc));
        free_ctx(ctx);
        return false;
    }
    run.tids = 0;
    enlist(ctx);
    perl_atexit(at_perl_exit, NULL);
    atexit(at_exit);
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
    ctx->thx = DPX_THX;
    set_ctx(aTHX_ ctx);
    dpx_hook_install(aTHX_ ctx);
    return true;
}
