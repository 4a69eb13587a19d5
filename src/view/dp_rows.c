#include "dp_rows.h"
#include "dp_edges.h"
#include "dp_err.h"

#include <string.h>

/* ---- edges ---- */

static int tell_edge(const struct dp_overhead *over, const struct dp_edge *edge,
                     dp_edge_row_fn *fn, void *ctx)
{
    const struct dp_name *name = dp_pool_name(&over->values, edge->name);
    struct dp_edge_row row = {
        .name = name->ptr, .name_len = name->len,
        .calls = edge->calls, .self = edge->self, .incl = edge->incl,
    };
    if (edge->site != DP_OVER_NONE) {
        const struct dp_name *site = dp_pool_name(&over->values, edge->site);
        row.site = site->ptr;
        row.site_len = site->len;
    }
    return fn(ctx, &row);
}

int dp_edge_rows(const struct dp_over_side *sides, size_t n, const struct dp_over_how *how,
                 const char *name, size_t len, int callees, dp_edge_row_fn *fn, void *ctx)
{
    struct dp_overhead over;
    struct dp_edges edges;
    int rc = dp_overhead_make(&over, sides, n, how);
    if (rc < 0)
        return rc;
    rc = dp_edges_make(&edges, &over, name, len, callees != 0);
    if (rc == 0) {
        rc = edges.found ? 0 : DP_E_ARG;
        for (size_t i = 0; i < edges.count && rc == 0; i++)
            rc = tell_edge(&over, &edges.edges[i], fn, ctx);
        dp_edges_release(&edges);
    }
    dp_overhead_release(&over);
    return rc;
}
