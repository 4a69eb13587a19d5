/* Writes a profile as a tree file: Format.pod, "THE TREE". The result depends on the contents of
 * the profile and not on how it was made. A baseline (enum dp_write_kind) depends only on the code
 * and the perl. If you add a line to the header, dp_origin.h says whether a baseline has it. */
#include "dp_err.h"
#include "dp_fmt_stmt.h"
#include "dp_mem.h"
#include "dp_prof.h"
#include "dp_prof_lines.h"
#include "dp_sort.h"
#include "dprof/lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define HZ UINT64_C(10000000)   /* used without times; always the same value */

struct writing {
    const struct dp_prof *prof;
    const struct dp_write_how *how;
    struct dp_sink *sink;
    struct dp_buf text;
    struct dp_pool lines;       /* lines of the subs, in order of their numbers */
    uint32_t *sub_rank, *site_rank;     /* ranks of subs, and of sites (plus 1), from 1 up */
    uint32_t *order;            /* nodes by parent, then by name, then by place */
    uint32_t *next;             /* by node: index in order of its next kid */
    size_t counters[DP_FMT_COUNTERS];   /* counters that all files have, ops first */
    size_t n_counters;
    uint64_t sums[DP_FMT_SUMS];         /* of the lines so far, for the last line */
};

static void add_field(struct dp_buf *buf, const struct dp_name *name)
{
    dp_fmt_field(buf, name->ptr, name->len);
}

/* Writes package, name and place, then a NUL and everything else that distinguishes subs. */
static void start_of_line(const struct dp_subs *subs, const struct dp_sub *sub, struct dp_buf *buf)
{
    const struct dp_name *file = dp_subs_text(subs, sub->file);
    dp_buf_clear(buf);
    add_field(buf, dp_subs_text(subs, sub->package));
    dp_buf_addc(buf, ' ');
    add_field(buf, dp_subs_text(subs, sub->name));
    dp_buf_addc(buf, ' ');
    if (file->len) {
        dp_fmt_field(buf, file->ptr, file->len);
        dp_buf_addf(buf, ":%" PRIu64, sub->line);
    } else {
        dp_buf_addc(buf, '-');
    }
}

static void key_of(const struct dp_subs *subs, const struct dp_sub *sub, struct dp_buf *buf)
{
    start_of_line(subs, sub, buf);
    dp_buf_addc(buf, '\0');
    add_field(buf, dp_subs_text(subs, sub->autoload));
}

static void key_value(struct dp_buf *buf, const char *key, const struct dp_name *value)
{
    if (!value->len)
        return;
    dp_buf_adds(buf, key);
    add_field(buf, value);
}

static int count_digits(uint32_t n)
{
    int d = 1;
    while (n >= 10)
        n /= 10, d++;
    return d;
}

/* Writes the line of a sub. Readers number the nameless subs of one place in the order of their
 * lines, and lines are sorted by bytes. most: number of such subs. */
static void line_of(const struct dp_subs *subs, const struct dp_sub *sub, uint32_t most,
                    struct dp_buf *buf)
{
    start_of_line(subs, sub, buf);
    if (most > 1)
        dp_buf_addf(buf, " seq=%0*" PRIu32, count_digits(most), sub->ordinal);
    if (sub->xs)
        dp_buf_adds(buf, " kind=xs");
    if (sub->phase)
        dp_buf_adds(buf, " kind=phase");
    if (sub->builtin)
        dp_buf_adds(buf, " kind=builtin");
    if (sub->span)
        dp_buf_adds(buf, " kind=span");
    key_value(buf, " autoload=", dp_subs_text(subs, sub->autoload));
    key_value(buf, " in=", dp_subs_text(subs, sub->in));
}

