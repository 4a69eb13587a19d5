/* dprofdiff's view: a comparison of sides, and rules that must not be broken. */
#ifndef DPROF_DIFF_H
#define DPROF_DIFF_H

#include "dprof/entry.h"
#include "dprof/line_pair.h"
#include "dprof/pair.h"
#include "dprof/table.h"

/* A compared measure: a metric, which each part of each side has. */
#define DP_MEASURE_OPTIONS(X) \
    X(TEXT, name)               /* as in a rule: "ops" */ \
    X(ENUM, metric, dp_metric) \
    X(SIZES, counters)          /* for a counter: its number by part, of all sides in order */ \
    X(FLAG, exact)              /* repeats from run to run, so one run a side decides */ \
    X(REAL, tolerance)          /* of an exact measure: a difference of at most that share counts as
                                 * equal */
struct dp_diff_measure { DP_MEASURE_OPTIONS(DP_MEMBER) };

/* One side: runs of one or more parts, which are files. The first side is the baseline. */
#define DP_SIDE_OPTIONS(X) X(TEXT, name) X(FLAG, cut) X(FLAG, bucketed) X(OWN, runs)
struct dp_diff_side {
    const char *name;               /* for people; UTF-8 */
    const struct dp_part *parts;
    const size_t *ends;             /* by run: end of its parts */
    size_t n_runs;
    int cut;                        /* a part is incomplete */
    int bucketed;                   /* each run is a bucket of several; the name says how many */
};

#define DP_COMPUTE_LIST(X) \
    X(DP_C_DELTA, "delta") X(DP_C_DELTA_ABS, "delta-abs") X(DP_C_RATIO, "ratio") \
    X(DP_C_WDIFF, "wdiff")
DP_ENUM(dp_diff_compute, DP_COMPUTE_LIST);
#define DP_DIFF_BY_CHANGE ((size_t)-1)

#define DP_VIEW_LIST(X) \
    X(DP_V_FLAT, "flat") X(DP_V_TREE, "tree") X(DP_V_CALLERS, "callers") X(DP_V_CALLEES, "callees")
DP_ENUM(dp_diff_view, DP_VIEW_LIST);

/* A rule of a gate: a change that must not happen. */
#define DP_RULE_LIST(X) \
    X(DP_RULE_GROWTH, "growth") X(DP_RULE_NEW, "new") X(DP_RULE_GONE, "gone")
DP_ENUM(dp_rule_kind, DP_RULE_LIST);
enum { DP_RULE_LIMITS = 2 };
#define DP_RULE_CALLS ((size_t)-1)
#define DP_RULE_OPTIONS(X) \
    X(TEXT, text)               /* as the user wrote it */ \
    X(ENUM, kind, dp_rule_kind) \
    X(INDEX, pattern)           /* of match: only subs that match; -1: all, and the total */ \
    X(SIZE, measure)            /* of growth; or DP_RULE_CALLS */ \
    X(FLAG, by_line)            /* about lines of source, with any kind of entries */ \
    X(FLAG, incl) \
    X(FLAG, with_ops)           /* of growth: only if the ops are known to have grown, too */ \
    X(OWN, limits)
struct dp_rule {
    DP_RULE_OPTIONS(DP_MEMBER)
    /* percent of the baseline; seconds; or a count. All must be exceeded */
    struct { double value; int percent; } limits[DP_RULE_LIMITS];
    size_t n_limits;
};

