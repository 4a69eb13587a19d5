/* Prints a profile's lines as they are, each with its number and place, for a person who needs to
 * see what a file contains. */
#include "dp_err.h"
#include "dp_io.h"
#include "dp_mem.h"
#include "dp_text.h"
#include "dprof/profile.h"

#include <inttypes.h>
#include <string.h>

enum { CHUNK = 1 << 16 };

struct dumping {
    struct dp_sink sink;
    struct dp_source source;
    struct dp_buf line;         /* the line so far, without its end */
    uint64_t at, number;
    char chunk[CHUNK];
};

/* Prints a line of the file with its number and its place in bytes. whole: it ended with a
 * newline. */
static void end_line(struct dumping *d, bool whole)
{
    dp_sink_addf(&d->sink, "%8" PRIu64 " 0x%08" PRIx64 "  ", ++d->number, d->at);
    dp_text_print(&d->sink, d->line.ptr, d->line.len);
    dp_sink_adds(&d->sink, "\n");
    d->at += d->line.len + whole;
    d->line.len = 0;
}

/* Prints all lines. A line may come in several chunks, and d->line keeps its part of the earlier
 * ones. The file's last line may lack its end. */
static int dump_lines(struct dumping *d, struct dp_err *err)
{
    long n;
    while ((n = dp_source_read(&d->source, d->chunk, CHUNK, err)) > 0 && !d->sink.err) {
        const char *ptr = d->chunk, *end = ptr + n, *line;
        for (; (line = memchr(ptr, '\n', (size_t)(end - ptr))) != NULL; ptr = line + 1) {
            dp_buf_add(&d->line, ptr, (size_t)(line - ptr));
            end_line(d, true);
        }
        dp_buf_add(&d->line, ptr, (size_t)(end - ptr));
        if (d->line.err)
            return DP_E_NOMEM;
    }
    if (d->line.len)
        end_line(d, false);
    return (int)n;
}

int dp_dump(const char *path, const struct dp_host *host, char *message)
{
    struct dumping *d = dp_mem_alloc(sizeof *d);
    struct dp_err err;
    memset(&err, 0, sizeof err);
    message[0] = '\0';
    if (!d)
        return DP_E_NOMEM;
    d->at = d->number = 0;
    dp_sink_init(&d->sink, dp_host_write, (void *)(uintptr_t)host);
    dp_buf_init(&d->line);
    int rc = dp_source_open(&d->source, path);
    if (rc == 0) {
        rc = dump_lines(d, &err);
        dp_source_close(&d->source);
    }
    int flushed = dp_sink_flush(&d->sink);
    if (d->sink.err || flushed < 0)
        strcpy(message, "the output could not be written");
    else if (rc < 0 && err.message[0])
        memcpy(message, err.message, sizeof err.message < 240 ? sizeof err.message : 240);
    dp_buf_release(&d->line);
    dp_mem_free(d);
    return rc < 0 ? rc : flushed;
}
