/* The beginning of a recording: options, cleaning up after perl, the first interpreter. */
#include "dpx_run.h"
#include "dpx_calibrate.h"
#include "dpx_control.h"
#include "dpx_ctx.h"
#include "dpx_detail.h"
#include "dpx_events.h"
#include "dpx_file.h"
#include "dpx_filter.h"
#include "dpx_frame.h"
#include "dpx_heap.h"
#include "dpx_hook.h"
#include "dpx_life.h"
#include "dpx_order.h"
#include "dpx_perldb.h"
#include "dpx_say.h"
#include "dpx_sample.h"
#include "dpx_signal.h"
#include "dpx_site.h"
#include "dpx_stmt.h"
#include "dpx_undebug.h"
#include "dp_mem.h"
#include "dp_random.h"
#include "dp_spool.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

/* Returns the CPU time of the process in microseconds. */
static U64 cpu_us_so_far(void)
{
    struct rusage ru;
    getrusage(RUSAGE_SELF, &ru);
    return (U64)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000000
         + (U64)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec);
}

/* Removes our own PERL5DB from %ENV. */
static void clean_env(pTHX)
{
    HV *env = GvHV(PL_envgv);
    SV **svp = env ? hv_fetchs(env, "PERL5DB", 0) : NULL;
    if (svp && *svp && SvPOK(*svp)
        && (strnEQ(SvPVX_const(*svp), "use Devel::DProf", 16)
            || strnEQ(SvPVX_const(*svp), "no Devel::DProf", 15)))
        (void)hv_deletes(env, "PERL5DB", G_DISCARD);
}

/* Is this item of the options the beginning of an event whose slash is not closed? The next item
 * then belongs to it. */
static bool is_open(const char *item)
{
    bool open = false;
    for (const char *p = item; *p; p++)
        open ^= *p == '/';
    return open && strnEQ(item, "events=", 7);
}

/* Joins items that perl has split at a comma that separates no options, as in
 * cpu/event=0x3c,umask=1/. The result lives as long as the process. */
static const char *join_items(pTHX_ const char *const *items, size_t n, size_t *i)
{
    const char *item = items[*i];
    while (is_open(item) && *i + 1 < n)
        item = SvPVX(newSVpvf("%s,%s", item, items[++*i]));
    return item;
}

/* Sets the options that sample= decides. Samples make a tree, with statements if this perl has room
 * for their numbers. Beside a tree of calls, samples give the costs of statements; croaks if this
 * perl cannot number them. */
static void plan_samples(pTHX)
{
    struct dpx_options *opt = &dpx_run.opt;
    dpx_run.only_samples = !opt->tree;
    const char *no_lines = dpx_stmt_trouble();
    if (opt->tree) {
        if (no_lines)
            Perl_croak(aTHX_ "DProf: sample= beside a tree needs lines: %s; leave tree out\n",
                       no_lines);
        opt->lines = DP_LINES_TIMES;
        return;
    }
    opt->tree = 1;
    opt->ops = 0;
    opt->lines = no_lines ? DP_LINES_NONE : DP_LINES_TIMES;
}

/* Takes the list of options after those of the environment. Croaks if the user has made a mistake,
 * and prints the help if the user asks for it. */
static void take_items(pTHX_ struct dpx_options *opt, const char *const *items, size_t n,
                       struct dp_err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (strEQ(items[i], "help")) {
            struct dp_buf text;
            dp_buf_init(&text);
            dpx_options_help(&text);
            PerlIO_write(PerlIO_stdout(), text.ptr, text.len);
            dp_buf_release(&text);
            my_exit(0);
        }
        if (dpx_options_take(opt, join_items(aTHX_ items, n, &i), err) < 0)
            Perl_croak(aTHX_ "DProf: %s\n", err->message);
    }
}

enum {
    HEAP_MOST = 128 << 10,      /* bytes: malloc asks the system for more, and gives it back, in
                                 * steps of as many */
    VALUES_MOST = 256           /* more than an arena of perl's has heads or bodies of most types */
};

/* A number below `most`. (G. Marsaglia: Xorshift RNGs, Journal of Statistical Software 8, 2003.) */
static size_t next_number(uint64_t *random, size_t most)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return (size_t)(*random >> 11) % most;
}

/* Takes memory and values, as much as this number says, before the program is compiled, so that all
 * data of the program lies elsewhere; 0 takes nothing. The speed of code depends on where its data
 * lies, and an edit that changes nothing else moves data, too. For comparisons, runs with many
 * layouts show what remains of a difference. */
