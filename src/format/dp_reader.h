/* Makes events of bytes: reads a profile from its source to its end in one pass, with a buffer of
 * fixed size, and hands events over in batches. */
#ifndef DP_READER_H
#define DP_READER_H

#include "dp_base.h"
#include "dp_err.h"
#include "dp_fmt.h"
#include "dp_header.h"
#include "dp_io.h"
#include "dp_pieces.h"

/* One for each kind of raw mark. Calls have the sub that begins or ends. Of the notes, PHASE has
 * the phase that begins for a sub; SUSPEND and RESUME have a number in its place: how many of the
 * exits to come are of calls that have not ended, or how many of the entries are of calls that have
 * begun before. */
enum dp_op {
    DP_OP_TIME,                 /* time at the end of the file, of the sub on top; no mark */
    DP_OP_REST,                 /* time behind the last mark that only the header tells: it is of no
                                 * sub */
#define DP_OP_NUMBER(name, line) DP_OP_##name,
    DP_RAW_EACH_CALL(DP_OP_NUMBER)
    DP_RAW_EACH_NOTE(DP_OP_NUMBER)
#undef DP_OP_NUMBER
    /* made by dp_window.h, and by no reader: */
    DP_OP_REENTER, DP_OP_REGOTO /* as ENTER and GOTO, but no calls */
};

#define DP_SUB_NONE UINT32_MAX  /* an exit whose id was never named; the root of a tree */

struct dp_event {
    uint64_t t[DP_METRICS];     /* ticks since the event before; < DP_LIMIT_INTERVAL */
    uint32_t sub;               /* the number that the consumer gave; DP_SUB_NONE for time; or as
                                 * told at the ops */
    uint32_t op;
    uint64_t at;                /* byte offset in the uncompressed file */
};

struct dp_text {
    const char *ptr;            /* borrowed; not terminated */
    size_t len;
};

/* A sub as an `&` line names it, escapes decoded. Everything is borrowed for
 * the time of the call. */
struct dp_subdef {
    struct dp_text package, name;
    struct dp_text file;        /* len 0: not known */
    uint64_t line;
    struct dp_text autoload;    /* the AUTOLOAD that was called instead */
    struct dp_text in;          /* of an anonymous sub: the named one around it */
    uint64_t seq;               /* order of compilation, 0: not known */
    uint64_t id;                /* as the file had it */
    bool xs, builtin;
    bool phase;                 /* no sub, but the name of a phase */
};

/* A calling context of a tree. */
struct dp_context {
    bool again;                 /* the context was given before: node is what the consumer returned
                                 * then, and parent, sub and at mean nothing */
    bool fresh;                 /* the file has not had it before, and it is no phase: nobody needs
                                 * to look for it */
    uint32_t node;
    uint32_t parent;            /* what the consumer gave for the caller */
    uint32_t sub;               /* DP_SUB_NONE: this is the root. May be a phase, below the root */
    uint64_t calls;
    uint64_t t[DP_METRICS];     /* its own ticks; < DP_LIMIT_TOTAL */
    uint64_t longest, shortest; /* inclusive real ticks of one call; both 0: none ended */
    uint64_t folded;
    const uint64_t *counters;   /* as many as the header has */
    struct dp_text at;          /* place of the call as the file has it; len 0: not known */
};

/* A source file, as it was when its statements were recorded. */
struct dp_linefile {
    struct dp_text file;        /* as the file has it */
    uint64_t size;              /* of the source when it was recorded */
    uint32_t crc;
    struct dp_text packed;      /* its text (dp_base64.h), not looked at; len 0: there is none */
};

/* What a statement cost. */
struct dp_linedef {
    struct dp_text at;          /* FILE:LINE as the file has it; len 0: not known */
    uint32_t sub;               /* DP_SUB_NONE: in none */
    uint32_t later;             /* how many statements of the sub follow it on the same line */
    uint64_t count;             /* how often it ran */
    bool has_times;             /* if false, there are neither times nor counters */
    uint64_t t[DP_METRICS];     /* < DP_LIMIT_TOTAL */
    const uint64_t *counters;   /* as many as the header has */
    size_t n_counters;
};

