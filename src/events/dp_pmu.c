#include "dp_pmu.h"
#include "dp_mem.h"

#include <string.h>

int dp_pmu_new(struct dp_pmu **pmu, const struct dp_pmu_where *where)
{
    *pmu = NULL;
    struct dp_pmu *p = dp_mem_zalloc(sizeof *p);
    if (!p)
        return DP_E_NOMEM;
    if (dp_pmu_devs_init(&p->devs, where->sysfs, where->cpuid) < 0) {
        dp_pmu_free(p);
        return DP_E_NOMEM;
    }
    p->map = where->map;
    *pmu = p;
    return 0;
}

void dp_pmu_free(struct dp_pmu *pmu)
{
    if (pmu)
        dp_pmu_devs_release(&pmu->devs);
    dp_mem_free(pmu);
}

/* This work waits until it is needed: a mapfile has many regexes, and most programs only count
 * perl's ops. */
int dp_pmu_ready(struct dp_pmu *pmu)
{
    if (dp_pmu_devs_list(&pmu->devs) < 0)
        return DP_E_NOMEM;
    if (!pmu->ready)
        pmu->row = *pmu->devs.cpuid ? dp_pmu_row(pmu->map, pmu->devs.cpuid) : NULL;
    pmu->ready = true;
    return 0;
}

const char *dp_pmu_cpuid(const struct dp_pmu *pmu)
{
    return pmu->devs.cpuid;
}

static bool is_separator(char c)
{
    return c && strchr(" \t\r\n+,{}", c);
}

/* A slash opens terms only if another one closes them, so a forgotten slash does not silently
 * swallow the rest of the list. */
size_t dp_pmu_next(const char **p, const char **text)
{
    const char *q = *p;
    while (is_separator(*q))
        q++;
    *text = q;
    while (*q && !is_separator(*q)) {
        const char *close = *q == '/' ? strchr(q + 1, '/') : NULL;
        q = close ? close + 1 : q + 1;
    }
    *p = q;
    return (size_t)(q - *text);
}
