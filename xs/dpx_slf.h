/* Coro's functions that go on to another coroutine. */
#ifndef DPX_SLF_H
#define DPX_SLF_H

#include "dpx.h"

/* An XS sub returned to another op, and changed the one that called it: one of those of Coro's that
 * go on to another coroutine? Then that op is wrapped. */
DP_COLD bool dpx_slf_wraps(pTHX_ struct dpx_ctx *ctx, OP *op, CV *cv);

/* Then its frame, if it is there, waits for the op to be run again. */
DP_COLD bool dpx_slf_waits(pTHX_ struct dpx_ctx *ctx, OP *op, ptrdiff_t at, U64 serial);

/* What wrapped ops run. */
OP *dpx_slf_hook(pTHX) __attribute__((visibility("hidden")));

/* A coroutine's first run loop on a C stack begins, with an op of Coro's, which measures the height
 * that pp_slf is called at: wraps it. */
DP_COLD void dpx_slf_wrap_first(pTHX);

#endif
