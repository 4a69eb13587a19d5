/* Inside the reader: stacks with values as a tree, kept until the kinds of values and the names of
 * frames are known. */
#ifndef DP_SAMPLES_H
#define DP_SAMPLES_H

#include "dp_import.h"

struct dp_samples_node {
    uint32_t parent, sub;       /* sub: a number that the caller chooses */
};

struct dp_samples {
    struct dp_samples_node *nodes;      /* callers before callees; 0 is the root */
    size_t count, cap;
    struct dp_map kids;         /* parent and sub -> node */
    struct {
        uint64_t *own;          /* by node; those after the last node are 0 */
        size_t count, cap;
    } values[DP_IMPORT_VALUES];
    size_t kept;                /* number of values that there is room for */
};

/* Make an empty tree of samples, and free what a tree holds. */
void dp_samples_init(struct dp_samples *t);
void dp_samples_release(struct dp_samples *t);

/* Finds or makes the context of a sub that is called in a context. Returns its number, DP_E_NOMEM,
 * or DP_E_LIMIT: there are more than DP_LIMIT_NODES. */
int64_t dp_samples_enter(struct dp_samples *t, uint32_t parent, uint32_t sub);

/* Adds to a context's own value of a kind, which is below DP_IMPORT_VALUES. Returns 0, DP_E_NOMEM,
 * or DP_E_LIMIT: the sum does not fit, or takes more than DP_LIMIT_WHOLE bytes. */
int dp_samples_add(struct dp_samples *t, uint32_t node, size_t kind, uint64_t value);

/* Adds all values of a kind to those of another one, and removes them. Returns like
 * dp_samples_add. */
int dp_samples_move(struct dp_samples *t, size_t from, size_t to);

/* Hands over all contexts, after the header. number: the consumer's number of each sub;
 * DP_SUB_NONE: the values go to the caller. Returns 0 or a DP_E. */
int dp_samples_give(struct dp_reader *r, const struct dp_samples *t, const uint32_t *number);

#endif
