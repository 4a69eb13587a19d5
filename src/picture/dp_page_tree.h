/* Inside the page: stretches of time out of a tree, each with the frame that ran. A tree of samples
 * says when its contexts ran. Another slice has no more than its beginning and end, so its contexts
 * follow each other in the order of frames. */
#ifndef DP_PAGE_TREE_H
#define DP_PAGE_TREE_H

#include "dp_base.h"
#include "dp_file.h"
#include "dp_map.h"
#include "dp_stacks.h"

struct dp_tree_stretch {
    uint64_t from, to;          /* real ticks since the beginning of the file; from < to */
    uint64_t cpu;               /* ticks of CPU time */
    uint32_t frame;
};

struct dp_tree_times {
    const struct dp_stacks *s;  /* borrowed, as the next one */
    const struct dp_map *kids;  /* (frame, name) -> frame */
    uint32_t *frame;            /* by node of the file */
    size_t n_nodes, nodes_cap;
    struct dp_tree_stretch *at;
    size_t n, cap;
    uint64_t *own;              /* by frame: real ticks, then ticks of CPU time */
    uint64_t unit;              /* ticks of a unit of when=; 0: the file does not say when */
    uint64_t real;              /* ticks of the whole file */
    uint32_t base;              /* frame of the file's root: that of its part, or 0 */
};

/* Begins to write the times of a tree. s and kids are borrowed. Returns 0 or DP_E_NOMEM. */
int dp_tree_times_init(struct dp_tree_times *tree, const struct dp_stacks *s,
                       const struct dp_map *kids);
void dp_tree_times_release(struct dp_tree_times *tree);
/* Begins a file, whose root has the frame `base`; keeps the memory. */
void dp_tree_times_clear(struct dp_tree_times *tree, uint32_t base);

/* Adds a context's own times to the frame of its sub, or to its parent's frame if no frame has that
 * name, and appends the stretches in which it ran. name: number of its sub's name plus 1, or 0 if
 * no frame has it. Returns the context's number in the file, or DP_E_NOMEM. */
int64_t dp_tree_times_take(struct dp_tree_times *tree, const struct dp_context *c, uint32_t name);

/* Makes tree->at the stretches in order of time, without overlaps. has_order: a file that does not
 * say when its contexts ran has them in the order of frames; otherwise it has no stretches. Returns
 * 0 or DP_E_NOMEM. */
int dp_tree_times_finish(struct dp_tree_times *tree, bool has_order);

#endif
