/* A call tree of calls that are told when they return: callees before their callers, each with its
 * depth. Equal callees of a context become one as soon as both have returned. */
#ifndef DP_RETURNS_H
#define DP_RETURNS_H

#include "dp_base.h"
#include "dp_map.h"

enum { DP_RETURNS_NONE = 0 };   /* no node; as a node's number it is the root */

struct dp_returns_node {
    uint32_t sub;               /* the caller's number; DP_RETURNS_FREE: unused, or has not
                                 * returned */
    uint32_t parent, kid, next; /* kid: the first; next: the parent's other kids */
    uint64_t calls;
    int64_t ticks;              /* own ones; less than 0 where the clock was set back */
};
#define DP_RETURNS_FREE UINT32_MAX

struct dp_returns {
    struct dp_returns_node *nodes;      /* 0 is the root, which is no call */
    size_t count, cap;
    uint32_t free;              /* chain of unused nodes, by next */
    size_t used;                /* how many nodes are in the tree */
    struct dp_map kids;         /* parent and sub -> node; an entry may be out of date */
    struct dp_returns_open *open;       /* frames that have not returned, but callees of theirs */
    size_t n_open, open_cap;
    struct dp_returns_move *moves;      /* subtrees that become a part of others */
    size_t n_moves, moves_cap;
};

void dp_returns_init(struct dp_returns *t);
void dp_returns_release(struct dp_returns *t);

/* A call returned at that depth, 1 for one that the program itself has made. Returns 0, DP_E_NOMEM,
 * or DP_E_LIMIT: there are more than DP_LIMIT_NODES contexts, or the ticks do not fit. */
int dp_returns_add(struct dp_returns *t, uint32_t depth, uint32_t sub, int64_t ticks);

/* What has not returned does not return any more: its callees stand in its place. */
int dp_returns_end(struct dp_returns *t);

/* The node behind n, callers before their callees; 0 at the end. */
uint32_t dp_returns_next(const struct dp_returns *t, uint32_t n);

#endif
