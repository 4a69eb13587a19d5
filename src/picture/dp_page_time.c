/* Writes the time line of a page: each call of traces with its time, or what ran when in trees of
 * samples and in slices (dp_page_tree.h). The files are read once more for it. For traces, memory
 * grows with depth, not with calls.
 *
 * A file is a lane, and so are the slices of a process. Its calls are a list of steps. Steps are in
 * chunks, each packed separately, so a page unpacks only what it shows. A chunk has three columns,
 * with one number for each step. The first is the distance from the frame that ran before to the
 * frame of the page's tree that begins; 0: the running frame ends. The second is the real time
 * since the previous step, in ticks. The third is the CPU time minus that real time (zigzag, as in
 * Protocol Buffers). Time without a frame in the tree belongs to its caller. After the chunks, the
 * block `dprof-times` has only JSON: the lanes, where chunks begin, and the phases.
 * share/page/model/times.mjs reads all of it. */
#include "dp_page.h"
#include "dp_page_tree.h"
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
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16 };       /* steps */

struct running { uint32_t frame; bool begins; };

/* A file, and the lane that it belongs to. */
struct file_of_lane {
    uint32_t index;             /* among the files */
    uint32_t lane;
    uint64_t start;             /* nanoseconds since 1970; 0: unknown */
};

struct times {
    struct dp_page *p;
    struct dp_map kids;         /* (frame, name) -> frame */
    struct dp_buf facts, goes_on, marks;
    struct dp_buf cuts;         /* [from, to] of slices that do not say what ran when */
    size_t lanes;
    uint64_t origin;            /* start of the first process: nanoseconds since 1970 */
    struct file_of_lane *files; /* in the order of lanes */
    uint64_t all_steps;
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
    /* of the current lane */
    struct dp_tree_times tree;
    bool sampled;               /* it consists of trees */
    uint64_t began;             /* start of its first file */
};

/* ---- chunks ---- */

/* Writes the three columns of the current chunk into the page's packed block, and empties them.
 * dp_page_block() calls this. */
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

/* Writes the steps that wait as one chunk, a script element of its own, and notes its number of
 * steps among the lane's facts. Does nothing without steps. */
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

/* Adds a step to the current chunk with the times since the previous step, and ends the chunk if it
 * is full. code: the first column, see above. */
