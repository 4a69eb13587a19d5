#include "dp_lines.h"
#include "dp_base64.h"
#include "dp_char.h"
#include "dp_err.h"
#include "dp_fmt_stmt.h"
#include "dp_io.h"
#include "dp_mem.h"
#include "dp_apportion.h"

#include <limits.h>
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
DP_CHECK(aligned, (DP_PIECE_HEAD + DP_PIECE_L_FIRST) % 32 == 0);

/* Takes a statement that was made for an earlier part, or makes one in memory that survives the
 * process, in pieces of growing size. Returns NULL if memory is short. */
static struct dp_stmt *new_line(struct dp_lines *lines)
{
    if (lines->count < lines->made_count)
        return lines->made[lines->count++];
    if (lines->is_part && dp_mem_grow((void **)&lines->made, &lines->made_cap, lines->count + 1,
                                      sizeof *lines->made) < 0)
        return NULL;
    if (!lines->free_count) {
        size_t n = lines->count < FIRST ? FIRST : lines->count < MOST ? lines->count : MOST;
        char *piece = dp_live_add(lines->live, DP_LIVE_LINES, DP_PIECE_L_FIRST + n * lines->size);
        if (!piece)
            return NULL;
        lines->free = (struct dp_stmt *)(piece + DP_PIECE_L_FIRST);
        lines->free_count = n;
    }
    struct dp_stmt *line = lines->free;
    lines->free = (struct dp_stmt *)((char *)line + lines->size);
    lines->free_count--;
    lines->count++;
    if (lines->is_part)
        lines->made[lines->made_count++] = line;
    return line;
}

/* Makes room for a statement with this number. Returns false if memory is short. */
static bool make_room(struct dp_lines *lines, uint32_t number)
{
    return dp_mem_grow_cleared((void **)&lines->at, &lines->at_cap, (size_t)number + 1,
                               sizeof *lines->at) == 0;
}

int dp_lines_open(struct dp_lines *lines, struct dp_live *live, size_t n_counts)
{
    lines->live = live;
    lines->n_counts = n_counts;
    lines->size = DP_PIECE_L_SIZE(n_counts);
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
    for (size_t i = 0; i < lines->sources_cap; i++)
        dp_mem_free(lines->sources[i].packed);
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

/* Finds the size and the checksum of a source, and adds its bytes to text unless that is NULL. Sets
 * source->known if all of the file could be read. */
static void read_source(struct dp_line_source *source, const char *path, struct dp_packed *text)
{
    char buf[8192];
    struct stat st;
    ssize_t n;
    int fd = dp_io_open_regular(path, DP_IO_FOLLOW, &st);
    if (fd < 0)
        return;
    if (st.st_size > (off_t)DP_LIMIT_SOURCE) {
        close(fd);
        return;
    }
    uLong crc = crc32(0, NULL, 0);
    while ((n = read(fd, buf, sizeof buf)) > 0) {
        crc = crc32(crc, (const Bytef *)buf, (uInt)n);
        source->size += (uint64_t)n;
        if (text && source->size <= DP_LIMIT_SOURCE)
            dp_packed_add(text, buf, (size_t)n);
    }
    close(fd);
    source->crc = (uint32_t)crc;
    source->known = n == 0;
}

/* Reads a source and keeps its text if that is possible. */
static void keep_source(struct dp_line_source *source, const char *path)
{
    struct dp_packed text;
    bool good = dp_packed_begin(&text) == 0;
    read_source(source, path, good ? &text : NULL);
    good = dp_packed_end(&text) == 0 && good && source->known;
    if (good && source->size <= DP_LIMIT_SOURCE && text.text.len <= DP_LIMIT_PACKED
        && (source->packed = dp_mem_realloc(NULL, text.text.len, 1)) != NULL) {
        memcpy(source->packed, text.text.ptr, text.text.len);
        source->packed_len = text.text.len;
    }
    dp_buf_release(&text.text);
}

void dp_lines_see(struct dp_lines *lines, const char *field, size_t len, const char *path)
{
    size_t files = lines->files.count;
    const struct dp_name *last = files ? dp_pool_name(&lines->files, lines->seen) : NULL;
    if (last && last->len == len && memcmp(last->ptr, field, len) == 0)
        return;
    /* Make room first: without room now, the file is read when it is seen again. */
    if (dp_mem_grow_cleared((void **)&lines->sources, &lines->sources_cap, files + 1,
                            sizeof *lines->sources) < 0)
        return;
    uint32_t n = dp_pool_intern(&lines->files, field, len);
    if (n == DP_MAP_NONE)
        return;
    lines->seen = n;
    if (n < files)
        return;
    if (lines->texts)
        keep_source(&lines->sources[n], path);
    else
        read_source(&lines->sources[n], path, NULL);
}

/* Makes the statement of a number whose place is known. The caller has made room in `at`. Returns
 * NULL if memory is short. */
static struct dp_stmt *make_known(struct dp_lines *lines, uint32_t number)
{
    struct dp_stmt *line = new_line(lines);
    if (!line)
        return NULL;
    line->site = lines->places[number].site;
    line->sub = lines->places[number].sub;
    line->later = lines->places[number].later;
    line->number = number;
    return lines->at[number] = line;
}

int dp_lines_renew(struct dp_lines *lines)
{
    size_t n = lines->n;
    lines->free_count = lines->count = 0;
    if (!(lines->rest = new_line(lines)))
        return DP_E_NOMEM;
    lines->rest->number = DP_LINE_REST;
    lines->at[DP_LINE_REST] = lines->rest;
    for (uint32_t i = DP_LINE_REST + 1; i < n; i++)
        if (lines->at[i] && !make_known(lines, i))
            return DP_E_NOMEM;
    return 0;
}

struct dp_stmt *dp_lines_get(struct dp_lines *lines, uint32_t number)
{
    if (number < lines->n && lines->at[number])
        return lines->at[number];
    struct dp_stmt *line = dp_lines_is_known(lines, number) && make_room(lines, number)
                           ? make_known(lines, number) : NULL;
    if (!line)
        return lines->rest;
    if (number >= lines->n) {
        lines->open = lines->open ? (size_t)number + 1 : 0;
        lines->n = (size_t)number + 1;
    }
    return line;
}

/* ---- writing ---- */

/* Turns stamps into ticks, so that the sums are those of the contexts. Returns 0 or DP_E_NOMEM. */
static int convert_times(const struct dp_stmt **from, struct dp_fmt_stmt *to, size_t n,
                         const struct dp_lines_text *how)
{
    const uint64_t sums[DP_APPORTION_TIMES] = { how->real, how->cpu, how->sys };
    struct dp_apportion *times = dp_mem_realloc(NULL, n + 1, sizeof *times);
    if (!times)
        return DP_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        uint64_t wait = from[i]->wait < from[i]->real ? from[i]->wait : from[i]->real;
        times[i].stamps[DP_APPORTION_REAL] = (double)from[i]->real;
        times[i].stamps[DP_APPORTION_CPU] = (double)(from[i]->real - wait);
        times[i].stamps[DP_APPORTION_SYS] = (double)from[i]->sys;
    }
    dp_apportion(times, n, how->ticks_per_stamp, sums);
    for (size_t i = 0; i < n; i++) {
        const uint64_t *t = times[i].t;
        to[i].self[DP_USER] = t[DP_APPORTION_CPU] - t[DP_APPORTION_SYS];
        to[i].self[DP_SYSTEM] = t[DP_APPORTION_SYS];
        to[i].self[DP_REAL] = t[DP_APPORTION_REAL];
    }
    dp_mem_free(times);
    return 0;
}

