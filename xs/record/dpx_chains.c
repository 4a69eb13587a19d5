#include "dpx_chains.h"
#include "dpx_holders.h"
#include "dpx_name.h"
#include "dp_fmt.h"
#include "dp_lines.h"
#include "dp_mem.h"

#include <stdlib.h>

enum { MOST_SECONDS = 1 };

struct places {
    struct dp_map of;           /* a sub and FILE:LINE -> the number in `at` */
    struct dpx_grown *at;
    size_t n, cap;
};

/* Adds the growth of a sub and a line in one context to that in others. Returns false if memory is
 * short. */
static bool add_growth(struct places *p, const struct dpx_grown *in)
{
    struct dp_map_slot *slot = dp_map_put(&p->of, (uint64_t)in->node->id << 32
                                                      | (in->line ? in->line->site : 0));
    if (!slot || dp_mem_grow((void **)&p->at, &p->cap, p->n + 1, sizeof *p->at) < 0)
        return false;
    if (slot->value == DP_MAP_NONE) {
        slot->value = (uint32_t)p->n;
        p->at[p->n++] = *in;
        return true;
    }
    struct dpx_grown *place = &p->at[slot->value];
    place->bytes += in->bytes;
    if (!place->value)
        place->value = in->value;
    return true;
}

static int compare_growth(const void *x, const void *y)
{
    const struct dpx_grown *a = x, *b = y;
    return (a->bytes < b->bytes) - (a->bytes > b->bytes);
}

/* Finds the places, those that have grown most first. Returns false if memory is short. */
static bool find_places(const struct dpx_ctx *ctx, struct places *p)
{
    struct dpx_grown in;
    bool good = true;
    for (size_t i = 0; good && dpx_values_grown(ctx, i, &in); i++)
        good = add_growth(p, &in);
    for (size_t i = 0; good && dpx_blocks_grown(ctx, i, &in); i++)
        good = add_growth(p, &in);
    if (p->n)
        qsort(p->at, p->n, sizeof *p->at, compare_growth);
    return good;
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
    struct places places = { .n = 0 };
    dp_buf_clear(&ctx->chains);
    bool good = find_places(ctx, &places) && places.n && places.at[0].bytes > 0;
    struct dpx_holders *holders = good ? dpx_holders_new(aTHX_ ctx, MOST_SECONDS) : NULL;
    size_t left = (size_t)dpx_run.opt.heap_holders;
    for (size_t i = 0; holders && i < places.n && left && places.at[i].bytes > 0; i++)
        if (places.at[i].value) {
            add_line(aTHX_ ctx, holders, &places.at[i]);
            left--;
        }
    dpx_holders_free(holders);
    dp_map_release(&places.of);
    dp_mem_free(places.at);
}
