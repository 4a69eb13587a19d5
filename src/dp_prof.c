#include "dp_prof.h"
#include "dp_mem.h"

#include <string.h>

/* ---- the tree ---- */

static int64_t new_node(struct dp_prof *prof, uint32_t parent, uint32_t sub)
{
    if (DP_UNLIKELY(prof->count >= DP_LIMIT_NODES))
        return DP_E_LIMIT;
    if (DP_UNLIKELY(prof->count == prof->cap)
        && dp_mem_grow((void **)&prof->nodes, &prof->cap, prof->count + 1, sizeof *prof->nodes) < 0)
        return DP_E_NOMEM;
    uint32_t n = (uint32_t)prof->count;
    struct dp_node *node = &prof->nodes[n];
    memset(node, 0, sizeof *node);
    node->sub = sub;
    node->parent = parent;
    if (n == 0) {
        prof->count++;
        return 0;
    }
    struct dp_node *up = &prof->nodes[parent];
    if (!up->kid) {
        up->kid = n;
    } else {
        struct dp_map_slot *slot = dp_map_put(&prof->kids, (uint64_t)parent << 32 | sub);
        if (!slot)
            return DP_E_NOMEM;
        slot->value = n;
        /* behind the first kid, which stays first: it is not in the map */
        node->sibling = prof->nodes[up->kid].sibling;
        prof->nodes[up->kid].sibling = n;
    }
    prof->count++;
    return n;
}

static DP_NOINLINE int64_t find_or_new(struct dp_prof *prof, uint32_t parent, uint32_t sub)
{
    uint32_t first = prof->nodes[parent].kid;
    if (first && prof->nodes[first].sub == sub)
        return first;
    if (first) {
        struct dp_map_slot *slot = dp_map_find(&prof->kids, (uint64_t)parent << 32 | sub);
        if (slot)
            return slot->value;
    }
    return new_node(prof, parent, sub);
}

/* Programs repeat themselves: the kid is mostly the one that was entered last,
 * or the one that followed it the last time. */
DP_INLINE int64_t kid_of(struct dp_prof *prof, uint32_t parent, uint32_t sub)
{
    uint32_t last = prof->nodes[parent].hint;
    if (DP_LIKELY(last)) {
        if (prof->nodes[last].sub == sub)
            return last;
        uint32_t next = prof->nodes[last].succ;
        if (next && prof->nodes[next].sub == sub)
            return prof->nodes[parent].hint = next;
    }
    int64_t n = find_or_new(prof, parent, sub);
    if (n < 0)
        return n;
    if (last)
        prof->nodes[last].succ = (uint32_t)n;
    prof->nodes[parent].hint = (uint32_t)n;
    return n;
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

/* Factors that bring two tick rates to one; false where they do not fit. */
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
    prof->hz *= by;
    return 0;
}

static int on_header(void *ctx, const struct dp_header *head, struct dp_err *err)
{
    struct dp_prof *prof = ctx;
    uint64_t ours = 1;
    prof->scale = 1;
    if (!prof->hz) {
        prof->hz = head->hz;
    } else if (prof->hz != head->hz) {
        if (!common_hz(prof->hz, head->hz, &ours, &prof->scale))
            return dp_err_set(err, DP_E_LIMIT, "its ticks ($hz=%llu) do not go with those of the other files ($hz=%llu)",
                              (unsigned long long)head->hz, (unsigned long long)prof->hz);
        if (ours > 1 && scale_all(prof, ours) < 0)
            return dp_err_set(err, DP_E_LIMIT, "the times add up to more than fits");
    }
    prof->file->inherited = head->inherited;
    prof->has_cost = head->over[0] || head->over[1] || head->over[2];
    memset(prof->carry, 0, sizeof prof->carry);
    return 0;
}

static int64_t on_sub(void *ctx, const struct dp_subdef *def)
{
    struct dp_prof *prof = ctx;
    return dp_subs_add(&prof->subs, def);
}

/* Takes the classic recorder's cost off the interval that ends at a mark; what
 * the division leaves is carried, so that the costs add up. */
static void subtract_cost(struct dp_prof *prof, struct dp_event *ev)
{
    const struct dp_header *head = &prof->file->head;
    uint64_t per = 2 * head->over_tests;
    for (int m = 0; m < DP_METRICS; m++) {
        prof->carry[m] += head->over[m];
        uint64_t cost = prof->carry[m] / per;
        prof->carry[m] %= per;
        ev->t[m] -= cost < ev->t[m] ? cost : ev->t[m];
    }
}

