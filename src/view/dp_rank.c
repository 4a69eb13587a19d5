#include "dp_rank.h"
#include "dp_mem.h"
#include "dp_sort.h"

#include <string.h>

struct rank {
    const struct dp_names *names;
    const struct dp_classic *how;
    const struct dp_flat_row *rows;
};

static int by_number(uint64_t a, uint64_t b)
{
    return a > b ? -1 : a < b;          /* the greatest comes first */
}

/* The text by which rows are sorted if their values are equal. Rows beyond the subs are the group
 * of -G, all other subs, and the program. */
static struct dp_name label_of(const struct rank *k, const struct dp_flat_row *row)
{
    struct dp_name name = { "(program)", 9 };
    size_t n = dp_names_count(k->names);
    if (row->name < n) {
        name = *dp_pool_name(&k->names->pool, row->name);
    } else if (row->name == n) {
        name.ptr = k->how->group ? k->how->group : "";
        name.len = k->how->group_len;
    } else if (row->name == n + 1) {
        name.ptr = "other";
        name.len = 5;
    }
    return name;
}

static int by_name(const struct rank *k, const struct dp_flat_row *a, const struct dp_flat_row *b)
{
    struct dp_name x = label_of(k, a), y = label_of(k, b);
    return dp_name_compare(&x, &y);
}

/* Compares a/ca with b/cb exactly: whole parts first, then the reciprocals of the remainders. */
static int by_average(uint64_t a, uint64_t ca, uint64_t b, uint64_t cb)
{
    if (!ca || !cb)
        return by_number(ca ? a : 0, cb ? b : 0);
    for (;;) {
        uint64_t x = a / ca, y = b / cb, ra = a % ca, rb = b % cb;
        if (x != y || !ra || !rb)
            return x != y ? by_number(x, y) : by_number(ra != 0, rb != 0);
        /* ra/ca > rb/cb exactly when cb/rb > ca/ra */
        a = cb;
        b = ca;
        ca = rb;
        cb = ra;
    }
}

/* Orders rows as the options say; equal ones by where they first occur, which `reverse' does not
 * change. */
static int compare_ranked(const struct rank *k, const struct dp_flat_row *a,
                          const struct dp_flat_row *b)
{
    uint64_t x = k->how->inclusive ? a->incl : a->self;
    uint64_t y = k->how->inclusive ? b->incl : b->self;
    int c = 0;
    switch (k->how->order) {
    case DP_BY_TIME:    c = by_number(x, y); break;
    case DP_BY_CALLS:   c = by_number(a->calls, b->calls); break;
    case DP_BY_NAME:    c = by_name(k, a, b); break;
    case DP_BY_AVERAGE: c = by_average(x, a->calls, y, b->calls); break;
    case DP_UNSORTED:   break;
    }
    if (k->how->reverse)
        c = -c;
    return c ? c : a->first < b->first ? -1 : a->first > b->first;
}

static int compare_rows(const void *ctx, uint32_t a, uint32_t b)
{
    const struct rank *k = ctx;
    return compare_ranked(k, &k->rows[a], &k->rows[b]);
}

int dp_rank(struct dp_flat_row *rows, size_t n, const struct dp_names *names,
            const struct dp_classic *how)
{
    struct rank k = { names, how, rows };
    return dp_sort_array(rows, n, sizeof *rows, compare_rows, &k);
}
