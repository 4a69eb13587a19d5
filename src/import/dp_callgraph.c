#include "dp_callgraph.h"
#include "dp_mem.h"
#include "dp_num.h"

#include <string.h>

#define NONE    UINT32_MAX
#define GRAINS  4096           /* part of the total; smaller amounts are not divided */

enum {
    MANY = 1 << 18,             /* number of contexts; beyond it, nothing is divided any further */
    FULL = 1 << 21,             /* number of contexts; beyond it, a function with a context gets no
                                 * others */
    FAR = 1 << 26               /* number of steps through circles of calls, and from share to
                                 * share */
};

void dp_callgraph_init(struct dp_callgraph *g)
{
    memset(g, 0, sizeof *g);
    dp_map_init(&g->edge_of);
}

void dp_callgraph_release(struct dp_callgraph *g)
{
    dp_mem_free(g->functions);
    dp_mem_free(g->own);
    dp_mem_free(g->edges);
    dp_mem_free(g->inclusive);
    dp_map_release(&g->edge_of);
    dp_callgraph_init(g);
}

int64_t dp_callgraph_function(struct dp_callgraph *g)
{
    size_t n = g->n_functions;
    if (n >= DP_LIMIT_IDS)
        return DP_E_LIMIT;
    if (dp_mem_grow((void **)&g->functions, &g->functions_cap, n + 1, sizeof *g->functions) < 0
        || dp_mem_grow_cleared((void **)&g->own, &g->own_cap, (n + 1) * g->width, sizeof *g->own)
               < 0)
        return DP_E_NOMEM;
    g->functions[n] = (struct dp_callgraph_function){ NONE, NONE, NONE, NONE, NONE, NONE };
    return (int64_t)g->n_functions++;
}

int64_t dp_callgraph_edge(struct dp_callgraph *g, uint32_t from, uint32_t to)
{
    size_t n = g->n_edges;
    if (dp_mem_grow((void **)&g->edges, &g->edges_cap, n + 1, sizeof *g->edges) < 0
        || dp_mem_grow_cleared((void **)&g->inclusive, &g->inclusive_cap, (n + 1) * g->width,
                               sizeof *g->inclusive)
               < 0)
        return DP_E_NOMEM;
    struct dp_map_slot *slot = dp_map_put(&g->edge_of, (uint64_t)from << 32 | to);
    if (!slot)
        return DP_E_NOMEM;
    if (slot->value != DP_MAP_NONE)
        return slot->value;
    slot->value = (uint32_t)n;
    g->edges[n] = (struct dp_callgraph_edge){ from, to, g->functions[from].calls };
    g->functions[from].calls = (uint32_t)n;
    return (int64_t)g->n_edges++;
}

int dp_callgraph_add(const struct dp_callgraph *g, uint64_t *to, const uint64_t *values)
{
    for (size_t k = 0; k < g->width; k++) {
        if (values[k] >= DP_LIMIT_TOTAL - to[k])
            return DP_E_LIMIT;
        to[k] += values[k];
    }
    return 0;
}

/* ---- circles ---- */

/* Functions in groups: the functions of a circle are one group, and each other function is one of
 * its own. The list has callees before their callers. */
struct groups {
    uint32_t *list;
    size_t n;
    uint32_t *open, *way;       /* open: functions whose group is not known; way: functions from the
                                 * root to here */
    uint32_t *at;               /* by function: its next edge */
    size_t n_open, depth;
    uint32_t next;              /* next number in the order of first visits */
};

/* Begins a function: puts it on the way from the root, among those whose group is open. */
static void visit_function(const struct dp_callgraph *g, struct groups *s, uint32_t fn)
{
    struct dp_callgraph_function *f = &g->functions[fn];
    f->index = f->low = s->next++;
    s->open[s->n_open++] = fn;
    s->way[s->depth++] = fn;
    s->at[fn] = f->calls;
}

/* Leaves the function on top, all of whose callees are done. If it cannot reach any function above,
 * it and the open ones after it are a group. */
static void leave_function(const struct dp_callgraph *g, struct groups *s)
{
    struct dp_callgraph_function *f = &g->functions[s->way[--s->depth]];
    if (s->depth) {
        struct dp_callgraph_function *up = &g->functions[s->way[s->depth - 1]];
        if (f->low < up->low)
            up->low = f->low;
    }
    if (f->low != f->index)
        return;
    for (uint32_t fn = NONE; s->n_open && fn != s->way[s->depth];) {
        fn = s->open[--s->n_open];
        g->functions[fn].group = s->way[s->depth];
        s->list[s->n++] = fn;
    }
}

