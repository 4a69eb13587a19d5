/* Directories by descriptor: which are opened, which are refused and why, whatever another user has
 * put there. The test puts links, FIFOs, sockets, directories, and files of others there, in random
 * order. */
#include "tap.h"
#include "random.h"
#include "dp_dir.h"
#include "dp_fmt.h"
#include "dp_mem.h"
#include "dp_spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { OTHER = 65534, ROUNDS = 300 };

static const char ours[] = DP_FMT_MAGIC "\n$dprof_run='1.2.3';\n";
static char base[] = "/tmp/dprof-dir-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[4][128];
    static unsigned n;
    snprintf(path[++n % 4], sizeof path[0], "%s/%s", base, name);
    return path[n % 4];
}

enum thing { NOTHING, PLAIN, FOREIGN, SOFT, DANGLING, HARD, FIFO, FOLDER, FOREIGN_FOLDER, SOCKET,
             LINK_TO_FOLDER, THINGS };

static bool is_root(void) { return geteuid() == 0; }

static void remove_all(const char *name)
{
    if (unlink(path_of(name)) < 0)
        rmdir(path_of(name));
}

static void write_file(const char *name)
{
    int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, "mine", 4) != 4 || close(fd) < 0)
        abort();
}

/* Puts a thing where a name is. The file `private` is what links lead to. */
static void put(const char *name, enum thing thing)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int rc = 0;
    remove_all(name);
    switch (thing) {
    case PLAIN: case FOREIGN:
        write_file(name);
        rc = thing == FOREIGN ? chown(path_of(name), OTHER, OTHER) : 0;
        break;
    case SOFT:           rc = symlink("private", path_of(name)); break;
    case DANGLING:       rc = symlink("elsewhere", path_of(name)); break;
    case LINK_TO_FOLDER: rc = symlink("folder", path_of(name)); break;
    case HARD:           rc = link(path_of("private"), path_of(name)); break;
    case FIFO:           rc = mkfifo(path_of(name), 0600); break;
    case FOLDER: case FOREIGN_FOLDER:
        rc = mkdir(path_of(name), 0700);
        if (thing == FOREIGN_FOLDER)
            rc |= chown(path_of(name), OTHER, OTHER);
        break;
    case SOCKET: {
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        snprintf(at.sun_path, sizeof at.sun_path, "%s", path_of(name));
        rc = bind(fd, (struct sockaddr *)&at, sizeof at);
        close(fd);
        break;
    }
    case NOTHING: case THINGS:
        break;
    }
    if (rc < 0)
        abort();
}

static enum thing any_thing(void)
{
    enum thing thing;
    do
        thing = (enum thing)rnd(THINGS);
    while (!is_root() && (thing == FOREIGN || thing == FOREIGN_FOLDER));
    return thing;
}

