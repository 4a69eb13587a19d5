/* The recorder: it takes marks with time stamps, and either hands whole windows
 * of them to a writer (a trace) or sums them up by calling context (a tree). It
 * reads no clock itself: stamps are arguments, and what else it needs to
 * know comes from the host's callbacks.
 *
 * A stamp is a reading of any fast, steady counter. Each mark comes with two:
 * one taken on arrival in the hook, one on leaving it. The program's time is
 * the sum of the gaps from a leaving to the next arrival; whatever happens
 * between an arrival and a leaving is the recorder's own time and lies outside
 * of every interval. A statement may come with one (reads_once): then its hook is within the gap
 * that begins there.
 *
 * A second, slow clock tells which part of a gap was CPU time; it is read only after long gaps and
 * once in a while. Between two readings,
 * (stamps passed - CPU used) is the time spent waiting. This waiting is taken off the long gap that
 * led to the reading, and what is more than that gap is taken off the short gaps before it. So
 * short gaps count as CPU time wholly unless the sums say otherwise, and the sums are right. (In a
 * tree, where the short gaps before are summed up already, the surplus is taken off the next
 * ones.) */
#ifndef DP_REC_H
#define DP_REC_H

#include "dp_base.h"
#include "dp_cct.h"
#include "dp_live.h"
#include "dp_writer.h"

/* What the host answers when the recorder asks. */
struct dp_rec_host {
    /* Stamps per ns where they are known exactly; 0: the recorder finds them out. */
    double rate;
    /* Measures what the readings add to the program's time, in stamps: to a gap between two calls
     * or ends of calls, and, with reads_once, to one between two statements. Called at the start
     * and some times later; NULL: nothing. */
    void (*costs)(void *host, uint64_t *call, uint64_t *line);
    /* The fast counter. */
    uint64_t (*stamp)(void *host);
    /* CPU time of this thread in ns. */
    uint64_t (*cpu_ns)(void *host);
    /* A stamp and CLOCK_MONOTONIC in ns, read together. */
    void (*pair)(void *host, uint64_t *stamp, uint64_t *mono_ns);
    /* User and system time of the process in microseconds. */
    void (*split)(void *host, uint64_t *user_us, uint64_t *sys_us);
};

/* The options of a recording that matter here. */
struct dp_rec_how {
    size_t words;               /* of a trace: marks in a window; 0: each at once */
    size_t contexts;            /* of a tree: most nodes */
    bool tree;                  /* a tree from the beginning */
    const uint64_t *ops;        /* of a tree: counts ops; NULL: not counted */
    const uint64_t *counts;     /* totals of the counters of events, as of the arrival; they never
                                 * shrink */
    size_t n_counts;            /* how many counters there are, at most DP_FMT_COUNTERS */
    size_t n_counted;           /* how many of them marks look at: as many, or none where only the
                                 * recorder's own is there */
    size_t noise;               /* of a tree: the recorder's own counter (note_noise), from 1 up; 0:
                                 * there is none */
    uint32_t (*site)(void *host);   /* the place of the call; NULL: not kept */
    struct dp_lines *lines;     /* of a tree: what statements cost; borrowed; NULL: not kept */
    bool line_times;            /* their times, not only how often they run */
    bool reads_once;            /* with them: a statement comes with one reading, and hooks leave
                                 * by dp_rec_leave_statement and dp_rec_leave */
    bool line_samples;          /* samples alone charge them (dp_rec_sample.h) */
    uint64_t checkpoint;        /* of a tree: seconds after which it is saved; 0: never */
};

/* Where in the program's calls a mark stands. */
enum dp_rec_at {
    DP_REC_AT_NO_MARK,
    DP_REC_AT_BEGIN,            /* its call does not run yet */
    DP_REC_AT_END,              /* its call still runs */
    DP_REC_AT_GOTO              /* the same, and another sub will run in its place */
};

struct dp_rec;

