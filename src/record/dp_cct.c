#include "dp_cct.h"
#include "dp_err.h"
#include "dp_mem.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_NODES = 256,          /* in the first piece; the next ones double */
    MOST_NODES = 16384,
    HISTOGRAMS = 128            /* in a piece */
};

#define CHECK_AT(field, at)  DP_CHECK(field, offsetof(struct dp_cct_node, field) == (at))
CHECK_AT(number, DP_PIECE_N_NUMBER);
CHECK_AT(parent, DP_PIECE_N_PARENT);
CHECK_AT(id, DP_PIECE_N_ID);
CHECK_AT(site, DP_PIECE_N_SITE);
CHECK_AT(calls, DP_PIECE_N_CALLS);
CHECK_AT(real, DP_PIECE_N_REAL);
CHECK_AT(wait, DP_PIECE_N_WAIT);
CHECK_AT(sys, DP_PIECE_N_SYS);
CHECK_AT(ops, DP_PIECE_N_OPS);
CHECK_AT(longest, DP_PIECE_N_LONGEST);
CHECK_AT(shortest, DP_PIECE_N_SHORTEST);
CHECK_AT(folded, DP_PIECE_N_FOLDED);
CHECK_AT(counts, DP_PIECE_N_COUNTS);
DP_CHECK(node, sizeof(struct dp_cct_node) == DP_PIECE_N_COUNTS);
DP_CHECK(histogram, sizeof(struct dp_cct_histogram) == DP_PIECE_HISTOGRAM);

/* Makes room for one more context. Returns false if memory is short. */
static bool make_room(struct dp_cct *cct)
{
    if (cct->count < cct->made)
        return true;
    if (!cct->free_count) {
        size_t n = cct->count < FIRST_NODES ? FIRST_NODES : cct->count;
        if (n > MOST_NODES)
            n = MOST_NODES;
        cct->free = dp_live_add(cct->live, DP_LIVE_NODES, n * cct->node_size);
        if (!cct->free)
            return false;
        cct->free_count = n;
    }
    return dp_mem_grow((void **)&cct->nodes, &cct->cap, cct->count + 1, sizeof *cct->nodes) == 0;
}

/* Takes the next free node: one that dp_cct_clear has left, or else one of the newest piece. The
 * caller has made room. */
static struct dp_cct_node *new_node(struct dp_cct *cct)
{
    if (cct->count < cct->made)
        return cct->nodes[cct->count++];
    struct dp_cct_node *node = cct->free;
    cct->free = (struct dp_cct_node *)((char *)node + cct->node_size);
    cct->free_count--;
    cct->nodes[cct->count++] = node;
    return node;
}

void dp_cct_begin(struct dp_cct *cct)
{
    static size_t trees;
    cct->serial = __atomic_add_fetch(&trees, 1, __ATOMIC_RELAXED);
    memset(cct->recent, 0, sizeof cct->recent);
}

/* Makes the root node of a calling context tree. Returns 0 or DP_E_NOMEM. */
static int make_root(struct dp_cct *cct)
{
    dp_cct_begin(cct);
    cct->root = make_room(cct) ? new_node(cct) : NULL;
    if (!cct->root)
        return DP_E_NOMEM;
    cct->root->number = 1;
    return 0;
}

int dp_cct_init(struct dp_cct *cct, struct dp_live *live, struct dp_cct_node *idle, size_t limit,
                size_t n_counts)
{
    memset(cct, 0, sizeof *cct);
    cct->live = live;
    cct->limit = limit;
    cct->n_counts = n_counts;
    cct->node_size = sizeof *cct->root + n_counts * sizeof cct->root->counts[0];
    cct->idle = idle;
    return make_root(cct);
}

int dp_cct_renew(struct dp_cct *cct)
{
    cct->count = cct->made = cct->free_count = cct->free_histograms = 0;
    cct->folded = 0;
    dp_when_clear(&cct->when);
    dp_map_clear(&cct->children);
    if (cct->histograms)
        memset(cct->histograms, 0, cct->histograms_cap * sizeof *cct->histograms);
    return make_root(cct);
}

