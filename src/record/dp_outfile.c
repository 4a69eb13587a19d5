#include "dp_outfile.h"
#include "dp_dir.h"
#include "dp_fmt.h"
#include "dp_io.h"
#include "dp_live.h"
#include "dp_mem.h"
#include "dp_rotate.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    TRIES = 8,
    LEAST_MEMBER = 1024         /* bytes of text: a disk without room for them is full */
};

static const char twin_suffix[] = ".new";

void dp_outfile_init(struct dp_outfile *of)
{
    memset(of, 0, sizeof *of);
    of->fd = -1;
}

char *dp_outfile_absolute(const char *path)
{
    char cwd[4096];
    cwd[0] = '\0';
    if (path[0] != '/' && !getcwd(cwd, sizeof cwd))
        cwd[0] = '\0';
    size_t size = strlen(cwd) + strlen(path) + 2;
    char *full = dp_mem_alloc(size);
    if (full)
        snprintf(full, size, "%s%s%s", cwd, cwd[0] ? "/" : "", path);
    return full;
}

static int cannot_write(struct dp_err *err, const char *path)
{
    return dp_err_set(err, DP_E_IO, "cannot write %s: %s", path, strerror(errno));
}

/* Makes a new regular file, locked as long as the run lives. Returns the descriptor, or -1. */
static int create_file(const char *path, mode_t mode)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, mode);
    if (fd >= 0)
        flock(fd, LOCK_EX | LOCK_NB);
    return fd;
}

/* Returns a path with a suffix, in new memory; NULL if that is short. */
static char *with_suffix(const char *path, const char *suffix)
{
    size_t n = strlen(path), size = strlen(suffix) + 1;
    char *name = dp_mem_alloc(n + size);
    if (name) {
        memcpy(name, path, n);
        memcpy(name + n, suffix, size);
    }
    return name;
}

/* Removes the twin that a killed process left beside its profile. */
static void drop_twin(const char *path)
{
    char *name = with_suffix(path, twin_suffix);
    struct stat st;
    int fd = name ? dp_io_open_regular(name, DP_IO_NOFOLLOW, &st) : DP_E_NOMEM;
    if (fd >= 0) {
        if (dp_rotate_is_ours(fd) && flock(fd, LOCK_EX | LOCK_NB) == 0)
            unlink(name);
        close(fd);
    }
    dp_mem_free(name);
}

enum found { FOUND_NONE, FOUND_OLD, FOUND_LIVE, FOUND_SPECIAL, FOUND_CHANGED };

/* Is path a name of the system's for an open file, such as /dev/stdout? It is never moved away,
 * wherever it leads. */
static bool is_alias(const char *path)
{
    struct stat st;
    return (strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0)
        && lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

/* Sets the error for a file that exists and is no profile. Returns its code. */
static int refuse_foreign(const char *path, struct dp_err *err)
{
    return dp_err_set(err, DP_E_ARG, "%s exists and is no profile; remove it, or name another file"
                      " with out=FILE or PERL_DPROF_OUT", path);
}

/* Looks at the files beside path that would be written or replaced. Returns 0, or a DP_E if one of
 * them is not ours. */
static int look_beside(const char *path, int flags, struct dp_err *err)
{
    char *old = with_suffix(path, ".old"), *live = with_suffix(path, DP_FMT_LIVE);
    struct stat st, beside;
    int rc = old && live ? 0 : dp_err_set(err, DP_E_NOMEM, "out of memory");
    if (rc == 0 && lstat(live, &beside) == 0 && !dp_live_is(live))
        rc = refuse_foreign(live, err);
    /* PATH.old is only replaced where there is a profile to keep. */
    if (rc == 0 && (flags & DP_OUT_KEEP_OLD) && stat(path, &st) == 0 && S_ISREG(st.st_mode)
        && lstat(old, &beside) == 0) {
        int fd = dp_io_open_regular(old, DP_IO_NOFOLLOW, &beside);
        if (fd < 0 || !dp_rotate_is_ours(fd))
            rc = refuse_foreign(old, err);
        if (fd >= 0)
            close(fd);
    }
    dp_mem_free(old);
    dp_mem_free(live);
    return rc;
}

/* Finds out what is at path. Sets *found and, for a profile, *found_st. Returns 0, or a DP_E if the
 * path must not be written to. */
static int look_at(const char *path, int flags, enum found *found, struct stat *found_st,
                   struct dp_err *err)
{
    struct stat st;
    *found = FOUND_NONE;
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && (flags & DP_OUT_NOFOLLOW))
        return dp_err_set(err, DP_E_ARG,
                          "%s is a symbolic link; remove it, or name another file with"
                          " out=FILE or PERL_DPROF_OUT",
                          path);
    int rc = look_beside(path, flags, err);
    if (rc < 0 || stat(path, &st) < 0)
        return rc;
    if (S_ISDIR(st.st_mode))
        return dp_err_set(err, DP_E_ARG, "%s is a directory", path);
    if (!S_ISREG(st.st_mode) && (flags & DP_OUT_NOFOLLOW))
        return dp_err_set(err, DP_E_ARG,
                          "%s is no regular file; remove it, or name another file with out=FILE or"
                          " PERL_DPROF_OUT",
                          path);
    if (!S_ISREG(st.st_mode) || is_alias(path)) {
        *found = FOUND_SPECIAL;
        return 0;
    }
    struct stat now, opened;
    int fd = dp_io_open_regular(path, flags & DP_OUT_NOFOLLOW ? DP_IO_NOFOLLOW : DP_IO_FOLLOW,
                                &opened);
    /* Between stat and open, the path has become something else. */
    if (fd == DP_E_ARG) {
        *found = FOUND_CHANGED;
        return 0;
    }
    if (fd < 0)
        return cannot_write(err, path);
    bool ours = dp_rotate_is_ours(fd);
    bool live = flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    /* A live run may just have put another file in its place. */
    bool same = stat(path, &now) == 0 && now.st_dev == opened.st_dev && now.st_ino == opened.st_ino;
    close(fd);
    if (!same) {
        *found = FOUND_CHANGED;
        return 0;
    }
    if (!ours)
        return refuse_foreign(path, err);
    *found = live ? FOUND_LIVE : FOUND_OLD;
    *found_st = opened;
    return 0;
}

