/* The life of a recorder: it is made, begins, is forked, is in an exec, ends. */
#ifndef DPX_LIFE_H
#define DPX_LIFE_H

#include "dpx.h"

/* Makes a state that has not begun and is on no list; NULL: out of memory. dpx_life_free frees what
 * a state holds. */
struct dpx_ctx *dpx_life_new(void);
void dpx_life_free(struct dpx_ctx *ctx);

/* Starts a state's clocks, when it is known whether the file is there. */
void dpx_life_start_clocks(struct dpx_ctx *ctx);

/* The state records from here on, in this interpreter. */
void dpx_life_begin(pTHX_ struct dpx_ctx *ctx);

/* Watches for the end of an interpreter that begins a recording, and for the end and the forks of
 * the process. */
void dpx_life_watch(pTHX);

/* The state of this interpreter, whether it records at the moment or not; it is made for a new
 * thread. NULL: there is none, and none can be made. */
struct dpx_ctx *dpx_life_known(pTHX);

/* The state for an interpreter that was cloned from a recording one: a new
 * thread. NULL: do not record. */
struct dpx_ctx *dpx_life_other(pTHX);

/* This interpreter's state, if it is recording; for the hooks. */
DP_INLINE struct dpx_ctx *dpx_life_here(pTHX)
{
    struct dpx_ctx *ctx = DPX_CTX;
    return DP_LIKELY(ctx->thx == DPX_THX) ? ctx : dpx_life_other(aTHX);
}

/* Ends all frames, writes what there is, and stops recording here: before the
 * process ends abruptly. */
void dpx_life_end(pTHX_ struct dpx_ctx *ctx);

/* The program wants no profile of itself: if there is no file yet, there will be none. */
void dpx_life_forget(pTHX_ struct dpx_ctx *ctx);

/* Brings the file up to date while the program goes on: all marks up to now, or the tree,
 * and the sums so far. To be called within an XSUB, or anywhere else between an event's
 * leaving and the next one's arrival: it reads both stamps itself, so that what it takes is the
 * recorder's own time. ctx is dpx_ctx_current(), and not NULL. Changes nothing that perl sees,
 * errno included; cannot die. A child that has recorded nothing yet leaves nothing. */
void dpx_life_save(pTHX_ struct dpx_ctx *ctx);

/* To be called before a sample is taken: a forked child, or a program whose exec has failed, goes
 * on to record. Returns whether it does. */
bool dpx_life_event(struct dpx_ctx *ctx);

/* The first completes the file as if everything ended here; the second undoes that, when the exec
 * has failed. */
void dpx_life_before_exec(struct dpx_ctx *ctx);
void dpx_life_after_exec(struct dpx_ctx *ctx);

#endif
