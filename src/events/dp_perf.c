#include "dp_perf.h"
#include "dp_pmu.h"

#include <errno.h>
#include <string.h>

#if DP_PMU_HAS_PERF

#include "dp_io.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TRIES = 100 };

/* ---- the system ---- */

/* Marks our descriptors. The program may replace one of them by a file of its own (dup2); reading
 * would consume its input, or block. The mark is the signal for input, which is never requested.
 * Checking it costs a fifth of reading, and the kernel has no cheaper way to recognize
 * descriptors. */
enum { MARK = SIGSYS };

static bool is_ours(int fd)
{
    int why = errno;
    bool ours = fcntl(fd, F_GETSIG) == MARK;
    errno = why;
    return ours;
}

/* Opens an event for the calling thread, on a descriptor of high number, which programs are
 * unlikely to need, and marks it as ours. */
static int real_open(const struct perf_event_attr *attr, int group_fd)
{
    long low = syscall(SYS_perf_event_open, attr, 0, -1, group_fd, PERF_FLAG_FD_CLOEXEC);
    if (low < 0)
        return -1;
    int fd = dp_io_high((int)low);
    if (fcntl(fd, F_SETSIG, MARK) == 0)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

static int real_enable(int fd) { return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0); }
static long real_read(int fd, void *buf, size_t size)
{
    return is_ours(fd) ? read(fd, buf, size) : -1;
}

/* Maps the page through which the kernel tells how to read a counter without a system call. */
static void *real_map(int fd)
{
    void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
    return page == MAP_FAILED ? NULL : page;
}

static void real_unmap(void *page) { munmap(page, (size_t)sysconf(_SC_PAGESIZE)); }

static void real_close(int fd)
{
    if (is_ours(fd))
        close(fd);
}

