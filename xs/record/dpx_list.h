/* The events that can be counted, as perl's data. The lists and hashes returned are mortal. */
#ifndef DPX_LIST_H
#define DPX_LIST_H

#include "dpx_events.h"

/* A new object for this machine; sysfs: NULL, or a test's replacement of that folder. */
SV *dpx_pmu_sv(pTHX_ const char *package, const char *sysfs);
/* The struct dp_pmu inside a blessed reference; croaks if it holds none. */
struct dp_pmu *dpx_pmu_of(pTHX_ SV *sv);

/* Returns all events that can be named, in dp_pmu_each's order: hashes with the fields of struct
 * dp_pmu_item. */
AV *dpx_list_events(pTHX_ struct dp_pmu *pmu, bool all);

/* The rows of the map of processors to tables: cpuid, version, table (a number; equal tables have
 * equal numbers). */
AV *dpx_list_tables(pTHX_ const struct dp_pmu *pmu);

/* Describes this processor: cpuid, row and version of its table, if it has one; pmu; and hidden,
 * which is true if sysfs does not show that PMU. */
HV *dpx_list_processor(pTHX_ struct dp_pmu *pmu);

/* Tries one event. Returns works, name (of the column), unit, and why it does not work; or error,
 * if there is no such event. */
HV *dpx_list_try(pTHX_ struct dp_pmu *pmu, const char *event);

#endif
