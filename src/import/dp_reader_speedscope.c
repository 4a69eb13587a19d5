/* Reads speedscope's JSON. The file has a list of frames, and profiles whose stacks are numbers of
 * frames. The members of an object come in any order. The list of frames may come last, so stacks
 * are kept as a tree until the end. The unit of a profile may come after its values, which are kept
 * as text until then. Only the exporter's name shows whether names of profiles have a meaning. */
#include "dp_reader_speedscope.h"
#include "dp_unreadable.h"
#include "dp_samples.h"
#include "dp_json.h"
#include "dp_mem.h"

#include <string.h>

enum {
    STRING_MAX = (int)(DP_LIMIT_LINE / 2),
    SAMPLES_MAX = 1 << 26       /* number of samples of a profile */
};

struct frame {
    uint32_t name, file;        /* in names; NONE: missing */
    uint64_t line;
};

/* A value whose unit is not known yet: a weight, or the time of an event. */
struct late {
    uint32_t node;              /* context of the value; for events, context of the time that passed
                                 * before */
    size_t text;                /* in texts */
};

/* The kind of a profile's values; values of one kind are added up over the file's profiles. */
struct kind {
    uint32_t name;              /* in names; NONE: all profiles with this unit are one kind. Kinds
                                 * of other exporters are joined at the end, if the exporter is only
                                 * known then */
    const struct unit *unit;
};

struct speedscope {
    struct dp_json json;
    bool started;               /* the first bytes have been read */
    bool known, ours;           /* the exporter is known; it is our dprofexport, so names are
                                 * metrics */
    struct dp_pool names;
    struct frame *frames;
    size_t n_frames, frames_cap;
    uint32_t *numbers;          /* the consumer's number, by frame */
    uint32_t used;              /* frames that profiles use: the highest number plus 1 */
    struct kind kinds[DP_IMPORT_VALUES];
    size_t n_kinds;
    struct dp_samples tree;
    uint32_t *stack;            /* of an evented profile: contexts from the caller to the callee */
    size_t depth, stack_cap;
    uint32_t *leaves;           /* of a sampled profile */
    uint64_t *weights;
    size_t n_leaves, n_weights, leaves_cap, weights_cap;
    struct late *late;          /* values of the profile that cannot be added yet */
    size_t n_late, late_cap;
    struct dp_buf texts;        /* texts of late values, each with a NUL */
    const char *cut;            /* what is wrong with the end; NULL: nothing */
};

static const struct unit {
    const char *name, *kind, *unit;     /* kind: its name if profiles are not metrics */
    unsigned decimals;          /* number of decimals kept */
} units[] = {
    { "nanoseconds", "time", "ns", 0 }, { "microseconds", "time", "ns", 3 },
    { "milliseconds", "time", "ns", 6 }, { "seconds", "time", "ns", 9 },
    { "bytes", "memory", "bytes", 0 },  { "none", "count", "", 0 },
};

/* The profile that is being read. Values are in the kind's own units. */
struct profile {
    uint32_t name;              /* NONE: not known yet */
    const struct unit *unit;    /* NULL: not known yet */
    size_t kind;                /* DP_IMPORT_VALUES: not determined yet */
    bool evented, begun;        /* begun: the start was known at the first event */
    bool late;                  /* weights are kept as texts */
    size_t start, end;          /* in texts; NO_TEXT: missing */
    int64_t first, at;          /* of the first event, and of the previous one */
};

#define NO_TEXT SIZE_MAX
#define NO_TIME INT64_MIN

enum { NONE = -1 };

/* Recognizes an object that names the schema near its beginning, or has the members of speedscope's
 * objects. */
static bool is_speedscope(const char *ptr, size_t len)
{
    size_t at = 0;
    while (at < len && strchr(" \t\r\n", ptr[at]) && ptr[at])
        at++;
    if (at == len || ptr[at] != '{')
        return false;
    if (dp_unreadable_has(ptr, len, "speedscope.app/file-format-schema"))
        return true;
#define HAS(name) dp_unreadable_has(ptr, len, "\"" name "\"")
    bool profiles = HAS("profiles") && (HAS("evented") || HAS("sampled"));
    return (profiles || (HAS("shared") && HAS("frames"))) && !HAS("traceEvents");
#undef HAS
}

/* ---- tokens ---- */

/* Returns the number of further bytes of the file for the JSON parser, 0 at its end, or a DP_E. The
 * first bytes are in the buffer already, because they were needed to recognize the format. */
