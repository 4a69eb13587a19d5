/* The requests of a server, by name: the numbers and times that the last lines of its file have. */
#ifndef DPX_REQUESTS_H
#define DPX_REQUESTS_H

#include "dpx.h"
#include "dp_buf.h"

/* The stamp at which a request begins. */
NV dpx_requests_begin(struct dpx_ctx *ctx);

/* Counts a request with the name of this phase that began at that stamp, and ends now. is_kept: its
 * calls are recorded. If memory is short, or the name is NULL, it is not counted. */
void dpx_requests_end(struct dpx_ctx *ctx, const struct dpx_phase *name, NV began, bool is_kept);

/* Notes a sub of the server that calls the application. The caller names each once in a process. */
void dpx_requests_server(struct dpx_ctx *ctx, const char *name, size_t len);

/* Appends the lines of all requests, and of the server's subs. */
void dpx_requests_write(const struct dpx_ctx *ctx, struct dp_buf *text);

/* Forgets all requests, as they belong to an earlier file; the second function forgets the server's
 * subs, too, as they belong to an earlier process. */
void dpx_requests_clear(struct dpx_ctx *ctx);
void dpx_requests_release(struct dpx_ctx *ctx);

#endif
