/* Members of gzip, and the recorder's file made of them, are read back by the tools' own source. */
#include "tap.h"
#include "dp_buf.h"
#include "dp_gzip.h"
#include "dp_io.h"
#include "dp_mem.h"
#include "dp_outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* Returns what compressed bytes expand to; rc: 0 or how the reading ended. */
static char *unpack(const char *ptr, size_t len, size_t *out_len, int *rc)
{
    struct dp_source src;
    struct dp_err err;
    struct dp_buf all;
    char part[777];
    long got;
    dp_err_init(&err);
    dp_buf_init(&all);
    dp_source_mem(&src, ptr, len);
    while ((got = dp_source_read(&src, part, sizeof part, &err)) > 0)
        dp_buf_add(&all, part, (size_t)got);
    dp_source_close(&src);
    *rc = (int)got;
    *out_len = all.len;
    dp_buf_addc(&all, '\0');
    return all.ptr;
}

static char *noise(size_t n)
{
    char *p = malloc(n + 1);
    unsigned seed = 1;
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1103515245 + 12345;
        p[i] = (char)(seed >> 16);
    }
    p[n] = '\0';
    return p;
}

/* A zlib stream within a file: text in front of it, and bytes behind it that are not read. `split`
 * bytes of it are read with the text. */
static int within(const char *ptr, size_t len, size_t split, char *out, size_t room, size_t *got)
{
    struct dp_source src;
    struct dp_err err;
    char part[64];
    long n = 0;
    dp_err_init(&err);
    *got = 0;
    dp_source_mem(&src, ptr, len);
    while (split && (n = dp_source_read(&src, part + *got, split - *got, &err)) > 0
           && (*got += (size_t)n) < split)
        ;
    int rc = n < 0 ? (int)n : dp_source_zlib(&src, part + 4, *got - 4, &err);
    *got = 0;
    while (rc == 0 && (n = dp_source_read(&src, out + *got, room - *got, &err)) > 0)
        *got += (size_t)n;
    dp_source_close(&src);
    return rc < 0 ? rc : (int)n;
}

static void zlib_within(void)
{
    char text[3000], file[4000] = "head", out[3001], gz[4100];
    uLongf packed = sizeof file - 20;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('a' + i % 7 + i % 11);
    compress2((Bytef *)file + 4, &packed, (const Bytef *)text, sizeof text, 6);
    size_t len = 4 + packed, got, n;
    memcpy(file + len, "tail", 4);
    bool good = true;
    for (size_t split = 4; split < 64 && split < len; split++)
        good = good && within(file, len + 4, split, out, sizeof out, &got) == 0
               && got == sizeof text && memcmp(out, text, got) == 0;
    ok(good, "a zlib stream within a file, wherever it was noticed");
    good = true;
    for (n = 4; n < len; n++)
        good = good && within(file, n, 4, out, sizeof out, &got) == DP_E_TRUNCATED
               && memcmp(out, text, got) == 0;
    ok(good, "a zlib stream that breaks off");
    file[10] ^= 0x55;
    is_i(within(file, len, 4, out, sizeof out, &got), DP_E_IO, "a zlib stream that is damaged");
    file[10] ^= 0x55;
    struct dp_gzip *packer = dp_gzip_new(6);
    const char *member;
    size_t member_len;
    dp_gzip_pack(packer, file, len, &member, &member_len);
    memcpy(gz, member, member_len);
    is_i(within(gz, member_len, 9, out, sizeof out, &got), 0, "within gzip");
    ok(got == sizeof text && memcmp(out, text, got) == 0, "the same text");
    dp_gzip_free(packer);
    int rc = DP_E_NOMEM;
    long i = 0;
    for (; rc == DP_E_NOMEM; i++) {
        dp_mem_fail_after(i);
        rc = within(file, len, 9, out, sizeof out, &got);
        dp_mem_fail_after(-1);
    }
    ok(i > 3 && rc == 0, "each of %ld allocations may fail", i);
}

