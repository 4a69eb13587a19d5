#include "dp_line_align.h"
#include "dp_err.h"
#include "dp_map.h"
#include "dp_mem.h"

#include <string.h>

enum {
    EDITS = 256,                /* of a common sequence, before it is taken as far as it goes */
    DEPTH = 32,                 /* anchors between anchors */
    SHIFTS = 1 << 16            /* pairs of lines whose distance counts */
};

/* ---- words ---- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f'; }

int dp_words_make(struct dp_words *w, struct dp_pool *words, const char *ptr, size_t len)
{
    const char *end = ptr + len;
    size_t cap = 0;
    memset(w, 0, sizeof *w);
    while (ptr < end) {
        const char *nl = memchr(ptr, '\n', (size_t)(end - ptr)), *to = nl ? nl : end;
        const char *next = nl ? nl + 1 : end;
        while (ptr < to && is_blank(*ptr))
            ptr++;
        while (to > ptr && is_blank(to[-1]))
            to--;
        uint32_t word = dp_pool_intern(words, to > ptr ? ptr : "", (size_t)(to - ptr));
        if (word == DP_MAP_NONE
            || dp_mem_grow((void **)&w->words, &cap, w->n + 1, sizeof *w->words) < 0) {
            dp_words_release(w);
            return DP_E_NOMEM;
        }
        w->words[w->n++] = word;
        ptr = next;
    }
    return 0;
}

void dp_words_release(struct dp_words *w)
{
    dp_mem_free(w->words);
    memset(w, 0, sizeof *w);
}

/* ---- texts ---- */

/* A part of both sides: from a to a_end, from b to b_end. */
struct range {
    uint32_t a, a_end, b, b_end;
    unsigned depth;
};

/* How often a word is in a part of either side, and where it was last. */
struct seen {
    uint32_t a, b, at;
};

struct aligning {
    uint32_t *a, *b;            /* words that both sides have */
    uint32_t *a_line, *b_line;  /* and their lines */
    size_t n, m;
    uint32_t *to;               /* by line of b */
    struct seen *seen;          /* by word; all 0 between two parts */
    uint32_t *tails, *back;     /* of the longest sequence of anchors: room for all of b */
    struct range *todo;
    size_t n_todo, todo_cap;
    uint32_t *reach;            /* how far d edits get, by d and diagonal */
    bool no_memory;
};

static void push(struct aligning *al, uint32_t a, uint32_t a_end, uint32_t b, uint32_t b_end,
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

static void match(struct aligning *al, uint32_t a, uint32_t b)
{
    al->to[al->b_line[b]] = al->a_line[a];
}

static void take_ends(struct aligning *al, struct range *r)
{
    while (r->a < r->a_end && r->b < r->b_end && al->a[r->a] == al->b[r->b])
        match(al, r->a++, r->b++);
    while (r->a < r->a_end && r->b < r->b_end && al->a[r->a_end - 1] == al->b[r->b_end - 1])
        match(al, --r->a_end, --r->b_end);
}

static void count(struct aligning *al, const struct range *r)
{
    for (uint32_t i = r->a; i < r->a_end; i++) {
        al->seen[al->a[i]].a++;
        al->seen[al->a[i]].at = i;
    }
    for (uint32_t j = r->b; j < r->b_end; j++)
        al->seen[al->b[j]].b++;
}

static void forget(struct aligning *al, const struct range *r)
{
    static const struct seen none;
    for (uint32_t i = r->a; i < r->a_end; i++)
        al->seen[al->a[i]] = none;
    for (uint32_t j = r->b; j < r->b_end; j++)
        al->seen[al->b[j]] = none;
}

/* The longest sequence of words that either side has once, in order on both: pairs them, and leaves
 * what is between them for later. Returns whether there are any. */
static bool take_anchors(struct aligning *al, const struct range *r)
{
    uint32_t len = 0, *tails = al->tails;
    count(al, r);
    for (uint32_t j = r->b; j < r->b_end; j++) {
        const struct seen *s = &al->seen[al->b[j]];
        if (s->a != 1 || s->b != 1)
            continue;
        uint32_t low = 0, high = len;       /* sequences of so many can go on with it */
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
        push(al, i + 1, a_end, j + 1, b_end, r->depth + 1);
        match(al, a_end = i, b_end = j);
    }
    if (len)
        push(al, r->a, a_end, r->b, b_end, r->depth + 1);
    forget(al, r);
    return len > 0;
}

/* reach[d][k + d]: the greatest index in a on diagonal k that d edits get to. */
static uint32_t *reach_of(const struct aligning *al, int d) { return al->reach + d * d; }

/* From where d edits got to diagonal k: by an insertion from k + 1, or by a deletion from k - 1. */
static bool is_insertion(const uint32_t *before, int d, int k)
{
    return k == -d || (k != d && before[k - 1 + d - 1] < before[k + 1 + d - 1]);
}

/* Pairs what is on the way to (x, y), which d edits have reached on diagonal x - y. */
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
                x--, y--, match(al, r->a + x, r->b + y);
        } else {
            while (x > 0 && y > 0)
                x--, y--, match(al, r->a + x, r->b + y);
        }
        x = from_x;
        y = from_y;
    }
}

/* The longest common sequence, as far as EDITS edits get; the rest is left for later. */
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
    push(al, r->a + best_x, r->a_end, r->b + best_y, r->b_end, r->depth);
}

