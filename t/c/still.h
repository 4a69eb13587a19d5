/* A machine whose clocks stand still while they are read, and a writer's sink. */
#ifndef STILL_H
#define STILL_H

#include "dp_rec.h"

static uint64_t now, ops;
static uint64_t stamp(void *m) { (void)m; return now; }
static void pair(void *m, uint64_t *s, uint64_t *ns) { (void)m; *s = *ns = now; }
static void split(void *m, uint64_t *user, uint64_t *sys)
{
    (void)m;
    *user = now / 1000;
    *sys = 0;
}
static int sink(void *m, const char *ptr, size_t len)
{
    (void)m;
    (void)ptr;
    (void)len;
    return 0;
}

static const struct dp_rec_host still = { 1, NULL, stamp, stamp, pair, split };

#endif
