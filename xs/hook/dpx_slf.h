/* Coro's functions that go on to another coroutine, and its visits to coroutines that are freed. */
#ifndef DPX_SLF_H
#define DPX_SLF_H

#include "dpx.h"

/* An XS sub returned to another op, and changed the op that called it. If the sub is one of Coro's
 * that go on to another coroutine, wraps that op and returns true. */
DP_COLD bool dpx_slf_wraps(pTHX_ struct dpx_ctx *ctx, OP *op, CV *cv);

/* Makes the sub's frame, if there is one, wait for the op to run again. */
DP_COLD bool dpx_slf_waits(pTHX_ struct dpx_ctx *ctx, OP *op, ptrdiff_t at, U64 serial);

/* The function of wrapped ops. */
OP *dpx_slf_hook(pTHX) __attribute__((visibility("hidden")));

/* A coroutine's first run loop on a C stack begins with an op of Coro's, with which Coro measures
 * the height at which pp_slf is called. Wraps that op. */
DP_COLD void dpx_slf_wrap_first(pTHX);

/* Has the visit of a coroutine end with the scope of the call from C that began it. To be called in
 * another coroutine than that of ctx->mainstack, at the beginning of a call from C. If the call
 * destroys what a freed coroutine held, the end of the call's scope ends the visit. Only such calls
 * have a scope of their own. */
DP_COLD void dpx_slf_visit(pTHX_ struct dpx_ctx *ctx);

#endif
