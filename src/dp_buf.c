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

void dp_buf_add(struct dp_buf *buf, const void *ptr, size_t len)
{
    char *to = dp_buf_room(buf, len);
    if (to && len) {
        memcpy(to, ptr, len);
        buf->len += len;
    }
}

void dp_buf_adds(struct dp_buf *buf, const char *str)
{
    dp_buf_add(buf, str, strlen(str));
}

void dp_buf_addf(struct dp_buf *buf, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *to = n < 0 ? NULL : dp_buf_room(buf, (size_t)n + 1);
    if (to) {
        vsnprintf(to, (size_t)n + 1, fmt, again);
        buf->len += (size_t)n;
    }
    va_end(again);
}

void dp_buf_addu(struct dp_buf *buf, uint64_t n)
{
    char tmp[20];
    char *p = tmp + sizeof tmp;
    do {
        *--p = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    dp_buf_add(buf, p, (size_t)(tmp + sizeof tmp - p));
}

void dp_buf_addx(struct dp_buf *buf, uint64_t n)
{
    char tmp[16];
    char *p = tmp + sizeof tmp;
    do {
        *--p = "0123456789abcdef"[n & 15];
        n >>= 4;
    } while (n);
    dp_buf_add(buf, p, (size_t)(tmp + sizeof tmp - p));
}

const char *dp_buf_cstr(struct dp_buf *buf)
{
    char *end = dp_buf_room(buf, 1);
    if (!end)
        return "";
    *end = '\0';
    return buf->ptr;
}
