/* Stacks, folded text and flame graphs without memory at any place, with output that cannot be
 * written; random trees, whose reversal has the same values. */
#include "tap.h"
#include "host.h"
#include "random.h"
#include "dp_buf.h"
#include "dp_err.h"
#include "dp_flame.h"
#include "dp_mem.h"
#include "dp_palette.h"
#include "dp_prof.h"
#include "dp_stacks.h"
#include "dprof/stacks.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static const char head[] =
    "#fOrTyTwO\n$hz=1000;\n$dprof_format='tree 1'; $dprof_counters='ops:ops'; $rrun_utime=1;"
    " $rrun_stime=0; $rrun_rtime=1; $dprof_lines='time'; $dprof_complete=1;\n\nPART3\n";
static const char old_subs[] =
    "& 1 A f lib/A.pm:1\n& 2 A __ANON__ lib/A.pm:3 in=A::f seq=1\n& 3 A __ANON__ lib/A.pm:5"
    " in=A::f seq=2\n& 4 B old%3b%20 /old/B.pm:1\n& 5 B 0xdeadbeef1 x:1\n";
static const char new_subs[] =
    "& 1 A f lib/A.pm:1\n& 2 A __ANON__ lib/A.pm:4 in=A::f seq=1\n& 4 B new<&> /new/B.pm:1\n& 5 B"
    " 0xdeadbeef2 x:1\n& 7 % f%201 /new/B.pm:20\n";
static const char old_tree[] =
    "= 0 0 1 10 0 10 0 0 5\n= 1 1 3 100 0 100 0 0 1000\n= 2 2 3 30 0 30 0 0 300"
    " at=lib/A.pm:5\n= 3 2 3 7 0 7 0 0 70\n= 2 3 3 7 0 7 0 0 70 at=lib/A.pm:5\n= 1 4 2 40 0 40 0 0"
    " 400\n= 2 5 2 4 0 4 0 0 40\n#f lib/A.pm size=9 crc=1\n#l 1 1 3 60 0 60 600\n#l 5 1 3 40 0 40"
    " 400\n#l 6 2 6 37 0 37 370\n#f %\n#l 0 0 0 61 0 61 515\n";
static const char new_tree[] =
    "= 0 0 1 10 0 10 0 0 5\n= 1 1 3 130 0 130 0 0 1300\n= 2 2 3 30 0 30 0 0 300\n= 1 4 2 40 0 40 0"
    " 0 400\n= 2 5 2 4 0 4 0 0 40\n= 3 5 2 1 0 1 0 0 1\n= 2 7 1 9 0 9 0 0 90\n"
    "#f lib/A.pm size=9 crc=2\n#l 6 1 3 100 0 100 1000\n#f /new/B.pm\n#l 20 7 1 9 0 9 90\n";

static struct dp_prof *of(const char *names, const char *tree)
{
    char text[4096];
    int n = snprintf(text, sizeof text, "%s%s%s", head, names, tree);
    struct dp_prof *prof = dp_prof_new();
    dp_prof_add_mem(prof, "memory", text, (size_t)n, 0);
    return prof;
}

/* A chart of a trace. */
static struct dp_prof *in_time(void)
{
    static const char text[] =
        "#fOrTyTwO\n$hz=1000;\n$dprof_format='trace 1'; $rrun_utime=1; $rrun_stime=0;"
        " $rrun_rtime=9; $dprof_counters='ops:ops'; $dprof_complete=1;\n\nPART2\n"
        "& 1 % main - kind=phase\n& 2 A f x.pm:1\n"
        "@ 1 0 1 2\n# phase 1\n@ 1 0 1 0\n+ 2\n@ 0 0 3 9\n+ 2\n@ 0 0 0 1\n- 2\n- 2\n@ 0 0 4 7\n";
    struct dp_prof *prof = dp_prof_new();
    dp_prof_chart(prof, DP_T_REAL);
    dp_prof_phases(prof);
    dp_prof_add_mem(prof, "memory", text, sizeof text - 1, 0);
    return prof;
}

static struct dp_prof *folded(const char *text, size_t n)
{
    struct dp_prof *prof = dp_prof_new();
    dp_prof_pairs(prof);
    dp_prof_add_mem(prof, "memory", text, n, 0);
    return prof;
}

static int take(void *ctx, const void *ptr, size_t n)
{
    dp_buf_add(ctx, ptr, n);
    return 0;
}

static int colours;

