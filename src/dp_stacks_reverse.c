/* Stacks from the leaves up. The tree of all callers would have a frame for each caller of each context, which may be many
 * times the tree itself; so only what the visitor asks for is ever made: contexts that go up together, in buckets by
 * their next caller's name. */
#include "dp_stacks.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_sort.h"

#include <string.h>

/* A context that has values, on its way up. */
struct climber {
    uint32_t at, origin;
};

struct bucket {
    uint32_t name, depth;
    size_t from, to;
};

struct reversing {
    const struct dp_stacks *s;
    struct climber *stack, *scratch;
    size_t count, cap, scratch_cap;
    struct bucket *buckets;
    size_t n_buckets, buckets_cap;
    uint32_t *size;             /* by name; 0 between uses */
    uint32_t *present;          /* the names that have some */
    uint64_t *own, *all;
    const double *weight;       /* by frame, or NULL */
    double sum;                 /* of the weights */
};

static int by_number(const void *ctx, uint32_t a, uint32_t b)
{
    (void)ctx;
    return a < b ? -1 : a > b;
}

static uint32_t name_at(const struct reversing *r, const struct climber *c) { return r->s->frames[c->at].name; }

/* Puts the climbers of scratch on the stack, sorted by name, the first name on top, with their buckets. */
static int distribute(struct reversing *r, size_t n, uint32_t depth)
{
    size_t names = 0, to = r->count;
    if (dp_mem_grow((void **)&r->stack, &r->cap, r->count + n, sizeof *r->stack) < 0)
        return DP_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        uint32_t name = name_at(r, &r->scratch[i]);
        if (!r->size[name]++)
            r->present[names++] = name;
    }
    dp_sort_u32(r->present, names, by_number, NULL);
    if (dp_mem_grow((void **)&r->buckets, &r->buckets_cap, r->n_buckets + names, sizeof *r->buckets) < 0) {
        for (size_t i = 0; i < names; i++)
            r->size[r->present[i]] = 0;
        return DP_E_NOMEM;
    }
    for (size_t i = names; i-- > 0;) {
        uint32_t name = r->present[i], size = r->size[name];
        r->buckets[r->n_buckets++] = (struct bucket){ name, depth, to, to + size };
        r->size[name] = (uint32_t)to;
        to += size;
    }
    for (size_t i = 0; i < n; i++)
        r->stack[r->size[name_at(r, &r->scratch[i])]++] = r->scratch[i];
    for (size_t i = 0; i < names; i++)
        r->size[r->present[i]] = 0;
    r->count = to;
    return 0;
}

static bool has_any(const struct dp_stacks *s, uint32_t frame)
{
    for (size_t c = 0; c < s->n_columns; c++)
        if (dp_stacks_self(s, frame, c))
            return true;
    return false;
}

static void add(const struct dp_stacks *s, uint64_t *to, uint32_t frame)
{
    for (size_t c = 0; c < s->n_columns; c++)
        to[c] += dp_stacks_self(s, frame, c);
}

static int start(struct reversing *r)
{
    const struct dp_stacks *s = r->s;
    size_t n = 0;
    for (uint32_t i = 1; i < s->count; i++)
        n += has_any(s, i);
    if (dp_mem_grow((void **)&r->scratch, &r->scratch_cap, n + 1, sizeof *r->scratch) < 0)
        return DP_E_NOMEM;
    n = 0;
    for (uint32_t i = 1; i < s->count; i++)
        if (has_any(s, i))
            r->scratch[n++] = (struct climber){ i, i };
    return distribute(r, n, 1);
}

/* The climbers of a bucket that have further callers go up by one, into scratch. */
static long climb(struct reversing *r, const struct bucket *b)
{
    long n = 0;
    if (dp_mem_grow((void **)&r->scratch, &r->scratch_cap, b->to - b->from, sizeof *r->scratch) < 0)
        return DP_E_NOMEM;
    for (size_t i = b->from; i < b->to; i++) {
        uint32_t up = r->s->frames[r->stack[i].at].parent;
        if (up)
            r->scratch[n++] = (struct climber){ up, r->stack[i].origin };
    }
    return n;
}

static void sum_up(struct reversing *r, const struct bucket *b)
{
    size_t size = r->s->n_columns * sizeof *r->own;
    memset(r->own, 0, size);
    memset(r->all, 0, size);
    r->sum = 0;
    for (size_t i = b->from; i < b->to; i++) {
        r->sum += r->weight ? r->weight[r->stack[i].origin] : 0;
        add(r->s, r->all, r->stack[i].origin);
        if (!r->s->frames[r->stack[i].at].parent)
            add(r->s, r->own, r->stack[i].origin);
    }
}

static int visit(struct reversing *r, dp_stacks_enter_fn *enter, void *ctx)
{
    const struct dp_stacks *s = r->s;
    for (size_t i = 0; r->weight && i < s->count; i++)
        r->sum += r->weight[i];
    int rc = enter(ctx, 0, s->frames[0].name, s->self, s->total, r->sum);
    if (rc > 0)
        rc = start(r);
    while (rc >= 0 && r->n_buckets) {
        struct bucket b = r->buckets[--r->n_buckets];
        sum_up(r, &b);
        rc = enter(ctx, b.depth, b.name, r->own, r->all, r->sum);
        long n = rc > 0 ? climb(r, &b) : 0;
        r->count = b.from;
        if (n < 0)
            rc = (int)n;
        else if (n)
            rc = distribute(r, (size_t)n, b.depth + 1);
    }
    return rc < 0 ? rc : 0;
}

int dp_stacks_reverse(const struct dp_stacks *s, const double *weight, dp_stacks_enter_fn *enter, void *ctx)
{
    struct reversing r;
    memset(&r, 0, sizeof r);
    r.s = s;
    r.weight = weight;
    r.size = dp_mem_zalloc((s->n_names + 1) * sizeof *r.size);
    r.present = dp_mem_realloc(NULL, s->n_names + 1, sizeof *r.present);
    r.own = dp_mem_zalloc((s->n_columns + 1) * sizeof *r.own);
    r.all = dp_mem_zalloc((s->n_columns + 1) * sizeof *r.all);
    int rc = r.size && r.present && r.own && r.all ? visit(&r, enter, ctx) : DP_E_NOMEM;
    dp_mem_free(r.size);
    dp_mem_free(r.present);
    dp_mem_free(r.own);
    dp_mem_free(r.all);
    dp_mem_free(r.stack);
    dp_mem_free(r.scratch);
    dp_mem_free(r.buckets);
    return rc;
}
