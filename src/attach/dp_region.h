/* The mappings of a target: which file is where in its memory. */
#ifndef DP_REGION_H
#define DP_REGION_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_target.h"

struct dp_region {
    dp_addr start, end;
    uint64_t offset;            /* in the file */
    size_t path;                /* where its name begins in `names`; 0: no file */
    bool is_writable;
};

struct dp_regions {
    struct dp_region *at;
    size_t count, cap;
    struct dp_buf names;        /* each with a NUL behind it; the first one is empty */
};

void dp_regions_init(struct dp_regions *r);
void dp_regions_release(struct dp_regions *r);

/* Adds a mapping. path: len bytes, 0 for memory of no file. Returns 0 or DP_E_NOMEM. */
int dp_regions_add(struct dp_regions *r, const struct dp_region *region, const char *path,
                   size_t len);

/* Adds the mappings of a text like /proc/PID/maps. Returns 0 or DP_E_NOMEM. */
int dp_regions_parse(struct dp_regions *r, const char *text, size_t len);

/* The name of a mapping's file; "" if it has none. */
static inline const char *dp_regions_path(const struct dp_regions *r,
                                          const struct dp_region *region)
{
    return r->names.ptr + region->path;
}

/* Opens the file behind a mapping for reading. Returns a descriptor, or -1. */
typedef int dp_region_open_fn(void *from, const struct dp_regions *regions,
                              const struct dp_region *region);

#endif
