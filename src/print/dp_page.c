#include "dp_page.h"
#include "dp_err.h"
#include "dp_render.h"
#include "dp_text.h"

#include <string.h>

/* ---- base64 of what the packer gives ---- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int write_base64(void *ctx, const void *ptr, size_t n)
{
    struct dp_page *p = ctx;
    const unsigned char *from = ptr;
    for (size_t i = 0; i < n; i++) {
        p->rest[p->n_rest++] = from[i];
        if (p->n_rest < 3)
            continue;
        uint32_t v = (uint32_t)p->rest[0] << 16 | (uint32_t)p->rest[1] << 8 | p->rest[2];
        char group[4] = { digits[v >> 18], digits[v >> 12 & 63], digits[v >> 6 & 63],
                          digits[v & 63] };
        dp_sink_add(p->sink, group, 4);
        p->n_rest = 0;
    }
    return p->sink->err;
}

/* The last group: `=` for each byte that it lacks. */
static int end_base64(struct dp_page *p)
{
    uint32_t v = (uint32_t)p->rest[0] << 16 | (p->n_rest > 1 ? (uint32_t)p->rest[1] << 8 : 0);
    char group[4] = { digits[v >> 18], digits[v >> 12 & 63],
                      p->n_rest > 1 ? digits[v >> 6 & 63] : '=', '=' };
    if (p->n_rest)
        dp_sink_add(p->sink, group, 4);
    p->n_rest = 0;
    return p->sink->err;
}

/* ---- what blocks are made of ---- */

void dp_page_text(struct dp_page *p, const char *ptr, size_t len)
{
    p->text.len = 0;
    dp_text_escape(&p->text, ptr, len);
    dp_json_string(&p->out, p->text.len ? p->text.ptr : "", p->text.len);
}

void dp_page_str(struct dp_page *p, const char *str)
{
    dp_page_text(p, str ? str : "", str ? strlen(str) : 0);
}

void dp_page_number(struct dp_buf *to, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        dp_buf_addc(to, (char)(v | 0x80));
    dp_buf_addc(to, (char)v);
}

int dp_page_hand_over(struct dp_page *p)
{
    unsigned char size[4];
    for (int i = 0; i < 4; i++)
        size[i] = (unsigned char)(p->out.len >> 8 * i);
    int rc = p->out.err;
    if (rc == 0)
        rc = dp_pack_write(p->pack, size, 4);
    if (rc == 0 && p->out.len)
        rc = dp_pack_write(p->pack, p->out.ptr, p->out.len);
    p->out.len = 0;
    return rc;
}

int dp_page_block(struct dp_page *p, int (*fill)(void *ctx), void *ctx)
{
    p->pack = dp_pack_new(write_base64, p);
    int rc = p->pack ? fill(ctx) : DP_E_NOMEM;
    int packed = p->pack ? dp_pack_end(p->pack) : 0;
    p->pack = NULL;
    rc = rc < 0 ? rc : packed;
    return rc < 0 ? rc : end_base64(p);
}