static int prepare(struct dp_prof *prof, struct dp_event *ev, size_t n, size_t *bad, struct dp_err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (prof->has_cost && ev[i].op >= DP_OP_ENTER)
            subtract_cost(prof, &ev[i]);
        for (int m = 0; m < DP_METRICS; m++) {
            if (ev[i].t[m] >= DP_LIMIT_INTERVAL / prof->scale) {
                *bad = i;
                return dp_err_set(err, DP_E_LIMIT, "the times add up to more than fits");
            }
            ev[i].t[m] *= prof->scale;
        }
    }
    return 0;
}

DP_INLINE int push(struct dp_prof *prof, uint32_t sub)
{
    int64_t n = kid_of(prof, prof->stack[prof->depth].node, sub);
    if (DP_UNLIKELY(n < 0))
        return (int)n;
    if (DP_UNLIKELY(prof->file->inherited))
        prof->file->inherited--;
    else
        prof->nodes[n].calls++;
    if (DP_UNLIKELY(prof->depth + 2 > prof->stack_cap)) {
        if (prof->depth >= DP_LIMIT_DEPTH)
            return DP_E_LIMIT;
        if (dp_mem_grow((void **)&prof->stack, &prof->stack_cap, prof->depth + 2, sizeof *prof->stack) < 0)
            return DP_E_NOMEM;
    }
    struct dp_frame *frame = &prof->stack[++prof->depth];
    frame->node = (uint32_t)n;
    frame->entered = sub;
    return 0;
}

/* A frame ends. 1: it did; 0: there was none, and that is to be overlooked. */
DP_INLINE int pop(struct dp_prof *prof, uint32_t named, bool check, struct dp_err *err)
{
    if (DP_UNLIKELY(prof->depth == 0)) {
        if (prof->file->force)
            return 0;
        return dp_err_set(err, DP_E_SYNTAX, "Garbled profile, missing an enter time stamp");
    }
    struct dp_frame *frame = &prof->stack[prof->depth--];
    if (DP_UNLIKELY(check && named != frame->entered)) {
        uint32_t sub = prof->nodes[frame->node].sub;
        if (named != sub && dp_file_odd_exit(prof->file, named, sub) < 0)
            return DP_E_NOMEM;
    }
    return 1;
}

/* goto: the call that ends it later carries the sub first entered. */
static DP_NOINLINE int jump(struct dp_prof *prof, uint32_t sub, struct dp_err *err)
{
    uint32_t entered = prof->depth ? prof->stack[prof->depth].entered : sub;
    int rc = pop(prof, sub, false, err);
    if (rc >= 0)
        rc = push(prof, sub);
    if (rc >= 0)
        prof->stack[prof->depth].entered = entered;
    return rc;
}

