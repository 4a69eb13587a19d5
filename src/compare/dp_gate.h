/* Rules that a comparison must not break: which entries break them, and which ones too few runs
 * leave undecided. */
#ifndef DP_GATE_H
#define DP_GATE_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_diff.h"
#include "dprof/diff.h"

#define DP_GATE_TOTAL UINT32_MAX

struct dp_finding {
    uint32_t rule, side;
    const struct dp_diff *diff; /* the comparison that has the entry: the one that was checked, or
                                 * gate->lines */
    uint32_t entry;             /* its number, or DP_GATE_TOTAL */
    bool undecided;             /* the value crosses the limit, and the test cannot decide whether
                                 * the change is real */
    struct dp_diff_values values;
};

/* The smallest growth that the test of a rule could detect with 80 % power, in the entries that the
 * rule covers and that were tested. */
struct dp_power {
    uint32_t rule, side;
    size_t tested;
    double half, all;           /* percent of the baseline, in half of the entries and in all;
                                 * INFINITY: these runs detect no growth */
    bool is_limited;            /* the rule has a limit above 0, so `needed` is known */
    size_t needed;              /* number of runs on each side that would detect what the rule
                                 * forbids in all entries; 0: more than 10,000 */
    double samples;             /* factor by which more samples would detect it as well; 0: there
                                 * are no samples */
};

struct dp_gate {
    struct dp_finding *findings;    /* by rule, then by side, the largest growth first */
    size_t n, cap;
    struct dp_power *powers;    /* by rule and side, if something was tested */
    size_t n_powers, powers_cap;
    size_t failed, undecided;
    size_t needed;              /* number of runs on each side that could decide what is
                                 * undecided */
    size_t below;               /* number of times, with one run on each side, that cross a limit
                                 * and are below how->time_floor */
    struct dp_diff *lines;      /* the same sides by line of source; NULL unless rules are about
                                 * lines and the entries are not */
    struct dp_diff_how lines_how;
};

/* Checks how->rules of a diff: the entries that pass the filters, and the total. A rule about lines
 * checks lines; DP_E_ARG if a side has none. Returns 0 or a DP_E; the caller releases *gate. */
int dp_gate_check(struct dp_gate *gate, const struct dp_diff *diff);
void dp_gate_release(struct dp_gate *gate);

/* Appends the name of the entry that a finding is about: the texts of its keys, or `(total)`. */
void dp_gate_name(struct dp_buf *buf, const struct dp_finding *f);

/* The sub that contains the line of a finding; NULL if the finding is about no line. */
const struct dp_name *dp_gate_sub(const struct dp_finding *f);

#endif
