/* Where the fields of a perl lie: offsets in bytes, and the numbers of types and flags. They are
 * the same within a series (5.36.0 to 5.36.3), and depend on the series and on whether perl was
 * built for several interpreters (MULTIPLICITY, which threads need). The table is made by
 * tools/layouts.pl; xs/attach/dpx_layout.c has the row of the perl that the module was built
 * for, and a test compares the two. */
#ifndef DP_LAYOUT_H
#define DP_LAYOUT_H

#include "dp_base.h"

/* The fields. In front: those of the interpreter, which are 0 without MULTIPLICITY, as each is a
 * variable of its own then. */
#define DP_LAYOUT_INTERPRETER(X) \
    X(stack_sp) X(op) X(curpad) X(curcop) X(curstackinfo) X(comppad) X(phase) X(main_cv) \
    X(compiling) X(parser)
#define DP_LAYOUT_FIELDS(X) \
    DP_LAYOUT_INTERPRETER(X) \
    /* PERL_SI */ \
    X(si_cxstack) X(si_prev) X(si_cxix) X(si_cxmax) X(si_type) X(si_size) \
    /* PERL_CONTEXT */ \
    X(cx_type) X(cx_u16) X(cx_oldcop) X(cx_retop) X(cx_cv) X(cx_olddepth) X(cx_size) \
    X(CXt_SUB) X(CXt_FORMAT) X(CXt_EVAL) X(CXt_SUBST) \
    X(CXp_SUB_RE_FAKE) X(CXp_HASARGS) X(CXp_REAL) X(CXp_EVALBLOCK) X(CXp_TRY) \
    /* OP; op_bits: the 32 bits that begin with its type */ \
    X(op_next) X(op_sibparent) X(op_targ) X(op_bits) X(op_moresib) X(op_flags) X(op_first) \
    X(op_sv) X(op_padix) X(op_size) \
    /* COP */ \
    X(cop_line) X(cop_file) X(cop_seq) X(cop_size) \
    /* SV heads and bodies */ \
    X(sv_any) X(sv_flags) X(sv_u) X(sv_size) X(SVTYPEMASK) \
    X(SVt_IV) X(SVt_NV) X(SVt_PVGV) X(SVt_PVAV) X(SVt_PVHV) X(SVt_PVCV) \
    X(SVf_IOK) X(SVf_NOK) X(SVf_POK) X(SVf_ROK) X(SVs_OBJECT) X(SVf_IVisUV) \
    X(cv_stash) X(cv_start) X(cv_root) X(cv_gv) X(cv_padlist) X(cv_outside) X(cv_flags) \
    X(cv_size) X(CVf_ISXSUB) X(CVf_NAMED) X(CVf_ANON) X(CVf_UNIQUE) \
    X(gv_namehek) X(gv_stash) X(gp_cv) \
    X(hv_max) X(hv_aux) X(aux_name) X(aux_name_count) X(hek_len) X(hek_key) \
    X(av_fill) X(av_alloc) X(pv_cur) X(iv_iv) X(nv_nv) X(mg_stash) X(padlist_array)

/* All fields are numbers of one type, so that a row is an array as well. */
struct dp_layout {
#define DP_LAYOUT_FIELD(name) uint32_t name;
    DP_LAYOUT_FIELDS(DP_LAYOUT_FIELD)
#undef DP_LAYOUT_FIELD
};

enum { DP_LAYOUT_WORDS = sizeof(struct dp_layout) / sizeof(uint32_t) };

/* A perl, as far as its layout depends on it. */
struct dp_layout_of {
    unsigned series;            /* 36: perl 5.36, or 5.35, which led to it */
    bool multiplicity;
};

/* Finds the layout of a perl. Returns 0; 1 if the table has only older perls: then *to is the
 * layout of the newest of them; or DP_E_VERSION if the table has none. */
int dp_layout_find(struct dp_layout *to, const struct dp_layout_of *perl);

/* The names of the fields, in the order of the struct. */
extern const char *const dp_layout_names[DP_LAYOUT_WORDS];

#endif
