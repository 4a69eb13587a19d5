/* Adds a file's events to the profile: contexts, times, phases. */
#include "dp_prof.h"
#include "dp_prof_tree.h"
#include "dp_prof_lines.h"
#include "dp_prof_requests.h"
#include "dp_mem.h"

#include <string.h>

/* ---- the tree ---- */

int64_t dp_prof_new_node(struct dp_prof *prof, uint32_t parent, uint32_t callee, uint32_t sub,
                         uint32_t site)
{
    if (DP_UNLIKELY(prof->count >= DP_LIMIT_NODES))
        return DP_E_LIMIT;
    if (DP_UNLIKELY(prof->count == prof->cap)
        && dp_mem_grow((void **)&prof->nodes, &prof->cap, prof->count + 1, sizeof *prof->nodes) < 0)
        return DP_E_NOMEM;
    uint32_t n = (uint32_t)prof->count;
    struct dp_node *node = &prof->nodes[n];
    memset(node, 0, sizeof *node);
    node->callee = callee;
    node->sub = sub;
    node->site = site;
    node->parent = parent;
    if (n == 0) {
        prof->count++;
        return 0;
    }
    struct dp_node *up = &prof->nodes[parent];
    if (!up->kid) {
        up->kid = n;
    } else {
        /* the new kid follows the first one, which is not in the map and stays first */
        node->sibling = prof->nodes[up->kid].sibling;
        prof->nodes[up->kid].sibling = n;
    }
    prof->count++;
    return n;
}

static uint64_t time_of(const struct dp_prof *prof, uint32_t node)
{
    return dp_prof_ticks(prof->nodes[node].self, prof->chart_time);
}

/* Finds or makes the context for a stretch of time in a chart. It continues as long as its caller
 * has no time of its own in between. */
static int64_t stretch_of(struct dp_prof *prof, uint32_t parent, uint32_t callee, uint32_t sub,
                          uint32_t site)
{
    uint32_t last = prof->nodes[parent].hint;
    if (last && prof->nodes[last].callee == callee
        && prof->spans[last].caller == time_of(prof, parent))
        return last;
    /* this comes first, so that each context that counts has its stretch even after an error */
    size_t need = prof->count + 1;
    if (dp_mem_grow((void **)&prof->spans, &prof->spans_cap, need, sizeof *prof->spans) < 0)
        return DP_E_NOMEM;
    int64_t n = dp_prof_new_node(prof, parent, callee, sub, site);
    if (n < 0)
        return n;
    prof->spans[n] = (struct dp_span){ prof->chart_now, time_of(prof, parent) };
    prof->nodes[parent].hint = (uint32_t)n;
    return n;
}

/* Puts the kids into the map that were created since the last lookup. */
static int map_kids(struct dp_prof *prof)
{
    for (; prof->mapped < prof->count; prof->mapped++) {
        uint32_t n = (uint32_t)prof->mapped;
        const struct dp_node *node = &prof->nodes[n];
        if (n == 0 || prof->nodes[node->parent].kid == n)
            continue;
        struct dp_map_slot *slot =
            dp_map_put(&prof->kids, (uint64_t)node->parent << 32 | node->callee);
        if (!slot)
            return DP_E_NOMEM;
        slot->value = n;
    }
    return 0;
}

/* Finds or makes a kid of parent without the hints of kid_of. Most contexts have one or two kids,
 * which are compared directly; only the others need the map. */
static DP_NOINLINE int64_t find_or_new(struct dp_prof *prof, uint32_t parent, uint32_t callee,
                                       uint32_t sub, uint32_t site)
{
    if (DP_UNLIKELY(prof->chart))
        return stretch_of(prof, parent, callee, sub, site);
    uint32_t first = prof->nodes[parent].kid;
    if (first && prof->nodes[first].callee == callee)
        return first;
    if (first && prof->nodes[first].sibling) {
        uint32_t last = prof->nodes[first].sibling;
        if (prof->nodes[last].callee == callee)
            return last;
        if (map_kids(prof) < 0)
            return DP_E_NOMEM;
        struct dp_map_slot *slot = dp_map_find(&prof->kids, (uint64_t)parent << 32 | callee);
        if (slot)
            return slot->value;
    }
    return dp_prof_new_node(prof, parent, callee, sub, site);
}

