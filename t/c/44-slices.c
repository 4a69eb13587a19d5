/* A recording in slices against a naive model: at random cuts, all slices together have the calls,
 * times, ops and statements of the whole; without memory, and at the limit of contexts. */
#include "tap.h"
#include "dp_err.h"
#include "dp_live.h"
#include "dp_mem.h"
#include "dp_pool.h"
#include "dp_rec.h"
#include "dp_writer.h"

#include <stdio.h>
#include <string.h>

enum { SUBS = 3, LINES = 4, DEPTH = 5, EVENTS = 20000, MOST = 1 << 17 };

static uint32_t seed;
static uint32_t rnd(uint32_t n)
{
    seed = seed * 1103515245 + 12345;
    return (seed >> 8) % n;
}

/* ---- a machine whose clocks stand still while they are read ---- */

static uint64_t now, ops;
static uint64_t stamp(void *m) { (void)m; return now; }
static uint64_t zero(void *m) { (void)m; return 0; }
static void pair(void *m, uint64_t *s, uint64_t *ns) { (void)m; *s = *ns = now; }
static void split(void *m, uint64_t *user, uint64_t *sys)
{
    (void)m;
    *user = now / 1000;
    *sys = 0;
}
static int sink(void *m, const char *ptr, size_t len)
{
    (void)m;
    (void)ptr;
    (void)len;
    return 0;
}

/* ---- sums, by path for contexts, by number for statements ---- */

static struct sum { uint64_t calls, real, ops, longest; } want[MOST], got[MOST];
static struct dp_pool paths;

static struct sum *of(struct sum *sums, const char *path)
{
    uint32_t n = dp_pool_intern(&paths, path, strlen(path));
    return &sums[n < MOST ? n : 0];
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

static struct {
    struct dp_rec rec;
    struct dp_lines lines;
    struct dp_live live;
    struct dp_cct_call call[DEPTH];
    uint32_t id[DEPTH];
    int depth;
    unsigned cuts, most_contexts;
    uint64_t ended;             /* calls in histograms */
    long fails_at;              /* the allocation of a cut that fails, -1: none does */
    int rc;                     /* of the last cut */
} run;

/* Adds what the slice has. */
static void gather(void)
{
    char path[256];
    for (size_t i = 0; i < run.rec.cct.count; i++) {
        const struct dp_cct_node *n = run.rec.cct.nodes[i];
        path_of(n, path, sizeof path);
        struct sum *sum = of(got, path);
        sum->calls += n->calls;
        sum->real += n->real;
        sum->ops += n->ops;
        if (n->longest > sum->longest)
            sum->longest = n->longest;
    }
    for (size_t i = 0; i < run.lines.n; i++)
        if (run.lines.at[i]) {
            snprintf(path, sizeof path, "line %zu", i);
            struct sum *sum = of(got, path);
            sum->calls += run.lines.at[i]->count;
            sum->real += run.lines.at[i]->real;
            sum->ops += run.lines.at[i]->ops;
        }
    for (size_t id = 0; id < run.rec.cct.histograms_cap; id++)
        for (int b = 0; run.rec.cct.histograms[id] && b < DP_FMT_BUCKETS; b++)
            run.ended += run.rec.cct.histograms[id]->count[b];
    if (run.rec.cct.count > run.most_contexts)
        run.most_contexts = (unsigned)run.rec.cct.count;
}

static void cut(void *arg)
{
    (void)arg;
    gather();
    run.cuts++;
    dp_rec_keep_line(&run.rec);
    dp_live_release(&run.live);
    dp_live_init(&run.live, NULL, 0);
    dp_mem_fail_after(run.fails_at);
    run.rc = dp_rec_renew(&run.rec);
    dp_mem_fail_after(-1);
    if (run.rc < 0) {
        dp_rec_give_up(&run.rec);
        return;
    }
    for (int i = 0; i < run.depth && !run.rec.stopped; i++)
        dp_rec_resume(&run.rec, run.id[i], &run.call[i], run.call[i].start);
}

/* ---- the program ---- */

static struct {
    char path[DEPTH + 1][128];
    uint64_t start[DEPTH];
    uint32_t line[DEPTH + 1];
    uint64_t program, ended;
} model;

static void passes(bool lines)
{
    uint64_t gap = rnd(8) ? rnd(300) : rnd(9000), n = rnd(5);
    char line[16];
    now += gap;
    ops += n;
    model.program += gap;
    struct sum *sum = of(want, model.path[run.depth]);
    sum->real += gap;
    sum->ops += n;
    snprintf(line, sizeof line, "line %u", model.line[run.depth]);
    sum = of(want, line);
    sum->real += lines ? gap : 0;
    sum->ops += lines ? n : 0;
}

static void statement(void)
{
    uint32_t number = 2 + rnd(LINES);
    char line[16];
    snprintf(line, sizeof line, "line %u", number);
    of(want, line)->calls++;
    dp_rec_statement_slow(&run.rec, number, now);
    model.line[run.depth] = number;
}

static void enter(int how)
{
    char step[24];
    int d = run.depth;
    run.id[d] = 1 + rnd(SUBS);
    dp_rec_mark(&run.rec, DP_RAW_ENTER, run.id[d], &run.call[d], now, how);
    snprintf(step, sizeof step, "/%u.%u", run.id[d], how & DP_REC_LINES ? model.line[d] : 0);
    strcat(strcpy(model.path[d + 1], model.path[d]), step);
    of(want, model.path[d + 1])->calls++;
    model.start[d] = model.program;
    model.line[d + 1] = model.line[d];
    run.depth++;
}

static void leave(int how)
{
    int d = run.depth - 1;
    uint64_t took = model.program - model.start[d];
    struct sum *sum = of(want, model.path[d + 1]);
    if (took > sum->longest)
        sum->longest = took;
    model.ended++;
    dp_rec_mark(&run.rec, DP_RAW_LEAVE, run.id[d], &run.call[d], now, how);
    if (how & DP_REC_LINES)
        dp_rec_go_on_line(&run.rec, run.call[d].line);
    run.depth--;
}

static void event(int how, unsigned one_in)
{
    bool lines = how & DP_REC_LINES;
    passes(lines);
    if (one_in && rnd(one_in) == 0) {
        if (rnd(2)) {
            dp_rec_want(&run.rec);          /* the cut is in the middle of the next mark */
        } else {
            dp_rec_save(&run.rec, now);
            run.rec.left = now;
            passes(lines);
        }
    }
    if (lines && rnd(3) == 0)
        statement();
    else if (run.depth < DEPTH && (!run.depth || rnd(2)))
        enter(how);
    else if (run.depth)
        leave(how);
    run.rec.left = now;
}

static void play(uint32_t with, bool lines, unsigned one_in, size_t contexts, long fails_at)
{
    static const struct dp_rec_host host = { 1, zero, stamp, stamp, pair, split };
    struct dp_writer w;
    struct dp_rec_how how = { .contexts = contexts, .tree = true, .ops = &ops,
                              .lines = lines ? &run.lines : NULL, .line_times = lines };
    memset(&run, 0, sizeof run);
    memset(&model, 0, sizeof model);
    memset(want, 0, sizeof want);
    memset(got, 0, sizeof got);
    seed = with;
    now = 1000;
    run.fails_at = fails_at;
    dp_pool_init(&paths);
    dp_live_init(&run.live, NULL, 0);
    dp_writer_init(&w, 10000000, sink, NULL);
    dp_rec_init(&run.rec, &how, &w, &host, NULL);
    run.rec.save = cut;
    for (uint32_t n = 2; lines && n < 2 + LINES; n++)
        dp_lines_know(&run.lines, n, &(struct dp_line_place){ .site = n });
    dp_rec_open(&run.rec, &run.live);
    run.rec.left = now;
    model.line[0] = DP_LINE_REST;
    if (lines)
        statement();
    for (int i = 0; i < EVENTS; i++)
        event(lines ? DP_REC_TREE | DP_REC_LINES : DP_REC_TREE, one_in);
    dp_rec_flush(&run.rec, now);
    if (!run.rec.over) {
        gather();
        dp_rec_release(&run.rec);
    }
    dp_lines_release(&run.lines);
    dp_live_release(&run.live);
    dp_writer_release(&w);
}

static void same(const char *what)
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
    is_u(run.ended, model.ended, "... and as many calls in the histograms as have ended");
    dp_pool_release(&paths);
}

