/* Subs of several profiles that are the same. */
#ifndef DPROF_PAIR_H
#define DPROF_PAIR_H

#include "dprof/profile.h"

struct dp_pairs;

struct dp_pair_side {
    const struct dp_prof *prof;
    uint32_t side;              /* 0: the baseline */
};

/* A sub with another name in later profiles; with `::` at its end, a package with everything
 * below. */
struct dp_rename {
    const char *from, *to;
    size_t from_len, to_len;
};

#define DP_PAIR_OPTIONS(X) \
    X(LABELS, label_flags)      /* with DP_LABEL_SEPARATE, anonymous subs are paired one by \
                                 * one */ \
    X(LIST, renames, dp_rename) \
    X(TEXTS, bases)             /* folders that file names are relative to */
struct dp_pair_how { DP_PAIR_OPTIONS(DP_MEMBER) };

/* Hands over the paired labels, sub by sub, profile by profile, as dprofdiff shows them. fn returns
 * 0, or a negative number to stop. Returns 0 or a DP_E. */
typedef int dp_pair_label_fn(void *ctx, size_t side, const char *ptr, size_t len);
int dp_pair_labels(const struct dp_pair_side *sides, size_t n, const struct dp_pair_how *how,
                   dp_pair_label_fn *fn, void *ctx);

#endif
