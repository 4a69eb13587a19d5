#include "dp_pmu_dev.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_pmu_names.h"
#include "dp_sysfile.h"
#include "dp_text.h"

#include <string.h>

enum { LINE = 1024 };           /* of a file in sysfs */

/* The contents of format/ in the kernel's drivers, for machines without the driver. */
static const struct dp_pmu_format intel[] = {
    { "event", 0, 0xff }, { "umask", 0, 0xff00 }, { "edge", 0, UINT64_C(1) << 18 },
    { "pc", 0, UINT64_C(1) << 19 }, { "any", 0, UINT64_C(1) << 21 },
    { "inv", 0, UINT64_C(1) << 23 }, { "cmask", 0, UINT64_C(0xff) << 24 },
    { "in_tx", 0, UINT64_C(1) << 32 }, { "in_tx_cp", 0, UINT64_C(1) << 33 },
    { "offcore_rsp", 1, UINT64_MAX }, { "ldlat", 1, 0xffff }, { "frontend", 1, 0xffffff },
};
static const struct dp_pmu_format amd[] = {
    { "event", 0, UINT64_C(0xf000000ff) }, { "umask", 0, 0xff00 }, { "edge", 0, UINT64_C(1) << 18 },
    { "inv", 0, UINT64_C(1) << 23 },
    { "cmask", 0, UINT64_C(0xff) << 24 },
};
static const struct dp_pmu_format arm[] = { { "event", 0, 0xffff }, { "long", 1, 1 } };
static const struct dp_pmu_format other[] = { { "event", 0, UINT64_MAX } };

/* Gives a device the formats that the kernel's driver for this processor would have. So the events
 * of a machine can be translated on another one, or without the driver. */
static void use_usual_formats(struct dp_pmu_dev *dev, const char *cpuid)
{
    const struct dp_pmu_format *from = other;
    dev->n_formats = DP_ARRAY_LEN(other);
    if (strncmp(cpuid, "AuthenticAMD-", 13) == 0 || strncmp(cpuid, "HygonGenuine-", 13) == 0) {
        from = amd;
        dev->n_formats = DP_ARRAY_LEN(amd);
    } else if (strncmp(cpuid, "GenuineIntel-", 13) == 0
               || strncmp(cpuid, "CentaurHauls-", 13) == 0) {
        from = intel;
        dev->n_formats = DP_ARRAY_LEN(intel);
    } else if (strncmp(cpuid, "0x", 2) == 0 && !strchr(cpuid, '-')) {
        from = arm;
        dev->n_formats = DP_ARRAY_LEN(arm);
    }
    /* never modified: formats_cap is 0 */
    dev->formats = (struct dp_pmu_format *)from;
}

/* Returns a copy of a text in the pool, or NULL. */
static const char *copy_text(struct dp_pool *pool, const char *text)
{
    size_t size = strlen(text) + 1;
    char *to = dp_pool_alloc(pool, size);
    return to ? memcpy(to, text, size) : NULL;
}

int dp_pmu_devs_init(struct dp_pmu_devs *devs, const char *root, const char *cpuid)
{
    memset(devs, 0, sizeof *devs);
    dp_pool_init(&devs->pool);
    devs->cpuid = copy_text(&devs->pool, cpuid ? cpuid : "");
    devs->root = root ? copy_text(&devs->pool, root) : NULL;
    return devs->cpuid && (devs->root || !root) ? 0 : DP_E_NOMEM;
}

void dp_pmu_devs_release(struct dp_pmu_devs *devs)
{
    for (size_t i = 0; i < devs->count; i++) {
        if (devs->ptr[i].formats_cap)
            dp_mem_free(devs->ptr[i].formats);
        dp_mem_free(devs->ptr[i].aliases);
    }
    dp_mem_free(devs->ptr);
    dp_pool_release(&devs->pool);
    memset(devs, 0, sizeof *devs);
}

/* The processor's own PMU: cpu; with two kinds of cores, that of the large ones (cpu_core); s390's;
 * that of Arm and others, which name their processors in a file `cpus`. */
