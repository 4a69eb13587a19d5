/* The recorder inside a perl: the state of one interpreter, and of the process. This header has
 * types only; each dpx_NAME.h declares the functions of dpx_NAME.c. */
#ifndef DPX_H
#define DPX_H

#define PERL_NO_GET_CONTEXT
#include "EXTERN.h"
#include "perl.h"
#include "XSUB.h"

#include "dpx_compat.h"
#include "dp_base.h"
#include "dp_dir.h"
#include "dp_rec_early.h"
#include "dp_outfile.h"
#include "dp_pool.h"
#include "dpx_clock.h"
#include "dpx_opt.h"
#include "dpx_plan.h"

#include <pthread.h>
#include <sys/types.h>

/* A running sub, identified by the position of its context, never by pointers into the context: no
 * memory of the program's is read through them later. */
struct dpx_frame {
    PERL_SI *si;
    I32 key;                    /* DPX_KEY(context index, kind) */
    U32 id;                     /* id of the sub that was entered here; the mark of its exit carries
                                 * it */
    U64 serial;                 /* tells two C calls at one position apart */
    U32 runs;                   /* id of the sub that runs: another one after a goto */
    struct dp_cct_call call;
    I32 saved;                  /* for an XS sub: the height of the save stack when it was called */
};

/* In place of that height: the frame lives as long as the one below it. No height is as great, so
 * that hooks look at such a frame closely. */
#define DPX_SAVED_BELOW     I32_MAX

/* A Perl sub has a context of its own. An XS sub has none: its frame is at its caller's. A callback
 * run by MULTICALL (a sort comparator, List::Util's blocks) shares its context with the calls
 * before and after. DPX_SLF is an XS sub of Coro's that goes on to another coroutine; its serial is
 * the op that called it. All four numbers that the two bits of DPX_KEY have are taken. */
enum dpx_frame_kind { DPX_PERL, DPX_XS, DPX_MULTICALL, DPX_SLF };

#define DPX_KEY(ix, kind)   ((I32)((U32)(ix) << 2 | (U32)(kind)))
#define DPX_KEY_IX(key)     ((key) >> 2)
#define DPX_KEY_KIND(key)   ((key) & 3)
#define DPX_KEY_IS_XS(key)  ((key) & 1)     /* DPX_XS or DPX_SLF */

/* The name of a CV once seen: a direct-mapped cache in front of a map. */
struct dpx_known {
    UV code;                    /* first op, or the CV of an XS sub */
    UV name;                    /* dpx_callee_name(); for an XS sub, XORed with its C function */
    U32 seq;                    /* cop_seq of the first op, checked because code is freed and
                                 * reused */
    U32 id;                     /* the id and DPX_ID_... flags; 0: not recorded */
};

enum {
    DPX_CACHE = 2048,
    DPX_ID_MASK = DP_RAW_ID_MAX,     /* the id itself: 28 bits; one more flag is free */
    DPX_ID_DETAIL = 0x10000000,     /* each call is a span, too (dpx_detail.h). An XS sub has this
                                     * flag without an id, so that its calls take the slow way */
    DPX_ID_LEAVES = 0x20000000,     /* _exit: does not come back */
    DPX_ID_AUTOLOAD = 0x40000000    /* the name is looked up at each call */
};

/* The flags of a sub whose calls are spans. start: its first op; NULL: an XS sub. A Perl sub has
 * that of AUTOLOAD, too, so that the hooks test one flag. */
#define DPX_ID_DETAILED(start)  ((start) ? DPX_ID_DETAIL | DPX_ID_AUTOLOAD : DPX_ID_DETAIL)

enum { DPX_BUILTINS = 192 };    /* at least as many as dpx_builtin.c has */

/* only= and skip=, in one interpreter. */
struct dpx_filter {
    void *thx;                  /* the interpreter of these patterns; NULL: every name is
                                 * recorded */
    REGEXP *only, *skip;        /* NULL: none */
    SV *subject;
    struct dp_buf text;
    struct dp_map verdicts;     /* hash of an & line -> whether it is recorded */
};

