/* A run's files beside its first: PATH.PID and PATH.PID.TID, of forked children and of threads.
 * They are renamed and removed with the first, so that a directory does not fill with files of runs
 * that are gone. */
#ifndef DP_ROTATE_H
#define DP_ROTATE_H

#include "dp_base.h"

enum { DP_RUN_ID = 40 };

/* Is the file a profile, or empty as mktemp makes it, and so free to be used? Reads only the
 * beginning of the file. */
bool dp_rotate_is_ours(int fd);

/* Finds the run that a profile belongs to, from $dprof_run in its header. Returns false if the file
 * is no profile, or its header names no run. Reads only the beginning of the file. */
bool dp_rotate_run(int fd, char run[DP_RUN_ID]);

/* Rotates the files of a run, when its first file moves from path to old: removes the files
 * old.PID[.TID] of old_run, and renames the files path.PID[.TID] of run to old.PID[.TID], each with
 * its .live. An empty name is no run. Files that a process still writes, links, and files that do
 * not belong to these runs stay as they are. Reads the directory once. */
void dp_rotate(const char *path, const char *old, const char *run, const char *old_run);

/* Renames path.live, which a killed process left beside its profile, to old.live. If there is no
 * path.live, removes old.live. */
void dp_rotate_live(const char *path, const char *old);

#endif
