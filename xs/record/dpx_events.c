/* Counters of events beside the clock: chosen by name, opened for each thread,
 * read by the hooks. */
#include "dpx_events.h"
#include "dprof/metric.h"
#include "dpx_heap.h"
#include "dpx_say.h"
#include "dp_rec_mark.h"

#include <stdlib.h>
#include <string.h>

enum { LOCAL_MARKS = 16 };

/* ---- the plan ---- */

/* Reads kernel.perf_event_paranoid. */
static int read_paranoid(void)
{
    int level = DP_PMU_PARANOID_UNKNOWN;
    FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    if (f) {
        if (fscanf(f, "%d", &level) != 1)
            level = DP_PMU_PARANOID_UNKNOWN;
        fclose(f);
    }
    return level;
}

int dpx_events_open_pmu(struct dp_pmu **pmu, const char *sysfs)
{
    char cpuid[DP_CPUID_SIZE];
    const char *given = getenv("PERF_CPUID");
    cpuid[0] = '\0';
    if (given && strlen(given) < sizeof cpuid)
        strcpy(cpuid, given);
    else if (dp_cpuid(cpuid, sizeof cpuid, "/sys", "/proc") < 0)
        cpuid[0] = '\0';
    struct dp_pmu_where where = { cpuid[0] ? cpuid : NULL,
                                  sysfs ? sysfs : "/sys/bus/event_source/devices", pmu_events_map };
    return dp_pmu_new(pmu, &where);
}

bool dpx_events_may_count_ops(runops_proc_t loop)
{
    return loop == Perl_runops_standard || loop == Perl_runops_debug;
}

/* Does the plan have a column NAME:UNIT of that name? The name may have colons. */
static bool has_column(const struct dpx_plan *plan, const char *name)
{
    size_t len = strlen(name);
    for (const char *p = plan->columns.ptr, *end = p + plan->columns.len; p < end;) {
        const char *blank = memchr(p, ' ', (size_t)(end - p));
        size_t n = (size_t)((blank ? blank : end) - p);
        const char *colon = p + n;
        while (*--colon != ':')
            ;
        if ((size_t)(colon - p) == len && memcmp(p, name, len) == 0)
            return true;
        p += n + 1;
    }
    return false;
}

/* Appends a column NAME:UNIT to the plan; the suffix belongs to the name. */
static void add_column(struct dpx_plan *plan, const char *name, const char *suffix,
                       const char *unit)
{
    dp_buf_addf(&plan->columns, "%s%s%s:%s", plan->columns.len ? " " : "", name, suffix, unit);
    plan->n++;
}

/* Tries to open an event. If the kernel's own part may not be counted, changes the event so that
 * only the program's part is counted, as perf does. Returns 0 or an errno. */
static int try_perf(struct dp_pmu_event *ev)
{
    int why = dp_perf_try(NULL, ev);
    if ((why == EACCES || why == EPERM) && !ev->exclude_kernel && !ev->has_mods) {
        struct dp_pmu_event user = *ev;
        if (!dp_pmu_user_only(&user))
            return why;
        int without = dp_perf_try(NULL, &user);
        if (without == 0)
            *ev = user;
        else if (without == why)
            ev->exclude_kernel = true;  /* the kernel's part is not the reason of the refusal */
        if (without == 0 || without == ENOENT || without == EOPNOTSUPP)
            why = without;              /* permission would not help */
    }
    return why;
}

static bool tree_counts_ops(void)
{
    return dpx_run.opt.tree && dpx_run.opt.ops;
}

bool dpx_events_try(pTHX_ const struct dp_pmu *pmu, struct dp_pmu_event *ev, char *why, size_t size)
{
    const char *reason = NULL;
    int refused = ev->kind == DP_PMU_PERF ? try_perf(ev) : 0;
    *why = '\0';
    if (refused)
        dp_pmu_refusal(pmu, ev, refused, read_paranoid(), why, size);
    else if (ev->kind == DP_PMU_OPS && !dpx_events_may_count_ops(PL_runops))
        reason = "a module has a run loop of its own";
    else if (ev->kind == DP_PMU_BYTES)
        reason = dpx_heap_refusal();
    else if (ev->kind == DP_PMU_NOISE && (!tree_counts_ops() || dpx_run.only_samples))
        reason = "it needs a tree of calls that counts ops (mode=tree)";
    if (reason)
        my_snprintf(why, size, "%s", reason);
    return !*why;
}

/* Returns why an event cannot have a column of its name: a second column with the same name could
 * not be selected. NULL: no other event has the name. */
