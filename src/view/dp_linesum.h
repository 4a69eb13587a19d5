/* The costs of a side's lines, summed over its parts, in the columns of its stacks: for pages that
 * show sources. */
#ifndef DP_LINESUM_H
#define DP_LINESUM_H

#include "dp_base.h"
#include "dp_pool.h"
#include "dp_stacks.h"

struct dp_linesum_line {
    uint32_t file;              /* number in the pool of files */
    uint32_t line;              /* 0: unknown */
    uint64_t count;             /* how often its statements ran */
    uint32_t last_call;         /* last one of its calls, which are linked by `before` */
    uint32_t n_calls;
};

/* The calls of a name from a line. */
struct dp_linesum_call {
    uint32_t name;              /* number in the names of the stacks */
    uint32_t before;            /* previous call on the same line; UINT32_MAX: none */
    uint64_t calls;
};

struct dp_linesum {
    struct dp_linesum_line *lines;
    struct dp_linesum_call *calls;
    size_t count, n_calls, n_measures;
    uint32_t *order;            /* lines by file, then line */
    uint64_t *values;           /* by line and measure: the line's own value, and that with
                                 * callees */
    uint64_t *call_values;      /* by call and measure: the value with callees */
    int detail;                 /* the least detail of the parts: see dp_line_detail */
    size_t cap, calls_cap, values_cap, call_values_cap;
};

/* Sums up a side of the stacks, which were made with `how`. Values are in the units of the side's
 * columns, and are capped at DP_LIMIT_COUNT. Files are interned in the pool; the file "" has all
 * costs without a known place. Returns 0 or a DP_E; the caller releases *sum. */
int dp_linesum_make(struct dp_linesum *sum, struct dp_pool *files, const struct dp_stacks *s,
                    size_t side, const struct dp_stacks_how *how);
void dp_linesum_release(struct dp_linesum *sum);

#endif
