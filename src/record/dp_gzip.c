#include "dp_gzip.h"
#include "dp_mem.h"

#include <string.h>
#include <zlib.h>

enum { GZIP = 16, MEM_LEVEL = 8 };

struct dp_gzip {
    z_stream z;
    size_t cap;
    unsigned char *out;
};

/* The head has neither time nor name, so that the same text gives the same bytes. */
static const unsigned char head[] = { 0x1f, 0x8b, Z_DEFLATED, 0, 0, 0, 0, 0, 0, 3 /* Unix */,
                                      1 /* the last block, stored */ };

struct dp_gzip *dp_gzip_new(int level)
{
    struct dp_gzip *gz = dp_mem_zalloc(sizeof *gz);
    if (!gz)
        return NULL;
    gz->z.zalloc = dp_mem_zlib_alloc;
    gz->z.zfree = dp_mem_zlib_free;
    if (deflateInit2(&gz->z, level, Z_DEFLATED, GZIP + MAX_WBITS, MEM_LEVEL, Z_DEFAULT_STRATEGY)
        != Z_OK) {
        dp_mem_free(gz);
        return NULL;
    }
    gz->cap = deflateBound(&gz->z, DP_GZIP_TEXT);
    if (gz->cap < DP_GZIP_STORED + DP_GZIP_FRAME)
        gz->cap = DP_GZIP_STORED + DP_GZIP_FRAME;
    gz->out = dp_mem_alloc(gz->cap);
    if (!gz->out) {
        dp_gzip_free(gz);
        return NULL;
    }
    return gz;
}

void dp_gzip_free(struct dp_gzip *gz)
{
    if (!gz)
        return;
    deflateEnd(&gz->z);
    dp_mem_free(gz->out);
    dp_mem_free(gz);
}

int dp_gzip_pack(struct dp_gzip *gz, const char *ptr, size_t len, const char **out, size_t *out_len)
{
    if (len > DP_GZIP_TEXT || deflateReset(&gz->z) != Z_OK)
        return DP_E_IO;
    gz->z.next_in = (unsigned char *)(uintptr_t)ptr;
    gz->z.avail_in = (uInt)len;
    gz->z.next_out = gz->out;
    gz->z.avail_out = (uInt)gz->cap;
    if (deflate(&gz->z, Z_FINISH) != Z_STREAM_END)
        return DP_E_IO;
    *out = (const char *)gz->out;
    *out_len = gz->cap - gz->z.avail_out;
    return 0;
}

static unsigned char *put_little(unsigned char *to, unsigned long n, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *to++ = (unsigned char)(n >> 8 * i);
    return to;
}

int dp_gzip_store(struct dp_gzip *gz, const char *ptr, size_t len, const char **out,
                  size_t *out_len)
{
    if (len > DP_GZIP_STORED)
        return DP_E_IO;
    unsigned char *to = gz->out;
    memcpy(to, head, sizeof head);
    to = put_little(to + sizeof head, len, 2);
    to = put_little(to, ~(unsigned long)len, 2);
    memcpy(to, ptr, len);
    to = put_little(to + len, crc32(crc32(0, NULL, 0), (const unsigned char *)ptr, (uInt)len), 4);
    to = put_little(to, len, 4);
    *out = (const char *)gz->out;
    *out_len = (size_t)(to - gz->out);
    return 0;
}

const char *dp_gzip_stored(const char *ptr, size_t len, size_t *text_len)
{
    if (len < DP_GZIP_HEAD || memcmp(ptr, head, sizeof head) != 0)
        return NULL;
    const unsigned char *n = (const unsigned char *)ptr + sizeof head;
    size_t most = (size_t)(n[0] | n[1] << 8);
    *text_len = len - DP_GZIP_HEAD < most ? len - DP_GZIP_HEAD : most;
    return ptr + DP_GZIP_HEAD;
}
