/* A sample is a line with the command, its ids, the time, the event and perhaps its period, then a
 * line for each frame, the callee first, then an empty line:
 *
 *     perl  5820 57488.665706:     250000 cpu-clock:
 *             55d0c1a2b3c4 Perl_pp_entersub+0x24 (/usr/bin/perl)
 *
 * Without call chains the one frame stands at the end of the first line. Which events there are is
 * known at the end, so that the stacks are kept as a tree until then. */
#include "dp_reader_perf.h"
#include "dp_samples.h"
#include "dp_mem.h"
#include "dp_num.h"

#include <string.h>

enum { WORDS = 24 };

struct event {
    uint32_t name;              /* in names */
    bool time;                  /* its periods are nanoseconds */
};

struct perf {
    struct dp_pool names;       /* of frames and of events */
    uint32_t *numbers;          /* the consumer's, by name */
    struct event events[DP_FOREIGN_VALUES];
    size_t n_events;
    struct dp_samples tree;
    bool open;                  /* a sample has begun */
    bool stacks;                /* samples have frames on lines of their own, up to an empty one */
    uint32_t command;           /* of the sample: a name */
    bool java;
    size_t kind;
    uint64_t period;
    uint32_t *frames;           /* of the sample, the callee first: names */
    size_t n_frames, frames_cap;
    struct dp_buf name;         /* of a frame, tidied */
    const char *cut;
};

/* ---- lines ---- */

static size_t span(struct dp_text t, size_t at, bool (*is)(char c))
{
    while (at < t.len && is(t.ptr[at]))
        at++;
    return at;
}

static bool is_hex(char c) { return dp_num_hexdigit(c) >= 0; }

/* The words of a line; as many as there is room for. */
static size_t words_of(struct dp_text line, struct dp_text *words)
{
    size_t n = 0, at = 0;
    while (n < WORDS && (at = span(line, at, dp_foreign_is_blank)) < line.len) {
        size_t end = at;
        while (end < line.len && !dp_foreign_is_blank(line.ptr[end]))
            end++;
        words[n++] = (struct dp_text){ line.ptr + at, end - at };
        at = end;
    }
    return n;
}

static bool is_number(struct dp_text w)
{
    return w.len && span(w, 0, dp_foreign_is_digit) == w.len;
}

/* PID or PID/TID; -1 stands for none. */
static bool is_id(struct dp_text w)
{
    if (w.len && *w.ptr == '-')
        w.ptr++, w.len--;
    size_t at = span(w, 0, dp_foreign_is_digit);
    return at && (at == w.len || (w.ptr[at] == '/' && at + 1 < w.len));
}

/* SECONDS.FRACTION: */
static bool is_time(struct dp_text w)
{
    size_t at = span(w, 0, dp_foreign_is_digit);
    size_t end = at < w.len ? span(w, at + 1, dp_foreign_is_digit) : at;
    return at && at < w.len && w.ptr[at] == '.' && end + 1 == w.len && w.ptr[end] == ':';
}

static bool is_cpu(struct dp_text w)
{
    return w.len > 2 && w.ptr[0] == '[' && w.ptr[w.len - 1] == ']' && dp_foreign_is_digit(w.ptr[1]);
}

static bool is_event(struct dp_text w)
{
    return w.len > 1 && w.ptr[w.len - 1] == ':' && !is_time(w);
}

/* The first line of a sample. */
struct sample {
    struct dp_text command, event, rest;
    uint64_t period;            /* 1 where it is not told */
    bool has_period;
};

/* Which word has the ids; 0: none. A command may have numbers in it: what stands before the time is
 * the id, or the first one where there is no time. *at: the word behind the ids and the
 * processor. */
static size_t find_id(const struct dp_text *w, size_t n, bool timed, size_t *at)
{
    for (size_t id = 1; id < n; id++) {
        *at = id + 1;
        *at += *at < n && is_cpu(w[*at]);
        if (*at < n && is_id(w[id])
            && (timed ? is_time(w[*at]) : is_number(w[*at]) || is_event(w[*at])))
            return id;
    }
    return 0;
}

/* Finds the words that tell: command, ids, [processor], time, period, event. Any but the command,
 * its ids and the event may be missing. */
