/* The life of a recorder: it is made, begins, is forked, is in an exec, ends. */
#ifndef DPX_LIFE_H
#define DPX_LIFE_H

#include "dpx.h"

/* Makes a state that has not begun and is on no list; NULL: out of memory. dpx_life_free frees the
 * contents of a state. */
struct dpx_ctx *dpx_life_new(void);
void dpx_life_free(struct dpx_ctx *ctx);

/* Starts a state's clocks, once it is known whether the file is there. */
void dpx_life_start_clocks(struct dpx_ctx *ctx);

/* Makes the state record from here on, in this interpreter. */
void dpx_life_begin(pTHX_ struct dpx_ctx *ctx);

/* Prepares an interpreter for a recording: its end will be noticed, and that of its clones. */
void dpx_life_join(pTHX);

/* Watches for the end and the forks of the process; to be called once. */
void dpx_life_watch(void);

/* The state of this interpreter, whether it records at the moment or not; for a new thread, it is
 * made. NULL: there is none, and none can be made. */
struct dpx_ctx *dpx_life_known(pTHX);

/* Makes the state of a new thread. parent: the state that its interpreter was cloned with. NULL: do
 * not record. */
struct dpx_ctx *dpx_life_other(pTHX_ const struct dpx_ctx *parent);

/* Returns, for the hooks, this interpreter's state, if it is recording. */
DP_INLINE struct dpx_ctx *dpx_life_here(pTHX)
{
    struct dpx_ctx *ctx = DPX_CTX;
    return DP_LIKELY(ctx->thx == DPX_THX) ? ctx : dpx_life_other(aTHX_ ctx);
}

/* Ends all frames, writes the rest, and stops recording here: before the process ends abruptly. */
void dpx_life_end(pTHX_ struct dpx_ctx *ctx);

/* Ends the recordings of all interpreters of this thread, like dpx_life_end. */
void dpx_life_end_all(void);

/* Ends the recording of a program that wants no profile of itself: if there is no file yet, there
 * will be none. */
void dpx_life_forget(pTHX_ struct dpx_ctx *ctx);

/* Brings the file up to date while the program goes on: all marks up to now, or the tree, and the
 * sums so far. To be called within an XSUB, or anywhere else between an event's leaving and the
 * next one's arrival: it reads both stamps itself, so that its time is the recorder's own. ctx is
 * dpx_ctx_current(), and not NULL. Changes nothing that perl sees, errno included; cannot die. A
 * child that has recorded nothing yet leaves nothing. */
void dpx_life_save(pTHX_ struct dpx_ctx *ctx);

/* To be called before a sample is taken: has a forked child, or a program whose exec has failed, go
 * on to record. Returns whether it does. */
bool dpx_life_event(struct dpx_ctx *ctx);

/* The first completes the files of this thread's interpreters as if everything ended here; the
 * second undoes that for one of them, when the exec has failed. The first event of each of the
 * others does the same. */
void dpx_life_before_exec(void);
void dpx_life_after_exec(struct dpx_ctx *ctx);

#endif
