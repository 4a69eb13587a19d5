#include "dp_reader_tree.h"
#include "dp_char.h"
#include "dp_reader_end.h"
#include "dp_mem.h"
#include "dp_num.h"

#include <string.h>

enum {
    FIELDS = 9 + DP_FMT_COUNTERS + 16,  /* later fields are skipped */
    CONTEXT = 9,                        /* fields of an = line before the counters */
    LINE = 7                            /* fields of a #l line before the counters */
};

/* The next field at or after p; len 0: there is none. */
static struct dp_text field_at(const char *p, const char *end)
{
    struct dp_text f = { p, 0 };
    while (f.ptr < end && dp_is_space(*f.ptr))
        f.ptr++;
    while (f.ptr + f.len < end && !dp_is_space(f.ptr[f.len]))
        f.len++;
    return f;
}

static bool read_number(struct dp_text f, uint64_t *out)
{
    return dp_num_dec(f.ptr, f.len, out);
}

static bool read_ticks(struct dp_text f, uint64_t *out)
{
    return read_number(f, out) && *out < DP_LIMIT_TOTAL;
}

/* The value of a field KEY=VALUE if it begins with `key`, which has the =; else len is 0. */
static struct dp_text value_behind(struct dp_text f, const char *key)
{
    size_t n = strlen(key);
    struct dp_text none = { f.ptr, 0 };
    if (f.len < n || memcmp(f.ptr, key, n) != 0)
        return none;
    none.ptr += n;
    none.len = f.len - n;
    return none;
}

/* Passes on the consumer's answer: a number, or an error, to which this adds the place in the
 * file. */
static int64_t check_answer(struct dp_reader *r, int64_t n)
{
    if (n < 0 && r->err->code == n && !r->err->line) {
        r->err->line = r->in.line;
        r->err->byte = r->in.base + r->in.pos;
    }
    return n < 0 ? dp_reader_fail(r, (int)n, 0, "%s", dp_err_text((int)n)) : n;
}

int64_t dp_reader_give_context(struct dp_reader *r, const struct dp_context *c)
{
    return r->to->context ? check_answer(r, r->to->context(r->to->ctx, c, r->err)) : 0;
}

int dp_reader_give_line(struct dp_reader *r, const struct dp_linedef *def)
{
    return r->to->line ? (int)check_answer(r, r->to->line(r->to->ctx, def, r->err)) : 0;
}

int64_t dp_reader_context(struct dp_reader *r, const struct dp_context *c)
{
    for (int m = 0; m < DP_METRICS; m++) {
        if (r->passed[m] + c->t[m] >= DP_LIMIT_TOTAL)
            return dp_reader_fail(r, DP_E_LIMIT, 0, "the times add up to more than fits");
        r->passed[m] += c->t[m];
    }
    r->info->contexts++;
    r->tree.calls += c->calls;
    return dp_reader_give_context(r, c);
}

/* Reads the fields after the depth. Returns false if they are not valid. */
static bool context_values(struct dp_reader *r, const struct dp_text *f, size_t n, uint64_t *id,
                           struct dp_context *c, uint64_t *counters)
{
    size_t columns = r->head->n_counters;
    if (n < CONTEXT + columns || !dp_num_hex(f[2].ptr, f[2].len, id)
        || !read_number(f[3], &c->calls)
        || !read_ticks(f[4], &c->t[DP_USER]) || !read_ticks(f[5], &c->t[DP_SYSTEM])
        || !read_ticks(f[6], &c->t[DP_REAL]) || !read_ticks(f[7], &c->longest)
        || !read_ticks(f[8], &c->shortest))
        return false;
    for (size_t i = 0; i < columns; i++)
        if (!read_number(f[CONTEXT + i], &counters[i]) || counters[i] > DP_LIMIT_COUNT)
            return false;
    c->counters = counters;
    return true;
}