/* The state of a recorder. `thx` is set as long as the state is one that records, so that the hooks
 * test nothing else. Properties that are independent of the state have fields of their own: whether
 * anything counts (rec.paused), whether the file has been made (file.unopened), whether the process
 * was forked (child.is). Only dpx_life.c and dpx_ctx_take change it:
 *
 *     from              to            who                    when
 *     DPX_OFF           DPX_ON        begin                  the program or a thread begins
 *     DPX_ON, DPX_EXEC  DPX_BORN      after_fork_child       in the child
 *     DPX_BORN          DPX_ON        begin_child            its first event, or its end
 *     DPX_ON            DPX_EXEC      dpx_life_before_exec    the file is whole
 *     DPX_EXEC          DPX_ON        dpx_life_after_exec     the exec has failed, or is over
 *     DPX_ON            DPX_ENDING    finish_state           the last marks, and the file's end
 *     DPX_ENDING        DPX_ENDED     finish_state           all is written
 *     any but DPX_OFF   DPX_ENDED     finish_state, give_up, leave_nothing, after_fork_child
 *                                                            nothing is to be written, or can be
 *     DPX_ENDED         DPX_OFF       dpx_ctx_take           the state is used again */
enum dpx_state {
    DPX_OFF,                    /* being made, or free to use again */
    DPX_ON,                     /* records */
    DPX_BORN,                   /* records, in a forked child before its first event: pieces and
                                 * file are still the parent's */
    DPX_EXEC,                   /* records, and an exec is under way: the file is whole, as if the
                                 * program had ended */
    DPX_ENDING,                 /* the end of its file is being written */
    DPX_ENDED                   /* recording has ended for good */
};

/* The names that this interpreter has handed out. */
struct dpx_names {
    struct dpx_known cache[DPX_CACHE];
    struct dp_map known;        /* beyond the cache: (code, name) -> ids */
    struct dp_pool lines;       /* & lines; the n-th has the id n + 1 */
    struct dp_pool sites;       /* FILE:LINE of calls; the n-th has the number n + 1 */
    struct dp_pool folds;       /* names under which lines are counted, to bound their number */
    struct dp_map owners;       /* first op of an anonymous sub -> the sub around it */
    uint32_t *fold_counts;
    size_t fold_cap;
    bool counted;               /* `folds` is in use: see bound_line */
    struct dp_buf line, fold, own;  /* scratch of the naming */
    struct dpx_filter filter;
    U32 builtins[DPX_BUILTINS]; /* by builtin: id + 1; 0: not called yet */
};

/* A sub each of whose calls is a span (dpx_detail.h). */
struct dpx_detailed {
    UV code;                    /* its CV, for an XS sub; else its first op */
    U32 id;                     /* 0: the sub itself is not recorded */
    U32 row;
};

/* Spans (dpx_span.h). */
struct dpx_spans {
    struct dp_pool kinds;       /* kinds that spans have ... */
    uint32_t *texts;            /* ... and the number of texts of each */
    size_t texts_cap;
    struct dp_pool given;       /* texts as the program has given them, with what they are ... */
    U32 *given_ids;             /* ... and the id of each; 0: none yet */
    size_t given_cap;
    struct dp_buf text, key;    /* scratch */
    U64 *rows;                  /* by id: rows of this file, plus 1; 0: unknown */
    size_t rows_cap;
    U64 other, cut;             /* numbers of texts in this file that were counted as `other`, and
                                 * that were cut */
    struct dpx_pattern *patterns;   /* of matches (dpx_subject_op.c) */
    struct dpx_detailed *detailed;
    size_t detailed_n, detailed_cap, last;
    struct dpx_inside {         /* the call of DBI under way */
        ptrdiff_t at;           /* its frame ... */
        U64 serial;             /* ... with this serial; 0: no call has been made */
        U32 id;                 /* of its statement */
    } sql;
    struct dpx_request {        /* the HTTP request under way */
        ptrdiff_t at;           /* the frame that sends it ... */
        U64 serial;             /* ... with this serial */
        const void *object;     /* only compared, never followed */
    } request;
    struct dp_map sent;         /* address of a Net::HTTP -> id of the request that it has sent */
    U32 unreadable;             /* the id of statements whose text cannot be read; 0: none yet */
    struct dpx_known *asked;    /* for samples: whether subs are listed (dpx_listed.c) */
    struct dpx_c_span {         /* for samples: the C code under way, an XS sub or a builtin */
        const OP *op;           /* that runs it; NULL: none does */
        UV serial;              /* of its frames */
        U32 sub, span;          /* ids, or 0 */
    } in_c;
};

