/* The running code, from perl's context stacks, and the statements that called it. */
#ifndef DPX_RUNNING_H
#define DPX_RUNNING_H

#include "dpx.h"

/* Running code: an activation of a sub, or that of a file or string; or a span in such code. */
struct dpx_running {
    CV *cv;                     /* the sub; NULL: the code is no sub's */
    const OP *start;            /* its first op */
    const COP *from;            /* the statement that called it, or ran last before ... */
    const COP *loop;            /* ... in the loop of this statement, whose condition may have
                                 * called it; NULL: in none */
    const OP *to;               /* the op that a sub returns to */
    PAD *pad;
    bool is_file;
    U32 span;                   /* 0: it is none */
    const PERL_SI *si;          /* its context: the stack ... */
    I32 ix;                     /* ... and its index there */
};

/* Some perls' CxTYPE_is_LOOP needs a variable of this name. */
DP_INLINE bool dpx_running_is_loop(const PERL_CONTEXT *cx) { return CxTYPE_is_LOOP(cx); }

/* Is this a pad of the sub, at any depth of recursion? */
bool dpx_running_has_pad(const CV *cv, const PAD *pad);

/* The pad of the program's own file; NULL: there is none yet. */
PAD *dpx_running_main_pad(pTHX);

/* Lists running code, the innermost first, and returns how much that is. If there is no room for
 * all, the innermost stays, and those next to it are left out: their number is known only when all
 * have been counted. */
size_t dpx_running_find(pTHX_ struct dpx_running *to, size_t room);

/* Adds to this list of n the frames whose serial is `last` at most. Returns how much the list has
 * then; n, if there is no room for all. */
size_t dpx_running_add_spans(pTHX_ const struct dpx_ctx *ctx, UV last, struct dpx_running *to,
                             size_t n, size_t room);

/* The sub of running code; 0: it is none, or not recorded. */
U32 dpx_running_sub(pTHX_ struct dpx_ctx *ctx, const struct dpx_running *r);

/* The statement of an op: cop, or a null statement inside of it. NULL: the op is not there. */
const COP *dpx_running_statement(pTHX_ const COP *cop, const OP *op);

/* The statement that called running code: r->from or r->loop, or a null statement inside of it.
 * *around becomes the former. pad: that of the calling sub. NULL: the call is not there, or may be
 * in several. is_any: whether any sub called between the same ops would be called there. */
const COP *dpx_running_call(pTHX_ const struct dpx_running *r, PAD *pad, const COP **around,
                            bool *is_any);

#endif
