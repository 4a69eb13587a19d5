/* Pairs the places that are the same in two versions of a piece of code. */
#ifndef DP_ALIGN_H
#define DP_ALIGN_H

#include "dp_base.h"

struct dp_place {
    uint64_t line;
    uint32_t ordinal;           /* 1, 2 ... among the places on one line */
};

/* Pairs places. to[j]: the one of the a old places that the j-th of the b new ones is, or
 * DP_ALIGN_NONE. Both lists are sorted. If there are as many old places as new ones, they pair in
 * their order. Otherwise places pair whose distance in lines is the most frequent one. Places left
 * over between two pairs are paired by order, too, if there are as many on both sides. */
#define DP_ALIGN_NONE UINT32_MAX
void dp_align(const struct dp_place *old, size_t a, const struct dp_place *new, size_t b,
              uint32_t *to);

#endif