static struct dp_pmu_dev *find_core(struct dp_pmu_devs *devs, size_t n)
{
    static const char *const names[] = { "cpu", "cpu_core", "cpum_cf" };
    for (size_t k = 0; k < DP_ARRAY_LEN(names); k++)
        for (size_t i = 0; i < n; i++)
            if (strcmp(devs->ptr[i].name, names[k]) == 0)
                return &devs->ptr[i];
    for (size_t i = 0; i < n; i++)
        if (dp_sysfile_is(devs->root, "%s/cpus", devs->ptr[i].name))
            return &devs->ptr[i];
    return NULL;
}

int dp_pmu_devs_list(struct dp_pmu_devs *devs)
{
    if (devs->listed)
        return 0;
    struct dp_sysfile_names names = { NULL, 0, 0 };
    int rc = devs->root ? dp_sysfile_list(&names, &devs->pool, devs->root, ".") : 0;
    /* room for one more: the core's PMU, if there is none */
    devs->ptr = rc == 0 ? dp_mem_zalloc((names.count + 1) * sizeof *devs->ptr) : NULL;
    if (devs->ptr) {
        for (size_t i = 0; i < names.count; i++)
            devs->ptr[i].name = names.ptr[i];
        devs->count = names.count;
        devs->core = find_core(devs, names.count);
        if (!devs->core) {
            devs->core = &devs->ptr[devs->count++];
            devs->core->name = "cpu";
            devs->core->is_made_up = true;
        }
        devs->core->is_core = true;
        devs->listed = true;
    }
    dp_sysfile_release(&names);
    return devs->ptr ? 0 : DP_E_NOMEM;
}

/* Is this the name of the kind, or of a member: kind, kind_0, kind0? */
static bool is_of_kind(const char *name, const char *kind, size_t len)
{
    if (strncmp(name, kind, len) != 0)
        return false;
    name += len;
    name += name[0] == '_';
    return !name[strspn(name, "0123456789")] && (name[0] || name[-1] != '_');
}

struct dp_pmu_dev *dp_pmu_devs_find(const struct dp_pmu_devs *devs, const char *name, size_t len)
{
    for (size_t i = 0; i < devs->count; i++)
        if (strlen(devs->ptr[i].name) == len && memcmp(devs->ptr[i].name, name, len) == 0)
            return &devs->ptr[i];
    if (len == 3 && memcmp(name, "cpu", 3) == 0)
        return devs->core;
    for (size_t i = 0; len && i < devs->count; i++) {
        const char *other = devs->ptr[i].name;
        if (is_of_kind(other, name, len)
            || (strncmp(other, "uncore_", 7) == 0 && is_of_kind(other + 7, name, len)))
            return &devs->ptr[i];
    }
    return NULL;
}

/* ---- reading one ---- */

/* Reads the formats of a device from sysfs: which bits of config a term sets. Lines that cannot be
 * read are left out. Returns 0 or DP_E_NOMEM. */
static int load_formats(struct dp_pmu_devs *devs, struct dp_pmu_dev *dev)
{
    struct dp_sysfile_names names;
    int rc = dp_sysfile_list(&names, &devs->pool, devs->root, "%s/format", dev->name);
    for (size_t i = 0; rc == 0 && i < names.count; i++) {
        char line[LINE];
        struct dp_pmu_format format = { names.ptr[i], 0, 0 };
        if (dp_sysfile_read(line, sizeof line, devs->root, "%s/format/%s", dev->name, names.ptr[i])
                <= 0
            || !dp_pmu_format_parse(&format, line))
            continue;
        rc = dp_mem_grow((void **)&dev->formats, &dev->formats_cap, dev->n_formats + 1,
                         sizeof format);
        if (rc == 0)
            dev->formats[dev->n_formats++] = format;
    }
    dp_sysfile_release(&names);
    return rc;
}

static bool ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n > m && strcmp(name + n - m, end) == 0;
}

/* Is this a file next to an event's that explains its numbers? */
static bool is_note(const char *name)
{
    return ends_in(name, ".unit") || ends_in(name, ".scale") || ends_in(name, ".per-pkg")
           || ends_in(name, ".snapshot");
}

