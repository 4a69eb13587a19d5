#include "dp_pmu_near.h"
#include "dp_text.h"

#include <stdio.h>
#include <string.h>

static char lower_case(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static unsigned smaller(unsigned a, unsigned b) { return a < b ? a : b; }

/* Returns the distance of two names, Damerau and Levenshtein's in its cheap form, "optimal string
 * alignment": three rows. */
unsigned dp_pmu_near_distance(const char *a, const char *b, unsigned most)
{
    unsigned rows[3][DP_PMU_NEAR_NAME];
    size_t n = strlen(a), m = strlen(b);
    if ((n > m ? n - m : m - n) > most)
        return most + 1;
    for (size_t k = 0; k <= m; k++)
        rows[0][k] = (unsigned)k;
    for (size_t i = 1; i <= n; i++) {
        unsigned *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        unsigned best = now[0] = (unsigned)i;
        for (size_t k = 1; k <= m; k++) {
            bool same = lower_case(a[i - 1]) == lower_case(b[k - 1]);
            unsigned d = smaller(smaller(last[k], now[k - 1]) + 1, last[k - 1] + !same);
            if (!same && i > 1 && k > 1 && lower_case(a[i - 1]) == lower_case(b[k - 2])
                && lower_case(a[i - 2]) == lower_case(b[k - 1]))
                d = smaller(d, before[k - 2] + 1);
            now[k] = d;
            best = smaller(best, d);
        }
        if (best > most)
            return most + 1;
    }
    unsigned d = rows[n % 3][m];
    return d <= most ? d : most + 1;
}

void dp_pmu_near_init(struct dp_pmu_near *near, const char *text, size_t len)
{
    memset(near, 0, sizeof *near);
    if (len < sizeof near->text)
        memcpy(near->text, text, len);
}

static bool contains_word(const char *name, const char *word, size_t n)
{
    for (; *name; name++)
        if (dp_text_alike(name, word, n))
            return true;
    return false;
}

/* The distance of a name, lower is nearer: first come names that begin with the text, then those
 * that contain it, then others by edit distance. UINT32_MAX: not near. */
static unsigned distance_score(const char *text, const char *name)
{
    size_t n = strlen(text), m = strlen(name);
    if (n >= 2 && dp_text_alike(name, text, n))
        return (unsigned)m;
    if (n >= 3 && contains_word(name, text, n))
        return 1000 + (unsigned)m;
    unsigned most = n < 4 ? 1 : n < 8 ? 2 : (unsigned)n / 4;
    unsigned d = dp_pmu_near_distance(text, name, most);
    return d <= most ? 2000 + 100 * d : UINT32_MAX;
}

void dp_pmu_near_add(struct dp_pmu_near *near, const char *name)
{
    if (!near->text[0] || strlen(name) >= sizeof near->name[0])
        return;
    unsigned s = distance_score(near->text, name);
    size_t at = near->count;
    while (at > 0 && s < near->score[at - 1])
        at--;
    if (s == UINT32_MAX || at == DP_PMU_NEAR)
        return;
    for (size_t i = 0; i < near->count; i++)
        if (dp_text_alike(near->name[i], name, strlen(name) + 1))
            return;
    if (near->count < DP_PMU_NEAR)
        near->count++;
    for (size_t i = near->count - 1; i > at; i--) {
        memcpy(near->name[i], near->name[i - 1], sizeof near->name[0]);
        near->score[i] = near->score[i - 1];
    }
    snprintf(near->name[at], sizeof near->name[0], "%s", name);
    near->score[at] = s;
}

const char *dp_pmu_near_write(const struct dp_pmu_near *near, const char *before, char *to,
                              size_t size)
{
    size_t at = 0;
    to[0] = '\0';
    for (size_t i = 0; i < near->count && at < size; i++) {
        const char *sep = i == 0 ? "" : i + 1 < near->count ? ", " : " or ";
        int n = snprintf(to + at, size - at, "%s%s%s%s", i ? "" : before, i ? sep : "did you mean ",
                         near->name[i], i + 1 == near->count ? "?" : "");
        at += n > 0 ? (size_t)n : 0;
    }
    return to;
}
