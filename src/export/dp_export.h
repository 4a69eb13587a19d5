/* Shared by the formats of other tools: values in units that these tools know, names that they
 * accept, and the part and phase that a frame belongs to. */
#ifndef DP_EXPORT_H
#define DP_EXPORT_H

#include "dp_buf.h"
#include "dp_print_stacks.h"

/* A measure of the printed side. */
struct dp_export_measure {
    const struct dp_flame_metric *metric;
    size_t column;              /* number in the stacks */
    bool is_time;               /* its unit is the nanosecond; otherwise it is a count */
    bool is_bytes;
    uint64_t hz, per;           /* hz ticks are `per' units */
    double factor;              /* factor of its values */
    uint64_t seen, printed;     /* ticks so far, and the units written for them */
};

struct dp_export {
    const struct dp_stacks_printing *p;
    struct dp_export_measure *measures; /* in the order of the columns */
    size_t count;
    /* the position of dp_export_next */
    uint32_t frame, end;        /* end: after the last frame of the walk */
    bool is_frame;              /* false: it represents a part or a phase, with the values outside
                                 * of all subs: those of the frame `level' */
    size_t level;               /* of the frame, or of the one that it is below; the root's is 0 */
    const struct dp_export_part *part;  /* part that it belongs to; NULL: parts are not separate */
    struct dp_name phase;       /* len 0: phases are not separate */
    uint32_t *open;             /* frames from the outermost to this one */
    size_t n_open, open_cap;
    bool begun;
};

/* Starts a walk. Returns 0 or DP_E_NOMEM; the caller releases *e. */
int dp_export_init(struct dp_export *e, const struct dp_stacks_printing *p);
void dp_export_release(struct dp_export *e);

/* The own value of a frame in a measure, in units. Times are rounded so that all values add up to
 * the rounded total: a later value gets what one value lacks. So call this once for each frame. */
uint64_t dp_export_self(struct dp_export *e, size_t measure, uint32_t frame);
/* Rounds a number of ticks to the measure's units, with the remainder of the last call. */
uint64_t dp_export_value(struct dp_export_measure *m, uint64_t ticks);

/* Moves to the next frame, in preorder; the first one is the root. Returns 1, 0 at the end, or
 * DP_E_NOMEM. */
int dp_export_next(struct dp_export *e);

/* Restarts with this frame, and walks only its subtree. Values add up to the frame's total. */
void dp_export_walk(struct dp_export *e, uint32_t frame);

/* Moves to the next frame whose subtree other tools show separately: the frame of each part if
 * parts are separate, else the root. The first one follows DP_STACKS_NONE. Returns false after the
 * last one. */
bool dp_export_lane(const struct dp_export *e, uint32_t *frame);
/* Returns the part that a frame of dp_export_lane() belongs to. NULL: the frame is the root, with
 * all parts. */
const struct dp_export_part *dp_export_part_of(const struct dp_export *e, uint32_t lane);

/* The name of a phase, without the parentheses of its label. */
struct dp_name dp_export_bare(const struct dp_name *label);

/* Appends a metric's name in the form that other tools accept: a letter or _, then letters, digits
 * and _, in lower case; real time is "wall". The second function appends its unit: "nanoseconds",
 * "bytes" or "count". */
void dp_export_word(struct dp_buf *to, const struct dp_export_measure *m);
const char *dp_export_unit(const struct dp_export_measure *m);

#endif
