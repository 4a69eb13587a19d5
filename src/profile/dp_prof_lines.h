/* What statements cost in a profile. Equal statements of all its files are summed up. */
#ifndef DP_PROF_LINES_H
#define DP_PROF_LINES_H

#include "dp_prof.h"
#include "dp_reader.h"

/* Values of all counters of a statement, n_counters of them; NULL if there are no counters. */
const uint64_t *dp_prof_line_counts(const struct dp_prof *prof, uint32_t line);

/* The statement at a place (from 1 up; 0: not known) in a sub (DP_PROF_NO_SUB: in none), which so
 * many statements of the sub follow on the same line. It is made if it is new. Returns its number,
 * or a negative DP_E. */
int64_t dp_prof_line(struct dp_prof *prof, uint32_t site, uint32_t sub, uint32_t later);

/* Adds what a statement of another profile cost to the same statement here, which has this place
 * and this sub; times are multiplied by scale. The profile's columns are as merging its counters
 * left them. Returns 0 or a negative DP_E. */
int dp_prof_add_line(struct dp_prof *prof, uint32_t site, uint32_t sub, const struct dp_prof *from,
                     uint32_t line, uint64_t scale);

/* Callbacks of the consumer: ctx is the profile. */
int dp_prof_on_line(void *ctx, const struct dp_linedef *def, struct dp_err *err);

int dp_prof_on_source(void *ctx, const struct dp_linefile *file);

/* Multiplies the times that are kept here. */
void dp_prof_scale_lines(struct dp_prof *prof, uint64_t by);
void dp_prof_release_lines(struct dp_prof *prof);

#endif
