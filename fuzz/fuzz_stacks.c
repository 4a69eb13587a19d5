/* dproffold's and dprofflame's views of any bytes. */
#include "fuzz.h"
#include "dp_buf.h"
#include "dp_flame.h"
#include "dp_palette.h"
#include "dp_stacks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct dp_flame_metric metrics[] = { { "cpu", "user+system time", "s" } };

struct graph {
    struct dp_prof *all, *half;
    struct dp_part parts[2];
    struct dp_stacks_column columns[2];
    size_t counters[1];
    struct dp_diff_side sides[2];
    const struct dp_diff_side *first;
    size_t n;
};

static const size_t ends[] = { 1 };

/* Makes one side, or two: of the input's beginning and of all of it; or of the two counts that each
 * line of folded stacks has. */
static bool make(struct fuzz *f, struct graph *g, struct dp_stacks_how *how, uint32_t sides,
                 unsigned what)
{
    static const size_t recursions[] = { 1000, 0, 1, 2 };
    size_t counter, len;
    memset(g, 0, sizeof *g);
    g->n = sides;
    f->several = sides > 1;
    g->all = fuzz_read(f, f->size, what | (what & FUZZ_CHART ? 0 : FUZZ_PAIRS));
    g->half = sides > 1 ? fuzz_read(f, f->size * fuzz_pick(f, 32) / 32, what | FUZZ_PAIRS) : NULL;
    if (!GOOD(f, g->all && (sides < 2 || g->half)))
        return false;
    enum dp_metric metric = fuzz_metric(f, g->all, &counter);
    g->parts[0].prof = sides > 1 ? g->half : g->all;
    g->parts[1].prof = g->all;
    bool pair = sides > 1 && g->all->paired && dp_prof_counter(g->all, 0, &len);
    if (pair)
        g->parts[0].prof = g->all;
    if (metric == DP_M_COUNTER && sides > 1)
        metric = DP_T_CPU;
    g->counters[0] = pair ? 0 : counter;
    const size_t *counters = metric == DP_M_COUNTER ? g->counters : NULL;
    g->columns[0] = g->columns[1] = (struct dp_stacks_column){ metric, counters };
    if (pair)
        g->columns[0] = (struct dp_stacks_column){ DP_M_COUNTER, g->counters };
    g->sides[0] = (struct dp_diff_side){ "before", &g->parts[0], ends, 1, 0 };
    g->sides[1] = (struct dp_diff_side){ "after", &g->parts[1], ends, 1, 0 };
    *how = (struct dp_stacks_how){
        .columns = g->columns, .n_columns = sides, .pair = { fuzz_pick(f, 8), NULL, 0, NULL, 0 },
        .recursion = recursions[fuzz_pick(f, 4)],
        .no_program = fuzz_pick(f, 4) == 0, .strip_hex = fuzz_flip(f), .when = 1,
    };
    return true;
}

static void drop(struct graph *g)
{
    dp_prof_free(g->all);
    dp_prof_free(g->half);
}

/* Two sides together may exceed the limit. */
static bool stacked(const struct fuzz *f, int rc)
{
    return !(f->several && rc == DP_E_LIMIT) && GOOD(f, rc == 0);
}

/* ---- folded text ---- */

/* Folded text can be read back. huge: multiplied counts may be more than a count can be. */
static void read_back(struct fuzz *f, const struct dp_stacks_outcome *folded, bool huge)
{
    size_t len;
    const char *text = fuzz_printed_text(&len);
    struct dp_prof *prof = dp_prof_new();
    if (GOOD(f, prof) && folded->lines && !huge) {
        dp_prof_pairs(prof);
        int code = dp_prof_add_mem(prof, "folded", text, len, 0);
        CHECK(code == 0 || f->starved);
    }
    dp_prof_free(prof);
}

/* The greatest count that a line may have, or more. */
static double greatest(const struct dp_prof *prof)
{
    double most = (double)dp_prof_calls(prof), hz = dp_prof_hz(prof) ? (double)dp_prof_hz(prof) : 1;
    for (int t = 0; t < DP_M_CALLS; t++)
        most += (double)dp_prof_total(prof, t) / hz;
    for (size_t k = 0, len; dp_prof_counter(prof, k, &len); k++)
        most += (double)dp_prof_counted(prof, k);
    return most;
}

