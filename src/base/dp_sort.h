/* Sorts numbers by the values that they represent, and arrays. */
#ifndef DP_SORT_H
#define DP_SORT_H

#include "dp_base.h"

/* Compares two elements. Returns a negative number if a comes before b. Must be a strict order for
 * a fixed result. */
typedef int dp_compare_fn(const void *ctx, uint32_t a, uint32_t b);

/* Sorts in place: no memory, no recursion, never quadratic. */
void dp_sort_u32(uint32_t *array, size_t n, dp_compare_fn *compare, const void *ctx);

/* The numbers below n (of at most 32 bits), sorted, in an array that the caller frees with
 * dp_mem_free; NULL when memory is short. */
uint32_t *dp_sort_order(size_t n, dp_compare_fn *compare, const void *ctx);

/* Puts the n elements of size bytes of an array in order: the element at order[i] moves to i.
 * Returns 0 or DP_E_NOMEM (array intact). */
int dp_sort_arrange(void *array, const uint32_t *order, size_t n, size_t size);

/* Sorts an array by comparing two indices in the original array. Returns 0 or DP_E_NOMEM (array
 * intact). */
int dp_sort_array(void *array, size_t n, size_t size, dp_compare_fn *compare, const void *ctx);

#endif
