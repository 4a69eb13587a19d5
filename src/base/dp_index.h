/* A map from hashes of 64 bits to numbers, for millions of them. A slot has 12 bytes, and a map
 * that grows copies its slots from the first to the last, not to and fro. Hashes must be made
 * with a factor that no file can know, and what has the same hash is the same. dp_map is for all
 * other keys. */
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
    size_t n;                       /* slots; fewer than 2^32, as contexts are */
};

void dp_index_init(struct dp_index *index);
void dp_index_release(struct dp_index *index);

/* Makes room for so many more hashes: so many calls of dp_index_add need no memory. Returns 0 or
 * DP_E_NOMEM. */
int dp_index_room(struct dp_index *index, size_t more);

/* Where the search for a hash begins: by the upper bits, so that more slots have the same order.
 * The factor brings what lower bits tell into them. */
static inline size_t dp_index_home(const struct dp_index *index, uint64_t hash)
{
    return (size_t)((hash * UINT64_C(0x9e3779b97f4a7c15) >> 32) * index->n >> 32);
}

/* It will be looked for soon. */
static inline void dp_index_expect(const struct dp_index *index, uint64_t hash)
{
    if (index->slots)
        DP_PREFETCH(&index->slots[dp_index_home(index, hash)]);
}

/* The slot of a hash, or the free one where it belongs. There must be slots. */
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

/* Gives a number to a hash that may be new. There must be room. */
static inline void dp_index_add(struct dp_index *index, uint64_t hash, uint32_t value)
{
    struct dp_index_slot *slot = dp_index_probe(index, hash);
    index->used += slot->value == DP_INDEX_NONE;
    slot->high = (uint32_t)(hash >> 32);
    slot->low = (uint32_t)hash;
    slot->value = value;
}

#endif
