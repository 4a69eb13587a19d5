/* A table as CSV for spreadsheets, which must not interpret a name as a formula. */
#include "dp_render.h"
#include "dp_text.h"

#include <string.h>

/* The length of the blank at ptr, or of a character that looks like a blank; 0: there is none. */
static size_t blank_length(const char *ptr, size_t len)
{
    size_t n = dp_text_char(ptr, len);
    if (n == 0)
        return 0;
    uint32_t c = dp_text_code(ptr, n);
    return c == ' ' || (c >= '\t' && c <= '\r') || c == 0xa0 || (c >= 0x2000 && c <= 0x200b)
                   || c == 0x3000 || c == 0xfeff
               ? n : 0;
}

/* Would a spreadsheet interpret the text as a formula, or drop the leading character that prevents
 * this? Some spreadsheets know the full-width signs, too. */
static bool is_formula(const char *ptr, size_t len)
{
    size_t n;
    for (; (n = blank_length(ptr, len)) != 0; ptr += n, len -= n)
        if (n == 1 && *ptr != ' ')
            return true;
    if (len && strchr("=+-@", *ptr) && *ptr)
        return true;
    n = dp_text_char(ptr, len);
    uint32_t c = n == 3 ? dp_text_code(ptr, n) : 0;
    return c == 0xff1d || c == 0xff0b || c == 0xff0d || c == 0xff20;
}

/* Must a cell of CSV be in quotes? */
static bool needs_quotes(const char *ptr, size_t len)
{
    return len
           && (memchr(ptr, ',', len) || memchr(ptr, '"', len) || ptr[0] == ' '
               || ptr[len - 1] == ' ');
}

/* Writes a text as a field. An apostrophe before it keeps a spreadsheet from reading it as a
 * formula. */
static void put_text_field(struct dp_sink *sink, const char *ptr, size_t len, struct dp_buf *text)
{
    bool formula = is_formula(ptr, len);
    struct dp_name str = dp_render_text(ptr, len, text);
    bool quotes = needs_quotes(str.ptr, str.len);
    if (quotes)
        dp_sink_adds(sink, "\"");
    if (formula)
        dp_sink_adds(sink, "'");
    while (str.len) {
        const char *quote = memchr(str.ptr, '"', str.len);
        size_t n = quote ? (size_t)(quote - str.ptr) + 1 : str.len;
        dp_sink_add(sink, str.ptr, n);
        if (quote)
            dp_sink_adds(sink, "\"");
        str.ptr += n;
        str.len -= n;
    }
    if (quotes)
        dp_sink_adds(sink, "\"");
}

int dp_render_csv(const struct dp_table *t, const struct dp_table_how *how, struct dp_sink *sink)
{
    struct dp_buf text;
    char num[DP_NUMBER_MAX];
    bool levels = dp_render_has_levels(t);
    dp_buf_init(&text);
    for (size_t c = 0; c < t->n_columns && !how->quiet; c++) {
        if (c)
            dp_sink_adds(sink, ",");
        put_text_field(sink, t->columns[c].key, strlen(t->columns[c].key), &text);
    }
    if (!how->quiet)
        dp_sink_adds(sink, levels ? ",level\n" : "\n");
    for (size_t r = 0; r < t->n_rows; r++) {
        const struct dp_cell *cell = t->cells + t->rows[r].cells;
        for (size_t c = 0; c < t->n_columns; c++, cell++) {
            if (c)
                dp_sink_adds(sink, ",");
            if (cell->kind == DP_CELL_TEXT)
                put_text_field(sink, cell->ptr, cell->len, &text);
            else
                dp_sink_add(sink, num, dp_render_number(num, cell, t->hz, false));
        }
        if (levels)
            dp_sink_addf(sink, ",%u", t->rows[r].indent);
        dp_sink_adds(sink, "\n");
    }
    int rc = text.err;
    dp_buf_release(&text);
    return rc;
}