/* The marks: what hooks read and write at each of them, by the inline functions of dp_rec_mark.h.
 *
 * `program` is the sum of all gaps that were taken in, less what readings cost, and never shrinks.
 * The next mark takes in what has passed since `left`. A mark takes the fast way if its gap is
 * shorter than long_gap, its stamp before `deadline`, and, of a trace, `pos` before `end`. So code
 * that wants the slow way sets deadline to 0 and end to NULL, and code that sets them to anything
 * else calls dp_rec_rearm afterwards. At each mark `cur` and `line` are charged with all stamps,
 * ops and counts before it; with lines, `cur` waits for the stamps since `settled`. */
struct dp_marks {
    /* One cache line, which all marks need ... */
    uint64_t *pos;              /* where the next mark goes */
    uint64_t *end;              /* from here on the window is to be written */
    uint64_t left;              /* stamp of the last leaving */
    uint64_t deadline;          /* stamp from which on the CPU clock is due */
    uint64_t long_gap;          /* after a gap this long the CPU clock is read */
    uint64_t program;           /* stamps that passed in the program so far */
    struct dp_cct_node *cur;    /* of a tree: the context that runs */
    uint64_t reading_cost;      /* what is taken off a gap that ends at a call */
    /* ... and what those of a tree, of statements and of counters need besides. */
    struct dp_stmt *line;       /* the statement that runs; never NULL */
    const uint64_t *ops;        /* counts ops */
    uint64_t ops_seen;          /* ops that contexts are charged with */
    uint64_t line_ops_seen;     /* the same for statements */
    uint64_t statement_cost;    /* with reads_once: what is taken off a gap that begins with a
                                 * statement; else 0 */
    uint64_t leaving_cost;      /* the same for one that begins with a call or its end */
    uint64_t settled;           /* `program` up to which contexts are charged, if there are lines */
    uint64_t counts_seen[DP_FMT_COUNTERS];
    uint64_t ns_mult;           /* ns per stamp, in 1/2^32 */
};
DP_CHECK(marks, offsetof(struct dp_marks, line) == 8 * sizeof(uint64_t) || sizeof(void *) != 8);

/* The clock's arithmetic: from stamps to CPU time, waits and the recorder's own time.
 *
 * Between two readings of the CPU clock, (stamps that passed) = (CPU time) + (waiting), and each
 * stamp of waiting is taken off one gap once: off the gap at whose end the clock was read, else off
 * the short gaps before it (of a tree: off the next ones, which is `debt`). What the CPU clock has
 * more than the stamps is `carry`, up to the noise of a reading, and `dropped` beyond that. `rate`
 * holds from first_stamp on; if the counter steps, all stamps that are kept here move with it.
 * What passes while recording is paused is `idle`, and neither the program's nor the recorder's. */
struct dp_rec_clock {
    double rate;                        /* stamps per ns */
    bool young;                         /* the rate is still being learnt */
    uint64_t pair_stamp, pair_mono;     /* the last pair: start of the window */
    uint64_t first_stamp, first_mono;   /* the first pair: start of recording */
    uint64_t cpu_stamp, cpu_ns;         /* the last reading of the CPU clock */
    uint64_t cpu_program;               /* `program` at that reading */
    uint64_t cpu_used;                  /* ns of CPU time since the beginning */
    int64_t carry;                      /* stamps of CPU time read too much */
    uint64_t dropped;                   /* stamps of CPU time given up */
    uint64_t short_sum, short_wait;     /* of the gaps between the last readings */
    uint64_t debt;                      /* of a tree: waiting still to be taken off */
    uint64_t user_us, sys_us;           /* split at the window's start */
    uint64_t total_user_us, total_sys_us;
    uint64_t split_stamp, split_ns;     /* when and at what CPU time it was read */
    uint64_t paused_at, idle;           /* idle: stamps that passed while paused */
    uint64_t began;             /* stamp from which on the recorder's own time is that of the file:
                                 * first_stamp, or the end of the slice before */
    /* Fewer readings for programs whose gaps are all just longer than long_gap. */
    uint64_t period_end;
    uint32_t reads, waits, skipped;
    bool relaxed;
    uint64_t call_cost, line_cost;      /* what host->costs has said */
    uint64_t measure_at;        /* stamp at which it is asked again; UINT64_MAX: no more */
};

