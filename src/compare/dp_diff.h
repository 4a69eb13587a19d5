/* Entries of a baseline and of further sides, compared: values of every run, medians, and
 * whether what differs differs truly.
 *
 * Runs of one program differ in speed as a whole: other programs run on the machine, its clock
 * goes up and down. That is common to all subs of a run, and can be told from what happened to one
 * of them where the work is known, in ops, which repeat: a run's speed is the median, over its
 * subs, of time per op to the sub's median over all runs. A few subs that became slower do not move
 * that median, and a sub that does more has more ops. Values are divided by it before they are
 * compared. It knows nothing of sides, so that runs of one program stay exchangeable and the test
 * exact. (Median of ratios: Anders and Huber, Differential expression analysis for sequence
 * count data, 2010.)
 *
 * Where most subs changed, the median changes with them, and an unchanged sub would look like a
 * changed one. So nothing is adjusted if the sides differ in speed by more than chance (or have too
 * few runs to tell), or if more than a third of the subs that are tested differ after the
 * adjustment. The total never is: whether all became slower, is its business. */
#ifndef DP_DIFF_H
#define DP_DIFF_H

#include "dp_base.h"
#include "dp_hosts.h"
#include "dp_line_pair.h"
#include "dp_overhead.h"
#include "dp_pair.h"
#include "dp_pool.h"
#include "dprof/diff.h"

/* The values that a run has of a measure, by entry. */
struct dp_diff_column {
    uint64_t *self, *incl;
    size_t cap;
    uint64_t total, base;       /* all of it; what 100 % is */
};

struct dp_diff_run {
    uint32_t side;
    struct dp_diff_column *columns;     /* by measure */
    uint64_t *calls;            /* by entry */
    uint64_t *excess;           /* by entry: ticks that the longest call took more than the others
                                 * on average; 0 where it is not known */
    unsigned char *there;
    size_t calls_cap, excess_cap, there_cap;
    uint64_t all_calls;
    struct dp_diff_column *strata;      /* of how->per_call: by measure, an entry in a phase each */
    uint64_t *strata_calls;
    size_t strata_cap;
    unsigned char *unknown;     /* then, by entry: the run has no value for it; NULL: it has all */
    double apart;               /* then: the share of its time that is not compared */
    double calls_factor;        /* as normalized; else 1 */
    uint64_t raw_total;         /* of the first measure, not normalized */
    double speed;               /* the time for the same work, divided by that of the median run:
                                 * 1.1 is a slow run */
};

/* What is known of an entry, or of the total. */
enum dp_diff_verdict {
    DP_DIFF_EQUAL,              /* there is no difference, or none that counts */
    DP_DIFF_EXACT,              /* every run of a side has the same value, and the sides differ */
    DP_DIFF_SINGLE,             /* they differ, and one run on each side cannot say whether that
                                 * means anything */
    DP_DIFF_TRUE,               /* significant */
    DP_DIFF_UNSURE,             /* not significant */
    DP_DIFF_FEW,                /* with so few runs no result could be significant */
    DP_DIFF_SMALL,              /* too little to be tested */
    DP_DIFF_LAYOUT              /* significant, but the sub did the same work, and the difference is
                                 * no greater than where code and data lie makes it */
};

struct dp_diff_values {
    bool base_there, there;
    uint64_t base, value;       /* medians of the runs; means of hosts */
    double base_spread, spread; /* as dp_stat.h has them */
    double p;                   /* corrected for the number of tests */
    double low, high;           /* of value - base */
    double sight;               /* how far chance moves, as a standard deviation: of samples, the
                                 * root of the ratio of both values (dp_counts.h); of hosts, the
                                 * difference; of runs, the value of a run. INFINITY: not known */
    enum dp_diff_verdict verdict;
};

/* One measure compared: self or incl, a side against the baseline. */
struct dp_diff_family {
    struct dp_diff_values *values;      /* by entry */
    struct dp_diff_values total;        /* p of this test alone, not corrected */
    double base_whole, whole;   /* what 100 % is on either side */
    size_t tests;
    bool counted;               /* these are samples: tests are those of counts, and any number of
                                 * runs can decide */
    bool by_counts;             /* a counter that does not repeat exactly, of at least two runs a
                                 * side: the same is true, but ranks are looked at, too */
    bool in_pairs;              /* the total is tested by the differences of runs that were recorded
                                 * in turn; its value is the baseline's and the change of pairs */
    size_t needed;              /* how many runs on each side could decide; 0: these can, or nothing
                                 * is tested */
    struct dp_hosts_prior prior;        /* of hosts */
    double layout;              /* the difference, as a ratio, up to which a sub that did the same
                                 * work is said to lie elsewhere; 0: none */
};

