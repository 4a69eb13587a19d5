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

/* `who` below: whether the user has named the directory. The default directory may be in a folder
 * where others can make names. So each time that it is opened, it must be no symbolic link, and
 * must belong to this user or root. */

/* Makes the directory (absolute path) if there is none; the directory above it must exist. Returns
 * 0, or DP_E_ARG or DP_E_IO with a message. */
int dp_spool_make(const char *dir, enum dp_dir_who who, struct dp_err *err);

/* Appends a program's name in a form for names of files: its last part without a suffix of one to
 * three letters; bytes other than letters, digits, `.` and `_` become `_`. */
void dp_spool_name(struct dp_buf *to, const char *program);

/* Gives a slice its final name; `part` ends in DP_SPOOL_PART. Returns 0 or DP_E_IO with errno
 * set. */
int dp_spool_finish(const char *part, enum dp_dir_who who);

/* Removes the oldest slices until this user's files in the directory take at most `limit` bytes; 0:
 * no limit, and the directory is not read. Other users' files neither count nor go. Also removes
 * each NAME.part.live whose slice is NAME.tree already: a process that was killed in the middle of
 * a cut leaves it, and the slice has all its data. Files of living processes and foreign files
 * stay. Returns how many slices were removed. Needs memory for a record of each slice, and removes
 * no slice without one. */
size_t dp_spool_trim(const char *dir, enum dp_dir_who who, uint64_t limit);

#endif