static int add_step(struct times *t, uint32_t code)
{
    uint64_t real = t->now - t->real_before, cpu = t->cpu - t->cpu_before;
    dp_page_number(&t->codes, code);
    dp_page_number(&t->reals, real);
    dp_page_number(&t->cpus, cpu >= real ? (cpu - real) << 1 : (real - cpu - 1) << 1 | 1);
    t->real_before = t->now;
    t->cpu_before = t->cpu;
    t->all_steps++;
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

/* Adds the step of a call that begins. A sub that is in no frame of the page's tree, for example
 * because a filter hides it, makes no step. is_call is false if the call began earlier and only
 * goes on here; the page does not count those. */
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

/* Ends the innermost call; adds a step if the beginning of the call had one. */
static int pop_call(struct times *t)
{
    if (!t->depth)
        return 0;
    struct running *ended = &t->stack[--t->depth];
    t->on = ended->frame;
    return ended->begins ? add_step(t, 0) : 0;
}

/* Notes that a phase begins at the current tick. */
static void add_mark(struct times *t, uint32_t sub)
{
    const struct dp_name *name = dp_subs_text(&t->subs, t->subs.subs[sub].name);
    dp_buf_addf(&t->marks, "%s[%" PRIu64 ",", t->marks.len ? "," : "", t->now);
    add_text(t, &t->marks, name->ptr, name->len);
    dp_buf_addc(&t->marks, ']');
}

/* Turns one event of a trace into steps. */
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

/* Takes a batch of a trace's events from the reader of files; on an error, *bad is the index of the
 * event at fault. */
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

/* ---- trees ---- */

/* Notes that the file is a tree, so its times come from samples. */
static int on_tree(void *ctx, struct dp_err *err)
{
    struct times *t = ctx;
    (void)err;
    t->sampled = true;
    return 0;
}

/* Takes one node of a tree's calls, with the number of its sub's name in the page's tree, or 0. */
static int64_t on_context(void *ctx, const struct dp_context *c, struct dp_err *err)
{
    struct times *t = ctx;
    bool has_name = !c->again && c->sub != DP_SUB_NONE && c->sub < t->names_cap;
    (void)err;
    return dp_tree_times_take(&t->tree, c, has_name ? t->names[c->sub] : 0);
}

/* Ends frames up to one that is above this one, and begins those below that. */
static int go_to_frame(struct times *t, uint32_t frame)
{
    const struct dp_stacks_frame *frames = t->p->s->frames;
    int rc = 0;
    while (rc == 0 && !(t->on <= frame && frame < frames[t->on].end)) {
        t->on = frames[t->on].parent;
        rc = add_step(t, 0);
    }
    while (rc == 0 && t->on != frame) {
        uint32_t next = frame;
        while (frames[next].parent != t->on)
            next = frames[next].parent;
        uint32_t code = next - t->on;
        t->on = next;
        rc = add_step(t, code);
    }
    return rc;
}

/* Makes steps of a file's stretches, which begin at this tick. A gap shorter than a sample belongs
 * to the stretch before it. */
static int add_stretches(struct times *t, uint64_t begin)
{
    enum { SAMPLE = 4 };
    struct dp_tree_times *tree = &t->tree;
    int rc = dp_tree_times_finish(tree, dp_header_get(&t->file.head, "dprof_slice") != NULL);
    for (size_t i = 0; i < tree->n && rc == 0; i++) {
        const struct dp_tree_stretch *s = &tree->at[i];
        uint64_t from = begin + s->from;
        if (from > t->now + SAMPLE * tree->unit)
            rc = go_to_frame(t, 0);
        t->now = from > t->now ? from : t->now;
        rc = rc < 0 ? rc : go_to_frame(t, s->frame);
        t->now = begin + s->to > t->now ? begin + s->to : t->now;
        t->cpu += s->cpu;
    }
    rc = rc < 0 ? rc : go_to_frame(t, 0);
    t->now = begin + tree->real > t->now ? begin + tree->real : t->now;
    if (!tree->unit)
        dp_buf_addf(&t->cuts, "%s[%" PRIu64 ",%" PRIu64 "]", t->cuts.len ? "," : "", begin, t->now);
    return rc;
}

/* ---- subs ---- */

/* The name of a phase, which may be that of a sub as well. */
static uint32_t find_phase(const struct dp_stacks *s, const struct dp_name *name)
{
    for (size_t i = 0; i < s->n_names; i++)
        if (s->names[i].kind == DP_KIND_PHASE && dp_name_compare(&s->names[i].text, name) == 0)
            return (uint32_t)i;
    return DP_STACKS_NONE;
}

/* Finds the name in the page's tree that belongs to a sub of the file, and keeps its number in
 * t->names. Returns the sub's number, or a DP_E. */
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
    uint32_t found = def->phase ? find_phase(t->p->s, &name)
                                : dp_stacks_find(t->p->s, name.ptr, name.len);
    t->names[n] = found == DP_STACKS_NONE ? 0 : found + 1;
    int rc = label.err ? label.err : stripped.err;
    dp_buf_release(&label);
    dp_buf_release(&stripped);
    return rc < 0 ? rc : n;
}

/* Forgets the numbers of subs, because the next part of the file numbers them from the beginning.
 * */
static void on_ids_anew(void *ctx)
{
    struct times *t = ctx;
    dp_subs_ids_anew(&t->subs);
}

/* ---- files ---- */

/* Appends a number to the lane's facts in JSON. */
static void add_number(struct times *t, const char *key, uint64_t v)
{
    dp_buf_addf(&t->facts, ",\"%s\":%" PRIu64, key, v);
}

/* Reads a file's steps. base: the frame of its root. */
static int read_steps(struct times *t, const char *path, uint32_t base)
{
    struct dp_consumer to = { .ctx = t, .sub = on_sub, .events = on_events,
                              .ids_anew = on_ids_anew, .tree = on_tree, .context = on_context };
    const unsigned ordered = DP_LABEL_SEPARATE | DP_LABEL_CROWDED;
    t->depth = 0;
    dp_subs_init(&t->subs);
    dp_subs_next_file(&t->subs);
    dp_tree_times_clear(&t->tree, base);
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
    return rc;
}

