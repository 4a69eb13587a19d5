#include "dp_chain.h"
#include "dp_err.h"
#include "dp_map.h"
#include "dp_mem.h"
#include "dp_sort.h"

#include <string.h>

enum { FRAMES = 127 };

/* ---- shared by all chains ---- */

/* Sets c->weight of each context to the value of the stacks through it, minus that of the stacks
 * through another context of its entry below it. Recursion thus counts once, at its innermost
 * frame. Returns 0 or DP_E_NOMEM. */
static int weigh_contexts(struct dp_chains *c)
{
    const struct dp_overhead *over = c->over;
    uint32_t *on_path = dp_mem_realloc(NULL, over->entries.count + 1, sizeof *on_path);
    uint32_t *above = dp_mem_realloc(NULL, over->n_nodes + 1, sizeof *above);
    if (on_path && above) {
        memset(on_path, 0xff, (over->entries.count + 1) * sizeof *on_path);
        for (uint32_t i = 0; i < over->n_nodes; i++) {
            const struct dp_report_node *n = &over->nodes[i];
            uint32_t same = on_path[n->entry];
            while (same != DP_REPORT_NONE && over->nodes[same].end <= i)
                same = above[same];
            above[i] = same;
            on_path[n->entry] = i;
            c->weight[i] = n->incl;
            if (same != DP_REPORT_NONE)
                c->weight[same] -= n->incl;
        }
    }
    bool ok = on_path && above;
    dp_mem_free(on_path);
    dp_mem_free(above);
    return ok ? 0 : DP_E_NOMEM;
}

int dp_chains_init(struct dp_chains *c, const struct dp_overhead *over, int of, size_t frames)
{
    size_t entries = over->entries.count, nodes = over->n_nodes;
    memset(c, 0, sizeof *c);
    c->over = over;
    c->frames = frames ? frames : FRAMES;
    c->first = dp_mem_zalloc((entries + 2) * sizeof *c->first);
    c->by_entry = dp_mem_realloc(NULL, nodes + 1, sizeof *c->by_entry);
    c->weight = dp_mem_realloc(NULL, nodes + 1, sizeof *c->weight);
    c->inside = dp_mem_zalloc((nodes + 1) * sizeof *c->inside);
    c->touched = dp_mem_realloc(NULL, nodes + 1, sizeof *c->touched);
    c->top = dp_mem_realloc(NULL, nodes + 1, sizeof *c->top);
    int rc = c->first && c->by_entry && c->weight && c->inside && c->touched && c->top
            ? 0 : DP_E_NOMEM;
    if (rc == 0) {
        for (uint32_t i = 0; i < nodes; i++)
            c->top[i] = over->nodes[i].depth <= c->frames ? i : c->top[over->nodes[i].parent];
        for (size_t i = 0; i < nodes; i++)
            c->first[over->nodes[i].entry + 2]++;
        for (size_t e = 2; e < entries + 2; e++)
            c->first[e] += c->first[e - 1];
        for (uint32_t i = 0; i < nodes; i++)
            c->by_entry[c->first[over->nodes[i].entry + 1]++] = i;
        if (of == DP_CHAIN_CHILDREN)
            rc = weigh_contexts(c);
        else
            for (size_t i = 0; i < nodes; i++)
                c->weight[i] = of == DP_CHAIN_SELF ? over->nodes[i].self : over->nodes[i].calls;
    }
    if (rc < 0)
        dp_chains_release(c);
    return rc;
}

void dp_chains_release(struct dp_chains *c)
{
    dp_mem_free(c->first);
    dp_mem_free(c->by_entry);
    dp_mem_free(c->weight);
    dp_mem_free(c->inside);
    dp_mem_free(c->touched);
    dp_mem_free(c->top);
    memset(c, 0, sizeof *c);
}

/* ---- the chains of one entry ---- */

/* A context that belongs to a chain node. In callee order it is the frame itself, with the value of
 * the stack that it is part of. */
struct item {
    uint32_t at, next;          /* context; the next item of the same chain node, 0: none */
    uint64_t value;
};

