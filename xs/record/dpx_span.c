#include "dpx_span.h"
#include "dpx_name.h"
#include "dp_fmt.h"
#include "dp_mem.h"

#include <string.h>

enum { GIVEN_MAX = 1 << 12 };   /* beyond these texts, the map of given texts starts over */

/* Returns the place of the number of texts that a kind has, or NULL if memory is short. A kind that
 * is new gets a place, with the number 0. The place is valid until the next call. */
static uint32_t *texts_of(struct dpx_spans *spans, const char *kind, size_t len)
{
    uint32_t n = dp_pool_intern(&spans->kinds, kind, len);
    if (n == DP_MAP_NONE
        || dp_mem_grow_cleared((void **)&spans->texts, &spans->texts_cap, (size_t)n + 1,
                               sizeof *spans->texts) < 0)
        return NULL;
    return &spans->texts[n];
}

/* Returns the length of a text that is cut to `most` bytes at most, so that no UTF-8 character is
 * cut in two. */
static size_t cut_text(const char *text, size_t len, size_t most)
{
    if (len <= most)
        return len;
    for (len = most; len && ((unsigned char)text[len] & 0xc0) == 0x80; len--)
        ;
    return len ? len : most;
}

U32 dpx_span_id(struct dpx_ctx *ctx, const char *kind, size_t kind_len, const char *text,
                size_t len, const char *place)
{
    struct dpx_spans *spans = &ctx->spans;
    size_t kept = cut_text(text, len, (size_t)dpx_run.opt.span_length);
    spans->cut += kept < len;
    U32 id = dpx_name_span(ctx, kind, kind_len, text, kept, place, false);
    if (id)
        return id;
    uint32_t *texts = texts_of(spans, kind, kind_len);
    if (!texts)
        return 0;
    if (*texts >= dpx_run.opt.span_texts) {
        spans->other++;
        return dpx_name_span(ctx, kind, kind_len, "other", 5, NULL, true);
    }
    ++*texts;
    return dpx_name_span(ctx, kind, kind_len, text, kept, place, true);
}

/* Returns the place for the id of a given text, or NULL if memory is short. The place of a new text
 * has 0. If there are too many texts, all ids are forgotten first. */
static U32 *given_id(struct dpx_spans *spans, const char *kind, const char *given, size_t len,
                     int how)
{
    const void *key[2] = { kind, NULL };
    struct dp_buf *to = &spans->key;
    if (spans->given.count >= GIVEN_MAX) {
        dp_pool_release(&spans->given);
        dp_pool_init(&spans->given);
        memset(spans->given_ids, 0, spans->given_cap * sizeof *spans->given_ids);
    }
    memcpy(&key[1], &how, sizeof how);
    dp_buf_clear(to);
    dp_buf_add(to, key, sizeof key);
    dp_buf_add(to, given, len);
    uint32_t n = to->err ? DP_MAP_NONE : dp_pool_intern(&spans->given, to->ptr, to->len);
    if (n == DP_MAP_NONE
        || dp_mem_grow_cleared((void **)&spans->given_ids, &spans->given_cap, (size_t)n + 1,
                               sizeof *spans->given_ids) < 0)
        return NULL;
    return &spans->given_ids[n];
}

U32 dpx_span_made(struct dpx_ctx *ctx, const char *kind, const char *given, size_t len,
                  dpx_span_maker *make, int how)
{
    struct dpx_spans *spans = &ctx->spans;
    U32 *id = given_id(spans, kind, given, len, how);
    if (id && *id)
        return *id;
    struct dp_buf *text = &spans->text;
    dp_buf_clear(text);
    make(text, given, len, how);
    U32 made = text->err ? 0 : dpx_span_id(ctx, kind, strlen(kind), text->ptr, text->len, NULL);
    if (id)
        *id = made;
    return made;
}

void dpx_span_release(struct dpx_ctx *ctx)
{
    struct dpx_spans *spans = &ctx->spans;
    dp_pool_release(&spans->kinds);
    dp_pool_release(&spans->given);
    dp_mem_free(spans->texts);
    dp_mem_free(spans->given_ids);
    dp_mem_free(spans->rows);
    dp_mem_free(spans->patterns);
    dp_mem_free(spans->detailed);
    dp_mem_free(spans->asked);
    dp_buf_release(&spans->text);
    dp_buf_release(&spans->key);
    dp_map_release(&spans->sent);
    memset(spans, 0, sizeof *spans);
}
