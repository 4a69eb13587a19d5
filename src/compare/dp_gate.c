#include "dp_gate.h"
#include "dp_counts.h"
#include "dp_err.h"
#include "dp_hosts.h"
#include "dp_mem.h"
#include "dp_sort.h"
#include "dp_stat.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const char total[] = "(total)";
enum { MOST_RUNS = 10000 };     /* no more runs than this are recommended */

/* What one test could have detected in an entry: the growth in percent, and the rule's limit in
 * sigmas. For samples, both are about the root of the ratio. */
struct sight { double percent, shift; };

struct checking {
    const struct dp_diff *diff; /* the comparison that the rule is about */
    struct dp_gate *gate;
    const struct dp_diff_family *family;
    struct dp_diff_family ops;  /* the comparison of ops, if the rule needs it */
    uint32_t rule, side;
    struct sight *sights;       /* of the entries that the rule covers */
    size_t n_sights, sights_cap;
};

static int64_t growth_of(const struct dp_diff_values *v) { return (int64_t)(v->value - v->base); }

/* The growth over `base` that the rule's i-th limit allows, in ticks, or in units of the count.
 * Rounds so that 3 % of 100 are 3, whatever the last bit of a double. */
static double limit_of(const struct dp_rule *rule, size_t i, uint64_t base, uint64_t hz)
{
    double limit = rule->limits[i].value
                   * (rule->limits[i].percent ? (double)base / 100
                      : hz ? (double)hz
                      : 1);
    double whole = floor(limit + 0.5);
    return fabs(limit - whole) <= 4 * DBL_EPSILON * limit ? whole : limit;
}

/* Has the value grown by more than all limits of the rule? */
static bool crosses_limit(const struct checking *c, const struct dp_rule *rule,
                          const struct dp_diff_values *v)
{
    uint64_t hz = dp_diff_hz(c->diff, rule->measure);
    if (v->value <= v->base)
        return false;
    double growth = (double)(v->value - v->base);
    for (size_t i = 0; i < rule->n_limits; i++)
        if (growth <= limit_of(rule, i, v->base, hz))
            return false;
    return true;
}

/* Does the entry execute more ops than before, for certain or significantly? */
static bool has_more_ops(const struct checking *c, uint32_t entry)
{
    const struct dp_diff_values *v = entry == DP_GATE_TOTAL ? &c->ops.total : &c->ops.values[entry];
    return (v->verdict == DP_DIFF_EXACT || v->verdict == DP_DIFF_TRUE) && v->value > v->base;
}

/* Appends a finding: the rule that is checked now, and the entry that breaks it. Returns 0 or
 * DP_E_NOMEM. */
static int add_finding(struct checking *c, uint32_t entry, const struct dp_diff_values *v,
                       bool undecided)
{
    struct dp_gate *g = c->gate;
    if (dp_mem_grow((void **)&g->findings, &g->cap, g->n + 1, sizeof *g->findings) < 0)
        return DP_E_NOMEM;
    g->findings[g->n++] = (struct dp_finding){ c->rule, c->side, c->diff, entry, undecided, *v };
    g->undecided += undecided;
    g->failed += !undecided;
    return 0;
}

/* Is this a time, with one run on each side, whose change is too small to mean anything? */
static bool is_below(const struct checking *c, const struct dp_rule *rule,
                     const struct dp_diff_values *v)
{
    const struct dp_diff_how *how = c->diff->how;
    uint64_t hz = dp_diff_hz(c->diff, rule->measure);
    if (v->verdict != DP_DIFF_SINGLE || !hz || !c->diff->is_time
        || !dp_metric_is_time(how->measures[rule->measure].metric))
        return false;
    double growth = (double)(v->value - v->base);
    double whole = c->family->whole > c->family->base_whole ? c->family->whole
                                                            : c->family->base_whole;
    return growth < how->time_floor * (double)hz || 100 * growth < how->time_floor_percent * whole;
}

/* Adds a finding if the entry has grown by more than all limits of the rule, and the growth is no
 * chance; it is undecided if there are too few runs. A growth too small to mean anything is counted
 * in gate->below instead. Returns 0 or DP_E_NOMEM. */