static int colour(void *ctx, const char *name, size_t len, const char *rgb)
{
    (void)ctx, (void)name, (void)len;
    colours += strlen(rgb) == 7;
    return 0;
}

/* ---- each allocation fails once ---- */

static struct dp_prof *profs[6];
static struct dp_part parts[6];
static const size_t ends[3] = { 1, 2, 3 };
static const size_t counters[6];
static const struct dp_rename renames[] = { { "B::old", "B::new", 6, 6 } };
static const char *const names[] = { "old", "new" },
                  *const facts[] = { "Baseline", "old", "Filter", "none" };
static const struct dp_flame_metric metrics[] = { { "cpu", "user+system time", "s" },
                                                  { "ops", "ops", "ops" } };
static const struct dp_flame_source sources[] = {
    { "lib/A.pm", "sub f {\n}\n\n</script>", 8, 20, "same", 0 },
    { "lib/C.pm", "", 8, 0, "gone", 0 },
};
static const struct dp_flame_fill fills[] = { { "A::f", "#102030", 4, 7 } };
#define ATTRIBUTES "href=x\ttitle=y\tid=z\tclass=c\tg_extra=a=\"b\""
static const struct dp_flame_fill attributes[] = { { "A::f", ATTRIBUTES, 4,
                                                     sizeof ATTRIBUTES - 1 } };

static void sides_of(struct dp_diff_side *sides, int runs)
{
    for (int s = 0; s < 2; s++)
        sides[s] = (struct dp_diff_side){
            .name = names[s], .parts = parts + 3 * s, .ends = ends, .n_runs = (size_t)runs
        };
}

/* The k-th way to look at n sides. */
static struct dp_stacks_how stacks_shape(int k, size_t n, struct dp_stacks_column *columns)
{
    for (size_t i = 0; i < 2 * n; i++)
        columns[i] = (struct dp_stacks_column){ i < n ? DP_T_CPU : DP_M_COUNTER, counters };
    return (struct dp_stacks_how){
        .columns = columns, .n_columns = n * (1 + (size_t)(k & 1)),
        .pair = { DP_LABEL_SEPARATE, renames, 1, NULL, 0 }, .recursion = k % 3 == 1 ? 1 : 1000,
        .no_program = k % 5 == 4, .strip_hex = k & 1, .strip_words = k & 4, .when = k & 2,
    };
}

static struct dp_flame_how flame_shape(int k, size_t n, struct dp_stacks_column *columns)
{
    return (struct dp_flame_how){
        .stacks = stacks_shape(k, n, columns), .metrics = metrics, .normalize = k % 3 == 2,
        .reverse = k % 4 == 3, .inverted = k & 1, .order = k % 3,
        .width_of = k % 4, .by_total = k & 2, .hue = k % 8 == 3, .factor = 1, .width = 1200,
        .height = 16, .min_width = k % 5 ? 0 : 30, .title = "<&>", .subtitle = k & 1 ? "x" : NULL,
        .notes = "\xff", .nametype = "", .countname = k & 4 ? "<>" : NULL,
        .encoding = k & 2 ? "ISO-8859-1" : NULL, .legend = "red: \xc3\xa9", .font = "F",
        .font_size = 12,
        .font_width = 0.59, .palette = k % dp_palette_count, .hash = k & 1,
        .seed = (uint64_t)(k & 2), .fills = fills, .n_fills = 1, .attributes = attributes,
        .n_attributes = 1, .sources = sources, .n_sources = k & 1 ? 2 : 0,
        .is_pair = n == 2 && k % 7 == 3, .notes_of_page = facts, .n_notes_of_page = 4,
        .options = "\"options\":{}", .difference = "\"view\":\"graph\"", .side_names = names,
        .version = "1",
    };
}

static int fold_as(const struct dp_stacks_format *format, const struct dp_diff_side *sides,
                   size_t n, const struct dp_fold_how *how, const struct dp_host *host,
                   struct dp_stacks_outcome *out)
{
    const struct dp_stacks_job job = {
        .format = format, .fold = how, .title = "<&>\xff", .version = "1", .metrics = metrics,
        .side_names = names,
    };
    return dp_stacks_print(sides, n, &job, host, out);
}

static int fold(const struct dp_diff_side *sides, size_t n, const struct dp_fold_how *how,
                const struct dp_host *host, struct dp_stacks_outcome *out)
{
    return fold_as(dp_stacks_format_named("folded"), sides, n, how, host, out);
}

