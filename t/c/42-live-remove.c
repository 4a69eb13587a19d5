/* Memory that outlives the process: the end of its file, also if it cannot be removed. */
#include "tap.h"
#include "dp_live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* This replaces the C library's, so that root, too, has directories that it cannot change. */
static bool refuses;

int unlink(const char *path)
{
    if (refuses) {
        errno = EACCES;
        return -1;
    }
    return unlinkat(AT_FDCWD, path, 0);
}

static char dir[] = "/tmp/dprof-live-XXXXXX", profile[64], file[64 + sizeof DP_FMT_LIVE];

static long long size_of_file(void)
{
    struct stat st;
    return stat(file, &st) == 0 ? (long long)st.st_size : -1;
}

static char *add(struct dp_live *live, enum dp_live_kind kind, char fill)
{
    char *ptr = dp_live_add(live, kind, 3 * DP_PIECE_ALIGN);
    if (ptr)
        memset(ptr, fill, 3 * DP_PIECE_ALIGN);
    return ptr;
}

static bool holds(const char *ptr, char fill)
{
    for (size_t i = 0; i < 3 * DP_PIECE_ALIGN; i++)
        if (ptr[i] != fill)
            return false;
    return true;
}

static void goes(bool removable, bool detach)
{
    const char *what = removable ? "removable" : "not removable";
    struct dp_live live;
    dp_live_init(&live, profile, 0);
    char *one = add(&live, DP_LIVE_NODES, 'a'), *two = add(&live, DP_LIVE_NODES, 'b');
    if (!ok(one && two && size_of_file() > 6 * DP_PIECE_ALIGN,
            "%s: a file of two pieces is made", what))
        return;
    refuses = !removable;
    if (detach)
        ok(dp_live_detach(&live), "%s: detaching frees the disk", what);
    else
        dp_live_remove(&live);
    is_i(size_of_file(), removable ? -1 : 0, "%s: what is left of the file", what);
    ok(holds(one, 'a') && holds(two, 'b'), "%s: the pieces keep their bytes", what);
    memset(one, 'c', 3 * DP_PIECE_ALIGN);
    ok(holds(one, 'c') && holds(two, 'b'), "%s: the pieces can be written", what);
    char *three = add(&live, DP_LIVE_NODES, 'd');
    ok(three && holds(three, 'd') && size_of_file() <= 0, "%s: a third piece is memory", what);
    refuses = false;
    if (!detach && removable) {
        dp_live_restore(&live, profile);
        ok(size_of_file() > 9 * DP_PIECE_ALIGN && holds(one, 'c'),
                "%s: attaching puts the pieces in a file", what);
        dp_live_remove(&live);
    }
    dp_live_release(&live);
    unlink(file);
}

/* A foreign file of that name is left alone. */
static void foreign(void)
{
    struct dp_live live;
    dp_live_init(&live, profile, 0);
    char *one = add(&live, DP_LIVE_NODES, 'a');
    ok(one && rename(file, profile) == 0, "the file is renamed");
    FILE *theirs = fopen(file, "w");
    ok(theirs && fputs("mine", theirs) >= 0 && fclose(theirs) == 0, "another file takes its place");
    refuses = true;
    dp_live_remove(&live);
    refuses = false;
    is_i(size_of_file(), 4, "the other file is left as it is");
    dp_live_release(&live);
    unlink(file);
    unlink(profile);
}

int main(void)
{
    if (!mkdtemp(dir))
        return 1;
    snprintf(profile, sizeof profile, "%s/tmon.out", dir);
    snprintf(file, sizeof file, "%s%s", profile, DP_FMT_LIVE);
    for (int detach = 0; detach < 2; detach++) {
        goes(true, detach);
        goes(false, detach);
    }
    foreign();
    rmdir(dir);
    return tap_done();
}
