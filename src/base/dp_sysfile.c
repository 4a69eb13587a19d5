#include "dp_sysfile.h"
#include "dp_err.h"
#include "dp_mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 1024 };

/* Writes root, a slash and the formatted rest into path. Returns false if it does not fit. */
static bool join_path(char path[PATH], const char *root, const char *fmt, va_list ap)
{
    int n = snprintf(path, PATH, "%s/", root);
    if (n < 0 || n >= PATH)
        return false;
    int m = vsnprintf(path + n, (size_t)(PATH - n), fmt, ap);
    return m >= 0 && m < PATH - n;
}

/* Reads as much as fits. Files in /proc and /sys may come in pieces. Returns the number of bytes,
 * or -1. */
static long read_up_to(int fd, char *to, size_t room)
{
    size_t len = 0;
    while (len < room) {
        ssize_t n = read(fd, to + len, room - len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        len += (size_t)n;
    }
    return (long)len;
}

long dp_sysfile_read(char *to, size_t size, const char *root, const char *fmt, ...)
{
    char path[PATH];
    va_list ap;
    va_start(ap, fmt);
    bool fits = join_path(path, root, fmt, ap);
    va_end(ap);
    to[0] = '\0';
    /* a named pipe at this place must not block */
    int fd = fits ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd < 0)
        return -1;
    long n = read_up_to(fd, to, size - 1);
    close(fd);
    while (n > 0 && strchr(" \t\r\n", to[n - 1]))
        n--;
    to[n < 0 ? 0 : n] = '\0';
    return n;
}

bool dp_sysfile_is(const char *root, const char *fmt, ...)
{
    char path[PATH];
    va_list ap;
    va_start(ap, fmt);
    bool fits = join_path(path, root, fmt, ap);
    va_end(ap);
    return fits && access(path, F_OK) == 0;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Appends a copy of a name to the list. Returns 0 or DP_E_NOMEM. */
static int add_name(struct dp_sysfile_names *names, struct dp_pool *pool, const char *name)
{
    size_t size = strlen(name) + 1;
    char *copy = dp_pool_alloc(pool, size);
    if (!copy
        || dp_mem_grow((void **)&names->ptr, &names->cap, names->count + 1, sizeof *names->ptr) < 0)
        return DP_E_NOMEM;
    memcpy(copy, name, size);
    names->ptr[names->count++] = copy;
    return 0;
}

int dp_sysfile_list(struct dp_sysfile_names *names, struct dp_pool *pool, const char *root,
                    const char *fmt, ...)
{
    char path[PATH];
    va_list ap;
    memset(names, 0, sizeof *names);
    va_start(ap, fmt);
    bool fits = join_path(path, root, fmt, ap);
    va_end(ap);
    DIR *dir = fits ? opendir(path) : NULL;
    if (!dir)
        return 0;
    int rc = 0;
    for (const struct dirent *e; rc == 0 && (e = readdir(dir));)
        if (e->d_name[0] != '.')
            rc = add_name(names, pool, e->d_name);
    closedir(dir);
    if (names->count)
        qsort(names->ptr, names->count, sizeof *names->ptr, by_bytes);
    return rc;
}

void dp_sysfile_release(struct dp_sysfile_names *names)
{
    dp_mem_free(names->ptr);
    memset(names, 0, sizeof *names);
}
