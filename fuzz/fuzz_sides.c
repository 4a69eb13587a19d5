/* dprofdiff's views of any bytes, compared with themselves and with their beginning. */
#include "fuzz.h"
#include "dp_table.h"

#include <string.h>

static int any_match(void *ctx, size_t pattern, const char *ptr, size_t len)
{
    (void)ctx, (void)pattern, (void)ptr;
    return (int)(len & 1);
}

static const struct dp_rule rules[] = {
    { .text = "self > 5%", .kind = DP_RULE_GROWTH, .pattern = -1, .n_limits = 1,
      .limits = { { 5, 1 } } },
    { .text = "/x/ calls > 0", .kind = DP_RULE_GROWTH, .pattern = 0, .measure = DP_RULE_CALLS,
      .n_limits = 1 },
    { .text = "new", .kind = DP_RULE_NEW, .pattern = -1 },
    { .text = "gone", .kind = DP_RULE_GONE, .pattern = -1 },
    { .text = "incl > 1us & 1% <\x1b>", .kind = DP_RULE_GROWTH, .pattern = -1, .incl = 1,
      .n_limits = 2, .limits = { { 1e-6, 0 }, { 1, 1 } } },
};
enum { RULES = sizeof rules / sizeof *rules };

/* Two sides, of profiles that are made of all or a part of one input. */
struct sides {
    struct dp_prof *all, *half;
    struct dp_part parts[4];
    size_t ends[2];
    size_t counters[8];
    struct dp_diff_measure measures[2];
    struct dp_diff_side side[2];
};

static bool make(struct fuzz *f, struct sides *s, struct dp_diff_how *how, bool same, unsigned what)
{
    memset(s, 0, sizeof *s);
    f->several = true;
    s->all = fuzz_read(f, f->size, what);
    s->half = same ? NULL : fuzz_read(f, f->size * fuzz_pick(f, 32) / 32, what);
    if (!GOOD(f, s->all && (same || s->half)))
        return false;
    size_t runs = same ? 1 : 1 + fuzz_pick(f, 2), counter;
    enum dp_metric metric = fuzz_metric(f, s->all, &counter);
    if (metric == DP_M_COUNTER && !same)
        metric = DP_T_REAL;     /* the other side may count other things */
    for (size_t i = 0; i < 8; i++)
        s->counters[i] = counter;
    for (size_t i = 0; i < 4; i++)
        s->parts[i].prof = !same && i == 0 ? s->half : s->all;
    s->ends[0] = 1;
    s->ends[1] = 2;
    s->measures[0] = (struct dp_diff_measure){
        .name = "cpu", .metric = metric, .counters = metric == DP_M_COUNTER ? s->counters : NULL,
    };
    s->measures[1] = (struct dp_diff_measure){
        .name = "calls", .metric = DP_M_CALLS, .exact = 1, .tolerance = fuzz_flip(f) ? 0.1 : 0,
    };
    s->side[0] = (struct dp_diff_side){
        .name = "a\x1b", .parts = s->parts, .ends = s->ends, .n_runs = runs,
    };
    s->side[1] = (struct dp_diff_side){
        .name = "b<&\"", .parts = s->parts + runs, .ends = s->ends, .n_runs = runs,
        .cut = fuzz_flip(f),
    };
    how->measures = s->measures + fuzz_pick(f, 2);
    how->n_measures = how->measures == s->measures ? 2 : 1;
    how->over.metric = how->measures->metric;
    how->beside = how->n_measures > 1 && fuzz_flip(f);
    how->work = how->n_measures > 1 && !same && fuzz_flip(f);
    how->counts = how->n_measures > 1 && fuzz_flip(f);
    return true;
}

static void drop(struct sides *s)
{
    dp_prof_free(s->all);
    dp_prof_free(s->half);
}

