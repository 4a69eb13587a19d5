#include "dp_reader_end.h"
#include "dp_reader_pieces.h"
#include "dp_reader_private.h"
#include "dp_reader_tree.h"
#include "dp_mem.h"
#include "dp_num.h"

#include <string.h>

enum { PROGRESS_BYTES = 4 << 20 };

/* Allocates the buffer of the file, with readable bytes before and after the data. Returns 0 or
 * DP_E_NOMEM. */
static int init_reader(struct dp_reader *r)
{
    r->in.cap = DP_READER_BUF;
    r->in.block = dp_mem_alloc(DP_READER_FRONT + r->in.cap + DP_READER_PAD);
    if (!r->in.block)
        return dp_err_set(r->err, DP_E_NOMEM, "%s", dp_err_text(DP_E_NOMEM));
    /* parsing a number loads bytes after the data, whose values do not matter */
    memset(r->in.block, 0, DP_READER_FRONT + r->in.cap + DP_READER_PAD);
    r->in.buf = r->in.block + DP_READER_FRONT;
    return 0;
}

/* Frees what *r points to. Header, information and error belong to the caller and remain. */
static void release_reader(struct dp_reader *r)
{
    dp_mem_free(r->in.block);
    dp_mem_free(r->ids.near);
    dp_mem_free(r->counts);
    dp_map_release(&r->ids.far);
    dp_pool_release(&r->ids.names);
    dp_mem_free(r->ids.name_subs);
    dp_buf_release(&r->ids.scratch);
    dp_mem_free(r->tree.path);
    dp_buf_release(&r->tree.file);
    if (r->import.format)
        r->import.format->release(r->import.state);
    dp_buf_release(&r->import.whole);
    dp_map_release(&r->import.kids);
}

/* Moves the unread bytes to the front. Lines longer than the buffer make it grow, up to
 * DP_LIMIT_LINE. */
long dp_reader_refill(struct dp_reader *r)
{
    size_t left = r->in.end - r->in.pos;
    if (r->in.pos) {
        memmove(r->in.buf, r->in.buf + r->in.pos, left);
        r->in.base += r->in.pos;
        r->in.pos = 0;
        r->in.end = left;
    }
    if (left == r->in.cap) {
        if (r->in.cap >= DP_LIMIT_LINE)
            return dp_reader_fail(r, DP_E_LIMIT, 0, "a line is longer than %zu bytes",
                                  DP_LIMIT_LINE);
        size_t cap = r->in.cap * 2;
        char *block = dp_mem_realloc(r->in.block, DP_READER_FRONT + cap + DP_READER_PAD, 1);
        if (!block)
            return dp_reader_fail(r, DP_E_NOMEM, 0, "%s", dp_err_text(DP_E_NOMEM));
        r->in.block = block;
        r->in.buf = block + DP_READER_FRONT;
        memset(r->in.buf + r->in.cap, 0, cap + DP_READER_PAD - r->in.cap);
        r->in.cap = cap;
    }
    if (r->in.at_end)
        return 0;
    struct dp_err io = { 0, 0, 0, "" };
    long got = dp_source_read(r->in.src, r->in.buf + r->in.end, r->in.cap - r->in.end, &io);
    if (got == DP_E_TRUNCATED) {
        r->in.at_end = r->in.cut = true;
        return 0;
    }
    if (got < 0)
        return dp_reader_fail(r, (int)got, r->in.end, "%s", io.message);
    if (got == 0)
        r->in.at_end = true;
    r->in.end += (size_t)got;
    if (r->to && r->to->progress && r->in.src->taken - r->in.told >= PROGRESS_BYTES) {
        r->in.told = r->in.src->taken;
        int rc = r->to->progress(r->to->ctx, r->in.src->taken, r->in.src->size);
        if (rc < 0)
            return dp_reader_fail(r, rc, 0, "%s", dp_err_text(rc));
    }
    return got;
}

