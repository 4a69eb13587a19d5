#define PERL_NO_GET_CONTEXT
#include "dpx_list.h"
#include "dpx_hash.h"

SV *dpx_pmu_sv(pTHX_ const char *package, const char *sysfs)
{
    struct dp_pmu *pmu;
    dpx_check(aTHX_ dpx_events_open_pmu(&pmu, sysfs));
    return sv_setref_pv(newSV(0), package, pmu);
}

struct dp_pmu *dpx_pmu_of(pTHX_ SV *sv)
{
    if (!SvROK(sv) || !sv_derived_from(sv, "Devel::DProf::Events") || !SvIOK(SvRV(sv)))
        croak("not a Devel::DProf::Events");
    return INT2PTR(struct dp_pmu *, SvIV(SvRV(sv)));
}

static void put_text(pTHX_ HV *hv, const char *key, const char *value)
{
    if (value)
        (void)hv_store(hv, key, (I32)strlen(key), dpx_name_sv(aTHX_ value, strlen(value)), 0);
}

/* ---- the list ---- */

/* The unit of an event, as far as its name shows. */
static const char *unit_of(const char *name)
{
    struct dp_pmu_known known;
    size_t len = strlen(name);
    return dp_pmu_known_find(name, len, &known) == 1 ? known.unit : dp_pmu_unit_of(name, len);
}

struct listing {
    AV *list;
    DPX_PERL_MEMBER
};

#define TEXT(field) put_text(aTHX_ hv, #field, item->field);

/* Appends an event to the list as a hash of its texts, unit, group and flags. Returns 0. */
static int take_item(void *arg, const struct dp_pmu_item *item)
{
    static const char *const groups[] = { "perl", "hardware", "cache", "software", "pmu", "table" };
    struct listing *l = arg;
    dTHXa(l->perl);
    HV *hv = newHV();
    DP_PMU_ITEM_TEXTS(TEXT)
    put_text(aTHX_ hv, "unit", unit_of(item->name));
    put_text(aTHX_ hv, "group", groups[item->group]);
    hv_stores(hv, "deprecated", newSViv(item->deprecated));
    hv_stores(hv, "per_thread", newSViv(item->per_thread));
    av_push(l->list, newRV_noinc((SV *)hv));
    return 0;
}

AV *dpx_list_events(pTHX_ struct dp_pmu *pmu, bool all)
{
    struct listing l = { .list = (AV *)sv_2mortal((SV *)newAV()) };
    DPX_PERL_SET(&l);
    dpx_check(aTHX_ dp_pmu_each(pmu, all, take_item, &l));
    return l.list;
}

AV *dpx_list_tables(pTHX_ const struct dp_pmu *pmu)
{
    AV *rows = (AV *)sv_2mortal((SV *)newAV());
    for (const struct pmu_events_map *row = pmu->map; row && row->cpuid; row++) {
        HV *hv = newHV();
        IV n = 0;
        while (pmu->map[n].table != row->table)
            n++;
        put_text(aTHX_ hv, "cpuid", row->cpuid);
        put_text(aTHX_ hv, "version", row->version);
        hv_stores(hv, "table", newSViv(n));
        av_push(rows, newRV_noinc((SV *)hv));
    }
    return rows;
}

/* ---- this processor; one event ---- */

HV *dpx_list_processor(pTHX_ struct dp_pmu *pmu)
{
    HV *hv = (HV *)sv_2mortal((SV *)newHV());
    dpx_check(aTHX_ dp_pmu_ready(pmu));
    put_text(aTHX_ hv, "cpuid", dp_pmu_cpuid(pmu));
    put_text(aTHX_ hv, "row", pmu->row ? pmu->row->cpuid : NULL);
    put_text(aTHX_ hv, "version", pmu->row ? pmu->row->version : NULL);
    put_text(aTHX_ hv, "pmu", pmu->devs.core->name);
    hv_stores(hv, "hidden", newSViv(pmu->devs.core->is_made_up));
    return hv;
}

HV *dpx_list_try(pTHX_ struct dp_pmu *pmu, const char *event)
{
    HV *hv = (HV *)sv_2mortal((SV *)newHV());
    struct dp_pmu_event ev;
    struct dp_err err;
    char why[256];
    dp_err_init(&err);
    int rc = dp_pmu_find(pmu, event, strlen(event), &ev, &err);
    if (rc == DP_E_NOMEM)
        dpx_check(aTHX_ rc);
    if (rc < 0) {
        put_text(aTHX_ hv, "error", err.message);
        return hv;
    }
    bool works = dpx_events_try(aTHX_ pmu, &ev, why, sizeof why);
    hv_stores(hv, "works", newSViv(works));
    put_text(aTHX_ hv, "why", works ? NULL : why);
    put_text(aTHX_ hv, "name", ev.name);
    put_text(aTHX_ hv, "unit", ev.unit);
    put_text(aTHX_ hv, "description", ev.desc);
    return hv;
}
