/* The states of the interpreters: all of a process, those that are used again, and the one that the
 * hooks see. */
#include "dpx_ctx.h"
#include "dpx_events.h"
#include "dp_mem.h"

#include <string.h>

#ifdef DPX_MULTIPLICITY
int dpx_index = -1;
#else
struct dpx_ctx *dpx_only;
#endif

struct dpx_process dpx_run = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The state of interpreters that do not record. */
static struct dpx_ctx nobody;

bool dpx_ctx_is_nobody(const struct dpx_ctx *ctx) { return ctx == &nobody; }

void dpx_ctx_show(pTHX_ struct dpx_ctx *ctx)
{
    if (!ctx)
        ctx = &nobody;
#ifdef DPX_MULTIPLICITY
    if (dpx_index < 0 || PL_my_cxt_size <= dpx_index)
        Perl_my_cxt_init(aTHX_ &dpx_index, sizeof(void *));
    PL_my_cxt_list[dpx_index] = ctx;
#else
    dpx_only = ctx;
#endif
}

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
    ctx->rec.left = dpx_clock_host(&ctx->clock)->stamp(&ctx->clock);
}

/* States are used again and never freed: until its first event, a new interpreter looks at the
 * state that it has inherited, whatever has become of that. */
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

struct dpx_ctx *dpx_ctx_find(pTHX)
{
    pthread_mutex_lock(&dpx_run.lock);
    struct dpx_ctx *ctx = dpx_run.all;
    while (ctx && ctx->thx != DPX_THX)
        ctx = ctx->next;
    pthread_mutex_unlock(&dpx_run.lock);
    return ctx;
}

struct dpx_ctx *dpx_ctx_own(void)
{
#ifdef DPX_MULTIPLICITY
    void *own = PERL_GET_CONTEXT;
#else
    void *own = DPX_THX;
#endif
    struct dpx_ctx *ctx = own ? dpx_run.all : NULL;
    while (ctx && ctx->thx != own)
        ctx = ctx->next;
    return ctx;
}

struct dpx_ctx *dpx_ctx_current(pTHX)
{
    struct dpx_ctx *ctx = dpx_run.all ? dpx_ctx_find(aTHX) : NULL;
    return ctx && ctx == DPX_CTX ? ctx : NULL;
}
