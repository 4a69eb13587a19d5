/* The words and limits of the file format (lib/Devel/DProf/Format.pod), shared by all writers and
 * readers. */
#ifndef DP_FMT_H
#define DP_FMT_H

#include "dp_base.h"
#include "dp_buf.h"

#define DP_FMT_MAGIC      "#fOrTyTwO"
#define DP_FMT_PART2      "PART2"
#define DP_FMT_PART3      "PART3"
#define DP_FMT_LIVE       ".live"                   /* suffix of the profile's name: the file with
                                                     * data not written yet */
#define DP_FMT_WRITE      "Devel::DProf::write"     /* the classic recorder's bracket */
#define DP_FMT_TRACE      "trace"
#define DP_FMT_TREE       "tree"
#define DP_FMT_FOLDED     "folded"                  /* text without a header */
#define DP_FMT_FILE       "#f "                     /* in a tree: a source file, followed by its
                                                     * lines */
#define DP_FMT_LINE       "#l "
#define DP_FMT_HOLDER     "#h "                     /* who holds a value */
#define DP_FMT_ROWS       "#s "                     /* the rows that a statement of SQL has given */
#define DP_FMT_PROGRAM    "(program)"
#define DP_FMT_NAMELESS   "(no name)"               /* shown for an empty package and name */

/* The kinds of spans that the recorder finds by itself: X(word). A program may use further words.
 * In text without kinds, such as folded stacks, a name that begins with one of these and a colon is
 * a span. */
#define DP_FMT_SPAN_KINDS(X) \
    X("sql") X("http") X("template") X("command") X("file") X("regex") X("cache")

enum {
    DP_FMT_TRACE_VERSION = 1,
    DP_FMT_TREE_VERSION  = 1,
    DP_FMT_BUCKETS       = 48,          /* number of buckets of a histogram: 2^n ns each; the last
                                         * one also counts longer calls */
    DP_FMT_COUNTERS      = 16,          /* largest number of columns of counters */
    DP_FMT_HZ_DEFAULT    = 100,         /* if the header has none */
    DP_FMT_HZ_RECORDED   = 10000000     /* the recorder's rate: 100 ns */
};

/* Times in the order of an `@` line's columns. */
enum dp_clock { DP_USER, DP_SYSTEM, DP_REAL, DP_METRICS };

/* Appends str as a field of a line: %XX for bytes up to 0x20, 0x7f and '%'; a lone % for the empty
 * string. */
void dp_fmt_field(struct dp_buf *buf, const char *str, size_t len);
/* Decodes a field to `to`: at most len bytes. Returns their number. */
size_t dp_fmt_decode(char *to, const char *field, size_t len);
/* Decodes a field and appends it. */
void dp_fmt_unfield(struct dp_buf *buf, const char *field, size_t len);

/* FILE:LINE of a field, which may be empty; a file's name may contain colons. */
struct dp_fmt_place {
    const char *file;                   /* a field itself; never NULL */
    size_t len;
    uint64_t line;                      /* 0: unknown */
};
struct dp_fmt_place dp_fmt_place(const char *field, size_t len);

/* Appends str as a quoted string of a header line; blanks stay. */
void dp_fmt_quote(struct dp_buf *buf, const char *str, size_t len);

/* Appends the line with the rows that the statement of a span has given. */
void dp_fmt_rows(struct dp_buf *buf, uint32_t id, uint64_t rows);

/* A line of a tree. */
struct dp_fmt_context {
    size_t depth;
    uint32_t id;                        /* 0 for the root */
    uint64_t calls, t[DP_METRICS], longest, shortest;
    const uint64_t *counters;
    size_t n_counters;
    const char *at;                     /* place of the call as a field; len 0: not kept */
    size_t at_len;
    uint64_t folded;
    uint64_t unit;                      /* of the root: ticks of a unit of when=; 0: not kept */
};
void dp_fmt_context(struct dp_buf *buf, const struct dp_fmt_context *c);
/* Appends the line of a histogram of DP_FMT_BUCKETS counts; nothing if all are 0. */
void dp_fmt_histogram(struct dp_buf *buf, uint32_t id, const uint64_t *count);