static void common(struct fuzz *f, struct dp_diff_how *how)
{
    static const int keys[] = { DP_K_SUB, DP_K_SRCLINE, DP_K_PACKAGE, DP_K_CALLER, DP_K_PHASE };
    static const struct dp_rename renames[] = { { "main::", "x::", 6, 3 },
                                                { "A::b", "main::foo", 4, 9 } };
    static const char *const bases[] = { "/w", "lib/" };
    static const char *const separators[] = { NULL, "", ",", "\t", "|" };
    static const double limits[] = { 0, 0, 0.5, 50 }, floors[] = { 0, 0.5, 100 };
    static const size_t rows[] = { 0, 0, 1, 5 }, widths[] = { 0, 80, 1, 30 };
    static const struct dp_report_fact fact = { "Metric", "metric", "x\x1b[31m\n\"<&|\xff", 12 };
    how->over.n_keys = 1 + fuzz_pick(f, 2);
    how->over.keys[0] = keys[fuzz_pick(f, 5)];
    how->over.keys[1] = how->over.keys[0] == DP_K_SUB ? DP_K_SRCLINE : DP_K_SUB;
    how->over.no_children = fuzz_flip(f);
    how->over.relative = fuzz_flip(f);
    how->children = !how->over.no_children;
    how->over.label_flags = how->pair.label_flags = fuzz_pick(f, 8);
    how->pair.renames = renames;
    how->pair.n_renames = fuzz_pick(f, 3);
    how->pair.bases = bases;
    how->pair.n_bases = fuzz_pick(f, 3);
    how->normalize = fuzz_flip(f);
    how->compute = (int)fuzz_pick(f, 4);
    how->weights[0] = 1;
    how->weights[1] = fuzz_flip(f) ? 2 : -999999;
    how->order = fuzz_pick(f, 3) ? fuzz_pick(f, 2) : DP_DIFF_BY_CHANGE;
    how->baseline_only = fuzz_pick(f, 4) == 0;
    how->floor = floors[fuzz_pick(f, 3)];
    how->alpha = fuzz_flip(f) ? 0.001 : 0.5;
    how->confidence = 0.95;
    how->discoveries = fuzz_flip(f);
    how->match = any_match;
    how->strict = fuzz_flip(f);
    how->time_floor = fuzz_flip(f) ? 1e-3 : 0;
    how->time_floor_percent = fuzz_flip(f) ? 0.5 : 0;
    how->percent_limit = limits[fuzz_pick(f, 4)];
    how->rows = rows[fuzz_pick(f, 4)];
    how->period = fuzz_flip(f);
    how->formula = fuzz_flip(f);
    how->verbose = fuzz_flip(f);
    how->separator = separators[fuzz_pick(f, 5)];
    how->title = "t<&\x1b";
    how->quiet = fuzz_pick(f, 4) == 0;
    how->colour = fuzz_pick(f, 4) == 0;
    how->width = widths[fuzz_pick(f, 4)];
    how->facts = &fact;
    how->n_facts = fuzz_pick(f, 2);
    how->rules = rules;
}

static unsigned needs(const struct dp_diff_how *how)
{
    for (size_t i = 0; i < how->over.n_keys; i++)
        if (how->over.keys[i] == DP_K_PHASE)
            return FUZZ_PHASES;
    return 0;
}

static void compare(struct fuzz *f, struct dp_diff_how *how, bool same)
{
    struct sides s;
    struct dp_host host = fuzz_host(f);
    struct dp_diff_outcome out;
    if (make(f, &s, how, same, needs(how))) {
        if (how->view >= DP_V_CALLERS)
            how->edges_of = fuzz_label(f, s.all, how->over.label_flags, &how->edges_of_len);
        int rc = dp_diff_print(s.side, 2, how, &host, &out);
        /* pairing gives some subs other labels */
        if (!(how->edges_of && rc == DP_E_ARG) && PRINTED(f, rc)) {
            fuzz_check_format(how->format, how->colour, how->separator && *how->separator);
            CHECK(!same || (out.failed == 0 && out.undecided == 0));
            CHECK(f->starved || !out.findings == !how->n_rules);
        }
        dp_diff_outcome_release(&out);
    }
    drop(&s);
}

void fuzz_diff(struct fuzz *f)
{
    struct dp_diff_how how = { .format = f->c.kind % 5 };
    common(f, &how);
    compare(f, &how, false);
}

void fuzz_gate(struct fuzz *f)
{
    struct dp_diff_how how = { .format = f->c.kind % 8 };
    common(f, &how);
    how.n_rules = 1 + fuzz_pick(f, RULES);
    compare(f, &how, false);
}

/* A profile compared with itself differs nowhere. */
void fuzz_diff_same(struct fuzz *f)
{
    struct dp_diff_how how = { .format = f->c.kind % 8 };
    common(f, &how);
    how.n_rules = RULES;
    compare(f, &how, true);
}

void fuzz_diff_tree(struct fuzz *f)
{
    struct dp_diff_how how = { .format = f->c.kind % 5, .view = DP_V_TREE + f->c.kind % 3 };
    common(f, &how);
    how.over.n_keys = 1;
    how.over.keys[0] = DP_K_SUB;
    how.n_rules = fuzz_flip(f) ? RULES : 0;
    compare(f, &how, false);
}

static int count(void *ctx, size_t side, const char *ptr, size_t len)
{
    CHECK(side < 3 && (ptr || !len));
    ++*(size_t *)ctx;
    return 0;
}

void fuzz_labels(struct fuzz *f)
{
    struct dp_diff_how how = { .format = 0 };
    struct dp_prof *all, *half;
    size_t n = 0;
    common(f, &how);
    all = fuzz_read(f, f->size, 0);
    half = fuzz_read(f, f->size / 2, 0);
    if (GOOD(f, all && half)) {
        struct dp_pair_side sides[3] = { { half, 0 }, { all, f->c.kind & 1 }, { all, 2 } };
        GOOD(f, dp_pair_labels(sides, 3, &how.pair, count, &n) == 0);
        CHECK(f->starved || n >= 2 * dp_subs_count(&all->subs));
    }
    dp_prof_free(all);
    dp_prof_free(half);
}
