#include "dp_buf.h"
#include "dp_err.h"
#include "dp_mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void dp_buf_init(struct dp_buf *buf)
{
    memset(buf, 0, sizeof *buf);
}

void dp_buf_release(struct dp_buf *buf)
{
    dp_mem_free(buf->ptr);
    dp_buf_init(buf);
}

void dp_buf_clear(struct dp_buf *buf)
{
    buf->len = 0;
    buf->err = 0;
}

char *dp_buf_room(struct dp_buf *buf, size_t n)
{
    if (buf->err)
        return NULL;
    if (n > buf->cap - buf->len) {
        if (n > SIZE_MAX - buf->len
            || dp_mem_grow((void **)&buf->ptr, &buf->cap, buf->len + n, 1) < 0) {
            buf->err = DP_E_NOMEM;
            return NULL;
        }
    }
    return buf->ptr + buf->len;
}

void dp_buf_addf(struct dp_buf *buf, const char *fmt, ...)
{
    enum { USUAL = 128 };       /* enough for most texts; for a longer one printf runs again */
    va_list ap, again;
    char *to = dp_buf_room(buf, USUAL);
    if (!to)
        return;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(to, USUAL, fmt, ap);
    va_end(ap);
    if (n >= USUAL && (to = dp_buf_room(buf, (size_t)n + 1)) != NULL)
        vsnprintf(to, (size_t)n + 1, fmt, again);
    if (n > 0 && to)
        buf->len += (size_t)n;
    va_end(again);
}

char *dp_buf_putd(char *to, uint64_t n, unsigned digits)
{
    for (char *p = to + digits; p > to; n /= 10)
        *--p = (char)('0' + n % 10);
    return to + digits;
}

char *dp_buf_putu(char *to, uint64_t n)
{
    unsigned digits = 1;
    for (uint64_t least = 10; n >= least; least *= 10)
        if (++digits == DP_BUF_DIGITS)
            break;              /* the next product would exceed 64 bits */
    return dp_buf_putd(to, n, digits);
}

char *dp_buf_putx(char *to, uint64_t n)
{
    unsigned digits = 1;
    for (uint64_t rest = n >> 4; rest; rest >>= 4)
        digits++;
    for (char *p = to + digits; p > to; n >>= 4)
        *--p = "0123456789abcdef"[n & 15];
    return to + digits;
}

void dp_buf_addu(struct dp_buf *buf, uint64_t n)
{
    char *to = dp_buf_room(buf, DP_BUF_DIGITS);
    if (to)
        buf->len += (size_t)(dp_buf_putu(to, n) - to);
}

void dp_buf_addx(struct dp_buf *buf, uint64_t n)
{
    char *to = dp_buf_room(buf, DP_BUF_DIGITS);
    if (to)
        buf->len += (size_t)(dp_buf_putx(to, n) - to);
}

int dp_buf_write(void *ctx, const void *ptr, size_t n)
{
    struct dp_buf *buf = ctx;
    dp_buf_add(buf, ptr, n);
    return buf->err;
}

const char *dp_buf_cstr(struct dp_buf *buf)
{
    char *end = dp_buf_room(buf, 1);
    if (!end)
        return "";
    *end = '\0';
    return buf->ptr;
}
