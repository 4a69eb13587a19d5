/* Calls that are spans, too, because detail= asks for them. The hooks come here only for subs that
 * dpx_detail.h lists, by flags of their ids. */
#ifndef DPX_DETAILED_H
#define DPX_DETAILED_H

#include "dpx_frame.h"

/* Runs the call of an XS sub whose flags have DPX_ID_DETAIL, at arrival stamp now, with its frame
 * and that of its span. orig: the function of entersub. Returns the next op. */
OP *dpx_detailed_xs(pTHX_ struct dpx_ctx *ctx, CV *cv, U64 now, Perl_ppaddr_t orig);

/* Handles the call of a Perl sub whose flags have DPX_ID_AUTOLOAD, after it was entered. Returns
 * the id of the frame that the caller pushes; 0: none. If the call is a span, pushes the frames of
 * the sub and of the span itself, and returns 0. next: the first op. */
U32 dpx_detailed_perl(pTHX_ struct dpx_ctx *ctx, CV *cv, U32 id, OP *next, U64 now);

/* The same for goto, which the sub at index ix has gone on with. If the call is a span, ends the
 * frame of the sub before. Otherwise the caller does that. */
U32 dpx_detailed_goto(pTHX_ struct dpx_ctx *ctx, I32 ix, U32 id, OP *next, U64 now);

/* Ends the frame of the Perl sub at index ix, and runs goto from it to an XS sub whose flags have
 * DPX_ID_DETAIL. orig: the function of goto. Returns the next op. */
OP *dpx_detailed_goto_xs(pTHX_ struct dpx_ctx *ctx, CV *cv, I32 ix, U64 now, Perl_ppaddr_t orig);

#endif
