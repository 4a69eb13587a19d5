#include "dp_live.h"
#include "dp_dir.h"
#include "dp_err.h"
#include "dp_io.h"
#include "dp_mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

DP_CHECK(head, sizeof(struct dp_live_head) == DP_PIECE_HEAD
                   && offsetof(struct dp_live_head, magic) == 0
                   && offsetof(struct dp_live_head, kind) == 8
                   && offsetof(struct dp_live_head, size) == 16);

/* Mappings begin at multiples of the system's page; readers go in steps of DP_PIECE_ALIGN. */
static size_t page_size(size_t given)
{
    long page = given ? (long)given : sysconf(_SC_PAGESIZE);
    return page > DP_PIECE_ALIGN ? (size_t)page : DP_PIECE_ALIGN;
}

void dp_live_init(struct dp_live *live, const char *profile, size_t page)
{
    memset(live, 0, sizeof *live);
    live->page = page_size(page);
    size_t len = profile ? strlen(profile) : 0;
    live->path = profile ? dp_mem_alloc(len + sizeof DP_FMT_LIVE) : NULL;
    if (live->path) {
        memcpy(live->path, profile, len);
        memcpy(live->path + len, DP_FMT_LIVE, sizeof DP_FMT_LIVE);
    }
}

/* Gives up the file: pieces are ordinary memory from now on. */
static void no_file(struct dp_live *live)
{
    dp_mem_free(live->path);
    live->path = NULL;
}

bool dp_live_is_open(int fd)
{
    uint64_t magic = 0;
    ssize_t n = pread(fd, &magic, sizeof magic, 0);
    return n == 0 || (n == (ssize_t)sizeof magic
                      && (magic == 0 || magic >> 8 == DP_LIVE_MAGIC >> 8));
}

bool dp_live_is(const char *path)
{
    struct stat st;
    int fd = dp_io_open_regular(path, DP_IO_NOFOLLOW, &st);
    if (fd < 0)
        return false;
    bool is = dp_live_is_open(fd);
    close(fd);
    return is;
}

/* Opens the file of pieces, below a directory that others may not exchange if the profile is in
 * one. Returns the descriptor, or -1. */
static int make_file(const struct dp_live *live, int flags)
{
    const char *name;
    if (!live->unnamed_dir)
        return open(live->path, flags, 0600);
    int dir = dp_dir_of(live->path, DP_DIR_UNNAMED, &name, NULL);
    int fd = dir < 0 ? -1 : openat(dir, name, flags, 0600);
    if (dir >= 0)
        close(dir);
    return fd;
}

/* Opens the file for a moment. It is not kept open, because the program may close all descriptors.
 * Returns the descriptor; -1: there is none, and from now on no file. */
static int open_file(struct dp_live *live)
{
    struct stat st;
    int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY;
    if (!live->path)
        return -1;
    if (!live->end) {
        if (dp_live_is(live->path))     /* left by a process that was killed */
            unlink(live->path);
        flags |= O_CREAT | O_EXCL;
    }
    int fd = make_file(live, flags);
    if (fd >= 0 && fstat(fd, &st) == 0) {
        if (!live->end) {
            live->dev = st.st_dev;
            live->ino = st.st_ino;
        }
        if (st.st_dev == live->dev && st.st_ino == live->ino && (uint64_t)st.st_size == live->end)
            return fd;
    }
    if (fd >= 0)
        close(fd);
    no_file(live);
    return -1;
}

/* Appends size bytes to the file and maps them; returns MAP_FAILED if that is impossible. The
 * disk's blocks are reserved before the first byte is touched: the kernel raises SIGBUS on a page
 * that has no blocks, and SIGXFSZ past the limit on file sizes. */
static void *map_more(struct dp_live *live, size_t size)
{
    struct rlimit rl;
    void *ptr = MAP_FAILED;
    if (!live->path || (getrlimit(RLIMIT_FSIZE, &rl) == 0 && rl.rlim_cur != RLIM_INFINITY
                        && live->end + size > rl.rlim_cur))
        return ptr;
    int fd = open_file(live);
    if (fd < 0)
        return ptr;
    if (posix_fallocate(fd, (off_t)live->end, (off_t)size) == 0)
        ptr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)live->end);
    if (ptr != MAP_FAILED)
        live->end += size;
    else if (!live->end)
        unlink(live->path);
    close(fd);
    if (ptr == MAP_FAILED && live->end)
        dp_live_remove(live);       /* half of a tree is of no use */
    else if (ptr == MAP_FAILED)
        no_file(live);
    return ptr;
}

void *dp_live_add(struct dp_live *live, enum dp_live_kind kind, size_t size)
{
    uint32_t number = 0;
    int why = errno;
    size = (size + sizeof(struct dp_live_head) + live->page - 1) & ~(live->page - 1);
    if (dp_mem_grow((void **)&live->pieces, &live->cap, live->count + 1, sizeof *live->pieces) < 0)
        return NULL;
    void *ptr = map_more(live, size);
    bool mapped = ptr != MAP_FAILED;
    if (!mapped)
        ptr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = why;
    if (ptr == MAP_FAILED)
        return NULL;
    for (size_t i = 0; i < live->count; i++) {
        const struct dp_live_head *other = live->pieces[i].ptr;
        number += other->kind == (uint32_t)kind;
    }
    live->pieces[live->count++] = (struct dp_live_piece){ ptr, size, mapped };
    struct dp_live_head *head = ptr;
    head->kind = (uint32_t)kind;
    head->number = number;
    head->size = size;
    *(volatile uint64_t *)&head->magic = DP_LIVE_MAGIC;     /* written last, so that a reader that
                                                             * sees the magic finds everything
                                                             * else */
    return head + 1;
}