/* Finds the groups of functions that call each other, by Tarjan's search for strongly connected
 * components, without recursion. */
static void find_groups(const struct dp_callgraph *g, struct groups *s)
{
    for (uint32_t start = 0; start < g->n_functions; start++) {
        if (g->functions[start].index == NONE)
            visit_function(g, s, start);
        while (s->depth) {
            uint32_t top = s->way[s->depth - 1], edge = s->at[top];
            if (edge == NONE) {
                leave_function(g, s);
                continue;
            }
            s->at[top] = g->edges[edge].next;
            struct dp_callgraph_function *up = &g->functions[top];
            struct dp_callgraph_function *to = &g->functions[g->edges[edge].to];
            if (to->index == NONE)
                visit_function(g, s, g->edges[edge].to);
            else if (to->group == NONE && to->index < up->low)
                up->low = to->index;
        }
    }
}

/* ---- contexts ---- */

/* A context of a function that has not been processed yet. */
struct arrival {
    uint32_t node, next;        /* node: the consumer's number; next: next arrival of the same
                                 * function */
};

/* Shares, besides edges, that contexts of a function have: the function's own values, and the
 * values that its callers claim without justification. */
#define OWN     NONE
#define LOST    (NONE - 1)
struct share {
    uint32_t edge;
    uint64_t left;              /* amount that no context has yet */
};

struct division {
    struct dp_reader *r;
    struct dp_callgraph *g;
    struct groups groups;
    uint32_t *order;            /* functions of a group, callees before callers */
    size_t n_order;
    struct arrival *arrivals;
    uint64_t *brought;          /* width for each arrival: inclusive values */
    size_t n_arrivals, arrivals_cap, brought_cap;
    uint32_t unused;            /* list of free arrivals; NONE ends it */
    struct dp_map arrival_of;   /* context and function -> arrival */
    struct share *shares;
    size_t n_shares, shares_cap;
    size_t first;               /* first share with a rest */
    uint64_t sum;               /* sum of the rests of all shares */
    uint64_t grain[DP_IMPORT_VALUES];
    size_t calls;               /* the kind of values that is calls; width: none is */
    size_t lead;                /* the first other kind */
    uint64_t steps;             /* number of steps of FAR used so far */
};

static int too_much(struct dp_reader *r)
{
    return dp_reader_fail(r, DP_E_LIMIT, 0, "the values add up to more than fits");
}

static struct dp_callgraph_function *function_at(const struct division *d, uint32_t fn)
{
    return &d->g->functions[fn];
}

static uint64_t *own_of(const struct division *d, uint32_t fn)
{
    return d->g->own + (size_t)fn * d->g->width;
}

static uint64_t *inclusive_of(const struct division *d, uint32_t edge)
{
    return d->g->inclusive + (size_t)edge * d->g->width;
}

static uint64_t *brought_by(const struct division *d, uint32_t arrival)
{
    return d->brought + (size_t)arrival * d->g->width;
}

/* Do caller and callee call each other in a circle? */
static bool is_inside(const struct division *d, uint32_t edge)
{
    const struct dp_callgraph_edge *e = &d->g->edges[edge];
    return function_at(d, e->from)->group == function_at(d, e->to)->group;
}

/* ---- functions in a circle ---- */

enum { SEEN = 0, DONE = 1 };    /* NONE: not visited yet */

/* Visits a function in the search for recursive groups, Tarjan's algorithm: puts it on the path. */
static void step_into(struct division *d, uint32_t fn)
{
    struct groups *s = &d->groups;
    function_at(d, fn)->index = SEEN;
    function_at(d, fn)->low = (uint32_t)s->depth;
    s->way[s->depth++] = fn;
}

/* The call through which the way continues from the function at a depth. */
static uint32_t step_of(const struct division *d, size_t depth)
{
    return d->groups.at[d->groups.way[depth]];
}

/* Cuts the circle when the way returns to a function on it. The amount that all calls of the circle
 * have in common is subtracted from each of them, so at least one has nothing left; the search
 * continues from there. In hostile files that takes too long, and the last call of the circle is
 * dropped. */
static void cut_circle(struct division *d, size_t kind)
{
    struct groups *s = &d->groups;
    uint32_t last = step_of(d, s->depth - 1);
    uint64_t least = inclusive_of(d, last)[kind];
    size_t start = function_at(d, d->g->edges[last].to)->low, cut = s->depth - 1;
    d->steps += s->depth - start;
    if (d->steps > FAR)
        start = cut;
    for (size_t i = start; i < s->depth; i++)
        if (inclusive_of(d, step_of(d, i))[kind] < least)
            least = inclusive_of(d, step_of(d, i))[kind];
    for (size_t i = s->depth; i-- > start;)
        if (!(inclusive_of(d, step_of(d, i))[kind] -= least))
            cut = i;
    while (s->depth > cut + 1)
        function_at(d, s->way[--s->depth])->index = NONE;
}

