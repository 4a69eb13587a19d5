/* What a recorder has of a program of a few subs and statements, as sums to compare with those
 * of a naive model. The file also has a machine whose clocks stand still while they are read. */
#ifndef SUMS_H
#define SUMS_H

#include "still.h"
#include "tap.h"
#include "dp_pool.h"
#include "dp_rec.h"

#include <stdio.h>
#include <string.h>

enum { SUBS = 3, LINES = 4, DEPTH = 5, EVENTS = 20000, MOST = 1 << 17 };

/* ---- sums, by path for contexts, by number for statements ---- */

struct sum { uint64_t calls, real, ops, longest; };
static struct dp_pool paths;

static struct sum *of(struct sum *sums, const char *path)
{
    uint32_t n = dp_pool_intern(&paths, path, strlen(path));
    return &sums[n < MOST ? n : 0];
}

static struct sum *of_line(struct sum *sums, size_t number)
{
    char line[32];
    snprintf(line, sizeof line, "line %zu", number);
    return of(sums, line);
}

/* Appends the step that a call makes to the path of its caller. */
static void path_to(char *to, const char *from, uint32_t id, uint32_t site)
{
    char step[24];
    snprintf(step, sizeof step, "/%u.%u", id, site);
    strcat(strcpy(to, from), step);
}

static void path_of(const struct dp_cct_node *node, char *path, size_t size)
{
    uint32_t chain[DEPTH + 1][2];
    size_t n = 0, len = 0;
    for (; node->up && n <= DEPTH; node = node->up, n++) {
        chain[n][0] = node->id;
        chain[n][1] = node->site;
    }
    path[0] = '\0';
    while (n-- > 0)
        len += (size_t)snprintf(path + len, size - len, "/%u.%u", chain[n][0], chain[n][1]);
}

/* Adds what the recorder's contexts have. Returns their time. */
static uint64_t gather_contexts(const struct dp_rec *rec, struct sum *to)
{
    char path[256];
    uint64_t real = 0;
    for (size_t i = 0; i < rec->cct.count; i++) {
        const struct dp_cct_node *n = rec->cct.nodes[i];
        path_of(n, path, sizeof path);
        struct sum *sum = of(to, path);
        sum->calls += n->calls;
        sum->real += n->real;
        sum->ops += n->ops;
        if (dp_cct_has_span(n) && n->longest > sum->longest)
            sum->longest = n->longest;
        real += n->real;
    }
    return real;
}

/* Adds what its statements have. Returns their time. */
static uint64_t gather_lines(const struct dp_lines *lines, struct sum *to)
{
    uint64_t real = 0;
    for (size_t i = 0; i < lines->n; i++)
        if (lines->at[i]) {
            struct sum *sum = of_line(to, i);
            sum->calls += lines->at[i]->count;
            sum->real += lines->at[i]->real;
            sum->ops += lines->at[i]->ops;
            real += lines->at[i]->real;
        }
    return real;
}

/* Returns the calls in its histograms. */
static uint64_t gather_ended(const struct dp_rec *rec)
{
    uint64_t ended = 0;
    for (size_t id = 0; id < rec->cct.histograms_cap; id++)
        for (int b = 0; rec->cct.histograms[id] && b < DP_FMT_BUCKETS; b++)
            ended += rec->cct.histograms[id]->count[b];
    return ended;
}

/* Tells that all sums are the model's. */
static void same_sums(const struct sum *want, const struct sum *got, const char *what)
{
    size_t wrong = 0;
    for (size_t i = 0; i < paths.count; i++)
        if (memcmp(&want[i], &got[i], sizeof want[i]) != 0 && wrong++ < 5) {
            const struct dp_name *name = dp_pool_name(&paths, (uint32_t)i);
            printf("# %.*s: calls %llu %llu, real %llu %llu, ops %llu %llu, longest %llu %llu\n",
                   (int)name->len, name->ptr, (unsigned long long)want[i].calls,
                   (unsigned long long)got[i].calls, (unsigned long long)want[i].real,
                   (unsigned long long)got[i].real, (unsigned long long)want[i].ops,
                   (unsigned long long)got[i].ops, (unsigned long long)want[i].longest,
                   (unsigned long long)got[i].longest);
        }
    ok(paths.count > 50 && wrong == 0, "%s: %zu sums, as in the model", what, paths.count);
}

static struct sum sum_of_contexts(const struct sum *sums)
{
    struct sum all = { 0, 0, 0, 0 };
    for (size_t i = 0; i < paths.count; i++)
        if (strncmp(dp_pool_name(&paths, (uint32_t)i)->ptr, "line", 4) != 0) {
            all.calls += sums[i].calls;
            all.real += sums[i].real;
            all.ops += sums[i].ops;
        }
    return all;
}

/* Tells that at a limit, where contexts are shared, no call and no time is lost. */
static void same_in_all(const struct sum *want, const struct sum *got, const char *what)
{
    struct sum a = sum_of_contexts(want), b = sum_of_contexts(got);
    ok(a.calls == b.calls && a.real == b.real && a.ops == b.ops, "%s: nothing is lost", what);
}

#endif
