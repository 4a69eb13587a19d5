/* Writes speedscope's format: jlfwong/speedscope, src/lib/file-format-spec.ts. Each measure is a
 * profile of events: a frame opens where its value begins and closes where that of its last callee
 * ends. So each context appears once, at any depth. For a trace, one more profile has its events in
 * the order of time. */
#include "dp_export.h"
#include "dp_err.h"
#include "dp_fmt.h"
#include "dp_jsonout.h"
#include "dp_mem.h"
#include "dp_num.h"
#include "dp_pool.h"

#include <string.h>

/* An open frame, and its place on the axis. */
struct entered {
    uint32_t name;
    uint64_t start;
    uint64_t sum;               /* in order of time: its own time and that of its callees */
    uint64_t end;               /* in order of time: end of its last callee */
};

struct speedscope {
    struct dp_export e;         /* of the current stacks */
    struct dp_jsonout json;
    struct dp_pool frames;      /* of the file, as JSON: a name is one frame in all profiles */
    uint32_t *number[2];        /* by name of the stacks, and of those in order of time: frame */
    bool in_time;
    uint64_t hz;                /* in order of time: places are ticks of this rate; else 0: places
                                 * are values as written */
    struct entered *stack;
    size_t depth, cap;
    size_t opened;              /* number of frames of the stack that have a value, and therefore an
                                 * event */
    uint64_t at;                /* of the last event */
};

/* ---- events ---- */

/* Writes an event that opens (O) or closes (C) a frame; at: a place on the axis, in ticks if x->hz
 * is set. Places never decrease, as readers demand. */
static void put_event(struct speedscope *x, char type, uint32_t name, uint64_t at)
{
    if (x->hz && !dp_num_scale(at, 1000000000, x->hz, &at))
        at = DP_LIMIT_COUNT;
    x->at = at > x->at ? at : x->at;
    dp_jsonout_row(&x->json);
    dp_buf_adds(&x->json.line, "{\"type\":\"");
    dp_buf_addc(&x->json.line, type);
    dp_buf_adds(&x->json.line, "\",\"frame\":");
    dp_buf_addu(&x->json.line, x->number[x->in_time][name]);
    dp_buf_adds(&x->json.line, ",\"at\":");
    dp_buf_addu(&x->json.line, x->at);
    dp_buf_addc(&x->json.line, '}');
}

/* Pushes the current frame of the walk. Its event is written only when it, or a callee, has a
 * value. */
static int enter_frame(struct speedscope *x, uint64_t start)
{
    const struct dp_stacks *s = x->e.p->s;
    if (dp_mem_grow((void **)&x->stack, &x->cap, x->depth + 1, sizeof *x->stack) < 0)
        return DP_E_NOMEM;
    /* the first one may represent a part */
    uint32_t name = s->frames[x->depth ? x->e.frame : 0].name;
    x->stack[x->depth++] = (struct entered){ name, start, 0, start };
    return 0;
}

/* Opens the current frame, which has a value, and those above it. */
static void open_all(struct speedscope *x)
{
    for (; x->opened < x->depth; x->opened++)
        put_event(x, 'O', x->stack[x->opened].name, x->stack[x->opened].start);
}

/* Pops the innermost frame, and closes it at `end` if it was opened. */
static void leave_frame(struct speedscope *x, uint64_t end)
{
    x->depth--;
    if (x->opened > x->depth) {
        x->opened--;
        put_event(x, 'C', x->stack[x->depth].name, end);
    }
}

/* The number of frames above this one. A part or phase, which is no frame, gives its values to the
 * outermost one. */
static size_t callers_of(const struct dp_export *e)
{
    return e->is_frame ? e->level : 1;
}

/* ---- sums ---- */

/* Writes the events of a measure. The axis is the sum of own values in the order of the walk, so
 * each frame is as wide as its inclusive value. */
static int put_sums(struct speedscope *x, size_t measure)
{
    uint64_t sum = 0;
    int rc;
    while ((rc = dp_export_next(&x->e)) > 0) {
        while (x->depth > callers_of(&x->e))
            leave_frame(x, sum);
        if (x->depth == x->e.level && enter_frame(x, sum) < 0)
            return DP_E_NOMEM;
        uint64_t own = dp_export_self(&x->e, measure, x->e.frame);
        if (own)
            open_all(x);
        sum += own;
    }
    while (x->depth)
        leave_frame(x, sum);
    return rc;
}

