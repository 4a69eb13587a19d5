/* Which name a sub goes by, and what a view does with each name. */
#ifndef DP_NAMES_H
#define DP_NAMES_H

#include "dp_base.h"
#include "dp_pool.h"
#include "dp_subs.h"
#include "dprof/profile.h"

struct dp_names {
    struct dp_pool pool;        /* a label's number is its name's */
    uint32_t *of_sub;
    size_t subs;
};

struct dp_names *dp_names_new_of(const struct dp_subs *subs, unsigned label_flags);

#endif