/* Adds the lines of all subs to w->lines; no two lines are equal. */
static int make_sub_lines(struct writing *w)
{
    const struct dp_subs *subs = &w->prof->subs;
    struct dp_pool keys;
    struct dp_buf *buf = &w->text;
    size_t n = dp_subs_count(subs);
    uint32_t *most = dp_mem_zalloc((n + 1) * sizeof *most);
    int rc = most ? 0 : DP_E_NOMEM;
    dp_pool_init(&keys);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < n && rc == 0; i++) {
            const struct dp_sub *sub = &subs->subs[i];
            uint32_t key = 0, line = 0;
            if (dp_subs_is_shared(subs, i)) {
                key_of(subs, sub, buf);
                key = buf->err ? DP_MAP_NONE : dp_pool_intern(&keys, buf->ptr, buf->len);
                if (key != DP_MAP_NONE && most[key] < sub->ordinal)
                    most[key] = sub->ordinal;
            }
            if (pass == 1 && key != DP_MAP_NONE) {
                line_of(subs, sub, dp_subs_is_shared(subs, i) ? most[key] : 0, buf);
                line = buf->err ? DP_MAP_NONE : dp_pool_intern(&w->lines, buf->ptr, buf->len);
            }
            if (key == DP_MAP_NONE || line == DP_MAP_NONE)
                rc = DP_E_NOMEM;
        }
    dp_pool_release(&keys);
    dp_mem_free(most);
    return rc;
}

static int compare_names(const void *ctx, uint32_t x, uint32_t y)
{
    const struct dp_pool *pool = ctx;
    return dp_name_compare(dp_pool_name(pool, x), dp_pool_name(pool, y));
}

/* Sorts the names of a pool by bytes. rank: the place of each in this order, from 1 up; sorted,
 * which may be NULL: the names in order. */
static int sort_names(const struct dp_pool *pool, uint32_t **rank, uint32_t **sorted)
{
    size_t n = pool->count;
    uint32_t *order = dp_sort_order(n, compare_names, pool);
    *rank = dp_mem_realloc(NULL, n + 1, sizeof **rank);
    if (!order || !*rank) {
        dp_mem_free(order);
        return DP_E_NOMEM;
    }
    for (uint32_t i = 0; i < n; i++)
        (*rank)[order[i]] = i + 1;
    if (sorted)
        *sorted = order;
    else
        dp_mem_free(order);
    return 0;
}

/* Orders contexts by caller, sub and place. The ranks depend on names alone, so equal profiles are
 * written as equal files, in whatever order their contexts were made. */
static int compare_nodes(const void *ctx, uint32_t x, uint32_t y)
{
    const struct writing *w = ctx;
    const struct dp_node *a = &w->prof->nodes[x], *b = &w->prof->nodes[y];
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (a->sub != b->sub)
        return w->sub_rank[a->sub] < w->sub_rank[b->sub] ? -1 : 1;
    uint32_t p = a->site ? w->site_rank[a->site - 1] : 0,
             q = b->site ? w->site_rank[b->site - 1] : 0;
    return p < q ? -1 : p > q;
}

/* Sorts the contexts for writing, and finds where the kids of each begin: put_contexts walks by
 * this. */
static int arrange_nodes(struct writing *w)
{
    size_t n = w->prof->count;
    w->order = dp_mem_realloc(NULL, n, sizeof *w->order);
    w->next = dp_mem_realloc(NULL, n, sizeof *w->next);
    if (!w->order || !w->next)
        return DP_E_NOMEM;
    for (uint32_t i = 1; i < n; i++)
        w->order[i - 1] = i;
    dp_sort_u32(w->order, n - 1, compare_nodes, w);
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        while (at < n - 1 && w->prof->nodes[w->order[at]].parent < i)
            at++;
        w->next[i] = at;
    }
    return 0;
}

/* Is the counter written? DP_WRITE_COUNTERS has only those that its caller names, without their
 * units. */
static bool is_wanted(const struct writing *w, const struct dp_counter *c)
{
    const char *colon = strrchr(c->name, ':');
    size_t len = colon ? (size_t)(colon - c->name) : c->len;
    if (w->how->kind != DP_WRITE_COUNTERS)
        return true;
    for (size_t i = 0; i < w->how->n_counters; i++)
        if (strlen(w->how->counters[i]) == len && memcmp(w->how->counters[i], c->name, len) == 0)
            return true;
    return false;
}

