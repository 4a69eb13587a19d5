#include "dp_overhead.h"
#include "dp_flat.h"
#include "dp_line_pair.h"
#include "dp_mem.h"
#include "dp_num.h"
#include "dp_sort.h"
#include "dp_srclines.h"
#include "dp_text.h"

#include <inttypes.h>
#include <string.h>

static const char program[] = DP_FMT_PROGRAM, other[] = "[other]", unknown[] = "[unknown]";

struct making {
    struct dp_overhead *over;
    const struct dp_part *sides;
    const struct dp_report_how *how;
    uint32_t *label;            /* by sub of the side: number in over->values */
    uint32_t *key[dp_key_count];     /* by sub, for keys that depend on the sub alone */
    size_t subs;
    uint32_t s_program, s_other, s_unknown;
    uint64_t hz;                /* of the side's ticks */
    uint32_t *phase, *match;    /* by node: numbers in values; DP_REPORT_NONE */
    size_t cap;
    uint32_t *row_of;           /* for lines: by entry, index in over->rows; UINT32_MAX: none */
    size_t row_of_cap, row_of_used, rows_cap;
    uint64_t line_count;        /* how often all statements ran */
    struct dp_buf text;
};

static uint32_t value_number(struct making *m, const char *ptr, size_t len)
{
    return dp_pool_intern(&m->over->values, ptr, len);
}

static uint32_t text_number(struct making *m, const char *str)
{
    return str && *str ? value_number(m, str, strlen(str)) : m->s_unknown;
}

/* Converts ticks of a side to common ticks. The side's times fit; the longest call of a file may be
 * too large. */
static uint64_t scaled_ticks(const struct making *m, uint64_t ticks)
{
    uint64_t v;
    if (m->hz == m->over->hz)
        return ticks;
    return dp_num_scale(ticks, m->over->hz, m->hz, &v) ? v : DP_LIMIT_COUNT;
}

/* Returns the value of a node in a metric: a counter, calls, or a time in ticks. Phases have no
 * calls. */
static uint64_t metric_of(const struct dp_part *side, uint32_t n,
                          enum dp_metric metric)
{
    const struct dp_prof *prof = side->prof;
    const struct dp_node *node = &prof->nodes[n];
    if (dp_metric_is_counter(metric))
        return dp_prof_count(prof, n, side->counter);
    if (metric == DP_M_CALLS)
        return node->sub == DP_PROF_NO_SUB || prof->subs.subs[node->sub].phase ? 0 : node->calls;
    return dp_flat_value(node, metric);
}

/* ---- values of keys ---- */

/* The value of a key for sub n of a side: its package, its FILE:LINE, or else its label. With
 * paired subs, it is that of the pair. Phases have the program's. Returns a number in over->values;
 * DP_MAP_NONE: memory is short. */
static uint32_t sub_value(struct making *m, const struct dp_part *side, uint32_t n, int key)
{
    const struct dp_subs *subs = &side->prof->subs;
    const struct dp_sub *sub = &subs->subs[n];
    const struct dp_name *package = dp_subs_text(subs, sub->package),
                         *file = dp_subs_text(subs, sub->file);
    if (side->pairs) {
        const struct dp_pair_prof *pair = &side->pairs->profs[side->pair];
        package = dp_pool_name(&side->pairs->texts, pair->package[n]);
        file = dp_pool_name(&side->pairs->texts, pair->file[n]);
    }
    if (sub->phase)
        return m->s_program;
    switch (key) {
    case DP_K_PACKAGE:
        return package->len ? value_number(m, package->ptr, package->len)
                : value_number(m, "main", 4);
    case DP_K_SRCLINE:
        if (!file->len)
            return m->s_unknown;
        dp_buf_clear(&m->text);
        dp_buf_add(&m->text, file->ptr, file->len);
        dp_buf_addf(&m->text, ":%" PRIu64, sub->line);
        return m->text.err ? DP_MAP_NONE : value_number(m, m->text.ptr, m->text.len);
    }
    return m->label[n];
}

/* Makes an array by sub, left by the side before, large enough. Returns false if memory is short;
 * the old array stays then. */