long dp_reader_whole_line(struct dp_reader *r)
{
    size_t seen = 0;
    for (;;) {
        char *nl = memchr(r->in.buf + r->in.pos + seen, '\n', r->in.end - r->in.pos - seen);
        if (nl)
            return nl - (r->in.buf + r->in.pos);
        seen = r->in.end - r->in.pos;
        long got = dp_reader_refill(r);
        if (got <= 0)
            return got == 0 ? -1 : got - 1;
    }
}

/* Reads the beginning of a file without our magic, which is another tool's. */
static int read_no_header(struct dp_reader *r, dp_reader_find_fn *other)
{
    static const char mark[] = "\xef\xbb\xbf";  /* byte order mark that some editors put in front of
                                                 * UTF-8 */
    long got;
    int rc;
    do {
        while (r->in.end < r->in.cap && !r->in.at_end)
            if ((got = dp_reader_refill(r)) < 0)
                return (int)got;
        if (r->in.pos == 0 && r->in.base == 0 && r->in.end >= 3 && memcmp(r->in.buf, mark, 3) == 0)
            r->in.pos = 3;
        if (!r->in.base)
            r->import.format = other(r->in.buf + r->in.pos, r->in.end - r->in.pos);
        rc = r->import.format->head(r);
        if (rc > 0 && (got = dp_reader_refill(r)) < 0)
            return (int)got;
    } while (rc > 0);
    return rc < 0 ? rc : 1;
}

/* Reads the header. Returns 0: a trace follows; 1: a tree, folded stacks, or another tool's
 * file. */
static int read_header(struct dp_reader *r, dp_reader_find_fn *other)
{
    for (;;) {
        long len = dp_reader_whole_line(r);
        if (len < -1)
            return r->err->code;
        bool whole = len >= 0;
        if (!whole)
            len = (long)(r->in.end - r->in.pos);
        const char *p = r->in.buf + r->in.pos;
        size_t n = (size_t)len;
        if (n && p[n - 1] == '\r')
            n--;
        if (r->in.line == 1) {
            if (n != strlen(DP_FMT_MAGIC) || memcmp(p, DP_FMT_MAGIC, n) != 0)
                return read_no_header(r, other);
        } else if (whole && n >= 4 && memcmp(p, "PART", 4) == 0) {
            bool tree = n == 5 && p[4] == '3';
            r->in.pos += (size_t)len + 1;
            r->in.line++;
            int rc = dp_header_finish(r->head, r->err);
            return rc < 0 ? rc : tree;
        } else if (whole) {
            int rc = dp_header_line(r->head, p, n);
            if (rc == DP_E_NOMEM)
                return dp_reader_fail(r, rc, 0, "%s", dp_err_text(rc));
            if (rc < 0) {
                r->info->bad_header = true;
                dp_err_at(&r->info->header_err, rc, r->in.line, r->in.base + r->in.pos,
                          "Bad profile: %.*s", n > 160 ? 160 : (int)n, p);
            }
        }
        if (!whole) {
            int rc = dp_header_finish(r->head, r->err);
            if (rc < 0)
                return rc;
            return dp_reader_fail(r, DP_E_TRUNCATED, r->in.end - r->in.pos,
                                  "the file ends within its header");
        }
        r->in.pos += (size_t)len + 1;
        r->in.line++;
        if (r->in.base + r->in.pos > DP_LIMIT_HEADER)
            return dp_reader_fail(r, DP_E_LIMIT, 0, "the header is longer than %zu bytes",
                                  DP_LIMIT_HEADER);
    }
}

/* Reads the lines after the header, up to their end. */
static int read_lines(struct dp_reader *r)
{
    while (!(r->tree.on && r->tree.newer)) {
        const char *start = r->in.buf + r->in.pos;
        const char *last = start;
        /* short: the last line is near the end */
        for (size_t n = r->in.end - r->in.pos; n > 0; n--)
            if (start[n - 1] == '\n') {
                last = start + n;
                break;
            }
        while (r->in.buf + r->in.pos < last && !(r->tree.on && r->tree.newer)) {
            int rc = r->tree.on ? dp_reader_tree_lines(r, last) : dp_reader_lines(r, last);
            if (rc == 0)
                rc = dp_reader_flush(r);
            if (rc < 0)
                return rc;
        }
        long got = dp_reader_refill(r);
        if (got < 0)
            return (int)got;
        if (got == 0)
            break;
    }
    return 0;
}

