/* Reads the output of `perf script`. A sample is a line with the command, its ids, the time, the
 * event and perhaps its period, then a line for each frame, the callee first, then an empty line:
 *
 *     perl  5820 57488.665706:     250000 cpu-clock:
 *             55d0c1a2b3c4 Perl_pp_entersub+0x24 (/usr/bin/perl)
 *
 * Without call chains, the one frame is at the end of the first line. The events are known only at
 * the end, so the stacks are kept as a tree until then. */
#include "dp_reader_perf.h"
#include "dp_perf_name.h"
#include "dp_samples.h"
#include "dp_mem.h"
#include "dp_num.h"

#include <string.h>

enum { WORDS = 24 };

struct event {
    uint32_t name;              /* in names */
    bool time;                  /* its periods are in nanoseconds */
};

struct perf {
    struct dp_pool names;       /* of frames and of events */
    uint32_t *numbers;          /* the consumer's number, by name */
    struct event events[DP_IMPORT_VALUES];
    size_t n_events;
    struct dp_samples tree;
    bool any, open;             /* a sample has begun; has not ended */
    bool weak;                  /* samples begin with weak lines */
    bool flat;                  /* the sample's one frame was in its first line */
    struct dp_buf before;       /* the previous line, if weak, until there is a sample */
    bool stacks;                /* samples have frames on separate lines, up to an empty line */
    uint32_t command;           /* of the sample: a name */
    bool java;
    size_t kind;
    uint64_t period;
    uint32_t *frames;           /* of the sample, the callee first: names */
    size_t n_frames, frames_cap;
    struct dp_buf name;         /* of a frame, as people know it */
    const char *cut;
};

/* ---- lines ---- */

static size_t span_of(struct dp_text t, size_t at, bool (*is)(char c))
{
    while (at < t.len && is(t.ptr[at]))
        at++;
    return at;
}

static bool is_hex(char c) { return dp_num_hexdigit(c) >= 0; }

/* Splits a line into words; as many as there is room for. */
static size_t words_of(struct dp_text line, struct dp_text *words)
{
    size_t n = 0, at = 0;
    while (n < WORDS && (at = span_of(line, at, dp_is_blank)) < line.len) {
        size_t end = at;
        while (end < line.len && !dp_is_blank(line.ptr[end]))
            end++;
        words[n++] = (struct dp_text){ line.ptr + at, end - at };
        at = end;
    }
    return n;
}

static bool is_number(struct dp_text w)
{
    return w.len && span_of(w, 0, dp_is_digit) == w.len;
}

/* Is the word PID or PID/TID? -1 means none. */
static bool is_id(struct dp_text w)
{
    if (w.len && *w.ptr == '-')
        w.ptr++, w.len--;
    size_t at = span_of(w, 0, dp_is_digit);
    return at && (at == w.len || (w.ptr[at] == '/' && at + 1 < w.len));
}

/* Is the word a time, SECONDS.FRACTION and a colon? */
static bool is_time(struct dp_text w)
{
    size_t at = span_of(w, 0, dp_is_digit);
    size_t end = at < w.len ? span_of(w, at + 1, dp_is_digit) : at;
    return at && at < w.len && w.ptr[at] == '.' && end + 1 == w.len && w.ptr[end] == ':';
}

static bool is_cpu(struct dp_text w)
{
    return w.len > 2 && w.ptr[0] == '[' && w.ptr[w.len - 1] == ']' && dp_is_digit(w.ptr[1]);
}

/* Is the word the processor's mode, from perf's field misc: U, K, KF ...? */
static bool is_misc(struct dp_text w)
{
    size_t at = 0;
    while (at < w.len && memchr("UKHGgMESFp", w.ptr[at], 10))
        at++;
    return at && at == w.len && at < 4;
}

/* Is the word an event? Events begin with a letter. */
static bool is_event(struct dp_text w)
{
    char first = w.len > 1 ? (char)(*w.ptr | 0x20) : '\0';
    return dp_is_lower(first) && w.ptr[w.len - 1] == ':';
}

