#include "dp_flame.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_sort.h"

#include <math.h>
#include <string.h>

struct layout {
    struct dp_flame *flame;
    const struct dp_flame_how *how;
    const double *factor;
    double *own, *all;          /* widths, by frame: its own, and with its subtree */
    double *values[2];          /* by frame: values with the subtree, for each side; one of these
                                 * may be `all` */
    double least;               /* least width, in units of the total */
    double *next;               /* by depth: where the next box begins */
    size_t next_cap;
};

/* ---- values ---- */

static double value_of(const struct layout *l, uint32_t frame, size_t side)
{
    return (double)dp_stacks_self(l->flame->s, frame, side) * l->factor[side];
}

/* The width of a frame itself, without its subtree. */
static double width_of(const struct layout *l, uint32_t frame)
{
    if (!l->flame->two)
        return value_of(l, frame, 0);
    double before = value_of(l, frame, 0), after = value_of(l, frame, 1);
    switch (l->how->width_of) {
    case DP_FW_BEFORE: return before;
    case DP_FW_UNION:  return fmax(before, after);
    case DP_FW_CHANGE: return fabs(after - before);
    case DP_FW_AFTER:  break;
    }
    return after;
}

/* Adds up from the leaves: parents have smaller numbers. */
static void sum_up(const struct dp_stacks *s, double *v)
{
    for (size_t i = s->count; i-- > 1;)
        v[s->frames[i].parent] += v[i];
}

/* Makes room for a number of each frame. NULL: memory is short. */
static double *frame_numbers(const struct dp_stacks *s)
{
    return dp_mem_realloc(NULL, s->count + 1, sizeof(double));
}

/* Computes the widths of frames, and each side's values with the subtree, and its sum. Reversed
 * stacks are added up later, so `own' is set instead of `all'. Returns 0 or DP_E_NOMEM. */
static int take_values(struct layout *l)
{
    const struct dp_stacks *s = l->flame->s;
    size_t sides = l->flame->two ? 2 : 1;
    bool is_side = !l->flame->two || l->how->width_of == DP_FW_AFTER
                   || l->how->width_of == DP_FW_BEFORE;
    for (size_t k = 0; k < sides; k++) {
        if (!(l->values[k] = frame_numbers(s)))
            return DP_E_NOMEM;
        for (uint32_t i = 0; i < s->count; i++)
            l->values[k][i] = value_of(l, i, k);
    }
    if (l->flame->reverse) {
        l->own = is_side ? l->values[sides == 2
                                     && l->how->width_of == DP_FW_AFTER] : frame_numbers(s);
        for (uint32_t i = 0; l->own && !is_side && i < s->count; i++)
            l->own[i] = width_of(l, i);
    } else if (!is_side) {
        if (!(l->all = frame_numbers(s)))
            return DP_E_NOMEM;
        for (uint32_t i = 0; i < s->count; i++)
            l->all[i] = width_of(l, i);
        sum_up(s, l->all);
    }
    for (size_t k = 0; k < sides; k++) {
        for (uint32_t i = 0; i < s->count; i++)
            l->flame->sum[k] += l->values[k][i];
        if (!l->flame->reverse)
            sum_up(s, l->values[k]);
    }
    if (!l->flame->reverse && is_side)
        l->all = l->values[sides == 2 && l->how->width_of == DP_FW_AFTER];
    return l->own || l->all ? 0 : DP_E_NOMEM;
}

/* ---- boxes ---- */

/* Appends a box. The next box at its depth begins where this one ends, and its first kid where this
 * one begins. Returns NULL if memory is short. */
static struct dp_flame_box *new_box(struct layout *l, uint32_t name, uint32_t depth, double x,
                                    double w)
{
    struct dp_flame *f = l->flame;
    if (dp_mem_grow((void **)&f->boxes, &f->cap, f->count + 1, sizeof *f->boxes) < 0
        || dp_mem_grow((void **)&l->next, &l->next_cap, depth + 2, sizeof *l->next) < 0)
        return NULL;
    struct dp_flame_box *box = &f->boxes[f->count++];
    memset(box, 0, sizeof *box);
    box->name = name;
    box->depth = depth;
    box->x = x;
    box->w = w;
    l->next[depth] = x + w;
    l->next[depth + 1] = x;
    f->depth = depth > f->depth ? depth : f->depth;
    return box;
}

/* Makes the boxes of frames from the root up. A frame narrower than l->least is left out with its
 * subtree, and counts as hidden; its room stays empty. Returns 0 or DP_E_NOMEM. */