/* At the limit contexts are shared, but no call and no time is lost. */
static void limited(unsigned one_in)
{
    struct sum all[2] = { { 0, 0, 0, 0 }, { 0, 0, 0, 0 } };
    play(11, false, one_in, 20, -1);
    for (size_t i = 0; i < paths.count; i++) {
        if (strncmp(dp_pool_name(&paths, (uint32_t)i)->ptr, "line", 4) == 0)
            continue;
        const struct sum *each[2] = { &want[i], &got[i] };
        for (int k = 0; k < 2; k++) {
            all[k].calls += each[k]->calls;
            all[k].real += each[k]->real;
            all[k].ops += each[k]->ops;
        }
    }
    ok(memcmp(&all[0], &all[1], sizeof all[0]) == 0, "a limit of contexts: nothing is lost");
    ok(run.most_contexts >= 20 && run.most_contexts <= 20 + 2 * SUBS,
       "... and it holds for each slice (%u)", run.most_contexts);
    dp_pool_release(&paths);
}

int main(void)
{
    for (uint32_t with = 1; with <= 5; with++) {
        play(with, false, 0, 1 << 20, -1);
        same("a whole");
        play(with, false, with * 10, 1 << 20, -1);
        ok(run.cuts > 100, "%u cuts", run.cuts);
        same("contexts");
        play(with, true, with * 10, 1 << 20, -1);
        ok(run.cuts > 100, "%u cuts", run.cuts);
        same("contexts and statements");
    }
    limited(0);
    limited(50);
    int failed = 0;
    for (long n = 0; n < 12; n++) {
        play(3, true, 50, 1 << 20, n);
        failed += run.rc == DP_E_NOMEM && run.rec.over;
        dp_pool_release(&paths);
    }
    ok(failed > 0, "a cut that has no memory ends the recording (%d of 12)", failed);
    is_i(dp_mem_live(), 0, "all memory is freed");
    return tap_done();
}
