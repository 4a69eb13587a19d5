/* The differences between perls, by feature. All other code of xs/ is the same from 5.26 on.
 *
 * What this relies on: names that perl has changed between 5.26 and 5.44, and nothing else. A
 * name that a new perl changes belongs here. */
#ifndef DPX_COMPAT_H
#define DPX_COMPAT_H

/* Perl 5.37.6 renamed the macro that says that functions get the interpreter as an argument. */
#if defined(MULTIPLICITY) || defined(PERL_IMPLICIT_CONTEXT)
#  define DPX_MULTIPLICITY 1
#endif

/* The interpreter as a member of a struct, for callbacks that do not get it: dTHXa(x->perl). */
#ifdef DPX_MULTIPLICITY
#  define DPX_PERL_MEMBER PerlInterpreter *perl;
#  define DPX_PERL_SET(x) ((x)->perl = aTHX)
#else
#  define DPX_PERL_MEMBER
#  define DPX_PERL_SET(x) NOOP
#endif

/* Perl 5.43 moved the underscore from the front of this name to its end. */
#ifndef RXf_PMf_CHARSET_SHIFT_
#  define RXf_PMf_CHARSET_SHIFT_ _RXf_PMf_CHARSET_SHIFT
#endif

#ifndef CXp_SUB_RE_FAKE
#  define CXp_SUB_RE_FAKE 0
#endif

/* The context that a `return` leaves; newer perls keep its index. */
PERL_STATIC_INLINE I32
dpx_cursub(pTHX)
{
#ifdef DPX_HAS_CXSUBIX
    return PL_curstackinfo->si_cxsubix;
#else
    I32 i;
    for (i = cxstack_ix; i >= 0; i--) {
        const PERL_CONTEXT *cx = &cxstack[i];
        switch (CxTYPE(cx)) {
        case CXt_SUB:
            if (CXp_SUB_RE_FAKE && (cx->cx_type & CXp_SUB_RE_FAKE))
                continue;
            /* FALLTHROUGH */
        case CXt_EVAL:
        case CXt_FORMAT:
            return i;
        }
    }
    return -1;
#endif
}

#endif