/* All formats for programs, or of other tools (DP_STACKS_EXPORT), in turn. */
static const struct dp_stacks_format *in_turn(unsigned kind, int k)
{
    const struct dp_stacks_format *f, *found[32];
    size_t n = 0;
    for (size_t i = 0; (f = dp_stacks_format(i)) && n < DP_ARRAY_LEN(found); i++)
        if ((f->needs & (DP_STACKS_VISUAL | DP_STACKS_EXPORT)) == kind)
            found[n++] = f;
    return found[(size_t)k % n];
}

static struct dp_part charted;     /* the same in order of time */
static const struct dp_diff_side timeline = { "chart", &charted, ends, 1, 0 };

/* Traces for formats that read the files themselves: several phases, a goto, a call that goes on,
 * a sub of several, and frames that end together. */
static const char trace[] =
    "#fOrTyTwO\n$hz=1000; $dprof_format='trace 1'; $dprof_pid=7; $dprof_tid=2; $rrun_utime=1;"
    " $rrun_stime=0; $rrun_rtime=60; $dprof_start=5.25; $dprof_script='a\"b';\n\nPART2\n"
    "& 1 A f lib/A.pm:1\n& 2 A __ANON__ lib/A.pm:3 seq=2\n& 3 A __ANON__ lib/A.pm:3 seq=1\n"
    "& 4 B 0xdeadbeef1 x:1\n& 5 % p - kind=phase\n@ 1 0 5\n+ 1\n+ 2\n@ 1 0 5\n# phase 5\n"
    "+ 3\n+ 4\n@ 0 0 7\n- 4\n- 3\n- 2\n# suspend 1\n- 1\n# resume 1\n+ 1\n* 2\n"
    "@ 0 0 20\n+ 4\n@ 0 0 5\n";
static const struct dp_file_mem traces[] = { { trace, NULL, sizeof trace - 1, 0 },
                                             { trace, NULL, sizeof trace - 9, 0 } };

/* Gives the export of such a format its files. */
static void take_files(struct dp_export_how *how, int k)
{
    static const char *const paths[] = { "a", "b" };
    static const struct dp_stacks_column real = { DP_T_REAL, NULL };
    static const struct dp_range ranges[] = { { 0, 0.012, 0 }, { 0.02, 1e300, 0 } };
    how->stacks.columns = &real;
    how->stacks.strip_hex = k & 8;
    how->stacks.pair.label_flags = DP_LABEL_SEPARATE;
    how->paths = paths;
    how->texts = traces;
    how->n_paths = 2;
    how->ranges = ranges;
    how->n_ranges = k & 16 ? 2 : 0;
}

static int export_one(int k, size_t n, const struct dp_diff_side *sides, const struct dp_host *host)
{
    static const struct dp_export_part parts[] = { { "x\xff.pl", 7, 1, 1000, 50 },
                                                   { "y", 8, 0, 0, 0 } };
    struct dp_stacks_column columns[4];
    struct dp_stacks_outcome out;
    struct dp_export_how how = {
        .stacks = stacks_shape(k, n, columns), .parts = parts, .n_parts = 1 + (size_t)(k & 1),
        .side = n - 1, .label_phase = 1, .label_pid = 1, .label_tid = 1,
    };
    how.stacks.by_sub = n == 1;
    how.stacks.by_site = 1;
    how.stacks.by_part = k & 1;
    const struct dp_stacks_format *format = in_turn(DP_STACKS_EXPORT, k / 6);
    if (format->needs & DP_STACKS_TRACE)
        take_files(&how, k);
    const struct dp_stacks_job job = {
        .format = format, .export = &how, .title = "<&>\xff",
        .version = "1", .metrics = metrics, .side_names = names,
        .timeline = n == 1 ? &timeline : NULL,
    };
    return dp_stacks_print(sides, n, &job, host, &out);
}

static int print_one(int k, size_t n, const struct dp_diff_side *sides, const struct dp_host *host)
{
    struct dp_stacks_column columns[4];
    struct dp_stacks_outcome out;
    if (k % 6 == 5)
        return export_one(k, n, sides, host);
    if (k % 3 == 2) {
        struct dp_fold_how how = { .stacks = stacks_shape(k, n, columns),
                                   .reverse = k & 4,
                                   .per = 1000000,
                                   .whole = k & 8,
                                   .normalize = n > 1 && k & 16 };
        return fold_as(in_turn(0, k / 3), sides, n, &how, host, &out);
    }
    struct dp_flame_how how = flame_shape(k, n, columns);
    const struct dp_stacks_job job = {
        .format = dp_stacks_format_named(k % 3 ? "svg" : "html"), .flame = &how, .colour = colour
    };
    return dp_stacks_print(sides, n, &job, host, &out);
}