/* Reads which run a profile belongs to; empty if that is unknown. */
static void read_run(const char *path, char run[DP_RUN_ID])
{
    run[0] = '\0';
    struct stat st;
    int fd = dp_io_open_regular(path, DP_IO_NOFOLLOW, &st);
    if (fd >= 0) {
        dp_rotate_run(fd, run);
        close(fd);
    }
}

/* Finds out what is at path, and moves or removes an old profile and the other files of its run.
 * Sets *found to what was there. Returns 0 or a DP_E. */
static int make_way(const char *path, int flags, enum found *found, struct dp_err *err)
{
    struct stat st;
    int rc = look_at(path, flags, found, &st, err);
    if (rc < 0 || *found != FOUND_OLD)
        return rc;
    char *old = with_suffix(path, ".old");
    if (!old)
        return dp_err_set(err, DP_E_NOMEM, "out of memory");
    char run[DP_RUN_ID], old_run[DP_RUN_ID];
    bool keeps = st.st_size && (flags & DP_OUT_KEEP_OLD);
    read_run(path, run);
    read_run(old, old_run);
    rc = keeps ? rename(path, old) : unlink(path);
    if (rc == 0) {
        dp_rotate_live(path, old);
        drop_twin(path);
    }
    if (rc == 0 && keeps)
        dp_rotate(path, old, run, old_run);
    dp_mem_free(old);
    return rc < 0 && errno != ENOENT ? cannot_write(err, path) : 0;
}

/* Makes a file in a directory that others might have replaced, and locks it. Returns the descriptor
 * or a DP_E. */
static int create_unnamed(const char *path, struct dp_err *err)
{
    struct dp_err why;
    const char *name;
    dp_err_init(&why);
    int dir = dp_dir_of(path, DP_DIR_UNNAMED, &name, &why);
    int fd = dir < 0 ? dir : dp_dir_create(dir, name, 0666, &why);
    if (dir >= 0)
        close(dir);
    if (fd >= 0)
        flock(fd, LOCK_EX | LOCK_NB);
    return fd >= 0 ? fd
        : dp_err_set(err, DP_E_IO, "cannot write %s: %s%s", path,
                     dir == DP_E_ARG ? "its directory " : "", why.message);
}

/* Creates the file, after an old profile of its name is out of the way. A special file, such as a
 * device, is opened as it is. If a running program records to that name, the process ID is appended
 * to of->path. Returns the descriptor or a DP_E. */