/* The words of a line, up to the current one. */
struct words {
    struct dp_text line, w[WORDS];
    size_t n, at;
};

static bool is_here(const struct words *of, bool (*is)(struct dp_text w))
{
    return of->at < of->n && is(of->w[of->at]);
}

/* Returns the part of the line behind the words that were read. */
static struct dp_text rest_of(const struct words *of)
{
    const char *end = of->line.ptr + of->line.len;
    const char *p = of->at ? of->w[of->at - 1].ptr + of->w[of->at - 1].len : of->line.ptr;
    return (struct dp_text){ p, (size_t)(end - p) };
}

static const struct dp_text nameless = { "[unknown]", 9 };

/* Parses ADDRESS NAME+0xOFFSET (FILE) for its name and file. Without a name, the name is
 * `[unknown]`. Returns false if the line is no such frame. */
static bool whole_frame(struct dp_text line, struct dp_text *name, struct dp_text *file)
{
    size_t from = span_of(line, 0, dp_is_blank), at = span_of(line, from, is_hex), end = line.len;
    if (at == from || at >= end || !dp_is_blank(line.ptr[at]))
        return false;
    at = span_of(line, at, dp_is_blank);
    while (end > at && dp_is_blank(line.ptr[end - 1]))
        end--;
    if (end <= at || line.ptr[end - 1] != ')')
        return false;
    size_t open = end;          /* where the file begins: after the last " (" that is not inside
                                 * it */
    for (int depth = 0; open > at; open--) {
        depth += line.ptr[open - 1] == ')';
        depth -= line.ptr[open - 1] == '(';
        if (depth == 0)
            break;
    }
    if (open <= at || !dp_is_blank(line.ptr[open - 2]))
        return false;
    *file = (struct dp_text){ line.ptr + open, end - 1 - open };
    *name = open == at + 1 ? nameless : (struct dp_text){ line.ptr + at, open - 2 - at };
    return true;
}

/* Parses ADDRESS NAME, or ADDRESS, as perf aligns it: the address ends where it would end with 16
 * digits. lead: number of bytes before it. The file is empty. Returns false if the line is no such
 * frame. */
static bool bare_frame(struct dp_text line, size_t lead, struct dp_text *name, struct dp_text *file)
{
    size_t from = span_of(line, 0, dp_is_blank), at = span_of(line, from, is_hex), end = line.len;
    while (end > at && dp_is_blank(line.ptr[end - 1]))
        end--;
    if (at == from || at != lead + 16 || (at < end && line.ptr[at] != ' '))
        return false;
    *name = at < end ? (struct dp_text){ line.ptr + at + 1, end - at - 1 } : nameless;
    *file = (struct dp_text){ "", 0 };
    return true;
}

/* Parses a frame on a line of its own. A frame without a file must begin with a tab, as perf prints
 * it: other lines may look like one. Returns false if the line is no frame. */
static bool frame_line(struct dp_text line, struct dp_text *name, struct dp_text *file)
{
    return whole_frame(line, name, file)
           || (line.len && *line.ptr == '\t' && bare_frame(line, 1, name, file));
}

/* Parses the one frame after the rest of a sample. Returns false if there is none. */
static bool frame_behind(struct dp_text rest, struct dp_text *name, struct dp_text *file)
{
    return whole_frame(rest, name, file) || bare_frame(rest, 2, name, file);
}

/* ---- the first line of a sample ---- */

/* The certainty that a line begins a sample: a weak one does so only if a frame follows. */
enum sure { NOT, WEAK, SURE };

struct sample {
    struct dp_text command, event, rest;
    uint64_t period;            /* 1 if missing */
    bool has_period;
    bool framed;                /* rest is a frame */
};

static bool is_blank_or_none(struct dp_text t)
{
    return span_of(t, 0, dp_is_blank) == t.len;
}

/* Steps over the id at this word, and over the processor, the mode (only if timed is set) and the
 * time behind it; keeps none of them. Returns whether the id is there, and a time behind it exactly
 * if timed is set. */
