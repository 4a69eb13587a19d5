/* Statements that perl gives no op of their own, because they are alone in their block.
 * dpx_revive.c explains how. */
#ifndef DPX_REVIVE_H
#define DPX_REVIVE_H

#include "dpx.h"

/* From now on such statements are seen in what is compiled in this interpreter: begins is called
 * with the null op of the statement, after the op that led there. */
void dpx_revive_install(pTHX_ void (*begins)(pTHX_ COP *cop));

#endif