static int check_growth(struct checking *c, const struct dp_rule *rule, uint32_t entry,
                        const struct dp_diff_values *v)
{
    if (rule->with_ops && !has_more_ops(c, entry))
        return 0;
    if (crosses_limit(c, rule, v) && is_below(c, rule, v)) {
        c->gate->below++;
        return 0;
    }
    switch (v->verdict) {
    case DP_DIFF_EXACT: case DP_DIFF_SINGLE: case DP_DIFF_TRUE: case DP_DIFF_FEW:
        return crosses_limit(c, rule, v) ? add_finding(c, entry, v, v->verdict == DP_DIFF_FEW) : 0;
    case DP_DIFF_SMALL:         /* an entry that a pattern selects is always checked */
        return rule->pattern >= 0 && crosses_limit(c, rule, v) ? add_finding(c, entry, v, true) : 0;
    case DP_DIFF_EQUAL: case DP_DIFF_UNSURE: case DP_DIFF_LAYOUT:
        break;
    }
    return 0;
}

/* The greatest growth over `base` that the rule's limits allow. */
static double forbidden_value(const struct checking *c, const struct dp_rule *rule, uint64_t base)
{
    double most = 0;
    for (size_t i = 0; i < rule->n_limits; i++) {
        double limit = limit_of(rule, i, base, dp_diff_hz(c->diff, rule->measure));
        most = limit > most ? limit : most;
    }
    return most;
}

/* Notes how well the runs distinguish an entry's growth from chance. Notes nothing for other rules,
 * and for entries without a test. Returns 0 or DP_E_NOMEM. */
static int note_sight(struct checking *c, const struct dp_rule *rule,
                      const struct dp_diff_values *v)
{
    bool counted = c->family->counted;
    if (rule->kind != DP_RULE_GROWTH || !dp_diff_is_tested(v) || !v->base
        || c->family->by_counts || !isfinite(v->sight))
        return 0;
    double most = forbidden_value(c, rule, v->base), base = (double)v->base;
    double sigma = v->sight;
    if (dp_mem_grow((void **)&c->sights, &c->sights_cap, c->n_sights + 1, sizeof *c->sights) < 0)
        return DP_E_NOMEM;
    c->sights[c->n_sights++] = (struct sight){
        counted ? sigma : 100 * sigma / base,
        counted ? (sqrt(1 + most / base) - 1) / sigma
        : sigma > 0 ? most / sigma
        : INFINITY
    };
    return 0;
}

/* Compares sights by percent, the smallest first. */
static int by_percent(const void *ctx, uint32_t x, uint32_t y)
{
    const struct sight *s = ((const struct checking *)ctx)->sights;
    return s[x].percent < s[y].percent ? -1 : s[x].percent > s[y].percent ? 1 : x < y ? -1 : x > y;
}

/* Fills in the power of a rule about samples: computes the growth that is detected in the entries,
 * whose sights are sorted, and the number of samples that would detect what the rule forbids. */
static void sum_up_counts(const struct checking *c, struct dp_power *power, double alpha,
                          double shift)
{
    const struct dp_diff *diff = c->diff;
    double reach = dp_counts_reach(dp_diff_freedom(diff, c->side), alpha);
    double half = 1 + reach * c->sights[(c->n_sights - 1) / 2].percent;
    double all = 1 + reach * c->sights[c->n_sights - 1].percent;
    size_t runs = diff->sides[0].n_runs, others = diff->sides[c->side].n_runs;
    power->half = 100 * (half * half - 1);
    power->all = 100 * (all * all - 1);
    power->samples = shift > 0 ? reach * reach / (shift * shift) : 1;
    double needed = ceil(power->samples * (double)(runs < others ? runs : others));
    power->needed = power->is_limited && needed <= MOST_RUNS ? (size_t)needed : 0;
}

/* Sums up the notes on a rule: appends to the gate what the rule's tests could have detected, and
 * how many runs would detect what it forbids. Returns 0 or DP_E_NOMEM. */
static int sum_up(struct checking *c)
{
    struct dp_gate *g = c->gate;
    size_t n = c->n_sights;
    if (!n)
        return 0;
    if (dp_sort_array(c->sights, n, sizeof *c->sights, by_percent, c) < 0
        || dp_mem_grow((void **)&g->powers, &g->powers_cap, g->n_powers + 1, sizeof *g->powers) < 0)
        return DP_E_NOMEM;
    /* Holm's first step, which a single change has to pass */
    double alpha = c->diff->how->alpha / (double)c->family->tests, shift = INFINITY;
    alpha *= c->diff->how->spending > 0 ? c->diff->how->spending : 1;
    for (size_t i = 0; i < n; i++)
        shift = c->sights[i].shift < shift ? c->sights[i].shift : shift;
    struct dp_power *power = &g->powers[g->n_powers++];
    *power = (struct dp_power){
        .rule = c->rule, .side = c->side, .tested = n, .is_limited = shift > 0,
    };
    if (c->family->counted) {
        sum_up_counts(c, power, alpha, shift);
        return 0;
    }
    size_t runs = c->diff->sides[0].n_runs, others = c->diff->sides[c->side].n_runs;
    bool units = dp_diff_has_units(c->diff->how), paired = c->diff->how->paired != 0;
    const struct dp_hosts_prior *prior = &c->family->prior;
    double seen = units ? dp_hosts_reach(runs, others, paired, prior, alpha)
                        : dp_stat_seen(runs, others, alpha);
    power->half = c->sights[(n - 1) / 2].percent * seen;
    power->all = c->sights[n - 1].percent * seen;
    if (shift > 0)
        power->needed = units ? dp_hosts_needed(shift, runs, others, paired, prior, alpha,
                                                MOST_RUNS)
                              : dp_stat_runs_to_see(shift, alpha, MOST_RUNS);
    return 0;
}

