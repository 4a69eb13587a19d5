/* A table as text: columns for people, or fields between separators. */
#include "dp_render.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_text.h"

#include <string.h>

enum {
    GAP = 2,                    /* blanks between columns */
    STEP = 2,                   /* blanks for each level */
    LEVELS = 200,               /* deeper levels are not indented further */
    WIDEST = 200,               /* a longer cell juts out, because it would widen all rows */
    NAMED = 40,                 /* in a pipe, names are not cut to less than that */
    NARROW = 20, NARROWEST = 8  /* widths to which texts are cut: before columns are left out, and
                                 * when no column is left to leave out */
};

#define HIDDEN SIZE_MAX         /* stands for the width of a hidden column */

struct printing {
    const struct dp_table *t;
    const struct dp_table_how *how;
    struct dp_sink *sink;
    struct dp_buf text, cut;
    char num[DP_NUMBER_MAX];
    size_t *width;              /* by column; or HIDDEN */
    size_t *natural;            /* by column, before texts are cut */
    size_t first;               /* first column that is shown */
    size_t indented;
    size_t pending;             /* number of blanks due before the next text on the line */
};

static void add_text(struct printing *p, const char *ptr, size_t len)
{
    dp_sink_add(p->sink, ptr, len);
}

static struct dp_name title_of(struct printing *p, size_t c)
{
    const char *str = p->t->columns[c].title;
    return dp_render_text(str, strlen(str), &p->text);
}

static size_t indent_of(const struct printing *p, const struct dp_row_of_table *row, size_t c)
{
    if (c != p->indented)
        return 0;
    return STEP * (size_t)(row->indent < LEVELS ? row->indent : LEVELS);
}

/* Prints a line of comment, wrapped at the width. */
static void put_comment(struct printing *p, const struct dp_buf *line)
{
    if (p->how->width)
        dp_render_wrapped(p->sink, line->ptr, line->len, p->how->width, "#   ");
    else
        add_text(p, line->ptr, line->len);
    dp_sink_adds(p->sink, "\n");
}

/* Prints which columns are left out on a narrow terminal. */
static void print_hidden(struct printing *p)
{
    bool any = false;
    p->cut.len = 0;
    for (size_t c = 0; p->width && c < p->t->n_columns; c++) {
        if (p->width[c] != HIDDEN)
            continue;
        const char *name = p->t->columns[c].title;
        dp_buf_adds(&p->cut, any ? ", " : "# Left out, as the terminal is narrow: ");
        dp_text_escape(&p->cut, name, strlen(name));
        any = true;
    }
    if (any)
        put_comment(p, &p->cut);
}

/* Prints the facts that have a value as comments above the table, and which columns are left
 * out. */
static void print_facts(struct printing *p)
{
    const struct dp_table *t = p->t;
    for (size_t i = 0; i < t->n_facts; i++) {
        const struct dp_fact *fact = &t->facts[i];
        if (!dp_render_has_value(&fact->value))
            continue;
        p->cut.len = 0;
        dp_buf_adds(&p->cut, "# ");
        dp_text_escape(&p->cut, fact->label, strlen(fact->label));
        dp_buf_adds(&p->cut, *fact->label ? ": " : "");
        struct dp_name value = dp_render_cell(&fact->value, t->hz, p->num, &p->text);
        dp_buf_add(&p->cut, value.ptr, value.len);
        if (fact->unit) {
            dp_buf_adds(&p->cut, " ");
            dp_text_escape(&p->cut, fact->unit, strlen(fact->unit));
        }
        put_comment(p, &p->cut);
    }
    print_hidden(p);
    if (t->n_facts)
        dp_sink_adds(p->sink, "#\n");
}

static const struct dp_cell *cell_at(const struct printing *p, size_t row, size_t c)
{
    return &p->t->cells[p->t->rows[row].cells + c];
}

/* ---- columns ---- */

static size_t width_of(const struct dp_cell *cell, struct dp_name str)
{
    return cell->kind == DP_CELL_TEXT ? dp_text_columns(str.ptr, str.len) : str.len;
}