static bool sample_line(struct dp_text line, struct sample *s)
{
    struct dp_text w[WORDS];
    size_t n = words_of(line, w), at = 0, id = find_id(w, n, true, &at);
    at += id > 0;               /* the time */
    if (!id && line.len && !dp_foreign_is_blank(line.ptr[0]))
        id = find_id(w, n, false, &at);
    if (!id)
        return false;
    s->period = 1;
    s->has_period = at + 1 < n && is_number(w[at]) && dp_num_dec(w[at].ptr, w[at].len, &s->period);
    at += s->has_period;
    if (at >= n || !is_event(w[at]))
        return false;
    const char *end = line.ptr + line.len, *behind = w[at].ptr + w[at].len;
    s->event = (struct dp_text){ w[at].ptr, w[at].len - 1 };
    s->command = (struct dp_text){ w[0].ptr, (size_t)(w[id - 1].ptr + w[id - 1].len - w[0].ptr) };
    s->rest = (struct dp_text){ behind, (size_t)(end - behind) };
    return true;
}

/* ADDRESS NAME+0xOFFSET (FILE), of which the name and the file are taken. */
static bool frame_line(struct dp_text line, struct dp_text *name, struct dp_text *file)
{
    size_t from = span(line, 0, dp_foreign_is_blank), at = span(line, from, is_hex), end = line.len;
    if (at == from || at >= end || !dp_foreign_is_blank(line.ptr[at]))
        return false;
    at = span(line, at, dp_foreign_is_blank);
    while (end > at && dp_foreign_is_blank(line.ptr[end - 1]))
        end--;
    if (end <= at || line.ptr[end - 1] != ')')
        return false;
    size_t open = end;          /* of the file: behind the last " (" that is not within it */
    for (int depth = 0; open > at; open--) {
        depth += line.ptr[open - 1] == ')';
        depth -= line.ptr[open - 1] == '(';
        if (depth == 0)
            break;
    }
    if (open <= at + 1 || !dp_foreign_is_blank(line.ptr[open - 2]))
        return false;
    *file = (struct dp_text){ line.ptr + open, end - 1 - open };
    *name = (struct dp_text){ line.ptr + at, open - 2 - at };
    return true;
}

/* ---- names, as stackcollapse-perf.pl writes them ---- */

static struct dp_text without_offset(struct dp_text name)
{
    size_t at = name.len;
    while (at && is_hex(name.ptr[at - 1]))
        at--;
    if (at >= 3 && at < name.len && memcmp(name.ptr + at - 3, "+0x", 3) == 0)
        name.len = at - 3;
    return name;
}

/* What is not known is called after its file. */
static void unknown(struct dp_buf *to, struct dp_text file)
{
    size_t at = file.len;
    while (at && file.ptr[at - 1] != '/')
        at--;
    bool known = !dp_foreign_is(file, "[unknown]") && at < file.len;
    dp_buf_addc(to, '[');
    dp_buf_adds(to, known ? "" : "unknown");
    if (known)
        dp_buf_add(to, file.ptr + at, file.len - at);
    dp_buf_addc(to, ']');
}

/* Where the parameters of a C++ function begin; those of a Go method are left, as (*T).name. */
static size_t parameters(struct dp_text name)
{
    static const char anon[] = "(anonymous namespace)";
    const char *dot = NULL;
    for (size_t i = 0; i + 1 < name.len; i++) {
        dot = !dot && name.ptr[i] == '.' && name.ptr[i + 1] == '(' ? name.ptr + i : dot;
        if (dot && name.ptr[i] == ')' && name.ptr[i + 1] == '.')
            return name.len;
    }
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] == '('
            && (name.len - i < strlen(anon) || memcmp(name.ptr + i, anon, strlen(anon)) != 0))
            return i;
    return name.len;
}

static void tidy(struct dp_buf *to, struct dp_text name, bool java)
{
    size_t n = parameters(name), i = 0;
    if (java && n && *name.ptr == 'L' && memchr(name.ptr, '/', n))
        i = 1;
    for (; i < n; i++)
        if (name.ptr[i] != '"' && name.ptr[i] != '\'')
            dp_buf_addc(to, name.ptr[i] == ';' ? ':' : name.ptr[i]);
}

/* ---- samples ---- */

