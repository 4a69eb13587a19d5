/* Inside the reader: stacks with values as a tree, kept until it is known what the values are and
 * what the frames are called. Not for anybody else. */
#ifndef DP_SAMPLES_H
#define DP_SAMPLES_H

#include "dp_import.h"

struct dp_samples_node {
    uint32_t parent, sub;       /* the caller's numbers of subs */
};

struct dp_samples {
    struct dp_samples_node *nodes;      /* callers before callees; 0 is the root */
    size_t count, cap;
    struct dp_map kids;         /* parent and sub -> node */
    struct {
        uint64_t *own;          /* by node; those behind the last are 0 */
        size_t count, cap;
    } values[DP_IMPORT_VALUES];
    size_t kept;                /* how many values there is room for */
};

void dp_samples_init(struct dp_samples *t);
void dp_samples_release(struct dp_samples *t);

/* The context of a sub that is called in a context. Returns its number, DP_E_NOMEM, or DP_E_LIMIT:
 * there are more than DP_LIMIT_NODES. */
int64_t dp_samples_enter(struct dp_samples *t, uint32_t parent, uint32_t sub);

/* Adds to a context's own value of that kind, below DP_IMPORT_VALUES. Returns 0, DP_E_NOMEM, or
 * DP_E_LIMIT: they add up to more than fits, or take more than DP_LIMIT_WHOLE bytes. */
int dp_samples_add(struct dp_samples *t, uint32_t node, size_t kind, uint64_t value);

/* Adds all values of a kind to those of another one, and leaves none of it. Returns as add does. */
int dp_samples_move(struct dp_samples *t, size_t from, size_t to);

/* Hands all contexts over, once the header has been made. number: that of each sub for the
 * consumer; DP_SUB_NONE: what it has is its caller's. Returns 0 or a DP_E. */
int dp_samples_give(struct dp_reader *r, const struct dp_samples *t, const uint32_t *number);

#endif