/* Returns whether the texts of column c may be cut. In a pipe only names are cut; reasons and other
 * texts of a row stay whole. */
static bool may_cut(const struct printing *p, size_t c)
{
    return p->t->columns[c].left && (p->how->width || (p->how->names_width && c == p->indented));
}

/* Finds how wide each column must be for its title and its cells. Cells over WIDEST do not widen
 * their column. */
static void measure_columns(struct printing *p)
{
    const struct dp_table *t = p->t;
    for (size_t c = 0; c < t->n_columns; c++) {
        struct dp_name str = title_of(p, c);
        size_t n = dp_text_columns(str.ptr, str.len);
        p->width[c] = n > t->columns[c].width ? n : t->columns[c].width;
    }
    for (size_t r = 0; r < t->n_rows; r++)
        for (size_t c = 0; c < t->n_columns; c++) {
            struct dp_name str = dp_render_cell(cell_at(p, r, c), t->hz, p->num, &p->text);
            size_t n = width_of(cell_at(p, r, c), str) + indent_of(p, &t->rows[r], c);
            if (n > p->width[c] && n <= WIDEST)
                p->width[c] = n;
            else if (n > WIDEST && may_cut(p, c))
                p->width[c] = WIDEST;
        }
}

/* ---- narrow terminals ---- */

/* Returns the width of a line of the table with all its gaps. */
static size_t line_width(const struct printing *p)
{
    size_t all = 0;
    for (size_t c = 0; c < p->t->n_columns; c++)
        all += p->width[c] == HIDDEN ? 0 : p->width[c] + (all ? GAP : 0);
    return all;
}

/* Shortens the widest texts, column by column, as long as they are wider than `least`. */
static bool cut_texts(struct printing *p, size_t least)
{
    for (size_t all = line_width(p); all > p->how->width; all--) {
        size_t widest = p->t->n_columns;
        for (size_t c = 0; c < p->t->n_columns; c++)
            if (p->t->columns[c].left && p->width[c] != HIDDEN && p->width[c] > least
                && (widest == p->t->n_columns || p->width[c] > p->width[widest]))
                widest = c;
        if (widest == p->t->n_columns)
            return false;
        p->width[widest]--;
    }
    return true;
}

/* Hides the column that a narrow terminal can spare first, and gives the others their full width
 * again. Returns false if no column can be spared. */
static bool hide_spare_column(struct printing *p)
{
    size_t n = p->t->n_columns, spare = n;
    for (size_t c = 0; c < n; c++)
        if (p->width[c] != HIDDEN && p->t->columns[c].spare
            && (spare == n || p->t->columns[c].spare >= p->t->columns[spare].spare))
            spare = c;
    for (size_t c = 0; c < n; c++)
        if (p->width[c] != HIDDEN)
            p->width[c] = p->natural[c];
    if (spare < n)
        p->width[spare] = HIDDEN;
    return spare < n;
}

/* Narrows the column of names until a row fits a pipe, but keeps NAMED columns of it. */
static void fit_names(struct printing *p)
{
    size_t all = line_width(p), c = p->indented;
    if (c >= p->t->n_columns || all <= p->how->names_width || p->width[c] <= NAMED)
        return;
    size_t spare = p->width[c] - NAMED, over = all - p->how->names_width;
    p->width[c] -= over < spare ? over : spare;
}

/* Makes the columns fit how->width: cuts texts, hides columns one after the other, and at last cuts
 * texts even further. */
static void fit_columns(struct printing *p)
{
    memcpy(p->natural, p->width, p->t->n_columns * sizeof *p->width);
    bool fits = !p->how->width;
    while (!fits && !(fits = cut_texts(p, NARROW)) && hide_spare_column(p))
        ;
    if (!fits)
        cut_texts(p, NARROWEST);
    if (!p->how->width && p->how->names_width)
        fit_names(p);
    while (p->first + 1 < p->t->n_columns && p->width[p->first] == HIDDEN)
        p->first++;
}

