/* Writes Chrome's trace event format (JSON), which Perfetto opens: each call of traces with its
 * time, printed as the files are read. Memory grows with names and depth, not with calls.
 *
 * A call is a complete event (X), printed when it has ended. Readers sort these events by time;
 * among those that begin together, the longest comes first. If a call and its caller also end
 * together, their order in the file decides. So calls that end together wait until time passes, and
 * the outermost is printed first. */
#include "dp_export.h"
#include "dp_char.h"
#include "dp_err.h"
#include "dp_file.h"
#include "dp_mem.h"
#include "dp_num.h"
#include "dp_prof.h"
#include "dp_subs.h"
#include "dp_table.h"
#include "dp_window.h"

#include <string.h>

enum { NANO = 1000000000, FRACTION = 1000, PREFIX = 96 };

/* A running call. It continues, and does not count as a call, if it began earlier: in the parent
 * process, before recording stopped or another coroutine ran, or outside of the shown ranges. */
struct slice {
    uint64_t start;             /* nanoseconds */
    uint32_t sub;
    bool goes_on;
};

/* The printed form of a sub. */
struct tail {
    const char *ptr;            /* NULL: not made yet */
    size_t len;
    bool shown;
};

struct track { uint64_t pid, tid; };

struct chrome {
    const struct dp_stacks_printing *p;
    const struct dp_export_how *how;
    struct dp_sink *out;
    enum dp_metric time;
    bool begun;                 /* something has been printed */
    struct dp_window *window;   /* or NULL */
    struct track *tracks;       /* one for each file so far */
    size_t n_tracks, tracks_cap;
    uint64_t origin;            /* start of the first process: nanoseconds since 1970 */
    bool has_origin;
    struct dp_buf text;
    /* of the current file */
    struct dp_file file;
    struct dp_subs subs;
    struct dp_pool texts;
    struct tail *tails;         /* by sub */
    size_t tails_cap;
    char prefix[PREFIX];        /* of the file's calls */
    size_t prefix_len;
    struct slice *stack;
    size_t depth, stack_cap;
    struct slice *ended;        /* calls that have ended now, innermost first; all took time */
    size_t n_ended, ended_cap;
    uint64_t now, real;         /* ticks since the file's beginning */
    uint64_t offset, at;        /* nanoseconds: of the file's beginning, of now */
    uint64_t per_tick;          /* nanoseconds; 0: not a whole number */
    size_t edge;                /* number of the next beginning or end of a range */
    bool in_window, in_phase, starting, over;
    bool visible;               /* the passing time is shown */
};

/* ---- printing ---- */

/* Writes what separates an event from the one before it or, before the first one, the beginning of
 * the file. */
