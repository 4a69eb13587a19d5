/* The recorder inside a perl: state of one interpreter, and the functions that
 * the perl-aware files share. */
#ifndef DPX_H
#define DPX_H

#define PERL_NO_GET_CONTEXT
#include "EXTERN.h"
#include "perl.h"
#include "XSUB.h"

#include "dpx_compat.h"
#include "dp_base.h"
#include "dp_rec.h"
#include "dp_outfile.h"
#include "dp_pool.h"
#include "dpx_clock.h"
#include "dpx_events.h"
#include "dpx_opt.h"

#include <pthread.h>
#include <sys/types.h>

/* A running sub, identified by where its context stands, never by pointers
 * into it: nothing of the program's is dereferenced later. */
struct dpx_frame {
    PERL_SI *si;
    I32 key;                    /* DPX_KEY(context index, kind) */
    U32 id;                     /* of the sub entered here: its exit carries it */
    U64 serial;                 /* of the C calls: tells two in one place apart */
    U32 runs;                   /* id of the sub that goto has put in its place */
    struct dp_cct_call call;
    I32 saved;                  /* of an XS sub: the save stack's height below it */
};

/* A Perl sub stands on its own context. An XS sub has none: it stands on its
 * caller's. A callback run by MULTICALL (a sort comparator, List::Util's
 * blocks) shares its context with the calls before and after. DPX_SLF is an XS sub
 * of Coro's that goes on to another coroutine; its serial is the op that called it. */
enum dpx_frame_kind { DPX_PERL, DPX_XS, DPX_MULTICALL, DPX_SLF };

#define DPX_KEY(ix, kind)   ((I32)((U32)(ix) << 2 | (U32)(kind)))
#define DPX_KEY_IX(key)     ((key) >> 2)
#define DPX_KEY_KIND(key)   ((key) & 3)
#define DPX_KEY_IS_XS(key)  ((key) & 1)     /* DPX_XS or DPX_SLF */

/* The name of a CV once seen: a direct-mapped cache in front of a map. */
struct dpx_known {
    UV code;                    /* first op, or the CV of an XS sub */
    UV name;                    /* dpx_callee_name(); of an XS sub, with its function in it */
    U32 seq;                    /* of the first op: code is freed and reused */
    U32 id;                     /* and DPX_ID_... flags; 0: not recorded */
};

enum {
    DPX_CACHE = 2048,
    DPX_ID_MASK = DP_RAW_ID_MAX,     /* the id itself: 28 bits; of the flags, one is left */
    DPX_ID_LEAVES = 0x20000000,     /* _exit: does not come back */
    DPX_ID_AUTOLOAD = 0x40000000    /* the name is found at each call */
};

enum { DPX_BUILTINS = 192 };    /* at least as many as dpx_builtin.c has */

/* only= and skip=, in one interpreter. */
struct dpx_filter {
    void *thx;                  /* whose; NULL: every name is recorded */
    REGEXP *only, *skip;        /* NULL: none */
    SV *subject;
    struct dp_buf text;
    struct dp_map verdicts;     /* hash of an & line -> is it recorded? */
};

/* What a recorder is at. `thx` is the interpreter's as long as that is one of those that record, so
 * that the hooks ask for nothing else. What is independent of it has fields of its own: whether
 * anything counts (rec.paused), whether the file is made yet (file.unopened), whether the process
 * was forked (child.is). Only dpx_run.c changes it:
 *
 *     from              to            who                    when
 *     DPX_OFF           DPX_ON        begin                  the program or a thread begins
 *     DPX_ON, DPX_EXEC  DPX_BORN      after_fork_child       in the child
 *     DPX_BORN          DPX_ON        forked                 its first event, or its end
 *     DPX_ON            DPX_EXEC      dpx_run_before_exec    the file is whole
 *     DPX_EXEC          DPX_ON        dpx_run_after_exec     the exec has failed, or is over
 *     DPX_ON            DPX_ENDING    finish                 the last marks, and the file's end
 *     DPX_ENDING        DPX_ENDED     finish                 all is written
 *     any but DPX_OFF   DPX_ENDED     finish, give_up, leave_nothing, after_fork_child
 *                                                            nothing is to be written, or can be
 *     DPX_ENDED         DPX_OFF       take_ctx               the state is used again */