static void shuffle_memory(pTHX_ uint64_t number)
{
    uint64_t random = number * UINT64_C(0x9e3779b97f4a7c15);    /* small numbers differ enough,
                                                                 * too */
    if (!number)
        return;
    size_t bytes = next_number(&random, HEAP_MOST), heads = next_number(&random, VALUES_MOST);
    size_t strings = next_number(&random, VALUES_MOST), arrays = next_number(&random, VALUES_MOST);
    AV *kept = newAV();
    av_push(kept, newSV(bytes));
    for (size_t i = 0; i < heads; i++)
        av_push(kept, newSV(0));
    for (size_t i = 0; i < strings; i++)
        av_push(kept, newSVpvs(""));
    for (size_t i = 0; i < arrays; i++)
        av_push(kept, newRV_noinc((SV *)newAV()));
    (void)hv_stores(PL_modglobal, "Devel::DProf::layout", (SV *)kept);
}

/* May names in the environment be used? */
static bool is_trusted(pTHX)
{
    return !TAINTING_get && getuid() == geteuid() && getgid() == getegid();
}

/* Sets the options, the plan of counters and the path from the environment and the list. Croaks if
 * the user has made a mistake. Returns false if memory is short. */
static bool read_options(pTHX_ const char *const *items, size_t n)
{
    struct dp_err err;
    dp_err_init(&err);
    dpx_options_init(&dpx_run.opt);
    if (!dpx_run.blocks_only && dpx_options_environment(&dpx_run.opt, !is_trusted(aTHX), &err) < 0)
        Perl_croak(aTHX_ "DProf: %s\n", err.message);
    const char *wish = dpx_run.opt.clock;
    if (!dpx_clock_choose(&dpx_run.clock, wish))
        Perl_croak(aTHX_ "DProf: PERL_DPROF_CLOCK=%s: there is no such clock here\n", wish);
    take_items(aTHX_ &dpx_run.opt, items, n, &err);
    const char *why = dpx_options_clash(&dpx_run.opt);
    if (!why && dpx_run.opt.sample)
        plan_samples(aTHX);
    if (!why && dpx_run.opt.lines)
        why = dpx_stmt_trouble();
    if (why)
        Perl_croak(aTHX_ "DProf: %s\n", why);
    dpx_run.opt.tree |= dpx_run.opt.spool || dpx_run.opt.slice;
    dpx_run.spool_who = dpx_run.opt.spool ? DP_DIR_NAMED : DP_DIR_UNNAMED;
    if (dpx_run.opt.slice && !dpx_run.opt.spool)
        dpx_run.opt.spool = "tmon.spool";
    bool by_statement = dpx_run.opt.lines && !dpx_line_samples();
    dpx_run.site = dpx_run.opt.callsites || by_statement ? dpx_site : NULL;
    dpx_signal_choose(aTHX);
    /* The strings are the caller's and the environment's. */
    if (dpx_options_keep(&dpx_run.opt) < 0)
        return false;
    if (!dpx_filter_check(aTHX_ &err))
        Perl_croak(aTHX_ "DProf: %s\n", err.message);
    if (dpx_detail_choose(dpx_run.opt.detail, &err) < 0)
        Perl_croak(aTHX_ "DProf: %s\n", err.message);
    int rc = dpx_events_plan(aTHX_ &dpx_run.plan, dpx_run.opt.events, &err);
    if (rc == DP_E_NOMEM)
        return false;
    if (rc < 0)
        Perl_croak(aTHX_ "DProf: %s\n", err.message);
    if (dpx_run.only_samples && dpx_run.plan.ops)
        Perl_croak(aTHX_ "DProf: sample= cannot count ops, which needs each of them\n");
    const char *path = dpx_run.opt.spool ? dpx_run.opt.spool
                       : dpx_run.opt.out ? dpx_run.opt.out : "tmon.out";
    dpx_run.path = dp_outfile_absolute(path);
    if (dpx_run.opt.out) {
        dp_mem_free((char *)dpx_run.opt.out);
        dpx_run.opt.out = dpx_run.path;
    }
    if (!dpx_clock_choose(&dpx_run.clock, dpx_run.opt.clock))
        Perl_croak(aTHX_ "DProf: clock=%s: there is no such clock here\n", dpx_run.opt.clock);
    dpx_run.clock.cost = dpx_run.only_samples ? NULL : &dpx_run.cost;
    dpx_run.clock.measure = dpx_calibrate;
    dpx_run.clock.reads_once = dpx_run.opt.lines == DP_LINES_TIMES && !dpx_line_samples()
                               && dpx_run.clock.kind == DPX_CLOCK_COUNTER
                               && dpx_run.plan.n <= dpx_run.plan.n_own;
    shuffle_memory(aTHX_ dpx_run.opt.layout);
    return true;
}

