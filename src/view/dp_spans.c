/* Sums up spans by text, finds who calls them, and what one path executes again and again. */
#include "dprof/spans.h"
#include "dp_buf.h"
#include "dp_err.h"
#include "dp_flat.h"
#include "dp_library.h"
#include "dp_map.h"
#include "dp_mem.h"
#include "dp_prof.h"
#include "dp_sort.h"

#include <string.h>

/* A caller of a span outside of libraries. */
struct caller {
    uint32_t span, sub;         /* sub: DP_PROF_NO_SUB: the program */
    uint64_t incl, calls;
};

struct making {
    const struct dp_prof *prof;
    const struct dp_part *part;
    const struct dp_spans_how *how;
    const struct dp_spans_to *to;
    uint64_t *incl;             /* by node */
    struct dp_span_row *row;    /* by sub; calls, callers and incl are 0 for what is no span */
    bool *is_shown;             /* by sub: it is a span that is handed over */
    bool *is_used;              /* by sub: it has a context */
    struct dp_map kind_of;      /* number of the package's text -> kind */
    struct dp_span_kind *kinds;
    size_t n_kinds, kinds_cap;
    struct dp_map phase_of;     /* phase's context << 32 | kind -> phase */
    struct dp_span_phase *phases;
    size_t n_phases, phases_cap;
    struct dp_map caller_of;    /* span << 32 | sub -> caller */
    struct caller *callers;
    size_t n_callers, callers_cap;
    uint32_t *caller;           /* by sub: number of the caller that is shown */
    uint32_t *order;            /* of subs, for the sort */
    struct dp_buf label;
};

static struct dp_span_text text_of(const struct dp_prof *prof, uint32_t string)
{
    const struct dp_name *name = dp_subs_text(&prof->subs, string);
    return (struct dp_span_text){ name->ptr, name->len };
}

/* A context's own value in the wanted metric: a count, its calls, or ticks. Phases have no
 * calls. */
static uint64_t own_value(const struct making *m, uint32_t node)
{
    const struct dp_node *n = &m->prof->nodes[node];
    if (dp_metric_is_counter(m->how->metric))
        return dp_prof_count(m->prof, node, m->part->counter);
    if (m->how->metric == DP_M_CALLS)
        return n->sub == DP_PROF_NO_SUB || m->prof->subs.subs[n->sub].phase ? 0 : n->calls;
    return dp_flat_value(n, m->how->metric);
}

/* ---- sums ---- */

/* The context of the phase that a context runs in; 0: the profile has no phases. */
static uint32_t phase_of(const struct dp_prof *prof, uint32_t node)
{
    while (node && prof->nodes[node].parent)
        node = prof->nodes[node].parent;
    return node && prof->subs.subs[prof->nodes[node].sub].phase ? node : 0;
}

/* Chooses the spans to hand over, by sub, and makes their rows, still without values. Returns 0 or
 * DP_E_NOMEM. */
static int choose_spans(struct making *m)
{
    const struct dp_prof *prof = m->prof;
    size_t n = dp_subs_count(&prof->subs), len = m->how->kind ? strlen(m->how->kind) : 0;
    m->row = dp_mem_zalloc((n + 1) * sizeof *m->row);
    m->is_shown = dp_mem_zalloc((n + 1) * sizeof *m->is_shown);
    m->is_used = dp_mem_zalloc((n + 1) * sizeof *m->is_used);
    m->incl = dp_mem_zalloc((prof->count + 1) * sizeof *m->incl);
    if (!m->row || !m->is_shown || !m->is_used || !m->incl)
        return DP_E_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        const struct dp_sub *sub = &prof->subs.subs[i];
        struct dp_span_text kind = text_of(prof, sub->package);
        m->is_shown[i] = sub->span && (!m->part->flags || (m->part->flags[i] & DP_F_SHOWN))
            && (!m->how->kind || (kind.len == len && memcmp(kind.ptr, m->how->kind, len) == 0));
        if (m->is_shown[i])
            m->row[i] = (struct dp_span_row){
                .kind = kind, .text = text_of(prof, sub->name), .file = text_of(prof, sub->file),
                .line = sub->line, .rows = dp_prof_rows(prof, i),
            };
    }
    return 0;
}