/* Reads a context: = DEPTH ID CALLS USER SYSTEM REAL LONGEST SHORTEST [COUNTER ...] [KEY=VALUE
 * ...] */
static int context_line(struct dp_reader *r, const char *ptr, size_t len)
{
    struct dp_text f[FIELDS];
    const char *p = ptr, *end = ptr + len;
    size_t n = 0, columns = r->head->n_counters;
    while (n < FIELDS && (f[n] = field_at(p, end)).len)
        p = f[n].ptr + f[n].len, n++;
    struct dp_context c;
    uint64_t depth, id, counters[DP_FMT_COUNTERS];
    memset(&c, 0, sizeof c);
    c.sub = DP_SUB_NONE;
    if (n < 2 || f[0].len != 1 || !read_number(f[1], &depth))
        return dp_reader_bad_line(r, ptr, len);
    if (r->tree.left_out && depth > r->tree.left_out)
        return 0;
    r->tree.left_out = 0;
    if (depth > r->tree.path_len)
        return dp_reader_bad_line(r, ptr, len);
    /* only the root has no sub, and it is above all others */
    if (!context_values(r, f, n, &id, &c, counters)
        || (depth ? !dp_reader_find(r, id, &c.sub) : id != 0)) {
        r->tree.left_out = depth;
        return depth ? dp_reader_skip_line(r, ptr, len) : dp_reader_bad_line(r, ptr, len);
    }
    if (depth > 1 && dp_reader_is_phase(r, id))
        return dp_reader_fail(r, DP_E_SYNTAX, 0,
                              "Bad profile: a phase is right below the root: %.*s",
                              len > 160 ? 160 : (int)len, ptr);
    for (size_t i = CONTEXT + columns; i < n; i++) {
        struct dp_text at = value_behind(f[i], "at="), folded = value_behind(f[i], "folded="),
            when = value_behind(f[i], "when="), unit = value_behind(f[i], "unit=");
        if (at.len && depth)
            c.at = at;
        else if (when.len)
            c.when = when;
        else if (unit.len && !depth && !read_ticks(unit, &c.unit))
            c.unit = 0;
        else if (folded.len && !read_number(folded, &c.folded))
            c.folded = 0;
    }
    c.parent = depth ? r->tree.path[depth - 1] : 0;
    if (depth >= DP_LIMIT_DEPTH)
        return dp_reader_fail(r, DP_E_LIMIT, 0, "the tree is deeper than %lu",
                              (unsigned long)DP_LIMIT_DEPTH);
    struct dp_reader_tree *tree = &r->tree;
    if (dp_mem_grow((void **)&tree->path, &tree->path_cap, (size_t)depth + 1, sizeof *tree->path)
        < 0)
        return dp_reader_fail(r, DP_E_NOMEM, 0, "%s", dp_err_text(DP_E_NOMEM));
    int64_t number = dp_reader_context(r, &c);
    if (number < 0)
        return (int)number;
    tree->path[depth] = (uint32_t)number;
    tree->path_len = (size_t)depth + 1;
    return 0;
}

/* Reads the durations of a sub's calls: h ID BUCKET:COUNT ... */
static int histogram_line(struct dp_reader *r, const char *ptr, size_t len)
{
    const char *p = ptr, *end = ptr + len;
    uint64_t count[DP_FMT_BUCKETS], id, bucket, calls;
    uint32_t sub;
    memset(count, 0, sizeof count);
    struct dp_text f = field_at(p, end);
    bool good = f.len == 1;
    f = field_at(f.ptr + f.len, end);
    good = good && dp_num_hex(f.ptr, f.len, &id) && dp_reader_find(r, id, &sub);
    while (good && (f = field_at(f.ptr + f.len, end)).len) {
        const char *colon = memchr(f.ptr, ':', f.len);
        size_t n = colon ? (size_t)(colon - f.ptr) : 0;
        good = colon && dp_num_dec(f.ptr, n, &bucket)
               && dp_num_dec(colon + 1, f.len - n - 1, &calls) && bucket < 64;
        if (good) {
            uint64_t *to = &count[bucket < DP_FMT_BUCKETS ? bucket : DP_FMT_BUCKETS - 1];
            *to = calls < DP_LIMIT_COUNT - *to ? *to + calls : DP_LIMIT_COUNT;
        }
    }
    if (!good)
        return dp_reader_skip_line(r, ptr, len);
    int rc = r->to->histogram ? r->to->histogram(r->to->ctx, sub, count) : 0;
    return rc < 0 ? dp_reader_fail(r, rc, 0, "%s", dp_err_text(rc)) : 0;
}

