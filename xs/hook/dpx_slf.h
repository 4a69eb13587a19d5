/* Coro's functions that go on to another coroutine, and its visits to those that are freed. */
#ifndef DPX_SLF_H
#define DPX_SLF_H

#include "dpx.h"

/* An XS sub returned to another op, and changed the op that called it. If the sub is one of Coro's
 * that go on to another coroutine, wraps that op and returns true. */
DP_COLD bool dpx_slf_wraps(pTHX_ struct dpx_ctx *ctx, OP *op, CV *cv);

/* Then makes the sub's frame, if it is there, wait for the op to be run again. */
DP_COLD bool dpx_slf_waits(pTHX_ struct dpx_ctx *ctx, OP *op, ptrdiff_t at, U64 serial);

/* What wrapped ops run. */
OP *dpx_slf_hook(pTHX) __attribute__((visibility("hidden")));

/* A coroutine's first run loop on a C stack begins with an op of Coro's, by which Coro measures the
 * height that pp_slf is called at: wraps that op. */
DP_COLD void dpx_slf_wrap_first(pTHX);

/* To be called from another coroutine than that of ctx->mainstack, at the beginning of a call from
 * C. If the call destroys what a freed coroutine held, the end of the call's scope ends the visit.
 * Only such calls are made in a scope of their own. */
DP_COLD void dpx_slf_visit(pTHX_ struct dpx_ctx *ctx);

#endif