static const char *name_clash(const struct dpx_plan *plan, const struct dp_pmu_event *ev)
{
#define WORD(id, word, ...) word,
    static const char *const taken[] = { DP_METRIC_LIST(WORD) "ops", "svs", "svs-freed", "bytes",
                                         "bytes-freed", "noise", "samples", "values", "live-values",
                                         "live-bytes", "allocated-blocks",
                                         "allocated-bytes", "live-blocks" };
#undef WORD
    for (size_t i = 0; ev->kind == DP_PMU_PERF && i < DP_ARRAY_LEN(taken); i++)
        if (strEQ(ev->name, taken[i]))
            return "profiles have something else of this name";
    for (size_t i = 0; i < plan->n_perf; i++) {
        const struct dp_pmu_event *e = &plan->perf[i];
        if (strEQ(e->name, ev->name)
            && (e->type != ev->type || e->config != ev->config || e->config1 != ev->config1
                || e->config2 != ev->config2))
            return "another event in the list has this name";
    }
    return NULL;
}

/* Returns how many counters of the file an event has: things that come and go have two. */
static size_t columns_of(const struct dp_pmu_event *ev)
{
    return ev->kind == DP_PMU_SVS || ev->kind == DP_PMU_BYTES ? 2
           : ev->kind == DP_PMU_OPS && tree_counts_ops() ? 0
           : 1;
}

/* Adds the columns of an event that can be counted; the caller has seen that there is room. */
static void add_columns(struct dpx_plan *plan, const struct dp_pmu_event *ev)
{
    size_t at = plan->n, n = columns_of(ev);
    if (n > 0)
        add_column(plan, ev->name, "", ev->unit);
    if (n > 1)
        add_column(plan, ev->name, "-freed", ev->unit);
    switch (ev->kind) {
    case DP_PMU_PERF:
        plan->perf_at[plan->n_perf] = at;
        plan->perf[plan->n_perf++] = *ev;
        break;
    case DP_PMU_OPS:
        plan->ops = n > 0;
        plan->ops_at = at;
        break;
    case DP_PMU_SVS:
        plan->svs = true;
        plan->svs_at = at;
        break;
    case DP_PMU_BYTES:
        plan->bytes = true;
        plan->bytes_at = at;
        break;
    case DP_PMU_NOISE:
        plan->noise = true;
        plan->n_own++;
        plan->noise_at = at;
        break;
    }
}

/* Adds an event of the list to the plan. If it is written as ?EVENT and cannot be counted, it is
 * only listed as missing. Returns 0, or an error with the reason. */
static int add_event(pTHX_ struct dpx_plan *plan, struct dp_pmu *pmu, const char *text, size_t len,
                     struct dp_err *err)
{
    struct dp_pmu_event ev;
    const char *clashes;
    char why[256] = "";
    bool optional = len && *text == '?';
    int rc = dp_pmu_find(pmu, text, len, &ev, err);
    if (rc == DP_E_NOMEM)
        return rc;
    if (rc == 0) {
        /* dpx_events_try renames the event if only the program's part may be counted. */
        if ((clashes = name_clash(plan, &ev)) == NULL
            && dpx_events_try(aTHX_ pmu, &ev, why, sizeof why))
            clashes = name_clash(plan, &ev);
        if (clashes)
            my_snprintf(why, sizeof why, "%s", clashes);
        else if (!*why && !has_column(plan, ev.name)
                 && plan->n + tree_counts_ops() + columns_of(&ev) > DP_FMT_COUNTERS)
            my_snprintf(why, sizeof why,
                        "a profile has room for %d counters, and this is one too many",
                        DP_FMT_COUNTERS);
        else if (!*why && !has_column(plan, ev.name))
            add_columns(plan, &ev);
        if (*why)
            rc = dp_pmu_complain(err, text, len, why);
    }
    if (rc < 0 && optional) {
        dp_err_init(err);
        dp_buf_addf(&plan->missing, "%s%.*s", plan->missing.len ? " " : "", (int)len - 1, text + 1);
        return 0;
    }
    return rc;
}

/* Adds the columns of heap=exact: the values that were made, and those that live with their bytes;
 * or of heap=sample (dpx_blocks.h). */
static void add_heap(struct dpx_plan *plan)
{
    plan->heap_at = plan->n;
    if (dpx_run.opt.heap == DPX_HEAP_EXACT) {
        add_column(plan, "values", "", "values");
        add_column(plan, "live-values", "", "values");
    } else {
        add_column(plan, "allocated-blocks", "", "blocks");
        add_column(plan, "allocated-bytes", "", "bytes");
        add_column(plan, "live-blocks", "", "blocks");
        add_column(plan, "live-values", "", "values");
    }
    add_column(plan, "live-bytes", "", "bytes");
    plan->n_own += plan->n - plan->heap_at;
}

const char *dpx_events_watch_heap(const struct dpx_plan *plan)
{
    bool samples = dpx_run.opt.heap == DPX_HEAP_SAMPLE;
    int what = (plan->bytes ? DPX_HEAP_COUNTS : 0) | (samples ? DPX_HEAP_SAMPLES : 0);
    return what ? dpx_heap_watch(what) : NULL;
}

