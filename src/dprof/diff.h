/* dprofdiff's view: sides compared, rules about what must not be. */
#ifndef DPROF_DIFF_H
#define DPROF_DIFF_H

#include "dprof/entry.h"
#include "dprof/line_pair.h"
#include "dprof/pair.h"
#include "dprof/table.h"

/* What is compared: a metric, which each part of each side has. */
#define DP_MEASURE_OPTIONS(X) \
    X(TEXT, name)               /* as a rule has it: "ops" */ \
    X(ENUM, metric, dp_metric) \
    X(SIZES, counters)          /* by part, of all sides in order: where it is a counter */ \
    X(FLAG, exact)              /* repeats from run to run, so that one run a side decides */ \
    X(REAL, tolerance)          /* of an exact one: what differs by that share or less is equal */
struct dp_diff_measure { DP_MEASURE_OPTIONS(DP_MEMBER) };

/* One side: runs of one or more parts, which are files. The first side is the baseline. */
#define DP_SIDE_OPTIONS(X) X(TEXT, name) X(FLAG, cut) X(FLAG, bucketed) X(OWN, runs)
struct dp_diff_side {
    const char *name;               /* for people; UTF-8 */
    const struct dp_part *parts;
    const size_t *ends;             /* by run: behind its last part */
    size_t n_runs;
    int cut;                        /* a part is cut short */
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

/* A rule of a gate: what must not be. */
#define DP_RULE_LIST(X) \
    X(DP_RULE_GROWTH, "growth") X(DP_RULE_NEW, "new") X(DP_RULE_GONE, "gone")
DP_ENUM(dp_rule_kind, DP_RULE_LIST);
enum { DP_RULE_LIMITS = 2 };
#define DP_RULE_CALLS ((size_t)-1)
#define DP_RULE_OPTIONS(X) \
    X(TEXT, text)               /* as it was given */ \
    X(ENUM, kind, dp_rule_kind) \
    X(INDEX, pattern)           /* of match: only subs that match; -1: all, and the total */ \
    X(SIZE, measure)            /* of growth; or DP_RULE_CALLS */ \
    X(FLAG, by_line)            /* about lines of source, whatever the entries are */ \
    X(FLAG, incl) \
    X(FLAG, with_ops)           /* of growth: only where the ops are known to have grown, too */ \
    X(OWN, limits)
struct dp_rule {
    DP_RULE_OPTIONS(DP_MEMBER)
    /* percent of the baseline; seconds; or so many. All are to be exceeded */
    struct { double value; int percent; } limits[DP_RULE_LIMITS];
    size_t n_limits;
};

#define DP_DIFF_OPTIONS(X) \
    X(PART, over, dp_report_how)  /* metric: of the first measure */ \
    X(LIST, measures, dp_diff_measure) \
    X(PART, pair, dp_pair_how) \
    X(LIST, sources, dp_source_text)    /* those that are known, for lines */ \
    X(FLAG, children)           /* values with what was called */ \
    X(FLAG, normalize)          /* values as if all runs had the baseline's total */ \
    /* of times of several runs: the measure that tells how much each sub did, ops; values are \
     * then as if all runs had had the same speed (dp_diff.h). That of samples, which tells no \
     * work: it is taken for the same. 0: as they are */ \
    X(SIZE, work) \
    /* of times: the measure, ops, that is certain where these are not. 0: none */ \
    X(SIZE, beside) \
    /* of times of several runs: the measure, in ns, by which stretches took much longer than \
     * usual. 0: none */ \
    X(SIZE, noise) \
    /* of samples: the measure that is their number. What has been sampled is tested by counts (no \
     * measure that is exact has). 0: there are none */ \
    X(SIZE, counts) \
    /* of a store: what a run is, "host" or "process". Values are compared as those of hosts are \
     * (dp_hosts.h). NULL: a run of a program */ \
    X(TEXT, units) \
    /* run k of each side is of the same one; without units, it was recorded in turn with run k of \
     * the others */ \
    X(FLAG, paired) \
    X(FLAG, per_call)           /* times are as if all had had the calls of the baseline */ \
    X(ENUM, compute, dp_diff_compute) \
    X(PAIR, weights)            /* of the baseline, of the other side */ \
    X(FLAG, amounts)            /* for people: what the sides have, in place of shares of it */ \
    /* rows by what was computed for this side; 0: by the baseline; DP_DIFF_BY_CHANGE: by what was \
     * added to the value of the first side, or taken off */ \
    X(SIZE, order) \
    X(FLAG, baseline_only)      /* only what the baseline and another side have */ \
    X(REAL, floor)              /* percent of the pooled total: what has less is not tested */ \
    /* a difference is true when its p, corrected for the number of tests, is no greater */ \
    X(REAL, alpha) \
    /* percent: what did the same work in another time may lie elsewhere, up to that much */ \
    X(REAL, layout) \
    /* of several looks at runs that become more: the part of alpha that is for this one; p is \
     * divided by it. 0: all */ \
    X(REAL, spending) \
    /* percent of the baseline: what has changed by less is not looked for further */ \
    X(REAL, effect) \
    /* corrected after Benjamini and Hochberg, not Holm: for pictures */ \
    X(FLAG, discoveries) \
    X(REAL, confidence)         /* of intervals */ \
    /* the gate */ \
    X(LIST, rules, dp_rule) \
    X(FLAG, strict)             /* what cannot be decided fails */ \
    /* seconds, and percent of the greater total: with one run a side no rule looks at a time that \
     * has changed by less than either */ \
    X(REAL, time_floor) \
    X(REAL, time_floor_percent) \
    X(OWN, match) \
    /* output */ \
    X(ENUM, view, dp_diff_view) \
    X(NAME, edges_of)           /* of callers and callees: the sub */ \
    /* what changes less of the total is left out; of the tree, it is one line */ \
    X(REAL, percent_limit) \
    X(SIZE, rows)               /* at most so many; 0: all */ \
    /* more columns: values; how it was computed; calls */ \
    X(FLAG, period) \
    X(FLAG, formula) \
    X(FLAG, verbose) \
    /* of two sides, a flat text of subs: what changed and why, in the place of the table; with
     * verbose, before it */ \
    X(FLAG, answer) \
    X(SIZE, width)              /* of the terminal that text is for; 0: as wide as it gets */ \
    DP_PRINT_OPTIONS(X)
struct dp_diff_how {
    DP_DIFF_OPTIONS(DP_MEMBER)
    /* does a name match a pattern of a rule? 1, 0, or negative to stop */
    int (*match)(void *ctx, size_t pattern, const char *ptr, size_t len);
    void *match_ctx;
};

#define DP_DIFF_OUTCOME_FIELDS(X) \
    X(SIZE, rows)               /* that the filters leave, equal ones included; of a tree, as many \
                                 * as are printed */ \
    X(SIZE, failed) X(SIZE, undecided)  /* of the gate: findings */ \
    X(SIZE, needed)             /* runs a side that could decide; 0: these can */ \
    X(SIZE, open)               /* tests that have neither found a change nor shown that there is \
                                 * none of how->effect ... */ \
    X(OWNED, open_names)        /* ... and which they are, the largest three */ \
    X(OWNED, renames)           /* those that are certain, as lines OLD=NEW (dp_renamed.h) */ \
    X(OWNED, findings)          /* the gate's, as lines of text */
struct dp_diff_outcome { DP_DIFF_OUTCOME_FIELDS(DP_MEMBER) };
void dp_diff_outcome_release(struct dp_diff_outcome *out);

/* Compares and prints. Returns 0 or a negative DP_E; DP_E_ARG where there is no sub of
 * the name edges_of. */
int dp_diff_print(const struct dp_diff_side *sides, size_t n, const struct dp_diff_how *how,
                  const struct dp_host *host, struct dp_diff_outcome *out);

/* Before anything is recorded: the least shift, in spreads of a value among the runs of a side,
 * that tests of so many runs a side find four times of five at that level; infinite: none. */
double dp_diff_reach(size_t n, size_t m, double alpha);

/* What that would tell of a flat table for people, without printing it: the gate's result. */
int dp_diff_check(const struct dp_diff_side *sides, size_t n, const struct dp_diff_how *how,
                  struct dp_diff_outcome *out);

#endif
