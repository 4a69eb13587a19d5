/* Directories by descriptor: what is opened below one, and what is refused. Where other users
 * can make names in a directory, a path that is looked up twice may be another file the second
 * time; a name below a descriptor, opened once without following links, is what it was found to
 * be. */
#ifndef DP_DIR_H
#define DP_DIR_H

#include "dp_base.h"
#include "dp_err.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Has a person named the directory? Then it may be a symbolic link, and anybody's. Else it must be
 * a directory of this user's (the effective one) or of root's. */
enum dp_dir_who { DP_DIR_UNNAMED, DP_DIR_NAMED };

/* Opens a directory. Returns its descriptor, which the caller closes, close-on-exec; DP_E_ARG if it
 * is not such a directory, with a message that says why ("is a symbolic link"); or DP_E_IO with
 * errno as the system left it. The functions below have these results, too. */
int dp_dir_open(const char *path, enum dp_dir_who who, struct dp_err *err);

/* Opens the directory that a path stands in; *name is the rest of the path, borrowed. Also
 * DP_E_NOMEM. */
int dp_dir_of(const char *path, enum dp_dir_who who, const char **name, struct dp_err *err);

/* What is in a directory, as readdir gives it; closedir ends it. NULL with errno. */
DIR *dp_dir_list(int dir);

/* In what follows a name is a single one: with a slash, `.` or `..` it is DP_E_ARG. */

/* Opens a directory below another, of this user's or root's; makes it if `make` says so. */
int dp_dir_below(int dir, const char *name, bool make, struct dp_err *err);

/* Opens a file for reading: a regular one that has no other name, since a hard link is as good as a
 * symbolic one; of this user's, of root's, or of one of n further users'. st: that of the file. */
int dp_dir_read(int dir, const char *name, const uid_t *users, size_t n, struct stat *st,
                struct dp_err *err);

/* Makes a new file, for reading and writing; DP_E_IO with EEXIST if the name is there. */
int dp_dir_create(int dir, const char *name, mode_t mode, struct dp_err *err);

/* Opens a file of this user's or root's for reading and writing; makes it, with that mode, if it is
 * not there. */
int dp_dir_keep(int dir, const char *name, mode_t mode, struct dp_err *err);

/* Removes a name, if it still is that of the file with this device and inode number. Returns 0. */
int dp_dir_remove(int dir, const char *name, dev_t dev, ino_t ino, struct dp_err *err);

/* Gives a file another name, perhaps in another directory, in place of a file that has it. Returns
 * 0. */
int dp_dir_rename(int dir, const char *name, int to_dir, const char *to, struct dp_err *err);

#endif
