/* A table of typed cells, printed as text, CSV, JSON, Markdown or HTML, each with its own escapes.
 * dprofreport and dprofdiff print with it. */
#ifndef DP_TABLE_H
#define DP_TABLE_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_io.h"
#include "dp_pool.h"
#include "dprof/table.h"

enum dp_cell_kind {
    DP_CELL_EMPTY,              /* no value: blank or null; infinities and NAN are printed like
                                 * this, too */
    DP_CELL_TEXT,               /* names, places: bytes of unknown origin */
    DP_CELL_PERCENT,            /* a real with 2 decimals; with a % for people */
    DP_CELL_COUNT,              /* a whole number */
    DP_CELL_TICKS,              /* whole ticks, printed in seconds by hz, exactly */
    DP_CELL_REAL,               /* a real with `decimals` */
    DP_CELL_JSON,               /* for facts: a JSON value, for JSON alone */
    DP_CELL_WORDED              /* a number that the caller has formatted: `len` bytes for people,
                                 * followed by `whole` bytes for machines, or by none */
};

struct dp_cell {
    enum dp_cell_kind kind;
    bool sign;                  /* for numbers: a positive value has a + for people. A value that is
                                 * printed as zero has no sign */
    int cool;                   /* for percents, and for numbers with a sign: how many shades weaker
                                 * its tint is than the row's */
    bool negative;              /* for counts and ticks: whole is the absolute value */
    unsigned decimals;          /* for reals; 40 at most */
    uint64_t whole;
    double real;
    const char *ptr;            /* for texts and formatted numbers; borrowed until the table is
                                 * printed */
    size_t len;
};

struct dp_column {
    const char *title;          /* for people: "Children" */
    const char *key;            /* for machines: "children_pct" */
    unsigned width;             /* least width, in text */
    bool left;                  /* aligned to the left; lines are never padded with blanks */
    unsigned spare;             /* order of removal if a terminal is too narrow: the column with the
                                 * greatest number goes first; 0: stays */
};

/* The part below a row: call chains, a histogram. In JSON it is the value of a key `chain`; CSV and
 * Markdown leave it out. */
struct dp_block {
    const char *text;           /* lines for text and HTML as they will appear, already escaped for
                                 * a terminal */
    size_t text_len;
    const char *json;           /* a JSON value, or NULL */
    size_t json_len;
};

struct dp_row_of_table {
    size_t cells;               /* index of its first cell */
    unsigned indent;            /* for hierarchies: level, from 0. The first left-aligned column is
                                 * indented by it. CSV and JSON get a last column `level` if any row
                                 * has one */
    const char *section;        /* for people: the heading above the row; NULL: the section before
                                 * continues */
    struct dp_block block;
    int tint;                   /* 0 none, 1 warm, 2 hot: colour of percents and signed numbers, in
                                 * HTML and, if asked for, on a terminal */
};

struct dp_fact {                /* about the whole table: comment lines of text, keys of JSON */
    const char *label;          /* "Total" */
    const char *key;            /* "total" */
    struct dp_cell value;
    const char *unit;           /* shown after the value for people; or NULL */
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
    uint64_t hz;                /* ticks per second of DP_CELL_TICKS */
    bool no_memory;
};

struct dp_table_how {
    enum dp_format format;
    const char *separator;      /* separator between fields of text, which are neither padded nor
                                 * quoted. Its first character is printed as a dot within fields.
                                 * NULL or "": none. One that begins with a dot would cut numbers,
                                 * so it is refused (DP_E_ARG) */
    bool quiet;                 /* text: rows only; CSV: no header; Markdown, HTML: no facts. JSON
                                 * is always complete */
    bool colour;                /* text: ANSI colours by tint */
    bool tight;                 /* text: no empty line follows the heading */
    size_t width;               /* width of text in columns: no line is wider, if possible. Texts
                                 * are cut in the middle, spare columns are left out with a message,
                                 * comments are wrapped. 0: unlimited */
    size_t names_width;         /* the same for rows alone, whose names are cut and nothing else;
                                 * with width 0 */
    const char *title;          /* of the page in HTML */
    const char *rows_key;       /* in JSON; NULL: "rows" */
};

/* Make a table without rows, and free what a table holds. columns: borrowed; hz: ticks per
 * second. */
void dp_table_init(struct dp_table *t, const struct dp_column *columns, size_t n, uint64_t hz);
void dp_table_release(struct dp_table *t);
/* Adds a fact; strings are borrowed. */
void dp_table_fact(struct dp_table *t, const char *label, const char *key, struct dp_cell value,
                   const char *unit);
/* Adds a row, and returns its n_columns empty cells, which the caller fills in; NULL when memory is
 * short. Adding the next row moves the cells. */
struct dp_cell *dp_table_row(struct dp_table *t);
/* The newest row. */
struct dp_row_of_table *dp_table_last(struct dp_table *t);

/* Prints the table, and flushes the sink. Returns 0 or a negative DP_E. If memory was short while
 * the table was filled, nothing is printed.
 *
 * Seconds are exact if decimals can be: 7 of them for ticks of 100 ns. If they cannot (3 ticks a
 * second), there are enough decimals to distinguish one tick from the next. CSV (RFC 4180) ends its
 * lines with LF. Text, CSV, Markdown and HTML show control bytes and invalid UTF-8 as
 * dp_text_escape does, so a row is a line. JSON has whole numbers as numbers, also beyond 2^53. */
int dp_table_print(const struct dp_table *t, const struct dp_table_how *how, struct dp_sink *sink);

/* Shorthands for cells. */
struct dp_cell dp_cell_text(const char *ptr, size_t len);
struct dp_cell dp_cell_percent(double pct);
struct dp_cell dp_cell_count(uint64_t n);
struct dp_cell dp_cell_ticks(uint64_t ticks);

/* Appends a JSON string with its quotes, in a form that every reader takes, also on a terminal and
 * inside <script>. Invalid UTF-8 appears as \\xff, because many readers would refuse escapes of
 * lone surrogates. */
void dp_json_string(struct dp_buf *buf, const char *ptr, size_t len);

#endif
