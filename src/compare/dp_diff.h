/* Compares entries of a baseline and of further sides: the values of every run, medians, and
 * whether a difference is significant.
 *
 * Runs of one program differ in speed as a whole, because other programs run on the machine and
 * because its clock rate changes. All subs of a run share that difference. Ops repeat from run to
 * run, so the time per op shows the speed: a run's speed is the median, over its subs, of time per
 * op divided by the sub's median over all runs. A few subs that became slower do not move that
 * median, and a sub that does more work has more ops. Values are divided by the speed before they
 * are compared. The speed does not depend on sides, so runs of one program stay exchangeable and
 * the test stays exact. (Median of ratios: Anders and Huber, Differential expression analysis for
 * sequence count data, 2010.)
 *
 * If most subs changed, the median changes with them, and an unchanged sub would look changed. So
 * nothing is adjusted if the sides differ in speed by more than chance, if there are too few runs
 * to tell, or if more than a third of the tested subs differ after the adjustment. The total is
 * never adjusted, because its purpose is to show whether the whole program became slower. */
#ifndef DP_DIFF_H
#define DP_DIFF_H

#include "dp_base.h"
#include "dp_hosts.h"
#include "dp_line_pair.h"
#include "dp_overhead.h"
#include "dp_pair.h"
#include "dp_pool.h"
#include "dprof/diff.h"

/* The values of one measure in a run, by entry. */
struct dp_diff_column {
    uint64_t *self, *incl;
    size_t cap;
    uint64_t total, base;       /* the sum of all values; the value that is 100 % */
    uint64_t shown;             /* the sum of the self values of entries that pass the filters */
};

struct dp_diff_run {
    uint32_t side;
    struct dp_diff_column *columns;     /* by measure */
    uint64_t *calls;            /* by entry */
    uint64_t *excess;           /* by entry: the ticks by which the longest call exceeded the mean
                                 * of the other calls; 0: unknown */
    unsigned char *there;
    size_t calls_cap, excess_cap, there_cap;
    uint64_t all_calls;
    struct dp_diff_column *strata;      /* with how->per_call: by measure, values of strata; a
                                         * stratum is an entry in a phase */
    uint64_t *strata_calls;
    size_t strata_cap;
    unsigned char *unknown;     /* with how->per_call, by entry: the run has no value for the entry;
                                 * NULL: it has all */
    double apart;               /* with how->per_call: the share of the run's time that is not
                                 * compared */
    double calls_factor;        /* factor that normalized the calls; else 1 */
    uint64_t raw_total;         /* total of the first measure before normalizing */
    double speed;               /* time for the same work, divided by that of the median run: 1.1 is
                                 * a slow run */
};

/* What is known about an entry, or about the total. */
enum dp_diff_verdict {
    DP_DIFF_EQUAL,              /* there is no difference, or none of any importance */
    DP_DIFF_EXACT,              /* every run of a side has the same value, and the sides differ */
    DP_DIFF_SINGLE,             /* the sides differ, but with one run on each side the difference
                                 * may be chance */
    DP_DIFF_TRUE,               /* significant */
    DP_DIFF_UNSURE,             /* not significant */
    DP_DIFF_FEW,                /* so few runs cannot give a significant result */
    DP_DIFF_SMALL,              /* too little to be tested */
    DP_DIFF_LAYOUT              /* significant, but the sub did the same work, and memory layout can
                                 * cause a difference of this size */
};

struct dp_diff_values {
    bool base_there, there;
    uint64_t base, value;       /* medians of the runs; means of hosts */
    double base_spread, spread; /* as defined in dp_stat.h */
    double p;                   /* corrected for the number of tests */
    double low, high;           /* of value - base */
    double sight;               /* standard deviation of chance: for samples, of the root of the
                                 * ratio of both values (dp_counts.h); for hosts, of the difference;
                                 * for runs, of the value of a run. INFINITY: unknown */
    enum dp_diff_verdict verdict;
};

/* One measure compared: self or incl, a side against the baseline. */
struct dp_diff_family {
    struct dp_diff_values *values;      /* by entry */
    struct dp_diff_values total;        /* its p is that of this test alone, not corrected */
    struct dp_diff_values shown;        /* likewise: the sum of what passes the filters */
    double base_whole, whole;   /* the value that is 100 % on either side */
    size_t tests;
    bool counted;               /* the values are samples: counts are tested, and any number of runs
                                 * can decide */
    bool by_counts;             /* the measure is a counter that does not repeat exactly, with at
                                 * least two runs a side: counts are tested, and ranks as well */
    bool in_pairs;              /* the total is tested by the differences of runs that were recorded
                                 * in turn; its value is the baseline's plus the change of pairs */
    size_t needed;              /* number of runs on each side that could decide; 0: these runs can,
                                 * or nothing is tested */
    struct dp_hosts_prior prior;        /* for hosts */
    double layout;              /* largest ratio that is attributed to memory layout for a sub with
                                 * equal ops; 0: never */
};

/* Was the entry tested, with any result? */
static inline bool dp_diff_is_tested(const struct dp_diff_values *v)
{
    return v->verdict == DP_DIFF_TRUE || v->verdict == DP_DIFF_UNSURE || v->verdict == DP_DIFF_FEW
           || v->verdict == DP_DIFF_LAYOUT;
}