enum dpx_state {
    DPX_OFF,                    /* in the making, or to be used again */
    DPX_ON,                     /* records */
    DPX_BORN,                   /* records, in a child in which nothing has happened yet: pieces
                                 * and file are the parent's */
    DPX_EXEC,                   /* records, and an exec is under way: the file is whole, as if all
                                 * had ended */
    DPX_ENDING,                 /* its end is being written */
    DPX_ENDED                   /* nothing is recorded any more */
};

/* The names that this interpreter has handed out. */
struct dpx_names {
    struct dpx_known cache[DPX_CACHE];
    struct dp_map known;        /* beyond the cache: (code, name) -> ids */
    struct dp_pool lines;       /* & lines; the n-th has the id n + 1 */
    struct dp_pool sites;       /* FILE:LINE of calls; the n-th has the number n + 1 */
    struct dp_pool folds;       /* names that lines are counted under, to bound them */
    struct dp_map owners;       /* first op of an anonymous sub -> the sub around it */
    uint32_t *fold_counts;
    size_t fold_cap;
    bool counted;               /* lines are, under those names: see bound_line */
    struct dp_buf line, fold, own;  /* scratch of the naming */
    struct dpx_filter filter;
    U32 builtins[DPX_BUILTINS]; /* id + 1; 0: not called yet */
};

/* Coroutines: of the one that runs, the frames are the interpreter's. */
struct dpx_coros {
    struct dpx_coro *list;      /* all of them */
    size_t n, cap, prune_at;
    struct dp_map of;           /* PL_mainstack -> coroutine */
    const CV *slf[64];          /* Coro's functions that go on to another one */
};

/* The file of this process or thread, beside what dp_outfile and dp_writer know. */
struct dpx_made {
    bool unopened;              /* it is still to be made: see dpx_file_prepare */
    struct dp_buf head;         /* the header, until then */
    U64 trailer_at;             /* where the header's last line stands */
    U64 tree_at;                /* where the tree stands that was saved; 0: there is none */
    struct dpx_lines {          /* lines that no text has yet, in a live piece */
        char *ptr;
        size_t size, used;
    } fresh, fresh_sites;
};

/* What is taken back when an exec has failed: DPX_EXEC. */
struct dpx_exec {
    U64 size;                   /* of the file before it */
    bool live;                  /* there were pieces beside it */
    struct dp_ticks pending, sums;      /* what was not yet on a line then */
    U64 counts[DP_FMT_COUNTERS];
};

/* Where a forked child began. */
struct dpx_child {
    bool is;                    /* this process is one */
    ptrdiff_t depth;            /* frames that ran then */
    size_t inherited;           /* those of them that its file begins with */
};

/* A block (dpx_block.c). */
struct dpx_block {
    bool runs;
    bool started;               /* it has started recording */
    const struct dpx_phase *before;     /* the phase that goes on behind it */
};

struct dpx_ctx {
    void *thx;                  /* the interpreter; NULL: not recording */
    struct dpx_frame *top;
    struct dp_rec rec;
    struct dpx_frame *frames, *frames_end;
    AV *mainstack;              /* PL_mainstack: another one is another coroutine */
    struct dpx_clock clock;
    U64 serial;
    U64 ops;                    /* ops executed, where they are counted */
    struct dpx_events events;
    struct dpx_names names;
    struct dpx_coros coro;

    enum dpx_state state;
    long pid;
    unsigned tid;
    struct dpx_child child;
    struct dpx_exec exec;
    struct dpx_block block;

    /* what the program, or its progress, has told */
    const struct dpx_phase *phase;
    int stage;                  /* PL_phase as last seen; ~PL_phase: and a coroutine went on */
    bool ended;                 /* the END blocks have begun */
    bool exits;                 /* the program itself has ended the process */
    bool marked;                /* it has begun a phase: start=mark */
    bool runops_taken;          /* some other module has the run loop */
    unsigned toggles;           /* of dpx_run.toggles, those that it has followed */