static int align(struct aligning *al)
{
    push(al, 0, (uint32_t)al->n, 0, (uint32_t)al->m, 0);
    while (al->n_todo && !al->no_memory) {
        struct range r = al->todo[--al->n_todo];
        take_ends(al, &r);
        if (r.a == r.a_end || r.b == r.b_end || (r.depth < DEPTH && take_anchors(al, &r)))
            continue;
        take_longest(al, &r);
    }
    return al->no_memory ? DP_E_NOMEM : 0;
}

/* Words that the other side has not do not come into it. */
static size_t common(const uint32_t *from, size_t n, const struct seen *seen, bool is_b,
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

static int prepare(struct aligning *al, const uint32_t *a, size_t n, const uint32_t *b, size_t m,
                   size_t n_words)
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
    al->n = common(a, n, al->seen, false, al->a, al->a_line);
    al->m = common(b, m, al->seen, true, al->b, al->b_line);
    memset(al->seen, 0, (n_words + 1) * sizeof *al->seen);
    return 0;
}

int dp_words_align(const uint32_t *a, size_t n, const uint32_t *b, size_t m, size_t n_words,
                   uint32_t *to)
{
    struct aligning al = { .to = to };
    for (size_t j = 0; j < m; j++)
        to[j] = DP_ALIGN_NONE;
    int rc = prepare(&al, a, n, b, m, n_words);
    rc = rc < 0 ? rc : align(&al);
    dp_mem_free(al.a);
    dp_mem_free(al.b);
    dp_mem_free(al.seen);
    dp_mem_free(al.reach);
    dp_mem_free(al.todo);
    return rc;
}

/* ---- numbers ---- */

struct placing {
    const uint64_t *old, *new;
    uint32_t *to;
    struct dp_map shifts;       /* distance -> pairs that are as far apart */
    struct range *todo;
    size_t n_todo, todo_cap;
};

static uint64_t size_of(int64_t shift) { return shift < 0 ? -(uint64_t)shift : (uint64_t)shift; }

/* The distance that most pairs have, and how many: of all, or of those that are about as far from
 * the beginning where there are too many. Of equal ones the least. */
static int best_shift(struct placing *p, const struct range *r, int64_t *best, uint32_t *most)
{
    uint32_t n = r->a_end - r->a, m = r->b_end - r->b;
    uint32_t around = SHIFTS / (n > m ? n : m) + 8;
    *best = 0;
    *most = 0;
    dp_map_release(&p->shifts);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i > around ? i - around : 0; j < m && j <= i + around; j++) {
            uint64_t shift = p->new[r->b + j] - p->old[r->a + i];
            struct dp_map_slot *slot = dp_map_put(&p->shifts, shift);
            if (!slot)
                return DP_E_NOMEM;
            slot->value = slot->value == DP_MAP_NONE ? 1 : slot->value + 1;
            if (slot->value > *most
                || (slot->value == *most && size_of((int64_t)shift) < size_of(*best))) {
                *most = slot->value;
                *best = (int64_t)shift;
            }
        }
    return 0;
}

static int push_place(struct placing *p, uint32_t a, uint32_t a_end, uint32_t b, uint32_t b_end,
                      unsigned depth)
{
    if (a >= a_end || b >= b_end)
        return 0;
    if (dp_mem_grow((void **)&p->todo, &p->todo_cap, p->n_todo + 1, sizeof *p->todo) < 0)
        return DP_E_NOMEM;
    p->todo[p->n_todo++] = (struct range){ a, a_end, b, b_end, depth };
    return 0;
}

/* Pairs what has the distance, and leaves what is between them for later. */
static int take_shift(struct placing *p, const struct range *r, int64_t shift)
{
    uint32_t a = r->a, b = r->b;
    int rc = 0;
    for (uint32_t i = r->a, j = r->b; i < r->a_end && j < r->b_end && rc == 0;) {
        int64_t apart = (int64_t)(p->new[j] - p->old[i]);
        if (apart != shift) {
            *(apart < shift ? &j : &i) += 1;
            continue;
        }
        p->to[j] = i;
        rc = push_place(p, a, i, b, j, r->depth + 1);
        a = ++i;
        b = ++j;
    }
    return rc < 0 ? rc : push_place(p, a, r->a_end, b, r->b_end, r->depth + 1);
}

static int place(struct placing *p, const struct range *r)
{
    uint32_t n = r->a_end - r->a, m = r->b_end - r->b, most;
    int64_t shift;
    int rc = best_shift(p, r, &shift, &most);
    if (rc < 0)
        return rc;
    /* a few lines have some distance in common by chance */
    bool is_most = 2 * most >= (n < m ? n : m), is_some = most > 1 || (!r->depth && n != m);
    if (is_some && (is_most || n != m) && r->depth < DEPTH)
        return take_shift(p, r, shift);
    for (uint32_t j = 0; j < m && n == m; j++)
        p->to[r->b + j] = r->a + j;
    return 0;
}

int dp_lines_align(const uint64_t *old, size_t n, const uint64_t *new, size_t m, uint32_t *to)
{
    struct placing p = { .old = old, .new = new, .to = to };
    for (size_t j = 0; j < m; j++)
        to[j] = DP_ALIGN_NONE;
    dp_map_init(&p.shifts);
    int rc = push_place(&p, 0, (uint32_t)n, 0, (uint32_t)m, 0);
    while (p.n_todo && rc == 0) {
        struct range r = p.todo[--p.n_todo];
        rc = place(&p, &r);
    }
    dp_map_release(&p.shifts);
    dp_mem_free(p.todo);
    return rc;
}
