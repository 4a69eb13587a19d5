/* How often sides that do not differ are said to differ: made-up runs, whose times are distributed
 * in known ways, go the whole way from profiles to verdicts. Also looks at runs that become more,
 * as -N auto has them. DPROF_COMPARISONS: of each kind; 100000 takes some minutes. */
#include "tap.h"
#include "random.h"
#include "dp_diff.h"
#include "dp_mem.h"
#include "dp_prof.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SUBS = 12, MOST = 40, KINDS = 6 };

static double uniform(void) { return (rnd(1 << 30) + 0.5) / (1 << 30); }

/* (G. E. P. Box, M. E. Muller: A note on the generation of random normal deviates, Annals of
 * Mathematical Statistics 29, 1958.) */
static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * 3.14159265358979323846 * uniform());
}

enum kind { NORMAL, SKEWED, OUTLIERS, DRIFTING, TWO_PLACES, DISTURBED };
static const char *const names[KINDS] = {
    "normal times", "skewed times", "outliers", "a machine that becomes slower",
    "subs of two places", "interrupts"
};

/* What a sub takes in a run, of 1. at: how many runs have been before. *noise: of that, what the
 * recorder has seen as noise. */
static double time_of(enum kind kind, int sub, int at, double *noise)
{
    double time = 1 + 0.02 * normal();
    *noise = 0;
    switch (kind) {
    case NORMAL: break;
    case SKEWED: time += 0.05 * -log(uniform()); break;
    case OUTLIERS: time *= uniform() < 0.1 ? 1 + uniform() : 1; break;
    /* what is bound to memory suffers twice as much */
    case DRIFTING: time *= pow(1 + 0.01 * at, sub % 3 == 0 ? 2 : 1); break;
    case TWO_PLACES: time *= sub % 2 && uniform() < 0.5 ? 1.06 : 1; break;
    case DISTURBED:
        for (double p = uniform(); p < 0.5; p = uniform())
            *noise += 0.03 + 0.02 * uniform();
        time += *noise;
        *noise *= uniform() < 0.9;          /* not all of it is seen */
        break;
    }
    return time > 0.1 ? time : 0.1;
}

/* A run. more: the subs from there on execute more ops than in the baseline, but take as long.
 * slower: the last sub is, by that factor. */
static struct dp_prof *run_of(enum kind kind, int at, int more, double slower)
{
    char text[4096];
    size_t len = (size_t)snprintf(text, sizeof text, "%s",
        "#fOrTyTwO\n$hz=10000000;\n$dprof_format='tree 1'; $dprof_counters='ops:ops noise:ns';"
        " $rrun_utime=1; $rrun_stime=0; $rrun_rtime=1; $dprof_complete=1;\n\nPART3\n");
    for (int i = 0; i < SUBS; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "& %x A s%d\n", i + 1, i);
    len += (size_t)snprintf(text + len, sizeof text - len, "= 0 0 1 10 0 10 0 0 5 0\n");
    for (int i = 0; i < SUBS; i++) {
        double noise, time = time_of(kind, i, at, &noise);
        time *= i == SUBS - 1 ? slower : 1;
        unsigned ticks = (unsigned)(1e5 * (1 + i) * time), ns = (unsigned)(1e7 * (1 + i) * noise);
        /* one of three calls takes up to half as much again as the others */
        unsigned longest = (unsigned)(ticks * (1 + 0.5 * uniform()) / 3);
        len += (size_t)snprintf(text + len, sizeof text - len, "= 1 %x 3 %u 0 %u %u 1 %d %u\n",
                                i + 1, ticks, ticks, longest, 1000 * (1 + i) + (more && i >= more),
                                ns);
    }
    struct dp_prof *prof = dp_prof_new();
    dp_prof_add_mem(prof, "memory", text, len, 0);
    return prof;
}

static struct dp_prof *profs[2 * MOST];
static struct dp_part parts[2 * MOST];
static size_t ends[MOST];
static const size_t zeros[2 * MOST];
static size_t ones[2 * MOST];
static const struct dp_diff_measure measures[] = {
    { .name = "cpu", .metric = DP_T_CPU },
    { .name = "ops", .metric = DP_M_COUNTER, .counters = zeros, .exact = 1 },
    { .name = "noise", .metric = DP_M_COUNTER, .counters = ones },
};

/* Compares so many runs a side, recorded in turn. Returns whether something is called different, by
 * its time; *total: is it the total, by pairs or not? Layout does not excuse. */
