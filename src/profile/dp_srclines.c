/* Computes the costs of lines. The inclusive time of a line is its own time plus that of its
 * callees, with recursion counted once: only the outermost of the contexts called from the line
 * count. If the sub of the line is called again below such a context, that context contains a part
 * of the line's own time already. The amount is not recorded, because statements do not distinguish
 * contexts. It is estimated by the share of the sub's own time that lies below such contexts.
 * Without recursion the result is exact.
 *
 * The time of an XS sub, a builtin or a span is the calling statement's own. So such contexts add
 * nothing, and the subs that they call back count as called from the line. */
#include "dp_srclines.h"
#include "dp_mem.h"
#include "dp_prof_lines.h"
#include "dp_sort.h"

#include <string.h>

/* A sub's part of a line. */
struct part {
    uint32_t sub, next;         /* next: next part of the line; UINT32_MAX: none */
    uint32_t outer;             /* see running */
    uint64_t self[DP_METRICS];
    uint64_t below;             /* own real ticks of the sub below calls from the line */
};

struct making {
    const struct dp_prof *prof;
    struct dp_srclines *s;
    size_t cap, calls_cap, call_counts_cap;
    struct dp_map of;           /* site << 32 | sub -> line */
    struct dp_map edges;        /* line << 32 | sub -> call */
    uint64_t (*incl)[DP_METRICS];       /* by node */
    uint64_t *incl_counts;      /* n_counters by node */
    bool by_sub;
    struct part *parts;
    size_t n_parts, parts_cap;
    struct dp_map part_of;      /* line << 32 | sub -> part */
    uint32_t *first_part;       /* by line; UINT32_MAX: none */
    size_t first_part_cap;
    uint32_t *active;           /* by line: number of running contexts called from it */
    size_t active_cap;
    uint32_t *edge_active;      /* by call: the same number */
    size_t edge_active_cap;
    uint64_t *own;              /* by sub: own real ticks */
    uint32_t *running;          /* by sub: its part of the innermost active line; the others follow
                                 * by `outer`. UINT32_MAX: none */
};

void dp_srclines_place(const struct dp_prof *prof, uint32_t site, const char **file, size_t *len,
                       uint64_t *line)
{
    *file = "";
    *len = 0;
    *line = 0;
    if (!site)
        return;
    const struct dp_name *at = dp_pool_name(&prof->sites, site - 1);
    struct dp_fmt_place place = dp_fmt_place(at->ptr, at->len);
    *file = place.file;
    *len = place.len;
    *line = place.line;
}

static bool has_no_lines(const struct dp_prof *prof, uint32_t node)
{
    return dp_subs_has_no_lines(&prof->subs.subs[prof->nodes[node].sub]);
}

uint32_t dp_srclines_caller(const struct dp_prof *prof, uint32_t node)
{
    uint32_t at = prof->nodes[node].parent;
    while (at && has_no_lines(prof, at))
        at = prof->nodes[at].parent;
    return at && !prof->subs.subs[prof->nodes[at].sub].phase ? prof->nodes[at].sub
                                                             : DP_PROF_NO_SUB;
}

/* The index of a line, which is made if it is new. */
static int64_t line_of(struct making *m, uint32_t site, uint32_t sub)
{
    struct dp_srclines *s = m->s;
    if (!m->by_sub)
        sub = DP_PROF_NO_SUB;
    /* Make room first, here and below, so that the map has no entry without its element if
     * something fails. */
    if (dp_mem_grow_cleared((void **)&s->lines, &m->cap, s->count + 1, sizeof *s->lines) < 0
        || dp_mem_grow_cleared((void **)&m->active, &m->active_cap, s->count + 1,
                               sizeof *m->active) < 0
        || dp_mem_grow_cleared((void **)&m->first_part, &m->first_part_cap, s->count + 1,
                sizeof *m->first_part) < 0)
        return DP_E_NOMEM;
    struct dp_map_slot *slot = dp_map_put(&m->of, (uint64_t)site << 32 | sub);
    if (!slot)
        return DP_E_NOMEM;
    if (slot->value != DP_MAP_NONE)
        return slot->value;
    m->first_part[s->count] = UINT32_MAX;
    s->lines[s->count].site = site;
    s->lines[s->count].sub = sub;
    slot->value = (uint32_t)s->count;
    return (int64_t)s->count++;
}

