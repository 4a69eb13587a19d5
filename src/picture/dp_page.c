#include "dp_page.h"
#include "dp_base64.h"
#include "dp_err.h"
#include "dp_render.h"
#include "dp_text.h"

#include <string.h>

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
    struct dp_base64 base64;
    dp_base64_init(&base64, dp_sink_write, p->sink);
    p->pack = dp_pack_new(dp_base64_write, &base64, DP_PACK_USUAL);
    int rc = p->pack ? fill(ctx) : DP_E_NOMEM;
    int packed = p->pack ? dp_pack_end(p->pack) : 0;
    p->pack = NULL;
    rc = rc < 0 ? rc : packed;
    return rc < 0 ? rc : dp_base64_end(&base64);
}
