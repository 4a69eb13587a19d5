/* The options of dproffold and dprofflame, from perl's data. */
#define PERL_NO_GET_CONTEXT
#include "dpx_hash.h"
#include "dpx_host.h"

/* columns: for each measure and side a hash of metric and counters. */
static void take_columns(pTHX_ struct dp_stacks_how *how, HV *from, size_t n_sides)
{
    AV *av = dpx_list(aTHX_ from, "columns");
    size_t n = av ? (size_t)(av_len(av) + 1) : 0;
    struct dp_stacks_column *columns = dpx_array(aTHX_ n, sizeof *columns);
    if (!n || n % n_sides)
        croak("%ld columns do not go with %ld sides", (long)n, (long)n_sides);
    for (size_t i = 0; i < n; i++) {
        HV *hv = dpx_hash_of(aTHX_ dpx_element(aTHX_ av, (SSize_t)i));
        if (!hv)
            croak("column %ld is none", (long)i);
        AV *counters = dpx_list(aTHX_ hv, "counters");
        SSize_t parts = counters ? av_len(counters) + 1 : 0;
        size_t *numbers = dpx_array(aTHX_ (size_t)parts, sizeof *numbers);
        for (SSize_t k = 0; k < parts; k++) {
            SV *sv = dpx_element(aTHX_ counters, k);
            numbers[k] = sv ? (size_t)SvUV(sv) : 0;
        }
        columns[i].metric = (int)dpx_number(aTHX_ hv, "metric", 0);
        columns[i].counters = counters ? numbers : NULL;
    }
    how->columns = columns;
    how->n_columns = n;
}

void dpx_stacks(pTHX_ struct dp_stacks_how *how, HV *from, size_t n_sides)
{
    Zero(how, 1, struct dp_stacks_how);
    take_columns(aTHX_ how, from, n_sides);
    dpx_pairing(aTHX_ &how->pair, from);
    how->recursion = (size_t)dpx_number(aTHX_ from, "recursion", 0);
    how->chart = dpx_number(aTHX_ from, "chart", 0) != 0 && n_sides == 1;
    how->no_program = dpx_number(aTHX_ from, "no_program", 0) != 0;
    how->strip_hex = dpx_number(aTHX_ from, "strip_hex", 0) != 0;
}

void dpx_fold(pTHX_ struct dp_fold_how *how, HV *from, size_t n_sides)
{
    Zero(how, 1, struct dp_fold_how);
    dpx_stacks(aTHX_ &how->stacks, from, n_sides);
    how->reverse = dpx_number(aTHX_ from, "reverse", 0) != 0;
    how->per = (uint64_t)dpx_number(aTHX_ from, "per", 1);
    how->whole = dpx_number(aTHX_ from, "whole", 0) != 0;
    how->normalize = dpx_number(aTHX_ from, "normalize", 0) != 0;
}

static const struct dp_flame_fill *take_fills(pTHX_ HV *from, const char *name, size_t *count)
{
    AV *av = dpx_list(aTHX_ from, name);
    SSize_t n = av ? av_len(av) + 1 : 0;
    struct dp_flame_fill *fills = dpx_array(aTHX_ (size_t)n, sizeof *fills);
    *count = 0;
    for (SSize_t i = 0; i + 1 < n; i += 2) {
        SV *key = dpx_element(aTHX_ av, i), *value = dpx_element(aTHX_ av, i + 1);
        STRLEN len;
        if (!key || !value)
            continue;
        struct dp_flame_fill *f = &fills[(*count)++];
        f->name = dpx_text(aTHX_ key, &len);
        f->name_len = len;
        f->text = dpx_text(aTHX_ value, &len);
        f->text_len = len;
    }
    return fills;
}

static const char *const *take_texts(pTHX_ HV *from, const char *name, size_t *count)
{
    AV *av = dpx_list(aTHX_ from, name);
    SSize_t n = av ? av_len(av) + 1 : 0;
    const char **texts = dpx_array(aTHX_ (size_t)n, sizeof *texts);
    STRLEN len;
    for (SSize_t i = 0; i < n; i++) {
        SV *sv = dpx_element(aTHX_ av, i);
        texts[i] = sv ? dpx_text(aTHX_ sv, &len) : "";
    }
    *count = (size_t)n;
    return texts;
}

static void take_metrics(pTHX_ struct dp_flame_how *how, HV *from, size_t n_sides)
{
    AV *av = dpx_list(aTHX_ from, "metrics");
    SSize_t n = av ? av_len(av) + 1 : 0;
    struct dp_flame_metric *metrics = dpx_array(aTHX_ (size_t)n, sizeof *metrics);
    if ((size_t)n < how->stacks.n_columns / n_sides)
        croak("%ld metrics for %ld measures", (long)n, (long)(how->stacks.n_columns / n_sides));
    for (SSize_t i = 0; i < n; i++) {
        HV *hv = dpx_hash_of(aTHX_ dpx_element(aTHX_ av, i));
        if (!hv)
            croak("metric %ld is none", (long)i);
        metrics[i].key = dpx_text_field(aTHX_ hv, "key", NULL);
        metrics[i].label = dpx_text_field(aTHX_ hv, "label", NULL);
        metrics[i].unit = dpx_text_field(aTHX_ hv, "unit", NULL);
        if (!metrics[i].key || !metrics[i].label || !metrics[i].unit)
            croak("metric %ld lacks a name", (long)i);
    }
    how->metrics = metrics;
}

