/* The file of a process or thread: its name, header and end, and what stands
 * beside it while the process lives. */
#include "dpx_file.h"
#include "dpx_ctx.h"
#include "dpx_events.h"
#include "dpx_heap.h"
#include "dpx_requests.h"
#include "dpx_span_rows.h"
#include "dpx_say.h"
#include "dp_fmt.h"
#include "dp_mem.h"
#include "dp_rec_sample.h"
#include "dp_spool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LINES = 32 * 1024,          /* bytes of a piece of names or places */
    OUTSIDE_MOST = 160,         /* bytes of the names of libraries */
    TRAILER_WIDTH = 640,        /* blanks kept free for the values that are known at the end */
    TRAILER_ROOM = TRAILER_WIDTH + 64,  /* bytes of the blanks and the line behind them in the file,
                                         * packed or not */
    PAGE = 4096
};
#define NO_TREE SIZE_MAX        /* the lines before are not those of a tree */

/* ---- the file ---- */

static void note_unwritten(struct dpx_ctx *ctx, int why);

int dpx_file_sink(void *arg, const char *ptr, size_t len)
{
    struct dpx_ctx *ctx = arg;
    struct dp_err err;
    int why = errno;            /* the program's $! */
    dpx_file_begin(ctx);
    uint64_t before = ctx->out.text;
    dp_err_init(&err);
    int rc = dp_outfile_write(&ctx->out, ptr, len, &err);
    /* Frees the disk space of the file of the pieces, so that the profile can use it. */
    if (rc < 0 && ctx->out.regular && dp_live_detach(&ctx->live)) {
        size_t done = (size_t)(ctx->out.text - before);
        ctx->out.failed = false;
        dp_err_init(&err);
        rc = dp_outfile_write(&ctx->out, ptr + done, len - done, &err);
    }
    if (rc < 0) {
        note_unwritten(ctx, errno);
        dpx_say("DProf: %s; the profile ends here, the program goes on", err.message);
        errno = why;
        return err.code;
    }
    errno = why;
    return 0;
}

/* Appends the assignment $name='value'; with the value quoted for Perl. */
static void add_quoted(struct dp_buf *to, const char *name, const char *value)
{
    dp_buf_addf(to, "$%s=", name);
    dp_fmt_quote(to, value ? value : "", value ? strlen(value) : 0);
    dp_buf_addc(to, ';');
}

/* Appends the names of the libraries whose memory is not counted, if there are any. */
static void add_outside(struct dp_buf *to)
{
    struct dp_buf names;
    dp_buf_init(&names);
    dpx_heap_outside(&names, OUTSIDE_MOST);
    if (names.len) {
        add_quoted(to, "dprof_outside", dp_buf_cstr(&names));
        dp_buf_addc(to, ' ');
    }
    dp_buf_release(&names);
}

/* Writes the last line of the header, as far as it is known. While the recording goes on, pending
 * ticks are not in the file yet, and not in its sums. */
