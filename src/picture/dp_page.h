/* Inside the page: its blocks of data. Each block is packed, and encoded in base64. A block
 * consists of JSON and columns. The length in bytes precedes each of them; numbers in columns are
 * LEB128. */
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
    struct dp_pack *pack;       /* of the current block */
    struct dp_buf out;          /* JSON, or a column, that is not handed over yet */
    struct dp_buf text;
};

/* Append a JSON string to p->out; str may be NULL. */
void dp_page_text(struct dp_page *p, const char *ptr, size_t len);
void dp_page_str(struct dp_page *p, const char *str);
void dp_page_number(struct dp_buf *to, uint64_t v);

/* Writes the contents of p->out, preceded by their length, to the block, and empties p->out.
 * Returns 0 or a DP_E. */
int dp_page_hand_over(struct dp_page *p);

/* Writes a block to the page; `fill` writes its contents to p->pack. Returns 0 or a DP_E. */
int dp_page_block(struct dp_page *p, int (*fill)(void *ctx), void *ctx);

/* Writes the elements with the costs of lines and with the sources, if there are any;
 * dp_render_source.c. Returns 0 or a DP_E. */
int dp_page_sources(struct dp_page *p);

/* Appends what is known about spans to p->out, if there are any; dp_page_spans.c. Returns 0 or a
 * DP_E. */
int dp_page_spans(struct dp_page *p);

/* Writes the elements with the time line, if traces are given; dp_page_time.c. Returns 0 or a
 * DP_E. */
int dp_page_times(struct dp_page *p);

#endif
