/* Frames of calls that no op of the program makes, such as those from C. */
#ifndef DPX_FROM_H
#define DPX_FROM_H

#include "dpx_frame.h"
#include "dpx_site.h"
#include "dpx_stmt.h"

/* Does caller name another statement than the recorder's? */
DP_INLINE bool dpx_is_elsewhere(const struct dpx_ctx *ctx, const COP *from)
{
    return from && DPX_STMT_NUMBER(from) != ctx->rec.marks.line->number;
}

/* Pushes a frame and makes its mark, as dpx_frame_push does, for a call that no op of the program
 * makes. from: the statement that caller names. With the times of statements, the recorder may be
 * at another one: that of a block whose statement has no op, or that of a sub which die is
 * leaving. */
DP_INLINE bool dpx_push_from(pTHX_ struct dpx_ctx *ctx, PERL_SI *si, I32 key, U32 id, U64 now,
                         const COP *from, const int way)
{
    if (!(way & DPX_LINES) || DP_LIKELY(!dpx_is_elsewhere(ctx, from)))
        return dpx_frame_push(ctx, si, key, id, now, way);
    struct dpx_frame *f = dpx_frame_add(ctx, si, key, id);
    if (f)
        dp_rec_enter_at(&ctx->rec, id, dpx_site_of(aTHX_ ctx, from), &f->call, now, way & DPX_REC);
    return f != NULL;
}

#endif