/* Was it tested, with whatever result? */
static inline bool dp_diff_is_tested(const struct dp_diff_values *v)
{
    return v->verdict == DP_DIFF_TRUE || v->verdict == DP_DIFF_UNSURE || v->verdict == DP_DIFF_FEW
           || v->verdict == DP_DIFF_LAYOUT;
}

struct dp_diff_sub {
    uint32_t part, sub;         /* part: and 1; 0: none */
};

struct dp_diff {
    const struct dp_diff_side *sides;
    const struct dp_diff_how *how;
    size_t n_sides;
    struct dp_part *parts; /* of all sides, in order, with their names paired */
    size_t n_parts;
    struct dp_pairs pairs;
    bool by_line;               /* entries are lines of source, with what statements cost */
    struct dp_line_pairs lines; /* then */
    struct dp_pool texts, entries;      /* as those of dp_overhead.h, of all runs */
    struct dp_pool strata;      /* entries in phases (dp_diff_mix.h) */
    unsigned char *changed;     /* then, by entry: it tells no speed; NULL: all do */
    unsigned char *shown;       /* by entry: whether the filters of any run show it */
    size_t shown_cap;
    struct dp_diff_run *runs;   /* of all sides, in order */
    size_t n_runs;
    struct dp_diff_sub *places; /* by label of the pairs; NULL until somebody asks */
    uint64_t hz;                /* of all ticks */
    bool adjusted;              /* for the speed of the runs */
    bool has_speed;             /* it is known */
    double *slopes;             /* then, by entry: a sub's time goes with the run's speed to the
                                 * power of it; NULL: all by 1 */
    struct dp_diff_values speeds;   /* of the side how->order, or the first: base and value
                                     * 1,000,000 for the median run */
    bool is_time;               /* the times are in ns: folded stacks may count anything */
};

/* Does the run have a value for the entry? */
static inline bool dp_diff_is_known(const struct dp_diff_run *run, uint32_t entry)
{
    return !run->unknown || !run->unknown[entry];
}

/* Called for every run of the first measure, in order, when it is known whether values are
 * adjusted. Returns 0, or a DP_E to stop. */
typedef int dp_diff_each_fn(void *ctx, const struct dp_diff *diff, const struct dp_diff_run *run,
                            const struct dp_overhead *over);

/* Reads all values. Returns 0 or a DP_E; the caller releases it. each may be NULL. sides and
 * how are borrowed. */
int dp_diff_make(struct dp_diff *diff, const struct dp_diff_side *sides, size_t n,
                 const struct dp_diff_how *how, dp_diff_each_fn *each, void *ctx);
void dp_diff_release(struct dp_diff *diff);

/* Measures the speed of the runs, and decides whether values are adjusted for the speed.
 * dp_diff_make calls it if how->work is set. Returns 0 or a DP_E. */
int dp_diff_adjust(struct dp_diff *diff);

/* Are the runs those of hosts, which differ in more than chance? */
static inline bool dp_diff_has_units(const struct dp_diff_how *how) { return how->units != NULL; }

/* Are the tests of a measure, or of the calls (DP_RULE_CALLS), those of counts? */
static inline bool dp_diff_is_counted(const struct dp_diff *diff, size_t measure)
{
    return diff->how->counts && !dp_diff_has_units(diff->how) && measure != DP_RULE_CALLS
           && !diff->how->measures[measure].exact;
}

/* Degrees of freedom by which the runs of the baseline and of a side tell how they vary. */
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

/* Where an entry's sub begins, or the line is that the entry is, in the newest side that has it and
 * knows the place. Returns false if no side knows it, or if the entry has no sub. */
struct dp_diff_place {
    const struct dp_name *file;
    uint64_t line;
};
bool dp_diff_place(struct dp_diff *diff, uint32_t entry, struct dp_diff_place *place);

/* Where an anonymous sub or a line was in the baseline, as FILE:LINE, if that was another place. */
const struct dp_name *dp_diff_moved_from(const struct dp_diff *diff, uint32_t entry);

/* Which line of diff->lines an entry is; NULL if it is none. */
const struct dp_paired_line *dp_diff_line(const struct dp_diff *diff, uint32_t entry);

/* Ticks per second of a measure's values, or per unit if folded stacks have fractions; 0: the
 * values are counts. */
uint64_t dp_diff_hz(const struct dp_diff *diff, size_t measure);

#endif