static long fill_json(void *ctx, const char **ptr)
{
    struct dp_reader *r = ctx;
    struct speedscope *in = r->import.state;
    long got = (long)(r->in.end - r->in.pos);
    if (in->started || !got) {
        r->in.pos = r->in.end;
        got = dp_reader_refill(r);
    }
    in->started = true;
    *ptr = r->in.buf + r->in.pos;
    return got;
}

/* The place of an error: that of the last token. */
static size_t place_of_token(struct dp_reader *r)
{
    struct speedscope *in = r->import.state;
    r->in.line = in->json.line;
    return (size_t)(in->json.ptr - in->json.begin);
}

#define FAIL(r, code, ...) dp_reader_fail(r, code, place_of_token(r), __VA_ARGS__)

/* Reads the next token; errors are reported, except for a text that ends too early. */
static int next_token(struct dp_reader *r)
{
    struct speedscope *in = r->import.state;
    int kind = dp_json_next(&in->json);
    if (kind == DP_E_NOMEM)
        return dp_import_error(r, DP_E_NOMEM);
    if (kind < 0 && kind != DP_E_TRUNCATED && in->json.what)
        return FAIL(r, kind, "%s", in->json.what);
    return kind;
}

/* Skips a value of any kind, whose first token is given. Returns 0 or a DP_E. */
static int skip_value(struct dp_reader *r, int kind)
{
    struct speedscope *in = r->import.state;
    int rc = dp_json_skip(&in->json, kind);
    return rc < 0 && rc != DP_E_TRUNCATED && in->json.what ? FAIL(r, rc, "%s", in->json.what) : rc;
}

/* Reads a token of a kind, or fails. */
static int expect_token(struct dp_reader *r, int kind, const char *what)
{
    int got = next_token(r);
    return got < 0 || got == kind ? got : FAIL(r, DP_E_SYNTAX, "%s", what);
}

/* Sets *out to the number of the string that was read last. Returns 0 or a DP_E. */
static int intern_text(struct dp_reader *r, uint32_t *out)
{
    struct speedscope *in = r->import.state;
    *out = dp_pool_intern(&in->names, in->json.text.len ? in->json.text.ptr : "",
                          in->json.text.len);
    return *out == DP_MAP_NONE ? dp_import_error(r, DP_E_NOMEM) : 0;
}

/* Reads a whole number from 0 up. */
static int read_whole(struct dp_reader *r, int kind, uint64_t *out)
{
    struct speedscope *in = r->import.state;
    int64_t v = 0;
    if (kind < 0)
        return kind;
    if (kind != DP_JSON_NUMBER || !dp_json_scaled(&in->json, 0, &v) || v < 0)
        return FAIL(r, DP_E_SYNTAX, "there is no whole number where one should be");
    *out = (uint64_t)v;
    return 0;
}

/* Reads the number of a frame. The list of frames may follow, so only read_head checks that the
 * frame exists. */
static int read_frame_number(struct dp_reader *r, int kind, uint32_t *out)
{
    struct speedscope *in = r->import.state;
    uint64_t n = 0;
    int rc = read_whole(r, kind, &n);
    if (rc == 0 && n >= DP_LIMIT_IDS)
        return FAIL(r, DP_E_LIMIT, "a frame has the number %llu", (unsigned long long)n);
    *out = (uint32_t)n;
    if (rc == 0 && *out >= in->used)
        in->used = *out + 1;
    return rc;
}

/* ---- frames ---- */

/* Reads a frame, an object of the list of frames. Its place may be missing, and its name may
 * not. */
static int read_frame(struct dp_reader *r)
{
    struct speedscope *in = r->import.state;
    struct frame f = { (uint32_t)NONE, (uint32_t)NONE, 0 };
    int kind, rc = 0;
    while (rc == 0 && (kind = next_token(r)) == DP_JSON_KEY) {
        bool name = dp_json_is(&in->json, "name"), file = dp_json_is(&in->json, "file");
        bool line = dp_json_is(&in->json, "line");
        kind = next_token(r);
        if (kind == DP_JSON_STRING && (name || file))
            rc = intern_text(r, name ? &f.name : &f.file);
        else if (kind == DP_JSON_NUMBER && line)
            rc = read_whole(r, kind, &f.line);
        else
            rc = skip_value(r, kind);
    }
    if (rc < 0 || kind < 0)
        return rc < 0 ? rc : kind;
    if (f.name == (uint32_t)NONE)
        return FAIL(r, DP_E_SYNTAX, "a frame has no name");
    if (in->n_frames >= DP_LIMIT_IDS)
        return FAIL(r, DP_E_LIMIT, "there are more than %lu frames",
                    (unsigned long)DP_LIMIT_IDS);
    if (dp_mem_grow((void **)&in->frames, &in->frames_cap, in->n_frames + 1, sizeof f) < 0)
        return dp_import_error(r, DP_E_NOMEM);
    in->frames[in->n_frames++] = f;
    return 0;
}

