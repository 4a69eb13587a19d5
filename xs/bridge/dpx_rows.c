/* Rows of views as perl's data, for a caller that wants no text. */
#define PERL_NO_GET_CONTEXT
#include "dpx_rows.h"
#include "dpx_diff.h"
#include "dpx_hash.h"
#include "dpx_host.h"
#include "dpx_keys.h"
#include "dp_err.h"
#include "dprof/changepoints.h"

struct rows {
    AV *list;
    DPX_PERL_MEMBER
};

static void rows_init(pTHX_ struct rows *rows)
{
    rows->list = (AV *)sv_2mortal((SV *)newAV());
    DPX_PERL_SET(rows);
}

/* Adds the row of an edge: name, calls, own and inclusive ticks, and the place of the call or
 * undef; dp_edge_rows calls it. */
static int push_edge(void *ctx, const struct dp_edge_row *row)
{
    struct rows *rows = ctx;
    dTHXa(rows->perl);
    AV *av = newAV();
    av_push(rows->list, newRV_noinc((SV *)av));
    av_push(av, dpx_name_sv(aTHX_ row->name, row->name_len));
    av_push(av, newSVuv(row->calls));
    av_push(av, newSVuv(row->self));
    av_push(av, newSVuv(row->incl));
    av_push(av, row->site ? dpx_name_sv(aTHX_ row->site, row->site_len) : newSV(0));
    return 0;
}

/* The options of a table, and which edges are wanted. */
#define DPX_EDGES_OPTIONS(X) X(PART, over, dp_report_how) X(SIZE, counter) X(FLAG, callees)
struct dpx_edges { DPX_EDGES_OPTIONS(DP_MEMBER) };
static DPX_KEYS(dpx_edges, DPX_EDGES_OPTIONS, "edges")

AV *dpx_edge_rows(pTHX_ const struct dp_prof *prof, SV *name, HV *from)
{
    struct dpx_edges how;
    struct dp_part side = { .prof = prof };
    struct rows rows;
    STRLEN len;
    const char *label = dpx_text(aTHX_ name, &len);
    Zero(&how, 1, struct dpx_edges);
    dpx_keys_take(aTHX_ &how, dpx_keys_dpx_edges(), from);
    if (!how.over.n_keys)
        how.over.keys[how.over.n_keys++] = DP_K_SUB;
    side.counter = how.counter;
    rows_init(aTHX_ &rows);
    int rc = dp_edge_rows(&side, 1, &how.over, label, len, how.callees, push_edge, &rows);
    if (rc == DP_E_ARG)
        return NULL;
    dpx_check(aTHX_ rc);
    return rows.list;
}

/* ---- a comparison ---- */

/* A value in seconds, or as a count if hz is 0; undef if there is none. */
static SV *amount_sv(pTHX_ uint64_t value, uint64_t hz, bool there)
{
    return !there ? newSV(0) : hz ? newSVnv((NV)value / (NV)hz) : newSVuv(value);
}

/* The change of a value, as amount_sv has it, but with its sign. */
static SV *difference_sv(pTHX_ const struct dp_change *c)
{
    bool less = c->value < c->base;
    uint64_t by = less ? c->base - c->value : c->value - c->base;
    return c->hz ? newSVnv((less ? -1 : 1) * ((NV)by / (NV)c->hz))
                 : less ? newSViv(-(IV)by) : newSVuv(by);
}

/* Stores both values of a change into a row's hash. */
static void store_values(pTHX_ HV *hv, const struct dp_change *c)
{
    hv_stores(hv, "baseline", amount_sv(aTHX_ c->base, c->hz, c->base_there));
    hv_stores(hv, "value", amount_sv(aTHX_ c->value, c->hz, c->there));
}

static DPX_KEYS(dp_change_row, DP_CHANGE_ROW_FIELDS, "a row")
static DPX_KEYS(dp_finding_row, DP_FINDING_ROW_FIELDS, "a finding")
static DPX_KEYS(dp_gate_numbers, DP_GATE_FIELDS, "a gate")

/* Adds a row, which is a hash of its fields and of the values that it is about. */
static HV *push_row(pTHX_ struct rows *rows, const struct dpx_keys *what, const void *row,
                    const struct dp_change *c)
{
    HV *hv = newHV();
    av_push(rows->list, newRV_noinc((SV *)hv));
    dpx_keys_give(aTHX_ hv, what, row);
    store_values(aTHX_ hv, c);
    return hv;
}

/* Adds the row of a sub in a comparison: its fields, and the keys that perl's callers know it
 * by. */
static int push_change(void *ctx, const struct dp_change_row *row)
{
    struct rows *rows = ctx;
    dTHXa(rows->perl);
    const struct dp_change *c = &row->change;
    HV *hv = push_row(aTHX_ rows, dpx_keys_dp_change_row(), row, c);
    hv_stores(hv, "status", newSVpv(c->base_there && c->there ? "both" : c->there ? "new" : "gone",
                                    0));
    hv_stores(hv, "change", difference_sv(aTHX_ c));
    hv_stores(hv, "baseline_calls", amount_sv(aTHX_ c->base_calls, 0, c->base_there));
    hv_stores(hv, "calls", amount_sv(aTHX_ c->calls, 0, c->there));
    return 0;
}

/* Takes a finding from C, and appends it as a hash to the list. */
static int take_finding(void *ctx, const struct dp_finding_row *row)
{
    struct rows *rows = ctx;
    dTHXa(rows->perl);
    push_row(aTHX_ rows, dpx_keys_dp_finding_row(), row, &row->change);
    return 0;
}