/* Sets m->incl to the inclusive values of all contexts; callers precede their callees. */
static void sum_up(struct making *m)
{
    for (size_t i = m->prof->count; i-- > 0;) {
        m->incl[i] = dp_count_add(m->incl[i], own_value(m, (uint32_t)i));
        if (i)
            m->incl[m->prof->nodes[i].parent] =
                dp_count_add(m->incl[m->prof->nodes[i].parent], m->incl[i]);
    }
}

/* Finds or makes the kind of a span. NULL: memory is short. The pointer is valid up to the next
 * call. */
static struct dp_span_kind *kind_of(struct making *m, uint32_t sub)
{
    if (dp_mem_grow_cleared((void **)&m->kinds, &m->kinds_cap, m->n_kinds + 1,
                            sizeof *m->kinds) < 0)
        return NULL;
    struct dp_map_slot *slot = dp_map_put(&m->kind_of, m->prof->subs.subs[sub].package);
    if (slot && slot->value == DP_MAP_NONE) {
        m->kinds[m->n_kinds].kind = m->row[sub].kind;
        slot->value = (uint32_t)m->n_kinds++;
    }
    return slot ? &m->kinds[slot->value] : NULL;
}

/* What the contexts above a span show about it. */
struct above {
    bool same, kind;            /* the same span, or one of its kind, is among them */
    uint32_t caller;            /* nearest sub outside of libraries; DP_PROF_NO_SUB: none */
};

/* Looks at the contexts above a span, up to its phase. */
static struct above look_above(const struct making *m, uint32_t node)
{
    const struct dp_prof *prof = m->prof;
    const struct dp_subs *subs = &prof->subs;
    uint32_t sub = prof->nodes[node].sub;
    struct above a = { false, false, DP_PROF_NO_SUB };
    for (uint32_t at = prof->nodes[node].parent; at; at = prof->nodes[at].parent) {
        uint32_t up = prof->nodes[at].sub;
        if (subs->subs[up].phase)
            break;
        a.same = a.same || up == sub;
        a.kind = a.kind
            || (m->is_shown[up] && subs->subs[up].package == subs->subs[sub].package);
        if (a.caller == DP_PROF_NO_SUB && !dp_library_has(subs, up))
            a.caller = up;
    }
    return a;
}

/* Adds calls and time to those of a span by a caller, which is made if it is new. Returns 0 or
 * DP_E_NOMEM. */
static int count_caller(struct making *m, uint32_t span, uint32_t sub, uint64_t calls,
                        uint64_t incl)
{
    if (dp_mem_grow_cleared((void **)&m->callers, &m->callers_cap, m->n_callers + 1,
                            sizeof *m->callers) < 0)
        return DP_E_NOMEM;
    struct dp_map_slot *slot = dp_map_put(&m->caller_of, (uint64_t)span << 32 | sub);
    if (!slot)
        return DP_E_NOMEM;
    if (slot->value == DP_MAP_NONE) {
        m->callers[m->n_callers] = (struct caller){ .span = span, .sub = sub };
        slot->value = (uint32_t)m->n_callers++;
        m->row[span].callers++;
    }
    m->callers[slot->value].incl = dp_count_add(m->callers[slot->value].incl, incl);
    m->callers[slot->value].calls = dp_count_add(m->callers[slot->value].calls, calls);
    return 0;
}

/* Adds calls of a kind of spans to those of the phase that a context runs in. Returns 0 or
 * DP_E_NOMEM. */
static int count_phase(struct making *m, uint32_t node, const struct dp_span_kind *kind)
{
    const struct dp_prof *prof = m->prof;
    uint32_t phase = phase_of(prof, node);
    if (dp_mem_grow_cleared((void **)&m->phases, &m->phases_cap, m->n_phases + 1,
                            sizeof *m->phases) < 0)
        return DP_E_NOMEM;
    struct dp_map_slot *slot =
        dp_map_put(&m->phase_of, (uint64_t)phase << 32 | (uint32_t)(kind - m->kinds));
    if (!slot)
        return DP_E_NOMEM;
    if (slot->value == DP_MAP_NONE) {
        struct dp_span_phase *p = &m->phases[m->n_phases];
        p->kind = kind->kind;
        p->phase = phase ? text_of(prof, prof->subs.subs[prof->nodes[phase].sub].name)
                         : (struct dp_span_text){ "", 0 };
        slot->value = (uint32_t)m->n_phases++;
    }
    uint64_t *calls = &m->phases[slot->value].calls;
    *calls = dp_count_add(*calls, prof->nodes[node].calls);
    return 0;
}

