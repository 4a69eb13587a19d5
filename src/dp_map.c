#include "dp_map.h"
#include "dp_err.h"
#include "dp_mem.h"

#include <string.h>

void dp_map_init(struct dp_map *map)
{
    memset(map, 0, sizeof *map);
}

void dp_map_release(struct dp_map *map)
{
    dp_mem_free(map->slots);
    dp_map_init(map);
}

static void wipe(struct dp_map_slot *slots, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        slots[i].key = 0;
        slots[i].value = DP_MAP_NONE;
        slots[i].check = 0;
    }
}

void dp_map_clear(struct dp_map *map)
{
    if (map->slots)
        wipe(map->slots, map->mask + 1);
    map->used = 0;
}

static int enlarge(struct dp_map *map)
{
    /* A start of a program fills the first few hundred at once. */
    size_t n = !map->slots ? 64 : map->mask < 1024 ? (map->mask + 1) * 4 : (map->mask + 1) * 2;
    struct dp_map_slot *slots = dp_mem_realloc(NULL, n, sizeof *slots);
    if (!slots)
        return DP_E_NOMEM;
    wipe(slots, n);
    if (map->slots)
        for (size_t i = 0; i <= map->mask; i++)
            if (map->slots[i].value != DP_MAP_NONE)
                *dp_map_probe(slots, n - 1, map->slots[i].key) = map->slots[i];
    dp_mem_free(map->slots);
    map->slots = slots;
    map->mask = n - 1;
    return 0;
}

struct dp_map_slot *dp_map_find(const struct dp_map *map, uint64_t key)
{
    if (!map->slots)
        return NULL;
    struct dp_map_slot *slot = dp_map_probe(map->slots, map->mask, key);
    return slot->value == DP_MAP_NONE ? NULL : slot;
}

/* slot: the free one that is the key's, if the map has any. */
struct dp_map_slot *dp_map_add(struct dp_map *map, uint64_t key, struct dp_map_slot *slot)
{
    /* at most two thirds full, or probing gets long */
    if (!slot || (map->used + 1) * 3 > (map->mask + 1) * 2) {
        if (enlarge(map) < 0)
            return NULL;
        slot = dp_map_probe(map->slots, map->mask, key);
    }
    slot->key = key;
    map->used++;
    return slot;
}