/* Frees what read_steps() has made for one file. */
static void release_steps(struct times *t)
{
    dp_subs_release(&t->subs);
    dp_mem_free(t->names);
    t->names = NULL;
    t->names_cap = 0;
}

/* The frame of the part that a file belongs to, or 0 if there are no parts. */
static uint32_t part_of(struct times *t, const char *path)
{
    const struct dp_stacks *s = t->p->s;
    for (size_t k = 0; t->p->how->stacks.by_part && k < s->n_sources; k++) {
        const struct dp_prof *prof = s->sources[k].part->prof;
        for (size_t i = 0; i < prof->n_files; i++)
            if (strcmp(prof->files[i].path, path) == 0) {
                struct dp_map_slot *slot = dp_map_find(&t->kids, s->n_names + k);
                return slot ? slot->value : 0;
            }
    }
    return 0;
}

/* Reads the steps of a lane's next file, which begin where it began. */
static int read_file(struct times *t, const char *path)
{
    int rc = read_steps(t, path, part_of(t, path));
    if (rc == 0 && t->sampled) {
        const struct dp_header *head = &t->file.head;
        uint64_t start = dp_header_start(head), hz = head->hz ? head->hz : 1, begin = 0;
        t->began = t->began ? t->began : start;
        if (start > t->began)
            begin = (uint64_t)((double)(start - t->began) * 1e-9 * (double)hz);
        rc = add_stretches(t, begin > t->now ? begin : t->now);
    }
    release_steps(t);
    return rc;
}

/* Adds what the header of a lane's last file says. path: of the first. */
static void add_facts(struct times *t, const char *path)
{
    const struct dp_header *head = &t->file.head;
    uint64_t pid = 0, tid = 0, start = t->began ? t->began : dp_header_start(head);
    add_number(t, "hz", head->hz ? head->hz : 1);
    add_number(t, "end", t->now);
    add_number(t, "tail", t->cpu - t->cpu_before);     /* CPU time after the last step */
    if (t->sampled)
        add_number(t, "sampled", 1);
    if (dp_header_number(head, "dprof_pid", &pid))
        add_number(t, "pid", pid);
    if (dp_header_number(head, "dprof_tid", &tid) && tid)
        add_number(t, "tid", tid);
    if (start >= t->origin && start)
        add_number(t, "start", start - t->origin);
    const char *script = dp_header_get(head, "dprof_script");
    script = script ? script : path;
    dp_buf_adds(&t->facts, ",\"name\":");
    add_text(t, &t->facts, script, strlen(script));
    dp_buf_adds(&t->facts, ",\"goesOn\":[");
    dp_buf_add(&t->facts, t->goes_on.ptr, t->goes_on.len);
    dp_buf_adds(&t->facts, "],\"marks\":[");
    dp_buf_add(&t->facts, t->marks.ptr, t->marks.len);
    dp_buf_adds(&t->facts, "],\"cuts\":[");
    dp_buf_add(&t->facts, t->cuts.ptr, t->cuts.len);
    dp_buf_adds(&t->facts, "]}");
}

/* Reads the lane that begins with a file. Returns the number of its files, or a DP_E. */
static int64_t read_lane(struct times *t, size_t first)
{
    size_t k = first;
    t->steps = t->chunks = 0;
    t->on = 0;
    t->now = t->cpu = t->real_before = t->cpu_before = t->calls = t->began = 0;
    t->sampled = false;
    dp_buf_clear(&t->goes_on);
    dp_buf_clear(&t->marks);
    dp_buf_clear(&t->cuts);
    dp_buf_adds(&t->facts, t->lanes ? ",{\"chunks\":[" : "{\"chunks\":[");
    int rc = read_file(t, t->p->how->traces[t->files[k].index]);
    while (rc == 0 && ++k < t->p->how->n_traces && t->files[k].lane == t->files[first].lane) {
        dp_file_release(&t->file);
        rc = read_file(t, t->p->how->traces[t->files[k].index]);
    }
    rc = rc < 0 ? rc : end_chunk(t);
    dp_buf_adds(&t->facts, "]");
    add_facts(t, t->p->how->traces[t->files[first].index]);
    dp_file_release(&t->file);
    t->lanes++;
    rc = rc < 0 ? rc : t->facts.err ? t->facts.err : t->goes_on.err ? t->goes_on.err
                                                : t->marks.err ? t->marks.err : t->cuts.err;
    return rc < 0 ? rc : (int64_t)(k - first);
}

