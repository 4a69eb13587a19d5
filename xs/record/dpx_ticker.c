/* The thread that ticks. It has all signals blocked, calls nothing of perl's, and never follows a
 * pointer of perl's. The fields of an interpreter that it reads exist as long as it holds
 * dpx_run.lock, under which states leave the list before their interpreters go. */
#include "dpx_ticker.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    PATIENCE = 4,               /* ticks without an answer, before the thread waits */
    SHORT_WAIT = 50000,         /* ns: a thread that another one interrupts waits no longer than
                                 * this */
    TICKER_STACK = 64 << 10     /* bytes */
};

/* Other threads write all but the first three, too, and no lock is held: a condition variable would
 * take a second system call each tick, and twice the time. */
static struct {
    U64 period;                 /* ns */
    void (*ticks)(bool alone);
    pthread_t thread;
    bool runs;                  /* there is a thread, in this process */
    bool dozes;                 /* the thread waits until a sample is taken */
    bool ends;
    uint32_t changes;           /* changes of dozes and ends by others: the word that the thread
                                 * sleeps on */
} ticker;

/* The call for the timespec that this file is compiled with. */
#if defined SYS_futex_time64 && !defined SYS_futex
#define FUTEX SYS_futex_time64
#elif defined SYS_futex_time64
#define FUTEX (sizeof(time_t) > sizeof(long) ? SYS_futex_time64 : SYS_futex)
#else
#define FUTEX SYS_futex
#endif

/* Sleeps until that time of the monotonic clock (NULL: for good), or until `changes` is not `seen`
 * any more. Returns false when the time has come. (futex(2)) */
static bool sleep_until(const struct timespec *at, uint32_t seen)
{
    if (syscall(FUTEX, &ticker.changes, FUTEX_WAIT_BITSET_PRIVATE, seen, at, NULL,
                FUTEX_BITSET_MATCH_ANY) == 0 || errno == EAGAIN || errno == EINTR)
        return true;
    if (errno != ETIMEDOUT)     /* there is no such call: no reason to use up a processor */
        usleep((useconds_t)(ticker.period / 1000 % 1000000));
    return false;
}

