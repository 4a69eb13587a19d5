/* Finds the hottest line of each entry. Lines belong to subs, so an entry has the lines of all its
 * subs. If keys divide a sub (caller, parent), each of its entries has all of its lines. */
#include "dp_hot.h"
#include "dp_map.h"
#include "dp_mem.h"
#include "dp_num.h"
#include "dp_pool.h"
#include "dp_prof_lines.h"
#include "dp_sort.h"

#include <string.h>

/* A sub of a side, and an entry that contains it. */
struct member {
    uint32_t side, sub, entry;
};

struct sum {
    uint32_t entry, site;
    uint64_t self;
};

struct making {
    struct dp_overhead *over;
    const struct dp_part *sides;
    const struct dp_report_how *how;
    struct dp_pool seen;        /* members, to add each only once */
    struct member *members;     /* by side, then by sub */
    size_t n_members, members_cap;
    struct dp_map of;           /* entry << 32 | site -> sum */
    struct sum *sums;
    size_t n_sums, sums_cap;
    struct dp_buf text;
};

/* ---- the entries of each sub ---- */

/* Compares members by side, then by sub, then by entry. */
static int compare_members(const void *ctx, uint32_t x, uint32_t y)
{
    const struct member *a = (const struct member *)ctx + x, *b = (const struct member *)ctx + y;
    int c = (a->side > b->side) - (a->side < b->side);
    c = c ? c : (a->sub > b->sub) - (a->sub < b->sub);
    return c ? c : (a->entry > b->entry) - (a->entry < b->entry);
}

/* The sub of a node. A phase is no sub; its code belongs to the program. */
static uint32_t sub_of(const struct making *m, const struct dp_report_node *n)
{
    const struct dp_prof *prof = m->sides[n->side].prof;
    uint32_t sub = prof->nodes[n->node].sub;
    return sub == DP_PROF_NO_SUB || prof->subs.subs[sub].phase ? DP_PROF_NO_SUB : sub;
}

/* Lists the subs of each entry's nodes, each pair of a sub and an entry once, and sorts the list by
 * side and sub. Returns 0 or DP_E_NOMEM. */
static int find_members(struct making *m)
{
    for (size_t i = 0; i < m->over->n_nodes; i++) {
        const struct dp_report_node *n = &m->over->nodes[i];
        const struct member member = { n->side, sub_of(m, n), n->entry };
        if (dp_mem_grow((void **)&m->members, &m->members_cap, m->n_members + 1,
                        sizeof *m->members) < 0)
            return DP_E_NOMEM;
        uint32_t number = dp_pool_intern(&m->seen, (const char *)&member, sizeof member);
        if (number == DP_MAP_NONE)
            return DP_E_NOMEM;
        if (number == m->n_members)
            m->members[m->n_members++] = member;
    }
    return dp_sort_array(m->members, m->n_members, sizeof *m->members, compare_members,
                         m->members);
}

