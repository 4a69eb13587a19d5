/* Samples from outside.
 *
 * The sampler holds the target still without touching it: it runs on the target's own processor.
 * While the sampler runs there, the target cannot. Where that fails (the processor is forbidden
 * to us, or the target has just moved), the check of the stack finds what was torn (dp_stack.h).
 * A pause by ptrace does the same at a higher price: it stops the target twice as long, and may
 * interrupt its system calls.
 *
 * A sample is charged with all real time and CPU time since the last sample of this thread. But
 * a thread that waits at the moment, for an event or for a processor, has used its CPU time
 * elsewhere: where it is preempted is no random place, since system calls are where the kernel
 * does that. So its CPU time goes to the next sample that sees it run. The kernel brings the CPU
 * time of another process up to date when that process is switched out, which our own wake-up
 * does on its processor; so the reading comes after the move. A thread that waits, and has not
 * run since its last sample, is not read again.
 *
 * Samples come at random distances around the period, so that they do not march in step with the
 * target. A stack that is given up leaves its time to the next sample. */
#include "dpx_attach.h"
#include "dpx_layout.h"
#include "dp_mem.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    TRIES = 12,                 /* readings of one sample */
    MOST_FAILURES = 5,          /* samples in a row that cannot be read: after an exec */
    LOOKS = 50,                 /* readings of a stack for people */
    QUEUED = 250000,            /* ns: a wait that is longer is not our own doing */
    UNCOUNTED = 50000,          /* ns of a period that the kernel does not count, as interrupts */
    MOST_REAL_TIME = 2000       /* samples a second: at more, real-time priority would disturb */
};

#define NS 1000000000u

uint64_t dpx_attach_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

bool dpx_attach_allow(void)
{
#if defined PR_SET_PTRACER && defined PR_SET_PTRACER_ANY
    return prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0) == 0;
#else
    return false;
#endif
}

/* ---- what /proc says of a thread ---- */

