/* Firefox Profiler, its processed format of version 57: firefox-devtools/profiler,
 * src/types/profile.ts and docs-developer/CHANGELOG-formats.md. Each measure is a thread, and each
 * part a process. Tables are columns: each is written by a walk of its own through the contexts, so
 * that nothing of the size of a profile is kept.
 *
 * A row of the table of stacks is a context: its frame, and the row that it is below. A frame that
 * calls has the line of the call, so its callees may be below further rows of it. Of a trace one
 * more thread has its samples where the stack changes, in real time, and counters have a track. */
#include "dp_export.h"
#include "dp_err.h"
#include "dp_fmt.h"
#include "dp_jsonout.h"
#include "dp_map.h"
#include "dp_mem.h"
#include "dp_num.h"
#include "dp_pool.h"

#include <inttypes.h>
#include <string.h>

enum { FORMAT_VERSION = 57, SECOND = 1000000000 };

/* Categories, which colour frames. There must be a grey one. */
#define CATEGORIES(X) \
    X("Program", "grey") X("Perl", "yellow") X("XS", "orange") X("Builtin", "green")
enum { OF_PROGRAM, OF_PERL, OF_XS, OF_BUILTIN };

/* A frame that stacks have: a sub, and the line that it called from. */
struct frame {
    uint32_t func;
    uint32_t site;              /* number in sites of the stacks; 0: its own code */
};

/* A frame of the stack at hand. */
struct level {
    uint32_t name;
    uint32_t row, prefix;       /* prefix: DP_MAP_NONE: the outermost */
    uint32_t site, site_row;    /* where it called last, and the row for that; site 0: none */
    uint64_t left, counted;     /* in order of time: ticks of its own that are still to come, and
                                 * what they count */
    uint64_t at;                /* in order of time: where what is written of it ends */
};

/* What a walk writes. */
enum column { COLUMN_FRAME, COLUMN_PREFIX, COLUMN_STACK, COLUMN_TIME, COLUMN_WEIGHT,
              COLUMN_COUNT_TIME, COLUMN_COUNT };

struct firefox {
    struct dp_export e;         /* of the stacks that are written now */
    struct dp_jsonout json;
    struct dp_pool texts;       /* the table of strings */
    bool in_time;
    uint64_t range;             /* nanoseconds that sums stand for on the axis of time */
    size_t threads;             /* written so far */
    uint64_t pid;               /* of the thread before */
    /* of the thread at hand */
    uint32_t lane;
    size_t measure;
    uint64_t offset;            /* in order of time: nanoseconds before its first one */
    enum column column;
    uint32_t n_rows;
    size_t n_samples;
    uint64_t sum;               /* of counters: since the sample before */
    uint64_t held;              /* of counters: the sample that is written next */
    struct level *stack;
    size_t depth, stack_cap;
    struct dp_map frame_of;     /* name << 32 | site -> frame; name << 32 | NONE -> func */
    struct frame *frames;
    uint32_t *funcs;            /* names */
    size_t n_frames, frames_cap, n_funcs, funcs_cap;
    int err;
};

/* ---- frames ---- */

static const char *script_of(const struct firefox *x)
{
    const struct dp_export_how *how = x->e.p->job->export;
    const struct dp_export_part *part = dp_export_part_of(&x->e, x->lane);
    return part ? part->name : how->n_parts ? how->parts[0].name : "";
}

static struct dp_name file_of(const struct firefox *x, uint32_t name)
{
    const struct dp_stacks_name *n = &x->e.p->s->names[name];
    const char *script = script_of(x);
    return n->kind == DP_KIND_PROGRAM ? (struct dp_name){ script, strlen(script) } : n->file;
}

/* The number of a key, which becomes *next where it is new: then *is_new is set. */
static uint32_t number_of(struct firefox *x, uint64_t key, size_t next, bool *is_new)
{
    struct dp_map_slot *slot = dp_map_put(&x->frame_of, key);
    *is_new = slot && slot->value == DP_MAP_NONE;
    if (*is_new)
        slot->value = (uint32_t)next;
    return slot ? slot->value : DP_MAP_NONE;
}

