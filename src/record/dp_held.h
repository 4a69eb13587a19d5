/* Stretches of a recording that are held back. Each is recorded into a tree of its own. If the
 * stretch turns out to be slow, its tree is added to the file's tree, else discarded. For the
 * file's tree, the time of a stretch is a pause until the stretch is added.
 *
 * A file that is written in the middle of a stretch contains no part of it. So a stretch is whole
 * in the file, or slice, in which it is added.
 *
 * A stretch that is left may go on later: several requests of an event loop take turns. Its tree is
 * ordinary memory, which the next stretch uses again. */
#ifndef DP_HELD_H
#define DP_HELD_H

#include "dp_rec.h"

/* Makes a stretch with a number that the host chooses (not 0, and not in use). It is slow if it
 * ends ns or more after now. Nothing is recorded into it yet. Trees only. Returns 0 or
 * DP_E_NOMEM. */
int dp_held_new(struct dp_rec *rec, uint64_t number, uint64_t ns, uint64_t now);

/* Does a stretch of this number exist? 0, the file's tree, always does. */
bool dp_held_is(const struct dp_rec *rec, uint64_t number);

/* The file's tree, also while a stretch is recorded. */
struct dp_cct *dp_held_file_tree(struct dp_rec *rec);

/* The number of the stretch that is recorded; 0: none. */
uint64_t dp_held_number(const struct dp_rec *rec);

/* Records into the stretch of this number from arrival stamp now on; 0: into the file's tree. The
 * stretch must exist. The caller then calls dp_rec_resume for each running call, unless recording
 * is paused: then all calls are made from rec->marks.cur. The caller sets rec->marks.left. */
void dp_held_turn(struct dp_rec *rec, uint64_t number, uint64_t now);

/* Has an existing stretch been slow, up to now? */
bool dp_held_is_slow(const struct dp_rec *rec, uint64_t number, uint64_t now);

/* Ends an existing stretch that is not being recorded. is_kept: adds it to the file's tree; else
 * discards it. */
void dp_held_end(struct dp_rec *rec, uint64_t number, bool is_kept);

/* The number of a stretch that has not ended; 0: there is none. */
uint64_t dp_held_any(const struct dp_rec *rec);

#endif
