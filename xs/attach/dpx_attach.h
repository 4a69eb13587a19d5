/* Attaching to processes: what is kept for each of them, and the loop that takes the samples. */
#ifndef DPX_ATTACH_H
#define DPX_ATTACH_H

#include "dp_core.h"
#include "dp_process.h"
#include "dp_sampled.h"

/* One thread of a target that runs a perl. */
struct dpx_attach_thread {
    pid_t tid;
    unsigned number;            /* from 0: the first interpreter; its profile's $dprof_tid */
    struct dp_stack stack;
    struct dp_leafs leafs;
    struct dp_sampled sampled;
    bool is_sampled;            /* sampled has begun */
    int stat, sched, status;    /* descriptors of files in /proc/PID/task/TID; -1: none */
    /* at the last sample that was taken */
    uint64_t real;              /* CLOCK_MONOTONIC in ns */
    struct dpx_attach_usage {
        uint64_t cpu;           /* CPU time in ns */
        uint64_t queued;        /* ns that it has waited for a processor, up to its last run */
        uint64_t runs;          /* how often it has got a processor; UINT64_MAX: unknown */
    } usage;
    uint64_t sleeps;            /* how often it had gone to sleep, when that was read last */
    uint64_t waiting;           /* ns that it had waited for a processor, and still did */
    bool has_sample, has_slept; /* has_slept: it slept at that sample */
    char state;                 /* R, S, D ..., proc(5) */
    int processor;
    bool is_seized;             /* it can be stopped */
    int failures;               /* samples that could not be read, one after the other */
    bool has_ended;
};

/* A process, or a core file. */
struct dpx_attach {
    struct dp_process process;
    struct dp_core core;
    bool is_core;
    struct dp_regions regions;
    struct dp_target target;
    struct dp_perl perl;
    struct dp_optree code;
    struct dpx_attach_thread **threads;
    size_t n_threads, threads_cap;
    bool has_ended;             /* the process has ended, or runs no perl any more */
    bool pauses;                /* stops the threads for each sample, with ptrace */
    bool all_threads;
    uint64_t behind;            /* samples left out, as they came too late */
    uint64_t followed, not_followed;    /* moves to a target's processor, and failures */
};

/* Opens a process (path NULL), or a core file. Returns NULL with a message. */
struct dpx_attach *dpx_attach_open(pid_t pid, const char *path, bool all_threads,
                                   struct dp_err *err);
void dpx_attach_free(struct dpx_attach *a);

/* Looks again which threads there are. Threads that were known stay, in their places. */
int dpx_attach_find_threads(struct dpx_attach *a);

/* Takes samples of all targets at this rate until a moment of CLOCK_MONOTONIC in ns, until a signal
 * comes, or until all have ended. Returns how many are left. */
size_t dpx_attach_run(struct dpx_attach **all, size_t n, double rate, uint64_t until);

/* Reads a thread's stack for people, with as many tries as it takes. Returns as dp_stack_read. */
int dpx_attach_look(struct dpx_attach *a, struct dpx_attach_thread *t);

/* Returns the monotonic time in nanoseconds. */
uint64_t dpx_attach_now(void);

/* Permits all processes of this user to attach to this process, where Yama forbids that. Returns
 * whether the kernel has accepted it; without Yama it has nothing to accept. */
bool dpx_attach_allow(void);

#endif
