/* Finds out which subs of several profiles are the same one. It compares names that stay when a
 * checkout moves, when code moves, when string evals are counted anew, when subs were renamed. */
#ifndef DP_PAIR_H
#define DP_PAIR_H

#include "dp_base.h"
#include "dp_pool.h"
#include "dp_prof.h"
#include "dprof/pair.h"

/* What a profile has, by sub. */
struct dp_pair_prof {
    const struct dp_prof *prof;
    uint32_t side;
    uint32_t *label, *package, *file;   /* numbers of texts */
};

struct dp_pairs {
    struct dp_pool texts;       /* 0 is the empty one */
    struct dp_pair_prof *profs;
    size_t n_profs;
    struct dp_map moved;        /* label -> text of FILE:LINE in the baseline, if that was another
                                 * place */
};

/* Pairs the subs of profiles; side 0 is the baseline, and a profile of greater side comes later.
 *
 * Files: `(eval 12)` is `(eval)`; how->bases are taken off; a file that only one side has pairs
 * with the one of the baseline that ends in the same folders and name. Anonymous subs (and END)
 * pair by package, enclosing named sub, or file where there is none, and their order within it;
 * where one side has more of them than the other, those whose distances in lines agree best are
 * paired. Returns 0 or DP_E_NOMEM; the caller releases it. */
int dp_pairs_make(struct dp_pairs *pairs, const struct dp_pair_side *sides, size_t n,
                  const struct dp_pair_how *how);
void dp_pairs_release(struct dp_pairs *pairs);

/* Where the sub of a label was in the baseline; NULL if it was at the same place, or was not
 * there. */
const struct dp_name *dp_pairs_moved_from(const struct dp_pairs *pairs,
                                          const struct dp_name *label);

#endif
