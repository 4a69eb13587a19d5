/* Stacks and samples of the Firefox Profiler, column by column: for sums, and in order of time. */
#include "dp_firefox.h"
#include "dp_err.h"
#include "dp_fmt.h"
#include "dp_mem.h"
#include "dp_num.h"

#include <string.h>

/* A frame of the current stack. */
struct dp_firefox_level {
    uint32_t name;
    uint32_t row, prefix;       /* prefix: DP_MAP_NONE: the outermost frame */
    uint32_t site, site_row;    /* site of its last call, and the row for it; site 0: none */
    uint64_t left, counted;     /* in order of time: own ticks not written yet, and their counts */
    uint64_t at;                /* in order of time: end of the part written so far */
};

/* Adds a row to the table of stacks, and writes its value if the walk is for a column of that
 * table. All walks number the rows alike. Returns the row's number. */
static uint32_t new_row(struct dp_firefox *x, uint32_t name, uint32_t site, uint32_t prefix)
{
    if (x->column == COLUMN_FRAME)
        dp_firefox_number(x, dp_firefox_frame(x, name, site));
    else if (x->column == COLUMN_PREFIX && prefix == DP_MAP_NONE)
        dp_firefox_word(x, "null");
    else if (x->column == COLUMN_PREFIX)
        dp_firefox_number(x, prefix);
    return x->n_rows++;
}

/* The site of the current frame's call, if its line is in the caller's own file; else 0: a row has
 * only one file. */
static uint32_t site_of(const struct dp_firefox *x, uint32_t caller)
{
    const struct dp_stacks *s = x->e.p->s;
    uint32_t site = s->site ? s->site[x->e.frame] : 0;
    if (!site || !s->sites[site].line)
        return 0;
    struct dp_name file = dp_firefox_file(x, caller);
    return dp_name_compare(&s->sites[site].file, &file) == 0 ? site : 0;
}

/* Pushes the walk's current frame on the stack, with rows for it and for the line of its call. */
static int enter_frame(struct dp_firefox *x)
{
    const struct dp_stacks *s = x->e.p->s;
    if (dp_mem_grow((void **)&x->stack, &x->stack_cap, x->depth + 1, sizeof *x->stack) < 0)
        return DP_E_NOMEM;
    struct dp_firefox_level *up = x->depth ? &x->stack[x->depth - 1] : NULL;
    struct dp_firefox_level *top = &x->stack[x->depth++];
    uint32_t site = up ? site_of(x, up->name) : 0;
    memset(top, 0, sizeof *top);
    top->prefix = up ? up->row : DP_MAP_NONE;
    if (site && up->site != site) {
        up->site_row = new_row(x, up->name, site, up->prefix);
        up->site = site;
    }
    if (site)
        top->prefix = up->site_row;
    top->name = s->frames[up ? x->e.frame : 0].name;    /* the first one may represent a part */
    top->row = new_row(x, top->name, 0, top->prefix);
    return x->err;
}

/* Writes a count. A count without time is added to the previous sample, so each sample waits for
 * the next one: readers divide by the time between two samples. */
static void put_count(struct dp_firefox *x)
{
    dp_firefox_number(x, x->held);
    x->held = x->sum;
    x->sum = 0;
}

/* Adds a sample: the stack `row` ran from `time` on, in nanoseconds, and has the value `weight`.
 * Writes only the column that the walk is for. */
static void put_sample(struct dp_firefox *x, uint32_t row, uint64_t time, uint64_t weight)
{
    bool is_time = x->e.measures[x->measure].is_time;
    if (x->column == COLUMN_STACK)
        dp_firefox_number(x, row);
    else if (x->column == COLUMN_TIME)
        dp_firefox_ms(x, time);
    else if (x->column == COLUMN_WEIGHT)
        (is_time ? dp_firefox_ms : dp_firefox_number)(x, weight);
    else if (x->column == COLUMN_COUNT_TIME)
        dp_firefox_ms(x, time + weight);
    else if (x->column == COLUMN_COUNT)
        put_count(x);
    x->last_row = row;
    x->last_end = time + weight;
    x->n_samples++;
}

/* ---- sums ---- */

/* The place of a value on the time axis: times have their own place; counts are scaled so that all
 * of them take as long as the times. */
static uint64_t time_of(const struct dp_firefox *x, uint64_t sum)
{
    const struct dp_export_measure *m = &x->e.measures[x->measure];
    uint64_t total = x->e.p->s->total[m->column], time;
    if (m->is_time)
        return sum;
    if (!total || !dp_num_scale(sum < total ? sum : total, x->range, total, &time))
        return x->range;
    return time;
}

/* Visits a frame in a walk over sums: a frame with an own value gives one sample, at the place of
 * the sum so far. */
static int visit_in_sums(struct dp_firefox *x)
{
    uint32_t level = x->e.is_frame ? (uint32_t)x->e.level : 0;
    if (x->e.is_frame || !x->depth) {
        x->depth = level;
        if (enter_frame(x) < 0)
            return DP_E_NOMEM;
    }
    uint64_t own = dp_export_self(&x->e, x->measure, x->e.frame);
    if (own)
        put_sample(x, x->stack[level].row, time_of(x, x->sum), own);
    x->sum += own;
    return 0;
}

/* ---- order of time ---- */

