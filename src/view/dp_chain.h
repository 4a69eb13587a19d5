/* Call chains of an entry, in one of two orders: its callers (callee order: the entry on top), or
 * the calls that lead to it (caller order: from the program down). */
#ifndef DP_CHAIN_H
#define DP_CHAIN_H

#include "dp_base.h"
#include "dp_overhead.h"

struct dp_chain_node {
    uint32_t name;              /* number in over->values; node 0 has none */
    uint32_t parent;
    uint32_t kid, sibling;      /* 0: none; siblings are sorted by value, the largest first, then by
                                 * name */
    uint64_t value;             /* value of all stacks through this node; for node 0, of all
                                 * stacks */
    uint64_t own;               /* value of the stacks that end here, and of branches that were left
                                 * out */
};

struct dp_chain {
    struct dp_chain_node *nodes;    /* node 0 is above the first frames */
    size_t count, cap;
};

/* The value that a chain divides up. */
enum dp_chain_of {
    DP_CHAIN_CHILDREN,          /* that of all stacks through the entry */
    DP_CHAIN_SELF,              /* that of the stacks that end in the entry */
    DP_CHAIN_CALLS              /* the entry's calls */
};

/* The state that all chains of a table share. */
struct dp_chains {
    const struct dp_overhead *over;
    uint32_t *first, *by_entry; /* contexts of entry e: by_entry[first[e]] up to first[e + 1] */
    uint64_t *weight;           /* by context: the value of the stacks in which this context is the
                                 * innermost one of its entry */
    uint64_t *inside;           /* by context, scratch; 0 between entries */
    uint32_t *touched;          /* contexts whose `inside` is not 0 */
    uint32_t *top;              /* by context: the last one that a chain from the program reaches */
    size_t frames;              /* largest number of frames of a chain */
};

struct dp_chain_how {
    bool caller_order;
    enum dp_chain_of of;
    bool fractal;               /* the threshold is a share of the parent's value, not of the
                                 * base */
    double threshold;           /* percent; branches with less are left out */
};

/* frames: the largest number of frames of a chain; 0: 127. */
int dp_chains_init(struct dp_chains *c, const struct dp_overhead *over, int of, size_t frames);
void dp_chains_release(struct dp_chains *c);

/* Makes the chains of an entry; the caller releases *chain. Returns 0 or DP_E_NOMEM. */
int dp_chain_make(struct dp_chain *chain, const struct dp_chains *c, uint32_t entry,
                  const struct dp_chain_how *how);
void dp_chain_release(struct dp_chain *chain);

#endif
