/* Rows of views as perl's data: what a host gets that prints nothing. */
#define PERL_NO_GET_CONTEXT
#include "dpx_rows.h"
#include "dpx_hash.h"
#include "dpx_host.h"
#include "dp_err.h"
#include "dp_rows.h"

struct rows {
    AV *list;
#ifdef MULTIPLICITY
    PerlInterpreter *perl;
#endif
};

static void rows_init(pTHX_ struct rows *rows)
{
    rows->list = (AV *)sv_2mortal((SV *)newAV());
#ifdef MULTIPLICITY
    rows->perl = aTHX;
#endif
}

static int take_edge(void *ctx, const struct dp_edge_row *row)
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

AV *dpx_edge_rows(pTHX_ const struct dp_prof *prof, SV *name, HV *from)
{
    struct dp_over_how how;
    struct dp_over_side side = { .prof = prof };
    struct rows rows;
    STRLEN len;
    const char *label = dpx_text(aTHX_ name, &len);
    Zero(&how, 1, struct dp_over_how);
    dpx_over(aTHX_ &how, from);
    if (!how.n_keys)
        how.keys[how.n_keys++] = DP_K_SUB;
    side.counter = (size_t)dpx_number(aTHX_ from, "counter", 0);
    rows_init(aTHX_ &rows);
    int rc = dp_edge_rows(&side, 1, &how, label, len,
                          dpx_number(aTHX_ from, "callees", 0) != 0, take_edge, &rows);
    if (rc == DP_E_ARG)
        return NULL;
    dpx_check(aTHX_ rc);
    return rows.list;
}