/* Collects the counters to write: ops first, the others by name. */
static void choose_counters(struct writing *w)
{
    const struct dp_prof *prof = w->prof;
    for (size_t k = 0; k < prof->n_counters; k++) {
        const struct dp_counter *c = &prof->counters[k];
        if (c->lacking || !is_wanted(w, c))
            continue;
        size_t at = w->n_counters++;
        for (; at > 0; at--) {
            const struct dp_counter *other = &prof->counters[w->counters[at - 1]];
            bool ops = strcmp(c->name, "ops:ops") == 0,
                 other_ops = strcmp(other->name, "ops:ops") == 0;
            if (other_ops || (!ops && strcmp(other->name, c->name) <= 0))
                break;
            w->counters[at] = w->counters[at - 1];
        }
        w->counters[at] = k;
    }
}

static uint32_t sub_number(const struct writing *w, const struct dp_prof_line *line)
{
    return line->sub == DP_PROF_NO_SUB ? 0 : w->sub_rank[line->sub];
}

/* Writes the text so far, and counts its lines for the last line of the file. */
static void put_text(struct writing *w)
{
    w->sums[DP_FMT_SUM_LINES] += dp_fmt_lines(w->text.ptr, w->text.len);
    dp_sink_add(w->sink, w->text.ptr, w->text.len);
    if (w->text.err && !w->sink->err)
        w->sink->err = w->text.err;
    dp_buf_clear(&w->text);
}

/* Writes during which share of the time each counter was counted: the least share in any file. */
static void put_shares(struct writing *w)
{
    bool shared = false;
    for (size_t k = 0; k < w->n_counters; k++)
        shared = shared || w->prof->counters[w->counters[k]].share < 1000;
    for (size_t k = 0; shared && k < w->n_counters; k++) {
        unsigned share = w->prof->counters[w->counters[k]].share;
        dp_buf_addf(&w->text, "%s%u.%u", k ? " " : "$dprof_shares='", share / 10, share % 10);
    }
    if (shared)
        dp_buf_adds(&w->text, "';\n");
}

/* Writes the header of the file, up to the line before the subs. DP_WRITE_COUNTERS leaves out
 * times, which differ from run to run. */
static void put_header(struct writing *w)
{
    const struct dp_prof *prof = w->prof;
    const bool times = w->how->kind != DP_WRITE_COUNTERS;
    struct dp_buf *buf = &w->text;
    dp_buf_clear(buf);
    dp_buf_addf(buf, "%s\n$hz=%" PRIu64 ";\n", DP_FMT_MAGIC, times ? dp_prof_hz(prof) : HZ);
    if (w->how->kind == DP_WRITE_ALL)
        dp_buf_addf(buf, "$XS_VERSION='DProf %s';\n", w->how->version);
    dp_buf_adds(buf, "# All values are given in HZ\n$over_utime=0; $over_stime=0;"
                     " $over_rtime=0;\n$over_tests=10000;\n");
    dp_buf_addf(buf, "$dprof_format='%s %d';\n", DP_FMT_TREE, DP_FMT_TREE_VERSION);
    if (prof->no_calls || strcmp(dp_prof_unit(prof), "s") != 0)
        dp_buf_addf(buf, "$dprof_unit='%s';\n", dp_prof_unit(prof));
    if (!prof->no_calls && strcmp(dp_prof_unit(prof), "s") != 0)
        dp_buf_adds(buf, "$dprof_calls=1;\n");
    if (prof->n_lines)
        dp_buf_addf(buf, "$dprof_lines='%s';\n",
                    dp_lines_word(prof->line_times ? DP_LINES_TIMES : DP_LINES_COUNTS));
    dp_origin_write(&prof->origin, w->how->kind, buf);
    for (size_t k = 0; k < w->n_counters; k++) {
        const struct dp_counter *c = &prof->counters[w->counters[k]];
        struct dp_buf quoted;           /* the quotes are around the whole list */
        dp_buf_init(&quoted);
        dp_fmt_quote(&quoted, c->name, c->len);
        dp_buf_adds(buf, k ? " " : "$dprof_counters='");
        if (quoted.err)
            buf->err = quoted.err;
        else
            dp_buf_add(buf, quoted.ptr + 1, quoted.len - 2);
        dp_buf_release(&quoted);
    }
    if (w->n_counters)
        dp_buf_adds(buf, "';\n");
    put_shares(w);
    dp_buf_adds(buf, "$dprof_end=1;\n");
    dp_buf_addf(
        buf, "$rrun_utime=%" PRIu64 "; $rrun_stime=%" PRIu64 "; $rrun_rtime=%" PRIu64 ";\n\n%s\n",
        times ? prof->total[DP_USER] : 0, times ? prof->total[DP_SYSTEM] : 0,
        times ? prof->total[DP_REAL] : 0, DP_FMT_PART3);
    put_text(w);
    memset(w->sums, 0, sizeof w->sums);         /* they begin after the header */
}