static void no_memory(void)
{
    int wrong = 0, failures = 0, silent = 0, unnoticed = 0;
    for (int k = 0; k < 144; k++) {
        size_t n = 1 + (size_t)(k / 3 & 1);
        struct dp_diff_side sides[2];
        sides_of(sides, 1 + k % 3);
        long before = dp_mem_live();
        printed = 0;
        wrong += print_one(k, n, sides, &counting) != 0;
        size_t all = printed;
        silent += !all;
        for (long at = 0;; at++) {
            dp_mem_fail_after(at);
            printed = 0;
            int rc = print_one(k, n, sides, &counting);
            dp_mem_fail_after(-1);
            wrong += dp_mem_live() != before;
            /* what is said to be well is whole */
            unnoticed += rc == 0 && printed != all;
            if (rc == 0)
                break;
            failures++;
            wrong += rc != DP_E_NOMEM;
        }
        wrong += print_one(k, n, sides, &refusing) != DP_E_IO || dp_mem_live() != before;
    }
    is_i(wrong, 0, "no memory at %d places, and no output: an error, and nothing is left behind",
         failures);
    is_i(unnoticed, 0, "none is overlooked");
    is_i(silent, 0, "all print something");
    ok(failures > 2000, "many places");
    ok(colours > 100, "colours are told");
}

/* ---- a profile whose memory ended while it was read ---- */

/* The part that was read is drawn: every context of it has its sub, and in a chart its time. */
static bool holds(const struct dp_prof *prof)
{
    struct dp_stacks_column column = { DP_T_REAL, NULL };
    struct dp_part part = { .prof = prof };
    struct dp_diff_side side = { "x", &part, ends, 1, 0 };
    struct dp_stacks_how how = { .columns = &column, .n_columns = 1, .chart = prof->chart };
    struct dp_stacks s;
    for (size_t i = 1; i < prof->count; i++)
        if (prof->nodes[i].sub >= dp_subs_count(&prof->subs))
            return false;
    if (prof->chart && prof->count > 1 && prof->spans_cap < prof->count)
        return false;
    bool good = dp_stacks_make(&s, &side, 1, &how) == 0;
    uint64_t sum = 0;
    for (uint32_t i = 0; good && i < s.count; i++)
        sum += dp_stacks_self(&s, i, 0);
    good = good && sum == dp_prof_total(prof, DP_T_REAL);
    if (good)
        dp_stacks_release(&s);
    return good;
}

static void cut_short(const char *what, const char *text, size_t len, bool chart)
{
    int wrong = 0;
    int rc = DP_E_NOMEM;
    long n = 0;
    for (; rc == DP_E_NOMEM && n < 2000; n++) {
        dp_mem_fail_after(-1);
        struct dp_prof *prof = dp_prof_new();
        if (chart)
            dp_prof_chart(prof, DP_T_REAL);
        dp_mem_fail_after(n);
        rc = dp_prof_add_mem(prof, "memory", text, len, 0);
        dp_mem_fail_after(-1);
        wrong += !holds(prof);
        dp_prof_free(prof);
    }
    is_i(rc, 0, "%s: read when there is memory", what);
    is_i(wrong, 0, "and when it ended at one of %ld places, what was read can be drawn", n);
}

static void starved(void)
{
    struct dp_buf text;
    dp_buf_init(&text);
    dp_buf_adds(&text, "#fOrTyTwO\n$hz=100;\n$rrun_utime=0; $rrun_stime=0; $rrun_rtime=200;\n");
    dp_buf_adds(&text, "PART2\n& 1 m a\n& 2 m b\n");
    for (int i = 0; i < 100; i++)
        dp_buf_adds(&text, "@ 1 1 1\n+ 1\n+ 2\n- 2\n@ 1 1 1\n- 1\n");
    cut_short("a chart", dp_buf_cstr(&text), text.len, true);
    /* numbers of compilation that come in no order: keys are made anew at the file's end */
    dp_buf_clear(&text);
    dp_buf_add(&text, head, sizeof head - 1);
    for (int i = 1; i <= 100; i++)
        dp_buf_addf(&text, "& %x A __ANON__ x:1 seq=%d\n", i, 101 - i);
    dp_buf_adds(&text, "= 0 0 1 0 0 0 0 0 0\n");
    for (int i = 1; i <= 100; i++)
        dp_buf_addf(&text, "= 1 %x 1 2 0 2 0 0 1\n", i);
    cut_short("subs that are put in order", dp_buf_cstr(&text), text.len, false);
    dp_buf_release(&text);
}

