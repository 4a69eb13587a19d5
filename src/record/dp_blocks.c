#include "dp_blocks.h"
#include "dp_err.h"
#include "dp_map.h"
#include "dp_mem.h"

#include <math.h>
#include <string.h>

enum { FIRST_SLOTS = 64 };

/* ---- the dice ---- */

/* A random number above 0, at most 1 (Vigna's xorshift64*). */
static double roll(struct dp_block_dice *dice)
{
    uint64_t x = dice->state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    dice->state = x;
    return ((double)((x * UINT64_C(2685821657736338717)) >> 11) + 1) / 9007199254740992.0;
}

int64_t dp_block_distance(struct dp_block_dice *dice, uint64_t interval)
{
    if (interval <= 1)
        return 1;
    return 1 + (int64_t)(-log(roll(dice)) * (double)interval);
}

void dp_block_weigh(struct dp_block *block, struct dp_block_dice *dice, size_t size,
                    uint64_t interval)
{
    double p = interval <= 1 ? 1 : -expm1(-(double)size / (double)interval);
    block->bytes = (uint64_t)((double)size / p + 0.5);
    block->blocks = (uint32_t)(1 / p + (p < 1 ? roll(dice) : 0));
}

/* ---- the table: open addressing, and a hole is filled with the blocks behind it ---- */

static size_t home_of(const struct dp_blocks *b, uintptr_t at)
{
    return (size_t)dp_map_hash(at) & b->mask;
}

/* The slot of an address, or the free one for it. */
static size_t find_slot(const struct dp_blocks *b, uintptr_t at)
{
    size_t i = home_of(b, at);
    while (b->slots[i].at && b->slots[i].at != at)
        i = (i + 1) & b->mask;
    return i;
}

/* Doubles the number of slots. Returns 0 or DP_E_NOMEM. */
static int grow(struct dp_blocks *b)
{
    size_t n = b->slots ? 2 * (b->mask + 1) : FIRST_SLOTS;
    struct dp_blocks larger = { dp_mem_zalloc(n * sizeof *b->slots), n - 1, b->used };
    if (!larger.slots)
        return DP_E_NOMEM;
    for (size_t i = 0; b->slots && i <= b->mask; i++)
        if (b->slots[i].at)
            larger.slots[find_slot(&larger, b->slots[i].at)] = b->slots[i];
    dp_mem_free(b->slots);
    *b = larger;
    return 0;
}

int dp_blocks_add(struct dp_blocks *b, const struct dp_block *block)
{
    if ((!b->slots || 4 * (b->used + 1) > 3 * (b->mask + 1)) && grow(b) < 0)
        return DP_E_NOMEM;
    b->slots[find_slot(b, block->at)] = *block;
    b->used++;
    return 0;
}

/* Empties a slot, and moves the blocks behind it that would not be found any more. */
static void empty_slot(struct dp_blocks *b, size_t hole)
{
    for (size_t i = (hole + 1) & b->mask; b->slots[i].at; i = (i + 1) & b->mask) {
        size_t home = home_of(b, b->slots[i].at);
        if (((i - home) & b->mask) >= ((i - hole) & b->mask)) {
            b->slots[hole] = b->slots[i];
            hole = i;
        }
    }
    b->slots[hole].at = 0;
    b->used--;
}

struct dp_block *dp_blocks_find(const struct dp_blocks *b, uintptr_t at)
{
    size_t i = b->slots && at ? find_slot(b, at) : 0;
    return b->slots && at && b->slots[i].at ? &b->slots[i] : NULL;
}

bool dp_blocks_take(struct dp_blocks *b, uintptr_t at, struct dp_block *block)
{
    const struct dp_block *found = dp_blocks_find(b, at);
    if (!found)
        return false;
    *block = *found;
    empty_slot(b, (size_t)(found - b->slots));
    return true;
}

void dp_blocks_renumber(struct dp_blocks *b, const void *owner, const uint32_t *now)
{
    for (size_t i = 0; b->slots && i <= b->mask; i++)
        if (b->slots[i].at && b->slots[i].owner == owner)
            b->slots[i].site = now[b->slots[i].site];
}

void dp_blocks_disown(struct dp_blocks *b, const void *owner)
{
    for (size_t i = 0; b->slots && i <= b->mask;) {
        if (b->slots[i].at && b->slots[i].owner == owner)
            empty_slot(b, i);   /* another block may be in the slot now */
        else
            i++;
    }
}

void dp_blocks_clear(struct dp_blocks *b)
{
    if (b->slots)
        memset(b->slots, 0, (b->mask + 1) * sizeof *b->slots);
    b->used = 0;
}

void dp_blocks_release(struct dp_blocks *b)
{
    dp_mem_free(b->slots);
    memset(b, 0, sizeof *b);
}