static uint32_t func_of(struct firefox *x, uint32_t name)
{
    bool is_new;
    uint32_t n = number_of(x, (uint64_t)name << 32 | DP_MAP_NONE, x->n_funcs, &is_new);
    if (is_new && dp_mem_grow((void **)&x->funcs, &x->funcs_cap, n + 1, sizeof *x->funcs) < 0)
        return DP_MAP_NONE;
    if (is_new)
        x->funcs[x->n_funcs++] = name;
    return n;
}

static uint32_t frame_of(struct firefox *x, uint32_t name, uint32_t site)
{
    bool is_new;
    uint32_t func = func_of(x, name);
    uint32_t n = number_of(x, (uint64_t)name << 32 | site, x->n_frames, &is_new);
    if (is_new && dp_mem_grow((void **)&x->frames, &x->frames_cap, n + 1, sizeof *x->frames) < 0)
        n = DP_MAP_NONE;
    else if (is_new)
        x->frames[x->n_frames++] = (struct frame){ func, site };
    if (func == DP_MAP_NONE || n == DP_MAP_NONE)
        x->err = DP_E_NOMEM;
    return n;
}

/* ---- columns ---- */

static void put_number(struct firefox *x, uint64_t n)
{
    dp_jsonout_item(&x->json);
    dp_buf_addu(&x->json.line, n);
}

static void put_ms(struct firefox *x, uint64_t ns)
{
    dp_jsonout_item(&x->json);
    dp_jsonout_ms(&x->json, ns);
}

static void put_word(struct firefox *x, const char *word)
{
    dp_jsonout_item(&x->json);
    dp_buf_adds(&x->json.line, word);
}

static uint32_t new_row(struct firefox *x, uint32_t name, uint32_t site, uint32_t prefix)
{
    if (x->column == COLUMN_FRAME)
        put_number(x, frame_of(x, name, site));
    else if (x->column == COLUMN_PREFIX && prefix == DP_MAP_NONE)
        put_word(x, "null");
    else if (x->column == COLUMN_PREFIX)
        put_number(x, prefix);
    return x->n_rows++;
}

/* The line of the call, if it is one of the file where the caller stands; else 0. */
static uint32_t site_of(const struct firefox *x, uint32_t caller)
{
    const struct dp_stacks *s = x->e.p->s;
    uint32_t site = s->site ? s->site[x->e.frame] : 0;
    if (!site || !s->sites[site].line)
        return 0;
    struct dp_name file = file_of(x, caller);
    return dp_name_compare(&s->sites[site].file, &file) == 0 ? site : 0;
}

/* Puts the frame on the stack. */
static int enter(struct firefox *x)
{
    const struct dp_stacks *s = x->e.p->s;
    if (dp_mem_grow((void **)&x->stack, &x->stack_cap, x->depth + 1, sizeof *x->stack) < 0)
        return DP_E_NOMEM;
    struct level *up = x->depth ? &x->stack[x->depth - 1] : NULL, *top = &x->stack[x->depth++];
    uint32_t site = up ? site_of(x, up->name) : 0;
    memset(top, 0, sizeof *top);
    top->prefix = up ? up->row : DP_MAP_NONE;
    if (site && up->site != site) {
        up->site_row = new_row(x, up->name, site, up->prefix);
        up->site = site;
    }
    if (site)
        top->prefix = up->site_row;
    top->name = s->frames[up ? x->e.frame : 0].name;    /* the first one may stand for a part */
    top->row = new_row(x, top->name, 0, top->prefix);
    return x->err;
}

/* What was counted where no time passed goes with the sample before, so each waits for the next
 * one: readers divide by the time between two samples. */
static void put_count(struct firefox *x)
{
    put_number(x, x->held);
    x->held = x->sum;
    x->sum = 0;
}

