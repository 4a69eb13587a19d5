#include "dp_sort.h"

static void sift(uint32_t *array, size_t at, size_t n, dp_compare_fn *compare, const void *ctx)
{
    uint32_t top = array[at];
    for (size_t kid; (kid = 2 * at + 1) < n; at = kid) {
        if (kid + 1 < n && compare(ctx, array[kid], array[kid + 1]) < 0)
            kid++;
        if (compare(ctx, top, array[kid]) >= 0)
            break;
        array[at] = array[kid];
    }
    array[at] = top;
}

void dp_sort_u32(uint32_t *array, size_t n, dp_compare_fn *compare, const void *ctx)
{
    for (size_t i = n / 2; i-- > 0;)
        sift(array, i, n, compare, ctx);
    while (n-- > 1) {
        uint32_t last = array[n];
        array[n] = array[0];
        array[0] = last;
        sift(array, 0, n, compare, ctx);
    }
}
