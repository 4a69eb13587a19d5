/* Places in two versions of a piece of code: which are the same. */
#ifndef DP_ALIGN_H
#define DP_ALIGN_H

#include "dp_base.h"

struct dp_place {
    uint64_t line;
    uint32_t ordinal;           /* of those on one line: 1, 2 ... */
};

/* to[j]: which of the a old places the j-th of the b new ones is; DP_ALIGN_NONE. Both are sorted.
 * Equal numbers go by their order. Otherwise those pair whose distance in lines is that of the
 * most; what that leaves over between two pairs goes by its order, too, where there are as
 * many on both sides. */
#define DP_ALIGN_NONE UINT32_MAX
void dp_align(const struct dp_place *old, size_t a, const struct dp_place *new, size_t b,
              uint32_t *to);

#endif