/* Opens a file of a thread in /proc. Returns the descriptor, or -1. */
static int open_task(const struct dpx_attach *a, pid_t tid, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/%s", (long)a->process.pid, (long)tid, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Reads the state and the last processor of a thread: fields 3 and 39, counted from behind the
 * name, which may have blanks. Returns false if the thread has ended. */
static bool read_state(struct dpx_attach_thread *t)
{
    char text[1024];
    ssize_t n = t->stat < 0 ? -1 : pread(t->stat, text, sizeof text - 1, 0);
    if (n <= 0)
        return false;
    text[n] = '\0';
    char *p = strrchr(text, ')');
    if (!p || !p[1])
        return false;
    t->state = p[2];
    for (int field = 2; field < 39 && p; field++)
        p = strchr(p + 1, ' ');
    t->processor = p ? atoi(p + 1) : -1;
    return t->state != 'Z' && t->state != 'X';
}

/* Reads how much a thread has run. Without schedstat, the process's own clock serves, and the
 * thread counts as having run. */
static struct dpx_attach_usage read_usage(const struct dpx_attach *a,
                                          const struct dpx_attach_thread *t)
{
    struct dpx_attach_usage u = { 0, 0, UINT64_MAX };
    char text[128];
    struct timespec ts;
    ssize_t n = t->sched < 0 ? -1 : pread(t->sched, text, sizeof text - 1, 0);
    if (n > 0) {
        char *p;
        text[n] = '\0';
        u.cpu = strtoull(text, &p, 10);
        u.queued = strtoull(p, &p, 10);
        u.runs = strtoull(p, NULL, 10);
        return u;
    }
    /* the clock of another process: clock_getcpuclockid(3) */
    clockid_t clock = (clockid_t)(~(unsigned)a->process.pid << 3 | 2);
    if (clock_gettime(clock, &ts) == 0)
        u.cpu = (uint64_t)ts.tv_sec * NS + (uint64_t)ts.tv_nsec;
    return u;
}

/* Reads how often a thread has gone to sleep. */
static uint64_t read_sleeps(const struct dpx_attach_thread *t)
{
    static const char name[] = "\nvoluntary_ctxt_switches:";
    char text[4096];
    ssize_t n = t->status < 0 ? -1 : pread(t->status, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    const char *found = strstr(text, name);
    return found ? strtoull(found + sizeof name - 1, NULL, 10) : UINT64_MAX;
}

/* ---- holding it still ---- */

/* Moves to the processor of a thread that runs, if it is another one. */
static void follow(struct dpx_attach *a, const struct dpx_attach_thread *t)
{
    cpu_set_t set;
    if (t->state != 'R' || t->processor < 0 || t->processor >= CPU_SETSIZE
        || t->processor == sched_getcpu())
        return;
    CPU_ZERO(&set);
    CPU_SET(t->processor, &set);
    a->followed++;
    a->not_followed += sched_setaffinity(0, sizeof set, &set) < 0;
}

/* Stops a thread. Returns the signal that it has to get when it goes on, or -1. */
static int pause_thread(struct dpx_attach_thread *t)
{
    int status;
    if (!t->is_seized && ptrace(PTRACE_SEIZE, t->tid, 0, 0) < 0)
        return -1;
    t->is_seized = true;
    if (ptrace(PTRACE_INTERRUPT, t->tid, 0, 0) < 0 || waitpid(t->tid, &status, __WALL) != t->tid
        || !WIFSTOPPED(status))
        return -1;
    bool is_ours = status >> 16 == PTRACE_EVENT_STOP;
    return is_ours ? 0 : WSTOPSIG(status);
}

static void resume_thread(const struct dpx_attach_thread *t, int signal)
{
    ptrace(PTRACE_CONT, t->tid, 0, (void *)(long)signal);
}

/* Reads a stack while the thread is held, up to so many times. The caller has read its state. */
static int read_held(struct dpx_attach *a, struct dpx_attach_thread *t, int tries)
{
    int rc = 0, signal = a->pauses ? pause_thread(t) : -1;
    for (int i = 0; i < tries && rc == 0; i++) {
        if (!a->pauses && !a->is_core && (i == 0 || read_state(t)))
            follow(a, t);
        rc = dp_stack_read(&t->stack);
    }
    if (signal >= 0)
        resume_thread(t, signal);
    return rc;
}

int dpx_attach_look(struct dpx_attach *a, struct dpx_attach_thread *t)
{
    if (!a->is_core)
        read_state(t);
    return read_held(a, t, a->is_core ? 1 : LOOKS);
}

/* ---- opening ---- */

/* Closes a thread's files in /proc, and frees what sampling it has made. */
static void free_thread(struct dpx_attach_thread *t)
{
    if (t->stat >= 0)
        close(t->stat);
    if (t->sched >= 0)
        close(t->sched);
    if (t->status >= 0)
        close(t->status);
    if (t->is_sampled)
        dp_sampled_release(&t->sampled);
    dp_leafs_release(&t->leafs);
    dp_stack_release(&t->stack);
    dp_mem_free(t);
}

/* Adds a thread that runs this interpreter. Returns 0 or DP_E_NOMEM. */
static int add_thread(struct dpx_attach *a, pid_t tid, dp_addr in)
{
    if (dp_mem_grow((void **)&a->threads, &a->threads_cap, a->n_threads + 1, sizeof *a->threads)
        < 0)
        return DP_E_NOMEM;
    struct dpx_attach_thread *t = dp_mem_zalloc(sizeof *t);
    if (!t)
        return DP_E_NOMEM;
    t->tid = tid;
    t->number = (unsigned)a->n_threads;
    t->stat = a->is_core ? -1 : open_task(a, tid, "stat");
    t->sched = a->is_core ? -1 : open_task(a, tid, "schedstat");
    t->status = a->is_core ? -1 : open_task(a, tid, "status");
    if (dp_stack_init(&t->stack, &a->code, in) < 0 || dp_leafs_init(&t->leafs, &t->stack) < 0) {
        free_thread(t);
        return DP_E_NOMEM;
    }
    a->threads[a->n_threads++] = t;
    return 0;
}

/* The thread that runs an interpreter, and still does; NULL: it is new. */
static struct dpx_attach_thread *known_thread(const struct dpx_attach *a, pid_t tid, dp_addr in)
{
    for (size_t i = 0; i < a->n_threads; i++)
        if (a->threads[i]->tid == tid && a->threads[i]->stack.interpreter == in
            && !a->threads[i]->has_ended)
            return a->threads[i];
    return NULL;
}

/* Adds the threads that run an interpreter and are not known yet; in[i] is the interpreter of
 * thread i, or 0. Returns 0 or a DP_E. */
static int add_found(struct dpx_attach *a, const struct dp_threads *threads, const dp_addr *in)
{
    int rc = 0;
    /* the first interpreter's thread first */
    for (int others = 0; others < 2; others++)
        for (size_t i = 0; i < threads->count && rc == 0; i++)
            if (in[i] && (in[i] != a->perl.first) == others
                && !known_thread(a, threads->at[i].tid, in[i]))
                rc = add_thread(a, threads->at[i].tid, in[i]);
    return rc;
}

int dpx_attach_find_threads(struct dpx_attach *a)
{
    struct dp_threads own = { NULL, 0, 0 }, *threads = a->is_core ? &a->core.threads : &own;
    int rc = 0;
    dp_target_look(&a->target);
    if (a->all_threads && a->perl.version.multiplicity) {
        if (!a->is_core) {
            rc = dp_process_threads(&a->process, threads);
            dp_regions_release(&a->regions);
            dp_regions_init(&a->regions);
            if (rc == 0)
                rc = dp_process_regions(&a->process, &a->regions);
        }
        dp_addr *in = dp_mem_zalloc((threads->count + 1) * sizeof *in);
        rc = !in ? DP_E_NOMEM : rc;
        if (rc == 0 && dp_perl_threads(&a->perl, a->is_core ? &a->core.regions : &a->regions,
                                       a->is_core ? dp_core_open_region : dp_process_open,
                                       a->is_core ? (void *)&a->core : &a->process, threads, in))
            rc = add_found(a, threads, in);
        dp_mem_free(in);
        dp_mem_free(own.at);
    }
    return rc == 0 && !a->n_threads ? add_thread(a, a->process.pid, a->perl.first) : rc;
}

/* Finds the perl of a process or core that is open. */
static int find_perl(struct dpx_attach *a, struct dp_err *err)
{
    if (a->is_core)
        return dp_perl_find(&a->perl, &a->target, &a->core.regions, dp_core_open_region, &a->core,
                            dpx_layout_own(), err);
    int rc = dp_process_regions(&a->process, &a->regions);
    if (rc == DP_E_IO)
        return dp_process_trouble(&a->process, err);
    rc = rc < 0 ? dp_err_set(err, rc, "out of memory")
         : dp_perl_find(&a->perl, &a->target, &a->regions, dp_process_open, &a->process,
                        dpx_layout_own(), err);
    return rc == DP_E_IO ? dp_process_trouble(&a->process, err) : rc;
}

struct dpx_attach *dpx_attach_open(pid_t pid, const char *path, bool all_threads,
                                   struct dp_err *err)
{
    struct dpx_attach *a = dp_mem_zalloc(sizeof *a);
    if (!a) {
        dp_err_set(err, DP_E_NOMEM, "out of memory");
        return NULL;
    }
    a->is_core = path != NULL;
    a->all_threads = all_threads;
    a->core.opened = -1;
    dp_process_init(&a->process, pid);
    dp_regions_init(&a->regions);
    int rc = path ? dp_core_open(&a->core, path, err) : 0;
    if (rc == 0 && path)
        a->process.pid = a->core.pid;
    if (rc == 0)
        rc = dp_target_init(&a->target, path ? dp_core_read : dp_process_read,
                            path ? (void *)&a->core : &a->process);
    if (rc == 0)
        rc = find_perl(a, err);
    if (rc == 0)
        rc = dp_optree_init(&a->code, &a->perl);
    if (rc == 0)
        rc = dpx_attach_find_threads(a);
    if (rc == 0)
        return a;
    dp_err_set(err, rc, "%s", dp_err_text(rc));         /* unless there is a message already */
    dpx_attach_free(a);
    return NULL;
}

void dpx_attach_free(struct dpx_attach *a)
{
    for (size_t i = 0; i < a->n_threads; i++)
        if (a->threads[i]->is_seized)
            ptrace(PTRACE_DETACH, a->threads[i]->tid, 0, 0);
    for (size_t i = 0; i < a->n_threads; i++)
        free_thread(a->threads[i]);
    dp_mem_free(a->threads);
    dp_optree_release(&a->code);
    dp_perl_release(&a->perl);
    dp_target_release(&a->target);
    dp_regions_release(&a->regions);
    dp_core_release(&a->core);
    dp_process_release(&a->process);
    dp_mem_free(a);
}

/* ---- samples ---- */

/* How long a thread has waited for a processor without an end, unless it has slept. The kernel
 * counts a wait when it is over. So the wait that goes on is what has passed since the last
 * sample, less the time run and the waits that have ended, plus the wait that went on at that
 * sample. */
static uint64_t wait_of(const struct dpx_attach_thread *t, const struct dpx_attach_usage *u,
                        uint64_t now)
{
    uint64_t all = now - t->real + t->waiting;
    uint64_t known = u->cpu - t->usage.cpu + u->queued - t->usage.queued;
    return all > known ? all - known : 0;
}

/* Has a thread run until our timer was due? Then our wake-up has put it off its processor, and it
 * has waited since. */
static bool ran_until(const struct dpx_attach_thread *t, const struct dpx_attach_usage *u,
                      uint64_t due, uint64_t now)
{
    return t->has_sample && u->runs != UINT64_MAX && wait_of(t, u, now) < now - due + UNCOUNTED;
}

/* Does a thread that could run wait for a processor, and has it done so since before we looked?
 * A thread that has slept meanwhile is believed to run: how long it slept is unknown. */
static bool is_queued(struct dpx_attach_thread *t, const struct dpx_attach_usage *u, uint64_t now)
{
    uint64_t passed = now - t->real, ran = u->cpu - t->usage.cpu, wait = wait_of(t, u, now);
    t->waiting = 0;
    if (t->has_slept && u->runs == t->usage.runs && u->runs != UINT64_MAX)
        return true;            /* it has been woken, and has not run yet */
    if (!t->has_sample || t->has_slept || u->runs == UINT64_MAX)
        return false;
    if (wait >= QUEUED) {
        uint64_t before = t->sleeps;
        t->sleeps = read_sleeps(t);
        if (t->sleeps != before)
            return false;
    }
    t->waiting = wait;
    /* if it has run since, it waits since then at the longest: no error adds up */
    if (ran && t->waiting > passed - (ran < passed ? ran : passed))
        t->waiting = passed - (ran < passed ? ran : passed);
    return t->waiting >= QUEUED;
}

/* Charges a sample with the time since the last one. leafs: NULL if the stack is the same. */
static void charge(struct dpx_attach_thread *t, struct dp_leafs *leafs, uint64_t now,
                   const struct dpx_attach_usage *u, bool runs)
{
    uint64_t cpu = u->cpu > t->usage.cpu ? u->cpu - t->usage.cpu : 0;
    if (t->has_sample)
        dp_sampled_add(&t->sampled, leafs, now - t->real, cpu, runs);
    t->real = now;
    t->usage = *u;
    t->has_sample = true;
    t->has_slept = t->state != 'R';
    t->waiting = t->has_slept ? 0 : t->waiting;
}

/* Has a thread that sleeps run since its last sample? */
static bool has_run(const struct dpx_attach_thread *t, const struct dpx_attach_usage *u)
{
    return !t->has_sample || !t->sampled.samples || u->cpu != t->usage.cpu
           || u->runs != t->usage.runs || u->runs == UINT64_MAX;
}

/* Takes a sample of a thread; due: when. The kernel writes the thread's state at length, so it is
 * read only if the usage does not show it. Returns false if the thread has ended. */
static bool sample_thread(struct dpx_attach *a, struct dpx_attach_thread *t, uint64_t due)
{
    struct dpx_attach_usage u = read_usage(a, t);
    uint64_t now = dpx_attach_now();
    if (t->has_slept && !has_run(t, &u)) {
        charge(t, NULL, now, &u, false);
        return true;
    }
    bool ran = ran_until(t, &u, due, now);
    if (ran)
        t->state = 'R';
    else if (!read_state(t))
        return false;
    if (!t->is_sampled) {
        if (dp_sampled_init(&t->sampled, &a->code, a->process.pid) < 0)
            return false;
        t->is_sampled = true;
        t->sleeps = read_sleeps(t);
    }
    int rc = read_held(a, t, TRIES);
    now = dpx_attach_now();
    if (!ran)
        u = read_usage(a, t);
    t->failures = rc < 0 ? t->failures + 1 : 0;
    if (rc == 1) {
        t->sampled.mended += t->stack.mended != 0;
        bool runs = ran || (t->state == 'R' && !is_queued(t, &u, now));
        if (ran)
            t->waiting = wait_of(t, &u, now);
        charge(t, &t->leafs, now, &u, runs);
    } else if (rc == 0) {
        t->sampled.given_up++;
    } else {
        /* after an exec the addresses are another program's, and are none */
        bool goes_on = t->failures < MOST_FAILURES && read_state(t) && a->process.why != ESRCH;
        t->sampled.unread += goes_on ? 1 : 1 - (uint64_t)t->failures;
        return goes_on;
    }
    return true;
}

/* Takes a sample of all threads of a process; due: when. */
static void sample_process(struct dpx_attach *a, uint64_t due)
{
    size_t left = 0;
    for (size_t i = 0; i < a->n_threads; i++) {
        struct dpx_attach_thread *t = a->threads[i];
        t->has_ended = t->has_ended || !sample_thread(a, t, due);
        left += !t->has_ended;
    }
    a->has_ended = !left;
}

/* A random number below 1, from a seed that it moves on (xorshift64*). */
static double random_part(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return (double)(*seed * UINT64_C(0x2545F4914F6CDD1D) >> 11) / 9007199254740992.0;
}

static size_t count_left(struct dpx_attach **all, size_t n)
{
    size_t left = 0;
    for (size_t i = 0; i < n; i++)
        left += !all[i]->has_ended;
    return left;
}

/* How this process was scheduled before the samples. */
struct scheduled {
    cpu_set_t processors;
    bool has_processors;
    struct sched_param param;
    int policy;                 /* -1: unchanged */
};

/* Asks for real-time priority, where the user may have it. Else the kernel lets the target run on
 * for a while after our timer, mostly up to a system call: samples would be late, and would prefer
 * such calls. */
static struct scheduled begin_scheduling(double rate)
{
    struct scheduled was = { .policy = -1 };
    struct sched_param least = { .sched_priority = sched_get_priority_min(SCHED_FIFO) };
    was.has_processors = sched_getaffinity(0, sizeof was.processors, &was.processors) == 0;
    if (rate > MOST_REAL_TIME || sched_getparam(0, &was.param) < 0)
        return was;
    int policy = sched_getscheduler(0);
    if (policy >= 0 && sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &least) == 0)
        was.policy = policy;
    return was;
}

/* Restores the scheduling of this process. */
static void end_scheduling(const struct scheduled *was)
{
    if (was->policy >= 0)
        sched_setscheduler(0, was->policy, &was->param);
    if (was->has_processors)
        sched_setaffinity(0, sizeof was->processors, &was->processors);
}

size_t dpx_attach_run(struct dpx_attach **all, size_t n, double rate, uint64_t until)
{
    struct scheduled was = begin_scheduling(rate);
    uint64_t period = (uint64_t)(NS / rate), next = dpx_attach_now(), seed = next | 1;
    for (;;) {
        next += (uint64_t)((double)period * (0.75 + 0.5 * random_part(&seed)));
        if (next >= until)
            next = until;
        struct timespec at = { (time_t)(next / NS), (long)(next % NS) };
        if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0)
            break;              /* a signal, which perl handles */
        uint64_t now = dpx_attach_now();
        if (now >= until)
            break;
        for (size_t i = 0; i < n; i++)
            if (!all[i]->has_ended)
                sample_process(all[i], next);
        if (!count_left(all, n))
            break;
        now = dpx_attach_now();
        if (now > next + period) {      /* no burst of samples to catch up */
            for (size_t i = 0; i < n; i++)
                all[i]->behind += (now - next) / period;
            next = now;
        }
    }
    end_scheduling(&was);
    return count_left(all, n);
}
