/* Writes pprof's format: google/pprof, proto/profile.proto, whose comments are the specification. A
 * context is a sample with its own values of all measures; its frames are locations, from the leaf
 * to the root, each a line of a function. Functions, locations and strings appear once, after the
 * samples, so one pass writes everything and memory grows only with names. */
#include "dp_export.h"
#include "dp_err.h"
#include "dp_map.h"
#include "dp_mem.h"
#include "dp_pool.h"
#include "dp_stacks_apportion.h"
#include "dp_text.h"
#include "dp_wire.h"

#include <string.h>

/* Fields of the messages. */
enum { SAMPLE_TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING, TIME = 9, DURATION,
       PERIOD_TYPE, PERIOD, DEFAULT_TYPE = 14 };
enum { TYPE_NAME = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STRING };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_FUNCTIONS = 7, MAPPING_FILES, MAPPING_LINES };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_NUMBER };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE, FUNCTION_LINE };

struct pprof {
    struct dp_export e;
    struct dp_pool texts;       /* the table of strings, which begins with an empty one */
    struct dp_buf message, part, text;
    struct dp_buf functions, locations; /* complete messages */
    struct dp_pool function_ids, location_ids;  /* keys of these messages, in order of their ids */
    bool has_spans;
    uint32_t *begin_of;         /* by name of the stacks: id of the location where it begins; 0:
                                 * none yet */
    struct dp_map location_of;  /* name of the stacks << 32 | site -> id */
    uint32_t *names;            /* by level: name of the stacks */
    /* The locations of the stack in the form of the file, the leaf first. They are at the end of
     * the bytes, so the locations of upper frames stay in place when a frame is put before them. */
    char *stack;
    size_t *length;             /* by level: length of this location and those above it, in bytes */
    size_t names_cap, stack_cap, length_cap;
    struct dp_stacks_ends ends;
    struct dp_stacks_apportion spread;
    uint32_t *line_of;          /* by line of the shares: location; 0: not made yet */
    size_t *order;              /* measures in the order of the file */
    const char *script;
    struct dp_sink *out;
};

/* ---- parts that appear once ---- */

/* The number of a string in the table of strings, which gets it on its first use; DP_MAP_NONE: no
 * memory. */
static uint32_t string_of(struct pprof *x, const char *ptr, size_t len)
{
    dp_buf_clear(&x->text);
    dp_text_escape(&x->text, ptr, len);
    if (x->text.err)
        return DP_MAP_NONE;
    return dp_pool_intern(&x->texts, x->text.len ? x->text.ptr : "", x->text.len);
}

/* Appends x->part as a field. Returns 0 or DP_E_NOMEM. */
static int add_part(struct pprof *x, struct dp_buf *to, unsigned field)
{
    dp_wire_bytes(to, field, x->part.ptr, x->part.len);
    return x->part.err ? x->part.err : to->err;
}

/* The number of a key, from 1 up; *is_new: this is its first use. */
static int64_t number_of(struct dp_pool *seen, const uint64_t *key, size_t n, bool *is_new)
{
    uint32_t before = seen->count,
             number = dp_pool_intern(seen, (const char *)key, n * sizeof *key);
    *is_new = number == before;
    return number == DP_MAP_NONE ? DP_E_NOMEM : (int64_t)number + 1;
}

/* Finds or makes a function. A function is a name, the file that contains its code, and its first
 * line there. With `#line', the code of a sub may be in several files. */