void dp_cct_release(struct dp_cct *cct)
{
    dp_mem_free(cct->nodes);
    dp_mem_free(cct->histograms);
    dp_map_release(&cct->children);
    dp_map_release(&cct->keys);
    dp_when_release(&cct->when);
    memset(cct, 0, sizeof *cct);
}

/* Finds or makes the histogram of a sub, in memory that survives the process. Returns NULL if
 * memory is short. */
static struct dp_cct_histogram *histogram_of(struct dp_cct *cct, uint32_t id)
{
    if (dp_mem_grow_cleared((void **)&cct->histograms, &cct->histograms_cap, (size_t)id + 1,
                            sizeof *cct->histograms) < 0)
        return NULL;
    if (cct->histograms[id])
        return cct->histograms[id];
    if (!cct->free_histograms) {
        cct->free_histogram = dp_live_add(cct->live, DP_LIVE_HISTOGRAMS,
                                          HISTOGRAMS * sizeof *cct->free_histogram);
        if (!cct->free_histogram)
            return NULL;
        cct->free_histograms = HISTOGRAMS;
    }
    struct dp_cct_histogram *h = cct->free_histogram++;
    cct->free_histograms--;
    h->id = id;
    return cct->histograms[id] = h;
}

enum { RESUMED = 1 << 30 };     /* a flag above the DP_PIECE_ID_BITS bits of an id */
#define PLACED  (UINT32_C(1) << 31)     /* a flag of keys for an id with a place */

/* Returns one number for sub and place, which makes a 64-bit key with the parent's number.
 * DP_MAP_NONE: memory is short. */
static uint32_t key_of(struct dp_cct *cct, uint32_t id, uint32_t site)
{
    if (!site)
        return id;
    struct dp_map_slot *slot = dp_map_put(&cct->keys, (uint64_t)site << 32 | id);
    if (!slot)
        return DP_MAP_NONE;
    if (slot->value == DP_MAP_NONE)
        slot->value = PLACED | (uint32_t)cct->keys.used;
    return slot->value;
}

/* Finds the context that a call shares if it gets none of its own: the nearest one of the same sub
 * above; NULL: there is none. Counts the call as folded. Only contexts of resumed calls have no
 * histogram. */
static struct dp_cct_node *share_context(struct dp_cct *cct, struct dp_cct_node *node, uint32_t id,
                                         bool resumed)
{
    cct->folded++;
    for (struct dp_cct_node *n = node; n; n = n->up)
        if (n->id == id && !n->histogram == resumed) {
            n->folded++;
            return n;
        }
    return NULL;
}

/* Makes a context and puts it into its parent's slot. The caller has made room. */
static struct dp_cct_node *add_child(struct dp_cct *cct, struct dp_cct_node *node,
                                     struct dp_map_slot *slot, uint32_t id, uint32_t site,
                                     bool resumed)
{
    struct dp_cct_node *child = new_node(cct);
    slot->value = (uint32_t)cct->count;
    child->id = id;
    child->site = site;
    child->up = node;
    child->parent = node->number;
    child->histogram = resumed ? NULL : histogram_of(cct, id);
    child->number = (uint32_t)cct->count;
    return child;
}

/* Computes a call's key in the map `children`. Returns false if memory is short. */
DP_INLINE bool edge_of(struct dp_cct *cct, const struct dp_cct_node *node, uint32_t id,
                       uint32_t site, bool resumed, uint64_t *edge)
{
    uint32_t key = key_of(cct, resumed ? id | RESUMED : id, site);
    *edge = (uint64_t)node->number << 32 | key;
    return key != DP_MAP_NONE;
}

/* Makes a context that the map does not have, or finds the one that the call shares. Returns the
 * root if memory is short. */
