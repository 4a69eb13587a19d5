#include "dp_import.h"
#include "dp_reader_tree.h"
#include "dp_mem.h"
#include "dp_num.h"

#include <stdio.h>
#include <string.h>

enum {
    NAME_MAX = 100,             /* bytes of a counter's name */
    SHOWN = 60                  /* bytes of a line in a message */
};

/* ---- errors ---- */

int dp_import_error(struct dp_reader *r, int code)
{
    return dp_reader_fail(r, code, 0, "%s", dp_err_text(code));
}

int dp_import_bad(struct dp_reader *r, const char *what, struct dp_text line)
{
    bool whole = line.len <= SHOWN;
    return dp_reader_fail(r, DP_E_SYNTAX, 0, "%s: %.*s%s", what, whole ? (int)line.len : SHOWN,
                          line.ptr, whole ? "" : " ...");
}

/* ---- bytes ---- */

int dp_import_line(struct dp_reader *r, struct dp_text *line)
{
    r->in.pos += r->import.taken;
    r->in.line += r->import.taken > 0;
    r->import.taken = 0;
    long len = dp_reader_whole_line(r);
    if (len < -1)
        return r->err->code;
    bool whole = len >= 0;
    if (!whole)
        len = r->in.cut ? 0 : (long)(r->in.end - r->in.pos);
    if (!whole && !len)
        return 0;
    *line = (struct dp_text){ r->in.buf + r->in.pos, (size_t)len };
    r->import.taken = line->len + whole;
    r->in.no_end = !whole;
    if (line->len && line->ptr[line->len - 1] == '\r')
        line->len--;
    return 1;
}

int dp_import_whole(struct dp_reader *r, struct dp_text *all)
{
    struct dp_buf *buf = &r->import.whole;
    for (;;) {
        size_t n = r->in.end - r->in.pos;
        if (n > DP_LIMIT_WHOLE - buf->len)
            return dp_reader_fail(r, DP_E_LIMIT, 0, "the file has more than %zu bytes",
                                  DP_LIMIT_WHOLE);
        dp_buf_add(buf, r->in.buf + r->in.pos, n);
        if (buf->err)
            return dp_import_error(r, DP_E_NOMEM);
        r->in.pos = r->in.end;
        long got = dp_reader_refill(r);
        if (got < 0)
            return (int)got;
        if (got == 0)
            break;
    }
    r->in.base = r->in.line = 0;
    r->in.pos = r->in.end = 0;
    *all = (struct dp_text){ buf->ptr ? buf->ptr : "", buf->len };
    return 0;
}

/* ---- values ---- */

/* The nanoseconds of a unit of time, which may be a multiple (10ns); 0: not a unit of time. */
static uint64_t ns_of(struct dp_text unit)
{
    static const struct { const char *name; uint64_t ns; } times[] = {
        { "nanoseconds", 1 },        { "ns", 1 },                   { "nanosecond", 1 },
        { "microseconds", 1000 },    { "us", 1000 },                { "microsecond", 1000 },
        { "\xc2\xb5s", 1000 },       { "\xce\xbcs", 1000 },         { "usec", 1000 },
        { "milliseconds", 1000000 }, { "ms", 1000000 },             { "millisecond", 1000000 },
        { "seconds", 1000000000 },   { "s", 1000000000 },           { "second", 1000000000 },
    };
    size_t digits = 0;
    uint64_t factor = 1;
    while (digits < unit.len && digits < 4 && dp_is_digit(unit.ptr[digits]))
        digits++;
    if (digits && !dp_num_dec(unit.ptr, digits, &factor))
        return 0;
    unit = (struct dp_text){ unit.ptr + digits, unit.len - digits };
    for (size_t i = 0; i < DP_ARRAY_LEN(times); i++)
        if (dp_import_is(unit, times[i].name))
            return factor * times[i].ns;
    return 0;
}

/* The kinds of texts of a header. Words have letters and digits. Names of events may also have
 * dots, colons and the like, but no blanks. Units may have the same except colons, because the part
 * after the last colon is the unit. */
enum what { WORD, UNIT, NAME };

/* Copies a text for the lifetime of the header, at most max bytes, with _ for characters that its
 * kind does not allow. NULL: no memory. */
static char *copy_word(struct dp_reader *r, struct dp_text t, size_t max, enum what what)
{
    size_t n = t.len < max ? t.len : max;
    char *to = dp_pool_alloc(&r->head->pool, n + 1);
    for (size_t i = 0; to && i < n; i++) {
        char c = t.ptr[i];
        bool printed = (unsigned char)c > ' ' && c != '\x7f' && (c != ':' || what == NAME);
        to[i] = dp_is_word(c) || c == '-' || (printed && what != WORD) ? c : '_';
    }
    if (to)
        to[n] = '\0';
    return to;
}