/* The sums in the last line of a file: X(NAME, key). The number of marks belongs to a trace. The
 * number of lines, without the last one, and that of calls belong to a tree. */
#define DP_FMT_END        "# end"
#define DP_FMT_EACH_SUM(X) X(MARKS, "marks") X(LINES, "lines") X(CALLS, "calls") X(USER, "user") \
    X(SYSTEM, "system") X(REAL, "real")
enum {
#define DP_FMT_SUM_NUMBER(name, key) DP_FMT_SUM_##name,
    DP_FMT_EACH_SUM(DP_FMT_SUM_NUMBER)
#undef DP_FMT_SUM_NUMBER
    DP_FMT_SUMS
};
extern const char *const dp_fmt_sums[DP_FMT_SUMS];

/* Appends the last line, of a tree or of a trace. */
void dp_fmt_end(struct dp_buf *buf, const uint64_t *sums, bool tree);
/* The number of lines of a text that ends with the end of a line. */
uint64_t dp_fmt_lines(const char *ptr, size_t len);

/* Limits on what a hostile file can make a reader keep in memory. */
#define DP_FMT_BEFORE "before"          /* counter: the first of two counts of folded stacks */
#define DP_LIMIT_LINE      ((size_t)16 << 20)       /* bytes of a line */
#define DP_LIMIT_HEADER    ((size_t)1 << 20)        /* bytes of a header */
#define DP_LIMIT_WHOLE     ((size_t)1 << 30)        /* bytes of a file that must be read whole */
#define DP_LIMIT_VARS      1024                     /* names kept from a header */
#define DP_LIMIT_IDS       ((uint32_t)1 << 22)      /* ids of a file */
#define DP_LIMIT_NODES     ((uint32_t)1 << 23)      /* calling contexts of a profile */
#define DP_LIMIT_SITES     ((uint32_t)1 << 22)      /* places of calls of a profile */
#define DP_LIMIT_LINES     ((uint32_t)1 << 22)      /* statements of a profile */
#define DP_LIMIT_SOURCE    ((size_t)64 << 20)       /* bytes of a source's text */
#define DP_LIMIT_PACKED    (DP_LIMIT_LINE / 2)      /* a source's text, packed, as a field */
#define DP_LIMIT_PIECES    ((size_t)1 << 30)        /* bytes kept from the pieces of a killed
                                                     * process */
#define DP_LIMIT_COUNT     (UINT64_MAX / 2)         /* counts of calls and of events do not exceed
                                                     * it */
#define DP_LIMIT_DEPTH     ((uint32_t)1 << 24)      /* frames on a stack */
#define DP_LIMIT_HZ        UINT64_C(1000000000000)
#define DP_LIMIT_INTERVAL  (UINT64_C(1) << 52)      /* ticks of one `@` line */
#define DP_LIMIT_TOTAL     (UINT64_C(1) << 62)      /* ticks of a profile */

/* Return a + b, and a * by (at least 1), of counts. The results are capped at DP_LIMIT_COUNT. */
static inline uint64_t dp_count_add(uint64_t a, uint64_t b)
{
    return b < DP_LIMIT_COUNT - a ? a + b : DP_LIMIT_COUNT;
}

static inline uint64_t dp_count_scale(uint64_t a, uint64_t by)
{
    return a <= DP_LIMIT_COUNT / by ? a * by : DP_LIMIT_COUNT;
}

/* Pieces that a process left (Format.pod, "The pieces"). The recorder has them in memory as
 * structs, readers as bytes. Code that defines or fills in a struct checks it against these
 * numbers. All fields have fixed widths, so the layout does not depend on the width of a
 * pointer. */
