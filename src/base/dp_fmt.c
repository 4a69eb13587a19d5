#include "dp_fmt.h"
#include "dp_num.h"

#include <inttypes.h>
#include <string.h>

static const char hex[] = "0123456789ABCDEF";

/* Sets the top bit of each of eight bytes that is below n (n up to 128). Bytes above the first such
 * byte may have it set wrongly. */
#define EACH(byte)      (UINT64_C(0x0101010101010101) * (byte))
#define BELOW(w, n)     (((w) - EACH(n)) & ~(w) & EACH(0x80))

static bool has_bad(uint64_t w, unsigned char last_bad)
{
    return (BELOW(w, last_bad + 1u) | BELOW(w ^ EACH(0x7f), 1) | BELOW(w ^ EACH('%'), 1)) != 0;
}

/* A lower bound of the number of bytes that need no escape. */
static size_t plain_bytes(const char *str, size_t len, unsigned char last_bad)
{
    size_t i = 0;
    uint64_t w = EACH('a');
    for (; len - i >= sizeof w; i += sizeof w) {
        memcpy(&w, str + i, sizeof w);
        if (has_bad(w, last_bad))
            return i;
    }
    if (i == len)
        return len;
    if (i)                      /* the last word, which overlaps the previous one */
        memcpy(&w, str + len - sizeof w, sizeof w);
    else
        memcpy(&w, str, len);
    return has_bad(w, last_bad) ? i : len;
}

/* Appends bytes with %XX for those up to last_bad, DEL and %. The callers choose whether a blank is
 * one of them. */
static void encode_bytes(struct dp_buf *buf, const char *str, size_t len, unsigned char last_bad)
{
    size_t done = 0;            /* bytes without escapes are added in one piece */
    for (size_t i = plain_bytes(str, len, last_bad); i < len; i++) {
        unsigned char c = (unsigned char)str[i];
        if (c <= last_bad || c == 0x7f || c == '%') {
            char esc[3] = { '%', hex[c >> 4], hex[c & 15] };
            dp_buf_add(buf, str + done, i - done);
            dp_buf_add(buf, esc, 3);
            done = i + 1;
        }
    }
    dp_buf_add(buf, str + done, len - done);
}

void dp_fmt_field(struct dp_buf *buf, const char *str, size_t len)
{
    if (len)
        encode_bytes(buf, str, len, 0x20);
    else
        dp_buf_addc(buf, '%');
}

size_t dp_fmt_decode(char *to, const char *field, size_t len)
{
    size_t n = 0;
    if (len == 1 && *field == '%')
        return 0;
    for (size_t i = 0; i < len; i++) {
        int hi = field[i] == '%' && i + 2 < len ? dp_num_hexdigit(field[i + 1]) : -1;
        int lo = hi >= 0 ? dp_num_hexdigit(field[i + 2]) : -1;
        to[n++] = lo >= 0 ? (char)(hi << 4 | lo) : field[i];
        i += lo >= 0 ? 2 : 0;
    }
    return n;
}

void dp_fmt_unfield(struct dp_buf *buf, const char *field, size_t len)
{
    char *to = dp_buf_room(buf, len);
    if (to)
        buf->len += dp_fmt_decode(to, field, len);
}

struct dp_fmt_place dp_fmt_place(const char *field, size_t len)
{
    struct dp_fmt_place at = { field, len, 0 };
    size_t colon = len;
    while (colon > 0 && field[colon - 1] != ':')
        colon--;
    if (colon > 0 && dp_num_dec(field + colon, len - colon, &at.line))
        at.len = colon - 1;
    return at;
}

const char *const dp_fmt_sums[] = {
#define KEY(name, key) key,
    DP_FMT_EACH_SUM(KEY)
#undef KEY
};

