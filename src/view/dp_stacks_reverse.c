/* Stacks from the leaves up, made only as far as needed. The tree of all callers is never built as
 * a whole, because it may have as many frames as the profile times their depth. The contexts are
 * sorted once by their names from the leaf up. Contexts with the same innermost frames are then
 * adjacent, so a frame of the tree is a range of contexts, and its value is the difference of two
 * sums.
 *
 * The walk goes level by level. The code that draws decides for each frame whether to go on, so the
 * walk never follows a branch that is too narrow. Each level costs only as much as it has branches.
 * The page does the same, in JavaScript, for the frame that is zoomed to. */
#include "dp_stacks.h"
#include "dp_err.h"
#include "dp_mem.h"

#include <string.h>

/* Contexts who[from..to) with the same innermost `depth` frames. */
struct bucket {
    uint32_t depth;
    size_t from, to;
    uint32_t first, last;       /* the frames at that depth above the first and the last context */
};

struct reversing {
    const struct dp_stacks *s;
    uint32_t *who;              /* contexts with values */
    size_t count;
    uint32_t *depth, *jump;     /* by frame: number of frames above it, 1 right below the root; and
                                 * a frame far above it */
    struct bucket *buckets;
    size_t n_buckets, buckets_cap;
    uint64_t *sums;             /* by number in who and column: sums over all contexts before */
    double *weights[2];         /* sums of weights, each as two numbers for more precision; NULL: no
                                 * weights */
    uint64_t *own, *all;
};

/* ---- the order ---- */

/* Sorts the numbers [0..n) in `from` by key[number], which is less than `keys`, into `to`; the sort
 * is stable. */
static void sort_by(const uint32_t *key, uint32_t *count, size_t keys, const uint32_t *from,
                    uint32_t *to, size_t n)
{
    uint32_t at = 0;
    memset(count, 0, keys * sizeof *count);
    for (size_t i = 0; i < n; i++)
        count[key[from[i]]]++;
    for (size_t k = 0; k < keys; k++) {
        uint32_t size = count[k];
        count[k] = at;
        at += size;
    }
    for (size_t i = 0; i < n; i++)
        to[count[key[from[i]]]++] = from[i];
}

/* Sorts frames by their names from the frame up. Each round doubles the number of names that count,
 * by combining two halves that have ranks already. Stacks that have ended come first. Arrays have
 * room for all frames plus one. */
static void sort_frames(const struct dp_stacks *s, uint32_t most, uint32_t *sorted, uint32_t *rank,
                        uint32_t *above, uint32_t *far, uint32_t *other, uint32_t *count)
{
    size_t n = s->count, ranks = s->n_names + 1;
    for (uint32_t i = 0; i < n; i++) {
        rank[i] = i ? s->frames[i].name + 1 : 0;    /* the root ends a stack */
        far[i] = i ? s->frames[i].parent : 0;
        other[i] = i;
    }
    sort_by(rank, count, ranks, other, sorted, n);
    for (size_t step = 1; step < (size_t)most; step *= 2) {
        for (size_t i = 0; i < n; i++)
            above[i] = rank[far[i]];
        sort_by(above, count, ranks, sorted, other, n);
        sort_by(rank, count, ranks, other, sorted, n);
        /* ranks have no gaps: with as many ranks as frames, no two frames are equal any more */
        uint32_t next = 0;
        for (size_t i = 0; i < n; i++) {
            if (i && (rank[sorted[i]] != rank[sorted[i - 1]]
                      || above[sorted[i]] != above[sorted[i - 1]]))
                next++;
            other[i] = next;
        }
        for (size_t i = 0; i < n; i++)
            rank[sorted[i]] = other[i];
        for (size_t i = n; i-- > 0;)
            above[i] = far[far[i]];
        memcpy(far, above, n * sizeof *far);
        if (next + 1 == n)
            break;
        ranks = (size_t)next + 1;
    }
}

/* Has the frame a value of its own in any column? */
static bool has_any(const struct dp_stacks *s, uint32_t frame)
{
    for (size_t c = 0; c < s->n_columns; c++)
        if (dp_stacks_self(s, frame, c))
            return true;
    return false;
}

