/* Lists all events that have a name. */
#include "dp_pmu.h"
#include "dp_mem.h"
#include "dp_sort.h"

#include <stdio.h>
#include <string.h>

struct listing {
    struct dp_pmu *pmu;
    int (*take)(void *arg, const struct dp_pmu_item *item);
    void *arg;
};

static bool is_deprecated(const struct pmu_event *e)
{
    return e->deprecated && strcmp(e->deprecated, "0") != 0;
}

/* Lists the events of a group that every machine has a name for. This function and the following
 * ones return 0, DP_E_NOMEM, or what l->take returned, which ends the list. */
static int list_generic(const struct listing *l, int group)
{
    for (const struct dp_pmu_known *k = dp_pmu_known; k->name; k++) {
        if (k->group != group)
            continue;
        struct dp_pmu_item item = {
            .name = k->name, .alias = k->alias, .description = k->desc, .group = group,
            .per_thread = true
        };
        int rc = l->take(l->arg, &item);
        if (rc)
            return rc;
    }
    return 0;
}

/* Lists perf's generic events of caches, whose names consist of cache, operation and result. */
static int list_caches(const struct listing *l)
{
    char name[DP_PMU_CACHE_NAME], desc[DP_PMU_CACHE_DESC];
    int rc = 0;
    for (size_t n = 0; rc == 0 && dp_pmu_cache_name(n, name) && dp_pmu_cache_desc(n, desc); n++) {
        struct dp_pmu_item item = {
            .name = name, .description = desc, .group = DP_PMU_G_CACHE, .per_thread = true
        };
        rc = l->take(l->arg, &item);
    }
    return rc;
}

/* The entry of this processor's table that describes an event of sysfs; an empty one if there is
 * none. */
static const struct pmu_event *described_event(const struct dp_pmu *pmu,
                                               const struct dp_pmu_dev *dev, const char *name)
{
    static const struct pmu_event nothing;
    for (const struct pmu_event *e = pmu->row ? pmu->row->table : NULL; e && !dp_pmu_table_ends(e);
         e++)
        if (e->name && strcmp(e->name, name) == 0 && dp_pmu_dev_has(dev, e))
            return e;
    return &nothing;
}

/* Lists the events of a device. Those of the core also have their bare names, unless a generic
 * event has that name. */
static int list_device(const struct listing *l, const struct dp_pmu_dev *dev)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && dev->has_type && i < dev->n_aliases; i++) {
        char full[256];
        const struct dp_pmu_alias *a = &dev->aliases[i];
        const struct pmu_event *e = described_event(l->pmu, dev, a->name);
        struct dp_pmu_known known;
        bool is_bare = dev->is_core && dp_pmu_known_find(a->name, strlen(a->name), &known) == 0;
        snprintf(full, sizeof full, "%s/%s/", dev->name, a->name);
        struct dp_pmu_item item = {
            .name = is_bare ? a->name : full, .alias = is_bare ? full : NULL, .topic = e->topic,
            .description = e->desc, .long_description = e->long_desc, .event = a->terms,
            .pmu = dev->name, .group = DP_PMU_G_SYSFS, .deprecated = is_deprecated(e),
            .per_thread = !dev->whole_machine,
        };
        rc = l->take(l->arg, &item);
    }
    return rc;
}

/* Lists the events of all devices in sysfs, those of the processor's core first. */
static int list_devices(const struct listing *l)
{
    struct dp_pmu_devs *devs = &l->pmu->devs;
    if (dp_pmu_ready(l->pmu) < 0)
        return DP_E_NOMEM;
    for (size_t i = 0; i < devs->count; i++)
        if (dp_pmu_dev_load(devs, &devs->ptr[i]) < 0)
            return DP_E_NOMEM;
    int rc = list_device(l, devs->core);
    for (size_t i = 0; rc == 0 && i < devs->count; i++)
        if (!devs->ptr[i].is_core)
            rc = list_device(l, &devs->ptr[i]);
    return rc;
}

