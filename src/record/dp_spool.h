/* A spool: a directory where recorders leave the slices of their profiles, for a program that takes
 * them elsewhere. DIR/NAME-RUN-PID-TID-SLICE.part is being written, and is locked by flock() while
 * its process lives; DIR/....tree is whole. */
#ifndef DP_SPOOL_H
#define DP_SPOOL_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_dir.h"
#include "dp_err.h"

#define DP_SPOOL_PART   ".part"
#define DP_SPOOL_WHOLE  ".tree"

enum { DP_SPOOL_NAME = 64 };    /* most bytes of a program's name in a file's */

/* `who` below: has the user named the directory? The one that nobody has named may be in a folder
 * where others can make names, so it must be no symbolic link, and this user's or root's, each time
 * that it is opened. */

/* Makes the directory (absolute path) if there is none; what is above it must be there. Returns 0,
 * or DP_E_ARG or DP_E_IO with a message. */
int dp_spool_make(const char *dir, enum dp_dir_who who, struct dp_err *err);

/* Appends a program's name as a file's name may have it: its last part without a suffix of one
 * to three letters; other bytes than letters, digits, `.` and `_` become `_`. */
void dp_spool_name(struct dp_buf *to, const char *program);

/* Gives a slice its final name: `part` ends in DP_SPOOL_PART. Returns 0 or DP_E_IO; errno tells
 * why. */
int dp_spool_finish(const char *part, enum dp_dir_who who);

/* Removes the oldest slices until this user's files in the directory take at most `limit` bytes; 0:
 * no limit, and nothing is looked at. Other users' files neither count nor go. Removes each
 * NAME.part.live, too, whose slice is NAME.tree already: a process that was killed in the middle of
 * a cut leaves it, with nothing that the slice does not have. What belongs to a process that lives
 * stays, and what is no file of ours. Returns how many slices were removed. Needs memory for a
 * record of each slice, and removes none where there is none. */
size_t dp_spool_trim(const char *dir, enum dp_dir_who who, uint64_t limit);

#endif
