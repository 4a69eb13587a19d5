/* The options of dproffold and dprofflame, from perl's data. */
#define PERL_NO_GET_CONTEXT
#include "dpx_hash.h"
#include "dpx_host.h"
#include "dpx_keys.h"

#define DPX_STRUCT dp_stacks_column
static const struct dpx_key dp_stacks_column_rows[] = { DP_COLUMN_OPTIONS(DPX_ROW) };
static DPX_KEYS(dp_stacks_column, "a column");
#undef DPX_STRUCT

static bool take_column(pTHX_ void *to, AV *from, SSize_t at)
{
    dpx_keys_take_at(aTHX_ to, &dpx_keys_dp_stacks_column, from, at);
    return true;
}
static const struct dpx_element dpx_element_dp_stacks_column = {
    sizeof(struct dp_stacks_column), 1, take_column
};

#define DPX_STRUCT dp_stacks_how
static const struct dpx_key dp_stacks_how_rows[] = { DP_STACKS_OPTIONS(DPX_ROW) };
static DPX_KEYS(dp_stacks_how, "stacks");
#undef DPX_STRUCT

/* What holds of all stacks, when the options are there. */
static void check_stacks(pTHX_ struct dp_stacks_how *how, size_t n_sides)
{
    if (!how->n_columns || how->n_columns % n_sides)
        croak("%ld columns do not go with %ld sides", (long)how->n_columns, (long)n_sides);
    how->chart = how->chart && n_sides == 1;
}

#define DPX_STRUCT dp_fold_how
static const struct dpx_key dp_fold_how_rows[] = { DP_FOLD_OPTIONS(DPX_ROW) };
DPX_KEYS(dp_fold_how, "folded stacks");
#undef DPX_STRUCT

void dpx_fold(pTHX_ struct dp_fold_how *how, HV *from, size_t n_sides)
{
    Zero(how, 1, struct dp_fold_how);
    how->per = 1;
    dpx_keys_take(aTHX_ how, &dpx_keys_dp_fold_how, from);
    check_stacks(aTHX_ &how->stacks, n_sides);
}

#define DPX_STRUCT dp_flame_metric
static const struct dpx_key dp_flame_metric_rows[] = { DP_FLAME_METRIC_OPTIONS(DPX_ROW) };
static DPX_KEYS(dp_flame_metric, "a metric");
#undef DPX_STRUCT

static bool take_metric(pTHX_ void *to, AV *from, SSize_t at)
{
    struct dp_flame_metric *metric = to;
    dpx_keys_take_at(aTHX_ metric, &dpx_keys_dp_flame_metric, from, at);
    if (!metric->key || !metric->label || !metric->unit)
        croak("metric %ld lacks a name: it has key, label and unit", (long)at);
    return true;
}
static const struct dpx_element dpx_element_dp_flame_metric = {
    sizeof(struct dp_flame_metric), 1, take_metric
};

static bool take_fill(pTHX_ void *to, AV *from, SSize_t at)
{
    struct dp_flame_fill *fill = to;
    return dpx_two_texts(aTHX_ from, at, &fill->name, &fill->name_len, &fill->text,
                         &fill->text_len);
}
static const struct dpx_element dpx_element_dp_flame_fill = {
    sizeof(struct dp_flame_fill), 2, take_fill
};

#define DPX_STRUCT dp_flame_how
static const struct dpx_key dp_flame_how_rows[] = { DP_FLAME_OPTIONS(DPX_ROW) };
DPX_KEYS(dp_flame_how, "a flame graph");
#undef DPX_STRUCT

void dpx_flame(pTHX_ struct dp_flame_how *how, HV *from, size_t n_sides)
{
    Zero(how, 1, struct dp_flame_how);
    how->stacks.when = 1;
    how->title = "";
    how->font = "Verdana";
    how->options = "\"options\":{}";
    how->difference = "\"view\":\"graph\"";
    dpx_keys_take(aTHX_ how, &dpx_keys_dp_flame_how, from);
    check_stacks(aTHX_ &how->stacks, n_sides);
    if (how->n_metrics < how->stacks.n_columns / n_sides)
        croak("%ld metrics for %ld measures", (long)how->n_metrics,
              (long)(how->stacks.n_columns / n_sides));
    if (how->n_side_names < n_sides)
        croak("%ld names for %ld sides", (long)how->n_side_names, (long)n_sides);
    HV *truth = dpx_hash_of(aTHX_ dpx_field(aTHX_ from, "truth"));
    if (truth) {
        struct dp_diff_how *diff = dpx_array(aTHX_ 1, sizeof *diff);
        dpx_diff(aTHX_ diff, truth);
        how->truth = diff;
    }
    AV *background = dpx_list(aTHX_ from, "background");
    for (SSize_t i = 0; background && av_len(background) == 1 && i < 2; i++) {
        SV *colour = dpx_element(aTHX_ background, i);
        STRLEN len;
        how->background[i] = colour ? dpx_text(aTHX_ colour, &len) : "";
    }
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
