/* Inside the reader: own values of functions by file and line, kept until the subs of the functions
 * are known. */
#ifndef DP_LINECOSTS_H
#define DP_LINECOSTS_H

#include "dp_import.h"

/* A line of a function. The caller chooses the numbers of functions and files. */
struct dp_linecost {
    uint32_t function;          /* DP_SUB_NONE: none */
    uint32_t file;
    uint64_t line;              /* 0, or a number that is no line: line and file are unknown */
};

/* Values of lines. Each line has as many values as the header has kinds. */
struct dp_linecosts {
    size_t width;               /* number of these values */
    struct dp_linecost *lines;
    uint64_t *own;              /* width for each line: own values */
    size_t count, cap, own_cap;
    struct dp_map place_of;     /* file and line -> place */
    struct dp_map line_of;      /* place and function -> line */
    bool known;                 /* some line has a known place */
};

/* The meaning of the caller's numbers. */
struct dp_linecosts_names {
    uint32_t (*sub)(const struct dp_reader *r, uint32_t function);      /* returns DP_SUB_NONE:
                                                                         * none */
    struct dp_text (*file)(const struct dp_reader *r, uint32_t file);
};

/* Make an empty list of costs by line, and free what a list holds. */
void dp_linecosts_init(struct dp_linecosts *l);
void dp_linecosts_release(struct dp_linecosts *l);

/* Adds values, whose sum the caller has checked. If there are more lines than a profile keeps, the
 * values go to no function and no line. width must be set. Returns 0 or DP_E_NOMEM. */
int dp_linecosts_add(struct dp_linecosts *l, struct dp_linecost at, const uint64_t *values);

/* Hands over all lines, after the contexts, and sets this in the header; does nothing if no line is
 * known. Returns 0 or a DP_E. */
int dp_linecosts_give(struct dp_reader *r, const struct dp_linecosts *l,
                      const struct dp_linecosts_names *names);

#endif
