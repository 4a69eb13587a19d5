/* Slices: the tree of a process or thread in files of a spool, one after the other, each of which
 * has what passed in its time. Calls that run across a cut go on in the next file without being
 * counted again: merged, the files are what one file would have been. */
#ifndef DPX_SLICE_H
#define DPX_SLICE_H

#include "dpx.h"

/* A slice's time is over. A slice that cannot be written goes on, and is tried again when another
 * has passed. Returns false if memory is too short to go on recording. */
bool dpx_slice_cut(struct dpx_ctx *ctx);

/* Writes the slice, and gives it its final name. Returns false, after a message, if that cannot be;
 * then nothing has changed. */
bool dpx_slice_end(struct dpx_ctx *ctx);

/* Begins the next slice, after dpx_slice_end. The frames up to `last` run; the last of them runs
 * id, 0: what the frame says. Returns false if memory is too short. */
bool dpx_slice_next(struct dpx_ctx *ctx, const struct dpx_frame *last, U32 id);

#endif
