/* Writes the time line of a page: each call of traces with its time. The files are read once more
 * for it. Memory grows with depth, not with calls.
 *
 * A file is a lane. Its calls are a list of steps. Steps are in chunks, each packed separately, so
 * a page unpacks only what it shows. A chunk has three columns, with one number for each step. The
 * first is the distance from the frame that ran before to the frame of the page's tree that begins;
 * 0: the running frame ends. The second is the real time since the previous step, in ticks. The
 * third is the CPU time minus that real time (zigzag, as in Protocol Buffers). Time without a frame
 * in the tree belongs to its caller. The block `dprof-times` after the chunks has only JSON: the
 * lanes, where chunks begin, and the phases. share/page/model/times.mjs reads all of it. */
#include "dp_page.h"
#include "dp_err.h"
#include "dp_file.h"
#include "dp_map.h"
#include "dp_mem.h"
#include "dp_num.h"
#include "dp_pool.h"
#include "dp_subs.h"
#include "dp_table.h"
#include "dp_text.h"

#include <inttypes.h>
#include <string.h>

enum { CHUNK = 1 << 16 };       /* steps */

struct running { uint32_t frame; bool begins; };

struct times {
    struct dp_page *p;
    struct dp_map kids;         /* (frame, name) -> frame */
    struct dp_buf facts, goes_on, marks;
    size_t lanes;
    uint64_t origin;            /* start of the first process: nanoseconds since 1970 */
    /* of the current file */
    struct dp_file file;
    struct dp_subs subs;
    uint32_t *names;            /* by sub: number of its name in the tree, plus 1 */
    size_t names_cap;
    struct running *stack;
    size_t depth, stack_cap;
    uint32_t on;                /* the running frame */
    uint64_t now, cpu;          /* ticks of both times since the file's beginning */
    uint64_t real_before, cpu_before;   /* at the previous step */
    uint64_t calls;             /* number of steps that begin a call */
    struct dp_buf codes, reals, cpus;
    size_t steps, chunks;
};

/* ---- chunks ---- */

/* Writes the three columns of a chunk to the block that dp_page_block begins, and empties them. */
static int fill_chunk(void *ctx)
{
    struct times *t = ctx;
    struct dp_buf *columns[] = { &t->codes, &t->reals, &t->cpus };
    int rc = 0;
    for (size_t k = 0; k < 3 && rc == 0; k++) {
        dp_buf_add(&t->p->out, columns[k]->ptr, columns[k]->len);
        rc = columns[k]->err ? columns[k]->err : dp_page_hand_over(t->p);
        dp_buf_clear(columns[k]);
    }
    return rc;
}

/* Writes the steps since the last chunk as an element of the page, and notes their number in the
 * facts. Does nothing if there are none. */
static int end_chunk(struct times *t)
{
    if (!t->steps)
        return 0;
    dp_sink_addf(t->p->sink,
                 "<script type=\"application/octet-stream\" id=\"dprof-times-%lu-%lu\">",
                 (unsigned long)t->lanes, (unsigned long)t->chunks);
    int rc = dp_page_block(t->p, fill_chunk, t);
    dp_sink_adds(t->p->sink, "</script>\n");
    dp_buf_addf(&t->facts, "%s%lu", t->chunks ? "," : "", (unsigned long)t->steps);
    t->chunks++;
    t->steps = 0;
    return rc < 0 ? rc : t->p->sink->err;
}

/* Adds a step at the present time; code: see the head of this file. A full chunk is written. */
static int add_step(struct times *t, uint32_t code)
{
    uint64_t real = t->now - t->real_before, cpu = t->cpu - t->cpu_before;
    dp_page_number(&t->codes, code);
    dp_page_number(&t->reals, real);
    dp_page_number(&t->cpus, cpu >= real ? (cpu - real) << 1 : (real - cpu - 1) << 1 | 1);
    t->real_before = t->now;
    t->cpu_before = t->cpu;
    return ++t->steps == CHUNK ? end_chunk(t) : 0;
}