/* Writes the lines of subs ("&"), sorted and numbered anew. */
static void put_names(struct writing *w, const uint32_t *sorted)
{
    for (size_t i = 0; i < w->lines.count; i++) {
        const struct dp_name *line = dp_pool_name(&w->lines, sorted[i]);
        dp_buf_addf(&w->text, "& %zx ", i + 1);
        dp_buf_add(&w->text, line->ptr, line->len);
        dp_buf_addc(&w->text, '\n');
        put_text(w);
    }
}

/* Writes the line of a context, and adds its values to the sums that the file's last line
 * repeats. */
static void put_context(struct writing *w, uint32_t n, size_t depth)
{
    const struct dp_node *node = &w->prof->nodes[n];
    const struct dp_extra x = dp_prof_extra(w->prof, n);
    uint64_t counters[DP_FMT_COUNTERS];
    for (size_t k = 0; k < w->n_counters; k++)
        counters[k] = dp_prof_count(w->prof, n, w->counters[k]);
    struct dp_fmt_context c = {
        .depth = depth, .id = n ? w->sub_rank[node->sub] : 0, .calls = node->calls,
        .t = { node->self[DP_USER], node->self[DP_SYSTEM], node->self[DP_REAL] },
        .longest = x.longest, .shortest = x.longest ? x.shortest - 1 : 0,
        .counters = counters, .n_counters = w->n_counters, .folded = x.folded,
    };
    if (w->how->kind == DP_WRITE_COUNTERS) {
        memset(c.t, 0, sizeof c.t);
        c.longest = c.shortest = 0;
    }
    if (node->site) {
        const struct dp_name *at = dp_pool_name(&w->prof->sites, node->site - 1);
        c.at = at->ptr;
        c.at_len = at->len;
    }
    w->sums[DP_FMT_SUM_CALLS] += c.calls;
    for (int m = 0; m < DP_METRICS; m++)
        w->sums[DP_FMT_SUM_USER + m] += c.t[m];
    dp_fmt_context(&w->text, &c);
    put_text(w);
}

/* Writes the contexts depth first, without recursion. */
static void put_contexts(struct writing *w)
{
    const struct dp_node *nodes = w->prof->nodes;
    uint32_t at = 0;
    size_t depth = 0;
    put_context(w, 0, 0);
    for (;;) {
        uint32_t i = w->next[at];
        if (i < w->prof->count - 1 && nodes[w->order[i]].parent == at) {
            w->next[at]++;
            at = w->order[i];
            put_context(w, at, ++depth);
        } else if (at == 0) {
            return;
        } else {
            at = nodes[at].parent;
            depth--;
        }
    }
}

