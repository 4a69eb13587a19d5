/* The rows that statements have given in a file, and the numbers of texts that its header has. */
#ifndef DPX_SPAN_ROWS_H
#define DPX_SPAN_ROWS_H

#include "dpx.h"

/* Adds to the rows that a statement has given. */
void dpx_span_add_rows(struct dpx_ctx *ctx, U32 id, U64 rows);

/* Appends the lines with the rows of a trace (Format.pod, "#s"). */
void dpx_span_write(const struct dpx_ctx *ctx, struct dp_buf *text);

/* Forgets the rows and counts of a file that has been written. */
void dpx_span_clear(struct dpx_ctx *ctx);

#endif
