#include "dp_requests.h"
#include "dp_fmt.h"

#include <inttypes.h>

/* Returns the number of the bucket for a duration. Each power of two is divided into the same
 * number of buckets. */
static unsigned bucket_of(uint64_t ns)
{
    if (ns >> DP_REQUESTS_LEAST == 0)
        return 0;
    unsigned power = 63 - (unsigned)__builtin_clzll(ns);
    unsigned part = (unsigned)(ns >> (power - 4)) % DP_REQUESTS_PARTS;
    unsigned n = 1 + (power - DP_REQUESTS_LEAST) * DP_REQUESTS_PARTS + part;
    return n < DP_REQUESTS_BUCKETS ? n : DP_REQUESTS_BUCKETS - 1;
}

/* The time in the middle of a bucket, in ns. */
static uint64_t middle_of(unsigned bucket)
{
    if (!bucket)
        return UINT64_C(1) << (DP_REQUESTS_LEAST - 1);
    unsigned power = DP_REQUESTS_LEAST + (bucket - 1) / DP_REQUESTS_PARTS;
    uint64_t width = UINT64_C(1) << (power - 4);
    return (UINT64_C(1) << power) + width * ((bucket - 1) % DP_REQUESTS_PARTS) + width / 2;
}

void dp_requests_count(struct dp_requests *to, uint64_t ns, bool is_kept)
{
    to->seen++;
    to->kept += is_kept;
    to->ns = dp_count_add(to->ns, ns < DP_LIMIT_COUNT ? ns : DP_LIMIT_COUNT);
    to->longest = ns > to->longest ? ns : to->longest;
    to->count[bucket_of(ns)]++;
}

void dp_requests_add(struct dp_requests *to, const struct dp_requests *from)
{
    to->seen = dp_count_add(to->seen, from->seen);
    to->kept = dp_count_add(to->kept, from->kept);
    to->ns = dp_count_add(to->ns, from->ns);
    to->longest = from->longest > to->longest ? from->longest : to->longest;
    for (unsigned i = 0; i < DP_REQUESTS_BUCKETS; i++)
        to->count[i] = dp_count_add(to->count[i], from->count[i]);
}

uint64_t dp_requests_quantile(const struct dp_requests *of, double share)
{
    double all = 0, below = 0;
    for (unsigned i = 0; i < DP_REQUESTS_BUCKETS; i++)
        all += (double)of->count[i];
    for (unsigned i = 0; i < DP_REQUESTS_BUCKETS; i++) {
        below += (double)of->count[i];
        if (of->count[i] && below >= share * all)
            return middle_of(i) < of->longest ? middle_of(i) : of->longest;
    }
    return 0;
}

void dp_requests_write(struct dp_buf *buf, const char *name, size_t len,
                       const struct dp_requests *of)
{
    dp_buf_adds(buf, DP_REQUESTS_LINE);
    dp_fmt_field(buf, name, len);
    dp_buf_addf(buf, " seen=%" PRIu64 " kept=%" PRIu64 " ns=%" PRIu64 " longest=%" PRIu64, of->seen,
                of->kept, of->ns, of->longest);
    for (unsigned i = 0; i < DP_REQUESTS_BUCKETS; i++)
        if (of->count[i])
            dp_buf_addf(buf, " %u:%" PRIu64, i, of->count[i]);
    dp_buf_addc(buf, '\n');
}

void dp_requests_server(struct dp_buf *buf, const char *name, size_t len)
{
    dp_buf_adds(buf, DP_REQUESTS_SERVER);
    dp_fmt_field(buf, name, len);
    dp_buf_addc(buf, '\n');
}