static bool differs(size_t n, double spending, bool in_pairs, bool *is_total, int *wrong)
{
    struct dp_diff_how how = {
        .over = { .n_keys = 1, .no_children = 1, .keys = { DP_K_SUB } }, .measures = measures,
        .n_measures = 3, .pair = { DP_LABEL_SEPARATE, NULL, 0, NULL, 0 }, .floor = 0.5,
        .alpha = 0.05, .confidence = 0.95, .work = 1, .beside = 1, .noise = 2, .spending = spending,
        .paired = in_pairs,
    };
    struct dp_diff_side sides[2];
    struct dp_part both[2 * MOST];
    for (size_t i = 0; i < n; i++) {
        both[i] = parts[i];
        both[n + i] = parts[MOST + i];
    }
    for (int s = 0; s < 2; s++)
        sides[s] = (struct dp_diff_side){
            .name = "side", .parts = both + s * n, .ends = ends, .n_runs = n
        };
    struct dp_diff diff;
    struct dp_diff_family family;
    bool found = false;
    if (dp_diff_make(&diff, sides, 2, &how, NULL, NULL) < 0) {
        ++*wrong;
        return false;
    }
    *wrong += dp_diff_compare(&family, &diff, 0, false, 1) < 0;
    for (uint32_t e = 0; e < dp_diff_entries(&diff); e++)
        found = found || family.values[e].verdict == DP_DIFF_TRUE
                || family.values[e].verdict == DP_DIFF_LAYOUT;
    *is_total = family.total.verdict == DP_DIFF_TRUE;
    dp_diff_family_release(&family);
    dp_diff_release(&diff);
    return found;
}

/* Makes so many runs a side, as record_in_turn does: there and back. */
static void make_runs(enum kind kind, int from, int to, int more, double slower)
{
    for (int r = from; r < to; r++)
        for (int s = 0; s < 2; s++) {
            int side = r % 2 ? 1 - s : s, at = side * MOST + r;
            profs[at] = run_of(kind, 2 * r + s, side ? more : 0, side ? slower : 1);
            parts[at] = (struct dp_part){ .prof = profs[at] };
        }
}

static void free_runs(int n)
{
    for (int r = 0; r < n; r++) {
        dp_prof_free(profs[r]);
        dp_prof_free(profs[MOST + r]);
    }
}

/* As in lib/Devel/DProf/Compare/Sequential.pm. */
static const struct { int rounds; double share; } looks[] = {
    { 8, 0.1 }, { 12, 0.15 }, { 18, 0.2 }, { 27, 0.25 }, { 40, 0.3 }
};

/* alpha, and what chance makes of it, by three and a half standard deviations. */
static double most_of(long n) { return 0.05 * (double)n + 3.5 * sqrt(0.05 * 0.95 * (double)n) + 1; }

static void rates(enum kind kind, long n)
{
    long alarms = 0, totals = 0, pairs = 0, stopped = 0, sequences = n / 4, seen = 0;
    int wrong = 0;
    bool total;
    for (long i = 0; i < n; i++) {
        make_runs(kind, 0, 10, i % 3 ? 0 : 9, 1);
        alarms += differs(10, 0, false, &total, &wrong);
        totals += total;
        differs(10, 0, true, &total, &wrong);
        pairs += total;
        free_runs(10);
    }
    for (long i = 0; i < sequences; i++) {
        bool found = false;
        int made = 0;
        for (size_t k = 0; k < sizeof looks / sizeof *looks && !found; k++) {
            make_runs(kind, made, looks[k].rounds, i % 3 ? 0 : 9, 1);
            made = looks[k].rounds;
            found = differs((size_t)made, looks[k].share, true, &total, &wrong);
        }
        stopped += found;
        free_runs(made);
    }
    for (int i = 0; i < 20; i++) {
        make_runs(kind, 0, 10, i % 2 ? SUBS - 1 : 0, 1.5);
        seen += differs(10, 0, true, &total, &wrong);
        free_runs(10);
    }
    ok(seen >= 16, "%s: a sub that takes half as long again is found", names[kind]);
    is_i(wrong, 0, "%s: each can be compared", names[kind]);
    ok((double)alarms <= most_of(n) && (double)totals <= most_of(n) && (double)pairs <= most_of(n),
       "%s: %ld comparisons of the same, alpha 0.05: %.2f %% have an alarm, %.2f %% in the total, "
       "%.2f %% in the total by pairs", names[kind], n, 100.0 * (double)alarms / (double)n,
       100.0 * (double)totals / (double)n, 100.0 * (double)pairs / (double)n);
    ok((double)stopped <= most_of(sequences), "%s: %ld sequences of five looks: %.2f %%",
       names[kind], sequences, 100.0 * (double)stopped / (double)sequences);
}

int main(void)
{
    const char *asked = getenv("DPROF_COMPARISONS");
    long n = asked ? atol(asked) : 60;
    for (size_t i = 0; i < MOST; i++)
        ends[i] = i + 1;
    for (size_t i = 0; i < 2 * MOST; i++)
        ones[i] = 1;
    for (int k = 0; k < KINDS; k++)
        rates((enum kind)k, n);
    return tap_done();
}