/* Reads the objects of an array, each with `one`. */
static int each_object(struct dp_reader *r, int (*one)(struct dp_reader *r))
{
    int kind = expect_token(r, DP_JSON_ARRAY, "there is no list where one should be");
    while (kind >= 0 && (kind = next_token(r)) == DP_JSON_OBJECT) {
        int rc = one(r);
        if (rc < 0)
            return rc;
    }
    return kind < 0 || kind == DP_JSON_ARRAY_END ? (kind < 0 ? kind : 0)
            : FAIL(r, DP_E_SYNTAX, "there is something else than an object in a list of objects");
}

/* Reads the object `shared', which has the frames. */
static int read_shared(struct dp_reader *r)
{
    struct speedscope *in = r->import.state;
    int rc = 0, kind = expect_token(r, DP_JSON_OBJECT, "`shared' is no object");
    while (kind >= 0 && rc == 0 && (kind = next_token(r)) == DP_JSON_KEY)
        rc = dp_json_is(&in->json, "frames") ? each_object(r, read_frame)
                : skip_value(r, next_token(r));
    return kind < 0 ? kind : rc;
}

/* ---- values ---- */

/* Joins kinds that differ only in the profile's name, because the names are not those of
 * metrics. */
static int join_kinds(struct dp_reader *r)
{
    struct speedscope *in = r->import.state;
    size_t n = 0;
    for (size_t i = 0; i < in->n_kinds; i++) {
        size_t to = 0;
        while (to < n && strcmp(in->kinds[to].unit->kind, in->kinds[i].unit->kind) != 0)
            to++;
        int rc = to < i ? dp_samples_move(&in->tree, i, to) : 0;
        if (rc < 0)
            return rc == DP_E_NOMEM ? dp_import_error(r, rc)
                    : FAIL(r, rc, "the values add up to more than fits");
        in->kinds[to] = (struct kind){ (uint32_t)NONE, in->kinds[i].unit };
        n += to == n;
    }
    in->n_kinds = n;
    in->known = true;
    return 0;
}

/* Finds or makes the kind of a profile's values, whose unit and name are known. */
static int find_kind(struct dp_reader *r, struct profile *p)
{
    struct speedscope *in = r->import.state;
    if (p->kind < DP_IMPORT_VALUES)
        return 0;
    if (!in->known && in->n_kinds == DP_IMPORT_VALUES) {
        int rc = join_kinds(r);         /* our files do not have so many */
        if (rc < 0)
            return rc;
    }
    struct kind want = { in->known && !in->ours ? (uint32_t)NONE : p->name, p->unit };
    for (p->kind = 0; p->kind < in->n_kinds; p->kind++) {
        const struct kind *k = &in->kinds[p->kind];
        if (k->name == want.name && strcmp(k->unit->kind, want.unit->kind) == 0)
            return 0;
    }
    if (in->n_kinds == DP_IMPORT_VALUES)
        return FAIL(r, DP_E_LIMIT, "there are more than %d kinds of values", DP_IMPORT_VALUES);
    in->kinds[in->n_kinds++] = want;
    return 0;
}

/* Is it too early to add values? */
static bool is_early(const struct dp_reader *r, const struct profile *p)
{
    const struct speedscope *in = r->import.state;
    bool any_name = in->known && !in->ours;
    return !p->unit || in->n_late || (p->name == (uint32_t)NONE && !any_name);
}

/* Reads a number as a whole number of the profile's smallest unit. Returns 0 or a DP_E. */
static int scaled_value(struct dp_reader *r, struct profile *p, const struct dp_json *number,
                        int64_t *out)
{
    int rc = find_kind(r, p);
    if (rc < 0)
        return rc;
    return dp_json_scaled(number, p->unit->decimals, out) ? 0
            : FAIL(r, DP_E_LIMIT, "a value is too large");
}

/* The value of the last token. */
static int last_amount(struct dp_reader *r, struct profile *p, int64_t *out)
{
    struct speedscope *in = r->import.state;
    return scaled_value(r, p, &in->json, out);
}

