/* The thread that ticks. It has all signals blocked, calls nothing of perl's, and never follows a
 * pointer of perl's; what it reads of an interpreter is there as long as it holds dpx_run.lock,
 * under which states leave the list before their interpreters go. */
#include "dpx_ticker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum {
    PATIENCE = 4,               /* ticks that nobody answers, before the thread waits */
    SHORT_WAIT = 50000,         /* ns: a thread that another one interrupts waits no longer */
    TICKER_STACK = 64 << 10     /* bytes */
};

static struct {
    pthread_mutex_t lock;       /* for what follows; never held together with dpx_run.lock */
    pthread_cond_t changed;
    pthread_t thread;
    bool runs;                  /* there is a thread, in this process */
    bool dozes;                 /* it waits until a sample is taken */
    bool ends;
    U64 period;                 /* ns */
} ticker = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ns; 0 if the thread of this clock has ended. */
static U64 read_ns(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (U64)now.tv_sec * 1000000000 + (U64)now.tv_nsec;
}

static UV time_now(void) { return (UV)read_ns(CLOCK_MONOTONIC); }

/* The interpreter of a state that records, or NULL. A recording may end at any moment, so what was
 * read is used, and not read again. */
static void *recording(const struct dpx_ctx *ctx)
{
    void *thx = __atomic_load_n(&ctx->thx, __ATOMIC_RELAXED);
    return __atomic_load_n(&ctx->rec.paused, __ATOMIC_RELAXED) ? NULL : thx;
}

/* Notes what runs in an interpreter. Returns whether it has answered the tick before. */
static bool tick(struct dpx_tick *t, void *thx)
{
#ifdef DPX_MULTIPLICITY
    PerlInterpreter *my_perl = thx;
#else
    PERL_UNUSED_ARG(thx);
#endif
    bool answered = !__atomic_load_n(&t->pending, __ATOMIC_ACQUIRE);
    UV now = time_now();
    __atomic_store_n(&t->at, now, __ATOMIC_RELAXED);
    if (answered) {
        clockid_t clock = __atomic_load_n(&t->clock, __ATOMIC_RELAXED);
        t->since = now;
        t->cpu = clock ? read_ns(clock) : 0;
        /* The program clears the word if it frees that statement from here on. */
        __atomic_store_n(&t->armed, 1, __ATOMIC_SEQ_CST);
        __atomic_store_n(&t->cop, __atomic_load_n(&PL_curcop, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
        __atomic_store_n(&t->op, __atomic_load_n(&PL_op, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
        __atomic_store_n(&t->pad, __atomic_load_n(&PL_comppad, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
        __atomic_store_n(&t->pending, 1, __ATOMIC_RELEASE);
    }
    PL_sig_pending = 1;         /* once more: perl may have cleared it between two signals */
    return answered;
}

/* Returns whether any interpreter that records has answered. */
static bool tick_all(void)
{
    bool answered = false;
    pthread_mutex_lock(&dpx_run.lock);
    for (struct dpx_ctx *ctx = dpx_run.all; ctx; ctx = ctx->next) {
        void *thx = recording(ctx);
        if (thx && tick(&ctx->tick, thx))
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
        awaited = recording(ctx) && !__atomic_load_n(&ctx->tick.pending, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&dpx_run.lock);
    return awaited;
}

/* Times that are a quarter more or less, so that no program runs in step with them. */
static U64 next_wait(U64 *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return ticker.period * 3 / 4 + *random % (ticker.period / 2 + 1);
}

static void add_ns(struct timespec *to, U64 ns)
{
    U64 sum = (U64)to->tv_nsec + ns;
    to->tv_sec += (time_t)(sum / 1000000000);
    to->tv_nsec = (long)(sum % 1000000000);
}

/* Waits for an answer, with ticker.lock held. One that came before `dozes` was set woke nobody, so
 * the thread looks once more; dpx_ticker_wake has the other half of this order. */
static void doze(void)
{
    __atomic_store_n(&ticker.dozes, true, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&ticker.lock);
    bool awaited = is_awaited();
    pthread_mutex_lock(&ticker.lock);
    while (!awaited && ticker.dozes && !ticker.ends)
        pthread_cond_wait(&ticker.changed, &ticker.lock);
    ticker.dozes = false;
}

/* The thread. Nobody answers while the program sleeps, or has no processor: then it waits for an
 * answer, and does not wake an idle machine. The first tick after that comes at any time of a
 * period: else a server that is asked now and then would never be seen at requests that take less
 * than one. */
static void *run_ticker(void *arg)
{
    U64 random = (U64)PTR2UV(arg) | 1;
    unsigned silent = 0;
    bool dozed = false;
    struct timespec at;
    pthread_mutex_lock(&ticker.lock);
    clock_gettime(CLOCK_MONOTONIC, &at);
    while (!ticker.ends) {
        add_ns(&at, dozed ? random % ticker.period : next_wait(&random));
        dozed = false;
        while (!ticker.ends
               && pthread_cond_timedwait(&ticker.changed, &ticker.lock, &at) != ETIMEDOUT)
            ;
        if (ticker.ends)
            break;
        pthread_mutex_unlock(&ticker.lock);
        silent = tick_all() ? 0 : silent + 1;
        pthread_mutex_lock(&ticker.lock);
        if (silent >= PATIENCE) {
            doze();
            silent = 0;
            clock_gettime(CLOCK_MONOTONIC, &at);
            dozed = true;
        } else {
            struct timespec now;
            clock_gettime(CLOCK_MONOTONIC, &now);
            if (now.tv_sec > at.tv_sec)         /* it had no processor: ticks are not made up for */
                at = now;
        }
    }
    pthread_mutex_unlock(&ticker.lock);
    return NULL;
}

int dpx_ticker_start(void)
{
    pthread_attr_t attr;
    pthread_condattr_t cond;
    sigset_t all, before;
    struct timespec now;
    pthread_condattr_init(&cond);
    pthread_condattr_setclock(&cond, CLOCK_MONOTONIC);
    pthread_cond_init(&ticker.changed, &cond);
    pthread_condattr_destroy(&cond);
    ticker.period = 1000000000 / dpx_run.opt.sample;
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
    if (passed <= SHORT_WAIT)   /* of nearly all samples: no system call is made */
        return false;
    *own = read_ns(clock) - t->cpu;
    return *own < passed / 2;
}

bool dpx_ticker_runs(void) { return ticker.runs; }

void dpx_ticker_wake(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);    /* after the answer; see doze() */
    if (!__atomic_load_n(&ticker.dozes, __ATOMIC_SEQ_CST))
        return;
    pthread_mutex_lock(&ticker.lock);
    ticker.dozes = false;
    pthread_cond_signal(&ticker.changed);
    pthread_mutex_unlock(&ticker.lock);
}

void dpx_ticker_end(void)
{
    if (!ticker.runs)
        return;
    pthread_mutex_lock(&ticker.lock);
    ticker.ends = true;
    pthread_cond_signal(&ticker.changed);
    pthread_mutex_unlock(&ticker.lock);
    pthread_join(ticker.thread, NULL);
    ticker.runs = false;
}

void dpx_ticker_forked(pTHX_ struct dpx_ctx *ctx)
{
    pthread_mutex_init(&ticker.lock, NULL);
    ticker.runs = ticker.dozes = false;
    if (!ctx)
        return;
    ctx->tick.pending = ctx->tick.armed = 0;
    ctx->tick.clock = 0;
    PL_sig_pending = 1;         /* the first statement starts a ticker */
}