static bool fit_array(struct making *m, uint32_t **array)
{
    uint32_t *grown = dp_mem_realloc(*array, m->subs + 1, sizeof *grown);
    if (grown)
        *array = grown;
    return grown != NULL;
}

/* Sets m->label for all subs of a side: the label of the pair if subs are paired, else that of the
 * profile. Returns 0 or DP_E_NOMEM. */
static int label_subs(struct making *m, const struct dp_part *side)
{
    const struct dp_prof *prof = side->prof;
    struct dp_names *names = side->pairs ? NULL : dp_names_new(prof, m->how->label_flags);
    int rc = side->pairs || names ? 0 : DP_E_NOMEM;
    for (uint32_t i = 0; i < m->subs && rc == 0; i++) {
        const struct dp_name *label =
            side->pairs ? dp_pool_name(&side->pairs->texts, side->pairs->profs[side->pair].label[i])
                        : dp_pool_name(&names->pool, dp_names_of_sub(names, i));
        m->label[i] = prof->subs.subs[i].phase ? m->s_program
                : value_number(m, label->ptr, label->len);
        rc = m->label[i] == DP_MAP_NONE ? DP_E_NOMEM : 0;
    }
    dp_names_free(names);
    return rc;
}

/* Computes the labels of a side's subs, and the values of keys that depend on the sub alone.
 * Returns 0 or DP_E_NOMEM. */
static int prepare_side(struct making *m, const struct dp_part *side)
{
    m->subs = dp_subs_count(&side->prof->subs);
    if (!fit_array(m, &m->label))
        return DP_E_NOMEM;
    int rc = label_subs(m, side);
    for (size_t k = 0; k < m->how->n_keys && rc == 0; k++) {
        int key = m->how->keys[k];
        if (key != DP_K_PACKAGE && key != DP_K_SRCLINE)
            continue;
        if (!fit_array(m, &m->key[key]))
            return DP_E_NOMEM;
        for (size_t i = 0; i < m->subs; i++)
            if ((m->key[key][i] = sub_value(m, side, (uint32_t)i, key)) == DP_MAP_NONE)
                return DP_E_NOMEM;
    }
    return rc;
}

/* Returns the flags that the filters gave a sub. */
static unsigned char flags_of(const struct dp_part *side, uint32_t sub)
{
    if (!side->flags)
        return DP_F_SHOWN;
    return side->flags[sub == DP_PROF_NO_SUB ? dp_subs_count(&side->prof->subs) : sub];
}

/* The value of a key for node `at' of the report. Returns a number in over->values; DP_MAP_NONE:
 * memory is short. */
static uint32_t key_value(struct making *m, const struct dp_part *side,
                          const struct dp_report_node *n, uint32_t at, int key)
{
    uint32_t sub = side->prof->nodes[n->node].sub;
    switch (key) {
    case DP_K_SCRIPT: return text_number(m, side->script);
    case DP_K_PID: return text_number(m, side->pid);
    case DP_K_THREAD: return text_number(m, side->thread);
    case DP_K_PHASE: return m->phase[at];
    case DP_K_PARENT: return m->match[at];
    case DP_K_CALLER:
        return n->parent == DP_REPORT_NONE ? m->s_unknown : m->over->nodes[n->parent].name;
    case DP_K_SUB: return n->name;
    }
    return sub == DP_PROF_NO_SUB ? m->s_program : m->key[key][sub];
}

/* Returns the number of the entry, the combination of keys' values, that a node belongs to.
 * DP_MAP_NONE: memory is short. */
static uint32_t entry_of(struct making *m, const struct dp_part *side,
                         const struct dp_report_node *n, uint32_t at)
{
    uint32_t tuple[dp_key_count];
    for (size_t k = 0; k < m->how->n_keys; k++)
        if ((tuple[k] = key_value(m, side, n, at, m->how->keys[k])) == DP_MAP_NONE)
            return DP_MAP_NONE;
    return dp_pool_intern(&m->over->entries, (const char *)tuple, m->how->n_keys * sizeof *tuple);
}

/* ---- contexts ---- */

