/* The recorder: it takes marks with time stamps, and either hands whole windows of them to a writer
 * (a trace) or sums them up by calling context (a tree). It reads no clock itself: stamps are
 * arguments, and the host's callbacks give all else that it needs to know.
 *
 * A stamp is a reading of any fast, steady counter. Each mark comes with two: one taken on arrival
 * in the hook, one on leaving it. The program's time is the sum of the gaps from a leaving to the
 * next arrival. The time between an arrival and a leaving is the recorder's own, and lies outside
 * of every gap. A statement may come with one stamp (reads_once): then its hook is within the gap
 * that begins there.
 *
 * A second, slow clock shows which part of a gap was CPU time; it is read only after long gaps and
 * once in a while. Between two readings, (stamps passed - CPU used) is the time spent waiting. This
 * waiting is taken off the long gap that led to the reading, and any surplus is taken off the short
 * gaps before it. So short gaps count as CPU time wholly unless the sums say otherwise, and the
 * sums are right. (In a tree, the short gaps before are summed up already, so the surplus is taken
 * off the next ones.) */
#ifndef DP_REC_H
#define DP_REC_H

#include "dp_base.h"
#include "dp_cct.h"
#include "dp_live.h"
#include "dp_writer.h"

/* Callbacks of the host. */
struct dp_rec_host {
    /* Stamps per ns if these are known exactly; 0: the recorder measures them. */
    double rate;
    /* Measures what the readings add to the program's time, in stamps: to a gap between two calls
     * or ends of calls (call), and, with reads_once, to one between two statements (line). Called
     * at the start and some times later; NULL: the readings add nothing. */
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
    const uint64_t *counts;     /* totals of the counters of events at the arrival; they never
                                 * shrink */
    size_t n_counts;            /* number of counters, at most DP_FMT_COUNTERS */
    size_t n_counted;           /* number of counters that marks read: n_counts, or 0 if the
                                 * recorder's own is the only one */
    size_t noise;               /* of a tree: the recorder's own counter (note_noise), from 1 up; 0:
                                 * none */
    uint32_t (*site)(void *host);   /* the place of the call; NULL: not kept */
    struct dp_lines *lines;     /* of a tree: the costs of statements; borrowed; NULL: not kept */
    bool line_times;            /* times of statements, not only counts */
    bool reads_once;            /* with line_times: a statement comes with one reading, and hooks
                                 * leave by dp_rec_leave_statement and dp_rec_leave */
    bool line_samples;          /* samples alone charge statements (dp_rec_sample.h) */
    uint64_t sample;            /* of a tree of samples: samples a second; 0: when they were taken
                                 * is not kept */
    uint64_t checkpoint;        /* of a tree: seconds between two saves; 0: no such saves */
};

/* Where in the program's calls a mark stands. */
enum dp_rec_at {
    DP_REC_AT_NO_MARK,
    DP_REC_AT_BEGIN,            /* its call does not run yet */
    DP_REC_AT_END,              /* its call still runs */
    DP_REC_AT_GOTO              /* the same, and another sub will run in its place */
};

struct dp_rec;

/* The marks: the fields that hooks read and write at each mark, by the inline functions of
 * dp_rec_mark.h.
 *
 * `program` is the sum of all gaps that were taken in, less the cost of readings, and never
 * shrinks. The next gap begins at `left`. A mark takes the fast way if its gap is shorter than
 * long_gap, its stamp before `deadline`, and, in a trace, `pos` before `end`. So code that wants
 * the slow way sets deadline to 0 and end to NULL, and code that sets them to anything else calls
 * dp_rec_rearm afterwards. `cur` and `line` have been charged with all stamps, ops and counts
 * before the last mark; with lines, `cur` still lacks the stamps since `settled`. */
struct dp_marks {
    /* One cache line, which all marks need ... */
    uint64_t *pos;              /* where the next mark will be written */
    uint64_t *end;              /* where the window is full and is written */
    uint64_t left;              /* stamp of the last leaving */
    uint64_t deadline;          /* stamp from which on the CPU clock is due */
    uint64_t long_gap;          /* after a gap this long the CPU clock is read */
    uint64_t program;           /* stamps that passed in the program so far */
    struct dp_cct_node *cur;    /* of a tree: the context that runs */
    uint64_t reading_cost;      /* stamps taken off a gap that ends at a call */
    /* ... and fields for trees, statements and counters. */
    struct dp_stmt *line;       /* the statement that runs; never NULL */
    const uint64_t *ops;        /* counts ops */
    uint64_t ops_seen;          /* ops that contexts have been charged with */
    uint64_t line_ops_seen;     /* the same for statements */
    uint64_t statement_cost;    /* with reads_once: stamps taken off a gap that begins with a
                                 * statement; else 0 */
    uint64_t leaving_cost;      /* the same for a gap that begins with a call or its end */
    uint64_t settled;           /* `program` up to which contexts are charged, if there are lines */
    uint64_t counts_seen[DP_FMT_COUNTERS];
    uint64_t ns_mult;           /* ns per stamp, in 1/2^32 */
};
DP_CHECK(marks, offsetof(struct dp_marks, line) == 8 * sizeof(uint64_t) || sizeof(void *) != 8);

