/* The stacks of one side, or of several side by side, as one tree of frames: contexts whose names
 * are equal, by bytes, all the way up are one frame. Folded text, pictures and pages are made of
 * this tree.
 *
 * It is a tree, and not sorted lines, because sorted lines draw a sub twice: `main::run` sorts
 * between `main` and `main;child`. It goes by names, and not by subs, because a frame is what a
 * person sees: two subs that are shown alike (anonymous ones with --no-separate-anon, one before
 * and after it moved, those of several runs) are one box.
 *
 * Frames are in preorder with the number behind their subtree, so that everything else is a loop
 * over arrays and nothing recurses. A frame keeps its own values, by column (metrics times sides).
 * Values with callees are summed up from the back of the array, where somebody asks for them. */
#ifndef DP_STACKS_H
#define DP_STACKS_H

#include "dp_base.h"
#include "dp_pair.h"
#include "dp_pool.h"
#include "dp_prof.h"
#include "dp_names.h"
#include "dprof/stacks.h"

#define DP_STACKS_NONE UINT32_MAX

/* What a name stands for, as far as that is known; if it stands for several subs, what the first
 * one is. */
enum dp_stacks_kind { DP_KIND_PLAIN, DP_KIND_CORE, DP_KIND_XS, DP_KIND_BUILTIN, DP_KIND_ANON,
                      DP_KIND_BEGIN, DP_KIND_PROGRAM, DP_KIND_PHASE, DP_KIND_PART };

struct dp_stacks_name {
    struct dp_name text;
    unsigned char kind;         /* enum dp_stacks_kind */
    unsigned char significant;  /* of several runs: 1: its own value has changed significantly; 2:
                                 * its value with what it calls has */
    struct dp_name file;        /* where the sub begins; len 0: not known */
    uint64_t line;
    struct dp_name moved;       /* where it began in the baseline, FILE:LINE, if that was
                                 * another place; len 0 */
};

/* A line that frames were called from. */
struct dp_stacks_site {
    struct dp_name file;
    uint64_t line;
};

/* A part of a side, and which name each of its subs goes by. */
struct dp_stacks_source {
    const struct dp_part *part;
    uint32_t *name;             /* by sub: number in names; DP_STACKS_NONE: its
                                 * frames are left out */
    uint32_t *site;             /* by place of the profile: number in sites; or NULL */
    uint32_t side, index;       /* index: among the parts of its side */
    uint32_t first;             /* contexts of the sources before */
    uint64_t hz, to_hz;         /* of its ticks, and of ours */
    double speed;               /* times are divided by this, as if the run had the speed of the
                                 * others */
};

/* Frames are in preorder, and siblings in order of name, by bytes; in a chart, in order of time.
 * Frame 0 is the root, the program itself. */
struct dp_stacks_frame {
    uint32_t name;
    uint32_t parent;            /* DP_STACKS_NONE: the root */
    uint32_t end;               /* first number behind its subtree */
};

struct dp_stacks {
    struct dp_pool texts;
    struct dp_pairs pairs;
    bool has_pairs;
    struct dp_stacks_name *names;       /* sorted by bytes, then by file and line */
    size_t n_names;             /* with by_part, one more follows for each source, of
                                 * DP_KIND_PART and without text */
    struct dp_stacks_site *sites;       /* from 1 up; 0: not known */
    size_t n_sites, sites_cap;
    struct dp_stacks_frame *frames;
    size_t count, cap;
    size_t n_sides, n_columns;
    struct dp_stacks_source *sources;
    size_t n_sources;
    uint32_t *site;             /* by frame: where it was called, number in sites; or NULL */
    size_t site_cap;
    uint64_t *self;             /* by frame, then column: sums over the runs of its side */
    size_t self_cap;
    uint32_t *when;             /* by frame: a number that grows with the order of
                                 * first entry; or NULL */
    size_t when_cap;
    uint64_t *start;            /* by frame, in a chart: ticks before the frame; or NULL */
    size_t start_cap;
    uint64_t folded;            /* contexts that became one with their callers because of the limit
                                 * of recursion */
    uint64_t *total;            /* by column */
    uint64_t *hz;               /* by column: ticks a second, or a unit; 1 of what is counted */
};

/* Returns 0 or a DP_E; the caller releases it. how->columns are n sides' for each measure.
 * All is borrowed. */
int dp_stacks_make(struct dp_stacks *s, const struct dp_diff_side *sides, size_t n,
                   const struct dp_stacks_how *how);
void dp_stacks_release(struct dp_stacks *s);

/* A name as it is in stacks: without hexadecimal numbers, where that was asked for. Returns `name`,
 * or what is in `room` then, whose error the caller looks at. */
struct dp_name dp_stacks_stripped(const struct dp_stacks_how *how, struct dp_name name,
                                  struct dp_buf *room);

/* The number of a name, or DP_STACKS_NONE. Of several that have the text, any. */
uint32_t dp_stacks_find(const struct dp_stacks *s, const char *ptr, size_t len);

static inline uint64_t dp_stacks_self(const struct dp_stacks *s, uint32_t frame, size_t column)
{
    return s->self[(size_t)frame * s->n_columns + column];
}

/* Ticks of a source in those of the columns. */
uint64_t dp_stacks_ticks(const struct dp_stacks_source *src, uint64_t ticks);
/* Does a column count ticks? The first of two counts of folded stacks does, though it is a
 * counter. */
bool dp_stacks_is_ticks(const struct dp_stacks_column *c, const struct dp_prof *prof);
/* What a context of a source has itself of a column. */
uint64_t dp_stacks_value(const struct dp_stacks_source *src, uint32_t node,
                         const struct dp_stacks_column *c);

/* By column, the factors for values: sums over runs become means, and if normalize is set, all
 * sides get the total of the last one. */
void dp_stacks_factors(const struct dp_stacks *s, const struct dp_diff_side *sides, bool normalize,
                       double *factor);

/* The same from the leaves up: a frame stands for what ended in a sub, those above it for its
 * callers. Calls enter for each frame in preorder, siblings in order of name; what ended with
 * exactly this stack is in `own`, what passes through it in `all`, by column; of a weight for each
 * frame, which may be NULL, the sum is in `weight`. It returns 1 to have the callers visited, 0 to
 * leave them out, or a negative DP_E. The root comes first, with depth 0; what the program itself
 * has ends there. */
typedef int dp_stacks_enter_fn(void *ctx, size_t depth, uint32_t name, const uint64_t *own,
                               const uint64_t *all, double weight);
int dp_stacks_reverse(const struct dp_stacks *s, const double *weight, dp_stacks_enter_fn *enter,
                      void *ctx);

/* A stack of more than `most' frames is printed without its middle: so many frames at its two ends,
 * and one for the others. */
struct dp_stacks_ends {
    size_t most, head, tail;
};

/* By frame, the frames of its stack below the root, and how many are printed. The caller frees
 * *depth. Returns 0 or DP_E_NOMEM. */
int dp_stacks_depths(const struct dp_stacks *s, uint32_t **depth, struct dp_stacks_ends *ends);

/* The frames but the root that have a value of their own, in the order in which their stacks end
 * there: by names, from the frame up. The caller frees *who. Returns 0 or DP_E_NOMEM. */
int dp_stacks_by_leaf(const struct dp_stacks *s, uint32_t **who, size_t *count);

#endif
