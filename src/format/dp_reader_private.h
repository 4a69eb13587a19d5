/* Inside the reader: the struct of all readers, and the functions that they share. */
#ifndef DP_READER_PRIVATE_H
#define DP_READER_PRIVATE_H

#include "dp_reader.h"
#include "dp_buf.h"
#include "dp_index.h"
#include "dp_map.h"
#include "dp_pool.h"

#include <string.h>

enum {
    DP_READER_BUF = 128 * 1024,
    DP_READER_FRONT = 16,       /* readable bytes before the data */
    DP_READER_PAD = 32,         /* readable bytes after the data */
    DP_READER_BATCH = 256,
    DP_READER_NEAR = 1 << 20    /* smaller ids are found by index */
};

/* An id. key: its digits as in the file, so a line with other bytes never matches. 0: no name yet.
 * A phase's key matches no line. */
struct dp_reader_id {
    uint64_t key;
    uint32_t sub;
    bool phase;
};

/* The position in the file. */
struct dp_reader_cursor {
    struct dp_source *src;
    char *block;                /* buf is DP_READER_FRONT bytes into it */
    char *buf;
    size_t pos, end, cap;       /* unread: buf[pos..end) */
    uint64_t base;              /* offset in the file of buf[0] */
    uint64_t line;              /* number of the line at pos */
    uint64_t told;              /* progress reported so far */
    bool at_end, cut;
    bool no_end;                /* the last line of a text has no end, and was read */
};

/* How subs are found in every format: by id or, without ids, by name. */
struct dp_reader_ids {
    struct dp_reader_id *near;  /* by id */
    size_t near_cap;
    struct dp_map far;          /* ids from DP_READER_NEAR up */
    uint32_t count;
    uint64_t max;
    struct dp_pool names;       /* names in old-style lines, and in folded stacks */
    uint32_t *name_subs;
    size_t name_subs_cap;
    struct dp_buf scratch;      /* decoded fields */
};

/* State for a trace; dp_reader_text.c. */
struct dp_reader_trace {
    bool writing;               /* inside the classic recorder's brackets */
    bool has_clock;             /* an old-style line has set the clock */
    uint64_t clock[DP_METRICS];
};

/* State for a tree, alone or after a trace; dp_reader_tree.c. */
struct dp_reader_tree {
    bool on;                    /* after PART3 */
    bool newer;                 /* the pieces have a tree, so that of the text is skipped */
    bool ids;                   /* the tree has had an & line */
    uint32_t *path;             /* the consumer's numbers of the contexts, by depth */
    size_t path_len, path_cap;
    uint64_t left_out;          /* depth of the context that was left out with everything below it;
                                 * 0: none */
    struct dp_buf file;         /* FILE of the following statements, and :LINE of one */
    size_t file_len;            /* of FILE; 0: none yet */
    uint64_t lines, calls;      /* number of lines, and of calls in them, so far */
    uint64_t before[DP_METRICS];        /* times of the trace before the tree */
};

/* State for the last line, which has the sums of all lines; dp_reader_end.c. */
struct dp_reader_end {
    bool seen;
    int wrong;                  /* 1 plus the first of the sums (DP_FMT_SUM_*) that differs */
    uint64_t told, read;        /* that sum in the file, and of the lines */
};

/* How a value of another tool's file is stored. */
enum {
    DP_IMPORT_VALUES = 64,     /* kinds of values of a file */
    DP_IMPORT_NONE = 255       /* no column */
};
struct dp_import_kind {
    const char *name, *unit;    /* unit "": a count */
    uint64_t ns;                /* ticks of one unit; 0: not a time */
    unsigned times;             /* bits: DP_USER, DP_REAL */
    unsigned column;            /* of counters */
    bool calls;
    bool named;                 /* also a counter */
};

struct dp_reader;
/* A format of another tool. Its reader keeps its state in r->import.state. gzip is unpacked
 * already. */
struct dp_import_format {
    const char *name;           /* value of $dprof_format, and name in messages */
    /* Do files of the format begin with these bytes? */
    bool (*is)(const char *ptr, size_t len);
    /* Reads as far as the kinds of values (dp_import_value), and ends with dp_import_header. There
     * may be no consumer. Returns 0, a DP_E, or 1: more bytes of the file are needed to recognize
     * it. */
    int (*head)(struct dp_reader *r);
    /* Reads the rest and hands over subs and contexts. Returns 0 or a DP_E. */
    int (*read)(struct dp_reader *r);
    /* Frees r->import.state, which may be NULL. */
    void (*release)(void *state);
};

/* State for a file without our header; dp_import.c. */
struct dp_reader_import {
    const struct dp_import_format *format;     /* NULL: our own format */
    void *state;                /* state of the format */
    size_t taken;               /* length of the line at in.pos, with its end */
    struct dp_buf whole;        /* the whole file */
    struct dp_import_kind values[DP_IMPORT_VALUES];
    size_t n_values;
    struct dp_map kids;         /* caller's node and sub -> node */
};

