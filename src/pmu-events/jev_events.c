/* Finds events by name, and duplicates. */
#include "jev_event.h"

#include <stdlib.h>
#include <string.h>

static int compare_strings(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : ""); }

/* Sorts events by name, then by PMU. */
static int compare_events(const void *left, const void *right)
{
    const struct jev_event *a = *(const struct jev_event *const *)left;
    const struct jev_event *b = *(const struct jev_event *const *)right;
    int c = compare_strings(a->field[JEV_NAME], b->field[JEV_NAME]);
    if (!c)
        c = compare_strings(a->field[JEV_PMU], b->field[JEV_PMU]);
    return c ? c : a < b ? -1 : a > b;      /* equal events stay in the order of the files */
}

/* Are two events equal in all fields but the topic? */
static bool is_same(const struct jev_event *a, const struct jev_event *b)
{
    for (int f = 0; f < JEV_N_FIELDS; f++)
        if (f != JEV_TOPIC && compare_strings(a->field[f], b->field[f]) != 0)
            return false;
    return true;
}

/* Reports an event that is there twice, with different contents. */
static int report_duplicate(struct jev *jev, const struct jev_event *first,
                            const struct jev_event *second)
{
    const char *pmu = second->field[JEV_PMU];
    return jev_fail(jev, second->path, second->line,
                    "%.100s%s%.100s is there already, with something else: %s:%lu",
                    second->field[JEV_NAME], pmu ? " of " : "", pmu ? pmu : "",
                    first->path, first->line);
}

/* Removes the events that gone[] marks, and keeps the order of the others. */
static void remove_events(struct jev_events *events, const bool *gone)
{
    size_t n = 0;
    for (size_t i = 0; i < events->count; i++)
        if (!gone[i])
            events->ptr[n++] = events->ptr[i];
    events->count = n;
}

/* Makes the sorted list of the events that have a name. Returns 0, or -1 if memory is short. */
static int sort_events(struct jev *jev, struct jev_events *events)
{
    events->n_sorted = 0;
    events->sorted = jev_alloc(jev, (events->count + 1) * sizeof *events->sorted);
    if (!events->sorted)
        return -1;
    for (size_t i = 0; i < events->count; i++)
        if (events->ptr[i].field[JEV_NAME])
            events->sorted[events->n_sorted++] = &events->ptr[i];
    qsort(events->sorted, events->n_sorted, sizeof *events->sorted, compare_events);
    return 0;
}

int jev_events_index(struct jev *jev, struct jev_events *events)
{
    bool *gone = jev_alloc(jev, events->count + 1);
    if (!gone || sort_events(jev, events) < 0)
        return -1;
    memset(gone, 0, events->count + 1);
    const struct jev_event *last = NULL;    /* the first of several equal ones, which stays */
    size_t n_gone = 0;
    for (size_t i = 0; i < events->n_sorted; i++) {
        const struct jev_event *event = events->sorted[i];
        if (!last || compare_strings(last->field[JEV_NAME], event->field[JEV_NAME]) != 0
            || compare_strings(last->field[JEV_PMU], event->field[JEV_PMU]) != 0)
            last = event;
        else if (is_same(last, event))
            gone[event - events->ptr] = true, n_gone++;
        else
            return report_duplicate(jev, last, event);
    }
    if (!n_gone)
        return 0;
    remove_events(events, gone);
    return sort_events(jev, events);
}

const struct jev_event *jev_events_find(const struct jev_events *events, const char *name)
{
    size_t low = 0, high = events->n_sorted;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (strcmp(events->sorted[mid]->field[JEV_NAME], name) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    const struct jev_event *at = low < events->n_sorted ? events->sorted[low] : NULL;
    return at && strcmp(at->field[JEV_NAME], name) == 0 ? at : NULL;
}

const char *jev_topic(struct jev *jev, const char *name)
{
    char *topic = jev_keep(jev, name, strcspn(name, "."));
    for (char *p = topic; p && *p; p++)
        if (*p == '-')
            *p = ' ';
    return topic;
}