static void add_trailer(struct dp_buf *to, const struct dpx_ctx *ctx, U64 now, bool end)
{
    const struct dp_ticks none = { 0, 0, 0 }, *pending = end ? &none : &ctx->writer.pending;
    uint64_t own_cpu = 0, own_real = 0;
    const struct dp_ticks *sums = &ctx->writer.sums;
    dp_rec_own(&ctx->rec, now, &own_cpu, &own_real);
    dp_buf_addf(to, "$rrun_utime=%" UVuf "; $rrun_stime=%" UVuf "; $rrun_rtime=%" UVuf "; ",
                (UV)(sums->user - pending->user), (UV)(sums->sys - pending->sys),
                (UV)(sums->real - pending->real));
    if (end)
        dp_buf_addf(to, "$total_marks=%" UVuf "; ", (UV)ctx->writer.marks);
    dp_buf_addf(to, "$dprof_own_cpu=%" UVuf "; $dprof_own_real=%" UVuf "; ", (UV)own_cpu,
                (UV)own_real);
    dp_buf_adds(to, "$dprof_clock_zero=");
    dpx_say_real(to, (double)ctx->rec.clock.call_cost / ctx->rec.clock.rate, 1);
    dp_buf_adds(to, "; ");
    if (ctx->rec.marks.statement_cost) {
        dp_buf_adds(to, "$dprof_clock_line=");
        dpx_say_real(to, (double)ctx->rec.marks.statement_cost / ctx->rec.clock.rate, 1);
        dp_buf_adds(to, "; ");
    }
    if (ctx->rec.clock.dropped)
        dp_buf_addf(to, "$dprof_dropped_cpu=%" UVuf "; ",
                    (UV)((double)ctx->rec.clock.dropped / ctx->rec.clock.rate
                          * (double)ctx->writer.hz / 1e9));
    if (dp_rec_idle(&ctx->rec, now))
        dp_buf_addf(to, "$dprof_stopped=%" UVuf "; ",
                    (UV)((double)dp_rec_idle(&ctx->rec, now) / ctx->rec.clock.rate
                         * (double)ctx->writer.hz / 1e9));
    if (ctx->rec.tree && !ctx->rec.how.tree)
        dp_buf_adds(to, "$dprof_limit_reached=1; ");
    if (ctx->runops_taken)
        dp_buf_adds(to, "$dprof_runops_taken=1; ");
    if (ctx->spans.other)
        dp_buf_addf(to, "$dprof_spans_other=%" UVuf "; ", (UV)ctx->spans.other);
    if (ctx->spans.cut)
        dp_buf_addf(to, "$dprof_spans_cut=%" UVuf "; ", (UV)ctx->spans.cut);
    dpx_events_shares(ctx, to);
    if (ctx->events.perf.lost)
        dp_buf_adds(to, "$dprof_events_lost=1; ");
    if (dpx_run.opt.heap)
        add_outside(to);
    if (ctx->rec.tree && ctx->rec.cct.folded)
        dp_buf_addf(to, "$dprof_folded=%" UVuf "; ", (UV)ctx->rec.cct.folded);
    dp_buf_adds(to, end ? "$dprof_complete=1;" : "$dprof_saved=1;");
}

/* Adds the header's end, filled up to a fixed length. */
static void fill_up(struct dp_buf *to)
{
    int blanks = to->len < TRAILER_WIDTH ? TRAILER_WIDTH - (int)to->len : 0;
    dp_buf_addf(to, "%*s\n\n%s\n", blanks, "", dpx_run.opt.tree ? DP_FMT_PART3 : DP_FMT_PART2);
}

/* Writes the trailer over the one in the file, if it fits. end: the recording is complete. */
static void put_trailer(struct dpx_ctx *ctx, struct dp_outfile *out, bool end)
{
    struct dp_buf text;
    dpx_ctx_look_at_loop(ctx);
    dp_buf_init(&text);
    add_trailer(&text, ctx, dpx_clock_host(&ctx->clock)->stamp(&ctx->clock), end);
    if (text.len <= TRAILER_WIDTH) {
        fill_up(&text);
        if (!text.err)
            dp_outfile_patch(out, ctx->file.trailer_at, text.ptr, text.len);
    }
    dp_buf_release(&text);
}

/* Writes to the end of the line that is reserved for the trailer why the rest of the profile could
 * not be written, so that no reader takes a full disk for a program that was killed. What was saved
 * in the line stays. A compressed line can only be replaced as a whole. */
static void note_unwritten(struct dpx_ctx *ctx, int why)
{
    struct dp_buf text, line;
    dp_buf_init(&text);
    dp_buf_init(&line);
    add_quoted(&text, "dprof_unwritten", strerror(why));
    size_t skipped = text.len < TRAILER_WIDTH ? TRAILER_WIDTH - text.len : 0;
    if (ctx->out.gzip)
        dp_buf_addf(&line, "%*s", (int)skipped, "");
    dp_buf_add(&line, text.ptr, text.len);
    if (ctx->out.gzip)
        fill_up(&line);
    if (!text.err && !line.err && skipped && !(ctx->out.gzip && ctx->file.tree_at))
        dp_outfile_patch(&ctx->out, ctx->file.trailer_at + (ctx->out.gzip ? 0 : skipped), line.ptr,
                         line.len);
    dp_buf_release(&line);
    dp_buf_release(&text);
}

void dpx_file_trailer(struct dpx_ctx *ctx)
{
    put_trailer(ctx, &ctx->out, false);
}

const char *dpx_file_script(pTHX)
{
    SV *script = get_sv("0", 0);
    return script && SvPOK(script) ? SvPVX_const(script) : PL_origfilename;
}

