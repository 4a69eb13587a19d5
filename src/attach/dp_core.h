/* A core file of a process as a target (core(5), elf(5)). */
#ifndef DP_CORE_H
#define DP_CORE_H

#include "dp_err.h"
#include "dp_process.h"
#include "dp_region.h"

struct dp_core_part;

struct dp_core {
    const char *bytes;          /* the file, mapped */
    size_t size;
    struct dp_core_part *parts; /* the memory that the file has */
    size_t n_parts, parts_cap;
    struct dp_regions regions;  /* the files that were mapped; memory that the core lacks is read
                                 * from them */
    struct dp_threads threads;
    pid_t pid;
    int opened;                 /* descriptor of the file of region `opened_at`; -1: none */
    size_t opened_at;
};

/* Opens a core file. Returns 0; DP_E_IO, DP_E_ARG (it is no core file, or one of another kind of
 * machine) or DP_E_NOMEM, with a message. Release it in any case. */
int dp_core_open(struct dp_core *core, const char *path, struct dp_err *err);
void dp_core_release(struct dp_core *core);

/* A dp_target_read_fn and a dp_region_open_fn; from is a struct dp_core. */
bool dp_core_read(void *from, const struct dp_target_part *parts, size_t n);
int dp_core_open_region(void *from, const struct dp_regions *regions,
                        const struct dp_region *region);

#endif
