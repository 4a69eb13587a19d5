/* Inside the recorder: saving (struct dp_rec_saving): the window and the state that a killed
 * process leaves, and when files are brought up to date. */
#ifndef DP_REC_SAVE_H
#define DP_REC_SAVE_H

#include "dp_rec.h"

/* Makes the state in the pieces. Returns 0 or DP_E_NOMEM. */
int dp_rec_save_open_state(struct dp_rec *rec);
/* Notes in the pieces, for their readers, what the text has. */
void dp_rec_save_tell_state(struct dp_rec *rec);

/* Puts a mark of any kind, and its counters, into the window. Returns its end. */
uint64_t *dp_rec_save_put_mark(struct dp_rec *rec, uint64_t mark);
/* Opens a stretch of marks whose waiting will be known at the next reading; closing it notes how
 * long it waited. */
void dp_rec_save_open_reading(struct dp_rec *rec, uint64_t gap, uint64_t wait);
void dp_rec_save_close_reading(struct dp_rec *rec);

/* Clears the window of marks, and begins a new one. */
void dp_rec_save_clear_window(struct dp_rec *rec);
/* Hands the window to the writer and starts a new one. Returns 0 or an error. */
int dp_rec_save_write_window(struct dp_rec *rec, uint64_t now);

/* Is a checkpoint due? */
bool dp_rec_save_is_due(const struct dp_rec *rec, uint64_t now);
/* Calls `save`. The caller has taken in all that has passed. */
void dp_rec_save_now(struct dp_rec *rec, uint64_t now);

#endif
