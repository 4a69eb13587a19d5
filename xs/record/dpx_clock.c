#include "dpx_clock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
#  include <cpuid.h>
#endif

enum { MEASURED = 4 };          /* measurements in a process */

/* Returns the time of a clock of the system, in ns. */
static uint64_t read_ns(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The process's CPU time in user mode and in the kernel, in microseconds; dp_rec asks for it from
 * time to time. */
static void split_cpu_time(void *arg, uint64_t *user_us, uint64_t *sys_us)
{
    struct rusage ru;
    (void)arg;
    getrusage(RUSAGE_SELF, &ru);
    *user_us = (uint64_t)ru.ru_utime.tv_sec * 1000000u + (uint64_t)ru.ru_utime.tv_usec;
    *sys_us = (uint64_t)ru.ru_stime.tv_sec * 1000000u + (uint64_t)ru.ru_stime.tv_usec;
}

/* Returns the CPU time of the thread, in nanoseconds. The CPU time of the process would be wrong: a
 * library's busy helper thread must not look like work of the sub that sleeps. */
static uint64_t cpu_ns(void *arg)
{
    (void)arg;
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

double dpx_clock_today(void)
{
    return (double)read_ns(CLOCK_REALTIME) / 1e9;
}

static void keep_least(uint64_t *least, uint64_t now, bool is_first)
{
    if (is_first || now < *least)
        __atomic_store_n(least, now, __ATOMIC_RELAXED);
}

/* Measures what a hook costs at a call and at a statement, and keeps the least of all measurements:
 * disturbances make a measurement greater, so the least is the truest. Threads share the result. A
 * thread that would have to wait for another's measurement takes the result so far; so does a child
 * that was forked during one. */
static void measure_costs(void *arg, uint64_t *call, uint64_t *line)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct dpx_clock *clock = arg;
    struct dpx_cost *least = clock->cost;
    if (!least)
        return;
    if (pthread_mutex_trylock(&lock) == 0) {
        if (least->times < MEASURED) {
            struct dpx_cost now = clock->measure(clock);
            keep_least(&least->call, now.call, !least->times);
            keep_least(&least->statement, now.statement, !least->times);
            least->times++;
        }
        pthread_mutex_unlock(&lock);
    }
    *call = __atomic_load_n(&least->call, __ATOMIC_RELAXED);
    *line = __atomic_load_n(&least->statement, __ATOMIC_RELAXED);
}

/* ---- the processor's counter ---- */

static uint64_t counter_stamp(void *arg)
{
    (void)arg;
    return dpx_counter();
}

/* Takes the best of three pairs, as an interrupt between the readings would spoil one. */
static void counter_pair(void *arg, uint64_t *stamp, uint64_t *mono_ns)
{
    uint64_t best = UINT64_MAX;
    (void)arg;
    for (int i = 0; i < 3; i++) {
        uint64_t a = dpx_counter();
        uint64_t ns = read_ns(CLOCK_MONOTONIC);
        uint64_t b = dpx_counter();
        if (b - a < best) {
            best = b - a;
            *stamp = a + (b - a) / 2;
            *mono_ns = ns;
        }
    }
}

static const struct dp_rec_host counter_host =
    { 0, measure_costs, counter_stamp, cpu_ns, counter_pair, split_cpu_time };

/* Returns why the processor's counter cannot be the clock; NULL: it can. The kernel watches the TSC
 * and stops using it when it cannot be trusted. The invariant bit says that the rate does not
 * follow the frequency. */
static const char *counter_trouble(void)
{
#if defined(__x86_64__) || defined(__i386__)
    unsigned a, b, c, d;
    if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8))
        return "the TSC is not invariant";
#elif !defined(__aarch64__)
    return "no known counter";
#endif
#if defined(__linux__) && defined(DPX_COUNTER_NAME)
    char name[32] = "";
    FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    if (!f)
        return "the kernel's clock source is unknown";
    if (!fgets(name, sizeof name, f))
        name[0] = '\0';
    fclose(f);
#  if defined(__aarch64__)
    return strncmp(name, "arch_sys_counter", 16) == 0
            ? NULL : "the kernel does not use the counter";
#  else
    return strcmp(name, "tsc\n") == 0 ? NULL : "the kernel does not trust the TSC";
#  endif
#else
    return "not known to be trustworthy on this system";
#endif
}

/* ---- clock_gettime ---- */

static uint64_t mono_stamp(void *arg)
{
    (void)arg;
    return read_ns(CLOCK_MONOTONIC);
}

static void mono_pair(void *arg, uint64_t *stamp, uint64_t *mono_ns)
{
    *stamp = *mono_ns = mono_stamp(arg);
}

static const struct dp_rec_host mono_host =
    { 1, measure_costs, mono_stamp, cpu_ns, mono_pair, split_cpu_time };

/* ---- the counting clock ---- */

/* Returns the stamp of the counting clock, which goes on by one step at each reading. */
static uint64_t count_stamp(void *arg)
{
    struct dpx_clock *clock = arg;
    clock->count += clock->step;
    clock->cpu += clock->step;
    return clock->count;
}

static uint64_t count_cpu(void *arg)
{
    return ((struct dpx_clock *)arg)->cpu;
}

static void count_pair(void *arg, uint64_t *stamp, uint64_t *mono_ns)
{
    *stamp = *mono_ns = ((struct dpx_clock *)arg)->count;
}

static void count_split(void *arg, uint64_t *user_us, uint64_t *sys_us)
{
    *user_us = ((struct dpx_clock *)arg)->cpu / 1000;
    *sys_us = 0;
}

static const struct dp_rec_host count_host =
    { 1, NULL, count_stamp, count_cpu, count_pair, count_split };

void dpx_clock_advance(struct dpx_clock *clock, uint64_t ns, uint64_t cpu)
{
    clock->count += ns;
    clock->cpu += cpu;
}

/* ---- choice ---- */

uint64_t dpx_clock_read_slow(struct dpx_clock *clock)
{
    return clock->kind == DPX_CLOCK_MONOTONIC ? read_ns(CLOCK_MONOTONIC) : count_stamp(clock);
}

bool dpx_clock_choose(struct dpx_clock *clock, const char *wish)
{
    memset(clock, 0, sizeof *clock);
    if (wish && strncmp(wish, "counting", 8) == 0 && (!wish[8] || wish[8] == ':')) {
        clock->kind = DPX_CLOCK_COUNTING;
        clock->name = "counting";
        char *end = "";
        clock->step = wish[8] ? strtoull(wish + 9, &end, 10) : 1000;
        return clock->step > 0 && clock->step <= 1000000000 && !*end;
    }
    clock->why = counter_trouble();
#ifdef DPX_COUNTER_NAME
    if (wish ? strcmp(wish, DPX_COUNTER_NAME) == 0 : !clock->why) {
        clock->kind = DPX_CLOCK_COUNTER;
        clock->name = DPX_COUNTER_NAME;
        return true;
    }
#endif
    clock->kind = DPX_CLOCK_MONOTONIC;
    clock->name = "monotonic";
    return !wish || strcmp(wish, "monotonic") == 0;
}

const struct dp_rec_host *dpx_clock_host(const struct dpx_clock *clock)
{
    switch (clock->kind) {
    case DPX_CLOCK_COUNTER: return &counter_host;
    case DPX_CLOCK_MONOTONIC: return &mono_host;
    default: return &count_host;
    }
}
