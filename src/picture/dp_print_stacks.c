/* Prints stacks in all formats: the table of formats, and their common parts. */
#include "dp_print_stacks.h"
#include "dp_diff.h"
#include "dp_err.h"
#include "dp_mem.h"

#include <string.h>

/* ---- the table ---- */

#define ROW(name, suffixes, needs) { #name, suffixes, needs, dp_print_##name },
static const struct dp_stacks_format formats[] = { DP_STACKS_FORMATS(ROW) };
#undef ROW

const struct dp_stacks_format *dp_stacks_format(size_t k)
{
    return k < DP_ARRAY_LEN(formats) ? &formats[k] : NULL;
}

const struct dp_stacks_format *dp_stacks_format_named(const char *name)
{
    for (size_t k = 0; k < DP_ARRAY_LEN(formats); k++)
        if (strcmp(formats[k].name, name) == 0)
            return &formats[k];
    return NULL;
}

/* ---- several runs ---- */

/* Marks the names whose own values differ significantly (bit 1 of dp_stacks_name.significant) or,
 * with incl, whose inclusive values do (bit 2). out->needed becomes the number of runs that a
 * verdict would need. */
static int mark_names(struct dp_stacks *s, const struct dp_diff *diff, bool incl,
                      struct dp_stacks_outcome *out)
{
    struct dp_diff_family family;
    int rc = dp_diff_compare(&family, diff, 0, incl, 1);
    if (rc < 0)
        return rc;
    for (uint32_t e = 0; e < dp_diff_entries(diff); e++) {
        enum dp_diff_verdict verdict = family.values[e].verdict;
        const struct dp_name *label = dp_diff_text(diff, e, 0);
        uint32_t name = verdict == DP_DIFF_TRUE || verdict == DP_DIFF_EXACT
                            ? dp_stacks_find(s, label->ptr, label->len) : DP_STACKS_NONE;
        if (name == DP_STACKS_NONE)
            continue;
        s->names[name].significant |= incl ? 2 : 1;
    }
    out->needed = family.needed > out->needed ? family.needed : out->needed;
    dp_diff_family_release(&family);
    return 0;
}

/* Makes the stacks of several runs. If speeds are known, they are scaled as if all runs had the
 * same speed. Significant changes are marked. */
static int make_stacks(struct dp_stacks *s, const struct dp_diff_side *sides, size_t n,
                       const struct dp_flame_how *how, struct dp_stacks_outcome *out)
{
    struct dp_diff diff;
    struct dp_stacks_how stacks = how->stacks;
    int rc = dp_diff_make(&diff, sides, n, how->truth, NULL, NULL);
    if (rc < 0)
        return rc;
    double *speed = dp_mem_realloc(NULL, diff.n_runs + 1, sizeof *speed);
    for (size_t r = 0; speed && r < diff.n_runs; r++)
        speed[r] = diff.adjusted ? diff.runs[r].speed : 1;
    stacks.speed = speed;
    out->adjusted = diff.adjusted;
    rc = speed ? dp_stacks_make(s, sides, n, &stacks) : DP_E_NOMEM;
    if (rc == 0) {
        rc = mark_names(s, &diff, false, out);
        rc = rc < 0 ? rc : mark_names(s, &diff, true, out);
        if (rc < 0)
            dp_stacks_release(s);
    }
    dp_mem_free(speed);
    dp_diff_release(&diff);
    return rc;
}

/* ---- printing ---- */

/* Prints in a format that draws frames as boxes: computes the boxes first, and reports what was too
 * small for a box. The smallest width is a share of the whole, or pixels. */
