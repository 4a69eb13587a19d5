/* Reads one file into a consumer, and keeps what is to be told of the file afterwards: header,
 * error, frames left open. The stack of frames lives here. */
#ifndef DP_FILE_H
#define DP_FILE_H

#include "dp_base.h"
#include "dp_map.h"
#include "dp_reader.h"
#include "dp_subs.h"
#include "dprof/profile.h"

enum { DP_FILE_LISTED = 1 << 17, DP_FILE_ODD = 1000 };

/* A running call. The consumer says where it stands; entered is the sub that began the call, before
 * any goto. */
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
    uint64_t inherited;         /* entries to come that are no calls */
    uint64_t open;
    uint32_t *open_subs;        /* owned */
    size_t open_listed;
    uint32_t *odd;              /* owned; pairs, see struct dp_outcome */
    size_t odd_pairs, odd_cap;
    struct dp_map odd_seen;
    uint64_t carry[DP_METRICS]; /* of the divisions of the classic recorder's cost */
};

int dp_file_init(struct dp_file *file, const char *path, unsigned flags);
void dp_file_release(struct dp_file *file);

/* The bytes of a file in memory, and the bytes of the .live that its process left beside it. */
struct dp_file_mem {
    const void *ptr, *left;     /* borrowed; left: or NULL */
    size_t len, left_len;
};

/* Reads the file: from memory if mem is given, else by its path. */
int dp_file_read(struct dp_file *file, const struct dp_consumer *to, const struct dp_file_mem *mem);
int dp_file_read_header(struct dp_file *file);

/* Takes the classic recorder's cost off the times of events, if the header tells one. */
void dp_file_subtract_cost(struct dp_file *file, struct dp_event *ev, size_t n);

/* Which of the nameless subs of one place is which, a file says only at its end. So where calls are
 * printed as they are read, and the file can be read twice, its names are read before its calls:
 * into `subs`, which has none yet. What is wrong with the file is told by the second reading.
 * Returns 0 or DP_E_NOMEM. */
int dp_file_order_subs(struct dp_subs *subs, const char *path, const struct dp_file_mem *mem,
                       unsigned flags);

/* For a consumer's `tree`, where calls are printed one by one: stores why a tree cannot be.
 * instead, rest: what is to be done about a file that is no trace, and about the end of a trace
 * that is none. Returns the code. */
int dp_file_no_order(const struct dp_file *file, const char *instead, const char *rest,
                     struct dp_err *err);

/* An exit named another sub than the one that it ended. Remembers the pair, if the pair is new. */
int dp_file_odd_exit(struct dp_file *file, uint32_t named, uint32_t ended);

void dp_file_outcome(const struct dp_file *file, struct dp_outcome *out);

#endif
