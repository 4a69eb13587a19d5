/* Events -> the profile: subs and the calling context tree. Everything else
 * (flat tables, edges, totals) is derived from the tree by the views. */
#ifndef DP_PROF_H
#define DP_PROF_H

#include "dp_base.h"
#include "dp_file.h"
#include "dp_fmt.h"
#include "dp_map.h"
#include "dp_subs.h"
#include "dprof.h"

/* A calling context: a sub, called in the context `parent`. A parent's number
 * is less than its kids', and numbers go by first entry. 0 is the root,
 * `(program)`, which no sub has. 0 also says "none" in kid and sibling. */
struct dp_node {
    uint32_t sub;
    uint32_t hint;              /* kid that was entered last */
    uint32_t succ;              /* sibling that was entered after this one, last time */
    uint32_t parent;
    uint64_t calls;
    uint64_t self[DP_METRICS];  /* ticks; what an event touches ends here, on one cache line */
    uint32_t kid;               /* the first created; its siblings follow, in no order */
    uint32_t sibling;
    uint64_t spare;             /* to 64 bytes, so that nodes do not straddle lines */
};

struct dp_prof {
    struct dp_subs subs;
    struct dp_node *nodes;
    size_t count, cap;
    struct dp_map kids;         /* parent << 32 | sub -> node, for all but first kids */
    uint64_t hz;                /* 0 before the first file */
    uint64_t total[DP_METRICS];
    struct dp_file *files;
    size_t n_files, files_cap;
    /* of the file being read */
    struct dp_file *file;
    const struct dp_host *host;
    struct dp_frame *stack;     /* stack[0] is the root and never ends */
    size_t depth, stack_cap;    /* depth: frames above the root */
    uint64_t scale;             /* its ticks -> ours */
    bool has_cost;
    uint64_t carry[DP_METRICS]; /* of the costs' divisions */
};

#define DP_PROF_NO_SUB UINT32_MAX   /* the root's */

/* Whether node a stands below b is the walker's business: preorder without a
 * stack. Returns the node after `at` in the subtree of top, 0 at the end; *up
 * is how many levels it went up before it went down or sideways. */
uint32_t dp_prof_next(const struct dp_prof *prof, uint32_t top, uint32_t at, uint32_t *up);

/* A consumer (dp_reader.h) that feeds the profile: for tests and fuzzers. */
void dp_prof_consumer(struct dp_prof *prof, struct dp_consumer *to);

#endif
