/* Any bytes into every view; nothing may crash, leak or go out of bounds, and the
 * sums must hold. Shared by the fuzzer, the mutator and the replay. */
#include "dp_err.h"
#include "dp_flame.h"
#include "dp_flat.h"
#include "dp_mem.h"
#include "dp_prof.h"
#include "dp_select.h"
#include "dp_stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* For fuzz/mutate.c. */
extern const char *const fuzz_words[];
const char *const fuzz_words[] = { "+ ", "- ", "* ", "/ ", "@ ", "& ", "\n", "\r\n", "+ & Devel::DProf::write\n",
    "18446744073709551615", "4503599627370495", "$hz=", "PART2\n", "'", "%", "ffffffffffffffff", "__ANON__", "#", "= ", "h ", "PART3\n", "at=x:1", "folded=9", " 0", "$dprof_counters='ops:ops';",
    ";", " 12\n", ".5\n", " 0.0000001\n", "(program)", "%3B", " -1", "a;b;c 3\n", "$dprof_unit='samples';", NULL };

static int swallow(void *ctx, const void *ptr, size_t len)
{
    (void)ctx;
    (void)ptr;
    (void)len;
    return 0;
}

#define CHECK(cond) do { if (!(cond)) { fprintf(stderr, "not so: %s\n", #cond); abort(); } } while (0)

static void look_at(const struct dp_prof *prof, const struct dp_host *host, int time)
{
    struct dp_classic how;
    memset(&how, 0, sizeof how);
    how.only = -1;
    how.rows = 1000000;
    how.time = time;
    how.program = 1;
    how.width = 80;
    struct dp_names *names = dp_names_new(prof, time & 3);
    struct dp_flat flat;
    CHECK(names && dp_flat_make(&flat, prof, names, &how) == 0);
    uint64_t sum = 0;
    for (size_t i = 0; i < flat.count; i++) {
        CHECK(flat.rows[i].incl >= flat.rows[i].self);
        CHECK(flat.rows[i].incl <= flat.total);
        sum += flat.rows[i].self;
    }
    CHECK(sum == flat.total && sum == dp_prof_total(prof, time));
    dp_flat_release(&flat);
    CHECK(dp_classic_flat(prof, names, &how, host) == 0);
    CHECK(dp_classic_merged(prof, names, &how, host) == 0);
    dp_names_free(names);
}

static int collect(void *ctx, const void *ptr, size_t len)
{
    dp_buf_add(ctx, ptr, len);
    return 0;
}

static void write_to(struct dp_buf *buf, const struct dp_prof *prof)
{
    struct dp_host host = { buf, collect, NULL };
    struct dp_write_how how = { .version = "x" };
    dp_buf_init(buf);
    CHECK(dp_prof_write(prof, &how, &host) == 0);
}

static int any_match(void *ctx, size_t pattern, const char *ptr, size_t len)
{
    (void)ctx, (void)pattern, (void)ptr;
    return (int)(len & 1);
}

/* What there is of it compared with its first half, and with itself: that is equal everywhere. */
static void differences(const uint8_t *data, size_t size, unsigned flags)
{
    static const struct dp_rule rules[] = {
        { .text = "self > 5%", .kind = DP_RULE_GROWTH, .pattern = -1, .n_limits = 1, .limits = { { 5, 1 } } },
        { .text = "/x/ calls > 0", .kind = DP_RULE_GROWTH, .pattern = 0, .measure = DP_RULE_CALLS, .n_limits = 1 },
        { .text = "new", .kind = DP_RULE_NEW, .pattern = -1 }, { .text = "gone", .kind = DP_RULE_GONE, .pattern = -1 },
    };
    static const struct dp_rename renames[] = { { "main::", "x::", 6, 3 } };
    static const struct dp_diff_measure measures[] = { { .name = "cpu", .metric = DP_T_CPU }, { .name = "calls", .metric = DP_M_CALLS, .exact = 1 } };
    static const size_t ends[] = { 1, 2 };
    struct dp_host host = { NULL, swallow, NULL };
    struct dp_prof *all = dp_prof_new(), *half = dp_prof_new();
    dp_prof_add_mem(all, "fuzz", data, size, flags);
    dp_prof_add_mem(half, "half", data, size / 2, 1);
    const struct dp_over_side whole[2] = { { .prof = all }, { .prof = all } }, mixed[2] = { { .prof = half }, { .prof = all } };
    for (int k = 0; k < 16; k++) {
        struct dp_diff_how how = {
            .over = { .n_keys = 1, .keys = { k & 8 ? DP_K_SRCLINE : DP_K_SUB } }, .measures = measures + (k & 1), .n_measures = 2 - (k & 1u),
            .pair = { k % 3, renames, k & 1, NULL, 0 }, .children = k & 2, .normalize = k & 4, .compute = k % 4, .weights = { 1, 2 }, .order = 1, .floor = 0.5,
            .alpha = 0.001, .confidence = 0.95, .rules = rules, .n_rules = 4, .match = any_match, .format = k % 8, .formula = 1, .verbose = 1,
            .view = k == 9 ? DP_V_TREE : DP_V_FLAT,
        };
        struct dp_diff_side same[2] = { { .name = "a", .parts = whole, .ends = ends, .n_runs = 1 }, { .name = "b", .parts = whole, .ends = ends, .n_runs = 1 } };
        struct dp_diff_side other[2] = { { .name = "a", .parts = mixed, .ends = ends, .n_runs = 2 }, { .name = "b", .parts = whole, .ends = ends, .n_runs = 2 } };
        struct dp_diff_outcome out;
        CHECK(dp_diff_print(same, 2, &how, &host, &out) == 0 && out.failed == 0 && out.undecided == 0);
        dp_diff_outcome_release(&out);
        CHECK(dp_diff_print(other, 2, &how, &host, &out) == 0);
        dp_diff_outcome_release(&out);
    }
    dp_prof_free(all);
    dp_prof_free(half);
}

