/* Views as rows of data: for a host that looks for something in them, and prints nothing. Names
 * are UTF-8 as far as the program's are, and borrowed until the callback returns. */
#ifndef DP_ROWS_H
#define DP_ROWS_H

#include "dprof.h"

/* An edge of the call graph at one sub. */
struct dp_edge_row {
    const char *name, *site;    /* the other sub; the place of the call, NULL: it is not known */
    size_t name_len, site_len;
    uint64_t calls;
    uint64_t self, incl;        /* of the metric, in ticks or counts: of the called sub itself, and
                                 * with what it calls */
};

/* Is told each edge; returns 0, or a negative number to stop. */
typedef int dp_edge_row_fn(void *ctx, const struct dp_edge_row *row);

/* Tells who calls the sub of this label, or with `callees` what it calls, the largest first.
 * Returns 0 or a negative DP_E; DP_E_ARG where there is no such sub. */
int dp_edge_rows(const struct dp_over_side *sides, size_t n, const struct dp_over_how *how,
                 const char *name, size_t len, int callees, dp_edge_row_fn *fn, void *ctx);

#endif
