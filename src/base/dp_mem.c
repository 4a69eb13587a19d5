#include "dp_mem.h"
#include "dp_err.h"

#include <stdlib.h>
#include <string.h>

#ifdef DP_MEM_TEST
static long fail_after = -1;
static long live;

void dp_mem_fail_after(long n) { fail_after = n; }
long dp_mem_live(void) { return live; }

static bool must_fail(void)
{
    if (fail_after < 0)
        return false;
    return fail_after-- == 0;
}
#  define TEST_FAIL()  if (must_fail()) return NULL
#  define COUNT(n)     __atomic_fetch_add(&live, (n), __ATOMIC_RELAXED)
#else
#  define TEST_FAIL()  ((void)0)
#  define COUNT(n)     ((void)0)
#endif

void *dp_mem_alloc(size_t size)
{
    TEST_FAIL();
    void *p = malloc(size ? size : 1);
    if (p)
        COUNT(1);
    return p;
}

void *dp_mem_zalloc(size_t size)
{
    TEST_FAIL();
    /* new memory from the system is zero already */
    void *p = calloc(1, size ? size : 1);
    if (p)
        COUNT(1);
    return p;
}

void *dp_mem_realloc(void *ptr, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size)
        return NULL;
    TEST_FAIL();
    size_t bytes = n * size;
    void *p = realloc(ptr, bytes ? bytes : 1);
    if (p && !ptr)
        COUNT(1);
    return p;
}

void dp_mem_free(void *ptr)
{
    if (ptr)
        COUNT(-1);
    free(ptr);
}

void *dp_mem_zlib_alloc(void *opaque, unsigned n, unsigned size)
{
    (void)opaque;
    return dp_mem_realloc(NULL, n, size);
}

void dp_mem_zlib_free(void *opaque, void *ptr)
{
    (void)opaque;
    dp_mem_free(ptr);
}

/* Numbers of elements: a growing array begins with LEAST, and doubles while it has fewer than
 * DOUBLED. */
enum { LEAST = 64, DOUBLED = 1 << 16 };

int dp_mem_grow_more(void **ptr, size_t *cap, size_t need, size_t size)
{
    size_t want = *cap < LEAST ? LEAST : *cap < DOUBLED ? *cap * 2 : *cap + *cap / 2;
    if (want < need)
        want = need;
    void *p = dp_mem_realloc(*ptr, want, size);
    if (!p)
        return DP_E_NOMEM;
    *ptr = p;
    *cap = want;
    return 0;
}

int dp_mem_grow_more_cleared(void **ptr, size_t *cap, size_t need, size_t size)
{
    size_t before = *cap;
    int rc = dp_mem_grow_more(ptr, cap, need, size);
    if (rc == 0)
        memset((char *)*ptr + before * size, 0, (*cap - before) * size);
    return rc;
}
