/* A growable byte string. Failure to grow is sticky: further additions do nothing, and a single
 * check of `err` at the end is enough. */
#ifndef DP_BUF_H
#define DP_BUF_H

#include "dp_base.h"

#include <string.h>

struct dp_buf {
    char *ptr;      /* not terminated; NULL while empty */
    size_t len;
    size_t cap;
    int err;        /* 0 or DP_E_NOMEM */
};

void dp_buf_init(struct dp_buf *buf);
void dp_buf_release(struct dp_buf *buf);
/* Removes the contents, keeps the memory, clears the error. */
void dp_buf_clear(struct dp_buf *buf);

/* Makes room for n more bytes. Returns their address, or NULL (the error is then set). */
char *dp_buf_room(struct dp_buf *buf, size_t n);

/* Appends bytes; inline for the usual case that there is room already. */
static inline void dp_buf_add(struct dp_buf *buf, const void *ptr, size_t len)
{
    char *to = len <= buf->cap - buf->len && !buf->err
            ? buf->ptr + buf->len : dp_buf_room(buf, len);
    if (to && len) {
        memcpy(to, ptr, len);
        buf->len += len;
    }
}
static inline void dp_buf_adds(struct dp_buf *buf, const char *str)
{
    dp_buf_add(buf, str, strlen(str));
}
void dp_buf_addf(struct dp_buf *buf, const char *fmt, ...) DP_PRINTF(2, 3);
/* Appends n in decimal, or in hexadecimal digits. */
void dp_buf_addu(struct dp_buf *buf, uint64_t n);
void dp_buf_addx(struct dp_buf *buf, uint64_t n);

/* Writes n to a place with room for DP_BUF_DIGITS. Returns the place after the last digit. */
enum { DP_BUF_DIGITS = 20 };
char *dp_buf_putu(char *to, uint64_t n);
char *dp_buf_putx(char *to, uint64_t n);
/* Writes the last `digits` digits of n, with zeros in front: decimals. */
char *dp_buf_putd(char *to, uint64_t n, unsigned digits);

/* Appends a byte: names are composed byte by byte. */
static inline void dp_buf_addc(struct dp_buf *buf, char c)
{
    if (buf->len < buf->cap && !buf->err)
        buf->ptr[buf->len++] = c;
    else
        dp_buf_add(buf, &c, 1);
}

/* Appends bytes like dp_buf_add, with the type dp_write_fn (dp_io.h); ctx is the buffer. */
int dp_buf_write(void *ctx, const void *ptr, size_t n);

/* Puts a terminating NUL after the contents, not counted in len. Returns the contents as a C
 * string; "" when memory was short. */
const char *dp_buf_cstr(struct dp_buf *buf);

#endif
