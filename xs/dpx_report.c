/* dprofreport's options and profiles, from perl's data. */
#include "dpx_host.h"
#include "dp_err.h"

static SV *field(pTHX_ HV *from, const char *name)
{
    SV **sv = hv_fetch(from, name, (I32)strlen(name), 0);
    return sv && SvOK(*sv) ? *sv : NULL;
}

static IV number(pTHX_ HV *from, const char *name)
{
    SV *sv = field(aTHX_ from, name);
    return sv ? SvIV(sv) : 0;
}

static NV real(pTHX_ HV *from, const char *name)
{
    SV *sv = field(aTHX_ from, name);
    return sv ? SvNV(sv) : 0;
}

/* Its bytes as UTF-8, where characters stand for themselves; in a copy of its own that the
 * statement keeps. */
static const char *text(pTHX_ SV *sv, STRLEN *len)
{
    SV *copy = sv_2mortal(newSVsv(sv));
    return SvUTF8(copy) ? SvPVutf8(copy, *len) : SvPV(copy, *len);
}

static AV *list(pTHX_ HV *from, const char *name)
{
    SV *sv = field(aTHX_ from, name);
    return sv && SvROK(sv) && SvTYPE(SvRV(sv)) == SVt_PVAV ? (AV *)SvRV(sv) : NULL;
}

static size_t numbers(pTHX_ HV *from, const char *name, int *to, size_t most)
{
    AV *av = list(aTHX_ from, name);
    size_t n = 0;
    for (SSize_t i = 0; av && i <= av_len(av) && n < most; i++) {
        SV **sv = av_fetch(av, i, 0);
        to[n++] = sv ? (int)SvIV(*sv) : 0;
    }
    return n;
}

static void facts(pTHX_ struct dp_report *how, HV *from)
{
    AV *av = list(aTHX_ from, "facts");
    struct dp_report_fact *facts;
    SSize_t n = av ? av_len(av) + 1 : 0;
    STRLEN len;
    Newx(facts, n + 1, struct dp_report_fact);
    SAVEFREEPV(facts);
    for (SSize_t i = 0; i + 2 < n; i += 3) {
        SV **label = av_fetch(av, i, 0), **key = av_fetch(av, i + 1, 0), **value = av_fetch(av, i + 2, 0);
        if (!label || !key || !value)
            continue;
        struct dp_report_fact *f = &facts[how->n_facts++];
        f->label = text(aTHX_ *label, &len);
        f->key = text(aTHX_ *key, &len);
        f->text = text(aTHX_ *value, &len);
        f->len = len;
    }
    how->facts = facts;
}

void dpx_report(pTHX_ struct dp_report *how, HV *from)
{
    SV *sv;
    STRLEN len;
    Zero(how, 1, struct dp_report);
    how->over.metric = (int)number(aTHX_ from, "metric");
    how->over.label_flags = dpx_label_flags(aTHX_ from);
    how->over.n_keys = numbers(aTHX_ from, "keys", how->over.keys, DP_KEYS);
    how->over.max_stack = (size_t)number(aTHX_ from, "max_stack");
    how->over.relative = number(aTHX_ from, "relative") != 0;
    how->over.exclude_other = number(aTHX_ from, "exclude_other") != 0;
    how->over.by_self = number(aTHX_ from, "no_children") != 0;
    how->n_fields = numbers(aTHX_ from, "fields", how->fields, DP_REPORT_FIELDS);
    how->no_children = how->over.by_self;
    how->percent_limit = real(aTHX_ from, "percent_limit");
    how->rows = (size_t)number(aTHX_ from, "rows");
    how->histogram = number(aTHX_ from, "histogram") != 0;
    how->hierarchy = number(aTHX_ from, "hierarchy") != 0;
    how->chain = (int)number(aTHX_ from, "chain");
    how->chain_value = (int)number(aTHX_ from, "chain_value");
    how->caller_order = number(aTHX_ from, "caller_order") != 0;
    how->threshold = real(aTHX_ from, "threshold");
    how->print_limit = (size_t)number(aTHX_ from, "print_limit");
    how->callees = number(aTHX_ from, "callees") != 0;
    if ((sv = field(aTHX_ from, "edges_of"))) {
        how->edges_of = text(aTHX_ sv, &len);
        how->edges_of_len = len;
    }
    how->format = (int)number(aTHX_ from, "format");
    if ((sv = field(aTHX_ from, "separator")))
        how->separator = text(aTHX_ sv, &len);
    how->quiet = number(aTHX_ from, "quiet") != 0;
    how->colour = number(aTHX_ from, "colour") != 0;
    if ((sv = field(aTHX_ from, "title")))
        how->title = text(aTHX_ sv, &len);
    facts(aTHX_ how, from);
}

const struct dp_over_side *dpx_sides(pTHX_ AV *from)
{
    struct dp_over_side *sides;
    SSize_t n = av_len(from) + 1;
    STRLEN len;
    if (!n)
        croak("no profiles");
    Newxz(sides, n, struct dp_over_side);
    SAVEFREEPV(sides);
    for (SSize_t i = 0; i < n; i++) {
        SV **sv = av_fetch(from, i, 0), **of;
        AV *av = sv && SvROK(*sv) && SvTYPE(SvRV(*sv)) == SVt_PVAV ? (AV *)SvRV(*sv) : NULL;
        const char **texts[] = { &sides[i].script, &sides[i].pid, &sides[i].thread };
        if (!av || !(of = av_fetch(av, 0, 0)))
            croak("side %ld is none", (long)i);
        sides[i].prof = dpx_prof_of(aTHX_ *of);
        if ((of = av_fetch(av, 1, 0)) && SvOK(*of)) {
            struct dp_sub_info info;
            sides[i].flags = (const unsigned char *)SvPV(*of, len);
            if (!len || dp_prof_sub(sides[i].prof, len - 1, &info) || (len > 1 && !dp_prof_sub(sides[i].prof, len - 2, &info)))
                croak("flags of side %ld: %lu do not fit", (long)i, (unsigned long)len);
        }
        for (int k = 0; k < 3; k++)
            if ((of = av_fetch(av, 2 + k, 0)) && SvOK(*of))
                *texts[k] = text(aTHX_ *of, &len);
        if ((of = av_fetch(av, 5, 0)) && SvOK(*of))
            sides[i].counter = (size_t)SvUV(*of);
    }
    return sides;
}
