/* A file that a recorder writes inside of somebody else's process. The program may close our
 * descriptor, use its number for a file of its own, change directory, or run out of disk. Still it
 * must not notice us. */
#ifndef DP_OUTFILE_H
#define DP_OUTFILE_H

#include "dp_base.h"
#include "dp_err.h"
#include "dp_gzip.h"

#include <sys/types.h>

struct dp_outfile {
    int fd;                 /* -1: not open */
    bool regular;           /* can be patched and measured */
    dev_t dev;              /* the file that the descriptor must still refer to */
    ino_t ino;
    uint64_t size;          /* bytes written */
    uint64_t text;          /* the same before packing */
    char *path;             /* absolute */
    bool failed;            /* nothing more is written */
    struct dp_gzip *gzip;   /* packs the text; borrowed; NULL: no packing */
};

enum dp_outfile_flags {
    DP_OUT_NOFOLLOW = 1,    /* a regular file, never through a symbolic link: the user has not named
                             * it */
    DP_OUT_KEEP_OLD = 2,    /* an earlier profile becomes NAME.old */
    DP_OUT_UNNAMED_DIR = 4  /* a new file, in a directory that passes DP_DIR_UNNAMED */
};

void dp_outfile_init(struct dp_outfile *of);

/* Creates path for writing, close-on-exec, with a descriptor above 100. An earlier profile at path
 * is renamed to path.old (dp_rotate renames the others of its run), or overwritten without
 * DP_OUT_KEEP_OLD; if a live run holds it, path.PID is written instead. A device or pipe is written
 * to. Errors: DP_E_ARG for what the user must correct before the program starts (a foreign file, a
 * symbolic link, a directory); DP_E_IO for what prevents writing; DP_E_NOMEM. */
int dp_outfile_open(struct dp_outfile *of, const char *path, int flags, struct dp_err *err);

/* Could dp_outfile_open open path? Finds out as far as that is possible without creating, renaming
 * or opening for writing. The errors and messages are the same. */
int dp_outfile_check(const char *path, int flags, struct dp_err *err);

/* Writes all of the text, or returns an error; then the file ends with the last whole line that
 * fit. Never raises a signal. After an error, further writes do nothing and return 0: one message
 * is enough. */
int dp_outfile_write(struct dp_outfile *of, const char *ptr, size_t len, struct dp_err *err);

/* Writes text that will be overwritten later; *at: its offset in the file. Such text is not packed,
 * and in a packed file it may have at most DP_GZIP_STORED bytes. Returns 0 or a DP_E; 0, and does
 * nothing, if an earlier write has failed. */
int dp_outfile_write_fixed(struct dp_outfile *of, const char *ptr, size_t len, uint64_t *at,
                           struct dp_err *err);

/* Overwrites text of dp_outfile_write_fixed with as many bytes. Returns 0, or DP_E_IO, for example
 * if the file cannot seek. */
int dp_outfile_patch(struct dp_outfile *of, uint64_t at, const char *ptr, size_t len);

/* Cuts off the bytes beyond size. */
void dp_outfile_cut(struct dp_outfile *of, uint64_t size);

/* Opens the twin of a file: a new file beside it, NAME.new, with its owner, its mode, a lock and
 * its first `keep` bytes. The twin is meant to replace the file. Returns 0, or DP_E_IO or
 * DP_E_NOMEM with errno set: then nothing has changed. */
int dp_outfile_twin(struct dp_outfile *of, struct dp_outfile *twin, uint64_t keep);

/* The twin takes the file's place and name; readers find one of the two, whole. Returns 0, or
 * DP_E_IO: then the twin is gone, and nothing else has changed. */
int dp_outfile_replace(struct dp_outfile *of, struct dp_outfile *twin);

/* Removes a twin that shall not replace the file. */
void dp_outfile_discard(struct dp_outfile *twin);

/* Is the file still there under its name? */
bool dp_outfile_is_there(const struct dp_outfile *of);

void dp_outfile_close(struct dp_outfile *of);

/* Closes the descriptor if it is still ours, and nothing else.
 * Async-signal-safe: for a child right after fork. */
void dp_outfile_drop(struct dp_outfile *of);

/* The file's absolute path from a name and the current directory. Caller frees with dp_mem_free;
 * NULL: memory is short. */
char *dp_outfile_absolute(const char *path);

#endif