/* The kid for a call. Programs repeat themselves: mostly it is the kid of the last entry, or the
 * one that followed that kid the last time. */
DP_INLINE int64_t kid_of(struct dp_prof *prof, uint32_t parent, uint32_t sub)
{
    uint32_t last = prof->nodes[parent].hint;
    if (DP_UNLIKELY(prof->chart))
        return find_or_new(prof, parent, sub, sub, 0);
    if (DP_LIKELY(last)) {
        if (prof->nodes[last].callee == sub)
            return last;
        uint32_t next = prof->nodes[last].succ;
        if (next && prof->nodes[next].callee == sub)
            return prof->nodes[parent].hint = next;
    }
    int64_t n = find_or_new(prof, parent, sub, sub, 0);
    if (n < 0)
        return n;
    if (last)
        prof->nodes[last].succ = (uint32_t)n;
    prof->nodes[parent].hint = (uint32_t)n;
    return n;
}

int64_t dp_prof_kid(struct dp_prof *prof, uint32_t parent, uint32_t sub, uint32_t site)
{
    if (!site)
        return find_or_new(prof, parent, sub, sub, 0);
    struct dp_map_slot *slot = dp_map_put(&prof->sited, (uint64_t)site << 32 | sub);
    if (!slot)
        return DP_E_NOMEM;
    if (slot->value == DP_MAP_NONE)     /* only plain subs are below DP_LIMIT_IDS */
        slot->value = UINT32_C(1) << 31 | (uint32_t)prof->sited.used;
    return find_or_new(prof, parent, slot->value, sub, site);
}

uint32_t dp_prof_next(const struct dp_prof *prof, uint32_t top, uint32_t at, uint32_t *up)
{
    const struct dp_node *nodes = prof->nodes;
    *up = 0;
    if (nodes[at].kid)
        return nodes[at].kid;
    while (at != top) {
        if (nodes[at].sibling)
            return nodes[at].sibling;
        at = nodes[at].parent;
        ++*up;
    }
    return 0;
}

/* ---- a file's events ---- */

/* Computes factors that bring two tick rates to a common one. Returns false if they become too
 * large. */
static bool common_hz(uint64_t a, uint64_t b, uint64_t *fa, uint64_t *fb)
{
    uint64_t x = a, y = b;
    while (y) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    *fa = b / x;
    *fb = a / x;
    return *fa <= DP_LIMIT_HZ / a;
}

/* Makes the ticks of everything in the profile finer by a factor, because a further file counts
 * finer ones. Returns DP_E_LIMIT, and changes nothing, if the totals become too large. */
static int scale_all(struct dp_prof *prof, uint64_t by)
{
    for (int m = 0; m < DP_METRICS; m++)
        if (prof->total[m] > DP_LIMIT_TOTAL / by)
            return DP_E_LIMIT;
    for (size_t i = 0; i < prof->count; i++)
        for (int m = 0; m < DP_METRICS; m++)
            prof->nodes[i].self[m] *= by;
    for (int m = 0; m < DP_METRICS; m++)
        prof->total[m] *= by;
    for (size_t i = 0; prof->paired && i < prof->counts_cap; i++)
        prof->counts[i] = prof->counts[i] < DP_LIMIT_COUNT / by
                ? prof->counts[i] * by : DP_LIMIT_COUNT;
    for (size_t i = 1; prof->chart && i < prof->count; i++) {
        prof->spans[i].start *= by;
        prof->spans[i].caller *= by;
    }
    prof->chart_now *= by;
    prof->hz *= by;
    dp_prof_scale_extra(prof, by);
    dp_prof_scale_lines(prof, by);
    dp_origin_scale(&prof->origin, by);
    return 0;
}

