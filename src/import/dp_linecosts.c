#include "dp_linecosts.h"
#include "dp_reader_tree.h"
#include "dp_mem.h"
#include "dprof/lines.h"

#include <string.h>

static const struct dp_linecost nowhere = { DP_SUB_NONE, 0, 0 };

void dp_linecosts_init(struct dp_linecosts *l)
{
    memset(l, 0, sizeof *l);
    dp_map_init(&l->place_of);
    dp_map_init(&l->line_of);
}

void dp_linecosts_release(struct dp_linecosts *l)
{
    dp_mem_free(l->lines);
    dp_mem_free(l->own);
    dp_map_release(&l->place_of);
    dp_map_release(&l->line_of);
    dp_linecosts_init(l);
}

/* The value of a key; a new key gets the given value. */
static int64_t number_of(struct dp_map *map, uint64_t high, uint32_t low, size_t next)
{
    struct dp_map_slot *slot = dp_map_put(map, high << 32 | low);
    if (!slot)
        return DP_E_NOMEM;
    if (slot->value == DP_MAP_NONE)
        slot->value = (uint32_t)next;
    return slot->value;
}

/* The index of a line, which is made if it is new. */
static int64_t index_of(struct dp_linecosts *l, struct dp_linecost at)
{
    size_t n = l->count;
    /* make room first, so that the maps have no entry without its element if something fails */
    if (dp_mem_grow((void **)&l->lines, &l->cap, n + 1, sizeof *l->lines) < 0
        || dp_mem_grow_cleared((void **)&l->own, &l->own_cap, (n + 1) * l->width, sizeof *l->own)
               < 0)
        return DP_E_NOMEM;
    int64_t place = number_of(&l->place_of, at.file, (uint32_t)at.line, l->place_of.used);
    int64_t i = place < 0 ? place : number_of(&l->line_of, (uint64_t)place, at.function, n);
    if (i == (int64_t)n)
        l->lines[l->count++] = at;
    return i;
}

int dp_linecosts_add(struct dp_linecosts *l, struct dp_linecost at, const uint64_t *values)
{
    bool any = false;
    for (size_t k = 0; k < l->width; k++)
        any = any || values[k];
    if (!any)
        return 0;
    if (!at.line || at.line > INT32_MAX)
        at.file = 0, at.line = 0;
    if (l->count >= DP_LIMIT_LINES - 1)
        at = nowhere;
    int64_t n = index_of(l, at);
    if (n < 0)
        return (int)n;
    l->known = l->known || at.line;
    uint64_t *own = l->own + (size_t)n * l->width;
    for (size_t k = 0; k < l->width; k++)
        own[k] = dp_count_add(own[k], values[k]);
    return 0;
}

/* Hands over the costs of line n under the consumer's names. A line whose costs are all 0 is left
 * out. */
static int give_line(struct dp_reader *r, const struct dp_linecosts *l, size_t n,
                     const struct dp_linecosts_names *names)
{
    const struct dp_linecost *at = &l->lines[n];
    uint64_t counters[DP_FMT_COUNTERS];
    struct dp_linedef def = { .has_times = true, .counters = counters, .sub = DP_SUB_NONE };
    if (at->function != DP_SUB_NONE)
        def.sub = names->sub(r, at->function);
    if (!dp_import_values(r, l->own + n * l->width, def.t, counters))
        return 0;
    def.n_counters = r->head->n_counters;
    struct dp_text file = at->line ? names->file(r, at->file) : (struct dp_text){ "", 0 };
    int rc = dp_import_place(r, file, at->line, &def.at);
    return rc < 0 ? rc : dp_reader_give_line(r, &def);
}

int dp_linecosts_give(struct dp_reader *r, const struct dp_linecosts *l,
                      const struct dp_linecosts_names *names)
{
    int rc = 0;
    if (!l->known)
        return 0;
    if (dp_header_add(r->head, "dprof_lines", dp_lines_word(DP_LINES_TIMES)) < 0)
        return dp_import_error(r, DP_E_NOMEM);
    for (size_t n = 0; n < l->count && rc == 0; n++)
        rc = give_line(r, l, n, names);
    return rc;
}
