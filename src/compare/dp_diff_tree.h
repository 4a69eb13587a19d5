/* The call trees of all sides as one tree, with the values of each side on each branch; or the
 * callers and callees of a sub. */
#ifndef DP_DIFF_TREE_H
#define DP_DIFF_TREE_H

#include "dp_base.h"
#include "dp_diff.h"
#include "dp_map.h"

/* Branch 0 is the root, `(program)`. */
struct dp_diff_branch {
    uint32_t name;              /* in texts */
    uint32_t parent;
    uint64_t gross;             /* sum of the absolute values of all changes in the branch, for the
                                 * side `by` */
};

/* A side's values on a branch: sums over its runs, until dp_diff_tree_end turns them into means. */
struct dp_diff_amount {
    uint64_t self, incl, calls;
};

struct dp_diff_tree {
    struct dp_pool texts;
    struct dp_diff_branch *branches;    /* parents before kids */
    size_t count, cap;
    struct dp_diff_amount *amounts;     /* by branch, then by side */
    size_t amounts_cap;
    size_t n_sides;
    double speed;               /* of the run that is being added */
    uint32_t by;                /* side whose changes sort the kids */
    uint32_t *order, *first;    /* kids of branch b: order[first[b]] up to order[first[b + 1]], the
                                 * largest change first */
    struct dp_map kids;
    /* If the edges of a sub are wanted, the tree has one level below the root: a branch for each
     * caller or callee. */
    const char *edges_of;
    size_t edges_of_len;
    bool callees, found;
};

/* Starts a tree. edges_of: a label; NULL: the whole tree. */
void dp_diff_tree_init(struct dp_diff_tree *tree, size_t n_sides, const char *edges_of,
                       size_t edges_of_len, bool callees);
void dp_diff_tree_release(struct dp_diff_tree *tree);

/* A dp_diff_each_fn: adds a run. ctx is the tree. Returns 0 or a DP_E. */
int dp_diff_tree_add(void *ctx, const struct dp_diff *diff, const struct dp_diff_run *run,
                     const struct dp_overhead *over);

/* Call this when all runs have been added. Computes means, inclusive values and the order. Returns
 * 0 or DP_E_NOMEM. */
int dp_diff_tree_end(struct dp_diff_tree *tree, const struct dp_diff *diff);

static inline const struct dp_diff_amount *dp_diff_amount_of(const struct dp_diff_tree *tree,
                                                             uint32_t branch, size_t side)
{
    return &tree->amounts[branch * tree->n_sides + side];
}

/* A line of the tree as shown. */
struct dp_diff_line {
    const struct dp_name *name; /* borrowed; NULL if the line stands for several branches */
    uint32_t more;              /* number of branches, two or more, that are too small and that the
                                 * line stands for; 0: the line is one branch */
    unsigned level;             /* 0: the root; with edges_of, a caller or callee */
    const struct dp_diff_amount *amounts;       /* by side; borrowed until fn returns */
};

/* Returns 0, 1 to end there, or a DP_E. */
typedef int dp_diff_line_fn(void *ctx, const struct dp_diff_line *line);

/* Calls fn for the lines from the root down. Branches whose change is less than least_percent of
 * the greater total become one last line below their parent, so the lines add up. Returns 0 or a
 * DP_E. */
int dp_diff_tree_walk(const struct dp_diff_tree *tree, double least_percent, dp_diff_line_fn *fn,
                      void *ctx);

#endif
