/* Change points of many series at once, by binary segmentation. */
#include "dp_base.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_sort.h"
#include "dp_stat.h"
#include "dprof/changepoints.h"

/* A part of a series that may have a change point in it. */
struct part {
    uint32_t series, from, to;  /* groups from..to-1 */
    double least;               /* p of the change point next to the part */
};

/* The state of the search. A series of G groups has at most G - 1 change points and, at any time,
 * at most G parts, so the room for all of them is known from the start. */
struct search {
    const struct dp_history *history;
    size_t *offset;             /* position of each group in a series; the last element is the
                                 * length of a series */
    struct part *parts, *next;
    double *p;
    uint32_t *at, *order;       /* the split of each part; room for Holm */
    struct dp_changepoint *found;
    size_t count;
};

/* Frees what the search for change points has made. */
static void release_search(struct search *s)
{
    dp_mem_free(s->offset);
    dp_mem_free(s->parts);
    dp_mem_free(s->next);
    dp_mem_free(s->p);
    dp_mem_free(s->at);
    dp_mem_free(s->order);
}

/* Makes the room for the whole search, and the positions of the groups. Returns 0 or DP_E_NOMEM. */
static int prepare_search(struct search *s)
{
    const struct dp_history *h = s->history;
    size_t most = h->series * (h->groups + 1) + 1;
    s->offset = dp_mem_realloc(NULL, h->groups + 1, sizeof *s->offset);
    s->parts = dp_mem_realloc(NULL, most, sizeof *s->parts);
    s->next = dp_mem_realloc(NULL, most, sizeof *s->next);
    s->p = dp_mem_realloc(NULL, most, sizeof *s->p);
    s->at = dp_mem_realloc(NULL, most, sizeof *s->at);
    s->order = dp_mem_realloc(NULL, most, sizeof *s->order);
    s->found = dp_mem_realloc(NULL, most, sizeof *s->found);
    if (!s->offset || !s->parts || !s->next || !s->p || !s->at || !s->order || !s->found)
        return DP_E_NOMEM;
    s->offset[0] = 0;
    for (size_t g = 0; g < h->groups; g++)
        s->offset[g + 1] = s->offset[g] + h->sizes[g];
    return 0;
}

/* Tests all parts, and adjusts their p values for each other. Returns 0 or a DP_E. */
static int test_all(struct search *s, size_t n)
{
    const struct dp_history *h = s->history;
    for (size_t i = 0; i < n; i++) {
        const struct part *part = &s->parts[i];
        const double *v = h->values + part->series * s->offset[h->groups] + s->offset[part->from];
        struct dp_split split;
        int rc = dp_stat_split(&split, v, h->sizes + part->from, part->to - part->from);
        if (rc < 0)
            return rc;
        s->p[i] = split.p;
        s->at[i] = part->from + (uint32_t)split.at;
    }
    dp_stat_holm(s->p, NULL, n, s->order);
    return 0;
}

/* Keeps the change points found in the parts, and makes the parts to be tested next. Returns the
 * number of these parts. */
static size_t split_all(struct search *s, size_t n, double alpha)
{
    size_t more = 0;
    for (size_t i = 0; i < n; i++) {
        struct part part = s->parts[i];
        double p = s->p[i] > part.least ? s->p[i] : part.least;
        if (p > alpha)
            continue;
        s->found[s->count++] = (struct dp_changepoint){ part.series, s->at[i], p };
        if (s->at[i] - part.from > 1)
            s->next[more++] = (struct part){ part.series, part.from, s->at[i], p };
        if (part.to - s->at[i] > 1)
            s->next[more++] = (struct part){ part.series, s->at[i], part.to, p };
    }
    struct part *parts = s->parts;
    s->parts = s->next;
    s->next = parts;
    return more;
}

/* Compares changes by series, then by their place in it. */
static int by_place(const void *ctx, uint32_t a, uint32_t b)
{
    const struct dp_changepoint *found = ctx, *x = &found[a], *y = &found[b];
    return x->series != y->series ? (x->series < y->series ? -1 : 1)
        : x->at < y->at ? -1 : x->at > y->at;
}

/* Sorts the change points that were found, by place. Returns 0 or DP_E_NOMEM. */
static int in_order(struct search *s)
{
    struct dp_changepoint *sorted = dp_mem_realloc(NULL, s->count + 1, sizeof *sorted);
    if (!sorted)
        return DP_E_NOMEM;
    for (uint32_t i = 0; i < s->count; i++)
        s->order[i] = i;
    dp_sort_u32(s->order, s->count, by_place, s->found);
    for (size_t i = 0; i < s->count; i++)
        sorted[i] = s->found[s->order[i]];
    dp_mem_free(s->found);
    s->found = sorted;
    return 0;
}

int dp_changepoints(struct dp_changepoint **found, size_t *count, const struct dp_history *history,
                    double alpha)
{
    struct search s = { .history = history };
    size_t n = history->groups > 1 ? history->series : 0;
    int rc = prepare_search(&s);
    for (uint32_t i = 0; rc == 0 && i < n; i++)
        s.parts[i] = (struct part){ i, 0, (uint32_t)history->groups, 0 };
    while (rc == 0 && n) {
        rc = test_all(&s, n);
        n = rc == 0 ? split_all(&s, n, alpha) : 0;
    }
    if (rc == 0)
        rc = in_order(&s);
    release_search(&s);
    if (rc < 0)
        dp_changepoints_free(s.found);
    *found = rc < 0 ? NULL : s.found;
    *count = rc < 0 ? 0 : s.count;
    return rc;
}

void dp_changepoints_free(struct dp_changepoint *found) { dp_mem_free(found); }

int dp_changepoints_decide(const struct dp_history *history, double alpha)
{
    size_t total = 0, before = 0;
    double tests = history->groups ? (double)(history->series * (history->groups - 1)) : 0;
    for (size_t g = 0; g < history->groups; g++)
        total += history->sizes[g];
    for (size_t g = 0; g + 1 < history->groups; g++) {
        before += history->sizes[g];
        if (dp_stat_decides(before, total - before, tests, alpha))
            return 1;
    }
    return 0;
}