/* Who takes the events. Each function returns 0 (sub: a number below
 * DP_LIMIT_IDS), or a negative DP_E that ends the reading. */
struct dp_consumer {
    void *ctx;
    /* Called once, before anything else. May be NULL. */
    int (*header)(void *ctx, const struct dp_header *head, struct dp_err *err);
    /* Called before the first event of that sub. Equal subs may get equal numbers. */
    int64_t (*sub)(void *ctx, const struct dp_subdef *def);
    /* The events are the consumer's to alter, and so are the counters that go with them: for each
     * event as many as the header has, counted since the one before, < DP_LIMIT_COUNT; NULL where
     * it has none. *bad: the index of the event that the consumer refuses. */
    int (*events)(void *ctx, struct dp_event *ev, uint64_t *counts, size_t n, size_t *bad,
                  struct dp_err *err);
    /* A tree begins, at the beginning or behind the marks of a trace, whose open calls
     * end with it. May be NULL. */
    int (*tree)(void *ctx, struct dp_err *err);
    /* The ids that were given so far mean nothing any more. May be NULL. */
    void (*ids_anew)(void *ctx);
    /* Returns a number for the context, of the consumer's choice; contexts may come
     * more than once. May be NULL: they are skipped. */
    int64_t (*context)(void *ctx, const struct dp_context *context, struct dp_err *err);
    /* The context of this number comes soon, or another one below it. May be NULL. */
    void (*expect)(void *ctx, uint32_t node);
    /* Counts of DP_FMT_BUCKETS buckets, to be added. May be NULL. */
    int (*histogram)(void *ctx, uint32_t sub, const uint64_t *count);
    /* What is known of a source; called before its statements. May be NULL. */
    int (*source)(void *ctx, const struct dp_linefile *file);
    /* A statement, behind the contexts. May be NULL. */
    int (*line)(void *ctx, const struct dp_linedef *def, struct dp_err *err);
    /* From here on so many ticks make a second (or a unit), a multiple of what it was before. May
     * be NULL. */
    int (*ticks)(void *ctx, uint64_t hz, struct dp_err *err);
    /* Called now and then: how many bytes have been taken from the source, of how many (0: not
     * known). May be NULL. */
    int (*progress)(void *ctx, uint64_t done, uint64_t total);
};

enum { DP_READER_FAULTS = 10 }; /* so many places are kept with what is wrong there; as
                                 * DP_FAULTS */

struct dp_read_info {
    uint64_t marks;             /* + - * / lines taken */
    uint64_t contexts;          /* how many = lines, or folded stacks, were taken */
    bool tree;                  /* a part of it is a tree */
    bool pieces;                /* of a killed process, or one that still runs */
    uint64_t bytes;             /* uncompressed */
    bool bad_header;            /* a statement was skipped; place and text are below */
    struct dp_err header_err;
    uint64_t faults;            /* lines, or values, that were left out */
    struct dp_err fault[DP_READER_FAULTS];      /* the first of them */
};

/* Finds the reader of another tool's file, which begins with these bytes. */
struct dp_import_format;
typedef const struct dp_import_format *dp_reader_find_fn(const char *ptr, size_t len);

/* Reads all of src: a profile, or a file that does not begin with our magic, whose reader `other`
 * finds. Returns 0; DP_E_TRUNCATED if the file ends too early, or lines of a tree were left
 * out; or another DP_E if something cannot be read, with the place in err. In any case the consumer
 * has had all that came before. The caller initialises head and keeps it. left: what the process
 * keeps or left beside the file, read before; it is needed if the file has no end. May be NULL. */
int dp_reader_run(struct dp_source *src, const struct dp_pieces *left, dp_reader_find_fn *other,
                  const struct dp_consumer *to, struct dp_header *head, struct dp_read_info *info,
                  struct dp_err *err);

/* The header only. */
int dp_reader_head(struct dp_source *src, dp_reader_find_fn *other, struct dp_header *head,
                   struct dp_read_info *info, struct dp_err *err);

#endif
