/* Random numbers for tests, the same ones in each run. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

static uint64_t random_state = 1;

/* A number below n. */
static inline unsigned rnd(unsigned n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((random_state >> 33) % n);
}

#endif
