/* The labels of subs: the name that a view shows for each sub. */
#ifndef DP_NAMES_H
#define DP_NAMES_H

#include "dp_base.h"
#include "dp_pool.h"
#include "dp_subs.h"
#include "dprof/profile.h"

struct dp_names {
    struct dp_pool pool;        /* the number of a label is that of its name */
    uint32_t *of_sub;
    size_t subs;
};

/* Makes the labels of all subs of a table, or returns NULL if memory is short. */
struct dp_names *dp_names_new_of(const struct dp_subs *subs, unsigned label_flags);

#endif