/* Begins to watch perl's allocations, if the plan needs that. Returns 0 or an error with the
 * reason. */
static int watch_heap(const struct dpx_plan *plan, struct dp_err *err)
{
    const char *why = dpx_events_watch_heap(plan);
    if (!why)
        return 0;
    return plan->bytes ? dp_pmu_complain(err, "bytes", strlen("bytes"), why)
                       : dp_err_set(err, DP_E_ARG, "heap=sample: %s", why);
}

int dpx_events_plan(pTHX_ struct dpx_plan *plan, const char *list, struct dp_err *err)
{
    struct dp_pmu *pmu;
    const char *text;
    size_t len;
    int rc;
    memset(plan, 0, sizeof *plan);
    dp_buf_init(&plan->columns);
    dp_buf_init(&plan->missing);
    if (dpx_run.only_samples) {
        plan->samples_at = plan->n;
        add_column(plan, "samples", "", "samples");
        plan->returned_at = plan->n;
        add_column(plan, "returned", "", "samples");
    }
    if (dpx_run.opt.heap)
        add_heap(plan);
    if (!list || !*list)
        return watch_heap(plan, err);
    if ((rc = dpx_events_open_pmu(&pmu, NULL)) < 0)
        return dp_err_set(err, rc, "%s", dp_err_text(rc));
    while (rc == 0 && (len = dp_pmu_next(&list, &text)) > 0)
        rc = add_event(aTHX_ plan, pmu, text, len, err);
    dp_pmu_free(pmu);
    if (rc == 0)
        rc = watch_heap(plan, err);
    if (rc == 0 && (plan->columns.err || plan->missing.err))
        rc = dp_err_set(err, DP_E_NOMEM, "%s", dp_err_text(DP_E_NOMEM));
    return rc;
}

/* ---- counting ---- */

static uintptr_t this_thread(void)
{
    return (uintptr_t)pthread_self();
}

/* The usual work of hooks between arriving and leaving: they make a mark. */
struct habit {
    struct dp_rec rec;
    uint64_t window[LOCAL_MARKS * (1 + DP_FMT_COUNTERS)];
    struct dp_cct_call call;
};

/* Does what a hook usually does, for a measurement of what counting adds. */
static void usual_work(void *arg)
{
    struct habit *h = arg;
    h->rec.marks.pos = h->window;
    dp_rec_trace(&h->rec, DP_RAW_ENTER, 1, &h->call, h->rec.marks.left, DP_REC_COUNTS);
}

/* Measures what events the recorder's own work causes, with a recorder that writes nowhere. Nothing
 * is measured if memory is short. */
static void calibrate_perf(struct dpx_ctx *ctx)
{
    struct habit *h = calloc(1, sizeof *h);
    if (!h)
        return;
    h->rec.how.counts = ctx->events.total;
    h->rec.how.n_counts = h->rec.how.n_counted = dpx_run.plan.n;
    h->rec.marks.pos = h->window;
    h->rec.marks.end = h->window + DP_ARRAY_LEN(h->window);
    h->rec.marks.long_gap = h->rec.marks.deadline = UINT64_MAX;
    dp_perf_calibrate(&ctx->events.perf, usual_work, h);
    free(h);
}

/* Opens the kernel's counters of the plan. If the counters cannot be opened, for whatever reason,
 * the recording goes on, and the columns stay 0. */
static void open_perf(struct dpx_ctx *ctx)
{
    const struct dp_pmu_event *events[DP_FMT_COUNTERS];
    const struct dpx_plan *plan = &dpx_run.plan;
    size_t failed;
    int why = errno;
    for (size_t i = 0; i < plan->n_perf; i++)
        events[i] = &plan->perf[i];
    ctx->events.thread = this_thread();
    if (plan->n_perf && dp_perf_open(&ctx->events.perf, NULL, events, plan->n_perf, &failed) < 0) {
        dpx_say("DProf: %s: %s; %s not counted in process %ld, thread %u",
                     plan->perf[failed].name, strerror(errno),
                     plan->n_perf > 1 ? "the kernel's events are" : "it is", ctx->pid, ctx->tid);
        ctx->events.perf.lost = true;
    } else if (plan->n_perf) {
        calibrate_perf(ctx);
    }
    errno = why;
}

/* Opens the counters of perf again, which begin at 0; the program's totals stay what they are. */
static void reopen_perf(struct dpx_ctx *ctx)
{
    int why = errno;
    dp_perf_close(&ctx->events.perf);
    open_perf(ctx);
    errno = why;
}

static int64_t svs_now(pTHX)
{
    return (int64_t)PL_sv_count;
}

