#include "dp_fmt.h"

#include <string.h>

static const char hex[] = "0123456789ABCDEF";

/* Has one of eight bytes the top bit set where w has a byte below n (n up to 128)? Bytes above the first such one
 * may seem to, too. */
#define EACH(byte)      (UINT64_C(0x0101010101010101) * (byte))
#define BELOW(w, n)     (((w) - EACH(n)) & ~(w) & EACH(0x80))

static bool has_bad(uint64_t w, unsigned char last_bad)
{
    return (BELOW(w, last_bad + 1u) | BELOW(w ^ EACH(0x7f), 1) | BELOW(w ^ EACH('%'), 1)) != 0;
}

/* So many bytes stand for themselves, at least. */
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
    if (i)                      /* the last word, some of it again */
        memcpy(&w, str + len - sizeof w, sizeof w);
    else
        memcpy(&w, str, len);
    return has_bad(w, last_bad) ? i : len;
}

static void encode(struct dp_buf *buf, const char *str, size_t len, unsigned char last_bad)
{
    size_t done = 0;            /* what stands for itself goes in one piece */
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
        encode(buf, str, len, 0x20);
    else
        dp_buf_addc(buf, '%');
}

void dp_fmt_quote(struct dp_buf *buf, const char *str, size_t len)
{
    dp_buf_addc(buf, '\'');
    for (size_t i = 0; i < len; i++) {
        if (str[i] == '\'' || str[i] == '\\')
            dp_buf_addc(buf, '\\');
        encode(buf, str + i, 1, 0x1f);
    }
    dp_buf_addc(buf, '\'');
}

static void number(struct dp_buf *buf, uint64_t n)
{
    dp_buf_addc(buf, ' ');
    dp_buf_addu(buf, n);
}

void dp_fmt_context(struct dp_buf *buf, const struct dp_fmt_context *c)
{
    dp_buf_addc(buf, '=');
    number(buf, c->depth);
    dp_buf_addc(buf, ' ');
    dp_buf_addx(buf, c->id);
    number(buf, c->calls);
    for (int m = 0; m < DP_METRICS; m++)
        number(buf, c->t[m]);
    number(buf, c->longest);
    number(buf, c->shortest);
    for (size_t i = 0; i < c->n_counters; i++)
        number(buf, c->counters[i]);
    if (c->at_len) {
        dp_buf_adds(buf, " at=");
        dp_buf_add(buf, c->at, c->at_len);
    }
    if (c->folded) {
        dp_buf_adds(buf, " folded=");
        dp_buf_addu(buf, c->folded);
    }
    dp_buf_addc(buf, '\n');
}

void dp_fmt_histogram(struct dp_buf *buf, uint32_t id, const uint64_t *count)
{
    bool any = false;
    for (unsigned b = 0; b < DP_FMT_BUCKETS; b++) {
        if (!count[b])
            continue;
        if (!any) {
            dp_buf_adds(buf, "h ");
            dp_buf_addx(buf, id);
        }
        any = true;
        number(buf, b);
        dp_buf_addc(buf, ':');
        dp_buf_addu(buf, count[b]);
    }
    if (any)
        dp_buf_addc(buf, '\n');
}