/* Picks a format for programs; in half of the cases folded text. */
static const struct dp_stacks_format *for_programs(unsigned pick)
{
    const struct dp_stacks_format *f, *found[32];
    size_t n = 0;
    for (size_t k = 0; (f = dp_stacks_format(k)) && n < 32; k++)
        if (!(f->needs & (DP_STACKS_VISUAL | DP_STACKS_EXPORT)))
            found[n++] = f;
    return pick % 2 ? found[pick / 2 % n] : dp_stacks_format_named("folded");
}

void fuzz_fold(struct fuzz *f)
{
    static const char *const names[] = { "before", "<after\x1b\"&" };
    struct dp_host host = fuzz_host(f);
    struct graph g;
    struct dp_stacks_outcome folded;
    struct dp_fold_how how = {
        .reverse = f->c.kind >> 1 & 1, .per = fuzz_flip(f) ? 1000000 : 1,
        .whole = f->c.kind >> 2 & 1,
    };
    if (make(f, &g, &how.stacks, 1 + (f->c.kind & 1), 0)) {
        how.normalize = g.n > 1 && fuzz_pick(f, 4) == 0;
        const struct dp_stacks_job job = {
            .format = for_programs(f->c.kind >> 3), .fold = &how, .title = "t<&\x1b\"",
            .version = "x", .metrics = metrics, .side_names = names,
        };
        int rc = dp_stacks_print(g.sides, g.n, &job, &host, &folded);
        if (PRINTED(f, rc)) {
            fuzz_check_bytes();
            double most = how.normalize ? 1e30 : greatest(g.all) + (g.half ? greatest(g.half) : 0);
            if (job.format == dp_stacks_format_named("folded"))
                read_back(f, &folded, most * (double)how.per > 1e14);
        }
    }
    drop(&g);
}

/* ---- formats of other tools ---- */

static const struct dp_stacks_format *of_tools(unsigned pick)
{
    const struct dp_stacks_format *f, *found[32];
    size_t n = 0;
    for (size_t k = 0; (f = dp_stacks_format(k)) && n < 32; k++)
        if (f->needs & DP_STACKS_EXPORT && !(f->needs & DP_STACKS_TRACE))
            found[n++] = f;
    return found[pick % n];
}

void fuzz_export(struct fuzz *f)
{
    static const char *const names[] = { "before", "<after\x1b\"&" };
    static const struct dp_export_part parts[] = { { "a\"\xff.pl", 7, 1, 1000, 50 },
                                                   { "b", 0, 0, 0, 0 } };
    struct dp_host host = fuzz_host(f);
    struct graph g;
    struct dp_stacks_outcome out;
    struct dp_export_how how = {
        .parts = parts, .n_parts = 2, .side = f->c.kind & 1, .label_phase = 1, .label_pid = 1,
    };
    if (make(f, &g, &how.stacks, 1 + (f->c.kind & 1), 0)) {
        how.stacks.by_sub = fuzz_flip(f);
        how.stacks.by_site = fuzz_flip(f);
        how.stacks.by_part = fuzz_flip(f);
        const struct dp_stacks_job job = {
            .format = of_tools(f->c.kind >> 1), .export = &how, .title = "t<&\x1b\"",
            .version = "x", .metrics = metrics, .side_names = names,
        };
        int rc = dp_stacks_print(g.sides, g.n, &job, &host, &out);
        if (PRINTED(f, rc) && !strstr(job.format->suffixes, "pb"))
            fuzz_check_bytes();
    }
    drop(&g);
}

/* The reader notes each file: the text that has been read whole, and its beginning. */
static int told(void *ctx, const struct dp_outcome *outcome)
{
    const struct fuzz *f = ctx;
    CHECK(outcome->code <= 0 && (outcome->code < 0 || !outcome->tree || f->starved));
    return 0;
}

static int is_shown(void *ctx, const char *name, size_t len)
{
    (void)ctx;
    return !len || name[len - 1] != 'o';
}