/* Writes the durations of calls ("h") of the subs that have any. */
static void put_histograms(struct writing *w, const uint32_t *sorted)
{
    for (uint32_t i = 0; i < w->lines.count; i++) {
        const uint64_t *h = dp_prof_histogram(w->prof, sorted[i]);
        if (h)
            dp_fmt_histogram(&w->text, i + 1, h);
        put_text(w);
    }
}

/* The statement as it is written, with its sub's number in this file, and without times for
 * DP_WRITE_COUNTERS. The caller adds the counters. */
static struct dp_fmt_stmt statement_to_write(const struct writing *w,
                                             const struct dp_prof_line *line)
{
    const struct dp_name none = { "", 0 },
        *site = line->site ? dp_pool_name(&w->prof->sites, line->site - 1) : &none;
    struct dp_fmt_stmt s = {
        .at = dp_fmt_place(site->ptr, site->len), .sub = sub_number(w, line),
        .later = line->later, .count = line->count, .counts_only = !w->prof->line_times,
    };
    if (w->how->kind != DP_WRITE_COUNTERS)
        memcpy(s.self, line->self, sizeof s.self);
    return s;
}

/* Writes the line of a file ("#f"), with the size, digest and text of the source that all files
 * agree on. */
static void put_file(struct writing *w, const struct dp_fmt_place *at)
{
    uint32_t n = dp_pool_lookup(&w->prof->sources, at->file, at->len);
    dp_fmt_file(&w->text, at);
    const struct dp_prof_source *source = n == DP_MAP_NONE ? NULL : &w->prof->source[n];
    if (source && !source->differs)
        dp_fmt_source(&w->text, source->size, source->crc, source->packed, source->packed_len);
    dp_buf_addc(&w->text, '\n');
}

/* Writes a statement, with those of the profile's counters that all files have. */
static void put_statement(struct writing *w, struct dp_fmt_stmt *s)
{
    uint64_t counts[DP_FMT_COUNTERS];
    for (size_t k = 0; k < w->n_counters; k++)
        counts[k] = s->counters ? s->counters[w->counters[k]] : 0;
    s->counters = counts;
    s->n_counters = w->n_counters;
    dp_fmt_stmt(&w->text, s);
    put_text(w);
}

/* Writes all statements, sorted by file and line, each file with its source before its
 * statements. */
static int put_statements(struct writing *w)
{
    size_t n = w->prof->n_lines;
    struct dp_fmt_stmt *items = dp_mem_realloc(NULL, n + 1, sizeof *items);
    if (!items)
        return DP_E_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        items[i] = statement_to_write(w, &w->prof->lines[i]);
        items[i].counters = dp_prof_line_counts(w->prof, i);
    }
    qsort(items, n, sizeof *items, dp_fmt_stmt_order);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || !dp_fmt_stmt_same_file(&items[i - 1], &items[i]))
            put_file(w, &items[i].at);
        put_statement(w, &items[i]);
    }
    dp_mem_free(items);
    return 0;
}

/* Writes the lines of a pool's names by `add`, sorted by name, so that equal profiles make equal
 * files. Returns 0 or DP_E_NOMEM. */
static int put_sorted(struct writing *w, const struct dp_pool *names,
                      void (*add)(struct writing *w, const struct dp_name *name, uint32_t n))
{
    uint32_t *order = dp_sort_order(names->count, compare_names, names);
    if (!order)
        return DP_E_NOMEM;
    for (size_t i = 0; i < names->count; i++) {
        add(w, dp_pool_name(names, order[i]), order[i]);
        put_text(w);
    }
    dp_mem_free(order);
    return 0;
}

/* Adds the line of a source file, unless the profile's files had different texts of it. */
static void add_source(struct writing *w, const struct dp_name *name, uint32_t n)
{
    if (!w->prof->source[n].differs)
        put_file(w, &(struct dp_fmt_place){ name->ptr, name->len, 0 });
}

/* Writes the rows that statements of spans have given. sorted: the subs in the order of the
 * file. */
