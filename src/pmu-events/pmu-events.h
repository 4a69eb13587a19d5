/* The tables that jevents writes and src/events/ reads: events of processors by name, and the table
 * of each processor. */
#ifndef PMU_EVENTS_H
#define PMU_EVENTS_H

/* An event, or a metric (then without `event`). A string is NULL if it is missing in the JSON. A
 * table ends with an entry whose name, event, desc and metric_name are all NULL. */
struct pmu_event {
    const char *name;           /* lower case */
    const char *event;          /* terms in perf's syntax between slashes: umask=0x01,event=0x3c */
    const char *desc;
    const char *compat;
    const char *topic;
    const char *long_desc;
    const char *pmu;            /* NULL: the core's */
    const char *unit;           /* ScaleUnit: 64Bytes */
    const char *perpkg;
    const char *aggr_mode;
    const char *metric_expr;
    const char *metric_name;
    const char *metric_group;
    const char *deprecated;
    const char *metric_constraint;
};

/* A row of a mapfile. The list ends with a row whose cpuid is NULL. */
struct pmu_events_map {
    const char *cpuid;          /* a POSIX extended regex that matches the whole CPUID */
    const char *version;
    const char *type;           /* core, uncore */
    const struct pmu_event *table;
};

extern const struct pmu_events_map pmu_events_map[];

#endif