/* What callers of callers have, all together. */
struct callers {
    uint64_t own[2];
    size_t visits;
};

static int climb(void *ctx, size_t depth, uint32_t name, const uint64_t *own, const uint64_t *all, double weight)
{
    struct callers *c = ctx;
    (void)depth, (void)name, (void)weight;
    for (int k = 0; k < 2; k++) {
        CHECK(own[k] <= all[k]);
        c->own[k] += own[k];
    }
    return ++c->visits < 100000;
}

/* As stacks: the sums hold, upside down, too. */
static void add_up(const struct dp_diff_side *sides, const struct dp_stacks_how *how)
{
    struct dp_stacks s;
    struct callers c = { { 0, 0 }, 0 };
    CHECK(dp_stacks_make(&s, sides, 2, how) == 0 && s.count > 0);
    uint64_t sum[2] = { 0, 0 };
    for (uint32_t i = 0; i < s.count; i++)
        for (size_t k = 0; k < 2; k++)
            sum[k] += dp_stacks_self(&s, i, k);
    CHECK(sum[0] == s.total[0] && sum[1] == s.total[1]);
    CHECK(dp_stacks_reverse(&s, NULL, climb, &c) == 0);
    CHECK(c.visits >= 100000 || (c.own[0] == s.total[0] && c.own[1] == s.total[1]));
    dp_stacks_release(&s);
}

/* Folded, reversed and drawn: as one side and, with its first half, as two. */
static void stacks(const uint8_t *data, size_t size, unsigned flags)
{
    static const size_t ends[] = { 1 };
    static const struct dp_flame_metric metrics[] = { { "cpu", "user+system time", "s" } };
    static const char *const names[] = { "before", "after" };
    struct dp_prof *all = dp_prof_new(), *half = dp_prof_new();
    struct dp_host host = { NULL, swallow, NULL };
    /* two counts on each line are two columns of one profile */
    dp_prof_pairs(all);
    dp_prof_add_mem(all, "fuzz", data, size, flags);
    dp_prof_add_mem(half, "half", data, size / 2, 1);
    struct dp_over_side part[2] = { { .prof = half }, { .prof = all } };
    struct dp_diff_side sides[2] = { { "before", &part[0], ends, 1, 0 }, { "after", &part[1], ends, 1, 0 } };
    for (int k = 0; k < 8 && size <= 65536; k++) {
        struct dp_stacks_column columns[2] = { { k & 4 ? DP_M_CALLS : DP_T_CPU, NULL }, { k & 4 ? DP_M_CALLS : DP_T_CPU, NULL } };
        struct dp_stacks_how how = { .columns = columns, .n_measures = 1, .pair = { k % 4, NULL, 0, NULL, 0 }, .recursion = k % 3 == 2 ? 1 : 1000, .strip_hex = k & 1, .when = 1 };
        size_t n = 1 + (k & 1u);
        struct dp_fold_how fold = { .stacks = how, .reverse = k & 2, .per = 1000000, .whole = k & 1, .normalize = k == 3 };
        struct dp_fold_outcome folded;
        CHECK(dp_fold_print(sides + 2 - n, n, &fold, &host, &folded) == 0);
        struct dp_flame_how flame = {
            .stacks = how, .metrics = metrics, .reverse = k & 2, .order = k % 3, .width_of = k % 4, .by_total = k & 1, .hue = k == 3, .factor = 1, .width = 1200, .height = 16,
            .min_width = 0.1, .title = "x", .legend = "x", .font = "x", .font_size = 12, .font_width = 0.59, .page = k % 4 == 1, .options = "\"options\":{}",
            .difference = "\"view\":\"graph\"", .side_names = names, .nametype = "", .version = "x",
        };
        struct dp_flame_outcome drawn;
        CHECK(dp_flame_print(sides + 2 - n, n, &flame, &host, NULL, NULL, &drawn) == 0);
        if (k < 2)
            add_up(sides, &how);
    }
    dp_prof_free(all);
    dp_prof_free(half);
}

