#include "dp_fmt_stmt.h"

#include <string.h>

#define ORDER(x, y)     (((x) > (y)) - ((x) < (y)))

static int compare_files(const struct dp_fmt_place *x, const struct dp_fmt_place *y)
{
    int c = memcmp(x->file, y->file, x->len < y->len ? x->len : y->len);
    return c ? c : ORDER(x->len, y->len);
}

bool dp_fmt_stmt_same_file(const struct dp_fmt_stmt *a, const struct dp_fmt_stmt *b)
{
    return compare_files(&a->at, &b->at) == 0;
}

int dp_fmt_stmt_order(const void *a, const void *b)
{
    const struct dp_fmt_stmt *x = a, *y = b;
    int c = compare_files(&x->at, &y->at);
    c = c ? c : ORDER(x->at.line, y->at.line);
    c = c ? c : ORDER(x->sub, y->sub);
    return c ? c : ORDER(y->later, x->later);
}

void dp_fmt_file(struct dp_buf *buf, const struct dp_fmt_place *at)
{
    dp_buf_adds(buf, DP_FMT_FILE);
    dp_buf_add(buf, at->len ? at->file : "%", at->len ? at->len : 1);
}

void dp_fmt_source(struct dp_buf *buf, uint64_t size, uint32_t crc, const char *packed, size_t len)
{
    dp_buf_adds(buf, " size=");
    dp_buf_addu(buf, size);
    dp_buf_adds(buf, " crc=");
    dp_buf_addx(buf, crc);
    if (len) {
        dp_buf_adds(buf, " text=");
        dp_buf_add(buf, packed, len);
    }
}

static void add_number(struct dp_buf *buf, uint64_t n)
{
    dp_buf_addc(buf, ' ');
    dp_buf_addu(buf, n);
}

/* Appends the times, ops and counters of a statement. */
static void put_costs(struct dp_buf *buf, const struct dp_fmt_stmt *s)
{
    for (int m = 0; m < DP_METRICS; m++)
        add_number(buf, s->self[m]);
    if (s->ops)
        add_number(buf, *s->ops);
    for (size_t i = 0; i < s->n_counters; i++)
        add_number(buf, s->counters[i]);
}

void dp_fmt_stmt(struct dp_buf *buf, const struct dp_fmt_stmt *s)
{
    dp_buf_adds(buf, DP_FMT_LINE);
    dp_buf_addu(buf, s->at.line);
    dp_buf_addc(buf, ' ');
    dp_buf_addx(buf, s->sub);
    add_number(buf, s->count);
    if (!s->counts_only)
        put_costs(buf, s);
    if (s->later) {
        dp_buf_adds(buf, " later=");
        dp_buf_addu(buf, s->later);
    }
    dp_buf_addc(buf, '\n');
}