static int64_t function_of(struct pprof *x, const struct dp_name *name, const struct dp_name *file,
                           uint64_t line)
{
    uint32_t name_text = string_of(x, name->ptr, name->len),
             file_text = string_of(x, file->ptr, file->len);
    if (name_text == DP_MAP_NONE || file_text == DP_MAP_NONE)
        return DP_E_NOMEM;
    bool is_new;
    const uint64_t key[] = { (uint64_t)name_text << 32 | file_text, line };
    int64_t id = number_of(&x->function_ids, key, DP_ARRAY_LEN(key), &is_new);
    if (id < 0 || !is_new)
        return id;
    dp_buf_clear(&x->part);
    dp_wire_number(&x->part, FUNCTION_ID, (uint64_t)id);
    dp_wire_number(&x->part, FUNCTION_NAME, name_text);
    dp_wire_number(&x->part, FUNCTION_SYSTEM_NAME, name_text);
    dp_wire_number(&x->part, FUNCTION_FILE, file_text);
    dp_wire_number(&x->part, FUNCTION_LINE, line);
    return add_part(x, &x->functions, FUNCTION) < 0 ? DP_E_NOMEM : id;
}

/* Finds or makes the location of a line of a function; line 0: unknown. `function` may be an error,
 * which is returned. Returns the id. */
static int64_t location_of(struct pprof *x, int64_t function, uint64_t line)
{
    bool is_new;
    const uint64_t key[] = { (uint64_t)function, line };
    int64_t id = function < 0 ? function
                 : number_of(&x->location_ids, key, DP_ARRAY_LEN(key), &is_new);
    if (id < 0 || !is_new)
        return id;
    char bytes[4 * DP_WIRE_MAX], *to = bytes;
    *to++ = LINE_FUNCTION << 3;
    to = dp_wire_put(to, (uint64_t)function);
    if (line) {
        *to++ = LINE_NUMBER << 3;
        to = dp_wire_put(to, line);
    }
    dp_buf_clear(&x->part);
    dp_wire_number(&x->part, LOCATION_ID, (uint64_t)id);
    dp_wire_number(&x->part, LOCATION_MAPPING, 1);
    dp_wire_bytes(&x->part, LOCATION_LINE, bytes, (size_t)(to - bytes));
    return add_part(x, &x->locations, LOCATION) < 0 ? DP_E_NOMEM : id;
}

/* Finds or makes the location of a line of name n's code; line 0: where the sub begins. Returns its
 * id or DP_E_NOMEM. */
static int64_t location_at(struct pprof *x, uint32_t n, const struct dp_name *file, uint64_t line)
{
    const struct dp_stacks_name *name = &x->e.p->s->names[n];
    struct dp_name home = name->file;
    uint64_t begin = name->line;
    if (name->kind == DP_KIND_PROGRAM) {
        home = (struct dp_name){ x->script, strlen(x->script) };
        begin = 0;
    }
    if (!line)
        return location_of(x, function_of(x, &name->text, &home, begin), begin);
    bool at_home = dp_name_compare(file, &home) == 0;
    return location_of(x, function_of(x, &name->text, file, at_home ? begin : 0), line);
}

/* Finds or makes the location where a sub begins. */
static int64_t begin_location(struct pprof *x, uint32_t n)
{
    if (x->begin_of[n])
        return x->begin_of[n];
    int64_t id = location_at(x, n, NULL, 0);
    x->begin_of[n] = id < 0 ? 0 : (uint32_t)id;
    return id;
}

/* Finds or makes the location of a sub at the site of a call; 0: unknown. */
static int64_t site_location(struct pprof *x, uint32_t n, uint32_t site)
{
    if (!site)
        return begin_location(x, n);
    struct dp_map_slot *slot = dp_map_put(&x->location_of, (uint64_t)n << 32 | site);
    if (!slot)
        return DP_E_NOMEM;
    if (slot->value != DP_MAP_NONE)
        return slot->value;
    const struct dp_stacks_site *at = &x->e.p->s->sites[site];
    int64_t id = location_at(x, n, &at->file, at->line);
    slot->value = id < 0 ? DP_MAP_NONE : (uint32_t)id;
    return id;
}

/* ---- the stack ---- */

/* The bytes of the locations from this level up to the root, as the file has them. */
static const char *stack_at(const struct pprof *x, size_t level)
{
    return x->stack + x->stack_cap - x->length[level];
}

