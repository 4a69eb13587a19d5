#include "dp_nytprof_lines.h"
#include "dp_reader_tree.h"
#include "dp_mem.h"
#include "dp_apportion.h"
#include "dprof/lines.h"

#include <stdlib.h>
#include <string.h>

#define ORDER(x, y)     (((x) > (y)) - ((x) < (y)))

void dp_nytprof_lines_init(struct dp_nytprof_lines *l)
{
    memset(l, 0, sizeof *l);
    dp_map_init(&l->of);
}

void dp_nytprof_lines_release(struct dp_nytprof_lines *l)
{
    dp_mem_free(l->lines);
    dp_map_release(&l->of);
    dp_nytprof_lines_init(l);
}

int dp_nytprof_lines_add(struct dp_nytprof_lines *l, uint32_t file, uint32_t line, int32_t ticks,
                         bool counted)
{
    if (!file || !line || l->count >= DP_LIMIT_LINES - 1)
        file = line = 0;
    /* make room first, so that the map has no entry without its line if something fails */
    if (dp_mem_grow((void **)&l->lines, &l->cap, l->count + 1, sizeof *l->lines) < 0)
        return DP_E_NOMEM;
    struct dp_map_slot *slot = dp_map_put(&l->of, (uint64_t)file << 32 | line);
    if (!slot)
        return DP_E_NOMEM;
    if (slot->value == DP_MAP_NONE) {
        slot->value = (uint32_t)l->count;
        l->lines[l->count++] = (struct dp_nytprof_line){ file, line, DP_SUB_NONE, 0, 0 };
    }
    l->lines[slot->value].count += !counted;
    l->lines[slot->value].ticks += ticks;
    return 0;
}

/* ---- subs ---- */

/* Sorts lines by file, then by number. */
static int compare_lines(const void *a, const void *b)
{
    const struct dp_nytprof_line *x = a, *y = b;
    int c = ORDER(x->file, y->file);
    return c ? c : ORDER(x->line, y->line);
}

/* Orders ranges: an enclosing sub comes before those inside. */
static int compare_ranges(const void *a, const void *b)
{
    const struct dp_nytprof_range *x = a, *y = b;
    int c = ORDER(x->file, y->file);
    c = c ? c : ORDER(x->first, y->first);
    c = c ? c : ORDER(y->last, x->last);
    return c ? c : ORDER(x->sub, y->sub);
}

/* Sets the sub of each line: the innermost one whose range holds the line. open: the subs that
 * began at or before the line, the innermost last. */
int dp_nytprof_lines_subs(struct dp_nytprof_lines *l, struct dp_nytprof_range *ranges, size_t n)
{
    uint32_t *open = dp_mem_realloc(NULL, n + 1, sizeof *open);
    size_t next = 0, n_open = 0;
    if (!open)
        return DP_E_NOMEM;
    if (l->count)
        qsort(l->lines, l->count, sizeof *l->lines, compare_lines);
    if (n)
        qsort(ranges, n, sizeof *ranges, compare_ranges);
    for (size_t i = 0; i < l->count; i++) {
        struct dp_nytprof_line *at = &l->lines[i];
        for (; next < n && (ranges[next].file < at->file || (ranges[next].file == at->file
                            && ranges[next].first <= at->line)); next++)
            open[n_open++] = (uint32_t)next;
        while (n_open && (ranges[open[n_open - 1]].file != at->file
                          || ranges[open[n_open - 1]].last < at->line))
            n_open--;
        if (n_open)
            at->sub = ranges[open[n_open - 1]].sub;
    }
    dp_mem_free(open);
    return 0;
}

/* ---- handing over ---- */

/* Hands a line with its count and times to the consumer. */
static int give_line(struct dp_reader *r, const struct dp_nytprof_line *at,
                     const struct dp_apportion *time, struct dp_text file)
{
    static const uint64_t none[DP_FMT_COUNTERS];
    struct dp_linedef def = { .sub = at->sub, .count = at->count, .has_times = true,
                              .counters = none };
    def.n_counters = r->head->n_counters;
    def.t[DP_REAL] = time->t[DP_APPORTION_REAL];
    def.t[DP_USER] = time->t[DP_APPORTION_CPU];
    int rc = dp_import_place(r, file, at->line, &def.at);
    return rc < 0 ? rc : dp_reader_give_line(r, &def);
}

int dp_nytprof_lines_give(struct dp_reader *r, const struct dp_nytprof_lines *l,
                          struct dp_text (*file)(const struct dp_reader *r, uint32_t number))
{
    const uint64_t sums[DP_APPORTION_TIMES] = {
        [DP_APPORTION_REAL] = r->passed[DP_REAL],
        [DP_APPORTION_CPU] = r->passed[DP_USER],   /* NYTProf does not separate system time */
    };
    struct dp_apportion *times = dp_mem_zalloc((l->count + 1) * sizeof *times);
    double total = 0;
    int rc = 0;
    if (!times)
        return dp_import_error(r, DP_E_NOMEM);
    for (size_t i = 0; i < l->count; i++) {
        double ticks = l->lines[i].ticks > 0 ? (double)l->lines[i].ticks : 0;
        times[i].stamps[DP_APPORTION_REAL] = times[i].stamps[DP_APPORTION_CPU] = ticks;
        total += ticks;
    }
    if (total > 0) {
        dp_apportion(times, l->count, (double)sums[DP_APPORTION_REAL] / total, sums);
        if (dp_header_add(r->head, "dprof_lines", dp_lines_word(DP_LINES_TIMES)) < 0)
            rc = dp_import_error(r, DP_E_NOMEM);
        for (size_t i = 0; i < l->count && rc == 0; i++)
            rc = give_line(r, &l->lines[i], &times[i], file(r, l->lines[i].file));
    }
    dp_mem_free(times);
    return rc;
}
