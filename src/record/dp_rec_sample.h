/* Samples of a recorder: what ran at a tick is charged with what has passed since the one
 * before. */
#ifndef DP_REC_SAMPLE_H
#define DP_REC_SAMPLE_H

#include "dp_rec.h"

/* A sample of a tree: what has passed since the one before, up to now, is charged to this context
 * and to the statement of this number. late: the ns of it that have passed since the tick; this CPU
 * time belongs to the next sample, which takes it over. */
void dp_rec_sample(struct dp_rec *rec, struct dp_cct_node *node, uint32_t line, uint64_t now,
                   uint64_t late);

/* The same, of an op that waited at the tick: this many ns of CPU time are its own. The rest was
 * used before it, by what no sample has seen, and the next sample takes that over, too. */
void dp_rec_sample_wait(struct dp_rec *rec, struct dp_cct_node *node, uint32_t line, uint64_t now,
                        uint64_t own);

/* A sample of a tree that records calls, with how.line_samples: what has passed since the one
 * before, up to now, is charged to the statement of this number. Contexts are charged as at any
 * mark. */
void dp_rec_sample_line(struct dp_rec *rec, uint32_t line, uint64_t now);

/* Of how.line_samples: nobody samples what follows, so it belongs to no statement. */
void dp_rec_sample_end(struct dp_rec *rec);

/* Moves the CPU time that samples have left to the next one to what runs now. Returns the
 * stamps. */
uint64_t dp_rec_sample_over(struct dp_rec *rec);

#endif