#define DP_DIFF_OPTIONS(X) \
    X(PART, over, dp_report_how)  /* metric: that of the first measure */ \
    X(LIST, measures, dp_diff_measure) \
    X(PART, pair, dp_pair_how) \
    X(LIST, sources, dp_source_text)    /* known sources, for lines */ \
    X(FLAG, children)           /* values with callees */ \
    X(FLAG, normalize)          /* scale values as if all runs had the baseline's total */ \
    /* for times of several runs: the measure of each sub's work, ops; values are then scaled as \
     * if all runs had the same speed (dp_diff.h). For samples, which measure no work, the measure \
     * of samples: the work is assumed to be equal. 0: not scaled */ \
    X(SIZE, work) \
    /* for times: the measure, ops, that is certain if times are not. 0: none */ \
    X(SIZE, beside) \
    /* for times of several runs: the measure, in ns, of stretches that took much longer than \
     * usual. 0: none */ \
    X(SIZE, noise) \
    /* for samples: the measure that is their number. Sampled measures are tested by counts; exact \
     * measures are not. 0: there are none */ \
    X(SIZE, counts) \
    /* for a store: the unit that a run is, "host" or "process". Values are compared like those of \
     * hosts (dp_hosts.h). NULL: a run of a program */ \
    X(TEXT, units) \
    /* run k of each side belongs to the same unit; without units, it was recorded in turn with \
     * run k of the others */ \
    X(FLAG, paired) \
    X(FLAG, per_call)           /* times are as if all sides had the calls of the baseline */ \
    X(ENUM, compute, dp_diff_compute) \
    X(PAIR, weights)            /* of the baseline, of the other side */ \
    X(FLAG, amounts)            /* for people: values of the sides instead of shares */ \
    /* rows are sorted by the value computed for this side; 0: by the baseline; DP_DIFF_BY_CHANGE: \
     * by the absolute change of the first side's value */ \
    X(SIZE, order) \
    X(FLAG, baseline_only)      /* only entries of the baseline and another side */ \
    X(REAL, floor)              /* percent of the pooled total; entries with less are not \
                                 * tested */ \
    /* a difference is significant if its p, corrected for the number of tests, is at most \
     * this */ \
    X(REAL, alpha) \
    /* percent: the largest difference that is attributed to memory layout for equal work */ \
    X(REAL, layout) \
    /* in an interim analysis: the part of alpha for this analysis; p is divided by it. 0: \
     * all */ \
    X(REAL, spending) \
    /* percent of the baseline: a smaller change needs no further runs */ \
    X(REAL, effect) \
    /* corrected after Benjamini and Hochberg, instead of Holm: for pictures */ \
    X(FLAG, discoveries) \
    X(REAL, confidence)         /* of intervals */ \
    /* the gate */ \
    X(LIST, rules, dp_rule) \
    X(FLAG, strict)             /* undecided rules fail */ \
    /* seconds, and percent of the greater total: with one run a side, no rule applies to a time \
     * whose change is below either */ \
    X(REAL, time_floor) \
    X(REAL, time_floor_percent) \
    X(OWN, match) \
    /* output */ \
    X(ENUM, view, dp_diff_view) \
    X(NAME, edges_of)           /* for callers and callees: the sub */ \
    /* entries that change less of the total are left out; in the tree, they are one line */ \
    X(REAL, percent_limit) \
    X(SIZE, rows)               /* largest number; 0: all */ \
    /* more columns: values; how they were computed; calls */ \
    X(FLAG, period) \
    X(FLAG, formula) \
    X(FLAG, verbose) \
    /* for two sides, as a flat text of subs: what changed and why, in place of the table; with \
     * verbose, before it */ \
    X(FLAG, answer) \
    X(FLAG, spans)              /* for the answer, which has this word: only spans are shown */ \
    X(TEXT, startup)            /* of the answer: a line below the total; NULL: none */ \
    X(SIZE, width)              /* of the terminal; 0: unlimited */ \
    DP_PRINT_OPTIONS(X)
struct dp_diff_how {
    DP_DIFF_OPTIONS(DP_MEMBER)
    /* Does a name match a pattern of a rule? 1, 0, or negative to stop. */
    int (*match)(void *ctx, size_t pattern, const char *ptr, size_t len);
    void *match_ctx;
};

#define DP_GATE_FIELDS(X) \
    X(SIZE, failed) X(SIZE, undecided)  /* of the gate: findings */ \
    X(SIZE, needed)             /* number of runs a side that could decide; 0: these can */
#define DP_DIFF_OUTCOME_FIELDS(X) \
    X(SIZE, rows)               /* number that passes the filters, with equal ones; for a tree, \
                                 * number printed */ \
    DP_GATE_FIELDS(X) \
    X(SIZE, open)               /* number of tests that have neither found a change nor excluded \
                                 * one of how->effect ... */ \
    X(OWNED, open_names)        /* ... and the names of the largest three */ \
    X(OWNED, renames)           /* certain ones, as lines OLD=NEW (dp_renamed.h) */ \
    X(OWNED, renamed)           /* all that may be some, as lines for people */ \
    X(OWNED, findings)          /* of the gate, as lines of text */
struct dp_diff_outcome { DP_DIFF_OUTCOME_FIELDS(DP_MEMBER) };

/* Frees the texts of an outcome. */
void dp_diff_outcome_release(struct dp_diff_outcome *out);

/* Compares and prints. Returns 0 or a negative DP_E; DP_E_ARG if no sub has the name edges_of. */
int dp_diff_print(const struct dp_diff_side *sides, size_t n, const struct dp_diff_how *how,
                  const struct dp_host *host, struct dp_diff_outcome *out);

/* Returns, before anything is recorded, the least shift, in spreads of a value among the runs of a
 * side, that tests with so many runs a side detect with 80 % power at this level; infinite:
 * none. */
double dp_diff_reach(size_t n, size_t m, double alpha);

/* Computes the outcome of a flat table for people, without printing it: the gate's result. */
int dp_diff_check(const struct dp_diff_side *sides, size_t n, const struct dp_diff_how *how,
                  struct dp_diff_outcome *out);

#endif