uint64_t dp_firefox_ns(const struct dp_firefox *x, uint64_t ticks)
{
    uint64_t ns;
    return dp_num_scale(ticks, DP_FIREFOX_SECOND, x->e.p->s->hz[0], &ns) ? ns : DP_LIMIT_COUNT;
}

/* Lets the frame's own code run, for `ticks` at most. Its counts are proportional to its time. */
static void pass_time(struct dp_firefox *x, struct dp_firefox_level *top, uint64_t ticks)
{
    uint64_t own = ticks < top->left ? ticks : top->left;
    uint64_t start = dp_firefox_ns(x, top->at), end = dp_firefox_ns(x, top->at + own);
    uint64_t counted = top->left ? dp_num_mul_div(top->counted, own, top->left) : top->counted;
    top->counted -= counted;
    x->sum = dp_count_add(x->sum, counted);
    if (end > start)
        put_sample(x, top->row, x->offset + start, end - start);
    top->left -= own;
    top->at += own;
}

/* Ends the innermost frame: what is left of its own time runs now, and its caller goes on after
 * it. */
static void leave_in_time(struct dp_firefox *x)
{
    struct dp_firefox_level *top = &x->stack[--x->depth];
    pass_time(x, top, top->left);
    if (x->depth)
        x->stack[x->depth - 1].at = top->at;
}

/* Visits a frame in a walk in order of time. Its caller's own code runs up to the frame's start; a
 * frame that stands for a part or phase only adds its values to the innermost one. */
static int visit_in_time(struct dp_firefox *x)
{
    const struct dp_stacks *s = x->e.p->s;
    size_t callers = x->e.is_frame ? x->e.level : 1;
    uint64_t own = dp_stacks_self(s, x->e.frame, 0), start = s->start[x->e.frame];
    while (x->depth > callers)
        leave_in_time(x);
    if (x->e.is_frame || !x->depth) {
        if (x->depth && start > x->stack[x->depth - 1].at) {
            pass_time(x, &x->stack[x->depth - 1], start - x->stack[x->depth - 1].at);
            x->stack[x->depth - 1].at = start;
        }
        uint64_t at = x->depth ? x->stack[x->depth - 1].at : start;
        if (enter_frame(x) < 0)
            return DP_E_NOMEM;
        x->stack[x->depth - 1].at = at;
    }
    struct dp_firefox_level *top = &x->stack[x->depth - 1];
    top->left += own;
    if (x->measure)
        top->counted = dp_count_add(top->counted, dp_stacks_self(s, x->e.frame, x->measure));
    return 0;
}

/* ---- tables ---- */

/* Repeats the last sample at its end, without a value of its own. The page draws a sample until the
 * next one begins, and would otherwise hide how long the last one takes. */
static void put_end(struct dp_firefox *x)
{
    if (x->n_samples && x->column != COLUMN_COUNT_TIME && x->column != COLUMN_COUNT)
        put_sample(x, x->last_row, x->in_time ? x->last_end : time_of(x, x->sum), 0);
}

/* Writes a column. */
int dp_firefox_walk(struct dp_firefox *x, const char *key, enum dp_firefox_column column)
{
    int rc = 0;
    x->column = column;
    x->n_rows = 0;
    x->n_samples = 0;
    x->sum = x->held = 0;
    x->depth = 0;
    dp_export_walk(&x->e, x->lane);
    dp_jsonout_key(&x->json, key);
    dp_jsonout_open(&x->json, '[');
    if (column == COLUMN_COUNT_TIME)    /* readers take the first sample as the beginning of
                                         * counting */
        dp_firefox_ms(x, x->offset);
    while (rc >= 0 && (rc = dp_export_next(&x->e)) > 0)
        rc = x->in_time ? visit_in_time(x) : visit_in_sums(x);
    while (rc == 0 && x->in_time && x->depth)
        leave_in_time(x);
    put_end(x);
    if (column == COLUMN_COUNT)
        dp_firefox_number(x, dp_count_add(x->held, x->sum));
    dp_jsonout_close(&x->json, ']');
    return rc < 0 ? rc : x->json.out->err;
}

int dp_firefox_stacks(struct dp_firefox *x)
{
    dp_jsonout_key(&x->json, "stackTable");
    dp_jsonout_open(&x->json, '{');
    int rc = dp_firefox_walk(x, "frame", COLUMN_FRAME);
    rc = rc < 0 ? rc : dp_firefox_walk(x, "prefix", COLUMN_PREFIX);
    dp_jsonout_number(&x->json, "length", x->n_rows);
    dp_jsonout_close(&x->json, '}');
    return rc;
}

int dp_firefox_samples(struct dp_firefox *x)
{
    const struct dp_export_measure *m = &x->e.measures[x->measure];
    dp_jsonout_key(&x->json, "samples");
    dp_jsonout_open(&x->json, '{');
    int rc = dp_firefox_walk(x, "stack", COLUMN_STACK);
    rc = rc < 0 ? rc : dp_firefox_walk(x, "time", COLUMN_TIME);
    rc = rc < 0 ? rc : dp_firefox_walk(x, "weight", COLUMN_WEIGHT);
    dp_jsonout_raw(&x->json, "weightType", m->is_time ? "\"tracing-ms\"" : m->is_bytes ? "\"bytes\""
                                        : "\"samples\"");
    dp_jsonout_number(&x->json, "length", x->n_samples);
    dp_jsonout_close(&x->json, '}');
    return rc;
}
