#include "dp_line_match.h"
#include "dp_err.h"
#include "dp_line_align.h"
#include "dp_line_text.h"
#include "dp_mem.h"
#include "dp_sort.h"

#include <string.h>

enum { PASSES = 8 };            /* lines that moved past others that moved, and so on */

/* Lines of a file that an earlier side has and this one lacks so far, and the side's own lines that
 * are not paired yet, in order of subs and numbers. */
struct job {
    struct dp_line_match *m;
    uint32_t file, side, before;
    uint32_t *lines, *own;      /* indices in m->pairs and in m->own */
    size_t n_lines, n_own;
};

static uint64_t *number_of(struct dp_line_match *m, uint32_t line, uint32_t side)
{
    return &m->pairs->numbers[(size_t)line * m->pairs->sides + side];
}

static struct dp_side_line *own_line(const struct job *j, size_t i)
{
    return &j->m->own.lines[j->own[i]];
}

/* Pairs the side's own line with that line. */
static void pair_line(struct dp_line_match *m, struct dp_side_line *own, uint32_t line,
                      uint32_t side)
{
    own->line = line;
    *number_of(m, line, side) = own->number;
    m->last[line] = (struct dp_line_last){ own->sub, own->begin, own->count };
}

/* Appends a paired line that only this side has so far. Returns 0 or DP_E_NOMEM. */
static int add_line(struct dp_line_match *m, struct dp_side_line *own, uint32_t side)
{
    struct dp_line_pairs *lp = m->pairs;
    size_t n = lp->n_lines;
    if (n >= DP_MAP_NONE
        || dp_mem_grow((void **)&lp->lines, &lp->lines_cap, n + 1, sizeof *lp->lines) < 0
        || dp_mem_grow_cleared((void **)&lp->numbers, &lp->numbers_cap, (n + 1) * lp->sides,
                               sizeof *lp->numbers) < 0
        || dp_mem_grow((void **)&m->last, &m->last_cap, n + 1, sizeof *m->last) < 0)
        return DP_E_NOMEM;
    lp->lines[n] = (struct dp_paired_line){ .file = own->file };
    lp->n_lines++;
    pair_line(m, own, (uint32_t)n, side);
    return 0;
}

/* ---- by number ---- */

/* Pairs `own` with line `was` of the previous side. If that side has the line but never ran it,
 * adds a new line. */
static int pair_with_number(struct job *j, const struct dp_map *of, struct dp_side_line *own,
                            uint64_t was)
{
    const struct dp_map_slot *slot = dp_map_find(of, was);
    if (slot) {
        pair_line(j->m, own, slot->value, j->side);
        return 0;
    }
    int rc = add_line(j->m, own, j->side);
    if (rc == 0)
        *number_of(j->m, own->line, j->before) = was;
    return rc;
}

/* Sets the numbers of lines that the side has, according to its source, and does not run. */
static void number_others(struct job *j, const struct dp_map *of, const uint32_t *to, size_t n_to)
{
    for (uint32_t i = 0; to && i < n_to; i++) {
        const struct dp_map_slot *slot = to[i] == DP_ALIGN_NONE
                ? NULL : dp_map_find(of, (uint64_t)to[i] + 1);
        if (slot)
            *number_of(j->m, slot->value, j->side) = (uint64_t)i + 1;
    }
    for (size_t i = 0; !to && i < j->n_lines; i++)
        *number_of(j->m, j->lines[i], j->side) = *number_of(j->m, j->lines[i], j->before);
}

/* Pairs lines by number. The source is the same, or `to` has, for each line of the side, its line
 * on the side before. */
static int pair_by_number(struct job *j, const uint32_t *to, size_t n_to)
{
    struct dp_map of;           /* number on the side before -> line */
    dp_map_init(&of);
    int rc = 0;
    for (size_t i = 0; i < j->n_lines && rc == 0; i++) {
        struct dp_map_slot *slot = dp_map_put(&of, *number_of(j->m, j->lines[i], j->before));
        rc = slot ? 0 : DP_E_NOMEM;
        if (slot)
            slot->value = j->lines[i];
    }
    for (size_t i = 0; i < j->n_own && rc == 0; i++) {
        struct dp_side_line *own = own_line(j, i);
        uint64_t at = own->number - 1;
        uint64_t was = !to ? own->number
                     : at < n_to && to[at] != DP_ALIGN_NONE ? (uint64_t)to[at] + 1 : 0;
        rc = was ? pair_with_number(j, &of, own, was) : 0;
    }
    if (rc == 0)
        number_others(j, &of, to, n_to);
    dp_map_release(&of);
    return rc;
}