static int place_forward(struct layout *l)
{
    struct dp_flame *f = l->flame;
    const struct dp_stacks *s = f->s;
    uint32_t *up = NULL;        /* by depth: the frame that is drawn there */
    size_t cap = 0;
    uint32_t depth = 0;
    int rc = 0;
    for (uint32_t i = 0; i < s->count && rc == 0;) {
        while (i && s->frames[up[depth]].end <= i)
            depth--;
        uint32_t at = i ? depth + 1 : 0;
        double w = l->all[i], x = !i ? 0
                                  : s->start ? (double)s->start[i] * l->factor[0]
                                  : l->next[at];
        if (i && w < l->least) {
            l->next[at] = x + w;
            f->hidden += s->frames[i].end - i;
            f->hidden_weight += w;
            i = s->frames[i].end;
            continue;
        }
        struct dp_flame_box *box = new_box(l, s->frames[i].name, at, x, w);
        if (!box || dp_mem_grow((void **)&up, &cap, at + 1, sizeof *up) < 0) {
            rc = DP_E_NOMEM;
            break;
        }
        up[depth = at] = i;
        box->frame = i;
        for (size_t k = 0; k <= f->two; k++) {
            box->self[k] = value_of(l, i, k);
            box->all[k] = l->values[k][i];
        }
        i++;
    }
    dp_mem_free(up);
    return rc;
}

/* Makes the box of a frame of reversed stacks. Returns 1; 0 if the frame is too narrow, so that it
 * is hidden with its callers; or DP_E_NOMEM. */
static int enter_frame(void *ctx, size_t depth, uint32_t name, const uint64_t *own,
                       const uint64_t *all, double weight)
{
    struct layout *l = ctx;
    struct dp_flame *f = l->flame;
    double x = depth ? l->next[depth] : 0;
    if (depth && weight < l->least) {
        l->next[depth] = x + weight;
        f->hidden++;
        f->hidden_weight += weight;
        return 0;
    }
    struct dp_flame_box *box = new_box(l, name, (uint32_t)depth, x, weight);
    if (!box)
        return DP_E_NOMEM;
    for (size_t k = 0; k <= f->two; k++) {
        box->self[k] = (double)own[k] * l->factor[k];
        box->all[k] = (double)all[k] * l->factor[k];
    }
    return 1;
}

/* ---- order ---- */

struct ordering {
    const struct dp_flame *flame;
    int order;
    const uint32_t *parent;
};

/* Orders boxes by parent; then by width, the widest first, or by when they first ran, as wanted;
 * then by number. */
static int compare_boxes(const void *ctx, uint32_t a, uint32_t b)
{
    const struct ordering *o = ctx;
    const struct dp_flame_box *x = &o->flame->boxes[a], *y = &o->flame->boxes[b];
    if (o->parent[a] != o->parent[b])
        return o->parent[a] < o->parent[b] ? -1 : 1;
    if (o->order == DP_FO_WEIGHT && (x->w < y->w || y->w < x->w))
        return x->w > y->w ? -1 : 1;
    if (o->order == DP_FO_TIME && o->flame->s->when && !o->flame->reverse) {
        uint32_t m = o->flame->s->when[x->frame], n = o->flame->s->when[y->frame];
        if (m != n)
            return m < n ? -1 : 1;
    }
    return a < b ? -1 : 1;
}

/* Places siblings from the left in the wanted order. Space for frames that are not drawn follows
 * them. Boxes stay in preorder; only their places change. Returns 0 or DP_E_NOMEM. */
static int put_in_order(struct dp_flame *f, int order)
{
    size_t n = f->count;
    uint32_t *parent = dp_mem_realloc(NULL, n + 1, sizeof *parent),
             *sorted = dp_mem_realloc(NULL, n + 1, sizeof *sorted);
    uint32_t *up = dp_mem_realloc(NULL, (size_t)f->depth + 2, sizeof *up);
    double *next = dp_mem_realloc(NULL, n + 1, sizeof *next);
    int rc = parent && sorted && up && next ? 0 : DP_E_NOMEM;
    for (uint32_t i = 0; rc == 0 && i < n; i++) {
        parent[i] = i ? up[f->boxes[i].depth - 1] : 0;
        up[f->boxes[i].depth] = i;
        sorted[i] = i;
    }
    if (rc == 0 && n > 1) {
        struct ordering o = { f, order, parent };
        dp_sort_u32(sorted + 1, n - 1, compare_boxes, &o);
        next[0] = f->boxes[0].x;
        for (size_t i = 1; i < n; i++) {        /* group by parent: parents come before their
                                                 * kids */
            struct dp_flame_box *box = &f->boxes[sorted[i]];
            box->x = next[parent[sorted[i]]];
            next[parent[sorted[i]]] += box->w;
            next[sorted[i]] = box->x;
        }
    }
    dp_mem_free(parent);
    dp_mem_free(sorted);
    dp_mem_free(up);
    dp_mem_free(next);
    return rc;
}