/* Makes 128 random bits: in containers that start in the same second, times and process numbers are
 * the same. If the system gives no random bytes, time and process number must do. */
static void make_run_id(void)
{
    int why = errno;
    struct timeval tv;
    unsigned char id[16];
    char *to = dpx_run.run;
    if (dp_random(id, sizeof id, DP_RANDOM_ALL)) {
        for (size_t i = 0; i < sizeof id; i++)
            to += sprintf(to, "%02x", id[i]);
    } else {
        gettimeofday(&tv, NULL);
        snprintf(to, sizeof dpx_run.run, "%lx.%lx.%lx", (unsigned long)tv.tv_sec,
                 (unsigned long)tv.tv_usec, (unsigned long)getpid());
    }
    errno = why;
}

/* Sets a variable of the environment, which %ENV does not show. */
static void set_hidden(pTHX_ const char *name, const char *value)
{
    HV *env = get_hv("ENV", 0);
    I32 len = (I32)strlen(name);
    if (env && hv_exists(env, name, len))
        (void)hv_delete(env, name, len, G_DISCARD);     /* also from the environment */
    SV *sv = newSVpv(value, 0);
    sv_magic(sv, NULL, PERL_MAGIC_envelem, name, len);
    SvSETMAGIC(sv);
    SvREFCNT_dec(sv);
}

/* Takes the run of the perl, or tool, that has started this process from the environment. Perls
 * that this process starts get the same one, if they record. */
static void join_run(pTHX)
{
    const char *of = is_trusted(aTHX) ? getenv("PERL_DPROF_RUN") : NULL;
    size_t len = of ? strlen(of) : 0;
    if (len && len < sizeof dpx_run.of_run && strspn(of, "0123456789abcdef.") == len)
        memcpy(dpx_run.of_run, of, len + 1);
    if (!dpx_run.blocks_only && !dpx_run.self_sampling && dpx_perldb_goes_on())
        set_hidden(aTHX_ "PERL_DPROF_RUN", *dpx_run.of_run ? dpx_run.of_run : dpx_run.run);
}

/* Says why nothing can be recorded; if only blocks are recorded, by an exception. Returns false. */
static bool refuse_recording(pTHX_ const char *why)
{
    if (dpx_run.blocks_only)
        Perl_croak(aTHX_ "DProf: %s\n", why);
    dpx_say("DProf: %s; the program is not profiled", why);
    return false;
}

/* Will no program run? It may only be compiled (-c), or perl may show its configuration (-V, for
 * which perl has a program in the place of the script). */
static bool runs_nothing(pTHX)
{
    if (PL_minus_c)
        return true;
    SV *line = PL_parser ? PL_parser->linestr : NULL;
    return PL_origfilename && strEQ(PL_origfilename, BIT_BUCKET) && line && SvPOK(line)
        && strstr(SvPVX_const(line), "use Config; Config::");
}

/* Makes the directory of the slices, and keeps the name that their names begin with: the program
 * may change its $0. Returns 0 or a DP_E. */
static int make_spool(pTHX_ struct dp_err *err)
{
    const char *name = dpx_file_script(aTHX);
    dpx_run.script = dp_mem_alloc(strlen(name) + 1);
    if (!dpx_run.script)
        return DP_E_NOMEM;
    strcpy(dpx_run.script, name);
    return dp_spool_make(dpx_run.path, dpx_run.spool_who, err);
}

/* Adds the items without out=, which alone is each interpreter's own. */
static void add_shared(struct dp_buf *to, const char *const *items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strnEQ(items[i], "out=", 4))
            dp_buf_addf(to, "%s%s", to->len ? "," : "", items[i]);
}

/* Says that the options of a later interpreter are ignored if they differ: the first interpreter
 * has set those of the process. */
static void compare_items(const char *const *items, size_t n)
{
    struct dp_buf own;
    dp_buf_init(&own);
    add_shared(&own, items, n);
    if (strNE(dp_buf_cstr(&own), dp_buf_cstr(&dpx_run.items)))
        dpx_say("DProf: the first interpreter of this process has the options '%s'; those of "
                "another one, '%s', are ignored", dp_buf_cstr(&dpx_run.items), dp_buf_cstr(&own));
    dp_buf_release(&own);
}

