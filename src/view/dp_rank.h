/* The rows of a flat table, and their order. */
#ifndef DP_RANK_H
#define DP_RANK_H

#include "dp_base.h"
#include "dp_prof.h"
#include "dp_names.h"
#include "dprof/classic.h"

struct dp_flat_row {
    uint32_t name;              /* number in dp_names; above those GROUP, OTHER, (program), in that
                                 * order */
    uint32_t first;             /* context of its first entry; DP_FLAT_UNSEEN */
    uint64_t calls, self, incl;
};

#define DP_FLAT_UNSEEN UINT32_MAX

/* Sorts n rows by how->order. Equal rows stay in order of first entry. Returns 0 or DP_E_NOMEM. */
int dp_rank(struct dp_flat_row *rows, size_t n, const struct dp_names *names,
            const struct dp_classic *how);

#endif