/* Makes room for `wanted` bytes of locations. The used ones are at the end, and stay there. */
static int grow_stack(struct pprof *x, size_t used, size_t wanted)
{
    if (wanted <= x->stack_cap)
        return 0;
    size_t cap = wanted < 1024 ? 1024 : 2 * wanted;
    char *stack = dp_mem_realloc(NULL, cap, 1);
    if (!stack)
        return DP_E_NOMEM;
    if (used)
        memcpy(stack + cap - used, x->stack + x->stack_cap - used, used);
    dp_mem_free(x->stack);
    x->stack = stack;
    x->stack_cap = cap;
    return 0;
}

/* Puts the location `id` at a level, in place of the one there and below. id may be an error, which
 * is returned. */
static int put_level(struct pprof *x, size_t level, int64_t id)
{
    size_t above = level ? x->length[level - 1] : 0;
    if (id < 0 || grow_stack(x, above, above + DP_WIRE_MAX) < 0)
        return id < 0 ? (int)id : DP_E_NOMEM;
    char bytes[DP_WIRE_MAX];
    size_t n = (size_t)(dp_wire_put(bytes, (uint64_t)id) - bytes);
    x->length[level] = above + n;
    memcpy(x->stack + x->stack_cap - above - n, bytes, n);
    return 0;
}

/* Puts a frame at a level, and the site of its call at the level above. */
static int descend_to(struct pprof *x, size_t level, uint32_t frame)
{
    const struct dp_stacks *s = x->e.p->s;
    if (dp_mem_grow((void **)&x->length, &x->length_cap, level + 1, sizeof *x->length) < 0
        || dp_mem_grow((void **)&x->names, &x->names_cap, level + 1, sizeof *x->names) < 0)
        return DP_E_NOMEM;
    x->names[level] = s->frames[frame].name;
    int rc = level ? put_level(x, level - 1,
                               site_location(x, x->names[level - 1], s->site ? s->site[frame]
                                             : 0)) : 0;
    return rc < 0 ? rc : put_level(x, level, begin_location(x, x->names[level]));
}

/* Puts the location of a part or a phase, which has the values of a frame itself without its
 * callees. */
static int put_own_level(struct pprof *x, size_t level)
{
    return put_level(x, level, begin_location(x, x->names[level]));
}

/* The location that replaces `frames` frames in the middle of a deep stack. */
static int64_t gap_location(struct pprof *x, size_t frames)
{
    static const struct dp_name no_file = { "", 0 };
    struct dp_buf text;
    dp_buf_init(&text);
    dp_buf_addf(&text, "(%zu frames left out)", frames);
    struct dp_name name = { text.ptr, text.len };
    int64_t id = text.err ? text.err
                 : location_of(x, function_of(x, &name, &no_file, 0), 0);
    dp_buf_release(&text);
    return id;
}

/* Appends the frames of the stack, from the leaf; of a deep stack, its two ends. */
static int put_stack(struct pprof *x, struct dp_buf *to)
{
    size_t level = x->e.level;
    if (level <= x->ends.most) {
        dp_wire_bytes(to, SAMPLE_LOCATION, stack_at(x, level), x->length[level]);
        return to->err;
    }
    int64_t middle = gap_location(x, level - x->ends.head - x->ends.tail);
    if (middle < 0)
        return (int)middle;
    dp_buf_clear(&x->part);
    dp_buf_add(&x->part, stack_at(x, level), x->length[level] - x->length[level - x->ends.tail]);
    dp_wire_varint(&x->part, (uint64_t)middle);
    dp_buf_add(&x->part, stack_at(x, x->ends.head), x->length[x->ends.head]);
    x->e.p->out->shortened++;
    x->e.p->out->most = x->ends.most;
    return add_part(x, to, SAMPLE_LOCATION);
}

/* ---- samples ---- */

