/* Rows of views as perl's data. */
#ifndef DPX_ROWS_H
#define DPX_ROWS_H

#include "EXTERN.h"
#include "perl.h"
#include "dprof/rows.h"

/* The edges at a sub: an array of [name, calls, self, inclusive, site or undef], mortal; NULL if
 * the profile has no such sub. Croaks if memory is short. how: the fields of struct dp_report_how,
 * and counter, callees. */
AV *dpx_edge_rows(pTHX_ const struct dp_prof *prof, SV *name, HV *how);

/* Compares. Returns a mortal hash of total, rows, lines, findings, failed, undecided and needed, as
 * Devel::DProf::Profile has it. lines_percent: lines that change less are put together. Croaks if
 * memory is short. */
HV *dpx_compared(pTHX_ AV *sides, HV *how, NV lines_percent);

/* Finds the change points of series of numbers: [[values], ...], whose values stand in groups of
 * these sizes. A mortal hash: decides, whether so few values could have one; found, [series, group,
 * p] each. Croaks when memory is short, or if a series has not as many values as the groups. */
HV *dpx_changepoints(pTHX_ AV *series, AV *sizes, NV alpha);

/* The code and the outcome of a comparison as a mortal hash; releases the outcome. */
HV *dpx_diff_outcome(pTHX_ int code, struct dp_diff_outcome *out);

#endif
