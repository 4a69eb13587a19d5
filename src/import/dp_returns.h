/* Builds a call tree from calls that are reported when they return: callees before their callers,
 * each with its depth. Equal callees of a context are merged as soon as both have returned. */
#ifndef DP_RETURNS_H
#define DP_RETURNS_H

#include "dp_base.h"
#include "dp_map.h"

enum { DP_RETURNS_NONE = 0 };   /* no node; the number of the root */

struct dp_returns_node {
    uint32_t sub;               /* the caller's number; DP_RETURNS_FREE: unused, or not returned
                                 * yet */
    uint32_t parent, kid, next; /* kid: the first; next: next kid of the parent */
    uint64_t calls;
    int64_t ticks;              /* own ticks; negative if the clock was set back */
};
#define DP_RETURNS_FREE UINT32_MAX

struct dp_returns {
    struct dp_returns_node *nodes;      /* 0 is the root, which is not a call */
    size_t count, cap;
    uint32_t free;              /* chain of unused nodes, by next */
    size_t used;                /* number of nodes in the tree */
    struct dp_map kids;         /* parent and sub -> node; entries may be out of date */
    struct dp_returns_open *open;       /* frames that have not returned, while callees of theirs
                                         * have */
    size_t n_open, open_cap;
    struct dp_returns_move *moves;      /* subtrees that will be merged into others */
    size_t n_moves, moves_cap;
};

/* Make an empty tree of calls in the order of their returns, and free what a tree holds. */
void dp_returns_init(struct dp_returns *t);
void dp_returns_release(struct dp_returns *t);

/* Adds a call that returned at a depth; 1 is a call from the program itself. Returns 0, DP_E_NOMEM,
 * or DP_E_LIMIT: there are more than DP_LIMIT_NODES contexts, or the ticks do not fit. */
int dp_returns_add(struct dp_returns *t, uint32_t depth, uint32_t sub, int64_t ticks);

/* Ends the tree. Callees of frames that have not returned replace these frames. */
int dp_returns_end(struct dp_returns *t);

/* The node after n, callers before their callees; 0 at the end. */
uint32_t dp_returns_next(const struct dp_returns *t, uint32_t n);

#endif
