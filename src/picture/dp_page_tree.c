#include "dp_page_tree.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_num.h"

#include <stdlib.h>
#include <string.h>

int dp_tree_times_init(struct dp_tree_times *tree, const struct dp_stacks *s,
                       const struct dp_map *kids)
{
    memset(tree, 0, sizeof *tree);
    tree->s = s;
    tree->kids = kids;
    tree->own = dp_mem_zalloc((s->count + 1) * 2 * sizeof *tree->own);
    return tree->own ? 0 : DP_E_NOMEM;
}

void dp_tree_times_release(struct dp_tree_times *tree)
{
    dp_mem_free(tree->frame);
    dp_mem_free(tree->at);
    dp_mem_free(tree->own);
    memset(tree, 0, sizeof *tree);
}

void dp_tree_times_clear(struct dp_tree_times *tree, uint32_t base)
{
    tree->base = base;
    tree->n_nodes = tree->n = 0;
    tree->unit = tree->real = 0;
    memset(tree->own, 0, (tree->s->count + 1) * 2 * sizeof *tree->own);
}

/* ---- contexts ---- */

/* Reads a decimal number at *at, and moves *at behind it. */
static bool read_digits(const char **at, const char *end, uint64_t *v)
{
    const char *from = *at;
    while (*at < end && **at >= '0' && **at <= '9')
        ++*at;
    return *at > from && dp_num_dec(from, (size_t)(*at - from), v) && *v < DP_LIMIT_TOTAL;
}

/* Appends a stretch of time in which a frame ran. Returns 0 or DP_E_NOMEM. */
static int add_stretch(struct dp_tree_times *tree, const struct dp_tree_stretch *s)
{
    if (dp_mem_grow((void **)&tree->at, &tree->cap, tree->n + 1, sizeof *tree->at) < 0)
        return DP_E_NOMEM;
    tree->at[tree->n++] = *s;
    return 0;
}

/* Reads GAP+LENGTH,GAP+LENGTH ... in units; a damaged part is left out. Returns the sum of the
 * lengths, or DP_E_NOMEM. */
static int64_t read_stretches(struct dp_tree_times *tree, struct dp_text when, uint32_t frame)
{
    const char *p = when.ptr, *end = p + when.len;
    uint64_t now = 0, sum = 0, gap, length, most = DP_LIMIT_TOTAL / tree->unit;
    while (read_digits(&p, end, &gap) && p < end && *p++ == '+' && read_digits(&p, end, &length)
           && now + gap + length < most) {
        struct dp_tree_stretch s = { .from = (now + gap) * tree->unit,
                                     .to = (now + gap + length) * tree->unit, .frame = frame };
        if (length && add_stretch(tree, &s) < 0)
            return DP_E_NOMEM;
        now += gap + length;
        sum += length;
        if (p < end && *p++ != ',')
            break;
    }
    return (int64_t)sum;
}

/* Divides CPU time among the stretches from number `first` on, by their lengths. */
static void divide_cpu(struct dp_tree_times *tree, size_t first, uint64_t cpu, uint64_t units)
{
    double of_tick = (double)cpu / ((double)units * (double)tree->unit), sum = 0;
    uint64_t done = 0;
    for (size_t i = first; i < tree->n; i++) {
        struct dp_tree_stretch *s = &tree->at[i];
        sum += (double)(s->to - s->from) * of_tick;
        uint64_t now = i + 1 == tree->n ? cpu : (uint64_t)sum;
        s->cpu = now > done ? now - done : 0;
        done += s->cpu;
    }
}

int64_t dp_tree_times_take(struct dp_tree_times *tree, const struct dp_context *c, uint32_t name)
{
    size_t node = c->again ? c->node : tree->n_nodes;
    if (dp_mem_grow((void **)&tree->frame, &tree->nodes_cap, node + 1, sizeof *tree->frame) < 0)
        return DP_E_NOMEM;
    if (!c->again) {
        uint32_t up = node ? tree->frame[c->parent] : tree->base;
        struct dp_map_slot *slot = name ? dp_map_find(tree->kids, (uint64_t)up << 32 | (name - 1))
                                        : NULL;
        tree->frame[tree->n_nodes++] = slot ? slot->value : up;
    }
    if (c->unit)
        tree->unit = c->unit;
    uint32_t frame = tree->frame[node];
    uint64_t cpu = c->t[DP_USER] + c->t[DP_SYSTEM];
    tree->own[2 * (size_t)frame] += c->t[DP_REAL];
    tree->own[2 * (size_t)frame + 1] += cpu;
    tree->real += c->t[DP_REAL];
    if (!c->when.len || !tree->unit)
        return (int64_t)node;
    size_t first = tree->n;
    int64_t units = read_stretches(tree, c->when, frame);
    if (units > 0)
        divide_cpu(tree, first, cpu, (uint64_t)units);
    return units < 0 ? units : (int64_t)node;
}

/* ---- order ---- */

/* Sorts stretches by their beginning. */
static int compare_stretches(const void *a, const void *b)
{
    const struct dp_tree_stretch *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->frame < y->frame ? -1 : x->frame > y->frame;
}

/* Lays frames one behind the other. */
static int walk_frames(struct dp_tree_times *tree)
{
    uint64_t now = 0;
    for (uint32_t i = 0; i < tree->s->count; i++) {
        uint64_t real = tree->own[2 * (size_t)i], cpu = tree->own[2 * (size_t)i + 1];
        struct dp_tree_stretch s = { now, now + real, cpu, i };
        if (real && add_stretch(tree, &s) < 0)
            return DP_E_NOMEM;
        now += real;
    }
    return 0;
}

int dp_tree_times_finish(struct dp_tree_times *tree, bool has_order)
{
    if (!tree->unit)
        return has_order ? walk_frames(tree) : 0;
    if (tree->n)
        qsort(tree->at, tree->n, sizeof *tree->at, compare_stretches);
    size_t kept = 0;
    uint64_t now = 0;
    for (size_t i = 0; i < tree->n; i++) {
        struct dp_tree_stretch s = tree->at[i];
        s.from = s.from > now ? s.from : now;
        if (s.from >= s.to)
            continue;
        tree->at[kept++] = s;
        now = s.to;
    }
    tree->n = kept;
    return 0;
}
