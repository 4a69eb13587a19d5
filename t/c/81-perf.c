/* The kernel's counters, with a kernel made up here: which groups are opened, what is read when,
 * what is subtracted, what is estimated. */
#include "tap.h"
#include "dp_perf.h"
#include "dp_pmu.h"

#include <errno.h>
#include <string.h>

#if DP_PMU_HAS_PERF
#include <linux/perf_event.h>

/* ---- the kernel ---- */

enum { FDS = 64, FIRST_FD = 200 };

static struct fd {
    bool open;
    int leader;                 /* itself, or the group's */
    uint64_t config, value;
    struct perf_event_mmap_page page;
    bool mapped, disabled;
} fds[FDS];

static struct {
    int most;                   /* members of a group */
    uint64_t refused;           /* a config that is refused */
    int refusal;
    bool rdpmc, watchdog;       /* watchdog: a group of `most` never runs */
    int waits;                  /* so does this leader's, before its turn; 0: none */
    uint64_t per_read;          /* counted by each reading */
    uint64_t enabled, running;
    int opens, reads, maps;
    int late;                   /* joined a group that counts already */
    bool no_enable;
    uint64_t pmc[8];
} k;

static void reboot(void)
{
    memset(fds, 0, sizeof fds);
    memset(&k, 0, sizeof k);
    k.most = 4;
    k.refused = UINT64_MAX;
    k.enabled = k.running = 1000;
}

static int members(int leader)
{
    int n = 0;
    for (int i = 0; i < FDS; i++)
        n += fds[i].open && fds[i].leader == leader;
    return n;
}

static int k_open(const struct perf_event_attr *attr, int group_fd)
{
    int i = 0, leader = group_fd < 0 ? -1 : group_fd - FIRST_FD;
    k.opens++;
    if (attr->config == k.refused)
        return errno = k.refusal, -1;
    k.late += leader >= 0 && !fds[leader].disabled;
    if (leader >= 0 && (!fds[leader].open || members(leader) >= k.most))
        return errno = EINVAL, -1;
    while (fds[i].open)
        i++;
    fds[i] = (struct fd){ .open = true,
                          .leader = leader < 0 ? i : leader,
                          .config = attr->config,
                          .disabled = attr->disabled };
    return FIRST_FD + i;
}

static int k_enable(int fd)
{
    struct fd *f = &fds[fd - FIRST_FD];
    if (k.no_enable || f->leader != fd - FIRST_FD)
        return errno = EBUSY, -1;
    f->disabled = false;
    return 0;
}

static long k_read(int fd, void *buf, size_t size)
{
    uint64_t *out = buf;
    int leader = fd - FIRST_FD, n = 0;
    k.reads++;
    if (!fds[leader].open)
        return errno = EBADF, -1;
    bool starved = (k.watchdog && members(leader) == k.most) || (k.waits && leader == k.waits);
    out[1] = k.enabled;
    out[2] = starved ? 0 : k.running;
    for (int i = 0; i < FDS; i++)
        if (fds[i].open && fds[i].leader == leader) {
            fds[i].value += k.per_read;
            out[3 + n++] = fds[i].value;
        }
    out[0] = (uint64_t)n;
    return (3 + n) * 8 <= (long)size ? (3 + n) * 8 : -1;
}

static void *k_map(int fd)
{
    struct fd *f = &fds[fd - FIRST_FD];
    k.maps++;
    if (!k.rdpmc)
        return NULL;
    f->mapped = true;
    f->page.cap_user_rdpmc = 1;
    f->page.pmc_width = 48;
    f->page.index = (uint32_t)(fd - FIRST_FD) + 1;
    f->page.time_enabled = f->page.time_running = 1000;
    return &f->page;
}

static void k_unmap(void *page)
{
    for (int i = 0; i < FDS; i++)
        if (&fds[i].page == page)
            fds[i].mapped = false;
}

static void k_close(int fd) { fds[fd - FIRST_FD].open = false; }
static uint64_t k_counter(unsigned index) { return k.pmc[index] += k.per_read; }

static const struct dp_perf_system kernel = { k_open,  k_enable, k_read,   k_map,
                                              k_unmap, k_close,  k_counter };

