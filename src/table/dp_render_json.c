/* A table as JSON: one object, one line for each row. */
#include "dp_render.h"
#include "dp_text.h"

#include <string.h>

/* The length of a run of bytes that need no escape. */
static size_t plain_length(const char *ptr, size_t len)
{
    size_t i = 0;
    while (i < len && (unsigned char)(ptr[i] - 0x20) < 0x5f && ptr[i] != '"' && ptr[i] != '\\'
           && ptr[i] != '<')
        i++;
    return i;
}

void dp_json_string(struct dp_buf *buf, const char *ptr, size_t len)
{
    dp_buf_addc(buf, '"');
    while (len) {
        size_t n = plain_length(ptr, len);
        if (n) {
            dp_buf_add(buf, ptr, n);
        } else if ((n = dp_text_char(ptr, len)) == 0) {
            dp_buf_addf(buf, "\\\\x%02x", (unsigned)(unsigned char)*ptr);
            n = 1;
        } else if (*ptr == '"' || *ptr == '\\') {
            dp_buf_addc(buf, '\\');
            dp_buf_addc(buf, *ptr);
        } else if (*ptr == '<' || dp_text_is_unseen(ptr, n)) {
            dp_buf_addf(buf, "\\u%04lx", (unsigned long)dp_text_code(ptr, n));
        } else {
            dp_buf_add(buf, ptr, n);
        }
        ptr += n;
        len -= n;
    }
    dp_buf_addc(buf, '"');
}

static void put_key(struct dp_buf *buf, const char *key)
{
    dp_json_string(buf, key, strlen(key));
    dp_buf_adds(buf, ": ");
}

/* Appends the value of a cell: a string, a number with all its digits, or null. */
static void put_value(struct dp_buf *buf, const struct dp_cell *cell, uint64_t hz)
{
    char num[DP_NUMBER_MAX];
    size_t len = dp_render_number(num, cell, hz, false);
    if (cell->kind == DP_CELL_TEXT)
        dp_json_string(buf, cell->ptr, cell->len);
    else if (cell->kind == DP_CELL_JSON)
        dp_buf_add(buf, cell->ptr, cell->len);
    else if (len)
        dp_buf_add(buf, num, len);
    else
        dp_buf_adds(buf, "null");
}

/* Writes the line so far. */
static void put_line(struct dp_buf *buf, struct dp_sink *sink)
{
    dp_sink_add(sink, buf->ptr, buf->len);
    buf->len = 0;               /* errors are kept for the end */
}

/* Appends the list of columns, so that programs can show titles for the keys of rows. */
static void put_columns(struct dp_buf *buf, const struct dp_table *t)
{
    dp_buf_adds(buf, "  \"columns\": [");
    for (size_t c = 0; c < t->n_columns; c++) {
        dp_buf_adds(buf, c ? ", {" : "{");
        put_key(buf, "key");
        dp_json_string(buf, t->columns[c].key, strlen(t->columns[c].key));
        dp_buf_adds(buf, ", ");
        put_key(buf, "title");
        dp_json_string(buf, t->columns[c].title, strlen(t->columns[c].title));
        dp_buf_adds(buf, "}");
    }
    dp_buf_adds(buf, "],\n");
}

/* Appends a row as an object. levels: some row of the table has a level, so each gets the key
 * `level'. */
static void put_row(struct dp_buf *buf, const struct dp_table *t, const struct dp_row_of_table *row,
                    bool levels)
{
    const struct dp_cell *cells = t->cells + row->cells;
    dp_buf_addc(buf, '{');
    for (size_t c = 0; c < t->n_columns; c++) {
        dp_buf_adds(buf, c ? ", " : "");
        put_key(buf, t->columns[c].key);
        put_value(buf, &cells[c], t->hz);
    }
    if (levels)
        dp_buf_addf(buf, "%s\"level\": %u", t->n_columns ? ", " : "", row->indent);
    if (row->block.json) {
        dp_buf_adds(buf, t->n_columns || levels ? ", \"chain\": " : "\"chain\": ");
        dp_buf_add(buf, row->block.json, row->block.json_len);
    }
    dp_buf_addc(buf, '}');
}

int dp_render_json(const struct dp_table *t, const struct dp_table_how *how, struct dp_sink *sink)
{
    struct dp_buf buf;
    bool levels = dp_render_has_levels(t);
    dp_buf_init(&buf);
    dp_buf_adds(&buf, "{\n");
    for (size_t i = 0; i < t->n_facts; i++) {
        dp_buf_adds(&buf, "  ");
        put_key(&buf, t->facts[i].key);
        put_value(&buf, &t->facts[i].value, t->hz);
        dp_buf_adds(&buf, ",\n");
    }
    put_columns(&buf, t);
    dp_buf_adds(&buf, "  ");
    put_key(&buf, how->rows_key ? how->rows_key : "rows");
    dp_buf_addc(&buf, '[');
    for (size_t r = 0; r < t->n_rows; r++) {
        dp_buf_adds(&buf, r ? ",\n    " : "\n    ");
        put_row(&buf, t, &t->rows[r], levels);
        put_line(&buf, sink);
    }
    dp_buf_adds(&buf, t->n_rows ? "\n  ]\n}\n" : "]\n}\n");
    put_line(&buf, sink);
    int rc = buf.err;
    dp_buf_release(&buf);
    return rc;
}