/* Adds a label to the sample in x->message; readers can filter and group samples by labels. */
static int put_label(struct pprof *x, const char *key, const char *ptr, size_t len)
{
    uint32_t k = string_of(x, key, strlen(key)), v = string_of(x, ptr, len);
    if (k == DP_MAP_NONE || v == DP_MAP_NONE)
        return DP_E_NOMEM;
    dp_buf_clear(&x->part);
    dp_wire_number(&x->part, LABEL_KEY, k);
    dp_wire_number(&x->part, LABEL_STRING, v);
    return add_part(x, &x->message, SAMPLE_LABEL);
}

static int put_number_label(struct pprof *x, const char *key, uint64_t n)
{
    char text[DP_BUF_DIGITS];
    return put_label(x, key, text, (size_t)(dp_buf_putu(text, n) - text));
}

/* Adds the kind of the innermost span that the current frame is, or is below. */
static int put_kind(struct pprof *x)
{
    const struct dp_stacks_name *names = x->e.p->s->names;
    for (size_t level = x->e.level + 1; level-- > 0;) {
        const struct dp_stacks_name *name = &names[x->names[level]];
        struct dp_name kind = dp_stacks_span(&name->text, name->kind);
        if (kind.len)
            return put_label(x, "kind", kind.ptr, kind.len);
    }
    return 0;
}

/* Adds the kind of span, and the labels that the user asked for: phase, process and thread of the
 * current frame. */
static int put_labels(struct pprof *x)
{
    const struct dp_export_how *how = x->e.p->job->export;
    int rc = x->has_spans ? put_kind(x) : 0;
    if (rc == 0 && how->label_phase && x->e.phase.len)
        rc = put_label(x, "phase", x->e.phase.ptr, x->e.phase.len);
    if (rc == 0 && how->label_pid && x->e.part && x->e.part->pid)
        rc = put_number_label(x, "pid", x->e.part->pid);
    if (rc == 0 && how->label_tid && x->e.part && x->e.part->tid)
        rc = put_number_label(x, "tid", x->e.part->tid);
    return rc;
}

/* Writes a complete message to the output as a field of the file. */
static void send_text(struct pprof *x, unsigned field, const struct dp_buf *message)
{
    char head[2 * DP_WIRE_MAX], *to = dp_wire_put(head, field << 3 | 2);
    to = dp_wire_put(to, message->len);
    dp_sink_add(x->out, head, (size_t)(to - head));
    dp_sink_add(x->out, message->ptr, message->len);
}

/* Writes a sample of the current stack; self: by column. */
static int put_sample(struct pprof *x, const uint64_t *self)
{
    struct dp_stacks_outcome *out = x->e.p->out;
    bool any = false;
    for (size_t k = 0; k < x->e.count; k++)
        any = any || self[x->e.measures[k].column];
    if (!any)
        return 0;
    dp_buf_clear(&x->message);
    int rc = put_stack(x, &x->message);
    if (rc < 0)
        return rc;
    dp_buf_clear(&x->part);
    for (size_t k = 0; k < x->e.count; k++) {
        struct dp_export_measure *m = &x->e.measures[x->order[k]];
        dp_wire_varint(&x->part, dp_export_value(m, self[m->column]));
    }
    rc = add_part(x, &x->message, SAMPLE_VALUE);
    if (rc == 0)
        rc = put_labels(x);
    if (rc < 0)
        return rc;
    send_text(x, SAMPLE, &x->message);
    out->lines++;
    return x->out->err;
}

/* The location of line n of the lines that have a share in a frame's values. */
static int64_t line_location(struct pprof *x, uint32_t n)
{
    const struct dp_stacks_line *line = &x->spread.lines.lines[n];
    if (x->line_of[n])
        return x->line_of[n];
    int64_t id = location_at(x, line->name, &line->file, line->line);
    x->line_of[n] = id < 0 ? 0 : (uint32_t)id;
    return id;
}

