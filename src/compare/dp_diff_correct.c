#include "dp_diff_correct.h"
#include "dp_err.h"
#include "dp_hosts.h"
#include "dp_mem.h"
#include "dp_stat.h"

#include <math.h>

enum work { WORK_UNKNOWN, WORK_SAME, WORK_MORE, WORK_LESS };

/* The part of alpha for entries that are not known to have done other work. */
static const double others_least = 0.1, others_most = 0.5, others_step = 0.05;
/* The part of the remaining alpha for times that change in the direction of the work. */
static const double expected_share = 0.95;

/* Whether an entry did more work than on the baseline, less, or the same: by its ops, and by its
 * calls if the ops are equal. The work is unknown if these do not repeat exactly. room: three
 * numbers for each run, and three more. */
static enum work work_of(const struct dp_diff *diff, bool incl, uint32_t side, uint32_t e,
                         double *room)
{
    struct dp_diff_values ops, calls;
    if (!dp_diff_exactly(diff, diff->how->beside, incl, side, e, room, &ops))
        return WORK_UNKNOWN;
    bool known = dp_diff_exactly(diff, DP_RULE_CALLS, false, side, e, room, &calls);
    const struct dp_diff_values *other = ops.verdict == DP_DIFF_EXACT ? &ops
                                         : known && calls.verdict == DP_DIFF_EXACT ? &calls
                                         : NULL;
    if (other)
        return other->value > other->base ? WORK_MORE : WORK_LESS;
    return known ? WORK_SAME : WORK_UNKNOWN;
}

static bool is_other(enum work work) { return work == WORK_MORE || work == WORK_LESS; }

struct correcting {
    struct dp_diff_family *family;
    const struct dp_diff *diff;
    size_t n;                   /* entries */
    unsigned char *work;        /* by entry; NULL: unknown for all */
    double *p, *weight;         /* by test */
    uint32_t *order;
    size_t known, others;       /* numbers of tests: of entries that did other work, and of all
                                 * others */
    double others_share;        /* the others' part of alpha */
    size_t runs[2];
};

static bool is_waiting(const struct dp_diff_values *v) { return v->verdict == DP_DIFF_UNSURE; }

static double spending_of(const struct correcting *c)
{
    return c->diff->how->spending > 0 ? c->diff->how->spending : 1;
}

/* The number of tests that share the part of alpha for entries of this work. */
static double tests_of(const struct correcting *c, enum work work)
{
    double share = is_other(work) ? 1 - c->others_share : c->others_share;
    if (!c->known || !c->others)
        share = 1;
    return (double)(is_other(work) ? c->known : c->others) / share;
}

static enum work known_work(const struct correcting *c, size_t e)
{
    return c->work ? (enum work)c->work[e] : WORK_UNKNOWN;
}

/* The p of an entry before the correction for other entries. Entries that did other work have an
 * expected direction, which gets most of alpha; p, which is two-sided, is divided by twice that
 * part. */
static double own_p(const struct correcting *c, size_t e)
{
    const struct dp_diff_values *v = &c->family->values[e];
    enum work work = known_work(c, e);
    double share = !is_other(work) ? 0.5
                   : (v->value > v->base) == (work == WORK_MORE) ? expected_share
                   : 1 - expected_share;
    return v->p / (2 * share) / spending_of(c);
}

/* Can the runs at hand decide about entries of this work? *as: the number of tests that would share
 * alpha equally. */
static bool decides(const struct correcting *c, enum work work, double *as)
{
    const struct dp_diff_how *how = c->diff->how;
    if (dp_diff_has_units(how)) {
        *as = 1;
        return dp_hosts_decide(c->runs[0], c->runs[1]);
    }
    bool noisy = how->noise && c->work;
    /* if false discoveries are limited, the least p of all tests decides */
    double tests = how->discoveries ? 1 : tests_of(c, work);
    double share = (is_other(work) ? 2 * expected_share : 1) * (noisy ? DP_DIFF_CALM_SHARE : 1);
    *as = tests / share / spending_of(c);
    return c->family->counted || c->family->by_counts
           || dp_stat_decides(c->runs[0], c->runs[1], *as, how->alpha);
}

/* Gives entries that are not known to have done other work the least part of alpha with which the
 * runs at hand can decide about them. If no part is enough, they get others_most, for which the
 * number of missing runs is then computed. */
static void share_alpha(struct correcting *c)
{
    double as;
    c->others_share = others_least;
    while (c->others_share < others_most && !decides(c, WORK_SAME, &as))
        c->others_share = fmin(c->others_share + others_step, others_most);
}

/* Computes in c->p the corrected p of each entry that waits for a verdict, in the order of entries:
 * for false discoveries if these are limited, else by Holm. */
static void correct_p(struct correcting *c)
{
    size_t k = 0;
    for (size_t e = 0; e < c->n; e++) {
        if (!is_waiting(&c->family->values[e]))
            continue;
        c->p[k] = c->diff->how->discoveries ? c->family->values[e].p : own_p(c, e);
        c->weight[k++] = 1 / tests_of(c, known_work(c, e));
    }
    if (c->diff->how->discoveries)
        dp_stat_fdr(c->p, k, c->order);
    else
        dp_stat_holm(c->p, c->weight, k, c->order);
}

