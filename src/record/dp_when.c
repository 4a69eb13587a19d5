#include "dp_when.h"
#include "dp_mem.h"

#include <stdlib.h>

/* A moment in units twice as long. Half a unit is rounded up or down by the moment itself, as if by
 * chance: otherwise, where contexts take turns in step with the unit, one of them would always win.
 * Equal moments stay equal, and none overtakes another. (The multiplier is xxHash's.) */
static uint64_t halve(uint64_t at)
{
    return (at >> 1) + (at & 1 & at * UINT64_C(0x9e3779b185ebca87) >> 40);
}

/* A moment in units that have been doubled `halved` times. */
static uint64_t coarse(uint64_t at, unsigned halved)
{
    while (halved--)
        at = halve(at);
    return at;
}

/* Doubles the unit. A stretch that has no whole unit any more is left out: its chance to stay is
 * its length. */
static void double_unit(struct dp_when *when)
{
    size_t kept = 0;
    when->halved++;
    for (size_t i = 0; i < when->n; i++) {
        struct dp_when_stretch s = when->at[i];
        s.from = halve(s.from);
        s.to = halve(s.to);
        if (s.from == s.to)
            continue;
        if (kept && when->at[kept - 1].node == s.node && when->at[kept - 1].to == s.from)
            when->at[kept - 1].to = s.to;
        else
            when->at[kept++] = s;
    }
    when->n = kept;
}

void dp_when_add(struct dp_when *when, uint32_t node, uint64_t from, uint64_t to)
{
    while (when->n >= DP_WHEN_MOST)
        double_unit(when);
    from = coarse(from, when->halved);
    to = coarse(to, when->halved);
    if (from >= to)
        return;
    struct dp_when_stretch *last = when->n ? &when->at[when->n - 1] : NULL;
    if (last && last->node == node && last->to == from) {
        last->to = to;
        return;
    }
    if (dp_mem_grow((void **)&when->at, &when->cap, when->n + 1, sizeof *when->at) < 0)
        return;
    when->at[when->n++] = (struct dp_when_stretch){ from, to, node };
}

void dp_when_clear(struct dp_when *when)
{
    when->n = 0;
    when->halved = 0;
}

void dp_when_release(struct dp_when *when)
{
    dp_mem_free(when->at);
    *when = (struct dp_when){ NULL, 0, 0, 0 };
}

/* ---- writing ---- */

/* Compares stretches by node, then by their beginning. */
static int compare_stretches(const void *a, const void *b)
{
    const struct dp_when_stretch *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

struct dp_when_stretch *dp_when_sorted(const struct dp_when *when)
{
    struct dp_when_stretch *copy = dp_mem_realloc(NULL, when->n + 1, sizeof *copy);
    if (!copy)
        return NULL;
    for (size_t i = 0; i < when->n; i++)
        copy[i] = when->at[i];
    qsort(copy, when->n, sizeof *copy, compare_stretches);
    return copy;
}

/* The place of the first stretch of a context, or the place where it would be. */
static size_t first_of(const struct dp_when_stretch *sorted, size_t n, uint32_t node)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted[middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A moment in units of the file; 0 before its beginning. */
static uint64_t in_file(const struct dp_when_text *how, uint64_t at, unsigned halved)
{
    double ticks = (double)at * (double)(UINT64_C(1) << halved) * how->ticks - how->zero;
    return ticks > 0 ? (uint64_t)(ticks / (double)how->unit + 0.5) : 0;
}

void dp_when_write(const struct dp_when_stretch *sorted, size_t n, unsigned halved, uint32_t node,
                   const struct dp_when_text *how, struct dp_buf *out)
{
    uint64_t before = 0;
    const char *lead = " when=";
    for (size_t i = first_of(sorted, n, node); i < n && sorted[i].node == node; i++) {
        uint64_t from = in_file(how, sorted[i].from, halved);
        uint64_t to = in_file(how, sorted[i].to, halved);
        if (from < before || from >= to)
            continue;
        dp_buf_adds(out, lead);
        dp_buf_addu(out, from - before);
        dp_buf_addc(out, '+');
        dp_buf_addu(out, to - from);
        before = to;
        lead = ",";
    }
}
