/* Code that was compiled before the hooks were set (the modules that load the profiler, and theirs)
 * has perl's own op functions. All subs that the symbol table leads to get the hooks here.
 *
 * What this relies on: all subs of the modules that are loaded before the hooks hang in symbol
 * tables or in pads of such subs. Ops form a tree by op_first, OpSIBLING and, from 5.36 on
 * always, op_sibparent. */
#include "dpx_adopt.h"

/* The function that ops of a type had before. */
static Perl_ppaddr_t (*before)(Optype type);

/* Gives an op the function that ops of its type have by now, if it has the one from before the
 * hooks. */
static void adopt_op(pTHX_ OP *o)
{
    if (o->op_ppaddr == before(o->op_type))
        o->op_ppaddr = PL_ppaddr[o->op_type];
}

#ifdef PERL_OP_PARENT
/* The next op of the tree under root, in an order that visits all; NULL at the end. */
static OP *next_op(OP *root, OP *o)
{
    if (o->op_flags & OPf_KIDS && cUNOPo->op_first)
        return cUNOPo->op_first;
    while (o != root && !OpHAS_SIBLING(o)) {
        o = o->op_sibparent;
        if (!o)
            return NULL;
    }
    return o == root ? NULL : OpSIBLING(o);
}

static void adopt_ops(pTHX_ OP *root)
{
    for (OP *o = root; o; o = next_op(root, o))
        adopt_op(aTHX_ o);
}
#else
/* Before 5.36 a perl may be built without pointers to parent ops, so this recurses. Ops nest as
 * deep as the code they are made of; the modules that load the profiler stay far below this
 * depth. */
enum { DEPTH_MAX = 5000 };

/* Gives an op, and all ops below it, the hooks that they would have if they had been compiled with
 * the recorder. */
static void adopt_kids(pTHX_ OP *o, int depth)
{
    adopt_op(aTHX_ o);
    if (!(o->op_flags & OPf_KIDS) || depth > DEPTH_MAX)
        return;
    for (OP *kid = cUNOPo->op_first; kid; kid = OpHAS_SIBLING(kid) ? OpSIBLING(kid) : NULL)
        adopt_kids(aTHX_ kid, depth + 1);
}

static void adopt_ops(pTHX_ OP *root)
{
    adopt_kids(aTHX_ root, 0);
}
#endif

/* Adopts the ops of a Perl sub, and of the anonymous subs in it, down to a depth of 20. */
static void adopt_cv(pTHX_ CV *cv, int depth)
{
    if (!cv || SvTYPE(cv) != SVt_PVCV || CvISXSUB(cv) || !CvROOT(cv) || depth > 20)
        return;
    adopt_ops(aTHX_ CvROOT(cv));
    /* the anonymous subs in it */
    PADLIST *list = CvPADLIST(cv);
    PAD *pad = list && PadlistMAX(list) > 0 ? PadlistARRAY(list)[1] : NULL;
    for (SSize_t i = 0; pad && i <= AvFILLp(pad); i++) {
        SV *sv = AvARRAY(pad)[i];
        if (sv && SvTYPE(sv) == SVt_PVCV && CvANON((CV *)sv))
            adopt_cv(aTHX_ (CV *)sv, depth + 1);
    }
}

/* Adopts all subs that can be found under a stash. */
static void adopt_stash(pTHX_ HV *stash, int depth)
{
    if (!HvARRAY(stash) || depth > 20)
        return;
    for (STRLEN i = 0; i <= HvMAX(stash); i++) {
        for (HE *he = HvARRAY(stash)[i]; he; he = HeNEXT(he)) {
            SV *sv = HeVAL(he);
            if (sv && SvROK(sv))
                adopt_cv(aTHX_ (CV *)SvRV(sv), 0);
            if (!sv || SvTYPE(sv) != SVt_PVGV || !isGV_with_GP(sv))
                continue;
            adopt_cv(aTHX_ GvCV((GV *)sv), 0);
            HV *inner = GvHV((GV *)sv);
            I32 len = HeKLEN(he);
            if (inner && inner != PL_defstash && inner != stash && HvNAME_HEK(inner)
                && len > 2 && HeKEY(he)[len - 1] == ':')
                adopt_stash(aTHX_ inner, depth + 1);
        }
    }
}

void dpx_adopt(pTHX_ Perl_ppaddr_t (*original)(Optype type))
{
    before = original;
    adopt_stash(aTHX_ PL_defstash, 0);
    if (PL_main_root)           /* the program is already running */
        adopt_ops(aTHX_ PL_main_root);
}