/* Returns the number in over->values of a place's text FILE:LINE, with its bytes as the program has
 * them: the profile keeps it as an escaped field. DP_MAP_NONE: memory is short. */
static uint32_t site_value(struct making *m, const struct dp_prof *prof, uint32_t site)
{
    const struct dp_name *at = dp_pool_name(&prof->sites, site - 1);
    dp_buf_clear(&m->text);
    dp_fmt_unfield(&m->text, at->ptr, at->len);
    return m->text.err ? DP_MAP_NONE : value_number(m, m->text.ptr, m->text.len);
}

/* Makes the node of a context. parent: DP_REPORT_NONE for the profile's root, and for a phase,
 * which is no frame: its node is a further root with the program's name. phase: number of the
 * phase's text in over->values. Returns the node's number or a DP_E. */
static int64_t add_node(struct making *m, uint32_t side, uint32_t node, uint32_t parent,
                        uint32_t phase)
{
    struct dp_overhead *over = m->over;
    const struct dp_part *s = &m->sides[side];
    const struct dp_node *from = &s->prof->nodes[node];
    if (over->n_nodes == m->cap) {
        size_t cap = m->cap ? m->cap * 2 : 1024;
        void *nodes = dp_mem_realloc(over->nodes, cap, sizeof *over->nodes);
        if (nodes)
            over->nodes = nodes;
        uint32_t *phases = dp_mem_realloc(m->phase, cap, sizeof *phases);
        if (phases)
            m->phase = phases;
        uint32_t *matches = dp_mem_realloc(m->match, cap, sizeof *matches);
        if (matches)
            m->match = matches;
        if (!nodes || !phases || !matches)
            return DP_E_NOMEM;
        m->cap = cap;
    }
    uint32_t at = (uint32_t)over->n_nodes++;
    struct dp_report_node *n = &over->nodes[at];
    memset(n, 0, sizeof *n);
    n->parent = parent;
    n->depth = parent == DP_REPORT_NONE ? 0 : over->nodes[parent].depth + 1;
    n->side = side;
    n->node = node;
    n->name = from->sub == DP_PROF_NO_SUB ? m->s_program : m->label[from->sub];
    n->site = DP_REPORT_NONE;
    if (from->site && (n->site = site_value(m, s->prof, from->site)) == DP_MAP_NONE)
        return DP_E_NOMEM;
    m->phase[at] = phase;
    bool matches = flags_of(s, from->sub) & DP_F_PARENT;
    m->match[at] = matches ? n->name : parent == DP_REPORT_NONE ? m->s_other : m->match[parent];
    n->entry = entry_of(m, s, n, at);
    return n->entry == DP_MAP_NONE ? DP_E_NOMEM : (int64_t)at;
}

/* Adds a context's values to a node of the report. is_own: the context is the node's own, and not a
 * callee that counts as part of it; only then are its calls, and the longest and shortest, the
 * node's. */
static void take_context(struct making *m, uint32_t at, const struct dp_part *side, uint32_t node,
                         bool is_own)
{
    const struct dp_prof *prof = side->prof;
    struct dp_report_node *n = &m->over->nodes[at];
    uint64_t value = metric_of(side, node, m->how->metric);
    n->self += dp_metric_is_time(m->how->metric) ? scaled_ticks(m, value) : value;
    n->real += scaled_ticks(m, metric_of(side, node, DP_T_REAL));
    if (!is_own || prof->nodes[node].sub == DP_PROF_NO_SUB
        || prof->subs.subs[prof->nodes[node].sub].phase)
        return;
    struct dp_extra x = dp_prof_extra(prof, node);
    n->calls += prof->nodes[node].calls;
    uint64_t longest = scaled_ticks(m, x.longest),
             shortest = x.shortest ? scaled_ticks(m, x.shortest - 1) + 1 : 0;
    if (longest > n->longest)
        n->longest = longest;
    if (shortest && (!n->shortest || shortest < n->shortest))
        n->shortest = shortest;
}

/* Adds the contexts of a profile in preorder, without recursion. What a context calls counts as its
 * own if a filter cuts it off, or if it is at the greatest depth. Returns 0 or a DP_E. */
