/* The lines of a tree with the costs of statements (Format.pod, "#f" and "#l"): one for a source
 * file, and one for each statement in it. The recorder and the writer of merged profiles use
 * them. */
#ifndef DP_FMT_STMT_H
#define DP_FMT_STMT_H

#include "dp_fmt.h"

struct dp_fmt_stmt {
    struct dp_fmt_place at;
    uint32_t sub;                       /* number of its sub in the file; 0: none */
    uint32_t later;                     /* number of statements that follow it on the same line of
                                         * the sub */
    uint64_t count;                     /* how often the statement ran */
    uint64_t self[DP_METRICS];          /* ticks */
    bool counts_only;                   /* neither times nor counters are written */
    const uint64_t *ops;                /* written before the counters; NULL: not counted */
    const uint64_t *counters;
    size_t n_counters;
};

/* Orders statements, for qsort, by file, line and sub. Several statements on a line are in their
 * order, because the first one has most statements after it. */
int dp_fmt_stmt_order(const void *a, const void *b);

/* Are both statements in the same file? */
bool dp_fmt_stmt_same_file(const struct dp_fmt_stmt *a, const struct dp_fmt_stmt *b);

/* Appends the line of a file, without its end, so that facts about the source may follow. */
void dp_fmt_file(struct dp_buf *buf, const struct dp_fmt_place *at);
/* Appends the facts that identify a source: its size in bytes, and gzip's CRC. packed: its text
 * (dp_base64.h); len 0: not kept. */
void dp_fmt_source(struct dp_buf *buf, uint64_t size, uint32_t crc, const char *packed, size_t len);
/* Appends the line of a statement. */
void dp_fmt_stmt(struct dp_buf *buf, const struct dp_fmt_stmt *s);

#endif