/* Reads a line #f FILE [size=N] [crc=HEX] [text=PACKED]: the following statements are in this
 * file. */
static int file_line(struct dp_reader *r, const char *ptr, size_t len)
{
    struct dp_text f = field_at(ptr + 2, ptr + len);
    dp_buf_clear(&r->tree.file);
    if (!f.len)
        return dp_header_get(r->head, "dprof_lines") ? dp_reader_bad_line(r, ptr, len) : 0;
    dp_buf_add(&r->tree.file, f.ptr, f.len);
    r->tree.file_len = r->tree.file.len;
    if (r->tree.file.err)
        return dp_reader_fail(r, DP_E_NOMEM, 0, "%s", dp_err_text(DP_E_NOMEM));
    struct dp_linefile def = { .file = f };
    uint64_t crc = UINT64_MAX;
    bool sized = false;
    for (struct dp_text key = field_at(f.ptr + f.len, ptr + len); key.len;
         key = field_at(key.ptr + key.len, ptr + len)) {
        struct dp_text size = value_behind(key, "size="), sum = value_behind(key, "crc="),
            packed = value_behind(key, "text=");
        def.packed = packed.len ? packed : def.packed;
        sized = size.len ? read_number(size, &def.size) : sized;
        if (sum.len && !dp_num_hex(sum.ptr, sum.len, &crc))
            crc = UINT64_MAX;
    }
    def.crc = (uint32_t)crc;
    int rc = sized && crc <= UINT32_MAX && r->to->source ? r->to->source(r->to->ctx, &def) : 0;
    return rc < 0 ? dp_reader_fail(r, rc, 0, "%s", dp_err_text(rc)) : 0;
}

/* Reads times and counters of a statement, from field f[4] on. Returns false if they are no
 * numbers. */
static bool line_values(struct dp_reader *r, const struct dp_text *f, size_t n,
                        struct dp_linedef *def, uint64_t *counters)
{
    if (!read_ticks(f[4], &def->t[DP_USER]) || !read_ticks(f[5], &def->t[DP_SYSTEM])
        || !read_ticks(f[6], &def->t[DP_REAL]) || n < LINE + r->head->n_counters)
        return false;
    for (size_t i = 0; i < r->head->n_counters; i++)
        if (!read_number(f[LINE + i], &counters[i]) || counters[i] > DP_LIMIT_COUNT)
            return false;
    def->has_times = true;
    def->counters = counters;
    def->n_counters = r->head->n_counters;
    return true;
}

