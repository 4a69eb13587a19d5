/* A calling context tree that a recorder keeps: a node for each chain of
 * callers, however often it was called. Nodes stand in live pieces of the
 * profile's file (dp_live.h), so that they survive the process. */
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

/* Calls of a sub by inclusive real time: bucket n counts calls from 2^n to 2^(n+1) ns, bucket 0
 * also calls of 0 ns. */
struct dp_cct_histogram {
    uint64_t id;                /* 0: free */
    uint64_t count[DP_FMT_BUCKETS];
};

struct dp_cct_node {
    uint32_t number;            /* from 1 up; 1 is the root; 0: free */
    uint32_t parent;            /* number; 0 for the root */
    uint32_t id;                /* of the sub; 0 for the root */
    uint32_t site;              /* the place of the call, 0: not kept */
    uint64_t calls;
    uint64_t real, wait, sys;   /* self: stamps passed, waited of them, spent in the kernel */
    uint64_t ops;               /* self */
    uint64_t longest, shortest; /* inclusive stamps of one call; both 0: none ended */
    /* the pointers are of use to the process alone */
    struct dp_cct_node *up DP_ALIGNED_8;
    struct dp_cct_node *last DP_ALIGNED_8;      /* the child entered last */
    struct dp_cct_histogram *histogram DP_ALIGNED_8;
    uint64_t folded DP_ALIGNED_8;               /* frames of further recursion that this node stands
                                                 * for */
    uint64_t counts[];          /* self, of each counter */
};

enum { DP_CCT_RECENT = 1 << 11 };

struct dp_cct {
    struct dp_live *live;
    struct dp_cct_node *root;
    struct dp_cct_node *idle;           /* takes what shall not count; calls from it stay in it;
                                         * borrowed */
    size_t serial;                      /* of this tree, see dp_cct_begin */
    struct dp_cct_node *free;           /* unused rest of the newest piece */
    size_t free_count;
    struct dp_cct_node **nodes;         /* by number - 1 */
    size_t count, cap;
    size_t made;                        /* nodes from `count` up to this one are to be used again */
    size_t limit;                       /* most contexts; calls beyond share one */
    size_t n_counts, node_size;         /* counters of a node; its bytes */
    uint64_t folded;                    /* calls that found no context of their own */
    struct dp_cct_node *recent[DP_CCT_RECENT];  /* contexts of calls of late, see recent_of */
    struct dp_map children;             /* parent's number, key -> number */
    struct dp_map keys;                 /* id, site -> key; none where there is no site */
    struct dp_cct_histogram **histograms;   /* by id */
    size_t histograms_cap;
    struct dp_cct_histogram *free_histogram;
    size_t free_histograms;
};

/* What a running call of a tree knows. */
struct dp_cct_call {
    struct dp_cct_node *caller;
    uint64_t start;             /* stamps of program time */
    uint32_t site;              /* set only where places are kept */
    uint32_t line;              /* of the statement that called, where statements are kept */
};

/* live and idle are borrowed; n_counts: counters beside the ops. Trees may have the same idle,
 * which has room for as many counters and is all 0. Returns 0 or DP_E_NOMEM. */
int dp_cct_init(struct dp_cct *cct, struct dp_live *live, struct dp_cct_node *idle, size_t limit,
                size_t n_counts);
void dp_cct_release(struct dp_cct *cct);

/* Begins an empty tree with the same sizes, in new pieces of live; the old ones may be gone by
 * then. All nodes end but `idle`. Returns 0 or DP_E_NOMEM. */
int dp_cct_renew(struct dp_cct *cct);

/* Gives the tree a serial number that none of this process has had. What is kept about nodes holds
 * while it stays the same: all that make a tree or empty it call this. */
void dp_cct_begin(struct dp_cct *cct);

/* Begins an empty tree with the same sizes in the memory that there is. */
void dp_cct_clear(struct dp_cct *cct);

/* Adds what a tree has to another one, context by context, by the names of their callers. All that
 * can be done with `from` afterwards is to clear or release it. */
void dp_cct_add(struct dp_cct *to, struct dp_cct *from);

/* The context of a call of id from node; never NULL. Beyond the limit, or when memory is short,
 * this is the nearest context of the same sub above, or the root. */
struct dp_cct_node *dp_cct_child(struct dp_cct *cct, struct dp_cct_node *node, uint32_t id,
                                 uint32_t site);

/* The same for a call that did not begin in this tree. Calls that begin in the tree do not share
 * such a context, which has no histogram. */
struct dp_cct_node *dp_cct_resumed(struct dp_cct *cct, struct dp_cct_node *node, uint32_t id,
                                   uint32_t site);

/* Seven eighths of a power of two more or less do not matter to a histogram. */
static inline unsigned dp_cct_bucket(uint64_t ns)
{
    unsigned b = ns ? 63 - (unsigned)__builtin_clzll(ns) : 0;
    return b < DP_FMT_BUCKETS ? b : DP_FMT_BUCKETS - 1;
}

/* A call of node ended that took so many stamps; ns_per_stamp is in 1/2^32. */
static inline void dp_cct_ended(struct dp_cct_node *node, uint64_t stamps, uint64_t ns_per_stamp)
{
    if (stamps > node->longest)
        node->longest = stamps;
    /* shortest is 0 before the first call ends; so a call of 0 stamps is taken for one of 1 */
    if (stamps < node->shortest || !node->shortest)
        node->shortest = stamps ? stamps : 1;
    if (node->histogram)
        node->histogram->count[dp_cct_bucket(dp_num_mul_shift32(stamps, ns_per_stamp))]++;
}

/* Are the longest and the shortest call those of this tree? A call that ends in another phase or
 * slice than it has begun in is counted where it began, and has its span where it ended. Without a
 * histogram, what ended here had begun in another file. */
static inline bool dp_cct_has_span(const struct dp_cct_node *n)
{
    return n->calls || n->histogram;
}

/* What turns stamps into ticks, and the texts that the tree is written with. */
struct dp_cct_text {
    double ticks_per_stamp;
    const struct dp_pool *names;    /* & lines: the n-th is of id n + 1 */
    const struct dp_pool *sites;    /* FILE:LINE: the n-th is of site n + 1 */
    const struct dp_lines *lines;   /* NULL: not kept */
    bool line_times;
    bool ops;                       /* counted at all? */
    bool no_times;                  /* calls and counters only */
    size_t named;                   /* ids up to this one are written only where the tree has them:
                                     * parts before have their names */
    struct dp_cct_rest {            /* fractions of ticks that the parts before have not written;
                                     * found: those of this part */
        double real, cpu, sys;
    } rest;
    /* found: sums of what was written */
    uint64_t user, sys, real, calls;
};

/* Appends the tree (Format.pod, "THE TREE") in an order that depends on names
 * alone. Returns 0 or DP_E_NOMEM. */
int dp_cct_write(const struct dp_cct *cct, struct dp_cct_text *how, struct dp_buf *out);

#endif
