#include "dp_lines.h"
#include "dp_err.h"
#include "dp_io.h"
#include "dp_mem.h"
#include "dp_spread.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
    FIRST = 256,                /* statements in the first piece; the next ones double */
    MOST = 16384
};

#define CHECK_AT(field, at)  DP_CHECK(field, offsetof(struct dp_stmt, field) == (at))
CHECK_AT(number, DP_PIECE_L_NUMBER);
CHECK_AT(site, DP_PIECE_L_SITE);
CHECK_AT(sub, DP_PIECE_L_SUB);
CHECK_AT(later, DP_PIECE_L_LATER);
CHECK_AT(count, DP_PIECE_L_COUNT);
CHECK_AT(real, DP_PIECE_L_REAL);
CHECK_AT(wait, DP_PIECE_L_WAIT);
CHECK_AT(sys, DP_PIECE_L_SYS);
CHECK_AT(ops, DP_PIECE_L_OPS);
CHECK_AT(counts, DP_PIECE_L_COUNTS);
DP_CHECK(line, sizeof(struct dp_stmt) == DP_PIECE_L_COUNTS);

static struct dp_stmt *new_line(struct dp_lines *lines)
{
    if (!lines->free_count) {
        size_t n = lines->count < FIRST ? FIRST : lines->count < MOST ? lines->count : MOST;
        lines->free = dp_live_add(lines->live, DP_LIVE_LINES, n * lines->size);
        if (!lines->free)
            return NULL;
        lines->free_count = n;
    }
    struct dp_stmt *line = lines->free;
    lines->free = (struct dp_stmt *)((char *)line + lines->size);
    lines->free_count--;
    lines->count++;
    return line;
}

static bool make_room(struct dp_lines *lines, uint32_t number)
{
    return dp_mem_grow_cleared((void **)&lines->at, &lines->at_cap, (size_t)number + 1,
                               sizeof *lines->at) == 0;
}

int dp_lines_open(struct dp_lines *lines, struct dp_live *live, size_t n_counts)
{
    lines->live = live;
    lines->n_counts = n_counts;
    lines->size = sizeof *lines->rest + n_counts * sizeof lines->rest->counts[0];
    lines->free_count = lines->count = lines->n = lines->open = 0;
    if (lines->at)
        memset(lines->at, 0, lines->at_cap * sizeof *lines->at);
    if (!make_room(lines, DP_LINE_REST) || !(lines->rest = new_line(lines)))
        return DP_E_NOMEM;
    lines->rest->number = DP_LINE_REST;
    lines->at[DP_LINE_REST] = lines->rest;
    lines->n = lines->open = DP_LINE_REST + 1;
    return 0;
}

void dp_lines_release(struct dp_lines *lines)
{
    dp_mem_free(lines->at);
    dp_mem_free(lines->places);
    dp_mem_free(lines->sources);
    dp_pool_release(&lines->files);
    memset(lines, 0, sizeof *lines);
}

bool dp_lines_is_known(const struct dp_lines *lines, uint32_t number)
{
    return number < lines->places_cap && lines->places[number].site;
}

int dp_lines_know(struct dp_lines *lines, uint32_t number, const struct dp_line_place *place)
{
    if (dp_mem_grow_cleared((void **)&lines->places, &lines->places_cap, (size_t)number + 1,
                            sizeof *lines->places) < 0)
        return DP_E_NOMEM;
    lines->places[number] = *place;
    return 0;
}

static void look_at(struct dp_line_source *source, const char *path)
{
    char buf[8192];
    struct stat st;
    ssize_t n;
    int fd = dp_io_open_regular(path, DP_IO_FOLLOW, &st);
    if (fd < 0)
        return;
    uLong crc = crc32(0, NULL, 0);
    while ((n = read(fd, buf, sizeof buf)) > 0) {
        crc = crc32(crc, (const Bytef *)buf, (uInt)n);
        source->size += (uint64_t)n;
    }
    close(fd);
    source->crc = (uint32_t)crc;
    source->known = n == 0;
}

void dp_lines_see(struct dp_lines *lines, const char *field, size_t len, const char *path)
{
    size_t files = lines->files.count;
    uint32_t n = dp_pool_intern(&lines->files, field, len);
    if (n == DP_MAP_NONE || lines->files.count == files
        || dp_mem_grow_cleared((void **)&lines->sources, &lines->sources_cap, (size_t)n + 1,
                               sizeof *lines->sources) < 0)
        return;
    look_at(&lines->sources[n], path);
}

struct dp_stmt *dp_lines_get(struct dp_lines *lines, uint32_t number)
{
    if (number < lines->n && lines->at[number])
        return lines->at[number];
    struct dp_stmt *line = dp_lines_is_known(lines, number) && make_room(lines, number)
                           ? new_line(lines) : NULL;
    if (!line)
        return lines->rest;
    line->site = lines->places[number].site;
    line->sub = lines->places[number].sub;
    line->later = lines->places[number].later;
    line->number = number;
    lines->at[number] = line;
    if (number >= lines->n) {
        lines->open = lines->open ? (size_t)number + 1 : 0;
        lines->n = (size_t)number + 1;
    }
    return line;
}

/* ---- writing ---- */

/* A statement, its place taken apart, its times in ticks. */
struct item {
    const struct dp_stmt *line;
    const char *file;
    size_t file_len;
    unsigned long at;
    uint32_t sub;
    uint64_t t[DP_SPREAD_TIMES];
};

