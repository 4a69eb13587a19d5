#include "dp_text.h"
#include "dprof.h"

#include <string.h>

/* Length of the well-formed UTF-8 character at p, 0 where there is none. */
static size_t utf8(const unsigned char *p, size_t len)
{
    size_t n;
    if (p[0] < 0x80)
        return 1;
    if (p[0] >= 0xc2 && p[0] <= 0xdf)
        n = 2;
    else if (p[0] >= 0xe0 && p[0] <= 0xef)
        n = 3;
    else if (p[0] >= 0xf0 && p[0] <= 0xf4)
        n = 4;
    else
        return 0;
    if (len < n)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f)
        || (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}

/* C1 controls, as dangerous to a terminal as ESC; and the marks that turn the
 * direction of writing, which make a name look like another. */
static bool is_unseen(const unsigned char *p, size_t n)
{
    if (n == 2)
        return p[0] == 0xc2 && p[1] < 0xa0;
    if (n == 3 && p[0] == 0xe2)
        return (p[1] == 0x80 && (p[2] >= 0xa8 && p[2] <= 0xae)) || (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9);
    return false;
}

/* One piece of output at p: its length; *used bytes of the input. */
static size_t piece(const unsigned char *p, size_t len, char out[16], size_t *used)
{
    static const char hex[] = "0123456789abcdef";
    size_t n = utf8(p, len);
    if (n == 0 || (n == 1 && (p[0] < 0x20 || p[0] == 0x7f))) {
        *used = 1;
        memcpy(out, "\\x", 2);
        out[2] = hex[p[0] >> 4];
        out[3] = hex[p[0] & 15];
        return 4;
    }
    *used = n;
    if (n == 1 || !is_unseen(p, n)) {
        memcpy(out, p, n);
        return n;
    }
    unsigned c = n == 2 ? (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu)
                        : (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
    size_t at = 0;
    memcpy(out, "\\x{", 3);
    at = 3;
    for (int shift = c > 0xff ? 12 : 4; shift >= 0; shift -= 4)
        out[at++] = hex[c >> shift & 15];
    out[at++] = '}';
    return at;
}

size_t dp_escape(const char *ptr, size_t len, char *to, size_t cap)
{
    const unsigned char *p = (const unsigned char *)ptr;
    size_t total = 0, used;
    char out[16];
    for (size_t i = 0; i < len; i += used) {
        size_t n = piece(p + i, len - i, out, &used);
        if (n <= cap - total && total <= cap)
            memcpy(to + total, out, n);
        else
            break;
        total += n;
    }
    return total;
}

void dp_text_escape(struct dp_buf *buf, const char *ptr, size_t len)
{
    const unsigned char *p = (const unsigned char *)ptr;
    size_t used;
    char out[16];
    for (size_t i = 0; i < len; i += used) {
        size_t n = piece(p + i, len - i, out, &used);
        dp_buf_add(buf, out, n);
    }
}

void dp_text_print(struct dp_sink *sink, const char *ptr, size_t len)
{
    const unsigned char *p = (const unsigned char *)ptr;
    size_t used;
    char out[16];
    for (size_t i = 0; i < len; i += used) {
        size_t n = piece(p + i, len - i, out, &used);
        dp_sink_add(sink, out, n);
    }
}

size_t dp_text_width(const char *ptr, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += ((unsigned char)ptr[i] & 0xc0) != 0x80;
    return n;
}

size_t dp_text_break(const char *ptr, size_t len, size_t room)
{
    if (dp_text_width(ptr, len) <= room)
        return len;
    size_t i = 0, chars = 0, good = 0;
    for (; i < len; i++) {
        if (((unsigned char)ptr[i] & 0xc0) != 0x80 && chars++ == room)
            break;
        if (i >= 1 && ptr[i] == ':' && ptr[i - 1] == ':' && chars >= (room + 1) / 2)
            good = i + 1;
    }
    return good ? good : i ? i : 1;
}
