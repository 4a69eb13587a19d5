#include "dp_flat.h"
#include "dp_err.h"
#include "dp_mem.h"

#include <string.h>

uint64_t dp_flat_value(const struct dp_node *node, enum dp_metric time)
{
    return dp_prof_ticks(node->self, time);
}

uint64_t dp_flat_own(const struct dp_prof *prof, uint32_t node, const struct dp_classic *how)
{
    return how->counter ? dp_prof_count(prof, node, how->counter - 1)
                        : dp_flat_value(&prof->nodes[node], how->time);
}

struct walk {
    const struct dp_prof *prof;
    const struct dp_names *names;
    const struct dp_classic *how;
    struct dp_flat_row *rows;   /* by name */
    uint32_t *running;          /* by row: how often it is on the path */
    uint32_t group, other, program;     /* rows after those of names */
    uint64_t inside;            /* number of frames of `only` on the path */
    uint64_t sum;               /* self times so far, in preorder */
    uint64_t *before;           /* by node on the path: `sum` on its entry */
};

/* Returns the row that a node's values belong to: that of its name, or that of the group or of the
 * others. */
static uint32_t row_of(const struct walk *w, uint32_t node)
{
    if (node == 0)
        return w->program;
    uint32_t name = w->names->of_sub[w->prof->nodes[node].sub];
    switch (w->how->roles ? w->how->roles[name] : DP_KEEP) {
    case DP_GROUP: return w->group;
    case DP_OTHER: return w->other;
    }
    return name;
}

static bool is_only(const struct walk *w, uint32_t node)
{
    return node && w->how->only >= 0
           && (int64_t)w->names->of_sub[w->prof->nodes[node].sub] == w->how->only;
}

/* Adds a node to its row when the walk enters it. Nodes outside of the sub that is selected add
 * nothing. */
static void enter_node(struct walk *w, uint32_t n)
{
    const struct dp_node *node = &w->prof->nodes[n];
    w->inside += is_only(w, n);
    w->before[n] = w->sum;
    if (w->how->only >= 0 && !w->inside)
        return;
    uint32_t r = row_of(w, n);
    struct dp_flat_row *row = &w->rows[r];
    uint64_t self = dp_flat_own(w->prof, n, w->how);
    if (n < row->first)
        row->first = n;
    row->calls += node->calls;
    row->self += self;
    w->sum += self;
    w->running[r]++;
}

/* Ends a node in the walk: the inclusive value of its row grows by what was added since the node
 * began. */
static void leave_node(struct walk *w, uint32_t n)
{
    if (w->how->only < 0 || w->inside) {
        uint32_t r = row_of(w, n);
        if (--w->running[r] == 0)       /* the outermost call of a recursion */
            w->rows[r].incl += w->sum - w->before[n];
    }
    w->inside -= is_only(w, n);
}

/* Walks all contexts in preorder. On the way up, the growth of `sum` since a node's entry is the
 * value of its subtree. */
static void walk_tree(struct walk *w)
{
    uint32_t at = 0;
    enter_node(w, 0);
    for (;;) {
        uint32_t levels, next = dp_prof_next(w->prof, 0, at, &levels);
        if (next && w->prof->nodes[next].parent == at) {
            enter_node(w, at = next);
            continue;
        }
        for (uint32_t i = 0; i < levels; i++) {
            leave_node(w, at);
            at = w->prof->nodes[at].parent;
        }
        if (!next) {            /* at is the root: dp_prof_next went all the way up */
            leave_node(w, 0);
            return;
        }
        leave_node(w, at);
        enter_node(w, at = next);
    }
}

/* Does the view show this row? */
static bool is_shown(const struct walk *w, uint32_t r)
{
    const struct dp_flat_row *row = &w->rows[r];
    if (row->first == DP_FLAT_UNSEEN)
        return false;
    if (r == w->program)
        return w->how->program;
    return r >= w->group || !w->how->roles || w->how->roles[r] != DP_DROP;
}

/* Makes the rows, as none has been seen yet, and the arrays for the walk. Returns 0 or DP_E_NOMEM;
 * the caller releases w also after an error. */
static int prepare_walk(struct walk *w, size_t rows)
{
    w->rows = dp_mem_realloc(NULL, rows, sizeof *w->rows);
    w->running = dp_mem_zalloc(rows * sizeof *w->running);
    w->before = dp_mem_realloc(NULL, w->prof->count, sizeof *w->before);
    if (!w->rows || !w->running || !w->before)
        return DP_E_NOMEM;
    for (size_t i = 0; i < rows; i++) {
        memset(&w->rows[i], 0, sizeof w->rows[i]);
        w->rows[i].name = (uint32_t)i;
        w->rows[i].first = DP_FLAT_UNSEEN;
    }
    return 0;
}

int dp_flat_make(struct dp_flat *flat, const struct dp_prof *prof, const struct dp_names *names,
                 const struct dp_classic *how)
{
    struct walk w;
    memset(&w, 0, sizeof w);
    memset(flat, 0, sizeof *flat);
    if (how->counter > prof->n_counters)
        return DP_E_ARG;
    w.prof = prof;
    w.names = names;
    w.how = how;
    w.group = (uint32_t)dp_names_count(names);
    w.other = w.group + 1;
    w.program = w.group + 2;
    int rc = prepare_walk(&w, (size_t)w.program + 1);
    if (rc == 0) {
        walk_tree(&w);
        flat->group = w.rows[w.group];
        flat->total = w.sum;
        /* classic order: the group follows the single subs, and then come the others */
        for (uint32_t r = w.group; r < w.program; r++)
            if (w.rows[r].first != DP_FLAT_UNSEEN)
                w.rows[r].first = DP_FLAT_UNSEEN - 3 + (r - w.group);
        size_t n = 0;
        for (uint32_t r = 0; r <= w.program; r++)
            if (is_shown(&w, r))
                w.rows[n++] = w.rows[r];
        flat->rows = w.rows;
        flat->count = n;
        w.rows = NULL;
        rc = dp_rank(flat->rows, n, names, how);
    }
    dp_mem_free(w.rows);
    dp_mem_free(w.running);
    dp_mem_free(w.before);
    if (rc < 0)
        dp_flat_release(flat);
    return rc;
}

void dp_flat_release(struct dp_flat *flat)
{
    dp_mem_free(flat->rows);
    flat->rows = NULL;
    flat->count = 0;
}

long dp_flat_rows(const struct dp_prof *prof, const struct dp_names *names,
                  const struct dp_classic *how, struct dp_row *rows, size_t max)
{
    struct dp_flat flat;
    int rc = dp_flat_make(&flat, prof, names, how);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < flat.count && i < max; i++) {
        rows[i].name = flat.rows[i].name;
        rows[i].calls = flat.rows[i].calls;
        rows[i].self = flat.rows[i].self;
        rows[i].incl = flat.rows[i].incl;
    }
    long n = (long)flat.count;
    dp_flat_release(&flat);
    return n;
}
