#include "dp_dir.h"
#include "dp_mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ALWAYS = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY };

static int system_error(struct dp_err *err)
{
    int why = errno;
    dp_err_set(err, DP_E_IO, "%s", strerror(why));
    errno = why;
    return DP_E_IO;
}

static int not_such(struct dp_err *err, const char *what)
{
    errno = EINVAL;
    return dp_err_set(err, DP_E_ARG, "%s", what);
}

/* Is the owner of a file this user, root, or one of the given users? */
static bool is_trusted(uid_t owner, const uid_t *users, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (users[i] == owner)
            return true;
    return owner == geteuid() || owner == 0;
}

/* Checks a file. Returns 0, or why it is refused. */
static int check_file(const struct stat *st, const uid_t *users, size_t n, struct dp_err *err)
{
    if (S_ISLNK(st->st_mode))
        return not_such(err, "is a symbolic link");
    if (!S_ISREG(st->st_mode))
        return not_such(err, "is no regular file");
    if (!is_trusted(st->st_uid, users, n))
        return not_such(err, "is another user's");
    if (st->st_nlink > 1)
        return not_such(err, "has another name, too (a hard link)");
    return 0;
}

/* Refuses a directory that is a symbolic link or belongs to another user. Returns 0 or a DP_E. */
static int check_dir(const struct stat *st, struct dp_err *err)
{
    if (S_ISLNK(st->st_mode))
        return not_such(err, "is a symbolic link");
    if (!S_ISDIR(st->st_mode))
        return not_such(err, "is no directory");
    return is_trusted(st->st_uid, NULL, 0) ? 0 : not_such(err, "is another user's");
}

/* Refuses a name that is no single name in a directory. Returns 0 or a DP_E. */
static int check_name(const char *name, struct dp_err *err)
{
    if (*name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
        return 0;
    return not_such(err, "is no name of a file");
}

/* Closes a descriptor if its check failed. */
static int checked(int fd, int rc)
{
    int why = errno;
    if (rc == 0)
        return fd;
    close(fd);
    errno = why;
    return rc;
}

/* ---- directories ---- */

/* Opens a directory that is no symbolic link, and belongs to us or to root. The second check, of
 * what was opened, prevents an exchange between the first check and the opening. Returns a
 * descriptor or a DP_E. */
static int open_dir(int dir, const char *path, struct dp_err *err)
{
    struct stat st;
    /* fstatat allows a clearer message than the error of open. */
    if (fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return system_error(err);
    int rc = check_dir(&st, err);
    int fd = rc < 0 ? rc : openat(dir, path, O_RDONLY | O_DIRECTORY | ALWAYS);
    if (rc < 0 || fd < 0)
        return rc < 0 ? rc : system_error(err);
    return checked(fd, fstat(fd, &st) < 0 ? system_error(err) : check_dir(&st, err));
}

int dp_dir_open(const char *path, enum dp_dir_who who, struct dp_err *err)
{
    if (who == DP_DIR_UNNAMED)
        return open_dir(AT_FDCWD, path, err);
    int fd = open(path, O_RDONLY | O_DIRECTORY | (ALWAYS & ~O_NOFOLLOW));
    return fd < 0 ? system_error(err) : fd;
}

int dp_dir_of(const char *path, enum dp_dir_who who, const char **name, struct dp_err *err)
{
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    if (!slash)
        return dp_dir_open(".", who, err);
    size_t len = slash == path ? 1 : (size_t)(slash - path);
    char *dir = dp_mem_alloc(len + 1);
    if (!dir)
        return dp_err_set(err, DP_E_NOMEM, "%s", dp_err_text(DP_E_NOMEM));
    memcpy(dir, path, len);
    dir[len] = '\0';
    int fd = dp_dir_open(dir, who, err), why = errno;
    dp_mem_free(dir);
    errno = why;
    return fd;
}

DIR *dp_dir_list(int dir)
{
    /* A separate descriptor: closedir closes it, and reading moves its position. */
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | ALWAYS);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !list)
        close(fd);
    return list;
}

int dp_dir_below(int dir, const char *name, bool make, struct dp_err *err)
{
    int rc = check_name(name, err);
    if (rc < 0)
        return rc;
    if (make && mkdirat(dir, name, 0777) < 0 && errno != EEXIST)
        return system_error(err);
    return open_dir(dir, name, err);
}

/* ---- files ---- */

int dp_dir_read(int dir, const char *name, const uid_t *users, size_t n, struct stat *st,
                struct dp_err *err)
{
    int rc = check_name(name, err);
    if (rc < 0)
        return rc;
    /* Opening a FIFO or a device can have side effects. */
    if (fstatat(dir, name, st, AT_SYMLINK_NOFOLLOW) < 0)
        return system_error(err);
    rc = check_file(st, users, n, err);
    int fd = rc < 0 ? rc : openat(dir, name, O_RDONLY | ALWAYS);
    if (rc < 0 || fd < 0)
        return rc < 0 ? rc : system_error(err);
    return checked(fd, fstat(fd, st) < 0 ? system_error(err) : check_file(st, users, n, err));
}

int dp_dir_create(int dir, const char *name, mode_t mode, struct dp_err *err)
{
    int rc = check_name(name, err);
    if (rc < 0)
        return rc;
    int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | ALWAYS, mode);
    return fd < 0 ? system_error(err) : fd;
}

int dp_dir_keep(int dir, const char *name, mode_t mode, struct dp_err *err)
{
    struct stat st;
    int rc = check_name(name, err);
    if (rc == 0 && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        rc = check_file(&st, NULL, 0, err);
    if (rc < 0)
        return rc;
    int fd = openat(dir, name, O_RDWR | O_CREAT | ALWAYS, mode);
    if (fd < 0)
        return system_error(err);
    return checked(fd, fstat(fd, &st) < 0 ? system_error(err) : check_file(&st, NULL, 0, err));
}

int dp_dir_remove(int dir, const char *name, dev_t dev, ino_t ino, struct dp_err *err)
{
    struct stat st;
    int rc = check_name(name, err);
    if (rc < 0)
        return rc;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return system_error(err);
    if (st.st_dev != dev || st.st_ino != ino)
        return not_such(err, "is another file by now");
    return unlinkat(dir, name, 0) < 0 ? system_error(err) : 0;
}

int dp_dir_rename(int dir, const char *name, int to_dir, const char *to, struct dp_err *err)
{
    int rc = check_name(name, err);
    if (rc == 0)
        rc = check_name(to, err);
    if (rc < 0)
        return rc;
    return renameat(dir, name, to_dir, to) < 0 ? system_error(err) : 0;
}