/* Checks one entry against a rule: growth, or an entry that is new or gone. Returns 0 or a DP_E. */
static int check_entry(struct checking *c, const struct dp_rule *rule, uint32_t entry,
                       const struct dp_diff_values *v)
{
    if (rule->kind == DP_RULE_GROWTH)
        return check_growth(c, rule, entry, v);
    bool fails = entry != DP_GATE_TOTAL && v->there != v->base_there
                 && v->there == (rule->kind == DP_RULE_NEW);
    return fails ? add_finding(c, entry, v, false) : 0;
}

/* The key that patterns match: the sub, at any place among the keys. */
static size_t pattern_key(const struct dp_report_how *how)
{
    for (size_t k = 0; k < how->n_keys; k++)
        if (how->keys[k] == DP_K_SUB)
            return k;
    return 0;
}

/* Matches a name with the rule's pattern, in the host. Returns 1, 0 or DP_E_HOST. */
static int match_name(const struct checking *c, const struct dp_rule *rule,
                      const struct dp_name *name)
{
    const struct dp_diff_how *how = c->diff->how;
    int rc = how->match(how->match_ctx, (size_t)rule->pattern, name->ptr, name->len);
    return rc < 0 ? DP_E_HOST : rc;
}

/* Does the rule's pattern match? For rules about lines it matches FILE:LINE, or the file. Returns
 * 1, 0 or DP_E_HOST. */
static int matches_rule(const struct checking *c, const struct dp_rule *rule, uint32_t entry)
{
    const struct dp_name all = { total, sizeof total - 1 };
    const struct dp_name *name = entry == DP_GATE_TOTAL
        ? &all : dp_diff_text(c->diff, entry, pattern_key(&c->diff->how->over));
    const struct dp_paired_line *line = rule->by_line && entry != DP_GATE_TOTAL
        ? dp_diff_line(c->diff, entry) : NULL;
    if (rule->pattern < 0)
        return 1;
    int rc = match_name(c, rule, name);
    return rc == 0 && line ? match_name(c, rule, dp_pool_name(&c->diff->lines.texts, line->file))
            : rc;
}

/* Do the filters show this entry? */
static bool is_shown(const struct dp_diff *diff, uint32_t entry, const struct dp_diff_values *v)
{
    return entry < diff->shown_cap && diff->shown[entry]
           && (!diff->how->baseline_only || (v->there && v->base_there));
}

/* Checks a rule for all entries of a side, and for the total. Adds findings, the number of runs
 * that are needed, and what the tests can detect. Returns 0 or a DP_E. */
static int check_side(struct checking *c)
{
    const struct dp_rule *rule = &c->diff->how->rules[c->rule];
    struct dp_diff_family family;
    size_t n = dp_diff_entries(c->diff), needed = 0;
    int rc = dp_diff_compare(&family, c->diff, rule->kind == DP_RULE_GROWTH ? rule->measure : 0,
                             rule->incl != 0, c->side);
    if (rc == 0 && rule->with_ops) {
        rc = dp_diff_compare(&c->ops, c->diff, c->diff->how->beside, rule->incl != 0, c->side);
        if (rc < 0)
            dp_diff_family_release(&family);
    }
    if (rc < 0)
        return rc;
    c->family = &family;
    c->n_sights = 0;
    for (uint32_t e = 0; e <= n && rc >= 0; e++) {
        uint32_t entry = e < n ? e : DP_GATE_TOTAL;
        /* -n is for programs that did more or less than the baseline, so their totals differ */
        if (e < n ? !is_shown(c->diff, e, &family.values[e])
                  : c->diff->how->normalize || rule->by_line)
            continue;
        size_t before = c->gate->undecided;
        rc = matches_rule(c, rule, entry);
        if (rc > 0 && e < n)
            rc = note_sight(c, rule, &family.values[e]) < 0 ? DP_E_NOMEM : 1;
        if (rc > 0)
            rc = check_entry(c, rule, entry, e < n ? &family.values[e] : &family.total);
        /* the total's test is not one of many, so fewer runs are enough */
        if (c->gate->undecided > before)
            needed = e < n ? family.needed
                     : needed ? needed
                     : dp_diff_has_units(c->diff->how) ? family.needed
                     : dp_stat_runs_needed(1, c->diff->how->alpha);
    }
    c->gate->needed = needed > c->gate->needed ? needed : c->gate->needed;
    rc = rc < 0 ? rc : sum_up(c);
    dp_diff_family_release(&family);
    dp_diff_family_release(&c->ops);
    return rc < 0 ? rc : 0;
}

