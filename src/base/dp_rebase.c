#include "dp_rebase.h"

#include <string.h>

int dp_rebase(const struct dp_base *bases, size_t n, const char *ptr, size_t len,
              struct dp_buf *buf, const char **out, size_t *out_len)
{
    const struct dp_base *best = NULL;
    *out = ptr;
    *out_len = len;
    for (size_t i = 0; i < n; i++)
        if (bases[i].from_len && bases[i].from_len < len
            && memcmp(bases[i].from, ptr, bases[i].from_len) == 0
            && (!best || best->from_len < bases[i].from_len))
            best = &bases[i];
    if (!best)
        return 0;
    dp_buf_clear(buf);
    dp_buf_add(buf, best->to, best->to_len);
    dp_buf_add(buf, ptr + best->from_len, len - best->from_len);
    if (buf->err)
        return buf->err;
    *out = buf->ptr;
    *out_len = buf->len;
    return 0;
}
