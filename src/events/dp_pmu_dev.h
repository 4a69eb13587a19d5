/* The PMUs of this system, as sysfs shows them: types, formats, named events. Each is read when
 * somebody first asks for it.
 *
 * A machine that shows no PMU of its processor, as most virtual machines do, gets raw codes and the
 * formats that the processor's driver would show: names resolve, and it is the kernel that refuses.
 */
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
    bool is_core;               /* the processor's own, by which bare names are counted */
    bool is_made_up;            /* sysfs has no PMU for the core: this one has raw codes with the
                                 * processor's usual formats */
    bool whole_machine;         /* it counts for processors, not for threads */
    bool has_type;
    uint32_t type;
    struct dp_pmu_format *formats;
    struct dp_pmu_alias *aliases;
    size_t n_formats, n_aliases, formats_cap, aliases_cap;
};

/* All PMUs, sorted by name; that of the core is always there. */
struct dp_pmu_devs {
    struct dp_pool pool;
    const char *root, *cpuid;   /* root: NULL for none; cpuid: "" where it is not known */
    bool listed;
    struct dp_pmu_dev *ptr, *core;
    size_t count;
};

/* Copies the strings. Returns 0 or DP_E_NOMEM. */
int dp_pmu_devs_init(struct dp_pmu_devs *devs, const char *root, const char *cpuid);
void dp_pmu_devs_release(struct dp_pmu_devs *devs);

/* Finds out which PMUs there are. Must be called before anything below. Returns 0 or DP_E_NOMEM. */
int dp_pmu_devs_list(struct dp_pmu_devs *devs);
/* Returns the PMU of that name, by bytes; `cpu` is the core's everywhere. If there is none, returns
 * the first of several of a kind: uncore_imc or imc for uncore_imc_0. NULL: there is none. */
struct dp_pmu_dev *dp_pmu_devs_find(const struct dp_pmu_devs *devs, const char *name, size_t len);
/* Reads what the folder says. Returns 0 or DP_E_NOMEM. */
int dp_pmu_dev_load(struct dp_pmu_devs *devs, struct dp_pmu_dev *dev);

/* An event of a device that was loaded; case does not matter. NULL: the device has none of that
 * name. */
const struct dp_pmu_format *dp_pmu_dev_format(const struct dp_pmu_dev *dev, const char *name,
                                              size_t len);
const struct dp_pmu_alias *dp_pmu_dev_alias(const struct dp_pmu_dev *dev, const char *name,
                                            size_t len);

/* Is the table's event one of this PMU? A name with commas stands for parts of the PMU's name, one
 * behind the other: hisi_sccl,ddrc. */
bool dp_pmu_dev_has(const struct dp_pmu_dev *dev, const struct pmu_event *event);

#endif