static DP_NOINLINE struct dp_cct_node *new_child(struct dp_cct *cct, struct dp_cct_node *node,
                                                 uint32_t id, uint32_t site, bool resumed)
{
    uint64_t edge;
    if (cct->count >= cct->limit) {
        struct dp_cct_node *same = share_context(cct, node, id, resumed);
        if (same || resumed)
            return same ? same : cct->root;
        /* The call is no recursion: it shares a context right below the root, one for each sub. */
        node = cct->root;
        site = 0;
    }
    if (!edge_of(cct, node, id, site, resumed, &edge))
        return cct->root;
    /* Make room first, so that each edge in the map has its context, whatever fails. */
    struct dp_map_slot *slot = make_room(cct) ? dp_map_put(&cct->children, edge) : NULL;
    if (slot && slot->value != DP_MAP_NONE)
        return cct->nodes[slot->value - 1];
    return slot ? add_child(cct, node, slot, id, site, resumed) : cct->root;
}

/* Returns the node of a sub that is called from a node at a site, made if it is missing; the root
 * if memory is short. */
static struct dp_cct_node *child_of(struct dp_cct *cct, struct dp_cct_node *node, uint32_t id,
                                    uint32_t site, bool resumed)
{
    uint64_t edge;
    struct dp_map_slot *slot = edge_of(cct, node, id, site, resumed, &edge)
                                   ? dp_map_find(&cct->children, edge) : NULL;
    return slot ? cct->nodes[slot->value - 1] : new_child(cct, node, id, site, resumed);
}

/* The slot of a call in the cache of recent calls. With places, the maps need two look-ups, which
 * the cache saves. The multipliers are those of xxHash (public domain). */
DP_INLINE struct dp_cct_node **recent_of(struct dp_cct *cct, const struct dp_cct_node *node,
                                         uint32_t id, uint32_t site)
{
    uint32_t hash = node->number * UINT32_C(0x9e3779b1) + id * UINT32_C(0x85ebca77)
                    + site * UINT32_C(0xc2b2ae3d);
    return &cct->recent[hash >> 16 & (DP_CCT_RECENT - 1)];
}

struct dp_cct_node *dp_cct_child(struct dp_cct *cct, struct dp_cct_node *node, uint32_t id,
                                 uint32_t site)
{
    if (node == cct->idle)
        return node;
    struct dp_cct_node **recent = recent_of(cct, node, id, site), *child = *recent;
    if (child && child->up == node && child->id == id && child->site == site)
        return node->last = child;
    child = child_of(cct, node, id, site, false);
    return child->up == node ? *recent = node->last = child : child;
}

struct dp_cct_node *dp_cct_resumed(struct dp_cct *cct, struct dp_cct_node *node, uint32_t id,
                                   uint32_t site)
{
    return node == cct->idle ? node : child_of(cct, node, id, site, true);
}

/* ---- writing ---- */

struct writing {
    const struct dp_cct *cct;
    struct dp_cct_text *how;
    struct dp_buf *out;
    uint32_t *rank;             /* by id: its place in the order of names, from 1 up */
    uint32_t *order;            /* ids by rank */
    uint32_t *site_rank;
    struct dp_cct_node **sorted;    /* by parent, name, place */
    uint32_t *first;            /* by a parent's number: index of its first child in sorted */
    bool *used;                 /* by rank: whether the name is written; NULL: all are */
    struct dp_when_stretch *when;       /* sorted; NULL: not written */
    struct dp_cct_rest acc;
    uint64_t real, cpu, sys;
};

/* Compares names by their bytes. */
static int compare_names(const void *a, const void *b)
{
    const struct dp_name *x = *(const struct dp_name *const *)a,
                         *y = *(const struct dp_name *const *)b;
    size_t n = x->len < y->len ? x->len : y->len;
    int c = memcmp(x->ptr, y->ptr, n);
    return c ? c : x->len < y->len ? -1 : x->len > y->len;
}

