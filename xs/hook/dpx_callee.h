/* Inside the hooks and samples: which sub is called. */
#ifndef DPX_CALLEE_H
#define DPX_CALLEE_H

#include "dpx_name.h"

/* The sub behind a value that an entersub rarely finds on the stack, or NULL. */
DP_COLD CV *dpx_callee_peek_odd(pTHX_ SV *sv) __attribute__((visibility("hidden")));

/* The id of a sub, with DPX_ID_... flags: from the cache, if it is there. */
DP_INLINE U32 dpx_callee_find(pTHX_ struct dpx_ctx *ctx, CV *cv, UV code, UV name, U32 seq,
                              const OP *start)
{
    const struct dpx_known *k = &ctx->names.cache[(code >> 4 ^ name >> 4) & (DPX_CACHE - 1)];
    if (DP_LIKELY(k->code == code && k->name == name && k->seq == seq))
        return k->id;
    return dpx_name_find(aTHX_ ctx, cv, name, start);
}

/* Returns a key that differs for two names of one piece of code. The glob of a named sub lives as
 * long as the sub, so its address is the key. A closure has its name from a glob of its own
 * (CVGV_RC), which is freed when the closure is freed or renamed; there, and for code without a
 * cop_seq, the key is made of the name's content. */
DP_INLINE UV dpx_callee_name(CV *cv, bool is_numbered)
{
    if (DP_LIKELY(is_numbered && !CvCVGV_RC(cv)))
        return PTR2UV(((XPVCV *)SvANY(cv))->xcv_gv_u.xcv_gv);
    return dpx_name_key(cv);
}

/* The id of a sub that is called, with its flags; for an AUTOLOAD its own id. start: the sub's
 * first op. */
DP_INLINE U32 dpx_callee_any(pTHX_ struct dpx_ctx *ctx, CV *cv, const OP *start)
{
    U32 seq;
    UV name;
    if (DP_LIKELY(start->op_type == OP_NEXTSTATE)) {
        seq = cCOPx(start)->cop_seq;
        name = dpx_callee_name(cv, true);
    } else {
        seq = start->op_type == OP_DBSTATE ? cCOPx(start)->cop_seq : 0;
        name = dpx_callee_name(cv, seq != 0);
    }
    return dpx_callee_find(aTHX_ ctx, cv, PTR2UV(start), name, seq, start);
}

/* The id of a Perl sub that is called; for an AUTOLOAD that of the sub it stands for. start: the
 * sub's first op, which is about to run and so in the processor's cache. */
DP_INLINE U32 dpx_callee_perl(pTHX_ struct dpx_ctx *ctx, CV *cv, const OP *start)
{
    U32 id = dpx_callee_any(aTHX_ ctx, cv, start);
    if (DP_UNLIKELY(id & DPX_ID_AUTOLOAD))
        id = dpx_name_wanted(aTHX_ ctx, cv, id, start);
    return id;
}

DP_INLINE U32 dpx_callee_xs(pTHX_ struct dpx_ctx *ctx, CV *cv)
{
    UV name = dpx_callee_name(cv, true) ^ PTR2UV(CvXSUB(cv));
    return dpx_callee_find(aTHX_ ctx, cv, PTR2UV(cv), name, 0, NULL);
}

/* The XS sub that the entersub will call, or NULL. */
DP_INLINE CV *dpx_callee_peek_xs(pTHX_ SV *sv)
{
    CV *cv = (CV *)sv;
    if (DP_LIKELY(sv != NULL)) {
        if ((SvFLAGS(sv) & (SVf_ROK | SVs_GMG)) == SVf_ROK)
            cv = (CV *)SvRV(sv);
        if (DP_LIKELY(SvTYPE(cv) == SVt_PVCV && !SvOBJECT(cv)))
            return DP_UNLIKELY(CvISXSUB(cv)) ? cv : NULL;
        if (DP_LIKELY(SvTYPE(sv) == SVt_PVGV && isGV_with_GP(sv))) {
            cv = GvCVu((GV *)sv);
            return cv && DP_UNLIKELY(CvISXSUB(cv)) ? cv : NULL;
        }
    }
    cv = dpx_callee_peek_odd(aTHX_ sv);
    return cv && CvISXSUB(cv) ? cv : NULL;
}

/* ---- by the op alone ---- */

/* The id of the XS sub or builtin that an op runs; 0: it is neither, or a method of a value that no
 * variable holds. pad: that of the sub around the op. */
U32 dpx_callee_leaf(pTHX_ struct dpx_ctx *ctx, const OP *op, const PAD *pad);

/* The sub that an entersub calls by its name; NULL: it calls none by name. */
CV *dpx_callee_named(const OP *op, const PAD *pad);

#endif
