/* The options of dproffold and dprofflame, from perl's data. */
#define PERL_NO_GET_CONTEXT
#include "dpx_stacks.h"
#include "dpx_diff.h"
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

#define DPX_STRUCT dp_stacks_job
static const struct dpx_key dp_stacks_job_rows[] = { DP_STACKS_JOB_OPTIONS(DPX_ROW) };
static DPX_KEYS(dp_stacks_job, "stacks");
#undef DPX_STRUCT

/* What holds of all stacks, when the options are there. */
static void check_stacks(pTHX_ const struct dp_stacks_job *job, struct dp_stacks_how *how,
                         size_t n_sides)
{
    if (!how->n_columns || how->n_columns % n_sides)
        croak("%ld columns do not go with %ld sides", (long)how->n_columns, (long)n_sides);
    if (job->n_metrics < how->n_columns / n_sides)
        croak("%ld metrics for %ld measures", (long)job->n_metrics,
              (long)(how->n_columns / n_sides));
    if (job->n_side_names < n_sides)
        croak("%ld names for %ld sides", (long)job->n_side_names, (long)n_sides);
    how->chart = how->chart && n_sides == 1;
}

/* ---- for programs ---- */

#define DPX_STRUCT dp_fold_how
static const struct dpx_key dp_fold_how_rows[] = { DP_FOLD_OPTIONS(DPX_ROW) };
static DPX_KEYS(dp_fold_how, "folded stacks");
#undef DPX_STRUCT

/* One hash has the options of the printing, and what the format needs. */
struct dpx_fold {
    struct dp_stacks_job job;
    struct dp_fold_how fold;
};
#define DPX_STRUCT dpx_fold
static const struct dpx_key dpx_fold_rows[] = {
    DPX_ROW(PART, job, dp_stacks_job) DPX_ROW(PART, fold, dp_fold_how)
};
DPX_KEYS(dpx_fold, "folded stacks");
#undef DPX_STRUCT

static struct dp_stacks_job *take_fold(pTHX_ HV *from, size_t n_sides)
{
    struct dpx_fold *all = dpx_array(aTHX_ 1, sizeof *all);
    all->job.title = all->job.version = "";
    all->job.fold = &all->fold;
    all->fold.per = 1;
    dpx_keys_take(aTHX_ all, &dpx_keys_dpx_fold, from);
    check_stacks(aTHX_ &all->job, &all->fold.stacks, n_sides);
    return &all->job;
}

/* ---- pictures ---- */

#define DPX_STRUCT dp_flame_how
static const struct dpx_key dp_flame_how_rows[] = { DP_FLAME_OPTIONS(DPX_ROW) };
static DPX_KEYS(dp_flame_how, "a flame graph");
#undef DPX_STRUCT

struct dpx_flame {
    struct dp_stacks_job job;
    struct dp_flame_how flame;
};
#define DPX_STRUCT dpx_flame
static const struct dpx_key dpx_flame_rows[] = {
    DPX_ROW(PART, job, dp_stacks_job) DPX_ROW(PART, flame, dp_flame_how)
};
DPX_KEYS(dpx_flame, "a flame graph");
#undef DPX_STRUCT

static struct dp_stacks_job *take_flame(pTHX_ HV *from, size_t n_sides)
{
    struct dpx_flame *all = dpx_array(aTHX_ 1, sizeof *all);
    struct dp_flame_how *how = &all->flame;
    all->job.title = all->job.version = how->title = "";
    all->job.flame = how;
    how->stacks.when = 1;
    how->font = "Verdana";
    how->options = "\"options\":{}";
    how->difference = "\"view\":\"graph\"";
    dpx_keys_take(aTHX_ all, &dpx_keys_dpx_flame, from);
    check_stacks(aTHX_ &all->job, &how->stacks, n_sides);
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
    return &all->job;
}

/* ---- both ---- */

struct dp_stacks_job *dpx_stacks_job(pTHX_ HV *from, size_t n_sides)
{
    SV *sv = dpx_field(aTHX_ from, "format");
    STRLEN len;
    const char *name = sv ? dpx_text(aTHX_ sv, &len) : "";
    const struct dp_stacks_format *format = dp_stacks_format_named(name);
    if (!format)
        croak("there is no format %s", name);
    struct dp_stacks_job *job = (format->needs & DP_STACKS_LOOK ? take_flame
                                                                : take_fold)(aTHX_ from, n_sides);
    job->format = format;
    return job;
}
