/* A run's files beside its first: PATH.PID and PATH.PID.TID, of forked children and of threads.
 * They are renamed and removed with the first, so that a directory does not fill with files of runs
 * that are gone. */
#ifndef DP_ROTATE_H
#define DP_ROTATE_H

#include "dp_base.h"

enum { DP_RUN_ID = 40 };

/* Is it a profile, or an empty file as mktemp makes it, which is free to be used? Reads the
 * beginning of the file alone. */
bool dp_rotate_is_ours(int fd);

/* The run that a profile belongs to, as its header says ($dprof_run), terminated. False: the file
 * is none of ours, or says nothing. Reads the beginning of the file alone. */
bool dp_rotate_run(int fd, char run[DP_RUN_ID]);

/* The first file of the run moves from path to old. What was called old.PID[.TID] and is of old_run
 * is removed; what is called path.PID[.TID] and is of run becomes old.PID[.TID]. Each with what
 * stands beside it (.live). An empty name is no run. Files that a process still writes, links, and
 * files that do not belong to these runs stay as they are. Reads the directory once. */
void dp_rotate(const char *path, const char *old, const char *run, const char *old_run);

/* What a killed process left beside its profile goes with that: path.live to old.live, which goes
 * if there is none. */
void dp_rotate_live(const char *path, const char *old);

#endif
