/* An arena, and names interned in it: equal strings get equal numbers, and all memory is freed with
 * the pool. */
#ifndef DP_POOL_H
#define DP_POOL_H

#include "dp_base.h"
#include "dp_map.h"

struct dp_pool_chunk;

struct dp_name {
    const char *ptr;            /* NUL-terminated; may contain NULs, too */
    size_t len;
};

struct dp_pool {
    struct dp_pool_chunk *chunks;
    char *free_ptr;             /* the unused rest of the newest chunk */
    size_t free_len;
    size_t chunk;               /* size of the newest chunk */
    uint64_t seed;              /* of the hash of names */
    struct dp_map index;        /* hash of a name -> first name with that hash */
    struct dp_name *names;
    uint32_t *next;             /* chain of names with equal hashes */
    size_t count, cap, next_cap;
};

/* Make an empty pool of names, and free a pool with all its names. */
void dp_pool_init(struct dp_pool *pool);
void dp_pool_release(struct dp_pool *pool);

/* Allocates size bytes for the lifetime of the pool, aligned for any type; or NULL. */
void *dp_pool_alloc(struct dp_pool *pool, size_t size);

/* The number of a name, from 0 up in order of first use; DP_MAP_NONE when memory is short. The
 * bytes are copied. */
uint32_t dp_pool_intern(struct dp_pool *pool, const char *ptr, size_t len);

/* The number of a name, without adding it: DP_MAP_NONE for an unknown name. */
uint32_t dp_pool_lookup(const struct dp_pool *pool, const char *ptr, size_t len);

/* Frees the index of names: until dp_pool_unseal, names are available by number only, and none can
 * be added. dp_pool_unseal returns 0 or DP_E_NOMEM: then the pool stays sealed. */
void dp_pool_seal(struct dp_pool *pool);
int dp_pool_unseal(struct dp_pool *pool);

/* The name of a number that dp_pool_intern returned; borrowed. */
static inline const struct dp_name *dp_pool_name(const struct dp_pool *pool, uint32_t n)
{
    return &pool->names[n];
}

/* Compares by bytes: negative if a comes before b, 0 if they are equal. */
int dp_name_compare(const struct dp_name *a, const struct dp_name *b);

#endif
