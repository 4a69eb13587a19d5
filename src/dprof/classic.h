/* dprofpp's views: the flat table, and the merged call tree. */
#ifndef DPROF_CLASSIC_H
#define DPROF_CLASSIC_H

#include "dprof/profile.h"

/* How a view treats a name. */
#define DP_ROLE_LIST(X) \
    X(DP_KEEP, "keep") X(DP_DROP, "drop") X(DP_GROUP, "group") X(DP_OTHER, "other")
DP_ENUM(dp_role, DP_ROLE_LIST);

#define DP_ORDER_LIST(X) \
    X(DP_BY_TIME, "time") X(DP_BY_CALLS, "calls") X(DP_BY_NAME, "name") \
    X(DP_BY_AVERAGE, "average") X(DP_UNSORTED, "unsorted")
DP_ENUM(dp_order, DP_ORDER_LIST);

#define DP_CLASSIC_OPTIONS(X) \
    X(ENUM, time, dp_metric)    /* a time */ \
    X(ENUM, order, dp_order) \
    X(FLAG, reverse) \
    X(FLAG, inclusive) \
    X(FLAG, no_header) \
    X(FLAG, program) \
    /* times with a suitable unit each; else seconds, in the columns that programs parse */ \
    X(FLAG, human) \
    /* the files belong to processes of one run: says so about their elapsed time */ \
    X(FLAG, summed) \
    X(SIZE, rows)               /* largest number of rows */ \
    X(SIZE, width)              /* of the terminal; 0: no wrapping */ \
    X(SIZE, counter)            /* in place of the time: a counter's number, from 1 up; 0: \
                                 * none */ \
    X(TEXT, counter_label)      /* its label */ \
    X(NAME, group)              /* label of DP_GROUP; NULL: no grouping */ \
    X(OWN, only) \
    X(OWN, roles)
struct dp_classic {
    DP_CLASSIC_OPTIONS(DP_MEMBER)
    long only;                  /* -g: a name, or -1 */
    const unsigned char *roles; /* enum dp_role by name; NULL: keep all */
};

/* Print the table, and the merged tree of -S. Return 0 or a negative DP_E. */
int dp_classic_flat(const struct dp_prof *prof, const struct dp_names *names,
                    const struct dp_classic *how, const struct dp_host *host);
int dp_classic_merged(const struct dp_prof *prof, const struct dp_names *names,
                      const struct dp_classic *how, const struct dp_host *host);

/* One row of the table in ticks, for hosts that need numbers. dp_flat_rows fills in at most max
 * rows in the table's order, and returns the number of all rows, or a DP_E. */
struct dp_row {
    uint32_t name;              /* dp_names_count() and up: the group, the others, (program) */
    uint64_t calls, self, incl;
};
long dp_flat_rows(const struct dp_prof *prof, const struct dp_names *names,
                  const struct dp_classic *how, struct dp_row *rows, size_t max);

#endif
