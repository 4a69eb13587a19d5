/* perl's calls of the allocator: the bytes that perl has taken and not given back, and a sample of
 * the blocks. No allocator reports the bytes cheaply, so the calls are counted: the entries of
 * malloc, calloc, realloc and free in the table that perl's own calls go through (its global offset
 * table) are replaced. Calls of C libraries among themselves are not seen. */
#ifndef DPX_HEAP_H
#define DPX_HEAP_H

#include "dp_base.h"
#include "dp_buf.h"

struct dpx_ctx;

/* For each hash of an address, how many noted blocks have it, up to 255: then it stays so. The test
 * before a block is freed is one load and one branch. */
enum { DPX_HEAP_HINTS = 1 << 16 };
extern uint8_t dpx_heap_hint[DPX_HEAP_HINTS];

DP_INLINE uint8_t *dpx_heap_hint_of(const void *at)
{
    uintptr_t a = (uintptr_t)at >> 4;
    return &dpx_heap_hint[(a ^ a >> 16) % DPX_HEAP_HINTS];
}

/* What notes blocks (dpx_blocks.c). */
struct dpx_heap_sampler {
    /* The recording that a sampled allocation of this thread belongs to; NULL: none. Called before
     * the allocation: perl may be about to move its own lists. */
    struct dpx_ctx *(*owner)(void);
    /* A sampled byte of this thread is in this new block, or no byte was sampled yet. Notes the
     * block for what owner runs. at: NULL if there is no memory. Returns the bytes from the end of
     * the block to the next sampled byte. */
    int64_t (*allocated)(struct dpx_ctx *owner, void *at, size_t size);
    /* A block with a hint is freed, or moves. */
    void (*freed)(void *at);
};

/* Sets that; it is the same for the whole process. */
void dpx_heap_sample(const struct dpx_heap_sampler *sampler);

/* Begins, in all threads, to count bytes, or to note blocks (dpx_heap_sample), or both; does
 * nothing if it has begun. Returns NULL, or why that is impossible. */
enum { DPX_HEAP_COUNTS = 1, DPX_HEAP_SAMPLES = 2 };
const char *dpx_heap_watch(int what);

/* Could counting begin? Returns what dpx_heap_watch would, and changes nothing. */
const char *dpx_heap_refusal(void);

/* Ends counting and noting: puts the functions from before dpx_heap_watch back. An entry that
 * cannot be written keeps ours, which go on to count. */
void dpx_heap_unwatch(void);

/* Returns the bytes taken less the bytes given back by this thread since the beginning. It may be
 * negative: a thread gives back what another one took. */
int64_t dpx_heap_in_use(void);

/* Appends the names of the loaded libraries whose own allocations are not counted, with blanks
 * between them, in at most `most` bytes; `...` stands for those that do not fit. XS modules, perl
 * and the C library are left out. */
void dpx_heap_outside(struct dp_buf *to, size_t most);

#endif
