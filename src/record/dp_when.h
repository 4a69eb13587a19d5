/* When the samples of a tree were taken: stretches of time, each with the context that ran. So a
 * tree of samples has a time axis, in bounded memory. */
#ifndef DP_WHEN_H
#define DP_WHEN_H

#include "dp_base.h"
#include "dp_buf.h"

enum { DP_WHEN_MOST = 1 << 16 };        /* stretches; with more of them, the unit doubles */

/* A stretch of time, in units of 2^halved of those that dp_when_add takes. */
struct dp_when_stretch {
    uint64_t from, to;          /* from < to */
    uint32_t node;              /* number of the context */
};

struct dp_when {
    struct dp_when_stretch *at; /* in the order in which they were added */
    size_t n, cap;
    unsigned halved;
};

/* Adds a stretch of a context. One that is shorter than a unit may be left out, and so is any if
 * memory is short. */
void dp_when_add(struct dp_when *when, uint32_t node, uint64_t from, uint64_t to);
/* Removes all stretches; keeps the memory. */
void dp_when_clear(struct dp_when *when);
void dp_when_release(struct dp_when *when);

/* How to turn units of dp_when_add into those of a file. */
struct dp_when_text {
    double ticks;               /* of a unit of dp_when_add; 0: stretches are not written */
    double zero;                /* ticks before the beginning of the file */
    uint64_t unit;              /* ticks of a unit of the file */
};

/* Returns a copy that is sorted by context, then by time, for dp_when_write. The caller frees it.
 * NULL: memory is short. */
struct dp_when_stretch *dp_when_sorted(const struct dp_when *when);

/* Appends the stretches of a context, of n sorted ones, as Format.pod describes them at `when=`;
 * nothing if there are none. */
void dp_when_write(const struct dp_when_stretch *sorted, size_t n, unsigned halved, uint32_t node,
                   const struct dp_when_text *how, struct dp_buf *out);

#endif
