/* What can be counted, as perl's data. All that is returned is mortal. */
#ifndef DPX_LIST_H
#define DPX_LIST_H

#include "dpx_events.h"

/* An object for this machine; sysfs: NULL, or what a test has in its place. */
SV *dpx_pmu_sv(pTHX_ const char *package, const char *sysfs);
/* The one inside a blessed reference; croaks when it is none. */
struct dp_pmu *dpx_pmu_of(pTHX_ SV *sv);

/* Everything that can be named, in dp_pmu_each's order: hashes with the fields of
 * struct dp_pmu_item. */
AV *dpx_list_events(pTHX_ struct dp_pmu *pmu, bool all);

/* The rows of the map of processors to tables: cpuid, version, table (a number: those of equal
 * ones are equal). */
AV *dpx_list_tables(pTHX_ const struct dp_pmu *pmu);

/* This processor: cpuid, row and version of its table (not there: it has none), pmu, which sysfs
 * has or has not (hidden). */
HV *dpx_list_processor(pTHX_ struct dp_pmu *pmu);

/* Tries one event: works, name (of the column), unit, and why it does not work; or error, if it is
 * no event. */
HV *dpx_list_try(pTHX_ struct dp_pmu *pmu, const char *event);

#endif
