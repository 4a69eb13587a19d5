/* Flame graphs: values for people; the formats. */
#include "dp_render_flame.h"
#include "dp_diff.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_num.h"
#include "dp_render.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- values ---- */

/* With commas between thousands. */
static void add_thousands(struct dp_buf *to, double v, unsigned decimals)
{
    struct dp_buf num;
    dp_buf_init(&num);
    dp_render_real(&num, v, decimals, false);
    size_t whole = 0;
    while (whole < num.len && num.ptr[whole] != '.')
        whole++;
    for (size_t i = 0; i < num.len; i++) {
        if (i && i < whole && (whole - i) % 3 == 0)
            dp_buf_addc(to, ',');
        dp_buf_addc(to, num.ptr[i]);
    }
    to->err = to->err ? to->err : num.err;
    dp_buf_release(&num);
}

enum { BOTH = -1 };

/* A value of a side, in ticks: 12.345 ms, 1,234 samples. Two counters are each its own unit. */
static void add_value(struct dp_buf *to, const struct dp_flame *flame,
                      const struct dp_flame_how *how, double ticks, int side)
{
    const char *unit = how->metrics[0].unit;
    double v = ticks / (double)flame->s->hz[0] * how->factor
               * (side == BOTH ? 1 : flame->real[side]);
    if (strcmp(unit, "s") == 0) {
        const char *words[] = { " s", " ms", " \xc2\xb5s", " ns" };
        int k = 0;
        for (; k < 3 && v < 1 && v > 0; k++)
            v *= 1000;
        if (!(v > 0))
            k = 0;
        add_thousands(to, v,
                      v < 1 || k == 3 ? 0
                      : v < 10 ? 3
                      : v < 100 ? 2
                      : v < 1000 ? 1
                      : k ? 0
                      : 1);
        dp_buf_adds(to, words[k]);
        return;
    }
    add_thousands(to, v, fabs(v - floor(v + 0.5)) < 1e-9 * fmax(1, v) ? 0 : v < 10 ? 3 : 1);
    dp_buf_addc(to, ' ');
    dp_buf_adds(to, how->is_pair ? how->side_names[side]
                    : how->countname ? how->countname
                    : *unit ? unit
                    : "samples");
}

static void add_percent(struct dp_buf *to, double part, double whole, bool sign)
{
    double v = whole > 0 ? 100 * part / whole : 0;
    dp_render_real(to, v, 2, sign && v >= 0.005);
    dp_buf_addc(to, '%');
}

static void add_signed(struct dp_buf *to, const struct dp_flame *flame,
                       const struct dp_flame_how *how, double ticks)
{
    dp_buf_adds(to, ticks < 0 ? "\xe2\x88\x92" : ticks > 0 ? "+" : "");
    add_value(to, flame, how, fabs(ticks), BOTH);
}

static void add_ratio(struct dp_buf *to, const double of[2])
{
    if (of[0] > 0 && of[1] > 0) {
        dp_buf_adds(to, ", \xc3\x97");
        dp_render_real(to, of[1] / of[0], of[1] / of[0] < 10 ? 2 : 0, false);
    } else if (of[0] > 0 || of[1] > 0) {
        dp_buf_adds(to, of[0] > 0 ? ", gone" : ", new");
    }
}

static void add_change(struct dp_buf *to, const struct dp_flame *flame,
                       const struct dp_flame_how *how, const double of[2])
{
    add_value(to, flame, how, of[0], 0);
    dp_buf_adds(to, " \xe2\x86\x92 ");
    add_value(to, flame, how, of[1], 1);
    dp_buf_adds(to, ", ");
    add_signed(to, flame, how, dp_flame_delta(of));
    add_ratio(to, of);
    dp_buf_adds(to, ", ");
    add_percent(to, fabs(dp_flame_delta(of)), flame->changed, false);
    dp_buf_adds(to, " of the change");
}

/* Two counters: what is compared is the share of each. */
static void add_pair(struct dp_buf *to, const struct dp_flame *flame,
                     const struct dp_flame_how *how, const double of[2])
{
    for (int k = 0; k < 2; k++) {
        dp_buf_adds(to, k ? ", " : "");
        add_value(to, flame, how, of[k], k);
        dp_buf_addc(to, ' ');
        add_percent(to, of[k], flame->sum[k], false);
    }
    if (of[0] > 0 && of[1] > 0)
        add_ratio(to, of);
}

