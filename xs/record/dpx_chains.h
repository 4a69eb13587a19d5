/* heap-holders=N: who holds the values of the places whose memory has grown most, as lines of the
 * profile (Format.pod, "#h"). */
#ifndef DPX_CHAINS_H
#define DPX_CHAINS_H

#include "dpx.h"

/* A place that has made values which live: in one context, or a sub and a line in all contexts. */
struct dpx_grown {
    const struct dp_cct_node *node;     /* a context of the sub */
    const struct dp_stmt *line;         /* NULL: statements are not kept */
    const SV *value;                    /* one of its values; NULL: none is known */
    int64_t bytes;                      /* that it has more than at the first census */
};

/* The places of a census that has just been taken, the n-th in each of these: false beyond the
 * last one. heap=exact and heap=sample. */
bool dpx_values_grown(const struct dpx_ctx *ctx, size_t n, struct dpx_grown *to);
bool dpx_blocks_grown(const struct dpx_ctx *ctx, size_t n, struct dpx_grown *to);

/* Finds who holds values of the heap_holders places that have grown most, after a census, while no
 * value is freed; the lines are ctx->chains. Walks the whole heap, for a second at most. */
void dpx_chains_find(pTHX_ struct dpx_ctx *ctx);

#endif