/* Adds the time after the last mark of the trace. */
static int add_tail(struct dp_reader *r)
{
    dp_reader_event(r, DP_OP_TIME, DP_SUB_NONE, r->in.base + r->in.pos);
    return dp_reader_flush(r);
}

/* Adds the time of the whole run in the header, minus the time of the trace. */
static int add_rest(struct dp_reader *r)
{
    struct dp_event *ev = dp_reader_event(r, DP_OP_REST, DP_SUB_NONE, r->in.base + r->in.pos);
    for (int m = 0; m < DP_METRICS; m++)
        ev->t[m] = r->head->rrun[m] > r->passed[m] ? r->head->rrun[m] - r->passed[m] : 0;
    return dp_reader_flush(r);
}

/* Sets a new reader up for a file that nothing has been read from. The fields from `events` on need
 * no zeros, and are large. Returns 0 or DP_E_NOMEM; the caller releases *r in any case. */
static int start_reader(struct dp_reader *r, struct dp_source *src, struct dp_header *head,
                        struct dp_read_info *info, struct dp_err *err)
{
    memset(r, 0, offsetof(struct dp_reader, events));
    memset(info, 0, sizeof *info);
    r->in.src = src;
    r->head = head;
    r->info = info;
    r->err = err;
    r->in.line = 1;
    dp_map_init(&r->ids.far);
    dp_pool_init(&r->ids.names);
    dp_buf_init(&r->ids.scratch);
    dp_buf_init(&r->tree.file);
    dp_buf_init(&r->import.whole);
    dp_map_init(&r->import.kids);
    return init_reader(r);
}

int dp_reader_head(struct dp_source *src, dp_reader_find_fn *other, struct dp_header *head,
                   struct dp_read_info *info, struct dp_err *err)
{
    struct dp_reader *r = dp_mem_alloc(sizeof *r);
    if (!r)
        return dp_err_set(err, DP_E_NOMEM, "%s", dp_err_text(DP_E_NOMEM));
    int rc = start_reader(r, src, head, info, err);
    if (rc == 0)
        rc = read_header(r, other);
    release_reader(r);
    dp_mem_free(r);
    return rc < 0 ? rc : 0;
}

int dp_reader_run(struct dp_source *src, const struct dp_pieces *left, dp_reader_find_fn *other,
                  const struct dp_consumer *to, struct dp_header *head, struct dp_read_info *info,
                  struct dp_err *err)
{
    struct dp_reader *r = dp_mem_alloc(sizeof *r);
    if (!r)
        return dp_err_set(err, DP_E_NOMEM, "%s", dp_err_text(DP_E_NOMEM));
    int rc = start_reader(r, src, head, info, err);
    r->to = to;
    bool tree = false;
    if (rc == 0)
        rc = read_header(r, other);
    if (rc > 0) {
        tree = true;
        rc = 0;
    }
    /* the variables of an incomplete header are still useful */
    if ((rc == 0 || rc == DP_E_TRUNCATED) && to->header) {
        int told = to->header(to->ctx, head, err);
        if (rc == 0)
            rc = told;
    }
    if (rc == 0)
        rc = dp_reader_columns(r);
    if (rc == 0) {
        r->tree.newer = left && !head->ended && dp_reader_pieces_tree(r, left);
        if (tree)
            rc = dp_reader_begin_tree(r);
        if (rc == 0)
            rc = r->import.format ? r->import.format->read(r) : read_lines(r);
        if (rc == 0 && left && !head->ended)
            rc = dp_reader_pieces(r, left);
        if (rc == 0)
            rc = add_tail(r);
        if (rc == 0)
            rc = dp_reader_check_end(r);
        if (rc == 0)
            rc = add_rest(r);
        if (rc == 0 && info->faults) {      /* everything but these lines has been read */
            *err = info->fault[0];
            rc = err->code;
        }
    }
    info->bytes = r->in.base + r->in.pos;
    release_reader(r);
    dp_mem_free(r);
    return rc;
}
