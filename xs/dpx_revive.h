/* Statements that perl gives no op of their own, because they are alone in their block.
 * dpx_revive.c explains how. */
#ifndef DPX_REVIVE_H
#define DPX_REVIVE_H

#include "dpx.h"

/* From now on what is compiled in this interpreter has them seen: begins is called with what is
 * left of their op, behind the one that led there. */
void dpx_revive_install(pTHX_ void (*begins)(pTHX_ COP *cop));

#endif
