/* Where a profile of several files comes from: what all their headers agree on,
 * and sums of what can be summed. The order of the files does not matter. */
#ifndef DP_ORIGIN_H
#define DP_ORIGIN_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_header.h"
#include "dp_pool.h"
#include "dp_rebase.h"

/* What headers of all files have in common, where they do: X($dprof_NAME, the last one of enum
 * dp_write_kind that has it), in the order in which it is written; and what is summed up. */
#define DP_ORIGIN_EACH_COMMON(X) \
    X(clock, BASELINE) X(hash_seed, COUNTERS) X(only, COUNTERS) X(options, COUNTERS) \
    X(perl, COUNTERS) X(perturb_keys, COUNTERS) X(pid, ALL) X(ppid, ALL) X(run, ALL) \
    X(script, COUNTERS) X(skip, COUNTERS) X(start, ALL) X(tid, ALL)
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
    uint64_t merged;            /* recordings: processes, threads; 0: none yet */
    uint64_t cut;               /* of these did not come to their end */
    bool limited;               /* one at least went on as a tree */
    bool runops_taken;          /* one at least ended without perl's run loop */
    bool events_lost;           /* in one at least counting ended early */
    bool no_times;              /* one at least has counters only */
    uint64_t sums[DP_ORIGIN_SUMS];  /* ticks */
    struct dp_pool pool;
    struct dp_name common[DP_ORIGIN_COMMON];    /* ptr NULL: not all have it, and equal */
};

void dp_origin_init(struct dp_origin *o);
void dp_origin_release(struct dp_origin *o);

/* A file's header; its ticks are to be taken `scale` times. Returns 0 or DP_E_NOMEM. */
int dp_origin_add(struct dp_origin *o, const struct dp_header *head, uint64_t scale);
/* All of another. */
int dp_origin_merge(struct dp_origin *o, const struct dp_origin *from, uint64_t scale);
void dp_origin_scale(struct dp_origin *o, uint64_t by);
/* The script's path without what differs from machine to machine. Returns 0 or DP_E_NOMEM. */
int dp_origin_rebase(struct dp_origin *o, const struct dp_base *bases, size_t n);

/* As lines of a header, in a fixed order. kind: enum dp_write_kind. */
void dp_origin_write(const struct dp_origin *o, int kind, struct dp_buf *buf);

#endif
