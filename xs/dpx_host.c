#define PERL_NO_GET_CONTEXT
#include "dpx_host.h"
#include "dpx_hash.h"
#include "dp_err.h"
#include "dp_subs.h"

static int host_write(void *ctx, const void *ptr, size_t len)
{
    struct dpx_host *h = ctx;
    dTHXa(h->perl);
    return PerlIO_write(h->out, ptr, len) == (SSize_t)len ? 0 : DP_E_IO;
}

static int host_progress(void *ctx, uint64_t done, uint64_t total)
{
    struct dpx_host *h = ctx;
    dTHXa(h->perl);
    dSP;
    ENTER;
    SAVETMPS;
    PUSHMARK(SP);
    mXPUSHn((NV)done);
    mXPUSHn((NV)total);
    PUTBACK;
    call_sv(h->progress, G_VOID | G_DISCARD | G_EVAL);
    FREETMPS;
    LEAVE;
    return SvTRUE(ERRSV) ? DP_E_HOST : 0;
}

void dpx_host_init(pTHX_ struct dpx_host *h, PerlIO *out, SV *progress)
{
    h->host.ctx = h;
    h->host.write = host_write;
    h->host.progress = progress && SvROK(progress) ? host_progress : NULL;
    h->out = out;
    h->progress = progress;
#ifdef MULTIPLICITY
    h->perl = aTHX;
#endif
}

struct dp_prof *dpx_prof_of(pTHX_ SV *sv)
{
    if (!SvROK(sv) || !sv_derived_from(sv, "Devel::DProf::Profile") || !SvIOK(SvRV(sv)))
        croak("not a Devel::DProf::Profile");
    return INT2PTR(struct dp_prof *, SvIV(SvRV(sv)));
}

SV *dpx_prof_sv(pTHX_ const char *package, struct dp_prof *prof)
{
    if (!prof)
        croak("%s", dp_err_text(DP_E_NOMEM));
    return sv_setref_pv(newSV(0), package, prof);
}

SV *dpx_name_sv(pTHX_ const char *ptr, STRLEN len)
{
    SV *sv = newSVpvn(ptr, len);
    if (is_utf8_string((const U8 *)ptr, len))
        SvUTF8_on(sv);
    return sv;
}

unsigned dpx_label_flags(pTHX_ HV *from)
{
    static const unsigned apart[] = { 0, DP_LABEL_SEPARATE, DP_LABEL_CROWDED };
    UV separate = (UV)dpx_number(aTHX_ from, "separate", 0);
    return apart[separate < C_ARRAY_LENGTH(apart) ? separate : 1]
         | (dpx_number(aTHX_ from, "autoload", 0) ? DP_LABEL_AUTOLOAD : 0u);
}

void dpx_classic(pTHX_ struct dp_classic *how, HV *from, const struct dp_names *names)
{
    SV *sv;
    STRLEN len;
    Zero(how, 1, struct dp_classic);
    how->time = (int)dpx_number(aTHX_ from, "time", DP_T_CPU);
    how->order = (int)dpx_number(aTHX_ from, "order", DP_BY_TIME);
    how->reverse = dpx_number(aTHX_ from, "reverse", 0) != 0;
    how->inclusive = dpx_number(aTHX_ from, "inclusive", 0) != 0;
    how->no_header = dpx_number(aTHX_ from, "no_header", 0) != 0;
    how->summed = dpx_number(aTHX_ from, "summed", 0) != 0;
    how->program = dpx_number(aTHX_ from, "program", 0) != 0;
    how->human = dpx_number(aTHX_ from, "human", 0) != 0;
    how->rows = (size_t)dpx_number(aTHX_ from, "rows", 15);
    how->width = (size_t)dpx_number(aTHX_ from, "width", 0);
    how->only = -1;
    how->counter = (size_t)dpx_number(aTHX_ from, "counter", 0);
    how->counter_label = dpx_text_field(aTHX_ from, "counter_label", NULL);
    if (!how->counter_label)
        how->counter_label = "counts";
    if ((sv = dpx_field(aTHX_ from, "only"))) {
        const char *only = SvPVutf8(sv, len);
        how->only = dp_names_find(names, only, len);
        if (how->only < 0)              /* nothing is called so: nothing is shown */
            how->only = (long)dp_names_count(names);
    }
    if ((sv = dpx_field(aTHX_ from, "roles"))) {
        const char *roles = SvPV(sv, len);
        if (len != dp_names_count(names))
            croak("roles: %lu of %lu", (unsigned long)len, (unsigned long)dp_names_count(names));
        how->roles = (const unsigned char *)roles;
    }
    if ((sv = dpx_field(aTHX_ from, "group"))) {
        how->group = SvPVutf8(sv, len);
        how->group_len = len;
    }
}