/* Replaces a piece of the file by empty memory at the same address. Returns false if the kernel
 * gives no memory. */
static bool clear_piece(struct dp_live_piece *p)
{
    return mmap(p->ptr, p->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                -1, 0)
           != MAP_FAILED;
}

bool dp_live_lose(struct dp_live *live, const void *at)
{
    bool found = false;
    for (size_t i = 0; i < live->count && !found; i++) {
        const struct dp_live_piece *p = &live->pieces[i];
        found = p->mapped && (uintptr_t)at - (uintptr_t)p->ptr < p->size;
    }
    /* All pieces are cleared, because a part of a tree is of no use. */
    for (size_t i = 0; i < live->count && found; i++) {
        struct dp_live_piece *p = &live->pieces[i];
        found = !p->mapped || clear_piece(p);
        p->mapped &= !found;
    }
    live->lost |= found;
    return found;
}

void dp_live_release(struct dp_live *live)
{
    for (size_t i = 0; i < live->count; i++)
        munmap(live->pieces[i].ptr, live->pieces[i].size);
    dp_mem_free(live->pieces);
    dp_mem_free(live->path);
    memset(live, 0, sizeof *live);
}

/* Turns mapped pieces into ordinary memory, in the same place. Returns how many are still mapped
 * because memory is short. */
static size_t unmap_pieces(struct dp_live *live)
{
    size_t left = 0;
    for (size_t i = 0; i < live->count; i++) {
        struct dp_live_piece *p = &live->pieces[i];
        if (!p->mapped)
            continue;
        void *copy = dp_mem_alloc(p->size);
        if (copy)
            memcpy(copy, p->ptr, p->size);
        if (copy && clear_piece(p)) {
            memcpy(p->ptr, copy, p->size);
            p->mapped = false;
        } else {
            left++;
        }
        dp_mem_free(copy);
    }
    return left;
}

/* Empties a file that cannot be removed because we may no longer write to its directory. Readers
 * ignore an empty file, and it takes no disk space. */
static void cut_file(struct dp_live *live)
{
    int fd = open_file(live);
    if (fd < 0)
        return;
    /* Touching a mapped page that was cut off kills the process, so no page may stay mapped. */
    if (unmap_pieces(live) == 0 && ftruncate(fd, 0) < 0) {
        /* then the file keeps its size */
    }
    close(fd);
}

void dp_live_remove(struct dp_live *live)
{
    struct stat st;
    if (live->path && live->end && lstat(live->path, &st) == 0
        && st.st_dev == live->dev && st.st_ino == live->ino && unlink(live->path) < 0)
        cut_file(live);
    no_file(live);
}

/* Appends a piece to the file, and maps it in the place where it stands. The magic of the first
 * piece is left out: readers ignore the file until the magic is there. Returns false if the disk is
 * full, or the piece cannot be mapped. */
static bool map_again(struct dp_live *live, struct dp_live_piece *p, int fd)
{
    const size_t hide = live->end ? 0 : sizeof(uint64_t);
    struct rlimit rl;
    uint64_t end = live->end + p->size;
    if ((getrlimit(RLIMIT_FSIZE, &rl) == 0 && rl.rlim_cur != RLIM_INFINITY && end > rl.rlim_cur)
        || posix_fallocate(fd, (off_t)live->end, (off_t)p->size) != 0)
        return false;
    for (size_t at = hide; at < p->size;) {
        ssize_t n = pwrite(fd, (char *)p->ptr + at, p->size - at, (off_t)(live->end + at));
        if (n <= 0 && errno != EINTR)
            return false;
        at += n > 0 ? (size_t)n : 0;
    }
    if (mmap(p->ptr, p->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)live->end)
        == MAP_FAILED)
        return false;
    p->mapped = true;
    live->end = end;
    return true;
}

void dp_live_restore(struct dp_live *live, const char *profile)
{
    struct dp_live again;
    dp_live_init(&again, profile, live->page);
    again.unnamed_dir = live->unnamed_dir;
    int fd = live->count ? open_file(&again) : -1;
    size_t n = 0;
    while (fd >= 0 && n < live->count && map_again(&again, &live->pieces[n], fd))
        n++;
    if (n)
        *(volatile uint64_t *)&((struct dp_live_head *)live->pieces[0].ptr)->magic = DP_LIVE_MAGIC;
    if (fd >= 0)
        close(fd);
    if (fd < 0 || n < live->count) {
        if (fd >= 0)
            unlink(again.path);
        no_file(&again);
    }
    live->path = again.path;
    live->dev = again.dev;
    live->ino = again.ino;
    live->end = again.end;
}

void dp_live_move(struct dp_live *live, const char *profile)
{
    /* Readers must ignore the old file, which may have another name by now. */
    if (live->count && live->pieces[0].mapped)
        *(volatile uint64_t *)&((struct dp_live_head *)live->pieces[0].ptr)->magic = 0;
    dp_live_remove(live);
    dp_live_restore(live, profile);
}

bool dp_live_detach(struct dp_live *live)
{
    size_t mapped = 0;
    for (size_t i = 0; i < live->count; i++)
        mapped += live->pieces[i].mapped;
    dp_live_remove(live);
    return unmap_pieces(live) < mapped;
}
