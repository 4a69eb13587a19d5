#include "dp_diff_tree.h"
#include "dp_edges.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_num.h"
#include "dp_sort.h"

#include <string.h>

void dp_diff_tree_init(struct dp_diff_tree *tree, size_t n_sides, const char *edges_of,
                       size_t edges_of_len, bool callees)
{
    memset(tree, 0, sizeof *tree);
    dp_pool_init(&tree->texts);
    dp_map_init(&tree->kids);
    tree->n_sides = n_sides;
    tree->edges_of = edges_of;
    tree->edges_of_len = edges_of_len;
    tree->callees = callees;
}

void dp_diff_tree_release(struct dp_diff_tree *tree)
{
    dp_mem_free(tree->branches);
    dp_mem_free(tree->amounts);
    dp_mem_free(tree->order);
    dp_mem_free(tree->first);
    dp_map_release(&tree->kids);
    dp_pool_release(&tree->texts);
    memset(tree, 0, sizeof *tree);
}

/* Finds or makes the branch of that name below a parent. Returns its number, or DP_E_NOMEM.
 * Pointers to branches and amounts from before are no longer valid. */
static int64_t branch_of(struct dp_diff_tree *tree, uint32_t parent, uint32_t name)
{
    size_t n = tree->count;
    /* Make room first, so that each entry of the map has its branch even if something fails. */
    if (dp_mem_grow((void **)&tree->branches, &tree->cap, n + 1, sizeof *tree->branches) < 0
        || dp_mem_grow((void **)&tree->amounts, &tree->amounts_cap, (n + 1) * tree->n_sides,
                       sizeof *tree->amounts)
               < 0)
        return DP_E_NOMEM;
    struct dp_map_slot *slot = dp_map_put(&tree->kids, (uint64_t)parent << 32 | name);
    if (!slot)
        return DP_E_NOMEM;
    if (slot->value != DP_MAP_NONE)
        return slot->value;
    slot->value = (uint32_t)n;
    tree->branches[n] = (struct dp_diff_branch){ .name = name, .parent = parent };
    memset(&tree->amounts[n * tree->n_sides], 0, tree->n_sides * sizeof *tree->amounts);
    tree->count++;
    return (int64_t)n;
}

/* Returns the number that a text of the overhead view has in the tree's own pool; DP_MAP_NONE:
 * memory is short. */
static uint32_t text_of(struct dp_diff_tree *tree, const struct dp_overhead *over, uint32_t value)
{
    const struct dp_name *name = dp_pool_name(&over->values, value);
    return dp_pool_intern(&tree->texts, name->ptr, name->len);
}

static struct dp_diff_amount *amount_of(struct dp_diff_tree *tree, int64_t branch, uint32_t side)
{
    return &tree->amounts[(size_t)branch * tree->n_sides + side];
}

/* Scales a value as if the run had had the speed of the others. */
static uint64_t adjusted_value(const struct dp_diff_tree *tree, uint64_t value)
{
    return tree->speed == 1 ? value : dp_num_round((double)value / tree->speed);
}

/* Returns the number of the root branch, (program), or a DP_E. */
static int64_t root_of(struct dp_diff_tree *tree)
{
    uint32_t name = dp_pool_intern(&tree->texts, DP_FMT_PROGRAM, strlen(DP_FMT_PROGRAM));
    return name == DP_MAP_NONE ? DP_E_NOMEM : branch_of(tree, DP_MAP_NONE, name);
}

/* Adds the callers or callees of the sub, from a run's report, to the branches below the root.
 * Returns 0 or a DP_E. */
static int add_edges(struct dp_diff_tree *tree, uint32_t side, const struct dp_overhead *over)
{
    struct dp_edges e;
    int64_t b = root_of(tree);
    int rc = b < 0 ? (int)b
                   : dp_edges_make(&e, over, tree->edges_of, tree->edges_of_len, tree->callees);
    if (rc < 0)
        return rc;
    tree->found = tree->found || e.found;
    for (size_t i = 0; i < e.count && rc == 0; i++) {
        uint32_t name = text_of(tree, over, e.edges[i].name);
        b = name == DP_MAP_NONE ? DP_E_NOMEM : branch_of(tree, 0, name);
        if (b < 0) {
            rc = (int)b;
            break;
        }
        struct dp_diff_amount *a = amount_of(tree, b, side);
        a->self += adjusted_value(tree, e.edges[i].self);
        a->incl += adjusted_value(tree, e.edges[i].incl);
        a->calls += e.edges[i].calls;
    }
    dp_edges_release(&e);
    return rc;
}

/* Adds the contexts of a run to the branches of the tree. of: by context of the run, its branch;
 * texts: by value of the run, its number among ours plus 1. Returns 0 or DP_E_NOMEM. */
static int add_contexts(struct dp_diff_tree *tree, uint32_t side, const struct dp_overhead *over,
                        uint32_t *of, uint32_t *texts)
{
    for (size_t i = 0; i < over->n_nodes; i++) {
        const struct dp_report_node *n = &over->nodes[i];
        if (!texts[n->name]) {
            uint32_t text = text_of(tree, over, n->name);
            if (text == DP_MAP_NONE)
                return DP_E_NOMEM;
            texts[n->name] = text + 1;
        }
        int64_t b = n->parent == DP_REPORT_NONE
                ? root_of(tree) : branch_of(tree, of[n->parent], texts[n->name] - 1);
        if (b < 0)
            return (int)b;
        of[i] = (uint32_t)b;
        struct dp_diff_amount *a = amount_of(tree, b, side);
        a->self += adjusted_value(tree, n->self);
        a->calls += n->calls;
    }
    return 0;
}

