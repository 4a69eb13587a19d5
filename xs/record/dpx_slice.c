#include "dpx_slice.h"
#include "dpx_blocks.h"
#include "dpx_coro.h"
#include "dpx_file.h"
#include "dpx_requests.h"
#include "dpx_span_rows.h"
#include "dpx_say.h"
#include "dp_spool.h"

#include <unistd.h>

/* ---- the end of a slice ---- */

/* Makes the file again, if it could not be made before, or is gone. The old file is emptied, since
 * its slice will be in the new one. If no new one can be made, the old one is still ours to write
 * to; returns false with err set then. */
static bool reopen_file(struct dpx_ctx *ctx, struct dp_err *err)
{
    DPX_DTHX(ctx);
    struct dp_outfile old = ctx->out;
    U64 trailer_at = ctx->file.trailer_at, tree_at = ctx->file.tree_at;
    if (dp_spool_make(dpx_run.path, dpx_run.spool_who, err) < 0)
        return false;
    if (dpx_file_open(aTHX_ ctx, err) < 0) {
        dp_outfile_discard(&ctx->out);
        ctx->out = old;
        ctx->file.trailer_at = trailer_at;
        ctx->file.tree_at = tree_at;
        return false;
    }
    dp_outfile_cut(&old, 0);
    dp_outfile_close(&old);
    dp_live_move(&ctx->live, ctx->out.path);
    return true;
}

/* Keeps a slice that is written but did not get its name. Its tree begins at byte `at`, and its
 * trailer says that newer data are in the pieces. When the recording ends there are no newer data,
 * and the pieces go. */
static void keep_as_saved(struct dpx_ctx *ctx, U64 at)
{
    ctx->file.tree_at = at;
    if (ctx->state < DPX_ENDING)
        dpx_file_trailer(ctx);
    else
        dp_live_remove(&ctx->live);
}

/* Writes the tree as a slice, and gives the file its final name. If that fails, returns false with
 * err set; the remainders in ctx->rest are then those from before. */
static bool write_slice(struct dpx_ctx *ctx, struct dp_err *err)
{
    struct dp_cct_rest rest = ctx->rest;
    if ((ctx->out.failed || !dp_outfile_is_there(&ctx->out)) && !reopen_file(ctx, err)
        && ctx->out.failed)
        return false;
    if (ctx->file.tree_at)
        dp_outfile_cut(&ctx->out, ctx->file.tree_at);
    U64 at = ctx->out.size;
    bool good = dpx_file_write_tree(ctx, err);
    if (good && dp_spool_finish(ctx->out.path, dpx_run.spool_who) < 0) {
        dp_err_set(err, DP_E_IO, "cannot write %s: %s", ctx->out.path, strerror(errno));
        keep_as_saved(ctx, at);
        good = false;
    }
    if (!good) {
        ctx->rest = rest;
        memset(&ctx->writer.sums, 0, sizeof ctx->writer.sums);
    }
    return good;
}

/* Removes the oldest slices if the spool has reached its limit, with a message the first time. */
static void trim_spool(void)
{
    size_t removed = dp_spool_trim(dpx_run.path, dpx_run.spool_who,
                                   dpx_run.opt.spool_limit);
    if (removed && !dpx_run.trimmed) {
        dpx_run.trimmed = true;
        dpx_say("DProf: %s has reached spool-limit=%" UVuf " bytes; the oldest slices are removed",
                dpx_run.path, (UV)dpx_run.opt.spool_limit);
    }
}

bool dpx_slice_end(struct dpx_ctx *ctx)
{
    DPX_DTHX(ctx);
    struct dp_err err;
    int why = errno;
    dp_err_init(&err);
    dpx_file_begin(ctx);
    dpx_blocks_count(aTHX_ ctx);
    bool good = write_slice(ctx, &err);
    if (good) {
        dp_live_remove(&ctx->live);
        dp_outfile_close(&ctx->out);
        trim_spool();
    } else if (!ctx->slice_told && !ctx->live.lost) {
        dpx_say("DProf: %s; the slice goes on", err.message);
    }
    ctx->slice_told = !good;
    errno = why;
    return good;
}

/* ---- the next one ---- */

/* Resumes the running calls, up to `last', in the tree of the next slice. id: what the last frame
 * runs, if goto has changed that; else 0. */
static void relink_frames(struct dpx_ctx *ctx, const struct dpx_frame *last, U32 id)
{
    for (struct dpx_frame *f = ctx->frames + 1; f <= last; f++)
        dp_rec_resume(&ctx->rec, id && f == last ? id : f->runs, &f->call, f->call.start);
}

bool dpx_slice_next(struct dpx_ctx *ctx, const struct dpx_frame *last, U32 id)
{
    DPX_DTHX(ctx);
    struct dp_err err;
    U64 links = ctx->rec.relinks;
    int why = errno;
    dp_err_init(&err);
    ctx->started = dpx_clock_today();
    ctx->slice++;
    ctx->named = ctx->names.lines.count;
    ctx->sourced = ctx->statements.files.count;
    ctx->before_cpu_us = 0;
    dpx_requests_clear(ctx);
    dpx_span_clear(ctx);
    ctx->child.inherited = (size_t)(last - ctx->frames);
    dp_rec_keep_line(&ctx->rec);
    dpx_blocks_keep(ctx);
    dp_live_release(&ctx->live);
    dp_outfile_init(&ctx->out);
    ctx->file.tree_at = 0;
    if (dpx_file_open(aTHX_ ctx, &err) < 0)     /* the end of the slice tries again, with a
                                                 * message */
        ctx->out.failed = true;
    int rc = dpx_file_renew_live(ctx);
    errno = why;
    if (rc < 0)
        return false;
    dpx_blocks_resume(ctx);
    if (!ctx->rec.paused && !ctx->rec.saving.stopped) {
        dpx_coro_renew(ctx, links);
        relink_frames(ctx, last, id);
    }
    return true;
}

bool dpx_slice_cut(struct dpx_ctx *ctx)
{
    const struct dpx_frame *last = dpx_recorded_top(ctx);
    U32 id = 0;
    if (ctx->pid != (long)getpid())
        return true;
    switch (ctx->rec.saving.mark_at) {
    case DP_REC_AT_NO_MARK:
        break;
    case DP_REC_AT_BEGIN:
        last--;
        break;
    case DP_REC_AT_END:         /* its frame is popped */
        last++;
        id = ctx->rec.marks.cur->id;
        break;
    case DP_REC_AT_GOTO:        /* its frame has the id of the sub that replaces it */
        id = ctx->rec.marks.cur->id;
        break;
    }
    return !dpx_slice_end(ctx) || dpx_slice_next(ctx, last, id);
}