/* Returns ranks from 1 up for the n names of a pool, by their bytes; NULL if memory is short. */
static uint32_t *rank_names(const struct dp_pool *pool)
{
    size_t n = pool ? pool->count : 0;
    uint32_t *rank = dp_mem_realloc(NULL, n + 1, sizeof *rank);
    const struct dp_name **sorted = dp_mem_realloc(NULL, n + 1, sizeof *sorted);
    if (!rank || !sorted) {
        dp_mem_free(rank);
        dp_mem_free(sorted);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        sorted[i] = &pool->names[i];
    qsort(sorted, n, sizeof *sorted, compare_names);
    rank[0] = 0;
    for (size_t i = 0; i < n; i++)
        rank[sorted[i] - pool->names + 1] = (uint32_t)i + 1;
    dp_mem_free(sorted);
    return rank;
}

/* Sorts nodes by a key below n, stably. qsort cannot do that, because it has no argument for the
 * ranks. count has n + 1 elements; afterwards it holds where the nodes of each key end. */
static void sort_by(struct dp_cct_node **to, struct dp_cct_node **from, size_t nodes,
                    uint32_t (*key)(const struct writing *, const struct dp_cct_node *),
                    const struct writing *w, uint32_t *count, size_t n)
{
    memset(count, 0, (n + 1) * sizeof *count);
    for (size_t i = 0; i < nodes; i++)
        count[key(w, from[i]) + 1]++;
    for (size_t i = 1; i <= n; i++)
        count[i] += count[i - 1];
    for (size_t i = 0; i < nodes; i++)
        to[count[key(w, from[i])]++] = from[i];
}

static uint32_t key_name(const struct writing *w, const struct dp_cct_node *n)
{
    return w->rank[n->id];
}
static uint32_t key_site(const struct writing *w, const struct dp_cct_node *n)
{
    return w->site_rank[n->site];
}
static uint32_t key_parent(const struct writing *w, const struct dp_cct_node *n)
{
    (void)w;
    return n->parent;
}

/* Frees what writing a tree has made. */
static void release_writing(struct writing *w)
{
    dp_mem_free(w->rank);
    dp_mem_free(w->order);
    dp_mem_free(w->site_rank);
    dp_mem_free(w->sorted);
    dp_mem_free(w->first);
    dp_mem_free(w->used);
    dp_mem_free(w->when);
}

/* Has the name a seq=, as those of anonymous subs have? Readers number the anonymous subs of a line
 * by the names in a file, so each part has these names. */
static bool has_rank(const struct dp_name *name)
{
    return strstr(name->ptr, " seq=") != NULL;
}

/* Marks the names to write: those of the tree and its lines, and those that no earlier part has.
 * Returns 0 or DP_E_NOMEM. */
static int find_used(struct writing *w)
{
    const struct dp_cct *cct = w->cct;
    const struct dp_lines *lines = w->how->lines;
    w->used = dp_mem_zalloc(w->how->names->count + 1);
    if (!w->used)
        return DP_E_NOMEM;
    for (size_t id = 1; id <= w->how->names->count; id++)
        w->used[w->rank[id]] = id > w->how->named || has_rank(dp_pool_name(w->how->names, id - 1));
    for (size_t i = 0; i < cct->count; i++)
        w->used[w->rank[cct->nodes[i]->id]] = true;
    for (size_t i = 0; lines && i < lines->n; i++)
        if (lines->at[i])
            w->used[w->rank[lines->at[i]->sub]] = true;
    for (size_t id = 1; id < w->how->n_rows; id++)
        if (w->how->rows[id])
            w->used[w->rank[id]] = true;
    return 0;
}

/* Sorts the nodes for writing: w->sorted has the kids of each parent together, by name and then by
 * place; w->first has where they begin. Returns 0 or DP_E_NOMEM. */
static int prepare_writing(struct writing *w)
{
    const struct dp_cct *cct = w->cct;
    size_t nodes = cct->count, ids = w->how->names->count;
    size_t sites = w->how->sites ? w->how->sites->count : 0;
    size_t most = nodes > ids ? nodes : ids;
    if (sites > most)
        most = sites;
    w->rank = rank_names(w->how->names);
    w->site_rank = rank_names(w->how->sites);
    w->order = dp_mem_zalloc((ids + 2) * sizeof *w->order);
    w->sorted = dp_mem_realloc(NULL, nodes + 1, sizeof *w->sorted);
    w->first = dp_mem_realloc(NULL, most + 4, sizeof *w->first);
    struct dp_cct_node **other = dp_mem_realloc(NULL, nodes + 1, sizeof *other);
    if (!w->rank || !w->site_rank || !w->order || !w->sorted || !w->first || !other) {
        dp_mem_free(other);
        return DP_E_NOMEM;
    }
    for (size_t id = 1; id <= ids; id++)
        w->order[w->rank[id]] = (uint32_t)id;
    if (sites)
        sort_by(other, cct->nodes, nodes, key_site, w, w->first, sites + 2);
    sort_by(w->sorted, sites ? other : cct->nodes, nodes, key_name, w, w->first, ids + 2);
    sort_by(other, w->sorted, nodes, key_parent, w, w->first, nodes + 2);
    memcpy(w->sorted, other, nodes * sizeof *other);
    dp_mem_free(other);
    for (size_t p = nodes + 2; p > 0; p--)
        w->first[p] = w->first[p - 1];
    w->first[0] = 0;
    return 0;
}

/* Adds ticks to a running sum. Returns the whole ticks that were not returned before. The remainder
 * stays in acc, so all results together are the floor of the whole sum. */
static uint64_t whole_ticks(double *acc, uint64_t *done, double ticks)
{
    *acc += ticks;
    uint64_t now = (uint64_t)*acc;
    uint64_t d = now > *done ? now - *done : 0;
    *done += d;
    return d;
}

/* Writes a node's line, and adds its values to the sums of w->how. Each time is rounded to whole
 * ticks, and the remainder goes on to the next node, so that no time is lost. */
static void put_node(struct writing *w, const struct dp_cct_node *n, size_t depth)
{
    double f = w->how->ticks_per_stamp;
    uint64_t wait = n->wait < n->real ? n->wait : n->real;
    uint64_t real = whole_ticks(&w->acc.real, &w->real, (double)n->real * f);
    uint64_t cpu = whole_ticks(&w->acc.cpu, &w->cpu, (double)(n->real - wait) * f);
    if (cpu > real) {           /* an earlier remainder is due: leave it to the next node */
        w->cpu -= cpu - real;
        cpu = real;
    }
    uint64_t sys = whole_ticks(&w->acc.sys, &w->sys, (double)n->sys * f);
    if (sys > cpu) {
        w->sys -= sys - cpu;
        sys = cpu;
    }
    w->how->real += real;
    w->how->sys += sys;
    w->how->user += cpu - sys;
    w->how->calls += n->calls;
    uint64_t counters[1 + DP_FMT_COUNTERS];
    size_t n_counters = 0;
    if (w->how->ops)
        counters[n_counters++] = n->ops;
    for (size_t i = 0; i < w->cct->n_counts && n_counters < DP_FMT_COUNTERS; i++)
        counters[n_counters++] = n->counts[i];
    struct dp_fmt_context c = {
        .depth = depth,
        .id = w->rank[n->id],
        .calls = n->calls,
        .counters = counters,
        .n_counters = n_counters,
        .folded = n->folded,
    };
    if (!w->how->no_times) {
        c.t[DP_USER] = cpu - sys;
        c.t[DP_SYSTEM] = sys;
        c.t[DP_REAL] = real;
    }
    if (!w->how->no_times && dp_cct_has_span(n)) {
        c.longest = (uint64_t)((double)n->longest * f);
        c.shortest = (uint64_t)((double)n->shortest * f);
    }
    if (n->site) {
        const struct dp_name *at = dp_pool_name(w->how->sites, n->site - 1);
        c.at = at->ptr;
        c.at_len = at->len;
    }
    if (w->when && n == w->cct->root)
        c.unit = w->how->when.unit;
    dp_fmt_context(w->out, &c);
    if (w->when) {
        w->out->len -= w->out->err ? 0 : 1;     /* the key belongs to the line */
        dp_when_write(w->when, w->cct->when.n, w->cct->when.halved, n->number, &w->how->when,
                      w->out);
        dp_buf_addc(w->out, '\n');
    }
}

/* Appends a line for each sub: its number in the file, and its name. w->used leaves out subs that
 * earlier parts of the recording have and this one does not use; NULL: all are written. */
static void put_names(struct writing *w)
{
    const struct dp_pool *names = w->how->names;
    for (size_t r = 1; r <= names->count; r++) {
        if (w->used && !w->used[r])
            continue;
        const struct dp_name *name = dp_pool_name(names, w->order[r] - 1);
        dp_buf_adds(w->out, "& ");
        dp_buf_addx(w->out, r);
        dp_buf_addc(w->out, ' ');
        dp_buf_add(w->out, name->ptr, name->len);
        dp_buf_addc(w->out, '\n');
    }
}

/* Writes the durations of calls of each sub, by the numbers that the file gives the subs. */
static void put_histograms(struct writing *w)
{
    const struct dp_cct *cct = w->cct;
    for (size_t r = 1; r <= w->how->names->count && !w->how->no_times; r++) {
        uint32_t id = w->order[r];
        const struct dp_cct_histogram *h = id < cct->histograms_cap ? cct->histograms[id] : NULL;
        if (h)
            dp_fmt_histogram(w->out, (uint32_t)r, h->count);
    }
}

/* Writes how many rows the statements of spans have given, where that is known. */
static void put_rows(struct writing *w)
{
    for (size_t r = 1; r <= w->how->names->count; r++)
        if (w->order[r] < w->how->n_rows && w->how->rows[w->order[r]])
            dp_fmt_rows(w->out, (uint32_t)r, w->how->rows[w->order[r]] - 1);
}

/* Writes depth first without recursion: a child's number leads to its own children, its parent's to
 * its next sibling. */
static void put_nodes(struct writing *w)
{
    const struct dp_cct *cct = w->cct;
    uint32_t *next = w->first;          /* by number: its next child to write */
    const struct dp_cct_node *n = cct->root;
    size_t depth = 0;
    put_node(w, n, depth);
    while (n) {
        uint32_t i = next[n->number];
        if (i < cct->count && w->sorted[i]->parent == n->number) {
            next[n->number] = i + 1;
            n = w->sorted[i];
            put_node(w, n, ++depth);
        } else {
            n = n->up;
            depth--;
        }
    }
}

/* Sorts the stretches of samples, and computes their unit in the file. Returns 0 or DP_E_NOMEM. */
static int prepare_when(struct writing *w)
{
    const struct dp_when *when = &w->cct->when;
    struct dp_when_text *how = &w->how->when;
    double unit = how->ticks * (double)(UINT64_C(1) << when->halved);
    if (!when->n || !(how->ticks > 0) || w->how->no_times)
        return 0;
    how->unit = unit > 1 ? (uint64_t)(unit + 0.5) : 1;
    w->when = dp_when_sorted(when);
    return w->when ? 0 : DP_E_NOMEM;
}

/* Appends the statements, if they were recorded. put_nodes has computed the sums of the contexts
 * before, which the statements are made to equal. Returns 0 or a DP_E. */
static int put_statements(const struct writing *w)
{
    struct dp_lines_text how = {
        .rank = w->rank,
        .sites = w->how->sites,
        .ticks_per_stamp = w->how->ticks_per_stamp,
        .ops = w->how->ops,
        .no_times = w->how->no_times,
        .counts_only = !w->how->line_times,
        .real = w->how->real,
        .cpu = w->how->user + w->how->sys,
        .sys = w->how->sys,
    };
    return dp_lines_write(w->how->lines, &how, w->out);
}

int dp_cct_write(const struct dp_cct *cct, struct dp_cct_text *how, struct dp_buf *out)
{
    struct writing w = { .cct = cct, .how = how, .out = out, .acc = how->rest };
    how->user = how->sys = how->real = how->calls = 0;
    int rc = prepare_writing(&w);
    if (rc == 0)
        rc = prepare_when(&w);
    if (rc == 0 && how->named)
        rc = find_used(&w);
    if (rc == 0) {
        put_names(&w);
        put_nodes(&w);
        put_histograms(&w);
        put_rows(&w);
        rc = out->err;
        if (rc == 0 && how->lines)
            rc = put_statements(&w);
    }
    how->rest.real = w.acc.real - (double)w.real;
    how->rest.cpu = w.acc.cpu - (double)w.cpu;
    how->rest.sys = w.acc.sys - (double)w.sys;
    release_writing(&w);
    return rc;
}