    struct dp_writer writer;
    struct dp_outfile out;
    struct dp_live live;
    struct dp_gzip *gzip;       /* NULL: the file is not packed */
    struct dpx_made file;
    double started;             /* seconds since 1970 */
    U64 before_cpu_us;
    struct dpx_ctx *next;       /* all of this process */
};

/* The state of this interpreter: one load, no hash, no lock. */
#ifdef DPX_MULTIPLICITY
extern int dpx_index __attribute__((visibility("hidden")));
#  define DPX_CTX   ((struct dpx_ctx *)PL_my_cxt_list[dpx_index])
#else
extern struct dpx_ctx *dpx_only __attribute__((visibility("hidden")));
#  define DPX_CTX   dpx_only
#endif
#ifdef DPX_MULTIPLICITY
#  define DPX_THX   ((void *)aTHX)
#else
#  define DPX_THX   ((void *)1)
#endif

/* The name of a phase; never freed. */
struct dpx_phase {
    struct dpx_phase *next;
    size_t len;
    char name[];                /* UTF-8 */
};

/* What all threads of the process share, set before the first of them. */
struct dpx_process {
    pthread_mutex_t lock;       /* for `all`, `tids`, and states to be used again */
    struct dpx_ctx *all;
    unsigned tids;              /* so many threads have recorded */
    bool own;                   /* no -d: blocks are recorded, and nothing else */
    bool off;                   /* no new thread records: a child with fork=no */
    char run[40];
    struct dpx_options opt;
    struct dpx_plan plan;
    struct dpx_phase *phases;   /* newest first */
    char *path;                 /* as the user gave it, absolute */
    int signal, toggle;         /* 0: none */
    unsigned toggles;           /* so often has the second one come */
    dev_t stderr_dev;           /* what descriptor 2 was when we began */
    ino_t stderr_ino;
};
extern struct dpx_process dpx_run __attribute__((visibility("hidden")));

/* ---- dpx_name.c ---- */

/* The id of a sub, with DPX_ID_... flags; 0 but for flags: it is not recorded. start:
 * its first op, NULL for an XS sub. Calls nothing of the program's, changes nothing. */
U32 dpx_name_find(pTHX_ struct dpx_ctx *ctx, CV *cv, UV name, const OP *start);

/* A number for package and name of a CV as they are now: of 64 bits, or of as many
 * as a pointer has. */
UV dpx_name_key(CV *cv);

/* The id for the sub that AUTOLOAD cv, of this id, is called instead of; 0: it is not
 * recorded. */
U32 dpx_name_wanted(pTHX_ struct dpx_ctx *ctx, CV *cv, U32 id, const OP *start);

/* The id of a builtin; 0: it is not recorded. */
U32 dpx_name_builtin(pTHX_ struct dpx_ctx *ctx, const char *name);

/* The id of a phase's name. */
U32 dpx_name_phase(struct dpx_ctx *ctx, const char *name, size_t len);

/* The number of the place that runs, for dp_rec; the argument is the clock of a
 * struct dpx_ctx. */
uint32_t dpx_name_site(void *arg);

/* PACKAGE::NAME or CORE:NAME of an id as it stands in the file, a new SV; undef for 0. */
SV *dpx_name_of(pTHX_ const struct dpx_ctx *ctx, U32 id);

void dpx_name_release(struct dpx_names *names);

/* ---- dpx_hook.c ---- */

/* Puts the hooks in place: those of the interpreter each time, those of the
 * process once. */
void dpx_hook_install(pTHX_ const struct dpx_ctx *ctx);

/* The function that ops of this type had before, NULL where it is not hooked. */
Perl_ppaddr_t dpx_hook_original(Optype type);

/* Is PL_runops still ours? */
bool dpx_hook_intact(pTHX);

/* Another coroutine goes on: that of PL_mainstack. */
DP_COLD void dpx_hook_switch(pTHX_ struct dpx_ctx *ctx, U64 now);

/* ---- dpx_frame.c; what is the hooks' alone is in dpx_frame.h ---- */

/* Ends the frames that the program has left, as of stamp now. */
void dpx_frame_reconcile(pTHX_ struct dpx_ctx *ctx, U64 now);

