/* Writes windows of raw marks as the text of a trace (Format.pod). All arithmetic is in whole
 * numbers. Remainders are carried from mark to mark, so the sum of the written times is the floor
 * of the sum of the real times. */
#ifndef DP_WRITER_H
#define DP_WRITER_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_fmt.h"

/* A raw mark is one 64-bit word: the gap before it in stamps (32 bits), its kind (4 bits, enum
 * dp_raw_kind) and its sub's id (28 bits). DP_RAW_PHASE has the id of the phase's name.
 * DP_RAW_SUSPEND and DP_RAW_RESUME have a number of marks in place of an id. */
#define DP_RAW_ID_BITS      DP_PIECE_ID_BITS
#define DP_RAW_ID_MAX       ((UINT32_C(1) << DP_RAW_ID_BITS) - 1)
#define DP_RAW_WORD(kind, id)   ((uint32_t)(kind) << DP_RAW_ID_BITS | (id))

/* A reading of the CPU clock is a word of kind DP_RAW_CPU and four more. The first two describe the
 * long gap that ended here. The next reading fills in the others, which describe the short gaps up
 * to it. With counters, a word for each counter follows each mark and each reading: the count since
 * the previous mark or reading. */
enum { DP_RAW_LONG_GAP = 1, DP_RAW_LONG_WAIT, DP_RAW_SHORT_SUM, DP_RAW_SHORT_WAIT,
       DP_RAW_CPU_WORDS };

struct dp_ticks {
    uint64_t user, sys, real;
};

/* A line that is copied whole: 16 bytes with len valid ones. */
struct dp_line {
    char text[15];
    uint8_t len;
};

enum { DP_TIME_LINES = 128 };

struct dp_idname {
    size_t at;                      /* offset of the line in `names` */
    bool done;                      /* already written, if names are written when needed */
};

struct dp_writer {
    /* Receives whole lines; returns 0 or a negative code, which is sticky. */
    int (*sink)(void *arg, const char *ptr, size_t len);
    void *sink_arg;
    uint64_t hz;

    char *text;                     /* lines that have not reached the sink yet */
    struct dp_buf names;            /* all & lines, in order of their ids */
    size_t names_done;              /* number of bytes of them that are written */
    struct dp_line *ids;            /* "+ ID\n" */
    struct dp_line *times;          /* "@ N 0 N\n" for small N */
    struct dp_idname *id_names;
    size_t ids_cap, id_names_cap;
    bool lazy;                      /* names are written when they are needed */
    uint32_t next_id;               /* ids start at 1 */

    uint64_t acc_real, acc_wait, acc_sys;   /* carried fractions of a tick */
    struct dp_ticks pending;        /* passed, but not on a line yet */
    struct dp_ticks sums;           /* written or pending */
    size_t n_counts;                /* number of counters after each raw mark, and columns of the
                                     * time lines; the recorder sets it */
    uint64_t pending_counts[DP_FMT_COUNTERS];
    uint64_t marks;
    uint64_t sys_share;             /* of CPU time, in 1/2^32 */
    int err;
};

/* Make a writer of a profile, which hands the text to the function sink, and free what a writer
 * holds. hz: stamps per second. Returns 0 or DP_E_NOMEM. */
int dp_writer_init(struct dp_writer *w, uint64_t hz,
                   int (*sink)(void *, const char *, size_t), void *sink_arg);
void dp_writer_release(struct dp_writer *w);
/* Resets the writer for a forked child: ids remain, and each name is written again when a mark
 * first needs it. */
void dp_writer_restart(struct dp_writer *w);

/* Makes a new id, whose & line is written before the next window. name: the line's fields after the
 * id, encoded, without newline. 0 when memory is short or no id is left. */
uint32_t dp_writer_name(struct dp_writer *w, const char *line, size_t len);

/* Writes a window of raw marks. ticks_per_stamp and sys_share (0..1) are valid for this window.
 * Returns 0 or the sink's error. */
int dp_writer_window(struct dp_writer *w, const uint64_t *raw, size_t n,
                     double ticks_per_stamp, double sys_share);

/* Hands everything to the sink, including the time after the last mark. */
int dp_writer_finish(struct dp_writer *w);

#endif