/* ---- random trees ---- */

/* Lines of stacks of a few names, with two counts each. */
static size_t random_stacks(char *to, size_t room)
{
    static const char *const few[] = { "a", "b", "a::b", "c d", "e" };
    size_t at = 0, lines = 1 + rnd(40), width = 1 + rnd(5);
    for (size_t i = 0; i < lines; i++) {
        for (size_t depth = 1 + rnd(9); depth-- > 0;)
            at += (size_t)snprintf(to + at, room - at, "%s%s", few[rnd((unsigned)width)],
                                   depth ? ";" : "");
        at += (size_t)snprintf(to + at, room - at, " %u %u\n", rnd(4) ? rnd(1000) : 0,
                               rnd(4) ? rnd(1000) : 0);
    }
    return at + (size_t)snprintf(to + at, room - at, "(program) %u 0\n", rnd(3));
}

struct reversed {
    const struct dp_stacks *s;
    uint64_t own[2], top[2];    /* sums of what ends there; of the first frames */
    uint64_t *by_name;          /* what the first frames have, by name */
    uint64_t up[64][2];         /* by depth: what the kids may still have */
    size_t depth;
    uint32_t last[64];          /* by depth: the name before */
    int wrong;
    double weight;
    bool picky;
};

static int enter(void *ctx, size_t depth, uint32_t name, const uint64_t *own, const uint64_t *all,
                 double weight)
{
    struct reversed *r = ctx;
    r->wrong += depth > r->depth + 1 || depth >= 64;
    if (r->wrong)
        return 1;
    /* siblings in order, each once */
    r->wrong += depth && depth <= r->depth && name <= r->last[depth];
    r->depth = depth;
    r->last[depth] = name;
    for (int c = 0; c < 2; c++) {
        r->wrong += own[c] > all[c];
        r->own[c] += own[c];
        if (depth == 1) {
            r->top[c] += all[c];
            r->by_name[name * 2 + (unsigned)c] += all[c];
        }
        if (depth > 1) {        /* callers share what there is, and no more */
            r->wrong += r->up[depth - 1][c] < all[c];
            r->up[depth - 1][c] -= all[c];
        }
        r->up[depth][c] = all[c] - own[c];
    }
    r->weight += depth == 1 ? weight : 0;
    if (depth == 0)
        r->wrong += all[0] != r->s->total[0] || all[1] != r->s->total[1];
    return 1;
}

static void random_trees(void)
{
    static char text[65536];
    int wrong[6] = { 0 };
    size_t frames = 0;
    for (int round = 0; round < 200; round++) {
        size_t n = random_stacks(text, sizeof text);
        struct dp_prof *prof = folded(text, n);
        struct dp_part part = { .prof = prof };
        struct dp_diff_side sides[2] = { { "before", &part, ends, 1, 0 },
                                         { "after", &part, ends, 1, 0 } };
        struct dp_stacks_column columns[2] = { { DP_M_COUNTER, counters }, { DP_T_CPU, NULL } };
        struct dp_stacks_how how = { .columns = columns,
                                     .n_columns = 2,
                                     .pair = { DP_LABEL_SEPARATE, NULL, 0, NULL, 0 },
                                     .recursion = round & 1 };
        struct dp_stacks s;
        wrong[0] += dp_stacks_make(&s, sides, 2, &how) != 0;
        frames += s.count;
        uint64_t sums[2] = { 0, 0 };
        uint64_t *self = dp_mem_zalloc((s.n_names + 1) * 2 * sizeof *self),
                 *by_name = dp_mem_zalloc((s.n_names + 1) * 2 * sizeof *by_name);
        double *weight = dp_mem_zalloc((s.count + 1) * sizeof *weight), weights = 0;
        for (uint32_t i = 0; i < s.count; i++) {
            struct dp_stacks_frame *f = &s.frames[i], *up = i ? &s.frames[f->parent] : f;
            /* kids lie inside of their callers, in order, each name once */
            wrong[1] += f->end <= i || f->end > up->end || (i && f->parent >= i);
            if (i && f->end < up->end)
                wrong[1] += s.frames[f->end].parent == f->parent
                            && s.frames[f->end].name <= f->name;
            wrong[1] += (round & 1) && i && f->parent && up->name == f->name;
            weight[i] = i ? fmax((double)dp_stacks_self(&s, i, 0), (double)dp_stacks_self(&s, i, 1))
                          : 0;
            weights += weight[i];
            for (size_t c = 0; c < 2; c++) {
                sums[c] += dp_stacks_self(&s, i, c);
                if (i)
                    self[f->name * 2 + c] += dp_stacks_self(&s, i, c);
            }
        }
        wrong[2] += sums[0] != s.total[0] || sums[1] != s.total[1];
        struct reversed r = { .s = &s, .by_name = by_name };
        wrong[3] += dp_stacks_reverse(&s, weight, enter, &r) != 0 || r.wrong;
        /* what ends anywhere is all there is; what begins with a name is what that has itself */
        wrong[4] += r.own[0] != s.total[0] || r.own[1] != s.total[1]
                    || memcmp(self, by_name, s.n_names * 2 * sizeof *self) != 0;
        wrong[4] += r.top[0] + dp_stacks_self(&s, 0, 0) != s.total[0]
                    || r.top[1] + dp_stacks_self(&s, 0, 1) != s.total[1];
        wrong[5] += fabs(r.weight - weights) > 1e-6;
        dp_mem_free(self);
        dp_mem_free(by_name);
        dp_mem_free(weight);
        dp_stacks_release(&s);
        dp_prof_free(prof);
    }
    is_i(wrong[0], 0, "made");
    is_i(wrong[1], 0, "frames lie in their callers, siblings are in order and differ");
    is_i(wrong[2], 0, "their values are the total");
    is_i(wrong[3], 0,
         "reversed: callers have no more than there is, siblings are in order and differ");
    is_i(wrong[4], 0, "... totals are the same, and what a sub has itself stands at the root");
    is_i(wrong[5], 0, "... and weights");
    ok(frames > 5000, "many frames: %lu", (unsigned long)frames);
}

