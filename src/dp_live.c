#ifndef _GNU_SOURCE
#  define _GNU_SOURCE   /* MAP_ANONYMOUS with -std=c99 */
#endif
#include "dp_live.h"
#include "dp_err.h"
#include "dp_mem.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

void dp_live_init(struct dp_live *live, struct dp_outfile *of, uint64_t room)
{
    memset(live, 0, sizeof *live);
    live->of = of;
    if (of)
        live->start = live->end = (of->size + room + DP_LIVE_ALIGN - 1) & ~(uint64_t)(DP_LIVE_ALIGN - 1);
}

void *dp_live_add(struct dp_live *live, enum dp_live_kind kind, size_t size)
{
    uint32_t number = 0;
    int why = errno;
    size = (size + sizeof(struct dp_live_head) + DP_LIVE_ALIGN - 1) & ~(size_t)(DP_LIVE_ALIGN - 1);
    if (dp_mem_grow((void **)&live->pieces, &live->cap, live->count + 1, sizeof *live->pieces) < 0)
        return NULL;
    void *ptr = MAP_FAILED;
    bool mapped = live->of && dp_outfile_extend(live->of, live->end, live->end + size) == 0;
    if (mapped)
        ptr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, live->of->fd, (off_t)live->end);
    if (ptr == MAP_FAILED) {
        mapped = false;
        ptr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    errno = why;
    if (ptr == MAP_FAILED)
        return NULL;
    for (size_t i = 0; i < live->count; i++) {
        const struct dp_live_head *other = live->pieces[i].ptr;
        number += other->kind == (uint32_t)kind;
    }
    struct dp_live_head *head = ptr;
    head->kind = (uint32_t)kind;
    head->number = number;
    head->size = size;
    head->magic = DP_LIVE_MAGIC;
    if (mapped)
        live->end += size;
    live->pieces[live->count++] = (struct dp_live_piece){ ptr, size, mapped };
    return head + 1;
}

void dp_live_release(struct dp_live *live)
{
    for (size_t i = 0; i < live->count; i++)
        munmap(live->pieces[i].ptr, live->pieces[i].size);
    dp_mem_free(live->pieces);
    memset(live, 0, sizeof *live);
}

void dp_live_detach(struct dp_live *live)
{
    for (size_t i = 0; i < live->count; i++) {
        struct dp_live_piece *p = &live->pieces[i];
        if (!p->mapped)
            continue;
        void *copy = dp_mem_alloc(p->size);
        if (!copy)
            continue;
        memcpy(copy, p->ptr, p->size);
        if (mmap(p->ptr, p->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
            != MAP_FAILED) {
            memcpy(p->ptr, copy, p->size);
            p->mapped = false;
        }
        dp_mem_free(copy);
    }
    live->of = NULL;
}

bool dp_live_is_mapped(const struct dp_live *live)
{
    for (size_t i = 0; i < live->count; i++)
        if (live->pieces[i].mapped)
            return true;
    return false;
}
