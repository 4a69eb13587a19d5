/* Prints dprofpp's -T and -t: every call a line, while the file is read. Memory grows with names
 * and depth, not with calls. */
#include "dp_file.h"
#include "dp_mem.h"
#include "dp_names.h"
#include "dp_subs.h"
#include "dp_text.h"
#include "dprof/trace.h"

#include <string.h>

enum { LEVELS = 200, INDENT = 3 };

#define NO_NAME UINT32_MAX

struct dp_trace {
    struct dp_trace_how how;
    struct dp_buf only;         /* a copy; how.only points to it */
    const struct dp_host *host;
    struct dp_subs subs;
    struct dp_pool shown;       /* labels as printed */
    uint32_t *shown_of;         /* by sub */
    unsigned char *is_only;     /* by sub */
    size_t shown_cap, only_cap, known;
    struct dp_file file;
    bool has_file;
    struct dp_frame *stack;
    size_t depth, stack_cap;
    uint64_t inside;            /* number of frames of -g */
    size_t level;               /* number of frames shown */
    uint32_t last;              /* -t: the line that is held back */
    size_t last_level;
    uint64_t repeats;
    struct dp_sink sink;
};

/* Prints a line about a sub, indented by its level. repeats: number of equal calls that the line
 * stands for; remark: what follows the name. */
static void print_line(struct dp_trace *t, uint32_t shown, size_t level, uint64_t repeats,
                       const char *remark)
{
    const struct dp_name *name = dp_pool_name(&t->shown, shown);
    dp_sink_blanks(&t->sink, INDENT * (level < LEVELS ? level : LEVELS));
    if (level > LEVELS)
        dp_sink_addf(&t->sink, "[%zu] ", level);
    dp_sink_add(&t->sink, name->ptr, name->len);
    if (repeats > 1)
        dp_sink_addf(&t->sink, " (%llux)", (unsigned long long)repeats);
    dp_sink_add(&t->sink, remark, strlen(remark));
    dp_sink_add(&t->sink, "\n", 1);
}

/* Prints the line that -t holds back, with the number of calls that it stands for. */
static void print_held_line(struct dp_trace *t)
{
    if (t->last != NO_NAME)
        print_line(t, t->last, t->last_level, t->repeats, "");
    t->last = NO_NAME;
}

/* Prints a call. With -t the line is held back, because equal calls right after it are counted on
 * the same line. */
static void print_call(struct dp_trace *t, uint32_t shown)
{
    if (!t->how.fold) {
        print_line(t, shown, t->level, 1, "");
    } else if (t->last == shown && t->last_level == t->level) {
        t->repeats++;
    } else {
        print_held_line(t);
        t->last = shown;
        t->last_level = t->level;
        t->repeats = 1;
    }
}

/* Notes an entry that is no call: the sub was called before recording stopped, before another
 * coroutine went on, or in the parent process. */
static void print_continued_call(struct dp_trace *t, uint32_t shown)
{
    print_held_line(t);
    print_line(t, shown, t->level, 1, " (goes on)");
}

/* Begins a call of sub, and prints it if it is to be seen. With -g only the calls within the given
 * sub are. */
static int push_call(struct dp_trace *t, uint32_t sub)
{
    bool is_call = !t->file.inherited;
    if (t->depth >= DP_LIMIT_DEPTH)
        return DP_E_LIMIT;
    if (dp_mem_grow((void **)&t->stack, &t->stack_cap, t->depth + 1, sizeof *t->stack) < 0)
        return DP_E_NOMEM;
    t->stack[t->depth].node = t->stack[t->depth].entered = sub;
    t->depth++;
    t->inside += t->is_only[sub];
    t->file.inherited -= !is_call;
    if (!t->how.only || t->inside) {
        if (is_call)
            print_call(t, t->shown_of[sub]);
        else
            print_continued_call(t, t->shown_of[sub]);
        t->level++;
    }
    return 0;
}

/* Ends the running call. A trace has no line for the end of a call. */
static int pop_call(struct dp_trace *t, struct dp_err *err)
{
    if (t->depth == 0)
        return t->file.force ? 0
            : dp_err_set(err, DP_E_SYNTAX, "Garbled profile, missing an enter time stamp");
    uint32_t sub = t->stack[--t->depth].node;
    if (!t->how.only || t->inside)
        t->level--;
    t->inside -= t->is_only[sub];
    return 0;
}

static void begin_phase(struct dp_trace *t, uint32_t sub)
{
    print_held_line(t);
    if (!t->how.only)
        print_line(t, t->shown_of[sub], 0, 1, "");
}

/* Follows the calls of a batch of events, and prints them. *bad: the event at which it failed. */
static int on_events(void *ctx, struct dp_event *ev, uint64_t *counts, size_t n, size_t *bad,
                     struct dp_err *err)
{
    struct dp_trace *t = ctx;
    (void)counts;
    for (size_t i = 0; i < n; i++) {
        int rc = 0;
        if (ev[i].op == DP_OP_LEAVE || ev[i].op == DP_OP_UNWIND || ev[i].op == DP_OP_GOTO)
            rc = pop_call(t, err);
        if (ev[i].op == DP_OP_PHASE && t->how.phases)
            begin_phase(t, ev[i].sub);
        if (ev[i].op == DP_OP_RESUME)
            t->file.inherited = ev[i].sub;
        if (rc == 0 && (ev[i].op == DP_OP_ENTER || ev[i].op == DP_OP_GOTO))
            rc = push_call(t, ev[i].sub);
        if (rc == 0)
            rc = t->sink.err;
        if (rc < 0) {
            *bad = i;
            return rc;
        }
    }
    return 0;
}

static int on_header(void *ctx, const struct dp_header *head, struct dp_err *err)
{
    struct dp_trace *t = ctx;
    (void)err;
    t->file.inherited = head->inherited;
    return 0;
}

