/* The thread that ticks, for samples. At each tick it notes the running code of every interpreter
 * (struct dpx_tick), and has it come to a safe point (PL_sig_pending). */
#ifndef DPX_TICKER_H
#define DPX_TICKER_H

#include "dpx.h"

/* Starts the thread of this process. It calls `ticks` before each tick that asks an interpreter for
 * a sample; alone: no other interpreter records. Returns 0 or an error number. */
int dpx_ticker_start(void (*ticks)(bool alone));

/* Has this process such a thread? A forked child has none. */
bool dpx_ticker_runs(void);

/* Wakes the thread, if it waits for an answer, after an answer or a start of recording. */
void dpx_ticker_wake(void);

/* In a forked child there is no thread. An interpreter that goes on comes to a safe point, where a
 * thread can be started. */
void dpx_ticker_forked(void);
void dpx_ticker_wait_for(pTHX_ struct dpx_tick *t);

/* The ns since the last tick; 0: unknown, since the thread waits for an answer. */
U64 dpx_ticker_late(const struct dpx_tick *t);

/* Did the program wait when its sample became due, for most of the time since? Then own is the CPU
 * time in ns that it has used since. To be called by the thread that runs the program. */
bool dpx_ticker_waited(struct dpx_tick *t, U64 *own);

/* Ends the thread, because the process ends. */
void dpx_ticker_end(void);

#endif
