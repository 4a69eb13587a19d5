/* Stretches that are not recorded, and phases. */
#ifndef DPX_CONTROL_H
#define DPX_CONTROL_H

#include "dpx.h"

/* Stop recording, and start it again. Each does nothing if recording is already stopped, or on. */
void dpx_control_stop(struct dpx_ctx *ctx);
void dpx_control_start(struct dpx_ctx *ctx);

/* Begins a phase. name: UTF-8; an empty name is no phase. */
void dpx_control_mark(struct dpx_ctx *ctx, const char *name, size_t len);
void dpx_control_in_phase(struct dpx_ctx *ctx, const struct dpx_phase *phase, U64 now);

/* Begins the first phase, with the recording. */
void dpx_control_begin(struct dpx_ctx *ctx);

/* Called when PL_phase is no longer ctx->stage: begins the phases main and END. */
void dpx_control_stage(pTHX_ struct dpx_ctx *ctx);

/* Returns the phase of this name, and makes it if it is new; NULL: no memory. The second function
 * returns `other` if the program has too many phases. */
const struct dpx_phase *dpx_control_phase(const char *name, size_t len);
const struct dpx_phase *dpx_control_phase_of(const char *name, size_t len);

/* Leave the frames of a trace without ending them, and go on with them, in another phase or after a
 * stretch without recording. now: an arrival stamp. */
void dpx_control_suspend(struct dpx_ctx *ctx, U64 now);
void dpx_control_resume(struct dpx_ctx *ctx, U64 now);

#endif
