#include "dp_returns.h"
#include "dp_err.h"
#include "dp_fmt.h"
#include "dp_mem.h"

#include <string.h>

enum { MAP_SPARE = 1024 };      /* number of outdated entries that are always allowed */

struct dp_returns_open {
    uint32_t depth, node;
};

struct dp_returns_move {
    uint32_t from, to;
};

void dp_returns_init(struct dp_returns *t)
{
    memset(t, 0, sizeof *t);
    dp_map_init(&t->kids);
}

void dp_returns_release(struct dp_returns *t)
{
    dp_mem_free(t->nodes);
    dp_mem_free(t->open);
    dp_mem_free(t->moves);
    dp_map_release(&t->kids);
    dp_returns_init(t);
}

static uint64_t key_of(uint32_t parent, uint32_t sub)
{
    return (uint64_t)parent << 32 | sub;
}

/* Takes a node that is in no tree yet. */
static int64_t new_node(struct dp_returns *t)
{
    uint32_t n = t->free;
    if (n) {
        t->free = t->nodes[n].next;
    } else {
        size_t need = t->count ? t->count + 1 : 2;      /* the first one is the root */
        if (need > DP_LIMIT_NODES)
            return DP_E_LIMIT;
        if (dp_mem_grow((void **)&t->nodes, &t->cap, need, sizeof *t->nodes) < 0)
            return DP_E_NOMEM;
        if (!t->count)
            t->nodes[t->count++] = (struct dp_returns_node){ .sub = DP_RETURNS_FREE };
        n = (uint32_t)t->count++;
    }
    t->nodes[n] = (struct dp_returns_node){ .sub = DP_RETURNS_FREE };
    return n;
}

static void free_node(struct dp_returns *t, uint32_t n)
{
    t->nodes[n].sub = DP_RETURNS_FREE;
    t->nodes[n].next = t->free;
    t->free = n;
}

/* Removes the outdated entries when most entries are outdated. */
static int clean_map(struct dp_returns *t)
{
    if (t->kids.used < 2 * t->used + MAP_SPARE)
        return 0;
    dp_map_clear(&t->kids);
    for (uint32_t n = 1; n < t->count; n++) {
        const struct dp_returns_node *node = &t->nodes[n];
        if (node->sub == DP_RETURNS_FREE)
            continue;
        struct dp_map_slot *slot = dp_map_put(&t->kids, key_of(node->parent, node->sub));
        if (!slot)
            return DP_E_NOMEM;
        slot->value = n;
    }
    return 0;
}

/* The kid with a sub, or DP_RETURNS_NONE. */
static uint32_t find_kid(const struct dp_returns *t, uint32_t parent, uint32_t sub)
{
    const struct dp_map_slot *slot = dp_map_find(&t->kids, key_of(parent, sub));
    const struct dp_returns_node *node = slot ? &t->nodes[slot->value] : NULL;
    return node && node->sub == sub && node->parent == parent ? slot->value : DP_RETURNS_NONE;
}

/* Makes n a kid of parent, which has none with the same sub. */
static int link_kid(struct dp_returns *t, uint32_t parent, uint32_t n, uint32_t sub)
{
    int rc = clean_map(t);
    struct dp_map_slot *slot = rc < 0 ? NULL : dp_map_put(&t->kids, key_of(parent, sub));
    if (!slot)
        return DP_E_NOMEM;
    struct dp_returns_node *node = &t->nodes[n];
    slot->value = n;
    t->used += node->sub == DP_RETURNS_FREE;
    node->sub = sub;
    node->parent = parent;
    node->next = t->nodes[parent].kid;
    t->nodes[parent].kid = n;
    return 0;
}

/* Adds calls and ticks to a node. Returns 0 or DP_E_LIMIT. */
static int add_values(struct dp_returns *t, uint32_t n, uint64_t calls, int64_t ticks)
{
    struct dp_returns_node *node = &t->nodes[n];
    const int64_t most = (int64_t)DP_LIMIT_TOTAL;
    if (ticks >= most - node->ticks || ticks <= -most - node->ticks)
        return DP_E_LIMIT;
    node->ticks += ticks;
    node->calls = dp_count_add(node->calls, calls);
    return 0;
}