/* A sub's part of a line, which is made if it is new; NULL when memory is short. */
static struct part *part_of(struct making *m, uint32_t line, uint32_t sub)
{
    if (dp_mem_grow_cleared((void **)&m->parts, &m->parts_cap, m->n_parts + 1,
                            sizeof *m->parts) < 0)
        return NULL;
    struct dp_map_slot *slot = dp_map_put(&m->part_of, (uint64_t)line << 32 | sub);
    if (!slot)
        return NULL;
    if (slot->value != DP_MAP_NONE)
        return &m->parts[slot->value];
    struct part *part = &m->parts[m->n_parts];
    part->sub = sub;
    part->next = m->first_part[line];
    slot->value = m->first_part[line] = (uint32_t)m->n_parts++;
    return part;
}

/* The index of the calls of a sub from a line, which is made if it is new. */
static int64_t call_of(struct making *m, uint32_t line, uint32_t sub)
{
    struct dp_srclines *s = m->s;
    if (dp_mem_grow_cleared((void **)&s->calls, &m->calls_cap, s->n_calls + 1, sizeof *s->calls) < 0
        || dp_mem_grow_cleared((void **)&m->edge_active, &m->edge_active_cap, s->n_calls + 1,
                sizeof *m->edge_active) < 0
        || dp_mem_grow_cleared((void **)&s->call_counts, &m->call_counts_cap,
                               (s->n_calls + 1) * m->prof->n_counters, sizeof *s->call_counts) < 0)
        return DP_E_NOMEM;
    struct dp_map_slot *slot = dp_map_put(&m->edges, (uint64_t)line << 32 | sub);
    if (!slot)
        return DP_E_NOMEM;
    if (slot->value != DP_MAP_NONE)
        return slot->value;
    s->calls[s->n_calls].line = line;
    s->calls[s->n_calls].sub = sub;
    slot->value = (uint32_t)s->n_calls;
    return (int64_t)s->n_calls++;
}

/* Makes a line for each place that has statements, and adds up their own times and counts. */
static int take_statements(struct making *m)
{
    const struct dp_prof *prof = m->prof;
    for (uint32_t i = 0; i < prof->n_lines; i++) {
        const struct dp_prof_line *from = &prof->lines[i];
        int64_t n = line_of(m, from->site, from->sub);
        if (n < 0)
            return (int)n;
        struct dp_srcline *line = &m->s->lines[n];
        struct part *part = part_of(m, (uint32_t)n, from->sub);
        if (!part)
            return DP_E_NOMEM;
        line->count += from->count;
        line->statements++;
        for (int t = 0; t < DP_METRICS; t++)
            line->self[t] += from->self[t], part->self[t] += from->self[t];
    }
    return 0;
}

/* Computes inclusive times of nodes. A kid's number is greater than its parent's. */
static void sum_up_contexts(struct making *m)
{
    const struct dp_prof *prof = m->prof;
    size_t n_counters = prof->n_counters;
    for (size_t i = 0; i < prof->count; i++) {
        memcpy(m->incl[i], prof->nodes[i].self, sizeof m->incl[i]);
        for (size_t k = 0; k < n_counters; k++)
            m->incl_counts[i * n_counters + k] = dp_prof_count(prof, (uint32_t)i, k);
        if (i)
            m->own[prof->nodes[i].sub] += prof->nodes[i].self[DP_REAL];
    }
    for (size_t i = prof->count; i-- > 1;) {
        uint32_t parent = prof->nodes[i].parent;
        for (int t = 0; t < DP_METRICS; t++)
            m->incl[parent][t] += m->incl[i][t];
        for (size_t k = 0; k < n_counters; k++)
            m->incl_counts[parent * n_counters + k] += m->incl_counts[i * n_counters + k];
    }
}

struct walk {
    struct making *m;
    uint32_t *line, *call;      /* by node; UINT32_MAX: none */
};

