#include "dp_stacks_apportion.h"
#include "dp_err.h"
#include "dp_fmt.h"
#include "dp_mem.h"
#include "dp_num.h"
#include "dp_sort.h"

#include <string.h>

/* ---- which names have lines ---- */

/* The name of a frame; parts and phases count as the program. */
static uint32_t name_of(const struct dp_stacks_apportion *w, uint32_t frame)
{
    uint32_t name = w->s->frames[frame].name;
    unsigned char kind = w->s->names[name].kind;
    return kind == DP_KIND_PART || kind == DP_KIND_PHASE ? w->program : name;
}

static uint32_t lines_of(const struct dp_stacks_apportion *w, uint32_t name)
{
    return w->first[name + 1] - w->first[name];
}

/* Compares indices by the numbers that they stand for. */
static int by_number(const void *ctx, uint32_t a, uint32_t b)
{
    const uint64_t *numbers = ctx;
    return numbers[a] != numbers[b] ? (numbers[a] < numbers[b] ? -1 : 1) : (a > b) - (a < b);
}

static uint64_t capped_product(uint64_t a, uint64_t b)
{
    return a && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

/* If there is no room for the lines of all names, chooses the names that would become longest;
 * their whole value goes to their first lines. cost: by name, the amount of numbers of its stacks
 * without lines. */
static void choose_whole_names(struct dp_stacks_apportion *w, uint64_t *cost, uint32_t *order)
{
    uint64_t room = 0;
    for (uint32_t n = 0; n < w->s->n_names; n++) {
        room = dp_count_add(room, cost[n]);
        cost[n] = capped_product(cost[n], lines_of(w, n) > 1 ? lines_of(w, n) - 1 : 0);
        order[n] = n;
    }
    room = capped_product(room, DP_APPORTION_TIMES - 1);
    room = room > DP_APPORTION_LEAST ? room : DP_APPORTION_LEAST;
    dp_sort_u32(order, w->s->n_names, by_number, cost);
    for (size_t i = 0; i < w->s->n_names; i++) {
        uint32_t n = order[i];
        w->whole[n] = cost[n] > room || !lines_of(w, n);
        room -= w->whole[n] ? 0 : cost[n];
    }
}

/* Fills in w->whole: true for names without lines, and for those whose lines would need too much
 * room, as each line multiplies the stacks of the name's frames. depth: by frame. Returns 0 or
 * DP_E_NOMEM. */
static int choose_names(struct dp_stacks_apportion *w, const uint32_t *depth)
{
    uint64_t *cost = dp_mem_zalloc((w->s->n_names + 1) * sizeof *cost);
    uint32_t *order = dp_mem_realloc(NULL, w->s->n_names + 1, sizeof *order);
    if (cost && order) {
        for (uint32_t i = 0; i < w->s->count; i++)
            cost[name_of(w, i)] += depth[i] + 1;
        choose_whole_names(w, cost, order);
    }
    int rc = cost && order ? 0 : DP_E_NOMEM;
    dp_mem_free(cost);
    dp_mem_free(order);
    return rc;
}

/* ---- the lines of names ---- */

/* Has one of the profiles times of lines? */
static bool has_line_times(const struct dp_stacks *s)
{
    for (size_t k = 0; k < s->n_sources; k++)
        if (s->sources[k].part->prof->line_times)
            return true;
    return false;
}

/* Finds where the lines of each name begin, the sums of their values, and the program's name, and
 * makes room for the shares of one frame. Returns 0 or DP_E_NOMEM. */
static int index_lines(struct dp_stacks_apportion *w)
{
    const struct dp_stacks *s = w->s;
    uint32_t most = 1;
    w->first = dp_mem_zalloc((s->n_names + 2) * sizeof *w->first);
    w->left = dp_mem_zalloc((s->n_names * s->n_columns + 1) * sizeof *w->left);
    w->whole = dp_mem_zalloc((s->n_names + 1) * sizeof *w->whole);
    if (!w->first || !w->left || !w->whole)
        return DP_E_NOMEM;
    for (size_t i = 0; i < w->lines.count; i++) {
        uint32_t name = w->lines.lines[i].name;
        w->first[name + 1]++;
        for (size_t c = 0; c < s->n_columns; c++) {
            uint64_t *left = &w->left[name * s->n_columns + c];
            *left = dp_count_add(*left, dp_stacks_line_self(&w->lines, i, c));
        }
    }
    for (uint32_t n = 0; n < s->n_names; n++) {
        most = w->first[n + 1] > most ? w->first[n + 1] : most;
        w->first[n + 1] += w->first[n];
    }
    while (s->names[w->program].kind != DP_KIND_PROGRAM)
        w->program++;
    w->shares = dp_mem_realloc(NULL, most, sizeof *w->shares);
    w->self = dp_mem_realloc(NULL, most * s->n_columns + 1, sizeof *w->self);
    return w->shares && w->self ? 0 : DP_E_NOMEM;
}

int dp_stacks_apportion_init(struct dp_stacks_apportion *w, const struct dp_stacks *s,
                             const struct dp_stacks_how *how, const uint32_t *depth)
{
    memset(w, 0, sizeof *w);
    w->s = s;
    if (!how->by_site || how->phase || !has_line_times(s))
        return 0;
    int rc = dp_stacks_lines_make(&w->lines, s, how, true);
    rc = rc < 0 ? rc : index_lines(w);
    rc = rc < 0 ? rc : choose_names(w, depth);
    w->used = rc == 0;
    if (rc < 0)
        dp_stacks_apportion_release(w);
    return rc;
}

void dp_stacks_apportion_release(struct dp_stacks_apportion *w)
{
    dp_stacks_lines_release(&w->lines);
    dp_mem_free(w->first);
    dp_mem_free(w->left);
    dp_mem_free(w->whole);
    dp_mem_free(w->shares);
    dp_mem_free(w->self);
    memset(w, 0, sizeof *w);
}

/* ---- shares ---- */

/* Gives the lines of a name their parts of v, from what they have left in a column. Imagine the
 * lines in a row, each as long as its rest, and v points at equal distances: a line gets a tick for
 * each point in it. So a line never gets more than it has left, and its part is exact to less than
 * one tick. Returns the amount that exceeds the rest of all lines. */
static uint64_t give_lines(struct dp_stacks_apportion *w, uint32_t name, size_t column, uint64_t v)
{
    size_t columns = w->s->n_columns;
    uint64_t *left = &w->left[name * columns + column], row = *left, until = 0, given = 0;
    uint64_t rest = v > row ? v - row : 0;
    if (!row || !v)
        return v;
    v -= rest;
    uint64_t start = dp_num_mul_shift32(row, w->turn >> 32);    /* below `row' */
    for (uint32_t i = w->first[name]; given < v; i++) {
        uint64_t *has = &w->lines.self[i * columns + column];
        until = *has < row - until ? until + *has : row;
        uint64_t pieces = dp_num_mul_div(v, until, row), over = v * until - pieces * row;
        pieces += over + start >= row;
        w->self[(i - w->first[name]) * columns + column] = pieces - given;
        *has -= pieces - given;
        given = pieces;
    }
    *left -= v;
    return rest;
}

/* Removes lines without a value. Returns the number of those left. */
static size_t pack_shares(struct dp_stacks_apportion *w, uint32_t first, uint32_t n)
{
    size_t count = 0, columns = w->s->n_columns;
    for (uint32_t i = 0; i < n; i++) {
        bool any = false;
        for (size_t c = 0; c < columns; c++)
            any = any || w->self[i * columns + c];
        if (any)
            w->shares[count++] = (struct dp_stacks_share){ first + i, &w->self[i * columns] };
    }
    return count;
}

size_t dp_stacks_apportion_next(struct dp_stacks_apportion *w, uint32_t frame)
{
    size_t columns = w->s->n_columns;
    uint32_t name = name_of(w, frame), n = lines_of(w, name);
    const uint64_t *self = &w->s->self[(size_t)frame * columns];
    if (w->whole[name]) {
        bool any = false;
        for (size_t c = 0; c < columns; c++)
            any = any || self[c];
        w->shares[0] = (struct dp_stacks_share){ DP_STACKS_NONE, self };
        return any;
    }
    memset(w->self, 0, n * columns * sizeof *w->self);
    w->turn += UINT64_C(0x9e3779b97f4a7c15);    /* the golden ratio: far from the last turn */
    for (size_t c = 0; c < columns; c++) {
        uint64_t rest = give_lines(w, name, c, self[c]);
        w->self[c] = dp_count_add(w->self[c], rest);
    }
    return pack_shares(w, w->first[name], n);
}
