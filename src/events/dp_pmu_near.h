/* Finds names that are like one that does not exist: one of them may have been meant. */
#ifndef DP_PMU_NEAR_H
#define DP_PMU_NEAR_H

#include "dp_base.h"

enum { DP_PMU_NEAR = 3, DP_PMU_NEAR_NAME = 96 };

struct dp_pmu_near {
    char text[DP_PMU_NEAR_NAME];        /* what was written */
    char name[DP_PMU_NEAR][DP_PMU_NEAR_NAME];
    unsigned score[DP_PMU_NEAR];
    size_t count;
};

void dp_pmu_near_init(struct dp_pmu_near *near, const char *text, size_t len);
/* Adds a name that exists. Case does not matter; a name that is too long to be meant is passed
 * over. */
void dp_pmu_near_add(struct dp_pmu_near *near, const char *name);
/* Writes the best names, three at most: "did you mean a, b or c?"; "" if none is near. `before`
 * stands in front. Returns `to`. */
const char *dp_pmu_near_write(const struct dp_pmu_near *near, const char *before, char *to,
                              size_t size);

/* Insertions, deletions, replacements and swaps of neighbours that make b of a, no part changed
 * twice, case aside; `most` + 1 where it is more. Neither is longer than DP_PMU_NEAR_NAME - 1. */
unsigned dp_pmu_near_distance(const char *a, const char *b, unsigned most);

#endif
