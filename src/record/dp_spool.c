#include "dp_spool.h"
#include "dp_char.h"
#include "dp_fmt.h"
#include "dp_io.h"
#include "dp_live.h"
#include "dp_mem.h"
#include "dp_pool.h"
#include "dp_rotate.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int dp_spool_make(const char *dir, enum dp_dir_who who, struct dp_err *err)
{
    struct stat st;
    struct dp_err why;
    if (mkdir(dir, 0777) == 0)
        return 0;
    if (errno != EEXIST)
        return dp_err_set(err, DP_E_IO, "cannot make the directory %s: %s", dir, strerror(errno));
    dp_err_init(&why);
    if (who == DP_DIR_NAMED && stat(dir, &st) == 0 && S_ISDIR(st.st_mode))
        return 0;
    int fd = who == DP_DIR_NAMED ? DP_E_ARG : dp_dir_open(dir, who, &why);
    if (fd < 0)
        return dp_err_set(err, DP_E_ARG, "%s %s; name another one with spool=DIR or"
                          " PERL_DPROF_SPOOL", dir, why.code ? why.message : "is no directory");
    close(fd);
    return 0;
}

/* The length of a name without a suffix such as .pl or .cgi, which says nothing. */
static size_t without_suffix(const char *name)
{
    const char *dot = strrchr(name, '.');
    size_t len = dot ? strlen(dot + 1) : 0;
    return dot && dot > name && len >= 1 && len <= 3 ? (size_t)(dot - name) : strlen(name);
}

static bool is_plain(char c) { return dp_is_word(c) || c == '.'; }

void dp_spool_name(struct dp_buf *to, const char *program)
{
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
    size_t len = without_suffix(name);
    if (len > DP_SPOOL_NAME)
        len = DP_SPOOL_NAME;
    if (len == 0)
        dp_buf_adds(to, "perl");
    for (size_t i = 0; i < len; i++)
        dp_buf_addc(to, is_plain(name[i]) && (i || name[i] != '.') ? name[i] : '_');
}

int dp_spool_finish(const char *part, enum dp_dir_who who)
{
    const char *name;
    int dir = dp_dir_of(part, who, &name, NULL);
    size_t stem = strlen(name) - (sizeof DP_SPOOL_PART - 1);
    char *whole = dir < 0 ? NULL : dp_mem_alloc(stem + sizeof DP_SPOOL_WHOLE);
    int rc = DP_E_IO;
    if (whole) {
        memcpy(whole, name, stem);
        memcpy(whole + stem, DP_SPOOL_WHOLE, sizeof DP_SPOOL_WHOLE);
        rc = dp_dir_rename(dir, name, dir, whole, NULL);
    } else if (dir >= 0) {
        errno = ENOMEM;
    }
    int why = errno;
    dp_mem_free(whole);
    if (dir >= 0)
        close(dir);
    errno = why;
    return rc < 0 ? DP_E_IO : 0;
}

static bool ends_in(const char *name, const char *suffix)
{
    size_t n = strlen(name), s = strlen(suffix);
    return n > s && strcmp(name + n - s, suffix) == 0;
}

/* Opens and locks a profile that no process writes; below 0 if name is none. */
static int open_left(int dir, const char *name)
{
    char run[DP_RUN_ID];
    struct stat st;
    int fd = dp_dir_read(dir, name, NULL, 0, &st, NULL);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && dp_rotate_run(fd, run))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* ---- files that a killed cut leaves ---- */

/* Returns `name` with `more` in the place of its suffix; "" if it has another suffix, or memory is
 * short. */
static const char *replace_suffix(struct dp_buf *to, const char *name, const char *suffix,
                                  const char *more)
{
    if (!ends_in(name, suffix))
        return "";
    dp_buf_add(to, name, strlen(name) - strlen(suffix));
    dp_buf_adds(to, more);
    return dp_buf_cstr(to);
}

/* A cut gives NAME.part its final name, and then removes NAME.part.live. Until then its process
 * locks NAME.tree, as it has locked NAME.part. Returns a descriptor that locks NAME.tree if the
 * process is gone in between; else -1. */