static int on_events(void *ctx, struct dp_event *ev, size_t n, size_t *bad, struct dp_err *err)
{
    struct dp_prof *prof = ctx;
    uint64_t total[DP_METRICS] = { 0, 0, 0 };
    int rc = 0;
    if (prof->has_cost || prof->scale != 1)
        rc = prepare(prof, ev, n, bad, err);
    if (rc < 0)
        n = *bad;               /* what came before it counts */
    size_t i;
    int step = 0;
    for (i = 0; i < n; i++) {
        uint32_t at = ev[i].op == DP_OP_REST ? 0 : prof->stack[prof->depth].node;
        struct dp_node *top = &prof->nodes[at];
        top->self[0] += ev[i].t[0];
        top->self[1] += ev[i].t[1];
        top->self[2] += ev[i].t[2];
        total[0] += ev[i].t[0];
        total[1] += ev[i].t[1];
        total[2] += ev[i].t[2];
        if (ev[i].op == DP_OP_ENTER)
            step = push(prof, ev[i].sub);
        else if (ev[i].op == DP_OP_LEAVE || ev[i].op == DP_OP_UNWIND)
            /* the classic recorder's `/` carries no id to trust */
            step = pop(prof, ev[i].sub, ev[i].op == DP_OP_LEAVE, err);
        else if (ev[i].op == DP_OP_GOTO)
            step = jump(prof, ev[i].sub, err);
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

static int on_progress(void *ctx, uint64_t done, uint64_t total)
{
    struct dp_prof *prof = ctx;
    if (!prof->host || !prof->host->progress)
        return 0;
    return prof->host->progress(prof->host->ctx, done, total) < 0 ? DP_E_HOST : 0;
}

void dp_prof_consumer(struct dp_prof *prof, struct dp_consumer *to)
{
    to->ctx = prof;
    to->header = on_header;
    to->sub = on_sub;
    to->events = on_events;
    to->progress = on_progress;
}

/* ---- the profile ---- */

struct dp_prof *dp_prof_new(void)
{
    struct dp_prof *prof = dp_mem_zalloc(sizeof *prof);
    if (!prof)
        return NULL;
    dp_subs_init(&prof->subs);
    dp_map_init(&prof->kids);
    prof->scale = 1;
    if (new_node(prof, 0, DP_PROF_NO_SUB) < 0
        || dp_mem_grow((void **)&prof->stack, &prof->stack_cap, 64, sizeof *prof->stack) < 0) {
        dp_prof_free(prof);
        return NULL;
    }
    prof->stack[0].node = 0;
    prof->stack[0].entered = DP_PROF_NO_SUB;
    return prof;
}

void dp_prof_free(struct dp_prof *prof)
{
    if (!prof)
        return;
    for (size_t i = 0; i < prof->n_files; i++)
        dp_file_release(&prof->files[i]);
    dp_mem_free(prof->files);
    dp_mem_free(prof->stack);
    dp_mem_free(prof->nodes);
    dp_map_release(&prof->kids);
    dp_subs_release(&prof->subs);
    dp_mem_free(prof);
}

/* Frames that never ended; their times are where they belong already. */
static int list_open(struct dp_prof *prof, struct dp_file *file)
{
    size_t n = prof->depth < DP_FILE_LISTED ? prof->depth : DP_FILE_LISTED;
    file->open = prof->depth;
    prof->depth = 0;
    if (!n)
        return 0;
    file->open_subs = dp_mem_realloc(NULL, n, sizeof *file->open_subs);
    if (!file->open_subs)
        return DP_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        file->open_subs[i] = prof->nodes[prof->stack[i + 1].node].sub;
    file->open_listed = n;
    return 0;
}

static struct dp_file *new_file(struct dp_prof *prof, const char *path, unsigned flags)
{
    if (dp_mem_grow((void **)&prof->files, &prof->files_cap, prof->n_files + 1, sizeof *prof->files) < 0)
        return NULL;
    struct dp_file *file = &prof->files[prof->n_files];
    if (dp_file_init(file, path, flags) < 0)
        return NULL;
    prof->n_files++;
    return file;
}

static int add(struct dp_prof *prof, const char *path, const void *mem, size_t len, unsigned flags,
               const struct dp_host *host)
{
    struct dp_consumer to;
    struct dp_file *file = new_file(prof, path, flags);
    if (!file)
        return DP_E_NOMEM;
    prof->file = file;
    prof->host = host;
    prof->depth = 0;
    prof->has_cost = false;
    dp_subs_next_file(&prof->subs);
    dp_prof_consumer(prof, &to);
    int rc = dp_file_read(file, &to, mem, len);
    if (file->info.marks || rc == 0)
        prof->nodes[0].calls++;
    if (list_open(prof, file) < 0 && rc >= 0)
        rc = file->code = dp_err_set(&file->err, DP_E_NOMEM, "%s", dp_err_text(DP_E_NOMEM));
    prof->file = NULL;
    prof->host = NULL;
    return rc;
}

int dp_prof_add(struct dp_prof *prof, const char *path, unsigned flags, const struct dp_host *host)
{
    return add(prof, path, NULL, 0, flags, host);
}

int dp_prof_add_mem(struct dp_prof *prof, const char *path, const void *ptr, size_t len, unsigned flags)
{
    return add(prof, path, ptr, len, flags, NULL);
}

int dp_prof_add_header(struct dp_prof *prof, const char *path)
{
    struct dp_file *file = new_file(prof, path, 0);
    return file ? dp_file_read_header(file) : DP_E_NOMEM;
}

size_t dp_prof_files(const struct dp_prof *prof) { return prof->n_files; }
uint64_t dp_prof_hz(const struct dp_prof *prof) { return prof->hz ? prof->hz : DP_FMT_HZ_DEFAULT; }
size_t dp_prof_contexts(const struct dp_prof *prof) { return prof->count; }

void dp_prof_outcome(const struct dp_prof *prof, size_t file, struct dp_outcome *out)
{
    dp_file_outcome(&prof->files[file], out);
}

int dp_prof_var(const struct dp_prof *prof, size_t file, size_t k,
                const char **name, const char **value, size_t *value_len)
{
    const struct dp_header *head = &prof->files[file].head;
    if (k >= head->count)
        return 0;
    *name = head->vars[k].name;
    *value = head->vars[k].value;
    *value_len = head->vars[k].len;
    return 1;
}

uint64_t dp_prof_total(const struct dp_prof *prof, int time)
{
    switch (time) {
    case DP_T_USER:   return prof->total[DP_USER];
    case DP_T_SYSTEM: return prof->total[DP_SYSTEM];
    case DP_T_REAL:   return prof->total[DP_REAL];
    }
    return prof->total[DP_USER] + prof->total[DP_SYSTEM];
}
