/* What runs, as perl's context stacks tell, and the statement in which it was called. */
#ifndef DPX_RUNNING_H
#define DPX_RUNNING_H

#include "dpx.h"

/* Code that runs: an activation of a sub, or a file's or string's. */
struct dpx_running {
    CV *cv;                     /* the sub; NULL: it is none */
    const OP *start;            /* its first op */
    const COP *from;            /* the statement that called it, or ran last before ... */
    const COP *loop;            /* ... in the loop of this statement, whose condition may have
                                 * called it; NULL: in none */
    const OP *to;               /* of a sub: where it returns to */
    PAD *pad;
    bool is_file;
};

/* Some perls' CxTYPE_is_LOOP needs a variable of this name. */
DP_INLINE bool dpx_running_is_loop(const PERL_CONTEXT *cx) { return CxTYPE_is_LOOP(cx); }

/* The pad of the program's own file. */
PAD *dpx_running_main_pad(pTHX);

/* Finds what runs, the innermost first, and returns how many that are. Where there is no room for
 * all, the innermost stays, and those next to it are left out: how many is known when all have been
 * counted. */
size_t dpx_running_find(pTHX_ struct dpx_running *to, size_t room);

/* The sub of code that runs; 0: it is none, or is not recorded. */
U32 dpx_running_sub(pTHX_ struct dpx_ctx *ctx, const struct dpx_running *r);

/* The statement that an op stands in: cop, or a null one inside of it. NULL: it is not there. */
const COP *dpx_running_statement(pTHX_ const COP *cop, const OP *op);

/* The same, of the call of a sub: r->from or r->loop, or a null one inside of it. *around becomes
 * the former one. pad: of the sub that calls.
 * NULL: the call is not there, or may be in several. is_any: whether any sub called between the
 * same ops would be called there. */
const COP *dpx_running_call(pTHX_ const struct dpx_running *r, PAD *pad, const COP **around,
                            bool *is_any);

#endif
