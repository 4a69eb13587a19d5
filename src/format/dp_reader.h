/* Reads a profile from its source in one pass, with a buffer of fixed size, and hands over events
 * in batches. */
#ifndef DP_READER_H
#define DP_READER_H

#include "dp_base.h"
#include "dp_err.h"
#include "dp_fmt.h"
#include "dp_header.h"
#include "dp_io.h"
#include "dp_pieces.h"
#include "dp_requests.h"

/* The kinds of events: one for each kind of raw mark. Calls have the sub that begins or ends. PHASE
 * has the phase that begins in place of a sub. SUSPEND and RESUME have a number in its place: of
 * later exits from calls that have not ended, or of later entries of calls that began before. */
enum dp_op {
    DP_OP_TIME,                 /* time at the end of the file, of the sub on top; no mark */
    DP_OP_REST,                 /* time after the last mark that only the header has; it belongs to
                                 * no sub */
#define DP_OP_NUMBER(name, line) DP_OP_##name,
    DP_RAW_EACH_CALL(DP_OP_NUMBER)
    DP_RAW_EACH_NOTE(DP_OP_NUMBER)
#undef DP_OP_NUMBER
    /* dp_window.h makes these; readers do not: */
    DP_OP_REENTER, DP_OP_REGOTO /* like ENTER and GOTO, but not counted as calls */
};

#define DP_SUB_NONE UINT32_MAX  /* an exit whose id has no name; the root of a tree */

struct dp_event {
    uint64_t t[DP_METRICS];     /* ticks since the previous event; < DP_LIMIT_INTERVAL */
    uint32_t sub;               /* the consumer's number; DP_SUB_NONE for time; for notes, see
                                 * above */
    uint32_t op;
    uint64_t at;                /* byte offset in the uncompressed file */
};

struct dp_text {
    const char *ptr;            /* borrowed; not terminated */
    size_t len;
};

/* A sub as in an `&` line, with escapes decoded. All texts are borrowed during the call. */
struct dp_subdef {
    struct dp_text package, name;       /* of a span: its kind and its text */
    struct dp_text file;        /* len 0: unknown */
    uint64_t line;
    struct dp_text autoload;    /* AUTOLOAD that was called instead */
    struct dp_text in;          /* for an anonymous sub: the enclosing named sub */
    uint64_t seq;               /* order of compilation, 0: unknown */
    uint64_t id;                /* as in the file */
    bool xs, builtin;
    bool phase;                 /* not a sub, but the name of a phase */
    bool span;                  /* not a sub, but what the time was spent on: a statement of SQL */
};

/* A calling context of a tree. */
struct dp_context {
    bool again;                 /* the context was handed over before: node is the number that the
                                 * consumer returned, and parent, sub and at are not set */
    bool fresh;                 /* the file has not had the context before, and it is no phase: the
                                 * consumer need not look it up */
    uint32_t node;
    uint32_t parent;            /* the consumer's number of the caller */
    uint32_t sub;               /* DP_SUB_NONE: the root. May be a phase, below the root */
    uint64_t calls;
    uint64_t t[DP_METRICS];     /* own ticks; < DP_LIMIT_TOTAL */
    uint64_t longest, shortest; /* inclusive real ticks of one call; both 0: no call ended */
    uint64_t folded;
    const uint64_t *counters;   /* as many as in the header */
    struct dp_text at;          /* place of the call as in the file; len 0: unknown */
    struct dp_text when;        /* stretches of time as in the file; len 0: none */
    uint64_t unit;              /* of the root: real ticks of a unit of `when`; 0: unknown */
};

/* A source file, as it was when its statements were recorded. */
struct dp_linefile {
    struct dp_text file;        /* as in the file */
    uint64_t size;              /* of the recorded source */
    uint32_t crc;
    struct dp_text packed;      /* text (dp_base64.h), not decoded; len 0: none */
};

/* The cost of a statement. */
struct dp_linedef {
    struct dp_text at;          /* FILE:LINE as in the file; len 0: unknown */
    uint32_t sub;               /* DP_SUB_NONE: none */
    uint32_t later;             /* number of the sub's statements that follow it on the same line */
    uint64_t count;             /* how often it ran */
    bool has_times;             /* if false, there are neither times nor counters */
    uint64_t t[DP_METRICS];     /* < DP_LIMIT_TOTAL */
    const uint64_t *counters;   /* as many as in the header */
    size_t n_counters;
};

