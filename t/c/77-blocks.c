/* Sampled blocks: the table against an array of all addresses, and estimates against the truth. */
#include "tap.h"
#include "random.h"
#include "dp_blocks.h"
#include "dp_mem.h"

#include <math.h>
#include <stdlib.h>

enum { ADDRESSES = 3000, STEPS = 200000, OWNERS = 3 };

static struct dp_block model[ADDRESSES];

static uintptr_t address_of(size_t n) { return 0x5500000000u + 16 * n; }

static bool is_same(const struct dp_block *a, const struct dp_block *b)
{
    return a->at == b->at && a->site == b->site && a->owner == b->owner && a->bytes == b->bytes
           && a->blocks == b->blocks;
}

static size_t count_wrong(const struct dp_blocks *table)
{
    size_t wrong = 0, n = 0;
    for (size_t i = 0; i < ADDRESSES; i++) {
        const struct dp_block *found = dp_blocks_find(table, address_of(i));
        n += model[i].at != 0;
        wrong += model[i].at ? !found || !is_same(found, &model[i]) : found != NULL;
    }
    return wrong + (n != table->used);
}

static void table(void)
{
    static char owner[OWNERS];
    struct dp_blocks blocks = { NULL, 0, 0 };
    struct dp_block taken;
    size_t wrong = 0;
    ok(!dp_blocks_find(&blocks, 16) && !dp_blocks_take(&blocks, 16, &taken),
       "an empty table has no block");
    for (unsigned step = 0; step < STEPS; step++) {
        size_t i = rnd(step % 20000 < 10000 ? ADDRESSES : 200);
        if (model[i].at) {
            wrong += !dp_blocks_take(&blocks, address_of(i), &taken) || !is_same(&taken, &model[i]);
            model[i].at = 0;
        } else {
            model[i] = (struct dp_block){ address_of(i), rnd(1000), rnd(9), rnd(4) + 1,
                                          &owner[rnd(OWNERS)] };
            wrong += dp_blocks_add(&blocks, &model[i]) != 0;
        }
        if (step % 5000 == 0) {
            const uint32_t now[] = { 0, 2, 3, 4, 1 };
            dp_blocks_renumber(&blocks, &owner[1], now);
            dp_blocks_disown(&blocks, &owner[2]);
            for (size_t k = 0; k < ADDRESSES; k++) {
                if (model[k].owner == &owner[1])
                    model[k].site = now[model[k].site];
                if (model[k].owner == &owner[2])
                    model[k].at = 0;
            }
            wrong += count_wrong(&blocks);
        }
    }
    is_u(wrong, 0, "%d random steps: the table has what the model has", STEPS);
    dp_blocks_clear(&blocks);
    is_u(blocks.used, 0, "a cleared table is empty");
    dp_blocks_release(&blocks);
}

/* Allocates many blocks of some sizes, and compares the sums of what the noted ones stand for with
 * the truth, in standard deviations. */
static void estimates(uint64_t interval, unsigned least, unsigned most)
{
    struct dp_block_dice dice = { 88172645463325252u };
    double blocks = 0, bytes = 0, variance = 0, byte_variance = 0;
    double true_bytes = 0;
    int64_t left = dp_block_distance(&dice, interval);
    unsigned noted = 0;
    const unsigned n = 400000;
    for (unsigned i = 0; i < n; i++) {
        size_t size = least + rnd(most - least + 1);
        double p = interval <= 1 ? 1 : -expm1(-(double)size / (double)interval);
        true_bytes += (double)size;
        variance += (1 - p) / p + 0.25;         /* 0.25: at most, from the rounding */
        byte_variance += (double)size * (double)size * (1 - p) / p;
        left -= (int64_t)size;
        if (left > 0)
            continue;
        struct dp_block block = { 0, 0, 0, 0, NULL };
        dp_block_weigh(&block, &dice, size, interval);
        blocks += block.blocks;
        bytes += (double)block.bytes;
        noted++;
        left = dp_block_distance(&dice, interval);
    }
    double off = fabs(blocks - n) / sqrt(variance);
    double bytes_off = fabs(bytes - true_bytes) / sqrt(byte_variance + 1);
    ok(off < 3, "blocks of %u to %u bytes, one in %llu: %u noted, %.0f of %u, %.1f sigma", least,
       most, (unsigned long long)interval, noted, blocks, n, off);
    ok(bytes_off < 3, "... and %.0f of %.0f bytes, %.1f sigma", bytes, true_bytes, bytes_off);
}

int main(void)
{
    table();
    estimates(1, 1, 100);
    estimates(64, 1, 100);
    estimates(4096, 16, 64);
    estimates(4096, 1000, 9000);
    estimates(262144, 16, 100000);
    struct dp_block_dice dice = { 1 };
    struct dp_block all;
    dp_block_weigh(&all, &dice, 77, 1);
    ok(all.blocks == 1 && all.bytes == 77, "with an interval of 1, a block stands for itself");
#ifdef DP_MEM_TEST
    struct dp_blocks blocks = { NULL, 0, 0 };
    struct dp_block one = { 16, 1, 1, 1, NULL };
    dp_mem_fail_after(0);
    ok(dp_blocks_add(&blocks, &one) < 0 && blocks.used == 0, "memory is short: nothing is added");
    dp_mem_fail_after(-1);
    dp_blocks_release(&blocks);
    is_u((unsigned long long)dp_mem_live(), 0, "all memory is released");
#endif
    return tap_done();
}
