/* Events by name: what a user writes (`inst_retired.any:u`, `cpu/event=0x3c/`) becomes what
 * perf_event_open is given. Nothing here opens an event, or knows where it runs: paths, the CPUID
 * and the tables are arguments. dp_cpuid.h finds the processor's table, dp_pmu_find.c looks for
 * names, and dp_pmu_dev.h reads the PMUs.
 *
 * The code differs from perf where perf is odd:
 * - Of a term that comes twice the last one counts. Perf ors both: in perf, `mem-loads,ldlat=30`
 *   is 31.
 * - A regex of the mapfile is tried with and without the stepping. Perf counts dashes, also those
 *   in brackets.
 * - `:u` does not leave guests out.
 * - On a processor with two kinds of cores, generic names count on the large ones only:
 *   `cpu_atom/cycles/` counts on the others.
 *
 * t/c/80-pmu.c has machines as trees in t/c/sysfs.h, so that no test needs the hardware.
 * fuzz/fuzz_pmu_event.c is the fuzz target. */
#ifndef DP_PMU_H
#define DP_PMU_H

#include "dp_base.h"
#include "dp_cpuid.h"
#include "dp_err.h"
#include "dp_pmu_dev.h"
#include "dp_pmu_names.h"

/* Other systems have perl's own counters only; so has Linux without the kernel's headers, if their
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
    DP_PMU_TEXT = 1024                  /* an event is shorter */
};

struct dp_pmu_event {
    enum dp_pmu_kind kind;              /* one of perl's own: nothing below but name, unit and desc
                                         * means anything */
    char name[DP_PMU_NAME];             /* name of a file's column: as it was written, in lower case
                                         * except caches and PMUs, or what name= says; blanks,
                                         * control bytes and % are %XX */
    char unit[DP_PMU_UNIT];             /* cycles, instructions, misses, ns, SVs ...; events where
                                         * nothing better is known */
    bool has_mods;                      /* :u or another modifier was written */
    uint32_t type;
    uint64_t config, config1, config2;
    bool exclude_user, exclude_kernel, exclude_hv, exclude_host, exclude_guest, exclude_idle;
    bool pinned, exclusive;
    unsigned precise;
    bool whole_machine;                 /* its PMU counts for processors, not for threads */
    bool no_core;                       /* it needs the processor's counters, and sysfs shows
                                         * none */
    const char *pmu;                    /* borrowed; NULL where the kernel chooses */
    const char *desc, *topic;           /* borrowed, or NULL */
};

struct dp_pmu_where {
    const char *cpuid;                  /* that of dp_cpuid, or what the user says instead; NULL:
                                         * unknown */
    const char *sysfs;                  /* /sys/bus/event_source/devices; NULL: none */
    const struct pmu_events_map *map;   /* must live as long as the dp_pmu; NULL: none */
};

struct dp_pmu {
    struct dp_pmu_devs devs;
    const struct pmu_events_map *map, *row;     /* row: this processor's once
                                                 * dp_pmu_ready was there, or NULL */
    bool ready;
};

/* Copies the strings; sysfs is read, and the processor's table found, when they are first needed.
 * Returns 0 or DP_E_NOMEM. */
int dp_pmu_new(struct dp_pmu **pmu, const struct dp_pmu_where *where);
void dp_pmu_free(struct dp_pmu *pmu);
/* To be called before somebody looks into the struct: finds the PMUs and this processor's row, if
 * that was not done before. Returns 0 or DP_E_NOMEM. */
int dp_pmu_ready(struct dp_pmu *pmu);
/* "" where it is not known. Borrowed. */
const char *dp_pmu_cpuid(const struct dp_pmu *pmu);

/* One event; text need not be terminated. A ? in front is the caller's matter and is passed over.
 * Returns 0, DP_E_ARG with a message that names the event, what is wrong with it and what may have
 * been meant, or DP_E_NOMEM. */
int dp_pmu_find(struct dp_pmu *pmu, const char *text, size_t len, struct dp_pmu_event *ev,
                struct dp_err *err);

/* Sets an error as dp_pmu_find does: the event, as far as a person wants to see it, and why it
 * cannot be counted. Returns DP_E_ARG. */
int dp_pmu_complain(struct dp_err *err, const char *text, size_t len, const char *why);

/* The next event of a terminated list: blanks, + and commas separate them, but not between slashes;
 * braces of groups are passed over. Returns its length and moves *p behind it; 0 at the end. */
size_t dp_pmu_next(const char **p, const char **text);

/* Fills in what perf_event_open is given: the event counts from the start, is read in a group with
 * its times, and is not inherited. Linux only. */
void dp_pmu_attr(const struct dp_pmu_event *ev, struct perf_event_attr *attr);

/* Leaves kernel and hypervisor out, and says so in the name: cycles:u. For a kernel that does not
 * permit more. Returns false and does nothing if the event counts no user code, or nothing else. */
bool dp_pmu_user_only(struct dp_pmu_event *ev);

enum { DP_PMU_PARANOID_UNKNOWN = INT32_MIN };

/* Why perf_event_open failed with sys_errno, and what to do: one clause for a person. paranoid:
 * what kernel.perf_event_paranoid is. */
void dp_pmu_refusal(const struct dp_pmu *pmu, const struct dp_pmu_event *ev, int sys_errno,
                    int paranoid, char *to, size_t size);

/* Something that can be named. */
struct dp_pmu_item {
    const char *name, *alias;           /* as they are written; alias: NULL where there is none */
    const char *topic, *desc, *long_desc;
    const char *event;                  /* terms; NULL for generic events */
    const char *pmu;                    /* NULL: any, or none */
    const char *table_cpuid;            /* of a table: the regex of its first row, or of this
                                         * processor's row; otherwise NULL */
    enum dp_pmu_group group;
    bool deprecated;
    bool per_thread;                    /* can be counted for a thread */
};

/* Calls `take` for each of them, in the order of groups; in a table by topic and name. all: tables
 * of all processors. `take` returns 0 to go on; anything else ends the walk and is returned.
 * Otherwise returns 0 or DP_E_NOMEM. What an item points to is borrowed, some of it until `take`
 * returns. */
int dp_pmu_each(struct dp_pmu *pmu, bool all,
                int (*take)(void *arg, const struct dp_pmu_item *item), void *arg);

/* Is it the end of a table? */
static inline bool dp_pmu_table_ends(const struct pmu_event *e)
{
    return !e->name && !e->event && !e->desc && !e->metric_name;
}

#endif
