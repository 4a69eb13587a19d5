/* The states of the interpreters: all states of a process, those that are free to use again, and
 * the one that the hooks see. */
#include "dpx_ctx.h"
#include "dpx_events.h"
#include "dp_mem.h"

#include <string.h>

struct dpx_process dpx_run = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The state of interpreters that do not record. */
static struct dpx_ctx nobody;

struct dpx_ctx *dpx_first = &nobody;

/* ---- which state belongs to an interpreter ---- */

/* Hooks belong to the process: they also run in interpreters that have not loaded this module. So
 * data that the module itself has put into an interpreter does not show whose state is whose:
 * MY_CXT, for one, is uninitialized memory there. But each interpreter has the list of
 * perl_atexit's functions, and a new thread inherits it: our entry in it holds the state. */
static ATEXIT_t at_end;

/* Returns our entry in perl's list of functions for the end, or NULL. */
static PerlExitListEntry *find_entry(pTHX)
{
    for (I32 i = 0; i < PL_exitlistlen; i++)
        if (PL_exitlist[i].fn == at_end)
            return &PL_exitlist[i];
    return NULL;
}

struct dpx_ctx *dpx_ctx_kept(pTHX)
{
    const PerlExitListEntry *entry = find_entry(aTHX);
    return entry ? entry->ptr : &nobody;
}

bool dpx_ctx_is_nobody(const struct dpx_ctx *ctx) { return ctx == &nobody; }

bool dpx_ctx_has_joined(pTHX) { return at_end && find_entry(aTHX); }

void dpx_ctx_join(pTHX_ ATEXIT_t ends)
{
    at_end = ends;
    if (!find_entry(aTHX))
        perl_atexit(ends, &nobody);
}

