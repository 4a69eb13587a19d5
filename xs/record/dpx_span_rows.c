#include "dpx_span_rows.h"
#include "dp_fmt.h"
#include "dp_mem.h"

#include <string.h>

void dpx_span_add_rows(struct dpx_ctx *ctx, U32 id, U64 rows)
{
    struct dpx_spans *spans = &ctx->spans;
    if (dp_mem_grow_cleared((void **)&spans->rows, &spans->rows_cap, (size_t)id + 1,
                            sizeof *spans->rows) == 0)
        spans->rows[id] += spans->rows[id] ? rows : rows + 1;
}

void dpx_span_write(const struct dpx_ctx *ctx, struct dp_buf *text)
{
    for (size_t id = 1; id < ctx->spans.rows_cap; id++)
        if (ctx->spans.rows[id])
            dp_fmt_rows(text, (U32)id, ctx->spans.rows[id] - 1);
}

void dpx_span_clear(struct dpx_ctx *ctx)
{
    struct dpx_spans *spans = &ctx->spans;
    if (spans->rows_cap)
        memset(spans->rows, 0, spans->rows_cap * sizeof *spans->rows);
    spans->other = spans->cut = 0;
}
