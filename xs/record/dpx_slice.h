/* Slices: the tree of a process or thread in files of a spool, one after the other, each with the
 * calls and costs of its time. Calls that run across a cut go on in the next file without being
 * counted again: merged, the files are what one file would have been. */
#ifndef DPX_SLICE_H
#define DPX_SLICE_H

#include "dpx.h"

/* Ends a slice whose time is over. A slice that cannot be written goes on, and is tried again after
 * another such time. Returns false if memory is too short to go on recording. */
bool dpx_slice_cut(struct dpx_ctx *ctx);

/* Writes the slice, and gives it its final name. Returns false, after a message, if that is
 * impossible; then nothing has changed. */
bool dpx_slice_end(struct dpx_ctx *ctx);

/* Begins the next slice, after dpx_slice_end. The frames up to `last` run; the last of them runs id
 * (0: the id of the frame). Returns false if memory is too short. */
bool dpx_slice_next(struct dpx_ctx *ctx, const struct dpx_frame *last, U32 id);

#endif
