#include "dp_io.h"
#include "dp_mem.h"
#include "dprof/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { LOW_FD = 101 };          /* the recorder's descriptors are above: dp_io_high */

enum { PACKED = 64 * 1024 };

struct dp_inflate {
    z_stream z;
    bool between;               /* between two members */
    bool at_end;                /* the packed input has ended */
    bool zlib;                  /* a zlib stream within the file */
    unsigned char *ahead;       /* for a zlib stream: bytes that were read before; NULL: none */
    unsigned char in[PACKED];
};

int dp_io_open_regular(const char *path, enum dp_io_links links, struct stat *st)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
                        | (links == DP_IO_NOFOLLOW ? O_NOFOLLOW : 0));
    if (fd < 0)
        return DP_E_IO;
    if (fstat(fd, st) == 0 && S_ISREG(st->st_mode))
        return fd;
    close(fd);
    return DP_E_ARG;
}

static void source_init(struct dp_source *src)
{
    memset(src, 0, sizeof *src);
    src->fd = -1;
}

/* Reads from the source's file. Returns the number of bytes, 0 at the end, or DP_E_IO with the
 * reason in src->sys_errno. */
static long read_fd(void *ctx, void *buf, size_t n)
{
    struct dp_source *src = ctx;
    for (;;) {
        ssize_t got = read(src->fd, buf, n);
        if (got >= 0)
            return (long)got;
        if (errno == EINTR)
            continue;
        src->sys_errno = errno;
        return DP_E_IO;
    }
}

/* Reads up to n bytes of a source in memory. Returns their number, 0 at the end. */
static long read_mem(void *ctx, void *buf, size_t n)
{
    struct dp_source *src = ctx;
    if (n > src->mem_len)
        n = src->mem_len;
    if (n)
        memcpy(buf, src->mem, n);
    src->mem += n;
    src->mem_len -= n;
    return (long)n;
}

/* Reads from a descriptor, which still belongs to the caller. */
static void source_fd(struct dp_source *src, int fd)
{
    struct stat st;
    source_init(src);
    src->read = read_fd;
    src->ctx = src;
    src->fd = fd;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        src->size = (uint64_t)st.st_size;
}

