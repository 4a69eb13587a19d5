/* The frames of spans. A span stands on our stack of frames like a call, at the place of the frame
 * that it belongs to, and lives as long as that frame:
 *
 *     what the span is          kind of its frame     where
 *     code of its own           DPX_PERL              the context of the sub that runs the code
 *     a call of a Perl sub      DPX_MULTICALL         the sub's context, above the sub's frame
 *     the rest of a scope       DPX_MULTICALL         the context of the sub around the scope, or
 *                                                     none (si is NULL)
 *     a call of an XS sub       DPX_XS                that of the sub's frame, with DPX_SAVED_BELOW
 *
 * So the hooks of every way out of a sub end spans, too. No hook but that of goto knows of them:
 * goto keeps the context, and dpx_way.settle ends the spans there. */
#ifndef DPX_SPAN_FRAMES_H
#define DPX_SPAN_FRAMES_H

#include "dpx_frame.h"
#include "dpx_subject_value.h"

/* Pushes the frame of a span and makes its mark, at arrival stamp now. is_again: the span goes on,
 * and does not count as a call. Returns false, and makes no mark, if there is no memory. */
bool dpx_span_frames_push(struct dpx_ctx *ctx, PERL_SI *si, I32 key, U32 id, U64 now,
                          bool is_again);

/* Pushes the frame of a sub that is called, and makes its mark; the next mark may follow at the
 * same stamp. Returns false if id is 0 or there is no memory. */
bool dpx_span_frames_push_sub(pTHX_ struct dpx_ctx *ctx, PERL_SI *si, I32 key, U32 id, U64 now);

/* Pushes the frames of C code that an op calls, an XS sub or a builtin, and of its span; either id
 * may be 0. ix: the index of the caller's context. saved: the height of perl's save stack below
 * which the code has ended. Returns the index of the lower frame, which ctx->serial belongs to;
 * 0: there is none. */
ptrdiff_t dpx_span_frames_push_c(pTHX_ struct dpx_ctx *ctx, U32 id, const struct dpx_subject *s,
                                 I32 ix, I32 saved, U64 now);

/* Leaves the hook to the C code. */
void dpx_span_frames_leave_to_c(struct dpx_ctx *ctx, ptrdiff_t at, U64 now);

/* Ends these frames, when the C code has returned. */
void dpx_span_frames_pop_c(struct dpx_ctx *ctx, ptrdiff_t at, U64 serial);

/* Within an XS sub that a Perl sub calls, which is not recorded itself: that Perl sub is a span. */
void dpx_span_frames_enter(pTHX_ struct dpx_ctx *ctx, U32 id);

/* The same, where the sub around the call of that Perl sub goes on in a span. Returns a reference,
 * and the span ends when what it refers to is freed; undef outside of all subs. */
SV *dpx_span_frames_open(pTHX_ struct dpx_ctx *ctx, U32 id);

#endif
