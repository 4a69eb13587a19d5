/* The options and profiles of dprofreport, from perl's data. */
#ifndef DPX_REPORT_H
#define DPX_REPORT_H

#include "EXTERN.h"
#include "perl.h"
#include "dprof/report.h"

/* The fields of a hash by their names in struct dp_report, and profiles with what is told of
 * their files: [profile, flags, script, pid, thread] each. All lives as long as the arguments
 * and the statement. */
void dpx_report(pTHX_ struct dp_report *how, HV *from);
const struct dp_over_side *dpx_sides(pTHX_ AV *from);

#endif
