#include "dpx_callee.h"

CV *dpx_callee_peek_odd(pTHX_ SV *sv)
{
    if (!sv)
        return NULL;
    if (SvTYPE(sv) == SVt_PVGV || SvTYPE(sv) == SVt_PVLV)
        return isGV_with_GP(sv) ? GvCVu((GV *)sv) : NULL;
    if (SvROK(sv)) {
        /* An overloaded object may stand for another sub, and only calling tells. */
        SV *rv = SvRV(sv);
        if (SvGMAGICAL(sv) || SvTYPE(rv) != SVt_PVCV || (SvOBJECT(rv) && HvAMAGIC(SvSTASH(rv))))
            return NULL;
        return (CV *)rv;
    }
    if (SvPOK(sv) && !SvGMAGICAL(sv))
        return get_cvn_flags(SvPVX_const(sv), SvCUR(sv), SvUTF8(sv));
    return NULL;
}