/* Adds a context of a span to the sums of its row, its kind, its phase and its caller. Time inside
 * of the same span, or of its kind, is not added twice. Returns 0 or DP_E_NOMEM. */
static int count_span(struct making *m, uint32_t node)
{
    const struct dp_node *n = &m->prof->nodes[node];
    struct above a = look_above(m, node);
    struct dp_span_kind *kind = kind_of(m, n->sub);
    struct dp_span_row *row = &m->row[n->sub];
    uint64_t longest = dp_prof_extra(m->prof, node).longest, incl = a.same ? 0 : m->incl[node];
    if (!kind)
        return DP_E_NOMEM;
    kind->texts += !m->is_used[n->sub];
    m->is_used[n->sub] = true;
    kind->calls = dp_count_add(kind->calls, n->calls);
    kind->incl = dp_count_add(kind->incl, a.kind ? 0 : m->incl[node]);
    row->calls = dp_count_add(row->calls, n->calls);
    row->self = dp_count_add(row->self, own_value(m, node));
    row->incl = dp_count_add(row->incl, incl);
    row->longest = longest > row->longest ? longest : row->longest;
    int rc = count_phase(m, node, kind);
    return rc < 0 ? rc : count_caller(m, n->sub, a.caller, n->calls, incl);
}

static bool is_span(const struct making *m, uint32_t node)
{
    return node && m->is_shown[m->prof->nodes[node].sub];
}

static int count_spans(struct making *m)
{
    int rc = 0;
    for (uint32_t i = 1; i < m->prof->count && rc == 0; i++)
        rc = is_span(m, i) ? count_span(m, i) : 0;
    return rc;
}

/* ---- rows ---- */

static int compare_texts(struct dp_span_text a, struct dp_span_text b)
{
    const struct dp_name x = { a.ptr, a.len }, y = { b.ptr, b.len };
    return dp_name_compare(&x, &y);
}

static int compare_spans(const struct dp_span_row *a, const struct dp_span_row *b)
{
    int c = compare_texts(a->kind, b->kind);
    c = c ? c : compare_texts(a->text, b->text);
    c = c ? c : compare_texts(a->file, b->file);
    return c ? c : (a->line > b->line) - (a->line < b->line);
}

static int compare_rows(const void *ctx, uint32_t x, uint32_t y)
{
    const struct making *m = ctx;
    const struct dp_span_row *a = &m->row[x], *b = &m->row[y];
    int c = (a->incl < b->incl) - (a->incl > b->incl);
    c = c ? c : (a->calls < b->calls) - (a->calls > b->calls);
    return c ? c : compare_spans(a, b);
}

static int compare_kinds(const void *ctx, uint32_t x, uint32_t y)
{
    const struct making *m = ctx;
    const struct dp_span_kind *a = &m->kinds[x], *b = &m->kinds[y];
    int c = (a->incl < b->incl) - (a->incl > b->incl);
    return c ? c : compare_texts(a->kind, b->kind);
}

/* Hands over the kinds, the one with the most time first, and the phases. Returns 0, a DP_E, or
 * what the receiver returned to end it. */
static int give_kinds(struct making *m)
{
    uint32_t *order = dp_sort_order(m->n_kinds, compare_kinds, m);
    int rc = order ? 0 : DP_E_NOMEM;
    for (size_t i = 0; i < m->n_kinds && rc == 0; i++)
        rc = m->to->kind(m->to->ctx, &m->kinds[order[i]]);
    for (size_t i = 0; i < m->n_phases && rc == 0; i++)
        rc = m->to->phase(m->to->ctx, &m->phases[i]);
    dp_mem_free(order);
    return rc;
}

/* Finds the caller that each row shows: the one with the most time, among these the one with the
 * most calls, and among these the first that was met. Returns 0 or DP_E_NOMEM. */
