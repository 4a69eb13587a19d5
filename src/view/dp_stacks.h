/* The stacks of one side, or of several side by side, as one tree of frames: contexts with equal
 * names, by bytes, all the way up are one frame. Folded text, pictures and pages are made from this
 * tree.
 *
 * It is a tree because sorted lines would draw a sub twice: `main::run` sorts between `main` and
 * `main;child`. Frames are defined by names, and not by subs, because people see names: two subs
 * with the same label (anonymous ones with --no-separate-anon, a sub before and after it moved, a
 * sub in several runs) are one box.
 *
 * Frames are in preorder with the number after their subtree, so everything else is a loop over
 * arrays and nothing recurses. A frame has its own values, by column (metrics times sides). Values
 * with callees are summed up from the back of the array when they are needed. */
#ifndef DP_STACKS_H
#define DP_STACKS_H

#include "dp_base.h"
#include "dp_pair.h"
#include "dp_pool.h"
#include "dp_prof.h"
#include "dp_names.h"
#include "dprof/stacks.h"

#include <string.h>

#define DP_STACKS_NONE UINT32_MAX

/* The kind of sub that a name belongs to, if known. For several subs, the kind of the first. Pages
 * have these numbers, so a new kind comes last. */
enum dp_stacks_kind { DP_KIND_PLAIN, DP_KIND_CORE, DP_KIND_XS, DP_KIND_BUILTIN, DP_KIND_ANON,
                      DP_KIND_BEGIN, DP_KIND_PROGRAM, DP_KIND_PHASE, DP_KIND_PART, DP_KIND_SPAN,
                      DP_KINDS };

struct dp_stacks_name {
    struct dp_name text;
    unsigned char kind;         /* enum dp_stacks_kind */
    unsigned char significant;  /* with several runs: 1: its own value has changed significantly; 2:
                                 * its value with callees has */
    struct dp_name file;        /* where the sub begins; len 0: unknown */
    uint64_t line;
    struct dp_name moved;       /* where the sub began in the baseline, FILE:LINE; len 0: at the
                                 * same place, if it is in another checkout, too */
    struct dp_name old_file;    /* where the sub begins in the first side, with the path there; len
                                 * 0: unknown, or the first side lacks the sub */
    uint64_t old_line;
};

/* A line that calls frames. */
struct dp_stacks_site {
    struct dp_name file;
    uint64_t line;
};

/* A part of a side, with the name of each of its subs. */
struct dp_stacks_source {
    const struct dp_part *part;
    uint32_t *name;             /* by sub: number in names; DP_STACKS_NONE: its frames are left
                                 * out */
    uint32_t *site;             /* by place of the profile: number in sites; or NULL */
    uint32_t side, index;       /* index: among the parts of its side */
    uint32_t first;             /* number of contexts of the sources before */
    uint64_t hz, to_hz;         /* ticks per second of the source, and of the columns */
    double speed;               /* divisor of times, which gives the run the speed of the others */
};

/* A frame. Frames are in preorder. Siblings are in order of name, by bytes; in a chart, in order of
 * time. Frame 0 is the root, the program itself. */
struct dp_stacks_frame {
    uint32_t name;
    uint32_t parent;            /* DP_STACKS_NONE: the root */
    uint32_t end;               /* first number after its subtree */
};

struct dp_stacks {
    struct dp_pool texts;
    struct dp_pairs pairs;
    bool has_pairs;
    struct dp_stacks_name *names;       /* sorted by bytes, then by file and line */
    size_t n_names;             /* with by_part, one more follows for each source: of DP_KIND_PART
                                 * and without text */
    struct dp_stacks_site *sites;       /* from 1 up; 0: unknown */
    size_t n_sites, sites_cap;
    struct dp_stacks_frame *frames;
    size_t count, cap;
    size_t n_sides, n_columns;
    struct dp_stacks_source *sources;
    size_t n_sources;
    uint32_t *site;             /* by frame: place of the call, a number in sites; or NULL */
    size_t site_cap;
    uint64_t *self;             /* by frame, then column: sums over the runs of the side */
    size_t self_cap;
    uint32_t *when;             /* by frame: a number that grows with the order of first entry; or
                                 * NULL */
    size_t when_cap;
    uint64_t *start;            /* by frame, in a chart: ticks before the frame; or NULL */
    size_t start_cap;
    uint64_t folded;            /* number of contexts joined with their callers because of the limit
                                 * of recursion */
    uint64_t *total;            /* by column */
    uint64_t *hz;               /* by column: ticks per second, or per unit; 1 for counts */
};