static int add_contexts(struct making *m, uint32_t side)
{
    const struct dp_part *s = &m->sides[side];
    const struct dp_prof *prof = s->prof;
    uint32_t *of = dp_mem_realloc(NULL, prof->count, sizeof *of);
    unsigned char *cut = dp_mem_zalloc(prof->count);
    uint32_t none = of && cut ? value_number(m, "-", 1) : DP_MAP_NONE;
    int64_t at = none == DP_MAP_NONE ? DP_E_NOMEM : add_node(m, side, 0, DP_REPORT_NONE, none);
    if (at >= 0) {
        of[0] = (uint32_t)at;
        take_context(m, of[0], s, 0, true);
    }
    uint32_t up, i = 0;
    while (at >= 0 && (i = dp_prof_next(prof, 0, i, &up)) != 0) {
        const struct dp_node *node = &prof->nodes[i];
        uint32_t parent = of[node->parent];
        const struct dp_sub *sub = &prof->subs.subs[node->sub];
        bool deep = m->how->max_stack && m->over->nodes[parent].depth >= m->how->max_stack;
        cut[i] = cut[node->parent];
        if (sub->phase && m->over->nodes[parent].parent == DP_REPORT_NONE) {
            const struct dp_name *name = dp_subs_text(&prof->subs, sub->name);
            uint32_t phase = value_number(m, name->ptr, name->len);
            at = phase == DP_MAP_NONE ? DP_E_NOMEM : add_node(m, side, i, DP_REPORT_NONE, phase);
        } else if (cut[i] || deep) {
            of[i] = parent;
            take_context(m, parent, s, i, false);
            continue;
        } else {
            at = add_node(m, side, i, parent, m->phase[parent]);
            cut[i] = cut[i] || flags_of(s, node->sub) & DP_F_CUT;
        }
        if (at >= 0) {
            of[i] = (uint32_t)at;
            take_context(m, of[i], s, i, true);
        }
    }
    dp_mem_free(of);
    dp_mem_free(cut);
    return at < 0 ? (int)at : 0;
}

/* Computes inclusive values and the ends of subtrees: kids follow their parents. */
static void sum_up(struct dp_overhead *over)
{
    for (size_t i = over->n_nodes; i-- > 0;) {
        struct dp_report_node *n = &over->nodes[i];
        n->incl += n->self;
        over->total += n->self;
        if (n->end <= i)
            n->end = (uint32_t)i + 1;
        if (n->parent == DP_REPORT_NONE)
            continue;
        struct dp_report_node *up = &over->nodes[n->parent];
        up->incl += n->incl;
        up->real += n->real;
        if (up->end < n->end)
            up->end = n->end;
    }
}

/* ---- rows ---- */

/* Adds the values of a node to its row. */
static void count_node(struct dp_over_row *row, const struct dp_report_node *n)
{
    row->self += n->self;
    row->calls += n->calls;
    if (n->depth < row->depth)
        row->depth = n->depth;
    if (n->longest > row->longest)
        row->longest = n->longest;
    if (n->shortest && (!row->shortest || n->shortest < row->shortest))
        row->shortest = n->shortest;
}

/* Makes a row of each entry. Only the outermost contexts of an entry add their inclusive time:
 * until[entry] is the end of the subtree of the last one. Returns 0 or DP_E_NOMEM. */
static int make_rows(struct making *m)
{
    struct dp_overhead *over = m->over;
    size_t n = over->entries.count;
    uint32_t *until = dp_mem_zalloc((n + 1) * sizeof *until);
    over->rows = dp_mem_zalloc((n + 1) * sizeof *over->rows);
    if (!until || !over->rows) {
        dp_mem_free(until);
        return DP_E_NOMEM;
    }
    over->n_rows = n;
    for (size_t e = 0; e < n; e++) {
        over->rows[e].entry = (uint32_t)e;
        over->rows[e].depth = UINT32_MAX;
    }
    for (uint32_t i = 0; i < over->n_nodes; i++) {
        const struct dp_report_node *node = &over->nodes[i];
        struct dp_over_row *row = &over->rows[node->entry];
        const struct dp_part *side = &m->sides[node->side];
        count_node(row, node);
        if (flags_of(side, side->prof->nodes[node->node].sub) & DP_F_SHOWN)
            row->shown = !m->how->exclude_other || m->match[i] != m->s_other;
        if (i >= until[node->entry] || node->parent == DP_REPORT_NONE) {
            row->children += node->incl;
            row->real += node->real;
            if (until[node->entry] < node->end)
                until[node->entry] = node->end;
        }
    }
    dp_mem_free(until);
    return 0;
}

