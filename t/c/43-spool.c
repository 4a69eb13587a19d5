/* The directory of slices: names, the limit of its size, and files that killed processes and others
 * leave there. */
#include "tap.h"
#include "dp_fmt.h"
#include "dp_live.h"
#include "dp_mem.h"
#include "dp_spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/dprof-spool-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[4][128];
    static unsigned n;
    snprintf(path[++n % 4], sizeof path[0], "%s/%s", dir, name);
    return path[n % 4];
}

static bool has(const char *name)
{
    struct stat st;
    return lstat(path_of(name), &st) == 0;
}

/* Makes a file of 16 KB, as old as `age` says. Returns its descriptor. */
static int put(const char *name, const char *text, int age)
{
    char fill[16384];
    const struct timeval at[2] = { { 1000000000 - age, 0 }, { 1000000000 - age, 0 } };
    int fd = open(path_of(name), O_RDWR | O_CREAT | O_TRUNC, 0600);
    memset(fill, '\n', sizeof fill);
    memcpy(fill, text, strlen(text));
    ok(fd >= 0 && write(fd, fill, sizeof fill) == (ssize_t)sizeof fill
       && utimes(path_of(name), at) == 0, "%s is there", name);
    return fd;
}

static const char ours[] = DP_FMT_MAGIC "\n$dprof_run='1.2.3';\n";

static void slice(const char *name, int age) { close(put(name, ours, age)); }

static void is_name(const char *program, const char *want)
{
    struct dp_buf name;
    dp_buf_init(&name);
    dp_spool_name(&name, program);
    is_s(dp_buf_cstr(&name), want, "the name of %s", program);
    dp_buf_release(&name);
}

static void names(void)
{
    struct dp_err err;
    is_name("/usr/bin/app.pl", "app");
    is_name("app.psgi", "app.psgi");
    is_name(".pl", "_pl");
    is_name("a/", "perl");
    is_name("-e", "_e");
    is_name("a b;\n", "a_b__");
    is_name("0123456789012345678901234567890123456789012345678901234567890123456",
            "0123456789012345678901234567890123456789012345678901234567890123");
    dp_err_init(&err);
    ok(dp_spool_make(path_of("new"), DP_DIR_NAMED, &err) == 0 && has("new"),
       "a directory is made");
    ok(dp_spool_make(path_of("new"), DP_DIR_NAMED, &err) == 0, "... or was there");
    slice("plain", 0);
    is_i(dp_spool_make(path_of("plain"), DP_DIR_NAMED, &err), DP_E_ARG, "a file is none");
    dp_err_init(&err);
    is_i(dp_spool_make(path_of("a/b"), DP_DIR_NAMED, &err), DP_E_IO,
         "what is above must be there");
    slice("x-1.part", 0);
    ok(dp_spool_finish(path_of("x-1.part"), DP_DIR_NAMED) == 0 && has("x-1.tree")
       && !has("x-1.part"),
       "a slice gets its name");
    ok(dp_spool_finish(path_of("x-1.part"), DP_DIR_NAMED) == DP_E_IO && errno == ENOENT,
       "... once");
    unlink(path_of("plain"));
    unlink(path_of("x-1.tree"));
    rmdir(path_of("new"));
}

/* The oldest files go, unless they are still being written, or are another user's. */
static void limit(void)
{
    const char *kept[] = { "link.tree", "pipe.tree", "dir.tree", "other.tree", "notes", "live.part",
                           "new.tree" };
    ok(symlink("new.tree", path_of("link.tree")) == 0 && mkfifo(path_of("pipe.tree"), 0600) == 0
       && mkdir(path_of("dir.tree"), 0700) == 0, "others' files have names like slices");
    close(put("other.tree", "no profile", 90));
    slice("notes", 80);
    int live = put("live.part", ours, 70);
    flock(live, LOCK_EX);
    slice("dead.part", 60);
    close(put("dead.part.live", "x", 60));
    slice("old.tree", 50);
    slice("new.tree", 10);
    is_u(dp_spool_trim(dir, DP_DIR_NAMED, 0), 0, "no limit: nothing goes");
    is_u(dp_spool_trim(dir, DP_DIR_NAMED, 7 * 16384), 0, "nothing goes up to the limit");
    is_u(dp_spool_trim(dir, DP_DIR_NAMED, 6 * 16384), 1, "one slice goes beyond it");
    ok(!has("dead.part") && !has("dead.part.live"), "... the oldest, with what lies beside it");
    is_u(dp_spool_trim(dir, DP_DIR_NAMED, 4 * 16384), 1, "the next one goes");
    ok(!has("old.tree"), "... which is whole");
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        ok(has(kept[i]), "%s stays", kept[i]);
    for (long n = 0; n < 20; n++) {
        dp_mem_fail_after(n);
        is_u(dp_spool_trim(dir, DP_DIR_NAMED, 4 * 16384), 0, "allocation %ld fails: nothing goes",
             n);
    }
    dp_mem_fail_after(-1);
    close(live);
    is_u(dp_spool_trim(dir, DP_DIR_NAMED, 1), 2, "what nobody writes any more goes");
    is_u(dp_spool_trim(path_of("none"), DP_DIR_NAMED, 1), 0, "no directory, nothing to remove");
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        unlink(path_of(kept[i]));
    rmdir(path_of("dir.tree"));
}

