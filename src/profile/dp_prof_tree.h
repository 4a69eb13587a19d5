/* The inside of the profile: how a file's events are taken in, what contexts of trees have beyond
 * calls and times, and merging. The views see dp_prof.h. */
#ifndef DP_PROF_TREE_H
#define DP_PROF_TREE_H

#include "dp_prof.h"

/* What the reader calls: it fills the profile. */
void dp_prof_consumer(struct dp_prof *prof, struct dp_consumer *to);

/* Makes a context. callee: as in struct dp_node. Returns its number, or a negative DP_E. */
int64_t dp_prof_new_node(struct dp_prof *prof, uint32_t parent, uint32_t callee, uint32_t sub,
                         uint32_t site);
/* Returns the kid of parent for a call of sub from a place (0: not known), which is made if it is
 * new; or a negative DP_E. */
int64_t dp_prof_kid(struct dp_prof *prof, uint32_t parent, uint32_t sub, uint32_t site);
/* Brings the profile to ticks that it can share with another one, whose ticks are to be multiplied
 * by *scale. DP_E_LIMIT if the numbers become too large. */
int dp_prof_common_hz(struct dp_prof *prof, uint64_t hz, uint64_t *scale, struct dp_err *err);

/* Takes in the unit of a further file or profile, and whether it has calls. DP_E_ARG if the unit is
 * another one. */
int dp_prof_take_unit(struct dp_prof *prof, const char *unit, bool no_calls, struct dp_err *err);

/* Takes in the counters of a further file or profile: counters that it lacks are given up. Returns
 * 0 or DP_E_NOMEM. */
int dp_prof_take_counters(struct dp_prof *prof, const struct dp_var *counters, size_t n);
/* To be called next: takes in how much of the time the file's counters were counted. */
void dp_prof_take_shares(struct dp_prof *prof, const struct dp_header *head);

/* Adds counters of the file being read, a value for each of its header's, to a node's own.
 * Returns 0 or DP_E_NOMEM. */
int dp_prof_add_counts(struct dp_prof *prof, uint32_t node, const uint64_t *counts);

/* A call of a sub in node ended. Returns 0 or DP_E_NOMEM. */
int dp_prof_ended(struct dp_prof *prof, uint32_t node, uint64_t ticks);

/* Callbacks of the consumer for a tree: ctx is the profile. */
int64_t dp_prof_on_context(void *ctx, const struct dp_context *c, struct dp_err *err);
void dp_prof_on_expect(void *ctx, uint32_t node);
int dp_prof_on_histogram(void *ctx, uint32_t sub, const uint64_t *count);

/* Adds all of another profile, which was read in the same way. Returns 0 or a negative DP_E. */
int dp_prof_absorb(struct dp_prof *prof, const struct dp_prof *from, struct dp_err *err);

/* What becomes of a node that is taken from another profile. */
enum { DP_TAKE_DROP = UINT32_MAX, DP_TAKE_WAIT = UINT32_MAX - 1, DP_TAKE_ABOVE = UINT32_MAX - 2,
       DP_TAKE_KEEP = UINT32_MAX - 3, DP_TAKE_ROOT = UINT32_MAX - 4 };
/* Says of each node whether it is kept, is one with the root, or is left out. Returns 0, or
 * DP_E_ARG if no node is kept. */
int dp_prof_choose(const struct dp_prof *from, const struct dp_take *what, uint32_t *of);

/* Multiplies the times that are kept here. */
void dp_prof_scale_extra(struct dp_prof *prof, uint64_t by);
void dp_prof_release_extra(struct dp_prof *prof);

#endif
