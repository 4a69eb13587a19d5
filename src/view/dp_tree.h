/* The merged call tree: contexts with equal names all the way up are one branch. */
#ifndef DP_TREE_H
#define DP_TREE_H

#include "dp_base.h"
#include "dp_prof.h"
#include "dp_names.h"
#include "dprof/classic.h"

/* Branch 0 is the root. */
struct dp_branch {
    uint32_t name;
    uint32_t parent;
    uint64_t calls, self, incl;
};

struct dp_tree {
    struct dp_branch *branches;     /* parents before kids */
    size_t count, cap;
    uint32_t *order;            /* branches by parent, then in the wanted order: a parent's kids are
                                 * adjacent */
    uint32_t *first;            /* by branch: where its kids begin in order */
};

/* Makes the tree. Kids are sorted by inclusive time, the largest first, then by name; reverse
 * inverts the order. Returns 0 or a DP_E; the caller releases *tree. */
int dp_tree_make(struct dp_tree *tree, const struct dp_prof *prof, const struct dp_names *names,
                 const struct dp_classic *how);
void dp_tree_release(struct dp_tree *tree);

#endif
