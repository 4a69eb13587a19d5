#include "dpx_chains.h"
#include "dpx_holders.h"
#include "dpx_name.h"
#include "dp_fmt.h"
#include "dp_lines.h"
#include "dp_mem.h"

#include <string.h>

enum { MOST_SECONDS = 1 };

/* Puts a place among the n largest ones, which are in order. Returns their new number, at most
 * `most`. */
static size_t keep_largest(struct dpx_grown *largest, size_t n, size_t most,
                           const struct dpx_grown *place)
{
    size_t i = n;
    while (i > 0 && largest[i - 1].bytes < place->bytes)
        i--;
    if (i == most)
        return n;
    size_t kept = n < most ? n : most - 1;
    memmove(largest + i + 1, largest + i, (kept - i) * sizeof *largest);
    largest[i] = *place;
    return kept + 1;
}

/* Finds the places that have grown most. Returns their number. */
static size_t find_largest(const struct dpx_ctx *ctx, struct dpx_grown *largest, size_t most)
{
    struct dpx_grown place;
    size_t n = 0;
    for (size_t i = 0; dpx_values_grown(ctx, i, &place); i++)
        if (place.value && place.bytes)
            n = keep_largest(largest, n, most, &place);
    for (size_t i = 0; dpx_blocks_grown(ctx, i, &place); i++)
        if (place.value && place.bytes)
            n = keep_largest(largest, n, most, &place);
    return n;
}

/* Appends the place of a statement, FILE:LINE as a field; a lone % if it is unknown. */
static void add_place(const struct dpx_ctx *ctx, const struct dp_stmt *line, struct dp_buf *to)
{
    const struct dp_name *place = line && line->site
                                      ? dp_pool_name(&ctx->names.sites, line->site - 1) : NULL;
    if (place)
        dp_buf_add(to, place->ptr, place->len);
    else
        dp_buf_addc(to, '%');
}

/* Appends to ctx->chains the line of a place: its statement, its sub, and what holds its value. */
static void add_line(pTHX_ struct dpx_ctx *ctx, struct dpx_holders *holders,
                     const struct dpx_grown *place)
{
    struct dp_buf *to = &ctx->chains, chain;
    STRLEN len;
    SV *name = dpx_name_of(aTHX_ ctx, place->node->id);
    const char *ptr = SvOK(name) ? SvPVutf8(name, len) : (len = 0, "");
    dp_buf_init(&chain);
    dpx_holders_describe(aTHX_ holders, place->value, &chain);
    dp_buf_adds(to, DP_FMT_HOLDER);
    add_place(ctx, place->line, to);
    dp_buf_addc(to, ' ');
    dp_fmt_field(to, ptr, len);
    dp_buf_addc(to, ' ');
    dp_fmt_field(to, dp_buf_cstr(&chain), chain.len);
    dp_buf_addc(to, '\n');
    dp_buf_release(&chain);
    SvREFCNT_dec(name);
}

void dpx_chains_find(pTHX_ struct dpx_ctx *ctx)
{
    size_t most = (size_t)dpx_run.opt.heap_holders;
    struct dpx_grown *largest = dp_mem_zalloc(most * sizeof *largest);
    size_t n = largest ? find_largest(ctx, largest, most) : 0;
    struct dpx_holders *holders = n ? dpx_holders_new(aTHX_ ctx, MOST_SECONDS) : NULL;
    dp_buf_clear(&ctx->chains);
    for (size_t i = 0; holders && i < n; i++)
        add_line(aTHX_ ctx, holders, &largest[i]);
    dpx_holders_free(holders);
    dp_mem_free(largest);
}
