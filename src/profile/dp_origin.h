/* Where a profile of several files comes from: what all their headers agree on,
 * and sums of what can be summed. The order of the files does not matter. */
#ifndef DP_ORIGIN_H
#define DP_ORIGIN_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_header.h"
#include "dp_pool.h"
#include "dp_rebase.h"

/* Names that are kept where the headers of all files agree: X($dprof_NAME, the last enum
 * dp_write_kind that has it), in the order in which they are written; and names whose values are
 * summed up. */
#define DP_ORIGIN_EACH_COMMON(X) \
    X(clock, BASELINE) X(hash_seed, COUNTERS) X(line_hz, BASELINE) X(only, COUNTERS) \
    X(options, COUNTERS) X(perl, COUNTERS) X(perturb_keys, COUNTERS) X(pid, ALL) X(ppid, ALL) \
    X(run, ALL) X(script, COUNTERS) X(skip, COUNTERS) X(start, ALL) X(tid, ALL)
#define DP_ORIGIN_EACH_SUM(X) X(before_cpu) X(dropped_cpu) X(own_cpu) X(own_real)

enum {
#define DP_ORIGIN_NUMBER(name, kind) DP_ORIGIN_##name,
    DP_ORIGIN_EACH_COMMON(DP_ORIGIN_NUMBER)
#undef DP_ORIGIN_NUMBER
    DP_ORIGIN_COMMON            /* so many */
};
enum {
#define DP_ORIGIN_NUMBER(name) DP_ORIGIN_##name,
    DP_ORIGIN_EACH_SUM(DP_ORIGIN_NUMBER)
#undef DP_ORIGIN_NUMBER
    DP_ORIGIN_SUMS
};

struct dp_origin {
    uint64_t merged;            /* how many recordings (processes, threads) are in it so far */
    uint64_t slices;            /* how many of these are slices, as the recorder has left them */
    uint64_t cut;               /* how many of these did not come to their end */
    bool limited;               /* at least one went on as a tree */
    bool runops_taken;          /* at least one ended without perl's run loop */
    bool events_lost;           /* in at least one counting ended early */
    bool no_times;              /* at least one has counters only */
    uint64_t sums[DP_ORIGIN_SUMS];  /* ticks */
    struct dp_pool pool;
    struct dp_name common[DP_ORIGIN_COMMON];    /* ptr NULL: not all files have it with the same
                                                 * value */
};

void dp_origin_init(struct dp_origin *o);
void dp_origin_release(struct dp_origin *o);

/* Adds a file's header; its ticks are multiplied by `scale`. Returns 0 or DP_E_NOMEM. */
int dp_origin_add(struct dp_origin *o, const struct dp_header *head, uint64_t scale);
/* Adds all of another origin. */
int dp_origin_merge(struct dp_origin *o, const struct dp_origin *from, uint64_t scale);
/* Are all files of both slices of one process and thread? An empty origin has the files of the
 * other. */
bool dp_origin_goes_on(const struct dp_origin *o, const struct dp_origin *from);
void dp_origin_scale(struct dp_origin *o, uint64_t by);
/* Takes what differs from machine to machine out of the script's path. Returns 0 or DP_E_NOMEM. */
int dp_origin_rebase(struct dp_origin *o, const struct dp_base *bases, size_t n);

/* Writes the lines of a header, in a fixed order. kind: enum dp_write_kind. */
void dp_origin_write(const struct dp_origin *o, int kind, struct dp_buf *buf);

#endif
