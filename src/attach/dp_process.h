/* A running process as a target: its memory, its mappings, its threads. Needs the rights of ptrace
 * (ptrace(2), "Ptrace access mode checking"), and neither stops the process nor signals it. */
#ifndef DP_PROCESS_H
#define DP_PROCESS_H

#include "dp_base.h"
#include "dp_err.h"
#include "dp_region.h"
#include "dp_target.h"

#include <sys/types.h>

struct dp_process {
    pid_t pid;
    int mem;                    /* descriptor of /proc/PID/mem, for kernels and containers without
                                 * process_vm_readv; -1: not open */
    int why;                    /* errno of the last reading that failed */
};

void dp_process_init(struct dp_process *p, pid_t pid);
void dp_process_release(struct dp_process *p);

/* A dp_target_read_fn; from is a struct dp_process. */
bool dp_process_read(void *from, const struct dp_target_part *parts, size_t n);

/* Reads the mappings. Returns 0, DP_E_NOMEM, or DP_E_IO with errno in p->why. */
int dp_process_regions(struct dp_process *p, struct dp_regions *to);

/* A dp_region_open_fn; process is a struct dp_process. Works even if the file was deleted, or is in
 * another mount name space. */
int dp_process_open(void *process, const struct dp_regions *regions,
                    const struct dp_region *region);

/* The threads of the process. */
struct dp_thread {
    pid_t tid;                  /* as /proc has it */
    pid_t inner;                /* as the process itself sees it, in its innermost name space */
    dp_addr tls;                /* of a core file: the thread pointer; 0: unknown */
};

struct dp_threads {
    struct dp_thread *at;
    size_t count, cap;
};

/* Lists the threads, in no order. Returns 0 or DP_E_NOMEM; a process that has ended has none. */
int dp_process_threads(const struct dp_process *p, struct dp_threads *to);

/* Writes why the process cannot be read, and what to do: one line into err, with the code
 * DP_E_IO. */
int dp_process_trouble(const struct dp_process *p, struct dp_err *err);

#endif