/* The reader: the parts that all formats share, and a struct for each of our formats. The struct
 * for pieces, which are read whole, is in dp_reader_pieces.c. */
struct dp_reader {
    const struct dp_consumer *to;
    struct dp_header *head;
    struct dp_read_info *info;
    struct dp_err *err;
    struct dp_reader_cursor in;
    struct dp_reader_ids ids;
    struct dp_reader_trace trace;
    struct dp_reader_tree tree;
    struct dp_reader_end end;
    struct dp_reader_import import;
    /* events for the consumer */
    uint64_t t[DP_METRICS];     /* time since the last event, without brackets */
    uint64_t passed[DP_METRICS];    /* all time of the trace, with brackets */
    size_t n_counts;            /* for a trace: number of columns after the times */
    uint64_t c[DP_FMT_COUNTERS];    /* counted since the last event */
    uint64_t *counts;           /* n_counts for each event of the batch, or NULL */
    size_t n_events;
    struct dp_event events[DP_READER_BATCH];    /* last, because start() clears the fields before
                                                 * it */
};

/* Makes columns for the header's counters. Returns 0 or DP_E_NOMEM. */
int dp_reader_columns(struct dp_reader *r);

/* Reads the lines up to end, which follows a line's end; stops where a tree begins. */
int dp_reader_lines(struct dp_reader *r, const char *end);

/* Reads the lines of a format that is read line by line; calls one function for each line. */
DP_INLINE int dp_reader_each_line(struct dp_reader *r, const char *end,
                                  int (*take)(struct dp_reader *r, const char *p, size_t len))
{
    const char *p = r->in.buf + r->in.pos;
    while (p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        int rc = take(r, p, (size_t)(nl - p));
        if (rc < 0)
            return rc;
        p = nl + 1;
        r->in.pos = (size_t)(p - r->in.buf);
        r->in.line++;
    }
    return 0;
}

/* Reads more bytes after the unread ones, which it may move. Returns their number, 0 at the end, or
 * a DP_E. */
long dp_reader_refill(struct dp_reader *r);
/* Finds the next whole line, at r->in.pos. Returns its length without the end, -1 if the file has
 * no further whole line, or less for an error. r->in.pos does not move. */
long dp_reader_whole_line(struct dp_reader *r);

/* A new event with the time that has passed; call the flush function when the batch is full. */
struct dp_event *dp_reader_event(struct dp_reader *r, int op, uint32_t sub, uint64_t at);
int dp_reader_flush(struct dp_reader *r);

/* Handles a comment of a trace or of a tree: sources, statements, the sums of all lines
 * (dp_reader_tree.c). Returns 0 or a DP_E. */
int dp_reader_comment(struct dp_reader *r, const char *ptr, size_t len);

/* Begins the tree: sets r->tree.on, and informs the consumer. */
int dp_reader_begin_tree(struct dp_reader *r);

/* Reads an & line without its end, from the trace, the tree or a piece. */
int dp_reader_name(struct dp_reader *r, const char *ptr, size_t len);
/* Finds the sub of an id. */
bool dp_reader_find(const struct dp_reader *r, uint64_t id, uint32_t *sub);
/* Is it a phase, which is never called, and is right below the root? */
bool dp_reader_is_phase(const struct dp_reader *r, uint64_t id);
/* Finds or makes the sub of a full name, if there are no ids. */
int dp_reader_by_name(struct dp_reader *r, struct dp_text name, uint32_t *sub);
/* Fills in the parts of a full name. */
void dp_reader_subdef(struct dp_subdef *def, struct dp_text name);
/* Asks the consumer for a sub's number. */
int dp_reader_sub(struct dp_reader *r, const struct dp_subdef *def, uint32_t *sub);
void dp_reader_forget_ids(struct dp_reader *r);
int dp_reader_bad_line(struct dp_reader *r, const char *ptr, size_t len);
/* Leaves out a line. A file with many such lines is garbled, and is an error. Returns 0 or
 * DP_E_SYNTAX. */
int dp_reader_skip_line(struct dp_reader *r, const char *ptr, size_t len);

/* Stores an error at r->in.pos + ahead. Returns code. */
int dp_reader_fail(struct dp_reader *r, int code, size_t ahead, const char *fmt, ...)
    DP_PRINTF(4, 5);

/* Notes that a line, or a value, is left out, and why; the reader continues. The first such places
 * are kept. Returns 0. */
int dp_reader_leave_out(struct dp_reader *r, const char *what, const char *ptr, size_t len);
/* Call this at the end. Returns DP_E_SYNTAX, with the first place, if anything was left out. */
int dp_reader_left_out(struct dp_reader *r);

#endif