int dp_stacks_by_leaf(const struct dp_stacks *s, uint32_t **who, size_t *count)
{
    size_t n = s->count, keys = (n > s->n_names ? n : s->n_names) + 2;
    uint32_t *room = dp_mem_realloc(NULL, 4 * (n + 1) + keys, sizeof *room);
    uint32_t *sorted = dp_mem_realloc(NULL, n + 1, sizeof *sorted);
    uint32_t most = 0;
    *who = sorted;
    *count = 0;
    if (room && sorted) {
        uint32_t *depth = room;
        for (uint32_t i = 0; i < n; i++) {
            depth[i] = i ? depth[s->frames[i].parent] + 1 : 0;
            most = depth[i] > most ? depth[i] : most;
        }
        sort_frames(s, most, sorted, room, room + (n + 1), room + 2 * (n + 1), room + 3 * (n + 1),
                    room + 4 * (n + 1));
        for (size_t i = 0; i < n; i++)
            if (sorted[i] && has_any(s, sorted[i]))
                sorted[(*count)++] = sorted[i];
    } else {
        dp_mem_free(sorted);
        *who = NULL;
    }
    int rc = *who ? 0 : DP_E_NOMEM;
    dp_mem_free(room);
    return rc;
}

/* ---- the walk ---- */

static uint32_t name_of(const struct reversing *r, uint32_t frame)
{
    return r->s->frames[frame].name;
}

/* Computes the depth of each frame, and a frame far above, such that few jumps lead to any frame
 * above. */
static void know_depths(struct reversing *r)
{
    r->depth[0] = r->jump[0] = 0;
    for (uint32_t i = 1; i < r->s->count; i++) {
        uint32_t up = r->s->frames[i].parent, over = r->jump[up];
        r->depth[i] = r->depth[up] + 1;
        bool far = r->depth[up] - r->depth[over] == r->depth[over] - r->depth[r->jump[over]];
        r->jump[i] = far ? r->jump[over] : up;
    }
}

/* The frame at a depth of the reversed stack of who[k]; the root if the stack ends before. */
static uint32_t frame_at(const struct reversing *r, size_t k, uint32_t depth)
{
    uint32_t at = r->who[k];
    if (r->depth[at] < depth)
        return 0;
    uint32_t wanted = r->depth[at] - depth + 1;
    while (r->depth[at] > wanted)
        at = r->depth[r->jump[at]] >= wanted ? r->jump[at] : r->s->frames[at].parent;
    return at;
}

/* Finds the first context after `from` that has another name at this depth, or `to`, in steps that
 * double and then halve. */
static size_t end_of(const struct reversing *r, size_t from, size_t to, uint32_t depth,
                     uint32_t name)
{
    size_t low = from, step = 1;
    while (low + step < to && name_of(r, frame_at(r, low + step, depth)) == name) {
        low += step;
        step *= 2;
    }
    size_t high = low + step < to ? low + step : to;
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        if (name_of(r, frame_at(r, mid, depth)) == name)
            low = mid;
        else
            high = mid;
    }
    return high;
}

/* Puts a bucket of stacks with the same innermost frames on the list. Returns 0 or DP_E_NOMEM. */
static int push_bucket(struct reversing *r, struct bucket b)
{
    if (dp_mem_grow((void **)&r->buckets, &r->buckets_cap, r->n_buckets + 1,
                    sizeof *r->buckets) < 0)
        return DP_E_NOMEM;
    r->buckets[r->n_buckets++] = b;
    return 0;
}

/* Divides contexts, which all have a frame at this depth, into buckets by the frame's name, the
 * first on top. first, last: the frames of the first and the last context at this depth. Returns 0
 * or DP_E_NOMEM. */
static int distribute_contexts(struct reversing *r, size_t from, size_t to, uint32_t depth,
                               uint32_t first, uint32_t last)
{
    size_t bottom = r->n_buckets;
    if (name_of(r, first) == name_of(r, last))
        return push_bucket(r, (struct bucket){ depth, from, to, first, last });
    while (from < to) {
        first = frame_at(r, from, depth);
        size_t end = end_of(r, from, to, depth, name_of(r, first));
        if (push_bucket(r, (struct bucket){ depth, from, end, first,
                        frame_at(r, end - 1, depth) }) < 0)
            return DP_E_NOMEM;
        from = end;
    }
    for (size_t low = bottom, high = r->n_buckets; low + 1 < high; low++, high--) {
        struct bucket b = r->buckets[low];
        r->buckets[low] = r->buckets[high - 1];
        r->buckets[high - 1] = b;
    }
    return 0;
}

/* Sets the sums, one a column, of the stacks from..end-1, which are the difference of two running
 * sums. */
static void sum_of(const struct reversing *r, uint64_t *to, size_t from, size_t end)
{
    size_t n = r->s->n_columns;
    for (size_t c = 0; c < n; c++)
        to[c] = r->sums[end * n + c] - r->sums[from * n + c];
}

/* Returns the weight, a measure of how much differs, of the stacks from..end-1. */
static double weight_of(const struct reversing *r, size_t from, size_t end)
{
    if (!r->weights[0])
        return 0;
    double high = r->weights[0][end] - r->weights[0][from];
    double low = r->weights[1][end] - r->weights[1][from];
    return high + low > 0 ? high + low : 0;
}