int dp_prof_common_hz(struct dp_prof *prof, uint64_t hz, uint64_t *scale, struct dp_err *err)
{
    uint64_t ours = 1;
    *scale = 1;
    if (!prof->hz) {
        prof->hz = hz;
    } else if (prof->hz != hz) {
        if (!common_hz(prof->hz, hz, &ours, scale))
            return dp_err_set(
                err, DP_E_LIMIT,
                "its ticks ($hz=%llu) do not go with those of the other files ($hz=%llu)",
                (unsigned long long)hz, (unsigned long long)prof->hz);
        if (ours > 1 && scale_all(prof, ours) < 0)
            return dp_err_set(err, DP_E_LIMIT, "the times add up to more than fits");
    }
    return 0;
}

static const char *known_unit(const char *unit) { return *unit ? unit : "an unknown unit"; }

int dp_prof_take_unit(struct dp_prof *prof, const char *unit, bool no_calls, struct dp_err *err)
{
    if (prof->hz && strcmp(prof->unit, unit) != 0)
        return dp_err_set(err, DP_E_ARG,
                          "its times are in %s, those of the other files in %s; --unit declares"
                          " that of folded stacks",
                          known_unit(unit), known_unit(prof->unit));
    memcpy(prof->unit, unit, strlen(unit) + 1);
    prof->no_calls = prof->no_calls || no_calls;
    return 0;
}

/* Checks that a file can be added to the profile, and takes over its unit, its ticks and its
 * counters. The reader calls this before any event of the file. */
static int on_header(void *ctx, const struct dp_header *head, struct dp_err *err)
{
    struct dp_prof *prof = ctx;
    const char *unit = head->unit ? head->unit : "s";
    if (prof->chart && head->foreign && !head->ordered)
        return dp_err_set(err, DP_E_ARG, "a file of %s has no order of calls, as a chart needs it",
                          head->foreign);
    int rc = dp_prof_take_unit(prof, unit, head->no_calls, err);
    if (rc == 0)
        rc = dp_prof_common_hz(prof, head->hz, &prof->in.scale, err);
    if (rc < 0)
        return rc;
    if (prof->window && (rc = dp_window_start(prof->window, head, err)) < 0)
        return rc;
    rc = dp_prof_take_counters(prof, head->counters, head->n_counters);
    if (rc < 0)
        return dp_err_set(err, rc, "%s", dp_err_text(rc));
    dp_prof_take_shares(prof, head);
    prof->paired = prof->paired || (head->folded && head->n_counters);
    prof->in.alone = prof->count == 1;
    prof->in.file->inherited = head->inherited;
    prof->in.has_cost = head->over[0] || head->over[1] || head->over[2];
    prof->in.starting = false;
    prof->in.has_head = true;
    return 0;
}

/* Ends the running calls when a trace continues as a tree; their time has been added already. A
 * tree has no order, so a slice of time cannot be taken of it. */
static int on_tree(void *ctx, struct dp_err *err)
{
    struct dp_prof *prof = ctx;
    if (prof->window)
        return dp_err_set(
            err, DP_E_ARG,
            "a slice of time can be taken of a trace only, and this one goes on as a tree");
    prof->in.depth = 0;
    prof->in.stack[0].node = 0;
    prof->in.file->inherited = prof->in.suspended = 0;
    prof->in.starting = false;
    return 0;
}

static int on_ticks(void *ctx, uint64_t hz, struct dp_err *err)
{
    struct dp_prof *prof = ctx;
    return dp_prof_common_hz(prof, hz, &prof->in.scale, err);
}

static void on_ids_anew(void *ctx)
{
    struct dp_prof *prof = ctx;
    dp_subs_ids_anew(&prof->subs);
}

static int64_t on_sub(void *ctx, const struct dp_subdef *def)
{
    struct dp_prof *prof = ctx;
    return dp_subs_add(&prof->subs, def);
}

/* Subtracts the classic recorder's cost from a batch of events, and converts times to the profile's
 * ticks. *bad: the event whose time is too large, if it fails. */
static int prepare_events(struct dp_prof *prof, struct dp_event *ev, size_t n, size_t *bad,
                          struct dp_err *err)
{
    dp_file_subtract_cost(prof->in.file, ev, n);
    for (size_t i = 0; i < n; i++) {
        for (int m = 0; m < DP_METRICS; m++) {
            if (ev[i].t[m] >= DP_LIMIT_INTERVAL / prof->in.scale) {
                *bad = i;
                return dp_err_set(err, DP_E_LIMIT, "the times add up to more than fits");
            }
            ev[i].t[m] *= prof->in.scale;
        }
    }
    return 0;
}