struct making {
    const struct dp_chains *c;
    const struct dp_chain_how *how;
    struct dp_chain *chain;
    struct item *items;         /* from 1 up */
    size_t n_items, items_cap;
    uint32_t *list;             /* by chain node: its items */
    size_t list_cap;
    uint32_t *frames;           /* by chain node: number of nodes above it */
    size_t frames_cap;
    struct dp_map kids;         /* of the current node: name -> kid */
    uint32_t *order;
    size_t order_cap;
    uint64_t *value_of;         /* by outermost context of the entry: value of the stacks through
                                 * it */
    size_t value_cap, n_touched;
};

/* Appends a chain node below its parent, without items yet. The parent does not link to it. Returns
 * its number, or DP_E_NOMEM. */
static int64_t new_node(struct making *m, uint32_t parent, uint32_t name)
{
    struct dp_chain *chain = m->chain;
    size_t n = chain->count;
    if (dp_mem_grow((void **)&chain->nodes, &chain->cap, n + 1, sizeof *chain->nodes) < 0
        || dp_mem_grow((void **)&m->list, &m->list_cap, n + 1, sizeof *m->list) < 0
        || dp_mem_grow((void **)&m->frames, &m->frames_cap, n + 1, sizeof *m->frames) < 0)
        return DP_E_NOMEM;
    memset(&chain->nodes[n], 0, sizeof chain->nodes[n]);
    chain->nodes[n].name = name;
    chain->nodes[n].parent = parent;
    m->list[n] = 0;
    m->frames[n] = n ? m->frames[parent] + 1 : 0;
    chain->count++;
    return (int64_t)n;
}

/* Finds or makes the kid of that name; m->kids has the parent's kids. Returns its number, or
 * DP_E_NOMEM. */
static int64_t kid_of(struct making *m, uint32_t parent, uint32_t name)
{
    struct dp_map_slot *slot = dp_map_find(&m->kids, name);
    if (slot)
        return slot->value;
    int64_t n = new_node(m, parent, name);
    if (n < 0)
        return n;
    if (!(slot = dp_map_put(&m->kids, name)))
        return DP_E_NOMEM;
    slot->value = (uint32_t)n;
    return n;
}

/* Adds an item to the kid of the parent that has the item's name, and its value to the kid's.
 * Returns 0 or DP_E_NOMEM. */
static int give_item(struct making *m, uint32_t parent, uint32_t item)
{
    struct item *it = &m->items[item];
    int64_t kid = kid_of(m, parent, m->c->over->nodes[it->at].name);
    if (kid < 0)
        return (int)kid;
    it->next = m->list[kid];
    m->list[kid] = item;
    m->chain->nodes[kid].value += it->value;
    return 0;
}

/* Returns the number of a new item of the chains, with its place and its value; a DP_E if memory is
 * short. */
static int64_t new_item(struct making *m, uint32_t at, uint64_t value)
{
    if (dp_mem_grow((void **)&m->items, &m->items_cap, m->n_items + 2, sizeof *m->items) < 0)
        return DP_E_NOMEM;
    m->items[++m->n_items] = (struct item){ at, 0, value };
    return (int64_t)m->n_items;
}

/* Adds a new item to the kid that has its name. Returns 0 or DP_E_NOMEM. */
static int add_item(struct making *m, uint32_t parent, uint32_t at, uint64_t value)
{
    int64_t item = new_item(m, at, value);
    return item < 0 ? (int)item : give_item(m, parent, (uint32_t)item);
}

/* Is a context a frame of chains? A root is none, except of its own chain. */
static bool is_frame(const struct dp_overhead *over, uint32_t at)
{
    return over->nodes[at].parent != DP_REPORT_NONE;
}

/* Makes the kids of chain node n, which are its next frames. Returns 0 or DP_E_NOMEM. */
static int add_kids(struct making *m, uint32_t n)
{
    const struct dp_overhead *over = m->c->over;
    int rc = 0;
    uint32_t next;
    for (uint32_t i = m->list[n]; i && rc == 0; i = next) {
        struct item it = m->items[i];
        next = it.next;
        if (!m->how->caller_order) {
            uint32_t up = over->nodes[it.at].parent;
            if (up != DP_REPORT_NONE && is_frame(over, up)) {
                m->items[i].at = up;
                rc = give_item(m, n, i);
            }
            continue;
        }
        for (uint32_t kid = it.at + 1; kid < over->nodes[it.at].end && rc == 0;
             kid = over->nodes[kid].end)
            if (over->nodes[kid].parent == it.at && m->c->inside[kid])
                rc = add_item(m, n, kid, m->c->inside[kid]);
    }
    return rc;
}

