#ifndef _GNU_SOURCE
#  define _GNU_SOURCE   /* MAP_ANONYMOUS with -std=c99 */
#endif
#include "dp_live.h"
#include "dp_err.h"
#include "dp_mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

void dp_live_init(struct dp_live *live, int fd, uint64_t from)
{
    memset(live, 0, sizeof *live);
    live->fd = fd;
    live->end = (from + DP_LIVE_ALIGN - 1) & ~(uint64_t)(DP_LIVE_ALIGN - 1);
}

/* The kernel raises SIGXFSZ past the limit, and SIGBUS on a page without a
 * block; so all blocks are there before the first byte is touched. */
static bool reserve(const struct dp_live *live, size_t size)
{
    struct rlimit rl;
    uint64_t end = live->end + size;
    if (live->fd < 0
        || (getrlimit(RLIMIT_FSIZE, &rl) == 0 && rl.rlim_cur != RLIM_INFINITY && end > rl.rlim_cur))
        return false;
    return posix_fallocate(live->fd, (off_t)live->end, (off_t)size) == 0;
}

void *dp_live_add(struct dp_live *live, enum dp_live_kind kind, size_t size)
{
    uint32_t number = 0;
    int why = errno;
    size = (size + sizeof(struct dp_live_head) + DP_LIVE_ALIGN - 1) & ~(size_t)(DP_LIVE_ALIGN - 1);
    if (dp_mem_grow((void **)&live->pieces, &live->cap, live->count + 1, sizeof *live->pieces) < 0)
        return NULL;
    void *ptr = MAP_FAILED;
    bool mapped = reserve(live, size);
    if (mapped)
        ptr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, live->fd, (off_t)live->end);
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
    live->fd = -1;
}

bool dp_live_is_mapped(const struct dp_live *live)
{
    for (size_t i = 0; i < live->count; i++)
        if (live->pieces[i].mapped)
            return true;
    return false;
}