/* Sorts files by lane, then by start, then as they were given. */
static int compare_files(const void *a, const void *b)
{
    const struct file_of_lane *x = a, *y = b;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

/* The number of a file's lane: slices of a process and thread share one. DP_MAP_NONE: memory is
 * short. */
static uint32_t lane_of(struct dp_pool *lanes, const struct dp_header *head, size_t file)
{
    static const char *const names[] = { "dprof_run", "dprof_pid", "dprof_tid" };
    struct dp_buf id;
    bool is_slice = dp_header_get(head, "dprof_slice") != NULL;
    dp_buf_init(&id);
    if (!is_slice)
        dp_buf_addu(&id, file);
    for (size_t i = 0; is_slice && i < DP_ARRAY_LEN(names); i++) {
        const char *value = dp_header_get(head, names[i]);
        dp_buf_adds(&id, value ? value : "");
        dp_buf_addc(&id, ' ');
    }
    uint32_t number = id.err ? DP_MAP_NONE : dp_pool_intern(lanes, id.ptr, id.len);
    dp_buf_release(&id);
    return number;
}

/* Finds the start of the first process, and puts the files in the order of lanes. */
static int find_lanes(struct times *t)
{
    const struct dp_flame_how *how = t->p->how;
    struct dp_pool lanes;
    int rc = 0;
    dp_pool_init(&lanes);
    for (size_t k = 0; k < how->n_traces && rc == 0; k++) {
        struct dp_file file;
        if (dp_file_init(&file, how->traces[k], 0) < 0)
            rc = DP_E_NOMEM;
        else if (dp_file_read_header(&file) == DP_E_NOMEM)
            rc = DP_E_NOMEM;
        uint64_t start = rc == 0 ? dp_header_start(&file.head) : 0;
        uint32_t lane = rc == 0 ? lane_of(&lanes, &file.head, k) : DP_MAP_NONE;
        if (start && (!t->origin || start < t->origin))
            t->origin = start;
        t->files[k] = (struct file_of_lane){ (uint32_t)k, lane, start };
        rc = lane == DP_MAP_NONE ? DP_E_NOMEM : rc;
        dp_file_release(&file);
    }
    dp_pool_release(&lanes);
    qsort(t->files, how->n_traces, sizeof *t->files, compare_files);
    return rc;
}

/* Indexes the frames of the page's tree by (parent, name). If frames have the same parent and name,
 * the first one stays. */
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

/* Writes the JSON of all lanes into the page's block. dp_page_block() calls this. */
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
    struct dp_buf *bufs[] = { &t.facts, &t.goes_on, &t.marks, &t.cuts, &t.codes, &t.reals,
                              &t.cpus };
    for (size_t k = 0; k < sizeof bufs / sizeof *bufs; k++)
        dp_buf_init(bufs[k]);
    dp_map_init(&t.kids);
    t.files = dp_mem_zalloc(how->n_traces * sizeof *t.files);
    int rc = t.files ? dp_tree_times_init(&t.tree, p->s, &t.kids) : DP_E_NOMEM;
    rc = rc < 0 ? rc : index_kids(&t);
    rc = rc < 0 ? rc : find_lanes(&t);
    dp_buf_adds(&t.facts, "{\"format\":1,\"lanes\":[");
    for (size_t k = 0; k < how->n_traces && rc == 0;) {
        int64_t n = read_lane(&t, k);
        rc = n < 0 ? (int)n : 0;
        k += n < 0 ? 0 : (size_t)n;
    }
    dp_buf_adds(&t.facts, "]}");
    if (rc == 0 && t.all_steps) {       /* a killed process leaves no times of samples */
        dp_sink_adds(p->sink, "<script type=\"application/octet-stream\" id=\"dprof-times\">");
        rc = dp_page_block(p, fill_facts, &t);
        dp_sink_adds(p->sink, "</script>\n");
    }
    for (size_t k = 0; k < sizeof bufs / sizeof *bufs; k++)
        dp_buf_release(bufs[k]);
    dp_map_release(&t.kids);
    dp_tree_times_release(&t.tree);
    dp_mem_free(t.files);
    dp_mem_free(t.stack);
    return rc < 0 ? rc : p->out.err;
}