/* Compares nodes by value, the greatest first, then by name. */
static int compare_nodes(const void *ctx, uint32_t x, uint32_t y)
{
    const struct making *m = ctx;
    const struct dp_chain_node *a = &m->chain->nodes[x], *b = &m->chain->nodes[y];
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return dp_name_compare(dp_pool_name(&m->c->over->values, a->name),
                           dp_pool_name(&m->c->over->values, b->name));
}

/* Sorts the kids of n, which are the nodes from `from` up, links them to n, but leaves out the last
 * ones that are below the threshold. Returns 0 or DP_E_NOMEM. */
static int settle_kids(struct making *m, uint32_t n, size_t from)
{
    struct dp_chain *chain = m->chain;
    size_t kids = chain->count - from;
    uint64_t of = m->how->fractal ? chain->nodes[n].value : m->c->over->base;
    double least = m->how->threshold / 100 * (double)of;
    if (dp_mem_grow((void **)&m->order, &m->order_cap, kids + 1, sizeof *m->order) < 0)
        return DP_E_NOMEM;
    for (size_t k = 0; k < kids; k++)
        m->order[k] = (uint32_t)(from + k);
    dp_sort_u32(m->order, kids, compare_nodes, m);
    uint32_t *link = &chain->nodes[n].kid;
    chain->nodes[n].own = chain->nodes[n].value;
    for (size_t k = 0; k < kids; k++) {
        struct dp_chain_node *kid = &chain->nodes[m->order[k]];
        if (!kid->value || (double)kid->value < least) {
            m->list[m->order[k]] = 0;
            continue;
        }
        *link = m->order[k];
        link = &kid->sibling;
        chain->nodes[n].own -= kid->value;
    }
    return 0;
}

/* Makes all nodes below node 0, whose kids exist already. Nodes are appended after their parents,
 * so one pass reaches them all. Returns 0 or DP_E_NOMEM. */
static int grow_chain(struct making *m)
{
    int rc = settle_kids(m, 0, 1);
    for (uint32_t n = 1; n < m->chain->count && rc == 0; n++) {
        size_t from = m->chain->count;
        m->chain->nodes[n].own = m->chain->nodes[n].value;
        if (!m->list[n] || m->frames[n] >= m->c->frames)
            continue;
        dp_map_clear(&m->kids);
        rc = add_kids(m, n);
        if (rc == 0)
            rc = settle_kids(m, n, from);
    }
    return rc;
}

/* ---- caller order ---- */

/* Adds a value to c->inside of a context. At its first value the context is put on the list
 * c->touched, by which dp_chain_make clears c->inside again. */
static void touch_context(const struct dp_chains *c, struct making *m, uint32_t at, uint64_t value)
{
    if (!c->inside[at] && value)
        c->touched[m->n_touched++] = at;
    c->inside[at] += value;
}

/* Adds the values of the entry's contexts to all contexts above them: one by one or, if the
 * contexts are so deep that this takes longer, in one pass over all. */
static void pass_up(struct making *m, const uint32_t *at, size_t n)
{
    const struct dp_chains *c = m->c;
    const struct dp_report_node *nodes = c->over->nodes;
    uint64_t steps = 0;
    for (size_t k = 0; k < n; k++)
        steps += nodes[at[k]].depth;
    if (steps > c->over->n_nodes) {
        for (size_t i = c->over->n_nodes; i-- > 0;)
            if (c->inside[i] && nodes[i].parent != DP_REPORT_NONE)
                touch_context(c, m, nodes[i].parent, c->inside[i]);
        return;
    }
    for (size_t k = 0; k < n; k++)
        for (uint32_t up = nodes[at[k]].parent; up != DP_REPORT_NONE; up = nodes[up].parent)
            touch_context(c, m, up, m->value_of[k]);
}