static void members(void)
{
    struct dp_gzip *gz = dp_gzip_new(6);
    struct dp_buf file;
    char *text = noise(DP_GZIP_TEXT + 1);
    const char *out;
    size_t len, back_len;
    int rc;
    ok(gz != NULL, "a packer is made");
    long before = dp_mem_live();
    dp_mem_fail_after(0);
    dp_buf_init(&file);
    bool good = true;
    for (size_t n = 0; n <= DP_GZIP_TEXT; n = n ? n * 2 : 1) {
        good = good && dp_gzip_pack(gz, text, n, &out, &len) == 0;
        dp_mem_fail_after(-1);
        char *back = unpack(out, len, &back_len, &rc);
        good = good && rc == 0 && back_len == n && memcmp(back, text, n) == 0;
        dp_mem_free(back);
        dp_mem_fail_after(0);
    }
    ok(good, "members of any size are made without allocation");
    is_i(dp_gzip_pack(gz, text, DP_GZIP_TEXT + 1, &out, &len), DP_E_IO,
            "a text too long for a member is refused");
    is_i(dp_gzip_store(gz, text, DP_GZIP_STORED + 1, &out, &len), DP_E_IO,
            "a text too long to store is refused");
    good = true;
    for (size_t n = 0; n <= DP_GZIP_STORED; n = n * 4 + 3) {
        good = good && dp_gzip_store(gz, text, n, &out, &len) == 0 && len == n + DP_GZIP_FRAME;
        size_t most;
        const char *in = dp_gzip_stored(out, len, &most);
        good = good && in && most == n && memcmp(in, text, n) == 0;
        dp_mem_fail_after(-1);
        char *back = unpack(out, len, &back_len, &rc);
        good = good && rc == 0 && back_len == n && memcmp(back, text, n) == 0;
        dp_mem_free(back);
        dp_mem_fail_after(0);
    }
    ok(good, "stored members are read back");
    dp_mem_fail_after(-1);
    ok(!dp_gzip_stored("#fOrTyTwO\n#fOrTyTwO\n", 20, &len), "other text is no stored member");
    is_i(dp_mem_live(), before, "nothing was allocated");

    /* The members come one after the other, and the file is cut off anywhere. */
    dp_gzip_store(gz, "head\n", 5, &out, &len);
    dp_buf_add(&file, out, len);
    for (int i = 0; i < 3; i++) {
        dp_gzip_pack(gz, "line\nline\nline\n", 15, &out, &len);
        dp_buf_add(&file, out, len);
    }
    size_t last = 0;
    good = true;
    for (size_t n = 2; n <= file.len; n++) {
        char *back = unpack(file.ptr, n, &back_len, &rc);
        good = good && back_len >= last
               && memcmp(back, "head\nline\nline\nline\nline\nline\nline\nline\nline\nline\n",
                         back_len)
                      == 0
               && (rc == 0 || rc == DP_E_TRUNCATED);
        last = back_len;
        dp_mem_free(back);
    }
    ok(good && last == 50 && rc == 0, "a file cut off anywhere has the members before");
    dp_buf_release(&file);
    dp_gzip_free(gz);
    free(text);
}

static void no_memory(void)
{
    long n = 0, before = dp_mem_live();
    struct dp_gzip *gz = NULL;
    for (; n < 50 && !gz; n++) {
        dp_mem_fail_after(n);
        gz = dp_gzip_new(1);
        dp_mem_fail_after(-1);
        if (!gz && dp_mem_live() != before)
            break;
    }
    ok(gz && n > 2, "every allocation failed once (%ld)", n);
    dp_gzip_free(gz);
    is_i(dp_mem_live(), before, "no failure leaks");
}

/* ---- the file ---- */

static char dir[] = "/tmp/dprof-gzip-XXXXXX";
static char path[200];

