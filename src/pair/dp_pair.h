/* Finds the subs of several profiles that are the same. It compares names that remain stable when a
 * checkout moves, when code moves, when string evals get new numbers, and when subs are renamed. */
#ifndef DP_PAIR_H
#define DP_PAIR_H

#include "dp_base.h"
#include "dp_pool.h"
#include "dp_prof.h"
#include "dprof/pair.h"

/* The names of a profile, by sub. */
struct dp_pair_prof {
    const struct dp_prof *prof;
    uint32_t side;
    uint32_t *label, *package, *file;   /* numbers of texts */
};

struct dp_pairs {
    struct dp_pool texts;       /* text 0 is empty */
    struct dp_pair_prof *profs;
    size_t n_profs;
    struct dp_map moved;        /* label -> text of FILE:LINE in the baseline, if that was another
                                 * place */
};

/* Pairs the subs of profiles. Side 0 is the baseline; profiles of greater sides come later.
 *
 * Files: `(eval 12)` becomes `(eval)`; how->bases are removed. A file that only one side has pairs
 * with the baseline's file that ends in the same folders and name. Anonymous subs (and END) pair by
 * package, by enclosing named sub or, if there is none, by file, and by their order within it. If
 * one side has more of them than the other, those pair whose distances in lines agree best. Returns
 * 0 or DP_E_NOMEM; the caller releases *pairs. */
int dp_pairs_make(struct dp_pairs *pairs, const struct dp_pair_side *sides, size_t n,
                  const struct dp_pair_how *how);
void dp_pairs_release(struct dp_pairs *pairs);

/* The place of a label's sub in the baseline; NULL if it was at the same place, or was missing. */
const struct dp_name *dp_pairs_moved_from(const struct dp_pairs *pairs,
                                          const struct dp_name *label);

#endif
