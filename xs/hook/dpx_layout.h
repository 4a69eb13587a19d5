/* Where the program's data lies. */
#ifndef DPX_LAYOUT_H
#define DPX_LAYOUT_H

#include "dpx.h"

/* Takes memory and values, as much as this number says, before the program is compiled, so that all
 * that the program makes afterwards lies elsewhere: 0 takes nothing. How fast code runs depends on
 * where its data lies, and an edit that changes nothing else moves that, too: for comparisons, runs
 * of many layouts show what is left of a difference. */
void dpx_layout(pTHX_ uint64_t number);

#endif
