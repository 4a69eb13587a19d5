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

/* Marks slots as empty. */
static void clear_slots(struct dp_map_slot *slots, size_t n)
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
        clear_slots(map->slots, map->mask + 1);
    map->used = 0;
}

uint64_t dp_map_any(const void *address)
{
    static const char here = 0;
    return dp_map_hash(dp_map_hash((uint64_t)(uintptr_t)address) ^ (uint64_t)(uintptr_t)&here);
}

/* Makes room for more keys, and distributes the existing ones anew. The slots move, so pointers to
 * them become invalid. Returns 0, or DP_E_NOMEM: the map is unchanged. */
static int enlarge_map(struct dp_map *map)
{
    /* The start of a program fills a few hundred slots at once. */
    size_t n = !map->slots ? 64 : map->mask < 1024 ? (map->mask + 1) * 4 : (map->mask + 1) * 2;
    struct dp_map_slot *slots = dp_mem_realloc(NULL, n, sizeof *slots);
    if (!slots)
        return DP_E_NOMEM;
    clear_slots(slots, n);
    struct dp_map_slot *old = map->slots;
    size_t count = old ? map->mask + 1 : 0;
    map->slots = slots;
    map->mask = n - 1;
    if (!old)
        map->seed = dp_map_any(slots);
    for (size_t i = 0; i < count; i++)
        if (old[i].value != DP_MAP_NONE)
            *dp_map_probe(map, old[i].key) = old[i];
    dp_mem_free(old);
    return 0;
}

struct dp_map_slot *dp_map_find(const struct dp_map *map, uint64_t key)
{
    if (!map->slots)
        return NULL;
    struct dp_map_slot *slot = dp_map_probe(map, key);
    return slot->value == DP_MAP_NONE ? NULL : slot;
}

/* slot: the free one for the key, if the map has slots. */
struct dp_map_slot *dp_map_add(struct dp_map *map, uint64_t key, struct dp_map_slot *slot)
{
    /* at most two thirds of the slots are used; otherwise probing takes long */
    if (!slot || (map->used + 1) * 3 > (map->mask + 1) * 2) {
        if (enlarge_map(map) < 0)
            return NULL;
        slot = dp_map_probe(map, key);
    }
    slot->key = key;
    map->used++;
    return slot;
}
