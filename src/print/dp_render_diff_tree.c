/* dprofdiff's call tree, and its callers and callees of a sub. */
#include "dp_render_diff.h"
#include "dp_err.h"
#include "dp_mem.h"

#include <inttypes.h>
#include <string.h>

void dp_rdiff_tree_columns(struct dp_rdiff *r)
{
    bool edges = r->how->edges_of != NULL;
    const char *symbol = !edges ? "Symbol" : r->how->view == DP_V_CALLERS ? "Caller" : "Callee";
    const char *key = !edges ? "symbol" : r->how->view == DP_V_CALLERS ? "caller" : "callee";
    dp_rdiff_column(r, K_BASE, 0, 0, "Baseline", "baseline", 10);
    dp_rdiff_column(r, K_BASE_CALLS, 0, 0, "Base calls", "baseline_calls", 8);
    for (uint32_t s = 1; s < r->diff.n_sides; s++) {
        dp_rdiff_column(r, K_VALUE, s, 0, dp_rdiff_is_two(r) ? "New" : "Value", "value", 10);
        dp_rdiff_column(r, K_CALLS, s, 0, "Calls", "calls", 8);
        dp_rdiff_column(r, K_CHANGE, s, 0, "Delta", "delta", 10);
        dp_rdiff_column(r, K_SPREAD, s, 0, "Self delta", "self_delta", 10);
    }
    dp_rdiff_column(r, K_KEY, 0, 0, symbol, key, 6);
}

static void branch_cells(struct dp_rdiff *r, struct dp_cell *cells,
                         const struct dp_diff_amount *amounts, struct dp_cell name)
{
    size_t c = 0;
    cells[c++] = dp_rdiff_amount(r, amounts[0].incl);
    cells[c++] = dp_cell_count(amounts[0].calls);
    for (size_t s = 1; s < r->diff.n_sides; s++) {
        cells[c++] = dp_rdiff_amount(r, amounts[s].incl);
        cells[c++] = dp_cell_count(amounts[s].calls);
        cells[c++] = dp_rdiff_signed(r, amounts[0].incl, amounts[s].incl);
        cells[c++] = dp_rdiff_signed(r, amounts[0].self, amounts[s].self);
    }
    cells[c] = name;
}

static int add_branch(struct dp_rdiff *r, const struct dp_diff_amount *amounts, struct dp_cell name,
                      unsigned level)
{
    struct dp_cell *cells = dp_table_row(&r->table);
    if (!cells)
        return DP_E_NOMEM;
    branch_cells(r, cells, amounts, name);
    dp_table_last(&r->table)->indent = level;
    return 0;
}

/* The branches of a parent that are too small, as one line, so that the lines add up. */
static int add_rest(struct dp_rdiff *r, uint32_t from, uint32_t end, unsigned level)
{
    size_t n = r->diff.n_sides;
    struct dp_diff_amount *sum = dp_mem_zalloc(n * sizeof *sum);
    if (!sum)
        return DP_E_NOMEM;
    for (uint32_t k = from; k < end; k++)
        for (size_t s = 0; s < n; s++) {
            const struct dp_diff_amount *a = dp_diff_amount_of(&r->tree, r->tree.order[k], s);
            sum[s].incl += a->incl;
            sum[s].self += a->incl;     /* with what they call, so that Self adds up, too */
            sum[s].calls += a->calls;
        }
    const struct dp_name *only = dp_pool_name(&r->tree.texts,
                                              r->tree.branches[r->tree.order[from]].name);
    if (end - from > 1)
        dp_buf_addf(&r->scratch, "[%" PRIu32 " more]", end - from);
    else
        dp_buf_add(&r->scratch, only->ptr, only->len);
    int rc = add_branch(r, sum, dp_rdiff_kept(r), level);
    dp_mem_free(sum);
    return rc;
}

/* Puts kids that are to be seen before those that are not. How many there are, or DP_E_NOMEM. */
static int64_t seen_kids(const struct dp_rdiff *r, uint32_t from, uint32_t end, double least)
{
    uint32_t *kids = r->tree.order + from, n = 0, hidden = 0;
    uint32_t *rest = dp_mem_realloc(NULL, end - from + 1, sizeof *rest);
    if (!rest)
        return DP_E_NOMEM;
    for (uint32_t k = 0; k < end - from; k++) {
        uint32_t b = kids[k];
        if ((double)r->tree.branches[b].gross >= least)
            kids[n++] = b;
        else
            rest[hidden++] = b;
    }
    memcpy(kids + n, rest, hidden * sizeof *rest);
    dp_mem_free(rest);
    return n;
}

struct level { uint32_t at, seen, end; };

int dp_rdiff_fill_tree(struct dp_rdiff *r)
{
    struct dp_diff_tree *t = &r->tree;
    const struct dp_diff_amount *all = dp_diff_amount_of(t, 0, 0);
    uint64_t most = all[0].incl > all[t->by].incl ? all[0].incl : all[t->by].incl;
    double least = r->how->percent_limit / 100 * (double)most;
    struct level *levels = NULL;
    size_t depth = 0, cap = 0;
    int rc = 0;
    if (!t->edges_of)
        rc = add_branch(r, all, dp_cell_text(DP_FMT_PROGRAM, strlen(DP_FMT_PROGRAM)), 0);
    uint32_t next = 0;          /* the branch to go down into */
    do {
        if (rc == 0 && dp_mem_grow((void **)&levels, &cap, depth + 1, sizeof *levels) < 0)
            rc = DP_E_NOMEM;
        if (rc < 0)
            break;
        struct level *l = &levels[depth++];
        *l = (struct level){ t->first[next], 0, t->first[next + 1] };
        int64_t seen = seen_kids(r, l->at, l->end, least);
        rc = seen < 0 ? (int)seen : 0;
        l->seen = l->at + (uint32_t)(seen < 0 ? 0 : seen);
        while (depth && rc == 0) {
            l = &levels[depth - 1];
            if (r->how->rows && r->table.n_rows >= r->how->rows)
                depth = 0;
            else if (l->at < l->seen) {
                next = t->order[l->at++];
                const struct dp_name *name = dp_pool_name(&t->texts, t->branches[next].name);
                rc = add_branch(r, dp_diff_amount_of(t, next, 0),
                                dp_cell_text(name->ptr, name->len),
                                (unsigned)depth - (t->edges_of != NULL));
                break;
            } else {
                if (l->at < l->end)
                    rc = add_rest(r, l->at, l->end, (unsigned)depth - (t->edges_of != NULL));
                depth--;
            }
        }
    } while (depth && rc == 0);
    dp_mem_free(levels);
    return rc;
}
