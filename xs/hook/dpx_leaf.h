/* What an op runs that no context tells: an XS sub, or a builtin. */
#ifndef DPX_LEAF_H
#define DPX_LEAF_H

#include "dpx.h"

/* The id of the XS sub or builtin that an op runs; 0: it is neither, or a method of what no
 * variable holds. pad: of the sub that the op stands in. */
U32 dpx_leaf_of(pTHX_ struct dpx_ctx *ctx, const OP *op, const PAD *pad);

/* The sub that an entersub calls by its name; NULL: it calls none so. */
CV *dpx_leaf_named(const OP *op, const PAD *pad);

#endif
