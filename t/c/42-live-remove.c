/* Memory that outlives the process: its file when it goes, also where it cannot be removed. */
#include "tap.h"
#include "dp_live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The C library's is not linked: here root, too, has directories that are not its own. */
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
    if (!ok(one && two && size_of_file() > 6 * DP_PIECE_ALIGN, "%s: a file of two pieces", what))
        return;
    refuses = !removable;
    if (detach)
        ok(dp_live_detach(&live), "%s: detached, it gives room", what);
    else
        dp_live_remove(&live);
    is_i(size_of_file(), removable ? -1 : 0, "%s: what is left of the file", what);
    ok(holds(one, 'a') && holds(two, 'b'), "%s: the pieces are as they were", what);
    memset(one, 'c', 3 * DP_PIECE_ALIGN);
    ok(holds(one, 'c') && holds(two, 'b'), "%s: and can be written", what);
    char *three = add(&live, DP_LIVE_NODES, 'd');
    ok(three && holds(three, 'd') && size_of_file() <= 0, "%s: a third one is memory", what);
    refuses = false;
    if (!detach && removable) {
        dp_live_restore(&live, profile);
        ok(size_of_file() > 9 * DP_PIECE_ALIGN && holds(one, 'c'), "%s: taken back", what);
        dp_live_remove(&live);
    }
    dp_live_release(&live);
    unlink(file);
}

/* A file of that name that is another one is nobody's business. */
static void foreign(void)
{
    struct dp_live live;
    dp_live_init(&live, profile, 0);
    char *one = add(&live, DP_LIVE_NODES, 'a');
    ok(one && rename(file, profile) == 0, "a file that was moved");
    FILE *theirs = fopen(file, "w");
    ok(theirs && fputs("mine", theirs) >= 0 && fclose(theirs) == 0, "and another in its place");
    refuses = true;
    dp_live_remove(&live);
    refuses = false;
    is_i(size_of_file(), 4, "is left as it is");
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
