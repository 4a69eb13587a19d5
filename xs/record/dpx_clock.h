/* The clocks behind the recorder. The fast counter is read in the hooks themselves; everything
 * else goes through struct dp_rec_host. */
#ifndef DPX_CLOCK_H
#define DPX_CLOCK_H

#include "dp_base.h"
#include "dp_rec.h"

#if defined(__x86_64__) || defined(__i386__)
#  include <x86intrin.h>
#  define DPX_COUNTER_NAME "tsc"
#elif defined(__aarch64__)
#  define DPX_COUNTER_NAME "cntvct"
#endif

enum dpx_clock_kind {
    DPX_CLOCK_COUNTER,      /* the processor's own counter */
    DPX_CLOCK_MONOTONIC,    /* clock_gettime(CLOCK_MONOTONIC) */
    DPX_CLOCK_COUNTING      /* moves by a fixed step at each reading: for tests */
};

/* What readings of the clock add to a gap, in stamps. */
struct dpx_cost {
    uint64_t call;              /* between two events of calls */
    uint64_t statement;         /* between two statements that are read once; else 0 */
    unsigned times;             /* how often it was measured in this process */
};

struct dpx_clock {
    enum dpx_clock_kind kind;
    const char *name;               /* as in the header of the file */
    const char *why;                /* why the counter is not used, or NULL */
    uint64_t count, cpu, step;      /* the counting clock, in ns */
    struct dpx_cost *cost;          /* the least measured cost; NULL: it is not measured */
    struct dpx_cost (*measure)(struct dpx_clock *clock);    /* dpx_calibrate */
    bool reads_once;                /* statements are read once */
};

/* Chooses the clock. wish: NULL for the best there is, or one of "tsc", "cntvct", "monotonic",
 * "counting", "counting:STEP_NS". Returns false if this machine does not have the clock. */
bool dpx_clock_choose(struct dpx_clock *clock, const char *wish);

/* The callbacks of dp_rec for this clock; their argument is the struct dpx_clock. */
const struct dp_rec_host *dpx_clock_host(const struct dpx_clock *clock);

/* Moves the counting clock on by ns of real time and cpu ns of CPU time. */
void dpx_clock_advance(struct dpx_clock *clock, uint64_t ns, uint64_t cpu);

/* The time of day: seconds since 1970. */
double dpx_clock_today(void);

uint64_t dpx_clock_read_slow(struct dpx_clock *clock);

/* The reading is not ordered with the instructions around it: it can be 35 ns off at most, and
 * fences cost more. */
DP_INLINE uint64_t dpx_counter(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return __rdtsc();
#elif defined(__aarch64__)
    uint64_t n;
    __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(n));
    return n;
#else
    return 0;
#endif
}

/* Reads the clock. Returns a stamp. is_counter is a constant in each call: hooks exist once for
 * each value. */
DP_INLINE uint64_t dpx_stamp(struct dpx_clock *clock, const bool is_counter)
{
    return is_counter ? dpx_counter() : dpx_clock_read_slow(clock);
}

#endif