/* Writes the size and the checksum of a source, by which readers notice that it has changed, and
 * its text if that is kept. */
static void put_source(const struct dp_lines *lines, const struct dp_fmt_place *at,
                       struct dp_buf *out)
{
    uint32_t n = dp_pool_lookup(&lines->files, at->file, at->len);
    const struct dp_line_source *source = n < lines->sources_cap ? &lines->sources[n] : NULL;
    if (source && source->known)
        dp_fmt_source(out, source->size, source->crc, source->packed, source->packed_len);
}

/* Compares names by their bytes. */
static int compare_names(const void *a, const void *b)
{
    return dp_name_compare(*(const struct dp_name *const *)a, *(const struct dp_name *const *)b);
}

/* The n-th field of a line, from 0 up; empty if there is none. */
static struct dp_name field_of(const char *line, const char *end, int n)
{
    const char *from = line;
    for (int field = 0; field < n && from; field++) {
        from = memchr(from, ' ', (size_t)(end - from));
        from = from ? from + 1 : NULL;
    }
    if (!from)
        return (struct dp_name){ line, 0 };
    const char *blank = memchr(from, ' ', (size_t)(end - from));
    return (struct dp_name){ from, (size_t)((blank ? blank : end) - from) };
}

/* Returns the file that a line of the trace names: FILE in `& ID PACKAGE SUB FILE:LINE ...` and in
 * `#f FILE ...`; empty for other lines. */
static struct dp_name file_of(const char *line, const char *end)
{
    if (end - line > 3 && memcmp(line, "#f ", 3) == 0)
        return field_of(line, end, 1);
    struct dp_name at = field_of(line, end, *line == '&' ? 4 : INT_MAX);
    while (at.len && dp_is_digit(at.ptr[at.len - 1]))
        at.len--;
    at.len -= at.len && at.ptr[at.len - 1] == ':';
    return at;
}

