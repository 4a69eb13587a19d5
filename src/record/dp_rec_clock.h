/* Inside the recorder: the clock's arithmetic (struct dp_rec_clock), for the slow ways of marks. */
#ifndef DP_REC_CLOCK_H
#define DP_REC_CLOCK_H

#include "dp_rec.h"

enum {
    DP_REC_FIRST_MEASURE_NS = 5000000,  /* after the start: costs are measured again */
    DP_REC_DEADLINE_NS = 1000000,       /* the CPU clock is read at least this often */
    DP_REC_WINDOW_NS = 1000000000       /* a mark is written after this time at the latest */
};

DP_INLINE uint64_t dp_rec_clock_stamps(const struct dp_rec *rec, double ns)
{
    return (uint64_t)(ns * rec->clock.rate);
}

/* Sets the rate, or a first estimate of it, and the costs of readings. */
void dp_rec_clock_begin(struct dp_rec *rec);

/* Computes what follows from the rate and the debt: which gaps are long, and ns per stamp. */
void dp_rec_clock_thresholds(struct dp_rec *rec);

/* Computes the rate from a pair that was read just now. */
void dp_rec_clock_learn(struct dp_rec *rec, uint64_t stamp, uint64_t mono);

/* Takes the gap that ends at arrival stamp now into the program's time. Returns the gap. */
uint64_t dp_rec_clock_gap(struct dp_rec *rec, uint64_t now);

/* Is the CPU clock to be read at the end of a gap? *is_long: whether the gap is long enough for a
 * reading of its own. */
bool dp_rec_clock_is_due(struct dp_rec *rec, uint64_t gap, bool *is_long, uint64_t now);

/* Reads the CPU clock at the end of a gap (0: there was no gap) that dp_rec_clock_gap has taken in,
 * and splits the waiting since the last reading. Returns the waiting in the gap; the waiting in the
 * gaps before it is in short_wait. */
uint64_t dp_rec_clock_read(struct dp_rec *rec, uint64_t gap, uint64_t now);

/* Notes the result of a reading: if too many find no waiting, fewer follow. */
void dp_rec_clock_judge(struct dp_rec *rec, uint64_t gap, uint64_t wait, uint64_t now);

/* Returns the kernel's share of the process' CPU time since the last split, of 1. The next split
 * begins here. */
double dp_rec_clock_sys_share(struct dp_rec *rec);

#endif
