/* The call trees of all sides as one, with what each side has on each branch; and the
 * callers and callees of a sub, likewise. */
#ifndef DP_DIFF_TREE_H
#define DP_DIFF_TREE_H

#include "dp_base.h"
#include "dp_diff.h"
#include "dp_map.h"

/* Branch 0 is the root, `(program)`. */
struct dp_diff_branch {
    uint32_t name;              /* of texts */
    uint32_t parent;
    uint64_t gross;             /* the sum of all changes in the branch, whatever their sign, for
                                 * the side `by` */
};

/* What a side has on a branch: sums over its runs, until dp_diff_tree_end makes means of them. */
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
    double speed;               /* of the run that is added */
    uint32_t by;                /* the side whose changes sort the kids */
    uint32_t *order, *first;    /* kids of branch b: order[first[b]] up to first[b + 1], the
                                 * largest change first */
    struct dp_map kids;
    /* where edges of a sub are wanted, the tree has one level below the root: a branch for each
     * caller or callee */
    const char *edges_of;
    size_t edges_of_len;
    bool callees, found;
};

/* edges_of: a label; NULL: the whole tree. */
void dp_diff_tree_init(struct dp_diff_tree *tree, size_t n_sides, const char *edges_of,
                       size_t edges_of_len, bool callees);
void dp_diff_tree_release(struct dp_diff_tree *tree);

/* A dp_diff_each_fn: adds a run. ctx is the tree. */
int dp_diff_tree_add(void *ctx, const struct dp_diff *diff, const struct dp_diff_run *run,
                     const struct dp_overhead *over);

/* To be called when all runs are there: makes means, inclusive values, and the order. Returns 0 or
 * DP_E_NOMEM. */
int dp_diff_tree_end(struct dp_diff_tree *tree, const struct dp_diff *diff);

static inline const struct dp_diff_amount *dp_diff_amount_of(const struct dp_diff_tree *tree,
                                                             uint32_t branch, size_t side)
{
    return &tree->amounts[branch * tree->n_sides + side];
}

/* A line of the tree as it is shown. */
struct dp_diff_line {
    const struct dp_name *name; /* borrowed; NULL if the line stands for several branches */
    uint32_t more;              /* how many branches, which are too small, it stands for, two or
                                 * more; 0: it is one branch */
    unsigned level;             /* 0: the root, or with edges_of a caller or callee */
    const struct dp_diff_amount *amounts;       /* by side; borrowed until fn returns */
};

/* Returns 0, 1 to end there, or a DP_E. */
typedef int dp_diff_line_fn(void *ctx, const struct dp_diff_line *line);

/* Calls fn for the lines from the root down. Branches whose change is less than least_percent of
 * the greater total are one last line below their parent, so that the lines add up. Returns
 * 0 or a DP_E. */
int dp_diff_tree_walk(const struct dp_diff_tree *tree, double least_percent, dp_diff_line_fn *fn,
                      void *ctx);

#endif