/* Enters a context: adds its values to the line that called it. */
static int enter_context(struct walk *w, uint32_t i)
{
    struct making *m = w->m;
    const struct dp_node *node = &m->prof->nodes[i];
    w->line[i] = w->call[i] = UINT32_MAX;
    if (!node->site || m->prof->subs.subs[node->sub].phase)
        return 0;
    uint32_t caller = dp_srclines_caller(m->prof, i);
    int64_t line = line_of(m, node->site, caller);
    int64_t call = line < 0 ? line : call_of(m, (uint32_t)line, node->sub);
    if (call < 0)
        return (int)call;
    struct dp_srcline *to = &m->s->lines[line];
    struct dp_srccall *edge = &m->s->calls[call];
    to->calls += node->calls;
    edge->calls += node->calls;
    w->call[i] = (uint32_t)call;
    for (int t = 0; t < DP_METRICS && !m->edge_active[call]; t++)
        edge->incl[t] += m->incl[i][t];
    for (size_t k = 0; k < m->prof->n_counters && !m->edge_active[call]; k++)
        m->s->call_counts[call * m->prof->n_counters + k] +=
            m->incl_counts[i * m->prof->n_counters + k];
    m->edge_active[call]++;
    if (has_no_lines(m->prof, i))
        return 0;
    for (int t = 0; t < DP_METRICS && !m->active[line]; t++)
        to->incl[t] += m->incl[i][t];
    for (size_t k = 0; k < m->prof->n_counters && !m->active[line]; k++)
        m->s->incl_counts[line * m->prof->n_counters + k] +=
            m->incl_counts[i * m->prof->n_counters + k];
    w->line[i] = (uint32_t)line;
    if (m->active[line]++ == 0)
        for (uint32_t p = m->first_part[line]; p != UINT32_MAX; p = m->parts[p].next)
            if (m->parts[p].sub != DP_PROF_NO_SUB) {
                m->parts[p].outer = m->running[m->parts[p].sub];
                m->running[m->parts[p].sub] = p;
            }
    /* The sub runs below calls from lines of its own, whose time contains this time. */
    for (uint32_t p = m->running[node->sub]; p != UINT32_MAX; p = m->parts[p].outer)
        m->parts[p].below += node->self[DP_REAL];
    return 0;
}

/* Undoes enter_context after all contexts below i: a line that no context is called from any more
 * is no longer active, and neither are its parts. */
static void leave_context(struct walk *w, uint32_t i)
{
    struct making *m = w->m;
    uint32_t line = w->line[i];
    if (w->call[i] != UINT32_MAX)
        m->edge_active[w->call[i]]--;
    if (line == UINT32_MAX || --m->active[line] > 0)
        return;
    for (uint32_t p = m->first_part[line]; p != UINT32_MAX; p = m->parts[p].next)
        if (m->parts[p].sub != DP_PROF_NO_SUB)
            m->running[m->parts[p].sub] = m->parts[p].outer;
}

/* Walks the tree in preorder, and enters and leaves each context. Thus enter_context can see which
 * lines have running calls, and counts recursion once. */
static int walk_contexts(struct walk *w)
{
    const struct dp_prof *prof = w->m->prof;
    uint32_t at = 0, up;
    for (;;) {
        uint32_t next = dp_prof_next(prof, 0, at, &up);
        for (uint32_t done = at; at && next && done != prof->nodes[next].parent;
             done = prof->nodes[done].parent)
            leave_context(w, done);
        if (!next)
            return 0;
        int rc = enter_context(w, next);
        if (rc < 0)
            return rc;
        at = next;
    }
}

