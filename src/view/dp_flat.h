/* The flat table: calls, self time and inclusive time of each name. */
#ifndef DP_FLAT_H
#define DP_FLAT_H

#include "dp_base.h"
#include "dp_prof.h"
#include "dp_names.h"
#include "dp_rank.h"
#include "dprof/classic.h"

struct dp_flat {
    struct dp_flat_row *rows;   /* the rows to show, sorted */
    size_t count;
    struct dp_flat_row group;   /* the row of the group, even if it is empty */
    uint64_t total;             /* ticks of the chosen time: of the whole profile, or of the sub
                                 * that `only` selects */
};

/* Makes the table. Returns 0 or a negative DP_E. The caller releases *flat. */
int dp_flat_make(struct dp_flat *flat, const struct dp_prof *prof, const struct dp_names *names,
                 const struct dp_classic *how);
void dp_flat_release(struct dp_flat *flat);

/* The ticks of a context's own chosen time. */
uint64_t dp_flat_value(const struct dp_node *node, enum dp_metric time);
/* A context's own value in what was chosen: ticks of a time, or a counter. */
uint64_t dp_flat_own(const struct dp_prof *prof, uint32_t node, const struct dp_classic *how);

#endif
