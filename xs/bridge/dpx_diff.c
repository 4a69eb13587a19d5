/* dprofdiff's options, sides and rules, from perl's data. */
#define PERL_NO_GET_CONTEXT
#include "dpx_diff.h"
#include "dpx_report.h"
#include "dpx_hash.h"
#include "dpx_host.h"
#include "dpx_keys.h"
#include "dp_err.h"
#include "dp_subs.h"

/* Asks perl whether a name matches the pattern of that number. */
struct matcher {
    SV *sub;
    DPX_PERL_MEMBER
};

/* Asks perl whether a name matches the pattern of that number; dp_diff_how.match. Returns 1, 0, or
 * DP_E_HOST if the sub died. */
static int call_matcher(void *ctx, size_t pattern, const char *ptr, size_t len)
{
    struct matcher *m = ctx;
    dTHXa(m->perl);
    dSP;
    ENTER;
    SAVETMPS;
    PUSHMARK(SP);
    mXPUSHu((UV)pattern);
    XPUSHs(sv_2mortal(dpx_name_sv(aTHX_ ptr, len)));
    PUTBACK;
    int n = call_sv(m->sub, G_SCALAR | G_EVAL);
    SPAGAIN;
    int matches = n > 0 && SvTRUE(TOPs);
    if (n > 0)
        (void)POPs;
    PUTBACK;
    if (SvTRUE(ERRSV))
        matches = DP_E_HOST;
    FREETMPS;
    LEAVE;
    return matches;
}

/* Lets C call the sub of key `match` for the patterns of a comparison. */
static void take_matcher(pTHX_ struct dp_diff_how *how, HV *from)
{
    struct matcher *m = dpx_array(aTHX_ 1, sizeof *m);
    m->sub = dpx_field(aTHX_ from, "match");
    DPX_PERL_SET(m);
    how->match = call_matcher;
    how->match_ctx = m;
}

/* Takes a name and the one that replaces it. */
static bool take_rename(pTHX_ void *to, AV *from, SSize_t at)
{
    struct dp_rename *rename = to;
    return dpx_two_texts(aTHX_ from, at, &rename->from, &rename->from_len, &rename->to,
                         &rename->to_len);
}
static DPX_ELEMENT(dp_rename, 2, NULL, take_rename);

/* Takes a side, the name of a file, and its text. */
static bool take_source(pTHX_ void *to, AV *from, SSize_t at)
{
    struct dp_source_text *source = to;
    SV *side = dpx_element(aTHX_ from, at), *file = dpx_element(aTHX_ from, at + 1),
       *text = dpx_element(aTHX_ from, at + 2);
    STRLEN len;
    if (!side || !file || !text)
        croak("source %ld lacks something: it has a side, a name and a text", (long)at / 3);
    source->side = (size_t)SvUV(side);
    source->file = dpx_text(aTHX_ file, &len);
    source->file_len = len;
    source->ptr = SvPVbyte(text, len);
    source->len = len;
    return true;
}
static DPX_ELEMENT(dp_source_text, 3, NULL, take_source);

DPX_KEYS(dp_pair_how, DP_PAIR_OPTIONS, "pairs")

static DPX_KEYS(dp_rule, DP_RULE_OPTIONS, "a rule")

/* Takes a rule: a hash whose `limits` are a list of [VALUE, IS_PERCENT]. dpx_keys_take calls this,
 * and the functions like it, for each element of a list. */
static bool take_rule(pTHX_ void *to, AV *from, SSize_t at)
{
    struct dp_rule *rule = to;
    rule->pattern = -1;
    dpx_keys_take_at(aTHX_ rule, dpx_keys_dp_rule(), from, at);
    HV *hv = dpx_hash_of(aTHX_ dpx_element(aTHX_ from, at));
    AV *limits = dpx_list(aTHX_ hv, "limits");
    for (SSize_t k = 0; limits && k <= av_len(limits) && k < DP_RULE_LIMITS; k++) {
        AV *limit = dpx_list_of(aTHX_ dpx_element(aTHX_ limits, k));
        SV *value = limit ? dpx_element(aTHX_ limit, 0) : NULL,
           *percent = limit ? dpx_element(aTHX_ limit, 1) : NULL;
        rule->limits[rule->n_limits].value = value ? SvNV(value) : 0;
        rule->limits[rule->n_limits++].percent = percent && SvTRUE(percent);
    }
    return true;
}
static DPX_ELEMENT(dp_rule, 1, NULL, take_rule);

static DPX_KEYS(dp_diff_measure, DP_MEASURE_OPTIONS, "a measure")

static DPX_ELEMENT(dp_diff_measure, 1, dpx_keys_dp_diff_measure, NULL);

DPX_KEYS(dp_diff_how, DP_DIFF_OPTIONS, "a comparison")

