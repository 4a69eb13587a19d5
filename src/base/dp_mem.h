/* The only place that allocates memory. In a build with DP_MEM_TEST, the n-th allocation can fail,
 * so that tests can walk every out-of-memory path. */
#ifndef DP_MEM_H
#define DP_MEM_H

#include "dp_base.h"

/* Allocates size bytes; NULL if there are none. dp_mem_zalloc clears them. */
void *dp_mem_alloc(size_t size);
void *dp_mem_zalloc(size_t size);

/* Resizes to n elements of size bytes; NULL on overflow or exhaustion, with ptr intact. */
void *dp_mem_realloc(void *ptr, size_t n, size_t size);
void dp_mem_free(void *ptr);

/* Allocate and free memory, with zlib's types of functions. */
void *dp_mem_zlib_alloc(void *opaque, unsigned n, unsigned size);
void dp_mem_zlib_free(void *opaque, void *ptr);

/* Makes room for at least need elements in the array *ptr of *cap elements, growing geometrically.
 * Returns 0 or DP_E_NOMEM (array intact). */
int dp_mem_grow_more(void **ptr, size_t *cap, size_t need, size_t size);
static inline int dp_mem_grow(void **ptr, size_t *cap, size_t need, size_t size)
{
    return need <= *cap ? 0 : dp_mem_grow_more(ptr, cap, need, size);
}

/* Makes room like dp_mem_grow, and sets all new elements to 0. */
int dp_mem_grow_more_cleared(void **ptr, size_t *cap, size_t need, size_t size);
static inline int dp_mem_grow_cleared(void **ptr, size_t *cap, size_t need, size_t size)
{
    return need <= *cap ? 0 : dp_mem_grow_more_cleared(ptr, cap, need, size);
}

#ifdef DP_MEM_TEST
/* Makes the allocation after n more ones fail; if n is negative, none fails. */
void dp_mem_fail_after(long n);
/* The number of blocks allocated and not yet freed. */
long dp_mem_live(void);
#endif

#endif