static int find_callers(struct making *m)
{
    m->caller = dp_mem_realloc(NULL, dp_subs_count(&m->prof->subs) + 1, sizeof *m->caller);
    if (!m->caller)
        return DP_E_NOMEM;
    for (size_t i = m->n_callers; i-- > 0;) {
        const struct caller *c = &m->callers[i],
                            *best = m->row[c->span].caller.len ? &m->callers[m->caller[c->span]]
                                                               : NULL;
        m->row[c->span].caller.len = 1;         /* there is one; give_rows makes its label */
        if (!best || c->incl > best->incl || (c->incl == best->incl && c->calls >= best->calls))
            m->caller[c->span] = (uint32_t)i;
    }
    return 0;
}

static struct dp_span_text label_of(struct making *m, uint32_t sub)
{
    dp_buf_clear(&m->label);
    if (sub == DP_PROF_NO_SUB)
        dp_buf_adds(&m->label, DP_FMT_PROGRAM);
    else
        dp_subs_label(&m->prof->subs, sub, m->how->label_flags, &m->label);
    return (struct dp_span_text){ m->label.ptr, m->label.len };
}

/* Hands over the rows of spans that ran, the one with the most time first. Returns 0, a DP_E, or
 * what the receiver returned to end it. */
static int give_rows(struct making *m)
{
    size_t n = dp_subs_count(&m->prof->subs);
    int rc = find_callers(m);
    m->order = dp_sort_order(n, compare_rows, m);
    if (!m->order)
        return DP_E_NOMEM;
    for (size_t i = 0; i < n && rc == 0; i++) {
        uint32_t sub = m->order[i];
        if (!m->is_used[sub])
            continue;
        m->row[sub].caller = label_of(m, m->callers[m->caller[sub]].sub);
        rc = m->label.err ? DP_E_NOMEM : m->to->row(m->to->ctx, &m->row[sub]);
    }
    return rc;
}

/* ---- what repeats ---- */

/* How often a phase ran that the program marks: the number of its requests that are in the profile,
 * or how often it began. perl's own phases run once: a program returns to main after each request,
 * but what main executes may all have come before the first. */
static uint64_t begun(const struct dp_prof *prof, uint32_t phase)
{
    uint64_t n = prof->nodes[phase].calls;
    if (phase) {
        const struct dp_name *name =
            dp_subs_text(&prof->subs, prof->subs.subs[prof->nodes[phase].sub].name);
        if (dp_phase_is_of_perl(name))
            return 1;
        uint32_t requests = dp_pool_lookup(&prof->request_names, name->ptr, name->len);
        if (requests != DP_MAP_NONE && prof->requests[requests].kept)
            n = prof->requests[requests].kept;
    }
    return n ? n : 1;
}

struct repeats {
    struct making *m;
    uint32_t *nodes;
    size_t n, cap;
    struct dp_span_text *path, *own;
    size_t path_cap, own_cap, n_own;
    struct dp_buf labels;
};

static int compare_repeats(const void *ctx, uint32_t x, uint32_t y)
{
    const struct repeats *r = ctx;
    const struct dp_node *nodes = r->m->prof->nodes, *a = &nodes[x], *b = &nodes[y];
    int c = (a->calls < b->calls) - (a->calls > b->calls);
    c = c ? c : compare_spans(&r->m->row[a->sub], &r->m->row[b->sub]);
    return c ? c : (x > y) - (x < y);
}

/* Makes the labels of the contexts above a span, up to the phase, and finds those of the program
 * itself. Returns their number, or a DP_E. */
static int64_t make_path(struct repeats *r, uint32_t node, uint32_t phase)
{
    const struct dp_node *nodes = r->m->prof->nodes;
    size_t n = 0, at = 0;
    for (uint32_t i = nodes[node].parent; i && i != phase; i = nodes[i].parent)
        n++;
    if (dp_mem_grow((void **)&r->path, &r->path_cap, n + 1, sizeof *r->path) < 0
        || dp_mem_grow((void **)&r->own, &r->own_cap, n + 1, sizeof *r->own) < 0)
        return DP_E_NOMEM;
    dp_buf_clear(&r->labels);
    size_t k = n;
    for (uint32_t i = nodes[node].parent; i && i != phase; i = nodes[i].parent) {
        dp_subs_label(&r->m->prof->subs, nodes[i].sub, r->m->how->label_flags, &r->labels);
        r->path[--k].len = r->labels.len - at;
        at = r->labels.len;
    }
    if (r->labels.err)
        return DP_E_NOMEM;
    /* the text of labels stays where it is from now on; the nearest caller comes first in it */
    for (k = n, at = 0; k-- > 0; at += r->path[k].len)
        r->path[k].ptr = r->labels.ptr + at;
    r->n_own = n;
    k = n;
    for (uint32_t i = nodes[node].parent; i && i != phase; i = nodes[i].parent)
        if (k-- && !dp_library_has(&r->m->prof->subs, nodes[i].sub))
            r->own[--r->n_own] = r->path[k];
    return (int64_t)n;
}

