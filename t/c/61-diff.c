/* dprofdiff without memory at any place, with output that cannot be written; pairs of anonymous
 * subs at random. */
#include "tap.h"
#include "host.h"
#include "random.h"
#include "dp_buf.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_pair.h"
#include "dp_prof.h"
#include "dp_subs.h"
#include "dp_table.h"
#include "dprof/diff.h"
#include "dprof/rows.h"

#include <stdlib.h>
#include <string.h>

static const char head[] =
    "#fOrTyTwO\n$hz=1000;\n$dprof_format='tree 1'; $dprof_counters='ops:ops'; $rrun_utime=1;"
    " $rrun_stime=0; $rrun_rtime=1; $dprof_complete=1;\n\nPART3\n";
static const char subs[] = "& 1 A f lib/A.pm:1\n& 2 A __ANON__ lib/A.pm:3 in=A::f seq=1\n& 3 A"
                           " __ANON__ lib/A.pm:5 in=A::f seq=2\n& 4 B old /old/B.pm:1\n"
                           "& 5 B __ANON__ /old/B.pm:9 seq=3\n& 6 main END x.pl:9\n";
static const char more[] = "& 1 A f lib/A.pm:1\n& 2 A __ANON__ lib/A.pm:4 in=A::f seq=1\n& 4 B new"
                           " /new/B.pm:1\n& 5 B __ANON__ /new/B.pm:9 seq=3\n"
                           "& 7 B extra /new/B.pm:20\n& 6 main END x.pl:9\n";
static const char old_tree[] = "= 0 0 1 10 0 10 0 0 5\n= 1 1 3 100 0 100 0 0 1000\n= 2 2 3 30 0 30"
                               " 0 0 300\n= 2 3 3 7 0 7 0 0 70\n= 1 4 2 40 0 40 0 0 400\n"
                               "= 2 5 2 4 0 4 0 0 40\n= 1 6 1 1 0 1 0 0 3\n";
static const char new_tree[] = "= 0 0 1 10 0 10 0 0 5\n= 1 1 3 130 0 130 0 0 1300\n= 2 2 3 30 0 30"
                               " 0 0 300\n= 1 4 2 40 0 40 0 0 400\n"
                               "= 2 5 2 4 0 4 0 0 40\n= 2 7 1 9 0 9 0 0 90\n= 1 6 1 1 0 1 0 0 3\n";

static struct dp_prof *of(const char *names, const char *tree)
{
    char text[4096];
    int n = snprintf(text, sizeof text, "%s%s%s", head, names, tree);
    struct dp_prof *prof = dp_prof_new();
    dp_prof_add_mem(prof, "memory", text, (size_t)n, 0);
    return prof;
}

static int match(void *ctx, size_t pattern, const char *ptr, size_t len)
{
    (void)ctx, (void)pattern;
    return len && ptr[0] == 'B';
}

static struct dp_prof *profs[6];
static struct dp_part parts[6];
static const size_t ends[3] = { 1, 2, 3 };
static const size_t counters[6];
static const struct dp_diff_measure measures[] = {
    { .name = "cpu", .metric = DP_T_CPU },
    { .name = "ops", .metric = DP_M_COUNTER, .counters = counters, .exact = 1, .tolerance = 0.001 },
};
static const struct dp_rule rules[] = {
    { .text = "self > 5% & 1ms", .kind = DP_RULE_GROWTH, .pattern = -1, .n_limits = 2,
      .limits = { { 5, 1 }, { 0.001, 0 } } },
    { .text = "ops > 0", .kind = DP_RULE_GROWTH, .pattern = -1, .measure = 1, .n_limits = 1 },
    { .text = "/^B/ calls > 0", .kind = DP_RULE_GROWTH, .pattern = 0, .measure = DP_RULE_CALLS,
      .n_limits = 1 },
    { .text = "new", .kind = DP_RULE_NEW, .pattern = -1 },
    { .text = "gone", .kind = DP_RULE_GONE, .pattern = -1 },
};
static const struct dp_rename renames[] = { { "B::old", "B::new", 6, 6 } };

