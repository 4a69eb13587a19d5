/* Writes callgrind's format: own costs of subs and lines, and calls with their inclusive costs
 * (callgrind/docs/cl-format.xml of valgrind). A call appears once for each line, caller and callee;
 * the contexts above are not in the file.
 *
 * Readers compute the inclusive cost of a sub as the sum of its calls. So a call has the costs of
 * its outermost activations only. Activations below another call of the same sub are counted, but
 * have no cost. */
#include "dp_grind.h"
#include "dp_err.h"
#include "dp_fmt.h"
#include "dp_map.h"
#include "dp_mem.h"
#include "dp_sort.h"
#include "dp_text.h"

#include <string.h>

#define NO_EDGE UINT32_MAX

/* The calls of one callee from one line of a caller. Caller and callee are numbers of names of the
 * stacks; the costs of the calls are in callgrind.cost. */
struct edge {
    uint32_t caller, callee;
    uint32_t file;              /* file of the line: number among the files */
    uint64_t line, calls;
};

/* A running frame. */
struct running {
    uint32_t name, edge;
    bool outermost;             /* no other frame of its function is running above it */
};

struct callgrind {
    struct dp_grind g;
    struct dp_map function_of;  /* file << 32 | text -> function */
    uint32_t *function;         /* by name: subs that readers cannot distinguish are one function */
    uint32_t n_functions;
    uint32_t *active;           /* by function: number of its running frames */
    bool *told, *file_told;     /* by function; by file: its name has been printed */
    size_t file_told_cap;
    struct dp_map place_of;     /* caller << 32 | site -> place */
    struct dp_map edge_of;      /* place << 32 | callee -> edge */
    uint32_t n_places;
    struct edge *edges;
    uint64_t *cost;             /* by edge, then measure */
    size_t n_edges, edges_cap, cost_cap;
    struct running *open;       /* from the root to the running frame */
    uint64_t *before;           /* by open frame, then measure: sum over all frames before it */
    size_t n_open, open_cap, before_cap;
    size_t calls;               /* measure that counts calls; none: the number of measures */
};

/* ---- functions ---- */

/* Numbers the functions, and makes room for their states. Names with the same file and text are one
 * function, since readers cannot distinguish them. Returns 0 or DP_E_NOMEM. */
static int find_functions(struct callgrind *x)
{
    const struct dp_stacks *s = x->g.e.p->s;
    x->function = dp_mem_zalloc((s->n_names + 1) * sizeof *x->function);
    x->active = dp_mem_zalloc((s->n_names + 1) * sizeof *x->active);
    x->told = dp_mem_zalloc((s->n_names + 1) * sizeof *x->told);
    if (!x->function || !x->active || !x->told)
        return DP_E_NOMEM;
    for (size_t i = 0; i < s->n_names; i++) {
        struct dp_map_slot *slot
            = dp_map_put(&x->function_of, (uint64_t)x->g.file[i] << 32 | x->g.text[i]);
        if (!slot)
            return DP_E_NOMEM;
        if (slot->value == DP_MAP_NONE)
            slot->value = x->n_functions++;
        x->function[i] = slot->value;
    }
    return 0;
}

/* ---- calls ---- */

/* Adds an edge without calls or cost. site: the line of the call; 0: unknown, so the call stands at
 * the line where the caller begins. Returns 0 or DP_E_NOMEM. */
static int new_edge(struct callgrind *x, uint32_t caller, uint32_t callee, uint32_t site)
{
    const struct dp_stacks *s = x->g.e.p->s;
    const struct dp_stacks_name *name = &s->names[caller];
    size_t n = x->n_edges;
    if (dp_mem_grow((void **)&x->edges, &x->edges_cap, n + 1, sizeof *x->edges) < 0
        || dp_mem_grow_cleared((void **)&x->cost, &x->cost_cap, (n + 1) * x->g.e.count,
                               sizeof *x->cost) < 0)
        return DP_E_NOMEM;
    uint32_t file = site ? dp_grind_file(&x->g, &s->sites[site].file) : x->g.file[caller];
    if (file == DP_MAP_NONE)
        return DP_E_NOMEM;
    x->edges[n] = (struct edge){ caller, callee, file, site ? s->sites[site].line : name->line, 0 };
    x->n_edges++;
    return 0;
}

/* Finds or makes the edge that leads to the walk's current frame from its caller's line of the
 * call, or from the line where the caller begins if that is unknown. Returns its number or
 * DP_E_NOMEM. */
