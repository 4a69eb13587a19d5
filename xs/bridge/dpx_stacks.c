/* The options of dproffold and dprofflame, from perl's data. */
#define PERL_NO_GET_CONTEXT
#include "dpx_stacks.h"
#include "dpx_diff.h"
#include "dpx_hash.h"
#include "dpx_host.h"
#include "dpx_keys.h"

static DPX_KEYS(dp_stacks_column, DP_COLUMN_OPTIONS, "a column")
static DPX_ELEMENT(dp_stacks_column, 1, dpx_keys_dp_stacks_column, NULL);

static DPX_KEYS(dp_stacks_how, DP_STACKS_OPTIONS, "stacks")

static DPX_KEYS(dp_flame_metric, DP_FLAME_METRIC_OPTIONS, "a metric")

/* Croaks if a metric lacks a name. Returns true, as all metrics are taken. dpx_keys_take calls this
 * for each metric. */
static bool check_metric(pTHX_ void *to, AV *from, SSize_t at)
{
    const struct dp_flame_metric *metric = to;
    PERL_UNUSED_ARG(from);
    if (!metric->key || !metric->label || !metric->unit)
        croak("metric %ld lacks a name: it has key, label and unit", (long)at);
    return true;
}
static DPX_ELEMENT(dp_flame_metric, 1, dpx_keys_dp_flame_metric, check_metric);

/* Takes a name and its colour, two elements of the flat list from `at' on. Returns false if one is
 * missing. */
static bool take_fill(pTHX_ void *to, AV *from, SSize_t at)
{
    struct dp_flame_fill *fill = to;
    return dpx_two_texts(aTHX_ from, at, &fill->name, &fill->name_len, &fill->text,
                         &fill->text_len);
}
static DPX_ELEMENT(dp_flame_fill, 2, NULL, take_fill);

/* Takes a source, four elements of the flat list from `at' on: side, file, text, state. Without a
 * side it is 0, without a state ''. Returns false if file or text is missing. */
static bool take_source(pTHX_ void *to, AV *from, SSize_t at)
{
    struct dp_flame_source *source = to;
    SV *side = dpx_element(aTHX_ from, at), *state = dpx_element(aTHX_ from, at + 3);
    STRLEN len;
    source->side = side ? SvUV(side) : 0;
    source->state = state ? dpx_text(aTHX_ state, &len) : "";
    return dpx_two_texts(aTHX_ from, at + 1, &source->file, &source->file_len, &source->text,
                         &source->text_len);
}
static DPX_ELEMENT(dp_flame_source, 4, NULL, take_source);

static DPX_KEYS(dp_stacks_job, DP_STACKS_JOB_OPTIONS, "stacks")

/* Croaks if the lists of the options do not go with the number of sides, in all formats. */
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

static DPX_KEYS(dp_fold_how, DP_FOLD_OPTIONS, "folded stacks")

/* One hash has the options of the printing, and those of the format. */
#define DPX_FOLD_OPTIONS(X) X(PART, job, dp_stacks_job) X(PART, fold, dp_fold_how)
struct dpx_fold { DPX_FOLD_OPTIONS(DP_MEMBER) };
DPX_KEYS(dpx_fold, DPX_FOLD_OPTIONS, "folded stacks")

/* Takes the options of folded text. This function and the ones like it return the job, which lives
 * as long as the statement. */
static struct dp_stacks_job *take_fold(pTHX_ HV *from, size_t n_sides)
{
    struct dpx_fold *all = dpx_array(aTHX_ 1, sizeof *all);
    all->job.title = all->job.version = "";
    all->job.fold = &all->fold;
    all->fold.per = 1;
    dpx_keys_take(aTHX_ all, dpx_keys_dpx_fold(), from);
    check_stacks(aTHX_ &all->job, &all->fold.stacks, n_sides);
    return &all->job;
}

/* ---- pictures ---- */

static DPX_KEYS(dp_flame_how, DP_FLAME_OPTIONS, "a flame graph")

#define DPX_FLAME_OPTIONS(X) X(PART, job, dp_stacks_job) X(PART, flame, dp_flame_how)
struct dpx_flame { DPX_FLAME_OPTIONS(DP_MEMBER) };
DPX_KEYS(dpx_flame, DPX_FLAME_OPTIONS, "a flame graph")

/* Takes the options of a picture or page, with those of a comparison (`truth`) if several runs are
 * drawn. */
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
    dpx_keys_take(aTHX_ all, dpx_keys_dpx_flame(), from);
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

/* ---- other tools ---- */

static DPX_KEYS(dp_export_part, DP_EXPORT_PART_OPTIONS, "a part")

/* Gives a part without a name an empty one, as C wants no NULL. Returns true, as all parts are
 * taken. */
static bool check_part(pTHX_ void *to, AV *from, SSize_t at)
{
    struct dp_export_part *part = to;
    PERL_UNUSED_ARG(from);
    PERL_UNUSED_ARG(at);
    part->name = part->name ? part->name : "";
    return true;
}
static DPX_ELEMENT(dp_export_part, 1, dpx_keys_dp_export_part, check_part);

/* Takes a range, one element of the list. Returns true, or croaks if it is none. */
static bool take_range(pTHX_ void *to, AV *from, SSize_t at)
{
    return dpx_range(aTHX_ to, dpx_element(aTHX_ from, at));
}
static DPX_ELEMENT(dp_range, 1, NULL, take_range);

static DPX_KEYS(dp_export_how, DP_EXPORT_OPTIONS, "an export")

#define DPX_EXPORT_OPTIONS(X) X(PART, job, dp_stacks_job) X(PART, export, dp_export_how)
struct dpx_export { DPX_EXPORT_OPTIONS(DP_MEMBER) };
DPX_KEYS(dpx_export, DPX_EXPORT_OPTIONS, "an export")

/* Takes the options of another tool's format. `timeline` has the sides of the stacks in order of
 * time, and is there only for a trace. */
static struct dp_stacks_job *take_export(pTHX_ HV *from, size_t n_sides)
{
    struct dpx_export *all = dpx_array(aTHX_ 1, sizeof *all);
    all->job.title = all->job.version = "";
    all->job.export = &all->export;
    dpx_keys_take(aTHX_ all, dpx_keys_dpx_export(), from);
    check_stacks(aTHX_ &all->job, &all->export.stacks, n_sides);
    if (all->export.side >= n_sides)
        croak("there is no side %ld of %ld", (long)all->export.side, (long)n_sides);
    AV *timeline = dpx_list(aTHX_ from, "timeline");
    bool has_one = timeline && av_len(timeline) >= 0;
    all->job.timeline = has_one ? dpx_diff_sides(aTHX_ timeline, 1, false) : NULL;
    return &all->job;
}

/* ---- all ---- */

struct dp_stacks_job *dpx_stacks_job(pTHX_ HV *from, size_t n_sides)
{
    SV *sv = dpx_field(aTHX_ from, "format");
    STRLEN len;
    const char *name = sv ? dpx_text(aTHX_ sv, &len) : "";
    const struct dp_stacks_format *format = dp_stacks_format_named(name);
    if (!format)
        croak("there is no format %s", name);
    struct dp_stacks_job *job = (format->needs & DP_STACKS_VISUAL ? take_flame
                                 : format->needs & DP_STACKS_EXPORT ? take_export
                                 : take_fold)(aTHX_ from, n_sides);
    job->format = format;
    return job;
}