/* ---- sub by sub ---- */

/* A sub of the file: its lines from a to a_end, and the side's own lines from b to b_end. */
struct part {
    size_t a, a_end, b, b_end;
};

/* Moves on to the next sub. Returns whether there is one. */
static bool next_sub(const struct job *j, struct part *p)
{
    const struct dp_line_match *m = j->m;
    p->a = p->a_end;
    p->b = p->b_end;
    if (p->a == j->n_lines && p->b == j->n_own)
        return false;
    uint32_t x = p->a < j->n_lines ? m->last[j->lines[p->a]].sub : UINT32_MAX,
             y = p->b < j->n_own ? own_line(j, p->b)->sub : UINT32_MAX;
    uint32_t sub = x < y ? x : y;
    while (p->a_end < j->n_lines && m->last[j->lines[p->a_end]].sub == sub)
        p->a_end++;
    while (p->b_end < j->n_own && own_line(j, p->b_end)->sub == sub)
        p->b_end++;
    return true;
}

/* ---- by text ---- */

/* Lines of a sub that are gone on one side and new on the other, and their words. */
struct moving {
    uint32_t *gone, *gone_words;        /* lines */
    uint32_t *fresh, *fresh_words;      /* own lines */
    uint32_t *to;               /* by fresh line: index in gone, or DP_ALIGN_NONE */
    size_t n_gone, n_fresh;
};

/* Lists a sub's lines that the side lacks so far, and the side's own lines of the sub that are not
 * paired yet, with their words. Lines beyond the end of a text are left out. */
static void find_moving(struct job *j, const struct part *p, const struct dp_two_texts *t,
                        struct moving *v)
{
    v->n_gone = v->n_fresh = 0;
    for (size_t i = p->a; i < p->a_end; i++) {
        uint64_t number = *number_of(j->m, j->lines[i], j->before);
        if (!*number_of(j->m, j->lines[i], j->side) && number <= t->old.n) {
            v->gone[v->n_gone] = j->lines[i];
            v->gone_words[v->n_gone++] = t->old.words[number - 1];
        }
    }
    for (size_t i = p->b; i < p->b_end; i++) {
        const struct dp_side_line *own = own_line(j, i);
        if (own->line == DP_MAP_NONE && own->number - 1 < t->new.n) {
            v->fresh[v->n_fresh] = j->own[i];
            v->fresh_words[v->n_fresh++] = t->new.words[own->number - 1];
        }
    }
}

/* Pairs statements of a sub that have moved: they are gone at one place, and new at another, in the
 * same words. Returns their number, or DP_E_NOMEM. */
static int64_t pair_moved(struct job *j, const struct dp_two_texts *t)
{
    struct dp_line_match *m = j->m;
    struct part p = { 0, 0, 0, 0 };
    int64_t rc = 0, moved = 0;
    uint32_t *space = dp_mem_realloc(NULL, 2 * j->n_lines + 3 * j->n_own + 1, sizeof *space);
    if (!space)
        return DP_E_NOMEM;
    struct moving v = { .gone = space };
    v.gone_words = v.gone + j->n_lines;
    v.fresh = v.gone_words + j->n_lines;
    v.fresh_words = v.fresh + j->n_own;
    v.to = v.fresh_words + j->n_own;
    while (rc == 0 && next_sub(j, &p)) {
        find_moving(j, &p, t, &v);
        if (!v.n_gone || !v.n_fresh)
            continue;
        rc = dp_words_align(v.gone_words, v.n_gone, v.fresh_words, v.n_fresh, t->pool.count, v.to);
        for (size_t i = 0; i < v.n_fresh && rc == 0; i++)
            if (v.to[i] != DP_ALIGN_NONE) {
                pair_line(m, &m->own.lines[v.fresh[i]], v.gone[v.to[i]], j->side);
                m->pairs->lines[v.gone[v.to[i]]].fate = DP_FATE_MOVED;  /* unless it is deleted
                                                                         * later */
                moved++;
            }
    }
    dp_mem_free(space);
    return rc < 0 ? rc : moved;
}

/* Pairs the lines of a file by the texts of both sides, which it must have: those that the
 * comparison of texts aligns, then those that have moved within a sub. Returns 0 or a DP_E. */
