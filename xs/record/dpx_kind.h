/* What a value is: its size, its type and its class. With heap-types, type and class are a frame
 * below the context that made the value: `HASH (Node)`, `string`. The frames are spans of the kind
 * `value` (dpx_span.h). */
#ifndef DPX_KIND_H
#define DPX_KIND_H

#include "dpx.h"

/* The id of a value's type and class; 0: memory is short. known: the ids that were asked for since
 * the last dp_map_clear, which has to come before any class can go. */
U32 dpx_kind_of(pTHX_ struct dpx_ctx *ctx, SV *sv, struct dp_map *known);

/* The bytes of a value's head and body. */
size_t dpx_kind_head_bytes(const SV *sv);

#endif