static void put_sample(struct firefox *x, uint32_t row, uint64_t time, uint64_t weight)
{
    bool is_time = x->e.measures[x->measure].is_time;
    if (x->column == COLUMN_STACK)
        put_number(x, row);
    else if (x->column == COLUMN_TIME)
        put_ms(x, time);
    else if (x->column == COLUMN_WEIGHT)
        (is_time ? put_ms : put_number)(x, weight);
    else if (x->column == COLUMN_COUNT_TIME)
        put_ms(x, time + weight);
    else if (x->column == COLUMN_COUNT)
        put_count(x);
    x->n_samples++;
}

/* ---- sums ---- */

/* Where values stand on the axis of time: those of times where they are, counts so that all of them
 * take as long as the times do. */
static uint64_t time_of(const struct firefox *x, uint64_t sum)
{
    const struct dp_export_measure *m = &x->e.measures[x->measure];
    uint64_t total = x->e.p->s->total[m->column], time;
    if (m->is_time)
        return sum;
    if (!total || !dp_num_scale(sum < total ? sum : total, x->range, total, &time))
        return x->range;
    return time;
}

static int take_sum(struct firefox *x)
{
    uint32_t level = x->e.is_frame ? (uint32_t)x->e.level : 0;
    if (x->e.is_frame || !x->depth) {
        x->depth = level;
        if (enter(x) < 0)
            return DP_E_NOMEM;
    }
    uint64_t own = dp_export_self(&x->e, x->measure, x->e.frame);
    if (own)
        put_sample(x, x->stack[level].row, time_of(x, x->sum), own);
    x->sum += own;
    return 0;
}

/* ---- order of time ---- */

static uint64_t nanoseconds(const struct firefox *x, uint64_t ticks)
{
    uint64_t ns;
    return dp_num_scale(ticks, SECOND, x->e.p->s->hz[0], &ns) ? ns : DP_LIMIT_COUNT;
}

/* The frame's own code runs, for so many ticks at the most. It counts as its time passes. */
static void pass(struct firefox *x, struct level *top, uint64_t ticks)
{
    uint64_t own = ticks < top->left ? ticks : top->left;
    uint64_t start = nanoseconds(x, top->at), end = nanoseconds(x, top->at + own);
    uint64_t counted = top->left ? dp_num_mul_div(top->counted, own, top->left) : top->counted;
    top->counted -= counted;
    x->sum = dp_count_add(x->sum, counted);
    if (end > start)
        put_sample(x, top->row, x->offset + start, end - start);
    top->left -= own;
    top->at += own;
}

static void leave_in_time(struct firefox *x)
{
    struct level *top = &x->stack[--x->depth];
    pass(x, top, top->left);
    if (x->depth)
        x->stack[x->depth - 1].at = top->at;
}

static int take_in_time(struct firefox *x)
{
    const struct dp_stacks *s = x->e.p->s;
    size_t callers = x->e.is_frame ? x->e.level : 1;
    uint64_t own = dp_stacks_self(s, x->e.frame, 0), start = s->start[x->e.frame];
    while (x->depth > callers)
        leave_in_time(x);
    if (x->e.is_frame || !x->depth) {
        if (x->depth && start > x->stack[x->depth - 1].at) {
            pass(x, &x->stack[x->depth - 1], start - x->stack[x->depth - 1].at);
            x->stack[x->depth - 1].at = start;
        }
        uint64_t at = x->depth ? x->stack[x->depth - 1].at : start;
        if (enter(x) < 0)
            return DP_E_NOMEM;
        x->stack[x->depth - 1].at = at;
    }
    struct level *top = &x->stack[x->depth - 1];
    top->left += own;
    if (x->measure)
        top->counted = dp_count_add(top->counted, dp_stacks_self(s, x->e.frame, x->measure));
    return 0;
}

/* ---- a thread ---- */