void dpx_diff(pTHX_ struct dp_diff_how *how, HV *from)
{
    Zero(how, 1, struct dp_diff_how);
    how->weights[0] = how->weights[1] = 1;
    how->order = DP_DIFF_BY_CHANGE;
    dpx_keys_take(aTHX_ how, dpx_keys_dp_diff_how(), from);
    if (!how->n_measures)
        croak("measures of a comparison: there is nothing to compare");
    struct dp_rule *rules = (struct dp_rule *)how->rules;   /* just made by dpx_keys_take */
    for (size_t i = 0; i < how->n_rules; i++)
        if (rules[i].measure >= how->n_measures)
            rules[i].measure = DP_RULE_CALLS;
    how->work = how->work < how->n_measures ? how->work : 0;
    how->counts = how->counts < how->n_measures ? how->counts : 0;
    how->beside = how->beside < how->n_measures ? how->beside : 0;
    how->noise = how->noise < how->n_measures ? how->noise : 0;
    take_matcher(aTHX_ how, from);
}

/* Takes the runs of a side: a list of lists of profiles. C wants one list of all profiles, and
 * where each run ends in it. waiting: profiles whose files are not read yet are allowed. */
static void take_runs(pTHX_ struct dp_diff_side *side, AV *runs, bool waiting)
{
    SSize_t n = runs ? av_len(runs) + 1 : 0;
    size_t *ends = dpx_array(aTHX_ (size_t)n, sizeof *ends), parts = 0;
    AV *all = (AV *)sv_2mortal((SV *)newAV());
    if (!n)
        croak("%s: no runs", side->name);
    for (SSize_t i = 0; i < n; i++) {
        AV *run = dpx_list_of(aTHX_ dpx_element(aTHX_ runs, i));
        for (SSize_t k = 0; run && k <= av_len(run); k++) {
            SV *sv = dpx_element(aTHX_ run, k);
            av_push(all, sv ? newSVsv(sv) : newSV(0));
        }
        size_t end = (size_t)(av_len(all) + 1);
        if (end == parts)
            croak("%s: a run has no profiles", side->name);
        ends[i] = parts = end;
    }
    side->parts = dpx_sides(aTHX_ all, waiting);
    side->ends = ends;
    side->n_runs = (size_t)n;
}

static DPX_KEYS(dp_diff_side, DP_SIDE_OPTIONS, "a side")

const struct dp_diff_side *dpx_diff_sides(pTHX_ AV *from, SSize_t least, bool waiting)
{
    SSize_t n = av_len(from) + 1;
    struct dp_diff_side *sides = dpx_array(aTHX_ (size_t)n, sizeof *sides);
    if (n < least)
        croak("at least %ld sides are needed", (long)least);
    for (SSize_t i = 0; i < n; i++) {
        sides[i].name = "";
        dpx_keys_take_at(aTHX_ &sides[i], dpx_keys_dp_diff_side(), from, i);
        HV *hv = dpx_hash_of(aTHX_ dpx_element(aTHX_ from, i));
        take_runs(aTHX_ &sides[i], dpx_list(aTHX_ hv, "runs"), waiting);
    }
    return sides;
}

struct labels {
    AV *lists;
    DPX_PERL_MEMBER
};

/* Takes a label of a side from C, and appends it to the side's list. */
static int take_label(void *ctx, size_t side, const char *ptr, size_t len)
{
    struct labels *l = ctx;
    dTHXa(l->perl);
    av_push((AV *)SvRV(*av_fetch(l->lists, (SSize_t)side, 0)), dpx_name_sv(aTHX_ ptr, len));
    return 0;
}

AV *dpx_paired_labels(pTHX_ AV *from, HV *options)
{
    SSize_t n = av_len(from) + 1;
    struct dp_pair_side *sides = dpx_array(aTHX_ (size_t)n, sizeof *sides);
    struct dp_pair_how how;
    struct labels l;
    Zero(&how, 1, struct dp_pair_how);
    l.lists = (AV *)sv_2mortal((SV *)newAV());
    DPX_PERL_SET(&l);
    for (SSize_t i = 0; i < n; i++) {
        AV *av = dpx_list_of(aTHX_ dpx_element(aTHX_ from, i));
        SV *prof = av ? dpx_element(aTHX_ av, 0) : NULL,
           *side = av ? dpx_element(aTHX_ av, 1) : NULL;
        if (!prof || !side)
            croak("pair %ld lacks a profile or a side", (long)i);
        sides[i].prof = dpx_prof_of(aTHX_ prof);
        sides[i].side = (uint32_t)SvUV(side);
        av_push(l.lists, newRV_noinc((SV *)newAV()));
    }
    dpx_keys_take(aTHX_ &how, dpx_keys_dp_pair_how(), options);
    dpx_check(aTHX_ dp_pair_labels(sides, (size_t)n, &how, take_label, &l));
    return l.lists;
}
