#include "dp_renamed.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_sort.h"

#include <math.h>

enum { LEAST_CALLS = 2, MOST_SUBS = 1000 };     /* with a single call, any two subs have equally
                                                 * many */
static const double near_ops = 0.02, near_calls = 0.02, near_time = 2;

/* A sub's values on the side that has it. */
struct sub {
    uint32_t entry;
    double time, calls, ops;    /* ops: NAN if unknown */
    bool taken;
};

struct subs {
    struct sub *at;
    size_t n;
};

static double of_side(const struct dp_diff_values *v, bool is_new)
{
    return (double)(is_new ? v->value : v->base);
}

static bool knows(const struct dp_diff_values *v)
{
    return v->verdict == DP_DIFF_EXACT || v->verdict == DP_DIFF_TRUE
           || v->verdict == DP_DIFF_SINGLE;
}

/* Lists the rows of a section, DP_GONE or DP_NEW, that may have been renamed: those with two calls
 * or more, and with at least the floor's part of that side's time. It stops after MOST_SUBS of
 * them. */
static void collect_subs(struct subs *subs, const struct dp_compared *c, enum dp_section section)
{
    const struct dp_diff_family *f = &c->families[1];
    bool is_new = section == DP_NEW;
    double least = (is_new ? f->whole : f->base_whole) * c->how->floor / 100;
    for (size_t i = 0; i < c->n_rows && subs->n < MOST_SUBS; i++) {
        uint32_t e = c->rows[i].entry;
        const struct dp_diff_values *ops = c->ops ? &c->ops[1].values[e] : NULL;
        struct sub sub = {
            .entry = e,
            .time = of_side(&f->values[e], is_new),
            .calls = of_side(&c->calls[1].values[e], is_new),
            .ops = ops && knows(ops) ? of_side(ops, is_new) : NAN
        };
        if (c->rows[i].section == section && sub.time >= least && sub.calls >= LEAST_CALLS)
            subs->at[subs->n++] = sub;
    }
}

static bool is_within(double a, double b, double part)
{
    return fabs(a - b) <= part * (a > b ? a : b);
}

/* The distance between two subs, by their ops or, if these are unknown, by their time a call;
 * INFINITY: they are different subs. */
static double sub_distance(const struct sub *a, const struct sub *b)
{
    double ratio = (b->time / b->calls) / (a->time / a->calls), off = fabs(log(ratio));
    bool knows_ops = !isnan(a->ops) && !isnan(b->ops);
    if (!is_within(a->calls, b->calls, near_calls))
        return INFINITY;
    if (knows_ops)
        return is_within(a->ops / a->calls, b->ops / b->calls, near_ops)
                   ? fabs(a->ops - b->ops) / (a->ops + b->ops + 1)
                   : INFINITY;
    return off <= log(near_time) ? off : INFINITY;
}

/* Did two subs do exactly the same work? */
static bool is_same(const struct sub *a, const struct sub *b)
{
    return a->calls == b->calls && a->ops == b->ops && a->ops > 0;      /* comparisons with NAN are
                                                                         * false */
}

/* Is exactly one of the others the same as this sub? */
static bool is_only_one(const struct sub *a, const struct subs *others)
{
    size_t n = 0;
    for (size_t i = 0; i < others->n; i++)
        n += is_same(a, &others->at[i]);
    return n == 1;
}

/* Compares subs by time, the longest first, then by number. */
static int by_time(const void *ctx, uint32_t x, uint32_t y)
{
    const struct sub *s = ctx;
    return s[x].time > s[y].time ? -1 : s[x].time < s[y].time ? 1 : x < y ? -1 : x > y;
}

/* Pairs each sub that is gone, those with the most time first, with the nearest new sub that no
 * other has taken. Returns the number of pairs. A pair is certain if both subs have equal calls and
 * ops, and are the only ones with them. */
static size_t match_subs(struct dp_renamed *renames, size_t most, const struct subs *gone,
                         const struct subs *fresh)
{
    size_t n = 0;
    for (size_t i = 0; i < gone->n && n < most; i++) {
        const struct sub *from = &gone->at[i];
        struct sub *to = NULL;
        double best = INFINITY;
        for (size_t k = 0; k < fresh->n; k++) {
            double off = fresh->at[k].taken ? INFINITY : sub_distance(from, &fresh->at[k]);
            if (off < best) {
                best = off;
                to = &fresh->at[k];
            }
        }
        if (!to)
            continue;
        to->taken = true;
        renames[n++] = (struct dp_renamed){
            .from = from->entry, .to = to->entry, .calls = (uint64_t)to->calls,
            .certain = is_same(from, to) && is_only_one(from, fresh) && is_only_one(to, gone)
        };
    }
    return n;
}

int dp_renamed_find(struct dp_renamed *renames, size_t most, const struct dp_compared *c)
{
    struct subs gone = { NULL, 0 }, fresh = { NULL, 0 };
    if (c->diff.n_sides != 2 || c->how->counts || !c->rows || !c->calls || !c->calls[1].values)
        return 0;
    gone.at = dp_mem_realloc(NULL, 2 * MOST_SUBS, sizeof *gone.at);
    if (!gone.at)
        return DP_E_NOMEM;
    fresh.at = gone.at + MOST_SUBS;
    collect_subs(&gone, c, DP_GONE);
    collect_subs(&fresh, c, DP_NEW);
    int rc = dp_sort_array(gone.at, gone.n, sizeof *gone.at, by_time, gone.at);
    if (rc == 0)
        rc = (int)match_subs(renames, most, &gone, &fresh);
    dp_mem_free(gone.at);
    return rc;
}
