/* Counters of events beside the clock: chosen by name, opened for each thread, read by the hooks.
 * dpx_plan.h describes them, and dp_perf.h reads those of the kernel.
 *
 * A hook that arrives takes a time stamp and then brings the counters up to date; a hook that
 * leaves brings them up to date before its stamp. dp_rec sees totals of the program that only grow
 * (`how.counts`). It takes their growth since the last mark: a trace has it behind each raw mark, a
 * tree in each node. The recorder's own share never gets into the totals. `rec->worked` says that a
 * hook has done more than usual, so that counters which cost a system call are read once more: code
 * that adds slow work to a hook sets it.
 *
 * A recording without events pays nothing for them: hooks exist once for each way of recording
 * (DPX_EACH_WAY), and those without counters have no code for them. bench/instructions.pl counts
 * instructions per call, which must not grow. */
#ifndef DPX_EVENTS_H
#define DPX_EVENTS_H

#include "dpx.h"
#include "dp_err.h"
#include "pmu-events/pmu-events.h"

/* Finds the events of a list, as the option has it, by their names, and tries them. Returns 0, or
 * an error with a message for the author of the list. */
int dpx_events_plan(pTHX_ struct dpx_plan *plan, const char *list, struct dp_err *err);

/* Opens all events that can be counted on this machine; for lists, too. sysfs: NULL, or a test's
 * replacement of that folder. Returns 0 or DP_E_NOMEM. */
int dpx_events_open_pmu(struct dp_pmu **pmu, const char *sysfs);

/* Begins to watch perl's allocations, if the plan or heap=sample needs that. Returns NULL, or why
 * that is impossible. */
const char *dpx_events_watch_heap(const struct dpx_plan *plan);

/* Can the event be counted here and now? *ev becomes the event that is counted then (cycles:u). If
 * it returns false, `why` has the reason, and what to do. */
bool dpx_events_try(pTHX_ const struct dp_pmu *pmu, struct dp_pmu_event *ev, char *why,
                    size_t size);

/* Is `loop` one of perl's own run loops? dpx_hook.c has copies of these that count. */
bool dpx_events_may_count_ops(runops_proc_t loop);

/* _open begins to count for this interpreter, in the calling thread. In a forked child _fork does
 * at once the part that costs nothing (goes_on: the child records), and _forked does the rest at
 * the first event. */
void dpx_events_open(pTHX_ struct dpx_ctx *ctx);
void dpx_events_fork(pTHX_ struct dpx_ctx *ctx, bool goes_on);
void dpx_events_forked(pTHX_ struct dpx_ctx *ctx);
void dpx_events_close(struct dpx_ctx *ctx);

/* _arrive adds to ctx->events.total what the program has used; _leave leaves out what the hook has
 * used since. To be called only if there is a plan. */
void dpx_events_arrive(struct dpx_ctx *ctx) __attribute__((visibility("hidden")));
void dpx_events_leave(struct dpx_ctx *ctx) __attribute__((visibility("hidden")));

/* Writes the assignment for the header that says which share of the time each of the counters did
 * count, in percent, by column; nothing if all counted all the time. */
void dpx_events_shares(const struct dpx_ctx *ctx, struct dp_buf *to);

#endif