static int64_t edge_of(struct callgrind *x, uint32_t caller, uint32_t callee)
{
    const struct dp_stacks *s = x->g.e.p->s;
    uint32_t site = s->site ? s->site[x->g.e.frame] : 0;
    /* an XS sub has no lines; its own calls come from another sub's lines */
    bool has_lines = s->names[caller].file.len || caller == x->g.program;
    site = has_lines && site && s->sites[site].line ? site : 0;
    struct dp_map_slot *place = dp_map_put(&x->place_of, (uint64_t)caller << 32 | site);
    if (!place)
        return DP_E_NOMEM;
    if (place->value == DP_MAP_NONE)
        place->value = x->n_places++;
    struct dp_map_slot *edge = dp_map_put(&x->edge_of, (uint64_t)place->value << 32 | callee);
    if (!edge)
        return DP_E_NOMEM;
    if (edge->value == DP_MAP_NONE) {
        edge->value = (uint32_t)x->n_edges;
        int rc = new_edge(x, caller, callee, site);
        if (rc < 0)
            return rc;
    }
    return edge->value;
}

/* Ends running frames until `left` remain, and adds the inclusive costs of outermost ones to their
 * edges: the sum over all frames now minus the sum when the frame began. The walk is at the frame
 * after them. */
static void leave_frames(struct callgrind *x, size_t left)
{
    size_t count = x->g.e.count;
    while (x->n_open > left) {
        const struct running *r = &x->open[--x->n_open];
        x->active[x->function[r->name]]--;
        for (size_t k = 0; k < count && r->outermost && r->edge != NO_EDGE; k++)
            x->cost[r->edge * count + k]
                += x->g.total[k] - x->g.value[k] - x->before[x->n_open * count + k];
    }
}

/* Begins the current frame of the walk: finds the edge of its call, and counts the call. Notes the
 * sums so far, from which leave_frames computes the frame's inclusive cost. Returns 0 or
 * DP_E_NOMEM. */
static int enter_frame(struct callgrind *x)
{
    size_t count = x->g.e.count, n = x->n_open;
    uint32_t name = dp_grind_name(&x->g);
    int64_t edge = n ? edge_of(x, x->open[n - 1].name, name) : NO_EDGE;
    if (edge < 0)
        return (int)edge;
    if (dp_mem_grow((void **)&x->open, &x->open_cap, n + 1, sizeof *x->open) < 0
        || dp_mem_grow((void **)&x->before, &x->before_cap, (n + 1) * count,
                       sizeof *x->before) < 0)
        return DP_E_NOMEM;
    bool outermost = !x->active[x->function[name]]++;
    x->open[x->n_open++] = (struct running){ name, (uint32_t)edge, outermost };
    for (size_t k = 0; k < count; k++)
        x->before[n * count + k] = x->g.total[k] - x->g.value[k];
    if (edge != NO_EDGE && x->calls < count)
        x->edges[edge].calls += x->g.value[x->calls];
    return 0;
}

/* Visits all frames and collects the edges with their calls and inclusive costs. */
static int walk_frames(struct callgrind *x)
{
    int rc;
    while ((rc = dp_grind_next(&x->g)) > 0) {
        leave_frames(x, x->g.e.level + !x->g.e.is_frame);
        rc = x->g.e.is_frame ? enter_frame(x) : 0;
        if (rc < 0)
            return rc;
    }
    leave_frames(x, 0);
    return rc;
}

/* Compares two edges of one caller by file, line and callee; readers require that order. */
static int compare_edges(const void *ctx, uint32_t a, uint32_t b)
{
    const struct callgrind *x = ctx;
    const struct edge *p = &x->edges[a], *q = &x->edges[b];
    int c = p->file == q->file ? 0 : dp_name_compare(dp_pool_name(&x->g.files, p->file),
                                                     dp_pool_name(&x->g.files, q->file));
    c = c ? c : (p->line > q->line) - (p->line < q->line);
    return c ? c : (p->callee > q->callee) - (p->callee < q->callee);
}

/* Sorts the edges by caller, file, line, callee. There may be as many edges as contexts, but each
 * caller has few. So they are counted by caller, and only the edges of one caller are sorted.
 * first: a zero for each name, and one more. */
static void sort_edges(const struct callgrind *x, uint32_t *order, uint32_t *first)
{
    size_t n_names = x->g.e.p->s->n_names;
    uint32_t begin = 0;
    for (size_t i = 0; i < x->n_edges; i++)
        first[x->edges[i].caller + 1]++;
    for (size_t i = 0; i < n_names; i++)
        first[i + 1] += first[i];
    for (uint32_t i = 0; i < x->n_edges; i++)
        order[first[x->edges[i].caller]++] = i;
    for (size_t i = 0; i < n_names; begin = first[i++])
        dp_sort_u32(order + begin, first[i] - begin, compare_edges, x);
}