/* Ends all frames. */
void dpx_frame_unwind(struct dpx_ctx *ctx, U64 now);

/* Within an XSUB: the id of the sub that time was charged to when it was
 * called, 0 for the program. */
U32 dpx_frame_caller(const struct dpx_ctx *ctx);

/* ---- dpx_builtin.c ---- */

/* Hooks the slow builtins, once for the process. */
void dpx_builtin_install(void);

/* What the ops of a type ran before; NULL: they are not hooked. */
Perl_ppaddr_t dpx_builtin_original(Optype type);

/* ---- dpx_filter.c ---- */

/* Are the patterns in dpx_run.opt good? The reason, if not, in err. */
bool dpx_filter_check(pTHX_ struct dp_err *err);

/* Compiles them for this interpreter. */
void dpx_filter_init(pTHX_ struct dpx_filter *f);
void dpx_filter_release(pTHX_ struct dpx_filter *f);

/* Is the sub or builtin recorded that the & line (without & and id) is of? */
bool dpx_filter_takes(pTHX_ struct dpx_filter *f, const char *line, size_t len);

/* What the patterns see of a line: PACKAGE::NAME, PACKAGE::__ANON__[FILE:LINE],
 * CORE:NAME. */
void dpx_filter_label(struct dp_buf *to, const char *line, size_t len);

/* ---- dpx_adopt.c ---- */

/* Gives the hooks to subs that were compiled before there were any. */
void dpx_adopt(pTHX);

/* ---- dpx_file.c ---- */

/* One line on the standard error, past all of perl's layers: a tied STDERR is the
 * program's. Not if the program has opened something else under that number. */
void dpx_file_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A number with a point, whatever the locale has. */
void dpx_file_real(struct dp_buf *to, double value, int decimals);

/* Opens this process' or thread's file and writes its header. Returns 0 or an
 * error code with the detail in err. */
int dpx_file_open(pTHX_ struct dpx_ctx *ctx, struct dp_err *err);

/* The same later: now it is only looked whether that could be, and the header is kept. Until
 * dpx_file_begin nothing of ours is on the disk, and the profile that was there stays where it is:
 * a perl that compiles only, or fails to, is no run. What needs the file before, a buffer that is
 * full for one, makes it. */
int dpx_file_prepare(pTHX_ struct dpx_ctx *ctx, struct dp_err *err);

/* Makes a file that was only prepared, and what stands beside it; does nothing otherwise. Between
 * an arrival and a leaving: what it takes is the recorder's own time, also where it waits. */
void dpx_file_begin(struct dpx_ctx *ctx);

/* Makes the recorder's memory beside it. Returns 0 or DP_E_NOMEM. */
int dpx_file_open_live(struct dpx_ctx *ctx);

/* The writer's sink, and what the recorder calls when a window is written; the
 * argument is the struct dpx_ctx. */
int dpx_file_sink(void *arg, const char *ptr, size_t len);
void dpx_file_flushed(void *arg);

/* Keeps the & line of an id, or the place of a number, where it survives the process. */
void dpx_file_keep_name(struct dpx_ctx *ctx, U32 id);
void dpx_file_keep_site(struct dpx_ctx *ctx, U32 site);

/* What the recorder calls when the file shall be brought up to date; the argument is
 * the struct dpx_ctx. Says nothing when that cannot be: the end is still to come. */
void dpx_file_save(void *arg);

/* Writes all that is not written yet: what the writer still holds, the tree. */
void dpx_file_rest(struct dpx_ctx *ctx);

/* Puts what is known into the header. end: the file is whole. */
void dpx_file_trailer(struct dpx_ctx *ctx, bool end);

/* ---- dpx_signal.c ---- */

/* Finds the numbers of the signals that the options name; croaks where there is none. */
void dpx_signal_choose(pTHX);

/* Their handlers, which stay where the profile cannot be written: whoever has been told to send the
 * signal does, and it must not kill the program. The ones before, where that is not started. */
void dpx_signal_install(void);
void dpx_signal_restore(void);

/* This interpreter, and those cloned from it, follow toggle= from now on. */
void dpx_signal_follow(pTHX);

