#include "dp_align.h"

enum { SHIFTS = 40000 };        /* with more pairs of lines, only the distance 0 is tried */

/* Walks both lists. Returns the number of places that are `shift` lines apart; `to`, if given, gets
 * the pairs. */
static size_t count_matches(const struct dp_place *old, size_t a, const struct dp_place *new,
                            size_t b, int64_t shift, uint32_t *to)
{
    size_t count = 0;
    for (size_t i = 0, j = 0; i < a && j < b;) {
        int64_t apart = (int64_t)(new[j].line - old[i].line);
        if (apart == shift && new[j].ordinal == old[i].ordinal) {
            if (to)
                to[j] = (uint32_t)i;
            count++;
            i++, j++;
        } else if (apart < shift || (apart == shift && new[j].ordinal < old[i].ordinal)) {
            j++;
        } else {
            i++;
        }
    }
    return count;
}

static uint64_t size_of(int64_t shift) { return shift < 0 ? -(uint64_t)shift : (uint64_t)shift; }

/* The distance in lines at which most places match; of several, the smallest. With too many places
 * it is 0, as no other is tried. */
static int64_t best_shift(const struct dp_place *old, size_t a, const struct dp_place *new,
                          size_t b)
{
    int64_t best = 0;
    size_t most = count_matches(old, a, new, b, 0, NULL);
    if (a * b > SHIFTS)
        return best;
    for (size_t i = 0; i < a; i++)
        for (size_t j = 0; j < b; j++) {
            int64_t shift = (int64_t)(new[j].line - old[i].line);
            size_t n = count_matches(old, a, new, b, shift, NULL);
            if (n > most || (n == most && size_of(shift) < size_of(best))) {
                most = n;
                best = shift;
            }
        }
    return best;
}

void dp_align(const struct dp_place *old, size_t a, const struct dp_place *new, size_t b,
              uint32_t *to)
{
    for (size_t j = 0; j < b; j++)
        to[j] = a == b ? (uint32_t)j : DP_ALIGN_NONE;
    if (a == b || !a)
        return;
    count_matches(old, a, new, b, best_shift(old, a, new, b), to);
    size_t i = 0, from = 0;
    for (size_t j = 0; j <= b; j++) {
        if (j < b && to[j] == DP_ALIGN_NONE)
            continue;
        size_t end = j < b ? to[j] : a;
        if (end - i == j - from)
            for (size_t k = from; k < j; k++)
                to[k] = (uint32_t)(i + k - from);
        i = end + 1;
        from = j + 1;
    }
}