static int opened(int fd)
{
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* What each call must do with each thing, as one would say it. */
static void things(void)
{
    int dir = dp_dir_open(base, DP_DIR_NAMED, NULL), wrong = 0;
    struct stat st, after;
    ok(dir >= 0, "a directory is opened");
    write_file("private");
    for (int i = 0; i < ROUNDS; i++) {
        enum thing thing = any_thing();
        bool is_folder = thing == FOLDER, is_none = thing == NOTHING;
        put("x", thing);
        wrong += opened(dp_dir_read(dir, "x", NULL, 0, &st, NULL)) != (thing == PLAIN);
        wrong += opened(dp_dir_below(dir, "x", false, NULL)) != is_folder;
        wrong += opened(dp_dir_open(path_of("x"), DP_DIR_UNNAMED, NULL)) != is_folder;
        wrong += opened(dp_dir_open(path_of("x"), DP_DIR_NAMED, NULL))
            != (is_folder || thing == FOREIGN_FOLDER || thing == LINK_TO_FOLDER);
        wrong += opened(dp_dir_keep(dir, "x", 0600, NULL)) != (thing == PLAIN || is_none);
        put("x", thing);
        wrong += opened(dp_dir_below(dir, "x", true, NULL)) != (is_folder || is_none);
        put("x", thing);
        wrong += opened(dp_dir_create(dir, "x", 0600, NULL)) != is_none;
        put("x", thing);
        bool is_there = lstat(path_of("x"), &st) == 0;
        wrong += is_there && dp_dir_remove(dir, "x", st.st_dev, st.st_ino + 1, NULL) != DP_E_ARG;
        wrong += is_there && lstat(path_of("x"), &after) != 0;
        wrong += stat(path_of("elsewhere"), &after) == 0;
        wrong += stat(path_of("private"), &after) != 0 || after.st_size != 4;
        if (wrong)
            printf("# round %d, thing %d: %d wrong\n", i, (int)thing, wrong);
        remove_all("x");
    }
    is_i(wrong, 0, "each call does with each thing what it should; nothing is made elsewhere");
    close(dir);
}

static void because(int rc, const struct dp_err *err, int want, const char *text, const char *what)
{
    is_i(rc, want, "%s", what);
    is_s(err->message, text, "... with the reason");
}

static void reasons(void)
{
    const uid_t others[] = { 1, OTHER };
    struct dp_err err;
    struct stat st;
    int dir = dp_dir_open(base, DP_DIR_NAMED, NULL);
    const struct { enum thing thing; const char *file, *folder; } table[] = {
        { SOFT, "is a symbolic link", "is a symbolic link" },
        { FIFO, "is no regular file", "is no directory" },
        { HARD, "has another name, too (a hard link)", "is no directory" },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        put("x", table[i].thing);
        dp_err_init(&err);
        because(dp_dir_read(dir, "x", NULL, 0, &st, &err), &err, DP_E_ARG, table[i].file, "a file");
        dp_err_init(&err);
        because(dp_dir_below(dir, "x", true, &err), &err, DP_E_ARG, table[i].folder, "a folder");
    }
    put("x", NOTHING);
    dp_err_init(&err);
    because(dp_dir_read(dir, "x", NULL, 0, &st, &err), &err, DP_E_IO, strerror(ENOENT), "nothing");
    const char *bad[] = { "", ".", "..", "a/b", "../private", "/etc/passwd" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ok(dp_dir_read(dir, bad[i], NULL, 0, &st, NULL) == DP_E_ARG
           && dp_dir_create(dir, bad[i], 0600, NULL) == DP_E_ARG
           && dp_dir_keep(dir, bad[i], 0600, NULL) == DP_E_ARG
           && dp_dir_below(dir, bad[i], true, NULL) == DP_E_ARG
           && dp_dir_rename(dir, bad[i], dir, "y", NULL) == DP_E_ARG
           && dp_dir_rename(dir, "private", dir, bad[i], NULL) == DP_E_ARG
           && dp_dir_remove(dir, bad[i], 0, 0, NULL) == DP_E_ARG, "'%s' is no name", bad[i]);
    if (is_root()) {
        put("x", FOREIGN);
        dp_err_init(&err);
        because(dp_dir_read(dir, "x", NULL, 0, &st, &err), &err, DP_E_ARG, "is another user's",
                "another user's file");
        ok(opened(dp_dir_read(dir, "x", others, 2, &st, NULL)), "... unless we know the user");
        ok(!opened(dp_dir_read(dir, "x", others, 1, &st, NULL)), "... by the number");
        ok(!opened(dp_dir_keep(dir, "x", 0600, NULL)), "what we write to is never another's");
    } else {
        ok(true, "files of others need root");
    }
    put("x", PLAIN);
    ok(dp_dir_rename(dir, "x", dir, "y", NULL) == 0 && lstat(path_of("y"), &st) == 0, "a new name");
    ok(dp_dir_remove(dir, "y", st.st_dev, st.st_ino, NULL) == 0 && lstat(path_of("y"), &st) < 0,
       "a name is removed");
    close(dir);
}

static void beside(void)
{
    const char *name;
    int fd = dp_dir_of(path_of("x"), DP_DIR_UNNAMED, &name, NULL);
    ok(opened(fd) && strcmp(name, "x") == 0, "the directory of a path");
    ok(opened(dp_dir_of("x", DP_DIR_NAMED, &name, NULL)) && strcmp(name, "x") == 0,
       "... of a name");
    ok(opened(dp_dir_of("/x", DP_DIR_NAMED, &name, NULL)) && strcmp(name, "x") == 0, "... of /x");
    dp_mem_fail_after(0);
    is_i(dp_dir_of(path_of("x"), DP_DIR_UNNAMED, &name, NULL), DP_E_NOMEM, "... without memory");
    dp_mem_fail_after(-1);
}

/* The default spool. */
static void spool(void)
{
    struct dp_err err;
    struct stat st;
    for (int i = 0; i < ROUNDS / 3; i++) {
        enum thing thing = any_thing();
        bool good = thing == NOTHING || thing == FOLDER;
        put("x", thing);
        dp_err_init(&err);
        if ((dp_spool_make(path_of("x"), DP_DIR_UNNAMED, &err) == 0) != good)
            ok(false, "a spool in the place of thing %d: %s", (int)thing, err.message);
    }
    put("folder", FOLDER);
    put("x", LINK_TO_FOLDER);
    dp_err_init(&err);
    is_i(dp_spool_make(path_of("x"), DP_DIR_UNNAMED, &err), DP_E_ARG, "a link is no spool");
    ok(strstr(err.message, "/x is a symbolic link; name another one with spool=DIR") != NULL,
       "... and the message says so");
    dp_err_init(&err);
    is_i(dp_spool_make(path_of("x"), DP_DIR_NAMED, &err), 0, "... unless it was named");
    write_file("folder/a.part");
    is_i(dp_spool_finish(path_of("x/a.part"), DP_DIR_UNNAMED), DP_E_IO, "nothing is renamed there");
    is_u(dp_spool_trim(path_of("x"), DP_DIR_UNNAMED, 1), 0, "... nothing is removed there");
    is_i(dp_spool_finish(path_of("x/a.part"), DP_DIR_NAMED), 0, "... unless it was named");
    if (is_root()) {
        int fd = open(path_of("folder/b.tree"), O_WRONLY | O_CREAT, 0644);
        ok(write(fd, ours, sizeof ours - 1) > 0
           && fchown(fd, OTHER, OTHER) == 0, "another user's slice is old");
        close(fd);
        is_u(dp_spool_trim(path_of("folder"), DP_DIR_NAMED, 1), 0, "... and does not count");
        ok(lstat(path_of("folder/b.tree"), &st) == 0, "... and stays");
    } else {
        ok(true, "slices of others need root");
    }
    remove_all("folder/b.tree");
    remove_all("folder/a.tree");
}

int main(void)
{
    if (!mkdtemp(base))
        return 1;
    put("folder", FOLDER);
    things();
    reasons();
    beside();
    spool();
    const char *left[] = { "x", "folder", "private" };
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        remove_all(left[i]);
    ok(rmdir(base) == 0, "nothing is left");
    is_i(dp_mem_live(), 0, "all memory is freed");
    return tap_done();
}