/* Writes a column. */
static int walk(struct firefox *x, const char *key, enum column column)
{
    int rc = 0;
    x->column = column;
    x->n_rows = 0;
    x->n_samples = 0;
    x->sum = x->held = 0;
    x->depth = 0;
    dp_export_walk(&x->e, x->lane);
    dp_jsonout_key(&x->json, key);
    dp_jsonout_open(&x->json, '[');
    if (column == COLUMN_COUNT_TIME)    /* readers take the first one as where counting begins */
        put_ms(x, x->offset);
    while (rc >= 0 && (rc = dp_export_next(&x->e)) > 0)
        rc = x->in_time ? take_in_time(x) : take_sum(x);
    while (rc == 0 && x->in_time && x->depth)
        leave_in_time(x);
    if (column == COLUMN_COUNT)
        put_number(x, dp_count_add(x->held, x->sum));
    dp_jsonout_close(&x->json, ']');
    return rc < 0 ? rc : x->json.out->err;
}

static int put_stacks(struct firefox *x)
{
    dp_jsonout_key(&x->json, "stackTable");
    dp_jsonout_open(&x->json, '{');
    int rc = walk(x, "frame", COLUMN_FRAME);
    rc = rc < 0 ? rc : walk(x, "prefix", COLUMN_PREFIX);
    dp_jsonout_number(&x->json, "length", x->n_rows);
    dp_jsonout_close(&x->json, '}');
    return rc;
}

static int put_samples(struct firefox *x)
{
    const struct dp_export_measure *m = &x->e.measures[x->measure];
    dp_jsonout_key(&x->json, "samples");
    dp_jsonout_open(&x->json, '{');
    int rc = walk(x, "stack", COLUMN_STACK);
    rc = rc < 0 ? rc : walk(x, "time", COLUMN_TIME);
    rc = rc < 0 ? rc : walk(x, "weight", COLUMN_WEIGHT);
    dp_jsonout_raw(&x->json, "weightType", m->is_time ? "\"tracing-ms\"" : m->is_bytes ? "\"bytes\""
                                        : "\"samples\"");
    dp_jsonout_number(&x->json, "length", x->n_samples);
    dp_jsonout_close(&x->json, '}');
    return rc;
}

/* A column that has one value, n times. */
static void put_same(struct firefox *x, const char *key, const char *value, size_t n)
{
    dp_jsonout_key(&x->json, key);
    dp_jsonout_open(&x->json, '[');
    while (n-- > 0)
        put_word(x, value);
    dp_jsonout_close(&x->json, ']');
}

static unsigned category_of(const struct dp_stacks_name *name)
{
    return name->kind == DP_KIND_PROGRAM ? OF_PROGRAM : name->kind == DP_KIND_XS ? OF_XS
           : name->kind == DP_KIND_BUILTIN ? OF_BUILTIN : OF_PERL;
}

static void put_frames(struct firefox *x)
{
    const struct dp_stacks *s = x->e.p->s;
    dp_jsonout_key(&x->json, "frameTable");
    dp_jsonout_open(&x->json, '{');
    dp_jsonout_key(&x->json, "func");
    dp_jsonout_open(&x->json, '[');
    for (size_t k = 0; k < x->n_frames; k++)
        put_number(x, x->frames[k].func);
    dp_jsonout_close(&x->json, ']');
    dp_jsonout_key(&x->json, "category");
    dp_jsonout_open(&x->json, '[');
    for (size_t k = 0; k < x->n_frames; k++)
        put_number(x, category_of(&s->names[x->funcs[x->frames[k].func]]));
    dp_jsonout_close(&x->json, ']');
    dp_jsonout_key(&x->json, "line");
    dp_jsonout_open(&x->json, '[');
    for (size_t k = 0; k < x->n_frames; k++)
        if (x->frames[k].site)
            put_number(x, s->sites[x->frames[k].site].line);
        else
            put_word(x, "null");
    dp_jsonout_close(&x->json, ']');
    static const char *const same[][2] = {
        { "address", "-1" }, { "inlineDepth", "0" }, { "subcategory", "0" },
        { "nativeSymbol", "null" }, { "innerWindowID", "0" }, { "column", "null" },
    };
    for (size_t k = 0; k < DP_ARRAY_LEN(same); k++)
        put_same(x, same[k][0], same[k][1], x->n_frames);
    dp_jsonout_number(&x->json, "length", x->n_frames);
    dp_jsonout_close(&x->json, '}');
}

