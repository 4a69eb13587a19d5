#include "dp_rec_clock.h"
#include "dp_rec_mark.h"

/* The figures of the adaptive reading of the CPU clock; the manual's section "How time is measured"
 * explains them. */
enum {
    LAST_MEASURE_NS = 125000000,
    LONG_GAP_NS = 5000,         /* a gap this long is worth a system call: the CPU clock is read */
    RELAXED_GAP_NS = 20000,     /* the same for programs that do not wait */
    WAITED_NS = 1000,           /* less waiting than this is noise */
    CARRY_NS = 2000,            /* noise of one reading */
    YOUNG_NS = 50000000,        /* the rate is learnt for this long */
    PAIR_GAP_NS = 10000000,     /* in a gap this long the counter may have stepped */
    PERIOD_READS = 20,          /* more readings than this in a period are too many */
    SAMPLE = 8                  /* the clock is read after one of this many gaps that are passed
                                 * over */
};

void dp_rec_clock_thresholds(struct dp_rec *rec)
{
    struct dp_rec_clock *clock = &rec->clock;
    rec->marks.long_gap = dp_rec_clock_stamps(rec, LONG_GAP_NS);
    if (!rec->marks.long_gap)
        rec->marks.long_gap = 1;
    if (clock->debt)
        rec->marks.long_gap = 0;      /* each gap takes the slow way until the debt is paid */
    rec->marks.ns_mult = (uint64_t)(4294967296.0 / clock->rate);
    if (rec->saving.state)
        rec->saving.state->rate = clock->rate;
}

/* Computes the rate: the longer the time since the first pair, the better. */
void dp_rec_clock_learn(struct dp_rec *rec, uint64_t stamp, uint64_t mono)
{
    struct dp_rec_clock *clock = &rec->clock;
    uint64_t passed = mono - clock->first_mono;
    if (rec->host->rate != 0 || mono <= clock->first_mono || stamp <= clock->first_stamp)
        return;
    if (passed >= LONG_GAP_NS * 10) {
        clock->rate = (double)(stamp - clock->first_stamp) / (double)passed;
        dp_rec_clock_thresholds(rec);
    }
    clock->young = passed < YOUNG_NS;
}

void dp_rec_anchor(struct dp_rec *rec)
{
    struct dp_rec_clock *clock = &rec->clock;
    uint64_t stamp = rec->host->stamp(rec->host_arg);
    uint64_t cpu_ns = rec->host->cpu_ns(rec->host_arg);
    clock->cpu_used += cpu_ns > clock->cpu_ns ? cpu_ns - clock->cpu_ns : 0;
    clock->cpu_ns = cpu_ns;
    clock->cpu_stamp = stamp;
    clock->cpu_program = rec->marks.program;
    rec->marks.deadline = stamp + dp_rec_clock_stamps(rec, DP_REC_DEADLINE_NS);
}

/* A call's cost is taken off the gap that it ends. With statements read once, a gap may begin at a
 * call and end at a statement, so half the cost is taken off at each end. */
static void take_costs(struct dp_rec *rec)
{
    struct dp_rec_clock *clock = &rec->clock;
    bool once = rec->how.line_times && rec->how.reads_once;
    if (rec->host->costs)
        rec->host->costs(rec->host_arg, &clock->call_cost, &clock->line_cost);
    rec->marks.statement_cost = once ? clock->line_cost : 0;
    rec->marks.leaving_cost = once ? clock->call_cost / 2 : 0;
    rec->marks.reading_cost = clock->call_cost - rec->marks.leaving_cost;
}

void dp_rec_clock_begin(struct dp_rec *rec)
{
    struct dp_rec_clock *clock = &rec->clock;
    const struct dp_rec_host *host = rec->host;
    clock->rate = host->rate;
    if (clock->rate == 0) {
        /* This is a first estimate; dp_rec_clock_learn makes it better. */
        uint64_t stamp, mono, stamp2, mono2;
        host->pair(rec->host_arg, &stamp, &mono);
        do
            host->pair(rec->host_arg, &stamp2, &mono2);
        while (mono2 - mono < LONG_GAP_NS * 4);
        clock->rate = (double)(stamp2 - stamp) / (double)(mono2 - mono);
        clock->young = true;
    }
    take_costs(rec);
}

/* Measures the cost of readings of the clock again, when the time for that has come. Another
 * program on the machine may have spoiled the first measurement, so it is repeated 5, 25 and 125 ms
 * later. */