/* Computes the value that is 100 %: the sum of Self of the shown entries, or of all that passed
 * through them, so that neither column exceeds 100 %. Rows are still in the order of entries. */
static void make_base(struct making *m)
{
    struct dp_overhead *over = m->over;
    uint32_t *under = m->match;         /* m->match is no longer needed; now: is the context, or one
                                         * above it, shown? */
    over->base = over->total;
    if (!m->how->relative)
        return;
    over->base = 0;
    for (size_t i = 0; i < over->n_nodes; i++) {
        const struct dp_report_node *n = &over->nodes[i];
        bool above = n->parent != DP_REPORT_NONE && under[n->parent],
             shown = over->rows[n->entry].shown;
        if (shown && (m->how->no_children || !above))
            over->base += m->how->no_children ? n->self : n->incl;
        under[i] = shown || above;
    }
}

struct order {
    const struct dp_overhead *over;
    int by_self;
};

static int compare_values(uint64_t a, uint64_t b) { return a > b ? -1 : a < b; }

/* Compares rows by Children, unless they are sorted by Self; then by depth, so that the caller
 * comes before the callee; then by Self, and by names. */
static int compare_rows(const void *ctx, uint32_t x, uint32_t y)
{
    const struct order *o = ctx;
    const struct dp_over_row *a = &o->over->rows[x], *b = &o->over->rows[y];
    int c = o->by_self ? 0 : compare_values(a->children, b->children);
    if (!c && !o->by_self)
        c = a->depth < b->depth ? -1 : a->depth > b->depth;
    if (!c)
        c = compare_values(a->self, b->self);
    for (size_t k = 0; k < o->over->n_keys && !c; k++)
        c = dp_name_compare(dp_overhead_text(o->over, a->entry, k),
                            dp_overhead_text(o->over, b->entry, k));
    return c;
}

/* ---- lines ---- */

/* Are entries lines of source, with the costs of statements? A line is in a sub, which is in a
 * package, and in a file of the run. */
static bool is_by_line(const struct making *m, size_t n)
{
    bool lines = false;
    for (size_t k = 0; k < m->how->n_keys; k++) {
        enum dp_key key = m->how->keys[k];
        lines = lines || key == DP_K_SRCLINE;
        if (key == DP_K_PHASE || key == DP_K_CALLER || key == DP_K_PARENT)
            return false;
    }
    for (size_t i = 0; i < n; i++)
        lines = lines && m->sides[i].prof->n_lines;
    return lines && !m->how->no_lines;
}

/* The value of a key for a line: a paired line has the label of its pair; a line without a place is
 * unknown, and one without a sub belongs to the program. Returns a number in over->values;
 * DP_MAP_NONE: memory is short. */
static uint32_t line_key(struct making *m, const struct dp_part *side,
                         const struct dp_srcline *line, int key)
{
    const struct dp_line_pairs *pairs = side->lines;
    uint32_t paired = pairs ? pairs->profs[side->pair].line[line->site] : DP_MAP_NONE;
    if (key == DP_K_SRCLINE && paired != DP_MAP_NONE) {
        const struct dp_name *name = dp_pool_name(&pairs->texts, pairs->lines[paired].label);
        return value_number(m, name->ptr, name->len);
    }
    switch (key) {
    case DP_K_SCRIPT: return text_number(m, side->script);
    case DP_K_PID: return text_number(m, side->pid);
    case DP_K_THREAD: return text_number(m, side->thread);
    }
    if (key == DP_K_SRCLINE && line->site)
        return site_value(m, side->prof, line->site);
    if (key == DP_K_SRCLINE || line->sub == DP_PROF_NO_SUB)
        return key == DP_K_SRCLINE ? m->s_unknown : m->s_program;
    return key == DP_K_SUB ? m->label[line->sub] : m->key[key][line->sub];
}

