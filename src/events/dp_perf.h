/* Counters of the kernel (perf_event_open) for the calling thread: opened together, read on each
 * arrival in a hook. If possible, the processor's counters are read by its own instruction. The
 * others cost a system call, one for a whole group.
 *
 * The recorder's own use is left out. Counters with an instruction are read when a hook arrives and
 * when it leaves. Counters with a system call are read on arrival, and on leaving only if the hook
 * did more than usual. The usual amount is measured at the beginning (dp_perf_calibrate) and
 * subtracted.
 *
 * Counters that share the processor's with others do not count all the time. Their counts are
 * samples: multiplied by the time they should have counted, divided by the time they did. So the
 * sum so far always equals what perf stat would print at this moment, except that it does not
 * decrease when perf stat's does.
 *
 * A clock of the kernel (task-clock, cpu-clock) that is not the leader of its group stands still
 * when the group is read, so clocks lead. Software events such as page faults that join the group
 * of a running clock do not count until the thread is switched to the next time (Linux 6.18), so
 * leaders are opened disabled, and enabled when their groups are complete. */
#ifndef DP_PERF_H
#define DP_PERF_H

#include "dp_base.h"
#include "dp_fmt.h"

struct dp_pmu_event;
struct perf_event_attr;

/* The system calls, or a test's replacements. Functions return like the system calls, with
 * errno. */
struct dp_perf_system {
    int (*open)(const struct perf_event_attr *attr, int group_fd);
    int (*enable)(int fd);              /* a group, by its leader */
    long (*read)(int fd, void *buf, size_t size);
    void *(*map)(int fd);               /* the event's page; NULL: none */
    void (*unmap)(void *page);
    void (*close)(int fd);
    uint64_t (*counter)(unsigned index);    /* the processor's; NULL if it has no instruction for
                                             * that */
};
extern const struct dp_perf_system dp_perf_real;

struct dp_perf_counter {
    int fd;
    void *page;                 /* readable by an instruction; NULL: not readable */
    uint64_t raw, enabled, running;     /* as last read; times in ns */
    uint64_t zero;              /* count between two readings without anything happening */
    uint64_t passed;            /* count between the last leaving and arrival, an estimate if the
                                 * counter was shared */
    uint64_t counted, told;     /* totals so far: counted for the program, and reported in
                                 * `passed` */
};

struct dp_perf {
    const struct dp_perf_system *sys;
    struct dp_perf_counter counters[DP_FMT_COUNTERS];
    size_t n;
    size_t at[DP_FMT_COUNTERS]; /* by event as given: its counter */
    struct dp_perf_group {
        int fd;
        size_t first, n;        /* counters of a group are adjacent */
        bool hardware;          /* some use the processor's counters */
    } groups[DP_FMT_COUNTERS];
    size_t n_groups;
    bool lost;                  /* the program has closed our descriptors: nothing counts from then
                                 * on */
};

/* Returns what the n-th event had counted when the last mark arrived. */
static inline uint64_t dp_perf_passed(const struct dp_perf *perf, size_t event)
{
    return perf->counters[perf->at[event]].passed;
}

/* Opens the events for the calling thread. Returns 0, or -1 with errno, and in *failed the number
 * of the event that could not be opened; then no event is open. sys: NULL for the real system. */
int dp_perf_open(struct dp_perf *perf, const struct dp_perf_system *sys,
                 const struct dp_pmu_event *const *events, size_t n, size_t *failed);

/* Does the kernel accept this event? Returns 0, or an errno. */
int dp_perf_try(const struct dp_perf_system *sys, const struct dp_pmu_event *event);

/* Call this first in a forked child. The child does not inherit the pages, and other memory may be
 * mapped at their addresses. The only thing left to do is to close the events. */
void dp_perf_forked(struct dp_perf *perf);

/* Closes the descriptors, except those that the program has replaced by files of its own. Also
 * closes them in a forked child, where they would continue to count the parent. */
void dp_perf_close(struct dp_perf *perf);

/* A hook arrives: sets `passed` of each counter to the program's use since the last leaving. */
void dp_perf_arrive(struct dp_perf *perf);

/* A hook leaves. worked: the hook did more than usual. */
void dp_perf_leave(struct dp_perf *perf, bool worked);

/* Measures the counts while the program does nothing. hook does what a hook usually does between
 * arriving and leaving. */
void dp_perf_calibrate(struct dp_perf *perf, void (*hook)(void *arg), void *arg);

/* The share of the time during which the n-th event was counted, from 0 to 1. */
double dp_perf_share(const struct dp_perf *perf, size_t event);

#endif