/* Coroutines. The frames of the running one are in struct dpx_ctx. */
struct dpx_coros {
    struct dpx_coro *list;      /* all of them */
    size_t n, cap, prune_at;
    struct dp_map of;           /* PL_mainstack -> coroutine */
    const CV *slf[64];          /* Coro's functions that go on to another coroutine */
};

/* The file of this process or thread: what dp_outfile and dp_writer do not hold. */
struct dpx_made {
    bool unopened;              /* the file is still to be made: see dpx_file_prepare */
    struct dp_buf head;         /* the header, until the file is made */
    U64 trailer_at;             /* offset of the header's last line */
    U64 tree_at;                /* offset of the saved tree; 0: no tree has been saved */
    struct dpx_lines {          /* lines that the file does not have yet, in a live piece */
        char *ptr;
        size_t size, used;
    } fresh, fresh_sites;
};

/* The state to restore when an exec has failed (DPX_EXEC). */
struct dpx_exec {
    ptrdiff_t depth;            /* with slices: the number of running calls */
    U64 size;                   /* size of the file before the exec */
    bool live;                  /* whether there were pieces beside it */
    struct dp_ticks pending, sums;      /* ticks not yet written, and sums, at that time */
    U64 counts[DP_FMT_COUNTERS];
};

/* Where a forked child began. */
struct dpx_child {
    bool is;                    /* whether this process is a forked child */
    ptrdiff_t depth;            /* number of frames that ran then */
    size_t inherited;           /* number of them at the beginning of the file */
    struct dp_rec_early early[32];      /* statements that it ran before it had a file */
    size_t n_early;
};

/* What an interpreter ran at a moment, in words that are read without following any pointer. */
struct dpx_words {
    const COP *cop;
    const OP *op;
    PAD *pad;
    int compiles;               /* there was a parser: perl ran even without an op */
    UV serial;                  /* of the last frame of a span */
    struct dpx_c_span in_c;
};

/* The interpreter as the thread that ticks has seen it (dpx_sample.c). */
struct dpx_tick {
    int pending;                /* a sample is wanted */
    int armed;                  /* words.cop must be cleared if its statement is freed */
    struct dpx_words words;
    const struct dpx_words *ran;        /* the words that a sample is taken of: these, or those of
                                         * a block (dpx_blocks.h) */
    const OP *dangling;         /* the statement that was freed while PL_curcop was it, since the
                                 * last sample */
    clockid_t clock;            /* CPU clock of the thread that runs this interpreter; 0: unknown */
    U64 since, cpu;             /* the time, and that clock, in ns, when the sample became due */
    UV at;                      /* the time of the last tick in ns, also while a sample is
                                 * pending */
    U64 next;                   /* with the counting clock: the time of the next sample */
    struct dpx_running *stack;  /* scratch memory */
    struct dpx_placed *placed;  /* the contexts of the code that ran at the last sample, the
                                 * outermost first ... */
    size_t n_placed;            /* ... their number; they are valid while rec.relinks is `links`
                                 * ... */
    U64 links;
    U64 freed, placed_freed;    /* ... and no op is freed, whose address others may get */
    struct dpx_called *called;  /* places of calls, by caller and callee */
    struct dpx_step *steps;     /* contexts of calls, by the contexts that call ... */
    size_t tree;                /* ... while rec.cct.serial is this ... */
    U64 steps_freed;            /* ... and `freed` this */
    U32 age;                    /* counts how often all of them became invalid */
    struct dpx_body *bodies;    /* subs by the op above their code */
};

