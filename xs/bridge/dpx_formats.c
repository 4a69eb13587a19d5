/* The formats of stacks, and printing in them, for perl. */
#define PERL_NO_GET_CONTEXT
#include "dpx_formats.h"
#include "dpx_diff.h"
#include "dpx_hash.h"
#include "dpx_host.h"
#include "dpx_keys.h"
#include "dpx_stacks.h"

#define NEED(name, word, bit) { word, bit },
static const struct {
    const char *word;
    unsigned bit;
} needs[] = { DP_STACKS_NEEDS(NEED) };

static DPX_KEYS(dp_stacks_format, DP_STACKS_FORMAT_FIELDS, "a format")

AV *dpx_stacks_formats(pTHX)
{
    AV *all = (AV *)sv_2mortal((SV *)newAV());
    const struct dp_stacks_format *f;
    for (size_t k = 0; (f = dp_stacks_format(k)); k++) {
        HV *hv = newHV();
        av_push(all, newRV_noinc((SV *)hv));
        dpx_keys_give(aTHX_ hv, dpx_keys_dp_stacks_format(), f);
        hv_stores(hv, "for", newSVpv(f->needs & DP_STACKS_VISUAL ? "eyes"
                                     : f->needs & DP_STACKS_EXPORT ? "tools" : "programs", 0));
        for (size_t i = 0; i < C_ARRAY_LENGTH(needs); i++)
            (void)hv_store(hv, needs[i].word, (I32)strlen(needs[i].word),
                           newSViv((f->needs & needs[i].bit) != 0), 0);
    }
    return all;
}

/* The receiver of the names and outcomes of what is printed. */
struct listener {
    AV *colours;                /* the names that were drawn, each with its colour */
    SV *told, *shown;
    DPX_PERL_MEMBER
};

/* Notes the colour that a picture gave to a name, for the caller, who may keep the colours for
 * later pictures. */
static int take_colour(void *ctx, const char *name, size_t len, const char *rgb)
{
    struct listener *to = ctx;
    dTHXa(to->perl);
    av_push(to->colours, dpx_name_sv(aTHX_ name, len));
    av_push(to->colours, newSVpv(rgb, 0));
    return 0;
}

/* Calls a sub with one argument, which it frees. Returns the sub's result as 0 or 1, or a DP_E if
 * it dies. */
static int call_listener(pTHX_ SV *sub, SV *arg)
{
    dSP;
    ENTER;
    SAVETMPS;
    PUSHMARK(SP);
    mXPUSHs(arg);
    PUTBACK;
    int n = call_sv(sub, G_SCALAR | G_EVAL);
    SPAGAIN;
    SV *sv = n > 0 ? POPs : NULL;
    int rc = sv && SvTRUE(sv) ? 1 : 0;
    PUTBACK;
    FREETMPS;
    LEAVE;
    return SvTRUE(ERRSV) ? -1 : rc;
}

/* Hands the outcome of a file to the sub `told`. Returns -1 if the sub dies, which ends the
 * printing. */
static int report_outcome(void *ctx, const struct dp_outcome *outcome)
{
    struct listener *to = ctx;
    dTHXa(to->perl);
    return call_listener(aTHX_ to->told, dpx_outcome_sv(aTHX_ outcome, NULL)) < 0 ? -1 : 0;
}

/* Asks the Perl function `shown' whether a sub of this name is shown. */
static int is_shown(void *ctx, const char *name, size_t len)
{
    struct listener *to = ctx;
    dTHXa(to->perl);
    return call_listener(aTHX_ to->shown, dpx_name_sv(aTHX_ name, len));
}

static DPX_KEYS(dp_stacks_outcome, DP_STACKS_OUTCOME_FIELDS, "an outcome")

HV *dpx_print_stacks(pTHX_ PerlIO *to, AV *sides, HV *how)
{
    struct dpx_host h;
    struct dp_stacks_outcome out;
    struct listener listener = { .told = dpx_field(aTHX_ how, "told"),
                                 .shown = dpx_field(aTHX_ how, "shown") };
    size_t n = (size_t)(av_len(sides) + 1);
    HV *hv = (HV *)sv_2mortal((SV *)newHV());
    struct dp_stacks_job *job = dpx_stacks_job(aTHX_ how, n ? n : 1);
    bool has_sides = !(job->format->needs & DP_STACKS_TRACE);
    listener.colours = newAV();
    DPX_PERL_SET(&listener);
    hv_stores(hv, "colours", newRV_noinc((SV *)listener.colours));
    job->colour = take_colour;
    job->told = listener.told ? report_outcome : NULL;
    job->shown = listener.shown ? is_shown : NULL;
    job->ctx = &listener;
    dpx_host_init(aTHX_ &h, to, dpx_field(aTHX_ how, "progress"));
    int code = dp_stacks_print(dpx_diff_sides(aTHX_ sides, has_sides, false), n, job, &h.host,
                               &out);
    hv_stores(hv, "code", newSViv(code));
    dpx_keys_give(aTHX_ hv, dpx_keys_dp_stacks_outcome(), &out);
    return hv;
}
