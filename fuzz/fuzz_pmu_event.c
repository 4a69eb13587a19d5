/* Any bytes as an event's text and as a list of events, on several made-up machines. Nothing may
 * crash, leak or go out of bounds, and the events that are found must be consistent. Built alone
 * this is a fuzz target; another one may call fuzz_pmu_event. */
#include "../t/c/sysfs.h"
#include "dp_mem.h"
#include "dp_pmu.h"

#if DP_PMU_HAS_PERF
#include <linux/perf_event.h>
#endif

int fuzz_pmu_event(const uint8_t *data, size_t size);

/* Words that the mutator inserts. */
extern const char *const fuzz_words[];
const char *const fuzz_words[] = {
    "cycles", "instructions", "L1-dcache-load-misses", "page-faults", "ops", "cpu/", "/",
    "event=0x", "umask=", "config1=", "name=", "period=1", ",", "+", " ", "?", "{", "}", ":u",
    ":k", ":ppp", "r1", "inst_retired.any", "0xffffffffffffffff", "%", "=", NULL
};

#define CHECK(cond) \
    do { if (!(cond)) { fprintf(stderr, "not so: %s\n", #cond); abort(); } } while (0)

static const struct pmu_event table[] = {
    { .metric_name = "IPC", .metric_expr = "a / b" },
    { .name = "inst_retired.any", .event = "event=0xc0,period=2000003", .desc = "Instructions",
      .topic = "pipeline" },
    { .name = "l1d.replacement", .event = "umask=0x1,event=0x51", .topic = "cache" },
    { .name = "unc_m_cas", .event = "event=0x4,umask=0x3", .pmu = "uncore_imc" },
    { .name = "large", .event = "event=0x1", .pmu = "cpu_core" },
    { .name = "large", .event = "event=0x2", .pmu = "cpu_atom" },
    { .name = "odd", .event = "event=0x100,=,,x=y,umask" }, { .name = "open", .event = "event=?" },
    { .name = NULL },
};
static const struct pmu_events_map map[] = {
    { "GenuineIntel-6-(55|97)", "v1", "core", table }, { "0x[[:xdigit:]]+", "v1", "core", table },
    { NULL, NULL, NULL, NULL },
};

enum { MACHINES = 4 };
static const struct { const char *cpuid; const char *const *tree; } machines[MACHINES] = {
    { "GenuineIntel-6-55-4", sysfs_intel }, { "GenuineIntel-6-97-2", sysfs_hybrid },
    { "0x00000000410fd080", sysfs_arm }, { "GenuineIntel-6-55-4", sysfs_none },
};
static struct dp_pmu *pmus[MACHINES];

static int nothing(void *arg, const struct dp_pmu_item *item)
{
    (void)arg;
    return !item->name;
}

static void forget(void)
{
    for (int k = 0; k < MACHINES; k++)
        dp_pmu_free(pmus[k]);
}

/* Makes the trees of sysfs, reads them once, and removes them before the first input. */
static void prepare(void)
{
    for (int k = 0; k < MACHINES; k++) {
        char dir[64];
        CHECK(sysfs_make(dir, machines[k].tree));
        struct dp_pmu_where where = { machines[k].cpuid, dir, map };
        CHECK(dp_pmu_new(&pmus[k], &where) == 0);
        CHECK(dp_pmu_each(pmus[k], true, nothing, NULL) == 0);
        sysfs_remove(dir, machines[k].tree);
    }
    atexit(forget);
}

static void check_name(const char *name)
{
    size_t n = strlen(name);
    CHECK(n > 0 && n < DP_PMU_NAME);
    for (size_t i = 0; i < n; i++)
        CHECK((unsigned char)name[i] > ' ' && name[i] != 0x7f);
}

static void check_found(struct dp_pmu *pmu, const char *text, size_t len,
                        const struct dp_pmu_event *ev)
{
    struct dp_pmu_event again, user = *ev;
    char why[240];
    check_name(ev->name);
    CHECK(ev->unit[0] && ev->precise <= 3);
    CHECK(dp_pmu_find(pmu, text, len, &again, NULL) == 0 && memcmp(&again, ev, sizeof again) == 0);
    if (dp_pmu_user_only(&user))
        check_name(user.name);
    for (int error = 0; error < 140; error += 1 + error / 40)
        dp_pmu_refusal(pmu, ev, error, error % 7 - 1, why, sizeof why);
#if DP_PMU_HAS_PERF
    struct perf_event_attr attr;
    dp_pmu_attr(ev, &attr);
    CHECK(attr.type == ev->type && attr.config == ev->config && attr.precise_ip == ev->precise);
#endif
}

static void one(struct dp_pmu *pmu, const char *text, size_t len)
{
    struct dp_pmu_event ev;
    struct dp_err err;
    dp_err_init(&err);
    int rc = dp_pmu_find(pmu, text, len, &ev, &err);
    CHECK(rc == 0 || (rc == DP_E_ARG && err.code == rc && err.message[0]));
    for (const char *p = err.message; *p; p++)
        CHECK(*p >= ' ' && *p < 0x7f);
    if (rc == 0)
        check_found(pmu, text, len, &ev);
}

int fuzz_pmu_event(const uint8_t *data, size_t size)
{
    if (!pmus[0])
        prepare();
    long live = dp_mem_live();
    char *list = malloc(size + 1);
    memcpy(list, data, size);
    list[size] = '\0';
    for (int k = 0; k < MACHINES; k++) {
        const char *p = list, *text;
        size_t n, events = 0, used = 0;
        one(pmus[k], (const char *)data, size);
        while ((n = dp_pmu_next(&p, &text)) > 0 && events++ < 64) {
            CHECK(text >= list && text + n == p && p <= list + size);
            used += n;
            one(pmus[k], text, n);
        }
        CHECK(used <= size);
    }
    free(list);
    CHECK(dp_mem_live() == live);
    return 0;
}

#ifdef FUZZ_ALONE
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_pmu_event(data, size);
}
#endif
