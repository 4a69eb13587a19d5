/* The costs of statements in a profile. Equal statements of all its files are summed up. */
#ifndef DP_PROF_LINES_H
#define DP_PROF_LINES_H

#include "dp_prof.h"
#include "dp_reader.h"

/* The values of all counters of a statement, n_counters of them; NULL without counters. */
const uint64_t *dp_prof_line_counts(const struct dp_prof *prof, uint32_t line);

/* Finds or makes a statement. It has a place (from 1 up; 0: unknown) and a sub (DP_PROF_NO_SUB:
 * none), and `later` statements of the sub follow on the same line. Returns its number, or a
 * negative DP_E. */
int64_t dp_prof_line(struct dp_prof *prof, uint32_t site, uint32_t sub, uint32_t later);

/* Adds the costs of a statement of another profile to the same statement here, which has this place
 * and sub; times are multiplied by scale. The profile's counters must have been merged before.
 * Returns 0 or a negative DP_E. */
int dp_prof_add_line(struct dp_prof *prof, uint32_t site, uint32_t sub, const struct dp_prof *from,
                     uint32_t line, uint64_t scale);

/* Callbacks of the consumer; ctx is the profile. */
int dp_prof_on_line(void *ctx, const struct dp_linedef *def, struct dp_err *err);

/* Notes the size, the checksum and the text of a source. A source that differs between files keeps
 * no text. Returns 0 or DP_E_NOMEM. */
int dp_prof_on_source(void *ctx, const struct dp_linefile *file);

/* Multiplies the times of statements. */
void dp_prof_scale_lines(struct dp_prof *prof, uint64_t by);
void dp_prof_release_lines(struct dp_prof *prof);

#endif
