#include "dp_pool.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_num.h"

#include <string.h>

enum { FIRST = 1024, CHUNK = 16 * 1024, ALIGN = 16 };     /* chunks grow up to CHUNK bytes */

struct dp_pool_chunk {
    struct dp_pool_chunk *next;
    size_t pad;                 /* aligns the following bytes to 16 */
};

void dp_pool_init(struct dp_pool *pool)
{
    memset(pool, 0, sizeof *pool);
    pool->seed = dp_map_any(pool) | 1;
}

void dp_pool_release(struct dp_pool *pool)
{
    while (pool->chunks) {
        struct dp_pool_chunk *next = pool->chunks->next;
        dp_mem_free(pool->chunks);
        pool->chunks = next;
    }
    dp_map_release(&pool->index);
    dp_mem_free(pool->names);
    dp_mem_free(pool->next);
    dp_pool_init(pool);
}

void *dp_pool_alloc(struct dp_pool *pool, size_t size)
{
    if (size > SIZE_MAX - CHUNK)
        return NULL;
    size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (size > pool->free_len) {
        size_t next = !pool->chunk ? FIRST : pool->chunk < CHUNK ? pool->chunk * 2 : CHUNK;
        size_t room = size > next / 4 ? size : next;
        struct dp_pool_chunk *chunk = dp_mem_alloc(sizeof *chunk + room);
        if (!chunk)
            return NULL;
        chunk->next = pool->chunks;
        pool->chunks = chunk;
        if (room == size)           /* a large request gets a chunk of its own, and the open chunk
                                     * remains open */
            return chunk + 1;
        pool->free_ptr = (char *)(chunk + 1);
        pool->free_len = pool->chunk = room;
    }
    void *p = pool->free_ptr;
    pool->free_ptr += size;
    pool->free_len -= size;
    return p;
}

/* Hashes words, not bytes: each is multiplied by a 64-bit number that a file cannot know, and the
 * middle of the product is used. Otherwise an attacker could make names with equal hashes, and each
 * name would be compared with all earlier ones. */
static uint64_t hash_of(const struct dp_pool *pool, const char *ptr, size_t len)
{
    const uint64_t factor = pool->seed ^ UINT64_C(0x9e3779b97f4a7c15);
    uint64_t h = UINT64_C(0xcbf29ce484222325) ^ len, word;
    for (; len >= sizeof word; ptr += sizeof word, len -= sizeof word) {
        memcpy(&word, ptr, sizeof word);
        h = dp_num_mul_shift32(h ^ word, factor) + word;
    }
    word = 0;
    if (len)
        memcpy(&word, ptr, len);
    h = dp_num_mul_shift32(h ^ word, factor) + word;
    return h ^ h >> 32;
}

/* Returns the number of a name whose hash is h, or DP_MAP_NONE. The map holds one name for each
 * hash; other names with the same hash follow that name by `next'. */
static uint32_t find_name(const struct dp_pool *pool, uint64_t h, const char *ptr, size_t len)
{
    const struct dp_map_slot *slot = dp_map_find(&pool->index, h);
    uint32_t n = slot ? slot->value : DP_MAP_NONE;
    while (n != DP_MAP_NONE) {
        const struct dp_name *name = &pool->names[n];
        if (name->len == len && memcmp(name->ptr, ptr, len) == 0)
            break;
        n = pool->next[n];
    }
    return n;
}

uint32_t dp_pool_lookup(const struct dp_pool *pool, const char *ptr, size_t len)
{
    return find_name(pool, hash_of(pool, ptr, len), ptr, len);
}

uint32_t dp_pool_intern(struct dp_pool *pool, const char *ptr, size_t len)
{
    uint64_t h = hash_of(pool, ptr, len);
    uint32_t n = find_name(pool, h, ptr, len);
    if (n != DP_MAP_NONE)
        return n;
    if (pool->count >= DP_MAP_NONE - 1)
        return DP_MAP_NONE;
    if (dp_mem_grow((void **)&pool->names, &pool->cap, pool->count + 1, sizeof *pool->names) < 0
        || dp_mem_grow((void **)&pool->next, &pool->next_cap, pool->count + 1, sizeof *pool->next)
               < 0)
        return DP_MAP_NONE;
    char *copy = dp_pool_alloc(pool, len + 1);
    struct dp_map_slot *slot = copy ? dp_map_put(&pool->index, h) : NULL;
    if (!slot)
        return DP_MAP_NONE;
    if (len)
        memcpy(copy, ptr, len);
    copy[len] = '\0';
    n = (uint32_t)pool->count++;
    pool->names[n].ptr = copy;
    pool->names[n].len = len;
    pool->next[n] = slot->value;        /* DP_MAP_NONE for a new slot */
    slot->value = n;
    return n;
}

int dp_name_compare(const struct dp_name *a, const struct dp_name *b)
{
    int c = memcmp(a->ptr, b->ptr, a->len < b->len ? a->len : b->len);
    return c ? c : a->len < b->len ? -1 : a->len > b->len;
}

void dp_pool_seal(struct dp_pool *pool)
{
    dp_map_release(&pool->index);
    dp_mem_free(pool->next);
    pool->next = NULL;
    pool->next_cap = 0;
}

int dp_pool_unseal(struct dp_pool *pool)
{
    dp_pool_seal(pool);
    if (dp_mem_grow((void **)&pool->next, &pool->next_cap, pool->count, sizeof *pool->next) < 0)
        return DP_E_NOMEM;
    for (uint32_t n = 0; n < pool->count; n++) {
        const struct dp_name *name = &pool->names[n];
        struct dp_map_slot *slot = dp_map_put(&pool->index, hash_of(pool, name->ptr, name->len));
        if (!slot) {
            dp_pool_seal(pool);
            return DP_E_NOMEM;
        }
        pool->next[n] = slot->value;
        slot->value = n;
    }
    return 0;
}