static int intern(struct dp_reader *r, struct perf *in, struct dp_text t, uint32_t *out)
{
    *out = dp_pool_intern(&in->names, t.ptr, t.len);
    if (*out == DP_MAP_NONE)
        return dp_foreign_error(r, DP_E_NOMEM);
    return *out < DP_LIMIT_IDS ? 0
            : dp_foreign_error(r, DP_E_LIMIT);
}

/* The sample is over: its stack has the command below it, as stackcollapse-perf.pl has. */
static int finish(struct dp_reader *r, struct perf *in)
{
    if (!in->open)
        return 0;
    in->open = false;
    int64_t node = dp_samples_enter(&in->tree, 0, in->command);
    for (size_t i = in->n_frames; node >= 0 && i > 0; i--)
        node = dp_samples_enter(&in->tree, (uint32_t)node, in->frames[i - 1]);
    int rc = node < 0 ? (int)node
            : dp_samples_add(&in->tree, (uint32_t)node, in->kind, in->period);
    return rc == DP_E_NOMEM ? dp_foreign_error(r, DP_E_NOMEM)
            : rc < 0 ? dp_reader_fail(r, rc, 0, "there are too many stacks, or their values add up"
                                                " to more than fits") : 0;
}

static int find_event(struct dp_reader *r, struct perf *in, const struct sample *s)
{
    uint32_t name;
    int rc = intern(r, in, s->event, &name);
    for (in->kind = 0; rc == 0 && in->kind < in->n_events; in->kind++)
        if (in->events[in->kind].name == name)
            return 0;
    if (rc == 0 && in->n_events == DP_FOREIGN_VALUES)
        return dp_reader_fail(r, DP_E_LIMIT, 0, "there are more than %d events",
                              DP_FOREIGN_VALUES);
    size_t clock = s->event.len >= 9 ? 9 : 0;
    if (s->event.len >= 10 && memcmp(s->event.ptr, "task-clock", 10) == 0)
        clock = 10;
    else if (clock && memcmp(s->event.ptr, "cpu-clock", 9) != 0)
        clock = 0;
    bool time = clock && (clock == s->event.len || s->event.ptr[clock] == ':') && s->has_period;
    if (rc == 0)
        in->events[in->n_events++] = (struct event){ name, time };
    return rc;
}

static int frame(struct dp_reader *r, struct perf *in, struct dp_text name, struct dp_text file)
{
    uint32_t n;
    name = without_offset(name);
    if (!name.len || *name.ptr == '(')          /* not a frame, but a process's name */
        return 0;
    dp_buf_clear(&in->name);
    if (dp_foreign_is(name, "[unknown]"))
        unknown(&in->name, file);
    else
        tidy(&in->name, name, in->java);
    if (in->name.err)
        return dp_foreign_error(r, DP_E_NOMEM);
    struct dp_text t = { in->name.ptr ? in->name.ptr : "", in->name.len };
    int rc = t.len ? intern(r, in, t, &n) : 0;
    if (rc < 0 || !t.len)
        return rc;
    if (in->n_frames >= DP_LIMIT_DEPTH)
        return dp_reader_fail(r, DP_E_LIMIT, 0, "a stack is too deep");
    if (dp_mem_grow((void **)&in->frames, &in->frames_cap, in->n_frames + 1,
                    sizeof *in->frames) < 0)
        return dp_foreign_error(r, DP_E_NOMEM);
    in->frames[in->n_frames++] = n;
    return 0;
}

static int begin(struct dp_reader *r, struct perf *in, const struct sample *s)
{
    struct dp_text name, file;
    int rc = finish(r, in);
    if (rc == 0)
        rc = find_event(r, in, s);
    dp_buf_clear(&in->name);
    for (size_t i = 0; i < s->command.len; i++)
        dp_buf_addc(&in->name, dp_foreign_is_blank(s->command.ptr[i]) ? '_' : s->command.ptr[i]);
    if (rc == 0 && in->name.err)
        return dp_foreign_error(r, DP_E_NOMEM);
    struct dp_text command = { in->name.ptr, in->name.len };
    if (rc == 0)
        rc = intern(r, in, command, &in->command);
    in->java = dp_foreign_is(command, "java");
    in->open = rc == 0;
    in->period = s->period;
    in->n_frames = 0;
    return rc == 0 && frame_line(s->rest, &name, &file) ? frame(r, in, name, file) : rc;
}