/* ---- events ---- */

static struct dp_pmu_event made[8];
static const struct dp_pmu_event *events[8];

static void make(void)
{
    memset(made, 0, sizeof made);
    for (size_t i = 0; i < 8; i++) {
        made[i].kind = DP_PMU_PERF;
        made[i].type = PERF_TYPE_RAW;
        made[i].config = i;
        events[i] = &made[i];
    }

}

static int still_open(void)
{
    int n = 0;
    for (int i = 0; i < FDS; i++)
        n += fds[i].open || fds[i].mapped;
    return n;
}

static void count(size_t i, uint64_t n) { fds[i].value += n; }

/* ---- */

static void groups(void)
{
    struct dp_perf p;
    size_t failed;
    reboot();
    make();
    is_i(dp_perf_open(&p, &kernel, events, 4, &failed), 0, "four events");
    is_u(p.n_groups, 1, "are a group");
    int reads = k.reads;
    dp_perf_arrive(&p);
    is_i(k.reads - reads, 1, "which one system call reads");
    dp_perf_leave(&p, false);
    is_i(k.reads - reads, 1, "on arrival only");
    dp_perf_leave(&p, true);
    is_i(k.reads - reads, 2, "and again where the hook has worked");
    dp_perf_close(&p);
    is_i(still_open(), 0, "all are closed");

    reboot();
    is_i(dp_perf_open(&p, &kernel, events, 7, &failed), 0, "seven events");
    ok(p.n_groups == 2 && p.groups[0].n == 4 && p.groups[1].n == 3,
       "are two groups where four fit in one");
    for (size_t i = 0; i < 7; i++)
        count(i, 10 * (i + 1));
    dp_perf_arrive(&p);
    bool good = true;
    for (size_t i = 0; i < 7; i++)
        good = good && dp_perf_passed(&p, i) == 10 * (i + 1);
    ok(good, "each has its own number");
    ok(!k.late && !fds[0].disabled && !fds[4].disabled,
       "no event joins a group that counts already; then they count");
    dp_perf_close(&p);

    reboot();
    k.no_enable = true;
    ok(dp_perf_open(&p, &kernel, events, 3, &failed) < 0 && errno == EBUSY && !still_open(),
       "a group that cannot begin to count");

    reboot();
    k.watchdog = true;
    is_i(dp_perf_open(&p, &kernel, events, 4, &failed), 0,
         "a group that never runs, as something else has a counter");
    is_u(p.n_groups, 4, "is opened again, each event alone");
    dp_perf_close(&p);
    is_i(still_open(), 0, "and nothing is left of the first try");

    reboot();
    k.refused = 2;
    k.refusal = EACCES;
    is_i(dp_perf_open(&p, &kernel, events, 4, &failed), -1, "an event that is refused");
    ok(failed == 2 && errno == EACCES, "is told, with the reason");
    is_i(still_open(), 0, "the others are closed");
    is_i(dp_perf_try(&kernel, events[2]), EACCES, "one tried alone");
    is_i(dp_perf_try(&kernel, events[3]), 0, "and one that can be had");
    is_i(still_open(), 0, "leaves nothing open");
}

static void clocks(void)
{
    struct dp_perf p;
    size_t failed;
    reboot();
    make();
    made[0].type = made[1].type = made[2].type = made[3].type = PERF_TYPE_SOFTWARE;
    made[1].config = PERF_COUNT_SW_TASK_CLOCK;
    made[3].config = PERF_COUNT_SW_CPU_CLOCK;
    made[0].config = 100;
    made[2].config = 102;
    is_i(dp_perf_open(&p, &kernel, events, 4, &failed), 0, "clocks among others");
    ok(fds[0].config == PERF_COUNT_SW_TASK_CLOCK && fds[0].leader == 0, "a clock leads");
    ok(fds[1].leader == 0 && fds[2].leader == 0, "the others follow");
    ok(fds[3].config == PERF_COUNT_SW_CPU_CLOCK && fds[3].leader == 3, "a second one stands alone");
    count(0, 7);
    count(1, 3);
    dp_perf_arrive(&p);
    ok(dp_perf_passed(&p, 1) == 7 && dp_perf_passed(&p, 0) == 3 && !dp_perf_passed(&p, 2),
       "numbers go by the order that was given");
    dp_perf_close(&p);
}