/* Adds the value of the entry's stacks to c->inside of each context that they pass, as far as
 * chains reach. all: the stacks are those through the entry's outermost contexts, with all that
 * these call. Without the limit, an entry that is as deep as there are contexts would take as long
 * as all. Returns 0 or DP_E_NOMEM. */
static int mark_paths(struct making *m, uint32_t entry, bool all)
{
    const struct dp_chains *c = m->c;
    const struct dp_report_node *nodes = c->over->nodes;
    size_t n = 0, most = c->first[entry + 1] - c->first[entry];
    uint32_t until = 0;
    if (dp_mem_grow((void **)&m->order, &m->order_cap, most + 1, sizeof *m->order) < 0
        || dp_mem_grow((void **)&m->value_of, &m->value_cap, most + 1, sizeof *m->value_of) < 0)
        return DP_E_NOMEM;
    for (uint32_t k = c->first[entry]; k < c->first[entry + 1]; k++) {
        uint32_t at = c->by_entry[k];
        if (all && at < until && nodes[at].parent != DP_REPORT_NONE)
            continue;           /* inside of the outermost one */
        m->order[n] = c->top[at];
        m->value_of[n] = all ? nodes[at].incl : c->weight[at];
        m->chain->nodes[0].value += m->value_of[n++];
        until = nodes[at].end;
    }
    for (size_t k = 0; k < n; k++)
        touch_context(c, m, m->order[k], m->value_of[k]);
    pass_up(m, m->order, n);
    for (size_t k = 0; all && k < n; k++) {
        if (nodes[m->order[k]].depth >= c->frames)
            continue;
        for (uint32_t i = m->order[k] + 1; i < nodes[m->order[k]].end; i++)
            if (nodes[i].parent == DP_REPORT_NONE || nodes[i].depth > c->frames)
                i = nodes[i].end - 1;   /* a phase between the kids is not a kid */
            else
                touch_context(c, m, i, nodes[i].incl);
    }
    return 0;
}

/* Gives node 0 the entry's value, and the items from which its kids are made: in callee order the
 * entry's contexts that have a value; in caller order the outermost frames of the stacks that pass
 * it. Returns 0 or DP_E_NOMEM. */
static int begin_chain(struct making *m, uint32_t entry)
{
    const struct dp_chains *c = m->c;
    const struct dp_overhead *over = c->over;
    int rc = 0;
    if (!m->how->caller_order) {
        for (uint32_t k = c->first[entry]; k < c->first[entry + 1] && rc == 0; k++) {
            uint32_t at = c->by_entry[k];
            m->chain->nodes[0].value += c->weight[at];
            if (c->weight[at])
                rc = add_item(m, 0, at, c->weight[at]);
        }
        return rc;
    }
    rc = mark_paths(m, entry, m->how->of == DP_CHAIN_CHILDREN);
    for (size_t k = 0; k < m->n_touched && rc == 0; k++) {
        uint32_t i = c->touched[k];
        if (is_frame(over, i) && !is_frame(over, over->nodes[i].parent))
            rc = add_item(m, 0, i, c->inside[i]);
    }
    return rc;
}

int dp_chain_make(struct dp_chain *chain, const struct dp_chains *c, uint32_t entry,
                  const struct dp_chain_how *how)
{
    struct making m;
    memset(&m, 0, sizeof m);
    memset(chain, 0, sizeof *chain);
    m.c = c;
    m.how = how;
    m.chain = chain;
    dp_map_init(&m.kids);
    int rc = new_node(&m, 0, 0) < 0 ? DP_E_NOMEM : 0;
    if (rc == 0)
        rc = begin_chain(&m, entry);
    if (rc == 0)
        rc = grow_chain(&m);
    for (size_t k = 0; k < m.n_touched; k++)
        c->inside[c->touched[k]] = 0;
    dp_map_release(&m.kids);
    dp_mem_free(m.value_of);
    dp_mem_free(m.items);
    dp_mem_free(m.list);
    dp_mem_free(m.frames);
    dp_mem_free(m.order);
    if (rc < 0)
        dp_chain_release(chain);
    return rc;
}

void dp_chain_release(struct dp_chain *chain)
{
    dp_mem_free(chain->nodes);
    memset(chain, 0, sizeof *chain);
}
