/* Reads one file into a consumer, and keeps what is reported about the file afterwards: header,
 * error, frames left open. It owns the stack of frames. */
#ifndef DP_FILE_H
#define DP_FILE_H

#include "dp_base.h"
#include "dp_map.h"
#include "dp_reader.h"
#include "dp_subs.h"
#include "dprof/profile.h"

enum { DP_FILE_LISTED = 1 << 17, DP_FILE_ODD = 1000 };

/* A running call. The consumer decides what `at` means. `entered` is the sub that began the call,
 * before any goto. */
struct dp_frame {
    uint32_t node;
    uint32_t entered;
};

struct dp_file {
    char *path;
    struct dp_header head;
    struct dp_read_info info;
    struct dp_err err;
    int code, sys_errno;
    bool force;
    uint64_t inherited;         /* number of later entries that are not calls */
    uint64_t open;
    uint32_t *open_subs;        /* owned */
    size_t open_listed;
    uint32_t *odd;              /* owned; pairs, see struct dp_outcome */
    size_t odd_pairs, odd_cap;
    struct dp_map odd_seen;
    uint64_t carry[DP_METRICS]; /* remainders from dividing the classic recorder's cost */
};

/* Make the record of a file that is to be read, and free what a record holds. Returns 0 or
 * DP_E_NOMEM. */
int dp_file_init(struct dp_file *file, const char *path, unsigned flags);
void dp_file_release(struct dp_file *file);

/* A file in memory, and the .live that its process left with it. */
struct dp_file_mem {
    const void *ptr, *left;     /* borrowed; left: or NULL */
    size_t len, left_len;
};

/* Reads a file: from memory if mem is given, else from its path. */
int dp_file_read(struct dp_file *file, const struct dp_consumer *to, const struct dp_file_mem *mem);
int dp_file_read_header(struct dp_file *file);

/* Subtracts the classic recorder's cost from the times of events, if the header has the cost. */
void dp_file_subtract_cost(struct dp_file *file, struct dp_event *ev, size_t n);

/* Reads the names of a file before its calls, into `subs`, which is empty. Only at its end does a
 * file say which of the nameless subs of one place is which. So a tool that prints calls while it
 * reads them needs the names first, if the file can be read twice. Errors are left to the second
 * reading. Returns 0 or DP_E_NOMEM. */
int dp_file_order_subs(struct dp_subs *subs, const char *path, const struct dp_file_mem *mem,
                       unsigned flags);

/* For a consumer's `tree`, if calls are printed one by one: stores why a tree cannot be printed.
 * instead, rest: the advice for a file that is no trace, and for the end of a trace that is none.
 * Returns the code. */
int dp_file_no_order(const struct dp_file *file, const char *instead, const char *rest,
                     struct dp_err *err);

/* Remembers, once, a pair of subs: an exit that names another sub than the one that ended. */
int dp_file_odd_exit(struct dp_file *file, uint32_t named, uint32_t ended);

/* Fills in the outcome of reading a file, as callers of the library see it. Its texts are borrowed
 * from the file. */
void dp_file_outcome(const struct dp_file *file, struct dp_outcome *out);

#endif