static void measure_again(struct dp_rec *rec, uint64_t now)
{
    struct dp_rec_clock *clock = &rec->clock;
    if (now < clock->measure_at)
        return;
    take_costs(rec);
    double passed = (double)(now - clock->first_stamp) / clock->rate;
    clock->measure_at = passed < LAST_MEASURE_NS / 2
                      ? clock->first_stamp + dp_rec_clock_stamps(rec, passed * 5) : UINT64_MAX;
}

uint64_t dp_rec_clock_read(struct dp_rec *rec, uint64_t gap, uint64_t now)
{
    struct dp_rec_clock *clock = &rec->clock;
    /* An arrival may come again after a reading that was part of a save. */
    if (now < clock->cpu_stamp)
        now = clock->cpu_stamp;
    /* Since `now` the recorder was at work: all of that was CPU time. */
    uint64_t before = rec->host->stamp(rec->host_arg);
    uint64_t own_ns = before > now ? (uint64_t)((double)(before - now) / clock->rate) : 0;
    uint64_t cpu_ns = rec->host->cpu_ns(rec->host_arg);
    cpu_ns -= own_ns < cpu_ns ? own_ns : 0;
    if (DP_UNLIKELY(clock->young)) {
        uint64_t stamp, mono;
        rec->host->pair(rec->host_arg, &stamp, &mono);
        dp_rec_clock_learn(rec, stamp, mono);
    }
    bool same_thread = cpu_ns >= clock->cpu_ns;
    uint64_t used_ns = same_thread ? cpu_ns - clock->cpu_ns : 0;
    int64_t wait = (int64_t)(now - clock->cpu_stamp)
                 - (int64_t)((double)used_ns * clock->rate + 0.5) - clock->carry;
    if (!same_thread)
        wait = 0;           /* the interpreter went on in another thread */
    clock->cpu_used += used_ns;
    uint64_t shorts = rec->marks.program - gap - clock->cpu_program;
    uint64_t of_gap = 0, of_shorts = 0;

    clock->carry = 0;
    if (wait < 0) {
        /* More CPU time than time passed. Some of that is noise of the two readings, which evens
         * out. The rest belongs to no gap: a later gap that sleeps must not inherit it. */
        int64_t most = (int64_t)dp_rec_clock_stamps(rec, CARRY_NS);
        clock->carry = -wait < most ? -wait : most;
        clock->dropped += (uint64_t)(-wait - clock->carry);
    } else {
        of_gap = (uint64_t)wait < gap ? (uint64_t)wait : gap;
        of_shorts = (uint64_t)wait - of_gap;
        if (of_shorts > shorts)
            of_shorts = shorts;         /* the rest was the recorder's waiting */
    }
    clock->short_sum = shorts;
    clock->short_wait = of_shorts;
    clock->cpu_ns = cpu_ns;
    clock->cpu_stamp = now;
    clock->cpu_program = rec->marks.program;
    rec->marks.deadline = now + dp_rec_clock_stamps(rec, DP_REC_DEADLINE_NS);
    return of_gap;
}

/* Programs with many gaps of 5 to 20 us of pure computing would pay for a reading at each. For
 * them, most of these gaps count as computing without a reading. Returns whether this one does. */
static bool passes_over(struct dp_rec *rec, uint64_t gap)
{
    return rec->clock.relaxed && gap < dp_rec_clock_stamps(rec, RELAXED_GAP_NS)
           && ++rec->clock.skipped % SAMPLE != 0;
}

void dp_rec_clock_judge(struct dp_rec *rec, uint64_t gap, uint64_t wait, uint64_t now)
{
    struct dp_rec_clock *clock = &rec->clock;
    if (gap && gap < dp_rec_clock_stamps(rec, RELAXED_GAP_NS)) {
        clock->reads++;
        if (wait > dp_rec_clock_stamps(rec, WAITED_NS))
            clock->waits++;
    }
    if (now < clock->period_end)
        return;
    bool waiting = clock->waits * 10 >= clock->reads && clock->waits;
    if (clock->relaxed ? waiting : clock->reads > PERIOD_READS && !waiting)
        clock->relaxed = !clock->relaxed;
    clock->reads = clock->waits = 0;
    clock->period_end = now + dp_rec_clock_stamps(rec, DP_REC_DEADLINE_NS);
    measure_again(rec, now);
}

/* The counter may go on or step while the machine is suspended or migrated; the monotonic clock
 * does not. Returns the gap as that clock has it, and moves the kept stamps by the difference. */