/* ---- printing ---- */

/* Writes the lines before the first sub: program, names of events with their units, and the
 * total. */
static int put_header(struct callgrind *x)
{
    struct dp_grind *g = &x->g;
    const struct dp_export_how *how = g->e.p->job->export;
    dp_buf_addf(&g->buf, "# callgrind format\nversion: 1\ncreator: Devel::DProf %s\n",
                g->e.p->job->version);
    if (how->n_parts && how->parts[0].pid)
        dp_buf_addf(&g->buf, "pid: %llu\n", (unsigned long long)how->parts[0].pid);
    dp_buf_adds(&g->buf, "cmd: ");
    dp_grind_script(g);
    dp_buf_adds(&g->buf, "\npositions: line\n");
    for (size_t k = 0; k < g->e.count; k++) {
        const char *key = g->e.measures[k].metric->key;
        dp_buf_addf(&g->buf, "event: %s : ", dp_pool_name(&g->events, (uint32_t)k)->ptr);
        key = strcmp(key, "real") == 0 ? "wall" : key;
        dp_text_escape(&g->buf, key, strlen(key));
        dp_buf_addf(&g->buf, " (%s)\n", dp_export_unit(&g->e.measures[k]));
    }
    dp_buf_adds(&g->buf, "events:");
    dp_grind_events(g);
    dp_buf_adds(&g->buf, "\nsummary:");
    dp_grind_numbers(g, g->total);
    dp_buf_addc(&g->buf, '\n');
    return dp_grind_send(g);
}

/* Writes WHAT=(N), with the name on its first use. */
static void put_name(struct callgrind *x, const char *what, uint32_t number, bool *told,
                     const struct dp_name *text)
{
    dp_buf_adds(&x->g.buf, what);
    dp_buf_adds(&x->g.buf, "=(");
    dp_buf_addu(&x->g.buf, (uint64_t)number + 1);
    dp_buf_addc(&x->g.buf, ')');
    if (!*told) {
        dp_buf_addc(&x->g.buf, ' ');
        dp_buf_add(&x->g.buf, text->ptr, text->len);
    }
    dp_buf_addc(&x->g.buf, '\n');
    *told = true;
}

/* Writes the file that the next lines belong to, as number and, for the first time, name; what:
 * "fl", "fi", "fe" or "cfi". */
static int put_file(struct callgrind *x, const char *what, uint32_t file)
{
    if (dp_mem_grow_cleared((void **)&x->file_told, &x->file_told_cap, file + 1,
                            sizeof *x->file_told) < 0)
        return DP_E_NOMEM;
    put_name(x, what, file, &x->file_told[file], dp_pool_name(&x->g.files, file));
    return 0;
}

/* Writes the file and the name of a sub: "fl", "fn"; for a callee: "cfi", "cfn". */
static int put_function(struct callgrind *x, const char *file, const char *function, uint32_t name)
{
    uint32_t number = x->function[name];
    int rc = put_file(x, file, x->g.file[name]);
    put_name(x, function, number, &x->told[number], dp_pool_name(&x->g.texts, x->g.text[name]));
    return rc;
}

static void put_cost(struct callgrind *x, uint64_t line, const uint64_t *cost)
{
    dp_buf_addu(&x->g.buf, line);
    dp_grind_numbers(&x->g, cost);
    dp_buf_addc(&x->g.buf, '\n');
}

/* Changes the file of the following lines: "fe" returns to the file where the sub began. */
static int change_file(struct callgrind *x, uint32_t *file, uint32_t to, uint32_t own)
{
    if (*file == to)
        return 0;
    *file = to;
    return put_file(x, to == own ? "fe" : "fi", to);
}

/* Writes the calls from a line to a sub: the callee, the number of calls, and below it the
 * inclusive costs at the line of the call. */
static int put_edge(struct callgrind *x, const struct edge *edge, const uint64_t *cost)
{
    /* calls are unknown: callgrind_annotate takes a cost without calls for the caller's own */
    uint64_t calls = edge->calls ? edge->calls : 1;
    int rc = put_function(x, "cfi", "cfn", edge->callee);
    dp_buf_adds(&x->g.buf, "calls=");
    dp_buf_addu(&x->g.buf, calls);
    dp_buf_addc(&x->g.buf, ' ');
    dp_buf_addu(&x->g.buf, x->g.e.p->s->names[edge->callee].line);
    dp_buf_addc(&x->g.buf, '\n');
    put_cost(x, edge->line, cost);
    return rc < 0 ? rc : dp_grind_send(&x->g);
}