/* The clock's arithmetic: from stamps to CPU time, waits and the recorder's own time.
 *
 * Between two readings of the CPU clock, (stamps that passed) = (CPU time) + (waiting), and each
 * stamp of waiting is taken off one gap once: off the gap at whose end the clock was read, else off
 * the short gaps before it. (In a tree it is taken off the next short gaps, and is `debt` until
 * then.) If more CPU time than stamps passed, the surplus is `carry` up to the noise of a reading,
 * and `dropped` beyond that. `rate` holds from first_stamp on; if the counter steps, all stamps
 * that are kept here move with it. The time that passes while recording is paused is `idle`:
 * neither the program's nor the recorder's. */
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
    uint64_t short_sum, short_wait;     /* the short gaps between the last two readings */
    uint64_t debt;                      /* of a tree: waiting still to be taken off */
    uint64_t user_us, sys_us;           /* split at the window's start */
    uint64_t total_user_us, total_sys_us;
    uint64_t split_stamp, split_ns;     /* stamp and CPU time of the last split */
    uint64_t paused_at, idle;           /* idle: stamps that passed while paused */
    uint64_t began;             /* stamp where the file's share of the recorder's own time begins:
                                 * first_stamp, or the end of the slice before */
    /* Fewer readings for programs whose gaps are all just longer than long_gap. */
    uint64_t period_end;
    uint32_t reads, waits, skipped;
    bool relaxed;
    uint64_t call_cost, line_cost;      /* the last result of host->costs */
    uint64_t measure_at;        /* stamp of the next call of host->costs; UINT64_MAX: none */
};

/* Saving: the pieces, the window on its way to the writer, and the callbacks.
 *
 * `state` and `window` lie in the pieces of `live`; a tree has no window. In the window, all words
 * from `pos` on are 0, so that readers find its end when the process was killed. While `trip` or
 * `wanted` is set, marks take the slow way, which handles it. All time that has passed is taken in
 * before a callback other than `tripped`, and time in callbacks is the recorder's. `held` is the
 * stretch that is recorded in place of the file's tree. While a file is written, `held` is NULL,
 * and the stretch is `aside`. */
struct dp_rec_saving {
    struct dp_live *live;
    struct dp_live_state *state;    /* for readers of what a killed process leaves */
    uint64_t *window;           /* the marks not yet written */
    size_t cpu_rec;             /* index of the newest DP_RAW_CPU record */
    int err;                    /* sticky error: nothing more is written */

    /* Called by the first mark after dp_rec_trip, before the mark is taken in. */
    void (*tripped)(void *arg);
    /* Called when a window has been written, and is empty. May be NULL. */
    void (*flushed)(void *arg);
    /* For a tree: called once, when it has been recorded for a second; a trace is written by then.
     * May be NULL. */
    void (*on_first_second)(void *arg);
    /* Called when the file shall be brought up to date; a trace has been written wholly by then.
     * May be NULL. */
    void (*save)(void *arg);
    void *arg;
    bool trip;
    int wanted;                 /* set by dp_rec_want */
    uint64_t saved;             /* stamp of the last save */
    uint64_t written;           /* stamp of the last window written */
    enum dp_rec_at mark_at;     /* during `save`: the mark that is being taken in */
    bool stopped;               /* during `save`: recording is paused, and will be again */
    uint64_t renewals;          /* number of calls of dp_rec_renew */

    /* Callbacks of dp_held.c for when a file is written, and for the end; NULL: no stretch has been
     * held back. */
    const struct dp_rec_held {
        void (*step_aside)(struct dp_rec *rec);
        void (*step_back)(struct dp_rec *rec);
        void (*leave)(struct dp_rec *rec);
        void (*forget)(struct dp_rec *rec);
    } *on_held;
    struct dp_held *held;       /* the stretch that is recorded, or NULL */
    struct dp_held *aside;      /* the same stretch, while the file is written */
    struct dp_held *all_held, *spare_held;
    struct dp_rec_account {     /* the clocks of the file's tree when `held` was entered */
        uint64_t since, idle, cpu_used, dropped;
    } account;
    uint64_t held_from;         /* `program` at that moment, or when `held` was left */
};