/* Writes the samples of a frame: one, or one for each line that it has a share in. */
static int put_frame(struct pprof *x)
{
    const struct dp_stacks *s = x->e.p->s;
    if (!x->spread.used)
        return put_sample(x, &s->self[(size_t)x->e.frame * s->n_columns]);
    size_t n = dp_stacks_apportion_next(&x->spread, x->e.frame);
    int rc = 0;
    for (size_t k = 0; k < n && rc == 0; k++) {
        const struct dp_stacks_share *share = &x->spread.shares[k];
        rc = put_level(x, x->e.level, share->line == DP_STACKS_NONE
                                          ? begin_location(x, x->names[x->e.level])
                                          : line_location(x, share->line));
        rc = rc < 0 ? rc : put_sample(x, share->self);
    }
    return rc;
}

/* Writes the samples of all frames in one walk; x->stack has the locations from the root to the
 * current frame. */
static int put_samples(struct pprof *x)
{
    int rc;
    while ((rc = dp_export_next(&x->e)) > 0) {
        rc = x->e.is_frame ? descend_to(x, x->e.level, x->e.frame) : put_own_level(x, x->e.level);
        if (rc >= 0)
            rc = put_frame(x);
        if (rc < 0)
            return rc;
    }
    return rc;
}

/* ---- the profile ---- */

/* The order of measures: counts come first, by convention, then times. */
static const unsigned rank[dp_metric_count] = {
    [DP_M_CALLS] = 0, [DP_M_COUNTER] = 1, [DP_T_USER] = 2, [DP_T_SYSTEM] = 2, [DP_T_CPU] = 3,
    [DP_T_REAL] = 4,
};

static enum dp_metric metric_of(const struct pprof *x, size_t k)
{
    return x->e.p->job->export->stacks.columns[x->e.measures[k].column].metric;
}

/* Sorts the measures by rank into x->order; equal ones keep their order. */
static void settle_order(struct pprof *x)
{
    for (size_t k = 0; k < x->e.count; k++) {
        size_t at = k;
        for (; at && rank[metric_of(x, x->order[at - 1])] > rank[metric_of(x, k)]; at--)
            x->order[at] = x->order[at - 1];
        x->order[at] = k;
    }
}

/* The names that Go's heap profiles have for the counters of heap=exact, and for those of
 * heap=sample, which has all but the first two. */
static const struct { char ours[18], theirs[14], unit[6]; } of_heap[] = {
    { "values", "alloc_objects", "count" },
    { "live_values", "inuse_objects", "count" },
    { "allocated_blocks", "alloc_objects", "count" },
    { "allocated_bytes", "alloc_space", "bytes" },
    { "live_blocks", "inuse_objects", "count" },
    { "live_bytes", "inuse_space", "bytes" },
};

static bool is_word(const struct dp_buf *word, const char *text)
{
    return !word->err && word->len == strlen(text) && memcmp(word->ptr, text, word->len) == 0;
}

/* Are these the counters of heap=sample? */
static bool has_blocks(const struct pprof *x)
{
    bool found = false;
    struct dp_buf word;
    dp_buf_init(&word);
    for (size_t k = 0; k < x->e.count && !found; k++) {
        dp_buf_clear(&word);
        dp_export_word(&word, &x->e.measures[k]);
        found = is_word(&word, "live_blocks");
    }
    dp_buf_release(&word);
    return found;
}

/* Finds the name and the unit that pprof has for a measure. word: the name that we have. */
static const char *name_of_type(const struct pprof *x, struct dp_buf *word,
                                const struct dp_export_measure *m)
{
    bool blocks = has_blocks(x);
    for (size_t i = blocks ? 2 : 0; i < DP_ARRAY_LEN(of_heap); i++) {
        if (is_word(word, of_heap[i].ours)) {
            dp_buf_clear(word);
            dp_buf_adds(word, of_heap[i].theirs);
            return of_heap[i].unit;
        }
    }
    return dp_export_unit(m);
}

/* Writes name and unit of a measure as a type. field: SAMPLE_TYPE for each measure; PERIOD_TYPE for
 * the one that readers show first, which is also named as the default. */