/* Sets is_named for the files that an & line of a tree names, and no #f line. */
static void find_named(const struct dp_lines *lines, const char *tree, size_t len, bool *is_named)
{
    const char *end = tree + len, *next;
    for (const char *line = tree; line < end; line = next + 1) {
        next = memchr(line, '\n', (size_t)(end - line));
        next = next ? next : end;
        struct dp_name file = file_of(line, next);
        uint32_t n = file.len ? dp_pool_lookup(&lines->files, file.ptr, file.len) : DP_MAP_NONE;
        if (n != DP_MAP_NONE)
            is_named[n] = *line == '&';
    }
}

int dp_lines_write_sources(const struct dp_lines *lines, size_t first, size_t tree,
                           struct dp_buf *out)
{
    size_t n = 0, all = lines->files.count;
    bool *is_named = dp_mem_zalloc(all + 1);
    const struct dp_name **files = dp_mem_realloc(NULL, all + 1, sizeof *files);
    if (!files || !is_named) {
        dp_mem_free(files);
        dp_mem_free(is_named);
        return DP_E_NOMEM;
    }
    if (first && tree < out->len)
        find_named(lines, out->ptr + tree, out->len - tree, is_named);
    for (size_t i = 0; i < all; i++)
        if (is_named[i] || i >= first)
            files[n++] = dp_pool_name(&lines->files, (uint32_t)i);
    dp_mem_free(is_named);
    qsort(files, n, sizeof *files, compare_names);
    for (size_t i = 0; i < n; i++) {
        struct dp_fmt_place at = { files[i]->ptr, files[i]->len, 0 };
        size_t before = out->len;
        dp_fmt_file(out, &at);
        size_t named = out->len;
        put_source(lines, &at, out);
        if (out->len == named)          /* no file, or one that could not be read */
            out->len = before;
        else
            dp_buf_addc(out, '\n');
    }
    dp_mem_free(files);
    return out->err;
}

/* Returns a statement as the formatting functions take it, without its times. */
static struct dp_fmt_stmt fmt_stmt_of(const struct dp_lines *lines, const struct dp_stmt *line,
                                      const struct dp_lines_text *how)
{
    const struct dp_name none = { "", 0 },
        *site = line->site ? dp_pool_name(how->sites, line->site - 1) : &none;
    return (struct dp_fmt_stmt){
        .at = dp_fmt_place(site->ptr, site->len), .sub = how->rank[line->sub],
        .later = line->later, .count = line->count, .counts_only = how->counts_only,
        .ops = how->ops ? &line->ops : NULL,
        .counters = line->counts, .n_counters = lines->n_counts,
    };
}

/* Has the statement any counter's value, or ops? */
static bool has_counted(const struct dp_stmt *line, size_t n_counts)
{
    for (size_t i = 0; i < n_counts; i++)
        if (line->counts[i])
            return true;
    return line->ops != 0;
}

static bool is_empty(const struct dp_stmt *line, size_t n_counts)
{
    return !line->count && !line->real && !line->wait && !line->sys
           && !has_counted(line, n_counts);
}

/* Collects the statements to write: in `from`, and as they are formatted in `to`. Those without
 * values are left out. Returns their number. */
static size_t collect_statements(const struct dp_lines *lines, const struct dp_lines_text *how,
                                 const struct dp_stmt **from, struct dp_fmt_stmt *to)
{
    size_t n = 0;
    for (size_t i = 0; i < lines->n; i++) {
        const struct dp_stmt *line = lines->at[i];
        if (!line || is_empty(line, lines->n_counts)
            || (line == lines->rest
                && (how->counts_only || (!line->real && !has_counted(line, lines->n_counts)))))
            continue;
        from[n] = line;
        to[n++] = fmt_stmt_of(lines, line, how);
    }
    return n;
}

/* Writes statements, which are sorted, each file's behind a line with its name. */
static void put_statements(const struct dp_lines *lines, const struct dp_fmt_stmt *items, size_t n,
                           struct dp_buf *out)
{
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || !dp_fmt_stmt_same_file(&items[i - 1], &items[i])) {
            dp_fmt_file(out, &items[i].at);
            put_source(lines, &items[i].at, out);
            dp_buf_addc(out, '\n');
        }
        dp_fmt_stmt(out, &items[i]);
    }
}

int dp_lines_write(const struct dp_lines *lines, const struct dp_lines_text *how,
                   struct dp_buf *out)
{
    const struct dp_stmt **from = dp_mem_realloc(NULL, lines->count + 1, sizeof *from);
    struct dp_fmt_stmt *items = dp_mem_realloc(NULL, lines->count + 1, sizeof *items);
    int rc = from && items ? 0 : DP_E_NOMEM;
    if (rc == 0) {
        size_t n = collect_statements(lines, how, from, items);
        rc = how->no_times || how->counts_only ? 0 : convert_times(from, items, n, how);
        if (rc == 0) {
            qsort(items, n, sizeof *items, dp_fmt_stmt_order);
            put_statements(lines, items, n, out);
        }
    }
    dp_mem_free(items);
    dp_mem_free(from);
    return rc < 0 ? rc : out->err;
}
