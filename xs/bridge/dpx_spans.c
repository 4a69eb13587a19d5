#define PERL_NO_GET_CONTEXT
#include "dpx_spans.h"
#include "dpx_keys.h"
#include "dpx_report.h"
#include "dprof/spans.h"

struct spans {
    AV *kinds, *phases, *rows, *repeats;
    DPX_PERL_MEMBER
};

DPX_KEYS(dp_spans_how, DP_SPANS_OPTIONS, "spans")

static void put(pTHX_ HV *to, const char *key, SV *value)
{
    (void)hv_store(to, key, (I32)strlen(key), value, 0);
}

static void put_text(pTHX_ HV *to, const char *key, const struct dp_span_text *text)
{
    put(aTHX_ to, key, dpx_name_sv(aTHX_ text->ptr, text->len));
}

static HV *new_hash(pTHX_ AV *list)
{
    HV *hv = newHV();
    av_push(list, newRV_noinc((SV *)hv));
    return hv;
}

static int take_kind(void *ctx, const struct dp_span_kind *kind)
{
    struct spans *spans = ctx;
    dTHXa(spans->perl);
    HV *hv = new_hash(aTHX_ spans->kinds);
    put_text(aTHX_ hv, "kind", &kind->kind);
    put(aTHX_ hv, "texts", newSVuv(kind->texts));
    put(aTHX_ hv, "calls", newSVuv(kind->calls));
    put(aTHX_ hv, "incl", newSVuv(kind->incl));
    return 0;
}

static int take_phase(void *ctx, const struct dp_span_phase *phase)
{
    struct spans *spans = ctx;
    dTHXa(spans->perl);
    HV *hv = new_hash(aTHX_ spans->phases);
    put_text(aTHX_ hv, "kind", &phase->kind);
    put_text(aTHX_ hv, "phase", &phase->phase);
    put(aTHX_ hv, "calls", newSVuv(phase->calls));
    return 0;
}

static int take_row(void *ctx, const struct dp_span_row *row)
{
    struct spans *spans = ctx;
    dTHXa(spans->perl);
    HV *hv = new_hash(aTHX_ spans->rows);
    put_text(aTHX_ hv, "kind", &row->kind);
    put_text(aTHX_ hv, "text", &row->text);
    put_text(aTHX_ hv, "caller", &row->caller);
    put_text(aTHX_ hv, "file", &row->file);
    put(aTHX_ hv, "line", newSVuv(row->line));
    put(aTHX_ hv, "calls", newSVuv(row->calls));
    put(aTHX_ hv, "self", newSVuv(row->self));
    put(aTHX_ hv, "incl", newSVuv(row->incl));
    put(aTHX_ hv, "longest", newSVuv(row->longest));
    put(aTHX_ hv, "rows", row->rows ? newSVuv(row->rows - 1) : newSV(0));
    put(aTHX_ hv, "callers", newSVuv(row->callers));
    return 0;
}

static int take_repeat(void *ctx, const struct dp_span_repeat *repeat)
{
    struct spans *spans = ctx;
    dTHXa(spans->perl);
    HV *hv = new_hash(aTHX_ spans->repeats);
    AV *path = newAV(), *own = newAV();
    put_text(aTHX_ hv, "kind", &repeat->kind);
    put_text(aTHX_ hv, "text", &repeat->text);
    put_text(aTHX_ hv, "phase", &repeat->phase);
    put(aTHX_ hv, "calls", newSVuv(repeat->calls));
    put(aTHX_ hv, "begun", newSVuv(repeat->begun));
    put(aTHX_ hv, "path", newRV_noinc((SV *)path));
    for (size_t i = 0; i < repeat->n_path; i++)
        av_push(path, dpx_name_sv(aTHX_ repeat->path[i].ptr, repeat->path[i].len));
    put(aTHX_ hv, "own_path", newRV_noinc((SV *)own));
    for (size_t i = 0; i < repeat->n_own; i++)
        av_push(own, dpx_name_sv(aTHX_ repeat->own[i].ptr, repeat->own[i].len));
    return 0;
}

HV *dpx_spans(pTHX_ AV *sides, HV *from)
{
    struct dp_spans_how how;
    struct spans spans = { newAV(), newAV(), newAV(), newAV() };
    const struct dp_spans_to to = { take_kind, take_phase, take_row, take_repeat, &spans };
    HV *all = (HV *)sv_2mortal((SV *)newHV());
    put(aTHX_ all, "kinds", newRV_noinc((SV *)spans.kinds));
    put(aTHX_ all, "phases", newRV_noinc((SV *)spans.phases));
    put(aTHX_ all, "rows", newRV_noinc((SV *)spans.rows));
    put(aTHX_ all, "repeats", newRV_noinc((SV *)spans.repeats));
    DPX_PERL_SET(&spans);
    Zero(&how, 1, struct dp_spans_how);
    dpx_keys_take(aTHX_ &how, dpx_keys_dp_spans_how(), from);
    if (av_len(sides) < 0)
        croak("spans: there is no profile");
    dpx_check(aTHX_ dp_spans_each(dpx_sides(aTHX_ sides, false), &how, &to));
    return all;
}
