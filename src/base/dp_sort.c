#include "dp_sort.h"
#include "dp_err.h"
#include "dp_mem.h"

#include <string.h>

/* Moves the element at `at' down in a heap until no kid comes after it: the step of heapsort, which
 * needs no memory and is never quadratic. */
static void sift_down(uint32_t *array, size_t at, size_t n, dp_compare_fn *compare, const void *ctx)
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
        sift_down(array, i, n, compare, ctx);
    while (n-- > 1) {
        uint32_t last = array[n];
        array[n] = array[0];
        array[0] = last;
        sift_down(array, 0, n, compare, ctx);
    }
}

uint32_t *dp_sort_order(size_t n, dp_compare_fn *compare, const void *ctx)
{
    uint32_t *order = n < UINT32_MAX ? dp_mem_realloc(NULL, n + 1, sizeof *order) : NULL;
    if (!order)
        return NULL;
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    dp_sort_u32(order, n, compare, ctx);
    return order;
}

int dp_sort_arrange(void *array, const uint32_t *order, size_t n, size_t size)
{
    if (!n || !size)
        return 0;
    char *sorted = dp_mem_realloc(NULL, n, size);
    if (!sorted)
        return DP_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        memcpy(sorted + i * size, (const char *)array + order[i] * size, size);
    memcpy(array, sorted, n * size);
    dp_mem_free(sorted);
    return 0;
}

int dp_sort_array(void *array, size_t n, size_t size, dp_compare_fn *compare, const void *ctx)
{
    uint32_t *order = dp_sort_order(n, compare, ctx);
    int rc = order ? dp_sort_arrange(array, order, n, size) : DP_E_NOMEM;
    dp_mem_free(order);
    return rc;
}
