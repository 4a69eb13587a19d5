/* Inside the page: its blocks of data. Each is packed and in base64. A block is JSON, then
 * columns, each behind its length in bytes; numbers of columns are LEB128. */
#ifndef DP_PAGE_H
#define DP_PAGE_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_io.h"
#include "dp_stacks.h"
#include "dprof/stacks.h"

struct dp_page {
    const struct dp_stacks *s;
    const struct dp_flame_how *how;
    const double *factor;
    struct dp_sink *sink;
    struct dp_pack *pack;       /* of the block that is being written */
    struct dp_buf out;          /* JSON, or a column, until it is handed over */
    struct dp_buf text;
};

/* Append to p->out a string of JSON; str may be NULL. */
void dp_page_text(struct dp_page *p, const char *ptr, size_t len);
void dp_page_str(struct dp_page *p, const char *str);
void dp_page_number(struct dp_buf *to, uint64_t v);

/* Writes what is in p->out to the block, behind its length, and empties it. Returns 0 or a DP_E. */
int dp_page_hand_over(struct dp_page *p);

/* Writes a block to the page: what `fill` writes to p->pack. Returns 0 or a DP_E. */
int dp_page_block(struct dp_page *p, int (*fill)(void *ctx), void *ctx);

/* The elements that hold what lines cost and the sources, if there are any; dp_render_source.c.
 * Returns 0 or a DP_E. */
int dp_page_sources(struct dp_page *p);

/* The elements that hold what ran when, if traces are named; dp_page_time.c. Returns 0 or a
 * DP_E. */
int dp_page_times(struct dp_page *p);

#endif
