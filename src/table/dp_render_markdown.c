/* A table as GitHub's Markdown. Names are in code spans, so they cannot become markup, links,
 * mentions or issue numbers. */
#include "dp_render.h"
#include "dp_text.h"

#include <string.h>

enum { LEVELS = 200, FENCES = 32 };

/* The number of backticks to put around a text, such that no run of backticks inside has the same
 * length. 0: there is no such number. */
static unsigned fence_length(const char *ptr, size_t len)
{
    uint64_t taken = 1;
    for (size_t i = 0; i < len; i++) {
        size_t run = 0;
        for (; i < len && ptr[i] == '`'; i++)
            run++;
        if (run <= FENCES)
            taken |= UINT64_C(1) << run;
    }
    for (unsigned n = 1; n <= FENCES; n++)
        if (!(taken >> n & 1))
            return n;
    return 0;
}

/* Writes a text for use inside a table. A pipe would end the cell, in a code span too; readers
 * remove a backslash before it. */
static void put_inside(struct dp_sink *sink, struct dp_name str, bool no_backticks)
{
    size_t from = 0;
    for (size_t i = 0; i < str.len; i++) {
        bool backtick = str.ptr[i] == '`' && no_backticks;
        if (str.ptr[i] != '|' && !backtick)
            continue;
        dp_sink_add(sink, str.ptr + from, i - from);
        dp_sink_adds(sink, backtick ? "\\x60" : "\\|");
        from = i + 1;
    }
    dp_sink_add(sink, str.ptr + from, str.len - from);
}

/* Writes the backticks that begin or end a code span. blank: a blank separates them from the
 * text. */
static void put_fence(struct dp_sink *sink, unsigned n, bool blank, bool opens)
{
    if (blank && !opens)
        dp_sink_adds(sink, " ");
    for (unsigned i = 0; i < n; i++)
        dp_sink_adds(sink, "`");
    if (blank && opens)
        dp_sink_adds(sink, " ");
}

static bool is_blank(struct dp_name str)
{
    for (size_t i = 0; i < str.len; i++)
        if (str.ptr[i] != ' ')
            return false;
    return true;
}

/* Writes a text for use inside a table as a code span; nothing for an empty text. */
static void put_code(struct dp_sink *sink, struct dp_name str)
{
    unsigned n = fence_length(str.ptr, str.len);
    if (!str.len)
        return;
    char first = str.ptr[0], last = str.ptr[str.len - 1];
    /* readers remove one blank on each side of the name */
    bool blank = first == '`' || last == '`' || (first == ' ' && last == ' ' && !is_blank(str));
    put_fence(sink, n ? n : 1, blank, true);
    put_inside(sink, str, n == 0);
    put_fence(sink, n ? n : 1, blank, false);
}

void dp_render_markdown_code(struct dp_buf *buf, const char *ptr, size_t len)
{
    struct dp_buf text;
    dp_buf_init(&text);
    struct dp_name str = dp_render_text(ptr, len, &text);
    unsigned n = fence_length(str.ptr, str.len);
    bool blank = str.len && (str.ptr[0] == '`' || str.ptr[str.len - 1] == '`');
    for (int side = 0; side < 2; side++) {
        dp_buf_adds(buf, blank && side ? " " : "");
        for (unsigned i = 0; i < (n ? n : 1); i++)
            dp_buf_addc(buf, '`');
        dp_buf_adds(buf, blank && !side ? " " : "");
        for (size_t i = 0; !side && i < str.len; i++)
            dp_buf_add(buf, n || str.ptr[i] != '`' ? &str.ptr[i] : "'", 1);
    }
    buf->err = buf->err ? buf->err : text.err;
    dp_buf_release(&text);
}

/* Writes a text for use outside of tables, where a pipe needs no escape. */
static void put_outside(struct dp_sink *sink, const char *ptr, size_t len, struct dp_buf *text)
{
    struct dp_buf code;
    dp_buf_init(&code);
    dp_render_markdown_code(&code, ptr, len);
    dp_sink_add(sink, code.ptr, code.len);
    text->err = text->err ? text->err : code.err;
    dp_buf_release(&code);
}