/* A block (dpx_run.c). */
struct dpx_block {
    bool runs;
    bool started;               /* the block has started the recording */
    const struct dpx_phase *before;     /* the phase that goes on after the block */
};

struct dpx_ctx {
    void *thx;                  /* the interpreter; NULL: not recording */
    struct dpx_frame *top;
    U64 ops;                    /* ops executed, if they are counted */
    struct dp_rec rec;
    struct dpx_frame *frames, *frames_end;
    AV *mainstack;              /* PL_mainstack; a different one is another coroutine's */
    struct dpx_clock clock;
    U64 serial;
    struct dp_lines statements;
    struct dpx_events events;
    struct dpx_names names;
    struct dpx_spans spans;
    struct dpx_site *sites;     /* places of calls by the ops that call (dpx_site.c) */
    struct dpx_values *values;  /* heap=exact (dpx_values.h); NULL: values are not followed */
    struct dpx_owner *blocks;   /* heap=sample (dpx_blocks.h); NULL: no blocks are noted */
    struct dpx_coros coro;
    struct dpx_tick tick;

    enum dpx_state state;
    void *owner;                /* the interpreter, also when the recording has ended */
    long pid;
    unsigned tid;               /* 0: the first interpreter of the process */
    bool is_thread;             /* the interpreter is a clone of another one */
    pthread_t maker;            /* the thread that made this state, in this process */
    const char *path;           /* the interpreter's own out=; NULL: dpx_run.path */
    bool shares_path;           /* another interpreter has had that name before */
    struct dpx_child child;
    struct dpx_exec exec;
    struct dpx_block block;

    /* what the program has asked for, and the stage that it has reached */
    const struct dpx_phase *phase;
    int stage;                  /* PL_phase as last seen; ~PL_phase: another coroutine has gone on
                                 * since */
    bool ended;                 /* the END blocks have begun */
    bool exits;                 /* the program itself has ended the process */
    bool marked;                /* the program has begun a phase: start=mark */
    bool runops_taken;          /* another module has the run loop */
    unsigned toggles;           /* number of dpx_run.toggles that it has followed */

    struct dp_writer writer;
    struct dp_outfile out;
    struct dp_live live;
    struct dp_gzip *gzip;       /* NULL: the file is not packed */
    struct dpx_made file;
    double started;             /* seconds since 1970 */
    U64 slice;                  /* the file's number in its process and thread, from 1 up */
    bool slice_told;            /* whether a message has said that it cannot be written */
    size_t named;               /* earlier slices have the names of the ids up to this one */
    size_t sourced;             /* the same for sources */
    struct dp_cct_rest rest;    /* fractions that earlier slices have not written */
    U64 before_cpu_us;
    struct dpx_requests *requests;      /* of this file (dpx_requests.c) */
    struct dp_buf chains;       /* lines of the last census about who holds values */
    struct dp_buf server;       /* lines with the subs above the application of a server */
    struct dpx_ctx *next;       /* the list of all in this process */
};

#ifdef DPX_MULTIPLICITY
#  define DPX_THX   ((void *)aTHX)
#else
#  define DPX_THX   ((void *)1)
#endif

/* Declares the interpreter of a state as aTHX, which may be another one than this thread's. */
#define DPX_DTHX(ctx)   dTHXa((ctx)->owner)

/* The state that hooks read first, never NULL: with one interpreter, the only one. */
extern struct dpx_ctx *dpx_first __attribute__((visibility("hidden")));

