/* Visits to coroutines that are being freed: what they hold is destroyed on their stacks. */
#ifndef DPX_VISIT_H
#define DPX_VISIT_H

#include "dpx.h"

/* To be called from another coroutine than that of ctx->mainstack, at the beginning of a call from
 * C. A coroutine that is freed has its stacks put in place for a while, and what they hold is
 * destroyed there. Nobody would see the end of that. Only such calls are made in a scope of
 * their own. */
DP_COLD void dpx_visit_begins(pTHX_ struct dpx_ctx *ctx);

#endif