/* FILE:LINE; a file's name may hold colons. */
static void take_apart(struct item *it, const struct dp_lines_text *how)
{
    if (!it->line->site)
        return;
    const struct dp_name *site = dp_pool_name(how->sites, it->line->site - 1);
    const char *colon = site->ptr + site->len;
    while (colon > site->ptr && colon[-1] != ':')
        colon--;
    it->file = site->ptr;
    it->file_len = colon > site->ptr ? (size_t)(colon - 1 - site->ptr) : site->len;
    it->at = strtoul(colon, NULL, 10);
}

static int compare_files(const struct item *x, const struct item *y)
{
    size_t n = x->file_len < y->file_len ? x->file_len : y->file_len;
    int c = memcmp(x->file, y->file, n);
    return c ? c : x->file_len < y->file_len ? -1 : x->file_len > y->file_len;
}

#define ORDER(x, y)     (((x) > (y)) - ((x) < (y)))

/* The first of several statements on a line has most that follow it. */
static int compare(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    int c = compare_files(x, y);
    c = c ? c : ORDER(x->at, y->at);
    c = c ? c : ORDER(x->sub, y->sub);
    return c ? c : ORDER(y->line->later, x->line->later);
}

/* Stamps to ticks, so that the sums are those of the contexts. Returns 0 or DP_E_NOMEM. */
static int convert(struct item *items, size_t n, const struct dp_lines_text *how)
{
    const uint64_t sums[DP_SPREAD_TIMES] = { how->real, how->cpu, how->sys };
    struct dp_spread *times = dp_mem_realloc(NULL, n + 1, sizeof *times);
    if (!times)
        return DP_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct dp_stmt *line = items[i].line;
        uint64_t wait = line->wait < line->real ? line->wait : line->real;
        times[i].stamps[DP_SPREAD_REAL] = (double)line->real;
        times[i].stamps[DP_SPREAD_CPU] = (double)(line->real - wait);
        times[i].stamps[DP_SPREAD_SYS] = (double)line->sys;
    }
    dp_spread(times, n, how->ticks_per_stamp, sums);
    for (size_t i = 0; i < n; i++)
        memcpy(items[i].t, times[i].t, sizeof items[i].t);
    dp_mem_free(times);
    return 0;
}

static void put_times(const struct item *it, struct dp_buf *out)
{
    dp_buf_addc(out, ' ');
    dp_buf_addu(out, it->t[DP_SPREAD_CPU] - it->t[DP_SPREAD_SYS]);
    dp_buf_addc(out, ' ');
    dp_buf_addu(out, it->t[DP_SPREAD_SYS]);
    dp_buf_addc(out, ' ');
    dp_buf_addu(out, it->t[DP_SPREAD_REAL]);
}

/* What tells whether the source has changed. */
static void put_source(const struct dp_lines *lines, const struct item *it, struct dp_buf *out)
{
    uint32_t n = dp_pool_lookup(&lines->files, it->file, it->file_len);
    if (n != DP_MAP_NONE && n < lines->sources_cap && lines->sources[n].known)
        dp_buf_addf(out, " size=%llu crc=%lx", (unsigned long long)lines->sources[n].size,
                    (unsigned long)lines->sources[n].crc);
}

static void put_later(const struct dp_stmt *line, struct dp_buf *out)
{
    if (line->later) {
        dp_buf_adds(out, " later=");
        dp_buf_addu(out, line->later);
    }
    dp_buf_addc(out, '\n');
}

static void put_line(const struct dp_lines *lines, const struct dp_lines_text *how,
                     const struct item *it, struct dp_buf *out)
{
    const struct dp_stmt *line = it->line;
    dp_buf_adds(out, DP_FMT_LINE);
    dp_buf_addu(out, it->at);
    dp_buf_addc(out, ' ');
    dp_buf_addx(out, it->sub);
    dp_buf_addc(out, ' ');
    dp_buf_addu(out, line->count);
    if (how->counts_only) {
        put_later(line, out);
        return;
    }
    if (how->no_times)
        dp_buf_adds(out, " 0 0 0");
    else
        put_times(it, out);
    if (how->ops) {
        dp_buf_addc(out, ' ');
        dp_buf_addu(out, line->ops);
    }
    for (size_t i = 0; i < lines->n_counts; i++) {
        dp_buf_addc(out, ' ');
        dp_buf_addu(out, line->counts[i]);
    }
    put_later(line, out);
}

int dp_lines_write(const struct dp_lines *lines, const struct dp_lines_text *how,
                   struct dp_buf *out)
{
    struct item *items = dp_mem_realloc(NULL, lines->count + 1, sizeof *items);
    size_t n = 0;
    if (!items)
        return DP_E_NOMEM;
    for (size_t i = 0; i < lines->n; i++) {
        const struct dp_stmt *line = lines->at[i];
        if (!line || (line == lines->rest && (how->counts_only || (!line->real && !line->ops))))
            continue;
        items[n] = (struct item){ .line = line, .file = "", .sub = how->rank[line->sub] };
        take_apart(&items[n++], how);
    }
    qsort(items, n, sizeof *items, compare);
    int rc = how->no_times || how->counts_only ? 0 : convert(items, n, how);
    for (size_t i = 0; i < n && rc == 0; i++) {
        if (i == 0 || compare_files(&items[i - 1], &items[i])) {
            dp_buf_adds(out, DP_FMT_FILE);
            if (items[i].file_len)
                dp_buf_add(out, items[i].file, items[i].file_len);
            else
                dp_buf_addc(out, '%');
            put_source(lines, &items[i], out);
            dp_buf_addc(out, '\n');
        }
        put_line(lines, how, &items[i], out);
    }
    dp_mem_free(items);
    return rc < 0 ? rc : out->err;
}
