/* Where bytes come from and where they go: files, descriptors, memory, the
 * host's handles. A source that begins with gzip's magic is inflated automatically. */
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
    int fd;                     /* -1 unless it reads a descriptor */
    bool own_fd;                /* close it at the end */
    int sys_errno;              /* of the read that failed */
    const char *mem;            /* for memory: what is left */
    size_t mem_len;
    bool started;               /* the magic was looked at */
    unsigned char head[2];      /* bytes read while looking for the magic, not yet delivered */
    unsigned head_len, head_pos;
    struct dp_inflate *inflate; /* NULL unless gzip */
    struct dp_inflate *within;  /* NULL unless dp_source_zlib was called */
    uint64_t size;              /* bytes of the file, 0 where unknown */
    uint64_t taken;             /* how many bytes were taken from the file, before they are
                                 * unpacked */
};

/* Opens the file of that name; "-" is descriptor 0. Returns 0, or DP_E_IO with
 * errno as open(2) left it. */
int dp_source_open(struct dp_source *src, const char *path);

/* The same for a file that nobody has named, by dp_io_open_regular; links are followed. */
int dp_source_open_regular(struct dp_source *src, const char *path);
/* Reads from memory, which is borrowed. */
void dp_source_mem(struct dp_source *src, const void *ptr, size_t len);
/* Reads by calling fn. */
void dp_source_fn(struct dp_source *src, dp_read_fn *fn, void *ctx);
void dp_source_close(struct dp_source *src);
/* Can the source be read twice? The standard input (-) and a pipe cannot. */
bool dp_source_is_file(const char *path);

/* Reads up to n bytes, unpacked. Returns their number, 0 at the end, DP_E_TRUNCATED when a gzip
 * stream breaks off, DP_E_IO, DP_E_NOMEM. Detail goes to err. */
long dp_source_read(struct dp_source *src, void *buf, size_t n, struct dp_err *err);

/* What was read last is the beginning of a zlib stream: the n bytes at ptr, and all that follows.
 * From here on dp_source_read gives what the stream holds, and the end of the stream is the end.
 * Once for a source. Returns 0 or DP_E_NOMEM. */
int dp_source_zlib(struct dp_source *src, const void *ptr, size_t n, struct dp_err *err);

/* Opens for reading a file that nobody has named, such as a file beside another. It must be a
 * regular file: a pipe would make us wait, and a device may have no end. st: that of the file.
 * Returns its descriptor, DP_E_ARG if it is something else, or DP_E_IO with errno as open(2) left
 * it. */
enum dp_io_links { DP_IO_NOFOLLOW, DP_IO_FOLLOW };
int dp_io_open_regular(const char *path, enum dp_io_links links, struct stat *st);

/* Moves a descriptor out of the way, so that the program's next open gets the number it
 * would have had; close-on-exec. Leaves the descriptor where it is when no higher number is free.
 * Returns its number. */
int dp_io_high(int fd);

/* Takes n bytes; returns 0 or a negative DP_E. */
typedef int dp_write_fn(void *ctx, const void *ptr, size_t n);

enum { DP_SINK_BUF = 32 * 1024 };

/* Buffered output. The first error is sticky: whatever follows is dropped. */
struct dp_sink {
    dp_write_fn *write;
    void *ctx;
    int err;                    /* 0 or a negative DP_E */
    size_t len;
    char buf[DP_SINK_BUF];
};

void dp_sink_init(struct dp_sink *sink, dp_write_fn *fn, void *ctx);
/* The same on the heap, where dp_sink_end flushes and frees it. NULL when memory is short. */
struct dp_sink *dp_sink_new(dp_write_fn *fn, void *ctx);
/* Returns the sticky error; 0 for NULL. */
int dp_sink_end(struct dp_sink *sink);
void dp_sink_add(struct dp_sink *sink, const void *ptr, size_t len);
void dp_sink_adds(struct dp_sink *sink, const char *str);
void dp_sink_addf(struct dp_sink *sink, const char *fmt, ...) DP_PRINTF(2, 3);
/* n blanks. */
void dp_sink_blanks(struct dp_sink *sink, size_t n);
/* Hands over what is buffered; returns the sticky error. */
int dp_sink_flush(struct dp_sink *sink);

/* These are of the type dp_write_fn; ctx is a struct dp_host, or a sink. */
int dp_host_write(void *ctx, const void *ptr, size_t n);
int dp_sink_write(void *ctx, const void *ptr, size_t n);
/* A sink on the heap that writes to the host, as dp_sink_new makes it. */
struct dp_host;
struct dp_sink *dp_sink_of_host(const struct dp_host *host);

/* Packs as gzip what is written to it: the same bytes for the same input. */
struct dp_pack;
/* zlib's: a third of the time, for results that are a fifth longer; the usual one. */
enum dp_pack_level { DP_PACK_FAST = 1, DP_PACK_USUAL = 6 };

/* NULL when memory is short. */
struct dp_pack *dp_pack_new(dp_write_fn *fn, void *ctx, enum dp_pack_level level);
/* A dp_write_fn; ctx is the pack. */
int dp_pack_write(void *ctx, const void *ptr, size_t n);
/* Hands over the rest and frees. Returns 0 or the first error. */
int dp_pack_end(struct dp_pack *pack);

#endif