static char *file_text(int *rc, size_t *len)
{
    struct dp_buf all;
    char part[500];
    ssize_t got;
    int fd = open(path, O_RDONLY);
    dp_buf_init(&all);
    while (fd >= 0 && (got = read(fd, part, sizeof part)) > 0)
        dp_buf_add(&all, part, (size_t)got);
    close(fd);
    char *text = unpack(all.ptr ? all.ptr : "", all.len, len, rc);
    dp_buf_release(&all);
    return text;
}

#define MAGIC "#fOrTyTwO\n"

static bool file_is(const char *want)
{
    int rc;
    size_t len;
    char *text = file_text(&rc, &len);
    bool same = rc == 0 && strcmp(text, want) == 0;
    if (!same)
        printf("# %d: '%s'\n", rc, text);
    dp_mem_free(text);
    return same;
}

static void files(int level)
{
    struct dp_outfile of, twin, other;
    struct dp_err err;
    struct stat st, then;
    uint64_t magic_at, at, tree_at;
    struct dp_gzip *gz = level ? dp_gzip_new(level) : NULL;
    const char *how = level ? "packed" : "plain";
    dp_err_init(&err);
    umask(022);
    ok(dp_outfile_open(&of, path, DP_OUT_NOFOLLOW, &err) == 0, "%s: the file is opened", how);
    of.gzip = gz;
    dp_outfile_write_fixed(&of, MAGIC, 10, &magic_at, &err);
    dp_outfile_write_fixed(&of, "....\n", 5, &at, &err);
    dp_outfile_write(&of, "one\n", 4, &err);
    dp_outfile_write(&of, "two\n", 4, &err);
    is_u(of.text, 23, "%s: text", how);
    stat(path, &st);
    is_u(of.size, (unsigned long long)st.st_size, "%s: size", how);
    ok(file_is(MAGIC "....\none\ntwo\n"), "%s: the text is written", how);
    is_i(dp_outfile_patch(&of, at, "last\n", 5), 0, "%s: patched", how);
    ok(file_is(MAGIC "last\none\ntwo\n"), "%s: the reserved line is filled", how);
    tree_at = of.size;
    dp_outfile_write(&of, "three\n", 6, &err);
    dp_outfile_cut(&of, tree_at);
    ok(file_is(MAGIC "last\none\ntwo\n"), "%s: text is taken back", how);

    /* The twin is a file that takes the first one's place. */
    stat(path, &then);
    umask(077);
    ok(dp_outfile_twin(&of, &twin, tree_at) == 0, "%s: a twin is made", how);
    dp_outfile_write(&twin, "four\n", 5, &err);
    dp_outfile_patch(&twin, at, "next\n", 5);
    ok(file_is(MAGIC "last\none\ntwo\n"), "%s: the file is unchanged", how);
    ok(dp_outfile_replace(&of, &twin) == 0, "%s: the twin takes its place", how);
    ok(file_is(MAGIC "next\none\ntwo\nfour\n"), "%s: the twin is whole", how);
    stat(path, &st);
    ok(st.st_ino == of.ino && st.st_ino != then.st_ino && st.st_mode == then.st_mode
           && (uint64_t)st.st_size == of.size,
       "%s: and is the file from now on", how);
    ok(of.fd > 100 && (fcntl(of.fd, F_GETFD) & FD_CLOEXEC),
            "%s: the descriptor is high and closed on exec", how);
    ok(dp_outfile_twin(&of, &twin, tree_at) == 0 && dp_outfile_twin(&of, &other, tree_at) < 0,
       "%s: one at a time", how);
    dp_outfile_discard(&twin);
    char name[220];
    snprintf(name, sizeof name, "%s.new", path);
    ok(access(name, F_OK) < 0 && file_is(MAGIC "next\none\ntwo\nfour\n"),
            "%s: a twin is discarded", how);

    /* A process was killed in between: the lock is gone, the file is there. */
    int fd = open(name, O_WRONLY | O_CREAT, 0600);
    ok(write(fd, MAGIC "x", 11) == 11 && dp_outfile_twin(&of, &twin, tree_at) == 0,
       "%s: one that was left over", how);
    dp_outfile_discard(&twin);
    close(fd);
    fd = open(name, O_WRONLY | O_CREAT, 0600);
    ok(write(fd, "mine", 4) == 4 && dp_outfile_twin(&of, &twin, tree_at) < 0
           && access(name, F_OK) == 0,
       "%s: a foreign file stays", how);
    close(fd);
    unlink(name);

    /* The file is renamed, or another one is in its place: it is not put back. */
    char moved[220];
    snprintf(moved, sizeof moved, "%s.moved", path);
    ok(dp_outfile_twin(&of, &twin, tree_at) == 0 && rename(path, moved) == 0
           && dp_outfile_replace(&of, &twin) < 0,
       "%s: moved meanwhile", how);
    ok(access(path, F_OK) < 0 && access(name, F_OK) < 0 && dp_outfile_twin(&of, &twin, tree_at) < 0,
       "%s: nothing comes in its place", how);
    rename(moved, path);

    /* Another run sees that the file is held; the next one finds it to be a profile. */
    ok(dp_outfile_open(&other, path, DP_OUT_NOFOLLOW, &err) == 0 && strcmp(other.path, path) != 0,
       "%s: a file that is held is not opened", how);
    unlink(other.path);
    dp_outfile_close(&other);
    dp_outfile_close(&of);
    ok(dp_outfile_open(&other, path, DP_OUT_NOFOLLOW, &err) == 0 && strcmp(other.path, path) == 0,
       "%s: a profile, which gives way", how);
    dp_outfile_close(&other);
    unlink(path);
    dp_gzip_free(gz);
}