/* Appends a string of JSON. */
static void add_text(struct times *t, struct dp_buf *to, const char *ptr, size_t len)
{
    struct dp_buf *text = &t->p->text;
    dp_buf_clear(text);
    dp_text_escape(text, ptr, len);
    dp_json_string(to, dp_buf_cstr(text), text->len);
}

/* ---- events ---- */

/* Begins a call of a sub as a step to the frame's child of that name. A call whose frame is not in
 * the tree is no step, so its time belongs to its caller. is_call: false for a call that began
 * earlier, which the page does not count. */
static int push_call(struct times *t, uint32_t sub, bool is_call)
{
    uint32_t name = sub < t->names_cap ? t->names[sub] : 0;
    struct dp_map_slot *slot = name ? dp_map_find(&t->kids, (uint64_t)t->on << 32 | (name - 1))
                                    : NULL;
    if (t->file.inherited) {
        t->file.inherited--;
        is_call = false;
    }
    if (t->depth >= DP_LIMIT_DEPTH)
        return DP_E_LIMIT;
    if (dp_mem_grow((void **)&t->stack, &t->stack_cap, t->depth + 1, sizeof *t->stack) < 0)
        return DP_E_NOMEM;
    t->stack[t->depth++] = (struct running){ t->on, slot != NULL };
    if (!slot)
        return 0;
    if (!is_call)
        dp_buf_addf(&t->goes_on, "%s%" PRIu64, t->goes_on.len ? "," : "", t->calls);
    t->calls++;
    uint32_t from = t->on;
    t->on = slot->value;
    return add_step(t, slot->value - from);
}

/* Ends the innermost call, with a step if its beginning was one. */
static int pop_call(struct times *t)
{
    if (!t->depth)
        return 0;
    struct running *ended = &t->stack[--t->depth];
    t->on = ended->frame;
    return ended->begins ? add_step(t, 0) : 0;
}

/* Adds the beginning of a phase, with its time, to the lane's list. */
static void add_mark(struct times *t, uint32_t sub)
{
    const struct dp_name *name = dp_subs_text(&t->subs, t->subs.subs[sub].name);
    dp_buf_addf(&t->marks, "%s[%" PRIu64 ",", t->marks.len ? "," : "", t->now);
    add_text(t, &t->marks, name->ptr, name->len);
    dp_buf_addc(&t->marks, ']');
}

/* Handles an event of a trace: the time before it, then the call, phase or note. When only time
 * without a sub is left (DP_OP_REST), all calls end. */
static int take_event(struct times *t, struct dp_event *ev)
{
    int rc = 0;
    while (ev->op == DP_OP_REST && t->depth && rc == 0)
        rc = pop_call(t);
    t->now = dp_count_add(t->now, ev->t[DP_REAL]);
    t->cpu = dp_count_add(t->cpu, dp_count_add(ev->t[DP_USER], ev->t[DP_SYSTEM]));
    switch (ev->op) {
    case DP_OP_ENTER: case DP_OP_REENTER:
        return push_call(t, ev->sub, ev->op == DP_OP_ENTER);
    case DP_OP_LEAVE: case DP_OP_UNWIND:
        return pop_call(t);
    case DP_OP_GOTO: case DP_OP_REGOTO:
        rc = pop_call(t);
        return rc < 0 ? rc : push_call(t, ev->sub, ev->op == DP_OP_GOTO);
    case DP_OP_PHASE:
        add_mark(t, ev->sub);
        break;
    case DP_OP_RESUME:
        t->file.inherited = ev->sub;
    }
    return rc;
}

/* Handles a batch of events for the reader; the time line has no counters. */
static int on_events(void *ctx, struct dp_event *ev, uint64_t *counts, size_t n, size_t *bad,
                     struct dp_err *err)
{
    struct times *t = ctx;
    (void)counts, (void)err;
    dp_file_subtract_cost(&t->file, ev, n);
    for (size_t i = 0; i < n; i++) {
        int rc = take_event(t, &ev[i]);
        if (DP_UNLIKELY(rc < 0)) {
            *bad = i;
            return rc;
        }
    }
    return 0;
}

