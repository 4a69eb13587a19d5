#include "dp_rotate.h"
#include "dp_fmt.h"
#include "dp_gzip.h"
#include "dp_io.h"
#include "dp_live.h"
#include "dp_mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads up to size - 1 bytes of a profile's beginning, in front of any packed text, into head, and
 * terminates them. Returns where the text begins, or NULL if the file is no profile. empty: whether
 * the file has no byte. */
static const char *header_of(int fd, char *head, size_t size, bool *empty)
{
    static const char magic[] = DP_FMT_MAGIC "\n";
    ssize_t n = pread(fd, head, size - 1, 0);
    size_t len = n < 0 ? 0 : (size_t)n;
    const char *text = dp_gzip_stored(head, len, &len);
    *empty = n == 0;
    if (!text)
        text = head;
    if (len < sizeof magic - 1 || memcmp(text, magic, sizeof magic - 1) != 0)
        return NULL;
    head[text - head + (ptrdiff_t)len] = '\0';
    return text;
}

bool dp_rotate_is_ours(int fd)
{
    char head[DP_GZIP_HEAD + sizeof DP_FMT_MAGIC "\n"];
    bool empty;
    return header_of(fd, head, sizeof head, &empty) || empty;
}

bool dp_rotate_run(int fd, char run[DP_RUN_ID])
{
    static const char name[] = "$dprof_run='";
    char head[1024];
    bool empty;
    const char *text = header_of(fd, head, sizeof head, &empty);
    const char *id = text ? strstr(text, name) : NULL;
    const char *end = id ? strchr(id += sizeof name - 1, '\'') : NULL;
    run[0] = '\0';
    if (!end || end - id >= DP_RUN_ID || end == id)
        return false;
    memcpy(run, id, (size_t)(end - id));
    run[end - id] = '\0';
    return true;
}

/* Returns true for a link that leads nowhere, too. */
static bool is_there(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

void dp_rotate_live(const char *path, const char *old)
{
    size_t size = (strlen(old) > strlen(path) ? strlen(old) : strlen(path)) + sizeof DP_FMT_LIVE;
    char *from = dp_mem_alloc(size), *to = dp_mem_alloc(size);
    if (from && to) {
        snprintf(from, size, "%s%s", path, DP_FMT_LIVE);
        snprintf(to, size, "%s%s", old, DP_FMT_LIVE);
        bool foreign = is_there(to) && !dp_live_is(to);
        if (dp_live_is(from) && (foreign ? unlink(from) : rename(from, to)) == 0)
            foreign = true;
        if (!foreign)
            unlink(to);
    }
    dp_mem_free(from);
    dp_mem_free(to);
}

/* Is name the name of a file of a process, thread or interpreter: stem.PID, stem.PID.TID or
 * stem.PID.iN? */
static bool is_numbered(const char *name, const char *stem, size_t len)
{
    if (strncmp(name, stem, len) != 0)
        return false;
    const char *p = name + len;
    for (int i = 0; i < 2 && *p == '.'; i++) {
        p += i && p[1] == 'i' ? 2 : 1;
        size_t digits = strspn(p, "0123456789");
        if (!digits)
            return false;
        p += digits;
    }
    return !*p && p != name + len;
}

/* Is there something at path that is no profile, which must not be replaced? */
static bool is_foreign(const char *path)
{
    struct stat st;
    if (!is_there(path))
        return false;
    int fd = dp_io_open_regular(path, DP_IO_NOFOLLOW, &st);
    bool ours = fd >= 0 && dp_rotate_is_ours(fd);
    if (fd >= 0)
        close(fd);
    return !ours;
}

/* Is there a profile of that run at path, in a regular file that no process writes any more? */
static bool is_of_run(const char *path, const char *run)
{
    char found[DP_RUN_ID];
    struct stat st;
    int fd = dp_io_open_regular(path, DP_IO_NOFOLLOW, &st);
    if (fd < 0)
        return false;
    bool is = dp_rotate_run(fd, found) && strcmp(found, run) == 0
              && flock(fd, LOCK_EX | LOCK_NB) == 0;
    close(fd);
    return is;
}

/* Joins the directory of path, which has dir bytes, name and more. The caller frees. */
static char *path_beside(const char *path, size_t dir, const char *name, const char *more)
{
    size_t size = dir + strlen(name) + strlen(more) + 1;
    char *full = dp_mem_alloc(size);
    if (full)
        snprintf(full, size, "%.*s%s%s", (int)dir, path, name, more);
    return full;
}

/* Removes a rotated file, and its file of pieces. */
static void drop_file(const char *path, size_t dir, const char *name)
{
    char *file = path_beside(path, dir, name, "");
    char *live = path_beside(path, dir, name, DP_FMT_LIVE);
    if (file && live && unlink(file) == 0 && dp_live_is(live))
        unlink(live);
    dp_mem_free(file);
    dp_mem_free(live);
}

/* The numbered names in path's directory that belong to files of a run: strings, one behind the
 * other. A directory may list files twice that are renamed while it is read, so the names are
 * gathered first. */
struct names {
    char *text;
    size_t len, cap;
};

/* Adds a name of the directory to the list if its file belongs to the run. */
static void gather_name(struct names *to, const char *path, size_t dir, const char *name,
                        const char *run)
{
    size_t n = strlen(name) + 1;
    char *file = run[0] ? path_beside(path, dir, name, "") : NULL;
    if (file && is_of_run(file, run)
        && dp_mem_grow((void **)&to->text, &to->cap, to->len + n, 1) == 0) {
        memcpy(to->text + to->len, name, n);
        to->len += n;
    }
    dp_mem_free(file);
}

void dp_rotate(const char *path, const char *old, const char *run, const char *old_run)
{
    struct names mine = { NULL, 0, 0 }, gone = { NULL, 0, 0 };
    const struct dirent *entry;
    const char *slash = strrchr(path, '/');
    size_t dir = slash ? (size_t)(slash + 1 - path) : 0;
    const char *stem = path + dir, *old_stem = old + dir;
    size_t len = strlen(stem), old_len = strlen(old_stem);
    if (!run[0] && !old_run[0])
        return;
    char *folder = path_beside(path, dir, dir ? "" : ".", "");
    DIR *in = folder ? opendir(folder) : NULL;
    dp_mem_free(folder);
    while (in && (entry = readdir(in)) != NULL) {
        if (is_numbered(entry->d_name, stem, len))
            gather_name(&mine, path, dir, entry->d_name, run);
        else if (is_numbered(entry->d_name, old_stem, old_len))
            gather_name(&gone, path, dir, entry->d_name, old_run);
    }
    if (in)
        closedir(in);
    for (const char *p = gone.text; p && p < gone.text + gone.len; p += strlen(p) + 1)
        drop_file(path, dir, p);
    for (const char *p = mine.text; p && p < mine.text + mine.len; p += strlen(p) + 1) {
        char *from = path_beside(path, dir, p, ""), *to = path_beside(path, dir, old_stem, p + len);
        if (from && to && !is_foreign(to) && rename(from, to) == 0)
            dp_rotate_live(from, to);
        dp_mem_free(from);
        dp_mem_free(to);
    }
    dp_mem_free(mine.text);
    dp_mem_free(gone.text);
}
