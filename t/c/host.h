/* Hosts for tests of what prints: one that counts the bytes, and one that takes none. */
#ifndef HOST_H
#define HOST_H

#include "dprof/profile.h"

static size_t printed;

static int count(void *ctx, const void *ptr, size_t n)
{
    (void)ctx, (void)ptr;
    printed += n;
    return 0;
}

static int refuse(void *ctx, const void *ptr, size_t n)
{
    (void)ctx, (void)ptr, (void)n;
    return -1;
}

static const struct dp_host counting = { .write = count }, refusing = { .write = refuse };

#endif
