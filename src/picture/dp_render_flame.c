/* Values of flame graphs as text for people. */
#include "dp_render_flame.h"
#include "dp_render.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- values ---- */

/* Appends a number with commas between thousands. */
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

/* The length of the singular of "samples", "calls" or "cache-misses". */
static size_t singular_length(const char *many)
{
    size_t n = strlen(many);
    if (n > 4 && strcmp(many + n - 4, "sses") == 0)
        return n - 2;
    return n > 1 && many[n - 1] == 's' && many[n - 2] != 's' ? n - 1 : n;
}

/* Appends a value of a side, in ticks: 12.345 ms, 1,234 samples. With two counters, each has its
 * own unit. */
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
    if (how->is_pair) {
        dp_buf_adds(to, how->side_names[side]);
        return;
    }
    const char *many = how->countname ? how->countname : *unit ? unit : "samples";
    dp_buf_add(to, many, v < 1 || v > 1 ? strlen(many) : singular_length(many));
}

/* Appends a share as a percentage with two decimals; sign: with a + if it is positive. */
static void add_percent(struct dp_buf *to, double part, double whole, bool sign)
{
    double v = whole > 0 ? 100 * part / whole : 0;
    dp_render_real(to, v, 2, sign && v >= 0.005);
    dp_buf_addc(to, '%');
}

void dp_render_change(struct dp_buf *to, const struct dp_flame *flame,
                      const struct dp_flame_how *how, double ticks)
{
    dp_buf_adds(to, ticks < 0 ? "\xe2\x88\x92" : ticks > 0 ? "+" : "");
    add_value(to, flame, how, fabs(ticks), BOTH);
}

/* Appends by what factor a value changed, or that only one side has it; of: before and after. */
static void add_ratio(struct dp_buf *to, const double of[2])
{
    if (of[0] > 0 && of[1] > 0) {
        dp_buf_adds(to, ", \xc3\x97");
        dp_render_real(to, of[1] / of[0], of[1] / of[0] < 10 ? 2 : 0, false);
    } else if (of[0] > 0 || of[1] > 0) {
        dp_buf_adds(to, of[0] > 0 ? ", gone" : ", new");
    }
}

/* Appends a frame's change in words: both values, difference, ratio, and the share of all changes.
 * of: ticks before and after. */
static void add_change(struct dp_buf *to, const struct dp_flame *flame,
                       const struct dp_flame_how *how, const double of[2])
{
    add_value(to, flame, how, of[0], 0);
    dp_buf_adds(to, " \xe2\x86\x92 ");
    add_value(to, flame, how, of[1], 1);
    dp_buf_adds(to, ", ");
    dp_render_change(to, flame, how, dp_flame_delta(of));
    add_ratio(to, of);
    dp_buf_adds(to, ", ");
    add_percent(to, fabs(dp_flame_delta(of)), flame->changed, false);
    dp_buf_adds(to, " of the change");
}

/* Appends shares. A share refers to its own side, whatever widths mean, so both sides' shares
 * appear, with their totals. */
static void add_shares(struct dp_buf *to, const struct dp_flame *flame, const double of[2])
{
    if (of[0] > 0) {
        dp_buf_adds(to, ", ");
        add_percent(to, of[0], flame->sum[0], false);
        dp_buf_adds(to, " of before");
    }
    if (of[1] > 0) {
        dp_buf_adds(to, of[0] > 0 ? " \xe2\x86\x92 " : ", ");
        add_percent(to, of[1], flame->sum[1], false);
        dp_buf_adds(to, " of after");
    }
}

/* Appends the values of two counters, whose shares are compared. */
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
    if (!how->is_pair)
        add_shares(to, flame, box->all);
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
