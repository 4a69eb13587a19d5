/* Statements that perl gives no op of their own, because they are alone in their block.
 * dpx_revive.c explains how. */
#ifndef DPX_REVIVE_H
#define DPX_REVIVE_H

#include "dpx.h"

/* Tells that the statement of a number begins. Returns false, and does nothing, if this interpreter
 * does not know the number; 0 is never known. */
typedef bool dpx_revive_tell(pTHX_ U32 number);

/* Does the same with the null op of the statement. Returns the number, 0: it has none. */
typedef U32 dpx_revive_first(pTHX_ COP *cop);

/* Once for the process: one of the two functions is called after an op that led to such a
 * statement. */
void dpx_revive_install(pTHX_ dpx_revive_tell *known, dpx_revive_first *unknown);

/* From now on such statements are seen in what is compiled in this interpreter, unless another
 * module optimizes there what is compiled. */
void dpx_revive_join(pTHX);

#endif
