/* The formats of a table, and the facts above it. */
#ifndef DPROF_TABLE_H
#define DPROF_TABLE_H

#include "dprof/list.h"

#define DP_FORMAT_LIST(X) \
    X(DP_TEXT, "text") X(DP_CSV, "csv") X(DP_JSON, "json") X(DP_MARKDOWN, "markdown") \
    X(DP_HTML, "html") \
    /* these are no tables: they report on a gate */ \
    X(DP_TAP, "tap") X(DP_JUNIT, "junit") X(DP_GITHUB, "github")
DP_ENUM(dp_format, DP_FORMAT_LIST);

/* A fact about the whole: label for people, key for machines. */
struct dp_report_fact {
    const char *label, *key, *text;
    size_t len;
};

/* Options of printing; DP_PRINT_OPTIONS are part of the options of a report and of a comparison. */
#define DP_PRINT_OPTIONS(X) \
    X(ENUM, format, dp_format) \
    X(TEXT, separator)          /* separator between fields of text */ \
    X(TEXT, title) \
    X(FLAG, quiet) \
    X(FLAG, colour) \
    /* of an answer's rows, if width is 0: only their names are cut; 0: they are not cut */ \
    X(SIZE, names_width) \
    X(TEXT, next)               /* of an answer: its last line, what to type next; NULL: none */ \
    X(LIST, facts, dp_report_fact)

/* A table of the host's own, with its values as text. */
struct dp_given_column {
    const char *title, *key;    /* for people: "Last good"; for machines: "last_good" */
    int left;                   /* aligned to the left */
};
/* A text, or a number with different texts for people and machines: `text` has `len` bytes for
 * people, followed by number_len bytes for machines, a number of JSON. 0: there is none. */
struct dp_given_cell {
    const char *text;
    size_t len, number_len;
    int is_number;
};
#define DP_GIVEN_OPTIONS(X) \
    DP_PRINT_OPTIONS(X) \
    X(FLAG, tight)              /* text: no empty line follows the heading */ \
    X(TEXT, rows_key)           /* in JSON: the key of the rows; NULL: "rows" */ \
    X(TEXTS, json)              /* facts for JSON alone: a key, a JSON value, a key ... */
struct dp_given_table {
    DP_GIVEN_OPTIONS(DP_MEMBER)
    const struct dp_given_column *columns;
    const struct dp_given_cell *cells;  /* row by row */
    size_t n_columns, n_rows;
};
struct dp_host;
/* Prints a table. Returns 0 or a negative DP_E. */
int dp_given_print(const struct dp_given_table *given, const struct dp_host *host);

#endif
