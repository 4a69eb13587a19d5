/* A table of typed cells, printed as text, CSV, JSON, Markdown or HTML. What tools
 * of columns share: dprofreport, dprofdiff. Each medium has its own escapes. */
#ifndef DP_TABLE_H
#define DP_TABLE_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_io.h"
#include "dp_pool.h"

enum dp_format { DP_TEXT, DP_CSV, DP_JSON, DP_MARKDOWN, DP_HTML };

enum dp_cell_kind {
    DP_CELL_EMPTY,              /* nothing to say: blank, null */
    DP_CELL_TEXT,               /* names, places: bytes of unknown origin */
    DP_CELL_PERCENT,            /* real, 2 decimals; with a % for people */
    DP_CELL_COUNT,              /* whole */
    DP_CELL_TICKS,              /* whole ticks, printed in seconds by hz, exactly */
    DP_CELL_REAL                /* real, with `decimals` */
};

struct dp_cell {
    enum dp_cell_kind kind;
    bool sign;                  /* percents, reals and counts: with a + where they are positive */
    bool negative;              /* of counts and ticks: whole is the absolute value */
    unsigned decimals;
    uint64_t whole;
    double real;
    const char *ptr;            /* of texts; borrowed until the table is printed */
    size_t len;
};

struct dp_column {
    const char *title;          /* for people: "Children" */
    const char *key;            /* for machines: "children_pct" */
    unsigned width;             /* at least, in text */
    bool left;                  /* aligned to the left; the last column is never filled up */
};

/* What stands below a row: call chains, a histogram. In JSON it is the value of a key
 * `chain`; in CSV and Markdown it is left out. */
struct dp_block {
    const char *text;           /* lines for text and HTML, as they are to stand there, escaped for a terminal already */
    size_t text_len;
    const char *json;           /* a JSON value, or NULL */
    size_t json_len;
};

struct dp_row_of_table {
    size_t cells;               /* index of its first cell */
    unsigned indent;            /* of the first left-aligned column, for hierarchies */
    struct dp_block block;
    int tint;                   /* 0 none, 1 warm, 2 hot: colours of a terminal and of HTML, where asked for */
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
    int format;                 /* enum dp_format */
    const char *separator;      /* -t: text with this between fields, not padded, as CSV is, but unquoted; NULL: none */
    bool quiet;                 /* rows only */
    bool colour;                /* text: ANSI colours by tint */
    const char *title;          /* of the page in HTML */
};

void dp_table_init(struct dp_table *t, const struct dp_column *columns, size_t n, uint64_t hz);
void dp_table_release(struct dp_table *t);
/* A fact; strings are borrowed. */
void dp_table_fact(struct dp_table *t, const char *label, const char *key, struct dp_cell value, const char *unit);
/* A new row of empty cells: its cells, n_columns of them, to be filled in; NULL when memory is short. They
 * move when the next row is added. */
struct dp_cell *dp_table_row(struct dp_table *t);
/* The newest row. */
struct dp_row_of_table *dp_table_last(struct dp_table *t);

/* Prints it. Returns 0 or a negative DP_E. */
int dp_table_print(const struct dp_table *t, const struct dp_table_how *how, struct dp_sink *sink);

/* Shorthands for cells. */
struct dp_cell dp_cell_text(const char *ptr, size_t len);
struct dp_cell dp_cell_percent(double pct);
struct dp_cell dp_cell_count(uint64_t n);
struct dp_cell dp_cell_ticks(uint64_t ticks);

/* A JSON string, quotes included: what is no UTF-8 becomes \u escapes of its bytes' U+DCxx, so that nothing is lost. */
void dp_json_string(struct dp_buf *buf, const char *ptr, size_t len);

#endif
