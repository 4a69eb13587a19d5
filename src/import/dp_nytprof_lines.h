/* Inside the reader: statements of nytprof.out, summed up by line, and the subs that contain
 * them. */
#ifndef DP_NYTPROF_LINES_H
#define DP_NYTPROF_LINES_H

#include "dp_import.h"

struct dp_nytprof_line {
    uint32_t file, line;        /* numbers from the file; 0: unknown */
    uint32_t sub;               /* DP_SUB_NONE: none */
    uint64_t count;             /* how often its statements ran */
    int64_t ticks;              /* may be negative */
};

/* The lines of a sub. */
struct dp_nytprof_range {
    uint32_t file, first, last;
    uint32_t sub;               /* the consumer's number */
};

struct dp_nytprof_lines {
    struct dp_nytprof_line *lines;
    size_t count, cap;
    struct dp_map of;           /* file and line -> line */
};

void dp_nytprof_lines_init(struct dp_nytprof_lines *l);
void dp_nytprof_lines_release(struct dp_nytprof_lines *l);

/* Adds a statement. counted: the statement continues after a call, and has been counted. Returns 0
 * or DP_E_NOMEM. */
int dp_nytprof_lines_add(struct dp_nytprof_lines *l, uint32_t file, uint32_t line, int32_t ticks,
                         bool counted);

/* Finds the innermost sub of each line. Reorders lines and ranges. Returns 0 or DP_E_NOMEM. */
int dp_nytprof_lines_subs(struct dp_nytprof_lines *l, struct dp_nytprof_range *ranges, size_t n);

/* Hands over the lines, after the contexts. The lines divide the contexts' times in proportion to
 * their own, so the sums are equal. file: maps a file's number to its name; len 0: none. Returns 0
 * or a DP_E. */
int dp_nytprof_lines_give(struct dp_reader *r, const struct dp_nytprof_lines *l,
                          struct dp_text (*file)(const struct dp_reader *r, uint32_t number));

#endif