/* ---- subs ---- */

/* Finds the name that a sub of the file has in the page's tree, for push_call; by label, because
 * the tree may join subs of several files. Returns the sub's number, or a DP_E. */
static int64_t on_sub(void *ctx, const struct dp_subdef *def)
{
    struct times *t = ctx;
    const struct dp_stacks_how *how = &t->p->how->stacks;
    int64_t n = dp_subs_add(&t->subs, def);
    struct dp_buf label, stripped;
    if (n < 0)
        return n;
    if (dp_mem_grow_cleared((void **)&t->names, &t->names_cap, (size_t)n + 1, sizeof *t->names) < 0)
        return DP_E_NOMEM;
    if (t->names[n])
        return n;
    dp_buf_init(&label);
    dp_buf_init(&stripped);
    dp_subs_label(&t->subs, (uint32_t)n, how->pair.label_flags, &label);
    struct dp_name name = { label.len ? label.ptr : "", label.len };
    name = dp_stacks_stripped(how, name, &stripped);
    uint32_t found = dp_stacks_find(t->p->s, name.ptr, name.len);
    t->names[n] = found == DP_STACKS_NONE ? 0 : found + 1;
    int rc = label.err ? label.err : stripped.err;
    dp_buf_release(&label);
    dp_buf_release(&stripped);
    return rc < 0 ? rc : n;
}

static void on_ids_anew(void *ctx)
{
    struct times *t = ctx;
    dp_subs_ids_anew(&t->subs);
}

/* ---- files ---- */

static void add_number(struct times *t, const char *key, uint64_t v)
{
    dp_buf_addf(&t->facts, ",\"%s\":%" PRIu64, key, v);
}

/* Reads a trace and writes its lane: chunks as elements of the page, everything else to t->facts.
 * Damage in the file is no error here, as the tree of what could be read is already made. */
static int read_lane(struct times *t, const char *path)
{
    struct dp_consumer to = { .ctx = t, .sub = on_sub, .events = on_events,
                              .ids_anew = on_ids_anew };
    const unsigned ordered = DP_LABEL_SEPARATE | DP_LABEL_CROWDED;
    uint64_t pid = 0, tid = 0, start;
    t->depth = t->steps = t->chunks = 0;
    t->on = 0;
    t->now = t->cpu = t->real_before = t->cpu_before = t->calls = 0;
    dp_buf_clear(&t->goes_on);
    dp_buf_clear(&t->marks);
    dp_subs_init(&t->subs);
    dp_subs_next_file(&t->subs);
    dp_buf_adds(&t->facts, t->lanes ? ",{\"chunks\":[" : "{\"chunks\":[");
    int rc = dp_file_init(&t->file, path, DP_FORCE);
    if (rc == 0 && t->p->how->stacks.pair.label_flags & ordered)
        rc = dp_file_order_subs(&t->subs, path, NULL, DP_FORCE);
    if (rc == 0) {
        int code = dp_file_read(&t->file, &to, NULL);       /* making the tree has reported
                                                             * errors */
        rc = code == DP_E_NOMEM ? code : 0;
    }
    while (rc == 0 && t->depth)
        rc = pop_call(t);
    rc = rc < 0 ? rc : end_chunk(t);
    const struct dp_header *head = &t->file.head;
    dp_buf_adds(&t->facts, "]");
    add_number(t, "hz", head->hz ? head->hz : 1);
    add_number(t, "end", t->now);
    add_number(t, "tail", t->cpu - t->cpu_before);     /* CPU time after the last step */
    if (dp_header_number(head, "dprof_pid", &pid))
        add_number(t, "pid", pid);
    if (dp_header_number(head, "dprof_tid", &tid) && tid)
        add_number(t, "tid", tid);
    if ((start = dp_header_start(head)) && start >= t->origin)
        add_number(t, "start", start - t->origin);
    const char *script = dp_header_get(head, "dprof_script");
    script = script ? script : path;
    dp_buf_adds(&t->facts, ",\"name\":");
    add_text(t, &t->facts, script, strlen(script));
    dp_buf_adds(&t->facts, ",\"goesOn\":[");
    dp_buf_add(&t->facts, t->goes_on.ptr, t->goes_on.len);
    dp_buf_adds(&t->facts, "],\"marks\":[");
    dp_buf_add(&t->facts, t->marks.ptr, t->marks.len);
    dp_buf_adds(&t->facts, "]}");
    dp_file_release(&t->file);
    dp_subs_release(&t->subs);
    dp_mem_free(t->names);
    t->names = NULL;
    t->names_cap = 0;
    t->lanes++;
    return rc < 0 ? rc : t->facts.err ? t->facts.err : t->goes_on.err ? t->goes_on.err
                                                                      : t->marks.err;
}

