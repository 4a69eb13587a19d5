/* Selected stretches of a trace's time; everything outside of them is left out. */
#ifndef DP_WINDOW_H
#define DP_WINDOW_H

#include "dp_base.h"
#include "dp_err.h"
#include "dp_reader.h"
#include "dprof/profile.h"

struct dp_window {
    struct dp_range *ranges;    /* ascending, without overlaps; owned */
    size_t n;
    /* of the current file, in its ticks */
    uint64_t *from, *to;
    uint64_t now;               /* real ticks since the beginning of the file */
};

/* Makes a window; NULL when memory is short. The ranges are copied. */
struct dp_window *dp_window_new(const struct dp_range *ranges, size_t n);
void dp_window_free(struct dp_window *w);

/* Begins a file. Returns 0, or DP_E_ARG if it is no trace, or if the ranges are shares of its
 * length, which is not known. */
int dp_window_start(struct dp_window *w, const struct dp_header *head, struct dp_err *err);

/* Clips events on their way to the profile. Times are reduced to the part inside. Calls that begin
 * outside do not count as calls, but keep their frames, which later events need. counts: n_counts
 * for each event, reduced in the same way. */
void dp_window_clip(struct dp_window *w, struct dp_event *ev, uint64_t *counts, size_t n_counts,
                    size_t n);

#endif