/* Is the change so small that the memory layout of the process may cause it? */
static bool is_layout(const struct correcting *c, const struct dp_diff_values *v)
{
    return v->base && fabs((double)v->value / (double)v->base - 1) <= c->family->layout;
}

/* Returns the verdict about an entry: too few runs to tell, not significant, an effect of memory
 * layout, or significant. */
static enum dp_diff_verdict verdict_of(const struct correcting *c, size_t e)
{
    const struct dp_diff_values *v = &c->family->values[e];
    double as;
    if (!decides(c, known_work(c, e), &as))
        return DP_DIFF_FEW;
    if (v->p > c->diff->how->alpha)
        return DP_DIFF_UNSURE;
    return known_work(c, e) == WORK_SAME && is_layout(c, v) ? DP_DIFF_LAYOUT : DP_DIFF_TRUE;
}

/* Gives a sum that waits for a verdict one, after its p has been divided by how->spending. */
static void judge_sum(const struct correcting *c, struct dp_diff_values *v)
{
    if (!is_waiting(v))
        return;
    double alpha = c->diff->how->alpha * spending_of(c);
    v->p = v->p < spending_of(c) ? v->p / spending_of(c) : 1;
    bool decided = dp_diff_has_units(c->diff->how)
        ? dp_hosts_decide(c->runs[0], c->runs[1])
        : c->family->by_counts || dp_stat_decides(c->runs[0], c->runs[1], 1, alpha);
    v->verdict = !decided ? DP_DIFF_FEW
                 : v->p <= c->diff->how->alpha ? DP_DIFF_TRUE
                 : DP_DIFF_UNSURE;
}

/* Gives the entries and the sums that wait for one their verdicts, and the entries their corrected
 * p. Sets the number of runs that would be needed if there are too few to decide. */
static void give_verdicts(struct correcting *c)
{
    struct dp_diff_family *f = c->family;
    size_t k = 0;
    for (size_t e = 0; e < c->n; e++)
        if (is_waiting(&f->values[e])) {
            f->values[e].p = c->p[k++];
            f->values[e].verdict = verdict_of(c, e);
        }
    size_t needed;
    double as;
    if (dp_diff_has_units(c->diff->how))
        f->needed = decides(c, WORK_UNKNOWN, &as) ? 0 : 2;
    else if (c->known && !decides(c, WORK_MORE, &as))
        f->needed = dp_stat_runs_needed(as, c->diff->how->alpha);
    if (c->others && !dp_diff_has_units(c->diff->how) && !decides(c, WORK_SAME, &as)) {
        needed = dp_stat_runs_needed(as, c->diff->how->alpha);
        f->needed = needed > f->needed ? needed : f->needed;
    }
    judge_sum(c, &f->total);
    judge_sum(c, &f->shown);
}

/* Finds out what work each waiting entry did, and counts those that did other work, and the
 * rest. */
static void know_work(struct correcting *c, bool incl, uint32_t side, double *room)
{
    for (size_t e = 0; e < c->n; e++) {
        if (!is_waiting(&c->family->values[e]))
            continue;
        if (c->work)
            c->work[e] = (unsigned char)work_of(c->diff, incl, side, (uint32_t)e, room);
        enum work work = known_work(c, e);
        *(is_other(work) ? &c->known : &c->others) += 1;
        if (work == WORK_SAME)
            c->family->layout = c->diff->how->layout / 100;
    }
}

int dp_diff_correct(struct dp_diff_family *family, const struct dp_diff *diff, size_t measure,
                    bool incl, uint32_t side)
{
    size_t n = dp_diff_entries(diff), tests = family->tests;
    bool has_work = measure == 0 && diff->how->beside && !dp_diff_has_units(diff->how)
                    && !family->counted && tests;
    struct correcting c = {
        .family = family, .diff = diff, .n = n,
        .work = has_work ? dp_mem_zalloc(n + 1) : NULL,
        .p = dp_mem_realloc(NULL, 2 * (tests + 1), sizeof *c.p),
        .order = dp_mem_realloc(NULL, tests + 1, sizeof *c.order),
        .runs = { diff->sides[0].n_runs, diff->sides[side].n_runs }
    };
    double *room = dp_mem_realloc(NULL, 3 * (diff->n_runs + 1), sizeof *room);
    bool ok = c.p && c.order && room && (c.work || !has_work);
    if (ok) {
        c.weight = c.p + tests + 1;
        know_work(&c, incl, side, room);
        share_alpha(&c);
        correct_p(&c);
        give_verdicts(&c);
    }
    dp_mem_free(room);
    dp_mem_free(c.order);
    dp_mem_free(c.p);
    dp_mem_free(c.work);
    return ok ? 0 : DP_E_NOMEM;
}