/* Reads the cost of a statement: #l LINE SUB COUNT [USER SYSTEM REAL [COUNTER ...]] [later=N] */
static int statement_line(struct dp_reader *r, const char *ptr, size_t len)
{
    struct dp_text f[FIELDS];
    const char *p = ptr, *end = ptr + len;
    size_t n = 0;
    while (n < FIELDS && (f[n] = field_at(p, end)).len)
        p = f[n].ptr + f[n].len, n++;
    struct dp_linedef def;
    uint64_t line, id, later = 0, counters[DP_FMT_COUNTERS];
    memset(&def, 0, sizeof def);
    def.sub = DP_SUB_NONE;
    if (n < 4 || !r->tree.file_len || !read_number(f[1], &line)
        || !dp_num_hex(f[2].ptr, f[2].len, &id)
        || !read_number(f[3], &def.count) || (id && !dp_reader_find(r, id, &def.sub)))
        return dp_reader_skip_line(r, ptr, len);
    if (n > 4 && !memchr(f[4].ptr, '=', f[4].len) && (n < LINE
        || !line_values(r, f, n, &def, counters)))
        return dp_reader_skip_line(r, ptr, len);
    for (size_t i = 4; i < n; i++) {
        struct dp_text value = value_behind(f[i], "later=");
        if (value.len && read_number(value, &later) && later < UINT32_MAX)
            def.later = (uint32_t)later;
    }
    r->tree.file.len = r->tree.file_len;
    if (line || r->tree.file_len != 1 || r->tree.file.ptr[0] != '%') {
        dp_buf_addc(&r->tree.file, ':');
        dp_buf_addu(&r->tree.file, line);
        def.at = (struct dp_text){ r->tree.file.ptr, r->tree.file.len };
    }
    return r->tree.file.err ? dp_reader_fail(r, DP_E_NOMEM, 0, "%s", dp_err_text(DP_E_NOMEM))
                            : dp_reader_give_line(r, &def);
}

static bool read_count(const char *ptr, size_t len, uint64_t *to)
{
    return dp_num_dec(ptr, len, to) && *to <= DP_LIMIT_COUNT;
}

/* Reads KEY=NUMBER. Returns false if the value of a known key is no number. */
static bool requests_key(struct dp_text f, struct dp_requests *to)
{
    const struct { const char *key; uint64_t *to; } keys[] = {
        { "seen=", &to->seen }, { "kept=", &to->kept }, { "ns=", &to->ns },
        { "longest=", &to->longest },
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t n = strlen(keys[i].key);
        if (f.len >= n && memcmp(f.ptr, keys[i].key, n) == 0)
            return read_count(f.ptr + n, f.len - n, keys[i].to);
    }
    return true;
}

/* Reads BUCKET:COUNT. */
static bool requests_bucket(struct dp_text f, struct dp_requests *to)
{
    const char *colon = memchr(f.ptr, ':', f.len);
    uint64_t bucket, count;
    size_t n = colon ? (size_t)(colon - f.ptr) : 0;
    if (!colon || !dp_num_dec(f.ptr, n, &bucket) || bucket >= DP_REQUESTS_BUCKETS
        || !read_count(colon + 1, f.len - n - 1, &count))
        return false;
    to->count[bucket] = dp_count_add(to->count[bucket], count);
    return true;
}

/* Reads a line #r NAME [KEY=VALUE ...] [BUCKET:COUNT ...] */
static int requests_line(struct dp_reader *r, const char *ptr, size_t len)
{
    struct dp_requests of;
    memset(&of, 0, sizeof of);
    const char *end = ptr + len;
    struct dp_text name = field_at(ptr + strlen(DP_REQUESTS_LINE), end), f = name;
    bool good = name.len > 0;
    while (good && (f = field_at(f.ptr + f.len, end)).len)
        good = memchr(f.ptr, '=', f.len) ? requests_key(f, &of) : requests_bucket(f, &of);
    if (!good || !of.seen)
        return dp_reader_skip_line(r, ptr, len);
    int rc = r->to->requests ? r->to->requests(r->to->ctx, name, &of) : 0;
    return rc < 0 ? dp_reader_fail(r, rc, 0, "%s", dp_err_text(rc)) : 0;
}

/* Reads a line #a NAME. */
static int server_line(struct dp_reader *r, const char *ptr, size_t len)
{
    struct dp_text name = field_at(ptr + strlen(DP_REQUESTS_SERVER), ptr + len);
    int rc = name.len && r->to->server ? r->to->server(r->to->ctx, name) : 0;
    return rc < 0 ? dp_reader_fail(r, rc, 0, "%s", dp_err_text(rc)) : 0;
}

