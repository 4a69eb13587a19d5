/* A table of typed cells, printed as text, CSV, JSON, Markdown or HTML. dprofreport and dprofdiff
 * print with it. Each medium has its own escapes. */
#ifndef DP_TABLE_H
#define DP_TABLE_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_io.h"
#include "dp_pool.h"
#include "dprof/table.h"

enum dp_cell_kind {
    DP_CELL_EMPTY,              /* no value: blank, null; infinities and NAN are printed like that,
                                 * too */
    DP_CELL_TEXT,               /* names, places: bytes of unknown origin */
    DP_CELL_PERCENT,            /* real, 2 decimals; with a % for people */
    DP_CELL_COUNT,              /* whole */
    DP_CELL_TICKS,              /* whole ticks, printed in seconds by hz, exactly */
    DP_CELL_REAL,               /* real, with `decimals` */
    DP_CELL_JSON,               /* of facts: a JSON value, for JSON alone */
    DP_CELL_WORDED              /* a number that the caller has worded: for people `len` bytes, and
                                 * behind them `whole` bytes for machines, or 0 */
};

struct dp_cell {
    enum dp_cell_kind kind;
    bool sign;                  /* of numbers, for people: with a + where they are positive. What is
                                 * printed as zero has no sign */
    int cool;                   /* of percents, and of numbers with a sign: by how much less it is
                                 * tinted than the row */
    bool negative;              /* of counts and ticks: whole is the absolute value */
    unsigned decimals;          /* of reals; 40 at most */
    uint64_t whole;
    double real;
    const char *ptr;            /* of texts and worded numbers; borrowed until the table is
                                 * printed */
    size_t len;
};

struct dp_column {
    const char *title;          /* for people: "Children" */
    const char *key;            /* for machines: "children_pct" */
    unsigned width;             /* at least, in text */
    bool left;                  /* aligned to the left; lines are never filled up with blanks */
    unsigned spare;             /* where a terminal is too narrow, the column with the greatest
                                 * number is left out first; 0: never */
};

/* What stands below a row: call chains, a histogram. In JSON it is the value of a key
 * `chain`; in CSV and Markdown it is left out. */
struct dp_block {
    const char *text;           /* lines for text and HTML, as they are to stand there, escaped
                                 * for a terminal already */
    size_t text_len;
    const char *json;           /* a JSON value, or NULL */
    size_t json_len;
};

struct dp_row_of_table {
    size_t cells;               /* index of its first cell */
    unsigned indent;            /* of hierarchies: level, from 0. The first left-aligned column
                                 * is indented by it; CSV and JSON get a last column `level`
                                 * where any row has one */
    const char *section;        /* for people: the heading above the row; NULL: the section before
                                 * goes on */
    struct dp_block block;
    int tint;                   /* 0 none, 1 warm, 2 hot: of percents and signed numbers, on a
                                 * terminal where asked for, and in HTML */
};

struct dp_fact {                /* about the whole: comment lines of text, keys of JSON */
    const char *label;          /* "Total" */
    const char *key;            /* "total" */
    struct dp_cell value;
    const char *unit;           /* behind the value for people; or NULL */
};

struct dp_table {
    const struct dp_column *columns;
    size_t n_columns;
    struct dp_cell *cells;
    size_t n_cells, cells_cap;
    struct dp_row_of_table *rows;
    size_t n_rows, rows_cap;
    struct dp_fact *facts;
    size_t n_facts, facts_cap;
    uint64_t hz;                /* of DP_CELL_TICKS */
    bool no_memory;
};

struct dp_table_how {
    enum dp_format format;
    const char *separator;      /* text with this between fields, not padded, as CSV is, but
                                 * unquoted: its first character is printed as a dot within fields.
                                 * NULL or "": none. One that begins with a dot would cut numbers
                                 * and is refused (DP_E_ARG) */
    bool quiet;                 /* text: rows only; CSV: no header; Markdown, HTML: no facts.
                                 * JSON is always whole */
    bool colour;                /* text: ANSI colours by tint */
    bool tight;                 /* text: no empty line stands below the heading */
    size_t width;               /* text in columns: no line is wider, where that can be. Texts are
                                 * cut in the middle, columns that are spare left out, which is
                                 * told, comments wrapped. 0: as wide as it gets */
    const char *title;          /* of the page in HTML */
    const char *rows_key;       /* of JSON; NULL: "rows" */
};

void dp_table_init(struct dp_table *t, const struct dp_column *columns, size_t n, uint64_t hz);
void dp_table_release(struct dp_table *t);
/* A fact; strings are borrowed. */
void dp_table_fact(struct dp_table *t, const char *label, const char *key, struct dp_cell value,
                   const char *unit);
/* Adds a row, and returns its n_columns empty cells, which the caller fills in; NULL when memory is
 * short. The cells move when the next row is added. */
struct dp_cell *dp_table_row(struct dp_table *t);
/* The newest row. */
struct dp_row_of_table *dp_table_last(struct dp_table *t);

/* Prints it, and flushes the sink. Returns 0 or a negative DP_E; when memory was short while the
 * table was filled, nothing is printed.
 *
 * Seconds are exact wherever decimals can be: 7 of them for ticks of 100 ns. Where they
 * cannot (3 ticks a second), there are enough to tell one tick from the next.
 * CSV (RFC 4180) ends its lines with LF. In text, CSV, Markdown and HTML control bytes and what is
 * no UTF-8 are shown as dp_text_escape does, so that a row is a line. JSON has whole numbers as
 * numbers, also beyond 2^53. */
int dp_table_print(const struct dp_table *t, const struct dp_table_how *how, struct dp_sink *sink);

/* Shorthands for cells. */
struct dp_cell dp_cell_text(const char *ptr, size_t len);
struct dp_cell dp_cell_percent(double pct);
struct dp_cell dp_cell_count(uint64_t n);
struct dp_cell dp_cell_ticks(uint64_t ticks);

/* A JSON string, quotes included, which every reader takes, on a terminal and inside <script> too.
 * Bytes that are no UTF-8 stand as \\xff: escapes of lone surrogates would be refused
 * by many readers. */
void dp_json_string(struct dp_buf *buf, const char *ptr, size_t len);

#endif
