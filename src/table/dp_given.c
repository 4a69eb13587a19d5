/* Tables of a host that formats its values itself. */
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_table.h"
#include "dprof/profile.h"

#include <string.h>

static int write_out(void *ctx, const void *ptr, size_t n)
{
    const struct dp_host *host = ctx;
    return host->write(host->ctx, ptr, n) < 0 ? DP_E_IO : 0;
}

/* Turns a cell from Perl into a cell of a table. A cell with a number has a text for people as
 * well. */
static struct dp_cell cell_of(const struct dp_given_cell *given)
{
    struct dp_cell cell = dp_cell_text(given->text, given->len);
    if (given->is_number) {
        cell.kind = DP_CELL_WORDED;
        cell.whole = given->number_len;
    }
    return cell;
}

/* Adds the host's facts: texts for all formats, and JSON values, pairs of key and value, for JSON
 * alone. */
static void fill_facts(struct dp_table *t, const struct dp_given_table *given)
{
    for (size_t i = 0; i < given->n_facts; i++) {
        const struct dp_report_fact *f = &given->facts[i];
        dp_table_fact(t, f->label, f->key, dp_cell_text(f->text, f->len), NULL);
    }
    for (size_t i = 0; i + 1 < given->n_json; i += 2) {
        struct dp_cell cell = dp_cell_text(given->json[i + 1], strlen(given->json[i + 1]));
        cell.kind = DP_CELL_JSON;
        dp_table_fact(t, "", given->json[i], cell, NULL);
    }
}

/* Adds the rows from Perl to a table. */
static void fill_rows(struct dp_table *t, const struct dp_given_table *given)
{
    const struct dp_given_cell *from = given->cells;
    for (size_t r = 0; r < given->n_rows; r++) {
        struct dp_cell *cells = dp_table_row(t);
        for (size_t c = 0; cells && c < given->n_columns; c++)
            cells[c] = cell_of(from++);
    }
}

int dp_given_print(const struct dp_given_table *given, const struct dp_host *host)
{
    struct dp_sink *sink = dp_mem_alloc(sizeof *sink);
    struct dp_column *columns = dp_mem_realloc(NULL, given->n_columns + 1, sizeof *columns);
    struct dp_table t;
    int rc = sink && columns ? 0 : DP_E_NOMEM;
    for (size_t c = 0; rc == 0 && c < given->n_columns; c++) {
        const struct dp_given_column *from = &given->columns[c];
        columns[c] = (struct dp_column){
            .title = from->title, .key = from->key, .left = from->left != 0
        };
    }
    dp_table_init(&t, columns, given->n_columns, 0);
    if (rc == 0) {
        struct dp_table_how how = {
            .format = given->format, .separator = given->separator, .quiet = given->quiet != 0,
            .colour = given->colour != 0, .tight = given->tight != 0, .title = given->title,
            .rows_key = given->rows_key,
        };
        fill_facts(&t, given);
        fill_rows(&t, given);
        dp_sink_init(sink, write_out, (void *)(uintptr_t)host);
        rc = t.no_memory ? DP_E_NOMEM : dp_table_print(&t, &how, sink);
        int flushed = dp_sink_flush(sink);
        rc = rc < 0 ? rc : flushed;
    }
    dp_table_release(&t);
    dp_mem_free(columns);
    dp_mem_free(sink);
    return rc;
}