/* Walks down the calls of the group that have any of the values. A function that was visited before
 * continues with its current call: the calls before it have no value, or are done. */
static void find_order_from(struct division *d, uint32_t start, size_t kind)
{
    struct groups *s = &d->groups;
    step_into(d, start);
    while (s->depth) {
        uint32_t *edge = &s->at[s->way[s->depth - 1]];
        while (*edge != NONE && (!is_inside(d, *edge) || !inclusive_of(d, *edge)[kind]
                                 || function_at(d, d->g->edges[*edge].to)->index == DONE))
            *edge = d->g->edges[*edge].next;
        if (*edge == NONE) {
            uint32_t fn = s->way[--s->depth];
            function_at(d, fn)->index = DONE;
            d->order[d->n_order++] = fn;
        } else if (function_at(d, d->g->edges[*edge].to)->index == NONE) {
            step_into(d, d->g->edges[*edge].to);
        } else {
            cut_circle(d, kind);
        }
    }
}

/* Finds the order of the group list[from..to) for values of a kind. */
static void find_order(struct division *d, size_t from, size_t to, size_t kind)
{
    const uint32_t *list = d->groups.list;
    d->n_order = 0;
    for (size_t i = from; i < to; i++) {
        function_at(d, list[i])->index = NONE;
        d->groups.at[list[i]] = function_at(d, list[i])->calls;
    }
    for (size_t i = to; i-- > from;)
        if (function_at(d, list[i])->index == NONE)
            find_order_from(d, list[i], kind);
}

/* ---- arrivals ---- */

/* Takes a free arrival (a context that is still to be divided), or makes one. It has brought no
 * values. Returns its number or a DP_E. */
static int64_t new_arrival(struct division *d)
{
    size_t n = d->n_arrivals, width = d->g->width;
    if (d->unused != NONE) {
        n = d->unused;
        d->unused = d->arrivals[n].next;
    } else if (dp_mem_grow((void **)&d->arrivals, &d->arrivals_cap, n + 1, sizeof *d->arrivals) < 0
               || dp_mem_grow((void **)&d->brought, &d->brought_cap, (n + 1) * width,
                              sizeof *d->brought)
                      < 0) {
        return dp_import_error(d->r, DP_E_NOMEM);
    } else {
        d->n_arrivals++;
    }
    memset(brought_by(d, (uint32_t)n), 0, width * sizeof *d->brought);
    return (int64_t)n;
}

/* Finds or makes the arrival of a function that is called in a context. It is an arrival in another
 * context if each would add to more contexts than memory holds. */
static int64_t arrive_at(struct division *d, uint32_t parent, uint32_t fn)
{
    if (d->r->import.kids.used >= FULL && function_at(d, fn)->arrivals != NONE)
        return function_at(d, fn)->arrivals;
    int64_t node = dp_import_enter(d->r, parent, function_at(d, fn)->sub);
    if (node < 0)
        return node;
    struct dp_map_slot *slot = dp_map_put(&d->arrival_of, (uint64_t)node << 32 | fn);
    if (!slot)
        return dp_import_error(d->r, DP_E_NOMEM);
    if (slot->value != DP_MAP_NONE)
        return slot->value;
    slot->value = 0;
    int64_t n = new_arrival(d);
    if (n < 0)
        return n;
    slot->value = (uint32_t)n;
    d->arrivals[n] = (struct arrival){ (uint32_t)node, function_at(d, fn)->arrivals };
    function_at(d, fn)->arrivals = (uint32_t)n;
    return n;
}

/* Adds an amount to a node's own value of a kind. Returns 0 or a DP_E. */
static int add_own(struct division *d, int64_t node, size_t kind, uint64_t amount)
{
    uint64_t values[DP_IMPORT_VALUES] = { 0 };
    if (node < 0)
        return (int)node;
    values[kind] = amount;
    return amount ? dp_import_add(d->r, (uint32_t)node, values) : 0;
}

/* ---- the division ---- */