/* Samples: the CPU time that the last sample has left to the next one (dp_rec_sample.h).
 *
 * `unassigned` is CPU time that the last sample has charged to its context and statement, but that
 * is not theirs. The next sample or a new phase takes it over; it is forgotten with the tree.
 * `program` and `counts` are the marks' at the last sample of statements beside a tree of calls:
 * the next such sample takes the difference. `unit` is that of the tree's times of samples
 * (dp_when.h), and `since` is the marks' program when the tree began. */
struct dp_rec_samples {
    struct {
        struct dp_cct_node *node;
        struct dp_stmt *line;
        uint64_t stamps;
    } unassigned;
    uint64_t program, counts[DP_FMT_COUNTERS];
    uint64_t unit, since;       /* stamps; unit 0: not known yet */
};

struct dp_rec {
    struct dp_marks marks;      /* first: hooks find its one cache line here */
    struct dp_rec_how how;
    const struct dp_rec_host *host;
    void *host_arg;
    struct dp_writer *writer;
    struct dp_cct cct;
    bool tree;                  /* whether a tree is recorded now */
    bool paused;                /* nothing counts */
    bool worked;                /* a mark took more work than usual; cleared by the host */
    bool over;                  /* dp_rec_give_up has ended the recording */
    uint32_t phase;             /* id of the phase's name; 0: none */
    uint32_t known_phase;       /* the phase that the window or the tree has */
    uint32_t line_before;       /* number of the statement that ran when dp_rec_keep_line was
                                 * called */
    uint64_t relinks;           /* counts how often running calls got new contexts */
    struct dp_rec_clock clock;
    struct dp_rec_saving saving;
    struct dp_rec_samples samples;
    /* Room for the idle node (dp_cct.h); after dp_rec_give_up it is the only context. A union with
     * the node would be plainer, but C99 does not allow a flexible array inside a structure, and
     * clang warns about it. */
    dp_any_word nowhere[sizeof(struct dp_cct_node) / 8 + DP_FMT_COUNTERS];
    /* Room for the statement that is charged if none are kept. */
    dp_any_word no_line[sizeof(struct dp_stmt) / 8 + DP_FMT_COUNTERS];
};

/* What readers of the pieces need: the run, and what turns stamps into ticks. */
struct dp_live_state {
    char run[40];               /* $dprof_run, with NULs behind it */
    uint64_t pid, tid;
    uint64_t hz;
    double rate;                /* stamps per ns */
    uint64_t marks;             /* number of marks in the text so far */
    uint64_t tree;              /* 1: the nodes hold the recording, in stamps; 0: the marks do */
    uint64_t ops;               /* 1: ops are counted */
    struct dp_ticks pending;    /* ticks that passed after the last mark in the text */
    uint64_t n_counts;          /* number of counters behind each mark, and in each node */
    uint64_t pending_counts[DP_FMT_COUNTERS];
};

enum { DP_REC_SLACK = 64 };     /* words behind `end` that marks may use: two marks and a reading */

/* Starts the clocks. Allocates nothing: dp_rec_open does. */
void dp_rec_init(struct dp_rec *rec, const struct dp_rec_how *how, struct dp_writer *writer,
                 const struct dp_rec_host *host, void *host_arg);

/* Makes the window or the tree, in pieces of live (borrowed). Reads no clock, so
 * that time since dp_rec_init or dp_rec_restart is the program's. Not while paused. Returns
 * 0 or DP_E_NOMEM. */
int dp_rec_open(struct dp_rec *rec, struct dp_live *live);

/* Makes the window hold this many marks (words of dp_rec_how) from now on, fewer than it was made
 * for. rec->saving.on_first_second is not called again. */
void dp_rec_shrink(struct dp_rec *rec, size_t words);

/* Releases what dp_rec_open made, but for the pieces. */
void dp_rec_release(struct dp_rec *rec);

/* Ends the recording at once because memory is short, and releases what dp_rec_open made. From now
 * on every function, marks included, does nothing and needs no memory. */
void dp_rec_give_up(struct dp_rec *rec);

/* Starts over with fresh clocks in a forked child, and trips. Until the next mark calls
 * rec->saving.tripped, nothing of the parent's is touched; that callback must call dp_rec_release
 * and dp_rec_open. Calls only the host's clocks. */
