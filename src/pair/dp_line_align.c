#include "dp_line_align.h"
#include "dp_err.h"
#include "dp_map.h"
#include "dp_mem.h"

#include <string.h>

enum {
    EDITS = 256,                /* largest number of edits of a common sequence, which is used as
                                 * far as it goes */
    DEPTH = 32                  /* levels of anchors between anchors */
};

/* ---- words ---- */

/* A part of both sides: from a to a_end, and from b to b_end. */
struct range {
    uint32_t a, a_end, b, b_end;
    unsigned depth;
};

/* How often a word occurs in a part of each side, and where it was last. */
struct seen {
    uint32_t a, b, at;
};

struct aligning {
    uint32_t *a, *b;            /* words that both sides have */
    uint32_t *a_line, *b_line;  /* their lines */
    size_t n, m;
    uint32_t *to;               /* by line of b */
    struct seen *seen;          /* by word; all 0 between two parts */
    uint32_t *tails, *back;     /* of the longest sequence of anchors; room for all of b */
    struct range *todo;
    size_t n_todo, todo_cap;
    uint32_t *reach;            /* furthest point of d edits, by d and diagonal */
    bool no_memory;
};

/* Puts a pair of ranges, of lines a and of lines b, on the list of those to align, unless one is
 * empty. */
static void push_range(struct aligning *al, uint32_t a, uint32_t a_end, uint32_t b, uint32_t b_end,
                       unsigned depth)
{
    if (a >= a_end || b >= b_end)
        return;
    if (dp_mem_grow((void **)&al->todo, &al->todo_cap, al->n_todo + 1, sizeof *al->todo) < 0) {
        al->no_memory = true;
        return;
    }
    al->todo[al->n_todo++] = (struct range){ a, a_end, b, b_end, depth };
}

static void match_words(struct aligning *al, uint32_t a, uint32_t b)
{
    al->to[al->b_line[b]] = al->a_line[a];
}

/* Pairs the lines that are equal at the beginning and at the end of two ranges, and shortens the
 * ranges by these. */
static void take_ends(struct aligning *al, struct range *r)
{
    while (r->a < r->a_end && r->b < r->b_end && al->a[r->a] == al->b[r->b])
        match_words(al, r->a++, r->b++);
    while (r->a < r->a_end && r->b < r->b_end && al->a[r->a_end - 1] == al->b[r->b_end - 1])
        match_words(al, --r->a_end, --r->b_end);
}

/* Counts how often each line occurs in both ranges, and notes where. (A word is the number of a
 * line's text.) */
static void count_words(struct aligning *al, const struct range *r)
{
    for (uint32_t i = r->a; i < r->a_end; i++) {
        al->seen[al->a[i]].a++;
        al->seen[al->a[i]].at = i;
    }
    for (uint32_t j = r->b; j < r->b_end; j++)
        al->seen[al->b[j]].b++;
}

/* Resets what count_words() has noted, at the cost of these two ranges and not of all texts. */
static void forget_words(struct aligning *al, const struct range *r)
{
    static const struct seen none;
    for (uint32_t i = r->a; i < r->a_end; i++)
        al->seen[al->a[i]] = none;
    for (uint32_t j = r->b; j < r->b_end; j++)
        al->seen[al->b[j]] = none;
}

/* Pairs the longest sequence of words that occur once on each side, in the same order, and leaves
 * the parts between them for later. Returns whether there are such words. */
static bool take_anchors(struct aligning *al, const struct range *r)
{
    uint32_t len = 0, *tails = al->tails;
    count_words(al, r);
    for (uint32_t j = r->b; j < r->b_end; j++) {
        const struct seen *s = &al->seen[al->b[j]];
        if (s->a != 1 || s->b != 1)
            continue;
        uint32_t low = 0, high = len;       /* finds the longest sequence that this word can
                                             * continue */
        while (low < high) {
            uint32_t mid = low + (high - low) / 2;
            if (al->seen[al->b[tails[mid]]].at < s->at)
                low = mid + 1;
            else
                high = mid;
        }
        al->back[j] = low ? tails[low - 1] : UINT32_MAX;
        tails[low] = j;
        len = low == len ? len + 1 : len;
    }
    uint32_t a_end = r->a_end, b_end = r->b_end;
    for (uint32_t j = len ? tails[len - 1] : UINT32_MAX; j != UINT32_MAX; j = al->back[j]) {
        uint32_t i = al->seen[al->b[j]].at;
        push_range(al, i + 1, a_end, j + 1, b_end, r->depth + 1);
        match_words(al, a_end = i, b_end = j);
    }
    if (len)
        push_range(al, r->a, a_end, r->b, b_end, r->depth + 1);
    forget_words(al, r);
    return len > 0;
}

/* Returns the row reach[d] of the edits so far, with reach[d][k + d]: the greatest index in a on
 * diagonal k that d edits reach. */
static uint32_t *reach_of(const struct aligning *al, int d) { return al->reach + d * d; }

