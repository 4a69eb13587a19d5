/* Counters of the kernel (perf_event_open) for the thread that calls: opened together, read on each
 * arrival in a hook. Where the processor's counters may be read by its own instruction, they are;
 * the others cost a system call, one for all of a group.
 *
 * What the recorder itself uses is left out. Counters that are read by an instruction are read when
 * a hook arrives and when it leaves. Where reading takes a system call, it is made on arrival, and
 * on leaving only if the hook has done more than it mostly does; what little it does otherwise has
 * been measured in the beginning (dp_perf_calibrate) and is taken off.
 *
 * Counters that share the processor's with others do not count all the time. What they count is
 * taken for a sample: multiplied by the time they were to count, divided by the time they did. So
 * the sum of what has passed is at any time what perf stat would say then; it does not shrink
 * where that does.
 *
 * A clock of the kernel (task-clock, cpu-clock) that is not the leader of its group stands still
 * when the group is read, so clocks lead. Software events such as page faults that join the group
 * of a clock that already counts stand still until the thread is switched to the next time (Linux
 * 6.18): leaders are opened disabled, and enabled when their groups are complete. */
#ifndef DP_PERF_H
#define DP_PERF_H

#include "dp_base.h"
#include "dp_fmt.h"

struct dp_pmu_event;
struct perf_event_attr;

/* The system calls, or a test's functions in their place. Functions return as the system calls
 * do, with errno. */
struct dp_perf_system {
    int (*open)(const struct perf_event_attr *attr, int group_fd);
    int (*enable)(int fd);              /* a group, by its leader */
    long (*read)(int fd, void *buf, size_t size);
    void *(*map)(int fd);               /* the event's page, NULL: there is none */
    void (*unmap)(void *page);
    void (*close)(int fd);
    uint64_t (*counter)(unsigned index);    /* the processor's; NULL where it has no
                                             * instruction for that */
};
extern const struct dp_perf_system dp_perf_real;

struct dp_perf_counter {
    int fd;
    void *page;                 /* readable by an instruction; NULL: not so */
    uint64_t raw, enabled, running;     /* as last read; times in ns */
    uint64_t zero;              /* what is counted between two readings where nothing happens */
    uint64_t passed;            /* between the last leaving and arrival, estimated
                                 * where it was shared */
    uint64_t counted, told;     /* so far: for the program; as `passed` */
};

struct dp_perf {
    const struct dp_perf_system *sys;
    struct dp_perf_counter counters[DP_FMT_COUNTERS];
    size_t n;
    size_t at[DP_FMT_COUNTERS]; /* of an event as it was given: its counter */
    struct dp_perf_group {
        int fd;
        size_t first, n;        /* counters of a group stand together */
        bool hardware;          /* some are the processor's */
    } groups[DP_FMT_COUNTERS];
    size_t n_groups;
    bool lost;                  /* the program has closed our descriptors: nothing is counted from
                                 * then on */
};

/* Returns what the n-th event had counted when the last mark arrived. */
static inline uint64_t dp_perf_passed(const struct dp_perf *perf, size_t event)
{
    return perf->counters[perf->at[event]].passed;
}

/* Opens the events for the thread that calls. Returns 0, or -1 with errno, and in *failed the
 * number of the event that could not be opened; then no event is open. sys: NULL for the real
 * system. */
int dp_perf_open(struct dp_perf *perf, const struct dp_perf_system *sys,
                 const struct dp_pmu_event *const *events, size_t n, size_t *failed);

/* Does the kernel take this event? Returns 0, or an errno. */
int dp_perf_try(const struct dp_perf_system *sys, const struct dp_pmu_event *event);

/* In a forked child, before anything else: the kernel does not give the pages to the child, where
 * something else may come to stand in their places. All that is left to do is to close the
 * events. */
void dp_perf_forked(struct dp_perf *perf);

/* Closes the descriptors, except those in whose places the program has put files of its own. Also
 * closes them in a forked child, where they would go on counting the parent. */
void dp_perf_close(struct dp_perf *perf);

/* A hook arrives: `passed` of each counter is what the program has used since the last leaving. */
void dp_perf_arrive(struct dp_perf *perf);

/* A hook leaves. worked: the hook has done more than usual. */
void dp_perf_leave(struct dp_perf *perf, bool worked);

/* Measures what is counted where the program does nothing. hook does what a hook usually does
 * between arriving and leaving. */
void dp_perf_calibrate(struct dp_perf *perf, void (*hook)(void *arg), void *arg);

/* The share of the time that the n-th event was counted, from 0 to 1. */
double dp_perf_share(const struct dp_perf *perf, size_t event);

#endif