static int print_laid_out(struct dp_stacks_printing *p)
{
    const struct dp_flame_how *how = p->job->flame;
    struct dp_flame flame;
    double least = how->min_percent ? how->min_width / 100 : how->min_width / (how->width - 20);
    int rc = dp_flame_make(&flame, p->s, how, p->factor, least);
    if (rc < 0)
        return rc;
    p->layout = &flame;
    rc = p->job->format->print(p);
    p->out->frames = flame.count;
    p->out->hidden = flame.hidden;
    p->out->hidden_percent = flame.total > 0 ? 100 * flame.hidden_weight / flame.total : 0;
    double sum = how->width_of == DP_FW_BEFORE || !flame.two ? flame.sum[0] : flame.sum[1];
    p->out->total_too_small = how->total > 0 && how->total * (double)p->s->hz[0] < sum;
    p->out->empty = !(flame.total > 0);
    dp_flame_release(&flame);
    return rc;
}

/* Prints in a format without boxes. Formats of other tools get all measures as they are; the others
 * show the first one. */
static int print_plain(struct dp_stacks_printing *p)
{
    size_t columns = p->job->export ? p->s->n_columns : p->s->n_sides;
    p->out->frames = p->s->count;
    p->out->empty = 1;
    for (size_t c = 0; c < columns; c++)
        p->out->empty = p->out->empty && !p->s->total[c];
    return p->job->format->print(p);
}

/* ---- order of time ---- */

struct timeline {
    struct dp_stacks s;
    struct dp_stacks_column *columns;
    struct dp_flame_metric *metrics;
    double *factor;
    size_t count;               /* number of measures */
    struct dp_export_how how;
    struct dp_stacks_job job;
    struct dp_stacks_printing p;
};

/* Makes the arrays for n columns of a time line. Returns 0 or DP_E_NOMEM. */
static int alloc_columns(struct timeline *t, size_t n)
{
    t->columns = dp_mem_zalloc(n * sizeof *t->columns);
    t->metrics = dp_mem_zalloc(n * sizeof *t->metrics);
    t->factor = dp_mem_zalloc(n * sizeof *t->factor);
    return t->columns && t->metrics && t->factor ? 0 : DP_E_NOMEM;
}

static void add_column(struct timeline *t, const struct dp_stacks_column *column,
                       const struct dp_flame_metric *metric)
{
    t->columns[t->count] = *column;
    t->metrics[t->count] = *metric;
    t->factor[t->count++] = 1;
}

/* Collects the columns: real time, and the counters among the measures that are printed. */
static int take_columns(struct timeline *t, const struct dp_stacks_printing *p)
{
    static const struct dp_stacks_column real = { .metric = DP_T_REAL };
    static const struct dp_flame_metric order = { "time order", "real time", "s" };
    const struct dp_export_how *how = p->job->export;
    const size_t n_sides = p->s->n_sides, n = p->s->n_columns / n_sides;
    if (alloc_columns(t, n + 1) < 0)
        return DP_E_NOMEM;
    add_column(t, &real, &order);
    for (size_t k = 0; k < n; k++) {
        const struct dp_stacks_column *column = &how->stacks.columns[k * n_sides + how->side];
        if (dp_metric_is_counter(column->metric))
            add_column(t, column, &p->job->metrics[k]);
    }
    return 0;
}

/* Makes the stacks in order of time. Returns 0 or a DP_E; the caller releases *t in any case. */
static int make_timeline(struct timeline *t, const struct dp_stacks_printing *p)
{
    int rc = take_columns(t, p);
    if (rc < 0)
        return rc;
    t->how = *p->job->export;
    t->how.side = 0;
    t->how.stacks.columns = t->columns;
    t->how.stacks.n_columns = t->count;
    t->how.stacks.chart = 1;
    t->job = *p->job;
    t->job.metrics = t->metrics;
    t->job.n_metrics = t->count;
    t->job.export = &t->how;
    t->p = *p;
    t->p.job = &t->job;
    t->p.s = &t->s;
    t->p.factor = t->factor;
    return dp_stacks_make(&t->s, p->job->timeline, 1, &t->how.stacks);
}

