/* The formats of stacks, and printing in them, for perl. */
#define PERL_NO_GET_CONTEXT
#include "dpx_formats.h"
#include "dpx_diff.h"
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
        hv_stores(hv, "for", newSVpv(f->needs & DP_STACKS_LOOK ? "eyes"
                                     : f->needs & DP_STACKS_EXPORT ? "tools" : "programs", 0));
        hv_stores(hv, "layout", newSViv((f->needs & DP_STACKS_LAYOUT) != 0));
        hv_stores(hv, "metrics", newSViv((f->needs & DP_STACKS_METRICS) != 0));
        hv_stores(hv, "apart", newSViv((f->needs & DP_STACKS_APART) != 0));
        hv_stores(hv, "labels", newSViv((f->needs & DP_STACKS_LABELS) != 0));
        hv_stores(hv, "base", newSViv((f->needs & DP_STACKS_BASE) != 0));
        hv_stores(hv, "timeline", newSViv((f->needs & DP_STACKS_TIMELINE) != 0));
        hv_stores(hv, "sites", newSViv((f->needs & DP_STACKS_NO_SITES) == 0));
        hv_stores(hv, "calls", newSViv((f->needs & DP_STACKS_CALLS) != 0));
    }
    return all;
}

/* The names that were drawn, each with its colour. */
struct colours {
    AV *list;
    DPX_PERL_MEMBER
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
    struct dp_stacks_outcome out;
    struct colours colours;
    size_t n = (size_t)(av_len(sides) + 1);
    HV *hv = (HV *)sv_2mortal((SV *)newHV());
    struct dp_stacks_job *job = dpx_stacks_job(aTHX_ how, n ? n : 1);
    colours.list = newAV();
    DPX_PERL_SET(&colours);
    hv_stores(hv, "colours", newRV_noinc((SV *)colours.list));
    job->colour = take_colour;
    job->ctx = &colours;
    dpx_host_init(aTHX_ &h, to, NULL);
    int code = dp_stacks_print(dpx_diff_sides(aTHX_ sides, 1), n, job, &h.host, &out);
    hv_stores(hv, "code", newSViv(code));
    store_outcome(aTHX_ hv, &out);
    return hv;
}