/* Keeps when the call at the current depth began, so that its end can tell how long it took.
 * inherited: the call began before this file, so its length is unknown. Returns 0 or DP_E_NOMEM. */
static int keep_start(struct dp_prof *prof, bool inherited)
{
    if (dp_mem_grow((void **)&prof->in.starts, &prof->in.starts_cap, prof->in.depth + 1,
                    sizeof *prof->in.starts)
        < 0)
        return DP_E_NOMEM;
    prof->in.starts[prof->in.depth] = inherited ? DP_PROF_NO_CALL : prof->in.now;
    return 0;
}

/* Begins a call of sub in the current frame. Returns 0 or a DP_E. */
DP_INLINE int push_call(struct dp_prof *prof, uint32_t sub, const bool detail)
{
    bool inherited = prof->in.file->inherited;
    uint32_t up = prof->in.stack[prof->in.depth].node;
    int64_t n = DP_UNLIKELY(prof->in.starting) ? up : kid_of(prof, up, sub);
    if (DP_UNLIKELY(n < 0))
        return (int)n;
    if (DP_UNLIKELY(inherited))
        prof->in.file->inherited--;
    else
        prof->nodes[n].calls++;
    if (DP_UNLIKELY(prof->in.depth + 2 > prof->in.stack_cap)) {
        if (prof->in.depth >= DP_LIMIT_DEPTH)
            return DP_E_LIMIT;
        if (dp_mem_grow((void **)&prof->in.stack, &prof->in.stack_cap, prof->in.depth + 2,
                        sizeof *prof->in.stack)
            < 0)
            return DP_E_NOMEM;
    }
    struct dp_frame *frame = &prof->in.stack[++prof->in.depth];
    frame->node = (uint32_t)n;
    frame->entered = sub;
    return detail ? keep_start(prof, inherited) : 0;
}

/* Ends a frame. Returns 1, or 0 if there was no frame, which is ignored. */
DP_INLINE int pop_call(struct dp_prof *prof, uint32_t named, bool check, struct dp_err *err,
                       const bool detail)
{
    if (DP_UNLIKELY(prof->in.depth == 0)) {
        if (prof->in.file->force)
            return 0;
        return dp_err_set(err, DP_E_SYNTAX, "Garbled profile, missing an enter time stamp");
    }
    if (DP_UNLIKELY(prof->in.suspended))
        prof->in.suspended--;
    else if (detail && prof->in.starts[prof->in.depth] != DP_PROF_NO_CALL
             && dp_prof_ended(prof, prof->in.stack[prof->in.depth].node,
                              prof->in.now - prof->in.starts[prof->in.depth])
                    < 0)
        return DP_E_NOMEM;
    struct dp_frame *frame = &prof->in.stack[prof->in.depth--];
    if (DP_UNLIKELY(check && named != frame->entered) && !prof->in.starting) {
        uint32_t sub = prof->nodes[frame->node].sub;
        if (named != sub && dp_file_odd_exit(prof->in.file, named, sub) < 0)
            return DP_E_NOMEM;
    }
    return 1;
}

/* Handles a goto, which replaces the running sub by another. The later exit names the sub that was
 * entered first. */
static DP_NOINLINE int follow_goto(struct dp_prof *prof, uint32_t sub, struct dp_err *err,
                                   bool detail)
{
    uint32_t entered = prof->in.depth ? prof->in.stack[prof->in.depth].entered : sub;
    int rc = pop_call(prof, sub, false, err, detail);
    if (rc >= 0)
        rc = push_call(prof, sub, detail);
    if (rc >= 0)
        prof->in.stack[prof->in.depth].entered = entered;
    return rc;
}

/* Lets the running calls continue in another phase, where they have contexts of their own. */
static int change_phase(struct dp_prof *prof, uint32_t phase)
{
    int64_t n = dp_prof_kid(prof, 0, phase, 0);
    if (n < 0)
        return (int)n;
    prof->nodes[n].calls++;
    struct dp_frame *stack = prof->in.stack;
    stack[0].node = (uint32_t)n;
    for (size_t i = 1; i <= prof->in.depth; i++) {
        n = dp_prof_kid(prof, stack[i - 1].node, prof->nodes[stack[i].node].sub, 0);
        if (n < 0)
            return (int)n;
        stack[i].node = (uint32_t)n;
    }
    return 0;
}