/* ---- tables ---- */

/* Compares names; a missing one comes last. */
static int compare_names(const char *a, const char *b)
{
    if (!a || !b)
        return (a ? 0 : 1) - (b ? 0 : 1);
    return strcmp(a, b);
}

/* Sorts the events of a table by topic, then by name, then by PMU. */
static int by_topic_and_name(const void *ctx, uint32_t a, uint32_t b)
{
    const struct pmu_event *table = ctx, *x = &table[a], *y = &table[b];
    int rc = compare_names(x->topic, y->topic);
    rc = rc ? rc : compare_names(x->name, y->name);
    rc = rc ? rc : compare_names(x->pmu, y->pmu);
    return rc ? rc : (a > b) - (a < b);
}

/* Can the event be counted for a thread? If this system does not show the PMU, the PMU's name
 * decides. */
static bool is_per_thread(const struct dp_pmu *pmu, const struct pmu_event *e)
{
    if (!e->pmu || strncmp(e->pmu, "cpu", 3) == 0)
        return true;
    for (size_t i = 0; i < pmu->devs.count; i++)
        if (dp_pmu_dev_has(&pmu->devs.ptr[i], e))
            return !pmu->devs.ptr[i].whole_machine;
    return false;
}

/* Lists the events of a processor's table, sorted by topic and name. */
static int list_table(const struct listing *l, const struct pmu_events_map *row)
{
    size_t count = 0, n = 0;
    const struct pmu_event *t = row->table;
    while (t && !dp_pmu_table_ends(&t[count]))
        count++;
    uint32_t *order = dp_mem_realloc(NULL, count, sizeof *order);
    if (!order)
        return DP_E_NOMEM;
    for (size_t i = 0; i < count; i++)
        if (t[i].name && t[i].event)
            order[n++] = (uint32_t)i;
    dp_sort_u32(order, n, by_topic_and_name, t);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const struct pmu_event *e = &t[order[i]];
        struct dp_pmu_item item = {
            .name = e->name, .topic = e->topic, .description = e->desc,
            .long_description = e->long_desc, .event = e->event, .pmu = e->pmu, .table = row->cpuid,
            .group = DP_PMU_G_TABLE, .deprecated = is_deprecated(e),
            .per_thread = is_per_thread(l->pmu, e),
        };
        rc = l->take(l->arg, &item);
    }
    dp_mem_free(order);
    return rc;
}

/* Was the row's table listed before? Several processors may share a table. */
static bool was_there(const struct pmu_events_map *map, const struct pmu_events_map *row)
{
    for (; map < row; map++)
        if (map->table == row->table)
            return true;
    return false;
}

/* Lists the events of this processor's table and, with `all`, those of other processors. */
static int list_tables(const struct listing *l, bool all)
{
    const struct pmu_events_map *own = l->pmu->row;
    int rc = own ? list_table(l, own) : 0;
    for (const struct pmu_events_map *row = l->pmu->map; rc == 0 && all && row && row->cpuid; row++)
        if ((!own || row->table != own->table) && !was_there(l->pmu->map, row))
            rc = list_table(l, row);
    return rc;
}

int dp_pmu_each(struct dp_pmu *pmu, bool all,
                int (*take)(void *arg, const struct dp_pmu_item *item), void *arg)
{
    const struct listing l = { pmu, take, arg };
    int rc = list_generic(&l, DP_PMU_G_PERL);
    if (rc || !DP_PMU_HAS_PERF)
        return rc;
    rc = list_generic(&l, DP_PMU_G_HARDWARE);
    rc = rc ? rc : list_caches(&l);
    rc = rc ? rc : list_generic(&l, DP_PMU_G_SOFTWARE);
    rc = rc ? rc : list_devices(&l);
    return rc ? rc : list_tables(&l, all);
}