static struct dp_diff_how shape(int k)
{
    struct dp_diff_how how = {
        .over = { .n_keys = 1, .no_children = 1 }, .measures = measures, .n_measures = 2,
        .pair = { DP_LABEL_SEPARATE, renames, 1, NULL, 0 },
        .weights = { 1, 2 }, .order = 1, .floor = 0.5, .alpha = 0.001, .confidence = 0.95,
        .match = match,
        .compute = k % 4, .children = k & 1, .normalize = k % 5 == 4, .formula = k & 1,
        .verbose = k & 2, .format = k % 8, .counts = k % 9 == 8,
        .work = k % 18 == 8,
        .rules = rules, .n_rules = k % 3 ? DP_ARRAY_LEN(rules) : 0, .strict = k & 1, .title = "x",
    };
    how.over.keys[0] = k % 7 == 6 ? DP_K_SRCLINE : DP_K_SUB;
    if (k % 6 >= 3 && how.format < DP_TAP) {
        how.view = k % 6 - 2;
        how.edges_of = how.view > DP_V_TREE ? "A::f" : NULL;
        how.edges_of_len = how.edges_of ? 4 : 0;
        how.percent_limit = k % 4 * 10;
    }
    return how;
}

static void sides_of(struct dp_diff_side *sides, int runs)
{
    for (int s = 0; s < 2; s++)
        sides[s] = (struct dp_diff_side){
            .name = s ? "new" : "old", .parts = parts + 3 * s, .ends = ends, .n_runs = (size_t)runs
        };
}

/* Each allocation fails once. */
static void no_memory(void)
{
    int wrong = 0, failures = 0, silent = 0;
    for (int k = 0; k < 112; k++) {
        struct dp_diff_how how = shape(k % 56);
        how.answer = k >= 56;
        struct dp_diff_side sides[2];
        struct dp_diff_outcome out;
        sides_of(sides, 1 + k % 3);
        long before = dp_mem_live();
        printed = 0;
        if (dp_diff_print(sides, 2, &how, &counting, &out) != 0)
            wrong++;
        dp_diff_outcome_release(&out);
        silent += printed == 0 && !(how.format == DP_GITHUB && !how.n_rules);
        for (long n = 0;; n += 1 + n / 100) {
            dp_mem_fail_after(n);
            int rc = dp_diff_print(sides, 2, &how, &counting, &out);
            dp_mem_fail_after(-1);
            dp_diff_outcome_release(&out);
            if (rc == 0)
                break;
            failures++;
            wrong += rc != DP_E_NOMEM || dp_mem_live() != before;
        }
        wrong += dp_diff_print(sides, 2, &how, &refusing, &out)
                 != (printed && !(how.format == DP_GITHUB && !how.n_rules) ? DP_E_IO : 0);
        dp_diff_outcome_release(&out);
        wrong += dp_mem_live() != before;
    }
    is_i(wrong, 0, "no memory at %d places, and no output: an error, and nothing is left behind",
         failures);
    is_i(silent, 0, "all print something");
    ok(failures > 5000, "many places");
}

static int count_change(void *ctx, const struct dp_change_row *row)
{
    *(size_t *)ctx += row->change.base != row->change.value;
    return 0;
}

static int count_finding(void *ctx, const struct dp_finding_row *row)
{
    *(size_t *)ctx += row->name_len && !row->undecided;
    return 0;
}

/* All rows of a comparison, as a host asks for them. */
static int all_rows(const struct dp_diff_side *sides, const struct dp_diff_how *how,
                    size_t counts[3])
{
    struct dp_compared *c;
    counts[0] = counts[1] = counts[2] = 0;
    int rc = dp_compared_new(&c, sides, 2, how, 1);
    if (rc < 0)
        return rc;
    rc = dp_compared_rows(c, 1, count_change, &counts[0]);
    rc = rc < 0 ? rc : dp_compared_lines(c, 1, 0, count_change, &counts[1]);
    rc = rc < 0 ? rc : dp_compared_findings(c, count_finding, &counts[2]);
    dp_compared_free(c);
    return rc;
}

/* One comparison gives all rows, and what a table's gate finds; without memory, too. */
static void rows(void)
{
    int wrong = 0, failures = 0;
    struct dp_diff_how how = shape(4);
    struct dp_diff_side sides[2];
    struct dp_diff_outcome printed_of, checked;
    size_t counts[3], again[3];
    how.view = DP_V_FLAT;
    how.edges_of = NULL;
    how.format = DP_TEXT;
    sides_of(sides, 1);
    dp_diff_print(sides, 2, &how, &counting, &printed_of);
    is_i(dp_diff_check(sides, 2, &how, &checked), 0, "a comparison that is not printed");
    ok(checked.failed > 3 && checked.failed == printed_of.failed
           && checked.undecided == printed_of.undecided && checked.rows == printed_of.rows
           && strcmp(checked.findings, printed_of.findings) == 0,
       "finds what a printed one finds: %zu", checked.failed);
    dp_diff_outcome_release(&checked);
    dp_diff_outcome_release(&printed_of);
    is_i(all_rows(sides, &how, counts), 0, "rows");
    ok(counts[0] > 3 && counts[1] > 3, "subs and branches that changed: %zu, %zu",
       counts[0], counts[1]);
    is_i((long)counts[2], (long)checked.failed, "findings");
    long before = dp_mem_live();
    for (long n = 0;; n += 1 + n / 100) {
        dp_mem_fail_after(n);
        int rc = n % 2 ? all_rows(sides, &how, again) : dp_diff_check(sides, 2, &how, &checked);
        dp_mem_fail_after(-1);
        if (n % 2 == 0)
            dp_diff_outcome_release(&checked);
        if (rc == 0)
            break;
        failures++;
        wrong += rc != DP_E_NOMEM || dp_mem_live() != before;
    }
    is_i(wrong, 0, "no memory at %d places: an error, and nothing is left behind", failures);
    ok(failures > 50, "many places");
}

