/* Sources and sinks of bytes: files, descriptors, memory, the host's handles. A source that begins
 * with gzip's magic is inflated automatically. */
#ifndef DP_IO_H
#define DP_IO_H

#include "dp_base.h"
#include "dp_err.h"

/* Reads up to n bytes. Returns their number, 0 at the end, or a negative DP_E. */
typedef long dp_read_fn(void *ctx, void *buf, size_t n);

struct dp_inflate;
struct stat;

struct dp_source {
    dp_read_fn *read;
    void *ctx;
    int fd;                     /* -1 unless the source reads a descriptor */
    bool own_fd;                /* close the descriptor at the end */
    int sys_errno;              /* errno of the failed read */
    const char *mem;            /* for memory: the unread rest */
    size_t mem_len;
    bool started;               /* the magic has been checked */
    unsigned char head[2];      /* bytes read while looking for the magic, not yet delivered */
    unsigned head_len, head_pos;
    struct dp_inflate *inflate; /* NULL unless gzip */
    struct dp_inflate *within;  /* NULL unless dp_source_zlib was called */
    uint64_t size;              /* of the file in bytes, 0 if unknown */
    uint64_t taken;             /* number of bytes read from the file, before unpacking */
};

/* Opens the file of that name; "-" is descriptor 0. Returns 0, or DP_E_IO with
 * errno as open(2) left it. */
int dp_source_open(struct dp_source *src, const char *path);

/* Opens a file that no user has named, with dp_io_open_regular; links are followed. */
int dp_source_open_regular(struct dp_source *src, const char *path);
/* Reads from memory, which is borrowed. */
void dp_source_mem(struct dp_source *src, const void *ptr, size_t len);
/* Reads by calling fn. */
void dp_source_fn(struct dp_source *src, dp_read_fn *fn, void *ctx);
void dp_source_close(struct dp_source *src);
/* Can the source be read twice? The standard input (-) and a pipe cannot. */
bool dp_source_is_file(const char *path);

/* Reads up to n bytes, unpacked. Returns their number, 0 at the end, DP_E_TRUNCATED if a gzip
 * stream ends early, DP_E_IO, DP_E_NOMEM. Details go to err. */
long dp_source_read(struct dp_source *src, void *buf, size_t n, struct dp_err *err);

/* Continues with a zlib stream: the last bytes read were its beginning, the n bytes at ptr; the
 * rest of the source follows. From here on dp_source_read returns the contents of the stream, up to
 * its end. Once for a source. Returns 0 or DP_E_NOMEM. */
int dp_source_zlib(struct dp_source *src, const void *ptr, size_t n, struct dp_err *err);

/* Opens for reading a file that no user has named, such as a file next to another. It must be a
 * regular file: a pipe would block, and a device may have no end. st: receives the file's status.
 * Returns its descriptor, DP_E_ARG for other kinds of files, or DP_E_IO with errno as open(2) left
 * it. */
enum dp_io_links { DP_IO_NOFOLLOW, DP_IO_FOLLOW };
int dp_io_open_regular(const char *path, enum dp_io_links links, struct stat *st);

/* Moves a descriptor to a high number, close-on-exec, so the program's next open gets the same
 * number as without it. The descriptor stays if no higher number is free. Returns its number. */
int dp_io_high(int fd);

/* Accepts n bytes; returns 0 or a negative DP_E. */
typedef int dp_write_fn(void *ctx, const void *ptr, size_t n);

enum { DP_SINK_BUF = 32 * 1024 };

/* Buffered output. The first error is sticky: everything after it is dropped. */
struct dp_sink {
    dp_write_fn *write;
    void *ctx;
    int err;                    /* 0 or a negative DP_E */
    size_t len;
    char buf[DP_SINK_BUF];
};

void dp_sink_init(struct dp_sink *sink, dp_write_fn *fn, void *ctx);
/* Makes a sink on the heap, which dp_sink_end flushes and frees. NULL when memory is short. */
struct dp_sink *dp_sink_new(dp_write_fn *fn, void *ctx);
/* Returns the sticky error; 0 for NULL. */
int dp_sink_end(struct dp_sink *sink);
void dp_sink_add(struct dp_sink *sink, const void *ptr, size_t len);
void dp_sink_adds(struct dp_sink *sink, const char *str);
void dp_sink_addf(struct dp_sink *sink, const char *fmt, ...) DP_PRINTF(2, 3);
/* Writes n blanks. */
void dp_sink_blanks(struct dp_sink *sink, size_t n);
/* Hands over the buffer; returns the sticky error. */
int dp_sink_flush(struct dp_sink *sink);

/* Write bytes to the host's output, or to a sink. These have the type dp_write_fn; ctx is a struct
 * dp_host, or a sink. */
int dp_host_write(void *ctx, const void *ptr, size_t n);
int dp_sink_write(void *ctx, const void *ptr, size_t n);
/* Makes a sink on the heap that writes to the host, like dp_sink_new. */
struct dp_host;
struct dp_sink *dp_sink_of_host(const struct dp_host *host);

/* Packs its input as gzip: the same bytes for the same input. */
struct dp_pack;
/* zlib's levels. FAST takes a third of the time, and its results are a fifth longer. */
enum dp_pack_level { DP_PACK_FAST = 1, DP_PACK_USUAL = 6 };

/* Makes a pack; NULL when memory is short. */
struct dp_pack *dp_pack_new(dp_write_fn *fn, void *ctx, enum dp_pack_level level);
/* A dp_write_fn; ctx is the pack. */
int dp_pack_write(void *ctx, const void *ptr, size_t n);
/* Hands over the rest and frees the pack. Returns 0 or the first error. */
int dp_pack_end(struct dp_pack *pack);

#endif
