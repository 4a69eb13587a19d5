/* Events by name: translates what a user writes (`inst_retired.any:u`, `cpu/event=0x3c/`) into
 * arguments of perf_event_open. Nothing here opens an event, or depends on the machine: paths, the
 * CPUID and the tables are arguments. dp_cpuid.h finds the processor's table, dp_pmu_find.c looks
 * up names, and dp_pmu_dev.h reads the PMUs.
 *
 * The code differs from perf where perf is odd:
 * - If a term comes twice, the last one counts. Perf ors both: in perf, `mem-loads,ldlat=30` is 31.
 * - A regex of the mapfile is tried with and without the stepping. Perf counts dashes, also those
 *   in brackets.
 * - `:u` does not exclude guests.
 * - On a processor with two kinds of cores, generic names count on the large ones only:
 *   `cpu_atom/cycles/` counts on the others.
 *
 * t/c/80-pmu.c has machines as trees in t/c/sysfs.h, so no test needs the hardware.
 * fuzz/fuzz_pmu_event.c is the fuzz target. */
#ifndef DP_PMU_H
#define DP_PMU_H

#include "dp_base.h"
#include "dp_cpuid.h"
#include "dp_err.h"
#include "dp_pmu_dev.h"
#include "dp_pmu_names.h"

/* Other systems only have perl's own counters. So does Linux without the kernel's headers, if their
 * package is not installed (Alpine). */
#if defined(__linux__) && defined(__has_include)
#  if __has_include(<linux/perf_event.h>)
#    define DP_PMU_HAS_PERF 1
#  endif
#elif defined(__linux__)
#  define DP_PMU_HAS_PERF 1
#endif
#ifndef DP_PMU_HAS_PERF
#  define DP_PMU_HAS_PERF 0
#endif

struct perf_event_attr;

enum {
    DP_PMU_UNIT = 24,
    DP_PMU_TEXT = 1024                  /* events are shorter */
};

struct dp_pmu_event {
    enum dp_pmu_kind kind;              /* for one of perl's own, only name, unit and desc below are
                                         * set */
    char name[DP_PMU_NAME];             /* name of a file's column: as written, in lower case except
                                         * caches and PMUs, or the value of name=; blanks, control
                                         * bytes and % are %XX */
    char unit[DP_PMU_UNIT];             /* cycles, instructions, misses, ns, SVs ...; events if
                                         * nothing better is known */
    bool has_mods;                      /* :u or another modifier was written */
    uint32_t type;
    uint64_t config, config1, config2;
    bool exclude_user, exclude_kernel, exclude_hv, exclude_host, exclude_guest, exclude_idle;
    bool pinned, exclusive;
    unsigned precise;
    bool whole_machine;                 /* its PMU counts for processors, not for threads */
    bool no_core;                       /* it needs the processor's counters, but sysfs shows
                                         * none */
    const char *pmu;                    /* borrowed; NULL: the kernel chooses */
    const char *desc, *topic;           /* borrowed, or NULL */
};

struct dp_pmu_where {
    const char *cpuid;                  /* from dp_cpuid, or the user's choice; NULL: unknown */
    const char *sysfs;                  /* /sys/bus/event_source/devices; NULL: none */
    const struct pmu_events_map *map;   /* must outlive the dp_pmu; NULL: none */
};

struct dp_pmu {
    struct dp_pmu_devs devs;
    const struct pmu_events_map *map, *row;     /* row: this processor's after dp_pmu_ready, or
                                                 * NULL */
    bool ready;
};

/* Makes a dp_pmu; copies the strings. sysfs is read, and the processor's table found, on first use.
 * Returns 0 or DP_E_NOMEM. */
int dp_pmu_new(struct dp_pmu **pmu, const struct dp_pmu_where *where);
void dp_pmu_free(struct dp_pmu *pmu);
/* Call this before you use the struct's fields: finds the PMUs and this processor's row, unless
 * that was done before. Returns 0 or DP_E_NOMEM. */
int dp_pmu_ready(struct dp_pmu *pmu);
/* The CPUID; "" if unknown. Borrowed. */
const char *dp_pmu_cpuid(const struct dp_pmu *pmu);

/* Finds one event; text need not be terminated. A leading ? is left to the caller and skipped.
 * Returns 0; DP_E_ARG with a message that names the event, what is wrong with it and what may have
 * been meant; or DP_E_NOMEM. */
int dp_pmu_find(struct dp_pmu *pmu, const char *text, size_t len, struct dp_pmu_event *ev,
                struct dp_err *err);

/* Sets an error like dp_pmu_find: the event, shortened for a person, and why it cannot be counted.
 * Returns DP_E_ARG. */
int dp_pmu_complain(struct dp_err *err, const char *text, size_t len, const char *why);

/* The next event of a terminated list. Blanks, + and commas separate events, but not between
 * slashes; braces of groups are skipped. Returns its length and moves *p after it; 0 at the end. */
size_t dp_pmu_next(const char **p, const char **text);

/* Fills in the argument of perf_event_open: the event counts from the start, is read in a group
 * with its times, and is not inherited. Linux only. */
void dp_pmu_attr(const struct dp_pmu_event *ev, struct perf_event_attr *attr);

/* Excludes kernel and hypervisor, and adds this to the name: cycles:u. For a kernel that does not
 * permit more. Returns false and does nothing if the event counts no user code, or nothing else. */
bool dp_pmu_user_only(struct dp_pmu_event *ev);

enum { DP_PMU_PARANOID_UNKNOWN = INT32_MIN };

/* Writes why perf_event_open failed with sys_errno, and what to do: one clause for a person.
 * paranoid: the value of kernel.perf_event_paranoid. */
void dp_pmu_refusal(const struct dp_pmu *pmu, const struct dp_pmu_event *ev, int sys_errno,
                    int paranoid, char *to, size_t size);

/* An event that has a name. Perl's hash has the fields as keys. */
#define DP_PMU_ITEM_TEXTS(X) \
    X(name) X(alias)            /* as they are written; alias: NULL if there is none */ \
    X(topic) X(description) X(long_description) \
    X(event)                    /* terms; NULL for generic events */ \
    X(pmu)                      /* NULL: any, or none */ \
    X(table)                    /* for a table: the regex of its first row, or of this processor's \
                                 * row; otherwise NULL */
struct dp_pmu_item {
#define DP_PMU_ITEM_TEXT(field) const char *field;
    DP_PMU_ITEM_TEXTS(DP_PMU_ITEM_TEXT)
#undef DP_PMU_ITEM_TEXT
    enum dp_pmu_group group;
    bool deprecated;
    bool per_thread;                    /* it can be counted for a thread */
};

/* Calls `take` for each event with a name, in the order of groups; within a table by topic and
 * name. all: tables of all processors. `take` returns 0 to continue; any other value ends the walk
 * and is returned. Otherwise returns 0 or DP_E_NOMEM. An item's pointers are borrowed, some of them
 * only until `take` returns. */
int dp_pmu_each(struct dp_pmu *pmu, bool all,
                int (*take)(void *arg, const struct dp_pmu_item *item), void *arg);

/* Is this entry the end of a table? */
static inline bool dp_pmu_table_ends(const struct pmu_event *e)
{
    return !e->name && !e->event && !e->desc && !e->metric_name;
}

#endif
