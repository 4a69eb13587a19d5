/* Walks the tree of a comparison from the root down, line by line. */
#include "dp_diff_tree.h"
#include "dp_err.h"
#include "dp_mem.h"

#include <string.h>

/* Kids of one branch whose lines are not printed yet. */
struct level { uint32_t at, seen, end; };

struct walk {
    const struct dp_diff_tree *tree;
    uint32_t *order;            /* copy of the order, with the shown kids of each branch before the
                                 * hidden ones */
    double least;
    struct level *levels;
    size_t depth, cap;
    dp_diff_line_fn *fn;
    void *ctx;
};

/* Calls the listener with one branch of the tree as a line of the output. Returns what the listener
 * does. */
static int give_branch(struct walk *w, uint32_t branch, unsigned level)
{
    const struct dp_diff_tree *t = w->tree;
    const struct dp_diff_line line = {
        .name = dp_pool_name(&t->texts, t->branches[branch].name),
        .level = level,
        .amounts = dp_diff_amount_of(t, branch, 0),
    };
    return w->fn(w->ctx, &line);
}

/* Hands over the branches of a parent that are too small, as one line. Returns what the listener
 * does, or DP_E_NOMEM. */
static int give_rest(struct walk *w, uint32_t from, uint32_t end, unsigned level)
{
    const struct dp_diff_tree *t = w->tree;
    struct dp_diff_amount *sum = dp_mem_zalloc(t->n_sides * sizeof *sum);
    if (!sum)
        return DP_E_NOMEM;
    for (uint32_t k = from; k < end; k++)
        for (size_t s = 0; s < t->n_sides; s++) {
            const struct dp_diff_amount *a = dp_diff_amount_of(t, w->order[k], s);
            sum[s].incl += a->incl;
            sum[s].self += a->incl;     /* includes what the branches call, so Self adds up, too */
            sum[s].calls += a->calls;
        }
    struct dp_diff_line line = { .level = level, .amounts = sum };
    if (end - from > 1)
        line.more = end - from;
    else
        line.name = dp_pool_name(&t->texts, t->branches[w->order[from]].name);
    int rc = w->fn(w->ctx, &line);
    dp_mem_free(sum);
    return rc;
}

/* Moves kids that are shown before those that are not. Returns the number of shown kids, or
 * DP_E_NOMEM. */
static int64_t seen_kids(const struct walk *w, uint32_t from, uint32_t end)
{
    uint32_t *kids = w->order + from, n = 0, hidden = 0;
    uint32_t *rest = dp_mem_realloc(NULL, end - from + 1, sizeof *rest);
    if (!rest)
        return DP_E_NOMEM;
    for (uint32_t k = 0; k < end - from; k++) {
        uint32_t b = kids[k];
        if ((double)w->tree->branches[b].gross >= w->least)
            kids[n++] = b;
        else
            rest[hidden++] = b;
    }
    memcpy(kids + n, rest, hidden * sizeof *rest);
    dp_mem_free(rest);
    return n;
}

/* Goes down into a branch. Returns 0 or DP_E_NOMEM. */
static int enter_branch(struct walk *w, uint32_t branch)
{
    const struct dp_diff_tree *t = w->tree;
    if (dp_mem_grow((void **)&w->levels, &w->cap, w->depth + 1, sizeof *w->levels) < 0)
        return DP_E_NOMEM;
    struct level *l = &w->levels[w->depth++];
    *l = (struct level){ t->first[branch], 0, t->first[branch + 1] };
    int64_t seen = seen_kids(w, l->at, l->end);
    l->seen = l->at + (uint32_t)(seen < 0 ? 0 : seen);
    return seen < 0 ? (int)seen : 0;
}

/* Walks everything below the root. Returns 0, a DP_E, or what the listener returned to end the
 * walk. */
static int walk_down(struct walk *w)
{
    int rc = enter_branch(w, 0);
    while (w->depth && rc == 0) {
        struct level *l = &w->levels[w->depth - 1];
        unsigned level = (unsigned)w->depth - (w->tree->edges_of != NULL);
        if (l->at < l->seen) {
            uint32_t next = w->order[l->at++];
            rc = give_branch(w, next, level);
            rc = rc ? rc : enter_branch(w, next);
        } else {
            if (l->at < l->end)
                rc = give_rest(w, l->at, l->end, level);
            w->depth--;
        }
    }
    return rc;
}

int dp_diff_tree_walk(const struct dp_diff_tree *tree, double least_percent, dp_diff_line_fn *fn,
                      void *ctx)
{
    struct walk w = { .tree = tree, .fn = fn, .ctx = ctx };
    if (!tree->order)
        return 0;               /* no tree was asked for */
    const struct dp_diff_amount *all = dp_diff_amount_of(tree, 0, 0);
    uint64_t most = all[0].incl > all[tree->by].incl ? all[0].incl : all[tree->by].incl;
    w.least = least_percent / 100 * (double)most;
    w.order = dp_mem_realloc(NULL, tree->count + 1, sizeof *w.order);
    if (!w.order)
        return DP_E_NOMEM;
    memcpy(w.order, tree->order, (tree->count - 1) * sizeof *w.order);
    int rc = tree->edges_of ? 0 : give_branch(&w, 0, 0);
    rc = rc ? rc : walk_down(&w);
    dp_mem_free(w.order);
    dp_mem_free(w.levels);
    return rc < 0 ? rc : 0;
}