/* The value of a text that was kept. */
static int amount_of(struct dp_reader *r, struct profile *p, size_t text, int64_t *out)
{
    struct speedscope *in = r->import.state;
    struct dp_json number = { .text = { .ptr = in->texts.ptr + text } };
    number.text.len = strlen(number.text.ptr);
    return scaled_value(r, p, &number, out);
}

/* Checks that a token is a number. */
static int expect_number(struct dp_reader *r, int kind)
{
    return kind < 0 || kind == DP_JSON_NUMBER ? (kind < 0 ? kind : 0)
            : FAIL(r, DP_E_SYNTAX, "there is no number where one should be");
}

/* Keeps the last number as text. */
static int keep_text(struct dp_reader *r, size_t *text)
{
    struct speedscope *in = r->import.state;
    *text = in->texts.len;
    if (in->json.text.len >= DP_LIMIT_WHOLE - in->texts.len)
        return FAIL(r, DP_E_LIMIT, "the values before a profile's unit take more than %zu bytes",
                    DP_LIMIT_WHOLE);
    dp_buf_add(&in->texts, in->json.text.ptr, in->json.text.len);
    dp_buf_addc(&in->texts, '\0');
    return in->texts.err ? dp_import_error(r, DP_E_NOMEM) : 0;
}

/* Keeps a value, whose text was kept before, until the profile's unit and name are known. */
static int keep_late(struct dp_reader *r, uint32_t node, size_t text)
{
    struct speedscope *in = r->import.state;
    if (dp_mem_grow((void **)&in->late, &in->late_cap, in->n_late + 1, sizeof *in->late) < 0)
        return dp_import_error(r, DP_E_NOMEM);
    in->late[in->n_late++] = (struct late){ node, text };
    return 0;
}

/* Adds a value to a node of the tree. Returns 0 or a DP_E. */
static int add_value(struct dp_reader *r, const struct profile *p, uint32_t node, uint64_t value)
{
    struct speedscope *in = r->import.state;
    int rc = value ? dp_samples_add(&in->tree, node, p->kind, value) : 0;
    return rc == DP_E_NOMEM ? dp_import_error(r, DP_E_NOMEM)
            : rc < 0 ? FAIL(r, rc, "the values add up to more than fits") : 0;
}

/* Returns the number of the node for a frame that is called from the node `parent', or a DP_E. */
static int64_t enter_frame(struct dp_reader *r, uint32_t parent, uint32_t frame)
{
    struct speedscope *in = r->import.state;
    int64_t node = dp_samples_enter(&in->tree, parent, frame);
    if (node == DP_E_NOMEM)
        return dp_import_error(r, DP_E_NOMEM);
    return node < 0 ? FAIL(r, (int)node, "there are more than %lu contexts",
                           (unsigned long)DP_LIMIT_NODES) : node;
}

/* ---- evented profiles ---- */

static uint32_t top_frame(const struct dp_reader *r)
{
    const struct speedscope *in = r->import.state;
    return in->depth ? in->stack[in->depth - 1] : 0;
}

/* Adds the time between two events to the frame on top or, if none is open, to the program. */
static int add_time_until(struct dp_reader *r, struct profile *p, uint32_t node, int64_t at)
{
    int rc = 0;
    if (p->at == NO_TIME) {
        p->first = p->at = at;
        p->begun = p->start != NO_TEXT;
        rc = p->begun ? amount_of(r, p, p->start, &p->at) : 0;
    }
    if (rc < 0)
        return rc;
    if (at < p->at)
        return FAIL(r, DP_E_SYNTAX, "an event is earlier than what is before it");
    uint64_t value = (uint64_t)at - (uint64_t)p->at;
    p->at = at;
    return add_value(r, p, node, value);
}

/* Begins a call of a frame by the one on top of the stack. */
static int open_frame(struct dp_reader *r, uint32_t frame)
{
    struct speedscope *in = r->import.state;
    int64_t node = enter_frame(r, top_frame(r), frame);
    if (node < 0)
        return (int)node;
    if (in->depth == DP_LIMIT_DEPTH)
        return FAIL(r, DP_E_LIMIT, "a stack is too deep");
    if (dp_mem_grow((void **)&in->stack, &in->stack_cap, in->depth + 1, sizeof *in->stack) < 0)
        return dp_import_error(r, DP_E_NOMEM);
    in->stack[in->depth++] = (uint32_t)node;
    return 0;
}

