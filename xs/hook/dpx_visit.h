/* Visits to coroutines that are being freed: what they hold is destroyed on their stacks. */
#ifndef DPX_VISIT_H
#define DPX_VISIT_H

#include "dpx.h"

/* To be called from another coroutine than that of ctx->mainstack, at the beginning of a call from
 * C. If the call destroys what a freed coroutine held, the end of the call's scope ends the visit.
 * Only such calls are made in a scope of their own. */
DP_COLD void dpx_visit_begins(pTHX_ struct dpx_ctx *ctx);

#endif
