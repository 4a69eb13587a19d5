/* Inside the reader: own values of functions by file and line, kept until it is known what the
 * functions' subs are. Not for anybody else. */
#ifndef DP_LINECOSTS_H
#define DP_LINECOSTS_H

#include "dp_import.h"

/* A line of a function. The numbers of functions and files are the caller's. */
struct dp_linecost {
    uint32_t function;          /* DP_SUB_NONE: none */
    uint32_t file;
    uint64_t line;              /* 0, or what fits no line: it is not known, nor is the file */
};

/* As many values for each line as the header has kinds. */
struct dp_linecosts {
    size_t width;               /* that many */
    struct dp_linecost *lines;
    uint64_t *own;              /* width for each line */
    size_t count, cap, own_cap;
    struct dp_map place_of;     /* file and line -> place */
    struct dp_map line_of;      /* place and function -> line */
    bool known;                 /* the place of a line is known */
};

/* Who the caller's numbers are. */
struct dp_linecosts_names {
    uint32_t (*sub)(const struct dp_reader *r, uint32_t function);      /* DP_SUB_NONE: in none */
    struct dp_text (*file)(const struct dp_reader *r, uint32_t file);
};

void dp_linecosts_init(struct dp_linecosts *l);
void dp_linecosts_release(struct dp_linecosts *l);

/* Adds values, which the caller has found to add up to no more than fits. Beyond as many lines as a
 * profile keeps, they are of no function and no line. width has been set. Returns 0 or
 * DP_E_NOMEM. */
int dp_linecosts_add(struct dp_linecosts *l, struct dp_linecost at, const uint64_t *values);

/* Hands all lines over, behind the contexts, and tells the header so; nothing if no line is known.
 * Returns 0 or a DP_E. */
int dp_linecosts_give(struct dp_reader *r, const struct dp_linecosts *l,
                      const struct dp_linecosts_names *names);

#endif