static bool read_id(struct words *of, size_t id, bool timed)
{
    of->at = id;
    if (!is_here(of, is_id))
        return false;
    of->at++;
    of->at += is_here(of, is_cpu);
    of->at += timed && is_here(of, is_misc);
    bool time = is_here(of, is_time);
    of->at += time;
    return time == timed;
}

/* Reads what follows the command: the ids, the processor, the time. Some of them may be missing.
 * *timed: there is a time. A command may contain numbers. The number before the time is the id, or
 * else the first number that the rest may follow. Returns the number of words of the command; 0:
 * there is none. */
static size_t command_of(struct words *of, bool *timed)
{
    size_t time = 0;
    if (is_time(of->w[0]))
        return 0;
    for (size_t id = 1; id < of->n; id++)
        if (read_id(of, id, true))
            return *timed = true, id;
    for (size_t i = 1; i < of->n && !time; i++)
        time = is_time(of->w[i]) ? i : 0;
    of->at = time ? time + 1 : 0;
    *timed = time > 0;
    if (time) {
        time -= time > 1 && is_misc(of->w[time - 1]) && is_cpu(of->w[time - 2]);
        time -= is_cpu(of->w[time - 1]);
        return time && !is_id(of->w[0]) ? time : 0;
    }
    struct dp_text name, file;
    for (size_t id = 1; id < of->n; id++)
        if (read_id(of, id, false)
            && (is_here(of, is_number) || is_here(of, is_event)
                || frame_behind(rest_of(of), &name, &file)
                || of->at == of->n))
            return id;
    for (of->at = 1; of->at < of->n; of->at++) {
        struct words behind = *of;
        behind.at++;
        if (is_here(of, is_event)
            && (behind.at == of->n || frame_behind(rest_of(&behind), &name, &file)))
            break;
    }
    return is_id(of->w[0]) || is_event(of->w[0]) ? 0 : of->at;
}

/* Finds the words of a sample: command, ids, [processor], time, period, event, frame. Only the
 * command is always there. Returns the certainty that the line begins a sample. */
static enum sure sample_line(struct dp_text line, struct sample *s)
{
    struct words of = { line, .n = 0 };
    struct dp_text name, file;
    bool timed = false, indented = line.len && dp_is_blank(*line.ptr);
    of.n = words_of(line, of.w);
    size_t command = of.n ? command_of(&of, &timed) : 0;
    if (!command)
        return NOT;
    bool id = of.at > command + timed;
    s->command = (struct dp_text){
        of.w[0].ptr, (size_t)(of.w[command - 1].ptr + of.w[command - 1].len - of.w[0].ptr)
    };
    s->period = 1;
    s->has_period = is_here(&of, is_number)
                    && (of.at + 1 == of.n || is_event(of.w[of.at + 1]))
                    && dp_num_dec(of.w[of.at].ptr, of.w[of.at].len, &s->period);
    of.at += s->has_period;
    bool event = is_here(&of, is_event);
    s->event = event ? (struct dp_text){ of.w[of.at].ptr, of.w[of.at].len - 1 }
            : (struct dp_text){ "samples", 7 };
    of.at += event;
    s->rest = rest_of(&of);
    s->framed = frame_behind(s->rest, &name, &file);
    bool closed = is_blank_or_none(s->rest) || s->framed;
    if (timed && (event || closed))
        return SURE;
    bool tracepoint = event && memchr(s->event.ptr, ':', s->event.len);
    if (id && event && (s->framed || (!indented && (closed || tracepoint))))
        return SURE;
    bool printed = line.ptr[line.len - 1] == ' ' || s->framed;
    return closed && printed && !(indented && !s->framed) ? WEAK : NOT;
}


/* ---- samples ---- */

/* Sets *out to the number of a name. Returns 0 or a DP_E. */
static int intern_name(struct dp_reader *r, struct perf *in, struct dp_text t, uint32_t *out)
{
    *out = dp_pool_intern(&in->names, t.ptr, t.len);
    if (*out == DP_MAP_NONE)
        return dp_import_error(r, DP_E_NOMEM);
    return *out < DP_LIMIT_IDS ? 0
            : dp_import_error(r, DP_E_LIMIT);
}

