/* Limits the depth of stacks in formats that repeat a whole stack for each of its frames. */
#include "dp_stacks.h"
#include "dp_err.h"
#include "dp_mem.h"

/* The stacks of all depths together are as long as the square of the deepest one. Beyond FRAMES
 * frames, deep stacks are printed by their two ends. Stacks that are not deep are printed whole,
 * whatever their number. */
enum { FRAMES = 1 << 24, LEAST = 128 };

/* Has the frame a value of its own in any column? */
static bool has_value(const struct dp_stacks *s, uint32_t frame)
{
    for (size_t c = 0; c < s->n_columns; c++)
        if (dp_stacks_self(s, frame, c))
            return true;
    return false;
}

int dp_stacks_depths(const struct dp_stacks *s, uint32_t **depth, struct dp_stacks_ends *ends)
{
    uint32_t deepest = 0, *deep = dp_mem_zalloc((s->count + 1) * sizeof *deep);
    if (!deep)
        return DP_E_NOMEM;
    for (size_t i = 1; i < s->count; i++) {
        deep[i] = deep[s->frames[i].parent] + 1;
        deepest = deep[i] > deepest ? deep[i] : deepest;
    }
    uint32_t *ending = dp_mem_zalloc(((size_t)deepest + 2) * sizeof *ending);
    if (!ending) {
        dp_mem_free(deep);
        return DP_E_NOMEM;
    }
    size_t left = 0;
    for (uint32_t i = 1; i < s->count; i++)
        if (has_value(s, i)) {
            ending[deep[i]]++;
            left++;
        }
    uint64_t frames = 0;
    ends->most = deepest;
    for (uint32_t d = 1; d <= deepest; left -= ending[d++])
        if ((frames += left) > FRAMES) {        /* number of stacks that have a frame at this
                                                 * depth */
            ends->most = d > LEAST ? d : LEAST;
            break;
        }
    ends->head = ends->most / 2;
    ends->tail = ends->most ? ends->most - 1 - ends->head : 0;
    dp_mem_free(ending);
    *depth = deep;
    return 0;
}