/* ---- dpx_control.c ---- */

/* Recording stops, and starts again; both do nothing where it is so already. */
void dpx_control_stop(struct dpx_ctx *ctx);
void dpx_control_start(struct dpx_ctx *ctx);

/* A phase begins. name: UTF-8; an empty one is none. */
void dpx_control_mark(struct dpx_ctx *ctx, const char *name, size_t len);
void dpx_control_in_phase(struct dpx_ctx *ctx, const struct dpx_phase *phase, U64 now);

/* The first phase, which begins with the recording. */
void dpx_control_begin(struct dpx_ctx *ctx);

/* PL_phase is another than ctx->stage: the phases main and END begin here. */
void dpx_control_stage(pTHX_ struct dpx_ctx *ctx);

/* The phase of this name, new if there is none, however many there are; NULL: no memory. */
const struct dpx_phase *dpx_control_phase(const char *name, size_t len);

/* The frames of a trace are left, but have not ended; they go on, in another
 * phase or after a stretch without recording. now: an arrival stamp. */
void dpx_control_suspend(struct dpx_ctx *ctx, U64 now);
void dpx_control_resume(struct dpx_ctx *ctx, U64 now);

/* ---- dpx_block.c: stretches of a program that are looked at alone ---- */

/* A phase of this name begins, and recording if it does not go on already. False: nothing records
 * here, or a block has begun before. */
bool dpx_block_begin(pTHX_ const char *name, size_t len);

/* It ends: all is as before. */
void dpx_block_end(pTHX);

/* ---- dpx_coro.c ---- */

/* The frame below all others. */
void dpx_coro_bottom(struct dpx_frame *f);

/* Another coroutine goes on, as of arrival stamp now: that of this main stack, which is not
 * ctx->mainstack. */
void dpx_coro_switch(pTHX_ struct dpx_ctx *ctx, AV *mainstack, U64 now);

/* Does another coroutine run than the one whose frames these are? */
DP_INLINE bool dpx_coro_is_other(pTHX_ const struct dpx_ctx *ctx)
{
    return DP_UNLIKELY(PL_mainstack != ctx->mainstack);
}

/* To be called from another coroutine than that of ctx->mainstack, at the beginning of a call from
 * C. A coroutine that is freed has its stacks put in place for a while, and what they hold is
 * destroyed there. Nobody would see the end of that. Only such calls are made in a scope of
 * their own. */
DP_COLD void dpx_coro_visits(pTHX_ struct dpx_ctx *ctx);

void dpx_coro_release(struct dpx_ctx *ctx);

/* ---- dpx_slf.c ---- */

/* An XS sub returned to another op, and changed the one that called it: one of those of Coro's that
 * go on to another coroutine? Then that op is wrapped. */
DP_COLD bool dpx_slf_wraps(pTHX_ struct dpx_ctx *ctx, OP *op, CV *cv);

/* Then its frame, if it is there, waits for the op to be run again. */
DP_COLD bool dpx_slf_waits(pTHX_ struct dpx_ctx *ctx, OP *op, ptrdiff_t at, U64 serial);

/* What wrapped ops run. */
OP *dpx_slf_hook(pTHX) __attribute__((visibility("hidden")));

/* A coroutine's first run loop on a C stack begins, with an op of Coro's, which measures the height
 * that pp_slf is called at: wraps it. */
DP_COLD void dpx_slf_wrap_first(pTHX);

/* ---- dpx_events.c ---- */

/* The events of a list, as the option has it: found by their names, and tried. Returns 0, or an
 * error with a message for who wrote the list. */
int dpx_events_plan(pTHX_ struct dpx_plan *plan, const char *list, struct dp_err *err);

/* All that can be counted on this machine; for lists, too. sysfs: NULL, or what a test has in its
 * place. Returns 0 or DP_E_NOMEM. */
int dpx_events_open_pmu(struct dp_pmu **pmu, const char *sysfs);

/* Can it be counted here and now? It becomes what is counted then (cycles:u). False: `why` says why
 * not, and what to do. */
