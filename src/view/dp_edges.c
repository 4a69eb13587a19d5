#include "dp_edges.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_pool.h"
#include "dp_sort.h"

#include <string.h>

struct making {
    const struct dp_overhead *over;
    struct dp_edges *edges;
    struct dp_pool numbers;     /* name, site and sub of an edge -> its number */
    size_t cap;
    uint32_t *until;            /* by edge: the end of the subtree of its outermost context */
    size_t until_cap;
};

/* Adds a context to the edge of a name, its place and `of', which is made if it is new. A context
 * inside of another one of the same edge adds to calls and self, but not to incl. at: its number;
 * contexts come in preorder. Returns 0 or DP_E_NOMEM. */
static int add_edge(struct making *m, uint32_t name, uint32_t of,
                    const struct dp_report_node *callee, uint32_t at)
{
    const uint32_t key[3] = { name, callee->site, of };
    size_t known = m->edges->count;
    /* Make room first, so that the pool has no edge without its place if something fails. */
    if (dp_mem_grow((void **)&m->edges->edges, &m->cap, known + 1, sizeof *m->edges->edges) < 0
        || dp_mem_grow_cleared((void **)&m->until, &m->until_cap, known + 1, sizeof *m->until) < 0)
        return DP_E_NOMEM;
    uint32_t number = dp_pool_intern(&m->numbers, (const char *)key, sizeof key);
    if (number == DP_MAP_NONE)
        return DP_E_NOMEM;
    if (number == known) {
        m->edges->edges[known] = (struct dp_edge){ .name = name, .site = callee->site, .of = of };
        m->edges->count++;
    }
    struct dp_edge *e = &m->edges->edges[number];
    e->calls += callee->calls;
    e->self += callee->self;
    if (at >= m->until[number]) {
        e->incl += callee->incl;
        m->until[number] = callee->end;
    }
    return 0;
}

/* Orders edges by inclusive value and by calls, the greatest first; then by name, place and sub, as
 * texts, with those that are none first. */
static int compare_edges(const void *ctx, uint32_t x, uint32_t y)
{
    const struct making *m = ctx;
    const struct dp_edge *a = &m->edges->edges[x], *b = &m->edges->edges[y];
    if (a->incl != b->incl)
        return a->incl > b->incl ? -1 : 1;
    if (a->calls != b->calls)
        return a->calls > b->calls ? -1 : 1;
    const uint32_t left[3] = { a->name, a->site, a->of }, right[3] = { b->name, b->site, b->of };
    for (int i = 0; i < 3; i++) {
        if (left[i] == right[i])
            continue;
        if (left[i] == DP_REPORT_NONE || right[i] == DP_REPORT_NONE)
            return left[i] == DP_REPORT_NONE ? -1 : 1;
        return dp_name_compare(dp_pool_name(&m->over->values, left[i]),
                               dp_pool_name(&m->over->values, right[i]));
    }
    return 0;
}

/* Prepares for finding the edges to callers or callees. */
static void begin_edges(struct making *m, struct dp_edges *edges, const struct dp_overhead *over)
{
    memset(m, 0, sizeof *m);
    memset(edges, 0, sizeof *edges);
    m->over = over;
    m->edges = edges;
    dp_pool_init(&m->numbers);
}

/* Sorts the edges, and frees what finding them has made. Returns rc, or the error of sorting. */
static int finish_edges(struct making *m, int rc)
{
    struct dp_edges *e = m->edges;
    rc = rc < 0 ? rc : dp_sort_array(e->edges, e->count, sizeof *e->edges, compare_edges, m);
    dp_pool_release(&m->numbers);
    dp_mem_free(m->until);
    if (rc < 0)
        dp_edges_release(e);
    return rc;
}

int dp_edges_make(struct dp_edges *edges, const struct dp_overhead *over, const char *name,
                  size_t len, bool callees)
{
    struct making m;
    begin_edges(&m, edges, over);
    uint32_t wanted = dp_pool_lookup(&over->values, name, len);
    int rc = 0;
    for (uint32_t i = 0; i < over->n_nodes && rc == 0 && wanted != DP_MAP_NONE; i++) {
        const struct dp_report_node *n = &over->nodes[i];
        edges->found = edges->found || n->name == wanted;
        if (n->parent == DP_REPORT_NONE)
            continue;
        uint32_t caller = over->nodes[n->parent].name;
        if ((callees ? caller : n->name) == wanted)
            rc = add_edge(&m, callees ? n->name : caller, wanted, n, i);
    }
    return finish_edges(&m, rc);
}

/* ---- lines ---- */

static bool has_no_lines(const struct dp_part *sides, const struct dp_report_node *n)
{
    const struct dp_prof *prof = sides[n->side].prof;
    uint32_t sub = prof->nodes[n->node].sub;
    return sub != DP_PROF_NO_SUB && dp_subs_has_no_lines(&prof->subs.subs[sub]);
}

/* The label of the sub whose line made the call. Callers that have no lines, such as XS subs, are
 * passed over. */
static uint32_t line_caller(const struct dp_overhead *over, const struct dp_part *sides,
                            const struct dp_report_node *callee)
{
    const struct dp_report_node *n = &over->nodes[callee->parent];
    while (n->parent != DP_REPORT_NONE && has_no_lines(sides, n))
        n = &over->nodes[n->parent];
    return n->name;
}

int dp_edges_of_lines(struct dp_edges *edges, const struct dp_overhead *over,
                      const struct dp_part *sides, const struct dp_report_name *wanted,
                      size_t n, bool callees)
{
    struct making m;
    bool *is_wanted = dp_mem_zalloc((over->values.count + 1) * sizeof *is_wanted);
    int rc = is_wanted ? 0 : DP_E_NOMEM;
    begin_edges(&m, edges, over);
    for (size_t i = 0; i < n && rc == 0; i++) {
        uint32_t number = dp_pool_lookup(&over->values, wanted[i].ptr, wanted[i].len);
        if (number != DP_MAP_NONE)
            is_wanted[number] = true;
    }
    for (uint32_t i = 0; i < over->n_nodes && rc == 0; i++) {
        const struct dp_report_node *node = &over->nodes[i];
        if (node->parent == DP_REPORT_NONE || node->site == DP_REPORT_NONE)
            continue;
        uint32_t caller = line_caller(over, sides, node);
        if (!callees && is_wanted[node->name])
            rc = add_edge(&m, caller, node->name, node, i);
        else if (callees && (is_wanted[node->site] || is_wanted[caller]))
            rc = add_edge(&m, node->name, caller, node, i);
    }
    dp_mem_free(is_wanted);
    return finish_edges(&m, rc);
}

void dp_edges_release(struct dp_edges *edges)
{
    dp_mem_free(edges->edges);
    memset(edges, 0, sizeof *edges);
}
