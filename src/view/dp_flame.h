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
    uint32_t frame;             /* a frame of the stacks; 0 in a reversed graph */
    double x, w;                /* in the units of `total` */
    double self[2], all[2];     /* values of each side; if there is one side, the first */
};

struct dp_flame {
    const struct dp_stacks *s;
    struct dp_flame_box *boxes;
    size_t count, cap;
    uint32_t depth;             /* the greatest one */
    double total;               /* the value that is as wide as the picture */
    double sum[2];              /* of each side */
    double real[2];             /* factors for values that are shown as numbers: sides whose totals
                                 * were made equal are told as they were */
    double changed;             /* sum of what frames gained or lost
                                 * themselves, whatever the sign */
    double greatest;            /* the greatest change of a frame, for the colours */
    uint64_t hidden;            /* how many frames are too narrow; in a reversed graph, how many of
                                 * these have a wide parent */
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

/* The difference of the values of the sides; 0 if it is no more than rounding, where one side is
 * multiplied. */
double dp_flame_delta(const double of[2]);

/* A name as people see it: without _[k], _[w], _[i] and _[j], which some profilers add to say which
 * kind of code it is; blanks alone are "(blank)". */
struct dp_name dp_flame_plain(const struct dp_name *name);

/* Is a box in one side only? values: those of each side. */
static inline bool dp_flame_is_new(const struct dp_flame *flame, const struct dp_flame_box *box)
{
    return flame->two && !(box->all[0] > 0) && box->all[1] > 0;
}
static inline bool dp_flame_is_gone(const struct dp_flame *flame, const struct dp_flame_box *box)
{
    return flame->two && !(box->all[1] > 0) && box->all[0] > 0;
}

#endif
