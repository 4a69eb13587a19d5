/* Rules that a comparison must not break: what breaks them, and what so few runs cannot decide. */
#ifndef DP_GATE_H
#define DP_GATE_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_diff.h"
#include "dprof/diff.h"

#define DP_GATE_TOTAL UINT32_MAX

struct dp_finding {
    uint32_t rule, side;
    const struct dp_diff *diff; /* whose entry it is about: the one that was checked, or
                                 * gate->lines */
    uint32_t entry;             /* or DP_GATE_TOTAL */
    bool undecided;             /* the value crosses the limit, and the test cannot say whether that
                                 * is true */
    struct dp_diff_values values;
};

/* What growth the test of a rule could have seen, four times of five, in those entries that the
 * rule is about and that were tested. */
struct dp_power {
    uint32_t rule, side;
    size_t tested;
    double half, all;           /* in percent of the baseline, in half of the entries and in all;
                                 * INFINITY: these runs see nothing */
    bool is_limited;            /* the rule has a limit above 0, so that needed is known */
    size_t needed;              /* how many runs on each side see what the rule forbids, in all of
                                 * them; 0: more than 10,000 */
    double samples;             /* how many times as many samples do; 0: nothing was sampled */
};

struct dp_gate {
    struct dp_finding *findings;    /* by rule, by side, the largest growth first */
    size_t n, cap;
    struct dp_power *powers;    /* by rule, by side, where something was tested */
    size_t n_powers, powers_cap;
    size_t failed, undecided;
    size_t needed;              /* how many runs on each side could decide what is undecided */
    size_t below;               /* how many times of one run on each side cross a rule, and are
                                 * below how->time_floor */
    struct dp_diff *lines;      /* the same sides by line of source, where rules are about lines and
                                 * the entries are others; or NULL */
    struct dp_diff_how lines_how;
};

/* Checks how->rules of a diff: those entries that the filters show, and the total; or lines, where
 * a rule is about these: DP_E_ARG if a side has none. Returns 0 or a DP_E; the caller releases
 * it. */
int dp_gate_check(struct dp_gate *gate, const struct dp_diff *diff);
void dp_gate_release(struct dp_gate *gate);

/* Appends what a finding is about: the texts of the entry's keys, or `(total)`. */
void dp_gate_name(struct dp_buf *buf, const struct dp_finding *f);

/* Of a finding about a line: the sub that it stands in; or NULL. */
const struct dp_name *dp_gate_sub(const struct dp_finding *f);

#endif