/* Wakes the ticker's thread, because something it waits for has changed. */
static void wake_ticker(void)
{
    __atomic_fetch_add(&ticker.changes, 1, __ATOMIC_SEQ_CST);
    syscall(FUTEX, &ticker.changes, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static bool load_flag(const bool *flag) { return __atomic_load_n(flag, __ATOMIC_SEQ_CST); }
static void store_flag(bool *flag, bool value) { __atomic_store_n(flag, value, __ATOMIC_SEQ_CST); }

/* Reads a clock, in nanoseconds; 0 if the thread of this clock has ended. */
static U64 read_ns(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (U64)now.tv_sec * 1000000000 + (U64)now.tv_nsec;
}

static UV time_now(void) { return (UV)read_ns(CLOCK_MONOTONIC); }

/* The interpreter of a state that records, or NULL. A recording may end at any moment, so the value
 * that was read is used, and not read again. */
static void *recording_thx(const struct dpx_ctx *ctx)
{
    void *thx = __atomic_load_n(&ctx->thx, __ATOMIC_RELAXED);
    return __atomic_load_n(&ctx->rec.paused, __ATOMIC_RELAXED) ? NULL : thx;
}

/* Notes the C code under way. If another op runs by the end, nothing is noted. */
static void note_spans(struct dpx_words *w, const struct dpx_ctx *ctx)
{
    const struct dpx_c_span *in_c = &ctx->spans.in_c;
    const OP *op = __atomic_load_n(&in_c->op, __ATOMIC_ACQUIRE);
    w->serial = __atomic_load_n(&ctx->serial, __ATOMIC_RELAXED);
    w->in_c.serial = __atomic_load_n(&in_c->serial, __ATOMIC_ACQUIRE);
    w->in_c.sub = __atomic_load_n(&in_c->sub, __ATOMIC_ACQUIRE);
    w->in_c.span = __atomic_load_n(&in_c->span, __ATOMIC_ACQUIRE);
    w->in_c.op = op == __atomic_load_n(&in_c->op, __ATOMIC_ACQUIRE) ? op : NULL;
}

/* Notes the running code of an interpreter. Returns whether it has answered the tick before; only
 * then is it asked again. The sample of the tick before cannot undo what `ticks` sets, as that
 * sample is over. */
static bool tick_one(struct dpx_ctx *ctx, void *thx, bool alone)
{
    struct dpx_tick *t = &ctx->tick;
    struct dpx_words *w = &t->words;
#ifdef DPX_MULTIPLICITY
    PerlInterpreter *my_perl = thx;
#else
    PERL_UNUSED_ARG(thx);
#endif
    bool answered = !__atomic_load_n(&t->pending, __ATOMIC_ACQUIRE);
    UV now = time_now();
    __atomic_store_n(&t->at, now, __ATOMIC_RELAXED);
    if (answered) {
        ticker.ticks(alone);
        clockid_t clock = __atomic_load_n(&t->clock, __ATOMIC_RELAXED);
        t->since = now;
        t->cpu = clock ? read_ns(clock) : 0;
        /* The program clears the word if it frees that statement from here on. */
        __atomic_store_n(&t->armed, 1, __ATOMIC_SEQ_CST);
        __atomic_store_n(&w->cop, __atomic_load_n(&PL_curcop, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
        __atomic_store_n(&w->op, __atomic_load_n(&PL_op, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
        __atomic_store_n(&w->pad, __atomic_load_n(&PL_comppad, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
        __atomic_store_n(&w->compiles, __atomic_load_n(&PL_parser, __ATOMIC_RELAXED) != NULL,
                         __ATOMIC_RELAXED);
        note_spans(w, ctx);
        __atomic_store_n(&t->pending, 1, __ATOMIC_RELEASE);
    }
    PL_sig_pending = 1;         /* once more: perl may have cleared it between two signals */
    return answered;
}

/* Ticks for all. Returns whether any interpreter that records has answered. */
static bool tick_all(void)
{
    bool answered = false;
    size_t n = 0;
    pthread_mutex_lock(&dpx_run.lock);
    for (const struct dpx_ctx *ctx = dpx_run.all; ctx; ctx = ctx->next)
        n += recording_thx(ctx) != NULL;
    for (struct dpx_ctx *ctx = dpx_run.all; ctx; ctx = ctx->next) {
        void *thx = recording_thx(ctx);
        if (thx && tick_one(ctx, thx, n == 1))
            answered = true;
    }
    pthread_mutex_unlock(&dpx_run.lock);
    return answered;
}

/* Returns whether an interpreter that records waits for a tick. */
static bool is_awaited(void)
{
    bool awaited = false;
    pthread_mutex_lock(&dpx_run.lock);
    for (const struct dpx_ctx *ctx = dpx_run.all; ctx && !awaited; ctx = ctx->next)
        awaited = recording_thx(ctx) && !__atomic_load_n(&ctx->tick.pending, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&dpx_run.lock);
    return awaited;
}

/* The next period, a quarter more or less, so that no program runs in step with it. */
static U64 next_wait(U64 *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return ticker.period * 3 / 4 + *random % (ticker.period / 2 + 1);
}

/* Adds nanoseconds to a time. */
static void add_ns(struct timespec *to, U64 ns)
{
    U64 sum = (U64)to->tv_nsec + ns;
    to->tv_sec += (time_t)(sum / 1000000000);
    to->tv_nsec = (long)(sum % 1000000000);
}

/* Sleeps until that time, or until the thread ends. NULL: also until it does not doze any more. */
static void wait_for(const struct timespec *at)
{
    for (;;) {
        uint32_t seen = __atomic_load_n(&ticker.changes, __ATOMIC_SEQ_CST);
        if (load_flag(&ticker.ends) || (!at && !load_flag(&ticker.dozes)) || !sleep_until(at, seen))
            return;
    }
}

/* Waits for an answer. An answer before `dozes` was set woke nothing, so the thread checks once
 * more; dpx_ticker_wake has the other half of this order. */
static void doze_until_answer(void)
{
    store_flag(&ticker.dozes, true);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!is_awaited())
        wait_for(NULL);
    store_flag(&ticker.dozes, false);
}

/* The thread. A program that sleeps, or has no processor, does not answer: then the thread waits
 * for an answer, and does not wake an idle machine. The first tick after that comes at any time of
 * a period: else a server that gets requests now and then would never be seen at requests that take
 * less than one period. */
static void *run_ticker(void *arg)
{
    U64 random = (U64)PTR2UV(arg) | 1;
    unsigned silent = 0;
    bool dozed = false;
    struct timespec at, now;
    clock_gettime(CLOCK_MONOTONIC, &at);
    for (;;) {
        add_ns(&at, dozed ? random % ticker.period : next_wait(&random));
        dozed = false;
        wait_for(&at);
        if (load_flag(&ticker.ends))
            return NULL;
        silent = tick_all() ? 0 : silent + 1;
        if (silent >= PATIENCE) {
            doze_until_answer();
            silent = 0;
            clock_gettime(CLOCK_MONOTONIC, &at);
            dozed = true;
        } else {
            clock_gettime(CLOCK_MONOTONIC, &now);
            if (now.tv_sec > at.tv_sec)         /* it had no processor: ticks are not made up for */
                at = now;
        }
    }
}

int dpx_ticker_start(void (*ticks)(bool alone))
{
    pthread_attr_t attr;
    sigset_t all, before;
    struct timespec now;
    ticker.period = 1000000000 / dpx_run.opt.sample;
    ticker.ticks = ticks;
    ticker.ends = ticker.dozes = false;
    clock_gettime(CLOCK_REALTIME, &now);
    UV seed = (UV)now.tv_nsec ^ (UV)now.tv_sec << 20 ^ (UV)getpid() << 8;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, TICKER_STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&ticker.thread, &attr, run_ticker, INT2PTR(void *, seed));
    if (rc == EINVAL)           /* the program has much memory in each thread's stack */
        rc = pthread_create(&ticker.thread, NULL, run_ticker, INT2PTR(void *, seed));
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    ticker.runs = rc == 0;
    return rc;
}

U64 dpx_ticker_late(const struct dpx_tick *t)
{
    if (!ticker.runs)
        return 0;               /* the clock counts */
    UV late = time_now() - __atomic_load_n(&t->at, __ATOMIC_RELAXED);
    return late < ticker.period * 5 / 4 ? late : 0;
}

bool dpx_ticker_waited(struct dpx_tick *t, U64 *own)
{
    clockid_t clock;
    bool known = t->clock != 0 && t->cpu != 0;
    if (!ticker.runs)
        return false;           /* the clock counts */
    if (pthread_getcpuclockid(pthread_self(), &clock) != 0)
        clock = 0;
    known = known && clock == t->clock;
    __atomic_store_n(&t->clock, clock, __ATOMIC_RELAXED);
    U64 passed = known ? read_ns(CLOCK_MONOTONIC) - t->since : 0;
    if (passed <= SHORT_WAIT)   /* true for nearly all samples: no system call is made */
        return false;
    *own = read_ns(clock) - t->cpu;
    return *own < passed / 2;
}

bool dpx_ticker_runs(void) { return ticker.runs; }

void dpx_ticker_wake(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);    /* after the answer; see doze_until_answer() */
    if (!load_flag(&ticker.dozes))
        return;
    store_flag(&ticker.dozes, false);
    wake_ticker();
}

void dpx_ticker_end(void)
{
    if (!ticker.runs)
        return;
    store_flag(&ticker.ends, true);
    wake_ticker();
    pthread_join(ticker.thread, NULL);
    ticker.runs = false;
}

void dpx_ticker_forked(void) { ticker.runs = ticker.dozes = false; }

void dpx_ticker_wait_for(pTHX_ struct dpx_tick *t)
{
    t->pending = t->armed = 0;
    t->clock = 0;
    PL_sig_pending = 1;         /* the first statement starts a ticker */
}
