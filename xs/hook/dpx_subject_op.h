/* What builtins are about: the program of system, the file of open, the pattern of a match. */
#ifndef DPX_SUBJECT_OP_H
#define DPX_SUBJECT_OP_H

#include "dpx_subject_value.h"

/* The id of the span that a builtin is, by its op, PL_op, and what lies on perl's stack; 0: it is
 * none. */
U32 dpx_subject_op(pTHX_ struct dpx_ctx *ctx);

/* The kinds of detail= for which ops of a type are spans, as bits. */
unsigned dpx_subject_kinds(Optype type);

#endif
