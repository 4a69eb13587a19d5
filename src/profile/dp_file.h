/* Reads one file into a consumer, and keeps what is to be told of the file afterwards: header,
 * error, frames left open. The stack of frames lives here. */
#ifndef DP_FILE_H
#define DP_FILE_H

#include "dp_base.h"
#include "dp_map.h"
#include "dp_reader.h"
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

/* An exit named another sub than the one that it ended. Remembers the pair, if the pair is new. */
int dp_file_odd_exit(struct dp_file *file, uint32_t named, uint32_t ended);

void dp_file_outcome(const struct dp_file *file, struct dp_outcome *out);

#endif