static void put_rows(struct writing *w, const uint32_t *sorted)
{
    for (uint32_t i = 0; i < w->lines.count; i++) {
        uint64_t rows = dp_prof_rows(w->prof, sorted[i]);
        if (rows)
            dp_fmt_rows(&w->text, i + 1, rows - 1);
        put_text(w);
    }
}

static void add_server(struct writing *w, const struct dp_name *name, uint32_t n)
{
    (void)n;
    dp_requests_server(&w->text, name->ptr, name->len);
}

static void add_holder(struct writing *w, const struct dp_name *line, uint32_t n)
{
    (void)n;
    dp_buf_adds(&w->text, DP_FMT_HOLDER);
    dp_buf_add(&w->text, line->ptr, line->len);
    dp_buf_addc(&w->text, '\n');
}

static void add_requests(struct writing *w, const struct dp_name *name, uint32_t n)
{
    dp_requests_write(&w->text, name->ptr, name->len, &w->prof->requests[n]);
}

/* Writes what the last lines say about a server and about who holds values. Returns 0 or
 * DP_E_NOMEM. */
static int put_texts(struct writing *w)
{
    int rc = put_sorted(w, &w->prof->server, add_server);
    if (rc == 0)
        rc = put_sorted(w, &w->prof->held, add_holder);
    return rc < 0 ? rc : put_sorted(w, &w->prof->request_names, add_requests);
}

static void put_end(struct writing *w)
{
    dp_fmt_end(&w->text, w->sums, true);
    put_text(w);
}

/* Writes the whole file, in the order of Format.pod. The ranks of subs and places come first,
 * because all other parts are sorted by them. */
static int write_all(struct writing *w)
{
    uint32_t *sorted = NULL;
    int rc = make_sub_lines(w);
    if (rc == 0)
        rc = sort_names(&w->lines, &w->sub_rank, &sorted);
    if (rc == 0)
        rc = sort_names(&w->prof->sites, &w->site_rank, NULL);
    if (rc == 0)
        rc = arrange_nodes(w);
    if (rc == 0) {
        choose_counters(w);
        put_header(w);
        put_names(w, sorted);
        put_contexts(w);
        if (w->how->kind != DP_WRITE_COUNTERS)
            put_histograms(w, sorted);
        rc = w->prof->n_lines ? put_statements(w)
             : w->how->kind == DP_WRITE_ALL ? put_sorted(w, &w->prof->sources, add_source) : 0;
        put_rows(w, sorted);
        if (rc == 0 && w->how->kind != DP_WRITE_COUNTERS)
            rc = put_texts(w);
        put_end(w);
        int end = dp_sink_flush(w->sink);
        rc = rc < 0 ? rc : end;
    }
    dp_mem_free(sorted);
    return rc;
}

int dp_prof_write(const struct dp_prof *prof, const struct dp_write_how *how,
                  const struct dp_host *host)
{
    struct writing w;
    void *to = (void *)(uintptr_t)host;
    if (!prof->detail)
        return DP_E_ARG;
    memset(&w, 0, sizeof w);
    w.prof = prof;
    w.how = how;
    dp_buf_init(&w.text);
    dp_pool_init(&w.lines);
    struct dp_pack *pack = how->gzip ? dp_pack_new(dp_host_write, to, DP_PACK_USUAL) : NULL;
    w.sink = pack ? dp_sink_new(dp_pack_write, pack)
             : how->gzip ? NULL
             : dp_sink_of_host(host);
    int rc = w.sink ? write_all(&w) : DP_E_NOMEM;
    if (pack) {
        int end = dp_pack_end(pack);
        rc = rc < 0 ? rc : end;
    }
    dp_mem_free(w.sink);
    dp_mem_free(w.sub_rank);
    dp_mem_free(w.site_rank);
    dp_mem_free(w.order);
    dp_mem_free(w.next);
    dp_pool_release(&w.lines);
    dp_buf_release(&w.text);
    return rc;
}
