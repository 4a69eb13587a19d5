/* A map from 64-bit hashes to numbers, for millions of them. A slot has 12 bytes. A map that grows
 * copies its slots in order, from the first to the last. Hashes must be made with a factor that no
 * file can know; equal hashes count as equal keys. dp_map is for all other keys. */
#ifndef DP_INDEX_H
#define DP_INDEX_H

#include "dp_base.h"

#define DP_INDEX_NONE UINT32_MAX    /* never a value */

struct dp_index_slot {
    uint32_t high, low;             /* of the hash */
    uint32_t value;                 /* DP_INDEX_NONE = free */
};

struct dp_index {
    struct dp_index_slot *slots;
    size_t used;
    size_t n;                       /* number of slots; fewer than 2^32, as contexts are */
};

void dp_index_init(struct dp_index *index);
void dp_index_release(struct dp_index *index);

/* Makes room for so many more hashes, so that as many calls of dp_index_add need no memory. Returns
 * 0 or DP_E_NOMEM. */
int dp_index_room(struct dp_index *index, size_t more);

/* The first slot of the search for a hash. It uses the upper bits, so a larger map keeps the order.
 * The factor mixes the lower bits into them. */
static inline size_t dp_index_home(const struct dp_index *index, uint64_t hash)
{
    return (size_t)((hash * UINT64_C(0x9e3779b97f4a7c15) >> 32) * index->n >> 32);
}

/* Prefetches the slot of a hash that will be looked up soon. */
static inline void dp_index_expect(const struct dp_index *index, uint64_t hash)
{
    if (index->slots)
        DP_PREFETCH(&index->slots[dp_index_home(index, hash)]);
}

/* The slot of a hash, or the free one for it. There must be slots. */
static inline struct dp_index_slot *dp_index_probe(const struct dp_index *index, uint64_t hash)
{
    size_t i = dp_index_home(index, hash);
    uint32_t high = (uint32_t)(hash >> 32), low = (uint32_t)hash;
    while (index->slots[i].value != DP_INDEX_NONE
           && (index->slots[i].low != low || index->slots[i].high != high))
        i = i + 1 < index->n ? i + 1 : 0;
    return &index->slots[i];
}

/* The number of a hash, or DP_INDEX_NONE. */
static inline uint32_t dp_index_find(const struct dp_index *index, uint64_t hash)
{
    return index->slots ? dp_index_probe(index, hash)->value : DP_INDEX_NONE;
}

/* Gives a number to a hash, which may be new. There must be room. */
static inline void dp_index_add(struct dp_index *index, uint64_t hash, uint32_t value)
{
    struct dp_index_slot *slot = dp_index_probe(index, hash);
    index->used += slot->value == DP_INDEX_NONE;
    slot->high = (uint32_t)(hash >> 32);
    slot->low = (uint32_t)hash;
    slot->value = value;
}

#endif