/* ---- order of time ---- */

/* Leaves a frame. Its own time and its callees fill the time from its start, unless the program's
 * time is left out. */
static void leave_in_time(struct speedscope *x)
{
    struct entered top = x->stack[x->depth - 1];
    uint64_t end = top.start + top.sum > top.end ? top.start + top.sum : top.end;
    leave_frame(x, end);
    if (x->depth) {
        x->stack[x->depth - 1].sum += top.sum;
        x->stack[x->depth - 1].end = end;
    }
}

/* Writes the events of a trace, in the order of time. Frames open where they began; a frame's end
 * follows from its own time and that of its callees. */
static int put_in_time(struct speedscope *x)
{
    const struct dp_stacks *s = x->e.p->s;
    int rc;
    while ((rc = dp_export_next(&x->e)) > 0) {
        while (x->depth > callers_of(&x->e))
            leave_in_time(x);
        if (x->depth == x->e.level && enter_frame(x, s->start[x->e.frame]) < 0)
            return DP_E_NOMEM;
        uint64_t own = dp_stacks_self(s, x->e.frame, 0);
        if (own)
            open_all(x);
        x->stack[x->depth - 1].sum += own;
    }
    while (x->depth)
        leave_in_time(x);
    return rc;
}

/* ---- the file ---- */

/* Writes the name of a profile: the measure (what) and, if there are several parts, the part with
 * its process and thread. */
static void put_name(struct speedscope *x, const char *what, const struct dp_export_part *part)
{
    struct dp_buf *to = &x->json.line;
    dp_jsonout_key(&x->json, "name");
    struct dp_buf text;
    dp_buf_init(&text);
    dp_buf_adds(&text, what);
    if (part) {
        dp_buf_adds(&text, ", ");
        dp_buf_adds(&text, part->name);
    }
    if (part && part->pid)
        dp_buf_addf(&text, ", pid %llu", (unsigned long long)part->pid);
    if (part && part->tid)
        dp_buf_addf(&text, ", tid %llu", (unsigned long long)part->tid);
    dp_json_string(to, text.ptr, text.len);
    to->err = text.err ? text.err : to->err;
    dp_buf_release(&text);
}

/* Writes the profile of a measure, or the one in order of time; for all parts, or for one of
 * several. */
static int put_profile(struct speedscope *x, uint32_t lane, size_t measure)
{
    const struct dp_export_how *how = x->e.p->job->export;
    const struct dp_export_measure *m = &x->e.measures[measure];
    x->at = 0;
    dp_export_walk(&x->e, lane);
    dp_jsonout_row(&x->json);
    dp_jsonout_open(&x->json, '{');
    dp_jsonout_text(&x->json, "type", "evented", 7);
    put_name(x, m->metric->key, how->n_parts > 1 ? dp_export_part_of(&x->e, lane) : NULL);
    dp_jsonout_key(&x->json, "unit");
    const char *unit = m->is_time || m->is_bytes ? dp_export_unit(m) : "none";
    dp_json_string(&x->json.line, unit, strlen(unit));
    dp_jsonout_number(&x->json, "startValue", 0);
    dp_jsonout_key(&x->json, "events");
    dp_jsonout_open(&x->json, '[');
    int rc = x->in_time ? put_in_time(x) : put_sums(x, measure);
    dp_jsonout_close(&x->json, ']');
    dp_jsonout_number(&x->json, "endValue", x->at);
    dp_jsonout_close(&x->json, '}');
    x->e.p->out->lines++;
    return rc < 0 ? rc : x->json.out->err;
}

/* Writes a profile for each measure of each part of the stacks *p. */
static int put_profiles(struct speedscope *x, const struct dp_stacks_printing *p)
{
    int rc = dp_export_init(&x->e, p);
    size_t count = x->in_time ? 1 : x->e.count;      /* in order of time, there are no counters */
    for (size_t k = 0; k < count && rc == 0; k++)
        for (uint32_t lane = DP_STACKS_NONE; rc == 0 && dp_export_lane(&x->e, &lane);)
            rc = put_profile(x, lane, k);
    dp_export_release(&x->e);
    return rc;
}