/* The number of a string in their table. */
static void put_text(struct firefox *x, const char *ptr, size_t len)
{
    uint32_t n = dp_pool_intern(&x->texts, len ? ptr : "", len);
    x->err = n == DP_MAP_NONE ? DP_E_NOMEM : x->err;
    put_number(x, n);
}

static void put_funcs(struct firefox *x)
{
    const struct dp_stacks *s = x->e.p->s;
    dp_jsonout_key(&x->json, "funcTable");
    dp_jsonout_open(&x->json, '{');
    dp_jsonout_key(&x->json, "name");
    dp_jsonout_open(&x->json, '[');
    for (size_t k = 0; k < x->n_funcs; k++)
        put_text(x, s->names[x->funcs[k]].text.ptr, s->names[x->funcs[k]].text.len);
    dp_jsonout_close(&x->json, ']');
    dp_jsonout_key(&x->json, "fileName");
    dp_jsonout_open(&x->json, '[');
    for (size_t k = 0; k < x->n_funcs; k++) {
        struct dp_name file = file_of(x, x->funcs[k]);
        if (file.len)
            put_text(x, file.ptr, file.len);
        else
            put_word(x, "null");
    }
    dp_jsonout_close(&x->json, ']');
    dp_jsonout_key(&x->json, "lineNumber");
    dp_jsonout_open(&x->json, '[');
    for (size_t k = 0; k < x->n_funcs; k++)
        if (s->names[x->funcs[k]].line)
            put_number(x, s->names[x->funcs[k]].line);
        else
            put_word(x, "null");
    dp_jsonout_close(&x->json, ']');
    put_same(x, "isJS", "false", x->n_funcs);
    put_same(x, "relevantForJS", "false", x->n_funcs);
    put_same(x, "resource", "-1", x->n_funcs);
    put_same(x, "columnNumber", "null", x->n_funcs);
    dp_jsonout_number(&x->json, "length", x->n_funcs);
    dp_jsonout_close(&x->json, '}');
}

/* The phase of the program at f or, of the frames that are beside it, behind that; else the end. */
static uint32_t phase_from(const struct firefox *x, uint32_t f)
{
    const struct dp_stacks *s = x->e.p->s;
    uint32_t end = s->frames[x->lane].end;
    while (f < end && s->names[s->frames[f].name].kind != DP_KIND_PHASE)
        f = s->frames[f].end;
    return f;
}

/* Where a phase begins that phase_from found: a phase ends where the next one begins. */
static uint64_t phase_start(const struct firefox *x, uint32_t f)
{
    const struct dp_stacks *s = x->e.p->s;
    uint64_t ticks = 0;
    if (f < s->frames[x->lane].end)
        return x->offset + nanoseconds(x, s->start[f]);
    for (uint32_t k = x->lane; k < f; k++)
        ticks += dp_stacks_self(s, k, 0);
    return x->offset + nanoseconds(x, ticks);
}

/* Markers: in order of time, phases of the program. */
static void put_markers(struct firefox *x)
{
    static const char *const columns[] = { "name", "startTime", "endTime" };
    const struct dp_stacks *s = x->e.p->s;
    const uint32_t first = phase_from(x, x->lane + 1), end = s->frames[x->lane].end;
    size_t n = 0;
    dp_jsonout_key(&x->json, "markers");
    dp_jsonout_open(&x->json, '{');
    for (size_t c = 0; c < DP_ARRAY_LEN(columns); c++) {
        dp_jsonout_key(&x->json, columns[c]);
        dp_jsonout_open(&x->json, '[');
        n = 0;
        for (uint32_t f = first, next; x->in_time && f < end; f = next, n++) {
            next = phase_from(x, s->frames[f].end);
            struct dp_name name = dp_export_bare(&s->names[s->frames[f].name].text);
            if (c == 0)
                put_text(x, name.ptr, name.len);
            else
                put_ms(x, phase_start(x, c == 1 ? f : next));
        }
        dp_jsonout_close(&x->json, ']');
    }
    put_same(x, "phase", "1", n);       /* they last, and have begun and ended */
    put_same(x, "category", "0", n);
    put_same(x, "data", "{\"type\":\"phase\"}", n);
    dp_jsonout_number(&x->json, "length", n);
    dp_jsonout_close(&x->json, '}');
}

