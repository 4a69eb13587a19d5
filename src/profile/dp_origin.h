/* The origin of a profile of several files: the values on which all headers agree, and sums. The
 * order of the files does not matter. */
#ifndef DP_ORIGIN_H
#define DP_ORIGIN_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_header.h"
#include "dp_pool.h"
#include "dp_rebase.h"

/* The names of DP_HEADER_NAMES as numbers. */
enum {
#define DP_ORIGIN_NUMBER(name, ...) DP_ORIGIN_##name,
    DP_HEADER_NAMES(DP_ORIGIN_NUMBER)
#undef DP_ORIGIN_NUMBER
    DP_ORIGIN_NAMES             /* number of names */
};

struct dp_origin {
    uint64_t merged;            /* number of recordings (processes, threads) in it so far */
    uint64_t slices;            /* number of these that are slices as the recorder left them */
    uint64_t cut;               /* number of these that are incomplete */
    uint64_t numbers[DP_ORIGIN_NAMES];  /* flags, and sums of ticks */
    struct dp_pool pool;
    struct dp_name common[DP_ORIGIN_NAMES];     /* ptr NULL: files lack it or disagree about it */
};

void dp_origin_init(struct dp_origin *o);
void dp_origin_release(struct dp_origin *o);

/* Adds a file's header; its ticks are multiplied by `scale`. Returns 0 or DP_E_NOMEM. */
int dp_origin_add(struct dp_origin *o, const struct dp_header *head, uint64_t scale);
/* Adds everything of another origin. */
int dp_origin_merge(struct dp_origin *o, const struct dp_origin *from, uint64_t scale);
/* Are all files of both slices of one process and thread? An empty origin agrees with any other. */
bool dp_origin_goes_on(const struct dp_origin *o, const struct dp_origin *from);
/* Multiplies the sums; `by` may be 0. */
void dp_origin_scale(struct dp_origin *o, uint64_t by);
/* Removes from the script's path the part that varies between machines. Returns 0 or DP_E_NOMEM. */
int dp_origin_rebase(struct dp_origin *o, const struct dp_base *bases, size_t n);

/* Writes the lines of a header, in a fixed order. kind: enum dp_write_kind. */
void dp_origin_write(const struct dp_origin *o, int kind, struct dp_buf *buf);

#endif