static int pair_by_text(struct job *j)
{
    const struct dp_source_text *a = dp_file_version(j->m->files, j->file, j->before)->text,
                                *b = dp_file_version(j->m->files, j->file, j->side)->text;
    struct dp_two_texts t;
    int rc = dp_two_texts_make(&t, a->ptr, a->len, b->ptr, b->len);
    rc = rc < 0 ? rc : pair_by_number(j, t.to, t.new.n);
    /* lines of a sub that has moved may have moved, too */
    int64_t moved = 1;
    for (int pass = 0; pass < PASSES && rc == 0 && moved > 0; pass++) {
        moved = pair_moved(j, &t);
        rc = moved < 0 ? (int)moved : 0;
    }
    dp_two_texts_release(&t);
    return rc;
}

/* ---- by distance ---- */

/* Returns the distance from the sub's first line, or the plain line number if the line lies outside
 * or before the sub. */
static uint64_t from_begin(uint64_t number, uint64_t begin)
{
    return begin && begin <= number ? number - begin : number;
}

/* Is any line paired with a line of another number? */
static bool differs(const struct job *j)
{
    bool same = j->n_own == j->n_lines;
    for (size_t i = 0; i < j->n_own && same; i++) {
        const struct dp_side_line *own = own_line(j, i);
        same = own->line != DP_MAP_NONE
               && *number_of(j->m, own->line, j->before) == own->number;
    }
    return !same;
}

/* Lists a file, once, among those whose lines are paired by a guess. Returns 0 or DP_E_NOMEM. */
static int tell_guessed(struct dp_line_match *m, uint32_t file)
{
    struct dp_line_pairs *lp = m->pairs;
    if (m->guesses[file].told)
        return 0;
    if (dp_mem_grow((void **)&lp->guessed, &lp->guessed_cap, lp->n_guessed + 1,
                    sizeof *lp->guessed) < 0)
        return DP_E_NOMEM;
    lp->guessed[lp->n_guessed++] = m->files->names[file];
    m->guesses[file].told = true;
    return 0;
}

/* Pairs the lines of a sub by their distance from the sub's beginning. old and new have room for
 * them. */
static int pair_part(struct job *j, const struct part *p, struct dp_line_seen *old,
                     struct dp_line_seen *new, uint32_t *to)
{
    struct dp_line_match *m = j->m;
    for (size_t i = p->a; i < p->a_end; i++)
        old[i - p->a] = (struct dp_line_seen){
            from_begin(*number_of(m, j->lines[i], j->before), m->last[j->lines[p->a]].begin),
            m->last[j->lines[i]].count
        };
    for (size_t i = p->b; i < p->b_end; i++)
        new[i - p->b] = (struct dp_line_seen){
            from_begin(own_line(j, i)->number, own_line(j, p->b)->begin), own_line(j, i)->count
        };
    int rc = dp_lines_align(old, p->a_end - p->a, new, p->b_end - p->b, to);
    for (size_t i = p->b; i < p->b_end && rc == 0; i++)
        if (to[i - p->b] != DP_ALIGN_NONE)
            pair_line(m, own_line(j, i), j->lines[p->a + to[i - p->b]], j->side);
    return rc;
}

/* Pairs the lines of a file without texts, sub by sub, by their distances. Unless all lines keep
 * their numbers, the file counts as guessed. Returns 0 or DP_E_NOMEM. */
static int pair_by_distance(struct job *j)
{
    struct part p = { 0, 0, 0, 0 };
    struct dp_line_seen *seen = dp_mem_realloc(NULL, j->n_lines + j->n_own + 1, sizeof *seen);
    uint32_t *to = dp_mem_realloc(NULL, j->n_own + 1, sizeof *to);
    int rc = seen && to ? 0 : DP_E_NOMEM;
    while (rc == 0 && next_sub(j, &p))
        rc = pair_part(j, &p, seen, seen + j->n_lines, to);
    dp_mem_free(seen);
    dp_mem_free(to);
    return rc < 0 || !differs(j) ? rc : tell_guessed(j->m, j->file);
}

/* ---- a side ---- */

/* Pairs the lines of a file that both sides have. */
static int pair_file(struct job *j)
{
    const struct dp_file_version *old = dp_file_version(j->m->files, j->file, j->before),
                                 *new = dp_file_version(j->m->files, j->file, j->side);
    if (dp_file_is_same(old, new))
        return pair_by_number(j, NULL, 0);
    if (old->text && new->text)
        return pair_by_text(j);
    if (!j->before)
        j->m->guesses[j->file].with_base = true;
    return pair_by_distance(j);
}