enum {
    DP_PIECE_ALIGN = 4096, DP_PIECE_HEAD = 24,
    DP_PIECE_STATE = 1, DP_PIECE_MARKS, DP_PIECE_NAMES, DP_PIECE_NODES, DP_PIECE_HISTOGRAMS,
    DP_PIECE_SITES, DP_PIECE_LINES,
    /* state: a text, then words */
    DP_PIECE_RUN = 40,
    DP_PIECE_S_PID = 0, DP_PIECE_S_TID, DP_PIECE_S_HZ, DP_PIECE_S_RATE, DP_PIECE_S_MARKS,
    DP_PIECE_S_TREE,
    DP_PIECE_S_OPS, DP_PIECE_S_USER, DP_PIECE_S_SYSTEM, DP_PIECE_S_REAL, DP_PIECE_S_COUNTS,
    DP_PIECE_S_PENDING,
    DP_PIECE_S_WORDS = DP_PIECE_S_PENDING + DP_FMT_COUNTERS,
    /* a mark's word: gap << 32 | kind << 28 | id; enum dp_raw_kind has the kinds */
    DP_PIECE_ID_BITS = 28,
    DP_PIECE_LONG_GAP = 1, DP_PIECE_LONG_WAIT, DP_PIECE_SHORT_SUM, DP_PIECE_SHORT_WAIT,
    DP_PIECE_CPU_WORDS,
    /* a node: byte offsets */
    DP_PIECE_N_NUMBER = 0, DP_PIECE_N_PARENT = 4, DP_PIECE_N_ID = 8, DP_PIECE_N_SITE = 12,
    DP_PIECE_N_CALLS = 16, DP_PIECE_N_REAL = 24,
    DP_PIECE_N_WAIT = 32, DP_PIECE_N_SYS = 40, DP_PIECE_N_OPS = 48, DP_PIECE_N_LONGEST = 56,
    /* as many as the state says */
    DP_PIECE_N_SHORTEST = 64, DP_PIECE_N_FOLDED = 96, DP_PIECE_N_COUNTS = 104,
    /* a statement: byte offsets. The first one is at such a distance from the head that none begins
     * in the middle of 32 bytes. */
    DP_PIECE_L_FIRST = 40,
    DP_PIECE_L_NUMBER = 0, DP_PIECE_L_SITE = 4, DP_PIECE_L_COUNT = 8, DP_PIECE_L_REAL = 16,
    DP_PIECE_L_OPS = 24, DP_PIECE_L_WAIT = 32, DP_PIECE_L_SYS = 40, DP_PIECE_L_SUB = 48,
    DP_PIECE_L_LATER = 52, DP_PIECE_L_COUNTS = 56,  /* as many as the state says */
    /* a histogram: the id, then the counts */
    DP_PIECE_HISTOGRAM = 8 * (1 + DP_FMT_BUCKETS)
};

/* The size in bytes of a statement with so many counters. */
#define DP_PIECE_L_SIZE(counts)  (((size_t)DP_PIECE_L_COUNTS + 8 * (counts) + 31) & ~(size_t)31)

/* The last byte is the version of the pieces. */
#define DP_PIECE_MAGIC  UINT64_C(0x4c656e7544705204)

/* The kinds of raw marks, in the order of their numbers, with the first characters of their lines.
 * First come calls, which count as marks and have the id of a sub. Then come notes: PHASE has an
 * id, the others have a number. The enums and tables of the recorder, the writer, the reader and
 * the reader of pieces are made from this list. Add a note at the end: an insertion changes the
 * numbers after it, and so the version of the pieces. */
#define DP_RAW_EACH_CALL(X) X(ENTER, '+') X(LEAVE, '-') X(UNWIND, '/') X(GOTO, '*')
#define DP_RAW_EACH_NOTE(X) X(PHASE, "phase") X(SUSPEND, "suspend") X(RESUME, "resume")

enum dp_raw_kind {
#define DP_RAW_NUMBER(name, line) DP_RAW_##name,
    DP_RAW_EACH_CALL(DP_RAW_NUMBER)
    DP_RAW_EACH_NOTE(DP_RAW_NUMBER)
#undef DP_RAW_NUMBER
    DP_RAW_KINDS,               /* 7; there is room for 15, so 8 are left */
    DP_RAW_NOTES = DP_RAW_PHASE,        /* the first of them */
    DP_RAW_CPU = 15             /* a reading of the CPU clock, which is not written as a line */
};

DP_CHECK(room_for_kinds, DP_RAW_KINDS <= DP_RAW_CPU && DP_RAW_CPU < 1 << (32 - DP_PIECE_ID_BITS));

#endif
