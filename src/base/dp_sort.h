/* Sorts numbers by what they stand for. */
#ifndef DP_SORT_H
#define DP_SORT_H

#include "dp_base.h"

/* Negative: a stands before b. Must be a strict order for a fixed result. */
typedef int dp_compare_fn(const void *ctx, uint32_t a, uint32_t b);

/* Sorts in place: no memory, no recursion, never quadratic. */
void dp_sort_u32(uint32_t *array, size_t n, dp_compare_fn *compare, const void *ctx);

#endif
