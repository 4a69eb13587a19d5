/* What a piece of code leaves behind each time that it runs: values that still live, by the context
 * and the line that made them. */
#ifndef DPX_GROWTH_H
#define DPX_GROWTH_H

#include "dpx.h"

/* Can values be followed here? Returns NULL, or why not. */
const char *dpx_growth_refusal(pTHX);

/* Calls code `warmup` times, and then `times` times. Returns an array with an array for each site
 * whose number of live values, or their bytes, at the end differ from those after the warm-up: the
 * difference, that of the bytes, the class of an object or undef, the line, who holds such a value
 * (dpx_holders.h) or undef, and the subs from the innermost up to that of the code. A row of two
 * numbers alone has the bytes of the values that were there before. Returns NULL if memory is
 * short. An exception of the code's is passed on; then the caller ends it by dpx_values_end. */
AV *dpx_growth_measure(pTHX_ struct dpx_ctx *ctx, SV *code, UV warmup, UV times);

#endif
