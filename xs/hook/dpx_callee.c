/* Which sub is called: by the value that an entersub finds on the stack, or, for a sample, by the
 * op alone. The functions that look at an op read ops, pads and variables. They call no magic, warn
 * of nothing and change nothing.
 *
 * Op and pad are those of the tick, but the thread that ticks reads one after the other. In rare
 * cases the pad is another sub's, and anything may lie in it. So each value is checked for what it
 * is, whatever the op says of it.
 *
 * What this relies on: a constant, a variable or a method stands in its op, and with threads in the
 * pad, at the place that op_targ, op_padix or op_sv name. A multideref keeps its steps in op_aux.
 * Names that perl has written into the code are shared hash keys. */
#include "dpx_callee.h"
#include "dpx_builtin_id.h"
#include "dpx_detail.h"

CV *dpx_callee_peek_odd(pTHX_ SV *sv)
{
    if (!sv)
        return NULL;
    if (SvTYPE(sv) == SVt_PVGV || SvTYPE(sv) == SVt_PVLV)
        return isGV_with_GP(sv) ? GvCVu((GV *)sv) : NULL;
    if (SvROK(sv)) {
        /* An overloaded object may stand for another sub, which only a call would show. */
        SV *rv = SvRV(sv);
        if (SvGMAGICAL(sv) || SvTYPE(rv) != SVt_PVCV || (SvOBJECT(rv) && HvAMAGIC(SvSTASH(rv))))
            return NULL;
        return (CV *)rv;
    }
    if (SvPOK(sv) && !SvGMAGICAL(sv))
        return get_cvn_flags(SvPVX_const(sv), SvCUR(sv), SvUTF8(sv));
    return NULL;
}

/* ---- by the op alone ---- */

static SV *in_pad(const PAD *pad, PADOFFSET at)
{
    return pad && (SSize_t)at <= AvFILLp(pad) ? AvARRAY(pad)[at] : NULL;
}

/* A value that stands in an op, and with threads in the pad. */
#ifdef USE_ITHREADS
#define BESIDE_OP(sv, at, pad) in_pad(pad, at)
#else
#define BESIDE_OP(sv, at, pad) (PERL_UNUSED_VAR(pad), (SV *)(sv))
#endif

/* Is it a name that perl has written into the code: a constant with a shared hash value? */
static bool is_name(const SV *sv)
{
    return sv && SvPOK(sv) && SvIsCOW_shared_hash(sv) && !SvMAGICAL(sv);
}

/* The value of a key, or NULL. perl dies if a restricted hash is asked for a key that it may not
 * have. */
static SV *value_of(pTHX_ HV *hv, SV *key)
{
    HE *he = hv_exists_ent(hv, key, 0) ? hv_fetch_ent(hv, key, 0, 0) : NULL;
    return he ? HeVAL(he) : NULL;
}

/* The value of $x->{name}, which perl makes one op, or NULL. */
static SV *element_of(pTHX_ const OP *op, const PAD *pad)
{
    const UNOP_AUX_item *items = cUNOP_AUXx(op)->op_aux;
    if (items->uv != (MDEREF_HV_padsv_vivify_rv2hv_helem | MDEREF_INDEX_const | MDEREF_FLAG_last))
        return NULL;
    const SV *ref = in_pad(pad, items[1].pad_offset);
    SV *key = BESIDE_OP(items[2].sv, items[2].pad_offset, pad);
    if (!ref || !SvROK(ref) || SvTYPE(SvRV(ref)) != SVt_PVHV || SvMAGICAL(SvRV(ref))
        || !is_name(key))
        return NULL;
    return value_of(aTHX_ (HV *)SvRV(ref), key);
}

/* The class of the object or name that a method is called on; NULL if the op does not show it. */
static HV *class_of(pTHX_ const OP *invocant, const PAD *pad)
{
    const SV *sv;
    if (invocant->op_type == OP_NULL && invocant->op_flags & OPf_KIDS)
        invocant = cUNOPx(invocant)->op_first;
    switch (invocant->op_type) {
    case OP_CONST:
        sv = BESIDE_OP(cSVOPx(invocant)->op_sv, invocant->op_targ, pad);
        return is_name(sv) ? gv_stashsv((SV *)sv, 0) : NULL;
    case OP_PADSV:
        sv = in_pad(pad, invocant->op_targ);
        break;
    case OP_GVSV:
        sv = BESIDE_OP(cSVOPx(invocant)->op_sv, cPADOPx(invocant)->op_padix, pad);
        sv = sv && SvTYPE(sv) == SVt_PVGV && isGV_with_GP(sv) ? GvSV((const GV *)sv) : NULL;
        break;
    case OP_MULTIDEREF:
        sv = element_of(aTHX_ invocant, pad);
        break;
    default:
        return NULL;
    }
    return sv && SvROK(sv) && SvOBJECT(SvRV(sv)) ? SvSTASH(SvRV(sv)) : NULL;
}

