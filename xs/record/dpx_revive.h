/* Statements that perl gives no op of their own, because they are alone in their block.
 * dpx_revive.c explains how. */
#ifndef DPX_REVIVE_H
#define DPX_REVIVE_H

#include "dpx.h"

/* Reports that the statement of a number begins. Returns false, and does nothing, if this
 * interpreter does not know the number; 0 is never known. */
typedef bool dpx_revive_tell(pTHX_ U32 number);

/* Reports that the statement with this null op begins, and gives it a number if it has none.
 * Returns the statement's number; 0: none. */
typedef U32 dpx_revive_first(pTHX_ COP *cop);

/* To be called once for the process: one of the two functions is called after an op that led to
 * such a statement. */
void dpx_revive_install(pTHX_ dpx_revive_tell *known, dpx_revive_first *unknown);

/* Reports such statements in code that is compiled in this interpreter from now on, unless another
 * module optimizes that code. */
void dpx_revive_join(pTHX);

#endif
