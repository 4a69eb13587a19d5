/* dprofdiff's options, sides and rules, from perl's data. */
#define PERL_NO_GET_CONTEXT
#include "dpx_hash.h"
#include "dpx_host.h"
#include "dp_err.h"
#include "dp_subs.h"

/* Asks perl whether a name matches the pattern of that number. */
struct matcher {
    SV *sub;
#ifdef MULTIPLICITY
    PerlInterpreter *perl;
#endif
};

static int match(void *ctx, size_t pattern, const char *ptr, size_t len)
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

static void take_matcher(pTHX_ struct dp_diff_how *how, HV *from)
{
    struct matcher *m = dpx_array(aTHX_ 1, sizeof *m);
    m->sub = dpx_field(aTHX_ from, "match");
#ifdef MULTIPLICITY
    m->perl = aTHX;
#endif
    how->match = match;
    how->match_ctx = m;
}

static void take_rules(pTHX_ struct dp_diff_how *how, HV *from)
{
    AV *av = dpx_list(aTHX_ from, "rules");
    SSize_t n = av ? av_len(av) + 1 : 0;
    struct dp_rule *rules = dpx_array(aTHX_ (size_t)n, sizeof *rules);
    for (SSize_t i = 0; i < n; i++) {
        HV *hv = dpx_hash_of(aTHX_ dpx_element(aTHX_ av, i));
        if (!hv)
            croak("rule %ld is none", (long)i);
        struct dp_rule *rule = &rules[i];
        rule->text = dpx_text_field(aTHX_ hv, "text", NULL);
        rule->kind = (int)dpx_number(aTHX_ hv, "kind", 0);
        rule->pattern = (long)dpx_number(aTHX_ hv, "pattern", -1);
        IV measure = dpx_number(aTHX_ hv, "measure", 0);
        rule->measure = measure < 0 || (size_t)measure >= how->n_measures
                ? DP_RULE_CALLS : (size_t)measure;
        rule->incl = dpx_number(aTHX_ hv, "incl", 0) != 0;
        AV *limits = dpx_list(aTHX_ hv, "limits");
        for (SSize_t k = 0; limits && k <= av_len(limits) && k < DP_RULE_LIMITS; k++) {
            AV *limit = dpx_list_of(aTHX_ dpx_element(aTHX_ limits, k));
            SV *value = limit ? dpx_element(aTHX_ limit, 0) : NULL,
               *percent = limit ? dpx_element(aTHX_ limit, 1) : NULL;
            rule->limits[rule->n_limits].value = value ? SvNV(value) : 0;
            rule->limits[rule->n_limits++].percent = percent && SvTRUE(percent);
        }
    }
    how->rules = rules;
    how->n_rules = (size_t)n;
}

static void take_measures(pTHX_ struct dp_diff_how *how, HV *from)
{
    AV *av = dpx_list(aTHX_ from, "measures");
    SSize_t n = av ? av_len(av) + 1 : 0;
    struct dp_diff_measure *measures = dpx_array(aTHX_ (size_t)n, sizeof *measures);
    if (!n)
        croak("nothing to compare");
    for (SSize_t i = 0; i < n; i++) {
        HV *hv = dpx_hash_of(aTHX_ dpx_element(aTHX_ av, i));
        if (!hv)
            croak("measure %ld is none", (long)i);
        AV *counters = dpx_list(aTHX_ hv, "counters");
        measures[i].name = dpx_text_field(aTHX_ hv, "name", NULL);
        measures[i].metric = (int)dpx_number(aTHX_ hv, "metric", 0);
        measures[i].exact = dpx_number(aTHX_ hv, "exact", 0) != 0;
        measures[i].tolerance = dpx_real(aTHX_ hv, "tolerance");
        SSize_t parts = counters ? av_len(counters) + 1 : 0;
        size_t *numbers = dpx_array(aTHX_ (size_t)parts, sizeof *numbers);
        for (SSize_t k = 0; k < parts; k++) {
            SV *sv = dpx_element(aTHX_ counters, k);
            numbers[k] = sv ? (size_t)SvUV(sv) : 0;
        }
        measures[i].counters = counters ? numbers : NULL;
    }
    how->measures = measures;
    how->n_measures = (size_t)n;
}

void dpx_pairing(pTHX_ struct dp_pair_how *how, HV *from)
{
    AV *map = dpx_list(aTHX_ from, "renames"), *bases = dpx_list(aTHX_ from, "bases");
    SSize_t n = map ? av_len(map) + 1 : 0, m = bases ? av_len(bases) + 1 : 0;
    struct dp_rename *renames = dpx_array(aTHX_ (size_t)n, sizeof *renames);
    const char **folders = dpx_array(aTHX_ (size_t)m, sizeof *folders);
    STRLEN len;
    for (SSize_t i = 0; i + 1 < n; i += 2) {
        SV *old = dpx_element(aTHX_ map, i), *new = dpx_element(aTHX_ map, i + 1);
        if (!old || !new)
            continue;
        struct dp_rename *r = &renames[how->n_renames++];
        r->from = dpx_text(aTHX_ old, &len);
        r->from_len = len;
        r->to = dpx_text(aTHX_ new, &len);
        r->to_len = len;
    }
    for (SSize_t i = 0; i < m; i++) {
        SV *sv = dpx_element(aTHX_ bases, i);
        if (sv)
            folders[how->n_bases++] = dpx_text(aTHX_ sv, &len);
    }
    how->label_flags = dpx_label_flags(aTHX_ from);
    how->renames = renames;
    how->bases = folders;
}