/* Appends the file's header as far as it is known now: without the trailer, its last line. */
static void add_header(pTHX_ struct dp_buf *to, struct dpx_ctx *ctx)
{
    const char *script = dpx_run.script ? dpx_run.script : dpx_file_script(aTHX);
    struct dp_buf counters;
    dp_buf_init(&counters);
    dp_buf_adds(to, DP_FMT_MAGIC "\n");
    dp_buf_addf(to, "$hz=%" UVuf ";\n$XS_VERSION='DProf %s';\n", (UV)ctx->writer.hz, XS_VERSION);
    dp_buf_adds(to, "# All values are given in HZ\n"
                    "$over_utime=0; $over_stime=0; $over_rtime=0;\n$over_tests=10000;\n");
    dp_buf_addf(to, "$dprof_format='%s %d'; ", dpx_run.opt.tree ? DP_FMT_TREE : DP_FMT_TRACE,
                dpx_run.opt.tree ? DP_FMT_TREE_VERSION : DP_FMT_TRACE_VERSION);
    add_quoted(to, "dprof_run", dpx_run.run);
    dp_buf_addf(to, " $dprof_pid=%ld; $dprof_ppid=%ld; $dprof_tid=%u;\n",
                ctx->pid, (long)getppid(), ctx->tid);
    if (*dpx_run.of_run) {
        add_quoted(to, "dprof_of_run", dpx_run.of_run);
        dp_buf_addc(to, '\n');
    }
    if (dpx_run.opt.spool)
        dp_buf_addf(to, "$dprof_slice=%" UVuf ";\n", (UV)ctx->slice);
    dp_buf_addf(to, "$dprof_perl='%d.%d.%d'; ", PERL_REVISION, PERL_VERSION, PERL_SUBVERSION);
    add_quoted(to, "dprof_script", script);
    dp_buf_adds(to, " $dprof_start=");
    dpx_say_real(to, ctx->started, 6);
    dp_buf_addf(to, "; $dprof_clock='%s';\n", ctx->clock.name);
    dpx_options_header(&dpx_run.opt, to);
    dp_buf_adds(to, "$dprof_end=1;\n");
    if (dpx_run.opt.lines)
        dp_buf_addf(to, "$dprof_lines='%s';\n",
                    dp_lines_word((enum dp_lines_known)dpx_run.opt.lines));
    if (dpx_line_samples())
        dp_buf_addf(to, "$dprof_line_hz=%" UVuf ";\n", (UV)dpx_run.opt.sample);
    if (dpx_run.only_samples)
        /* and no $dprof_calls: calls are unknown */
        dp_buf_adds(to, "$dprof_unit='s';\n$dprof_when=1;\n");
    const struct dpx_plan *plan = &dpx_run.plan;
    bool ops = dpx_run.opt.tree && dpx_run.opt.ops;
    if (ops || plan->n) {
        dp_buf_adds(&counters, ops ? plan->n ? "ops:ops " : "ops:ops" : "");
        dp_buf_add(&counters, plan->columns.ptr, plan->columns.len);
        add_quoted(to, "dprof_counters", dp_buf_cstr(&counters));
        dp_buf_addc(to, '\n');
    }
    if (plan->missing.len) {
        dp_buf_clear(&counters);
        dp_buf_add(&counters, plan->missing.ptr, plan->missing.len);
        add_quoted(to, "dprof_events_missing", dp_buf_cstr(&counters));
        dp_buf_addc(to, '\n');
    }
    dp_buf_release(&counters);
    add_quoted(to, "dprof_hash_seed", getenv("PERL_HASH_SEED"));
    dp_buf_addc(to, ' ');
    add_quoted(to, "dprof_perturb_keys", getenv("PERL_PERTURB_KEYS"));
    dp_buf_addf(to, " $dprof_inherited=%lu; $dprof_before_cpu=%" UVuf ";\n",
                (unsigned long)ctx->child.inherited,
                (UV)((double)ctx->before_cpu_us * (double)ctx->writer.hz / 1e6));
}

/* Writes the header with a trailer that is blank, and notes the place of the trailer. The trailer
 * is written again while others read. It lies within one page, which the kernel writes in one go
 * even if the process is killed. Returns 0 or a DP_E. */
