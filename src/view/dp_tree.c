#include "dp_tree.h"
#include "dp_err.h"
#include "dp_flat.h"
#include "dp_mem.h"
#include "dp_sort.h"

#include <string.h>

/* Finds in the map, or makes, the branch of that name below a parent. Returns its number, or
 * DP_E_NOMEM. Pointers to branches from before are no longer valid. */
static int64_t branch_of(struct dp_tree *tree, struct dp_map *map, uint32_t parent, uint32_t name)
{
    /* Make room first, so that the map has no entry without its branch if something fails. */
    if (dp_mem_grow((void **)&tree->branches, &tree->cap, tree->count + 1, sizeof *tree->branches)
        < 0)
        return DP_E_NOMEM;
    struct dp_map_slot *slot = dp_map_put(map, (uint64_t)parent << 32 | name);
    if (!slot)
        return DP_E_NOMEM;
    if (slot->value != DP_MAP_NONE)
        return slot->value;
    uint32_t n = slot->value = (uint32_t)tree->count;
    struct dp_branch *b = &tree->branches[n];
    memset(b, 0, sizeof *b);
    b->name = name;
    b->parent = parent;
    tree->count++;
    return n;
}

/* Makes one branch of the contexts that have the same names on their paths, with the sums of their
 * values. of[node]: its branch; DP_MAP_NONE outside of what -g selects. Returns 0 or DP_E_NOMEM. */
static int merge_contexts(struct dp_tree *tree, struct dp_map *map, uint32_t *of,
                          const struct dp_prof *prof,
                          const struct dp_names *names, const struct dp_classic *how)
{
    for (uint32_t i = 0; i < prof->count; i++) {
        const struct dp_node *node = &prof->nodes[i];
        int64_t b = 0;
        if (i == 0) {
            b = branch_of(tree, map, DP_MAP_NONE, DP_MAP_NONE);
            of[0] = how->only < 0 ? 0 : DP_MAP_NONE;
        } else {
            uint32_t name = names->of_sub[node->sub], up = of[node->parent];
            of[i] = DP_MAP_NONE;
            if (up == DP_MAP_NONE && (long)name != how->only)
                continue;
            b = branch_of(tree, map, up == DP_MAP_NONE ? 0 : up, name);
            of[i] = (uint32_t)b;
        }
        if (b < 0)
            return (int)b;
        if (of[i] == DP_MAP_NONE)
            continue;
        tree->branches[b].calls += node->calls;
        tree->branches[b].self += dp_flat_own(prof, i, how);
    }
    tree->branches[0].parent = 0;
    for (size_t i = tree->count; i-- > 0;) {
        struct dp_branch *b = &tree->branches[i];
        b->incl += b->self;
        if (i)
            tree->branches[b->parent].incl += b->incl;
    }
    return 0;
}

struct sorter {
    const struct dp_tree *tree;
    const struct dp_names *names;
    int reverse;
};

/* Orders branches by parent, then the most expensive ones first, then by name. s->reverse turns the
 * order below a parent around. */
static int compare_branches(const void *ctx, uint32_t x, uint32_t y)
{
    const struct sorter *s = ctx;
    const struct dp_branch *a = &s->tree->branches[x], *b = &s->tree->branches[y];
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    int c = a->incl > b->incl ? -1 : a->incl < b->incl;
    if (!c)
        c = dp_name_compare(dp_pool_name(&s->names->pool, a->name),
                            dp_pool_name(&s->names->pool, b->name));
    return s->reverse ? -c : c;
}

/* Sorts the branches by parent, and below each parent as compare_branches() says. Sets where the
 * kids of each branch begin in that order. Returns 0 or DP_E_NOMEM. */
static int arrange_branches(struct dp_tree *tree, const struct dp_names *names, int reverse)
{
    struct sorter s = { tree, names, reverse };
    size_t n = tree->count;
    tree->order = dp_mem_realloc(NULL, n, sizeof *tree->order);
    tree->first = dp_mem_realloc(NULL, n, sizeof *tree->first);
    if (!tree->order || !tree->first)
        return DP_E_NOMEM;
    for (uint32_t i = 1; i < n; i++)
        tree->order[i - 1] = i;
    dp_sort_u32(tree->order, n - 1, compare_branches, &s);
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        while (at < n - 1 && tree->branches[tree->order[at]].parent < i)
            at++;
        tree->first[i] = at;
    }
    return 0;
}

int dp_tree_make(struct dp_tree *tree, const struct dp_prof *prof, const struct dp_names *names,
                 const struct dp_classic *how)
{
    struct dp_map map;
    memset(tree, 0, sizeof *tree);
    if (how->counter > prof->n_counters)
        return DP_E_ARG;
    dp_map_init(&map);
    uint32_t *of = dp_mem_realloc(NULL, prof->count, sizeof *of);
    int rc = of ? merge_contexts(tree, &map, of, prof, names, how) : DP_E_NOMEM;
    dp_map_release(&map);
    dp_mem_free(of);
    if (rc == 0)
        rc = arrange_branches(tree, names, how->reverse);
    if (rc < 0)
        dp_tree_release(tree);
    return rc;
}

void dp_tree_release(struct dp_tree *tree)
{
    dp_mem_free(tree->branches);
    dp_mem_free(tree->order);
    dp_mem_free(tree->first);
    memset(tree, 0, sizeof *tree);
}