static uint64_t true_gap(struct dp_rec *rec, uint64_t gap)
{
    struct dp_rec_clock *clock = &rec->clock;
    uint64_t stamp, mono;
    rec->host->pair(rec->host_arg, &stamp, &mono);
    double to_gap = (double)(rec->marks.left - clock->pair_stamp) / clock->rate;
    double ns = (double)(mono - clock->pair_mono) - to_gap;
    double want = ns > 0 ? ns * clock->rate : 0;
    double off = (double)gap - want;
    if (off < want / 100 && -off < want / 100)
        return gap;
    uint64_t fixed = (uint64_t)want;
    /* The surplus of the stamps is moved out of the window. */
    rec->saving.account.since += gap - fixed;
    clock->pair_stamp += gap - fixed;
    clock->first_stamp += gap - fixed;
    clock->began += gap - fixed;
    clock->cpu_stamp += gap - fixed;
    return fixed;
}

uint64_t dp_rec_clock_gap(struct dp_rec *rec, uint64_t now)
{
    uint64_t gap = now > rec->marks.left ? dp_rec_gap(rec, now) : 0;
    if (gap >= dp_rec_clock_stamps(rec, PAIR_GAP_NS))
        gap = true_gap(rec, gap);
    rec->marks.program += gap;
    return gap;
}

/* Is the CPU clock to be read at the end of a gap? *is_long: whether the gap is long enough for a
 * reading of its own. */
bool dp_rec_clock_is_due(struct dp_rec *rec, uint64_t gap, bool *is_long, uint64_t now)
{
    *is_long = gap >= dp_rec_clock_stamps(rec, LONG_GAP_NS);
    return now >= rec->marks.deadline || (*is_long && !passes_over(rec, gap));
}

/* The kernel's share of the process' CPU time since the last split, of 1. The next split begins
 * here. */
double dp_rec_clock_sys_share(struct dp_rec *rec)
{
    struct dp_rec_clock *clock = &rec->clock;
    uint64_t user, sys;
    rec->host->split(rec->host_arg, &user, &sys);
    uint64_t du = user > clock->user_us ? user - clock->user_us : 0;
    uint64_t ds = sys > clock->sys_us ? sys - clock->sys_us : 0;
    clock->total_user_us += du;
    clock->total_sys_us += ds;
    clock->user_us = user;
    clock->sys_us = sys;
    /* A short window says little by itself, because the kernel counts in ticks. */
    if (du + ds < 1000) {
        du = clock->total_user_us;
        ds = clock->total_sys_us;
    }
    return du + ds ? (double)ds / (double)(du + ds) : 0;
}

/* Does with the time in the kernel what the kernel does with a tick: charges all of it since the
 * last split to the context that runs now. */
void dp_rec_split(struct dp_rec *rec, uint64_t now)
{
    struct dp_rec_clock *clock = &rec->clock;
    double share = dp_rec_clock_sys_share(rec);
    uint64_t sys = (uint64_t)((double)(clock->cpu_used - clock->split_ns) * clock->rate * share);
    rec->marks.cur->sys += sys;
    rec->marks.line->sys += sys;
    clock->split_stamp = now;
    clock->split_ns = clock->cpu_used;
}

void dp_rec_own(const struct dp_rec *rec, uint64_t now, uint64_t *cpu, uint64_t *real)
{
    const struct dp_rec_clock *clock = &rec->clock;
    double ticks_per_ns = (double)rec->writer->hz / 1e9;
    uint64_t cpu_ns = rec->host->cpu_ns(rec->host_arg);
    uint64_t since = cpu_ns > clock->cpu_ns ? cpu_ns - clock->cpu_ns : 0;
    double used = (double)(clock->cpu_used + (rec->paused ? 0 : since)) * ticks_per_ns;
    double passed = (double)(now - clock->began - dp_rec_idle(rec, now)) / clock->rate
                    * ticks_per_ns;
    double in_program = (double)(rec->writer->sums.user + rec->writer->sums.sys);
    double real_program = (double)rec->writer->sums.real;
    *cpu = used > in_program ? (uint64_t)(used - in_program) : 0;
    *real = passed > real_program ? (uint64_t)(passed - real_program) : 0;
}

double dp_rec_ticks_per_stamp(struct dp_rec *rec)
{
    uint64_t stamp, mono;
    rec->host->pair(rec->host_arg, &stamp, &mono);
    dp_rec_clock_learn(rec, stamp, mono);
    return (double)rec->writer->hz / 1e9 / rec->clock.rate;
}