static int write_header(struct dpx_ctx *ctx, const struct dp_buf *head, struct dp_err *err)
{
    struct dp_buf text;
    dp_buf_init(&text);
    int rc = head->err ? dp_err_set(err, head->err, "out of memory") : 0;
    uint64_t at;
    for (size_t done = 0; rc == 0 && done < head->len;) {
        size_t n = head->len - done < PAGE ? head->len - done : PAGE;
        rc = dp_outfile_write_fixed(&ctx->out, head->ptr + done, n, &at, err);
        done += n;
    }
    size_t left = PAGE - (size_t)(ctx->out.size % PAGE);
    if (rc == 0 && left < TRAILER_ROOM) {
        dp_buf_addf(&text, "%*s", (int)left, "");
        rc = dp_outfile_write_fixed(&ctx->out, text.ptr, text.len, &at, err);
        dp_buf_clear(&text);
    }
    fill_up(&text);
    if (rc == 0 && text.err)
        rc = dp_err_set(err, text.err, "out of memory");
    if (rc == 0)
        rc = dp_outfile_write_fixed(&ctx->out, text.ptr, text.len, &at, err);
    ctx->file.trailer_at = at;
    dp_buf_release(&text);
    return rc;
}

/* Appends the path of the current slice in the spool. */
static void slice_name(struct dp_buf *to, const struct dpx_ctx *ctx)
{
    dp_buf_addf(to, "%s/", dpx_run.path);
    dp_spool_name(to, dpx_run.script);
    dp_buf_addf(to, "-%s-%ld-%u-%" UVuf DP_SPOOL_PART, dpx_run.run, ctx->pid, ctx->tid,
                (UV)ctx->slice);
}

/* Makes the file's name, with %p, %t and %n filled in. Without %p and %t, process and thread are
 * appended if they are not the first: .PID, .PID.TID, and .PID.iN for an interpreter that is no
 * thread. An interpreter with a name of its own needs no number in it. */
static void file_name(pTHX_ struct dp_buf *to, const struct dpx_ctx *ctx)
{
    if (dpx_run.opt.spool) {
        slice_name(to, ctx);
        return;
    }
    bool has_pid = false, has_tid = false;
    for (const char *p = ctx->path ? ctx->path : dpx_run.path; *p; p++) {
        if (p[0] != '%' || !p[1] || !strchr("ptn%", p[1])) {
            dp_buf_addc(to, *p);
            continue;
        }
        const char *name = dpx_file_script(aTHX);
        const char *base = name && strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
        switch (*++p) {
        case 'p': dp_buf_addf(to, "%ld", ctx->pid); has_pid = true; break;
        case 't': dp_buf_addf(to, "%u", ctx->tid); has_tid = true; break;
        case 'n': dp_buf_adds(to, base && *base ? base : "perl"); break;
        default:  dp_buf_addc(to, '%');
        }
    }
    bool numbered = ctx->tid && (ctx->is_thread || !ctx->path || ctx->shares_path);
    if ((numbered || ctx->child.is) && !has_pid)
        dp_buf_addf(to, ".%ld", ctx->pid);
    if (numbered && !has_tid)
        dp_buf_addf(to, ctx->is_thread ? ".%u" : ".i%u", ctx->tid);
}

/* Returns the flags for opening the profile: which links to follow, and whether an old profile is
 * kept. */
static int out_flags(void)
{
    if (dpx_run.opt.spool)
        return DP_OUT_NOFOLLOW
            | (dpx_run.spool_who == DP_DIR_UNNAMED ? DP_OUT_UNNAMED_DIR : 0);
    return dpx_run.opt.out ? DP_OUT_KEEP_OLD : DP_OUT_NOFOLLOW | DP_OUT_KEEP_OLD;
}

/* Creates the file of this name, and writes the header, which was made before: a process killed
 * between the two leaves an empty file. Releases the header. Returns 0 or a DP_E. */
static int create_file(struct dpx_ctx *ctx, const char *name, struct dp_err *err)
{
    int rc = dp_outfile_open(&ctx->out, name, out_flags(), err);
    ctx->out.gzip = ctx->gzip;
    ctx->file.tree_at = 0;
    if (rc == 0)
        rc = write_header(ctx, &ctx->file.head, err);
    dp_buf_release(&ctx->file.head);
    return rc;
}

int dpx_file_open(pTHX_ struct dpx_ctx *ctx, struct dp_err *err)
{
    struct dp_buf text;
    ctx->file.unopened = false;
    dp_buf_init(&text);
    dp_buf_clear(&ctx->file.head);
    add_header(aTHX_ &ctx->file.head, ctx);
    file_name(aTHX_ &text, ctx);
    const char *name = dp_buf_cstr(&text);
    int rc = text.err ? dp_err_set(err, DP_E_NOMEM, "out of memory") : create_file(ctx, name, err);
    dp_buf_release(&text);
    return rc;
}

