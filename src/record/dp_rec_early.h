/* The statements that a forked child runs before it does something that is worth a file. */
#ifndef DP_REC_EARLY_H
#define DP_REC_EARLY_H

#include "dp_rec.h"

/* A statement that began in that time. */
struct dp_rec_early {
    uint32_t number;
    uint64_t passed;            /* stamps of the program's time from the fork to its beginning */
    uint64_t ops;               /* ops executed by then */
};

/* Counts n such statements, once the tree has been made, and charges each with the time and the ops
 * up to the next one. The coming mark charges the time that the last one has used so far, and all
 * other counters. */
void dp_rec_take_early(struct dp_rec *rec, const struct dp_rec_early *early, size_t n);

#endif