/* Hands over one context of a span that repeats, with the labels of its path. Returns 0, a DP_E, or
 * what the receiver returned to end it. */
static int give_repeat(struct repeats *r, uint32_t node)
{
    const struct dp_prof *prof = r->m->prof;
    const struct dp_span_row *row = &r->m->row[prof->nodes[node].sub];
    uint32_t phase = phase_of(prof, node);
    int64_t n = make_path(r, node, phase);
    if (n < 0)
        return (int)n;
    struct dp_span_repeat repeat = {
        .kind = row->kind, .text = row->text, .phase = { "", 0 },
        .calls = prof->nodes[node].calls, .begun = begun(prof, phase),
        .path = r->path, .n_path = (size_t)n,
        .own = r->own + r->n_own, .n_own = (size_t)n - r->n_own,
    };
    if (phase)
        repeat.phase = text_of(prof, prof->subs.subs[prof->nodes[phase].sub].name);
    return r->m->to->repeat(r->m->to->ctx, &repeat);
}

/* Does a path execute a text more often than allowed, each time that its phase ran? */
static bool repeats_much(const struct making *m, uint32_t node)
{
    uint64_t calls = m->prof->nodes[node].calls;
    return calls > m->how->repeated
        && (double)calls > (double)m->how->repeated
            * (double)begun(m->prof, phase_of(m->prof, node));
}

/* Hands over the contexts of spans that repeat, the one with the most calls first. Returns 0, a
 * DP_E, or what the receiver returned to end it. */
static int give_repeats(struct making *m)
{
    struct repeats r = { .m = m };
    int rc = 0;
    dp_buf_init(&r.labels);
    for (uint32_t i = 1; i < m->prof->count && rc == 0 && m->how->repeated; i++) {
        if (!is_span(m, i) || !repeats_much(m, i))
            continue;
        rc = dp_mem_grow((void **)&r.nodes, &r.cap, r.n + 1, sizeof *r.nodes);
        if (rc == 0)
            r.nodes[r.n++] = i;
    }
    if (rc == 0 && r.n)
        dp_sort_u32(r.nodes, r.n, compare_repeats, &r);
    for (size_t i = 0; i < r.n && rc == 0; i++)
        rc = give_repeat(&r, r.nodes[i]);
    dp_mem_free(r.nodes);
    dp_mem_free(r.path);
    dp_mem_free(r.own);
    dp_buf_release(&r.labels);
    return rc;
}

int dp_spans_each(const struct dp_part *part, const struct dp_spans_how *how,
                  const struct dp_spans_to *to)
{
    struct making m = { .prof = part->prof, .part = part, .how = how, .to = to };
    dp_map_init(&m.kind_of);
    dp_map_init(&m.caller_of);
    dp_map_init(&m.phase_of);
    dp_buf_init(&m.label);
    int rc = choose_spans(&m);
    if (rc == 0) {
        sum_up(&m);
        rc = count_spans(&m);
    }
    rc = rc == 0 ? give_kinds(&m) : rc;
    rc = rc == 0 ? give_rows(&m) : rc;
    rc = rc == 0 ? give_repeats(&m) : rc;
    dp_mem_free(m.row);
    dp_mem_free(m.is_shown);
    dp_mem_free(m.is_used);
    dp_mem_free(m.incl);
    dp_mem_free(m.kinds);
    dp_mem_free(m.callers);
    dp_mem_free(m.phases);
    dp_mem_free(m.caller);
    dp_mem_free(m.order);
    dp_map_release(&m.kind_of);
    dp_map_release(&m.caller_of);
    dp_map_release(&m.phase_of);
    dp_buf_release(&m.label);
    return rc;
}