int dpx_file_prepare(pTHX_ struct dpx_ctx *ctx, struct dp_err *err)
{
    struct dp_buf text;
    dp_buf_init(&text);
    file_name(aTHX_ &text, ctx);
    const char *name = dp_buf_cstr(&text);
    int rc = text.err ? dp_err_set(err, DP_E_NOMEM, "out of memory")
                      : dp_outfile_check(name, out_flags(), err);
    if (rc == 0) {
        ctx->out.path = dp_outfile_absolute(name);
        /* the header is made now: the program may change its $0 and its environment */
        add_header(aTHX_ &ctx->file.head, ctx);
        if (!ctx->out.path || ctx->file.head.err)
            rc = dp_err_set(err, DP_E_NOMEM, "out of memory");
    }
    dp_buf_release(&text);
    ctx->file.unopened = rc == 0;
    return rc;
}

/* The stamps that the recorder has waited between two pairs of readings. */
static U64 stamps_waited(const struct dpx_ctx *ctx, U64 stamps, U64 cpu_ns)
{
    double used = (double)cpu_ns * ctx->rec.clock.rate;
    return (double)stamps > used ? stamps - (U64)used : 0;
}

void dpx_file_begin(struct dpx_ctx *ctx)
{
    const struct dp_rec_host *clock = dpx_clock_host(&ctx->clock);
    struct dp_err err;
    if (!ctx->file.unopened)
        return;
    int why = errno;
    U64 stamp = clock->stamp(&ctx->clock), cpu = clock->cpu_ns(&ctx->clock);
    char *path = ctx->out.path;
    ctx->file.unopened = false;
    dp_err_init(&err);
    if (create_file(ctx, path, &err) < 0) {
        ctx->out.failed = true;
        dpx_say("DProf: %s; the program is not profiled", err.message);
    } else if (ctx->out.regular && ctx->state < DPX_ENDING) {
        dp_live_restore(&ctx->live, ctx->out.path);
    }
    dp_mem_free(path);
    dp_rec_shrink(&ctx->rec, (size_t)dpx_run.opt.buffer);
    cpu = clock->cpu_ns(&ctx->clock) - cpu;
    ctx->rec.clock.cpu_stamp += stamps_waited(ctx, clock->stamp(&ctx->clock) - stamp, cpu);
    errno = why;
}

/* ---- memory that survives the process ---- */

/* Adds a line to the newest piece of its kind, or to a new piece. */
static void keep_line(struct dpx_ctx *ctx, struct dpx_lines *in, enum dp_live_kind kind,
                      const char *ptr, size_t len, const char *end)
{
    size_t all = len + strlen(end);
    ctx->rec.worked = true;
    /* The pieces are the parent's, and begin_child() makes the child's; or recording has given up
     * in the middle of this event, and there are none. */
    if (ctx->state == DPX_BORN || ctx->rec.over)
        return;
    if (!in->ptr || all >= in->size - in->used) {
        size_t size = all < LINES ? LINES : all + 1;
        in->ptr = dp_live_add(&ctx->live, kind, size);
        in->size = size;
        in->used = 0;
    }
    if (in->ptr) {
        memcpy(in->ptr + in->used, ptr, len);
        memcpy(in->ptr + in->used + len, end, all - len);
        in->used += all;
    }
}

void dpx_file_keep_name(struct dpx_ctx *ctx, U32 id)
{
    const struct dp_writer *w = &ctx->writer;
    size_t at = w->id_names[id].at;
    size_t len = (id + 1 < w->next_id ? w->id_names[id + 1].at : w->names.len) - at;
    keep_line(ctx, &ctx->file.fresh, DP_LIVE_NAMES, w->names.ptr + at, len, "");
}

void dpx_file_keep_site(struct dpx_ctx *ctx, U32 site)
{
    const struct dp_name *at = dp_pool_name(&ctx->names.sites, site - 1);
    keep_line(ctx, &ctx->file.fresh_sites, DP_LIVE_SITES, at->ptr, at->len, "\n");
}

/* Prepares the file of pieces beside the profile; none if the profile is no regular file. */
static void init_live(struct dpx_ctx *ctx)
{
    memset(&ctx->file.fresh, 0, sizeof ctx->file.fresh);
    memset(&ctx->file.fresh_sites, 0, sizeof ctx->file.fresh_sites);
    dp_live_init(&ctx->live, ctx->out.regular && !ctx->out.failed ? ctx->out.path : NULL, 0);
    ctx->live.unnamed_dir = dpx_run.opt.spool && dpx_run.spool_who == DP_DIR_UNNAMED;
}

