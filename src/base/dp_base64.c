#include "dp_base64.h"
#include "dp_err.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void dp_base64_init(struct dp_base64 *b, dp_write_fn *fn, void *ctx)
{
    *b = (struct dp_base64){ .write = fn, .ctx = ctx };
}

/* Writes a group, with `=` for each missing byte. */
static void put_group(char *to, const unsigned char *from, size_t n)
{
    uint32_t v = (uint32_t)from[0] << 16 | (n > 1 ? (uint32_t)from[1] << 8 : 0)
                 | (n > 2 ? from[2] : 0);
    to[0] = digits[v >> 18];
    to[1] = digits[v >> 12 & 63];
    to[2] = n > 1 ? digits[v >> 6 & 63] : '=';
    to[3] = n > 2 ? digits[v & 63] : '=';
}

int dp_base64_write(void *ctx, const void *ptr, size_t n)
{
    struct dp_base64 *b = ctx;
    const unsigned char *from = ptr;
    char out[1024];
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        b->rest[b->n_rest++] = from[i];
        if (b->n_rest < sizeof b->rest)
            continue;
        put_group(out + used, b->rest, b->n_rest);
        used += 4;
        b->n_rest = 0;
        if (used == sizeof out) {
            int rc = b->write(b->ctx, out, used);
            if (rc < 0)
                return rc;
            used = 0;
        }
    }
    return used ? b->write(b->ctx, out, used) : 0;
}

int dp_base64_end(struct dp_base64 *b)
{
    char group[4];
    if (!b->n_rest)
        return 0;
    put_group(group, b->rest, b->n_rest);
    b->n_rest = 0;
    return b->write(b->ctx, group, sizeof group);
}

/* Returns the number that a character of Base64 stands for, or -1. */
static int value_of(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+' ? 62
           : c == '/' ? 63 : -1;
}

int dp_base64_decode(struct dp_buf *buf, const char *ptr, size_t len)
{
    uint32_t v = 0;
    size_t missing = len && ptr[len - 1] == '=' ? len > 1 && ptr[len - 2] == '=' ? 2 : 1 : 0;
    if (len % 4)
        return DP_E_SYNTAX;
    if (!len)
        return 0;
    char *to = dp_buf_room(buf, len / 4 * 3);
    if (!to)
        return DP_E_NOMEM;
    for (size_t i = 0; i < len; i++) {
        int d = i < len - missing ? value_of(ptr[i]) : 0;
        if (d < 0)
            return DP_E_SYNTAX;
        v = v << 6 | (uint32_t)d;
        if (i % 4 == 3) {
            *to++ = (char)(v >> 16);
            *to++ = (char)(v >> 8);
            *to++ = (char)v;
        }
    }
    buf->len += len / 4 * 3 - missing;
    return 0;
}

/* ---- packed text ---- */

static int append(void *ctx, const void *ptr, size_t n)
{
    struct dp_buf *buf = ctx;
    dp_buf_add(buf, ptr, n);
    return buf->err;
}

int dp_packed_begin(struct dp_packed *p)
{
    dp_buf_init(&p->text);
    dp_base64_init(&p->base64, append, &p->text);
    p->pack = dp_pack_new(dp_base64_write, &p->base64, DP_PACK_USUAL);
    return p->pack ? 0 : DP_E_NOMEM;
}

int dp_packed_add(struct dp_packed *p, const void *ptr, size_t len)
{
    return p->pack ? dp_pack_write(p->pack, ptr, len) : DP_E_NOMEM;
}

int dp_packed_end(struct dp_packed *p)
{
    int rc = p->pack ? dp_pack_end(p->pack) : DP_E_NOMEM;
    p->pack = NULL;
    return rc < 0 ? rc : dp_base64_end(&p->base64);
}

int dp_packed_open(struct dp_buf *buf, const char *ptr, size_t len, size_t most)
{
    struct dp_buf bytes;
    struct dp_source src;
    char part[8192];
    long n = 0;
    size_t before = buf->len;
    dp_buf_init(&bytes);
    int rc = dp_base64_decode(&bytes, ptr, len);
    if (rc == 0) {
        dp_source_mem(&src, bytes.ptr, bytes.len);
        while (buf->len - before <= most && (n = dp_source_read(&src, part, sizeof part, NULL)) > 0)
            dp_buf_add(buf, part, (size_t)n);
        rc = buf->err ? buf->err : n < 0 && n != DP_E_NOMEM ? DP_E_SYNTAX : n < 0 ? (int)n : 0;
        rc = rc == 0 && (!src.inflate || buf->len - before > most) ? DP_E_SYNTAX : rc;
        dp_source_close(&src);
    }
    dp_buf_release(&bytes);
    return rc;
}