/* The state of an interpreter that is not the first one (dpx_ctx.c). */
struct dpx_ctx *dpx_ctx_kept(pTHX);

/* The state of this interpreter, never NULL. It records if its thx is this interpreter: a new
 * thread has the state of the thread that made it, and an interpreter without a recorder has one
 * that never records. */
DP_INLINE struct dpx_ctx *dpx_ctx_seen(pTHX)
{
    struct dpx_ctx *ctx = __atomic_load_n(&dpx_first, __ATOMIC_RELAXED);
    return DP_LIKELY(ctx->thx == DPX_THX) ? ctx : dpx_ctx_kept(aTHX);
}
#define DPX_CTX   dpx_ctx_seen(aTHX)

/* The name of a phase; never freed. */
struct dpx_phase {
    struct dpx_phase *next;
    size_t len;
    char name[];                /* UTF-8 */
};

/* A file name from an interpreter's out=; never freed. */
struct dpx_path {
    struct dpx_path *next;
    const char *path;
};

/* The state that all threads of the process share, set before the first of them. */
struct dpx_process {
    pthread_mutex_t lock;       /* guards `all`, `tids`, states that are free to use again, and the
                                 * numbers of statements (dpx_stmt.c); fork waits for it */
    struct dpx_ctx *all;
    bool begun;                 /* an interpreter has set the fields below, for all of them */
    unsigned tids;              /* number of interpreters that have recorded, threads included */
    bool blocks_only;           /* there was no -d: blocks are recorded, and nothing else */
    bool self_sampling;         /* there was no -d: the program takes samples of itself */
    bool only_samples;          /* samples are taken, and no calls are recorded */
    bool off;                   /* no new thread records: a child with fork=no */
    char run[40];
    char of_run[40];            /* the run of the perl that has started this one; "": none */
    struct dpx_options opt;
    unsigned detail;            /* bits of the kinds that detail= wants */
    struct dpx_clock clock;     /* each state's clock in the beginning */
    struct dpx_cost cost;       /* what readings add to a gap */
    struct dpx_plan plan;
    void (*count_heap)(pTHX_ struct dpx_ctx *ctx);      /* with heap=: counts what lives, before the
                                                         * file is saved; NULL: nothing is */
    uint32_t (*site)(void *clock);      /* finds the places of calls; NULL: none are kept */
    struct dpx_phase *phases;   /* newest first */
    struct dpx_path *paths;     /* of interpreters after the first one */
    runops_proc_t loop, loop_before;    /* our run loop, and the one that it goes on to; NULL: there
                                         * are no hooks yet */
    struct dp_buf items;        /* the first interpreter's import list, but for out= */
    char *path;                 /* the profile's name from the user, absolute; with slices, the
                                 * spool */
    char *script;               /* $0 when the program began, if there are slices */
    U64 held;                   /* number of stretches that have been held back */
    bool held_told;             /* whether a message has said that a trace cannot hold back */
    bool trimmed;               /* whether a message has said that slices were removed */
    enum dp_dir_who spool_who;  /* whether the user has named the directory of the slices */
    int signal, toggle;         /* 0: none */
    unsigned toggles;           /* number of signals of toggle= so far */
    dev_t stderr_dev;           /* the file of descriptor 2 when we began */
    ino_t stderr_ino;
};
extern struct dpx_process dpx_run __attribute__((visibility("hidden")));

/* Do samples give the costs of statements, in a tree of calls? */
DP_INLINE bool dpx_line_samples(void) { return dpx_run.opt.sample && !dpx_run.only_samples; }

/* The innermost frame that is recorded. Where only samples are taken, none is: the frames are those
 * of spans, for the samples to find. */
DP_INLINE struct dpx_frame *dpx_recorded_top(const struct dpx_ctx *ctx)
{
    return dpx_run.only_samples ? ctx->frames : ctx->top;
}

#endif
