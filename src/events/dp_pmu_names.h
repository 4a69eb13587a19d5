/* Events with a name on every machine: perl's own, and perf's generic ones. */
#ifndef DP_PMU_NAMES_H
#define DP_PMU_NAMES_H

#include "dp_base.h"

enum { DP_PMU_NAME = 128 };             /* size of a column's name with its NUL */

/* The kind of counter: perf's, or one that the recorder keeps itself. */
enum dp_pmu_kind { DP_PMU_PERF, DP_PMU_OPS, DP_PMU_SVS, DP_PMU_BYTES, DP_PMU_NOISE };

/* Groups of a list, in its order. */
enum dp_pmu_group { DP_PMU_G_PERL, DP_PMU_G_HARDWARE, DP_PMU_G_CACHE, DP_PMU_G_SOFTWARE,
                    DP_PMU_G_SYSFS, DP_PMU_G_TABLE };

/* Types of perf events, with the numbers of linux/perf_event.h. */
enum { DP_PMU_HARDWARE = 0, DP_PMU_SOFTWARE = 1, DP_PMU_CACHE = 3, DP_PMU_RAW = 4 };

struct dp_pmu_known {
    enum dp_pmu_kind kind;
    int group;
    const char *name, *alias;           /* alias: NULL if there is none */
    const char *unit;
    const char *desc;
    uint32_t type;
    uint64_t config;
};

/* Perl's own, hardware and software events, in the order of a list; the last has no name. */
extern const struct dp_pmu_known dp_pmu_known[];

/* Finds an event by name; case does not matter. *out: name is NULL for cache events. Returns 1; 0
 * if there is none; or -1: a cache event with an operation that its cache does not have; *out then
 * has its unit, and the cache's name in name. */
int dp_pmu_known_find(const char *text, size_t len, struct dp_pmu_known *out);

enum { DP_PMU_CACHE_NAME = 32, DP_PMU_CACHE_DESC = 80 };
/* The usual name of the n-th cache event that exists. Returns false after the last. */
bool dp_pmu_cache_name(size_t n, char to[DP_PMU_CACHE_NAME]);
/* What the n-th cache event counts. */
bool dp_pmu_cache_desc(size_t n, char to[DP_PMU_CACHE_DESC]);

/* Makes the name of a column: UTF-8 with blanks, % and invisible characters as %XX, its first
 * `lower` bytes in lower case. Returns false if it does not fit. */
bool dp_pmu_column(char to[DP_PMU_NAME], const char *ptr, size_t len, size_t lower);
/* The unit of an event of a table or of sysfs, as far as its name shows it: cycles, misses ...
 * events. */
const char *dp_pmu_unit_of(const char *ptr, size_t len);

#endif
