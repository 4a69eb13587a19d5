/* Packs the contexts of profiles that wait for their turn, so that they need little memory. */
#ifndef DP_PROF_PACK_H
#define DP_PROF_PACK_H

#include "dp_base.h"
#include "dp_prof.h"

/* The header of packed contexts; their bytes follow it. */
struct dp_packed {
    const char *at;
    size_t n_extra, n_counts;   /* numbers of elements of extra and counts */
};

/* Packs the contexts. Until they are unpacked, the profile's nodes must not be used, and nothing
 * may be added; everything else remains available. A chart, and a profile with lines of source,
 * stay unpacked. Returns 0, or DP_E_NOMEM: then the profile stays unpacked, too. */
int dp_prof_pack(struct dp_prof *prof);

/* Makes a copy that has the contexts, for reading, and borrows the rest. Returns 0 or
 * DP_E_NOMEM. */
int dp_prof_unpacked(struct dp_prof *copy, const struct dp_prof *prof);
void dp_prof_release_unpacked(struct dp_prof *copy);

#endif
