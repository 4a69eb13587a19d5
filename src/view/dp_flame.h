/* A flame graph: the layout decides which frames are wide enough to be drawn, where they stand, and
 * what is told of them. A picture gets the boxes; the page gets the frames of dp_stacks.h, and lays
 * them out itself. */
#ifndef DP_FLAME_H
#define DP_FLAME_H

#include "dp_base.h"
#include "dp_stacks.h"

/* A frame that is drawn. Boxes are in preorder. */
struct dp_flame_box {
    uint32_t name, depth;
    uint32_t frame;             /* of the stacks; of a reversed graph 0 */
    double x, w;                /* in the units of `total` */
    double self[2], all[2];     /* values of each side; of one side, the first */
};

struct dp_flame {
    const struct dp_stacks *s;
    struct dp_flame_box *boxes;
    size_t count, cap;
    uint32_t depth;             /* the greatest one */
    double total;               /* what is as wide as the picture */
    double sum[2];              /* of each side */
    double real[2];             /* what a value is multiplied by, to be told: counters that were
                                 * made equal are told as they were */
    double changed;             /* sum of what frames gained or lost
                                 * themselves, whatever the sign */
    double greatest;            /* change of a frame, as coloured */
    uint64_t hidden;            /* frames that are too narrow; of a reversed graph, the
                                 * first ones of these */
    double hidden_weight;
    bool reverse, by_total, hue, two;
};

/* Lays out the frames that have at least `least` of the whole. Returns 0 or a DP_E; the caller
 * releases it. s is borrowed, and has one measure at least, which is drawn. factor: of
 * dp_stacks_factors. */
int dp_flame_make(struct dp_flame *flame, const struct dp_stacks *s, const struct dp_flame_how *how,
                  const double *factor, double least);
void dp_flame_release(struct dp_flame *flame);

/* The change of a box that its colour tells, from -1 to 1; 0 where it is not coloured. */
double dp_flame_change(const struct dp_flame *flame, const struct dp_flame_box *box);

/* What the values of the sides differ by; 0 for what is left of rounding where one
 * side is multiplied. */
double dp_flame_delta(const double of[2]);

/* What a name is in a frame of one side: of both, with values of each. */
static inline bool dp_flame_is_new(const struct dp_flame *flame, const struct dp_flame_box *box)
{
    return flame->two && !(box->all[0] > 0) && box->all[1] > 0;
}
static inline bool dp_flame_is_gone(const struct dp_flame *flame, const struct dp_flame_box *box)
{
    return flame->two && !(box->all[1] > 0) && box->all[0] > 0;
}

#endif
