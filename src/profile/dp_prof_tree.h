/* Inside the profile: adding a file's events, values of trees beyond calls and times, and merging.
 * Views use dp_prof.h. */
#ifndef DP_PROF_TREE_H
#define DP_PROF_TREE_H

#include "dp_prof.h"

/* Makes the consumer that the reader calls to fill the profile. */
void dp_prof_consumer(struct dp_prof *prof, struct dp_consumer *to);

/* Makes a context. callee: as in struct dp_node. Returns its number, or a negative DP_E. */
int64_t dp_prof_new_node(struct dp_prof *prof, uint32_t parent, uint32_t callee, uint32_t sub,
                         uint32_t site);
/* Finds or makes the kid of parent for a call of sub from a place (0: unknown). Returns its number,
 * or a negative DP_E. */
int64_t dp_prof_kid(struct dp_prof *prof, uint32_t parent, uint32_t sub, uint32_t site);
/* Changes the profile's ticks to ticks that another profile can share; the other one's ticks are to
 * be multiplied by *scale. Returns 0, or DP_E_LIMIT if the numbers become too large. */
int dp_prof_common_hz(struct dp_prof *prof, uint64_t hz, uint64_t *scale, struct dp_err *err);

/* Merges the unit of a further file or profile, and whether it has calls. Returns 0, or DP_E_ARG if
 * the units differ. */
int dp_prof_take_unit(struct dp_prof *prof, const char *unit, bool no_calls, struct dp_err *err);

/* Merges the counters of a further file or profile; counters that it lacks are dropped. Returns 0
 * or DP_E_NOMEM. */
int dp_prof_take_counters(struct dp_prof *prof, const struct dp_var *counters, size_t n);
/* Merges the shares of time during which the file's counters were counted. Call it after
 * dp_prof_take_counters. */
void dp_prof_take_shares(struct dp_prof *prof, const struct dp_header *head);

/* Adds counters of the current file, a value for each counter of its header, to a node's own.
 * Returns 0 or DP_E_NOMEM. */
int dp_prof_add_counts(struct dp_prof *prof, uint32_t node, const uint64_t *counts);

/* Notes that a call in a node ended. Returns 0 or DP_E_NOMEM. */
int dp_prof_ended(struct dp_prof *prof, uint32_t node, uint64_t ticks);

/* Callbacks of the consumer for a tree; ctx is the profile. */
int64_t dp_prof_on_context(void *ctx, const struct dp_context *c, struct dp_err *err);
void dp_prof_on_expect(void *ctx, uint32_t node);
int dp_prof_on_histogram(void *ctx, uint32_t sub, const uint64_t *count);
int dp_prof_on_rows(void *ctx, uint32_t sub, uint64_t rows);

/* Adds another profile, which was read in the same way. Returns 0 or a negative DP_E. */
int dp_prof_absorb(struct dp_prof *prof, const struct dp_prof *from, struct dp_err *err);

/* The fate of a node of another profile. */
enum { DP_TAKE_DROP = UINT32_MAX, DP_TAKE_WAIT = UINT32_MAX - 1, DP_TAKE_ABOVE = UINT32_MAX - 2,
       DP_TAKE_KEEP = UINT32_MAX - 3, DP_TAKE_ROOT = UINT32_MAX - 4 };
/* Decides for each node whether it is kept, is merged with the root, or is left out. Returns 0, or
 * DP_E_ARG if no node is kept. */
int dp_prof_choose(const struct dp_prof *from, const struct dp_take *what, uint32_t *of);

/* Multiplies the times of extras. */
void dp_prof_scale_extra(struct dp_prof *prof, uint64_t by);
void dp_prof_release_extra(struct dp_prof *prof);

#endif