static int any_line(struct dp_reader *r, struct perf *in, struct dp_text line)
{
    struct sample s;
    struct dp_text name, file;
    size_t at = span(line, 0, dp_foreign_is_blank);
    if (at == line.len)
        return finish(r, in);
    if (*line.ptr == '#')
        return 0;
    if (sample_line(line, &s))
        return begin(r, in, &s);
    if (in->open && at && frame_line(line, &name, &file)) {
        in->stacks = true;
        return frame(r, in, name, file);
    }
    if (in->open && at)         /* what else is printed of a sample: registers, sources */
        return 0;
    return dp_foreign_bad(r, "this is neither a sample nor a frame", line);
}

/* Is the first line that is neither empty nor a comment that of a sample, and what follows a frame,
 * an empty line, or another sample? */
static bool is_perf(const char *ptr, size_t len)
{
    const char *end = ptr + len, *nl;
    bool sample = false;
    struct sample s;
    struct dp_text name, file;
    for (; ptr < end; ptr = nl ? nl + 1 : end) {
        nl = memchr(ptr, '\n', (size_t)(end - ptr));
        struct dp_text line = { ptr, (size_t)((nl ? nl : end) - ptr) };
        if (line.len && line.ptr[line.len - 1] == '\r')
            line.len--;
        bool empty = span(line, 0, dp_foreign_is_blank) == line.len;
        if (!sample && (empty || *line.ptr == '#'))
            continue;
        if (sample)
            return empty || frame_line(line, &name, &file) || sample_line(line, &s);
        if (!sample_line(line, &s) || !s.command.len)
            return false;
        sample = true;
    }
    return sample;
}

/* ---- the file ---- */

static int tell_events(struct dp_reader *r, struct perf *in)
{
    for (size_t i = 0; i < in->n_events; i++) {
        int rc = dp_foreign_value(r, dp_foreign_name(&in->names, in->events[i].name),
                                  (struct dp_text){ "ns", in->events[i].time ? 2 : 0 });
        if (rc < 0)
            return rc;
    }
    return dp_foreign_header(r, 0);
}

static int head(struct dp_reader *r)
{
    struct perf *in = r->foreign.state = dp_mem_zalloc(sizeof *in);
    struct dp_text line;
    if (!in)
        return dp_foreign_error(r, DP_E_NOMEM);
    dp_pool_init(&in->names);
    dp_samples_init(&in->tree);
    dp_buf_init(&in->name);
    int rc = 0, got = 0;
    while (rc == 0 && (got = dp_foreign_line(r, &line)) > 0)
        rc = any_line(r, in, line);
    if (rc == 0 && in->open && in->stacks)      /* it counts, but may have had more frames */
        in->cut = "no empty line follows the last stack";
    if (rc == 0)
        rc = got < 0 ? got : finish(r, in);
    if (rc == 0 && r->in.cut)
        in->cut = "the compressed data break off";
    r->in.cut = false;          /* told behind the contexts */
    return rc < 0 ? rc : tell_events(r, in);
}

static int body(struct dp_reader *r)
{
    struct perf *in = r->foreign.state;
    int rc = 0;
    in->numbers = dp_mem_alloc((in->names.count + 1) * sizeof *in->numbers);
    if (!in->numbers)
        return dp_foreign_error(r, DP_E_NOMEM);
    memset(in->numbers, 0xff, (in->names.count + 1) * sizeof *in->numbers);     /* DP_SUB_NONE */
    for (size_t n = 1; rc == 0 && n < in->tree.count; n++) {
        uint32_t name = in->tree.nodes[n].sub;
        if (in->numbers[name] == DP_SUB_NONE)
            rc = dp_foreign_sub(r, dp_foreign_name(&in->names, name), (struct dp_text){ "", 0 }, 0,
                                &in->numbers[name]);
    }
    if (rc == 0)
        rc = dp_samples_give(r, &in->tree, in->numbers);
    return rc == 0 && in->cut ? dp_reader_fail(r, DP_E_TRUNCATED, 0, "%s", in->cut) : rc;
}

static void release(void *state)
{
    struct perf *in = state;
    if (!in)
        return;
    dp_pool_release(&in->names);
    dp_samples_release(&in->tree);
    dp_buf_release(&in->name);
    dp_mem_free(in->numbers);
    dp_mem_free(in->frames);
    dp_mem_free(in);
}

const struct dp_foreign_format dp_foreign_perf = { "perf", is_perf, head, body, release };