/* The first member with this sub, or the place where it would be. */
static size_t first_member(const struct making *m, uint32_t side, uint32_t sub)
{
    const struct member wanted = { side, sub, 0 };
    size_t low = 0, high = m->n_members;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct member *at = &m->members[mid];
        if (at->side < wanted.side || (at->side == wanted.side && at->sub < wanted.sub))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* ---- the costs of lines ---- */

/* A line's own cost in the report's metric and ticks; how often it ran if the metric is calls, or
 * if the profile has no times of lines. */
static uint64_t cost_of(const struct making *m, const struct dp_part *side, uint32_t line)
{
    const struct dp_prof *prof = side->prof;
    enum dp_metric metric = m->how->metric;
    uint64_t ticks;
    if (!prof->line_times || metric == DP_M_CALLS)
        return prof->lines[line].count;
    if (dp_metric_is_counter(metric)) {
        const uint64_t *counts = dp_prof_line_counts(prof, line);
        return counts ? counts[side->counter] : 0;
    }
    ticks = dp_prof_ticks(prof->lines[line].self, metric);
    return dp_num_scale(ticks, m->over->hz, dp_prof_hz(prof), &ticks) ? ticks : DP_LIMIT_COUNT;
}

/* Adds a cost to the sum of an entry and a place, which is made if it is new. Returns 0 or
 * DP_E_NOMEM. */
static int add_to(struct making *m, uint32_t entry, uint32_t site, uint64_t self)
{
    /* Make room first, so that the map has no entry without its sum if something fails. */
    if (dp_mem_grow((void **)&m->sums, &m->sums_cap, m->n_sums + 1, sizeof *m->sums) < 0)
        return DP_E_NOMEM;
    struct dp_map_slot *slot = dp_map_put(&m->of, (uint64_t)entry << 32 | site);
    if (!slot)
        return DP_E_NOMEM;
    if (slot->value == DP_MAP_NONE) {
        m->sums[m->n_sums] = (struct sum){ entry, site, 0 };
        slot->value = (uint32_t)m->n_sums++;
    }
    m->sums[slot->value].self = dp_count_add(m->sums[slot->value].self, self);
    return 0;
}

/* Adds the cost of each line of a side's profile to all entries that the line's sub runs in.
 * Returns 0 or DP_E_NOMEM. */
static int add_lines(struct making *m, uint32_t side)
{
    const struct dp_prof *prof = m->sides[side].prof;
    for (uint32_t i = 0; i < prof->n_lines; i++) {
        const struct dp_prof_line *line = &prof->lines[i];
        uint64_t self = cost_of(m, &m->sides[side], i);
        if (!line->site || !self)
            continue;
        const struct dp_name *at = dp_pool_name(&prof->sites, line->site - 1);
        dp_buf_clear(&m->text);
        dp_fmt_unfield(&m->text, at->ptr, at->len);
        uint32_t site = m->text.err ? DP_MAP_NONE
                                    : dp_pool_intern(&m->over->values, m->text.ptr, m->text.len);
        if (site == DP_MAP_NONE)
            return DP_E_NOMEM;
        for (size_t k = first_member(m, side, line->sub);
             k < m->n_members && m->members[k].side == side && m->members[k].sub == line->sub; k++)
            if (add_to(m, m->members[k].entry, site, self) < 0)
                return DP_E_NOMEM;
    }
    return 0;
}

/* Chooses the hottest line of each entry, among lines of equal cost the first by name, and sums up
 * the costs of the entry's lines. */
static void choose_lines(const struct making *m, struct dp_hot *hot)
{
    for (size_t i = 0; i < m->n_sums; i++) {
        const struct sum *sum = &m->sums[i];
        struct dp_hot *to = &hot[sum->entry];
        to->whole = dp_count_add(to->whole, sum->self);
        if (to->site != DP_REPORT_NONE
            && (sum->self < to->self
                || (sum->self == to->self
                    && dp_name_compare(dp_pool_name(&m->over->values, sum->site),
                                       dp_pool_name(&m->over->values, to->site)) > 0)))
            continue;
        to->site = sum->site;
        to->self = sum->self;
    }
}

int dp_hot_make(struct dp_hot **hot, struct dp_overhead *over, const struct dp_part *sides,
                size_t n, const struct dp_report_how *how)
{
    struct making m = { .over = over, .sides = sides, .how = how };
    size_t entries = over->entries.count;
    dp_pool_init(&m.seen);
    dp_map_init(&m.of);
    dp_buf_init(&m.text);
    *hot = dp_mem_realloc(NULL, entries + 1, sizeof **hot);
    for (size_t i = 0; *hot && i < entries; i++)
        (*hot)[i] = (struct dp_hot){ .site = DP_REPORT_NONE };
    int rc = *hot ? find_members(&m) : DP_E_NOMEM;
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = add_lines(&m, (uint32_t)i);
    if (rc == 0)
        choose_lines(&m, *hot);
    dp_pool_release(&m.seen);
    dp_map_release(&m.of);
    dp_buf_release(&m.text);
    dp_mem_free(m.members);
    dp_mem_free(m.sums);
    return rc;
}