/* Folded stacks in every unit there is. */
static void in_units(const uint8_t *data, size_t size)
{
    static const char *const units[] = { "s", "ms", "us", "ns", "calls", "samples" };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        struct dp_prof *prof = dp_prof_new();
        CHECK(dp_prof_declare_unit(prof, units[i]) == 0);
        dp_prof_add_mem(prof, "fuzz", data, size, 0);
        look_at(prof, &(struct dp_host){ NULL, swallow, NULL }, (int)(i & 3));
        dp_prof_free(prof);
    }
}

static struct dp_prof *detailed(void)
{
    struct dp_prof *prof = dp_prof_new();
    dp_prof_detail(prof);
    return prof;
}

/* What is written is read as the same, and merging is adding. Behind the text, from the
 * first NUL on, may be the pieces that its process left. */
static void round_trip(const uint8_t *data, size_t size, unsigned flags)
{
    const uint8_t *nul = memchr(data, 0, size);
    size_t text = nul && nul < data + size - 1 && size > 4 && data[0] == '#' ? (size_t)(nul - data) : size;
    struct dp_file_mem mem = { data, text < size ? nul + 1 : NULL, text, text < size ? size - text - 1 : 0 };
    struct dp_prof *one = detailed(), *two = detailed(), *all = detailed();
    struct dp_buf first, second, third;
    char message[240];
    dp_prof_add_left(one, "fuzz", &mem, flags);
    for (int time = 0; time < 4; time++)
        look_at(one, &(struct dp_host){ NULL, swallow, NULL }, time);
    write_to(&first, one);
    struct dp_outcome o;
    dp_prof_add_mem(two, "fuzz", first.ptr, first.len, 0);
    dp_prof_outcome(two, 0, &o);
    CHECK(o.code == 0);
    write_to(&second, two);
    bool nothing = strstr(dp_buf_cstr(&first), "$dprof_merged=0;") != NULL;
    CHECK(nothing || (first.len == second.len && memcmp(first.ptr, second.ptr, first.len) == 0));
    CHECK(dp_prof_merge(all, one, message) == 0);
    int rc = dp_prof_merge(all, two, message);
    CHECK(rc == 0 || rc == -7);
    struct dp_prof *other = detailed();
    CHECK(dp_prof_merge(other, two, message) == 0 && dp_prof_merge(other, one, message) == rc);
    write_to(&third, all);
    dp_buf_release(&first);
    write_to(&first, other);
    CHECK(nothing || rc || (first.len == third.len && memcmp(first.ptr, third.ptr, first.len) == 0));
    dp_buf_release(&first);
    dp_buf_release(&second);
    dp_buf_release(&third);
    dp_prof_free(one);
    dp_prof_free(two);
    dp_prof_free(all);
    dp_prof_free(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dp_host host = { NULL, swallow, NULL };
    for (unsigned force = 0; force < 2; force++) {
        struct dp_prof *prof = dp_prof_new();
        dp_prof_add_mem(prof, "fuzz", data, size, force);
        dp_prof_add_mem(prof, "again", data, size, force);
        for (int time = 0; time < 4; time++)
            look_at(prof, &host, time);
        dp_prof_free(prof);
        struct dp_trace_how how = { .fold = (int)force, .label_flags = 3, .flags = force, .only = "main::foo", .only_len = 9 };
        struct dp_trace *trace = dp_trace_new(&how, &host);
        dp_trace_add_mem(trace, "fuzz", data, size);
        dp_trace_free(trace);
        round_trip(data, size, force);
        differences(data, size, force);
        stacks(data, size, force);
    }
    in_units(data, size);
    CHECK(dp_mem_live() == 0);
    return 0;
}
