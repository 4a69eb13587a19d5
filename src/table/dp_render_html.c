/* A table as a page that needs no script and no request. */
#include "dp_render.h"
#include "dp_text.h"

#include <string.h>

enum { LEVELS = 200 };

static const char head[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\">\n"
    "<head>\n"
    "<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'\">\n";

static const char style[] =
    "<style>\n"
    ":root { color-scheme: light dark; --text: #1b1b1b; --page: #fff; --line: #d8d8d8; --soft:"
    " #5c5c5c; --warm: #1a6b2d; --hot: #b3261e }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "  :root { --text: #e6e6e6; --page: #161616; --line: #3a3a3a; --soft: #a8a8a8; --warm:"
    " #7fd48b; --hot: #ff8a80 }\n"
    "}\n"
    "body { margin: 1.5em; font: 15px/1.4 system-ui, sans-serif; color: var(--text); background:"
    " var(--page) }\n"
    "h1 { font-size: 1.3em; margin: 0 0 .6em; overflow-wrap: anywhere }\n"
    "dl { display: grid; grid-template-columns: max-content 1fr; gap: .1em 1em; margin: 0 0 1.2em"
    " }\n"
    "dt { color: var(--soft) }\n"
    "dd { margin: 0; overflow-wrap: anywhere }\n"
    "table { border-collapse: collapse }\n"
    "th, td { padding: .2em .7em; text-align: right; vertical-align: baseline; white-space: nowrap"
    " }\n"
    "th { position: sticky; top: 0; background: var(--page); box-shadow: 0 1px var(--line) }\n"
    "td { border-top: 1px solid var(--line); font-variant-numeric: tabular-nums }\n"
    ".l { text-align: left }\n"
    "td.l { font-family: ui-monospace, monospace; font-size: .93em; white-space: pre-wrap;"
    " overflow-wrap: break-word }\n"
    ".warm { color: var(--warm) }\n"
    ".hot { color: var(--hot); font-weight: 600 }\n"
    "td.s { text-align: left; font-weight: 600; padding-top: 1em }\n"
    "td.b { border-top: 0; text-align: left }\n"
    "pre { margin: 0 0 .6em; font: .87em/1.3 ui-monospace, monospace; overflow-x: auto; max-width:"
    " calc(100vw - 5em) }\n"
    "@media print {\n"
    "  :root { color-scheme: light; --text: #000; --page: #fff; --line: #bbb; --soft: #333;"
    " --warm: #000; --hot: #000 }\n"
    "  body { margin: 0; font-size: 10pt }\n"
    "  th { position: static }\n"
    "  thead { display: table-header-group }\n"
    "  tr { break-inside: avoid }\n"
    "  tr.below { break-inside: auto }\n"
    "  pre { white-space: pre-wrap; overflow-wrap: anywhere; max-width: none }\n"
    "}\n"
    "</style>\n";

static void put_text(struct dp_sink *sink, const char *ptr, size_t len)
{
    dp_text_markup(dp_sink_write, sink, ptr, len, DP_MARKUP_APOSTROPHE);
}

static void put_str(struct dp_sink *sink, const char *str) { put_text(sink, str, strlen(str)); }

/* Writes the content of a cell. */
static void put_value(struct dp_sink *sink, const struct dp_cell *cell, uint64_t hz)
{
    char num[DP_NUMBER_MAX];
    if (cell->kind == DP_CELL_TEXT || cell->kind == DP_CELL_WORDED)
        put_text(sink, cell->ptr, cell->len);
    else
        dp_sink_add(sink, num, dp_render_number(num, cell, hz, true));
}

/* Writes the facts that have a value as a list of terms. */
static void put_facts(struct dp_sink *sink, const struct dp_table *t)
{
    if (!t->n_facts)
        return;
    dp_sink_adds(sink, "<dl>\n");
    for (size_t i = 0; i < t->n_facts; i++) {
        if (!dp_render_has_value(&t->facts[i].value))
            continue;
        dp_sink_adds(sink, "<dt>");
        put_str(sink, t->facts[i].label);
        dp_sink_adds(sink, "</dt><dd>");
        put_value(sink, &t->facts[i].value, t->hz);
        if (t->facts[i].unit) {
            dp_sink_adds(sink, " ");
            put_str(sink, t->facts[i].unit);
        }
        dp_sink_adds(sink, "</dd>\n");
    }
    dp_sink_adds(sink, "</dl>\n");
}

/* Writes the beginning of a table and its row of titles. */
static void put_head(struct dp_sink *sink, const struct dp_table *t)
{
    dp_sink_adds(sink, "<table>\n<thead>\n<tr>");
    for (size_t c = 0; c < t->n_columns; c++) {
        dp_sink_adds(sink,
                     t->columns[c].left ? "<th scope=\"col\" class=\"l\">" : "<th scope=\"col\">");
        put_str(sink, t->columns[c].title);
        dp_sink_adds(sink, "</th>");
    }
    dp_sink_adds(sink, "</tr>\n</thead>\n<tbody>\n");
}

/* Writes a row, with its section's heading above it and its block of text below it, if it has them.
 * indented: the column that a hierarchy indents. */
static void put_row(struct dp_sink *sink, const struct dp_table *t,
                    const struct dp_row_of_table *row, size_t indented)
{
    if (row->section) {
        dp_sink_addf(sink, "<tr><td class=\"s\" colspan=\"%zu\">", t->n_columns);
        put_str(sink, row->section);
        dp_sink_adds(sink, "</td></tr>\n");
    }
    dp_sink_adds(sink, "<tr>");
    for (size_t c = 0; c < t->n_columns; c++) {
        const struct dp_cell *cell = &t->cells[row->cells + c];
        int tint = (cell->kind == DP_CELL_PERCENT || cell->sign) && row->tint > cell->cool
                       ? row->tint - cell->cool : 0;
        bool left = t->columns[c].left;
        dp_sink_adds(sink, left ? "<td class=\"l" : tint ? "<td class=\"" : "<td");
        if (tint)
            dp_sink_addf(sink, "%s%s", left ? " " : "", tint > 1 ? "hot" : "warm");
        dp_sink_adds(sink, left || tint ? "\"" : "");
        if (c == indented && row->indent)
            dp_sink_addf(sink, " style=\"padding-left: calc(.7em + %uch)\"",
                         2 * (row->indent < LEVELS ? row->indent : LEVELS));
        dp_sink_adds(sink, ">");
        put_value(sink, cell, t->hz);
        dp_sink_adds(sink, "</td>");
    }
    dp_sink_adds(sink, "</tr>\n");
    if (!row->block.text_len)
        return;
    /* browsers ignore a newline right after <pre> */
    dp_sink_addf(sink, "<tr class=\"below\"><td class=\"b\" colspan=\"%zu\"><pre>\n", t->n_columns);
    dp_text_markup(dp_sink_write, sink, row->block.text, row->block.text_len,
                   DP_MARKUP_APOSTROPHE | DP_MARKUP_LINES);
    dp_sink_adds(sink, "</pre></td></tr>\n");
}

int dp_render_html(const struct dp_table *t, const struct dp_table_how *how, struct dp_sink *sink)
{
    const char *title = how->title && *how->title ? how->title : "Profile";
    size_t indented = dp_render_indented(t);
    dp_sink_adds(sink, head);
    dp_sink_adds(sink, "<title>");
    put_str(sink, title);
    dp_sink_adds(sink, "</title>\n");
    dp_sink_adds(sink, style);
    dp_sink_adds(sink, "</head>\n<body>\n<h1>");
    put_str(sink, title);
    dp_sink_adds(sink, "</h1>\n");
    if (!how->quiet)
        put_facts(sink, t);
    put_head(sink, t);
    for (size_t r = 0; r < t->n_rows; r++)
        put_row(sink, t, &t->rows[r], indented);
    dp_sink_adds(sink, "</tbody>\n</table>\n</body>\n</html>\n");
    return 0;
}