/* The position of the printing. */
struct at {
    size_t line, edge;          /* the next ones */
    const uint32_t *order;      /* of edges */
};

/* Prints a sub, if it has costs or calls. */
static int put_sub(struct callgrind *x, uint32_t name, struct at *at)
{
    const struct dp_stacks_lines *l = &x->g.lines;
    uint32_t own = x->g.file[name], file = own;
    if ((at->line >= l->count || l->lines[at->line].name != name)
        && (at->edge >= x->n_edges || x->edges[at->order[at->edge]].caller != name))
        return 0;
    dp_buf_addc(&x->g.buf, '\n');
    int rc = put_function(x, "fl", "fn", name);
    for (; rc == 0 && at->line < l->count && l->lines[at->line].name == name; at->line++) {
        const struct dp_stacks_line *line = &l->lines[at->line];
        if (!dp_grind_costs(&x->g, at->line))
            continue;
        uint32_t its = line->file.len ? dp_grind_file(&x->g, &line->file) : own;
        rc = its == DP_MAP_NONE ? DP_E_NOMEM : change_file(x, &file, its, own);
        put_cost(x, line->line, &x->g.cost[at->line * x->g.e.count]);
        x->g.e.p->out->lines++;
        rc = rc < 0 ? rc : dp_grind_send(&x->g);
    }
    for (; rc == 0 && at->edge < x->n_edges; at->edge++) {
        uint32_t n = at->order[at->edge];
        if (x->edges[n].caller != name)
            break;
        rc = change_file(x, &file, x->edges[n].file, own);
        rc = rc < 0 ? rc : put_edge(x, &x->edges[n], &x->cost[n * x->g.e.count]);
    }
    return rc;
}

/* Writes all subs in the order of their names' numbers. Lines and edges are sorted by that number,
 * too, so one pass over each suffices. */
static int put_subs(struct callgrind *x)
{
    size_t n_names = x->g.e.p->s->n_names;
    uint32_t *order = dp_mem_realloc(NULL, x->n_edges + 1, sizeof *order);
    uint32_t *first = dp_mem_zalloc((n_names + 1) * sizeof *first);
    struct at at = { 0, 0, order };
    int rc = order && first ? 0 : DP_E_NOMEM;
    if (rc == 0)
        sort_edges(x, order, first);
    for (uint32_t i = 0; rc == 0 && i < n_names; i++)
        rc = put_sub(x, i, &at);
    dp_mem_free(order);
    dp_mem_free(first);
    return rc;
}

/* Writes the file. The walk comes first, because a sub's edges are complete only after the last
 * frame. */
static int put_all(struct callgrind *x)
{
    int rc = find_functions(x);
    for (; x->calls < x->g.e.count; x->calls++) {
        size_t column = x->g.e.measures[x->calls].column;
        if (x->g.e.p->job->export->stacks.columns[column].metric == DP_M_CALLS)
            break;
    }
    rc = rc < 0 ? rc : walk_frames(x);
    rc = rc < 0 ? rc : dp_grind_settle(&x->g);
    rc = rc < 0 ? rc : put_header(x);
    rc = rc < 0 ? rc : put_subs(x);
    if (rc < 0)
        return rc;
    dp_buf_adds(&x->g.buf, "\ntotals:");
    dp_grind_numbers(&x->g, x->g.total);
    dp_buf_addc(&x->g.buf, '\n');
    return dp_grind_send(&x->g);
}

/* Prints the stacks as a file of callgrind, which has costs by sub or line, and calls. Returns 0 or
 * a DP_E. */
int dp_print_callgrind(const struct dp_stacks_printing *p)
{
    struct callgrind x;
    memset(&x, 0, sizeof x);
    dp_map_init(&x.function_of);
    dp_map_init(&x.place_of);
    dp_map_init(&x.edge_of);
    int rc = dp_grind_init(&x.g, p);
    rc = rc < 0 ? rc : put_all(&x);
    dp_grind_release(&x.g);
    dp_map_release(&x.function_of);
    dp_map_release(&x.place_of);
    dp_map_release(&x.edge_of);
    dp_mem_free(x.function);
    dp_mem_free(x.active);
    dp_mem_free(x.told);
    dp_mem_free(x.file_told);
    dp_mem_free(x.edges);
    dp_mem_free(x.cost);
    dp_mem_free(x.open);
    dp_mem_free(x.before);
    return rc;
}
