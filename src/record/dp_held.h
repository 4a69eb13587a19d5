/* Stretches of a recording that are held back. Each is recorded into a tree of its own, which is
 * added to the file's tree when it is known that the stretch was slow, and forgotten when it was
 * not. The file's tree sees the time of a stretch as it sees a pause, until the stretch is added.
 *
 * A file that is written in the middle of a stretch has nothing of it. So a stretch is whole in the
 * file, or slice, in which it is added.
 *
 * A stretch that is left may go on later: several requests of an event loop take turns. Its tree is
 * ordinary memory, which the next stretch uses again. */
#ifndef DP_HELD_H
#define DP_HELD_H

#include "dp_rec.h"

/* Makes a stretch under a number that the host chooses (not 0, and not one that is in use), which
 * is slow when it ends ns or more after now. Nothing goes to it yet. Of a tree only. Returns 0 or
 * DP_E_NOMEM. */
int dp_held_new(struct dp_rec *rec, uint64_t number, uint64_t ns, uint64_t now);

/* Is there a stretch of this number? 0: the file's tree, which is there. */
bool dp_held_is(const struct dp_rec *rec, uint64_t number);

/* The number of the stretch that is recorded; 0: none. */
uint64_t dp_held_number(const struct dp_rec *rec);

/* What runs is recorded into the stretch of this number from arrival stamp now on; 0: into the
 * file's tree. The number must be one that is there. dp_rec_resume for each call that runs
 * follows, unless paused: then all calls are made from rec->marks.cur. The caller sets
 * rec->marks.left. */
void dp_held_turn(struct dp_rec *rec, uint64_t number, uint64_t now);

/* Has a stretch that is there been slow, up to now? */
bool dp_held_is_slow(const struct dp_rec *rec, uint64_t number, uint64_t now);

/* Ends a stretch that is there and is not being recorded: it is added to the file's tree, or
 * forgotten. */
void dp_held_end(struct dp_rec *rec, uint64_t number, bool is_kept);

/* The number of a stretch that has not ended; 0: there is none. */
uint64_t dp_held_any(const struct dp_rec *rec);

#endif
