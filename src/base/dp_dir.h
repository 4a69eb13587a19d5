/* Directories by descriptor: opens files below a directory, and refuses unsafe ones. If other users
 * can create names in a directory, a path may refer to another file at the second lookup. A name
 * below a descriptor, opened once without following links, keeps referring to the file that was
 * checked. */
#ifndef DP_DIR_H
#define DP_DIR_H

#include "dp_base.h"
#include "dp_err.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Did a person name the directory? Then it may be a symbolic link, and anybody's. Otherwise it must
 * be a directory of this (effective) user or of root. */
enum dp_dir_who { DP_DIR_UNNAMED, DP_DIR_NAMED };

/* Opens a directory. Returns its descriptor, close-on-exec, which the caller closes; DP_E_ARG if it
 * is not such a directory, with a message that says why ("is a symbolic link"); or DP_E_IO with the
 * system's errno. The following functions have these results, too. */
int dp_dir_open(const char *path, enum dp_dir_who who, struct dp_err *err);

/* Opens the directory that contains a path; *name is the rest of the path, borrowed. May also
 * return DP_E_NOMEM. */
int dp_dir_of(const char *path, enum dp_dir_who who, const char **name, struct dp_err *err);

/* Lists a directory, for readdir; closedir ends it. NULL with errno. */
DIR *dp_dir_list(int dir);

/* In the following functions a name is a single one: a slash, `.` or `..` gives DP_E_ARG. */

/* Opens a directory of this user or root below another one; creates it if `make` is set. */
int dp_dir_below(int dir, const char *name, bool make, struct dp_err *err);

/* Opens a file for reading. It must be a regular file without another name, because a hard link is
 * as dangerous as a symbolic one. It must belong to this user, to root, or to one of n further
 * users. st: receives the file's status. */
int dp_dir_read(int dir, const char *name, const uid_t *users, size_t n, struct stat *st,
                struct dp_err *err);

/* Creates a new file, for reading and writing; DP_E_IO with EEXIST if the name exists. */
int dp_dir_create(int dir, const char *name, mode_t mode, struct dp_err *err);

/* Opens a file of this user or root for reading and writing; creates it, with that mode, if it does
 * not exist. */
int dp_dir_keep(int dir, const char *name, mode_t mode, struct dp_err *err);

/* Removes a name, if it still belongs to the file with this device and inode number. Returns 0. */
int dp_dir_remove(int dir, const char *name, dev_t dev, ino_t ino, struct dp_err *err);

/* Renames a file, perhaps into another directory; replaces an existing file. Returns 0. */
int dp_dir_rename(int dir, const char *name, int to_dir, const char *to, struct dp_err *err);

#endif