/* Ends the call on top of the stack, which must be one of this frame. */
static int close_frame(struct dp_reader *r, uint32_t frame)
{
    struct speedscope *in = r->import.state;
    if (!in->depth)
        return FAIL(r, DP_E_SYNTAX, "frame %lu is closed, and none is open", (unsigned long)frame);
    uint32_t last = in->tree.nodes[in->stack[in->depth - 1]].sub;
    if (last != frame)
        return FAIL(r, DP_E_SYNTAX, "frame %lu is closed, and %lu was opened last",
                    (unsigned long)frame, (unsigned long)last);
    in->depth--;
    return 0;
}

/* Reads the begin or the end of a call. The time since the event before goes to the frame that was
 * on top in between. */
static int read_event(struct dp_reader *r, struct profile *p)
{
    struct speedscope *in = r->import.state;
    char type = '\0';
    bool has_frame = false, has_at = false, early = is_early(r, p);
    uint32_t frame = 0;
    int64_t at = 0;
    size_t text = 0;
    int rc = 0, kind;
    while (rc == 0 && (kind = next_token(r)) == DP_JSON_KEY) {
        bool is_type = dp_json_is(&in->json, "type"), is_frame = dp_json_is(&in->json, "frame");
        bool is_at = dp_json_is(&in->json, "at");
        kind = next_token(r);
        if (is_type && kind == DP_JSON_STRING) {
            type = in->json.text.len == 1 ? in->json.text.ptr[0] : '\0';
        } else if (is_frame) {
            rc = read_frame_number(r, kind, &frame), has_frame = true;
        } else if (is_at) {
            rc = expect_number(r, kind), has_at = true;
            if (rc == 0)
                rc = early ? keep_text(r, &text) : last_amount(r, p, &at);
        } else {
            rc = skip_value(r, kind);
        }
    }
    if (rc < 0 || kind < 0)
        return rc < 0 ? rc : kind;
    if (!has_frame || !has_at || (type != 'O' && type != 'C'))
        return FAIL(r, DP_E_SYNTAX, "an event lacks its type (O or C), its frame or its time");
    rc = early ? keep_late(r, top_frame(r), text) : add_time_until(r, p, top_frame(r), at);
    return rc < 0 ? rc : type == 'O' ? open_frame(r, frame) : close_frame(r, frame);
}

/* Reads the events of a profile. All calls must have ended at the end. */
static int read_events(struct dp_reader *r, struct profile *p)
{
    struct speedscope *in = r->import.state;
    int kind = expect_token(r, DP_JSON_ARRAY, "the events of a profile are no list");
    in->depth = 0;
    p->evented = true;
    while (kind >= 0 && (kind = next_token(r)) == DP_JSON_OBJECT) {
        int rc = read_event(r, p);
        if (rc < 0)
            return rc;
    }
    if (kind < 0)
        return kind;
    if (kind != DP_JSON_ARRAY_END)
        return FAIL(r, DP_E_SYNTAX, "there is something else than an object in a list of objects");
    return in->depth ? FAIL(r, DP_E_SYNTAX, "%zu frames are open at the end of a profile",
                            in->depth) : 0;
}

/* ---- sampled profiles ---- */

/* Reads a stack, callers before callees. Returns its context, or a DP_E. */
static int64_t read_sample(struct dp_reader *r)
{
    uint32_t node = 0, frame;
    int kind;
    while ((kind = next_token(r)) == DP_JSON_NUMBER) {
        int rc = read_frame_number(r, kind, &frame);
        int64_t n = rc < 0 ? rc : enter_frame(r, node, frame);
        if (n < 0)
            return n;
        node = (uint32_t)n;
    }
    return kind < 0 ? kind : kind == DP_JSON_ARRAY_END ? (int64_t)node
            : FAIL(r, DP_E_SYNTAX, "a sample is no list of numbers");
}

/* Gives a sample its weight: an element of `weights' is a number, or the place of its text. */
static int weigh_sample(struct dp_reader *r, const struct profile *p, uint32_t node,
                        uint64_t weight)
{
    return p->late ? keep_late(r, node, (size_t)weight) : add_value(r, p, node, weight);
}

/* Reads the stacks of a profile. A stack whose weight has come before gets it here; read_weights
 * gives the other ones theirs. */