static void free_compared(pTHX_ void *c) { dp_compared_free(c); }

HV *dpx_compared(pTHX_ AV *from, HV *options, NV lines_percent)
{
    struct dp_diff_how how;
    struct dp_compared *c;
    struct dp_change total;
    struct rows rows[3];
    struct dp_gate_numbers numbers;
    HV *hv = (HV *)sv_2mortal((SV *)newHV()), *all = newHV();
    hv_stores(hv, "total", newRV_noinc((SV *)all));
    ENTER;                      /* the sides that c borrows must outlive it */
    const struct dp_diff_side *sides = dpx_diff_sides(aTHX_ from, 2, true);
    dpx_diff(aTHX_ &how, options);
    if (!how.over.n_keys)
        croak("keys of a comparison: its rows have no names without them");
    dpx_check(aTHX_ dp_compared_new(&c, sides, (size_t)(av_len(from) + 1), &how, 1));
    SAVEDESTRUCTOR_X(free_compared, c);
    for (int i = 0; i < 3; i++)
        rows_init(aTHX_ &rows[i]);
    dpx_check(aTHX_ dp_compared_rows(c, 1, push_change, &rows[0]));
    dpx_check(aTHX_ dp_compared_lines(c, 1, lines_percent, push_change, &rows[1]));
    dpx_check(aTHX_ dp_compared_findings(c, take_finding, &rows[2]));
    dp_compared_total(c, 1, &total);
    dp_compared_gate(c, &numbers);
    store_values(aTHX_ all, &total);
    hv_stores(hv, "rows", newRV_inc((SV *)rows[0].list));
    hv_stores(hv, "lines", newRV_inc((SV *)rows[1].list));
    hv_stores(hv, "findings", newRV_inc((SV *)rows[2].list));
    dpx_keys_give(aTHX_ hv, dpx_keys_dp_gate_numbers(), &numbers);
    LEAVE;
    return hv;
}

/* Reads the sizes of groups from a list of n, and adds them up in *total. */
static const uint32_t *sizes_of(pTHX_ AV *from, size_t n, size_t *total)
{
    uint32_t *sizes = dpx_array(aTHX_ n, sizeof *sizes);
    *total = 0;
    for (size_t g = 0; g < n; g++) {
        SV *sv = dpx_element(aTHX_ from, (SSize_t)g);
        sizes[g] = sv ? (uint32_t)SvUV(sv) : 0;
        *total += sizes[g];
    }
    return sizes;
}

/* Series i of a list of series of numbers; croaks unless it has `each` values. */
static AV *series_at(pTHX_ AV *from, size_t i, size_t each)
{
    AV *one = dpx_list_of(aTHX_ dpx_element(aTHX_ from, (SSize_t)i));
    if (!one)
        croak("changepoints: a series must be a reference to a list");
    if ((size_t)(av_len(one) + 1) != each)
        croak("changepoints: a series has not as many values as the groups");
    return one;
}

/* The values of n series of `each` values, one series after another. */
static const double *values_of(pTHX_ AV *from, size_t n, size_t each)
{
    for (size_t i = 0; i < n; i++)      /* check all first: wrong sizes would make us allocate
                                         * without limit */
        series_at(aTHX_ from, i, each);
    double *values = dpx_array(aTHX_ n * each, sizeof *values), *to = values;
    for (size_t i = 0; i < n; i++) {
        AV *one = series_at(aTHX_ from, i, each);
        for (size_t k = 0; k < each; k++) {
            SV *sv = dpx_element(aTHX_ one, (SSize_t)k);
            *to++ = sv ? SvNV(sv) : 0;
        }
    }
    return values;
}

HV *dpx_changepoints(pTHX_ AV *series, AV *sizes, NV alpha)
{
    HV *hv = (HV *)sv_2mortal((SV *)newHV());
    AV *list = newAV();
    struct dp_history h = { .series = (size_t)(av_len(series) + 1),
        .groups = (size_t)(av_len(sizes) + 1) };
    struct dp_changepoint *found;
    size_t each, count;
    hv_stores(hv, "found", newRV_noinc((SV *)list));
    ENTER;
    h.sizes = sizes_of(aTHX_ sizes, h.groups, &each);
    h.values = values_of(aTHX_ series, h.series, each);
    hv_stores(hv, "decides", newSViv(dp_changepoints_decide(&h, alpha)));
    dpx_check(aTHX_ dp_changepoints(&found, &count, &h, alpha));
    LEAVE;
    for (size_t i = 0; i < count; i++) {
        AV *av = newAV();
        av_push(list, newRV_noinc((SV *)av));
        av_push(av, newSVuv(found[i].series));
        av_push(av, newSVuv(found[i].at));
        av_push(av, newSVnv(found[i].p));
    }
    dp_changepoints_free(found);
    return hv;
}

static DPX_KEYS(dp_diff_outcome, DP_DIFF_OUTCOME_FIELDS, "an outcome")

HV *dpx_diff_outcome(pTHX_ int code, struct dp_diff_outcome *out)
{
    HV *hv = (HV *)sv_2mortal((SV *)newHV());
    hv_stores(hv, "code", newSViv(code));
    dpx_keys_give(aTHX_ hv, dpx_keys_dp_diff_outcome(), out);
    dp_diff_outcome_release(out);
    return hv;
}