/* Notes run, process and thread in the file of pieces, so that it is known which profile it belongs
 * to. */
static void note_identity(struct dpx_ctx *ctx)
{
    memcpy(ctx->rec.saving.state->run, dpx_run.run, sizeof ctx->rec.saving.state->run);
    ctx->rec.saving.state->pid = (U64)ctx->pid;
    ctx->rec.saving.state->tid = ctx->tid;
}

int dpx_file_open_live(struct dpx_ctx *ctx)
{
    init_live(ctx);
    int rc = dp_rec_open(&ctx->rec, &ctx->live);
    if (rc == 0)
        note_identity(ctx);
    return rc;
}

void dpx_file_keep_all(struct dpx_ctx *ctx)
{
    for (U32 id = 1; id < ctx->writer.next_id; id++)
        dpx_file_keep_name(ctx, id);
    for (U32 site = 1; site <= ctx->names.sites.count; site++)
        dpx_file_keep_site(ctx, site);
}

int dpx_file_renew_live(struct dpx_ctx *ctx)
{
    init_live(ctx);
    int rc = dp_rec_renew(&ctx->rec);
    if (rc == 0) {
        note_identity(ctx);
        dpx_file_keep_all(ctx);
    }
    return rc;
}

/* Called after a window was written: clears the kept names, as the file has all names now, and goes
 * on with a tree if the file has reached its limit. */
void dpx_file_flushed(void *arg)
{
    struct dpx_ctx *ctx = arg;
    int why = errno;
    if (ctx->file.fresh.ptr && !ctx->writer.lazy) {
        memset(ctx->file.fresh.ptr, 0, ctx->file.fresh.used);
        ctx->file.fresh.used = 0;
    }
    if (dpx_run.opt.limit && ctx->out.size >= dpx_run.opt.limit && dp_rec_to_tree(&ctx->rec) == 0) {
        for (struct dpx_frame *f = ctx->frames + 1; f <= ctx->top; f++)
            dp_rec_resume(&ctx->rec, f->runs, &f->call, DP_REC_ELSEWHERE);
        for (U32 id = 1; id < ctx->writer.next_id; id++)
            dpx_file_keep_name(ctx, id);
    }
    errno = why;
}

/* ---- the last lines ---- */

/* Adds the checksums of sources, and the lines that show whether the file is whole, to text. sums:
 * those of all lines; sums[DP_FMT_SUM_LINES] is set for a tree. tree: where the text of a tree
 * begins, or NO_TREE. Returns 0 or a DP_E. */
static int end_text(struct dpx_ctx *ctx, struct dp_buf *text, uint64_t *sums, size_t tree)
{
    /* Statements have their sources in lines of their own. */
    size_t first = dpx_run.opt.lines ? SIZE_MAX : ctx->sourced;
    int rc = dp_lines_write_sources(&ctx->statements, first, tree, text);
    dpx_requests_write(ctx, text);
    if (!ctx->chains.err)
        dp_buf_add(text, ctx->chains.ptr, ctx->chains.len);
    if (tree == NO_TREE)        /* a tree has its own numbers of names */
        dpx_span_write(ctx, text);
    if (tree != NO_TREE && !text->err)
        sums[DP_FMT_SUM_LINES] = dp_fmt_lines(text->ptr + tree, text->len - tree);
    dp_fmt_end(text, sums, tree != NO_TREE);
    return rc < 0 ? rc : text->err;
}

/* Writes the last lines of a trace. */
static void end_trace(struct dpx_ctx *ctx)
{
    struct dp_buf text;
    const struct dp_ticks *t = &ctx->writer.sums;
    uint64_t sums[DP_FMT_SUMS] = {
        [DP_FMT_SUM_MARKS] = ctx->writer.marks,
        [DP_FMT_SUM_USER] = t->user, [DP_FMT_SUM_SYSTEM] = t->sys, [DP_FMT_SUM_REAL] = t->real,
    };
    dp_buf_init(&text);
    if (end_text(ctx, &text, sums, NO_TREE) == 0)
        dpx_file_sink(ctx, text.ptr, text.len);
    dp_buf_release(&text);
}

void dpx_file_end(struct dpx_ctx *ctx)
{
    if (!ctx->rec.tree)
        end_trace(ctx);
    put_trailer(ctx, &ctx->out, true);
}

/* ---- the tree ---- */