/* Finds or makes the frame of a name, as JSON. */
static uint32_t frame_of(struct speedscope *x, const struct dp_stacks_name *name)
{
    struct dp_buf text;
    dp_buf_init(&text);
    dp_buf_adds(&text, "{\"name\":");
    dp_json_string(&text, name->text.ptr, name->text.len);
    if (name->file.len) {
        dp_buf_adds(&text, ",\"file\":");
        dp_json_string(&text, name->file.ptr, name->file.len);
    }
    if (name->file.len && name->line) {
        dp_buf_adds(&text, ",\"line\":");
        dp_buf_addu(&text, name->line);
    }
    dp_buf_addc(&text, '}');
    uint32_t n = text.err ? DP_MAP_NONE : dp_pool_intern(&x->frames, text.ptr, text.len);
    dp_buf_release(&text);
    return n;
}

/* Numbers the names that have a frame; parts and phases have none. */
static int number_names(struct speedscope *x, const struct dp_stacks *s, bool in_time)
{
    bool *used = dp_mem_zalloc(s->n_names + s->n_sources + 1);
    uint32_t *number = dp_mem_zalloc((s->n_names + 1) * sizeof *number);
    int rc = used && number ? 0 : DP_E_NOMEM;
    x->number[in_time] = number;
    for (size_t i = 0; rc == 0 && i < s->count; i++)
        used[s->frames[i].name] = true;
    for (size_t n = 0; rc == 0 && n < s->n_names; n++)
        if (used[n] && s->names[n].kind != DP_KIND_PHASE)
            rc = (number[n] = frame_of(x, &s->names[n])) == DP_MAP_NONE ? DP_E_NOMEM : 0;
    dp_mem_free(used);
    return rc;
}

/* Writes the table of frames, which all profiles share. */
static void put_frames(struct speedscope *x)
{
    for (uint32_t n = 0; n < x->frames.count; n++) {
        const struct dp_name *frame = dp_pool_name(&x->frames, n);
        dp_jsonout_row(&x->json);
        dp_buf_add(&x->json.line, frame->ptr, frame->len);
    }
}

/* Writes the file: the frames, then the profiles of sums, then those in order of time if there is a
 * trace. */
static int put_file(struct speedscope *x, const struct dp_stacks_printing *p)
{
    struct dp_jsonout *json = &x->json;
    dp_jsonout_open(json, '{');
    dp_jsonout_raw(json, "$schema", "\"https://www.speedscope.app/file-format-schema.json\"");
    dp_jsonout_key(json, "exporter");
    dp_buf_adds(&json->line, "\"Devel::DProf ");
    dp_buf_adds(&json->line, p->job->version);
    dp_buf_addc(&json->line, '"');
    dp_jsonout_text(json, "name", p->job->title, strlen(p->job->title));
    dp_jsonout_number(json, "activeProfileIndex", 0);
    dp_jsonout_key(json, "shared");
    dp_jsonout_open(json, '{');
    dp_jsonout_key(json, "frames");
    dp_jsonout_open(json, '[');
    put_frames(x);
    dp_jsonout_close(json, ']');
    dp_jsonout_close(json, '}');
    dp_jsonout_key(json, "profiles");
    dp_jsonout_open(json, '[');
    int rc = put_profiles(x, p);
    if (p->timeline && rc == 0) {
        x->in_time = true;
        x->hz = p->timeline->s->hz[0];
        rc = put_profiles(x, p->timeline);
    }
    dp_jsonout_close(json, ']');
    dp_jsonout_close(json, '}');
    dp_buf_addc(&json->line, '\n');
    return rc;
}

/* Prints the stacks as a file of speedscope, in JSON. Returns 0 or a DP_E. */
int dp_print_speedscope(const struct dp_stacks_printing *p)
{
    struct speedscope x;
    memset(&x, 0, sizeof x);
    dp_jsonout_init(&x.json, p->sink);
    dp_pool_init(&x.frames);
    int rc = number_names(&x, p->s, false);
    rc = rc == 0 && p->timeline ? number_names(&x, p->timeline->s, true) : rc;
    rc = rc < 0 ? rc : put_file(&x, p);
    int ended = dp_jsonout_end(&x.json);
    dp_pool_release(&x.frames);
    dp_mem_free(x.number[0]);
    dp_mem_free(x.number[1]);
    dp_mem_free(x.stack);
    return rc < 0 ? rc : ended;
}