/* Sorts the lines of a side by file, then by sub, then by number. */
static int compare_own(const void *ctx, uint32_t x, uint32_t y)
{
    const struct dp_side_lines *own = ctx;
    const struct dp_side_line *a = &own->lines[x], *b = &own->lines[y];
    int c = (a->file > b->file) - (a->file < b->file);
    c = c ? c : (a->sub > b->sub) - (a->sub < b->sub);
    return c ? c : (a->number > b->number) - (a->number < b->number);
}

/* Compares lines in the same order, with the values of the side before. */
static int compare_lines(const void *ctx, uint32_t x, uint32_t y)
{
    const struct job *j = ctx;
    uint32_t f = j->m->pairs->lines[x].file, g = j->m->pairs->lines[y].file;
    uint32_t s = j->m->last[x].sub, t = j->m->last[y].sub;
    uint64_t a = *number_of(j->m, x, j->before), b = *number_of(j->m, y, j->before);
    int c = (f > g) - (f < g);
    c = c ? c : (s > t) - (s < t);
    return c ? c : (a > b) - (a < b);
}

/* Pairs the remaining lines of a side with those that an earlier one has and this one lacks so far.
 * own are in order, and there is room for all lines. */
static int pair_sides(struct dp_line_match *m, uint32_t side, uint32_t before, uint32_t *own,
                      size_t n_own, uint32_t *lines)
{
    struct job all = { .m = m, .side = side, .before = before };
    size_t n_lines = 0, a = 0;
    int rc = 0;
    for (uint32_t i = 0; i < m->pairs->n_lines; i++)
        if (*number_of(m, i, before) && !*number_of(m, i, side))
            lines[n_lines++] = i;
    dp_sort_u32(lines, n_lines, compare_lines, &all);
    for (size_t from = 0, end; from < n_own && rc == 0; from = end) {
        struct job j = all;
        j.file = m->own.lines[own[from]].file;
        for (end = from; end < n_own && m->own.lines[own[end]].file == j.file; end++)
            ;
        j.own = own + from;
        j.n_own = end - from;
        while (a < n_lines && m->pairs->lines[lines[a]].file < j.file)
            a++;
        j.lines = lines + a;
        while (a < n_lines && m->pairs->lines[lines[a]].file == j.file)
            a++, j.n_lines++;
        if (dp_file_version(m->files, j.file, before)->there)
            rc = pair_file(&j);
    }
    return rc;
}

/* Pairs a side with the baseline first, which all sides are compared with; then with the latest
 * side before. */
static int pair_side(struct dp_line_match *m, uint32_t side)
{
    size_t n = m->own.n;
    uint32_t *own = dp_sort_order(n, compare_own, &m->own);
    int rc = own ? 0 : DP_E_NOMEM;
    for (uint32_t k = 0; k < side && rc == 0; k++) {
        uint32_t *lines = dp_mem_realloc(NULL, m->pairs->n_lines + 1, sizeof *lines);
        rc = lines ? pair_sides(m, side, k ? side - k : 0, own, n, lines) : DP_E_NOMEM;
        dp_mem_free(lines);
        size_t left = 0;
        for (size_t i = 0; i < n; i++)
            if (m->own.lines[own[i]].line == DP_MAP_NONE)
                own[left++] = own[i];
        n = left;
    }
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = add_line(m, &m->own.lines[own[i]], side);
    dp_mem_free(own);
    return rc;
}

int dp_line_match_side(struct dp_line_match *m, uint32_t side)
{
    const struct dp_line_pairs *lp = m->pairs;
    int rc = dp_side_lines_take(&m->own, m->files, lp->profs, side);
    rc = rc < 0 ? rc : pair_side(m, side);
    for (size_t k = 0; k < lp->n_profs && rc == 0; k++) {
        const struct dp_line_prof *of = &lp->profs[k];
        for (size_t i = 1; of->side == side && i <= of->prof->sites.count; i++)
            if (of->line[i] != DP_MAP_NONE)
                of->line[i] = m->own.lines[of->line[i]].line;
    }
    return rc;
}

int dp_line_match_init(struct dp_line_match *m, struct dp_line_pairs *pairs,
                       const struct dp_file_pairs *files)
{
    memset(m, 0, sizeof *m);
    m->pairs = pairs;
    m->files = files;
    dp_side_lines_init(&m->own);
    m->guesses = dp_mem_zalloc((files->checkouts.n_files + 1) * sizeof *m->guesses);
    return m->guesses ? 0 : DP_E_NOMEM;
}

void dp_line_match_release(struct dp_line_match *m)
{
    dp_side_lines_release(&m->own);
    dp_mem_free(m->last);
    dp_mem_free(m->guesses);
    memset(m, 0, sizeof *m);
}