/* Gives an amount of a share to a context. Calls go with the amounts of the first kind. */
static int give_share(struct division *d, uint32_t node, size_t share, size_t kind, uint64_t amount)
{
    struct share *s = &d->shares[share];
    uint64_t of = s->left;
    s->left -= amount;
    d->sum -= amount;
    if (s->edge == OWN || s->edge == LOST)
        return s->edge == OWN ? add_own(d, node, kind, amount) : 0;
    int64_t n = arrive_at(d, node, d->g->edges[s->edge].to);
    if (n < 0)
        return (int)n;
    brought_by(d, (uint32_t)n)[kind] += amount;
    if (kind == d->lead && d->calls < d->g->width) {
        uint64_t calls = dp_num_mul_div(inclusive_of(d, s->edge)[d->calls], amount, of);
        inclusive_of(d, s->edge)[d->calls] -= calls;
        brought_by(d, (uint32_t)n)[d->calls] += calls;
    }
    return 0;
}

/* Divides a context's amount: first in proportion to the rests of the shares, in whole grains, then
 * from share to share. */
static int divide_amount(struct division *d, uint32_t node, size_t kind, uint64_t amount)
{
    bool few = d->r->import.kids.used < MANY && d->steps < FAR;
    uint64_t grain = few ? d->grain[kind] : UINT64_MAX, rest = amount, of = d->sum;
    int rc = 0;
    for (size_t i = d->first; i < d->n_shares && amount >= grain && rc == 0; i++, d->steps++) {
        uint64_t left = d->shares[i].left;
        uint64_t n = left < grain ? 0 : dp_num_mul_div(left, amount, of) / grain * grain;
        rc = n ? give_share(d, node, i, kind, n) : 0;
        rest -= n;
    }
    while (rest && rc == 0) {
        uint64_t left = d->shares[d->first].left, n = rest < left ? rest : left;
        rc = n ? give_share(d, node, d->first, kind, n) : 0;
        rest -= n;
        d->first += n == left;
    }
    return rc;
}

/* Notes how much of a divided value goes to an edge. Returns 0 or a DP_E. */
static int add_share(struct division *d, uint32_t edge, uint64_t amount)
{
    if (!amount)
        return 0;
    if (dp_mem_grow((void **)&d->shares, &d->shares_cap, d->n_shares + 1, sizeof *d->shares) < 0)
        return dp_import_error(d->r, DP_E_NOMEM);
    d->shares[d->n_shares++] = (struct share){ edge, amount };
    d->sum += amount;
    return d->sum < DP_LIMIT_TOTAL ? 0 : too_much(d->r);
}

/* Finds the parts of a function's values of a kind: its own, and one for each of its calls.
 * Contexts get portions of these. */
static int find_shares(struct division *d, uint32_t fn, size_t kind)
{
    d->n_shares = d->first = 0;
    d->sum = 0;
    int rc = add_share(d, OWN, own_of(d, fn)[kind]);
    for (uint32_t e = function_at(d, fn)->calls; e != NONE && rc == 0; e = d->g->edges[e].next)
        rc = add_share(d, e, inclusive_of(d, e)[kind]);
    return rc;
}

/* Makes the claims of callers equal to a function's value. The part that no caller claims is below
 * the root. Claims beyond the value become a share of their own. */
static int even_out_claims(struct division *d, uint32_t fn, size_t kind)
{
    uint64_t claims = 0;
    for (uint32_t n = function_at(d, fn)->arrivals; n != NONE; n = d->arrivals[n].next)
        if ((claims += brought_by(d, n)[kind]) >= DP_LIMIT_TOTAL)
            return too_much(d->r);
    if (claims > d->sum)
        return add_share(d, LOST, claims - d->sum);
    if (claims == d->sum)
        return 0;
    int64_t n = arrive_at(d, 0, fn);
    if (n >= 0)
        brought_by(d, (uint32_t)n)[kind] += d->sum - claims;
    return n < 0 ? (int)n : 0;
}

/* Divides a function's values of a kind among its contexts. */
static int divide_kind(struct division *d, uint32_t fn, size_t kind)
{
    int rc = find_shares(d, fn, kind);
    if (rc == 0)
        rc = even_out_claims(d, fn, kind);
    for (uint32_t n = function_at(d, fn)->arrivals; n != NONE && rc == 0; n = d->arrivals[n].next)
        rc = divide_amount(d, d->arrivals[n].node, kind, brought_by(d, n)[kind]);
    return rc;
}