/* The sub that a symbol, or a reference in its place, leads to; NULL: none. */
static CV *cv_in(SV *sv)
{
    return !sv ? NULL
           : SvTYPE(sv) == SVt_PVGV && isGV_with_GP(sv) ? GvCVu((GV *)sv)
           : SvROK(sv) && SvTYPE(SvRV(sv)) == SVt_PVCV ? (CV *)SvRV(sv) : NULL;
}

/* The sub of this name that a class itself has; NULL: none, or stash is NULL. */
static CV *own_method(pTHX_ HV *stash, SV *name)
{
    return cv_in(stash ? value_of(aTHX_ stash, name) : NULL);
}

/* Returns the sub that a call of a method finds; NULL: there is none, or the ops do not show it.
 * This does not call perl's own search, which may warn. The list of parent classes is asked for
 * only where perl has needed it, too: perl makes that list with a hash, and each hash changes the
 * order of keys in later ones. */
static CV *method_of(pTHX_ const OP *invocant, const OP *method, const PAD *pad)
{
    HV *stash = class_of(aTHX_ invocant, pad);
    SV *name = BESIDE_OP(cMETHOPx(method)->op_u.op_meth_sv, method->op_targ, pad);
    if (!stash || !HvNAME_HEK(stash) || !is_name(name))
        return NULL;
    CV *cv = own_method(aTHX_ stash, name);
    if (cv)
        return cv;
    AV *classes = mro_get_linear_isa(stash);
    for (SSize_t i = 1; i <= AvFILLp(classes) && !cv; i++)
        cv = own_method(aTHX_ gv_stashsv(AvARRAY(classes)[i], 0), name);
    return cv ? cv : own_method(aTHX_ gv_stashpvs("UNIVERSAL", 0), name);
}

/* The op of an entersub that says what is called: its last one; NULL: there is none behind the
 * mark. *first: the op behind the mark, which is the first argument if there are any. */
static const OP *callee_of(const OP *op, const OP **first)
{
    const OP *o = cUNOPx(op)->op_first;
    if (o && !OpHAS_SIBLING(o))
        o = cUNOPx(o)->op_first;        /* below a list that is null */
    *first = o && OpHAS_SIBLING(o) ? OpSIBLING(o) : NULL;       /* behind the mark */
    while (o && OpHAS_SIBLING(o))
        o = OpSIBLING(o);
    return *first ? o : NULL;
}

CV *dpx_callee_named(const OP *op, const PAD *pad)
{
    const OP *first, *o = callee_of(op, &first);
    if (!o || o->op_type != OP_NULL || !(o->op_flags & OPf_KIDS))
        return NULL;
    o = cUNOPx(o)->op_first;
    return o && o->op_type == OP_GV
           ? cv_in(BESIDE_OP(cSVOPx(o)->op_sv, cPADOPx(o)->op_padix, pad)) : NULL;
}

/* The XS sub that an entersub calls by name or as a method, or NULL. */
static CV *xs_of(pTHX_ const OP *op, const PAD *pad)
{
    const OP *first, *o = callee_of(op, &first);
    CV *cv = o && o->op_type == OP_METHOD_NAMED ? method_of(aTHX_ first, o, pad)
             : dpx_callee_named(op, pad);
    return cv && CvISXSUB(cv) ? cv : NULL;
}

U32 dpx_callee_leaf(pTHX_ struct dpx_ctx *ctx, const OP *op, const PAD *pad)
{
    if (op->op_type != OP_ENTERSUB)
        return dpx_builtin_id(aTHX_ ctx, op->op_type);
    CV *cv = xs_of(aTHX_ op, pad);
    U32 id = cv ? dpx_callee_xs(aTHX_ ctx, cv) : 0, own = 0;
    if ((id & DPX_ID_DETAIL) && dpx_detail_find(ctx, PTR2UV(cv), &own))
        return own;
    return id & DPX_ID_MASK;
}