/* Boxes of every layout: inside of their callers, beside each other, as wide as
 * they are together. */
static void random_layouts(void)
{
    static char text[65536];
    int wrong = 0, boxes = 0;
    for (int round = 0; round < 400; round++) {
        size_t n = random_stacks(text, sizeof text);
        struct dp_prof *prof = folded(text, n);
        struct dp_part part = { .prof = prof };
        struct dp_diff_side sides[2] = { { "before", &part, ends, 1, 0 },
                                         { "after", &part, ends, 1, 0 } };
        struct dp_stacks_column columns[4];
        struct dp_flame_how how = flame_shape(round, 2, columns);
        columns[0] = (struct dp_stacks_column){ DP_M_COUNTER, counters };
        columns[1] = (struct dp_stacks_column){ DP_T_CPU, NULL };
        how.stacks.n_columns = 2;
        how.stacks.when = 1;
        struct dp_stacks s;
        struct dp_flame flame;
        double factor[2], least = round % 3 ? 0 : 0.02;
        wrong += dp_stacks_make(&s, sides, 2, &how.stacks) != 0;
        dp_stacks_factors(&s, sides, how.normalize, factor);
        wrong += dp_flame_make(&flame, &s, &how, factor, least) != 0;
        double slack = 1e-9 * (1 + flame.total), right[64], shown = 0, hidden = flame.hidden_weight;
        struct dp_flame_box *up[64];
        for (size_t i = 0; i < flame.count; i++) {
            struct dp_flame_box *b = &flame.boxes[i];
            double change = dp_flame_change(&flame, b);
            wrong += b->x < -slack || b->w < 0 || b->depth >= 64 || b->depth > flame.depth
                     || !(change >= -1 && change <= 1);
            wrong += (i == 0) != (b->depth == 0);
            if (b->depth && b->depth < 64) {
                wrong += b->x < up[b->depth - 1]->x - slack
                         || b->x + b->w > up[b->depth - 1]->x + up[b->depth - 1]->w + slack;
                wrong += how.order == DP_FO_NAME && b->x < right[b->depth] - slack;
            }
            if (b->depth < 63) {
                up[b->depth] = b;
                right[b->depth] = b->x + b->w;
                right[b->depth + 1] = b->x;
            }
            shown += b->depth == 1 ? b->w : 0;
        }
        wrong += shown + hidden > flame.total * 64 + slack;
        boxes += (int)flame.count;
        dp_flame_release(&flame);
        dp_stacks_release(&s);
        dp_prof_free(prof);
    }
    is_i(wrong, 0, "layouts: boxes lie in their callers, beside each other");
    ok(boxes > 10000, "many boxes: %d", boxes);
}