static int open_finished(int dir, const char *live)
{
    struct stat st;
    struct dp_buf part, whole;
    int fd = -1;
    dp_buf_init(&part);
    dp_buf_init(&whole);
    const char *before = replace_suffix(&part, live, DP_FMT_LIVE, "");
    const char *after = replace_suffix(&whole, live, DP_SPOOL_PART DP_FMT_LIVE, DP_SPOOL_WHOLE);
    if (*before && *after && fstatat(dir, before, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
        fd = open_left(dir, after);
    dp_buf_release(&part);
    dp_buf_release(&whole);
    return fd;
}

/* Removes a NAME.part.live that such a process left. Returns true if name was one, and is gone. */
static bool clear_away(int dir, const char *name)
{
    struct stat st;
    int fd = ends_in(name, DP_SPOOL_PART DP_FMT_LIVE) ? open_finished(dir, name) : -1;
    if (fd < 0)
        return false;
    int live = dp_dir_read(dir, name, NULL, 0, &st, NULL);
    bool gone = live >= 0 && dp_live_is_open(live)
        && dp_dir_remove(dir, name, st.st_dev, st.st_ino, NULL) == 0;
    if (live >= 0)
        close(live);
    close(fd);
    return gone;
}

/* ---- the limit ---- */

struct slice {
    struct timespec at;
    uint64_t size;
    uint32_t name;              /* in the pool */
};

struct slices {
    struct slice *list;
    size_t n, cap;
    struct dp_pool names;
    uint64_t size;              /* of all files of this user in the directory */
};

/* Counts the disk space of a regular file of our own, and lists the file if it is a slice. */
static void add_file(struct slices *all, int dir, const char *name)
{
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode)
        || st.st_uid != geteuid())
        return;
    uint64_t size = (uint64_t)st.st_blocks * 512;
    all->size += size;
    if ((!ends_in(name, DP_SPOOL_WHOLE) && !ends_in(name, DP_SPOOL_PART))
        || dp_mem_grow((void **)&all->list, &all->cap, all->n + 1, sizeof *all->list) < 0)
        return;
    uint32_t n = dp_pool_intern(&all->names, name, strlen(name));
    if (n != DP_MAP_NONE)
        all->list[all->n++] = (struct slice){ .at = st.st_mtim, .size = size, .name = n };
}

/* Compares slices by the time of their last change, the oldest first. */
static int compare_age(const void *a, const void *b)
{
    const struct slice *x = a, *y = b;
    if (x->at.tv_sec != y->at.tv_sec)
        return x->at.tv_sec < y->at.tv_sec ? -1 : 1;
    if (x->at.tv_nsec != y->at.tv_nsec)
        return x->at.tv_nsec < y->at.tv_nsec ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

/* Removes a slice. Returns how many bytes that has freed. A slice that another process has removed
 * meanwhile counts, too: else each of several processes that trim at once would remove one more. */
static uint64_t drop_slice(const struct slices *all, const struct slice *slice, int dir,
                           size_t *removed)
{
    struct stat st;
    const struct dp_name *name = dp_pool_name(&all->names, slice->name);
    size_t size = name->len + sizeof DP_FMT_LIVE;
    char *path = dp_mem_alloc(size), *live = dp_mem_alloc(size);
    uint64_t freed = 0;
    if (path && live) {
        snprintf(path, size, "%.*s", (int)name->len, name->ptr);
        snprintf(live, size, "%s%s", path, DP_FMT_LIVE);
        int fd = open_left(dir, path);
        if (fd < 0 && fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
            freed = slice->size;
        if (fd >= 0 && unlinkat(dir, path, 0) == 0) {
            ++*removed;
            freed = slice->size;
            if (ends_in(path, DP_SPOOL_PART) && fstatat(dir, live, &st, AT_SYMLINK_NOFOLLOW) == 0
                && unlinkat(dir, live, 0) == 0)
                freed += (uint64_t)st.st_blocks * 512;
        }
        if (fd >= 0)
            close(fd);
    }
    dp_mem_free(path);
    dp_mem_free(live);
    return freed;
}

/* Removes the oldest slices until the files take no more than the limit. Returns how many it has
 * removed. */
static size_t drop_oldest(struct slices *all, int dir, uint64_t limit)
{
    size_t removed = 0;
    if (all->size <= limit)
        return 0;
    qsort(all->list, all->n, sizeof *all->list, compare_age);
    for (size_t i = 0; i < all->n && all->size > limit; i++) {
        uint64_t freed = drop_slice(all, &all->list[i], dir, &removed);
        all->size -= freed < all->size ? freed : all->size;
    }
    return removed;
}

size_t dp_spool_trim(const char *path, enum dp_dir_who who, uint64_t limit)
{
    struct slices all;
    struct dirent *entry;
    int fd = limit ? dp_dir_open(path, who, NULL) : -1;
    DIR *dir = fd < 0 ? NULL : dp_dir_list(fd);
    if (fd >= 0)
        close(fd);
    if (!dir)
        return 0;
    memset(&all, 0, sizeof all);
    dp_pool_init(&all.names);
    while ((entry = readdir(dir)) != NULL)
        if (!clear_away(dirfd(dir), entry->d_name))
            add_file(&all, dirfd(dir), entry->d_name);
    size_t removed = drop_oldest(&all, dirfd(dir), limit);
    dp_pool_release(&all.names);
    dp_mem_free(all.list);
    closedir(dir);
    return removed;
}