/* Refuses a tree, which has no order of calls. */
static int on_tree(void *ctx, struct dp_err *err)
{
    struct dp_trace *t = ctx;
    t->depth = 0;
    return dp_file_no_order(&t->file, "use -S", "-S shows it", err);
}

static void on_ids_anew(void *ctx)
{
    struct dp_trace *t = ctx;
    dp_subs_ids_anew(&t->subs);
}

/* Keeps the label of a new sub as it is printed, and whether it is the sub of -g. Returns the sub's
 * number, or a DP_E. */
static int64_t on_sub(void *ctx, const struct dp_subdef *def)
{
    struct dp_trace *t = ctx;
    int64_t n = dp_subs_add(&t->subs, def);
    if (n < 0 || (size_t)n < t->known)
        return n;
    if (dp_mem_grow((void **)&t->shown_of, &t->shown_cap, (size_t)n + 1, sizeof *t->shown_of) < 0
        || dp_mem_grow((void **)&t->is_only, &t->only_cap, (size_t)n + 1, 1) < 0)
        return DP_E_NOMEM;
    struct dp_buf label, shown;
    dp_buf_init(&label);
    dp_buf_init(&shown);
    dp_subs_label(&t->subs, (uint32_t)n, t->how.label_flags, &label);
    dp_text_escape(&shown, label.ptr, label.len);
    t->is_only[n] = t->how.only && label.len == t->how.only_len
                    && memcmp(label.len ? label.ptr : "", t->how.only, label.len) == 0;
    t->shown_of[n] = dp_pool_intern(&t->shown, shown.ptr, shown.len);
    bool ok = !label.err && !shown.err && t->shown_of[n] != DP_MAP_NONE;
    dp_buf_release(&label);
    dp_buf_release(&shown);
    if (!ok)
        return DP_E_NOMEM;
    t->known = (size_t)n + 1;
    return n;
}

struct dp_trace *dp_trace_new(const struct dp_trace_how *how, const struct dp_host *host)
{
    struct dp_trace *t = dp_mem_zalloc(sizeof *t);
    if (!t)
        return NULL;
    t->how = *how;
    t->host = host;
    t->last = NO_NAME;
    dp_subs_init(&t->subs);
    dp_pool_init(&t->shown);
    dp_buf_init(&t->only);
    dp_sink_init(&t->sink, dp_host_write, (void *)(uintptr_t)host);
    if (how->only) {
        dp_buf_add(&t->only, how->only, how->only_len);
        t->how.only = dp_buf_cstr(&t->only);
    }
    if (t->only.err) {
        dp_trace_free(t);
        return NULL;
    }
    return t;
}

void dp_trace_free(struct dp_trace *t)
{
    if (!t)
        return;
    if (t->has_file)
        dp_file_release(&t->file);
    dp_mem_free(t->stack);
    dp_mem_free(t->shown_of);
    dp_mem_free(t->is_only);
    dp_pool_release(&t->shown);
    dp_subs_release(&t->subs);
    dp_buf_release(&t->only);
    dp_mem_free(t);
}

/* Lists the calls that had not ended at the end of the file, for dp_trace_outcome. */
static int list_open(struct dp_trace *t)
{
    size_t n = t->depth < DP_FILE_LISTED ? t->depth : DP_FILE_LISTED;
    t->file.open = t->depth;
    if (!n)
        return 0;
    t->file.open_subs = dp_mem_realloc(NULL, n, sizeof *t->file.open_subs);
    if (!t->file.open_subs)
        return DP_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        t->file.open_subs[i] = t->stack[i].node;
    t->file.open_listed = n;
    return 0;
}

/* Prints the calls of a file, from mem if it is given. Errors of the output are errors of the
 * file. */
static int read_file(struct dp_trace *t, const char *path, const struct dp_file_mem *mem)
{
    struct dp_consumer to = { .ctx = t,
                              .header = on_header,
                              .sub = on_sub,
                              .events = on_events,
                              .tree = on_tree,
                              .ids_anew = on_ids_anew };
    if (t->has_file)
        dp_file_release(&t->file);
    t->has_file = false;
    if (dp_file_init(&t->file, path, t->how.force ? DP_FORCE : 0) < 0)
        return DP_E_NOMEM;
    t->has_file = true;
    t->depth = t->level = 0;
    t->inside = 0;
    dp_subs_next_file(&t->subs);
    if (t->how.label_flags & (DP_LABEL_SEPARATE | DP_LABEL_CROWDED) && !dp_subs_count(&t->subs)
        && dp_file_order_subs(&t->subs, path, mem, t->how.force ? DP_FORCE : 0) < 0)
        return DP_E_NOMEM;
    int rc = dp_file_read(&t->file, &to, mem);
    print_held_line(t);
    int out = dp_sink_flush(&t->sink);
    if (out == 0)
        out = list_open(t);
    if (out < 0 && (rc >= 0 || rc == DP_E_TRUNCATED))
        rc = t->file.code = dp_err_set(&t->file.err, out, "%s", dp_err_text(out));
    return rc;
}

int dp_trace_add(struct dp_trace *t, const char *path) { return read_file(t, path, NULL); }

int dp_trace_add_mem(struct dp_trace *t, const char *path, const void *ptr, size_t len)
{
    struct dp_file_mem mem = { ptr, NULL, len, 0 };
    return read_file(t, path, &mem);
}

void dp_trace_outcome(const struct dp_trace *t, struct dp_outcome *out)
{
    dp_file_outcome(&t->file, out);
}

struct dp_names *dp_names_of_trace(const struct dp_trace *t, unsigned label_flags)
{
    return dp_names_new_of(&t->subs, label_flags);
}
