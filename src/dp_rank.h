/* Puts the rows of a flat table in order. */
#ifndef DP_RANK_H
#define DP_RANK_H

#include "dp_flat.h"

/* Sorts by how->order; rows that are equal stay in order of first
 * entry. Returns 0 or DP_E_NOMEM. */
int dp_rank(struct dp_flat *flat, const struct dp_names *names, const struct dp_classic *how);

#endif