static void put_name(struct firefox *x, const struct dp_export_part *part)
{
    struct dp_buf text;
    dp_buf_init(&text);
    dp_buf_adds(&text, x->e.measures[x->measure].metric->key);
    if (part && part->tid)
        dp_buf_addf(&text, ", tid %" PRIu64, part->tid);
    dp_jsonout_text(&x->json, "name", text.ptr, text.len);
    x->err = text.err ? text.err : x->err;
    dp_buf_release(&text);
}

static void put_pid(struct firefox *x, uint64_t pid)
{
    dp_jsonout_key(&x->json, "pid");
    dp_buf_addc(&x->json.line, '"');
    dp_buf_addu(&x->json.line, pid);
    dp_buf_addc(&x->json.line, '"');
}

/* Who it is: processes are told apart by their pid, threads by their tid, which is the number of
 * the thread here, since a measure is one, too. */
static void put_identity(struct firefox *x)
{
    const struct dp_export_how *how = x->e.p->job->export;
    const struct dp_export_part *part = dp_export_part_of(&x->e, x->lane);
    uint64_t pid = part ? part->pid : 0;
    bool is_main = !x->in_time && (!x->threads || pid != x->pid);
    const char *script = script_of(x);
    put_name(x, how->n_parts > 1 ? part : NULL);
    dp_jsonout_text(&x->json, "processName", script, strlen(script));
    dp_jsonout_raw(&x->json, "processType", "\"default\"");
    dp_jsonout_raw(&x->json, "isMainThread", is_main ? "true" : "false");
    put_pid(x, pid);
    dp_jsonout_number(&x->json, "tid", ++x->threads);
    dp_jsonout_number(&x->json, "registerTime", 0);
    dp_jsonout_raw(&x->json, "unregisterTime", "null");
    dp_jsonout_number(&x->json, "processStartupTime", 0);
    dp_jsonout_raw(&x->json, "processShutdownTime", "null");
    dp_jsonout_raw(&x->json, "pausedRanges", "[]");
    x->pid = pid;
}

static int put_thread(struct firefox *x)
{
    dp_map_clear(&x->frame_of);
    x->n_frames = x->n_funcs = 0;
    dp_jsonout_row(&x->json);
    dp_jsonout_open(&x->json, '{');
    put_identity(x);
    int rc = put_stacks(x);
    rc = rc < 0 ? rc : put_samples(x);
    if (rc < 0 || x->err)
        return rc < 0 ? rc : x->err;
    put_frames(x);
    put_funcs(x);
    put_markers(x);
    dp_jsonout_raw(&x->json, "resourceTable",
                "{\"length\":0,\"lib\":[],\"name\":[],\"host\":[],\"type\":[]}");
    dp_jsonout_raw(&x->json, "nativeSymbols",
                "{\"length\":0,\"address\":[],\"functionSize\":[],\"libIndex\":[],\"name\":[]}");
    dp_jsonout_close(&x->json, '}');
    x->e.p->out->lines++;
    return x->err ? x->err : x->json.out->err;
}

/* ---- the file ---- */

/* When the first part began, in nanoseconds since 1970; 0: not known. */
static uint64_t first_start(const struct dp_export_how *how)
{
    uint64_t first = 0;
    for (size_t k = 0; k < how->n_parts; k++)
        if (how->parts[k].start && (!first || how->parts[k].start < first))
            first = how->parts[k].start;
    return first;
}

