/* Memory that outlives the process: pieces in a file, also on systems whose pages are larger than
 * those here. */
#include "tap.h"
#include "dp_io.h"
#include "dp_live.h"
#include "dp_pieces.h"
#include "dp_rec.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char profile[] = "/tmp/dprof-live-XXXXXX", file[sizeof profile + sizeof DP_FMT_LIVE];

static uint64_t size_of_file(void)
{
    struct stat st;
    return stat(file, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* Checks what a reader finds in the file: the run, and the names. */
static void is_read(const char *names, const char *what)
{
    struct dp_pieces p;
    struct dp_source src;
    dp_pieces_init(&p);
    is_i(dp_source_open(&src, file), 0, "the file is there");
    is_i(dp_pieces_read(&p, &src), 0, "it is read");
    dp_source_close(&src);
    ok(p.has_state && !strcmp(p.run, "1.2"), "%s: the state is read", what);
    is_s(dp_buf_cstr(&p.names), names, "%s: the names", what);
    is_i(p.err.code, 0, "%s: nothing is wrong: %s", what, p.err.message);
    dp_pieces_release(&p);
}

static void pages(size_t page, uint64_t expect)
{
    struct dp_live live;
    dp_live_init(&live, profile, page);
    struct dp_live_state *state = dp_live_add(&live, DP_LIVE_STATE, sizeof *state);
    char *names = dp_live_add(&live, DP_LIVE_NAMES, 100),
         *more = dp_live_add(&live, DP_LIVE_NAMES, (size_t)expect);
    ok(state && names && more, "pages of %zu bytes: pieces are made", page);
    if (!state || !names || !more)
        return;
    strcpy(state->run, "1.2");
    strcpy(names, "& 1 m a m.pl:1\n");
    strcpy(more, "& 2 m b m.pl:2\n");
    is_u(live.pieces[0].size, expect, "a small piece is a page");
    is_u(live.pieces[2].size, 2 * expect, "a piece that does not fit beside its head is two pages");
    ok(live.pieces[0].mapped && live.pieces[1].mapped && live.pieces[2].mapped,
       "all pieces are in the file");
    is_u(size_of_file(), 4 * expect, "the file is as long as its pieces");
    is_read("& 1 m a m.pl:1\n& 2 m b m.pl:2\n", "while it runs");
    dp_live_remove(&live);
    is_u(size_of_file(), 0, "removed");
    dp_live_restore(&live, profile);
    is_u(live.page, expect, "the size of a page is kept");
    is_u(size_of_file(), 4 * expect, "the file is restored");
    is_read("& 1 m a m.pl:1\n& 2 m b m.pl:2\n", "restored");
    dp_live_detach(&live);
    dp_live_release(&live);
}

/* Does what a handler of SIGBUS does; the test calls it itself, before it touches what is gone. */
static void lose(void)
{
    struct dp_live live;
    int elsewhere = 0;
    dp_live_init(&live, profile, 0);
    char *names = dp_live_add(&live, DP_LIVE_NAMES, 100),
         *sites = dp_live_add(&live, DP_LIVE_SITES, 100);
    ok(names && sites, "two pieces are made");
    if (!names || !sites)
        return;
    strcpy(names, "& 1 m a m.pl:1\n");
    ok(!dp_live_lose(&live, &elsewhere) && !live.lost,
            "an address outside of the pieces is refused");
    is_s(names, "& 1 m a m.pl:1\n", "a refused address clears nothing");
    ok(truncate(file, 0) == 0, "the file is cut off");
    ok(dp_live_lose(&live, sites + 7) && live.lost, "an address in the second piece is accepted");
    names[5] = 'x';
    sites[5] = 'y';
    ok(names[0] == 0 && names[4] == 0 && sites[0] == 0,
            "both pieces become memory, and are cleared");
    is_u(size_of_file(), 0, "the file stays empty");
    ok(!dp_live_lose(&live, sites), "a second loss is refused");
    char *more = dp_live_add(&live, DP_LIVE_NAMES, 100);
    ok(more && !live.pieces[2].mapped, "a new piece is memory alone");
    dp_live_remove(&live);
    dp_live_release(&live);
}

int main(void)
{
    int fd = mkstemp(profile);
    ok(fd >= 0, "a place for files is made");
    close(fd);
    snprintf(file, sizeof file, "%s%s", profile, DP_FMT_LIVE);
    pages(4096, 4096);
    pages(65536, 65536);
    pages(1024, 4096);          /* never less than a reader's step */
    pages(0, (uint64_t)(sysconf(_SC_PAGESIZE) > 4096 ? sysconf(_SC_PAGESIZE) : 4096));
    lose();
    unlink(profile);
    return tap_done();
}
