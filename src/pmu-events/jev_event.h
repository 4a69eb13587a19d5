/* Converts an event list into events: the fields of struct pmu_event, as perf's own tool makes them
 * from the JSON. */
#ifndef JEV_EVENT_H
#define JEV_EVENT_H

#include "jev.h"

/* The fields of struct pmu_event in its order, which is that of the output. */
#define JEV_FIELDS(X) \
    X(NAME, name) X(EVENT, event) X(DESC, desc) X(COMPAT, compat) X(TOPIC, topic) \
    X(LONG_DESC, long_desc) X(PMU, pmu) X(UNIT, unit) X(PERPKG, perpkg) X(AGGR_MODE, aggr_mode) \
    X(METRIC_EXPR, metric_expr) X(METRIC_NAME, metric_name) X(METRIC_GROUP, metric_group) \
    X(DEPRECATED, deprecated) X(METRIC_CONSTRAINT, metric_constraint)

enum jev_field {
#define JEV_FIELD_ENUM(upper, lower) JEV_##upper,
    JEV_FIELDS(JEV_FIELD_ENUM)
#undef JEV_FIELD_ENUM
    JEV_N_FIELDS
};

/* An event. Strings are freed with the run; NULL: missing or empty in the JSON. */
struct jev_event {
    const char *field[JEV_N_FIELDS];
    const char *path;           /* the event list */
    unsigned long line;
};

struct jev_events {
    struct jev_event *ptr;
    size_t count, cap;
    /* The events with a name, sorted by name and PMU; made by jev_events_index(). */
    const struct jev_event **sorted;
    size_t n_sorted;
};

/* Adds the events of a file's text. The path is borrowed for as long as the events are in use.
 * topic: NULL for none. std: the architecture's standard events, indexed, which others may refer
 * to; NULL for none. */
int jev_events_read(struct jev *jev, struct jev_events *events, const char *path, const char *data,
                    size_t len, const char *topic, const struct jev_events *std);

/* Sorts for jev_events_find(). A duplicate event for one PMU is an error, unless both differ only
 * in the topic: then the second is dropped. */
int jev_events_index(struct jev *jev, struct jev_events *events);

/* The event with a name, in lower case; the first, if there are several PMUs. NULL: none. */
const struct jev_event *jev_events_find(const struct jev_events *events, const char *name);

/* The topic of a file's name: Floating-point.json is "Floating point". */
const char *jev_topic(struct jev *jev, const char *name);

#endif