/* ---- small cases ---- */

static void small_things(void)
{
    struct dp_buf buf;
    struct dp_stacks_outcome out;
    struct dp_stacks_column columns[1] = { { DP_T_CPU, NULL } };
    struct dp_host host = { .write = take, .ctx = &buf };
    static const char text[] = "#;%3b;x 1\n(program);(program) 2\nf%20 3\nf%201 4\n(program) 5\n";
    struct dp_prof *prof = folded(text, sizeof text - 1), *nothing = folded("a 0\n", 4);
    struct dp_part part = { .prof = prof }, none = { .prof = nothing };
    struct dp_diff_side side = { "x", &part, ends, 1, 0 }, empty = { "x", &none, ends, 1, 0 };
    struct dp_fold_how how = { .stacks = { .columns = columns, .n_columns = 1 }, .per = 1 };
    dp_buf_init(&buf);
    is_i(fold(&side, 1, &how, &host, &out), 0, "folded");
    is_s(dp_buf_cstr(&buf), "(program) 5\n%23;%3B;x 1\n(program);(program) 2\nf%20 3\nf%201 4\n",
         "names that are escaped, and no others");
    is_u(out.lines, 5, "lines are counted");
    buf.len = 0;
    is_i(fold(&empty, 1, &how, &host, &out), 0, "nothing");
    is_u(out.lines + buf.len, 0, "is nothing");
    dp_buf_release(&buf);
    dp_prof_free(prof);
    dp_prof_free(nothing);

    struct dp_rgb none_at_all = dp_palette_change(0), last = none_at_all;
    int lighter = 0;
    for (int k = 1; k <= 100; k++) {
        struct dp_rgb more = dp_palette_change(k / 100.0), less = dp_palette_change(-k / 100.0);
        lighter += more.r + more.g + more.b > last.r + last.g + last.b || more.r <= more.b
                   || less.b <= less.r;
        last = more;
    }
    is_i(lighter, 0, "colours of differences: red and blue, darker for more");
    ok(dp_palette_hue("A::B::c", 7) == dp_palette_hue("A::B::d", 7)
           && dp_palette_hue("A::B::c", 7) < 360,
       "packages have hues");
}

/* A sub without a package and a name is a frame all the same, and one that our reader gives
 * back. */
static void nameless(void)
{
    static const char tree[] = "= 0 0 1 0 0 0 0 0 0\n= 1 1 1 10 0 10 0 0 1\n= 2 2 1 20 0 20 0 0 1\n"
                               "= 3 1 1 30 0 30 0 0 1\n";
    struct dp_buf buf;
    struct dp_stacks_outcome out;
    struct dp_stacks_column columns[1] = { { DP_T_CPU, NULL } };
    struct dp_host host = { .write = take, .ctx = &buf };
    struct dp_prof *prof = of("& 1 % % -\n& 2 A % -\n", tree);
    struct dp_part part = { .prof = prof };
    struct dp_diff_side side = { "x", &part, ends, 1, 0 };
    struct dp_fold_how how = { .stacks = { .columns = columns, .n_columns = 1 }, .per = 1000 };
    dp_buf_init(&buf);
    is_i(fold(&side, 1, &how, &host, &out), 0, "folded");
    is_s(dp_buf_cstr(&buf), "(no name) 10\n(no name);A:: 20\n(no name);A::;(no name) 30\n",
         "names for those without");
    struct dp_prof *back = dp_prof_new();
    is_i(dp_prof_add_mem(back, "folded", buf.ptr, buf.len, 0), 0, "read back");
    is_u(dp_prof_total(back, DP_T_REAL), 60, "with all that there was");
    is_u(dp_prof_contexts(back), 4, "in as many contexts");
    dp_buf_release(&buf);
    dp_prof_free(back);
    dp_prof_free(prof);
}

/* ---- deep ones ---- */

struct seen {
    size_t visits, depth;
    uint64_t own, all;
};

static int see(void *ctx, size_t depth, uint32_t name, const uint64_t *own, const uint64_t *all,
               double weight)
{
    struct seen *seen = ctx;
    (void)name, (void)weight;
    seen->visits++;
    seen->depth = depth > seen->depth ? depth : seen->depth;
    seen->own += depth ? own[0] : 0;
    seen->all += depth == 1 ? all[0] : 0;
    return 1;
}

struct told {
    uint64_t last;
    int times, wrong, stop;     /* stop: the host ends it then */
};

