/* Sampled allocations: which ones are noted, what each stands for, and the table of those that are
 * still in use.
 *
 * On average one byte in `interval` is sampled, and the blocks with a sampled byte are noted. The
 * distance to the next sampled byte is exponentially distributed, so a block of n bytes is noted
 * with the probability p = 1 - exp(-n / interval), whatever was allocated before, and stands for
 * 1 / p blocks of its size. These estimates are unbiased (as tcmalloc's and Go's heap profiles).
 *
 * Source: https://github.com/google/tcmalloc/blob/master/docs/sampling.md */
#ifndef DP_BLOCKS_H
#define DP_BLOCKS_H

#include "dp_base.h"

/* The random numbers of one thread. */
struct dp_block_dice {
    uint64_t state;             /* never 0 */
};

/* Returns the number of bytes from here to the next sampled byte, from 1 up. interval: the mean, in
 * bytes, at least 1. With an interval of 1, it is always 1: every block is noted. */
int64_t dp_block_distance(struct dp_block_dice *dice, uint64_t interval);

/* A block that is noted. */
struct dp_block {
    uintptr_t at;               /* the address; 0: none */
    uint64_t bytes;             /* bytes and ... */
    uint32_t blocks;            /* ... blocks that it stands for */
    uint32_t site;              /* the owner's number for the place of its allocation */
    void *owner;
};

/* Sets what a block of `size` bytes, at least 1, stands for. The number of blocks is rounded up or
 * down at random, so that sums are right. */
void dp_block_weigh(struct dp_block *block, struct dp_block_dice *dice, size_t size,
                    uint64_t interval);

/* The blocks in use, by address. All 0: empty. */
struct dp_blocks {
    struct dp_block *slots;
    size_t mask;                /* slots - 1 */
    size_t used;
};

/* Adds a block, whose address is not in the table. Returns 0 or DP_E_NOMEM. */
int dp_blocks_add(struct dp_blocks *blocks, const struct dp_block *block);

/* The block of an address, valid until the table changes; NULL: there is none. */
struct dp_block *dp_blocks_find(const struct dp_blocks *blocks, uintptr_t at);

/* Takes the block of an address out of the table into *block. Returns false if there is none. */
bool dp_blocks_take(struct dp_blocks *blocks, uintptr_t at, struct dp_block *block);

/* Gives the sites of an owner's blocks new numbers: now[n] for site n. */
void dp_blocks_renumber(struct dp_blocks *blocks, const void *owner, const uint32_t *now);

/* Removes all blocks of an owner. */
void dp_blocks_disown(struct dp_blocks *blocks, const void *owner);

/* Removes all blocks, and keeps the memory. */
void dp_blocks_clear(struct dp_blocks *blocks);
void dp_blocks_release(struct dp_blocks *blocks);

#endif
