/* Suggests existing names that are similar to an unknown one. */
#ifndef DP_PMU_NEAR_H
#define DP_PMU_NEAR_H

#include "dp_base.h"

enum { DP_PMU_NEAR = 3, DP_PMU_NEAR_NAME = 96 };

struct dp_pmu_near {
    char text[DP_PMU_NEAR_NAME];        /* as written by the user */
    char name[DP_PMU_NEAR][DP_PMU_NEAR_NAME];
    unsigned score[DP_PMU_NEAR];
    size_t count;
};

void dp_pmu_near_init(struct dp_pmu_near *near, const char *text, size_t len);
/* Adds an existing name. Case does not matter; a name that is too long is skipped. */
void dp_pmu_near_add(struct dp_pmu_near *near, const char *name);
/* Writes the best names, three at most: "did you mean a, b or c?"; "" if none is near. `before`
 * comes in front. Returns `to`. */
const char *dp_pmu_near_write(const struct dp_pmu_near *near, const char *before, char *to,
                              size_t size);

/* The number of insertions, deletions, replacements and swaps of neighbours that turn a into b,
 * without changing a part twice, ignoring case; `most` + 1 if there are more. Neither text is
 * longer than DP_PMU_NEAR_NAME - 1. */
unsigned dp_pmu_near_distance(const char *a, const char *b, unsigned most);

#endif
