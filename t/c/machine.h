/* A machine whose program waits and computes as the test says, for tests of the recorder; reading
 * one of its clocks takes time. */
#ifndef MACHINE_H
#define MACHINE_H

#include "dp_buf.h"
#include "dp_rec.h"

#include <stddef.h>
#include <stdint.h>

#define RATE 2.6                /* stamps per ns */

struct machine {
    double ns;                  /* since the start */
    double cpu;                 /* of these, computed */
};

static uint64_t stamp(void *m) { return 1000 + (uint64_t)(((struct machine *)m)->ns * RATE); }

/* A system call of 300 ns, which returns the value at its end. */
static uint64_t cpu_ns(void *arg)
{
    struct machine *m = arg;
    m->ns += 300;
    m->cpu += 300;
    return (uint64_t)m->cpu;
}

static void pair(void *arg, uint64_t *s, uint64_t *mono)
{
    struct machine *m = arg;
    m->ns += 30;
    m->cpu += 30;
    *s = stamp(m);
    *mono = 5000 + (uint64_t)m->ns;
}

static void split(void *arg, uint64_t *user, uint64_t *sys)
{
    struct machine *m = arg;
    *user = (uint64_t)(m->cpu * 0.75 / 1000);
    *sys = (uint64_t)(m->cpu * 0.25 / 1000);
}

static int sink(void *buf, const char *ptr, size_t len)
{
    dp_buf_add(buf, ptr, len);
    return 0;
}

static const struct dp_rec_host machine = { 0, NULL, stamp, cpu_ns, pair, split };

#endif