/* Saving: the pieces, the window on its way to the writer, and who is called when.
 *
 * `state` and `window` lie in the pieces of `live`; a tree has no window. In the window, all words
 * from `pos` on are 0, for a reader of what a killed process leaves. While `trip` or `wanted` is
 * set, marks take the slow way, where they find it. Callbacks are called when all that has passed
 * is taken in, and time in them is the recorder's. `held` is the stretch that is recorded in place
 * of the file's tree, and NULL while a file is written: then it is `aside`. */
struct dp_rec_saving {
    struct dp_live *live;
    struct dp_live_state *state;    /* for readers of what a killed process leaves */
    uint64_t *window;           /* the marks not yet written */
    size_t cpu_rec;             /* index of the newest DP_RAW_CPU record */
    int err;                    /* sticky: nothing is written any more */

    /* Called by the first mark after dp_rec_trip, before the mark is taken in. */
    void (*tripped)(void *arg);
    /* Called when a window has been written, and is empty. May be NULL. */
    void (*flushed)(void *arg);
    /* Of a tree: called once, when it has been recorded for a second; a trace is written by then.
     * May be NULL. */
    void (*on_first_second)(void *arg);
    /* Called when the file shall be brought up to date. Of a trace, everything has been written by
     * then. May be NULL. */
    void (*save)(void *arg);
    void *arg;
    bool trip;
    int wanted;                 /* dp_rec_want was here */
    uint64_t saved;             /* stamp of the last save */
    uint64_t written;           /* stamp of the last window written */
    enum dp_rec_at mark_at;     /* during `save`: the mark that is being taken in */
    bool stopped;               /* during `save`: recording is paused, and will be again */
    uint64_t renewals;          /* counts dp_rec_renew */

    /* What dp_held.c does when a file is written, and at the end; NULL: nothing has been held
     * back. */
    const struct dp_rec_held {
        void (*step_aside)(struct dp_rec *rec);
        void (*step_back)(struct dp_rec *rec);
        void (*leave)(struct dp_rec *rec);
        void (*forget)(struct dp_rec *rec);
    } *on_held;
    struct dp_held *held;       /* records instead of the file's tree; NULL: nothing does */
    struct dp_held *aside;      /* the same, while the file is written */
    struct dp_held *all_held, *spare_held;
    struct dp_rec_account {     /* of the file's tree, as of the moment when `held` went on */
        uint64_t since, idle, cpu_used, dropped;
    } account;
    uint64_t held_from;         /* `program` at that moment, or when `held` was left */
};

/* Samples: what the last one has left to the next (dp_rec_sample.h).
 *
 * `unassigned` is CPU time that context and statement of the last sample have been charged with
 * and that is not theirs; they keep what they have beyond it. The next sample or a new phase takes
 * it over; with the tree it is forgotten. `program` and `counts` are the marks' at the last sample
 * of statements beside a tree of calls: what is beyond them waits for the next one. */
struct dp_rec_samples {
    struct {
        struct dp_cct_node *node;
        struct dp_stmt *line;
        uint64_t stamps;
    } unassigned;
    uint64_t program, counts[DP_FMT_COUNTERS];
};

