/* The layout of a flame graph: which frames are wide enough to be drawn, their places, and their
 * texts. Pictures get boxes. The page gets the frames of dp_stacks.h, and makes the layout
 * itself. */
#ifndef DP_FLAME_H
#define DP_FLAME_H

#include "dp_base.h"
#include "dp_stacks.h"

/* A frame that is drawn. Boxes are in preorder. */
struct dp_flame_box {
    uint32_t name, depth;
    uint32_t frame;             /* number in the stacks; 0 in a reversed graph */
    double x, w;                /* in units of `total` */
    double self[2], all[2];     /* values of each side; with one side, the first */
};

struct dp_flame {
    const struct dp_stacks *s;
    struct dp_flame_box *boxes;
    size_t count, cap;
    uint32_t depth;             /* the greatest depth */
    double total;               /* value that is as wide as the picture */
    double sum[2];              /* by side */
    double real[2];             /* factors for values shown as numbers: they undo the factors that
                                 * made the sides' totals equal */
    double changed;             /* sum of the absolute changes of frames' own values */
    double greatest;            /* greatest change of a frame, which sets the scale of the
                                 * colours */
    uint64_t hidden;            /* number of frames that are too narrow; in a reversed graph, of
                                 * those with a wide parent */
    double hidden_weight;
    bool reverse, by_total, hue, two;
};

/* A change is drawn without a colour below this part of the greatest one, as in
 * share/page/model/scene.mjs. */
#define DP_FLAME_NEUTRAL 0.01

/* Lays out the frames that have at least `least` of the whole. Returns 0 or a DP_E; the caller
 * releases *flame. s is borrowed, and its first measure is drawn. factor: from
 * dp_stacks_factors. */
int dp_flame_make(struct dp_flame *flame, const struct dp_stacks *s, const struct dp_flame_how *how,
                  const double *factor, double least);
void dp_flame_release(struct dp_flame *flame);

/* The change of a box that its colour shows, from -1 to 1; 0 without a colour. */
double dp_flame_change(const struct dp_flame *flame, const struct dp_flame_box *box);

/* The difference of the values of the sides. It is 0 if a side is multiplied and the difference is
 * no more than rounding. */
double dp_flame_delta(const double of[2]);

/* A name as people see it: without _[k], _[w], _[i] and _[j], which some profilers append to mark
 * the kind of code. A name of blanks becomes "(blank)". */
struct dp_name dp_flame_plain(const struct dp_name *name);

/* Does only one side have the box? values: those of each side. */
static inline bool dp_flame_is_new(const struct dp_flame *flame, const struct dp_flame_box *box)
{
    return flame->two && !(box->all[0] > 0) && box->all[1] > 0;
}
static inline bool dp_flame_is_gone(const struct dp_flame *flame, const struct dp_flame_box *box)
{
    return flame->two && !(box->all[1] > 0) && box->all[0] > 0;
}

#endif
