/* Samples: the context and the statement that ran at a tick are charged with all since the sample
 * before. */
#ifndef DP_REC_SAMPLE_H
#define DP_REC_SAMPLE_H

#include "dp_rec.h"

/* Takes a sample of a tree: charges all time and counts since the sample before, up to now, to this
 * context and to the statement of this number. late: the ns of that time that have passed since the
 * tick. CPU time in them belongs to the next sample, which takes it over. */
void dp_rec_sample(struct dp_rec *rec, struct dp_cct_node *node, uint32_t line, uint64_t now,
                   uint64_t late);

/* Takes a sample of an op that waited at the tick. own: ns of CPU time that the op itself used.
 * Code that no sample has seen used the rest of the CPU time before the op, and the next sample
 * takes that over, too. */
void dp_rec_sample_wait(struct dp_rec *rec, struct dp_cct_node *node, uint32_t line, uint64_t now,
                        uint64_t own);

/* Takes a sample of a tree that records calls, with how.line_samples: charges all time and counts
 * since the sample before, up to now, to the statement of this number. Contexts are charged as at
 * any mark. */
void dp_rec_sample_line(struct dp_rec *rec, uint32_t line, uint64_t now);

/* With how.line_samples: charges all since the last sample to no statement, since no sample
 * follows. */
void dp_rec_sample_end(struct dp_rec *rec);

/* How to write when samples were taken: from the beginning of the tree on. */
struct dp_when_text dp_rec_sample_when(struct dp_rec *rec);

/* Moves the CPU time that samples have left to the next one to the running context and statement.
 * Returns the stamps. */
uint64_t dp_rec_sample_over(struct dp_rec *rec);

#endif
