#include "dpx_requests.h"
#include "dpx_ctx.h"
#include "dp_mem.h"
#include "dp_requests.h"

struct dpx_requests {
    struct dpx_requests *next;
    const struct dpx_phase *name;
    struct dp_requests of;
};

NV dpx_requests_begin(struct dpx_ctx *ctx)
{
    U64 now = dpx_ctx_arrive(ctx);
    dpx_ctx_leave(ctx);
    return (NV)now;
}

/* Returns the counts of the requests with a name, made if they are missing; NULL if memory is
 * short. */
static struct dpx_requests *find_requests(struct dpx_ctx *ctx, const struct dpx_phase *name)
{
    struct dpx_requests **at = &ctx->requests;
    while (*at && (*at)->name != name)
        at = &(*at)->next;
    if (!*at && name && (*at = dp_mem_zalloc(sizeof **at)) != NULL)
        (*at)->name = name;
    return *at;
}

void dpx_requests_end(struct dpx_ctx *ctx, const struct dpx_phase *name, NV began, bool is_kept)
{
    int why = errno;
    NV stamps = (NV)dpx_ctx_arrive(ctx) - began;
    struct dpx_requests *r = find_requests(ctx, name);
    if (r)
        dp_requests_count(&r->of, stamps > 0 ? (U64)(stamps / ctx->rec.clock.rate) : 0, is_kept);
    dpx_ctx_leave(ctx);
    errno = why;
}

void dpx_requests_server(struct dpx_ctx *ctx, const char *name, size_t len)
{
    dp_requests_server(&ctx->server, name, len);
}

void dpx_requests_write(const struct dpx_ctx *ctx, struct dp_buf *text)
{
    if (!ctx->server.err)
        dp_buf_add(text, ctx->server.ptr, ctx->server.len);
    for (const struct dpx_requests *r = ctx->requests; r; r = r->next)
        dp_requests_write(text, r->name->name, r->name->len, &r->of);
}

void dpx_requests_clear(struct dpx_ctx *ctx)
{
    for (struct dpx_requests *r = ctx->requests, *next; r; r = next) {
        next = r->next;
        dp_mem_free(r);
    }
    ctx->requests = NULL;
}

void dpx_requests_release(struct dpx_ctx *ctx)
{
    dpx_requests_clear(ctx);
    dp_buf_release(&ctx->chains);
    dp_buf_release(&ctx->server);
}
