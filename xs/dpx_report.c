/* dprofreport's options and profiles, from perl's data. */
#include "dpx_hash.h"
#include "dpx_host.h"
#include "dp_err.h"

const struct dp_report_fact *dpx_facts(pTHX_ HV *from, size_t *count)
{
    AV *av = dpx_list(aTHX_ from, "facts");
    SSize_t n = av ? av_len(av) + 1 : 0;
    struct dp_report_fact *facts = dpx_array(aTHX_ (size_t)n, sizeof *facts);
    *count = 0;
    for (SSize_t i = 0; i + 2 < n; i += 3) {
        SV *label = dpx_element(aTHX_ av, i), *key = dpx_element(aTHX_ av, i + 1),
           *value = dpx_element(aTHX_ av, i + 2);
        STRLEN len;
        if (!label || !key || !value)
            continue;
        struct dp_report_fact *f = &facts[(*count)++];
        f->label = dpx_text(aTHX_ label, &len);
        f->key = dpx_text(aTHX_ key, &len);
        f->text = dpx_text(aTHX_ value, &len);
        f->len = len;
    }
    return facts;
}

void dpx_over(pTHX_ struct dp_over_how *how, HV *from)
{
    how->metric = (int)dpx_number(aTHX_ from, "metric", 0);
    how->label_flags = dpx_label_flags(aTHX_ from);
    how->n_keys = dpx_numbers(aTHX_ from, "keys", (int *)how->keys, dp_key_count);
    how->max_stack = (size_t)dpx_number(aTHX_ from, "max_stack", 0);
    how->relative = dpx_number(aTHX_ from, "relative", 0) != 0;
    how->exclude_other = dpx_number(aTHX_ from, "exclude_other", 0) != 0;
    how->no_children = dpx_number(aTHX_ from, "no_children", 0) != 0;
}

void dpx_report(pTHX_ struct dp_report *how, HV *from)
{
    Zero(how, 1, struct dp_report);
    dpx_over(aTHX_ &how->over, from);
    how->n_fields = dpx_numbers(aTHX_ from, "fields", how->fields, DP_REPORT_FIELDS);
    how->percent_limit = dpx_real(aTHX_ from, "percent_limit");
    how->rows = (size_t)dpx_number(aTHX_ from, "rows", 0);
    how->histogram = dpx_number(aTHX_ from, "histogram", 0) != 0;
    how->hierarchy = dpx_number(aTHX_ from, "hierarchy", 0) != 0;
    how->chain = (int)dpx_number(aTHX_ from, "chain", 0);
    how->chain_value = (int)dpx_number(aTHX_ from, "chain_value", 0);
    how->caller_order = dpx_number(aTHX_ from, "caller_order", 0) != 0;
    how->threshold = dpx_real(aTHX_ from, "threshold");
    how->print_limit = (size_t)dpx_number(aTHX_ from, "print_limit", 0);
    how->callees = dpx_number(aTHX_ from, "callees", 0) != 0;
    how->edges_of = dpx_text_field(aTHX_ from, "edges_of", &how->edges_of_len);
    how->format = (int)dpx_number(aTHX_ from, "format", 0);
    how->separator = dpx_text_field(aTHX_ from, "separator", NULL);
    how->quiet = dpx_number(aTHX_ from, "quiet", 0) != 0;
    how->colour = dpx_number(aTHX_ from, "colour", 0) != 0;
    how->title = dpx_text_field(aTHX_ from, "title", NULL);
    how->facts = dpx_facts(aTHX_ from, &how->n_facts);
}

static void take_side(pTHX_ struct dp_over_side *side, AV *from, SSize_t n)
{
    const char **texts[] = { &side->script, &side->pid, &side->thread };
    SV *sv = from ? dpx_element(aTHX_ from, 0) : NULL;
    STRLEN len;
    if (!sv)
        croak("side %ld is none", (long)n);
    side->prof = dpx_prof_of(aTHX_ sv);
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

const struct dp_over_side *dpx_sides(pTHX_ AV *from)
{
    SSize_t n = av_len(from) + 1;
    struct dp_over_side *sides = dpx_array(aTHX_ (size_t)n, sizeof *sides);
    if (!n)
        croak("no profiles");
    for (SSize_t i = 0; i < n; i++)
        take_side(aTHX_ &sides[i], dpx_list_of(aTHX_ dpx_element(aTHX_ from, i)), i);
    return sides;
}