bool dp_prof_is_startup(const struct dp_prof *prof, uint32_t sub)
{
    const struct dp_name *name = dp_subs_text(&prof->subs, prof->subs.subs[sub].name);
    return prof->subs.subs[sub].phase && name->len == 5 && memcmp(name->ptr, "BEGIN", 5) == 0;
}

/* Begins or ends the start-up that is left out. Running calls have no contexts in it, and get them
 * when it ends. */
static int change_startup(struct dp_prof *prof, uint32_t phase)
{
    bool before = prof->in.starting;
    prof->in.starting = prof->only_main && dp_prof_is_startup(prof, phase);
    for (size_t i = 1; before && !prof->in.starting && i <= prof->in.depth; i++) {
        int64_t n = dp_prof_kid(prof, prof->in.stack[i - 1].node, prof->in.stack[i].entered, 0);
        if (n < 0)
            return (int)n;
        prof->in.stack[i].node = (uint32_t)n;
    }
    return 0;
}

/* Removes the times and calls of events up to the end of the start-up, which only_main leaves
 * out. */
static void leave_out_startup(struct dp_prof *prof, struct dp_event *ev, uint64_t *counts, size_t n)
{
    size_t n_counts = prof->in.file->head.n_counters;
    bool starting = prof->in.starting;
    for (size_t i = 0; i < n; i++) {
        if (starting) {
            memset(ev[i].t, 0, sizeof ev[i].t);
            if (counts)
                memset(counts + i * n_counts, 0, n_counts * sizeof *counts);
        }
        if (ev[i].op == DP_OP_PHASE)
            starting = dp_prof_is_startup(prof, ev[i].sub);
        else if (starting && ev[i].op == DP_OP_ENTER)
            ev[i].op = DP_OP_REENTER;
        else if (starting && ev[i].op == DP_OP_GOTO)
            ev[i].op = DP_OP_REGOTO;
    }
}

/* Handles the events that are rare, so that take_events stays small: notes about the recording, a
 * change of phase, and calls that began before this file or within the start-up, which do not count
 * as calls. */
static DP_NOINLINE int take_rare_event(struct dp_prof *prof, const struct dp_event *ev,
                                       struct dp_err *err, bool detail)
{
    if (ev->op == DP_OP_RESUME)
        prof->in.file->inherited = ev->sub;
    else if (ev->op == DP_OP_SUSPEND)
        prof->in.suspended = ev->sub;
    else if (ev->op == DP_OP_PHASE && (prof->only_main || prof->by_phase)) {
        int rc = change_startup(prof, ev->sub);
        return rc < 0 || prof->in.starting || !prof->by_phase ? rc : change_phase(prof, ev->sub);
    }
    if (ev->op < DP_OP_REENTER)
        return 0;
    prof->in.file->inherited += !prof->in.file->inherited;      /* the following code subtracts
                                                                 * one */
    return ev->op == DP_OP_REENTER ? push_call(prof, ev->sub, detail)
            : follow_goto(prof, ev->sub, err, detail);
}

/* Adds the times and counts of each event to the running context, then begins or ends calls. *bad:
 * the event at which it failed. detail: keeps the length of each call, too. */