/* Ends the sample, if one is open: adds its period to its stack, which has the command at its
 * bottom, as in stackcollapse-perf.pl. Returns 0 or a DP_E. */
static int finish_sample(struct dp_reader *r, struct perf *in)
{
    if (!in->open)
        return 0;
    in->open = false;
    int64_t node = dp_samples_enter(&in->tree, 0, in->command);
    for (size_t i = in->n_frames; node >= 0 && i > 0; i--)
        node = dp_samples_enter(&in->tree, (uint32_t)node, in->frames[i - 1]);
    int rc = node < 0 ? (int)node
            : dp_samples_add(&in->tree, (uint32_t)node, in->kind, in->period);
    return rc == DP_E_NOMEM ? dp_import_error(r, DP_E_NOMEM)
            : rc < 0 ? dp_reader_fail(r, rc, 0, "there are too many stacks, or their values add up"
                                                " to more than fits") : 0;
}

/* Finds or adds the event of a sample, and sets in->kind to its number. Only the periods of the
 * clocks cpu-clock and task-clock are times. Returns 0 or a DP_E. */
static int find_event(struct dp_reader *r, struct perf *in, const struct sample *s)
{
    uint32_t name;
    int rc = intern_name(r, in, s->event, &name);
    for (in->kind = 0; rc == 0 && in->kind < in->n_events; in->kind++)
        if (in->events[in->kind].name == name)
            return 0;
    if (rc == 0 && in->n_events == DP_IMPORT_VALUES)
        return dp_reader_fail(r, DP_E_LIMIT, 0, "there are more than %d events",
                              DP_IMPORT_VALUES);
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

/* Adds a function to the stack of the sample. Functions without a name, which say nothing to
 * people, are left out. Returns 0 or a DP_E. */
static int add_function(struct dp_reader *r, struct perf *in, struct dp_text name)
{
    uint32_t n;
    int rc = name.len ? intern_name(r, in, name, &n) : 0;
    if (rc < 0 || !name.len)
        return rc;
    if (in->n_frames >= DP_LIMIT_DEPTH)
        return dp_reader_fail(r, DP_E_LIMIT, 0, "a stack is too deep");
    if (dp_mem_grow((void **)&in->frames, &in->frames_cap, in->n_frames + 1,
                    sizeof *in->frames) < 0)
        return dp_import_error(r, DP_E_NOMEM);
    in->frames[in->n_frames++] = n;
    return 0;
}

/* Adds a frame, and the functions that are inlined there. An inlined function comes before the one
 * that contains it. Returns 0 or a DP_E. */
static int add_frame(struct dp_reader *r, struct perf *in, struct dp_text name,
                     struct dp_text file)
{
    int rc = 0;
    for (name = dp_perf_no_offset(name); rc == 0 && name.len;) {
        struct dp_text one = dp_perf_inlined(&name, in->java);
        dp_buf_clear(&in->name);
        if (dp_import_is(one, "[unknown]"))
            dp_perf_unknown(&in->name, file);
        else
            dp_perf_name(&in->name, one, in->java);
        rc = in->name.err ? dp_import_error(r, DP_E_NOMEM)
                : add_function(r, in, (struct dp_text){ in->name.ptr, in->name.len });
    }
    return rc;
}

/* Begins a sample by its first line, and ends the one before. The command, with _ for its blanks,
 * will be the caller of all frames. A frame on the line is added. Returns 0 or a DP_E. */
static int begin_sample(struct dp_reader *r, struct perf *in, const struct sample *s)
{
    struct dp_text name, file;
    int rc = finish_sample(r, in);
    if (rc == 0)
        rc = find_event(r, in, s);
    dp_buf_clear(&in->name);
    for (size_t i = 0; i < s->command.len; i++)
        dp_buf_addc(&in->name, dp_is_blank(s->command.ptr[i]) ? '_' : s->command.ptr[i]);
    if (rc == 0 && in->name.err)
        return dp_import_error(r, DP_E_NOMEM);
    struct dp_text command = { in->name.ptr, in->name.len };
    if (rc == 0)
        rc = intern_name(r, in, command, &in->command);
    in->java = dp_import_is(command, "java");
    in->any = in->open = rc == 0;
    in->flat = s->framed;
    in->period = s->period;
    in->n_frames = 0;
    return rc == 0 && frame_behind(s->rest, &name, &file) ? add_frame(r, in, name, file) : rc;
}

/* Handles a frame outside of samples: the line before the first stack may have been a weak one,
 * which then begins the sample. Otherwise, this is an error. Returns 0 or a DP_E. */
static int first_frame(struct dp_reader *r, struct perf *in, struct dp_text line)
{
    struct sample s;
    struct dp_text name, file, before = { in->before.ptr, in->before.len };
    if (in->any)
        return dp_import_bad(r, "this is neither a sample nor a frame", line);
    if (!before.len || sample_line(before, &s) != WEAK)
        return dp_import_bad(r, "no command stands before this stack; `perf script -F comm,tid,"
                                 "time,period,event,ip,sym,dso' prints all that is needed", line);
    in->weak = true;
    int rc = begin_sample(r, in, &s);
    return rc == 0 && frame_line(line, &name, &file) ? add_frame(r, in, name, file) : rc;
}

/* Handles a line before the first sample, such as a warning of perf: a weak one is kept for
 * first_frame. Returns 0 or a DP_E. */
static int note_early_line(struct dp_reader *r, struct perf *in, struct dp_text line,
                           enum sure sure)
{
    dp_buf_clear(&in->before);
    if (sure == WEAK)
        dp_buf_add(&in->before, line.ptr, line.len);
    return in->before.err ? dp_import_error(r, DP_E_NOMEM) : 0;
}

/* Reads a line. The open sample decides what it is: a frame, an empty line that ends the sample,
 * the first line of another one, or other output of perf, which is ignored. Returns 0 or a DP_E. */
static int read_line(struct dp_reader *r, struct perf *in, struct dp_text line)
{
    struct sample s;
    struct dp_text name, file;
    size_t at = span_of(line, 0, dp_is_blank);
    if (at == line.len)
        return finish_sample(r, in);
    if (*line.ptr == '#')
        return 0;
    bool framed = frame_line(line, &name, &file);
    if (framed && in->open && at && !in->flat) {
        in->stacks = true;
        return add_frame(r, in, name, file);
    }
    enum sure sure = sample_line(line, &s);
    if (sure == SURE || (sure == WEAK && (in->weak || s.framed)))
        return begin_sample(r, in, &s);
    if (framed) {
        in->stacks = in->stacks || (in->open && !in->flat);
        return in->open ? add_frame(r, in, name, file) : first_frame(r, in, line);
    }
    if (in->open && at)         /* other output about a sample: registers, sources */
        return 0;
    return in->any ? dp_import_bad(r, "this is neither a sample nor a frame", line)
            : note_early_line(r, in, line, sure);
}

/* Is this the first line of a sample, except the command? */
static bool lacks_command(struct dp_text line)
{
    struct words of = { line, .n = 0 };
    of.n = words_of(line, of.w);
    while (is_here(&of, is_id) || is_here(&of, is_cpu) || is_here(&of, is_time)
           || is_here(&of, is_event))
        of.at++;
    return of.n && of.at == of.n;
}

/* Recognizes the format. The first line that is neither empty nor a comment must be that of a
 * sample, followed by a frame, an empty line, or another sample. After other lines, warnings of
 * perf, only a frame is proof. */
static bool is_perf(const char *ptr, size_t len)
{
    const char *end = ptr + len, *nl;
    bool clean = true, sample = false, framed = false, may_be = true;
    struct sample s;
    struct dp_text name, file;
    for (; ptr < end; ptr = nl ? nl + 1 : end) {
        nl = memchr(ptr, '\n', (size_t)(end - ptr));
        struct dp_text line = { ptr, (size_t)((nl ? nl : end) - ptr) };
        if (line.len && line.ptr[line.len - 1] == '\r')
            line.len--;
        bool empty = is_blank_or_none(line);
        if (may_be && !empty && frame_line(line, &name, &file))
            return true;
        enum sure sure = empty ? NOT : sample_line(line, &s);
        if (sample && clean && (empty || sure == SURE))
            return true;
        if (empty || *line.ptr == '#')
            continue;
        if (sure != NOT && s.framed && (sure == SURE || framed))
            return true;
        framed = sure != NOT && s.framed;
        clean = clean && !sample && sure == SURE;
        sample = sure == SURE;
        may_be = sure != NOT || lacks_command(line);
    }
    return sample && clean;
}

/* ---- the file ---- */

/* Makes the header, with a counter for each event of the file; the events that are clocks count
 * nanoseconds. */
static int make_header(struct dp_reader *r, struct perf *in)
{
    for (size_t i = 0; i < in->n_events; i++) {
        int rc = dp_import_value(r, dp_import_name(&in->names, in->events[i].name),
                                 (struct dp_text){ "ns", in->events[i].time ? 2 : 0 });
        if (rc < 0)
            return rc;
    }
    return dp_import_header(r, 0);
}

/* Reads all samples into a tree, because the kinds of values are the events, which are complete
 * only at the end of the file. */
static int read_head(struct dp_reader *r)
{
    struct perf *in = r->import.state = dp_mem_zalloc(sizeof *in);
    struct dp_text line;
    if (!in)
        return dp_import_error(r, DP_E_NOMEM);
    dp_pool_init(&in->names);
    dp_samples_init(&in->tree);
    dp_buf_init(&in->name);
    dp_buf_init(&in->before);
    int rc = 0, got = 0;
    while (rc == 0 && (got = dp_import_line(r, &line)) > 0)
        rc = read_line(r, in, line);
    if (rc == 0 && in->open && in->stacks)      /* it counts, but may have had more frames */
        in->cut = "no empty line follows the last stack";
    if (rc == 0)
        rc = got < 0 ? got : finish_sample(r, in);
    if (rc == 0 && !in->any)
        return dp_reader_fail(r, DP_E_SYNTAX, 0, "there is no sample");
    if (rc == 0 && r->in.cut)
        in->cut = "the compressed data break off";
    r->in.cut = false;          /* reported after the contexts */
    return rc < 0 ? rc : make_header(r, in);
}

/* Hands over the names in the stacks as subs, then the tree of stacks. Names of events are no
 * subs. */
static int read_body(struct dp_reader *r)
{
    struct perf *in = r->import.state;
    int rc = 0;
    in->numbers = dp_mem_alloc((in->names.count + 1) * sizeof *in->numbers);
    if (!in->numbers)
        return dp_import_error(r, DP_E_NOMEM);
    memset(in->numbers, 0xff, (in->names.count + 1) * sizeof *in->numbers);     /* DP_SUB_NONE */
    for (size_t n = 1; rc == 0 && n < in->tree.count; n++) {
        uint32_t name = in->tree.nodes[n].sub;
        if (in->numbers[name] == DP_SUB_NONE)
            rc = dp_import_sub(r, dp_import_name(&in->names, name), (struct dp_text){ "", 0 }, 0,
                               &in->numbers[name]);
    }
    if (rc == 0)
        rc = dp_samples_give(r, &in->tree, in->numbers);
    return rc == 0 && in->cut ? dp_reader_fail(r, DP_E_TRUNCATED, 0, "%s", in->cut) : rc;
}

/* Frees what read_head has made (dp_import_format.release). */
static void release_state(void *state)
{
    struct perf *in = state;
    if (!in)
        return;
    dp_pool_release(&in->names);
    dp_samples_release(&in->tree);
    dp_buf_release(&in->name);
    dp_buf_release(&in->before);
    dp_mem_free(in->numbers);
    dp_mem_free(in->frames);
    dp_mem_free(in);
}

const struct dp_import_format dp_import_perf = { "perf", is_perf, read_head, read_body,
                                                release_state };