void dpx_diff(pTHX_ struct dp_diff_how *how, HV *from)
{
    int weights[2] = { 1, 1 };
    Zero(how, 1, struct dp_diff_how);
    dpx_over(aTHX_ &how->over, from);
    take_measures(aTHX_ how, from);
    take_rules(aTHX_ how, from);
    take_matcher(aTHX_ how, from);
    dpx_pairing(aTHX_ &how->pair, from);
    how->children = dpx_number(aTHX_ from, "children", 0) != 0;
    how->normalize = dpx_number(aTHX_ from, "normalize", 0) != 0;
    how->work = (size_t)dpx_number(aTHX_ from, "work", 0);
    how->work = how->work < how->n_measures ? how->work : 0;
    how->compute = (int)dpx_number(aTHX_ from, "compute", 0);
    dpx_numbers(aTHX_ from, "weights", weights, 2);
    how->weights[0] = weights[0];
    how->weights[1] = weights[1];
    IV order = dpx_number(aTHX_ from, "order", -1);
    how->order = order < 0 ? DP_DIFF_BY_CHANGE : (size_t)order;
    how->baseline_only = dpx_number(aTHX_ from, "baseline_only", 0) != 0;
    how->floor = dpx_real(aTHX_ from, "floor");
    how->alpha = dpx_real(aTHX_ from, "alpha");
    how->discoveries = dpx_number(aTHX_ from, "discoveries", 0) != 0;
    how->confidence = dpx_real(aTHX_ from, "confidence");
    how->strict = dpx_number(aTHX_ from, "strict", 0) != 0;
    how->beside = (size_t)dpx_number(aTHX_ from, "beside", 0);
    how->time_floor = dpx_real(aTHX_ from, "time_floor");
    how->time_floor_percent = dpx_real(aTHX_ from, "time_floor_percent");
    how->width = (size_t)dpx_number(aTHX_ from, "width", 0);
    how->view = (int)dpx_number(aTHX_ from, "view", 0);
    how->edges_of = dpx_text_field(aTHX_ from, "edges_of", &how->edges_of_len);
    how->percent_limit = dpx_real(aTHX_ from, "percent_limit");
    how->rows = (size_t)dpx_number(aTHX_ from, "rows", 0);
    how->period = dpx_number(aTHX_ from, "period", 0) != 0;
    how->formula = dpx_number(aTHX_ from, "formula", 0) != 0;
    how->verbose = dpx_number(aTHX_ from, "verbose", 0) != 0;
    how->format = (int)dpx_number(aTHX_ from, "format", 0);
    how->separator = dpx_text_field(aTHX_ from, "separator", NULL);
    how->title = dpx_text_field(aTHX_ from, "title", NULL);
    how->quiet = dpx_number(aTHX_ from, "quiet", 0) != 0;
    how->colour = dpx_number(aTHX_ from, "colour", 0) != 0;
    how->facts = dpx_facts(aTHX_ from, &how->n_facts);
}

static void take_runs(pTHX_ struct dp_diff_side *side, AV *runs)
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
            croak("%s: a run of nothing", side->name);
        ends[i] = parts = end;
    }
    side->parts = dpx_sides(aTHX_ all);
    side->ends = ends;
    side->n_runs = (size_t)n;
}

const struct dp_diff_side *dpx_diff_sides(pTHX_ AV *from, SSize_t least)
{
    SSize_t n = av_len(from) + 1;
    struct dp_diff_side *sides = dpx_array(aTHX_ (size_t)n, sizeof *sides);
    if (n < least)
        croak("%ld sides are wanted", (long)least);
    for (SSize_t i = 0; i < n; i++) {
        HV *hv = dpx_hash_of(aTHX_ dpx_element(aTHX_ from, i));
        if (!hv)
            croak("side %ld is none", (long)i);
        sides[i].name = dpx_text_field(aTHX_ hv, "name", NULL);
        sides[i].name = sides[i].name ? sides[i].name : "";
        sides[i].cut = dpx_number(aTHX_ hv, "cut", 0) != 0;
        take_runs(aTHX_ &sides[i], dpx_list(aTHX_ hv, "runs"));
    }
    return sides;
}

struct labels {
    AV *lists;
#ifdef MULTIPLICITY
    PerlInterpreter *perl;
#endif
};

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
#ifdef MULTIPLICITY
    l.perl = aTHX;
#endif
    for (SSize_t i = 0; i < n; i++) {
        AV *av = dpx_list_of(aTHX_ dpx_element(aTHX_ from, i));
        SV *prof = av ? dpx_element(aTHX_ av, 0) : NULL,
           *side = av ? dpx_element(aTHX_ av, 1) : NULL;
        if (!prof || !side)
            croak("pair %ld is none", (long)i);
        sides[i].prof = dpx_prof_of(aTHX_ prof);
        sides[i].side = (uint32_t)SvUV(side);
        av_push(l.lists, newRV_noinc((SV *)newAV()));
    }
    dpx_pairing(aTHX_ &how, options);
    dpx_check(aTHX_ dp_pair_labels(sides, (size_t)n, &how, take_label, &l));
    return l.lists;
}