/* Writes the tree as it is now to text. Returns 0, DP_E_NOMEM, or DP_E_IO if the pieces were lost
 * by then, so that the text is useless; dpx_life.c reports that to the user. Sets *sums to the sums
 * of its times. */
static int tree_text(struct dpx_ctx *ctx, struct dp_buf *text, struct dp_ticks *sums)
{
    struct dp_cct_text how = {
        .ticks_per_stamp = dp_rec_ticks_per_stamp(&ctx->rec),
        .names = &ctx->names.lines,
        .sites = &ctx->names.sites,
        .lines = ctx->rec.how.lines,
        .line_times = ctx->rec.how.line_times || dpx_line_samples(),
        .when = dp_rec_sample_when(&ctx->rec),
        .ops = ctx->rec.how.ops != NULL,
        .named = ctx->named,
        .rows = ctx->spans.rows,
        .n_rows = ctx->spans.rows_cap,
        .rest = ctx->rest,
    };
    if (!ctx->rec.how.tree)
        dp_buf_adds(text, DP_FMT_PART3 "\n");
    size_t begin = text->len;
    int rc = dp_cct_write(&ctx->rec.cct, &how, text);
    uint64_t all[DP_FMT_SUMS] = {
        [DP_FMT_SUM_CALLS] = how.calls, [DP_FMT_SUM_USER] = how.user,
        [DP_FMT_SUM_SYSTEM] = how.sys, [DP_FMT_SUM_REAL] = how.real,
    };
    if (rc == 0)
        rc = end_text(ctx, text, all, begin);
    sums->user = how.user;
    sums->sys = how.sys;
    sums->real = how.real;
    if (dpx_run.opt.spool)
        ctx->rest = how.rest;
    return rc == 0 && ctx->live.lost ? DP_E_IO : rc;
}

/* Writes a tree to the end of the file, at byte `at`; on a full disk, once more after freeing the
 * space of the pieces. Returns 0 or a DP_E, and leaves what was written. */
static int write_whole(struct dpx_ctx *ctx, const struct dp_buf *text, uint64_t at,
                       struct dp_err *err)
{
    int rc = dp_outfile_write(&ctx->out, text->ptr, text->len, err);
    /* Frees the disk space of the file of the pieces. */
    if (rc == DP_E_IO && dp_live_detach(&ctx->live)) {
        ctx->out.failed = false;
        dp_outfile_cut(&ctx->out, at);
        dp_err_init(err);
        rc = dp_outfile_write(&ctx->out, text->ptr, text->len, err);
    }
    return rc;
}

bool dpx_file_write_tree(struct dpx_ctx *ctx, struct dp_err *err)
{
    struct dp_buf text;
    uint64_t at = ctx->out.size;
    dp_buf_init(&text);
    int rc = tree_text(ctx, &text, &ctx->writer.sums);
    if (rc < 0)
        dp_err_set(err, rc, "out of memory");
    else
        rc = write_whole(ctx, &text, at, err);
    if (rc == 0) {
        put_trailer(ctx, &ctx->out, true);
    } else {
        ctx->out.failed = false;        /* there may be room at the next end of a slice */
        ctx->file.tree_at = 0;
        dp_outfile_cut(&ctx->out, at);
    }
    dp_buf_release(&text);
    return rc == 0;
}

/* Replaces the tree that was saved before by a new file: no reader sees half a tree, and a full
 * disk leaves the old file. Returns false, with the reason in errno, if that failed. */
static bool replace_tree(struct dpx_ctx *ctx, const struct dp_buf *text)
{
    struct dp_outfile twin;
    struct dp_err err;
    dp_err_init(&err);
    uint64_t at = ctx->file.tree_at ? ctx->file.tree_at : ctx->out.size;
    if (dp_outfile_twin(&ctx->out, &twin, at) < 0)
        return false;
    if (dp_outfile_write(&twin, text->ptr, text->len, &err) < 0) {
        dp_outfile_discard(&twin);
        return false;
    }
    put_trailer(ctx, &twin, false);
    if (dp_outfile_replace(&ctx->out, &twin) < 0)
        return false;
    ctx->file.tree_at = at;
    return true;
}

/* Saves the tree behind a trace, in place of the tree of the last save. In between the file has no
 * tree: if the process is killed then, readers find the tree in the pieces, so without pieces
 * nothing is saved. If writing fails, the file ends with the trace, and recording goes on. */
