/* Turns windows of raw marks into the text of a trace (Format.pod). All
 * arithmetic is in whole numbers; remainders are carried from mark to mark, so
 * that the sum of what is written is the floor of the sum of what passed. */
#ifndef DP_WRITER_H
#define DP_WRITER_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_fmt.h"

/* A raw mark is one 64-bit word: the gap before it in stamps (32 bits), its kind (4 bits, enum
 * dp_raw_kind) and its sub's id (28 bits). DP_RAW_PHASE has the id of the phase's name, and
 * DP_RAW_SUSPEND and DP_RAW_RESUME have a number of marks in place of one. */
#define DP_RAW_ID_BITS      DP_PIECE_ID_BITS
#define DP_RAW_ID_MAX       ((UINT32_C(1) << DP_RAW_ID_BITS) - 1)
#define DP_RAW_WORD(kind, id)   ((uint32_t)(kind) << DP_RAW_ID_BITS | (id))

/* A reading of the CPU clock is a word of kind DP_RAW_CPU and four more. The first two describe the
 * long gap that ended here; the others are filled in at the next reading and describe the short
 * gaps up to that reading. Where counters are recorded, each mark and each reading is followed by a
 * word for each counter: what was counted since the mark or reading before. */
enum { DP_RAW_LONG_GAP = 1, DP_RAW_LONG_WAIT, DP_RAW_SHORT_SUM, DP_RAW_SHORT_WAIT,
       DP_RAW_CPU_WORDS };

struct dp_ticks {
    uint64_t user, sys, real;
};

/* A line that is copied whole: 16 bytes, of which len count. */
struct dp_line {
    char text[15];
    uint8_t len;
};

enum { DP_TIME_LINES = 128 };

struct dp_idname {
    size_t at;                      /* where in `names` the line begins */
    bool done;                      /* has been written, where names go out as needed */
};

struct dp_writer {
    /* Where whole lines go; returns 0 or a negative code, which is sticky. */
    int (*sink)(void *arg, const char *ptr, size_t len);
    void *sink_arg;
    uint64_t hz;

    char *text;                     /* lines on their way to the sink */
    struct dp_buf names;            /* all & lines, in order of their ids */
    size_t names_done;              /* so many bytes of them are written */
    struct dp_line *ids;            /* "+ ID\n" */
    struct dp_line *times;          /* "@ N 0 N\n" for small N */
    struct dp_idname *id_names;
    size_t ids_cap, id_names_cap;
    bool lazy;                      /* names go out as they are needed */
    uint32_t next_id;               /* ids are handed out from 1 up */

    uint64_t acc_real, acc_wait, acc_sys;   /* fractions of a tick carried */
    struct dp_ticks pending;        /* passed, not yet on a line */
    struct dp_ticks sums;           /* written or pending */
    size_t n_counts;                /* behind each raw mark; columns of the time lines;
                                     * the recorder sets it */
    uint64_t pending_counts[DP_FMT_COUNTERS];
    uint64_t marks;
    uint64_t sys_share;             /* of CPU time, in 1/2^32 */
    int err;
};

int dp_writer_init(struct dp_writer *w, uint64_t hz,
                   int (*sink)(void *, const char *, size_t), void *sink_arg);
void dp_writer_release(struct dp_writer *w);
/* Makes the writer as new, for a forked child: ids stay what they are, and each name is written
 * again when a mark first needs it. */
void dp_writer_restart(struct dp_writer *w);

/* Gives a new id, whose & line is written before the next window. name: the line's
 * fields behind the id, encoded, without newline. 0 when memory is short or
 * the ids are used up. */
uint32_t dp_writer_name(struct dp_writer *w, const char *line, size_t len);

/* Writes a window of raw marks. ticks_per_stamp and sys_share (0..1) hold for
 * this window. Returns 0 or the sink's error. */
int dp_writer_window(struct dp_writer *w, const uint64_t *raw, size_t n,
                     double ticks_per_stamp, double sys_share);

/* Hands everything to the sink, time after the last mark included. */
int dp_writer_finish(struct dp_writer *w);

#endif
