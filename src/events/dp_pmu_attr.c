/* Makes the argument of perf_event_open, and explains why the call failed. */
#include "dp_pmu.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#if DP_PMU_HAS_PERF
#include <linux/perf_event.h>

void dp_pmu_attr(const struct dp_pmu_event *ev, struct perf_event_attr *attr)
{
    memset(attr, 0, sizeof *attr);
    attr->size = sizeof *attr;
    attr->type = ev->type;
    attr->config = ev->config;
    attr->config1 = ev->config1;
    attr->config2 = ev->config2;
    attr->read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED
                        | PERF_FORMAT_TOTAL_TIME_RUNNING;
    attr->exclude_user = ev->exclude_user;
    attr->exclude_kernel = ev->exclude_kernel;
    attr->exclude_hv = ev->exclude_hv;
    attr->exclude_host = ev->exclude_host;
    attr->exclude_guest = ev->exclude_guest;
    attr->exclude_idle = ev->exclude_idle;
    attr->pinned = ev->pinned;
    attr->exclusive = ev->exclusive;
    attr->precise_ip = ev->precise & 3;
}
#endif

/* Does the event count in the kernel only? The kernel is running when it gives the processor to
 * another thread, or moves the thread to another processor: without the kernel's part these events
 * never count. */
static bool is_kernels(const struct dp_pmu_event *ev)
{
    enum { SWITCHES = 3, MIGRATIONS = 4, CGROUP_SWITCHES = 11 };
    return ev->type == DP_PMU_SOFTWARE
           && (ev->config == SWITCHES || ev->config == MIGRATIONS || ev->config == CGROUP_SWITCHES);
}

bool dp_pmu_user_only(struct dp_pmu_event *ev)
{
    if (ev->kind != DP_PMU_PERF || is_kernels(ev) || ev->exclude_user
        || (ev->exclude_kernel && ev->exclude_hv))
        return false;
    ev->exclude_kernel = ev->exclude_hv = true;
    /* as in perf, no second colon follows modifiers or a slash */
    const char *end = strpbrk(ev->name, ":/") ? "u" : ":u";
    size_t len = strlen(ev->name);
    if (len + strlen(end) < sizeof ev->name)
        strcpy(ev->name + len, end);
    return true;
}

/* ---- refusals ---- */

/* Writes why the kernel refuses an event with EACCES or EPERM, and what the user can do about it.
 * paranoid: the setting kernel.perf_event_paranoid. */
static void explain_permission(const struct dp_pmu_event *ev, int paranoid, char *to, size_t size)
{
    if (paranoid > 2)
        snprintf(to, size,
                 "not permitted: kernel.perf_event_paranoid is %d, which lets nobody but root"
                 " count; sysctl kernel.perf_event_paranoid=2 permits it",
                 paranoid);
    else if (ev->whole_machine && paranoid > 0)
        snprintf(to, size,
                 "not permitted: it counts for the whole machine, and kernel.perf_event_paranoid"
                 " is %d; such events are not for one program",
                 paranoid);
    else if (paranoid == 2 && !ev->exclude_kernel && is_kernels(ev))
        snprintf(to, size,
                 "not permitted: kernel.perf_event_paranoid is 2, which leaves the kernel's part"
                 " out, and there is no other; set it to 1");
    else if (paranoid == 2 && !ev->exclude_kernel)
        snprintf(to, size,
                 "not permitted: kernel.perf_event_paranoid is 2, which leaves the kernel's part"
                 " out; put :u behind the name, or set it to 1");
    else
        snprintf(
            to, size,
            "not permitted, by a container's filter of system calls or another security policy");
}

/* Writes what the processor's counters lack, or that they do not exist (ENOENT, EOPNOTSUPP). */
static void explain_missing(const struct dp_pmu *pmu, const struct dp_pmu_event *ev, char *to,
                            size_t size)
{
    bool of_processor = ev->type == DP_PMU_HARDWARE || ev->type == DP_PMU_CACHE
                        || ev->type == DP_PMU_RAW;
    if (ev->no_core)
        snprintf(
            to, size,
            "no hardware counters in this machine: a virtual machine is not given any, as a rule");
    else if (ev->precise)
        snprintf(to, size, "the processor cannot count it precisely; leave the p out");
    else if (of_processor || !ev->pmu)
        snprintf(to, size, "this processor%s%s%s does not have it", *dp_pmu_cpuid(pmu) ? " (" : "",
                 dp_pmu_cpuid(pmu), *dp_pmu_cpuid(pmu) ? ")" : "");
    else
        snprintf(to, size, "the PMU %s does not have it", ev->pmu);
}

/* Writes which settings the kernel does not accept (EINVAL). */
static void explain_invalid(const struct dp_pmu_event *ev, char *to, size_t size)
{
    if (ev->whole_machine)
        snprintf(to, size, "the PMU %s counts for the whole machine only, not for one program",
                 ev->pmu);
    else if (ev->precise)
        snprintf(to, size, "p is for samples, and this is a counter; leave the p out");
    else if (ev->pmu)
        snprintf(to, size,
                 "the kernel does not take these settings of the PMU %s (config 0x%" PRIx64
                 ", config1 0x%" PRIx64 ", config2 0x%" PRIx64 ")",
                 ev->pmu, ev->config, ev->config1, ev->config2);
    else
        snprintf(to, size,
                 "the kernel does not take these settings (type %" PRIu32 ", config 0x%" PRIx64 ")",
                 ev->type, ev->config);
}

void dp_pmu_refusal(const struct dp_pmu *pmu, const struct dp_pmu_event *ev, int sys_errno,
                    int paranoid, char *to, size_t size)
{
    switch (sys_errno) {
    case EACCES:
    case EPERM:
        explain_permission(ev, paranoid, to, size);
        return;
    case ENOENT:
    case EOPNOTSUPP:
        explain_missing(pmu, ev, to, size);
        return;
    case EINVAL:
        explain_invalid(ev, to, size);
        return;
    case ENODEV:
        snprintf(to, size, "no such PMU for the processors that this program may run on");
        return;
    case EBUSY:
        snprintf(to, size, "another program has taken the counters");
        return;
    case EMFILE:
    case ENFILE:
        snprintf(to, size, "too many open files: each event is one in each thread");
        return;
    case ENOSPC:
        snprintf(to, size, "more events than there are counters");
        return;
    case E2BIG:
        snprintf(to, size, "the kernel is older than the system it was asked by");
        return;
    case ENOSYS:
        snprintf(to, size, "this kernel has no perf events");
        return;
    case ENOMEM:
        snprintf(to, size, "out of memory");
        return;
    default:
        snprintf(to, size, "error %d", sys_errno);
    }
}