static void append_tree(struct dpx_ctx *ctx, const struct dp_buf *text)
{
    struct dp_err err;
    if (!ctx->out.regular || !ctx->live.path)
        return;
    dp_err_init(&err);
    if (ctx->file.tree_at)
        dp_outfile_cut(&ctx->out, ctx->file.tree_at);
    uint64_t at = ctx->out.size;
    if (dp_outfile_write(&ctx->out, text->ptr, text->len, &err) == 0) {
        ctx->file.tree_at = at;
        put_trailer(ctx, &ctx->out, false);
        return;
    }
    ctx->out.failed = false;    /* there may be room when the program ends */
    dp_outfile_cut(&ctx->out, at);
}

/* Writes the tree as it is now to the file, for readers of a running program. Does nothing if
 * memory is short or the pieces were lost. Meanwhile the writer's sums include the tree's, because
 * the trailer has them. */
static void save_tree(struct dpx_ctx *ctx)
{
    struct dp_buf text;
    struct dp_ticks sums, before = ctx->writer.sums;
    dp_buf_init(&text);
    if (tree_text(ctx, &text, &sums) == 0) {
        ctx->writer.sums.user += sums.user;
        ctx->writer.sums.sys += sums.sys;
        ctx->writer.sums.real += sums.real;
        if (ctx->rec.how.tree)
            replace_tree(ctx, &text);
        else
            append_tree(ctx, &text);
        ctx->writer.sums = before;
    }
    dp_buf_release(&text);
}

void dpx_file_save(void *arg)
{
    struct dpx_ctx *ctx = arg;
    DPX_DTHX(ctx);
    int why = errno;
    dpx_file_begin(ctx);
    if (dpx_run.count_heap)
        dpx_run.count_heap(aTHX_ ctx);
    if (!ctx->out.failed && ctx->out.regular && ctx->pid == (long)getpid()) {
        if (ctx->rec.tree)
            save_tree(ctx);
        else
            put_trailer(ctx, &ctx->out, false);
    }
    errno = why;
}

/* ---- the end ---- */

/* Writes the last tree in place of the saved one, by a new file; if nothing was saved, behind the
 * text so far. If the disk is full, frees the space of the pieces and tries again. If that fails,
 * too, the saved tree stays, and the file is marked as failed, with a message. If a new file is
 * impossible for another reason, or the tree is behind a trace, cuts off the saved tree and writes
 * into the file. */
static void last_tree(struct dpx_ctx *ctx, const struct dp_buf *text)
{
    if (ctx->file.tree_at && ctx->rec.how.tree && !ctx->out.failed) {
        if (replace_tree(ctx, text))
            return;
        int why = errno;
        bool full = why == ENOSPC || why == EDQUOT || why == EFBIG;
        if (full && dp_live_detach(&ctx->live) && replace_tree(ctx, text))
            return;
        if (full) {
            note_unwritten(ctx, why);
            dpx_say("DProf: cannot write %s: %s; the profile is the one that was saved last",
                         ctx->out.path, strerror(why));
            ctx->out.failed = true;
            return;
        }
    }
    if (ctx->file.tree_at)
        dp_outfile_cut(&ctx->out, ctx->file.tree_at);
    ctx->file.tree_at = ctx->out.size;
    dpx_file_sink(ctx, text->ptr, text->len);
}

/* Leaves the file as it was last saved, if ever, since there is no last tree. Reports a lack of
 * memory; other causes have had their message. */
static void no_tree(struct dpx_ctx *ctx, int why)
{
    if (why == DP_E_NOMEM)
        dpx_say("DProf: out of memory; there is no tree in %s", ctx->out.path);
    ctx->out.failed = true;
}

/* Writes everything that is not written yet, including the writer's pending text. */
void dpx_file_rest(struct dpx_ctx *ctx)
{
    int why = errno;
    ctx->rec.saving.flushed = NULL;
    if (ctx->rec.tree) {
        struct dp_buf text;
        struct dp_ticks sums;
        dp_buf_init(&text);
        int rc = tree_text(ctx, &text, &sums);
        ctx->writer.sums.user += sums.user;
        ctx->writer.sums.sys += sums.sys;
        ctx->writer.sums.real += sums.real;
        if (rc == 0)
            last_tree(ctx, &text);
        else
            no_tree(ctx, rc);
        dp_buf_release(&text);
    } else {
        dp_writer_finish(&ctx->writer);
    }
    dp_live_remove(&ctx->live);
    ctx->rec.saving.flushed = dpx_file_flushed;
    errno = why;
}