/* Finds or makes the row of an entry. Returns NULL if memory is short. The pointer is valid up to
 * the next call. */
static struct dp_over_row *row_of_entry(struct making *m, uint32_t entry)
{
    struct dp_overhead *over = m->over;
    if (dp_mem_grow((void **)&m->row_of, &m->row_of_cap, (size_t)entry + 1, sizeof *m->row_of) < 0
        || dp_mem_grow((void **)&over->rows, &m->rows_cap, over->n_rows + 1,
                       sizeof *over->rows) < 0)
        return NULL;
    for (; m->row_of_used <= entry; m->row_of_used++)
        m->row_of[m->row_of_used] = UINT32_MAX;
    if (m->row_of[entry] == UINT32_MAX) {
        memset(&over->rows[over->n_rows], 0, sizeof *over->rows);
        over->rows[over->n_rows].entry = entry;
        m->row_of[entry] = (uint32_t)over->n_rows++;
    }
    return &over->rows[m->row_of[entry]];
}

/* Adds line i of a side to the row of its entry, made from the keys. Times are brought to the
 * report's ticks. Returns 0 or DP_E_NOMEM. */
static int add_line(struct making *m, const struct dp_part *side, const struct dp_srclines *s,
                    size_t i)
{
    const struct dp_srcline *line = &s->lines[i];
    uint32_t tuple[dp_key_count];
    for (size_t k = 0; k < m->how->n_keys; k++)
        if ((tuple[k] = line_key(m, side, line, m->how->keys[k])) == DP_MAP_NONE)
            return DP_E_NOMEM;
    uint32_t entry = dp_pool_intern(&m->over->entries, (const char *)tuple,
                                    m->how->n_keys * sizeof *tuple);
    struct dp_over_row *row = entry == DP_MAP_NONE ? NULL : row_of_entry(m, entry);
    if (!row)
        return DP_E_NOMEM;
    size_t at = i * side->prof->n_counters + side->counter;
    switch (m->how->metric) {
    case DP_M_CALLS:            /* how often it ran */
        row->self += line->count;
        row->children += line->count;
        m->line_count += line->count;
        break;
    case DP_M_COUNTER:
        row->self += s->counts[at];
        row->children += s->incl_counts[at];
        break;
    default:
        row->self += scaled_ticks(m, dp_prof_ticks(line->self, m->how->metric));
        row->children += scaled_ticks(m, dp_prof_ticks(line->incl, m->how->metric));
    }
    row->real += scaled_ticks(m, line->incl[DP_REAL]);
    row->calls += line->count;
    row->shown = row->shown || (flags_of(side, line->sub) & DP_F_SHOWN);
    return 0;
}

/* Does a line have a value? Lines that only make calls have none. Files of other tools do not say
 * how often lines ran, and may have a counter instead of a time. */
static bool has_cost(const struct dp_part *side, const struct dp_srclines *s, size_t i)
{
    const struct dp_srcline *line = &s->lines[i];
    bool any = line->count > 0;
    for (int t = 0; t < DP_METRICS; t++)
        any = any || line->self[t];
    size_t n = side->prof->n_counters;
    return any || (n && s->counts[i * n + side->counter]);
}

/* Adds all lines of a side that have a cost. They are apart by sub if another key, or the choice of
 * what is shown, needs it. Returns 0 or a DP_E. */
static int add_lines(struct making *m, const struct dp_part *side)
{
    bool by_sub = m->how->n_keys > 1 || m->sides[0].flags;
    struct dp_srclines s;
    int rc = dp_srclines_make(&s, side->prof, by_sub);
    if (rc < 0)
        return rc;
    for (size_t k = 0; k < s.count && rc == 0; k++)
        if (has_cost(side, &s, k))
            rc = add_line(m, side, &s, k);
    dp_srclines_release(&s);
    return rc;
}

