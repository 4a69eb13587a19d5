#include "dp_line_pair.h"
#include "dp_mem.h"

#include <string.h>

void dp_line_pairs_init(struct dp_line_pairs *lp)
{
    memset(lp, 0, sizeof *lp);
    dp_pool_init(&lp->texts);
    dp_map_init(&lp->of_label);
    dp_map_init(&lp->side_names);
}

void dp_line_pairs_release(struct dp_line_pairs *lp)
{
    for (size_t k = 0; k < lp->n_profs; k++)
        dp_mem_free(lp->profs[k].line);
    dp_mem_free(lp->profs);
    dp_mem_free(lp->lines);
    dp_mem_free(lp->numbers);
    dp_mem_free(lp->guessed);
    dp_map_release(&lp->of_label);
    dp_map_release(&lp->side_names);
    dp_pool_release(&lp->texts);
    dp_line_pairs_init(lp);
}

const struct dp_paired_line *dp_line_pairs_find(const struct dp_line_pairs *lp,
                                                const struct dp_name *label)
{
    uint32_t n = dp_pool_lookup(&lp->texts, label->ptr, label->len);
    const struct dp_map_slot *slot = n == DP_MAP_NONE ? NULL : dp_map_find(&lp->of_label, n);
    return slot ? &lp->lines[slot->value] : NULL;
}

const struct dp_name *dp_line_file(const struct dp_line_pairs *lp,
                                   const struct dp_paired_line *line, uint32_t side)
{
    const struct dp_map_slot *slot = dp_map_find(&lp->side_names,
                                                 (uint64_t)line->file << 32 | side);
    return slot ? dp_pool_name(&lp->texts, slot->value) : NULL;
}