static int put_type(struct pprof *x, unsigned field, size_t measure)
{
    const struct dp_export_measure *m = &x->e.measures[measure];
    struct dp_buf word;
    dp_buf_init(&word);
    dp_export_word(&word, m);
    const char *unit = name_of_type(x, &word, m);
    uint32_t name = word.err ? DP_MAP_NONE : string_of(x, word.ptr, word.len),
             number = string_of(x, unit, strlen(unit));
    dp_buf_release(&word);
    if (name == DP_MAP_NONE || number == DP_MAP_NONE)
        return DP_E_NOMEM;
    dp_buf_clear(&x->message);
    dp_wire_number(&x->message, TYPE_NAME, name);
    dp_wire_number(&x->message, TYPE_UNIT, number);
    if (x->message.err)
        return x->message.err;
    send_text(x, field, &x->message);
    if (field == PERIOD_TYPE) {
        dp_buf_clear(&x->message);
        dp_wire_number(&x->message, PERIOD, 1);
        dp_wire_number(&x->message, DEFAULT_TYPE, name);
        dp_sink_add(x->out, x->message.ptr, x->message.len);
    }
    return x->message.err;
}

/* The default measure of readers: CPU time, else the last one. */
static size_t default_measure(const struct pprof *x)
{
    for (size_t k = 0; k < x->e.count; k++)
        if (metric_of(x, k) == DP_T_CPU)
            return k;
    return x->order[x->e.count - 1];
}

/* Writes the one mapping, which stands for the program; the flags tell readers that all locations
 * have functions, files and lines, so they do not look for symbols. */
static int put_mapping(struct pprof *x)
{
    uint32_t script = string_of(x, x->script, strlen(x->script));
    dp_buf_clear(&x->message);
    dp_wire_number(&x->message, MAPPING_ID, 1);
    dp_wire_number(&x->message, MAPPING_FILE, script);
    dp_wire_number(&x->message, MAPPING_FUNCTIONS, 1);
    dp_wire_number(&x->message, MAPPING_FILES, 1);
    dp_wire_number(&x->message, MAPPING_LINES, 1);
    send_text(x, MAPPING, &x->message);
    return script == DP_MAP_NONE || x->message.err ? DP_E_NOMEM : 0;
}

/* Writes the time from the first part's beginning to the last one's end. */
static int put_times(struct pprof *x)
{
    const struct dp_export_how *how = x->e.p->job->export;
    uint64_t start = 0, end = 0, longest = 0;
    for (size_t k = 0; k < how->n_parts; k++) {
        const struct dp_export_part *part = &how->parts[k];
        start = part->start && (!start || part->start < start) ? part->start : start;
        end = part->start + part->duration > end ? part->start + part->duration : end;
        longest = part->duration > longest ? part->duration : longest;
    }
    dp_buf_clear(&x->message);
    dp_wire_number(&x->message, TIME, start);
    dp_wire_number(&x->message, DURATION, start ? end - start : longest);
    dp_sink_add(x->out, x->message.ptr, x->message.len);
    return x->message.err;
}

/* Writes the locations, functions and strings that the samples before them refer to. */
static int put_tables(struct pprof *x)
{
    if (x->functions.err || x->locations.err)
        return DP_E_NOMEM;
    dp_sink_add(x->out, x->locations.ptr, x->locations.len);
    dp_sink_add(x->out, x->functions.ptr, x->functions.len);
    for (uint32_t k = 0; k < x->texts.count; k++) {
        const struct dp_name *text = dp_pool_name(&x->texts, k);
        char head[2 * DP_WIRE_MAX], *to = dp_wire_put(head, STRING << 3 | 2);
        to = dp_wire_put(to, text->len);
        dp_sink_add(x->out, head, (size_t)(to - head));
        dp_sink_add(x->out, text->ptr, text->len);
    }
    return x->out->err;
}

/* Writes the profile. Fields are in the order of their numbers, as protoc encodes them. The last
 * fields use only strings that the first fields have added. */