/* Many processes trim at once: none makes up for files that another has removed. */
static void together(void)
{
    enum { SLICES = 200, KEPT = 100, TRIMMERS = 20 };
    char name[32], c;
    int go[2], status, good = 0, left = 0, oldest = SLICES;
    for (int i = 0; i < SLICES; i++) {
        snprintf(name, sizeof name, "many-%d.tree", i);
        slice(name, i);
    }
    ok(pipe(go) == 0, "many processes wait");
    fflush(stdout);
    for (int i = 0; i < TRIMMERS; i++)
        if (fork() == 0) {
            close(go[1]);
            while (read(go[0], &c, 1) > 0) {
                /* until all are there */
            }
            dp_spool_trim(dir, DP_DIR_NAMED, KEPT * 16384);
            _exit(0);
        }
    close(go[0]);
    close(go[1]);
    while (wait(&status) > 0)
        good += status == 0;
    is_i(good, TRIMMERS, "... and trim at once");
    for (int i = 0; i < SLICES; i++) {
        snprintf(name, sizeof name, "many-%d.tree", i);
        left += has(name);
        if (!has(name) && i < oldest)
            oldest = i;
        unlink(path_of(name));
    }
    ok(left <= KEPT, "the limit holds: %d stay", left);
    ok(left >= KEPT / 2, "... and not much more goes than must");
    is_i(oldest, left, "... the oldest");
}

/* A process that was killed in the middle of a cut leaves a file with nothing new. */
static void orphans(void)
{
    const uint64_t magic = DP_LIVE_MAGIC;
    char live[sizeof magic + 1] = "";
    const char *kept[] = {
        "open.part.live", "alone.part.live", "locked.part.live", "foreign.part.live",
        "other.part.live", "x.live", ".part.live", "open.part", "locked.tree", "foreign.tree",
        "other.tree", "done.tree"
    };
    memcpy(live, &magic, sizeof magic);
    slice("open.part", 0);
    slice("open.tree", 0);
    slice("done.tree", 0);
    slice("foreign.tree", 0);
    close(put("other.tree", "no profile", 0));
    int lock = put("locked.tree", ours, 0);
    flock(lock, LOCK_EX);
    close(put("foreign.part.live", "notes", 0));
    const char *same[] = { "open.part.live", "alone.part.live", "locked.part.live",
                           "other.part.live", "x.live", ".part.live", "done.part.live" };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        close(put(same[i], live, 0));
    for (long n = 0; n < 30; n++) {
        dp_mem_fail_after(n);
        dp_spool_trim(dir, DP_DIR_NAMED, 1 << 30);
    }
    dp_mem_fail_after(-1);
    dp_spool_trim(dir, DP_DIR_NAMED, 1 << 30);
    ok(!has("done.part.live"), "what lies beside a finished slice goes");
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        ok(has(kept[i]), "%s stays", kept[i]);
    close(lock);
    is_u(dp_spool_trim(dir, DP_DIR_NAMED, 1 << 30), 0, "what goes with the next cut is no slice");
    ok(!has("locked.part.live") && has("locked.tree"), "... when its process has ended");
    unlink(path_of("foreign.part.live"));
    ok(symlink("open.part.live", path_of("foreign.part.live")) == 0, "a link has such a name");
    dp_spool_trim(dir, DP_DIR_NAMED, 1 << 30);
    ok(has("foreign.part.live") && has("open.part.live"), "... and stays, as what it leads to");
    unlink(path_of("open.tree"));
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        unlink(path_of(kept[i]));
}

int main(void)
{
    if (!mkdtemp(dir))
        return 1;
    names();
    limit();
    together();
    orphans();
    ok(rmdir(dir) == 0, "nothing is left");
    is_i(dp_mem_live(), 0, "all memory is freed");
    return tap_done();
}
