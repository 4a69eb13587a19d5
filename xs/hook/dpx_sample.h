/* Samples: the running code, a number of times a second, in place of every call (sample=HZ).
 * dpx_sample.c explains how. */
#ifndef DPX_SAMPLE_H
#define DPX_SAMPLE_H

#include "dpx.h"

/* Begins to sample this interpreter; the hooks of ops and the ticking thread exist once for the
 * process. Returns false, with the reason in err, if the ticking thread cannot be started. */
bool dpx_sample_install(pTHX_ struct dpx_ctx *ctx, struct dp_err *err);

/* Returns, within an XSUB, the id of the sub or span that a sample of its caller would be charged
 * to; 0: the program, or memory is short. */
U32 dpx_sample_charged(pTHX_ struct dpx_ctx *ctx);

#endif