/* Sets the total that shares of lines refer to (--percentage). */
static void make_line_base(struct making *m)
{
    struct dp_overhead *over = m->over;
    over->base = m->how->relative ? 0 : over->total;
    for (size_t i = 0; m->how->relative && i < over->n_rows; i++)
        over->base += over->rows[i].shown ? over->rows[i].self : 0;
}

/* ---- the whole report ---- */

/* Adds a profile's contexts to over->nodes and, if rows are lines, its lines to the rows. Returns 0
 * or a DP_E. */
static int add_side(struct making *m, uint32_t side)
{
    m->hz = dp_prof_hz(m->sides[side].prof);
    int rc = prepare_side(m, &m->sides[side]);
    rc = rc < 0 ? rc : add_contexts(m, side);
    return rc < 0 || !m->over->by_line ? rc : add_lines(m, &m->sides[side]);
}

/* Makes the report of n sides: a common tick rate, the nodes or lines of all sides, the rows, and
 * the base of percentages. Returns 0, DP_E_NOMEM, or DP_E_LIMIT if times do not fit the common
 * rate. */
static int make_report(struct making *m, size_t n)
{
    struct dp_overhead *over = m->over;
    m->s_program = value_number(m, program, sizeof program - 1);
    m->s_other = value_number(m, other, sizeof other - 1);
    m->s_unknown = value_number(m, unknown, sizeof unknown - 1);
    if (m->s_program == DP_MAP_NONE || m->s_other == DP_MAP_NONE || m->s_unknown == DP_MAP_NONE)
        return DP_E_NOMEM;
    over->hz = m->how->hz ? m->how->hz : 1;
    for (size_t i = 0; i < n; i++)
        if (dp_prof_hz(m->sides[i].prof) > over->hz)
            over->hz = dp_prof_hz(m->sides[i].prof);
    uint64_t sum[DP_METRICS] = { 0 };
    for (size_t i = 0; i < n; i++)
        if (!dp_prof_fits(m->sides[i].prof, over->hz, sum))
            return DP_E_LIMIT;
    over->by_line = is_by_line(m, n);
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = add_side(m, (uint32_t)i);
    if (rc < 0)
        return rc;
    sum_up(over);
    if (over->by_line && m->how->metric == DP_M_CALLS)
        over->total = m->line_count;
    rc = over->by_line ? 0 : make_rows(m);
    if (rc < 0)
        return rc;
    if (over->by_line)
        make_line_base(m);
    else
        make_base(m);
    struct order o = { over, m->how->no_children || m->how->by_self };
    return dp_sort_array(over->rows, over->n_rows, sizeof *over->rows, compare_rows, &o);
}

int dp_overhead_make(struct dp_overhead *over, const struct dp_part *sides, size_t n,
                     const struct dp_report_how *how)
{
    struct making m = { .over = over, .sides = sides, .how = how };
    memset(over, 0, sizeof *over);
    dp_pool_init(&over->values);
    dp_pool_init(&over->entries);
    dp_buf_init(&m.text);
    over->n_keys = how->n_keys;
    int rc = make_report(&m, n);
    dp_mem_free(m.label);
    for (int k = 0; k < dp_key_count; k++)
        dp_mem_free(m.key[k]);
    dp_mem_free(m.phase);
    dp_mem_free(m.match);
    dp_mem_free(m.row_of);
    dp_buf_release(&m.text);
    if (rc < 0)
        dp_overhead_release(over);
    return rc;
}

void dp_overhead_release(struct dp_overhead *over)
{
    dp_pool_release(&over->values);
    dp_pool_release(&over->entries);
    dp_mem_free(over->nodes);
    dp_mem_free(over->rows);
    memset(over, 0, sizeof *over);
}

const struct dp_name *dp_overhead_text(const struct dp_overhead *over, uint32_t entry, size_t k)
{
    uint32_t number;
    memcpy(&number, dp_pool_name(&over->entries, entry)->ptr + k * sizeof number, sizeof number);
    return dp_pool_name(&over->values, number);
}