static int read_samples(struct dp_reader *r, struct profile *p)
{
    struct speedscope *in = r->import.state;
    int kind = expect_token(r, DP_JSON_ARRAY, "the samples of a profile are no list");
    while (kind >= 0 && (kind = next_token(r)) == DP_JSON_ARRAY) {
        int64_t node = read_sample(r);
        int rc = node < 0 ? (int)node : 0;
        size_t i = in->n_leaves;
        if (rc == 0 && i == SAMPLES_MAX)
            return FAIL(r, DP_E_LIMIT, "a profile has more than %d samples", SAMPLES_MAX);
        if (rc == 0 && dp_mem_grow((void **)&in->leaves, &in->leaves_cap, i + 1,
                                   sizeof *in->leaves) < 0)
            return dp_import_error(r, DP_E_NOMEM);
        if (rc < 0)
            return rc;
        in->leaves[in->n_leaves++] = (uint32_t)node;
        if (i < in->n_weights && (rc = weigh_sample(r, p, (uint32_t)node, in->weights[i])) < 0)
            return rc;
    }
    return kind < 0 || kind == DP_JSON_ARRAY_END ? (kind < 0 ? kind : 0)
            : FAIL(r, DP_E_SYNTAX, "a sample is no list of numbers");
}

/* Reads a weight, as `weights' stores it. */
static int read_weight(struct dp_reader *r, struct profile *p, int kind, uint64_t *weight)
{
    int64_t v = 0;
    size_t text = 0;
    int rc = expect_number(r, kind);
    if (rc == 0)
        rc = p->late ? keep_text(r, &text) : last_amount(r, p, &v);
    if (rc == 0 && v < 0)
        return FAIL(r, DP_E_SYNTAX, "a weight is negative");
    *weight = p->late ? text : (uint64_t)v;
    return rc;
}

/* Reads weights. They usually follow the samples; if not, they are kept. */
static int read_weights(struct dp_reader *r, struct profile *p)
{
    struct speedscope *in = r->import.state;
    int kind = expect_token(r, DP_JSON_ARRAY, "the weights of a profile are no list");
    p->late = p->late || is_early(r, p);
    while (kind >= 0 && (kind = next_token(r)) != DP_JSON_ARRAY_END) {
        uint64_t v = 0;
        int rc = read_weight(r, p, kind, &v);
        size_t i = in->n_weights;
        if (rc == 0 && i < in->n_leaves) {
            rc = weigh_sample(r, p, in->leaves[i], v);
        } else if (rc == 0 && i == SAMPLES_MAX) {
            return FAIL(r, DP_E_LIMIT, "a profile has more than %d samples", SAMPLES_MAX);
        } else if (rc == 0) {
            if (dp_mem_grow((void **)&in->weights, &in->weights_cap, i + 1,
                            sizeof *in->weights) < 0)
                return dp_import_error(r, DP_E_NOMEM);
            in->weights[i] = v;
        }
        if (rc < 0)
            return rc;
        in->n_weights++;
    }
    return kind < 0 ? kind : 0;
}

/* Adds the values that came before the unit or the name. */
static int add_late(struct dp_reader *r, struct profile *p)
{
    struct speedscope *in = r->import.state;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < in->n_late; i++) {
        int64_t v;
        rc = amount_of(r, p, in->late[i].text, &v);
        if (rc == 0 && !p->evented && v < 0)
            return FAIL(r, DP_E_SYNTAX, "a weight is negative");
        if (rc == 0)
            rc = p->evented ? add_time_until(r, p, in->late[i].node, v)
                    : add_value(r, p, in->late[i].node, (uint64_t)v);
    }
    return rc;
}

/* Adds the time before the first event, if the start came after it, and the time after the last
 * one. */
static int add_ends(struct dp_reader *r, struct profile *p)
{
    int64_t v;
    int rc = 0;
    if (p->start != NO_TEXT && !p->begun && (rc = amount_of(r, p, p->start, &v)) == 0) {
        if (p->at == NO_TIME)
            p->at = v;
        else if (v > p->first)
            return FAIL(r, DP_E_SYNTAX, "an event is earlier than what is before it");
        else
            rc = add_value(r, p, 0, (uint64_t)p->first - (uint64_t)v);
    }
    if (rc == 0 && p->end != NO_TEXT && p->at != NO_TIME
        && (rc = amount_of(r, p, p->end, &v)) == 0 && v > p->at)
        rc = add_value(r, p, 0, (uint64_t)v - (uint64_t)p->at);
    return rc;
}

/* ---- profiles ---- */

