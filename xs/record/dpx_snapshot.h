/* Snapshots: a profile of its own of what a process has recorded up to now. */
#ifndef DPX_SNAPSHOT_H
#define DPX_SNAPSHOT_H

#include "dpx.h"

/* Writes all that has been recorded, whole, into the file FILE-NAME beside the profile FILE, and
 * goes on. Bytes of the name that are neither letters, digits, `_` nor `.` become `_`. An earlier
 * snapshot of that name is overwritten. Returns whether the file was written; a message says why
 * not. Nothing is written if values are not followed. */
bool dpx_snapshot_write(pTHX_ struct dpx_ctx *ctx, const char *name, size_t len);

#endif
