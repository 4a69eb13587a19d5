/* dpx_calibrate finds what a known clock adds to a gap; of four measurements the least counts. */
#include "tap.h"
#include "../../xs/record/dpx_calibrate.c"
#include "../../xs/record/dpx_clock.c"

/* The counting clock moves at readings only. Between two hooks it is read twice, so that a gap is
 * one step; the run without hooks takes one step in all. */
static void counting(void)
{
    for (uint64_t step = 1; step <= 1000000; step *= 10) {
        struct dpx_clock clock;
        char wish[40];
        snprintf(wish, sizeof wish, "counting:%llu", (unsigned long long)step);
        ok(dpx_clock_choose(&clock, wish), "a clock that moves by %s", wish + 9);
        struct dpx_cost cost = dpx_calibrate(&clock);
        double plain = (double)step / (EVENTS * TURNS);
        is_u(cost.call, (uint64_t)((double)step - plain + 0.5), "that is what it adds to a gap");
        is_u(cost.statement, 0, "statements are read twice");
    }
}

/* A real clock is measured, too; what comes out depends on the machine. */
static void real(const char *wish, bool reads_once)
{
    struct dpx_clock clock;
    dpx_clock_choose(&clock, wish);
    clock.reads_once = reads_once && clock.kind == DPX_CLOCK_COUNTER;
    struct dpx_cost cost = dpx_calibrate(&clock);
    ok(cost.call < 100000000, "%s: %llu stamps", clock.name, (unsigned long long)cost.call);
    if (!clock.reads_once)
        is_u(cost.statement, 0, "%s: no statement is read once", clock.name);
}

static const struct dpx_cost answers[] = { { 7, 3, 0 }, { 5, 4, 0 }, { 9, 2, 0 }, { 6, 6, 0 },
                                           { 1, 1, 0 } };
static unsigned asked;

static struct dpx_cost answer(struct dpx_clock *clock)
{
    (void)clock;
    return answers[asked++];
}

static void least_of_four(void)
{
    struct dpx_cost cost = { 0, 0, 0 };
    struct dpx_clock clock = { .kind = DPX_CLOCK_COUNTER, .cost = &cost, .measure = answer };
    const struct dp_rec_host *host = dpx_clock_host(&clock);
    uint64_t call = 0, line = 0;
    host->costs(&clock, &call, &line);
    ok(call == 7 && line == 3, "the first one counts");
    host->costs(&clock, &call, &line);
    ok(call == 5 && line == 3, "then the least of each");
    for (int i = 0; i < 4; i++)
        host->costs(&clock, &call, &line);
    ok(call == 5 && line == 2, "the least of four");
    is_u(asked, 4, "no more are made");
    clock.cost = NULL;
    call = 11;
    host->costs(&clock, &call, &line);
    is_u(call, 11, "a clock that is not measured leaves all as it is");
}

int main(void)
{
    counting();
    real(NULL, true);
    real("monotonic", false);
    least_of_four();
    return tap_done();
}