/* Reads a line #h PLACE SUB CHAIN. */
static int holder_line(struct dp_reader *r, const char *ptr, size_t len)
{
    struct dp_text line = { ptr + strlen(DP_FMT_HOLDER), len - strlen(DP_FMT_HOLDER) };
    const char *end = ptr + len, *p = line.ptr;
    for (unsigned i = 0; i < 3; i++) {
        struct dp_text f = field_at(p, end);
        if (!f.len)
            return dp_reader_skip_line(r, ptr, len);
        p = f.ptr + f.len;
    }
    line.len = (size_t)(p - line.ptr);
    int rc = r->to->holder ? r->to->holder(r->to->ctx, line) : 0;
    return rc < 0 ? dp_reader_fail(r, rc, 0, "%s", dp_err_text(rc)) : 0;
}

/* #s ID rows=N */
static int rows_line(struct dp_reader *r, const char *ptr, size_t len)
{
    const char *end = ptr + len;
    struct dp_text f = field_at(ptr + strlen(DP_FMT_ROWS), end);
    uint64_t id, rows;
    uint32_t sub;
    bool known = false;
    if (!dp_num_hex(f.ptr, f.len, &id) || !dp_reader_find(r, id, &sub))
        return dp_reader_skip_line(r, ptr, len);
    while ((f = field_at(f.ptr + f.len, end)).len) {
        struct dp_text value = value_behind(f, "rows=");
        known = known || value.len;
        if (value.len && !read_count(value.ptr, value.len, &rows))
            return dp_reader_skip_line(r, ptr, len);
    }
    int rc = known && r->to->rows ? r->to->rows(r->to->ctx, sub, rows) : 0;
    return rc < 0 ? dp_reader_fail(r, rc, 0, "%s", dp_err_text(rc)) : 0;
}

int dp_reader_comment(struct dp_reader *r, const char *ptr, size_t len)
{
    if (len < 3 || *ptr != '#' || !r->head->version)
        return 0;
    if (memcmp(ptr, DP_FMT_FILE, 3) == 0)
        return file_line(r, ptr, len);
    if (memcmp(ptr, DP_FMT_LINE, 3) == 0 && r->tree.on && dp_header_get(r->head, "dprof_lines"))
        return statement_line(r, ptr, len);
    if (memcmp(ptr, DP_FMT_ROWS, 3) == 0)
        return rows_line(r, ptr, len);
    if (memcmp(ptr, DP_REQUESTS_LINE, 3) == 0)
        return requests_line(r, ptr, len);
    if (memcmp(ptr, DP_REQUESTS_SERVER, 3) == 0)
        return server_line(r, ptr, len);
    if (memcmp(ptr, DP_FMT_HOLDER, 3) == 0)
        return holder_line(r, ptr, len);
    dp_reader_sums(r, ptr, len);
    return 0;
}

/* Handles a line of a tree; dp_reader_each_line calls it. */
static int read_line(struct dp_reader *r, const char *ptr, size_t len)
{
    struct dp_text f = field_at(ptr, ptr + len);
    if (!f.len)
        return 0;
    if (f.ptr[0] == '#') {
        int rc = dp_reader_comment(r, ptr, len);
        r->tree.lines++;
        return rc;
    }
    r->tree.lines++;
    switch (f.len == 1 ? f.ptr[0] : 0) {
    case '=':
        return context_line(r, ptr, len);
    case 'h':
        return histogram_line(r, ptr, len);
    case '&':
        if (!r->tree.ids) {             /* the trace before it had ids of its own */
            r->tree.ids = true;
            dp_reader_forget_ids(r);
        }
        return dp_reader_name(r, ptr, len);
    }
    return dp_reader_bad_line(r, ptr, len);
}

int dp_reader_tree_lines(struct dp_reader *r, const char *end)
{
    return dp_reader_each_line(r, end, read_line);
}