/* Adds calls without cost, in one context of the caller. */
static int add_rest_of_calls(struct division *d, uint32_t node, uint32_t fn)
{
    int rc = add_own(d, node, d->calls, own_of(d, fn)[d->calls]);
    for (uint32_t e = function_at(d, fn)->calls; e != NONE && rc == 0; e = d->g->edges[e].next) {
        uint32_t to = d->g->edges[e].to;
        uint64_t calls = inclusive_of(d, e)[d->calls];
        if (!calls)
            continue;
        if (is_inside(d, e)) {          /* it may have been processed already */
            rc = add_own(d, dp_import_enter(d->r, node, function_at(d, to)->sub), d->calls, calls);
            continue;
        }
        int64_t n = arrive_at(d, node, to);
        if (n < 0)
            return (int)n;
        brought_by(d, (uint32_t)n)[d->calls] += calls;
    }
    return rc;
}

/* Completes a function whose contexts have its values: gives them their numbers of calls, passes on
 * calls without cost, and frees its arrivals. A function without callers gets a context below the
 * root. Returns 0 or a DP_E. */
static int settle_function(struct division *d, uint32_t fn)
{
    struct dp_callgraph_function *f = function_at(d, fn);
    int64_t first = f->arrivals == NONE ? arrive_at(d, 0, fn) : f->arrivals;
    bool counted = d->calls < d->g->width;
    if (first < 0)
        return (int)first;
    int rc = counted ? add_rest_of_calls(d, d->arrivals[f->arrivals].node, fn) : 0;
    while (f->arrivals != NONE && rc == 0) {
        uint32_t n = f->arrivals;
        rc = counted ? add_own(d, d->arrivals[n].node, d->calls, brought_by(d, n)[d->calls]) : 0;
        f->arrivals = d->arrivals[n].next;
        d->arrivals[n].next = d->unused;
        d->unused = n;
    }
    return rc;
}

/* Makes the contexts of the group list[from..to): all contexts that call into it are known. */
static int divide_group(struct division *d, size_t from, size_t to)
{
    int rc = 0;
    for (size_t kind = 0; kind < d->g->width && rc == 0; kind++) {
        if (kind == d->calls)
            continue;
        find_order(d, from, to, kind);
        for (size_t i = d->n_order; i-- > 0 && rc == 0;)
            rc = divide_kind(d, d->order[i], kind);
    }
    for (size_t i = to; i-- > from && rc == 0;)
        rc = settle_function(d, d->groups.list[i]);
    return rc;
}

/* Makes the contexts of all functions. Groups with callers come first, so all contexts that call
 * into a group are known when it is divided. */
static int divide_all(struct division *d)
{
    struct groups *s = &d->groups;
    int rc = 0;
    find_groups(d->g, s);
    for (size_t from, to = s->n; to > 0 && rc == 0; to = from) {
        uint32_t group = function_at(d, s->list[to - 1])->group;
        for (from = to - 1; from && function_at(d, s->list[from - 1])->group == group; from--)
            ;
        rc = divide_group(d, from, to);
    }
    return rc;
}

/* Computes the grain of each kind of value, below which amounts are not divided. Finds the kind
 * that counts calls, if there is one, and the kind with which calls are divided. */
static int find_grains(struct division *d)
{
    uint64_t total[DP_IMPORT_VALUES] = { 0 };
    for (uint32_t i = 0; i < d->g->n_functions; i++)
        if (dp_callgraph_add(d->g, total, own_of(d, i)) < 0)
            return too_much(d->r);
    d->calls = d->g->width;
    for (size_t k = 0; k < d->g->width; k++) {
        d->grain[k] = total[k] / GRAINS + 1;
        if (d->r->import.values[k].calls)
            d->calls = k;
    }
    d->lead = d->calls == 0 ? 1 : 0;
    return 0;
}

/* Frees what dividing the graph into a tree has made. */
static void release_division(struct division *d)
{
    dp_mem_free(d->groups.list);
    dp_mem_free(d->arrivals);
    dp_mem_free(d->brought);
    dp_mem_free(d->shares);
    dp_map_release(&d->arrival_of);
    dp_mem_free(d);
}

int dp_callgraph_contexts(struct dp_reader *r, struct dp_callgraph *g)
{
    struct division *d = dp_mem_zalloc(sizeof *d);
    size_t n = g->n_functions ? g->n_functions : 1;
    if (!d)
        return dp_import_error(r, DP_E_NOMEM);
    d->r = r;
    d->g = g;
    d->unused = NONE;
    dp_map_init(&d->arrival_of);
    uint32_t *room = d->groups.list = dp_mem_realloc(NULL, n, 5 * sizeof *room);
    int rc = room ? find_grains(d) : dp_import_error(r, DP_E_NOMEM);
    if (rc == 0) {
        d->groups.open = room + n;
        d->groups.way = room + 2 * n;
        d->groups.at = room + 3 * n;
        d->order = room + 4 * n;
        rc = divide_all(d);
    }
    release_division(d);
    return rc;
}
