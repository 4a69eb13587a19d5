/* The PMUs of this system, as sysfs shows them: types, formats, named events. Each is read on first
 * use.
 *
 * A machine that shows no PMU of its processor, as most virtual machines do, gets raw codes and the
 * formats of the processor's usual driver: names can be resolved, and the kernel refuses the
 * event. */
#ifndef DP_PMU_DEV_H
#define DP_PMU_DEV_H

#include "dp_base.h"
#include "dp_cpuid.h"
#include "dp_pmu_terms.h"
#include "dp_pool.h"

struct dp_pmu_alias {
    const char *name, *terms;
};

struct dp_pmu_dev {
    const char *name;
    bool loaded;
    bool is_core;               /* the processor's own, which counts bare names */
    bool is_made_up;            /* sysfs has no PMU for the core: this one has raw codes with the
                                 * processor's usual formats */
    bool whole_machine;         /* it counts for processors, not for threads */
    bool has_type;
    uint32_t type;
    struct dp_pmu_format *formats;
    struct dp_pmu_alias *aliases;
    size_t n_formats, n_aliases, formats_cap, aliases_cap;
};

/* All PMUs, sorted by name; the core's is always there. */
struct dp_pmu_devs {
    struct dp_pool pool;
    const char *root, *cpuid;   /* root: NULL for none; cpuid: "" if unknown */
    bool listed;
    struct dp_pmu_dev *ptr, *core;
    size_t count;
};

/* Starts; copies the strings. Returns 0 or DP_E_NOMEM. */
int dp_pmu_devs_init(struct dp_pmu_devs *devs, const char *root, const char *cpuid);
void dp_pmu_devs_release(struct dp_pmu_devs *devs);

/* Lists the PMUs. Call it before the functions below. Returns 0 or DP_E_NOMEM. */
int dp_pmu_devs_list(struct dp_pmu_devs *devs);
/* Returns the PMU with a name, by bytes; `cpu` is the core's everywhere. If there is none, returns
 * the first of several of a kind: uncore_imc or imc for uncore_imc_0. NULL: there is none. */
struct dp_pmu_dev *dp_pmu_devs_find(const struct dp_pmu_devs *devs, const char *name, size_t len);
/* Reads the PMU's folder. Returns 0 or DP_E_NOMEM. */
int dp_pmu_dev_load(struct dp_pmu_devs *devs, struct dp_pmu_dev *dev);

/* A format or an event of a loaded device; case does not matter. NULL: the device has none with
 * that name. */
const struct dp_pmu_format *dp_pmu_dev_format(const struct dp_pmu_dev *dev, const char *name,
                                              size_t len);
const struct dp_pmu_alias *dp_pmu_dev_alias(const struct dp_pmu_dev *dev, const char *name,
                                            size_t len);

/* Does the table's event belong to this PMU? A name with commas consists of parts of the PMU's
 * name, in order: hisi_sccl,ddrc. */
bool dp_pmu_dev_has(const struct dp_pmu_dev *dev, const struct pmu_event *event);

#endif