static void nothing(void *arg) { (void)arg; }
static void some(void *arg) { (void)arg; count(0, 40); }

static void own_cost(void)
{
    struct dp_perf p;
    size_t failed;
    reboot();
    make();
    k.per_read = 3;
    dp_perf_open(&p, &kernel, events, 1, &failed);
    dp_perf_arrive(&p);
    is_u(dp_perf_passed(&p, 0), 3, "reading is counted");
    dp_perf_calibrate(&p, nothing, NULL);
    dp_perf_arrive(&p);
    is_u(dp_perf_passed(&p, 0), 0, "until it has been measured");
    dp_perf_leave(&p, false);
    count(0, 50);
    dp_perf_arrive(&p);
    is_u(dp_perf_passed(&p, 0), 50, "then there is what the program has used");
    dp_perf_leave(&p, false);
    dp_perf_calibrate(&p, some, NULL);
    some(NULL);
    count(0, 9);
    dp_perf_arrive(&p);
    is_u(dp_perf_passed(&p, 0), 9, "what a hook mostly does is taken off");
    count(0, 1000);
    dp_perf_leave(&p, true);
    count(0, 40 + 5);
    dp_perf_arrive(&p);
    is_u(dp_perf_passed(&p, 0), 5, "more than that is left out by reading again");
    fds[0].value = 1;
    dp_perf_arrive(&p);
    is_u(dp_perf_passed(&p, 0), 0, "a counter never goes back");
    dp_perf_close(&p);
}

static void shared(void)
{
    struct dp_perf p;
    size_t failed;
    uint64_t sum = 0;
    reboot();
    make();
    dp_perf_open(&p, &kernel, events, 1, &failed);
    k.enabled = 3000;
    k.running = 2000;
    for (int i = 0; i < 10; i++) {
        count(0, 1);
        dp_perf_arrive(&p);
        sum += dp_perf_passed(&p, 0);
        dp_perf_leave(&p, false);
    }
    is_u(sum, 15, "counted two thirds of the time: half as much again, and fractions are not lost");
    ok(dp_perf_share(&p, 0) > 0.666 && dp_perf_share(&p, 0) < 0.667, "the share is known");
    dp_perf_close(&p);

    /* It waits for its turn 4000 long, and is then counted: 1 in each 1. */
    reboot();
    k.enabled = k.running = 0;
    dp_perf_open(&p, &kernel, events, 1, &failed);
    sum = 0;
    for (int t = 1; t <= 8000; t++) {
        k.enabled = (uint64_t)t;
        k.running = t > 4000 ? (uint64_t)t - 4000 : 0;
        count(0, t > 4000);
        dp_perf_arrive(&p);
        sum += dp_perf_passed(&p, 0);
        dp_perf_leave(&p, false);
    }
    is_u(sum, 8000, "counted the second half of the time: as much in the first");
    k.enabled += 4000;
    dp_perf_arrive(&p);
    is_u(dp_perf_passed(&p, 0), 4000, "as much while it waits");
    dp_perf_leave(&p, false);
    k.running += 4000;
    k.enabled += 4000;
    dp_perf_arrive(&p);
    is_u(dp_perf_passed(&p, 0), 0, "less than was thought: it does not go back");
    dp_perf_close(&p);
}