/* The receiver of events. Each function returns 0 (sub: a number below DP_LIMIT_IDS), or a negative
 * DP_E that ends the reading. */
struct dp_consumer {
    void *ctx;
    /* Called once, before anything else. May be NULL. */
    int (*header)(void *ctx, const struct dp_header *head, struct dp_err *err);
    /* Called before the first event of that sub. Equal subs may get equal numbers. */
    int64_t (*sub)(void *ctx, const struct dp_subdef *def);
    /* The consumer may change the events and their counters. Each event has as many counters as the
     * header, counted since the previous event, < DP_LIMIT_COUNT; NULL if the header has none.
     * *bad: the index of the event that the consumer refuses. */
    int (*events)(void *ctx, struct dp_event *ev, uint64_t *counts, size_t n, size_t *bad,
                  struct dp_err *err);
    /* A tree begins, at the beginning or after the marks of a trace, whose open calls end with it.
     * May be NULL. */
    int (*tree)(void *ctx, struct dp_err *err);
    /* All ids so far lose their meaning. May be NULL. */
    void (*ids_anew)(void *ctx);
    /* Returns a number for the context, of the consumer's choice. A context may come more than
     * once. May be NULL: contexts are skipped. */
    int64_t (*context)(void *ctx, const struct dp_context *context, struct dp_err *err);
    /* The context with this number follows soon, or one below it. May be NULL. */
    void (*expect)(void *ctx, uint32_t node);
    /* Counts of DP_FMT_BUCKETS buckets to be added. May be NULL. */
    int (*histogram)(void *ctx, uint32_t sub, const uint64_t *count);
    /* Rows that all executions of a span's statement have given. May be NULL. */
    int (*rows)(void *ctx, uint32_t sub, uint64_t rows);
    /* The facts about a source; called before its statements. May be NULL. */
    int (*source)(void *ctx, const struct dp_linefile *file);
    /* A statement, after the contexts. May be NULL. */
    int (*line)(void *ctx, const struct dp_linedef *def, struct dp_err *err);
    /* Requests of that name, which is as in the file. May be NULL. */
    int (*requests)(void *ctx, struct dp_text name, const struct dp_requests *of);
    /* A sub above the application, as in the file. May be NULL. */
    int (*server)(void *ctx, struct dp_text name);
    /* Who holds a value: a line #h (Format.pod) without its mark. May be NULL. */
    int (*holder)(void *ctx, struct dp_text line);
    /* From here on, this many ticks make up a second (or a unit), a multiple of the number before.
     * May be NULL. */
    int (*ticks)(void *ctx, uint64_t hz, struct dp_err *err);
    /* Called from time to time: done bytes of total have been read (total 0: unknown). May be
     * NULL. */
    int (*progress)(void *ctx, uint64_t done, uint64_t total);
};

enum { DP_READER_FAULTS = 10 }; /* number of places whose errors are kept, as DP_FAULTS */

struct dp_read_info {
    uint64_t marks;             /* number of + - * / lines */
    uint64_t contexts;          /* number of = lines, or of folded stacks */
    bool tree;                  /* a part of the file is a tree */
    bool pieces;                /* parts come from a killed process, or from one that is still
                                 * running */
    uint64_t bytes;             /* uncompressed */
    bool bad_header;            /* a statement was skipped; place and text are below */
    struct dp_err header_err;
    uint64_t faults;            /* number of lines, or values, that were left out */
    struct dp_err fault[DP_READER_FAULTS];      /* the first of them */
};

/* Finds the reader of another tool's file that begins with these bytes. */
struct dp_import_format;
typedef const struct dp_import_format *dp_reader_find_fn(const char *ptr, size_t len);

/* Reads all of src. `other` finds the reader of a file that does not begin with our magic. Returns
 * 0; DP_E_TRUNCATED if the file ends too early, or lines of a tree were left out; or another DP_E
 * if a part cannot be read, with the place in err. The consumer always gets everything before the
 * error. The caller initialises head and keeps it. left: the pieces that the process keeps or left
 * with the file, read before; they are used if the file has no end. May be NULL. */
int dp_reader_run(struct dp_source *src, const struct dp_pieces *left, dp_reader_find_fn *other,
                  const struct dp_consumer *to, struct dp_header *head, struct dp_read_info *info,
                  struct dp_err *err);

/* Reads only the header. */
int dp_reader_head(struct dp_source *src, dp_reader_find_fn *other, struct dp_header *head,
                   struct dp_read_info *info, struct dp_err *err);

#endif