/* Replaces the state in dpx_first, unless another thread has replaced it by now. */
static void change_first(struct dpx_ctx *from, struct dpx_ctx *to)
{
    __atomic_compare_exchange_n(&dpx_first, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

void dpx_ctx_show(pTHX_ struct dpx_ctx *ctx)
{
    PerlExitListEntry *entry = find_entry(aTHX);
    change_first(entry ? entry->ptr : &nobody, ctx ? ctx : &nobody);
    if (entry)                  /* else the interpreter is at its end */
        entry->ptr = ctx ? ctx : &nobody;
}

/* ---- the recorder's time ---- */

U64 dpx_ctx_arrive(struct dpx_ctx *ctx)
{
    U64 now = dpx_clock_host(&ctx->clock)->stamp(&ctx->clock);
    if (ctx->rec.how.n_counted)
        dpx_events_arrive(ctx);
    return now;
}

void dpx_ctx_leave(struct dpx_ctx *ctx)
{
    if (ctx->rec.how.n_counted) {
        ctx->rec.worked = true;
        dpx_events_leave(ctx);
    }
    ctx->rec.marks.left = dpx_clock_host(&ctx->clock)->stamp(&ctx->clock);
}

/* ---- the states of the process ---- */

/* States are used again and never freed: until its first event, a new interpreter reads the state
 * that it has inherited, whatever has happened to that. */
static struct dpx_ctx *spare;

struct dpx_ctx *dpx_ctx_take(void)
{
    pthread_mutex_lock(&dpx_run.lock);
    struct dpx_ctx *ctx = spare;
    if (ctx)
        spare = ctx->next;
    pthread_mutex_unlock(&dpx_run.lock);
    if (!ctx)
        return dp_mem_zalloc(sizeof *ctx);
    memset(ctx, 0, sizeof *ctx);
    return ctx;
}

void dpx_ctx_give_back(struct dpx_ctx *ctx)
{
    pthread_mutex_lock(&dpx_run.lock);
    for (struct dpx_ctx **p = &dpx_run.all; *p; p = &(*p)->next)
        if (*p == ctx) {
            *p = ctx->next;
            break;
        }
    ctx->next = spare;          /* the contents are cleared when the state is used again */
    spare = ctx;
    pthread_mutex_unlock(&dpx_run.lock);
}

void dpx_ctx_enlist(struct dpx_ctx *ctx)
{
    pthread_mutex_lock(&dpx_run.lock);
    ctx->tid = dpx_run.tids++;
    ctx->next = dpx_run.all;
    /* on_signal may read the list at any moment */
    __atomic_store_n(&dpx_run.all, ctx, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&dpx_run.lock);
}

struct dpx_ctx *dpx_ctx_owned(pTHX)
{
    pthread_mutex_lock(&dpx_run.lock);
    struct dpx_ctx *ctx = dpx_run.all;
    while (ctx && ctx->owner != DPX_THX)
        ctx = ctx->next;
    pthread_mutex_unlock(&dpx_run.lock);
    return ctx;
}

struct dpx_ctx *dpx_ctx_find(pTHX)
{
    struct dpx_ctx *ctx = dpx_ctx_owned(aTHX);
    return ctx && ctx->thx ? ctx : NULL;
}

/* The interpreter that this thread runs; NULL: none. A thread that is not perl's may fork, too. */
static void *thread_context(void)
{
#ifdef DPX_MULTIPLICITY
    return PERL_GET_CONTEXT;
#else
    return DPX_THX;
#endif
}

struct dpx_ctx *dpx_ctx_own(void)
{
    void *own = thread_context();
    struct dpx_ctx *ctx = own ? dpx_run.all : NULL;
    while (ctx && ctx->thx != own)
        ctx = ctx->next;
    return ctx;
}

/* Is the address on the stack of the running thread? Also false if the system cannot say where that
 * is. */
static bool is_on_stack(const void *at)
{
    pthread_attr_t attr;
    void *base;
    size_t size;
    bool is_on = false;
    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        is_on = pthread_attr_getstack(&attr, &base, &size) == 0
                && (const char *)at >= (char *)base && (const char *)at < (char *)base + size;
        pthread_attr_destroy(&attr);
    }
    return is_on;
}

/* Does another thread run perl code in this state's interpreter? Hosts make interpreters in one
 * thread, and hand them to others. The place to which die goes (PL_top_env) then lies on that
 * thread's stack. In a coroutine, whose stack is anywhere, this cannot be found out. */
static DP_NOINLINE bool runs_elsewhere(const struct dpx_ctx *ctx)
{
    enum { NEAR = 1 << 20 };
    DPX_DTHX(ctx);
    const char *frame = __builtin_frame_address(0), *env = (const char *)PL_top_env;
    if (!env || PL_top_env == &PL_start_env || (env >= frame && env - frame < NEAR))
        return false;           /* nothing runs, or this thread runs it: no system call is needed */
    return !is_on_stack(env) && is_on_stack(frame);
}

bool dpx_ctx_is_mine(const struct dpx_ctx *ctx)
{
    if (!ctx->thx)
        return false;
    bool made_here = !ctx->is_thread && pthread_equal(ctx->maker, pthread_self());
    return (made_here || ctx->thx == thread_context()) && !runs_elsewhere(ctx);
}

struct dpx_ctx *dpx_ctx_mine(unsigned below)
{
    struct dpx_ctx *found = NULL;
    pthread_mutex_lock(&dpx_run.lock);
    for (struct dpx_ctx *ctx = dpx_run.all; ctx; ctx = ctx->next)
        if (ctx->tid < below && (!found || ctx->tid > found->tid) && dpx_ctx_is_mine(ctx))
            found = ctx;
    pthread_mutex_unlock(&dpx_run.lock);
    return found;
}

bool dpx_ctx_has_programs(const struct dpx_ctx *but)
{
    pthread_mutex_lock(&dpx_run.lock);
    const struct dpx_ctx *ctx = dpx_run.all;
    while (ctx && (ctx == but || ctx->is_thread))
        ctx = ctx->next;
    pthread_mutex_unlock(&dpx_run.lock);
    return ctx != NULL;
}

struct dpx_ctx *dpx_ctx_current(pTHX)
{
    struct dpx_ctx *ctx = DPX_CTX;
    return ctx->thx == DPX_THX ? ctx : NULL;
}