bool dp_source_is_file(const char *path)
{
    struct stat st;
    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

int dp_io_high(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, LOW_FD);
    if (high < 0) {
        struct rlimit rl;
        if (getrlimit(RLIMIT_NOFILE, &rl) == 0 && rl.rlim_cur > 16 && rl.rlim_cur <= LOW_FD)
            high = fcntl(fd, F_DUPFD_CLOEXEC, (int)rl.rlim_cur - 4);
    }
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

/* Makes a source. fd: negative if the file could not be opened; otherwise the source closes it. */
static int source_of(struct dp_source *src, int fd)
{
    if (fd < 0) {
        source_init(src);
        return DP_E_IO;
    }
    source_fd(src, fd);
    src->own_fd = true;
    return 0;
}

int dp_source_open(struct dp_source *src, const char *path)
{
    if (strcmp(path, "-") == 0) {
        source_fd(src, 0);
        return 0;
    }
    return source_of(src, open(path, O_RDONLY | O_CLOEXEC));
}

int dp_source_open_regular(struct dp_source *src, const char *path)
{
    struct stat st;
    return source_of(src, dp_io_open_regular(path, DP_IO_FOLLOW, &st));
}

void dp_source_mem(struct dp_source *src, const void *ptr, size_t len)
{
    source_init(src);
    src->read = read_mem;
    src->ctx = src;
    src->mem = ptr;
    src->mem_len = len;
    src->size = len;
}

void dp_source_fn(struct dp_source *src, dp_read_fn *fn, void *ctx)
{
    source_init(src);
    src->read = fn;
    src->ctx = ctx;
}

static void inflate_free(struct dp_inflate *inf)
{
    if (!inf)
        return;
    inflateEnd(&inf->z);
    dp_mem_free(inf->ahead);
    dp_mem_free(inf);
}

void dp_source_close(struct dp_source *src)
{
    inflate_free(src->inflate);
    inflate_free(src->within);
    src->inflate = src->within = NULL;
    if (src->own_fd && src->fd >= 0)
        close(src->fd);
    src->fd = -1;
    src->own_fd = false;
}

/* Provides packed bytes: first those that were read to check the magic. */
static long read_raw(struct dp_source *src, void *buf, size_t n, struct dp_err *err)
{
    if (src->head_pos < src->head_len) {
        size_t have = src->head_len - src->head_pos;
        if (n > have)
            n = have;
        memcpy(buf, src->head + src->head_pos, n);
        src->head_pos += (unsigned)n;
        return (long)n;
    }
    long got = src->read(src->ctx, buf, n);
    if (got < 0)
        return dp_err_set(err, (int)got, "%s", src->sys_errno ? strerror(src->sys_errno)
                                                               : dp_err_text((int)got));
    src->taken += (uint64_t)got;
    return got;
}

/* Makes the state that unpacks gzip or zlib, which allocates by dp_mem.c. window: as zlib's
 * inflateInit2 takes it. NULL when memory is short. */
static struct dp_inflate *inflate_new(int window)
{
    struct dp_inflate *inf = dp_mem_zalloc(sizeof *inf);
    if (!inf)
        return NULL;
    inf->z.zalloc = dp_mem_zlib_alloc;
    inf->z.zfree = dp_mem_zlib_free;
    if (inflateInit2(&inf->z, window) == Z_OK)
        return inf;
    dp_mem_free(inf);
    return NULL;
}

/* Reads the first two bytes, and prepares to unpack if they are those of gzip. They stay in
 * src->head for the reader. */
static int check_magic(struct dp_source *src, struct dp_err *err)
{
    src->started = true;
    while (src->head_len < 2) {         /* a pipe may return a single byte */
        long got = src->read(src->ctx, src->head + src->head_len, 2 - src->head_len);
        if (got < 0)
            return dp_err_set(err, (int)got, "%s", src->sys_errno ? strerror(src->sys_errno)
                                                                   : dp_err_text((int)got));
        if (got == 0)
            return 0;
        src->head_len += (unsigned)got;
        src->taken += (uint64_t)got;
    }
    if (src->head[0] != 0x1f || src->head[1] != 0x8b)
        return 0;
    src->inflate = inflate_new(16 + MAX_WBITS);
    return src->inflate ? 0 : dp_err_set(err, DP_E_NOMEM, "%s", dp_err_text(DP_E_NOMEM));
}

static long read_unpacked(struct dp_source *src, struct dp_inflate *inf, void *buf, size_t n,
                          struct dp_err *err);

/* Reads more packed bytes when all of the former ones are used up. A zlib stream may itself lie
 * within a gzip file, and is unpacked from there. */
static int fill_input(struct dp_source *src, struct dp_inflate *inf, struct dp_err *err)
{
    if (inf->z.avail_in || inf->at_end)
        return 0;
    long got = inf->zlib && src->inflate
            ? read_unpacked(src, src->inflate, inf->in, sizeof inf->in, err)
            : read_raw(src, inf->in, sizeof inf->in, err);
    if (got < 0)
        return (int)got;
    inf->at_end = got == 0;
    inf->z.next_in = inf->in;
    inf->z.avail_in = (uInt)got;
    return 0;
}

/* Unpacks up to n bytes. Returns their number, 0 at the end, or a DP_E. Data that break off or are
 * damaged are an error only after everything before was returned. */
static long read_unpacked(struct dp_source *src, struct dp_inflate *inf, void *buf, size_t n,
                          struct dp_err *err)
{
    inf->z.next_out = buf;
    inf->z.avail_out = n > 1u << 30 ? 1u << 30 : (uInt)n;
    uInt want = inf->z.avail_out;
    while (inf->z.avail_out == want) {
        if (inf->between && inf->zlib)
            return 0;
        int rc = fill_input(src, inf, err);
        if (rc < 0)
            return rc;
        if (inf->between) {             /* gzip files may be concatenated */
            /* zeros and other bytes after the last member are padding, as in gzip */
            if (inf->z.avail_in == 0 || inf->z.next_in[0] != 0x1f)
                return 0;
            inflateReset(&inf->z);
            inf->between = false;
        }
        if (inf->at_end && inf->z.avail_in == 0)
            return dp_err_set(err, DP_E_TRUNCATED, "the compressed data break off");
        rc = inflate(&inf->z, Z_NO_FLUSH);
        if (rc == Z_STREAM_END)
            inf->between = true;
        else if (rc == Z_MEM_ERROR)
            return dp_err_set(err, DP_E_NOMEM, "%s", dp_err_text(DP_E_NOMEM));
        else if (rc != Z_OK && rc != Z_BUF_ERROR) {
            if (inf->z.avail_out != want)   /* everything unpacked before is valid */
                break;
            return dp_err_set(err, DP_E_IO, "the compressed data are damaged (%s)",
                              inf->z.msg ? inf->z.msg : "zlib");
        }
    }
    return (long)(want - inf->z.avail_out);
}

long dp_source_read(struct dp_source *src, void *buf, size_t n, struct dp_err *err)
{
    if (!src->started) {
        int rc = check_magic(src, err);
        if (rc < 0)
            return rc;
    }
    if (src->within)
        return read_unpacked(src, src->within, buf, n, err);
    return src->inflate ? read_unpacked(src, src->inflate, buf, n, err)
                        : read_raw(src, buf, n, err);
}

int dp_source_zlib(struct dp_source *src, const void *ptr, size_t n, struct dp_err *err)
{
    struct dp_inflate *inf = inflate_new(MAX_WBITS);
    if (inf && n)
        inf->ahead = dp_mem_alloc(n);
    if (!inf || (n && !inf->ahead)) {
        inflate_free(inf);
        return dp_err_set(err, DP_E_NOMEM, "%s", dp_err_text(DP_E_NOMEM));
    }
    inf->zlib = true;
    if (n)
        memcpy(inf->ahead, ptr, n);
    inf->z.next_in = inf->ahead;
    inf->z.avail_in = (uInt)n;
    src->within = inf;
    return 0;
}

void dp_sink_init(struct dp_sink *sink, dp_write_fn *fn, void *ctx)
{
    sink->write = fn;
    sink->ctx = ctx;
    sink->err = 0;
    sink->len = 0;
}

struct dp_sink *dp_sink_new(dp_write_fn *fn, void *ctx)
{
    struct dp_sink *sink = dp_mem_alloc(sizeof *sink);
    if (sink)
        dp_sink_init(sink, fn, ctx);
    return sink;
}

int dp_sink_end(struct dp_sink *sink)
{
    int rc = sink ? dp_sink_flush(sink) : 0;
    dp_mem_free(sink);
    return rc;
}

struct dp_sink *dp_sink_of_host(const struct dp_host *host)
{
    return dp_sink_new(dp_host_write, (void *)(uintptr_t)host);
}

int dp_host_write(void *ctx, const void *ptr, size_t n)
{
    const struct dp_host *host = ctx;
    return host->write(host->ctx, ptr, n) < 0 ? DP_E_IO : 0;
}

int dp_sink_write(void *ctx, const void *ptr, size_t n)
{
    struct dp_sink *sink = ctx;
    dp_sink_add(sink, ptr, n);
    return sink->err;
}

int dp_sink_flush(struct dp_sink *sink)
{
    if (sink->len && !sink->err)
        sink->err = sink->write(sink->ctx, sink->buf, sink->len);
    sink->len = 0;
    return sink->err;
}

void dp_sink_add(struct dp_sink *sink, const void *ptr, size_t len)
{
    const char *from = ptr;
    while (len && !sink->err) {
        size_t room = sizeof sink->buf - sink->len;
        size_t n = len < room ? len : room;
        memcpy(sink->buf + sink->len, from, n);
        sink->len += n;
        from += n;
        len -= n;
        if (sink->len == sizeof sink->buf)
            dp_sink_flush(sink);
    }
}

void dp_sink_adds(struct dp_sink *sink, const char *str)
{
    dp_sink_add(sink, str, strlen(str));
}

void dp_sink_addf(struct dp_sink *sink, const char *fmt, ...)
{
    char tmp[512];              /* only for numbers and fixed words; names use dp_sink_add */
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(tmp, sizeof tmp, fmt, ap);
    va_end(ap);
    if (n > 0)
        dp_sink_add(sink, tmp, (size_t)n < sizeof tmp ? (size_t)n : sizeof tmp - 1);
}

void dp_sink_blanks(struct dp_sink *sink, size_t n)
{
    static const char blanks[] = "                                                                ";
    while (n) {
        size_t part = n < sizeof blanks - 1 ? n : sizeof blanks - 1;
        dp_sink_add(sink, blanks, part);
        n -= part;
    }
}

struct dp_pack {
    z_stream z;
    dp_write_fn *write;
    void *ctx;
    int err;
    unsigned char out[PACKED];
};

struct dp_pack *dp_pack_new(dp_write_fn *fn, void *ctx, enum dp_pack_level level)
{
    struct dp_pack *pack = dp_mem_zalloc(sizeof *pack);
    if (!pack)
        return NULL;
    pack->z.zalloc = dp_mem_zlib_alloc;
    pack->z.zfree = dp_mem_zlib_free;
    pack->write = fn;
    pack->ctx = ctx;
    if (deflateInit2(&pack->z, level, Z_DEFLATED, 16 + MAX_WBITS, 8,
                     Z_DEFAULT_STRATEGY)
        != Z_OK) {
        dp_mem_free(pack);
        return NULL;
    }
    return pack;
}

/* Compresses the input that waits, and writes what comes out of it. flush: as in zlib. */
static void deflate_all(struct dp_pack *pack, int flush)
{
    do {
        pack->z.next_out = pack->out;
        pack->z.avail_out = sizeof pack->out;
        deflate(&pack->z, flush);
        size_t n = sizeof pack->out - pack->z.avail_out;
        if (n && !pack->err)
            pack->err = pack->write(pack->ctx, pack->out, n);
    } while (pack->z.avail_out == 0);
}

int dp_pack_write(void *ctx, const void *ptr, size_t n)
{
    struct dp_pack *pack = ctx;
    const unsigned char *from = ptr;
    while (n) {
        uInt part = n > 1u << 30 ? 1u << 30 : (uInt)n;
        pack->z.next_in = (unsigned char *)(uintptr_t)from;
        pack->z.avail_in = part;
        deflate_all(pack, Z_NO_FLUSH);
        from += part;
        n -= part;
    }
    return pack->err;
}

int dp_pack_end(struct dp_pack *pack)
{
    deflate_all(pack, Z_FINISH);
    int err = pack->err;
    deflateEnd(&pack->z);
    dp_mem_free(pack);
    return err;
}