/* Computes the sums before each context. Sums of weights keep what rounding loses, because the sum
 * of a range is the difference of two. */
static void add_up(struct reversing *r, const double *weight)
{
    const struct dp_stacks *s = r->s;
    memset(r->sums, 0, s->n_columns * sizeof *r->sums);
    for (size_t k = 0; k < r->count; k++)
        for (size_t c = 0; c < s->n_columns; c++)
            r->sums[(k + 1) * s->n_columns + c]
                = r->sums[k * s->n_columns + c] + dp_stacks_self(s, r->who[k], c);
    if (!weight)
        return;
    r->weights[0][0] = r->weights[1][0] = 0;
    for (size_t k = 0; k < r->count; k++) {
        volatile double before = r->weights[0][k], more = weight[r->who[k]], after = before + more;
        volatile double taken = after - before, lost = before - (after - taken);
        r->weights[0][k + 1] = after;
        r->weights[1][k + 1] = r->weights[1][k] + lost + (more - taken);
    }
}

/* Calls `enter' for each frame of the reversed stacks, in preorder, without recursion. If it
 * returns 0, the frame's callers are left out. Returns 0 or a negative DP_E. */
static int visit_buckets(struct reversing *r, dp_stacks_enter_fn *enter, void *ctx)
{
    int rc = 1;
    if (r->count)
        rc = distribute_contexts(r, 0, r->count, 1, r->who[0], r->who[r->count - 1]);
    while (rc >= 0 && r->n_buckets) {
        struct bucket b = r->buckets[--r->n_buckets];
        size_t further = b.from;
        while (further < b.to && r->depth[r->who[further]] == b.depth)
            further++;          /* stacks that end here: at most one, except in a chart */
        sum_of(r, r->own, b.from, further);
        sum_of(r, r->all, b.from, b.to);
        rc = enter(ctx, b.depth, name_of(r, b.first), r->own, r->all, weight_of(r, b.from, b.to));
        if (rc > 0 && further < b.to) {
            uint32_t first = r->s->frames[b.first].parent;
            if (further > b.from)
                first = frame_at(r, further, b.depth + 1);
            rc = distribute_contexts(r, further, b.to, b.depth + 1, first,
                                     r->s->frames[b.last].parent);
        }
    }
    return rc < 0 ? rc : 0;
}

/* Sorts the contexts by their reversed stacks, makes the sums, and visits all frames. Releases what
 * it made. Returns 0 or a negative DP_E. */
static int go_down(struct reversing *r, const double *weight, dp_stacks_enter_fn *enter, void *ctx)
{
    const struct dp_stacks *s = r->s;
    int rc = dp_stacks_by_leaf(s, &r->who, &r->count);
    if (rc < 0)
        return rc;
    r->depth = dp_mem_realloc(NULL, s->count + 1, sizeof *r->depth);
    r->jump = dp_mem_realloc(NULL, s->count + 1, sizeof *r->jump);
    r->sums = dp_mem_realloc(NULL, (r->count + 1) * s->n_columns + 1, sizeof *r->sums);
    r->own = dp_mem_realloc(NULL, s->n_columns + 1, sizeof *r->own);
    r->all = dp_mem_realloc(NULL, s->n_columns + 1, sizeof *r->all);
    for (int k = 0; k < 2 && weight; k++)
        if (!(r->weights[k] = dp_mem_realloc(NULL, r->count + 1, sizeof *r->weights[k])))
            rc = DP_E_NOMEM;
    if (rc == 0 && r->depth && r->jump && r->sums && r->own && r->all) {
        know_depths(r);
        add_up(r, weight);
        rc = visit_buckets(r, enter, ctx);
    } else {
        rc = DP_E_NOMEM;
    }
    dp_mem_free(r->who);
    dp_mem_free(r->depth);
    dp_mem_free(r->jump);
    dp_mem_free(r->sums);
    dp_mem_free(r->weights[0]);
    dp_mem_free(r->weights[1]);
    dp_mem_free(r->own);
    dp_mem_free(r->all);
    dp_mem_free(r->buckets);
    return rc;
}

int dp_stacks_reverse(const struct dp_stacks *s, const double *weight, dp_stacks_enter_fn *enter,
                      void *ctx)
{
    struct reversing r;
    double sum = 0;
    memset(&r, 0, sizeof r);
    r.s = s;
    for (size_t i = 0; weight && i < s->count; i++)
        sum += weight[i];
    int rc = enter(ctx, 0, s->frames[0].name, s->self, s->total, sum);
    if (rc > 0)
        rc = go_down(&r, weight, enter, ctx);
    return rc < 0 ? rc : 0;
}
