#include "dp_window.h"
#include "dp_mem.h"
#include "dp_num.h"

#include <math.h>
#include <string.h>

struct dp_window *dp_window_new(const struct dp_range *ranges, size_t n)
{
    struct dp_window *w = dp_mem_zalloc(sizeof *w);
    if (!w)
        return NULL;
    w->ranges = dp_mem_realloc(NULL, n + 1, sizeof *w->ranges);
    w->from = dp_mem_zalloc((n + 1) * sizeof *w->from);
    w->to = dp_mem_zalloc((n + 1) * sizeof *w->to);
    if (!w->ranges || !w->from || !w->to) {
        dp_window_free(w);
        return NULL;
    }
    memcpy(w->ranges, ranges, n * sizeof *ranges);
    w->n = n;
    return w;
}

void dp_window_free(struct dp_window *w)
{
    if (!w)
        return;
    dp_mem_free(w->ranges);
    dp_mem_free(w->from);
    dp_mem_free(w->to);
    dp_mem_free(w);
}

/* Returns a value as ticks, between 0 and the limit. */
static uint64_t ticks_of(double value, double unit)
{
    double ticks = floor(value * unit + 0.5);
    return ticks < 0 ? 0 : ticks >= (double)DP_LIMIT_TOTAL ? DP_LIMIT_TOTAL : (uint64_t)ticks;
}

int dp_window_start(struct dp_window *w, const struct dp_header *head, struct dp_err *err)
{
    w->now = 0;
    if (head->tree || head->folded || head->foreign)
        return dp_err_set(err, DP_E_ARG,
                          "a slice of time can be taken of a trace only, and this is none");
    for (size_t i = 0; i < w->n; i++) {
        const struct dp_range *r = &w->ranges[i];
        double unit = r->percent ? (double)head->rrun[DP_REAL] / 100 : (double)head->hz;
        if (r->percent && !head->rrun[DP_REAL])
            return dp_err_set(err, DP_E_ARG,
                              "a share of its time cannot be taken: the trace was cut short, and"
                              " does not tell its length");
        w->from[i] = ticks_of(r->from, unit);
        w->to[i] = r->percent && r->to >= 100 ? DP_LIMIT_TOTAL : ticks_of(r->to, unit);
    }
    return 0;
}

/* Is the moment inside of one of the ranges of --time? */
static bool holds_time(const struct dp_window *w, uint64_t at)
{
    for (size_t i = 0; i < w->n; i++)
        if (at >= w->from[i] && at < w->to[i])
            return true;
    return false;
}

/* Returns how much of from..to lies inside of the ranges of --time. */
static uint64_t time_inside(const struct dp_window *w, uint64_t from, uint64_t to)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < w->n; i++) {
        uint64_t a = from > w->from[i] ? from : w->from[i], b = to < w->to[i] ? to : w->to[i];
        sum += b > a ? b - a : 0;
    }
    return sum;
}

void dp_window_clip(struct dp_window *w, struct dp_event *ev, uint64_t *counts, size_t n_counts,
                    size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t passed = ev[i].t[DP_REAL], part = time_inside(w, w->now, w->now + passed);
        bool at_once = !passed && holds_time(w, w->now);
        for (int m = 0; m < DP_METRICS && part < passed; m++)
            ev[i].t[m] = dp_num_mul_div(ev[i].t[m], part, passed);
        if (!passed && !at_once)
            memset(ev[i].t, 0, sizeof ev[i].t);
        for (size_t k = 0; counts && k < n_counts; k++) {
            uint64_t *count = &counts[i * n_counts + k];
            if (passed ? part < passed : !at_once)
                *count = passed ? dp_num_mul_div(*count, part, passed) : 0;
        }
        w->now += passed;
        if (holds_time(w, w->now))
            continue;
        if (ev[i].op == DP_OP_ENTER)
            ev[i].op = DP_OP_REENTER;
        else if (ev[i].op == DP_OP_GOTO)
            ev[i].op = DP_OP_REGOTO;
    }
}
