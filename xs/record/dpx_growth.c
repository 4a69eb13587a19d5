#include "dpx_growth.h"
#include "dpx_events.h"
#include "dpx_holders.h"
#include "dpx_name.h"
#include "dpx_values.h"

enum { MOST_SECONDS = 10 };

const char *dpx_growth_refusal(pTHX)
{
    if (dpx_run.loop_before != Perl_runops_standard)
        return "values can be followed only in perl's usual run loop, and this one is another";
    return PL_runops == dpx_run.loop ? NULL : "a module has a run loop of its own";
}

/* Calls code, and frees what it returns. */
static void call_times(pTHX_ SV *code, UV times)
{
    dSP;
    while (times--) {
        ENTER;
        SAVETMPS;
        PUSHMARK(SP);
        call_sv(code, G_VOID | G_DISCARD | G_NOARGS);
        SPAGAIN;
        FREETMPS;
        LEAVE;
    }
}

/* The contexts around a site, as names. base: the context in which the code is called. */
static void add_path(pTHX_ const struct dpx_ctx *ctx, AV *row, const struct dp_cct_node *node,
                     const struct dp_cct_node *base)
{
    for (; node && node != base && node->id; node = node->up)
        av_push(row, dpx_name_of(aTHX_ ctx, node->id));
}

static SV *class_name(pTHX_ const HV *class)
{
    HEK *name = class ? HvNAME_HEK(class) : NULL;
    return name ? newSVhek(name) : newSV(0);
}

/* Does more live than at the mark? */
static bool has_grown(const struct dpx_values *v)
{
    uint64_t now = 0, before = 0;
    for (size_t i = 0; i < v->n_sites; i++) {
        now += v->sites[i].live;
        before += v->sites[i].before;
    }
    return now > before;
}

/* Who holds a value of a site; undef: that is unknown. */
static SV *holder_of(pTHX_ struct dpx_holders *holders, const struct dpx_made_at *site)
{
    struct dp_buf text;
    if (!holders || !site->value || site->live < site->before)
        return newSV(0);
    dp_buf_init(&text);
    dpx_holders_describe(aTHX_ holders, site->value, &text);
    SV *sv = text.err ? newSV(0) : newSVpvn_utf8(text.ptr, text.len, 1);
    dp_buf_release(&text);
    return sv;
}

AV *dpx_growth_measure(pTHX_ struct dpx_ctx *ctx, SV *code, UV warmup, UV times)
{
    const struct dp_cct_node *base = ctx->rec.marks.cur;
    if (!dpx_values_begin(aTHX_ ctx))
        return NULL;
    ctx->values->sizes_old = true;
    call_times(aTHX_ code, warmup);
    dpx_values_take_census(aTHX_ ctx);
    ctx->values->mark = DPX_VALUES_MARKED;
    call_times(aTHX_ code, times);
    dpx_values_take_census(aTHX_ ctx);
    struct dpx_values *v = ctx->values;
    bool lost = v->off;
    v->sizes_old = false;
    dpx_values_end(aTHX_ ctx);
    if (lost)
        return NULL;
    struct dpx_holders *holders = has_grown(v) ? dpx_holders_new(aTHX_ ctx, MOST_SECONDS) : NULL;
    AV *rows = newAV();
    for (size_t i = 0; i < v->n_sites; i++) {
        const struct dpx_made_at *site = &v->sites[i];
        if (site->live == site->before && site->live_bytes == site->before_bytes)
            continue;
        SV *holder = holder_of(aTHX_ holders, site);
        AV *row = newAV();
        av_push(row, newSViv((IV)(site->live - site->before)));
        av_push(row, newSViv((IV)(site->live_bytes - site->before_bytes)));
        av_push(row, class_name(aTHX_ site->class));
        av_push(row, newSVuv(site->file_line));
        av_push(row, holder);
        add_path(aTHX_ ctx, row, site->node, base);
        av_push(rows, newRV_noinc((SV *)row));
    }
    if (v->old_bytes != v->old_before) {
        AV *row = newAV();
        av_push(row, newSViv(0));
        av_push(row, newSViv((IV)(v->old_bytes - v->old_before)));
        av_push(rows, newRV_noinc((SV *)row));
    }
    dpx_holders_free(holders);
    return rows;
}