/* A text cut to its column's width. */
static struct dp_name shown_text(struct printing *p, size_t c, struct dp_name str, size_t indent)
{
    size_t room = p->width[c] > indent + NARROWEST ? p->width[c] - indent : NARROWEST;
    if (!may_cut(p, c) || dp_text_columns(str.ptr, str.len) <= room)
        return str;
    p->cut.len = 0;
    dp_render_cut(&p->cut, str.ptr, str.len, room);
    return (struct dp_name){ p->cut.ptr, p->cut.len };
}

/* Returns the escape sequence for a cell's colour, or NULL. */
static const char *colour_of(const struct printing *p, const struct dp_row_of_table *row,
                             const struct dp_cell *cell)
{
    if (!p->how->colour || (cell->kind != DP_CELL_PERCENT && !cell->sign))
        return NULL;
    int tint = row->tint - cell->cool;
    return tint == 2 ? "\x1b[31m" : tint == 1 ? "\x1b[32m" : NULL;
}

/* Prints a cell. Blanks are delayed until something follows them, so no line ends in blanks. */
static void put_cell(struct printing *p, size_t c, struct dp_name str, size_t width, size_t indent,
                     const char *colour)
{
    if (p->width[c] == HIDDEN)
        return;
    size_t fill = p->width[c] > width + indent ? p->width[c] - width - indent : 0;
    bool left = p->t->columns[c].left;
    p->pending += (c > p->first ? GAP : 0) + (left ? 0 : fill) + indent;
    if (str.len) {
        dp_sink_blanks(p->sink, p->pending);
        p->pending = 0;
        if (colour)
            dp_sink_adds(p->sink, colour);
        add_text(p, str.ptr, str.len);
        if (colour)
            dp_sink_adds(p->sink, "\x1b[m");
    }
    p->pending += left ? fill : 0;
}

static void end_line(struct printing *p)
{
    p->pending = 0;
    dp_sink_adds(p->sink, "\n");
}

/* Prints the titles, and below each as many dots as its column is wide. */
static void print_head(struct printing *p)
{
    if (!p->t->n_columns)
        return;
    for (size_t c = 0; c < p->t->n_columns; c++) {
        struct dp_name str = shown_text(p, c, title_of(p, c), 0);
        put_cell(p, c, str, dp_text_columns(str.ptr, str.len), 0, NULL);
    }
    end_line(p);
    for (size_t c = 0; c < p->t->n_columns; c++) {
        if (p->width[c] == HIDDEN)
            continue;
        if (c > p->first)
            dp_sink_blanks(p->sink, GAP);
        for (size_t i = 0; i < p->width[c]; i++)
            dp_sink_add(p->sink, ".", 1);
    }
    dp_sink_adds(p->sink, p->how->tight ? "\n" : "\n\n");
}

/* Prints a block of text with an empty line behind it. */
static void print_block(struct printing *p, const struct dp_block *block)
{
    if (!block->text_len)
        return;
    add_text(p, block->text, block->text_len);
    dp_sink_adds(p->sink, block->text[block->text_len - 1] == '\n' ? "\n" : "\n\n");
}

/* Prints the title of a section of rows as a comment. */
static void print_section(struct printing *p, const char *section, const char *gap)
{
    if (!section || p->how->quiet)
        return;
    dp_sink_adds(p->sink, gap);
    p->cut.len = 0;
    dp_buf_adds(&p->cut, "# ");
    dp_text_escape(&p->cut, section, strlen(section));
    put_comment(p, &p->cut);
    dp_sink_adds(p->sink, gap);
}

/* Prints the rows, each with the heading above it and the block below it, if it has them. */
static void print_rows(struct printing *p)
{
    const struct dp_table *t = p->t;
    for (size_t r = 0; r < t->n_rows; r++) {
        const struct dp_row_of_table *row = &t->rows[r];
        print_section(p, row->section, "\n");
        for (size_t c = 0; c < t->n_columns; c++) {
            const struct dp_cell *cell = cell_at(p, r, c);
            size_t indent = indent_of(p, row, c);
            struct dp_name str = dp_render_cell(cell, t->hz, p->num, &p->text);
            if (cell->kind == DP_CELL_TEXT)
                str = shown_text(p, c, str, indent);
            put_cell(p, c, str, width_of(cell, str), indent, colour_of(p, row, cell));
        }
        end_line(p);
        print_block(p, &row->block);
    }
}