/* Adds a line's own cost, except for the part that the calls from it contain. */
static void add_own_costs(struct making *m)
{
    size_t n_counters = m->prof->n_counters;
    for (size_t i = 0; i < m->s->count; i++) {
        struct dp_srcline *line = &m->s->lines[i];
        double real = 0, added = 0;
        for (uint32_t p = m->first_part[i]; p != UINT32_MAX; p = m->parts[p].next) {
            const struct part *part = &m->parts[p];
            uint64_t own = part->sub == DP_PROF_NO_SUB ? 0 : m->own[part->sub];
            double share = own ? 1 - (double)part->below / (double)own : 1;
            for (int t = 0; t < DP_METRICS; t++)
                line->incl[t] += (uint64_t)((double)part->self[t] * share + 0.5);
            real += (double)part->self[DP_REAL];
            added += (double)part->self[DP_REAL] * share;
        }
        for (size_t k = 0; k < n_counters; k++)
            m->s->incl_counts[i * n_counters + k] +=
                (uint64_t)((double)m->s->counts[i * n_counters + k]
                               * (real > 0 ? added / real : 1) + 0.5);
    }
}

/* ---- order ---- */

/* Orders lines by file, line number and sub, as a listing of the source shows them. */
static int compare_lines(const void *ctx, uint32_t x, uint32_t y)
{
    const struct making *m = ctx;
    const struct dp_srcline *a = &m->s->lines[x], *b = &m->s->lines[y];
    const char *p, *q;
    size_t p_len, q_len;
    uint64_t p_line, q_line;
    dp_srclines_place(m->prof, a->site, &p, &p_len, &p_line);
    dp_srclines_place(m->prof, b->site, &q, &q_len, &q_line);
    int c = memcmp(p, q, p_len < q_len ? p_len : q_len);
    c = c ? c : (p_len > q_len) - (p_len < q_len);
    c = c ? c : (p_line > q_line) - (p_line < q_line);
    return c ? c : (a->sub > b->sub) - (a->sub < b->sub);
}

/* Sorts calls by the line that they come from, then by time, the longest first. */
static int compare_calls(const void *ctx, uint32_t x, uint32_t y)
{
    const struct making *m = ctx;
    const struct dp_srccall *a = &m->s->calls[x], *b = &m->s->calls[y];
    int c = (a->line > b->line) - (a->line < b->line);
    c = c ? c : (b->incl[DP_REAL] > a->incl[DP_REAL]) - (b->incl[DP_REAL] < a->incl[DP_REAL]);
    c = c ? c : (b->calls > a->calls) - (b->calls < a->calls);
    return c ? c : (a->sub > b->sub) - (a->sub < b->sub);
}

/* Sorts lines and calls for the caller of dp_srclines_make, moves the counters with them, and sets
 * in each line the position of its calls. */
static int sort_lines(struct making *m)
{
    struct dp_srclines *s = m->s;
    size_t counters = m->prof->n_counters * sizeof *s->counts;
    uint32_t *lines = dp_sort_order(s->count, compare_lines, m), *calls = NULL;
    uint32_t *to = dp_mem_realloc(NULL, s->count + 1, sizeof *to);
    int rc = lines && to ? 0 : DP_E_NOMEM;
    for (uint32_t i = 0; rc == 0 && i < s->count; i++)
        to[lines[i]] = i;
    for (size_t i = 0; rc == 0 && i < s->n_calls; i++)
        s->calls[i].line = to[s->calls[i].line];
    if (rc == 0 && !(calls = dp_sort_order(s->n_calls, compare_calls, m)))
        rc = DP_E_NOMEM;
    if (rc == 0)
        rc = dp_sort_arrange(s->lines, lines, s->count, sizeof *s->lines);
    if (rc == 0)
        rc = dp_sort_arrange(s->counts, lines, s->count, counters);
    if (rc == 0)
        rc = dp_sort_arrange(s->incl_counts, lines, s->count, counters);
    if (rc == 0)
        rc = dp_sort_arrange(s->calls, calls, s->n_calls, sizeof *s->calls);
    if (rc == 0)
        rc = dp_sort_arrange(s->call_counts, calls, s->n_calls, counters);
    for (uint32_t i = 0; rc == 0 && i < s->n_calls; i++) {
        struct dp_srcline *line = &s->lines[s->calls[i].line];
        if (!line->n_calls++)
            line->first_call = i;
    }
    dp_mem_free(lines);
    dp_mem_free(to);
    dp_mem_free(calls);
    return rc;
}