/* Is the last of d edits to diagonal k an insertion, from k + 1, and not a deletion, from k - 1? */
static bool is_insertion(const uint32_t *before, int d, int k)
{
    return k == -d || (k != d && before[k - 1 + d - 1] < before[k + 1 + d - 1]);
}

/* Pairs the words on the way to (x, y), which d edits have reached on diagonal x - y. */
static void go_back(struct aligning *al, const struct range *r, int d, uint32_t x, uint32_t y)
{
    for (; d >= 0; d--) {
        int k = (int)x - (int)y;
        uint32_t from_x = 0, from_y = 0;
        if (d > 0) {
            const uint32_t *before = reach_of(al, d - 1);
            bool insertion = is_insertion(before, d, k);
            int from = insertion ? k + 1 : k - 1;
            from_x = before[from + d - 1];
            from_y = (uint32_t)((int)from_x - from);
            uint32_t start = insertion ? from_x : from_x + 1;
            while (x > start)
                x--, y--, match_words(al, r->a + x, r->b + y);
        } else {
            while (x > 0 && y > 0)
                x--, y--, match_words(al, r->a + x, r->b + y);
        }
        x = from_x;
        y = from_y;
    }
}

/* Pairs the longest common sequence, as far as EDITS edits reach, and leaves the rest for later. */
static void take_longest(struct aligning *al, const struct range *r)
{
    uint32_t n = r->a_end - r->a, m = r->b_end - r->b, best_x = 0, best_y = 0;
    int best_d = 0;
    for (int d = 0; d <= EDITS; d++) {
        uint32_t *now = reach_of(al, d), *before = d ? reach_of(al, d - 1) : NULL;
        for (int k = -d; k <= d; k += 2) {
            bool insertion = d && is_insertion(before, d, k);
            uint32_t x = !d ? 0 : insertion ? before[k + 1 + d - 1] : before[k - 1 + d - 1] + 1;
            int64_t y = (int64_t)x - k;
            if (x <= n && y >= 0 && y <= m) {
                while (x < n && y < m && al->a[r->a + x] == al->b[r->b + y])
                    x++, y++;
                if (x + y > (int64_t)best_x + best_y || (x == n && y == m)) {
                    best_x = x;
                    best_y = (uint32_t)y;
                    best_d = d;
                }
            }
            now[k + d] = x;
            if (x == n && y == m)
                d = EDITS, k = EDITS;
        }
    }
    go_back(al, r, best_d, best_x, best_y);
    push_range(al, r->a + best_x, r->a_end, r->b + best_y, r->b_end, r->depth);
}

/* Aligns all words: from each range the equal ends first, then by words that occur once, or else by
 * the longest common sequence. Returns 0 or DP_E_NOMEM. */
static int align_ranges(struct aligning *al)
{
    push_range(al, 0, (uint32_t)al->n, 0, (uint32_t)al->m, 0);
    while (al->n_todo && !al->no_memory) {
        struct range r = al->todo[--al->n_todo];
        take_ends(al, &r);
        if (r.a == r.a_end || r.b == r.b_end || (r.depth < DEPTH && take_anchors(al, &r)))
            continue;
        take_longest(al, &r);
    }
    return al->no_memory ? DP_E_NOMEM : 0;
}

/* Collects the words that the other side has, too. */
static size_t common_words(const uint32_t *from, size_t n, const struct seen *seen, bool is_b,
                           uint32_t *words, uint32_t *lines)
{
    size_t k = 0;
    for (uint32_t i = 0; i < n; i++)
        if (is_b ? seen[from[i]].a : seen[from[i]].b) {
            words[k] = from[i];
            lines[k++] = i;
        }
    return k;
}

/* Makes room, and lists the words that both sides have, with their lines. Returns 0 or
 * DP_E_NOMEM. */
static int prepare_words(struct aligning *al, const uint32_t *a, size_t n, const uint32_t *b,
                         size_t m, size_t n_words)
{
    al->a = dp_mem_realloc(NULL, 2 * n + 1, sizeof *al->a);
    al->b = dp_mem_realloc(NULL, 4 * m + 1, sizeof *al->b);
    al->seen = dp_mem_zalloc((n_words + 1) * sizeof *al->seen);
    al->reach = dp_mem_realloc(NULL, (EDITS + 1) * (EDITS + 1), sizeof *al->reach);
    if (!al->a || !al->b || !al->seen || !al->reach)
        return DP_E_NOMEM;
    al->a_line = al->a + n;
    al->b_line = al->b + m;
    al->tails = al->b + 2 * m;
    al->back = al->b + 3 * m;
    for (size_t i = 0; i < n; i++)
        al->seen[a[i]].a = 1;
    for (size_t j = 0; j < m; j++)
        al->seen[b[j]].b = 1;
    al->n = common_words(a, n, al->seen, false, al->a, al->a_line);
    al->m = common_words(b, m, al->seen, true, al->b, al->b_line);
    memset(al->seen, 0, (n_words + 1) * sizeof *al->seen);
    return 0;
}