/* Prepares for printing a table. */
static void start_printing(struct printing *p, const struct dp_table *t,
                           const struct dp_table_how *how, struct dp_sink *sink)
{
    memset(p, 0, sizeof *p);
    p->t = t;
    p->how = how;
    p->sink = sink;
    p->indented = dp_render_indented(t);
    dp_buf_init(&p->text);
    dp_buf_init(&p->cut);
}

/* Frees what printing has made. Returns 0, or DP_E_NOMEM if memory was short at any time. */
static int finish_printing(struct printing *p)
{
    int rc = p->text.err ? p->text.err : p->cut.err;
    dp_mem_free(p->width);
    dp_buf_release(&p->text);
    dp_buf_release(&p->cut);
    return rc;
}

int dp_render_columns(const struct dp_table *t, const struct dp_table_how *how,
                      struct dp_sink *sink)
{
    struct printing p;
    start_printing(&p, t, how, sink);
    p.width = dp_mem_realloc(NULL, 2 * t->n_columns + 1, sizeof *p.width);
    if (!p.width)
        return DP_E_NOMEM;
    p.natural = p.width + t->n_columns;
    measure_columns(&p);
    fit_columns(&p);
    if (!how->quiet) {
        print_facts(&p);
        print_head(&p);
    }
    print_rows(&p);
    return finish_printing(&p);
}

/* ---- fields ---- */

/* Prints a field. Numbers contain no likely separator; texts may. */
static void put_field(struct printing *p, struct dp_name str)
{
    const char *sep = p->how->separator;
    size_t n = dp_text_char(sep, strlen(sep));
    n = n ? n : 1;
    while (str.len) {
        size_t i = 0;
        while (i + n <= str.len && memcmp(str.ptr + i, sep, n) != 0)
            i++;
        if (i + n > str.len) {
            add_text(p, str.ptr, str.len);
            return;
        }
        add_text(p, str.ptr, i);
        dp_sink_adds(p->sink, ".");
        str.ptr += i + n;
        str.len -= i + n;
    }
}

static void put_separator(struct printing *p, size_t c)
{
    if (c)
        dp_sink_adds(p->sink, p->how->separator);
}

/* Prints a row as fields between separators. Only texts can contain the separator. */
static void print_fields(struct printing *p, const struct dp_row_of_table *row)
{
    const struct dp_table *t = p->t;
    for (size_t c = 0; c < t->n_columns; c++) {
        const struct dp_cell *cell = &t->cells[row->cells + c];
        struct dp_name str = dp_render_cell(cell, t->hz, p->num, &p->text);
        put_separator(p, c);
        dp_sink_blanks(p->sink, indent_of(p, row, c));
        if (cell->kind == DP_CELL_TEXT)
            put_field(p, str);
        else
            add_text(p, str.ptr, str.len);
    }
    dp_sink_adds(p->sink, "\n");
}

int dp_render_separated(const struct dp_table *t, const struct dp_table_how *how,
                        struct dp_sink *sink)
{
    struct printing p;
    if (how->separator[0] == '.')
        return DP_E_ARG;
    start_printing(&p, t, how, sink);
    if (!how->quiet) {
        print_facts(&p);
        dp_sink_adds(sink, "# ");
        for (size_t c = 0; c < t->n_columns; c++) {
            put_separator(&p, c);
            put_field(&p, title_of(&p, c));
        }
        dp_sink_adds(sink, "\n");
    }
    for (size_t r = 0; r < t->n_rows; r++) {
        print_section(&p, t->rows[r].section, "");
        print_fields(&p, &t->rows[r]);
    }
    return finish_printing(&p);
}