/* ---- changes ---- */

struct dp_name dp_flame_plain(const struct dp_name *name)
{
    size_t n = name->len, blanks = 0;
    bool marked = n > 4 && memcmp(name->ptr + n - 4, "_[", 2) == 0
                  && strchr("kwij", name->ptr[n - 2]) && name->ptr[n - 1] == ']';
    while (blanks < n && name->ptr[blanks] == ' ')
        blanks++;
    if (n && blanks == n)
        return (struct dp_name){ "(blank)", 7 };
    return (struct dp_name){ name->ptr, marked ? n - 4 : n };
}

double dp_flame_delta(const double of[2])
{
    double delta = of[1] - of[0];
    return fabs(delta) > 1e-11 * (of[0] + of[1]) ? delta : 0;
}

/* Sets flame->changed, the sum of all frames' own changes, and flame->greatest, the greatest change
 * of any frame, drawn or not, so colours do not depend on what is drawn. In a reversed graph, only
 * frames that are drawn count. */
static void measure_changes(struct layout *l)
{
    struct dp_flame *f = l->flame;
    for (uint32_t i = 0; i < f->s->count; i++) {
        double self = fabs(dp_flame_delta((double[]){ value_of(l, i, 0), value_of(l, i, 1) }));
        f->changed += self;
        if (!f->reverse && !f->by_total)
            f->greatest = fmax(f->greatest, self);
        if (!f->reverse && f->by_total && i)
            f->greatest = fmax(
                f->greatest, fabs(dp_flame_delta((double[]){ l->values[0][i], l->values[1][i] })));
    }
    for (size_t i = 1; f->reverse && i < f->count; i++)
        if (f->by_total || f->boxes[i].depth == 1)
            f->greatest = fmax(f->greatest, fabs(dp_flame_delta(f->boxes[i].all)));
}

/* The strength of a colour for a change, in proportion to it. */
static double shade_of(double part)
{
    return fabs(part) < DP_FLAME_NEUTRAL ? 0 : fmax(-1, fmin(1, part));
}

double dp_flame_change(const struct dp_flame *flame, const struct dp_flame_box *box)
{
    if (!flame->two || !(flame->greatest > 0))
        return 0;
    if (flame->hue)
        return box->w > 0 ? shade_of(dp_flame_delta(box->all) / box->w) : 0;
    /* own changes are at the root of a reversed graph */
    if (flame->reverse && !flame->by_total)
        return box->depth == 1 ? shade_of(dp_flame_delta(box->all) / flame->greatest) : 0;
    return shade_of(dp_flame_delta(flame->by_total ? box->all : box->self) / flame->greatest);
}

/* ---- the graph ---- */

int dp_flame_make(struct dp_flame *flame, const struct dp_stacks *s, const struct dp_flame_how *how,
                  const double *factor, double least)
{
    struct layout l;
    memset(flame, 0, sizeof *flame);
    memset(&l, 0, sizeof l);
    flame->s = s;
    flame->two = s->n_sides > 1;
    flame->reverse = how->reverse;
    flame->by_total = how->by_total;
    flame->hue = how->hue;
    for (size_t k = 0; k < s->n_sides && k < 2; k++)
        flame->real[k] = how->is_pair ? (double)s->hz[0] / (double)s->hz[k] / factor[k] : 1;
    l.flame = flame;
    l.how = how;
    l.factor = factor;
    int rc = take_values(&l);
    if (rc == 0) {
        double whole = 0;
        for (size_t i = 0; flame->reverse && i < s->count; i++)
            whole += l.own[i];
        flame->total = fmax(flame->reverse ? whole : l.all[0], how->total * (double)s->hz[0]);
        l.least = least * flame->total;
        rc = flame->reverse ? dp_stacks_reverse(s, l.own, enter_frame, &l) : place_forward(&l);
    }
    if (rc == 0 && flame->count) {
        flame->boxes[0].w = flame->total;
        if (flame->two)
            measure_changes(&l);
        if (how->order != DP_FO_NAME && !s->start)
            rc = put_in_order(flame, how->order);
    }
    double *all = l.all, *own = l.own;
    for (size_t k = 0; k < 2; k++) {
        all = all == l.values[k] ? NULL : all;
        own = own == l.values[k] ? NULL : own;
        dp_mem_free(l.values[k]);
    }
    dp_mem_free(all);
    dp_mem_free(own);
    dp_mem_free(l.next);
    if (rc < 0)
        dp_flame_release(flame);
    return rc;
}

void dp_flame_release(struct dp_flame *flame)
{
    dp_mem_free(flame->boxes);
    memset(flame, 0, sizeof *flame);
}