/* Prints in a format of another tool that also gets the stacks in order of time. */
static int print_with_timeline(struct dp_stacks_printing *p)
{
    struct timeline *t = dp_mem_zalloc(sizeof *t);
    if (!t)
        return DP_E_NOMEM;
    int rc = make_timeline(t, p);
    if (rc == 0) {
        p->timeline = &t->p;
        rc = print_plain(p);
        dp_stacks_release(&t->s);
    }
    dp_mem_free(t->columns);
    dp_mem_free(t->metrics);
    dp_mem_free(t->factor);
    dp_mem_free(t);
    return rc;
}

/* Are values multiplied so that the sides have equal totals? Counters of two kinds are compared by
 * their shares. A format without boxes leaves that to its reader. */
static bool is_normalized(const struct dp_stacks_job *job, bool layout)
{
    return job->export ? false
           : job->fold ? job->fold->normalize
           : job->flame->is_pair ? layout
           : job->flame->normalize;
}

/* ---- output ---- */

enum { PROGRESS_BYTES = 1 << 20 };

/* The host's output, with reports of how much was written. */
struct output {
    const struct dp_host *host;
    struct dp_sink sink;
    uint64_t written, told;
};

/* Writes bytes to the host, and now and then reports how much was written. */
static int write_out(void *ctx, const void *ptr, size_t n)
{
    struct output *to = ctx;
    if (dp_host_write((void *)(uintptr_t)to->host, ptr, n) < 0)
        return DP_E_IO;
    to->written += n;
    if (!to->host->progress || to->written - to->told < PROGRESS_BYTES)
        return 0;
    to->told = to->written;
    return to->host->progress(to->host->ctx, to->written, 0) < 0 ? DP_E_HOST : 0;
}

/* Prints in a format that needs no stacks, because it reads the files itself. */
static int print_trace(const struct dp_stacks_job *job, const struct dp_host *host,
                       struct dp_stacks_outcome *out)
{
    struct dp_stacks_printing p = { .job = job, .host = host, .out = out };
    p.sink = dp_sink_of_host(host);
    int rc = p.sink ? job->format->print(&p) : DP_E_NOMEM, ended = dp_sink_end(p.sink);
    return ended < 0 ? ended : rc;
}

int dp_stacks_print(const struct dp_diff_side *sides, size_t n, const struct dp_stacks_job *job,
                    const struct dp_host *host, struct dp_stacks_outcome *out)
{
    memset(out, 0, sizeof *out);
    if (job->format->needs & DP_STACKS_TRACE)
        return print_trace(job, host, out);
    struct dp_stacks s;
    bool layout = job->format->needs & DP_STACKS_LAYOUT;
    const struct dp_stacks_how *how = job->flame ? &job->flame->stacks
                                      : job->fold ? &job->fold->stacks
                                      : &job->export->stacks;
    struct dp_stacks_printing p = { .job = job, .s = &s, .host = host, .out = out };
    struct output *to = dp_mem_zalloc(sizeof *to);
    double *factor = dp_mem_zalloc((how->n_columns + 1) * sizeof *factor);
    int rc = !to || !factor ? DP_E_NOMEM
             : job->flame && job->flame->truth ? make_stacks(&s, sides, n, job->flame, out)
             : dp_stacks_make(&s, sides, n, how);
    if (rc == 0) {
        to->host = host;
        p.sink = &to->sink;
        dp_sink_init(p.sink, write_out, to);
        dp_stacks_factors(&s, sides, is_normalized(job, layout), factor);
        p.factor = factor;
        out->recursion = s.folded;
        bool has_times = job->timeline && job->format->needs & DP_STACKS_TIMELINE;
        rc = (layout ? print_laid_out : has_times ? print_with_timeline : print_plain)(&p);
        int flushed = dp_sink_flush(p.sink);
        rc = flushed < 0 ? flushed : rc;
        dp_stacks_release(&s);
    }
    dp_mem_free(to);
    dp_mem_free(factor);
    return rc;
}