/* Anonymous subs in a sub; some are not called. Those that are called pair with themselves,
 * wherever the sub went. */
static void random_pairs(void)
{
    int wrong = 0, paired = 0;
    for (int round = 0; round < 300; round++) {
        char text[2][4096];
        unsigned line = 10, shift = rnd(3) ? rnd(50) : 0, n = 2 + rnd(12), lines[16];
        bool there[2][16];
        for (unsigned i = 0; i < n; i++)
            lines[i] = line += 1 + rnd(9) + rnd(9) * rnd(4);
        for (int s = 0; s < 2; s++) {
            int at = 0;
            for (unsigned i = 0; i < n; i++)
                there[s][i] = rnd(5) != 0;
            for (unsigned i = 0; i < n; i++)
                if (there[s][i])
                    at += snprintf(text[s] + at, sizeof text[s] - (size_t)at,
                                   "& %x A __ANON__ lib/A.pm:%u in=A::f seq=%u\n", i + 1,
                                   lines[i] + (s ? shift : 0), i + 1);
            for (unsigned i = 0; i < n; i++)
                if (there[s][i])
                    at += snprintf(text[s] + at, sizeof text[s] - (size_t)at,
                                   "= 1 %x 1 1 0 1 0 0 1\n", i + 1);
            if (!at)
                text[s][0] = '\0';
        }
        unsigned count[2] = { 0, 0 }, both = 0;
        for (unsigned i = 0; i < n; i++) {
            count[0] += there[0][i];
            count[1] += there[1][i];
            both += there[0][i] && there[1][i];
        }
        if (!count[0] || !count[1])
            continue;
        struct dp_prof *a = of("", "= 0 0 1 1 0 1 0 0 1\n"), *b = of("", "= 0 0 1 1 0 1 0 0 1\n");
        char whole[2][8192];
        for (int s = 0; s < 2; s++) {
            int len = snprintf(whole[s], sizeof whole[s], "%s= 0 0 1 1 0 1 0 0 1\n%s", head,
                               text[s]);
            dp_prof_add_mem(s ? b : a, "x", whole[s], (size_t)len, 0);
        }
        struct dp_pair_side sides[] = { { a, 0 }, { b, 1 } };
        struct dp_pair_how how = { DP_LABEL_SEPARATE, NULL, 0, NULL, 0 };
        struct dp_pairs pairs;
        wrong += dp_pairs_make(&pairs, sides, 2, &how) != 0;
        unsigned same = 0;
        for (size_t i = 0; i < dp_subs_count(&a->subs); i++)
            for (size_t k = 0; k < dp_subs_count(&b->subs); k++)
                same += pairs.profs[0].label[i] == pairs.profs[1].label[k];
        paired += (int)same;
        /* with equal numbers all pair by their order; otherwise no more than there can be,
         * and at least one */
        wrong += count[0] == count[1]
                     ? same != count[0]
                     : same > (count[0] < count[1] ? count[0] : count[1]) || (both && !same);
        /* nobody pairs twice */
        for (size_t i = 0; i < dp_subs_count(&a->subs); i++)
            for (size_t k = 0; k < i; k++)
                wrong += pairs.profs[0].label[i] == pairs.profs[0].label[k];
        dp_pairs_release(&pairs);
        dp_prof_free(a);
        dp_prof_free(b);
    }
    is_i(wrong, 0, "random anonymous subs pair one to one");
    ok(paired > 500, "and many do: %d", paired);
}

int main(void)
{
    for (int i = 0; i < 6; i++) {
        profs[i] = of(i < 3 ? subs : more, i < 3 ? old_tree : new_tree);
        parts[i].prof = profs[i];
    }
    no_memory();
    rows();
    random_pairs();
    for (int i = 0; i < 6; i++)
        dp_prof_free(profs[i]);
    is_i(dp_mem_live(), 0, "all memory is given back");
    return tap_done();
}