/* Writes a title: words as they are, anything else as code. */
static void put_title(struct dp_sink *sink, const char *ptr, struct dp_buf *text, bool in_table)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    size_t len = strlen(ptr), n = strspn(ptr, letters);
    if (n)
        while (n < len && (strchr(letters, ptr[n]) || strchr("0123456789 -%()", ptr[n])))
            n++;
    if (n == len)
        dp_sink_add(sink, ptr, len);
    else if (in_table)
        put_code(sink, dp_render_text(ptr, len, text));
    else
        put_outside(sink, ptr, len, text);
}

/* Writes a cell: text as code, and numbers as they are. */
static void put_cell(struct dp_sink *sink, const struct dp_cell *cell, uint64_t hz,
                     struct dp_buf *text)
{
    char num[DP_NUMBER_MAX];
    struct dp_name str = dp_render_cell(cell, hz, num, text);
    if (cell->kind == DP_CELL_TEXT)
        put_code(sink, str);
    else
        dp_sink_add(sink, str.ptr, str.len);
}

/* Writes the value of a fact above the table. */
static void put_fact(struct dp_sink *sink, const struct dp_cell *cell, uint64_t hz,
                     struct dp_buf *text)
{
    if (cell->kind == DP_CELL_TEXT)
        put_outside(sink, cell->ptr, cell->len, text);
    else
        put_cell(sink, cell, hz, text);
}

/* Writes the facts that have a value as a list above the table. */
static void put_facts(struct dp_sink *sink, const struct dp_table *t, struct dp_buf *text)
{
    for (size_t i = 0; i < t->n_facts; i++) {
        if (!dp_render_has_value(&t->facts[i].value))
            continue;
        dp_sink_adds(sink, "- ");
        put_title(sink, t->facts[i].label, text, false);
        dp_sink_adds(sink, ": ");
        put_fact(sink, &t->facts[i].value, t->hz, text);
        if (t->facts[i].unit) {
            dp_sink_adds(sink, " ");
            put_title(sink, t->facts[i].unit, text, false);
        }
        dp_sink_adds(sink, "\n");
    }
    if (t->n_facts)
        dp_sink_adds(sink, "\n");
}

/* Writes the row of titles, and the row that says how columns are aligned. */
static void put_head(struct dp_sink *sink, const struct dp_table *t, struct dp_buf *text)
{
    for (size_t c = 0; c < t->n_columns; c++) {
        dp_sink_adds(sink, c ? " | " : "| ");
        put_title(sink, t->columns[c].title, text, true);
    }
    dp_sink_adds(sink, " |\n");
    for (size_t c = 0; c < t->n_columns; c++)
        dp_sink_adds(sink, t->columns[c].left ? "| :--- " : "| ---: ");
    dp_sink_adds(sink, "|\n");
}

int dp_render_markdown(const struct dp_table *t, const struct dp_table_how *how,
                       struct dp_sink *sink)
{
    struct dp_buf text;
    size_t indented = dp_render_indented(t);
    dp_buf_init(&text);
    if (!how->quiet)
        put_facts(sink, t, &text);
    if (!t->n_rows || !t->rows[0].section)
        put_head(sink, t, &text);
    for (size_t r = 0; r < t->n_rows; r++) {
        const struct dp_row_of_table *row = &t->rows[r];
        if (row->section) {
            const struct dp_cell section = dp_cell_text(row->section, strlen(row->section));
            dp_sink_adds(sink, "\n**");
            put_fact(sink, &section, t->hz, &text);
            dp_sink_adds(sink, "**\n\n");
            put_head(sink, t, &text);
        }
        for (size_t c = 0; c < t->n_columns; c++) {
            dp_sink_adds(sink, c ? " | " : "| ");
            for (unsigned i = 0; c == indented && i < row->indent && i < LEVELS; i++)
                dp_sink_adds(sink, "&nbsp;&nbsp;");
            put_cell(sink, &t->cells[row->cells + c], t->hz, &text);
        }
        dp_sink_adds(sink, " |\n");
    }
    int rc = text.err;
    dp_buf_release(&text);
    return rc;
}