/* Reads the unit of a profile's values: one of those in speedscope's schema. */
static int read_unit(struct dp_reader *r, struct profile *p)
{
    struct speedscope *in = r->import.state;
    int kind = expect_token(r, DP_JSON_STRING, "the unit of a profile is no string");
    for (size_t i = 0; kind >= 0 && i < DP_ARRAY_LEN(units); i++)
        if (dp_json_is(&in->json, units[i].name))
            p->unit = &units[i];
    if (kind >= 0 && !p->unit)
        return FAIL(r, DP_E_SYNTAX, "this is no unit: %.*s",
                    in->json.text.len > 40 ? 40 : (int)in->json.text.len, in->json.text.ptr);
    return kind < 0 ? kind : 0;
}

/* Reads a profile's name. In a name of our own, only the first word says what is counted. */
static int read_profile_name(struct dp_reader *r, struct profile *p)
{
    struct speedscope *in = r->import.state;
    int rc = expect_token(r, DP_JSON_STRING, "the name of a profile is no string");
    char *blank = rc < 0 || !in->json.text.len ? NULL
            : memchr(in->json.text.ptr, ' ', in->json.text.len);
    if (blank)
        in->json.text.len = (size_t)(blank - in->json.text.ptr);
    return rc < 0 ? rc : intern_text(r, &p->name);
}

/* Reads the value of the profile's key that was read last. */
static int read_profile_value(struct dp_reader *r, struct profile *p)
{
    struct speedscope *in = r->import.state;
    if (dp_json_is(&in->json, "name"))
        return read_profile_name(r, p);
    if (dp_json_is(&in->json, "unit"))
        return read_unit(r, p);
    if (dp_json_is(&in->json, "events"))
        return read_events(r, p);
    if (dp_json_is(&in->json, "samples"))
        return read_samples(r, p);
    if (dp_json_is(&in->json, "weights"))
        return read_weights(r, p);
    bool start = dp_json_is(&in->json, "startValue"), end = dp_json_is(&in->json, "endValue");
    int kind = next_token(r);
    if (!start && !end)
        return skip_value(r, kind);
    int rc = expect_number(r, kind);
    return rc < 0 ? rc : keep_text(r, start ? &p->start : &p->end);
}

/* Reads a profile, whose members come in any order. At its end its unit and name are known, and the
 * values that came before them are added. */
static int read_profile(struct dp_reader *r)
{
    struct speedscope *in = r->import.state;
    struct profile p = { .name = (uint32_t)NONE, .kind = DP_IMPORT_VALUES, .start = NO_TEXT,
                         .end = NO_TEXT, .first = NO_TIME, .at = NO_TIME };
    int rc = 0, kind;
    in->n_leaves = in->n_weights = in->n_late = 0;
    dp_buf_clear(&in->texts);
    while (rc == 0 && (kind = next_token(r)) == DP_JSON_KEY)
        rc = read_profile_value(r, &p);
    if (rc < 0 || kind < 0)
        return rc < 0 ? rc : kind;
    if (in->n_leaves != in->n_weights)
        return FAIL(r, DP_E_SYNTAX, "a profile has %zu samples and %zu weights", in->n_leaves,
                    in->n_weights);
    if (!p.unit)
        return in->n_late ? FAIL(r, DP_E_SYNTAX, "a profile has values, and no unit") : 0;
    rc = find_kind(r, &p);
    if (rc == 0)
        rc = add_late(r, &p);
    return rc == 0 && p.evented ? add_ends(r, &p) : rc;
}

/* ---- the file ---- */

/* Reads the exporter's name. The names of profiles are metrics only if our dprofexport has made the
 * file; otherwise kinds of values that differ in name alone are joined. */
static int read_exporter(struct dp_reader *r)
{
    struct speedscope *in = r->import.state;
    int kind = next_token(r);
    if (in->known)              /* there were more kinds than our files have */
        return skip_value(r, kind);
    in->ours = kind == DP_JSON_STRING && in->json.text.len >= 12
               && memcmp(in->json.text.ptr, "Devel::DProf", 12) == 0;
    in->known = in->ours;
    int rc = in->known || kind < 0 ? 0 : join_kinds(r);
    if (rc < 0)
        return rc;
    return skip_value(r, kind);
}

/* Reads the object that the file consists of. Returns 0, DP_E_TRUNCATED without a message, or
 * another DP_E. */
static int read_all(struct dp_reader *r)
{
    struct speedscope *in = r->import.state;
    int rc = 0, kind = expect_token(r, DP_JSON_OBJECT, "the file is no object");
    while (kind >= 0 && rc == 0 && (kind = next_token(r)) == DP_JSON_KEY) {
        if (dp_json_is(&in->json, "shared"))
            rc = read_shared(r);
        else if (dp_json_is(&in->json, "profiles"))
            rc = each_object(r, read_profile);
        else if (dp_json_is(&in->json, "exporter"))
            rc = read_exporter(r);
        else
            rc = skip_value(r, next_token(r));
    }
    if (rc == 0 && kind >= 0)
        kind = next_token(r);
    return rc < 0 ? rc : kind < 0 ? kind : 0;
}