int dp_words_align(const uint32_t *a, size_t n, const uint32_t *b, size_t m, size_t n_words,
                   uint32_t *to)
{
    struct aligning al = { .to = to };
    for (size_t j = 0; j < m; j++)
        to[j] = DP_ALIGN_NONE;
    int rc = prepare_words(&al, a, n, b, m, n_words);
    rc = rc < 0 ? rc : align_ranges(&al);
    dp_mem_free(al.a);
    dp_mem_free(al.b);
    dp_mem_free(al.seen);
    dp_mem_free(al.reach);
    dp_mem_free(al.todo);
    return rc;
}

/* ---- lines without texts ---- */

/* The value of a pair, and how the best way to pair i old lines with j new ones ends. */
enum { PAIR = 2, EQUAL_COUNT = 3, EQUAL_DISTANCE = 1 };
enum { SKIP_OLD, SKIP_NEW, TAKE, TAKE_BOTH };   /* TAKE_BOTH: the pair before it is used, too */

struct guessing {
    const struct dp_line_seen *old, *new;
    size_t n, m;
    unsigned char *how;         /* by i, then j: one of these */
    uint32_t *best, *paired;    /* by j, for the current i: the value of the best way, and of the
                                 * best way that ends in a pair */
};

/* Are both lines equally far from the line before? For the first ones, from the beginning of their
 * sub. */
static bool is_as_far(const struct guessing *g, size_t i, size_t j)
{
    return g->old[i].number - (i ? g->old[i - 1].number : 0)
           == g->new[j].number - (j ? g->new[j - 1].number : 0);
}

/* Compares old line i with all new ones, given the best ways for old line i - 1. */
static void guess_line(struct guessing *g, size_t i)
{
    uint32_t best_before = 0, paired_before = 0;    /* of line i - 1 and new line j - 1 */
    unsigned char *how = g->how + i * g->m;
    for (size_t j = 0; j < g->m; j++) {
        uint32_t go_on = paired_before || !(i || j)
                ? paired_before + (is_as_far(g, i, j) ? EQUAL_DISTANCE : 0) : 0;
        bool both = go_on > best_before;
        uint32_t worth = (both ? go_on : best_before) + PAIR
                         + (g->old[i].count == g->new[j].count ? EQUAL_COUNT : 0);
        uint32_t skip_new = j ? g->best[j - 1] : 0, skip_old = g->best[j];
        best_before = g->best[j];
        paired_before = g->paired[j];
        g->paired[j] = worth;
        how[j] = worth >= skip_new && worth >= skip_old ? both ? TAKE_BOTH : TAKE
                 : skip_old >= skip_new ? SKIP_OLD : SKIP_NEW;
        /* the pair's own bit is always kept: a better way may continue from the pair */
        how[j] |= (unsigned char)(both << 2);
        g->best[j] = how[j] % 4 >= TAKE ? worth : how[j] % 4 == SKIP_OLD ? skip_old : skip_new;
    }
}

/* Follows the best way that guess_line has found back from its end. to: by new line, the old line
 * that it is paired with; the others keep DP_ALIGN_NONE. */
static void follow_best_way(const struct guessing *g, uint32_t *to)
{
    bool must = false;          /* the pair after this one uses this one, too */
    for (size_t i = g->n, j = g->m; i && j;) {
        unsigned how = g->how[(i - 1) * g->m + j - 1];
        if (must || how % 4 >= TAKE) {
            to[--j] = (uint32_t)--i;
            must = how & 4;
        } else if (how % 4 == SKIP_OLD) {
            i--;
        } else {
            j--;
        }
    }
}

/* Pairs lines by their numbers. Both lists are sorted; to[j] becomes the index of the old line that
 * has the number of new[j]. */
static void pair_numbers(const struct dp_line_seen *old, size_t n, const struct dp_line_seen *new,
                         size_t m, uint32_t *to)
{
    for (size_t i = 0, j = 0; i < n && j < m;) {
        if (old[i].number == new[j].number)
            to[j++] = (uint32_t)i++;
        else
            *(old[i].number < new[j].number ? &i : &j) += 1;
    }
}

int dp_lines_align(const struct dp_line_seen *old, size_t n, const struct dp_line_seen *new,
                   size_t m, uint32_t *to)
{
    struct guessing g = { .old = old, .new = new, .n = n, .m = m };
    for (size_t j = 0; j < m; j++)
        to[j] = DP_ALIGN_NONE;
    if (!n || !m)
        return 0;
    if (n > DP_LINES_GUESS / m) {
        pair_numbers(old, n, new, m, to);
        return 0;
    }
    g.how = dp_mem_alloc(n * m);
    g.best = dp_mem_zalloc(2 * m * sizeof *g.best);
    bool ok = g.how && g.best;
    g.paired = ok ? g.best + m : NULL;
    for (size_t i = 0; i < n && ok; i++)
        guess_line(&g, i);
    if (ok)
        follow_best_way(&g, to);
    dp_mem_free(g.how);
    dp_mem_free(g.best);
    return ok ? 0 : DP_E_NOMEM;
}
