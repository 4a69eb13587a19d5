/* The growth that a gate's tests could have detected, in words. */
#include "dp_render_gate.h"
#include "dp_render.h"

#include <math.h>

/* Appends the number of runs, or samples, that detect what the rule forbids. With one sampled run a
 * side, the variation between runs is unknown, so more samples are needed, of any run. */
static void add_wanted(struct dp_buf *buf, const struct dp_power *power, const char *rule,
                       const struct dp_diff_side *side, const struct dp_diff_side *other,
                       const char *unit)
{
    size_t runs = side->n_runs, others = other->n_runs, least = runs < others ? runs : others;
    const char *what = side->bucketed && other->bucketed ? "buckets" : dp_gate_units(unit);
    dp_buf_adds(buf, "; ");
    if (power->samples > 1 && runs + others == 2) {
        dp_render_real(buf, power->samples, power->samples < 10, false);
        dp_buf_adds(buf, " times as many samples needed");
    } else if (power->needed && power->needed <= least) {
        dp_buf_addf(buf, "that is enough for %s", rule);
        return;
    } else if (power->needed) {
        dp_buf_addf(buf, "%zu %s a side needed", power->needed, what);
    } else {
        dp_buf_addf(buf, "more than 10,000 %s a side needed", what);
    }
    dp_buf_addf(buf, " for %s in all of them", rule);
}

void dp_gate_power(struct dp_buf *buf, const struct dp_power *power, const struct dp_diff *diff)
{
    if (isfinite(power->all)) {
        dp_buf_adds(buf, "a growth of ");
        dp_render_real(buf, power->half, 1, false);
        dp_buf_addf(buf, " %% in half of the %zu tested, and of ", power->tested);
        dp_render_real(buf, power->all, 1, false);
        dp_buf_adds(buf, " % in all of them, is seen four times of five");
    } else {
        dp_buf_adds(buf, "these runs can show nothing");
    }
    if (power->is_limited)
        add_wanted(buf, power, diff->how->rules[power->rule].text, &diff->sides[0],
                   &diff->sides[power->side], diff->how->units);
}
