/* Inside the reader: statements of nytprof.out, summed up by line, and the subs that they stand
 * in. Not for anybody else. */
#ifndef DP_NYTPROF_LINES_H
#define DP_NYTPROF_LINES_H

#include "dp_import.h"

struct dp_nytprof_line {
    uint32_t file, line;        /* numbers of the file; 0: not known */
    uint32_t sub;               /* DP_SUB_NONE: in none */
    uint64_t count;             /* how often its statements ran */
    int64_t ticks;              /* may be less than 0 */
};

/* A sub's lines. */
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

/* Adds a statement. counted: the statement runs on after a call, and has been counted. Returns 0
 * or DP_E_NOMEM. */
int dp_nytprof_lines_add(struct dp_nytprof_lines *l, uint32_t file, uint32_t line, int32_t ticks,
                         bool counted);

/* Finds the innermost sub of each line. Puts lines and ranges in another order. Returns 0 or
 * DP_E_NOMEM. */
int dp_nytprof_lines_subs(struct dp_nytprof_lines *l, struct dp_nytprof_range *ranges, size_t n);

/* Hands the lines over, behind the contexts, whose times they share in proportion to what each of
 * them has: the sums are the same. file: the name that a file's number stands for; len 0: none.
 * Returns 0 or a DP_E. */
int dp_nytprof_lines_give(struct dp_reader *r, const struct dp_nytprof_lines *l,
                          struct dp_text (*file)(const struct dp_reader *r, uint32_t number));

#endif