void dpx_flame(pTHX_ struct dp_flame_how *how, HV *from, size_t n_sides)
{
    size_t n;
    Zero(how, 1, struct dp_flame_how);
    dpx_stacks(aTHX_ &how->stacks, from, n_sides);
    take_metrics(aTHX_ how, from, n_sides);
    how->stacks.when = 1;
    how->normalize = dpx_number(aTHX_ from, "normalize", 0) != 0;
    how->reverse = dpx_number(aTHX_ from, "reverse", 0) != 0;
    how->inverted = dpx_number(aTHX_ from, "inverted", 0) != 0;
    how->order = (int)dpx_number(aTHX_ from, "order", 0);
    how->width_of = (int)dpx_number(aTHX_ from, "width_of", 0);
    how->by_total = dpx_number(aTHX_ from, "by_total", 0) != 0;
    how->hue = dpx_number(aTHX_ from, "hue", 0) != 0;
    how->is_pair = dpx_number(aTHX_ from, "is_pair", 0) != 0;
    how->total = dpx_real(aTHX_ from, "total");
    how->factor = dpx_real(aTHX_ from, "factor");
    how->width = dpx_real(aTHX_ from, "width");
    how->height = dpx_real(aTHX_ from, "height");
    how->min_width = dpx_real(aTHX_ from, "min_width");
    how->min_percent = dpx_number(aTHX_ from, "min_percent", 0) != 0;
    how->title = dpx_text_field(aTHX_ from, "title", NULL);
    how->title = how->title ? how->title : "";
    how->subtitle = dpx_text_field(aTHX_ from, "subtitle", NULL);
    how->notes = dpx_text_field(aTHX_ from, "notes", NULL);
    how->nametype = dpx_text_field(aTHX_ from, "nametype", NULL);
    how->countname = dpx_text_field(aTHX_ from, "countname", NULL);
    how->encoding = dpx_text_field(aTHX_ from, "encoding", NULL);
    how->legend = dpx_text_field(aTHX_ from, "legend", NULL);
    how->font = dpx_text_field(aTHX_ from, "font", NULL);
    how->font = how->font ? how->font : "Verdana";
    how->font_size = dpx_real(aTHX_ from, "font_size");
    how->font_width = dpx_real(aTHX_ from, "font_width");
    how->palette = (int)dpx_number(aTHX_ from, "palette", 0);
    how->hash = dpx_number(aTHX_ from, "hash", 0) != 0;
    how->seed = (uint64_t)dpx_number(aTHX_ from, "seed", 0);
    how->fills = take_fills(aTHX_ from, "fills", &how->n_fills);
    how->attributes = take_fills(aTHX_ from, "attributes", &how->n_attributes);
    how->page = dpx_number(aTHX_ from, "page", 0) != 0;
    how->notes_of_page = take_texts(aTHX_ from, "notes_of_page", &how->n_notes_of_page);
    how->options = dpx_text_field(aTHX_ from, "options", NULL);
    how->options = how->options ? how->options : "\"options\":{}";
    how->difference = dpx_text_field(aTHX_ from, "difference", NULL);
    how->difference = how->difference ? how->difference : "\"view\":\"graph\"";
    how->side_names = take_texts(aTHX_ from, "side_names", &n);
    if (n < n_sides)
        croak("%ld names for %ld sides", (long)n, (long)n_sides);
    how->version = dpx_text_field(aTHX_ from, "version", NULL);
    HV *truth = dpx_hash_of(aTHX_ dpx_field(aTHX_ from, "truth"));
    if (truth) {
        struct dp_diff_how *diff = dpx_array(aTHX_ 1, sizeof *diff);
        dpx_diff(aTHX_ diff, truth);
        how->truth = diff;
    }
    const char *const *background = take_texts(aTHX_ from, "background", &n);
    how->background[0] = n > 1 ? background[0] : NULL;
    how->background[1] = n > 1 ? background[1] : NULL;
    if (!(how->width > 20) || !(how->height > 0) || !(how->font_size > 0) || !(how->font_width > 0))
        croak("a picture of no size");
}

int dpx_take_colour(void *ctx, const char *name, size_t len, const char *rgb)
{
    struct dpx_colours *colours = ctx;
    dTHXa(colours->perl);
    av_push(colours->list, dpx_name_sv(aTHX_ name, len));
    av_push(colours->list, newSVpv(rgb, 0));
    return 0;
}