/* Sets what the first interpreter decides for all: hooks, clock and options of the process. Returns
 * false if memory is short. */
static bool begin_process(pTHX_ const char *const *items, size_t n)
{
    struct stat st;
    if (fstat(2, &st) == 0) {
        dpx_run.stderr_dev = st.st_dev;
        dpx_run.stderr_ino = st.st_ino;
    }
    bool enough = read_options(aTHX_ items, n);
    make_run_id();
    join_run(aTHX);
    dpx_signal_install();
    dpx_run.tids = 0;
    dp_buf_init(&dpx_run.items);
    add_shared(&dpx_run.items, items, n);
    return enough && dpx_run.path;
}

/* Finds a name that an interpreter has had before, or adds it; path is kept or freed. Names live as
 * long as the process, since threads share them. NULL: out of memory. again: whether the name was
 * there. */
static const char *keep_path(char *path, bool *again)
{
    struct dpx_path *p;
    pthread_mutex_lock(&dpx_run.lock);
    for (p = dpx_run.paths; p && strNE(p->path, path); p = p->next)
        ;
    *again = p != NULL;
    if (!p && (p = dp_mem_alloc(sizeof *p)) != NULL) {
        *p = (struct dpx_path){ dpx_run.paths, path };
        dpx_run.paths = p;
        path = NULL;
    }
    pthread_mutex_unlock(&dpx_run.lock);
    dp_mem_free(path);
    return p ? p->path : NULL;
}

/* Reads the items of an interpreter after the first one, which records in the process's way, but in
 * a file of its own. *path: the name that its items have for that file; NULL: none. Croaks if an
 * option is wrong. Returns false if memory is short. */
static bool read_own_path(pTHX_ const char *const *items, size_t n, const char **path, bool *again)
{
    struct dpx_options opt;
    struct dp_err err;
    dp_err_init(&err);
    dpx_options_init(&opt);
    take_items(aTHX_ &opt, items, n, &err);
    compare_items(items, n);
    if (!opt.out || dpx_run.opt.spool)
        return true;
    char *own = dp_outfile_absolute(opt.out);
    if (!own || strEQ(own, dpx_run.path)) {
        dp_mem_free(own);
        return own != NULL;
    }
    *path = keep_path(own, again);
    return *path != NULL;
}

/* Makes the file, or prepares it for later. Croaks, after freeing the state, if the user has named
 * a file that must not be written. Returns 0 or another DP_E. */
static int prepare_file(pTHX_ struct dpx_ctx *ctx, bool first, struct dp_err *err)
{
    int rc = first && dpx_run.opt.spool ? make_spool(aTHX_ err) : 0;
    if (rc == 0)
        rc = dpx_run.blocks_only ? dpx_file_open(aTHX_ ctx, err) : dpx_file_prepare(aTHX_ ctx, err);
    if (rc == DP_E_ARG) {
        if (first)
            dpx_signal_restore();
        SV *message = newSVpvf("DProf: %s\n", err->message);
        dpx_life_free(ctx);
        croak_sv(sv_2mortal(message));
    }
    return rc;
}

/* Begins the recording of a state whose file and clocks are ready: installs the hooks. Returns
 * true. If samples cannot be taken, the state is gone again, and the result of refuse_recording()
 * is returned. */
static bool begin_recording(pTHX_ struct dpx_ctx *ctx)
{
    struct dp_err err;
    if (!dpx_run.begun)
        dpx_life_watch();
    if (dpx_run.begun)          /* the last interpreter may have ended before this one began */
        dpx_events_watch_heap(&dpx_run.plan);
    dpx_run.begun = true;
    dpx_filter_init(aTHX_ &ctx->names.filter);
    dpx_life_begin(aTHX_ ctx);
    ctx->stage = PL_phase;
    dpx_control_begin(ctx);
    dpx_hook_install(aTHX_ ctx);
    dp_err_init(&err);
    if (dpx_run.opt.sample && !dpx_sample_install(aTHX_ ctx, &err)) {
        dpx_life_forget(aTHX_ ctx);
        return refuse_recording(aTHX_ err.message);
    }
    dpx_signal_follow(aTHX);
    if (dpx_run.self_sampling)
        dpx_control_stage(aTHX_ ctx);
    return true;
}

/* Begins the recording of this interpreter. The first interpreter's items have the options of the
 * process; those of a later one give the path of its file at most. Returns false if there is
 * nothing to record; if it cannot be recorded, the result of refuse_recording(). */
