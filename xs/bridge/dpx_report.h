/* The options and profiles of dprofreport, from perl's data. */
#ifndef DPX_REPORT_H
#define DPX_REPORT_H

#include "EXTERN.h"
#include "perl.h"
#include "dprof/report.h"

/* Convert a hash with the fields of struct dp_report, and profiles with facts about their files:
 * [profile, flags, script, pid, thread, counter] each. The results live as long as the arguments
 * and the statement. waiting: profiles may be packed (dp_prof_waits). */
void dpx_report(pTHX_ struct dp_report *how, HV *from);
const struct dp_part *dpx_sides(pTHX_ AV *from, bool waiting);

/* A table: columns, [title, key, is it left-aligned] each; rows, lists of cells; a hash with the
 * fields of struct dp_given_table. */
void dpx_given_table(pTHX_ struct dp_given_table *table, AV *columns, AV *rows, HV *how);

#endif
