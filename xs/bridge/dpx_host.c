#define PERL_NO_GET_CONTEXT
#include "dpx_host.h"
#include "dpx_hash.h"
#include "dpx_keys.h"
#include "dp_err.h"
#include "dp_subs.h"
#include "dprof/trace.h"

/* Writes bytes to Perl's handle. Returns 0 or DP_E_IO. */
static int host_write(void *ctx, const void *ptr, size_t len)
{
    struct dpx_host *h = ctx;
    dTHXa(h->perl);
    return PerlIO_write(h->out, ptr, len) == (SSize_t)len ? 0 : DP_E_IO;
}

/* Calls the user's sub with the bytes read so far, and all bytes. Returns DP_E_HOST if the sub
 * died, which ends the reading; the caller then throws what is in $@. */
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
    DPX_PERL_SET(h);
}

struct dp_prof *dpx_prof_waiting(pTHX_ SV *sv)
{
    if (!SvROK(sv) || !sv_derived_from(sv, "Devel::DProf::Profile") || !SvIOK(SvRV(sv)))
        croak("not a Devel::DProf::Profile");
    return INT2PTR(struct dp_prof *, SvIV(SvRV(sv)));
}

struct dp_prof *dpx_prof_of(pTHX_ SV *sv)
{
    struct dp_prof *prof = dpx_prof_waiting(aTHX_ sv);
    if (dp_prof_unpack(prof) < 0)
        croak("%s", dp_err_text(DP_E_NOMEM));
    return prof;
}

SV *dpx_prof_sv(pTHX_ const char *package, struct dp_prof *prof)
{
    if (!prof)
        croak("%s", dp_err_text(DP_E_NOMEM));
    return sv_setref_pv(newSV(0), package, prof);
}

DPX_KEYS(dp_label_how, DP_LABEL_OPTIONS, "names")

unsigned dpx_label_flags(pTHX_ HV *from)
{
    struct dp_label_how how = { 0 };
    dpx_keys_take(aTHX_ &how, dpx_keys_dp_label_how(), from);
    return how.label_flags;
}

DPX_KEYS(dp_classic, DP_CLASSIC_OPTIONS, "a table")

/* One hash has the options of the table and those of the names. */
#define DPX_CLASSIC_OPTIONS(X) X(PART, classic, dp_classic) X(PART, labels, dp_label_how)
struct dpx_classic { DPX_CLASSIC_OPTIONS(DP_MEMBER) };
DPX_KEYS(dpx_classic, DPX_CLASSIC_OPTIONS, "a table")

struct dp_names *dpx_classic(pTHX_ struct dp_classic *how, const struct dp_prof *prof, HV *from)
{
    struct dpx_classic table;
    SV *sv;
    STRLEN len;
    Zero(&table, 1, struct dpx_classic);
    table.classic.rows = 15;
    table.classic.counter_label = "counts";
    table.classic.only = -1;
    dpx_keys_take(aTHX_ &table, dpx_keys_dpx_classic(), from);
    *how = table.classic;
    struct dp_names *names = dp_names_new(prof, table.labels.label_flags);
    if (!names)
        dpx_check(aTHX_ DP_E_NOMEM);
    if ((sv = dpx_field(aTHX_ from, "only"))) {
        const char *only = SvPVutf8(sv, len);
        how->only = dp_names_find(names, only, len);
        if (how->only < 0)              /* no sub has this name: the table is empty */
            how->only = (long)dp_names_count(names);
    }
    if ((sv = dpx_field(aTHX_ from, "roles"))) {
        const char *roles = SvPV(sv, len);
        size_t count = dp_names_count(names);
        if (len != count) {
            dp_names_free(names);
            croak("roles: %lu of %lu", (unsigned long)len, (unsigned long)count);
        }
        how->roles = (const unsigned char *)roles;
    }
    return names;
}

DPX_KEYS(dp_trace_how, DP_TRACE_OPTIONS, "calls")

/* The label of a sub for a message, or "?" if there is no such sub. */
static SV *label_sv(pTHX_ const struct dp_names *names, uint32_t sub)
{
    size_t len;
    if (sub == UINT32_MAX)
        return newSVpvs("?");
    const char *ptr = dp_names_get(names, dp_names_of_sub(names, sub), &len);
    return dpx_name_sv(aTHX_ ptr, len);
}

static DPX_KEYS(dp_outcome, DP_OUTCOME_FIELDS, "an outcome")
static DPX_KEYS(dp_fault, DP_FAULT_FIELDS, "a fault")

SV *dpx_outcome_sv(pTHX_ const struct dp_outcome *o, const struct dp_names *names)
{
    HV *hv = newHV();
    AV *open = newAV(), *odd = newAV(), *faults = newAV();
    SV *sv = newRV_noinc((SV *)hv);
    dpx_keys_give(aTHX_ hv, dpx_keys_dp_outcome(), o);
    hv_stores(hv, "faults", newRV_noinc((SV *)faults));
    for (size_t i = 0; i < DP_FAULTS && i < o->fault_count; i++) {
        HV *fault = newHV();
        dpx_keys_give(aTHX_ fault, dpx_keys_dp_fault(), &o->fault[i]);
        av_push(faults, newRV_noinc((SV *)fault));
    }
    hv_stores(hv, "open", newRV_noinc((SV *)open));
    hv_stores(hv, "odd", newRV_noinc((SV *)odd));
    for (size_t i = 0; names && i < o->open_listed; i++)
        av_push(open, label_sv(aTHX_ names, o->open_subs[i]));
    for (size_t i = 0; names && i < 2 * o->odd_pairs; i++)
        av_push(odd, label_sv(aTHX_ names, o->odd[i]));
    return sv;
}

bool dpx_range(pTHX_ struct dp_range *range, SV *from)
{
    SV *sv;
    AV *av = from ? dpx_list_of(aTHX_ from) : NULL;
    if (!av)
        croak("a range is [from, to, percent]");
    range->from = (sv = dpx_element(aTHX_ av, 0)) ? SvNV(sv) : 0;
    range->to = (sv = dpx_element(aTHX_ av, 1)) ? SvNV(sv) : 1e300;
    range->percent = (sv = dpx_element(aTHX_ av, 2)) && SvTRUE(sv);
    return true;
}

bool dpx_two_texts(pTHX_ AV *from, SSize_t at, const char **one, size_t *one_len,
                   const char **two, size_t *two_len)
{
    SV *first = dpx_element(aTHX_ from, at), *second = dpx_element(aTHX_ from, at + 1);
    STRLEN len;
    if (!first || !second)
        return false;
    *one = dpx_text(aTHX_ first, &len);
    *one_len = len;
    *two = dpx_text(aTHX_ second, &len);
    *two_len = len;
    return true;
}

/* Takes a prefix of paths and what replaces it, so that checkouts in different folders can be
 * compared. */
static bool take_base(pTHX_ void *to, AV *from, SSize_t at)
{
    struct dp_base *base = to;
    return dpx_two_texts(aTHX_ from, at, &base->from, &base->from_len, &base->to, &base->to_len);
}
static DPX_ELEMENT(dp_base, 2, NULL, take_base);

DPX_KEYS(dp_take, DP_TAKE_OPTIONS, "what is taken")

DPX_KEYS(dp_write_how, DP_WRITE_OPTIONS, "what is written")