/* Makes the header from the kinds of values of all profiles in the file. */
static int make_header(struct dp_reader *r)
{
    struct speedscope *in = r->import.state;
    for (size_t i = 0; i < in->n_kinds; i++) {
        const struct kind *k = &in->kinds[i];
        struct dp_text name = { k->unit->kind, strlen(k->unit->kind) };
        struct dp_text of = { k->unit->unit, strlen(k->unit->unit) };
        if (k->name != (uint32_t)NONE)
            name = dp_import_name(&in->names, k->name);
        int rc = dp_import_value(r, name, of);
        if (rc < 0)
            return rc;
    }
    return dp_import_header(r, 0);
}

/* Reads the whole file, since the kinds of values and the frames are complete only at its end. A
 * file that ends too early is used as far as it goes, if the frames of its stacks are there. */
static int read_head(struct dp_reader *r)
{
    struct speedscope *in = r->import.state = dp_mem_zalloc(sizeof *in);
    if (!in)
        return dp_import_error(r, DP_E_NOMEM);
    dp_json_init(&in->json, fill_json, r, STRING_MAX);
    dp_buf_init(&in->texts);
    dp_pool_init(&in->names);
    dp_samples_init(&in->tree);
    int rc = read_all(r);
    place_of_token(r);
    if (rc == DP_E_TRUNCATED && in->n_kinds && in->used <= in->n_frames) {
        in->cut = r->in.cut ? "the compressed data break off" : "the file ends within its JSON";
        r->in.cut = false;
        rc = 0;
    } else if (rc == DP_E_TRUNCATED) {
        return FAIL(r, rc, "the file ends within its JSON");
    }
    if (rc == 0 && !in->known)
        rc = join_kinds(r);
    if (rc == 0 && !in->n_kinds)
        return dp_reader_fail(r, DP_E_SYNTAX, 0, "it has no values");
    if (rc == 0 && in->used > in->n_frames)
        return dp_reader_fail(r, DP_E_SYNTAX, 0, "its profiles have frame %lu, and there are %zu",
                              (unsigned long)in->used - 1, in->n_frames);
    return rc < 0 ? rc : make_header(r);
}

/* Hands over the frames that the stacks use, as subs. A frame with the name of the root is no sub:
 * its values go to its caller. */
static int give_frames(struct dp_reader *r)
{
    struct speedscope *in = r->import.state;
    in->numbers = dp_mem_zalloc((in->n_frames + 1) * sizeof *in->numbers);
    if (!in->numbers)
        return dp_import_error(r, DP_E_NOMEM);
    for (size_t i = 0; i < in->used; i++) {
        const struct frame *f = &in->frames[i];
        struct dp_text name = dp_import_name(&in->names, f->name), file = { "", 0 };
        if (f->file != (uint32_t)NONE)
            file = dp_import_name(&in->names, f->file);
        if (dp_import_is_root(name)) {
            in->numbers[i] = DP_SUB_NONE;
            continue;
        }
        int rc = dp_import_sub(r, name, file, f->line, &in->numbers[i]);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Hands the frames and the tree of contexts to the consumer. read_head() has read the whole
 * file. */
static int read_body(struct dp_reader *r)
{
    struct speedscope *in = r->import.state;
    int rc = give_frames(r);
    if (rc == 0)
        rc = dp_samples_give(r, &in->tree, in->numbers);
    r->in.pos = r->in.end;
    return rc == 0 && in->cut ? dp_reader_fail(r, DP_E_TRUNCATED, 0, "%s", in->cut) : rc;
}

/* Frees what read_head has made (dp_import_format.release). */
static void release_state(void *state)
{
    struct speedscope *in = state;
    if (!in)
        return;
    dp_json_release(&in->json);
    dp_pool_release(&in->names);
    dp_samples_release(&in->tree);
    dp_mem_free(in->frames);
    dp_mem_free(in->numbers);
    dp_mem_free(in->stack);
    dp_mem_free(in->leaves);
    dp_mem_free(in->weights);
    dp_mem_free(in->late);
    dp_buf_release(&in->texts);
    dp_mem_free(in);
}

const struct dp_import_format dp_import_speedscope = {
    "speedscope", is_speedscope, read_head, read_body, release_state
};