int dp_import_value(struct dp_reader *r, struct dp_text name, struct dp_text unit)
{
    struct dp_reader_import *f = &r->import;
    if (f->n_values == DP_IMPORT_VALUES)
        return dp_reader_fail(r, DP_E_LIMIT, 0, "there are more than %d kinds of values",
                              DP_IMPORT_VALUES);
    struct dp_import_kind *v = &f->values[f->n_values++];
    *v = (struct dp_import_kind){ .ns = ns_of(unit), .column = DP_IMPORT_NONE };
    v->name = copy_word(r, name.len ? name : (struct dp_text){ "value", 5 }, NAME_MAX, NAME);
    bool counts = !unit.len || dp_import_is(unit, "count");
    v->unit = copy_word(r, counts ? (struct dp_text){ "", 0 } : unit, DP_UNIT_MAX, UNIT);
    if (!v->name || !v->unit)
        return dp_import_error(r, DP_E_NOMEM);
    v->calls = counts && dp_import_is(name, "calls");
    return 0;
}

/* The first time with a name; with any name if name is NULL. */
static struct dp_import_kind *time_of(struct dp_reader_import *f, const char *name)
{
    for (size_t i = 0; i < f->n_values; i++)
        if (f->values[i].ns && (!name || strcmp(f->values[i].name, name) == 0))
            return &f->values[i];
    return NULL;
}

/* Chooses the kinds that are times; returns false if there are none. */
static bool choose_times(struct dp_reader_import *f)
{
    struct dp_import_kind *cpu = time_of(f, "cpu"), *wall = time_of(f, "wall");
    if (!cpu && !wall)
        cpu = wall = time_of(f, NULL);
    if (!cpu || !wall)
        cpu = wall = cpu ? cpu : wall;
    if (cpu) {
        cpu->times |= 1u << DP_USER;
        wall->times |= 1u << DP_REAL;
    }
    return cpu != NULL;
}

/* Uses a kind of count in place of times, which the file lacks, in the count's own unit. If the
 * unit differs from its name, the kind is a counter as well, so that it can be chosen by name, such
 * as cycles:u. */
static int use_count_as_time(struct dp_reader *r, struct dp_import_kind *v)
{
    uint64_t hz;
    bool time;
    const char *of = *v->unit ? v->unit : v->name;
    const char *unit = copy_word(r, (struct dp_text){ of, strlen(of) }, DP_UNIT_MAX, WORD);
    if (!unit)
        return dp_import_error(r, DP_E_NOMEM);
    if (!dp_header_unit(unit, &hz, &time) || time)
        unit = "values";
    v->ns = 1;
    v->times = 1u << DP_USER | 1u << DP_REAL;
    v->named = strcmp(unit, v->name) != 0;
    r->head->unit = unit;
    return 0;
}

/* Assigns columns to the other kinds. */
static int choose_counters(struct dp_reader *r)
{
    struct dp_header *head = r->head;
    for (size_t i = 0; i < r->import.n_values && head->n_counters < DP_FMT_COUNTERS; i++) {
        struct dp_import_kind *v = &r->import.values[i];
        if ((v->times && !v->named) || v->calls)
            continue;
        size_t name = strlen(v->name), unit = strlen(v->unit);
        bool colon = unit || memchr(v->name, ':', name);
        size_t len = name + colon + unit;
        char *to = dp_pool_alloc(&head->pool, len + 1);
        if (!to)
            return dp_import_error(r, DP_E_NOMEM);
        snprintf(to, len + 1, "%s%s%s", v->name, colon ? ":" : "", v->unit);
        v->column = (unsigned)head->n_counters;
        head->counters[head->n_counters++] = (struct dp_var){ "", to, len };
    }
    return 0;
}

/* Lists the kinds that are neither times nor counters in a variable, which the tools report. */
static int list_left_out(struct dp_reader *r)
{
    struct dp_buf *words = &r->ids.scratch;
    size_t left = 0;
    dp_buf_clear(words);
    for (size_t i = 0; i < r->import.n_values; i++) {
        const struct dp_import_kind *v = &r->import.values[i];
        if (v->column == DP_IMPORT_NONE && !v->times && !v->calls)
            dp_buf_addf(words, "%s%s", left++ ? " " : "", v->name);
    }
    if (!left)
        return 0;
    dp_buf_addf(words, " (%zu of %zu are read)", r->head->n_counters, r->head->n_counters + left);
    const char *all = dp_buf_cstr(words);
    return words->err ? DP_E_NOMEM : dp_header_add(r->head, "dprof_left_out", all);
}