struct dp_rec {
    struct dp_marks marks;      /* first: hooks find its one cache line here */
    struct dp_rec_how how;
    const struct dp_rec_host *host;
    void *host_arg;
    struct dp_writer *writer;
    struct dp_cct cct;
    bool tree;                  /* now */
    bool paused;                /* nothing counts */
    bool worked;                /* a mark took more work than usual: set here, cleared by the host
                                 * */
    bool over;                  /* dp_rec_give_up was here */
    uint32_t phase;             /* id of the phase's name; 0: none */
    uint32_t known_phase;       /* the phase that the window or the tree has */
    uint32_t line_before;       /* of a child: the statement that forked */
    uint64_t relinks;           /* counts how often contexts of running calls were given anew */
    struct dp_rec_clock clock;
    struct dp_rec_saving saving;
    struct dp_rec_samples samples;
    /* Room for the node that takes what shall not count (dp_cct.h, idle); after dp_rec_give_up it
     * is the only context. A union with the node would be plainer, but C99 does not allow a
     * flexible array inside a structure, and clang warns about it. */
    dp_any_word nowhere[sizeof(struct dp_cct_node) / 8 + DP_FMT_COUNTERS];
    /* Room for a statement, where none are kept. */
    dp_any_word no_line[sizeof(struct dp_stmt) / 8 + DP_FMT_COUNTERS];
};

/* What a reader of the pieces needs: to which run they belong, and what turns stamps into ticks. */
struct dp_live_state {
    char run[40];               /* $dprof_run, with NULs behind it */
    uint64_t pid, tid;
    uint64_t hz;
    double rate;                /* stamps per ns */
    uint64_t marks;             /* in the text so far */
    uint64_t tree;              /* 1: nodes are in stamps, marks are none */
    uint64_t ops;               /* 1: ops are counted */
    struct dp_ticks pending;    /* ticks that passed behind the marks in the text */
    uint64_t n_counts;          /* behind each mark, and in each node */
    uint64_t pending_counts[DP_FMT_COUNTERS];
};

enum { DP_REC_SLACK = 64 };     /* words behind `end` that marks may use: two of
                                 * them, and a reading */

/* Starts the clocks. Allocates nothing: dp_rec_open does.  */
void dp_rec_init(struct dp_rec *rec, const struct dp_rec_how *how, struct dp_writer *writer,
                 const struct dp_rec_host *host, void *host_arg);

/* Makes the window or the tree, in pieces of live (borrowed). Reads no clock, so
 * that time since dp_rec_init or dp_rec_restart is the program's. Not while paused. Returns
 * 0 or DP_E_NOMEM. */
int dp_rec_open(struct dp_rec *rec, struct dp_live *live);

/* From now on the window holds so many marks (words of dp_rec_how), fewer than it was made for.
 * rec->saving.on_first_second is not called again. */
void dp_rec_shrink(struct dp_rec *rec, size_t words);

/* Releases what dp_rec_open made, but for the pieces. */
void dp_rec_release(struct dp_rec *rec);

/* Ends the recording where it stands, for want of memory, and releases what dp_rec_open made. From
 * now on every function, marks included, does nothing and needs no memory. */
void dp_rec_give_up(struct dp_rec *rec);

/* Starts over with fresh clocks, for a forked child, and trips: until the next
 * mark calls rec->saving.tripped, which must dp_rec_release and dp_rec_open, nothing
 * of the parent's is touched. Calls only the host's clocks. */
void dp_rec_restart(struct dp_rec *rec);

/* Keeps the number of the statement that runs, before the pieces go: before a fork, in the parent,
 * whose pieces the child shares, and before dp_rec_renew. */
static inline void dp_rec_keep_line(struct dp_rec *rec)
{
    rec->line_before = rec->marks.line->number;
}

/* Has the next mark call rec->saving.tripped first. */
static inline void dp_rec_trip(struct dp_rec *rec)
{
    rec->saving.trip = true;
    rec->marks.end = NULL;
    rec->marks.deadline = 0;
}

/* Has the next mark call rec->saving.save, when it is taken in. Async-signal-safe, and any thread
 * may call it at any moment: dp_rec_rearm restores what the recorder overwrites at the same
 * moment. */
static inline void dp_rec_want(struct dp_rec *rec)
{
    __atomic_store_n(&rec->saving.wanted, 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&rec->marks.end, NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&rec->marks.deadline, 0, __ATOMIC_RELAXED);
}

/* Whoever has set `end` or `deadline` calls this afterwards: should a signal have come in between,
 * both are set again as dp_rec_want had set them; while paused, they stay as they are while
 * paused. */