/* Reads the named events of a device from sysfs, each with the terms that its name stands for.
 * Returns 0 or DP_E_NOMEM. */
static int load_aliases(struct dp_pmu_devs *devs, struct dp_pmu_dev *dev)
{
    struct dp_sysfile_names names;
    int rc = dp_sysfile_list(&names, &devs->pool, devs->root, "%s/events", dev->name);
    for (size_t i = 0; rc == 0 && i < names.count; i++) {
        char line[LINE];
        if (is_note(names.ptr[i])
            || dp_sysfile_read(line, sizeof line, devs->root, "%s/events/%s", dev->name,
                               names.ptr[i])
                   <= 0)
            continue;
        const char *terms = copy_text(&devs->pool, line);
        rc = terms ? dp_mem_grow((void **)&dev->aliases, &dev->aliases_cap, dev->n_aliases + 1,
                                 sizeof *dev->aliases)
                   : DP_E_NOMEM;
        if (rc == 0)
            dev->aliases[dev->n_aliases++] = (struct dp_pmu_alias){ names.ptr[i], terms };
    }
    dp_sysfile_release(&names);
    return rc;
}

int dp_pmu_dev_load(struct dp_pmu_devs *devs, struct dp_pmu_dev *dev)
{
    char line[LINE];
    uint64_t type;
    if (dev->loaded)
        return 0;
    if (dev->is_made_up) {
        dev->type = DP_PMU_RAW;
        dev->has_type = true;
        use_usual_formats(dev, devs->cpuid);
    } else {
        /* remains of a load that ran out of memory */
        dev->n_formats = dev->n_aliases = 0;
        long n = dp_sysfile_read(line, sizeof line, devs->root, "%s/type", dev->name);
        dev->has_type = n > 0 && dp_pmu_number(line, (size_t)n, &type) && type <= UINT32_MAX;
        dev->type = dev->has_type ? (uint32_t)type : 0;
        dev->whole_machine = !dev->is_core && dp_sysfile_is(devs->root, "%s/cpumask", dev->name);
        if (load_formats(devs, dev) < 0 || load_aliases(devs, dev) < 0)
            return DP_E_NOMEM;
    }
    dev->loaded = true;
    return 0;
}

const struct dp_pmu_format *dp_pmu_dev_format(const struct dp_pmu_dev *dev, const char *name,
                                              size_t len)
{
    for (size_t i = 0; i < dev->n_formats; i++)
        if (strlen(dev->formats[i].name) == len && dp_text_alike(dev->formats[i].name, name, len))
            return &dev->formats[i];
    return NULL;
}

const struct dp_pmu_alias *dp_pmu_dev_alias(const struct dp_pmu_dev *dev, const char *name,
                                            size_t len)
{
    for (size_t i = 0; i < dev->n_aliases; i++)
        if (strlen(dev->aliases[i].name) == len && dp_text_alike(dev->aliases[i].name, name, len))
            return &dev->aliases[i];
    return NULL;
}

/* Does the name have these parts? hisi_sccl,ddrc is in hisi_sccl1_ddrc3: the last part is at the
 * end, except for a number. */
static bool has_parts(const char *name, const char *parts)
{
    if (strncmp(name, parts, strcspn(parts, ",")) != 0)
        return false;
    for (;;) {
        char one[64];
        size_t n = strcspn(parts, ",");
        if (!n || n >= sizeof one)
            return false;
        memcpy(one, parts, n);
        one[n] = '\0';
        name = strstr(name, one);
        if (!name || !parts[n])
            return name && is_of_kind(name, one, n);
        name += n;
        parts += n + 1;
    }
}

bool dp_pmu_dev_has(const struct dp_pmu_dev *dev, const struct pmu_event *e)
{
    if (!e->pmu || strcmp(e->pmu, "cpu") == 0)
        return dev->is_core;
    if (strcmp(e->pmu, dev->name) == 0)
        return true;
    /* tables of processors with two kinds of cores, for a machine that shows neither */
    if (dev->is_made_up)
        return strncmp(e->pmu, "cpu", 3) == 0;
    return dev->whole_machine && has_parts(dev->name, e->pmu);
}