/* Makes stacks. how->columns are n columns for each measure, one a side. Returns 0 or a DP_E; the
 * caller releases *s. All arguments are borrowed. */
int dp_stacks_make(struct dp_stacks *s, const struct dp_diff_side *sides, size_t n,
                   const struct dp_stacks_how *how);
void dp_stacks_release(struct dp_stacks *s);

/* A name as it appears in stacks: without hexadecimal numbers if the options say so. Returns
 * `name`, or the text in `room`; the caller checks the error of `room`. */
struct dp_name dp_stacks_stripped(const struct dp_stacks_how *how, struct dp_name name,
                                  struct dp_buf *room);

/* The kind of a span, from its name KIND:TEXT; len 0: it is no span. kind: enum dp_stacks_kind. */
static inline struct dp_name dp_stacks_span(const struct dp_name *name, int kind)
{
    const char *colon = kind == DP_KIND_SPAN && name->len ? memchr(name->ptr, ':', name->len)
                                                           : NULL;
    return (struct dp_name){ name->ptr, colon ? (size_t)(colon - name->ptr) : 0 };
}

/* The number of a name, or DP_STACKS_NONE. If several names have the text, any of them. */
uint32_t dp_stacks_find(const struct dp_stacks *s, const char *ptr, size_t len);

static inline uint64_t dp_stacks_self(const struct dp_stacks *s, uint32_t frame, size_t column)
{
    return s->self[(size_t)frame * s->n_columns + column];
}

/* Converts ticks of a source to those of the columns. */
uint64_t dp_stacks_ticks(const struct dp_stacks_source *src, uint64_t ticks);
/* Does a column count ticks? The first of two counts of folded stacks does, though it is a
 * counter. */
bool dp_stacks_is_ticks(const struct dp_stacks_column *c, const struct dp_prof *prof);
/* The own value of a context of a source in a column. */
uint64_t dp_stacks_value(const struct dp_stacks_source *src, uint32_t node,
                         const struct dp_stacks_column *c);

/* Computes the factors of values, by column. They turn sums over runs into means. With normalize,
 * they also give all sides the total of the last one. */
void dp_stacks_factors(const struct dp_stacks *s, const struct dp_diff_side *sides, bool normalize,
                       double *factor);

/* Walks stacks from the leaves up: a frame stands for the stacks that end in a sub, the frames
 * above it for its callers. dp_stacks_reverse calls `enter` for each frame in preorder, siblings in
 * order of name. `own` has the values of the stacks that end with exactly this frame, `all` of
 * those that pass through it, by column. If frames have weights, `weight` has their sum. `enter`
 * returns 1 to visit the callers, 0 to leave them out, or a negative DP_E. The root comes first,
 * with depth 0, and has the program's own values. */
typedef int dp_stacks_enter_fn(void *ctx, size_t depth, uint32_t name, const uint64_t *own,
                               const uint64_t *all, double weight);
int dp_stacks_reverse(const struct dp_stacks *s, const double *weight, dp_stacks_enter_fn *enter,
                      void *ctx);

/* Limits of long stacks. A stack of more than `most' frames is printed without its middle: a number
 * of frames at either end, and one frame for the others. */
struct dp_stacks_ends {
    size_t most, head, tail;
};

/* Computes, by frame, the number of frames of its stack below the root, and the number printed. The
 * caller frees *depth. Returns 0 or DP_E_NOMEM. */
int dp_stacks_depths(const struct dp_stacks *s, uint32_t **depth, struct dp_stacks_ends *ends);

/* Lists the frames, except the root, that have values of their own. They are in the order of their
 * stacks' names, from the frame up. The caller frees *who. Returns 0 or DP_E_NOMEM. */
int dp_stacks_by_leaf(const struct dp_stacks *s, uint32_t **who, size_t *count);

#endif