/* Notes the values that go up and down as they are now. */
static void note_levels(pTHX_ struct dpx_events *ev)
{
    const struct dpx_plan *plan = &dpx_run.plan;
    if (plan->svs)
        ev->svs = svs_now(aTHX);
    if (plan->bytes)
        ev->bytes = dpx_heap_in_use();
}

void dpx_events_open(pTHX_ struct dpx_ctx *ctx)
{
    memset(&ctx->events, 0, sizeof ctx->events);
    if (!dpx_run.plan.n)
        return;
    open_perf(ctx);
    ctx->events.ops = ctx->ops;
    note_levels(aTHX_ &ctx->events);
}

void dpx_events_fork(pTHX_ struct dpx_ctx *ctx, bool goes_on)
{
    struct dpx_events *ev = &ctx->events;
    dp_perf_forked(&ev->perf);
    if (!goes_on) {
        dp_perf_close(&ev->perf);
        return;
    }
    ev->stale = true;
    ev->ops = ctx->ops;
    note_levels(aTHX_ ev);
}

void dpx_events_forked(pTHX_ struct dpx_ctx *ctx)
{
    ctx->events.stale = false;
    if (!dpx_run.plan.n)
        return;
    reopen_perf(ctx);
    note_levels(aTHX_ &ctx->events);
}

void dpx_events_close(struct dpx_ctx *ctx)
{
    dp_perf_close(&ctx->events.perf);
}

void dpx_events_shares(const struct dpx_ctx *ctx, struct dp_buf *to)
{
    const struct dpx_plan *plan = &dpx_run.plan;
    double share[DP_FMT_COUNTERS];
    bool shared = false;
    for (size_t k = 0; k < plan->n; k++)
        share[k] = 1;
    for (size_t i = 0; i < ctx->events.perf.n; i++) {
        share[plan->perf_at[i]] = dp_perf_share(&ctx->events.perf, i);
        shared = shared || share[plan->perf_at[i]] < 0.9995;
    }
    if (!shared)
        return;
    dp_buf_adds(to, ctx->rec.how.ops ? "$dprof_shares='100.0" : "$dprof_shares='");
    for (size_t k = 0; k < plan->n; k++) {
        dp_buf_adds(to, k || ctx->rec.how.ops ? " " : "");
        dpx_say_real(to, 100 * share[k], 1);
    }
    dp_buf_adds(to, "'; ");
}

/* Adds the growth of a number since the last reading to the first column, or its decrease to the
 * second. */
static void came_or_went(uint64_t *columns, int64_t now, int64_t *before)
{
    if (now > *before)
        columns[0] += (uint64_t)(now - *before);
    else
        columns[1] += (uint64_t)(*before - now);
    *before = now;
}

/* An interpreter is cloned in one thread and runs in another one. Counts by thread begin anew. */
static DP_COLD void follow_thread(struct dpx_ctx *ctx)
{
    reopen_perf(ctx);
    if (dpx_run.plan.bytes)
        ctx->events.bytes = dpx_heap_in_use();
}

void dpx_events_arrive(struct dpx_ctx *ctx)
{
    struct dpx_events *ev = &ctx->events;
    const struct dpx_plan *plan = &dpx_run.plan;
    if (DP_UNLIKELY(ctx->rec.paused))
        return;
    if ((plan->n_perf || plan->bytes) && DP_UNLIKELY(ev->thread != this_thread()) && !ev->stale)
        follow_thread(ctx);
    if (plan->n_perf && DP_LIKELY(!ev->stale)) {
        dp_perf_arrive(&ev->perf);
        for (size_t i = 0; i < ev->perf.n; i++)
            ev->total[plan->perf_at[i]] += dp_perf_passed(&ev->perf, i);
    }
    if (plan->ops) {
        ev->total[plan->ops_at] += ctx->ops - ev->ops;
        ev->ops = ctx->ops;
    }
    if (plan->svs) {
        DPX_DTHX(ctx);
        came_or_went(&ev->total[plan->svs_at], svs_now(aTHX), &ev->svs);
    }
    if (plan->bytes)
        came_or_went(&ev->total[plan->bytes_at], dpx_heap_in_use(), &ev->bytes);
}

void dpx_events_leave(struct dpx_ctx *ctx)
{
    struct dpx_events *ev = &ctx->events;
    const struct dpx_plan *plan = &dpx_run.plan;
    if (DP_UNLIKELY(ctx->rec.paused))
        return;
    if (plan->n_perf && DP_LIKELY(!ev->stale))
        dp_perf_leave(&ev->perf, ctx->rec.worked);
    ctx->rec.worked = false;
    ev->ops = ctx->ops;
    if (plan->svs || plan->bytes) {
        DPX_DTHX(ctx);
        note_levels(aTHX_ ev);
    }
}
