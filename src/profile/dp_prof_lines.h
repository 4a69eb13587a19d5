/* What statements cost, in a profile: those of all files, equal ones summed up. */
#ifndef DP_PROF_LINES_H
#define DP_PROF_LINES_H

#include "dp_prof.h"
#include "dp_reader.h"

/* Values of all counters of a statement, n_counters of them; NULL where there are none. */
const uint64_t *dp_prof_line_counts(const struct dp_prof *prof, uint32_t line);

/* The statement at a place (from 1 up; 0: not known) in a sub (DP_PROF_NO_SUB: in none), of which
 * so many follow on the same line; made if it is new. Its number, or a negative DP_E. */
int64_t dp_prof_line(struct dp_prof *prof, uint32_t site, uint32_t sub, uint32_t later);

/* Adds what a statement of another profile cost to the same one here, whose place and sub are
 * these, times taken by scale. The profile's columns are as merging its counters left them. Returns
 * 0 or a negative DP_E. */
int dp_prof_add_line(struct dp_prof *prof, uint32_t site, uint32_t sub, const struct dp_prof *from,
                     uint32_t line, uint64_t scale);

/* The consumer's side: ctx is the profile. */
int dp_prof_on_line(void *ctx, const struct dp_linedef *def, struct dp_err *err);

int dp_prof_on_source(void *ctx, const struct dp_linefile *file);

/* Multiplies the times that are kept here. */
void dp_prof_scale_lines(struct dp_prof *prof, uint64_t by);
void dp_prof_release_lines(struct dp_prof *prof);

#endif