/* Orders findings by rule and side; then by growth, the greatest first; then the total before
 * entries, and these by the text of their first key. */
static int compare_findings(const void *ctx, uint32_t x, uint32_t y)
{
    const struct checking *c = ctx;
    const struct dp_finding *a = &c->gate->findings[x], *b = &c->gate->findings[y];
    if (a->rule != b->rule)
        return a->rule < b->rule ? -1 : 1;
    if (a->side != b->side)
        return a->side < b->side ? -1 : 1;
    int64_t g = growth_of(&a->values), h = growth_of(&b->values);
    if (g != h)
        return g > h ? -1 : 1;
    if (a->entry == DP_GATE_TOTAL || b->entry == DP_GATE_TOTAL)
        return a->entry == b->entry ? 0 : a->entry == DP_GATE_TOTAL ? -1 : 1;
    return dp_name_compare(dp_diff_text(a->diff, a->entry, 0), dp_diff_text(b->diff, b->entry, 0));
}

/* Sets *lines to the comparison by line, which is made when the first rule needs it. Returns 0 or a
 * DP_E; DP_E_ARG: a profile has no lines. */
static int by_line(struct dp_gate *gate, const struct dp_diff *diff, const struct dp_diff **lines)
{
    *lines = gate->lines ? gate->lines : diff;
    if (gate->lines || (diff->by_line && diff->how->over.n_keys == 1))
        return 0;
    gate->lines_how = *diff->how;
    gate->lines_how.over.keys[0] = DP_K_SRCLINE;
    gate->lines_how.over.n_keys = 1;
    gate->lines = dp_mem_zalloc(sizeof *gate->lines);
    int rc = gate->lines ? dp_diff_make(gate->lines, diff->sides, diff->n_sides, &gate->lines_how,
                                        NULL, NULL)
                         : DP_E_NOMEM;
    *lines = gate->lines;
    return rc < 0 ? rc : gate->lines->by_line ? 0 : DP_E_ARG;
}

int dp_gate_check(struct dp_gate *gate, const struct dp_diff *diff)
{
    struct checking c = { .gate = gate };
    int rc = 0;
    memset(gate, 0, sizeof *gate);
    for (c.rule = 0; c.rule < diff->how->n_rules && rc == 0; c.rule++) {
        c.diff = diff;
        if (diff->how->rules[c.rule].by_line)
            rc = by_line(gate, diff, &c.diff);
        for (c.side = 1; c.side < diff->n_sides && rc == 0; c.side++)
            rc = check_side(&c);
    }
    if (rc == 0)
        rc = dp_sort_array(gate->findings, gate->n, sizeof *gate->findings, compare_findings, &c);
    dp_mem_free(c.sights);
    if (rc < 0)
        dp_gate_release(gate);
    return rc;
}

void dp_gate_release(struct dp_gate *gate)
{
    dp_mem_free(gate->findings);
    dp_mem_free(gate->powers);
    if (gate->lines)
        dp_diff_release(gate->lines);
    dp_mem_free(gate->lines);
    memset(gate, 0, sizeof *gate);
}

void dp_gate_name(struct dp_buf *buf, const struct dp_finding *f)
{
    if (f->entry == DP_GATE_TOTAL) {
        dp_buf_adds(buf, total);
        return;
    }
    for (size_t k = 0; k < f->diff->how->over.n_keys; k++) {
        const struct dp_name *name = dp_diff_text(f->diff, f->entry, k);
        dp_buf_adds(buf, k ? ", " : "");
        dp_buf_add(buf, name->ptr, name->len);
    }
}

const struct dp_name *dp_gate_sub(const struct dp_finding *f)
{
    const struct dp_paired_line *line = f->entry == DP_GATE_TOTAL
        ? NULL : dp_diff_line(f->diff, f->entry);
    return line && line->sub ? dp_pool_name(&f->diff->lines.texts, line->sub) : NULL;
}