static int put_profile(struct pprof *x)
{
    int rc = string_of(x, "", 0) == 0 ? 0 : DP_E_NOMEM;
    settle_order(x);
    for (size_t k = 0; k < x->e.count && rc == 0; k++)
        rc = put_type(x, SAMPLE_TYPE, x->order[k]);
    rc = rc < 0 ? rc : put_samples(x);
    rc = rc < 0 ? rc : put_mapping(x);
    rc = rc < 0 ? rc : put_tables(x);
    rc = rc < 0 ? rc : put_times(x);
    return rc < 0 ? rc : put_type(x, PERIOD_TYPE, default_measure(x));
}

/* Packs the output: all readers of the format accept gzip. */
static int put_packed(struct pprof *x, struct dp_sink *to)
{
    struct dp_pack *pack = dp_pack_new(dp_sink_write, to, DP_PACK_FAST);
    x->out = pack ? dp_sink_new(dp_pack_write, pack) : NULL;
    int rc = x->out ? put_profile(x) : DP_E_NOMEM, flushed = dp_sink_end(x->out);
    int ended = pack ? dp_pack_end(pack) : 0;
    return rc < 0 ? rc : flushed < 0 ? flushed : ended;
}

/* Computes the depths of stacks and the shares of lines. */
static int prepare_stacks(struct pprof *x)
{
    uint32_t *depth = NULL;
    int rc = dp_stacks_depths(x->e.p->s, &depth, &x->ends);
    if (rc == 0)
        rc = dp_stacks_apportion_init(&x->spread, x->e.p->s, &x->e.p->job->export->stacks, depth);
    dp_mem_free(depth);
    if (rc < 0)
        return rc;
    x->line_of = dp_mem_zalloc((x->spread.lines.count + 1) * sizeof *x->line_of);
    x->begin_of = dp_mem_zalloc((x->e.p->s->n_names + 1) * sizeof *x->begin_of);
    for (size_t i = 0; i < x->e.p->s->n_names; i++)
        x->has_spans = x->has_spans || x->e.p->s->names[i].kind == DP_KIND_SPAN;
    return x->line_of && x->begin_of ? 0 : DP_E_NOMEM;
}

/* Prints the stacks as a profile of pprof, in protocol buffers. Returns 0 or a DP_E. */
int dp_print_pprof(const struct dp_stacks_printing *p)
{
    const struct dp_export_how *how = p->job->export;
    struct pprof x;
    memset(&x, 0, sizeof x);
    x.script = how->n_parts ? how->parts[0].name : "";
    dp_pool_init(&x.texts);
    dp_buf_init(&x.message);
    dp_buf_init(&x.part);
    dp_buf_init(&x.text);
    dp_buf_init(&x.functions);
    dp_buf_init(&x.locations);
    dp_pool_init(&x.function_ids);
    dp_pool_init(&x.location_ids);
    dp_map_init(&x.location_of);
    int rc = dp_export_init(&x.e, p);
    x.order = dp_mem_zalloc((x.e.count + 1) * sizeof *x.order);
    rc = x.order ? rc : DP_E_NOMEM;
    rc = rc < 0 ? rc : prepare_stacks(&x);
    rc = rc < 0 ? rc : put_packed(&x, p->sink);
    dp_stacks_apportion_release(&x.spread);
    dp_mem_free(x.line_of);
    dp_mem_free(x.order);
    dp_mem_free(x.begin_of);
    dp_mem_free(x.stack);
    dp_mem_free(x.length);
    dp_mem_free(x.names);
    dp_pool_release(&x.function_ids);
    dp_pool_release(&x.location_ids);
    dp_map_release(&x.location_of);
    dp_buf_release(&x.message);
    dp_buf_release(&x.part);
    dp_buf_release(&x.text);
    dp_buf_release(&x.functions);
    dp_buf_release(&x.locations);
    dp_pool_release(&x.texts);
    dp_export_release(&x.e);
    return rc;
}