void dp_fmt_end(struct dp_buf *buf, const uint64_t *sums, bool tree)
{
    dp_buf_adds(buf, DP_FMT_END);
    for (int i = 0; i < DP_FMT_SUMS; i++) {
        bool is_of_tree = i == DP_FMT_SUM_LINES || i == DP_FMT_SUM_CALLS;
        if (tree ? i == DP_FMT_SUM_MARKS : is_of_tree)
            continue;
        dp_buf_addc(buf, ' ');
        dp_buf_adds(buf, dp_fmt_sums[i]);
        dp_buf_addc(buf, '=');
        dp_buf_addu(buf, sums[i]);
    }
    dp_buf_addc(buf, '\n');
}

uint64_t dp_fmt_lines(const char *ptr, size_t len)
{
    uint64_t n = 0;
    for (const char *end = ptr + len; ptr < end && (ptr = memchr(ptr, '\n', (size_t)(end - ptr)));
         ptr++)
        n++;
    return n;
}

void dp_fmt_quote(struct dp_buf *buf, const char *str, size_t len)
{
    dp_buf_addc(buf, '\'');
    for (size_t i = 0; i < len; i++) {
        if (str[i] == '\'' || str[i] == '\\')
            dp_buf_addc(buf, '\\');
        encode_bytes(buf, str + i, 1, 0x1f);
    }
    dp_buf_addc(buf, '\'');
}

/* Writes a blank and a number at p. Returns the end. */
static char *put_number(char *p, uint64_t n)
{
    *p++ = ' ';
    if (n > 9)
        return dp_buf_putu(p, n);
    *p++ = (char)('0' + n);     /* most fields have one digit */
    return p;
}

void dp_fmt_context(struct dp_buf *buf, const struct dp_fmt_context *c)
{
    char *to = dp_buf_room(buf, (1 + DP_BUF_DIGITS) * (5 + DP_METRICS + c->n_counters) + 1),
         *p = to;
    if (!to)
        return;
    *p++ = '=';
    p = put_number(p, c->depth);
    *p++ = ' ';
    p = dp_buf_putx(p, c->id);
    p = put_number(p, c->calls);
    for (int m = 0; m < DP_METRICS; m++)
        p = put_number(p, c->t[m]);
    p = put_number(p, c->longest);
    p = put_number(p, c->shortest);
    for (size_t i = 0; i < c->n_counters; i++)
        p = put_number(p, c->counters[i]);
    buf->len += (size_t)(p - to);
    if (c->at_len) {
        dp_buf_adds(buf, " at=");
        dp_buf_add(buf, c->at, c->at_len);
    }
    if (c->folded) {
        dp_buf_adds(buf, " folded=");
        dp_buf_addu(buf, c->folded);
    }
    if (c->unit) {
        dp_buf_adds(buf, " unit=");
        dp_buf_addu(buf, c->unit);
    }
    dp_buf_addc(buf, '\n');
}

/* Four buckets are checked at a time. */
DP_CHECK(buckets, DP_FMT_BUCKETS % 4 == 0);

void dp_fmt_histogram(struct dp_buf *buf, uint32_t id, const uint64_t *count)
{
    char *to = NULL, *p = NULL;
    for (unsigned b = 0; b < DP_FMT_BUCKETS; b++) {
        /* Few buckets are used, and these are adjacent. */
        if (b % 4 == 0 && !(count[b] | count[b + 1] | count[b + 2] | count[b + 3])) {
            b += 3;
            continue;
        }
        if (!count[b])
            continue;
        if (!to) {
            p = to = dp_buf_room(buf, 3 + DP_BUF_DIGITS + DP_FMT_BUCKETS * (4 + DP_BUF_DIGITS));
            if (!to)
                return;
            *p++ = 'h';
            *p++ = ' ';
            p = dp_buf_putx(p, id);
        }
        p = put_number(p, b);
        *p++ = ':';
        p = dp_buf_putu(p, count[b]);
    }
    if (to) {
        *p++ = '\n';
        buf->len += (size_t)(p - to);
    }
}

void dp_fmt_rows(struct dp_buf *buf, uint32_t id, uint64_t rows)
{
    dp_buf_addf(buf, DP_FMT_ROWS "%" PRIx32 " rows=%" PRIu64 "\n", id, rows);
}