static int open_somehow(struct dp_outfile *of, int flags, struct dp_err *err)
{
    if (flags & DP_OUT_UNNAMED_DIR)
        return create_unnamed(of->path, err);
    /* Two runs that start together may both move an old profile away; O_EXCL decides which of them
     * gets the name. */
    for (int i = 0; i < TRIES; i++) {
        enum found found;
        int rc = make_way(of->path, flags, &found, err);
        if (rc < 0)
            return rc;
        if (found == FOUND_CHANGED)
            continue;
        if (found == FOUND_SPECIAL) {
            int fd = open(of->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
            of->regular = false;
            return fd < 0 ? cannot_write(err, of->path) : fd;
        }
        if (found == FOUND_LIVE) {
            size_t size = strlen(of->path) + 24;
            char *own = dp_mem_alloc(size);
            if (!own)
                return dp_err_set(err, DP_E_NOMEM, "out of memory");
            snprintf(own, size, "%s.%ld", of->path, (long)getpid());
            dp_mem_free(of->path);
            of->path = own;
            continue;
        }
        int fd = create_file(of->path, 0666);
        if (fd >= 0)
            return fd;
        if (errno != EEXIST)
            return cannot_write(err, of->path);
    }
    errno = EEXIST;
    return cannot_write(err, of->path);
}

/* May a file be made, or renamed, in the directory that path stands in? */
static bool takes_files(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) + (slash == path) : 0;
    char *dir = slash ? dp_mem_alloc(len + 1) : NULL;
    if (dir) {
        memcpy(dir, path, len);
        dir[len] = '\0';
    }
    bool takes = (slash && !dir)
                 || faccessat(AT_FDCWD, dir ? dir : ".", W_OK | X_OK, AT_EACCESS) == 0;
    int why = errno;
    dp_mem_free(dir);
    errno = why;
    return takes;
}

int dp_outfile_check(const char *path, int flags, struct dp_err *err)
{
    enum found found;
    struct stat st;
    int rc = look_at(path, flags, &found, &st, err);
    if (rc < 0)
        return rc;
    if (found == FOUND_SPECIAL ? faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) < 0
                               : !takes_files(path))
        return cannot_write(err, path);
    return 0;
}

int dp_outfile_open(struct dp_outfile *of, const char *path, int flags, struct dp_err *err)
{
    dp_outfile_init(of);
    of->path = dp_outfile_absolute(path);
    if (!of->path)
        return dp_err_set(err, DP_E_NOMEM, "out of memory");
    of->regular = true;
    int fd = open_somehow(of, flags, err);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0) {
        of->failed = true;
        return fd < 0 ? fd : cannot_write(err, of->path);
    }
    of->fd = dp_io_high(fd);
    of->dev = st.st_dev;
    of->ino = st.st_ino;
    of->regular = of->regular && S_ISREG(st.st_mode);
    return 0;
}

/* Is this the stat of our file? The file system gives the inode number of a removed file to the
 * next one at once, so the size must be right, too: nobody else writes to our file. */
static bool is_same(const struct dp_outfile *of, const struct stat *st)
{
    return st->st_dev == of->dev && st->st_ino == of->ino
        && (!of->regular || (uint64_t)st->st_size == of->size);
}

static bool is_ours(const struct dp_outfile *of)
{
    struct stat st;
    return of->fd >= 0 && fstat(of->fd, &st) == 0 && is_same(of, &st);
}

/* Opens the file anew if the program has closed our descriptor. A file that the program has opened
 * under the same number is never touched. Returns 0; DP_E_IO: the file cannot be opened, or is
 * another one. */
static int get_back(struct dp_outfile *of)
{
    struct stat st;
    if (is_ours(of))
        return 0;
    of->fd = -1;
    int fd = open(of->path, (of->regular ? O_RDWR : O_WRONLY) | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW);
    if (fd < 0)
        return DP_E_IO;
    if (fstat(fd, &st) < 0 || !is_same(of, &st)) {
        close(fd);
        errno = ESTALE;
        return DP_E_IO;
    }
    if (of->regular)
        flock(fd, LOCK_EX | LOCK_NB);
    of->fd = dp_io_high(fd);
    return 0;
}

/* Writes len bytes to the file by as many calls of write() as are needed. Returns how many bytes
 * were written; if they are fewer than len, errno has the reason. */
static size_t write_all(struct dp_outfile *of, const char *ptr, size_t len)
{
    size_t done = 0;
    while (done < len) {
        ssize_t n = of->regular ? pwrite(of->fd, ptr + done, len - done, (off_t)(of->size + done))
                                : write(of->fd, ptr + done, len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (n == 0)
                errno = ENOSPC;
            break;
        }
        done += (size_t)n;
    }
    return done;
}

