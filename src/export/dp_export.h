/* What the formats of other tools share: values in units that these tools know, names that they
 * accept, and which part and phase a frame belongs to. */
#ifndef DP_EXPORT_H
#define DP_EXPORT_H

#include "dp_buf.h"
#include "dp_print_stacks.h"

/* A measure of the side that is printed. */
struct dp_export_measure {
    const struct dp_flame_metric *metric;
    size_t column;              /* of the stacks */
    bool is_time;               /* its unit is the nanosecond; else it is counted */
    bool is_bytes;
    uint64_t hz, per;           /* hz ticks are `per' units */
    double factor;              /* values are multiplied by it */
    uint64_t seen, printed;     /* ticks so far, and units that were given for them */
};

struct dp_export {
    const struct dp_stacks_printing *p;
    struct dp_export_measure *measures; /* in the order of the columns */
    size_t count;
    /* where dp_export_next is */
    uint32_t frame, end;        /* end: behind the last frame of the walk */
    bool is_frame;              /* if not, it stands for a part or a phase, and has what ran there
                                 * outside of all subs: values of the frame `level' */
    size_t level;               /* of the frame, or of the one that it is below; the root's is 0 */
    const struct dp_export_part *part;  /* that it belongs to; NULL: parts are not apart */
    struct dp_name phase;       /* len 0: phases are not apart */
    uint32_t *open;             /* frames that it is below, and itself */
    size_t n_open, open_cap;
    bool begun;
};

/* Returns 0 or DP_E_NOMEM; the caller releases it. */
int dp_export_init(struct dp_export *e, const struct dp_stacks_printing *p);
void dp_export_release(struct dp_export *e);

/* What a frame has itself of a measure, in units. Times are rounded so that all values together are
 * the rounded total: what one lacks, a later one has. So it is asked for once for each frame. */
uint64_t dp_export_self(struct dp_export *e, size_t measure, uint32_t frame);
/* The same of so many ticks. */
uint64_t dp_export_value(struct dp_export_measure *m, uint64_t ticks);

/* Goes to the next frame, in preorder; the root is the first one. Returns 1, 0 at the end, or
 * DP_E_NOMEM. */
int dp_export_next(struct dp_export *e);

/* Begins again, with this frame, whose subtree alone is walked. Values add up to its total. */
void dp_export_walk(struct dp_export *e, uint32_t frame);

/* Goes to the next frame whose subtree other tools show by itself: of each part where parts are
 * apart, else the root. The first one follows DP_STACKS_NONE. Returns false behind the last one. */
bool dp_export_lane(const struct dp_export *e, uint32_t *frame);
/* The part that such a frame stands for; NULL: of all. */
const struct dp_export_part *dp_export_part_of(const struct dp_export *e, uint32_t lane);

/* The name of a phase, without the parentheses of its label. */
struct dp_name dp_export_bare(const struct dp_name *label);

/* A metric's name as other tools take it: a letter or _, then letters, figures and _, in lower
 * case; real time is "wall". And its unit: "nanoseconds", "bytes" or "count". */
void dp_export_word(struct dp_buf *to, const struct dp_export_measure *m);
const char *dp_export_unit(const struct dp_export_measure *m);

#endif
