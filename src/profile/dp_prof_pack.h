/* Profiles that wait for their turn, and take little memory until then. */
#ifndef DP_PROF_PACK_H
#define DP_PROF_PACK_H

#include "dp_base.h"
#include "dp_prof.h"

/* Contexts as bytes, which stand behind it. */
struct dp_packed {
    const char *at;
    size_t n_extra, n_counts;   /* elements of what contexts have beyond their nodes */
};

/* Packs the contexts: nothing may look at them, and nothing be added, until they are unpacked. What
 * else the profile tells is told as before. A chart, and a profile with lines of source, stay as
 * they are. Returns 0, or DP_E_NOMEM: then it stays, too. */
int dp_prof_pack(struct dp_prof *prof);

/* Makes a copy that has the contexts, to be looked at, and borrows the rest. Returns 0 or
 * DP_E_NOMEM. */
int dp_prof_unpacked(struct dp_prof *copy, const struct dp_prof *prof);
void dp_prof_release_unpacked(struct dp_prof *copy);

#endif