/* A full disk gets as much of the text as fits, in whole members. */
static void full(void)
{
    struct dp_outfile of;
    struct dp_err err;
    struct rlimit before, few;
    struct dp_gzip *gz = dp_gzip_new(9);
    struct dp_buf text;
    int rc;
    size_t len;
    char *bytes = noise(40000);
    dp_buf_init(&text);
    for (int i = 0; i < 40000; i++)
        dp_buf_addf(&text, "%x\n", (unsigned char)bytes[i]);
    dp_err_init(&err);
    dp_outfile_open(&of, path, DP_OUT_NOFOLLOW, &err);
    of.gzip = gz;
    getrlimit(RLIMIT_FSIZE, &before);
    few = before;
    few.rlim_cur = 20000;
    setrlimit(RLIMIT_FSIZE, &few);
    rc = dp_outfile_write(&of, text.ptr, text.len, &err);
    setrlimit(RLIMIT_FSIZE, &before);
    ok(rc == DP_E_IO && of.failed && strstr(err.message, strerror(EFBIG)),
            "a full disk is an error: %s", err.message);
    ok(of.size <= 20000 && of.size > 17500, "nearly all of the room is used: %llu",
       (unsigned long long)of.size);
    char *back = file_text(&rc, &len);
    ok(rc == 0 && len == of.text && memcmp(back, text.ptr, len) == 0 && back[len - 1] == '\n',
       "whole members of whole lines: %zu", len);
    dp_mem_free(back);
    of.failed = false;
    ok(dp_outfile_write(&of, text.ptr + of.text, text.len - of.text, &err) == 0,
       "the rest is written when there is room again");
    back = file_text(&rc, &len);
    ok(rc == 0 && len == text.len && memcmp(back, text.ptr, len) == 0, "the whole text is there");
    dp_mem_free(back);
    dp_outfile_close(&of);
    unlink(path);
    dp_gzip_free(gz);
    dp_buf_release(&text);
    free(bytes);
}

int main(void)
{
    signal(SIGXFSZ, SIG_DFL);
    if (!mkdtemp(dir))
        return 1;
    snprintf(path, sizeof path, "%s/tmon.out", dir);
    members();
    zlib_within();
    no_memory();
    files(0);
    files(6);
    full();
    rmdir(dir);
    is_i(dp_mem_live(), 0, "no memory is left");
    return tap_done();
}