int dp_import_header(struct dp_reader *r, size_t preferred)
{
    struct dp_reader_import *f = &r->import;
    struct dp_header *head = r->head;
    if (!f->n_values)
        return dp_reader_fail(r, DP_E_SYNTAX, 0, "it does not tell what its values are");
    bool timed = choose_times(f), calls = false;
    for (size_t i = 0; i < f->n_values; i++)
        calls = calls || f->values[i].calls;
    int rc = timed ? 0 : use_count_as_time(r, &f->values[preferred < f->n_values ? preferred : 0]);
    if (rc == 0 && time_of(f, "wall") && !time_of(f, "cpu"))
        rc = dp_header_add(head, "dprof_time", "real");
    if (rc == 0)
        rc = choose_counters(r);
    if (rc < 0)
        return rc;
    head->hz = timed ? 1000000000 : 1;
    if (timed && !calls)
        head->unit = "s";
    head->no_calls = !calls;
    head->ended = true;
    head->foreign = f->format->name;
    rc = dp_header_add(head, "dprof_format", f->format->name);
    if (rc == 0)
        rc = list_left_out(r);
    return rc < 0 ? dp_import_error(r, DP_E_NOMEM) : 0;
}

/* ---- contexts ---- */

int dp_import_sub(struct dp_reader *r, struct dp_text name, struct dp_text file, uint64_t line,
                  uint32_t *sub)
{
    struct dp_subdef def;
    dp_reader_subdef(&def, name);
    if (file.len) {
        def.file = file;
        def.line = line;
    }
    return dp_reader_sub(r, &def, sub);
}

int dp_import_phase(struct dp_reader *r, struct dp_text name, uint32_t *sub)
{
    struct dp_subdef def;
    dp_reader_subdef(&def, (struct dp_text){ "", 0 });
    def.name = name;
    def.phase = true;
    return dp_reader_sub(r, &def, sub);
}

bool dp_import_is_root(struct dp_text name) { return dp_import_is(name, DP_FMT_PROGRAM); }

int64_t dp_import_enter(struct dp_reader *r, uint32_t parent, uint32_t sub)
{
    static const uint64_t nothing[DP_FMT_COUNTERS];
    struct dp_context c;
    if (sub == DP_SUB_NONE)
        return parent;
    memset(&c, 0, sizeof c);
    c.parent = parent;
    c.sub = sub;
    c.counters = nothing;
    c.at.ptr = "";
    if (r->head->ordered)
        return dp_reader_give_context(r, &c);
    struct dp_map_slot *slot = dp_map_put(&r->import.kids, (uint64_t)parent << 32 | sub);
    if (!slot)
        return dp_import_error(r, DP_E_NOMEM);
    if (slot->value != DP_MAP_NONE)
        return slot->value;
    slot->value = 0;
    int64_t node = dp_reader_give_context(r, &c);
    if (node >= 0)
        slot->value = (uint32_t)node;
    return node;
}

int dp_import_place(struct dp_reader *r, struct dp_text file, uint64_t line, struct dp_text *place)
{
    struct dp_buf *buf = &r->ids.scratch;
    *place = (struct dp_text){ "", 0 };
    if (!file.len || !line)
        return 0;
    dp_buf_clear(buf);
    dp_fmt_field(buf, file.ptr, file.len);
    dp_buf_addc(buf, ':');
    dp_buf_addu(buf, line);
    *place = (struct dp_text){ buf->ptr, buf->len };
    return buf->err ? dp_import_error(r, DP_E_NOMEM) : 0;
}

bool dp_import_values(const struct dp_reader *r, const uint64_t *values, uint64_t *t,
                      uint64_t *counters)
{
    bool any = false;
    for (size_t i = 0; i < r->import.n_values; i++) {
        const struct dp_import_kind *v = &r->import.values[i];
        for (unsigned m = 0; m < DP_METRICS; m++)
            if (v->times >> m & 1)
                t[m] = values[i] * v->ns;
        if (v->column != DP_IMPORT_NONE)
            counters[v->column] = values[i];
        any = any || (values[i] && (v->times || v->column != DP_IMPORT_NONE));
    }
    return any;
}

int dp_import_add(struct dp_reader *r, uint32_t node, const uint64_t *values)
{
    struct dp_context c;
    uint64_t counters[DP_FMT_COUNTERS] = { 0 };
    memset(&c, 0, sizeof c);
    c.sub = DP_SUB_NONE;
    c.again = node != 0;
    c.node = node;
    c.at.ptr = "";
    c.counters = counters;
    for (size_t i = 0; i < r->import.n_values; i++) {
        const struct dp_import_kind *v = &r->import.values[i];
        if (v->times && values[i] >= DP_LIMIT_TOTAL / v->ns)
            return dp_reader_fail(r, DP_E_LIMIT, 0, "the times add up to more than fits");
        if (v->calls)
            c.calls = values[i];
    }
    dp_import_values(r, values, c.t, counters);
    int64_t got = dp_reader_context(r, &c);
    return got < 0 ? (int)got : 0;
}