static int hear(void *ctx, uint64_t done, uint64_t total)
{
    struct told *told = ctx;
    told->wrong += total || done != printed || done - told->last < 1 << 20
                   || done - told->last > (1 << 20) + 32768;
    told->last = done;
    return ++told->times == told->stop ? -1 : 0;
}

/* A host hears each megabyte that was written, and may end it. */
static void progress_of(const struct dp_diff_side *side, const struct dp_fold_how *how)
{
    struct told told = { 0 };
    struct dp_stacks_outcome out;
    const struct dp_host host = { .write = count, .progress = hear, .ctx = &told };
    printed = 0;
    is_i(fold(side, 1, how, &host, &out), 0, "progress");
    is_i(told.wrong, 0, "of each megabyte");
    ok(told.times > 20 && printed - told.last < 1 << 20, "to the end: %d", told.times);
    told = (struct told){ .stop = 3 };
    printed = 0;
    is_i(fold(side, 1, how, &host, &out), DP_E_HOST, "the host stops it");
    is_i(told.times, 3, "where it wants");
}

/* Two subs that call each other: reversed, two stacks of all depths. A frame is one step, however
 * many contexts pass it; one for each of these would be eighty thousand millions. */
static void deep(void)
{
    enum { DEPTH = 400000 };
    struct dp_buf text;
    dp_buf_init(&text);
    dp_buf_add(&text, head, sizeof head - 1);
    dp_buf_adds(&text, "& 1 A a x:1\n& 2 A b x:2\n= 0 0 1 0 0 0 0 0 0\n");
    for (int i = 1; i <= DEPTH; i++)
        dp_buf_addf(&text, "= %d %d 1 2 0 2 0 0 1\n", i, i % 2 + 1);
    struct dp_prof *prof = folded(dp_buf_cstr(&text), text.len);
    struct dp_stacks_column column = { DP_T_CPU, NULL };
    struct dp_part part = { .prof = prof };
    struct dp_diff_side side = { "x", &part, ends, 1, 0 };
    struct dp_stacks_how how = { .columns = &column, .n_columns = 1 };
    struct dp_stacks s;
    struct seen seen = { 0 };
    uint32_t *who = NULL;
    size_t n = 0;
    alarm(600);
    int rc = dp_stacks_make(&s, &side, 1, &how);
    is_i(rc, 0, "a deep stack");
    if (rc < 0) {
        alarm(0);
        dp_prof_free(prof);
        dp_buf_release(&text);
        return;
    }
    is_i(dp_stacks_reverse(&s, NULL, see, &seen), 0, "reversed");
    is_i(dp_stacks_by_leaf(&s, &who, &n), 0, "and sorted");
    alarm(0);
    is_u(n, DEPTH, "each frame is an end");
    ok(n && s.frames[who[0]].name < s.frames[who[n - 1]].name && s.frames[who[0]].parent,
       "by name");
    is_u(seen.visits, 2 * DEPTH, "a visit for each frame, and the root");
    is_u(seen.depth, DEPTH, "all levels");
    is_u(seen.own, 2 * DEPTH, "each has its own once");
    is_u(seen.all, 2 * DEPTH, "all of it begins at the leaves");
    for (int reverse = 0; reverse < 2; reverse++) {
        struct dp_fold_how folded = { .stacks = how, .reverse = reverse, .per = 1 };
        struct dp_stacks_outcome out;
        alarm(600);
        is_i(fold(&side, 1, &folded, &counting, &out), 0, "folded");
        alarm(0);
        is_u(out.lines, DEPTH, "each stack is printed");
        is_u(out.most, 128, "as far as so many frames");
        is_u(out.shortened, DEPTH - 128, "what is deeper is shortened");
    }
    progress_of(&side, &(struct dp_fold_how){ .stacks = how, .per = 1 });
    dp_mem_free(who);
    dp_stacks_release(&s);
    dp_prof_free(prof);
    dp_buf_release(&text);
}

int main(void)
{
    for (int i = 0; i < 6; i++) {
        profs[i] = of(i < 3 ? old_subs : new_subs, i < 3 ? old_tree : new_tree);
        parts[i].prof = profs[i];
    }
    charted.prof = in_time();
    no_memory();
    dp_prof_free((struct dp_prof *)charted.prof);
    for (int i = 0; i < 6; i++)
        dp_prof_free(profs[i]);
    starved();
    random_trees();
    random_layouts();
    deep();
    small_things();
    nameless();
    is_i(dp_mem_live(), 0, "all memory is given back");
    return tap_done();
}
