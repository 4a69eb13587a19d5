/* Trees that are recorded apart, then added to another tree or discarded. */
#include "dp_cct.h"

#include <string.h>

void dp_cct_clear(struct dp_cct *cct)
{
    if (cct->made < cct->count)
        cct->made = cct->count;
    for (size_t i = 0; i < cct->count; i++) {
        struct dp_cct_histogram *h = cct->nodes[i]->histogram;
        if (h)
            memset(h->count, 0, sizeof h->count);
        memset(cct->nodes[i], 0, cct->node_size);
    }
    cct->root->number = 1;
    cct->count = 1;
    cct->folded = 0;
    dp_when_clear(&cct->when);
    dp_map_clear(&cct->children);
    dp_cct_begin(cct);
}

/* Has the node no value at all? */
static bool is_empty(const struct dp_cct_node *n, size_t n_counts)
{
    for (size_t i = 0; i < n_counts; i++)
        if (n->counts[i])
            return false;
    return !n->calls && !n->real && !n->wait && !n->sys && !n->ops && !n->folded
           && !(dp_cct_has_span(n) && n->shortest);
}

/* Adds a histogram to another one, and clears the added one. Contexts of one sub share a histogram,
 * which is added with the first of them. */
static void add_histogram(struct dp_cct_histogram *to, struct dp_cct_histogram *from)
{
    for (int b = 0; b < DP_FMT_BUCKETS; b++) {
        to->count[b] += from->count[b];
        from->count[b] = 0;
    }
}

/* Takes the longest and the shortest call of another node into account. */
static void add_span(struct dp_cct_node *to, const struct dp_cct_node *from)
{
    if (from->longest > to->longest)
        to->longest = from->longest;
    if (from->shortest < to->shortest || !to->shortest)
        to->shortest = from->shortest;
}

/* Adds the values of a node to another one, with its histogram if both have one. */
static void add_node(struct dp_cct_node *to, const struct dp_cct_node *from, size_t n_counts)
{
    to->calls += from->calls;
    to->real += from->real;
    to->wait += from->wait;
    to->sys += from->sys;
    to->ops += from->ops;
    to->folded += from->folded;
    if (dp_cct_has_span(from) && from->shortest)
        add_span(to, from);
    for (size_t i = 0; i < n_counts; i++)
        to->counts[i] += from->counts[i];
    if (from->histogram && to->histogram)
        add_histogram(to->histogram, from->histogram);
}

/* Sets `last` of each context that is not empty, and of those above it; clears it elsewhere. A
 * context has a greater number than its caller. */
static void find_used(struct dp_cct *cct)
{
    for (size_t i = 0; i < cct->count; i++)
        cct->nodes[i]->last = is_empty(cct->nodes[i], cct->n_counts) ? NULL : cct->nodes[i];
    for (size_t i = cct->count; i-- > 1;)
        if (cct->nodes[i]->last)
            cct->nodes[i]->up->last = cct->root;
}

/* Adds a tree of contexts to another one. Afterwards, `last` of a context in `from` is the context
 * that it was added to. */
void dp_cct_add(struct dp_cct *to, struct dp_cct *from)
{
    find_used(from);
    for (size_t i = 0; i < from->count; i++) {
        struct dp_cct_node *n = from->nodes[i];
        if (!n->last)
            continue;
        if (!n->up)
            n->last = to->root;
        else if (n->histogram)
            n->last = dp_cct_child(to, n->up->last, n->id, n->site);
        else
            n->last = dp_cct_resumed(to, n->up->last, n->id, n->site);
        add_node(n->last, n, from->n_counts);
    }
    for (size_t i = 0; i < from->when.n; i++) {
        const struct dp_when_stretch *s = &from->when.at[i];
        const struct dp_cct_node *n = from->nodes[s->node - 1]->last;
        if (n)
            dp_when_add(&to->when, n->number, s->from << from->when.halved,
                        s->to << from->when.halved);
    }
    to->folded += from->folded;
}
