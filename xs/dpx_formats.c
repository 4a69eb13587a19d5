/* The formats of stacks, and printing in them, for perl. */
#define PERL_NO_GET_CONTEXT
#include "dpx_formats.h"
#include "dpx_diff.h"
#include "dpx_hash.h"
#include "dpx_host.h"
#include "dpx_stacks.h"

AV *dpx_stacks_formats(pTHX)
{
    AV *all = (AV *)sv_2mortal((SV *)newAV());
    const struct dp_stacks_format *f;
    for (size_t k = 0; (f = dp_stacks_format(k)); k++) {
        HV *hv = newHV();
        av_push(all, newRV_noinc((SV *)hv));
        hv_stores(hv, "name", newSVpv(f->name, 0));
        hv_stores(hv, "suffixes", newSVpv(f->suffixes, 0));
        hv_stores(hv, "look", newSViv((f->needs & DP_STACKS_LOOK) != 0));
        hv_stores(hv, "layout", newSViv((f->needs & DP_STACKS_LAYOUT) != 0));
        hv_stores(hv, "metrics", newSViv((f->needs & DP_STACKS_METRICS) != 0));
    }
    return all;
}

static const char *text_of(pTHX_ HV *from, const char *name)
{
    const char *text = dpx_text_field(aTHX_ from, name, NULL);
    return text ? text : "";
}

/* What formats for programs tell of the profile. */
static void take_about(pTHX_ struct dp_stacks_job *job, HV *from, size_t n_measures, size_t n_sides)
{
    AV *metrics = dpx_list(aTHX_ from, "metrics"), *names = dpx_list(aTHX_ from, "side_names");
    struct dp_flame_metric *to = dpx_array(aTHX_ n_measures, sizeof *to);
    const char **sides = dpx_array(aTHX_ n_sides, sizeof *sides);
    STRLEN len;
    if (!metrics || !names || (size_t)(av_len(metrics) + 1) < n_measures)
        croak("metrics or side_names are missing");
    for (size_t i = 0; i < n_measures; i++) {
        HV *hv = dpx_hash_of(aTHX_ dpx_element(aTHX_ metrics, (SSize_t)i));
        if (!hv)
            croak("metric %ld is none", (long)i);
        to[i].key = text_of(aTHX_ hv, "key");
        to[i].label = text_of(aTHX_ hv, "label");
        to[i].unit = text_of(aTHX_ hv, "unit");
    }
    for (size_t i = 0; i < n_sides; i++) {
        SV *sv = dpx_element(aTHX_ names, (SSize_t)i);
        sides[i] = sv ? dpx_text(aTHX_ sv, &len) : "";
    }
    job->title = text_of(aTHX_ from, "title");
    job->version = text_of(aTHX_ from, "version");
    job->metrics = to;
    job->side_names = sides;
}

/* The names that were drawn, each with its colour. */
struct colours {
    AV *list;
#ifdef MULTIPLICITY
    PerlInterpreter *perl;
#endif
};

static int take_colour(void *ctx, const char *name, size_t len, const char *rgb)
{
    struct colours *colours = ctx;
    dTHXa(colours->perl);
    av_push(colours->list, dpx_name_sv(aTHX_ name, len));
    av_push(colours->list, newSVpv(rgb, 0));
    return 0;
}

static void store_outcome(pTHX_ HV *hv, const struct dp_stacks_outcome *out)
{
    hv_stores(hv, "empty", newSViv(out->empty));
    hv_stores(hv, "recursion", newSVuv(out->recursion));
    hv_stores(hv, "lines", newSVuv(out->lines));
    hv_stores(hv, "shortened", newSVuv(out->shortened));
    hv_stores(hv, "most", newSVuv(out->most));
    hv_stores(hv, "frames", newSVuv(out->frames));
    hv_stores(hv, "hidden", newSVuv(out->hidden));
    hv_stores(hv, "hidden_percent", newSVnv(out->hidden_percent));
    hv_stores(hv, "needed", newSVuv(out->needed));
    hv_stores(hv, "adjusted", newSViv(out->adjusted));
    hv_stores(hv, "total_too_small", newSViv(out->total_too_small));
}

HV *dpx_print_stacks(pTHX_ PerlIO *to, AV *sides, HV *how)
{
    struct dpx_host h;
    struct dp_fold_how fold;
    struct dp_flame_how flame;
    struct dp_stacks_outcome out;
    struct colours colours;
    size_t n = (size_t)(av_len(sides) + 1), least = n ? n : 1;
    HV *hv = (HV *)sv_2mortal((SV *)newHV());
    struct dp_stacks_job job = { .format = NULL };
    const char *format = text_of(aTHX_ how, "format");
    job.format = dp_stacks_format_named(format);
    if (!job.format)
        croak("there is no format %s", format);
    if (job.format->needs & DP_STACKS_LOOK) {
        dpx_flame(aTHX_ &flame, how, least);
        job.flame = &flame;
    } else {
        dpx_fold(aTHX_ &fold, how, least);
        job.fold = &fold;
    }
    take_about(aTHX_ &job, how, (job.flame ? &flame.stacks : &fold.stacks)->n_measures, least);
    colours.list = newAV();
#ifdef MULTIPLICITY
    colours.perl = aTHX;
#endif
    hv_stores(hv, "colours", newRV_noinc((SV *)colours.list));
    job.colour = take_colour;
    job.ctx = &colours;
    dpx_host_init(aTHX_ &h, to, NULL);
    int code = dp_stacks_print(dpx_diff_sides(aTHX_ sides, 1), n, &job, &h.host, &out);
    hv_stores(hv, "code", newSViv(code));
    store_outcome(aTHX_ hv, &out);
    return hv;
}
