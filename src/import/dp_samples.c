#include "dp_samples.h"
#include "dp_mem.h"

#include <string.h>

void dp_samples_init(struct dp_samples *t)
{
    memset(t, 0, sizeof *t);
    dp_map_init(&t->kids);
}

void dp_samples_release(struct dp_samples *t)
{
    dp_mem_free(t->nodes);
    for (size_t i = 0; i < DP_IMPORT_VALUES; i++)
        dp_mem_free(t->values[i].own);
    dp_map_release(&t->kids);
    dp_samples_init(t);
}

int64_t dp_samples_enter(struct dp_samples *t, uint32_t parent, uint32_t sub)
{
    struct dp_map_slot *slot = dp_map_put(&t->kids, (uint64_t)parent << 32 | sub);
    if (!slot)
        return DP_E_NOMEM;
    if (slot->value != DP_MAP_NONE)
        return slot->value;
    size_t n = t->count ? t->count : 1;         /* the root comes first */
    slot->value = (uint32_t)n;
    if (n >= DP_LIMIT_NODES)
        return DP_E_LIMIT;
    if (dp_mem_grow_cleared((void **)&t->nodes, &t->cap, n + 1, sizeof *t->nodes) < 0)
        return DP_E_NOMEM;
    t->nodes[n] = (struct dp_samples_node){ parent, sub };
    t->count = n + 1;
    return (int64_t)n;
}

int dp_samples_add(struct dp_samples *t, uint32_t node, size_t kind, uint64_t value)
{
    size_t had = t->values[kind].cap;
    if (node >= had && t->kept > DP_LIMIT_WHOLE / 2 / sizeof value)
        return DP_E_LIMIT;
    if (dp_mem_grow_cleared((void **)&t->values[kind].own, &t->values[kind].cap, (size_t)node + 1,
                            sizeof value) < 0)
        return DP_E_NOMEM;
    t->kept += t->values[kind].cap - had;
    if (node >= t->values[kind].count)
        t->values[kind].count = (size_t)node + 1;
    uint64_t *own = &t->values[kind].own[node];
    if (value >= DP_LIMIT_TOTAL || *own + value >= DP_LIMIT_TOTAL)
        return DP_E_LIMIT;
    *own += value;
    return 0;
}

int dp_samples_move(struct dp_samples *t, size_t from, size_t to)
{
    int rc = 0;
    for (size_t n = t->values[from].count; rc == 0 && n-- > 0;)
        if (t->values[from].own[n])
            rc = dp_samples_add(t, (uint32_t)n, to, t->values[from].own[n]);
    t->kept -= t->values[from].cap;
    dp_mem_free(t->values[from].own);
    memset(&t->values[from], 0, sizeof t->values[from]);
    return rc;
}

/* Hands the values of a node to the consumer, unless all are 0. Returns 0 or a DP_E. */
static int give_values(struct dp_reader *r, const struct dp_samples *t, size_t n, uint32_t node)
{
    uint64_t values[DP_IMPORT_VALUES] = { 0 };
    bool some = false;
    for (size_t i = 0; i < r->import.n_values; i++) {
        values[i] = n < t->values[i].count ? t->values[i].own[n] : 0;
        some = some || values[i];
    }
    return some ? dp_import_add(r, node, values) : 0;
}

int dp_samples_give(struct dp_reader *r, const struct dp_samples *t, const uint32_t *number)
{
    uint32_t *given = dp_mem_zalloc((t->count + 1) * sizeof *given);
    int rc = given ? give_values(r, t, 0, 0)
            : dp_import_error(r, DP_E_NOMEM);
    for (size_t n = 1; rc == 0 && n < t->count; n++) {
        uint32_t parent = given[t->nodes[n].parent], sub = number[t->nodes[n].sub];
        int64_t node = dp_import_enter(r, parent, sub);
        given[n] = node < 0 ? 0 : (uint32_t)node;
        rc = node < 0 ? (int)node : give_values(r, t, n, given[n]);
    }
    dp_mem_free(given);
    return rc;
}