/* How many bytes of p are whole lines. */
static size_t whole_lines(const char *p, size_t len)
{
    while (len && p[len - 1] != '\n')
        len--;
    return len;
}

/* Writes as write_all does. A pipe without a reader raises SIGPIPE; the program must not get it. */
static size_t write_quietly(struct dp_outfile *of, const char *ptr, size_t len)
{
    if (of->regular)
        return write_all(of, ptr, len);
    sigset_t pipe_set, before, pending;
    sigemptyset(&pipe_set);
    sigaddset(&pipe_set, SIGPIPE);
    sigpending(&pending);
    bool was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_set, &before);
    size_t done = write_all(of, ptr, len);
    int why = errno;
    if (done < len && why == EPIPE && !was_pending) {
        struct timespec none = { 0, 0 };
        while (sigtimedwait(&pipe_set, NULL, &none) < 0 && errno == EINTR)
            ;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return done;
}

/* Appends what fits; of->size grows only if all of it fits. Returns how many bytes were appended;
 * if they are fewer than len, errno has the reason. */
static size_t append_bytes(struct dp_outfile *of, const char *ptr, size_t len)
{
    struct rlimit rl;
    size_t most = len;
    /* The kernel would kill us for writing past the limit on file sizes. */
    if (of->regular && getrlimit(RLIMIT_FSIZE, &rl) == 0 && rl.rlim_cur != RLIM_INFINITY
        && of->size + len > rl.rlim_cur)
        most = rl.rlim_cur > of->size ? (size_t)(rl.rlim_cur - of->size) : 0;
    size_t done = write_quietly(of, ptr, most);
    if (done == len)
        of->size += len;
    else if (done == most)
        errno = EFBIG;
    return done;
}

/* Cuts off the bytes beyond of->size. */
static void cut_back(const struct dp_outfile *of)
{
    int why = errno;
    if (of->regular && ftruncate(of->fd, (off_t)of->size) < 0) {
        /* then the file ends in the middle of a line, which readers accept */
    }
    errno = why;
}

/* Writes the whole lines that fit. Returns how much of the text is in the file. */
static size_t write_plain(struct dp_outfile *of, const char *ptr, size_t len)
{
    size_t done = append_bytes(of, ptr, len);
    if (done < len && of->regular) {
        done = whole_lines(ptr, done);
        of->size += done;
        cut_back(of);
    }
    return done;
}

static bool no_room(int why)
{
    return why == ENOSPC || why == EDQUOT || why == EFBIG;
}

/* Writes the whole lines that fit, in members of gzip. Returns how much of the text is in the file.
 * If one does not fit, a smaller one may. */
static size_t write_packed(struct dp_outfile *of, const char *ptr, size_t len)
{
    size_t done = 0, most = DP_GZIP_TEXT, size;
    const char *member;
    while (done < len) {
        size_t n = len - done;
        if (n > most) {
            n = whole_lines(ptr + done, most);
            if (!n)
                n = most;
        }
        if (dp_gzip_pack(of->gzip, ptr + done, n, &member, &size) < 0) {
            errno = ENOMEM;
            break;
        }
        if (append_bytes(of, member, size) == size) {
            done += n;
            continue;
        }
        cut_back(of);
        if (!of->regular || !no_room(errno) || n < LEAST_MEMBER)
            break;
        most = n / 2;
    }
    return done;
}

/* Notes that the file cannot be written any more, and sets the error. Returns its code. */
static int fail_write(struct dp_outfile *of, struct dp_err *err)
{
    of->failed = true;
    return dp_err_set(err, DP_E_IO, "cannot write %s: %s", of->path,
                      errno == ESTALE ? "it was removed or replaced" : strerror(errno));
}

int dp_outfile_write(struct dp_outfile *of, const char *ptr, size_t len, struct dp_err *err)
{
    if (of->failed)
        return 0;
    if (get_back(of) == 0) {
        size_t done = of->gzip ? write_packed(of, ptr, len) : write_plain(of, ptr, len);
        of->text += done;
        if (done == len)
            return 0;
    }
    return fail_write(of, err);
}

int dp_outfile_write_fixed(struct dp_outfile *of, const char *ptr, size_t len, uint64_t *at,
                           struct dp_err *err)
{
    const char *bytes = ptr;
    size_t size = len;
    *at = of->size;
    if (of->failed)
        return 0;
    if (of->gzip && dp_gzip_store(of->gzip, ptr, len, &bytes, &size) < 0)
        errno = EFBIG;
    else if (get_back(of) == 0 && append_bytes(of, bytes, size) == size) {
        of->text += len;
        return 0;
    }
    cut_back(of);
    return fail_write(of, err);
}