static void by_instruction(void)
{
    struct dp_perf p;
    size_t failed;
    reboot();
    make();
    k.rdpmc = true;
    k.pmc[0] = (UINT64_C(1) << 48) - 5;     /* 48 bits wide: the kernel counts from below 0 */
    dp_perf_open(&p, &kernel, events, 2, &failed);
    fds[0].page.offset = 1005;
    int reads = k.reads;
    dp_perf_leave(&p, false);
    ok(p.counters[0].raw == 1000, "the page's offset and the counter's own value, with its sign");
    k.pmc[0] = 20;
    k.pmc[1] = 7;
    dp_perf_arrive(&p);
    ok(dp_perf_passed(&p, 0) == 25 && dp_perf_passed(&p, 1) == 7, "what has passed");
    ok(k.reads == reads, "no system call");
    k.pmc[0] = 100;
    dp_perf_leave(&p, false);
    k.pmc[0] = 101;
    dp_perf_arrive(&p);
    is_u(dp_perf_passed(&p, 0), 1,
         "what the recorder uses between arriving and leaving is left out");
    fds[0].page.offset += 101;
    fds[0].page.index = 0;
    dp_perf_arrive(&p);
    is_u(dp_perf_passed(&p, 0), 0, "off the processor, the offset is all");
    dp_perf_close(&p);
    is_i(still_open(), 0, "pages are given back");

    reboot();
    k.rdpmc = true;
    dp_perf_open(&p, &kernel, events, 2, &failed);
    ok(k.maps == 2 && p.counters[0].page && p.counters[1].page, "a group of two");
    dp_perf_close(&p);
    reboot();
    dp_perf_open(&p, &kernel, events, 2, &failed);
    ok(!p.counters[0].page && !p.counters[1].page, "without the instruction: by system calls");
    dp_perf_close(&p);
}

static void turns(void)
{
    struct dp_perf p;
    size_t failed;
    reboot();
    make();
    k.waits = 4;
    dp_perf_open(&p, &kernel, events, 6, &failed);
    is_u(p.n_groups, 2, "a group that waits for the other one's turn to end stays a group");
    dp_perf_close(&p);
}

/* The kernel leaves the pages out of a child's memory: in their places may be the program's. */
static void forked(void)
{
    struct dp_perf p;
    size_t failed;
    reboot();
    make();
    k.rdpmc = true;
    dp_perf_open(&p, &kernel, events, 2, &failed);
    dp_perf_forked(&p);
    dp_perf_close(&p);
    ok(fds[0].mapped && fds[1].mapped, "a child does not unmap what it has not got");
    ok(!fds[0].open && !fds[1].open, "its descriptors it closes");
}

/* Events of the processor and of the kernel: the latter take a system call, and do not take
 * the former along. */
static void both(void)
{
    struct dp_perf p;
    size_t failed;
    reboot();
    make();
    made[0].type = made[2].type = PERF_TYPE_SOFTWARE;
    made[0].config = PERF_COUNT_SW_PAGE_FAULTS;
    made[2].config = PERF_COUNT_SW_TASK_CLOCK;
    dp_perf_open(&p, &kernel, events, 4, &failed);
    is_u(p.n_groups, 2, "two groups");
    ok(p.at[2] == 0 && p.at[0] == 1 && p.at[1] == 2 && p.at[3] == 3,
       "the clock and the faults, then the processor's");
    ok(p.groups[0].n == 2 && p.groups[1].n == 2 && p.groups[1].hardware && !p.groups[0].hardware,
       "each with its own kind");
    dp_perf_close(&p);

    static struct dp_perf_system other;
    other = kernel;
    other.counter = NULL;
    reboot();
    dp_perf_open(&p, &other, events, 4, &failed);
    is_u(p.n_groups, 1, "without such an instruction, one group");
    int reads = k.reads;
    dp_perf_arrive(&p);
    is_i(k.reads - reads, 1, "one system call for all of them");
    dp_perf_close(&p);
}

static void lost(void)
{
    struct dp_perf p;
    size_t failed;
    reboot();
    make();
    dp_perf_open(&p, &kernel, events, 2, &failed);
    count(0, 5);
    dp_perf_arrive(&p);
    fds[0].open = false;
    errno = 42;
    dp_perf_arrive(&p);
    ok(p.lost && !dp_perf_passed(&p, 0), "the program has closed our descriptor: counting ends");
    is_i(errno, 42, "errno stays what it was");
    int reads = k.reads;
    dp_perf_arrive(&p);
    dp_perf_leave(&p, true);
    is_i(k.reads, reads, "and nobody else's is read");
}

int main(void)
{
    groups();
    clocks();
    own_cost();
    shared();
    by_instruction();
    turns();
    forked();
    both();
    lost();
    return tap_done();
}

#else

int main(void)
{
    ok(1, "no perf events on this system");
    return tap_done();
}

#endif