/* Goes to the next lane. Returns false behind the last one. */
static bool next_lane(struct firefox *x)
{
    if (!dp_export_lane(&x->e, &x->lane))
        return false;
    const struct dp_export_part *part = dp_export_part_of(&x->e, x->lane);
    bool has_start = x->in_time && part && part->start;
    x->offset = has_start ? part->start - first_start(x->e.p->job->export) : 0;
    return true;
}

/* The threads of the stacks that x->e walks through. */
static int put_threads(struct firefox *x)
{
    const size_t count = x->in_time ? 1 : x->e.count;
    int rc = 0;
    x->lane = DP_STACKS_NONE;
    while (rc == 0 && next_lane(x))
        for (x->measure = 0; x->measure < count && rc == 0; x->measure++)
            rc = put_thread(x);
    return rc;
}

/* A counter of a lane; thread: the number of one of its process. */
static int put_counter(struct firefox *x, size_t thread)
{
    struct dp_jsonout *json = &x->json;
    const struct dp_flame_metric *metric = x->e.measures[x->measure].metric;
    const struct dp_export_part *part = dp_export_part_of(&x->e, x->lane);
    dp_jsonout_row(json);
    dp_jsonout_open(json, '{');
    dp_jsonout_text(json, "name", metric->key, strlen(metric->key));
    dp_jsonout_text(json, "category", "Perl", 4);
    dp_jsonout_text(json, "description", metric->label, strlen(metric->label));
    put_pid(x, part ? part->pid : 0);
    dp_jsonout_number(json, "mainThreadIndex", thread);
    dp_jsonout_key(json, "samples");
    dp_jsonout_open(json, '{');
    int rc = walk(x, "time", COLUMN_COUNT_TIME);
    rc = rc < 0 ? rc : walk(x, "count", COLUMN_COUNT);
    dp_jsonout_number(json, "length", x->n_samples + 1);
    dp_jsonout_close(json, '}');
    dp_jsonout_close(json, '}');
    return rc;
}

/* The counters of the stacks in order of time; threads: of each lane of the others. */
static int put_counters(struct firefox *x, const struct dp_stacks_printing *timeline,
                        size_t threads)
{
    int rc = dp_export_init(&x->e, timeline);
    dp_jsonout_key(&x->json, "counters");
    dp_jsonout_open(&x->json, '[');
    x->lane = DP_STACKS_NONE;
    for (size_t lane = 0; rc == 0 && next_lane(x); lane++)
        for (x->measure = 1; x->measure < x->e.count && rc == 0; x->measure++)
            rc = put_counter(x, lane * threads);
    dp_jsonout_close(&x->json, ']');
    dp_export_release(&x->e);
    return rc;
}

/* What times there are together take at the most; counts have a second where there are none. */
static uint64_t range_of(const struct dp_export *e)
{
    uint64_t range = 0, ns;
    for (size_t k = 0; k < e->count; k++) {
        const struct dp_export_measure *m = &e->measures[k];
        if (m->is_time && dp_num_scale(e->p->s->total[m->column], SECOND, m->hz, &ns) && ns > range)
            range = ns;
    }
    return range ? range : SECOND;
}

static void put_categories(struct dp_jsonout *json)
{
#define CATEGORY(name, color) { name, color },
    static const char *const categories[][2] = { CATEGORIES(CATEGORY) };
#undef CATEGORY
    dp_jsonout_key(json, "categories");
    dp_jsonout_open(json, '[');
    for (size_t k = 0; k < DP_ARRAY_LEN(categories); k++) {
        dp_jsonout_item(json);
        dp_jsonout_open(json, '{');
        dp_jsonout_text(json, "name", categories[k][0], strlen(categories[k][0]));
        dp_jsonout_text(json, "color", categories[k][1], strlen(categories[k][1]));
        dp_jsonout_raw(json, "subcategories", "[\"Other\"]");
        dp_jsonout_close(json, '}');
    }
    dp_jsonout_close(json, ']');
}