struct dp_diff_sub {
    uint32_t part, sub;         /* part: its number plus 1; 0: none */
};

struct dp_diff {
    const struct dp_diff_side *sides;
    const struct dp_diff_how *how;
    size_t n_sides;
    struct dp_part *parts; /* of all sides, in order, with their names paired */
    size_t n_parts;
    struct dp_pairs pairs;
    bool by_line;               /* entries are lines of source, with the costs of their
                                 * statements */
    struct dp_line_pairs lines; /* with by_line */
    struct dp_pool texts, entries;      /* the texts and entries of all runs, as in dp_overhead.h */
    struct dp_pool strata;      /* entries in phases (dp_diff_mix.h) */
    unsigned char *changed;     /* for hosts, by entry: the entry is not used to measure speed;
                                 * NULL: all are used */
    unsigned char *shown;       /* by entry: the entry passes the filters of some run */
    size_t shown_cap;
    struct dp_diff_run *runs;   /* of all sides, in order */
    size_t n_runs;
    struct dp_diff_sub *places; /* by label of the pairs; NULL until the first lookup */
    uint64_t hz;                /* ticks per second of all times */
    bool adjusted;              /* values are divided by the speed of the runs */
    bool has_speed;             /* the speed of the runs is known */
    double *slopes;             /* with has_speed, by entry: the power of the run's speed to which a
                                 * sub's time is proportional; NULL: 1 for all */
    struct dp_diff_values speeds;   /* speeds of the side how->order, or of the first side: base and
                                     * value are 1,000,000 for the median run */
    bool is_time;               /* times are in ns; counts of folded stacks may be in any unit */
};

/* Does the run have a value for the entry? */
static inline bool dp_diff_is_known(const struct dp_diff_run *run, uint32_t entry)
{
    return !run->unknown || !run->unknown[entry];
}

/* Called for every run of the first measure, in order, once it is clear whether values are
 * adjusted. Returns 0, or a DP_E to stop. */
typedef int dp_diff_each_fn(void *ctx, const struct dp_diff *diff, const struct dp_diff_run *run,
                            const struct dp_overhead *over);

/* Reads all values. Returns 0 or a DP_E; the caller releases *diff. each may be NULL. sides and how
 * are borrowed. */
int dp_diff_make(struct dp_diff *diff, const struct dp_diff_side *sides, size_t n,
                 const struct dp_diff_how *how, dp_diff_each_fn *each, void *ctx);
void dp_diff_release(struct dp_diff *diff);

/* Measures the speed of the runs, and decides whether values are adjusted for it. dp_diff_make
 * calls this function if how->work is set. Returns 0 or a DP_E. */
int dp_diff_adjust(struct dp_diff *diff);

/* Do the filters leave out an entry? */
static inline bool dp_diff_is_filtered(const struct dp_diff *diff)
{
    for (size_t e = 0; e < diff->entries.count; e++)
        if (e >= diff->shown_cap || !diff->shown[e])
            return true;
    return false;
}

/* Are the runs those of hosts? Hosts differ by more than chance. */
static inline bool dp_diff_has_units(const struct dp_diff_how *how) { return how->units != NULL; }

/* Are the tests of a measure, or of the calls (DP_RULE_CALLS), tests of counts? */
static inline bool dp_diff_is_counted(const struct dp_diff *diff, size_t measure)
{
    return diff->how->counts && !dp_diff_has_units(diff->how) && measure != DP_RULE_CALLS
           && !diff->how->measures[measure].exact;
}

/* Degrees of freedom of the variance of the baseline's runs and of a side's runs together. */
static inline size_t dp_diff_freedom(const struct dp_diff *diff, uint32_t side)
{
    size_t runs = diff->sides[0].n_runs + diff->sides[side].n_runs;
    return runs > 2 ? runs - 2 : 0;
}

/* Compares a measure, or the calls (DP_RULE_CALLS), of a side with the baseline's. Returns 0 or a
 * DP_E; the caller releases it. */
int dp_diff_compare(struct dp_diff_family *family, const struct dp_diff *diff, size_t measure,
                    bool incl, uint32_t side);
void dp_diff_family_release(struct dp_diff_family *family);

/* The text of key k of an entry; borrowed. */
const struct dp_name *dp_diff_text(const struct dp_diff *diff, uint32_t entry, size_t k);
static inline size_t dp_diff_entries(const struct dp_diff *diff) { return diff->entries.count; }

/* The place where an entry's sub begins, or where the entry's line is. The place is that of the
 * newest side that has the entry and its place. Returns false if no side has the place, or if the
 * entry has no sub. */
struct dp_diff_place {
    const struct dp_name *file;
    uint64_t line;
};
bool dp_diff_place(struct dp_diff *diff, uint32_t entry, struct dp_diff_place *place);

/* The place of an anonymous sub, or of a line, in the baseline, as FILE:LINE; NULL if it has not
 * moved. */
const struct dp_name *dp_diff_moved_from(const struct dp_diff *diff, uint32_t entry);

/* The line of diff->lines that an entry is; NULL if the entry is no line. */
const struct dp_paired_line *dp_diff_line(const struct dp_diff *diff, uint32_t entry);

/* Ticks per second of a measure's values. For folded stacks with fractions: ticks per unit. 0: the
 * values are counts. */
uint64_t dp_diff_hz(const struct dp_diff *diff, size_t measure);

#endif
