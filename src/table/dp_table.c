#include "dp_table.h"
#include "dp_err.h"
#include "dp_mem.h"

#include <string.h>

void dp_table_init(struct dp_table *t, const struct dp_column *columns, size_t n, uint64_t hz)
{
    memset(t, 0, sizeof *t);
    t->columns = columns;
    t->n_columns = n;
    t->hz = hz;
}

void dp_table_release(struct dp_table *t)
{
    dp_mem_free(t->cells);
    dp_mem_free(t->rows);
    dp_mem_free(t->facts);
    dp_table_init(t, t->columns, t->n_columns, t->hz);
}

static bool grow_array(struct dp_table *t, void **ptr, size_t *cap, size_t need, size_t size)
{
    if (dp_mem_grow(ptr, cap, need, size) == 0)
        return true;
    t->no_memory = true;
    return false;
}

void dp_table_fact(struct dp_table *t, const char *label, const char *key, struct dp_cell value,
                   const char *unit)
{
    if (!grow_array(t, (void **)&t->facts, &t->facts_cap, t->n_facts + 1, sizeof *t->facts))
        return;
    struct dp_fact *fact = &t->facts[t->n_facts++];
    fact->label = label;
    fact->key = key;
    fact->value = value;
    fact->unit = unit;
}

struct dp_cell *dp_table_row(struct dp_table *t)
{
    if (!grow_array(t, (void **)&t->rows, &t->rows_cap, t->n_rows + 1, sizeof *t->rows)
        || !grow_array(t, (void **)&t->cells, &t->cells_cap, t->n_cells + t->n_columns + 1,
                       sizeof *t->cells))
        return NULL;
    struct dp_row_of_table *row = &t->rows[t->n_rows++];
    struct dp_cell *cells = t->cells + t->n_cells;
    memset(row, 0, sizeof *row);
    memset(cells, 0, t->n_columns * sizeof *cells);
    row->cells = t->n_cells;
    t->n_cells += t->n_columns;
    return cells;
}

struct dp_row_of_table *dp_table_last(struct dp_table *t)
{
    return &t->rows[t->n_rows - 1];
}

struct dp_cell dp_cell_text(const char *ptr, size_t len)
{
    struct dp_cell cell = { .kind = DP_CELL_TEXT, .ptr = ptr, .len = len };
    return cell;
}

struct dp_cell dp_cell_percent(double pct)
{
    struct dp_cell cell = { .kind = DP_CELL_PERCENT, .real = pct };
    return cell;
}

struct dp_cell dp_cell_count(uint64_t n)
{
    struct dp_cell cell = { .kind = DP_CELL_COUNT, .whole = n };
    return cell;
}

struct dp_cell dp_cell_ticks(uint64_t ticks)
{
    struct dp_cell cell = { .kind = DP_CELL_TICKS, .whole = ticks };
    return cell;
}
