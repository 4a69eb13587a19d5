/* Inside the reader: the lines of a trace. Not for anybody else. */
#ifndef DP_READER_TEXT_H
#define DP_READER_TEXT_H

#include "dp_reader.h"
#include "dp_buf.h"
#include "dp_map.h"
#include "dp_pool.h"

enum {
    DP_READER_BUF = 128 * 1024,
    DP_READER_FRONT = 16,       /* readable bytes before the data */
    DP_READER_PAD = 32,         /* and behind it */
    DP_READER_BATCH = 256,
    DP_READER_NEAR = 1 << 20    /* ids below it are found by index */
};

/* key: the id's digits as they stand in the file, so that a line with other
 * bytes never matches. 0: not named yet. */
struct dp_reader_id {
    uint64_t key;
    uint32_t sub;
};

struct dp_reader {
    struct dp_source *src;
    const struct dp_consumer *to;
    struct dp_header *head;
    struct dp_read_info *info;
    struct dp_err *err;
    char *block;                /* buf is DP_READER_FRONT bytes into it */
    char *buf;
    size_t pos, end, cap;       /* unread: buf[pos..end) */
    uint64_t base;              /* offset in the file of buf[0] */
    uint64_t line;              /* number of the line at pos */
    uint64_t told;              /* progress */
    bool at_end, cut;
    bool writing;               /* between the classic recorder's brackets */
    bool has_clock;             /* an old-style line has set the clock */
    uint64_t clock[DP_METRICS];
    uint64_t t[DP_METRICS];     /* time since the last event, brackets left out */
    uint64_t passed[DP_METRICS];    /* all time of the trace, brackets included */
    struct dp_reader_id *ids;   /* by id */
    size_t ids_cap;
    struct dp_map far_ids;      /* the others */
    uint32_t id_count;
    struct dp_pool names;       /* of old-style lines */
    uint32_t *name_subs;
    size_t name_subs_cap;
    struct dp_buf scratch;      /* decoded fields */
    size_t n_events;
    struct dp_event events[DP_READER_BATCH];    /* last: start() clears up to here */
};

/* Takes all lines up to end, which is behind a line's end. */
int dp_reader_lines(struct dp_reader *r, const char *end);

/* A new event with the time that has passed; flush when the batch is full. */
struct dp_event *dp_reader_event(struct dp_reader *r, int op, uint32_t sub, uint64_t at);
int dp_reader_flush(struct dp_reader *r);

/* Sets the error at r->pos + ahead. Returns code. */
int dp_reader_fail(struct dp_reader *r, int code, size_t ahead, const char *fmt, ...) DP_PRINTF(4, 5);

#endif