#if defined(__x86_64__) || defined(__i386__)
/* Reads a hardware counter with the instruction RDPMC. */
static uint64_t real_counter(unsigned index)
{
    uint32_t low, high;
    __asm__ __volatile__("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
    return (uint64_t)high << 32 | low;
}
#else
#  define real_counter NULL
#endif

const struct dp_perf_system dp_perf_real = { real_open,  real_enable, real_read,   real_map,
                                             real_unmap, real_close,  real_counter };

/* ---- reading ---- */

struct reading {
    uint64_t raw, enabled, running;
};

/* Reads a page as the comment on struct perf_event_mmap_page in the kernel's header says. The
 * kernel may move the event to another counter, or remove it, in the meantime; then `lock` has
 * changed. */
static void read_page(const struct dp_perf *perf, const struct dp_perf_counter *c,
                      struct reading *out)
{
    const volatile struct perf_event_mmap_page *page = c->page;
    uint32_t seq;
    do {
        seq = page->lock;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        uint32_t index = page->index;
        int64_t count = page->offset;
        out->enabled = page->time_enabled;
        out->running = page->time_running;
        if (index && page->cap_user_rdpmc) {
            unsigned shift = 64 - page->pmc_width;
            count += (int64_t)(perf->sys->counter(index - 1) << shift) >> shift;
        }
        out->raw = (uint64_t)count;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    } while (page->lock != seq);
}

/* Reads the counters of a group by one system call. Returns false if the descriptor is not ours any
 * more. */
static bool read_group(struct dp_perf *perf, const struct dp_perf_group *g, struct reading *out)
{
    uint64_t buf[3 + DP_FMT_COUNTERS];
    long want = (long)((3 + g->n) * sizeof buf[0]);
    int why = errno;
    long got = perf->sys->read(g->fd, buf, sizeof buf);
    errno = why;
    if (got != want || buf[0] != g->n)
        return false;
    for (size_t i = 0; i < g->n; i++)
        out[i] = (struct reading){ buf[3 + i], buf[1], buf[2] };
    return true;
}

/* Adds what a counter has counted since the last reading, without the hook's own usual count
 * (zero), and computes c->passed, the part that has not been reported. */
static void take_count(struct dp_perf_counter *c, const struct reading *now)
{
    uint64_t d = now->raw > c->raw ? now->raw - c->raw : 0;
    d = d > c->zero ? d - c->zero : 0;
    c->counted += d;
    /* Scales all counts so far by all of the time so far, and subtracts what was reported before.
     * If each piece were scaled separately, counts just after a long wait at the beginning would be
     * multiplied by far too much. */
    uint64_t all = c->counted;
    if (now->running && now->running < now->enabled)
        all = (uint64_t)((double)all * ((double)now->enabled / (double)now->running));
    c->passed = all > c->told ? all - c->told : 0;
    c->told += c->passed;
}

static void keep_reading(struct dp_perf_counter *c, const struct reading *now)
{
    c->raw = now->raw;
    c->enabled = now->enabled;
    c->running = now->running;
}

/* Gives up all counters, because the program has closed or replaced our descriptors. */
static void lose_counters(struct dp_perf *perf)
{
    perf->lost = true;
    for (size_t i = 0; i < perf->n; i++)
        perf->counters[i].passed = 0;
}

/* Reads all counters; asked: also those that need a system call. count: the program counted since
 * the last reading; otherwise a hook did, and the reading only sets the beginning of the next
 * count. */
static void read_all(struct dp_perf *perf, bool asked, bool count)
{
    struct reading now[DP_FMT_COUNTERS];
    for (size_t g = 0; g < perf->n_groups; g++) {
        const struct dp_perf_group *group = &perf->groups[g];
        struct dp_perf_counter *first = &perf->counters[group->first];
        if (first->page)
            for (size_t i = 0; i < group->n; i++)
                read_page(perf, &first[i], &now[i]);
        else if (!asked)
            continue;
        else if (!read_group(perf, group, now)) {
            lose_counters(perf);
            return;
        }
        for (size_t i = 0; i < group->n; i++) {
            if (count)
                take_count(&first[i], &now[i]);
            keep_reading(&first[i], &now[i]);
        }
    }
}

void dp_perf_arrive(struct dp_perf *perf)
{
    if (DP_LIKELY(!perf->lost))
        read_all(perf, true, true);
}

void dp_perf_leave(struct dp_perf *perf, bool worked)
{
    if (DP_LIKELY(!perf->lost))
        read_all(perf, worked, false);
}

void dp_perf_calibrate(struct dp_perf *perf, void (*hook)(void *arg), void *arg)
{
    uint64_t least[DP_FMT_COUNTERS], before[DP_FMT_COUNTERS];
    memset(least, 0xff, sizeof least);
    for (size_t i = 0; i < perf->n; i++)
        perf->counters[i].zero = 0;
    for (int k = 0; k < TRIES; k++) {
        dp_perf_arrive(perf);
        hook(arg);
        dp_perf_leave(perf, false);
        for (size_t i = 0; i < perf->n; i++)
            before[i] = perf->counters[i].raw;
        dp_perf_arrive(perf);
        for (size_t i = 0; i < perf->n; i++)
            if (perf->counters[i].raw - before[i] < least[i])
                least[i] = perf->counters[i].raw - before[i];
        dp_perf_leave(perf, true);
    }
    for (size_t i = 0; i < perf->n; i++) {
        perf->counters[i].zero = least[i];
        perf->counters[i].passed = 0;
        perf->counters[i].counted = perf->counters[i].told = 0;
    }
}

double dp_perf_share(const struct dp_perf *perf, size_t event)
{
    const struct dp_perf_counter *c = &perf->counters[perf->at[event]];
    return c->enabled && c->running < c->enabled ? (double)c->running / (double)c->enabled : 1;
}

/* ---- opening ---- */

/* Puts an event into the current group or, if it does not fit, begins another one. */
static int add_event(struct dp_perf *perf, const struct dp_pmu_event *event, bool alone)
{
    struct perf_event_attr attr;
    struct dp_perf_group *group = perf->n_groups && !alone
            ? &perf->groups[perf->n_groups - 1] : NULL;
    dp_pmu_attr(event, &attr);
    attr.disabled = !group;
    int fd = perf->sys->open(&attr, group ? group->fd : -1);
    if (fd < 0 && group && (errno == EINVAL || errno == ENOSPC)) {
        group = NULL;
        attr.disabled = 1;
        fd = perf->sys->open(&attr, -1);
    }
    if (fd < 0)
        return -1;
    if (!group) {
        group = &perf->groups[perf->n_groups++];
        *group = (struct dp_perf_group){ fd, perf->n, 0, false };
    }
    group->n++;
    group->hardware = group->hardware || event->type != PERF_TYPE_SOFTWARE;
    memset(&perf->counters[perf->n], 0, sizeof perf->counters[0]);
    perf->counters[perf->n].fd = fd;
    perf->n++;
    return 0;
}

/* Maps the pages of a group. If one counter of a group cannot be read without the kernel, a system
 * call reads the whole group. */
static void map_group(struct dp_perf *perf, const struct dp_perf_group *group)
{
    struct dp_perf_counter *first = &perf->counters[group->first];
    bool all = perf->sys->counter != NULL;
    for (size_t i = 0; i < group->n && all; i++) {
        const struct perf_event_mmap_page *page = first[i].page = perf->sys->map(first[i].fd);
        all = page && page->cap_user_rdpmc && page->pmc_width && page->pmc_width <= 64;
        /* `index` is 0 while an event is not on a counter of the processor, or can never be */
        all = all && page->index;
    }
    for (size_t i = 0; i < group->n && !all; i++) {
        if (first[i].page)
            perf->sys->unmap(first[i].page);
        first[i].page = NULL;
    }
}

/* Does the event count nanoseconds of the kernel's clocks? */
static bool is_clock(const struct dp_pmu_event *event)
{
    return event->type == PERF_TYPE_SOFTWARE
           && (event->config == PERF_COUNT_SW_CPU_CLOCK
               || event->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* Enables all groups, each as a whole. Page faults that join the group of a running clock do not
 * count until the thread is switched to the next time (Linux 6.18). */
static int enable_all(struct dp_perf *perf)
{
    for (size_t g = 0; g < perf->n_groups; g++)
        if (perf->sys->enable(perf->groups[g].fd) < 0)
            return -1;
    return 0;
}

/* Closes all events after one could not be opened; keeps errno. Returns -1. */
static int give_up(struct dp_perf *perf)
{
    int why = errno;
    dp_perf_close(perf);
    errno = why;
    return -1;
}

/* Opens and enables all events, in groups that allow the cheapest reading; alone: each in a group
 * of its own. Returns as dp_perf_open does. */
static int open_all(struct dp_perf *perf, const struct dp_pmu_event *const *events, size_t n,
                    bool alone, size_t *failed)
{
    size_t first = 0;           /* clock */
    while (first < n && !is_clock(events[first]))
        first++;
    /* When a group is read, the kernel updates only its leader; any other clock stands still. The
     * processor's counters, which an instruction may read, are in other groups than those that cost
     * a system call. */
    bool apart = perf->sys->counter != NULL, hardware = false;
    for (int turn = 0; turn < 4; turn++)
        for (size_t i = 0; i < n; i++) {
            if (turn
                != (i == first ? 0
                    : is_clock(events[i]) ? 2
                    : apart && events[i]->type != PERF_TYPE_SOFTWARE ? 3
                    : 1))
                continue;
            perf->at[i] = perf->n;
            bool begins = alone || turn == 2 || (turn == 3 && !hardware);
            hardware = hardware || turn == 3;
            if (add_event(perf, events[i], begins) < 0) {
                *failed = i;
                return give_up(perf);
            }
        }
    *failed = 0;
    return enable_all(perf) < 0 ? give_up(perf) : 0;
}

/* Does a group never count? A group that needs all counters of the processor gets none of them if
 * something else, such as a watchdog, uses one. Groups that only wait for another one of ours get
 * their turn later. */
static bool is_starved(struct dp_perf *perf)
{
    struct reading now[DP_FMT_COUNTERS];
    bool waits = false, runs = false;
    for (size_t g = 0; g < perf->n_groups; g++) {
        const struct dp_perf_group *group = &perf->groups[g];
        if (!group->hardware || !read_group(perf, group, now))
            continue;
        waits = waits || (group->n > 1 && now[0].enabled && !now[0].running);
        runs = runs || now[0].running;
    }
    return waits && !runs;
}

int dp_perf_open(struct dp_perf *perf, const struct dp_perf_system *sys,
                 const struct dp_pmu_event *const *events, size_t n, size_t *failed)
{
    memset(perf, 0, sizeof *perf);
    perf->sys = sys ? sys : &dp_perf_real;
    if (open_all(perf, events, n, false, failed) < 0)
        return -1;
    if (is_starved(perf)) {
        dp_perf_close(perf);
        if (open_all(perf, events, n, true, failed) < 0)
            return -1;
    }
    for (size_t g = 0; g < perf->n_groups; g++)
        map_group(perf, &perf->groups[g]);
    read_all(perf, true, false);
    return 0;
}

int dp_perf_try(const struct dp_perf_system *sys, const struct dp_pmu_event *event)
{
    struct perf_event_attr attr;
    if (!sys)
        sys = &dp_perf_real;
    dp_pmu_attr(event, &attr);
    int why = errno, fd = sys->open(&attr, -1);
    int got = fd < 0 ? errno : 0;
    if (fd >= 0)
        sys->close(fd);
    errno = why;
    return got;
}

void dp_perf_forked(struct dp_perf *perf)
{
    for (size_t i = 0; i < perf->n; i++)
        perf->counters[i].page = NULL;
}

/* Closes leaders last: without its leader a group falls apart, and each event would have to be
 * scheduled alone. */
void dp_perf_close(struct dp_perf *perf)
{
    for (size_t i = perf->n; i-- > 0;) {
        if (perf->counters[i].page)
            perf->sys->unmap(perf->counters[i].page);
        perf->sys->close(perf->counters[i].fd);
    }
    perf->n = perf->n_groups = 0;
    perf->lost = false;
}

#else   /* nothing to open; dp_pmu has refused before */

const struct dp_perf_system dp_perf_real;

int dp_perf_open(struct dp_perf *perf, const struct dp_perf_system *sys,
                 const struct dp_pmu_event *const *events, size_t n, size_t *failed)
{
    (void)sys, (void)events;
    memset(perf, 0, sizeof *perf);
    *failed = 0;
    errno = ENOSYS;
    return n ? -1 : 0;
}

int dp_perf_try(const struct dp_perf_system *sys, const struct dp_pmu_event *event)
{
    (void)sys, (void)event;
    return ENOSYS;
}
void dp_perf_forked(struct dp_perf *perf) { (void)perf; }
void dp_perf_close(struct dp_perf *perf) { (void)perf; }
void dp_perf_arrive(struct dp_perf *perf) { (void)perf; }
void dp_perf_leave(struct dp_perf *perf, bool worked) { (void)perf, (void)worked; }
void dp_perf_calibrate(struct dp_perf *perf, void (*hook)(void *arg), void *arg)
{
    (void)perf, (void)hook, (void)arg;
}
double dp_perf_share(const struct dp_perf *perf, size_t event)
{
    (void)perf, (void)event;
    return 1;
}

#endif