void dp_render_told(struct dp_buf *to, const struct dp_flame *flame, const struct dp_flame_how *how,
                    const struct dp_flame_box *box)
{
    dp_buf_adds(to, " (");
    if (!flame->two) {
        add_value(to, flame, how, box->all[0], 0);
        dp_buf_adds(to, ", ");
        add_percent(to, box->all[0], flame->total, false);
        if (!flame->reverse && box->self[0] > 0 && box->self[0] < box->all[0]) {
            dp_buf_adds(to, "; self ");
            add_value(to, flame, how, box->self[0], 0);
        }
        dp_buf_addc(to, ')');
        return;
    }
    void (*add)(struct dp_buf *, const struct dp_flame *, const struct dp_flame_how *,
                const double *) = how->is_pair ? add_pair : add_change;
    add(to, flame, how, box->all);
    if (!how->is_pair) {
        dp_buf_adds(to, ", ");
        add_percent(to, box->all[1], flame->sum[1], false);
    }
    if (!flame->reverse && (box->self[0] > 0 || box->self[1] > 0)) {
        dp_buf_adds(to, "; self ");
        add(to, flame, how, box->self);
    }
    const struct dp_stacks_name *name = &flame->s->names[box->name];
    if (name->moved.len)
        dp_buf_adds(to, "; moved");
    dp_buf_addc(to, ')');
}

int dp_render_hidden(char *to, size_t room, const struct dp_flame *flame)
{
    struct dp_buf buf;
    dp_buf_init(&buf);
    add_thousands(&buf, (double)flame->hidden, 0);
    dp_buf_adds(&buf, flame->reverse ? flame->hidden == 1 ? " branch, " : " branches, "
                      : flame->hidden == 1 ? " frame, "
                      : " frames, ");
    double pct = flame->total > 0 ? 100 * flame->hidden_weight / flame->total : 0;
    if (pct > 0 && pct < 0.05)
        dp_buf_adds(&buf, "less than 0.1");
    else
        dp_render_real(&buf, pct, 1, false);
    dp_buf_adds(&buf, " %, too narrow to be drawn");
    snprintf(to, room, "%s", dp_buf_cstr(&buf));
    int rc = buf.err;
    dp_buf_release(&buf);
    return rc;
}

bool dp_flame_is_coloured(const struct dp_flame *flame, const struct dp_flame_how *how,
                          const struct dp_flame_box *box)
{
    return !how->truth
           || (flame->s->names[box->name].significant & (how->by_total || how->hue ? 2 : 1));
}

/* ---- several runs ---- */

static int mark(struct dp_stacks *s, const struct dp_diff *diff, bool incl,
                struct dp_flame_outcome *out)
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

/* The stacks of several runs: as if all had had the same speed, where that is known, and with what
 * differs truly marked. */
static int make_stacks(struct dp_stacks *s, const struct dp_diff_side *sides, size_t n,
                       const struct dp_flame_how *how, struct dp_flame_outcome *out)
{
    struct dp_diff diff;
    struct dp_stacks_how stacks = how->stacks;
    if (!how->truth)
        return dp_stacks_make(s, sides, n, &stacks);
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
        rc = mark(s, &diff, false, out);
        rc = rc < 0 ? rc : mark(s, &diff, true, out);
        if (rc < 0)
            dp_stacks_release(s);
    }
    dp_mem_free(speed);
    dp_diff_release(&diff);
    return rc;
}

/* ---- all ---- */

int dp_flame_print(const struct dp_diff_side *sides, size_t n, const struct dp_flame_how *how,
                   const struct dp_host *host,
                   int (*colour)(void *ctx, const char *name, size_t len, const char *rgb),
                   void *ctx, struct dp_flame_outcome *out)
{
    struct dp_stacks s;
    struct dp_flame flame;
    memset(out, 0, sizeof *out);
    struct dp_sink *sink = dp_mem_alloc(sizeof *sink);
    double *factor = dp_mem_zalloc((how->stacks.n_columns + 1) * sizeof *factor);
    int rc = sink && factor ? make_stacks(&s, sides, n, how, out) : DP_E_NOMEM;
    if (rc < 0) {
        dp_mem_free(sink);
        dp_mem_free(factor);
        return rc;
    }
    dp_sink_init(sink, host->write, host->ctx);
    /* counters of two kinds are compared by their shares; the page does that itself */
    dp_stacks_factors(&s, sides, how->is_pair ? !how->page : how->normalize, factor);
    out->recursion = s.folded;
    if (how->page) {
        rc = dp_render_page(&s, how, factor, sink);
        out->empty = true;
        for (size_t c = 0; c < n; c++)
            out->empty = out->empty && !s.total[c];
        out->frames = s.count;
    } else {
        double least = how->min_percent ? how->min_width / 100 : how->min_width / (how->width - 20);
        rc = dp_flame_make(&flame, &s, how, factor, least);
        if (rc == 0) {
            rc = dp_render_svg(&flame, how, sink, colour, ctx);
            out->frames = flame.count;
            out->hidden = flame.hidden;
            out->hidden_percent = flame.total > 0 ? 100 * flame.hidden_weight / flame.total : 0;
            double sum = how->width_of == DP_FW_BEFORE || !flame.two ? flame.sum[0] : flame.sum[1];
            out->total_too_small = how->total > 0 && how->total * (double)s.hz[0] < sum;
            out->empty = !(flame.total > 0);
            dp_flame_release(&flame);
        }
    }
    int written = dp_sink_flush(sink);
    dp_stacks_release(&s);
    dp_mem_free(sink);
    dp_mem_free(factor);
    return written ? DP_E_IO : rc;
}
