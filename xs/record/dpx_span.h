/* Spans: frames that are no subs, such as an SQL statement or a request to another server. A span
 * has a kind and a text, and its & line says kind=span. This file gives spans their ids, bounds the
 * number and the length of their texts, and keeps their rows; xs/hook pushes their frames. */
#ifndef DPX_SPAN_H
#define DPX_SPAN_H

#include "dpx.h"

/* The id of a span. Kind and text are UTF-8, or else Latin-1. A text that is longer than
 * span-length is cut. Further texts of a kind that has span-texts of them are one, `other`. place:
 * FILE:LINE as in a profile, or NULL. Returns 0 if memory is short. */
U32 dpx_span_id(struct dpx_ctx *ctx, const char *kind, size_t kind_len, const char *text,
                size_t len, const char *place);

/* Makes a text of what a program has given. The result is in `to`, which is empty before. */
typedef void dpx_span_maker(struct dp_buf *to, const char *given, size_t len, int how);

/* The id of a span whose text `make` makes of `given` in the way `how`. Texts that were given
 * before are looked up. `kind` and `how` are constants: together they say what `given` is. */
U32 dpx_span_made(struct dpx_ctx *ctx, const char *kind, const char *given, size_t len,
                  dpx_span_maker *make, int how);

void dpx_span_release(struct dpx_ctx *ctx);

#endif
