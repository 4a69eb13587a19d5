/* dprofdiff's call tree, and its callers and callees of a sub. */
#include "dp_render_diff.h"
#include "dp_err.h"

#include <inttypes.h>

void dp_difftable_tree_columns(struct dp_difftable *r)
{
    bool edges = r->how->edges_of != NULL;
    const char *symbol = !edges ? "Symbol" : r->how->view == DP_V_CALLERS ? "Caller" : "Callee";
    const char *key = !edges ? "symbol" : r->how->view == DP_V_CALLERS ? "caller" : "callee";
    dp_difftable_column(r, K_BASE, 0, 0, "Baseline", "baseline", 10);
    dp_difftable_column(r, K_BASE_CALLS, 0, 0, "Base calls", "baseline_calls", 8);
    for (uint32_t s = 1; s < r->c.diff.n_sides; s++) {
        dp_difftable_column(r, K_VALUE, s, 0, dp_difftable_is_two(r) ? "New" : "Value", "value",
                            10);
        dp_difftable_column(r, K_CALLS, s, 0, "Calls", "calls", 8);
        dp_difftable_column(r, K_CHANGE, s, 0, "Delta", "delta", 10);
        dp_difftable_column(r, K_SPREAD, s, 0, "Self delta", "self_delta", 10);
    }
    dp_difftable_column(r, K_KEY, 0, 0, symbol, key, 6);
}

/* Fills in the cells of a line, in the order of the columns of dp_difftable_tree_columns. */
static void branch_cells(struct dp_difftable *r, struct dp_cell *cells,
                         const struct dp_diff_amount *amounts, struct dp_cell name)
{
    size_t c = 0;
    cells[c++] = dp_difftable_amount(r, amounts[0].incl);
    cells[c++] = dp_cell_count(amounts[0].calls);
    for (size_t s = 1; s < r->c.diff.n_sides; s++) {
        cells[c++] = dp_difftable_amount(r, amounts[s].incl);
        cells[c++] = dp_cell_count(amounts[s].calls);
        cells[c++] = dp_difftable_signed(r, amounts[0].incl, amounts[s].incl);
        cells[c++] = dp_difftable_signed(r, amounts[0].self, amounts[s].self);
    }
    cells[c] = name;
}

/* Adds a line of the tree to the table; dp_diff_tree_walk calls this. Returns 1, which ends the
 * walk, when the table has how->rows rows. */
static int add_line(void *ctx, const struct dp_diff_line *line)
{
    struct dp_difftable *r = ctx;
    struct dp_cell *cells = dp_table_row(&r->table);
    struct dp_cell name;
    if (!cells)
        return DP_E_NOMEM;
    if (line->more)
        dp_buf_addf(&r->scratch, "[%" PRIu32 " more]", line->more);
    name = line->more ? dp_difftable_kept(r) : dp_cell_text(line->name->ptr, line->name->len);
    branch_cells(r, cells, line->amounts, name);
    dp_table_last(&r->table)->indent = line->level;
    return r->how->rows && r->table.n_rows >= r->how->rows;
}

int dp_difftable_fill_tree(struct dp_difftable *r)
{
    return dp_diff_tree_walk(&r->c.tree, r->how->percent_limit, add_line, r);
}