static void put_meta(struct dp_jsonout *json, const struct dp_stacks_job *job)
{
    dp_jsonout_key(json, "meta");
    dp_jsonout_open(json, '{');
    dp_jsonout_number(json, "version", 30);
    dp_jsonout_number(json, "preprocessedProfileVersion", FORMAT_VERSION);
    dp_jsonout_number(json, "interval", 1);
    dp_jsonout_key(json, "startTime");
    dp_jsonout_ms(json, first_start(job->export));
    dp_jsonout_number(json, "processType", 0);
    dp_jsonout_text(json, "product", job->title, strlen(job->title));
    dp_jsonout_key(json, "importedFrom");
    dp_buf_adds(&json->line, "\"Devel::DProf ");
    dp_buf_adds(&json->line, job->version);
    dp_buf_addc(&json->line, '"');
    dp_jsonout_number(json, "stackwalk", 0);
    dp_jsonout_raw(json, "debug", "false");
    dp_jsonout_raw(json, "symbolicated", "true");
    dp_jsonout_raw(json, "initialSelectedThreads", "[0]");
    dp_jsonout_raw(json, "usesOnlyOneStackType", "true");
    dp_jsonout_raw(json, "doesNotUseFrameImplementation", "true");
    dp_jsonout_raw(json, "sourceCodeIsNotOnSearchfox", "true");
    put_categories(json);
    dp_jsonout_raw(json, "markerSchema",
                "[{\"name\":\"phase\",\"tooltipLabel\":\"{marker.name}\","
                "\"tableLabel\":\"phase of the program\",\"chartLabel\":\"{marker.name}\","
                "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
                "\"fields\":[]}]");
    dp_jsonout_close(json, '}');
}

/* The threads of these stacks. */
static int put_stacks_of(struct firefox *x, const struct dp_stacks_printing *p)
{
    int rc = dp_export_init(&x->e, p);
    x->range = rc == 0 ? range_of(&x->e) : 0;
    rc = rc < 0 ? rc : put_threads(x);
    dp_export_release(&x->e);
    return rc;
}

static void put_strings(struct firefox *x)
{
    dp_jsonout_key(&x->json, "shared");
    dp_jsonout_open(&x->json, '{');
    dp_jsonout_key(&x->json, "stringArray");
    dp_jsonout_open(&x->json, '[');
    for (uint32_t k = 0; k < x->texts.count; k++) {
        const struct dp_name *text = dp_pool_name(&x->texts, k);
        dp_jsonout_row(&x->json);
        dp_json_string(&x->json.line, text->ptr, text->len);
    }
    dp_jsonout_close(&x->json, ']');
    dp_jsonout_close(&x->json, '}');
}

static int put_file(struct firefox *x, const struct dp_stacks_printing *p)
{
    struct dp_jsonout *json = &x->json;
    dp_jsonout_open(json, '{');
    put_meta(json, p->job);
    dp_jsonout_raw(json, "libs", "[]");
    dp_jsonout_key(json, "threads");
    dp_jsonout_open(json, '[');
    int rc = put_stacks_of(x, p);
    if (p->timeline && rc == 0) {
        x->in_time = true;
        rc = put_stacks_of(x, p->timeline);
    }
    dp_jsonout_close(json, ']');
    if (x->in_time && rc == 0 && p->timeline->s->n_columns > 1)
        rc = put_counters(x, p->timeline, p->s->n_columns / p->s->n_sides);
    put_strings(x);
    dp_jsonout_close(json, '}');
    dp_buf_addc(&json->line, '\n');
    return rc;
}

int dp_print_firefox(const struct dp_stacks_printing *p)
{
    struct firefox x;
    memset(&x, 0, sizeof x);
    dp_jsonout_init(&x.json, p->sink);
    dp_pool_init(&x.texts);
    dp_map_init(&x.frame_of);
    int rc = put_file(&x, p), ended = dp_jsonout_end(&x.json);
    dp_pool_release(&x.texts);
    dp_map_release(&x.frame_of);
    dp_mem_free(x.stack);
    dp_mem_free(x.frames);
    dp_mem_free(x.funcs);
    return rc < 0 ? rc : ended;
}