int dp_diff_tree_add(void *ctx, const struct dp_diff *diff, const struct dp_diff_run *run,
                     const struct dp_overhead *over)
{
    struct dp_diff_tree *tree = ctx;
    tree->speed = diff->adjusted ? run->speed : 1;
    if (tree->edges_of)
        return add_edges(tree, run->side, over);
    uint32_t *of = dp_mem_realloc(NULL, over->n_nodes + 1, sizeof *of);
    uint32_t *texts = dp_mem_zalloc((over->values.count + 1) * sizeof *texts);
    int rc = of && texts ? add_contexts(tree, run->side, over, of, texts) : DP_E_NOMEM;
    dp_mem_free(of);
    dp_mem_free(texts);
    return rc;
}

/* ---- after the last run ---- */

/* The factor from a side's total to the baseline's; 1 without normalizing. */
static double factor_of(const struct dp_diff *diff, size_t side)
{
    double sum[2] = { 0, 0 }, runs[2] = { 0, 0 };
    if (!diff->how->normalize)
        return 1;
    for (size_t r = 0; r < diff->n_runs; r++) {
        /* the original totals: those of the columns are equal by now */
        int which = diff->runs[r].side == side;
        if (!which && diff->runs[r].side != 0)
            continue;
        sum[which] += (double)diff->runs[r].raw_total;
        runs[which]++;
    }
    return side == 0 || !sum[1] || !runs[0] || !runs[1] ? 1 : sum[0] / runs[0] / (sum[1] / runs[1]);
}

/* Divides the sums of a side's runs by the number of runs, and scales times to the baseline's total
 * if the comparison is normalized. */
static void make_means(struct dp_diff_tree *tree, const struct dp_diff *diff)
{
    for (size_t s = 0; s < tree->n_sides; s++) {
        uint64_t n = diff->sides[s].n_runs ? diff->sides[s].n_runs : 1;
        double factor = factor_of(diff, s);
        for (uint32_t b = 0; b < tree->count; b++) {
            struct dp_diff_amount *a = amount_of(tree, b, (uint32_t)s);
            a->calls = (a->calls + n / 2) / n;
            a->self = (a->self + n / 2) / n;
            a->incl = (a->incl + n / 2) / n;
            if (factor != 1) {
                a->self = dp_num_round((double)a->self * factor);
                a->incl = dp_num_round((double)a->incl * factor);
            }
        }
    }
}

static uint64_t distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

/* Adds up from the leaves, as parents have smaller numbers: the amounts of subtrees, and gross, how
 * much all that is in them has changed. The amounts of edges include their subtrees already. */
static void sum_up(struct dp_diff_tree *tree)
{
    for (size_t b = tree->count; b-- > 0;) {
        struct dp_diff_branch *branch = &tree->branches[b];
        for (uint32_t s = 0; s < tree->n_sides; s++) {
            struct dp_diff_amount *a = amount_of(tree, (int64_t)b, s);
            if (!tree->edges_of)
                a->incl += a->self;
            if (b && !tree->edges_of)
                amount_of(tree, branch->parent, s)->incl += a->incl;
        }
        const struct dp_diff_amount *old = dp_diff_amount_of(tree, (uint32_t)b, 0),
                                    *new = dp_diff_amount_of(tree, (uint32_t)b, tree->by);
        branch->gross += tree->edges_of ? distance(old->incl, new->incl)
                : distance(old->self, new->self);
        if (b)
            tree->branches[branch->parent].gross += branch->gross;
    }
}

/* Orders branches by parent; then by how much they changed with their subtrees, the greatest change
 * first; then by gross; then by name. */
static int compare_kids(const void *ctx, uint32_t x, uint32_t y)
{
    const struct dp_diff_tree *tree = ctx;
    const struct dp_diff_branch *a = &tree->branches[x], *b = &tree->branches[y];
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    uint64_t change = distance(dp_diff_amount_of(tree, x, 0)->incl,
                               dp_diff_amount_of(tree, x, tree->by)->incl);
    uint64_t other = distance(dp_diff_amount_of(tree, y, 0)->incl,
                              dp_diff_amount_of(tree, y, tree->by)->incl);
    if (change != other)
        return change > other ? -1 : 1;
    if (a->gross != b->gross)
        return a->gross > b->gross ? -1 : 1;
    return dp_name_compare(dp_pool_name(&tree->texts, a->name),
                           dp_pool_name(&tree->texts, b->name));
}

int dp_diff_tree_end(struct dp_diff_tree *tree, const struct dp_diff *diff)
{
    int64_t root = root_of(tree);
    if (root < 0)
        return (int)root;
    size_t n = tree->count;
    tree->by = (uint32_t)(diff->how->order && diff->how->order < tree->n_sides
            ? diff->how->order : tree->n_sides > 1);
    make_means(tree, diff);
    sum_up(tree);
    tree->branches[0].parent = 0;
    tree->order = dp_mem_realloc(NULL, n, sizeof *tree->order);
    tree->first = dp_mem_realloc(NULL, n + 1, sizeof *tree->first);
    if (!tree->order || !tree->first)
        return DP_E_NOMEM;
    for (uint32_t i = 1; i < n; i++)
        tree->order[i - 1] = i;
    dp_sort_u32(tree->order, n - 1, compare_kids, tree);
    uint32_t at = 0;
    for (uint32_t i = 0; i <= n; i++) {
        while (at < n - 1 && tree->branches[tree->order[at]].parent < i)
            at++;
        tree->first[i] = at;
    }
    return 0;
}