static void begin_event(struct chrome *c)
{
    dp_sink_adds(c->out, c->begun ? ",\n" : "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    c->begun = true;
}

/* Writes nanoseconds as microseconds with three decimals. */
static char *put_time(char *to, uint64_t ns)
{
    to = dp_buf_putu(to, ns / FRACTION);
    *to++ = '.';
    return dp_buf_putd(to, ns % FRACTION, 3);
}

/* Writes a call that has ended now, from its start to c->at. A call that began earlier has the
 * category goes_on: it is no new call. */
static void print_slice(struct chrome *c, const struct slice *s)
{
    static const char dur[] = ",\"dur\":", plain[] = "\"}", goes_on[] = ",goes_on\"}";
    char head[PREFIX + sizeof dur + 2 * (DP_BUF_DIGITS + 4)], *to = head + c->prefix_len;
    const struct tail *tail = &c->tails[s->sub];
    memcpy(head, c->prefix, c->prefix_len);
    to = put_time(to, s->start);
    memcpy(to, dur, sizeof dur - 1);
    to = put_time(to + sizeof dur - 1, c->at - s->start);
    dp_sink_add(c->out, head, (size_t)(to - head));
    dp_sink_add(c->out, tail->ptr, tail->len);
    if (s->goes_on)
        dp_sink_add(c->out, goes_on, sizeof goes_on - 1);
    else
        dp_sink_add(c->out, plain, sizeof plain - 1);
    c->p->out->lines++;
}

/* Ends a call, or its visible part, now. A call that took time waits in c->ended until time passes,
 * for the order of calls that end together; a call that took none is printed at once. */
static int end_slice(struct chrome *c, const struct slice *s)
{
    if (!c->tails[s->sub].shown)
        return 0;
    if (s->start == c->at) {
        print_slice(c, s);
        return 0;
    }
    if (dp_mem_grow((void **)&c->ended, &c->ended_cap, c->n_ended + 1, sizeof *c->ended) < 0)
        return DP_E_NOMEM;
    c->ended[c->n_ended++] = *s;
    return 0;
}

/* Prints the calls that have ended at c->at, the outermost first. */
static void print_ended(struct chrome *c)
{
    while (c->n_ended)
        print_slice(c, &c->ended[--c->n_ended]);
}

/* Begins an event of the current track; kind: the format's letter, such as M for metadata. */
static void put_event(struct chrome *c, char kind)
{
    const struct track *track = &c->tracks[c->n_tracks - 1];
    begin_event(c);
    dp_sink_addf(c->out, "{\"ph\":\"%c\",\"pid\":%llu,\"tid\":%llu,", kind,
                 (unsigned long long)track->pid, (unsigned long long)track->tid);
}

/* Names a track. speedscope requires a time for every event. */
static int name_track(struct chrome *c, const char *what, const char *name)
{
    dp_buf_clear(&c->text);
    dp_json_string(&c->text, name, strlen(name));
    if (c->text.err)
        return c->text.err;
    put_event(c, 'M');
    dp_sink_addf(c->out, "\"ts\":0,\"name\":\"%s\",\"args\":{\"name\":", what);
    dp_sink_add(c->out, c->text.ptr, c->text.len);
    dp_sink_adds(c->out, "}}");
    return 0;
}

/* Writes an event without duration where a phase of the program begins; sub: the phase's number
 * among the subs. */
static int print_phase(struct chrome *c, uint32_t sub)
{
    char time[DP_BUF_DIGITS + 4];
    const struct dp_name *name = dp_subs_text(&c->subs, c->subs.subs[sub].name);
    dp_buf_clear(&c->text);
    dp_json_string(&c->text, name->ptr, name->len);
    if (c->text.err)
        return c->text.err;
    put_event(c, 'i');
    dp_sink_adds(c->out, "\"s\":\"t\",\"ts\":");
    dp_sink_add(c->out, time, (size_t)(put_time(time, c->at) - time));
    dp_sink_adds(c->out, ",\"name\":");
    dp_sink_add(c->out, c->text.ptr, c->text.len);
    dp_sink_adds(c->out, ",\"cat\":\"phase\"}");
    return 0;
}

/* ---- time ---- */

/* Sets the time to `now`, in ticks since the file's beginning, and converts it to nanoseconds.
 * Calls that waited for time to pass are printed. */
static void move_to(struct chrome *c, uint64_t now)
{
    uint64_t ns;
    if (now == c->now)
        return;
    if (DP_LIKELY(c->per_tick))
        ns = dp_count_scale(now, c->per_tick);
    else if (!dp_num_scale(now, NANO, c->file.head.hz, &ns))
        ns = DP_LIMIT_COUNT;
    ns = dp_count_add(c->offset, ns);
    if (ns != c->at)
        print_ended(c);
    c->now = now;
    c->at = ns;
}

/* Starts or stops showing time. Running calls are shown from here on, or up to here. */
static int settle_visibility(struct chrome *c)
{
    bool visible = c->in_window && c->in_phase && !c->starting && !c->over;
    int rc = 0;
    if (visible == c->visible)
        return 0;
    c->visible = visible;
    for (size_t k = c->depth; k-- && rc == 0;) {
        if (!visible)
            rc = end_slice(c, &c->stack[k]);
        c->stack[k].start = c->at;
        c->stack[k].goes_on = true;
    }
    return rc;
}

/* The real ticks since the file's beginning at which the next range begins or ends; even numbers of
 * edges are beginnings. */
static uint64_t edge_at(const struct chrome *c)
{
    const struct dp_window *w = c->window;
    return c->edge & 1 ? w->to[c->edge / 2] : w->from[c->edge / 2];
}

/* Begins and ends ranges within the next stretch: ticks of the shown time, and `passed` ticks of
 * real time. */
static int cross_edges(struct chrome *c, uint64_t ticks, uint64_t passed)
{
    uint64_t before = c->now;
    int rc = 0;
    while (rc == 0 && c->edge < 2 * c->window->n && edge_at(c) <= c->real + passed) {
        uint64_t part = edge_at(c) > c->real ? edge_at(c) - c->real : 0;
        move_to(c, before + (part ? dp_num_mul_div(ticks, part, passed) : 0));
        c->in_window = !(c->edge++ & 1);
        rc = settle_visibility(c);
    }
    return rc;
}

/* Handles passing time. Ranges refer to the times in the file, including the classic recorder's
 * cost. */
static int pass_time(struct chrome *c, struct dp_event *ev, struct dp_err *err)
{
    uint64_t passed = ev->t[DP_REAL], before = c->now;
    dp_file_subtract_cost(&c->file, ev, 1);
    uint64_t ticks = dp_prof_ticks(ev->t, c->time);
    int rc = DP_UNLIKELY(c->window != NULL) ? cross_edges(c, ticks, passed) : 0;
    if (rc < 0)
        return rc;
    if (before + ticks >= DP_LIMIT_TOTAL || c->real + passed >= DP_LIMIT_TOTAL)
        return dp_err_set(err, DP_E_LIMIT, "the times add up to more than fits");
    c->real += passed;
    move_to(c, before + ticks);
    return 0;
}

/* ---- events ---- */

/* Begins a call now. A call that the process inherited from its parent, or that begins outside of
 * the shown time, is marked as going on, and is not counted. */
static int push_call(struct chrome *c, uint32_t sub)
{
    bool inherited = c->file.inherited;
    if (c->depth >= DP_LIMIT_DEPTH)
        return DP_E_LIMIT;
    if (DP_UNLIKELY(c->depth == c->stack_cap)
        && dp_mem_grow((void **)&c->stack, &c->stack_cap, c->depth + 1, sizeof *c->stack) < 0)
        return DP_E_NOMEM;
    c->file.inherited -= inherited;
    c->stack[c->depth++] = (struct slice){ c->at, sub, inherited || !c->visible };
    return 0;
}

/* Ends the innermost call. In a window or phase that is not shown, the call is not printed. */
static int pop_call(struct chrome *c, struct dp_err *err)
{
    if (c->depth == 0)
        return c->file.force ? 0
            : dp_err_set(err, DP_E_SYNTAX, "Garbled profile, missing an enter time stamp");
    c->depth--;
    return c->visible ? end_slice(c, &c->stack[c->depth]) : 0;
}

/* Begins a phase of the program. If options show one phase only, or leave the startup out, the
 * shown time may begin or end here. */
static int begin_phase(struct chrome *c, uint32_t sub)
{
    const struct dp_name *name = dp_subs_text(&c->subs, c->subs.subs[sub].name);
    const char *only = c->how->stacks.phase;
    bool is_startup = name->len == 5 && memcmp(name->ptr, "BEGIN", 5) == 0;
    c->in_phase = !only || (name->len == strlen(only) && memcmp(name->ptr, only, name->len) == 0);
    c->starting = c->how->main && is_startup;
    int rc = settle_visibility(c);
    return rc == 0 && c->visible ? print_phase(c, sub) : rc;
}

/* Handles an event: first the time that passed before it, then the call, phase or note. DP_OP_REST
 * is time after the last mark, which belongs to no call. */
static int take_event(struct chrome *c, struct dp_event *ev, struct dp_err *err)
{
    int rc = 0;
    if (DP_UNLIKELY(ev->op == DP_OP_REST)) {
        c->over = true;
        rc = settle_visibility(c);
    }
    if (rc == 0)
        rc = pass_time(c, ev, err);
    if (rc < 0)
        return rc;
    switch (ev->op) {
    case DP_OP_ENTER:
        return push_call(c, ev->sub);
    case DP_OP_LEAVE: case DP_OP_UNWIND:
        return pop_call(c, err);
    case DP_OP_GOTO:
        rc = pop_call(c, err);
        return rc < 0 ? rc : push_call(c, ev->sub);
    case DP_OP_PHASE:
        return begin_phase(c, ev->sub);
    case DP_OP_RESUME:
        c->file.inherited = ev->sub;
    }
    return 0;
}

/* Handles a batch of events for the reader; chrome's format has no counters. */
static int on_events(void *ctx, struct dp_event *ev, uint64_t *counts, size_t n, size_t *bad,
                     struct dp_err *err)
{
    struct chrome *c = ctx;
    (void)counts;
    for (size_t i = 0; i < n; i++) {
        int rc = take_event(c, &ev[i], err);
        if (DP_UNLIKELY(rc < 0 || c->out->err)) {
            *bad = i;
            return rc < 0 ? rc : c->out->err;
        }
    }
    return 0;
}

/* ---- subs ---- */

/* Asks the host whether its filters show a sub. Returns 1, 0, or a negative DP_E. */
static int is_shown(const struct chrome *c, const char *label, size_t len)
{
    const struct dp_stacks_job *job = c->p->job;
    return job->shown ? job->shown(job->ctx, label, len) : 1;
}

/* Appends the kind of a span as a category. Commas separate categories, and quotes would end the
 * string. */
static void put_kind(struct dp_buf *to, const struct dp_name *kind)
{
    for (size_t i = 0; i < kind->len; i++)
        dp_buf_addc(to, dp_is_word(kind->ptr[i]) ? kind->ptr[i] : '_');
}

/* Makes the printed form of a sub: the end of its events, from the name on. It is made once for
 * each sub, as calls are many. A host's error is returned as DP_E_HOST. */
static int make_tail(struct chrome *c, uint32_t n, struct tail *tail)
{
    struct dp_buf label, stripped;
    int shown = 0;
    dp_buf_init(&label);
    dp_buf_init(&stripped);
    dp_subs_label(&c->subs, n, c->how->stacks.pair.label_flags, &label);
    struct dp_name name = { label.len ? label.ptr : "", label.len };
    name = dp_stacks_stripped(&c->how->stacks, name, &stripped);
    bool ok = !label.err && !stripped.err;
    if (ok)
        shown = is_shown(c, name.ptr, name.len);
    dp_buf_clear(&c->text);
    dp_buf_adds(&c->text, ",\"name\":");
    dp_json_string(&c->text, name.ptr, ok ? name.len : 0);
    dp_buf_adds(&c->text, ",\"cat\":\"");
    if (c->subs.subs[n].span)
        put_kind(&c->text, dp_subs_text(&c->subs, c->subs.subs[n].package));
    else
        dp_buf_adds(&c->text, "perl");
    uint32_t text = ok && !c->text.err
                        ? dp_pool_intern(&c->texts, c->text.ptr, c->text.len) : DP_MAP_NONE;
    dp_buf_release(&label);
    dp_buf_release(&stripped);
    if (text == DP_MAP_NONE)
        return DP_E_NOMEM;
    const struct dp_name *made = dp_pool_name(&c->texts, text);
    *tail = (struct tail){ made->ptr, made->len, shown > 0 };
    return shown < 0 ? DP_E_HOST : 0;
}

/* Takes a sub of the trace, and makes the part of its events that is the same in all calls. Returns
 * the sub's number, or a DP_E. */
static int64_t on_sub(void *ctx, const struct dp_subdef *def)
{
    struct chrome *c = ctx;
    int64_t n = dp_subs_add(&c->subs, def);
    if (n < 0)
        return n;
    if (dp_mem_grow_cleared((void **)&c->tails, &c->tails_cap, (size_t)n + 1, sizeof *c->tails) < 0)
        return DP_E_NOMEM;
    int rc = c->tails[n].ptr ? 0 : make_tail(c, (uint32_t)n, &c->tails[n]);
    return rc < 0 ? rc : n;
}

static void on_ids_anew(void *ctx)
{
    struct chrome *c = ctx;
    dp_subs_ids_anew(&c->subs);
}

/* ---- files ---- */

static bool is_trace(const struct dp_header *head)
{
    return !head->tree && !head->folded && !head->foreign;
}

/* Sets the error for a file that has no order of time: a tree, or stacks of another tool. */
static int no_order(const struct dp_file *file, struct dp_err *err)
{
    return dp_file_no_order(file, "record without `tree` and `sample` to get a trace",
                            "record with a larger limit= to get more of it", err);
}

/* Handles the tree that begins when a trace reaches its limit: the calls before it are shown, and
 * the rest has no order of time. */
static int on_tree(void *ctx, struct dp_err *err)
{
    struct chrome *c = ctx;
    c->over = true;
    int rc = settle_visibility(c);
    c->depth = 0;
    return rc < 0 ? rc : no_order(&c->file, err);
}

/* Tells the host how much of the trace has been read. */
static int on_progress(void *ctx, uint64_t done, uint64_t total)
{
    const struct dp_host *host = ((struct chrome *)ctx)->p->host;
    return host->progress && host->progress(host->ctx, done, total) < 0 ? DP_E_HOST : 0;
}

/* Does an earlier file have this process and thread, or with any_tid this process? Tracks need
 * different numbers. */
static bool is_taken(const struct chrome *c, const struct track *track, bool any_tid)
{
    for (size_t k = 0; k < c->n_tracks; k++)
        if (c->tracks[k].pid == track->pid && (any_tid || c->tracks[k].tid == track->tid))
            return true;
    return false;
}

/* Begins the track of a file. The first thread has the process's number, as on Linux: Perfetto
 * takes thread 0 for the kernel's. */
static int begin_track(struct chrome *c, const struct dp_header *head)
{
    struct track track;
    uint64_t tid;
    char thread[DP_BUF_DIGITS + 8] = "main";
    if (!dp_header_number(head, "dprof_tid", &tid))
        tid = 0;
    if (!dp_header_number(head, "dprof_pid", &track.pid))
        for (track.pid = 1; is_taken(c, &track, true);)
            track.pid++;
    track.tid = tid ? tid : track.pid;
    while (is_taken(c, &track, false))
        track.tid++;
    if (dp_mem_grow((void **)&c->tracks, &c->tracks_cap, c->n_tracks + 1, sizeof *c->tracks) < 0)
        return DP_E_NOMEM;
    c->tracks[c->n_tracks++] = track;
    if (tid) {
        memcpy(thread, "thread ", 7);
        *dp_buf_putu(thread + 7, tid) = '\0';
    }
    const char *script = dp_header_get(head, "dprof_script");
    int rc = name_track(c, "process_name", script ? script : c->file.path);
    rc = rc < 0 ? rc : name_track(c, "thread_name", thread);
    dp_buf_clear(&c->text);
    dp_buf_addf(&c->text, ",\n{\"ph\":\"X\",\"pid\":%llu,\"tid\":%llu,\"ts\":",
                (unsigned long long)track.pid, (unsigned long long)track.tid);
    if (rc < 0 || c->text.err)
        return DP_E_NOMEM;
    c->prefix_len = c->text.len < PREFIX ? c->text.len : PREFIX;
    memcpy(c->prefix, c->text.ptr, c->prefix_len);
    return 0;
}

/* The beginning of a file on the time axis. For other times than real time, all files begin
 * together. */
static uint64_t offset_of(struct chrome *c, const struct dp_header *head)
{
    uint64_t start = dp_header_start(head);
    if (c->time != DP_T_REAL || !start)
        return 0;
    if (!c->has_origin)
        c->origin = start;
    c->has_origin = true;
    uint64_t offset = start > c->origin ? start - c->origin : 0;
    return offset < DP_LIMIT_COUNT ? offset : DP_LIMIT_COUNT;
}

/* Begins a file on the time axis, and its track, when the reader has read the header. A file that
 * is no trace ends here. */
static int on_header(void *ctx, const struct dp_header *head, struct dp_err *err)
{
    struct chrome *c = ctx;
    if (!is_trace(head))
        return no_order(&c->file, err);
    int rc = c->window ? dp_window_start(c->window, head, err) : 0;
    if (rc < 0)
        return rc;
    c->file.inherited = head->inherited;
    c->per_tick = NANO % head->hz ? 0 : NANO / head->hz;
    c->at = c->offset = offset_of(c, head);
    c->in_window = !c->window;
    c->in_phase = !c->how->stacks.phase;
    c->visible = c->in_window && c->in_phase;
    rc = begin_track(c, head);
    return rc == 0 && c->window ? cross_edges(c, 0, 0) : rc;
}

/* Frees what was made for one trace. */
static void end_file(struct chrome *c)
{
    dp_file_release(&c->file);
    dp_subs_release(&c->subs);
    dp_pool_release(&c->texts);
    dp_mem_free(c->tails);
    c->tails = NULL;
    c->tails_cap = 0;
}

/* Prepares for reading the next trace. */
static int begin_file(struct chrome *c, const char *path)
{
    dp_subs_init(&c->subs);
    dp_pool_init(&c->texts);
    c->depth = c->n_ended = c->edge = 0;
    c->now = c->real = c->at = c->offset = 0;
    c->starting = c->over = c->visible = false;
    return dp_file_init(&c->file, path, c->how->force ? DP_FORCE : 0);
}

/* Tells the host how reading a trace has ended. Returns 0 or DP_E_HOST. */
static int tell_outcome(const struct chrome *c, const struct dp_file *file)
{
    const struct dp_stacks_job *job = c->p->job;
    struct dp_outcome outcome;
    dp_file_outcome(file, &outcome);
    return job->told && job->told(job->ctx, &outcome) < 0 ? DP_E_HOST : 0;
}

/* Reads a file into the consumer above. Reports what is wrong with the file; returns only errors
 * that end all printing. */
static int read_file(struct chrome *c, const char *path, const struct dp_file_mem *mem)
{
    const unsigned ordered = DP_LABEL_SEPARATE | DP_LABEL_CROWDED;
    struct dp_consumer to = { .ctx = c,
                              .header = on_header,
                              .sub = on_sub,
                              .events = on_events,
                              .tree = on_tree,
                              .ids_anew = on_ids_anew,
                              .progress = on_progress };
    int rc = begin_file(c, path);
    dp_subs_next_file(&c->subs);
    if (rc == 0 && c->how->stacks.pair.label_flags & ordered)
        rc = dp_file_order_subs(&c->subs, path, mem, c->how->force ? DP_FORCE : 0);
    if (rc == 0) {
        int code = dp_file_read(&c->file, &to, mem);
        c->file.open = c->depth;
        c->over = true;
        rc = settle_visibility(c);
        print_ended(c);
        rc = code == DP_E_NOMEM || code == DP_E_HOST ? code : rc;
        rc = rc < 0 ? rc : c->out->err ? c->out->err : tell_outcome(c, &c->file);
    }
    end_file(c);
    return rc;
}

/* Checks a header: was the process the first, and is there a tree? For a pipe, only reading it
 * answers that. Returns 1 if it is a trace, as far as is known; 0 if not, after a message; or a
 * negative DP_E. */
static int look_at(struct chrome *c, const char *path)
{
    struct dp_file file;
    if (!dp_source_is_file(path))
        return 1;
    if (dp_file_init(&file, path, 0) < 0)
        return DP_E_NOMEM;
    int rc = 1;
    if (dp_file_read_header(&file) == 0) {
        uint64_t start = dp_header_start(&file.head);
        if (start && (!c->has_origin || start < c->origin)) {
            c->origin = start;
            c->has_origin = true;
        }
        if (!is_trace(&file.head)) {
            file.code = no_order(&file, &file.err);
            rc = tell_outcome(c, &file);
        }
    }
    rc = file.code == DP_E_NOMEM ? DP_E_NOMEM : rc;
    dp_file_release(&file);
    return rc;
}

/* Prints all files, unless a header shows that one is no trace: then nothing is printed, after a
 * message for each such file. Returns 0 or a DP_E. */
static int print_files(struct chrome *c)
{
    const struct dp_export_how *how = c->how;
    int rc, all = 1;
    for (size_t k = 0; k < how->n_paths && !how->texts; k++) {
        if ((rc = look_at(c, how->paths[k])) < 0)
            return rc;
        all = all && rc;
    }
    for (size_t k = 0; all && k < how->n_paths; k++)
        if ((rc = read_file(c, how->paths[k], how->texts ? &how->texts[k] : NULL)) < 0)
            return rc;
    if (c->begun)
        dp_sink_adds(c->out, "\n]}\n");
    return c->out->err;
}

/* Prints the calls of traces as a trace of Chrome's tools, in JSON. Returns 0 or a DP_E. */
int dp_print_chrome(const struct dp_stacks_printing *p)
{
    const struct dp_export_how *how = p->job->export;
    struct chrome c;
    memset(&c, 0, sizeof c);
    c.p = p;
    c.how = how;
    c.out = p->sink;
    c.time = how->stacks.columns[0].metric;
    dp_buf_init(&c.text);
    int rc = dp_metric_is_time(c.time) ? 0 : DP_E_ARG;
    if (rc == 0 && how->n_ranges) {
        c.window = dp_window_new(how->ranges, how->n_ranges);
        rc = c.window ? 0 : DP_E_NOMEM;
    }
    rc = rc < 0 ? rc : print_files(&c);
    p->out->empty = !c.begun;
    dp_window_free(c.window);
    dp_mem_free(c.tracks);
    dp_mem_free(c.stack);
    dp_mem_free(c.ended);
    dp_buf_release(&c.text);
    return rc;
}
