/* dprofreport's options and profiles, from perl's data. */
#define PERL_NO_GET_CONTEXT
#include "dpx_report.h"
#include "dpx_hash.h"
#include "dpx_host.h"
#include "dpx_keys.h"
#include "dp_err.h"

/* Takes label, key and text. */
static bool take_fact(pTHX_ void *to, AV *from, SSize_t at)
{
    struct dp_report_fact *fact = to;
    SV *label = dpx_element(aTHX_ from, at), *key = dpx_element(aTHX_ from, at + 1),
       *text = dpx_element(aTHX_ from, at + 2);
    STRLEN len;
    if (!label || !key || !text)
        return false;
    fact->label = dpx_text(aTHX_ label, &len);
    fact->key = dpx_text(aTHX_ key, &len);
    fact->text = dpx_text(aTHX_ text, &len);
    fact->len = len;
    return true;
}
DPX_ELEMENT(dp_report_fact, 3, NULL, take_fact);

static bool take_name(pTHX_ void *to, AV *from, SSize_t at)
{
    struct dp_report_name *name = to;
    SV *sv = dpx_element(aTHX_ from, at);
    STRLEN len;
    if (!sv)
        return false;
    name->ptr = dpx_text(aTHX_ sv, &len);
    name->len = len;
    return true;
}
static DPX_ELEMENT(dp_report_name, 1, NULL, take_name);

DPX_KEYS(dp_over_how, DP_OVER_OPTIONS, "a table")

DPX_KEYS(dp_report, DP_REPORT_OPTIONS, "a report")

void dpx_report(pTHX_ struct dp_report *how, HV *from)
{
    Zero(how, 1, struct dp_report);
    dpx_keys_take(aTHX_ how, dpx_keys_dp_report(), from);
    for (size_t i = 0; i < how->n_fields; i++)
        if (how->fields[i] < 0 || (size_t)how->fields[i] >= DP_FIELD_KEY + how->over.n_keys)
            croak("fields of a report: there is no column %d", how->fields[i]);
}

static void take_side(pTHX_ struct dp_over_side *side, AV *from, SSize_t n, bool waiting)
{
    const char **texts[] = { &side->script, &side->pid, &side->thread };
    SV *sv = from ? dpx_element(aTHX_ from, 0) : NULL;
    STRLEN len;
    if (!sv)
        croak("side %ld has no profile", (long)n);
    side->prof = waiting ? dpx_prof_waiting(aTHX_ sv) : dpx_prof_of(aTHX_ sv);
    if ((sv = dpx_element(aTHX_ from, 1))) {
        struct dp_sub_info info;
        side->flags = (const unsigned char *)SvPV(sv, len);
        if (!len || dp_prof_sub(side->prof, len - 1, &info)
            || (len > 1 && !dp_prof_sub(side->prof, len - 2, &info)))
            croak("flags of side %ld: %lu do not fit", (long)n, (unsigned long)len);
    }
    for (int k = 0; k < 3; k++)
        if ((sv = dpx_element(aTHX_ from, 2 + k)))
            *texts[k] = dpx_text(aTHX_ sv, &len);
    if ((sv = dpx_element(aTHX_ from, 5)))
        side->counter = (size_t)SvUV(sv);
}

const struct dp_over_side *dpx_sides(pTHX_ AV *from, bool waiting)
{
    SSize_t n = av_len(from) + 1;
    struct dp_over_side *sides = dpx_array(aTHX_ (size_t)n, sizeof *sides);
    if (!n)
        croak("no profiles");
    for (SSize_t i = 0; i < n; i++)
        take_side(aTHX_ &sides[i], dpx_list_of(aTHX_ dpx_element(aTHX_ from, i)), i,
                  waiting);
    return sides;
}