bool dpx_events_try(pTHX_ const struct dp_pmu *pmu, struct dp_pmu_event *ev, char *why,
                    size_t size);

/* Is it perl's own run loop, which we have a copy of that counts? */
bool dpx_events_may_count_ops(runops_proc_t loop);

/* Begins to count for this interpreter, in the thread that calls; in a forked child at once
 * (goes_on: it records) what costs nothing, and all at its first event. */
void dpx_events_open(pTHX_ struct dpx_ctx *ctx);
void dpx_events_fork(pTHX_ struct dpx_ctx *ctx, bool goes_on);
void dpx_events_forked(pTHX_ struct dpx_ctx *ctx);
void dpx_events_close(struct dpx_ctx *ctx);

/* A hook arrives: what the program has used by then is in ctx->events.total. It leaves: what it has
 * used itself is left out. Only where there is a plan. */
void dpx_events_arrive(struct dpx_ctx *ctx) __attribute__((visibility("hidden")));
void dpx_events_leave(struct dpx_ctx *ctx) __attribute__((visibility("hidden")));

/* The assignment for the header that says which share of the time each of the counters did count,
 * in percent, by column; nothing where all did all of the time. */
void dpx_events_shares(const struct dpx_ctx *ctx, struct dp_buf *to);

/* ---- dpx_run.c ---- */

/* Arriving in a hook, and leaving it, at any time of a recording; dpx_frame.h has
 * the hooks' own. */
U64 dpx_run_arrive(struct dpx_ctx *ctx);
void dpx_run_leave(struct dpx_ctx *ctx);

/* What the first event after a fork or a failed exec has to do. */
void dpx_run_end_trip(struct dpx_ctx *ctx);

/* Starts recording in this interpreter. items: the import list. Croaks with
 * what the user must put right. Returns false when there can be no recording but the program
 * shall run. */
bool dpx_run_start(pTHX_ const char *const *items, size_t n);

/* The same without -d, for blocks: nothing is recorded before the first, the program's environment
 * is left as it is, and options are the items alone. Croaks where that cannot be. */
void dpx_run_start_own(pTHX_ const char *const *items, size_t n);

/* The state of this interpreter, whether it records at the moment or not; made for a new thread, if
 * it can be. Or NULL. */
struct dpx_ctx *dpx_run_known(pTHX);

/* The hooks see this state from here on; NULL: none. */
void dpx_run_show(pTHX_ struct dpx_ctx *ctx);

/* This interpreter's state, or NULL when it does not record. */
struct dpx_ctx *dpx_run_current(pTHX);

/* The state for an interpreter that was cloned from a recording one: a new
 * thread. NULL: do not record. */
struct dpx_ctx *dpx_run_other(pTHX);

/* This interpreter's state, if it is recording; for the hooks. */
DP_INLINE struct dpx_ctx *dpx_run_here(pTHX)
{
    struct dpx_ctx *ctx = DPX_CTX;
    return DP_LIKELY(ctx->thx == DPX_THX) ? ctx : dpx_run_other(aTHX);
}

/* Ends all frames, writes what there is, and stops recording here: before the
 * process ends abruptly. */
void dpx_run_end(pTHX_ struct dpx_ctx *ctx);

/* The program wants no profile of itself: one that has no file gets none. */
void dpx_run_forget(pTHX_ struct dpx_ctx *ctx);

/* Brings the file up to date while the program goes on: all marks up to now, or the tree,
 * and the sums so far. To be called within an XSUB, or anywhere else between an event's
 * leaving and the next one's arrival: it reads both stamps itself, so that what it takes is the
 * recorder's own time. ctx is dpx_run_current(), and not NULL. Changes nothing that perl sees,
 * errno included; cannot die. A child that has recorded nothing yet leaves nothing. */
void dpx_run_save(pTHX_ struct dpx_ctx *ctx);

/* Completes the file as if all ended here; the other takes that back, when the
 * exec has failed. */
void dpx_run_before_exec(struct dpx_ctx *ctx);
void dpx_run_after_exec(struct dpx_ctx *ctx);

/* Removes our own PERL5DB from %ENV. */
void dpx_run_clean_env(pTHX);

#endif
