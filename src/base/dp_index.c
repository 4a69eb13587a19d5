#include "dp_index.h"
#include "dp_err.h"
#include "dp_mem.h"

#include <string.h>

enum { LEAST = 256 };       /* slots */

void dp_index_init(struct dp_index *index)
{
    memset(index, 0, sizeof *index);
}

void dp_index_release(struct dp_index *index)
{
    dp_mem_free(index->slots);
    dp_index_init(index);
}

/* Returns whether the table has room for `more` further entries. At most two thirds of the slots
 * are used; otherwise probing takes long. */
static bool has_room(const struct dp_index *index, size_t more)
{
    return (index->used + more) * 3 <= index->n * 2;
}

int dp_index_room(struct dp_index *index, size_t more)
{
    struct dp_index to = *index;
    if (has_room(index, more))
        return 0;
    /* by half and by a third in turn, because for a file of millions little else is in memory */
    while (!has_room(&to, more))
        to.n = !to.n ? LEAST : to.n & (to.n - 1) ? to.n / 3 * 4 : to.n / 2 * 3;
    to.slots = dp_mem_realloc(NULL, to.n, sizeof *to.slots);
    if (!to.slots)
        return DP_E_NOMEM;
    memset(to.slots, 0xff, to.n * sizeof *to.slots);    /* all are free */
    to.used = 0;
    for (size_t i = 0; i < index->n; i++) {
        const struct dp_index_slot *slot = &index->slots[i];
        if (slot->value != DP_INDEX_NONE)
            dp_index_add(&to, (uint64_t)slot->high << 32 | slot->low, slot->value);
    }
    dp_mem_free(index->slots);
    *index = to;
    return 0;
}