/* Calls of traces, which the format reads itself. */
void fuzz_calls(struct fuzz *f)
{
    static const char *const paths[] = { "a\"\xff.out", "b" };
    static const struct dp_range ranges[] = { { 0, 1e-3, 0 }, { 1, 1e300, 0 }, { 0, 30, 1 },
                                              { 50, 100, 1 } };
    const struct dp_file_mem texts[] = { fuzz_mem(f, f->size * fuzz_pick(f, 32) / 32),
                                         fuzz_mem(f, f->size) };
    const struct dp_stacks_column column = { (enum dp_metric)(f->c.kind & 3), NULL };
    struct dp_host host = fuzz_host(f);
    struct dp_stacks_outcome out;
    struct dp_export_how how = {
        .stacks = { .columns = &column, .n_columns = 1, .strip_hex = fuzz_flip(f),
                    .pair = { fuzz_pick(f, 8), NULL, 0, NULL, 0 },
                    .phase = fuzz_pick(f, 4) ? NULL : "main" },
        .paths = paths, .n_paths = 2, .texts = texts, .ranges = ranges + (f->c.kind >> 2 & 2),
        .n_ranges = fuzz_pick(f, 3), .main = fuzz_flip(f), .force = f->c.reading & 1,
    };
    const struct dp_stacks_job job = {
        .format = dp_stacks_format_named("chrome"), .export = &how, .told = told,
        .shown = fuzz_flip(f) ? is_shown : NULL, .ctx = f,
    };
    int rc = dp_stacks_print(NULL, 0, &job, &host, &out);
    if (PRINTED(f, rc) && !out.empty) {
        fuzz_check_text(false);
        fuzz_check_json();
    }
}

/* ---- sums ---- */

/* The sums of the values that climb gets for each stack from the leaf up. */
struct callers {
    uint64_t own[2];
    size_t visits;
};

enum { VISITS = 20000 };

static int climb(void *ctx, size_t depth, uint32_t name, const uint64_t *own, const uint64_t *all,
                 double weight)
{
    struct callers *c = ctx;
    (void)depth, (void)name, (void)weight;
    for (int k = 0; k < 2; k++) {
        CHECK(own[k] <= all[k]);
        c->own[k] += own[k];
    }
    return ++c->visits < VISITS;
}

/* The sums of stacks are those of the profiles, and so are those of the reversed stacks. */
void fuzz_stacks(struct fuzz *f)
{
    struct graph g;
    struct dp_stacks_how how;
    struct dp_stacks s;
    struct callers c = { { 0, 0 }, 0 };
    if (make(f, &g, &how, 2, 0) && stacked(f, dp_stacks_make(&s, g.sides, 2, &how))) {
        uint64_t sum[2] = { 0, 0 };
        CHECK(s.count > 0 || how.no_program);
        for (uint32_t i = 0; i < s.count; i++)
            for (size_t k = 0; k < 2; k++)
                sum[k] += dp_stacks_self(&s, i, k);
        CHECK(sum[0] == s.total[0] && sum[1] == s.total[1]);
        if (GOOD(f, dp_stacks_reverse(&s, NULL, climb, &c) == 0))
            CHECK(c.visits >= VISITS || (c.own[0] == s.total[0] && c.own[1] == s.total[1]));
        dp_stacks_release(&s);
    }
    drop(&g);
}

/* ---- pictures ---- */

static struct dp_flame_how picture(struct fuzz *f)
{
    static const char *const names[] = { "before", "<after\x1b\"&" };
    static const double widths[] = { 0.1, 0, 5, 100 };
    static const struct dp_flame_fill fills[] = { { "main::foo", "rgb(1,2,3)", 9, 10 } };
    struct dp_flame_how how = {
        .metrics = metrics, .normalize = fuzz_flip(f), .reverse = fuzz_flip(f),
        .inverted = fuzz_flip(f), .order = (int)fuzz_pick(f, 3),
        .width_of = (int)fuzz_pick(f, 4), .by_total = fuzz_flip(f),
        .total = fuzz_flip(f) ? 0 : 1e-3, .factor = fuzz_flip(f) ? 1 : 0.3,
        .width = fuzz_flip(f) ? 1200 : 21, .height = 16, .min_width = widths[fuzz_pick(f, 4)],
        .min_percent = fuzz_flip(f),
        .title = "t<&\x1b\"", .subtitle = fuzz_flip(f) ? "s]]>" : NULL,
        .notes = fuzz_flip(f) ? "n<" : NULL, .nametype = fuzz_flip(f) ? "" : NULL,
        .countname = fuzz_flip(f) ? "c" : NULL, .legend = "l<", .font = "f\"", .font_size = 12,
        .font_width = 0.59,
        .palette = (int)fuzz_pick(f, 15), .hash = fuzz_flip(f), .seed = fuzz_pick(f, 3),
        .fills = fills, .n_fills = fuzz_pick(f, 2),
        .options = "\"options\":{}", .difference = "\"view\":\"graph\"", .side_names = names,
        .version = "x",
    };
    how.hue = how.width_of == DP_FW_CHANGE && fuzz_flip(f);
    return how;
}