/* Finds the start of the first process, so that lanes have places on one time axis. Returns 0 or
 * DP_E_NOMEM. */
static int find_origin(struct times *t)
{
    const struct dp_flame_how *how = t->p->how;
    for (size_t k = 0; k < how->n_traces; k++) {
        struct dp_file file;
        if (dp_file_init(&file, how->traces[k], 0) < 0)
            return DP_E_NOMEM;
        int rc = dp_file_read_header(&file);
        uint64_t start = rc == 0 ? dp_header_start(&file.head) : 0;
        if (start && (!t->origin || start < t->origin))
            t->origin = start;
        dp_file_release(&file);
        if (rc == DP_E_NOMEM)
            return rc;
    }
    return 0;
}

/* Makes the index by which push_call finds a frame's child of a name. */
static int index_kids(struct times *t)
{
    const struct dp_stacks *s = t->p->s;
    for (uint32_t i = 1; i < s->count; i++) {
        struct dp_map_slot *slot = dp_map_put(&t->kids, (uint64_t)s->frames[i].parent << 32
                                                        | s->frames[i].name);
        if (!slot)
            return DP_E_NOMEM;
        if (slot->value == DP_MAP_NONE)
            slot->value = i;
    }
    return 0;
}

static int fill_facts(void *ctx)
{
    struct times *t = ctx;
    dp_buf_add(&t->p->out, t->facts.ptr, t->facts.len);
    return t->facts.err ? t->facts.err : dp_page_hand_over(t->p);
}

int dp_page_times(struct dp_page *p)
{
    const struct dp_flame_how *how = p->how;
    struct times t = { .p = p };
    if (!how->n_traces)
        return 0;
    struct dp_buf *bufs[] = { &t.facts, &t.goes_on, &t.marks, &t.codes, &t.reals, &t.cpus };
    for (size_t k = 0; k < sizeof bufs / sizeof *bufs; k++)
        dp_buf_init(bufs[k]);
    dp_map_init(&t.kids);
    int rc = index_kids(&t);
    rc = rc < 0 ? rc : find_origin(&t);
    dp_buf_adds(&t.facts, "{\"format\":1,\"lanes\":[");
    for (size_t k = 0; k < how->n_traces && rc == 0; k++)
        rc = read_lane(&t, how->traces[k]);
    dp_buf_adds(&t.facts, "]}");
    if (rc == 0) {
        dp_sink_adds(p->sink, "<script type=\"application/octet-stream\" id=\"dprof-times\">");
        rc = dp_page_block(p, fill_facts, &t);
        dp_sink_adds(p->sink, "</script>\n");
    }
    for (size_t k = 0; k < sizeof bufs / sizeof *bufs; k++)
        dp_buf_release(bufs[k]);
    dp_map_release(&t.kids);
    dp_mem_free(t.stack);
    return rc < 0 ? rc : p->out.err;
}
