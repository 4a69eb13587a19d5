/* The module's C entry points; the .xsi files of xs/ have more of them. Each XSUB unpacks, makes
 * one call, converts, returns. The recorder's side and the analyzers' side meet in the file
 * alone. */
#include "dpx_attach_data.h"
#include "dpx_control.h"
#include "dpx_ctx.h"
#include "dpx_diff.h"
#include "dpx_fit.h"
#include "dpx_frame.h"
#include "dpx_growth.h"
#include "dpx_held.h"
#include "dpx_requests.h"
#include "dpx_life.h"
#include "dpx_lines.h"
#include "dpx_name.h"
#include "dpx_report.h"
#include "dpx_run.h"
#include "dpx_sample.h"
#include "dpx_snapshot.h"
#include "dpx_span.h"
#include "dpx_span_frames.h"
#include "dpx_spans.h"
#include "dpx_undebug.h"
#include "dpx_values.h"
#include "dp_dir.h"

/* In a perl that this object was not built for, none of perl's functions may be called: then no
 * XSUB is defined, _start included. The boot function that xsubpp writes is renamed. */
XS_EXTERNAL(dpx_boot);
XS_EXTERNAL(boot_Devel__DProf);
XS_EXTERNAL(boot_Devel__DProf)
{
    if (dpx_fits())
        dpx_boot(aTHX_ cv);
}
#define boot_Devel__DProf   dpx_boot

/* The texts of n arguments; perl frees the list when the caller returns. */
static const char **words_of(pTHX_ SV **from, I32 n)
{
    const char **to;
    Newx(to, n + 1, const char *);
    SAVEFREEPV(to);
    for (I32 i = 0; i < n; i++)
        to[i] = SvPV_nolen(from[i]);
    return to;
}

/* A copy of a value that has a text; NULL: it has none. An overloaded object or a tied variable
 * would run code of the program's, which may die. */
static SV *plain_copy(pTHX_ SV *sv)
{
    bool tied = SvMAGICAL(sv)
                && (mg_find(sv, PERL_MAGIC_tiedscalar) || mg_find(sv, PERL_MAGIC_tiedelem));
    SV *copy = tied ? NULL : sv_mortalcopy(sv);
    return copy && SvOK(copy) && !SvROK(copy) ? copy : NULL;
}

MODULE = Devel::DProf    PACKAGE = Devel::DProf

PROTOTYPES: DISABLE

INCLUDE: xs/record/recorder.xsi

INCLUDE: xs/bridge/profile.xsi

INCLUDE: xs/bridge/print.xsi

INCLUDE: xs/attach/attach.xsi