static int coloured(void *ctx, const char *name, size_t len, const char *rgb)
{
    (void)ctx;
    CHECK((name || !len) && *rgb);
    return 0;
}

static void draw(struct fuzz *f, const char *format, struct dp_flame_how *how, uint32_t sides,
                 unsigned what)
{
    struct dp_host host = fuzz_host(f);
    struct graph g;
    struct dp_stacks_outcome drawn;
    if (make(f, &g, &how->stacks, sides, what)) {
        how->stacks.chart = (what & FUZZ_CHART) != 0;
        if (how->stacks.chart) {
            g.columns[0] = (struct dp_stacks_column){ f->c.kind & 3, NULL };
            how->reverse = 0;
            how->order = DP_FO_TIME;
        }
        const struct dp_stacks_job job = {
            .format = dp_stacks_format_named(format), .flame = how,
            .colour = fuzz_flip(f) ? coloured : NULL
        };
        int rc = dp_stacks_print(g.sides, g.n, &job, &host, &drawn);
        if (PRINTED(f, rc)) {
            fuzz_check_text(false);
            fuzz_check_markup();
            CHECK(drawn.hidden_percent >= 0 && drawn.hidden_percent < 100.001);
        }
    }
    drop(&g);
}

void fuzz_svg(struct fuzz *f)
{
    struct dp_flame_how how = picture(f);
    draw(f, "svg", &how, 1 + (f->c.kind & 1), 0);
}

void fuzz_page(struct fuzz *f)
{
    struct dp_flame_how how = picture(f);
    draw(f, "html", &how, 1 + (f->c.kind & 1), 0);
}

void fuzz_chart(struct fuzz *f)
{
    struct dp_flame_how how = picture(f);
    draw(f, "svg", &how, 1, FUZZ_CHART);
}

/* Boxes lie within the picture, and within the boxes below them. */
void fuzz_layout(struct fuzz *f)
{
    struct graph g;
    struct dp_flame_how how = picture(f);
    struct dp_stacks s;
    struct dp_flame flame;
    double factor[2];
    if (make(f, &g, &how.stacks, 1 + (f->c.kind & 1), 0)
        && stacked(f, dp_stacks_make(&s, g.sides, g.n, &how.stacks))) {
        dp_stacks_factors(&s, g.sides, how.normalize && g.n > 1, factor);
        if (GOOD(f, dp_flame_make(&flame, &s, &how, factor, 0.001) == 0)) {
            double slack = 1e-6 * flame.total + 1e-9;
            CHECK(isfinite(flame.total) && flame.total >= 0);
            for (size_t i = 0; i < flame.count; i++) {
                const struct dp_flame_box *b = &flame.boxes[i];
                CHECK(b->w >= 0 && b->x >= -slack && b->x + b->w <= flame.total + slack);
                CHECK(b->depth <= flame.depth && b->name < s.n_names);
                CHECK(b->all[0] >= b->self[0] - slack && b->all[1] >= b->self[1] - slack);
                double change = dp_flame_change(&flame, b);
                CHECK(change >= -1 && change <= 1);
                if (i && b->depth > flame.boxes[i - 1].depth) {
                    const struct dp_flame_box *up = b - 1;
                    CHECK(b->depth == up->depth + 1 && b->x >= up->x - slack
                          && b->x + b->w <= up->x + up->w + slack);
                }
            }
            dp_flame_release(&flame);
        }
        dp_stacks_release(&s);
    }
    drop(&g);
}