/* Makes all lines, also those that only make calls, before arrays by line are made. */
static int find_lines(struct making *m)
{
    const struct dp_prof *prof = m->prof;
    int rc = take_statements(m);
    for (uint32_t i = 1; i < prof->count && rc == 0; i++)
        if (prof->nodes[i].site && !prof->subs.subs[prof->nodes[i].sub].phase) {
            int64_t n = line_of(m, prof->nodes[i].site, dp_srclines_caller(prof, i));
            rc = n < 0 ? (int)n : 0;
        }
    return rc;
}

/* Adds up the counters of statements by line. find_lines has made all lines. */
static void take_counts(struct making *m)
{
    size_t n_counters = m->prof->n_counters;
    for (uint32_t i = 0; i < m->prof->n_lines; i++) {
        const uint64_t *from = dp_prof_line_counts(m->prof, i);
        int64_t n = line_of(m, m->prof->lines[i].site, m->prof->lines[i].sub);
        for (size_t k = 0; from && k < n_counters; k++)
            m->s->counts[(size_t)n * n_counters + k] += from[k];
    }
}

/* Fills m->s, which the caller releases also after an error. Arrays by line are made when
 * find_lines has found the last line. */
static int make_lines(struct making *m)
{
    const struct dp_prof *prof = m->prof;
    size_t n_counters = prof->n_counters, subs = dp_subs_count(&prof->subs);
    struct walk w = { .m = m };
    int rc = find_lines(m);
    if (rc < 0)
        return rc;
    size_t lines = m->s->count + 1;
    m->s->counts = dp_mem_zalloc(lines * (n_counters + 1) * sizeof *m->s->counts);
    m->s->incl_counts = dp_mem_zalloc(lines * (n_counters + 1) * sizeof *m->s->incl_counts);
    m->incl = dp_mem_zalloc((prof->count + 1) * sizeof *m->incl);
    m->incl_counts = dp_mem_zalloc((prof->count * n_counters + 1) * sizeof *m->incl_counts);
    m->own = dp_mem_zalloc((subs + 1) * sizeof *m->own);
    m->running = dp_mem_realloc(NULL, subs + 1, sizeof *m->running);
    w.line = dp_mem_realloc(NULL, prof->count + 1, sizeof *w.line);
    w.call = dp_mem_realloc(NULL, prof->count + 1, sizeof *w.call);
    if (!m->s->counts || !m->s->incl_counts || !m->incl || !m->incl_counts || !m->own
        || !m->running || !w.line || !w.call)
        rc = DP_E_NOMEM;
    if (rc == 0) {
        memset(m->running, 0xff, (subs + 1) * sizeof *m->running);
        take_counts(m);
        sum_up_contexts(m);
        rc = walk_contexts(&w);
    }
    if (rc == 0) {
        add_own_costs(m);
        rc = sort_lines(m);
    }
    dp_mem_free(w.line);
    dp_mem_free(w.call);
    return rc;
}

int dp_srclines_make(struct dp_srclines *s, const struct dp_prof *prof, bool by_sub)
{
    struct making m = { .prof = prof, .s = s, .by_sub = by_sub };
    memset(s, 0, sizeof *s);
    dp_map_init(&m.of);
    dp_map_init(&m.edges);
    dp_map_init(&m.part_of);
    int rc = make_lines(&m);
    dp_map_release(&m.of);
    dp_map_release(&m.edges);
    dp_map_release(&m.part_of);
    dp_mem_free(m.parts);
    dp_mem_free(m.first_part);
    dp_mem_free(m.incl);
    dp_mem_free(m.incl_counts);
    dp_mem_free(m.active);
    dp_mem_free(m.edge_active);
    dp_mem_free(m.own);
    dp_mem_free(m.running);
    if (rc < 0)
        dp_srclines_release(s);
    return rc;
}

void dp_srclines_release(struct dp_srclines *s)
{
    dp_mem_free(s->lines);
    dp_mem_free(s->calls);
    dp_mem_free(s->counts);
    dp_mem_free(s->incl_counts);
    dp_mem_free(s->call_counts);
    memset(s, 0, sizeof *s);
}
