/* A calling context tree that a recorder keeps: a node for each chain of callers, however often it
 * was called. Nodes stand in live pieces of the profile's file (dp_live.h), so they survive the
 * process. */
#ifndef DP_CCT_H
#define DP_CCT_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_fmt.h"
#include "dp_lines.h"
#include "dp_live.h"
#include "dp_map.h"
#include "dp_num.h"
#include "dp_pool.h"
#include "dp_when.h"

/* Calls of a sub by inclusive real time: bucket n counts calls from 2^n to 2^(n+1) ns, bucket 0
 * also calls of 0 ns. */
struct dp_cct_histogram {
    uint64_t id;                /* 0: free */
    uint64_t count[DP_FMT_BUCKETS];
};

struct dp_cct_node {
    uint32_t number;            /* from 1 up; 1 is the root; 0: free */
    uint32_t parent;            /* number; 0 for the root */
    uint32_t id;                /* id of the sub; 0 for the root */
    uint32_t site;              /* the place of the call, 0: not kept */
    uint64_t calls;
    uint64_t real, wait, sys;   /* self: stamps that passed, were waited, were in the kernel */
    uint64_t ops;               /* self */
    uint64_t longest, shortest; /* inclusive stamps of one call; both 0: none ended */
    /* pointers, which are valid in the process alone */
    struct dp_cct_node *up DP_ALIGNED_8;
    struct dp_cct_node *last DP_ALIGNED_8;      /* the child entered last */
    struct dp_cct_histogram *histogram DP_ALIGNED_8;
    uint64_t folded DP_ALIGNED_8;               /* further frames of a recursion that share this
                                                 * node */
    uint64_t counts[];          /* self, one for each counter */
};

enum { DP_CCT_RECENT = 1 << 11 };

struct dp_cct {
    struct dp_live *live;
    struct dp_cct_node *root;
    struct dp_cct_node *idle;           /* the node for what shall not count; calls from it stay in
                                         * it; borrowed */
    size_t serial;                      /* the tree's number, see dp_cct_begin */
    struct dp_cct_node *free;           /* unused rest of the newest piece */
    size_t free_count;
    struct dp_cct_node **nodes;         /* by number - 1 */
    size_t count, cap;
    size_t made;                        /* number of nodes made; those from `count` on are free to
                                         * use again */
    size_t limit;                       /* most contexts; further calls share one */
    size_t n_counts, node_size;         /* counters in a node; bytes of a node */
    uint64_t folded;                    /* calls that got no context of their own */
    struct dp_when when;                /* of samples */
    struct dp_cct_node *recent[DP_CCT_RECENT];  /* a cache of contexts, see recent_of */
    struct dp_map children;             /* parent's number, key -> number */
    struct dp_map keys;                 /* id, site -> key; empty if there are no sites */
    struct dp_cct_histogram **histograms;   /* by id */
    size_t histograms_cap;
    struct dp_cct_histogram *free_histogram;
    size_t free_histograms;
};

/* What a tree keeps of a running call. */
struct dp_cct_call {
    struct dp_cct_node *caller;
    uint64_t start;             /* stamps of program time */
    uint32_t site;              /* set only where places are kept */
    uint32_t line;              /* of the statement that called, where statements are kept */
};

/* Makes an empty tree of contexts. live and idle are borrowed; n_counts: counters beside the ops.
 * Trees may share one idle node, which has room for as many counters and is all 0. Returns 0 or
 * DP_E_NOMEM. */
int dp_cct_init(struct dp_cct *cct, struct dp_live *live, struct dp_cct_node *idle, size_t limit,
                size_t n_counts);
void dp_cct_release(struct dp_cct *cct);

/* Empties the tree, which goes on with the same sizes in new pieces of live; the old pieces may be
 * gone already. Only the node `idle` stays valid. Returns 0 or DP_E_NOMEM. */
int dp_cct_renew(struct dp_cct *cct);

/* Gives the tree a serial number that no tree of this process has had. A node that was kept is
 * valid while the number is the same, so every function that makes or empties a tree calls this. */
void dp_cct_begin(struct dp_cct *cct);

/* Empties the tree, and keeps its memory. */
void dp_cct_clear(struct dp_cct *cct);

/* Adds a tree to another one, context by context: each context to the one with the same subs and
 * places above it. Afterwards, `from` can only be cleared or released. */
void dp_cct_add(struct dp_cct *to, struct dp_cct *from);

/* The context of a call of id from node; never NULL. Beyond the limit, this is the nearest context
 * of the same sub above, else one right below the root. If memory is short, it is the root. */
struct dp_cct_node *dp_cct_child(struct dp_cct *cct, struct dp_cct_node *node, uint32_t id,
                                 uint32_t site);

/* The context of a call of id from node, as dp_cct_child finds it, for a call that did not begin in
 * this tree. Calls that begin in the tree do not share such a context, which has no histogram. */
struct dp_cct_node *dp_cct_resumed(struct dp_cct *cct, struct dp_cct_node *node, uint32_t id,
                                   uint32_t site);

/* The bucket of a call that took this many ns. */
static inline unsigned dp_cct_bucket(uint64_t ns)
{
    unsigned b = ns ? 63 - (unsigned)__builtin_clzll(ns) : 0;
    return b < DP_FMT_BUCKETS ? b : DP_FMT_BUCKETS - 1;
}

/* Counts a call of node that ended after this many stamps; ns_per_stamp is in 1/2^32. */
static inline void dp_cct_ended(struct dp_cct_node *node, uint64_t stamps, uint64_t ns_per_stamp)
{
    if (stamps > node->longest)
        node->longest = stamps;
    /* shortest is 0 before the first call ends; so a call of 0 stamps counts as one of 1 */
    if (stamps < node->shortest || !node->shortest)
        node->shortest = stamps ? stamps : 1;
    if (node->histogram)
        node->histogram->count[dp_cct_bucket(dp_num_mul_shift32(stamps, ns_per_stamp))]++;
}

/* Do the longest and the shortest call belong to this tree? A call that ends in another phase or
 * slice than it began in is counted where it began, but its span stands where it ended. A node
 * without calls and without a histogram has only calls that began in another file. */
static inline bool dp_cct_has_span(const struct dp_cct_node *n)
{
    return n->calls || n->histogram;
}

/* How to turn stamps into ticks, and the texts to write the tree with. */
struct dp_cct_text {
    double ticks_per_stamp;
    const struct dp_pool *names;    /* & lines: the n-th is of id n + 1 */
    const struct dp_pool *sites;    /* FILE:LINE: the n-th is of site n + 1 */
    const struct dp_lines *lines;   /* NULL: not kept */
    bool line_times;
    struct dp_when_text when;       /* its unit is computed */
    bool ops;                       /* whether ops are counted */
    bool no_times;                  /* calls and counters only */
    size_t named;                   /* ids up to this one are in earlier parts, and are written only
                                     * if the tree has them */
    const uint64_t *rows;           /* by id: rows that the statement of a span has given, plus 1;
                                     * 0: unknown */
    size_t n_rows;
    struct dp_cct_rest {            /* in: fractions of ticks that earlier parts have not written;
                                     * out: those of this part */
        double real, cpu, sys;
    } rest;
    /* out: sums of what was written */
    uint64_t user, sys, real, calls;
};

/* Appends the tree (Format.pod, "THE TREE") in an order that depends on names
 * alone. Returns 0 or DP_E_NOMEM. */
int dp_cct_write(const struct dp_cct *cct, struct dp_cct_text *how, struct dp_buf *out);

#endif
