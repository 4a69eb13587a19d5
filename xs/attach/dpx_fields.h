/* The layout of the perl that this is compiled for: X(field, value). tools/layouts.pl compiles this
 * list with the headers of other perls to make the table in src/attach/dp_layout_table.h.
 *
 * What this relies on: all fields below. A perl that moves or renames one needs a row of its own,
 * or fails to compile here. */
#ifndef DPX_FIELDS_H
#define DPX_FIELDS_H

#include <stddef.h>

#ifdef MULTIPLICITY
#define DPX_FIELD_I(field)  offsetof(struct interpreter, I##field)
#else
#define DPX_FIELD_I(field)  0
#endif
#ifdef USE_ITHREADS
#define DPX_FIELD_FILE  cop_file
#else
#define DPX_FIELD_FILE  cop_filegv
#endif
#ifdef CXp_EVALBLOCK
#define DPX_FIELD_BLOCK  CXp_EVALBLOCK
#else
#define DPX_FIELD_BLOCK  CXp_TRYBLOCK
#endif
#ifdef CXp_TRY
#define DPX_FIELD_TRY  CXp_TRY
#else
#define DPX_FIELD_TRY  0
#endif
#if PERL_VERSION >= 35
#define DPX_FIELD_AUX  offsetof(struct xpvhv_with_aux, xhv_aux)
#else
#define DPX_FIELD_AUX  0       /* behind the hash's array */
#endif

#define DPX_FIELDS(X) \
    X(stack_sp, DPX_FIELD_I(stack_sp)) X(op, DPX_FIELD_I(op)) \
    X(curpad, DPX_FIELD_I(curpad)) X(curcop, DPX_FIELD_I(curcop)) \
    X(curstackinfo, DPX_FIELD_I(curstackinfo)) X(comppad, DPX_FIELD_I(comppad)) \
    X(phase, DPX_FIELD_I(phase)) X(main_cv, DPX_FIELD_I(main_cv)) \
    X(compiling, DPX_FIELD_I(compiling)) X(parser, DPX_FIELD_I(parser)) \
    X(si_cxstack, offsetof(PERL_SI, si_cxstack)) X(si_prev, offsetof(PERL_SI, si_prev)) \
    X(si_cxix, offsetof(PERL_SI, si_cxix)) X(si_cxmax, offsetof(PERL_SI, si_cxmax)) \
    X(si_type, offsetof(PERL_SI, si_type)) X(si_size, sizeof(PERL_SI)) \
    X(cx_type, offsetof(PERL_CONTEXT, cx_type)) X(cx_u16, offsetof(PERL_CONTEXT, blk_u16)) \
    X(cx_oldcop, offsetof(PERL_CONTEXT, blk_oldcop)) \
    X(cx_retop, offsetof(PERL_CONTEXT, blk_sub.retop)) \
    X(cx_cv, offsetof(PERL_CONTEXT, blk_sub.cv)) \
    X(cx_olddepth, offsetof(PERL_CONTEXT, blk_sub.olddepth)) X(cx_size, sizeof(PERL_CONTEXT)) \
    X(CXt_SUB, CXt_SUB) X(CXt_FORMAT, CXt_FORMAT) X(CXt_EVAL, CXt_EVAL) X(CXt_SUBST, CXt_SUBST) \
    X(CXp_SUB_RE_FAKE, CXp_SUB_RE_FAKE) X(CXp_HASARGS, CXp_HASARGS) X(CXp_REAL, CXp_REAL) \
    X(CXp_EVALBLOCK, DPX_FIELD_BLOCK) X(CXp_TRY, DPX_FIELD_TRY) \
    X(op_next, offsetof(OP, op_next)) X(op_sibparent, offsetof(OP, op_sibparent)) \
    X(op_targ, offsetof(OP, op_targ)) X(op_bits, offsetof(OP, op_targ) + sizeof(PADOFFSET)) \
    X(op_moresib, dpx_field_moresib()) X(op_flags, offsetof(OP, op_flags)) \
    X(op_first, offsetof(UNOP, op_first)) X(op_sv, offsetof(SVOP, op_sv)) \
    X(op_padix, offsetof(PADOP, op_padix)) X(op_size, sizeof(OP)) \
    X(cop_line, offsetof(COP, cop_line)) X(cop_file, offsetof(COP, DPX_FIELD_FILE)) \
    X(cop_seq, offsetof(COP, cop_seq)) X(cop_size, sizeof(COP)) \
    X(sv_any, offsetof(SV, sv_any)) X(sv_flags, offsetof(SV, sv_flags)) \
    X(sv_u, offsetof(SV, sv_u)) X(sv_size, sizeof(SV)) X(SVTYPEMASK, SVTYPEMASK) \
    X(SVt_IV, SVt_IV) X(SVt_NV, SVt_NV) X(SVt_PVGV, SVt_PVGV) X(SVt_PVAV, SVt_PVAV) \
    X(SVt_PVHV, SVt_PVHV) X(SVt_PVCV, SVt_PVCV) \
    X(SVf_IOK, SVf_IOK) X(SVf_NOK, SVf_NOK) X(SVf_POK, SVf_POK) X(SVf_ROK, SVf_ROK) \
    X(SVs_OBJECT, SVs_OBJECT) X(SVf_IVisUV, SVf_IVisUV) \
    X(cv_stash, offsetof(XPVCV, xcv_stash)) X(cv_start, offsetof(XPVCV, xcv_start_u)) \
    X(cv_root, offsetof(XPVCV, xcv_root_u)) X(cv_gv, offsetof(XPVCV, xcv_gv_u)) \
    X(cv_padlist, offsetof(XPVCV, xcv_padlist_u)) X(cv_outside, offsetof(XPVCV, xcv_outside)) \
    X(cv_flags, offsetof(XPVCV, xcv_flags)) X(cv_size, sizeof(XPVCV)) \
    X(CVf_ISXSUB, CVf_ISXSUB) X(CVf_NAMED, CVf_NAMED) X(CVf_ANON, CVf_ANON) \
    X(CVf_UNIQUE, CVf_UNIQUE) \
    X(gv_namehek, offsetof(XPVGV, xiv_u)) X(gv_stash, offsetof(XPVGV, xnv_u)) \
    X(gp_cv, offsetof(GP, gp_cv)) \
    X(hv_max, offsetof(XPVHV, xhv_max)) X(hv_aux, DPX_FIELD_AUX) \
    X(aux_name, offsetof(struct xpvhv_aux, xhv_name_u)) \
    X(aux_name_count, offsetof(struct xpvhv_aux, xhv_name_count)) \
    X(hek_len, offsetof(HEK, hek_len)) X(hek_key, offsetof(HEK, hek_key)) \
    X(av_fill, offsetof(XPVAV, xav_fill)) X(av_alloc, offsetof(XPVAV, xav_alloc)) \
    X(pv_cur, offsetof(XPV, xpv_cur)) X(iv_iv, offsetof(XPVIV, xiv_u)) \
    X(nv_nv, offsetof(XPVNV, xnv_u)) X(mg_stash, offsetof(XPVMG, xmg_stash)) \
    X(padlist_array, offsetof(PADLIST, xpadl_arr))

/* The bit of op_moresib: a bit field has no offset. */
static U32 dpx_field_moresib(void)
{
    OP op;
    U32 bits;
    Zero(&op, 1, OP);
    op.op_moresib = 1;
    Copy((const char *)&op + offsetof(OP, op_targ) + sizeof(PADOFFSET), (char *)&bits, sizeof bits,
         char);
    return bits;
}

#endif