static bool start_recording(pTHX_ const char *const *items, size_t n)
{
    struct dp_err err;
    bool first = !dpx_run.begun;
    U64 before = cpu_us_so_far();
    dpx_life_join(aTHX);
    if (dpx_run.off || (!dpx_run.blocks_only && runs_nothing(aTHX)))
        return false;
    const char *path = NULL;
    bool again = false;
    bool enough = first ? begin_process(aTHX_ items, n)
                        : read_own_path(aTHX_ items, n, &path, &again);
    struct dpx_ctx *ctx = enough ? dpx_life_new() : NULL;
    if (!ctx)
        return refuse_recording(aTHX_ "out of memory");
    ctx->path = path;
    ctx->shares_path = again;
    ctx->before_cpu_us = first ? before : 0;
    dpx_ctx_enlist(ctx);
    dp_err_init(&err);
    int rc = prepare_file(aTHX_ ctx, first, &err);
    if (rc == 0) {
        dpx_events_open(aTHX_ ctx);
        dpx_life_start_clocks(ctx);
        rc = dpx_file_open_live(ctx);
    }
    if (rc < 0) {
        dpx_life_free(ctx);
        return refuse_recording(aTHX_ err.code ? err.message : dp_err_text(rc));
    }
    return begin_recording(aTHX_ ctx);
}

bool dpx_run_start(pTHX_ const char *const *items, size_t n)
{
    struct dpx_order order;
    bool started = false;
    dpx_order_note(aTHX_ &order);
    dpx_undebug(aTHX);
    dpx_perldb_install(aTHX);           /* other interpreters do not find PERL5DB any more */
    clean_env(aTHX);
    if (dpx_run.begun && dpx_run.blocks_only)
        dpx_say("DProf: this process records blocks alone; this interpreter is not profiled");
    else
        started = start_recording(aTHX_ items, n);
    dpx_order_restore(aTHX_ &order);
    return started;
}

/* Does this interpreter record already, or is it a thread of one that may? */
static bool has_recorder(pTHX) { return dpx_run.all && dpx_ctx_has_joined(aTHX); }

void dpx_run_start_sampling(pTHX_ const char *const *items, size_t n)
{
    if (has_recorder(aTHX) || (dpx_run.begun && dpx_run.blocks_only))
        return;
    dpx_run.self_sampling |= !dpx_run.begun;
    start_recording(aTHX_ items, n);
}

void dpx_run_start_blocks(pTHX_ const char *const *items, size_t n)
{
    if (has_recorder(aTHX) || (dpx_run.begun && !dpx_run.blocks_only))
        return;
    dpx_run.blocks_only = true;
    start_recording(aTHX_ items, n);
    dpx_ctx_show(aTHX_ NULL);
}

/* ---- blocks ---- */

/* Blocks: stretches of a program that Test::DProf measures alone. The recorder is the one that -d
 * starts, with the same hooks. Each block has a phase of its own. If the whole program is recorded,
 * a block is a part of that recording. If nothing else is recorded (dpx_run.blocks_only), the hooks
 * see between blocks the state of an interpreter that does not record, so that they return at once
 * (2,000,000 calls: 0.143 s, and 0.14 without the module). A block does not know the frames that
 * ran before it, and ends the frames that are left over at its end.
 *
 * A run loop counts ops in the state that the hooks saw when the loop began. A block is called from
 * C, and so gets a run loop of its own, below the XS sub `Devel::DProf::_block`. The block's
 * profile is cut out of the whole one on demand (dp_prof_take): it has what that sub called in that
 * phase, in all files of the run. So forked children and threads need no code of their own, and a
 * program that is recorded as a whole has its blocks, too. */

bool dpx_run_block_begin(pTHX_ const char *name, size_t len)
{
    struct dpx_ctx *ctx = dpx_life_known(aTHX);
    const struct dpx_phase *phase = ctx && !ctx->block.runs ? dpx_control_phase(name, len) : NULL;
    int why = errno;
    if (!phase)
        return false;
    if (dpx_run.blocks_only) {
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

void dpx_run_block_end(pTHX)
{
    struct dpx_ctx *ctx = dpx_life_known(aTHX);
    int why = errno;
    if (!ctx || !ctx->block.runs)
        return;
    U64 now = dpx_ctx_arrive(ctx);
    if (dpx_run.blocks_only)
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
    if (dpx_run.blocks_only)
        dpx_ctx_show(aTHX_ NULL);
    errno = why;
}
