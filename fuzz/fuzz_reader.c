/* Any bytes into every view; nothing may crash, leak or go out of bounds, and the
 * sums must hold. Shared by the fuzzer, the mutator and the replay. */
#include "dp_flat.h"
#include "dp_mem.h"
#include "dp_prof.h"
#include "dp_select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int swallow(void *ctx, const void *ptr, size_t len)
{
    (void)ctx;
    (void)ptr;
    (void)len;
    return 0;
}

#define CHECK(cond) do { if (!(cond)) { fprintf(stderr, "not so: %s\n", #cond); abort(); } } while (0)

static void look_at(const struct dp_prof *prof, const struct dp_host *host, int time)
{
    struct dp_classic how;
    memset(&how, 0, sizeof how);
    how.only = -1;
    how.rows = 1000000;
    how.time = time;
    how.program = 1;
    how.width = 80;
    struct dp_names *names = dp_names_new(prof, time & 3);
    struct dp_flat flat;
    CHECK(names && dp_flat_make(&flat, prof, names, &how) == 0);
    uint64_t sum = 0;
    for (size_t i = 0; i < flat.count; i++) {
        CHECK(flat.rows[i].incl >= flat.rows[i].self);
        CHECK(flat.rows[i].incl <= flat.total);
        sum += flat.rows[i].self;
    }
    CHECK(sum == flat.total && sum == dp_prof_total(prof, time));
    dp_flat_release(&flat);
    CHECK(dp_classic_flat(prof, names, &how, host) == 0);
    CHECK(dp_classic_merged(prof, names, &how, host) == 0);
    dp_names_free(names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dp_host host = { NULL, swallow, NULL };
    for (unsigned force = 0; force < 2; force++) {
        struct dp_prof *prof = dp_prof_new();
        dp_prof_add_mem(prof, "fuzz", data, size, force);
        dp_prof_add_mem(prof, "again", data, size, force);
        for (int time = 0; time < 4; time++)
            look_at(prof, &host, time);
        dp_prof_free(prof);
        struct dp_trace_how how = { (int)force, 3, force, "main::foo", 9 };
        struct dp_trace *trace = dp_trace_new(&how, &host);
        dp_trace_add_mem(trace, "fuzz", data, size);
        dp_trace_free(trace);
    }
    CHECK(dp_mem_live() == 0);
    return 0;
}