/* Notes that a node has to become part of another one. Returns 0 or DP_E_NOMEM. */
static int push_move(struct dp_returns *t, uint32_t from, uint32_t to)
{
    if (dp_mem_grow((void **)&t->moves, &t->moves_cap, t->n_moves + 1, sizeof *t->moves) < 0)
        return DP_E_NOMEM;
    t->moves[t->n_moves++] = (struct dp_returns_move){ from, to };
    return 0;
}

/* Moves the kids of a node to another one: a kid with the same sub takes over the values. */
static int move_kids(struct dp_returns *t, uint32_t from, uint32_t to)
{
    int rc = push_move(t, from, to);
    while (rc == 0 && t->n_moves) {
        struct dp_returns_move m = t->moves[--t->n_moves];
        uint32_t n = t->nodes[m.from].kid, next;
        t->nodes[m.from].kid = DP_RETURNS_NONE;
        for (; rc == 0 && n; n = next) {
            struct dp_returns_node *node = &t->nodes[n];
            uint32_t twin = find_kid(t, m.to, node->sub);
            next = node->next;
            if (!twin) {
                rc = link_kid(t, m.to, n, node->sub);
                continue;
            }
            rc = add_values(t, twin, node->calls, node->ticks);
            if (rc == 0 && node->kid)
                rc = push_move(t, n, twin);
            node->sub = DP_RETURNS_FREE;        /* freed when its kids are gone */
            t->used--;
            if (rc == 0 && !node->kid)
                free_node(t, n);
        }
        if (rc == 0 && m.from != from)
            free_node(t, m.from);
    }
    return rc;
}

static struct dp_returns_open *top_frame(struct dp_returns *t)
{
    return t->n_open ? &t->open[t->n_open - 1] : NULL;
}

/* Drops the frame on top, which does not return: its callees become those of the one below, or of
 * the root. */
static int drop_top_frame(struct dp_returns *t)
{
    uint32_t n = t->open[--t->n_open].node;
    int rc = move_kids(t, n, t->n_open ? top_frame(t)->node : 0);
    if (rc == 0)
        free_node(t, n);
    return rc;
}

/* The frame at a depth, which has not returned. */
static int64_t open_at(struct dp_returns *t, uint32_t depth)
{
    if (t->n_open && top_frame(t)->depth == depth)
        return top_frame(t)->node;
    int64_t n = depth ? new_node(t) : 0;
    if (n < 0 || !depth)
        return n;
    if (dp_mem_grow((void **)&t->open, &t->open_cap, t->n_open + 1, sizeof *t->open) < 0)
        return DP_E_NOMEM;
    t->open[t->n_open++] = (struct dp_returns_open){ depth, (uint32_t)n };
    return n;
}

int dp_returns_add(struct dp_returns *t, uint32_t depth, uint32_t sub, int64_t ticks)
{
    int rc = 0;
    uint32_t self = DP_RETURNS_NONE;
    if (!depth)
        depth = 1;
    while (rc == 0 && t->n_open > 1 && t->open[t->n_open - 2].depth >= depth)
        rc = drop_top_frame(t);
    if (rc == 0 && t->n_open && top_frame(t)->depth >= depth)
        self = t->open[--t->n_open].node;       /* its callees have returned before */
    int64_t parent = rc < 0 ? rc : open_at(t, depth - 1);
    if (parent < 0)
        return (int)parent;
    uint32_t twin = find_kid(t, (uint32_t)parent, sub);
    if (twin) {
        rc = add_values(t, twin, 1, ticks);
        if (rc == 0 && self) {
            rc = move_kids(t, self, twin);
            if (rc == 0)
                free_node(t, self);
        }
        return rc;
    }
    int64_t n = self ? self : new_node(t);
    if (n < 0)
        return (int)n;
    rc = link_kid(t, (uint32_t)parent, (uint32_t)n, sub);
    return rc < 0 ? rc : add_values(t, (uint32_t)n, 1, ticks);
}

int dp_returns_end(struct dp_returns *t)
{
    int rc = 0;
    while (rc == 0 && t->n_open)
        rc = drop_top_frame(t);
    return rc;
}

uint32_t dp_returns_next(const struct dp_returns *t, uint32_t n)
{
    if (!t->count)
        return 0;
    if (t->nodes[n].kid)
        return t->nodes[n].kid;
    while (n && !t->nodes[n].next)
        n = t->nodes[n].parent;
    return n ? t->nodes[n].next : 0;
}
