/* The requests of a server that had one name: how many there were, and how long they took. */
#ifndef DP_REQUESTS_H
#define DP_REQUESTS_H

#include "dp_base.h"
#include "dp_buf.h"

#define DP_REQUESTS_LINE "#r "
#define DP_REQUESTS_SERVER "#a "         /* a sub above the application */

enum {
    /* A bucket is a sixteenth of a power of two. Bucket 0 has the requests below 1,024 ns, and the
     * last bucket those of half an hour or longer. */
    DP_REQUESTS_LEAST = 10, DP_REQUESTS_PARTS = 16, DP_REQUESTS_POWERS = 31,
    DP_REQUESTS_BUCKETS = 1 + DP_REQUESTS_PARTS * DP_REQUESTS_POWERS
};

struct dp_requests {
    uint64_t seen, kept;        /* kept: the number whose calls are in the profile */
    uint64_t ns, longest;       /* the sum of their times, and the longest one */
    uint64_t count[DP_REQUESTS_BUCKETS];
};

/* Counts a request that took ns. */
void dp_requests_count(struct dp_requests *to, uint64_t ns, bool is_kept);

/* Adds the requests of another file. */
void dp_requests_add(struct dp_requests *to, const struct dp_requests *from);

/* The time in ns below which this share of the requests took, from 0 to 1: the middle of a bucket,
 * which is wrong by 3 % at most. 0 without requests. */
uint64_t dp_requests_quantile(const struct dp_requests *of, double share);

/* Appends a line (Format.pod, "#r") with the name, which is UTF-8. */
void dp_requests_write(struct dp_buf *buf, const char *name, size_t len,
                       const struct dp_requests *of);

/* Appends a line with a sub of the server that calls the application: PACKAGE::NAME in UTF-8. */
void dp_requests_server(struct dp_buf *buf, const char *name, size_t len);

#endif
