#include "dp_edges.h"
#include "dp_err.h"
#include "dp_map.h"
#include "dp_mem.h"
#include "dp_sort.h"

#include <string.h>

struct making {
    const struct dp_overhead *over;
    struct dp_edges *edges;
    struct dp_map of;           /* site << 32 | name -> edge */
    size_t cap;
    uint32_t *until;            /* by edge: where the outermost context of it ends */
    size_t until_cap;
};

static int add(struct making *m, uint32_t name, const struct dp_over_node *callee, uint32_t at)
{
    struct dp_map_slot *slot = dp_map_put(&m->of, (uint64_t)callee->site << 32 | name);
    if (!slot)
        return DP_E_NOMEM;
    if (slot->value == DP_MAP_NONE) {
        size_t n = m->edges->count;
        slot->value = 0;
        if (dp_mem_grow((void **)&m->edges->edges, &m->cap, n + 1, sizeof *m->edges->edges) < 0
            || dp_mem_grow((void **)&m->until, &m->until_cap, n + 1, sizeof *m->until) < 0)
            return DP_E_NOMEM;
        m->edges->edges[n] = (struct dp_edge){ .name = name, .site = callee->site };
        m->until[n] = 0;
        slot->value = (uint32_t)n;
        m->edges->count++;
    }
    struct dp_edge *e = &m->edges->edges[slot->value];
    e->calls += callee->calls;
    e->self += callee->self;
    if (at >= m->until[slot->value]) {
        e->incl += callee->incl;
        m->until[slot->value] = callee->end;
    }
    return 0;
}

static int compare(const void *ctx, uint32_t x, uint32_t y)
{
    const struct making *m = ctx;
    const struct dp_edge *a = &m->edges->edges[x], *b = &m->edges->edges[y];
    if (a->incl != b->incl)
        return a->incl > b->incl ? -1 : 1;
    if (a->calls != b->calls)
        return a->calls > b->calls ? -1 : 1;
    const uint32_t left[2] = { a->name, a->site }, right[2] = { b->name, b->site };
    for (int i = 0; i < 2; i++) {
        if (left[i] == right[i])
            continue;
        if (left[i] == DP_OVER_NONE || right[i] == DP_OVER_NONE)
            return left[i] == DP_OVER_NONE ? -1 : 1;
        return dp_name_compare(dp_pool_name(&m->over->values, left[i]),
                               dp_pool_name(&m->over->values, right[i]));
    }
    return 0;
}

static int sort(struct making *m)
{
    size_t n = m->edges->count;
    uint32_t *order = dp_mem_realloc(NULL, n + 1, sizeof *order);
    struct dp_edge *sorted = dp_mem_realloc(NULL, n + 1, sizeof *sorted);
    int rc = order && sorted ? 0 : DP_E_NOMEM;
    if (rc == 0) {
        for (uint32_t i = 0; i < n; i++)
            order[i] = i;
        dp_sort_u32(order, n, compare, m);
        for (size_t i = 0; i < n; i++)
            sorted[i] = m->edges->edges[order[i]];
        dp_mem_free(m->edges->edges);
        m->edges->edges = sorted;
        sorted = NULL;
    }
    dp_mem_free(order);
    dp_mem_free(sorted);
    return rc;
}

int dp_edges_make(struct dp_edges *edges, const struct dp_overhead *over, const char *name,
                  size_t len, bool callees)
{
    struct making m = { .over = over, .edges = edges };
    memset(edges, 0, sizeof *edges);
    dp_map_init(&m.of);
    uint32_t wanted = dp_pool_lookup(&over->values, name, len);
    int rc = 0;
    for (uint32_t i = 0; i < over->n_nodes && rc == 0 && wanted != DP_MAP_NONE; i++) {
        const struct dp_over_node *n = &over->nodes[i];
        edges->found = edges->found || n->name == wanted;
        if (n->parent == DP_OVER_NONE)
            continue;
        uint32_t caller = over->nodes[n->parent].name;
        if ((callees ? caller : n->name) == wanted)
            rc = add(&m, callees ? n->name : caller, n, i);
    }
    if (rc == 0)
        rc = sort(&m);
    dp_map_release(&m.of);
    dp_mem_free(m.until);
    if (rc < 0)
        dp_edges_release(edges);
    return rc;
}

void dp_edges_release(struct dp_edges *edges)
{
    dp_mem_free(edges->edges);
    memset(edges, 0, sizeof *edges);
}