int dp_outfile_patch(struct dp_outfile *of, uint64_t at, const char *ptr, size_t len)
{
    if (!of->regular || get_back(of) < 0
        || (of->gzip && dp_gzip_store(of->gzip, ptr, len, &ptr, &len) < 0))
        return DP_E_IO;
    return pwrite(of->fd, ptr, len, (off_t)at) == (ssize_t)len ? 0 : DP_E_IO;
}

void dp_outfile_cut(struct dp_outfile *of, uint64_t size)
{
    if (of->regular && get_back(of) == 0 && ftruncate(of->fd, (off_t)size) == 0)
        of->size = size;
}

bool dp_outfile_is_there(const struct dp_outfile *of)
{
    struct stat st;
    return !of->regular || (stat(of->path, &st) == 0 && is_same(of, &st));
}

/* ---- the twin ---- */

/* Gives the twin the owner and mode of the file, whatever the umask is by now. Returns 0 or -1. */
static int copy_owner(int fd, const struct dp_outfile *of)
{
    struct stat st, mine;
    if (fstat(of->fd, &st) < 0 || fstat(fd, &mine) < 0)
        return -1;
    if ((st.st_uid != mine.st_uid || st.st_gid != mine.st_gid)
        && fchown(fd, st.st_uid, st.st_gid) < 0)
        return -1;
    return fchmod(fd, st.st_mode & 07777);
}

/* Copies the first bytes of the file, up to `keep', into the file that will replace it. Returns 0
 * or -1. */
static int copy_head(const struct dp_outfile *of, struct dp_outfile *twin, uint64_t keep)
{
    char buf[4096];
    while (twin->size < keep) {
        size_t n = keep - twin->size < sizeof buf ? (size_t)(keep - twin->size) : sizeof buf;
        ssize_t got = pread(of->fd, buf, n, (off_t)twin->size);
        if (got <= 0 || append_bytes(twin, buf, (size_t)got) != (size_t)got)
            return -1;
    }
    return 0;
}

/* Makes the file NAME.new that will replace NAME; one that a killed process has left is removed.
 * Returns the descriptor, or -1. */
static int create_twin(struct dp_outfile *twin, const char *beside)
{
    int fd = create_file(twin->path, 0600);
    if (fd < 0 && errno == EEXIST) {
        drop_twin(beside);
        fd = create_file(twin->path, 0600);
    }
    return fd;
}

int dp_outfile_twin(struct dp_outfile *of, struct dp_outfile *twin, uint64_t keep)
{
    struct stat st;
    dp_outfile_init(twin);
    errno = ESTALE;
    if (!of->regular || of->failed || get_back(of) < 0 || !dp_outfile_is_there(of))
        return DP_E_IO;
    twin->path = with_suffix(of->path, twin_suffix);
    if (!twin->path)
        return DP_E_NOMEM;
    int fd = create_twin(twin, of->path);
    if (fd >= 0) {
        twin->fd = dp_io_high(fd);
        twin->regular = true;
        twin->gzip = of->gzip;
        twin->text = of->text;
        if (copy_owner(twin->fd, of) == 0 && copy_head(of, twin, keep) == 0
            && fstat(twin->fd, &st) == 0) {
            twin->dev = st.st_dev;
            twin->ino = st.st_ino;
            return 0;
        }
    }
    dp_outfile_discard(twin);
    return DP_E_IO;
}

void dp_outfile_discard(struct dp_outfile *twin)
{
    int why = errno;
    if (twin->fd >= 0) {
        unlink(twin->path);
        close(twin->fd);
    }
    dp_mem_free(twin->path);
    dp_outfile_init(twin);
    errno = why;
}

int dp_outfile_replace(struct dp_outfile *of, struct dp_outfile *twin)
{
    errno = ESTALE;
    if (twin->failed || !is_ours(twin) || !dp_outfile_is_there(of)
        || rename(twin->path, of->path) < 0) {
        dp_outfile_discard(twin);
        return DP_E_IO;
    }
    dp_mem_free(twin->path);
    twin->path = of->path;
    dp_outfile_drop(of);
    *of = *twin;
    dp_outfile_init(twin);
    return 0;
}

void dp_outfile_drop(struct dp_outfile *of)
{
    if (is_ours(of))
        close(of->fd);
    of->fd = -1;
}

void dp_outfile_close(struct dp_outfile *of)
{
    dp_outfile_drop(of);
    dp_mem_free(of->path);
    dp_outfile_init(of);
}
