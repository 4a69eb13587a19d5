/* A hash map from 64-bit keys to 32-bit values: open addressing, linear probing, no deletion. Small
 * and fast; strings are interned first (dp_pool). */
#ifndef DP_MAP_H
#define DP_MAP_H

#include "dp_base.h"

#define DP_MAP_NONE UINT32_MAX     /* never a value */

struct dp_map_slot {
    uint64_t key;
    uint32_t value;                 /* DP_MAP_NONE = free */
    uint32_t check;                 /* for the caller; 0 unless set */
};

struct dp_map {
    struct dp_map_slot *slots;
    size_t mask;                    /* slots - 1; 0 before the first put */
    size_t used;
    uint64_t seed;                  /* of the hash, so that no file can know which keys collide; set
                                     * with the first slots */
};

void dp_map_init(struct dp_map *map);
void dp_map_release(struct dp_map *map);
/* Removes all keys, keeps the memory. */
void dp_map_clear(struct dp_map *map);

/* A mixer good enough for pointers and packed pairs (the finalizer of
 * MurmurHash3, public domain). */
static inline uint64_t dp_map_hash(uint64_t k)
{
    k ^= k >> 33;
    k *= UINT64_C(0xff51afd7ed558ccd);
    k ^= k >> 33;
    k *= UINT64_C(0xc4ceb9fe1a85ec53);
    k ^= k >> 33;
    return k;
}

/* The first slot of the search for a key. The map must have slots. */
static inline size_t dp_map_home(const struct dp_map *map, uint64_t key)
{
    return (size_t)dp_map_hash(key ^ map->seed) & map->mask;
}

/* A number that differs between processes, as addresses do. */
uint64_t dp_map_any(const void *address);

/* The slot of key, or NULL. Valid until the next put. */
struct dp_map_slot *dp_map_find(const struct dp_map *map, uint64_t key);

/* The slot of a key, or the free one for it. The map must have slots. */
static inline struct dp_map_slot *dp_map_probe(const struct dp_map *map, uint64_t key)
{
    size_t i = dp_map_home(map, key);
    while (map->slots[i].value != DP_MAP_NONE && map->slots[i].key != key)
        i = (i + 1) & map->mask;
    return &map->slots[i];
}

/* The second part of dp_map_put, for a new key: slot is the free one for it, or NULL if there are
 * no slots yet. */
struct dp_map_slot *dp_map_add(struct dp_map *map, uint64_t key, struct dp_map_slot *slot);

/* The slot of a key, which is made if the key is new (value then DP_MAP_NONE, which the caller must
 * overwrite before any other call). NULL when memory is short. */
static inline struct dp_map_slot *dp_map_put(struct dp_map *map, uint64_t key)
{
    struct dp_map_slot *slot = map->slots ? dp_map_probe(map, key) : NULL;
    return slot && slot->value != DP_MAP_NONE ? slot : dp_map_add(map, key, slot);
}

#endif