DP_INLINE int take_events(struct dp_prof *prof, struct dp_event *ev, const uint64_t *counts,
                          size_t n, size_t *bad, struct dp_err *err, const bool detail)
{
    uint64_t total[DP_METRICS] = { 0, 0, 0 };
    const size_t n_counts = prof->in.file->head.n_counters;
    int rc = 0;
    if (prof->in.has_cost || prof->in.scale != 1)
        rc = prepare_events(prof, ev, n, bad, err);
    if (rc < 0)
        n = *bad;               /* the events before it count */
    size_t i;
    int step = 0;
    for (i = 0; i < n; i++) {
        uint32_t at = prof->in.stack[ev[i].op == DP_OP_REST ? 0 : prof->in.depth].node;
        struct dp_node *top = &prof->nodes[at];
        top->self[0] += ev[i].t[0];
        top->self[1] += ev[i].t[1];
        top->self[2] += ev[i].t[2];
        total[0] += ev[i].t[0];
        total[1] += ev[i].t[1];
        total[2] += ev[i].t[2];
        if (counts && (step = dp_prof_add_counts(prof, at, counts + i * n_counts)) < 0)
            break;
        if (detail) {
            prof->in.now += ev[i].t[DP_REAL];
            prof->chart_now += prof->chart ? dp_prof_ticks(ev[i].t, prof->chart_time) : 0;
        }
        if (ev[i].op == DP_OP_ENTER)
            step = push_call(prof, ev[i].sub, detail);
        else if (ev[i].op == DP_OP_LEAVE || ev[i].op == DP_OP_UNWIND)
            /* the id of the classic recorder's `/` is not reliable */
            step = pop_call(prof, ev[i].sub, ev[i].op == DP_OP_LEAVE, err, detail);
        else if (ev[i].op == DP_OP_GOTO)
            step = follow_goto(prof, ev[i].sub, err, detail);
        else if (DP_UNLIKELY(ev[i].op > DP_OP_GOTO))
            step = take_rare_event(prof, &ev[i], err, detail);
        if (DP_UNLIKELY(step < 0))
            break;
    }
    for (int m = 0; m < DP_METRICS; m++)
        prof->total[m] += total[m];
    if (step < 0) {
        *bad = i;
        if (step == DP_E_LIMIT)
            dp_err_set(err, step, "there are more than %lu calling contexts: an endless recursion?",
                       (unsigned long)DP_LIMIT_NODES);
        return step;
    }
    if (rc == 0)
        for (int m = 0; m < DP_METRICS; m++)
            if (prof->total[m] >= DP_LIMIT_TOTAL) {
                *bad = n - 1;
                return dp_err_set(err, DP_E_LIMIT, "the times add up to more than fits");
            }
    return rc;
}

/* Adds a batch of events to the profile. The slice of time, or the start-up that is left out,
 * changes the batch before. The calls of take_events differ in constants alone: each compiles to a
 * copy without the tests that its case does not need. */
static int on_events(void *ctx, struct dp_event *ev, uint64_t *counts, size_t n, size_t *bad,
                     struct dp_err *err)
{
    struct dp_prof *prof = ctx;
    if (DP_UNLIKELY(prof->window != NULL))
        dp_window_clip(prof->window, ev, counts, prof->in.file->head.n_counters, n);
    if (DP_UNLIKELY(prof->only_main))
        leave_out_startup(prof, ev, counts, n);
    if (DP_UNLIKELY(counts != NULL))
        return take_events(prof, ev, counts, n, bad, err, prof->detail || prof->chart);
    if (DP_UNLIKELY(prof->detail || prof->chart))
        return take_events(prof, ev, NULL, n, bad, err, true);
    return take_events(prof, ev, NULL, n, bad, err, false);
}

/* Tells the host how much of the file has been read. */
static int on_progress(void *ctx, uint64_t done, uint64_t total)
{
    struct dp_prof *prof = ctx;
    if (!prof->in.host || !prof->in.host->progress)
        return 0;
    return prof->in.host->progress(prof->in.host->ctx, done, total) < 0 ? DP_E_HOST : 0;
}

void dp_prof_consumer(struct dp_prof *prof, struct dp_consumer *to)
{
    to->ctx = prof;
    to->header = on_header;
    to->sub = on_sub;
    to->events = on_events;
    to->tree = on_tree;
    to->ids_anew = on_ids_anew;
    to->context = dp_prof_on_context;
    to->expect = dp_prof_on_expect;
    to->histogram = dp_prof_on_histogram;
    to->rows = dp_prof_on_rows;
    to->line = dp_prof_on_line;
    to->source = dp_prof_on_source;
    to->requests = dp_prof_on_requests;
    to->server = dp_prof_on_server;
    to->holder = dp_prof_on_holder;
    to->ticks = on_ticks;
    to->progress = on_progress;
}
