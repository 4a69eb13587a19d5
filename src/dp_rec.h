/* The recorder of a trace: it takes marks with time stamps and hands whole
 * windows of them to a writer. It reads no clock itself: stamps are arguments,
 * and what else it needs to know comes from the host's callbacks.
 *
 * A stamp is a reading of any fast, steady counter. Each mark comes with two:
 * one taken on arrival in the hook, one on leaving it. The program's time is
 * the sum of the gaps from a leaving to the next arrival; whatever happens
 * between an arrival and a leaving is the recorder's own time and lies outside
 * of every interval.
 *
 * Which part of a gap was CPU time is known from a second, slow clock, which
 * is read only after long gaps and once in a while. Between two readings,
 * (stamps passed - CPU used) is the time spent waiting. It is taken off the
 * long gap that led to the reading, and what does not fit in there off the short
 * gaps before it. So short gaps count as CPU time wholly unless the sums say
 * otherwise, and the sums are right. */
#ifndef DP_REC_H
#define DP_REC_H

#include "dp_base.h"
#include "dp_writer.h"

/* What the host tells when it is asked. */
struct dp_rec_host {
    /* Stamps per ns where that is known exactly; 0: to be found out. */
    double rate;
    /* Stamps that two readings in a row are apart, at the least: the reading's
     * own time. It is part of each gap and is taken off. */
    uint64_t (*zero)(void *host);
    /* The fast counter. */
    uint64_t (*stamp)(void *host);
    /* CPU time of this thread in ns. */
    uint64_t (*cpu_ns)(void *host);
    /* A stamp and CLOCK_MONOTONIC in ns, read together. */
    void (*pair)(void *host, uint64_t *stamp, uint64_t *mono_ns);
    /* User and system time of the process in microseconds. */
    void (*split)(void *host, uint64_t *user_us, uint64_t *sys_us);
};

struct dp_rec {
    /* The hot part: one cache line. */
    uint64_t *pos;              /* where the next mark goes */
    uint64_t *end;              /* from here on the window is to be written */
    uint64_t left;              /* stamp of the last leaving */
    uint64_t deadline;          /* stamp from which on the CPU clock is due */
    uint64_t long_gap;          /* a gap this long wants the CPU clock */
    uint64_t program;           /* stamps that passed in the program so far */
    uint64_t zero;              /* what a gap measures in which nothing happens */

    uint64_t *window;           /* the marks not yet written */
    size_t words;               /* room in it before it counts as full */
    size_t cpu_rec;             /* index of the newest DP_RAW_CPU record */
    const struct dp_rec_host *host;
    void *host_arg;
    struct dp_writer *writer;
    int err;                    /* sticky: nothing is written any more */

    /* Called by the first mark after dp_rec_trip, before that is taken in. */
    void (*tripped)(void *arg);
    void *tripped_arg;
    bool trip;

    double rate;                /* stamps per ns */
    uint64_t pair_stamp, pair_mono;     /* the last pair: start of the window */
    uint64_t first_stamp, first_mono;   /* the first pair: start of recording */
    uint64_t cpu_stamp, cpu_ns;         /* the last reading of the CPU clock */
    uint64_t cpu_program;               /* `program` at that reading */
    uint64_t cpu_used;                  /* ns of CPU time since the beginning */
    int64_t carry;                      /* stamps of CPU time read too much */
    uint64_t dropped;                   /* stamps of CPU time given up */
    uint64_t user_us, sys_us;           /* split at the window's start */
    uint64_t total_user_us, total_sys_us;
    bool young;                         /* the rate is still being learnt */

    /* Relief for programs whose gaps are all just longer than long_gap. */
    uint64_t period_end;
    uint32_t reads, waits, skipped;
    bool relaxed;
};

enum { DP_REC_SLACK = 64 };     /* words behind `end` that a slow mark may use */

/* words: size of the window in marks, 0 = write each mark at once.
 * Reads the host's clocks. Returns 0 or DP_E_NOMEM. */
int dp_rec_init(struct dp_rec *rec, size_t words, struct dp_writer *writer,
                const struct dp_rec_host *host, void *host_arg);
void dp_rec_release(struct dp_rec *rec);

/* Starts over with an empty window and fresh clocks, for a forked child: what
 * the window held is the parent's to write. Allocates nothing, calls only the
 * host's clocks. */
void dp_rec_restart(struct dp_rec *rec);

/* Has the next mark call rec->tripped first. */
static inline void dp_rec_trip(struct dp_rec *rec)
{
    rec->trip = true;
    rec->end = rec->window;
}

static inline void dp_rec_untrip(struct dp_rec *rec)
{
    rec->trip = false;
    rec->end = rec->window + rec->words;
}

/* Does the window hold any marks? */
bool dp_rec_is_empty(const struct dp_rec *rec);

/* Writes what the window holds. now: an arrival stamp; the gap up to it
 * becomes time of the sub on top. The caller reads a leaving stamp afterwards.
 * Returns 0 or the writer's error. */
int dp_rec_flush(struct dp_rec *rec, uint64_t now);

/* Ticks of user+system and of real time that went to the recorder itself. */
void dp_rec_own(const struct dp_rec *rec, uint64_t now, uint64_t *cpu, uint64_t *real);

/* The slow way of dp_rec_mark. Returns 0 or the writer's error. */
int dp_rec_mark_slow(struct dp_rec *rec, uint32_t word, uint64_t now);

/* The program's time since the last leaving; a huge number when the counter
 * has stepped back. */
DP_INLINE uint64_t dp_rec_gap(const struct dp_rec *rec, uint64_t now)
{
    uint64_t gap = now - rec->left;
    return gap > rec->zero ? gap - rec->zero : 0;
}

/* Records a mark that arrived at stamp now. The caller sets rec->left to a
 * fresh stamp when it is about to leave. */
DP_INLINE void dp_rec_mark(struct dp_rec *rec, enum dp_raw_kind kind, uint32_t id, uint64_t now)
{
    uint64_t gap = dp_rec_gap(rec, now);
    uint32_t word = DP_RAW_WORD(kind, id);
    uint64_t *pos = rec->pos;

    /* A counter that stepped back gives a huge gap and goes the slow way too. */
    if (DP_UNLIKELY(gap >= rec->long_gap) || DP_UNLIKELY(now >= rec->deadline)
        || DP_UNLIKELY(pos >= rec->end)) {
        dp_rec_mark_slow(rec, word, now);
        return;
    }
    *pos = gap << 32 | word;
    rec->pos = pos + 1;
    rec->program += gap;
}

#endif