static inline void dp_rec_rearm(struct dp_rec *rec)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (rec->saving.trip || rec->paused || __atomic_load_n(&rec->saving.wanted, __ATOMIC_RELAXED)) {
        rec->marks.end = NULL;
        rec->marks.deadline = 0;
    }
}

static inline void dp_rec_untrip(struct dp_rec *rec)
{
    rec->saving.trip = false;
    rec->marks.end = rec->tree ? rec->saving.window : rec->saving.window + rec->how.words;
    dp_rec_rearm(rec);
}

/* Goes on as a tree from now on; the window must have been written. Not while paused. Then
 * dp_rec_resume for each call that runs, outermost first. */
int dp_rec_to_tree(struct dp_rec *rec);

/* Of a tree: a call of id is running already, and began when the program had
 * used `start` stamps. The call gets a context, but is not counted. DP_REC_ELSEWHERE: it
 * began in another file, or where nothing counts; then its end does not count either. */
#define DP_REC_ELSEWHERE    UINT64_MAX
void dp_rec_resume(struct dp_rec *rec, uint32_t id, struct dp_cct_call *call, uint64_t start);

/* Of a tree: the next dp_rec_resume is of an outermost call. */
void dp_rec_rebase(struct dp_rec *rec);

/* A new phase begins at arrival stamp now; id: of its & line. Of a tree, dp_rec_resume
 * for each call that runs follows. While paused it is only remembered. */
void dp_rec_phase(struct dp_rec *rec, uint32_t id, uint64_t now);

/* From arrival stamp now on nothing counts, neither time nor calls; marks go on to be sent. Of a
 * trace, dp_rec_announce and an exit for each call that runs come before. */
void dp_rec_pause(struct dp_rec *rec, uint64_t now);

/* Ends a pause. The caller then calls, for a tree, dp_rec_resume for each call that runs; for a
 * trace, dp_rec_announce and an entry. The caller sets rec->marks.left. */
void dp_rec_unpause(struct dp_rec *rec, uint64_t now);

/* Says in a trace that the next n marks, which are exits or entries, are of calls that have not
 * ended, or have begun before. */
void dp_rec_announce(struct dp_rec *rec, enum dp_raw_kind kind, size_t n, uint64_t now);

/* Of a tree, when it has been written (in rec->saving.save, or after a failed exec): begins an
 * empty one, for the next file, in pieces of rec->saving.live, which the host has made anew, after
 * dp_rec_keep_line. Unless rec->saving.stopped, dp_rec_resume for each call that runs follows;
 * rec->saving.mark_at tells about the one on top. Returns 0 or DP_E_NOMEM. */
int dp_rec_renew(struct dp_rec *rec);

/* Charges what the process has spent in the kernel to what runs, up to a reading at stamp now. */
void dp_rec_split(struct dp_rec *rec, uint64_t now);

/* Reads the CPU clock; what it has counted since the last reading belongs to no context. */
void dp_rec_anchor(struct dp_rec *rec);

/* Writes what the window holds. now: an arrival stamp; the gap up to it
 * becomes time of the sub on top. The caller reads a leaving stamp afterwards.
 * Of a tree, only the gap is taken. Returns 0 or the writer's error. */
int dp_rec_flush(struct dp_rec *rec, uint64_t now);

/* Does the same, and calls rec->saving.save; the time of that call is the recorder's own. */
int dp_rec_save(struct dp_rec *rec, uint64_t now);

/* Stamps that passed while paused. */
static inline uint64_t dp_rec_idle(const struct dp_rec *rec, uint64_t now)
{
    const struct dp_rec_clock *clock = &rec->clock;
    return clock->idle + (rec->paused && now > clock->paused_at ? now - clock->paused_at : 0);
}

/* Ticks of user+system and of real time that went to the recorder itself. */
void dp_rec_own(const struct dp_rec *rec, uint64_t now, uint64_t *cpu, uint64_t *real);

/* Ticks per stamp over the whole recording. */
double dp_rec_ticks_per_stamp(struct dp_rec *rec);

#endif