void dp_rec_restart(struct dp_rec *rec);

/* Keeps the number of the running statement before its piece goes: in the parent before a fork,
 * since the child shares the pieces, and before dp_rec_renew. */
static inline void dp_rec_keep_line(struct dp_rec *rec)
{
    rec->line_before = rec->marks.line->number;
}

/* Makes the next mark call rec->saving.tripped first. */
static inline void dp_rec_trip(struct dp_rec *rec)
{
    rec->saving.trip = true;
    rec->marks.end = NULL;
    rec->marks.deadline = 0;
}

/* Makes the next mark call rec->saving.save once the mark is taken in. Async-signal-safe, and any
 * thread may call it at any moment: dp_rec_rearm restores what the recorder overwrites at the same
 * moment. */
static inline void dp_rec_want(struct dp_rec *rec)
{
    __atomic_store_n(&rec->saving.wanted, 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&rec->marks.end, NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&rec->marks.deadline, 0, __ATOMIC_RELAXED);
}

/* Must be called after `end` or `deadline` was set. If a signal came in between, sets both again as
 * dp_rec_want had set them; the same after dp_rec_trip and while paused. */
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

/* Goes on as a tree from now on. The window must have been written. Not while paused. The caller
 * then calls dp_rec_resume for each running call, outermost first. Returns 0 or DP_E_NOMEM. */
int dp_rec_to_tree(struct dp_rec *rec);

/* In a tree: a call of id is running already, and began when the program had used `start` stamps.
 * The call gets a context, but is not counted. DP_REC_ELSEWHERE: it began in another file, or while
 * nothing counted; then its end does not count either. */
#define DP_REC_ELSEWHERE    UINT64_MAX
void dp_rec_resume(struct dp_rec *rec, uint32_t id, struct dp_cct_call *call, uint64_t start);

/* In a tree: a call of id goes on from the running place, and counts neither now nor when it ends.
 * The caller has charged all time that has passed. */
void dp_rec_resume_here(struct dp_rec *rec, uint32_t id, struct dp_cct_call *call);

/* In a tree: makes the next dp_rec_resume one for an outermost call. */
void dp_rec_rebase(struct dp_rec *rec);

/* Begins a new phase at arrival stamp now; id: of its & line. In a tree, the caller then calls
 * dp_rec_resume for each running call. While paused, the phase is only remembered. */
void dp_rec_phase(struct dp_rec *rec, uint32_t id, uint64_t now);

/* Pauses the recorder. From arrival stamp now on nothing counts, neither time nor calls; the host
 * still sends marks. In a trace, the caller has called dp_rec_announce, and an exit for each
 * running call. */
void dp_rec_pause(struct dp_rec *rec, uint64_t now);

/* Ends a pause. The caller then calls, for a tree, dp_rec_resume for each running call; for a
 * trace, dp_rec_announce and an entry for each. The caller sets rec->marks.left. */
void dp_rec_unpause(struct dp_rec *rec, uint64_t now);

/* Notes in a trace that the next n marks, exits or entries, are of calls that have not ended, or
 * have begun before. */
void dp_rec_announce(struct dp_rec *rec, enum dp_raw_kind kind, size_t n, uint64_t now);

/* Begins an empty tree for the next file, when a tree has been written (in rec->saving.save, or
 * after a failed exec). Before, the host calls dp_rec_keep_line and makes the pieces of
 * rec->saving.live anew. Afterwards, unless rec->saving.stopped, the caller calls dp_rec_resume for
 * each running call; rec->saving.mark_at tells about the one on top. Returns 0 or DP_E_NOMEM. */
int dp_rec_renew(struct dp_rec *rec);

/* Charges the time that the process has spent in the kernel to the running context, up to a reading
 * at stamp now. */
void dp_rec_split(struct dp_rec *rec, uint64_t now);

/* Reads the CPU clock, from where the next reading counts, and sets when that reading is due. The
 * CPU time since the last reading goes into clock.cpu_used, but belongs to no context. */
void dp_rec_anchor(struct dp_rec *rec);

/* Writes the window. now: an arrival stamp; the gap up to it becomes time of the sub on top. The
 * caller reads a leaving stamp afterwards. In a tree, only the gap is taken in. Returns 0 or the
 * writer's error. */
int dp_rec_flush(struct dp_rec *rec, uint64_t now);

/* Writes the window like dp_rec_flush, and calls rec->saving.save; the time of that call is the
 * recorder's own. Returns 0 or the writer's error. */
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