static SV *label(pTHX_ const struct dp_names *names, uint32_t sub)
{
    size_t len;
    if (sub == UINT32_MAX)
        return newSVpvs("?");
    const char *ptr = dp_names_get(names, dp_names_of_sub(names, sub), &len);
    return dpx_name_sv(aTHX_ ptr, len);
}

SV *dpx_outcome_sv(pTHX_ const struct dp_outcome *o, const struct dp_names *names)
{
    HV *hv = newHV();
    AV *open = newAV(), *odd = newAV(), *faults = newAV();
    SV *sv = newRV_noinc((SV *)hv);
    hv_stores(hv, "path", newSVpv(o->path, 0));
    hv_stores(hv, "code", newSViv(o->code));
    hv_stores(hv, "errno", newSViv(o->sys_errno));
    hv_stores(hv, "message", newSVpv(o->message, 0));
    hv_stores(hv, "line", newSVuv((UV)o->line));
    hv_stores(hv, "byte", newSVuv((UV)o->byte));
    hv_stores(hv, "marks", newSVuv((UV)o->marks));
    hv_stores(hv, "contexts", newSVuv((UV)o->contexts));
    hv_stores(hv, "tree", newSViv(o->tree));
    hv_stores(hv, "folded", newSViv(o->folded));
    hv_stores(hv, "fault_count", newSVuv((UV)o->faults));
    hv_stores(hv, "faults", newRV_noinc((SV *)faults));
    for (size_t i = 0; i < DP_FAULTS && i < o->faults; i++) {
        HV *fault = newHV();
        hv_stores(fault, "message", newSVpv(o->fault[i].message, 0));
        hv_stores(fault, "line", newSVuv((UV)o->fault[i].line));
        hv_stores(fault, "byte", newSVuv((UV)o->fault[i].byte));
        av_push(faults, newRV_noinc((SV *)fault));
    }
    hv_stores(hv, "open_count", newSVuv((UV)o->open));
    hv_stores(hv, "open", newRV_noinc((SV *)open));
    hv_stores(hv, "odd", newRV_noinc((SV *)odd));
    for (size_t i = 0; names && i < o->open_listed; i++)
        av_push(open, label(aTHX_ names, o->open_subs[i]));
    for (size_t i = 0; names && i < 2 * o->odd_pairs; i++)
        av_push(odd, label(aTHX_ names, o->odd[i]));
    return sv;
}

const char *dpx_error_text(int code) { return dp_err_text(code); }

void dpx_check(pTHX_ long code)
{
    if (code < 0)
        croak("%s", dp_err_text((int)code));
}

void dpx_take(pTHX_ struct dp_take *take, HV *from)
{
    AV *av = dpx_list(aTHX_ from, "bases");
    SSize_t n = av ? av_len(av) + 1 : 0;
    struct dp_base *bases = dpx_array(aTHX_ (size_t)n, sizeof *bases);
    STRLEN len;
    Zero(take, 1, struct dp_take);
    take->phase = dpx_text_field(aTHX_ from, "phase", NULL);
    take->below = dpx_text_field(aTHX_ from, "below", NULL);
    take->bases = bases;
    for (SSize_t i = 0; i + 1 < n; i += 2) {
        SV *old = dpx_element(aTHX_ av, i), *new = dpx_element(aTHX_ av, i + 1);
        struct dp_base *base = &bases[take->n_bases];
        if (!old || !new)
            continue;
        base->from = dpx_text(aTHX_ old, &len);
        base->from_len = len;
        base->to = dpx_text(aTHX_ new, &len);
        base->to_len = len;
        take->n_bases++;
    }
}

void dpx_write_how(pTHX_ struct dp_write_how *how, HV *from)
{
    AV *av = from ? dpx_list(aTHX_ from, "counters") : NULL;
    SSize_t n = av ? av_len(av) + 1 : 0;
    const char **counters = dpx_array(aTHX_ (size_t)n, sizeof *counters);
    STRLEN len;
    Zero(how, 1, struct dp_write_how);
    how->gzip = from && dpx_number(aTHX_ from, "gzip", 0) != 0;
    how->kind = from ? (int)dpx_number(aTHX_ from, "kind", DP_WRITE_ALL) : DP_WRITE_ALL;
    how->counters = counters;
    for (SSize_t i = 0; i < n; i++) {
        SV *sv = dpx_element(aTHX_ av, i);
        if (sv)
            counters[how->n_counters++] = dpx_text(aTHX_ sv, &len);
    }
}
