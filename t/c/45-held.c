/* Stretches that are held back, against a naive model. Whatever is turned to, kept and dropped at
 * random, the file has the calls, times, ops and statements of the kept stretches, and nothing
 * else; also in slices, with pauses, at the limit of contexts, in a child, and without memory. */
#include "random.h"
#include "sums.h"
#include "tap.h"
#include "dp_err.h"
#include "dp_held.h"
#include "dp_live.h"
#include "dp_mem.h"
#include "dp_rec.h"
#include "dp_rec_mark.h"
#include "dp_writer.h"

#include <string.h>

enum { HELD = 3 };

static struct sum sums[HELD + 1][MOST], got[MOST];     /* sums[0]: what the file has */
static uint64_t ended[HELD + 1];

struct call {
    uint32_t id;
    uint64_t start;
    int in;                     /* the tree that it began in; -1: one that it is no longer of */
};

static struct {
    struct dp_rec rec;
    struct dp_lines lines;
    struct dp_live live;
    struct dp_cct_call call[DEPTH];
    int depth, how;
    unsigned cuts, kept, dropped, most_contexts, wrong_times;
    uint64_t ended;             /* calls in histograms */
    long fails_at;              /* the allocation of a cut or a stretch that fails, -1: none does */
    int failed;
} run;

static struct {
    char path[DEPTH + 1][128];
    struct call call[DEPTH];
    uint32_t line[DEPTH + 1];
    uint64_t program, turned;
    int in;                     /* the tree that is recorded */
    bool is_slow[HELD + 1], is_there[HELD + 1];
} model;

/* ---- what the recorder has ---- */

/* Adds what the slice has. No time passes in the recorder, so the slice's is all the program's but
 * for what the header calls stopped. */
static void gather(void)
{
    const struct dp_rec *rec = &run.rec;
    uint64_t real = gather_contexts(rec, got);
    bool lines = run.how & DP_REC_LINES;
    if ((lines && gather_lines(&run.lines, got) != real)
        || now - rec->clock.began - dp_rec_idle(rec, now) != real
        || rec->clock.cpu_used + (rec->paused ? 0 : now - rec->clock.cpu_ns) != real)
        run.wrong_times++;
    run.ended += gather_ended(rec);
    if (rec->cct.count > run.most_contexts)
        run.most_contexts = (unsigned)rec->cct.count;
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
    int rc = dp_rec_renew(&run.rec);
    dp_mem_fail_after(-1);
    if (rc < 0) {
        run.failed++;
        dp_rec_give_up(&run.rec);
        return;
    }
    for (int i = 0; i < run.depth && !run.rec.saving.stopped && !run.rec.paused; i++)
        dp_rec_resume(&run.rec, model.call[i].id, &run.call[i], run.call[i].start);
}

/* ---- the program ---- */

static void passes(void)
{
    uint64_t gap = 1 + (rnd(8) ? rnd(300) : rnd(9000)), n = rnd(5);
    bool lines = run.how & DP_REC_LINES;
    now += gap;
    ops += n;
    if (run.rec.paused)
        return;
    model.program += gap;
    struct sum *sum = of(sums[model.in], model.path[run.depth]);
    sum->real += gap;
    sum->ops += n;
    sum = of_line(sums[model.in], model.line[run.depth]);
    sum->real += lines ? gap : 0;
    sum->ops += lines ? n : 0;
}

static void statement(void)
{
    uint32_t number = 2 + rnd(LINES);
    of_line(sums[model.in], number)->calls += !run.rec.paused;
    dp_rec_statement_slow(&run.rec, number, now);
    model.line[run.depth] = number;
}

static void enter(void)
{
    int d = run.depth;
    struct call *call = &model.call[d];
    *call = (struct call){ 1 + rnd(SUBS), model.program, run.rec.paused ? -1 : model.in };
    dp_rec_mark(&run.rec, DP_RAW_ENTER, call->id, &run.call[d], now, run.how);
    path_to(model.path[d + 1], model.path[d], call->id,
            run.how & DP_REC_LINES ? model.line[d] : 0);
    of(sums[model.in], model.path[d + 1])->calls += !run.rec.paused;
    model.line[d + 1] = model.line[d];
    run.depth++;
}

static void leave(void)
{
    int d = run.depth - 1;
    const struct call *call = &model.call[d];
    uint64_t took = model.program - call->start;
    struct sum *sum = of(sums[model.in], model.path[d + 1]);
    if (call->in >= 0 && !run.rec.paused) {
        if (took > sum->longest)
            sum->longest = took;
        ended[model.in]++;
    }
    dp_rec_mark(&run.rec, DP_RAW_LEAVE, call->id, &run.call[d], now, run.how);
    if (run.how & DP_REC_LINES)
        dp_rec_go_on_line(&run.rec, run.call[d].line);
    run.depth--;
}

/* ---- stretches ---- */

/* Does what dpx_held.c does with the program's frames. */
static void relink(uint64_t from, uint64_t passed)
{
    for (int i = 0; i < run.depth; i++) {
        uint64_t start = run.call[i].start;
        if (run.rec.paused)
            run.call[i].caller = run.rec.marks.cur;
        else
            dp_rec_resume(&run.rec, model.call[i].id, &run.call[i],
                          start == DP_REC_ELSEWHERE || start > from ? DP_REC_ELSEWHERE
                                                                    : start + passed);
    }
}

/* A call that has begun in a tree which was left is unknown; for others that time has not
 * passed. */
static void turn(int to, bool is_kept)
{
    int was = model.in;
    uint64_t from = run.rec.saving.held_from, passed = model.program - model.turned;
    dp_held_turn(&run.rec, (uint64_t)to, now);
    bool leaves = was && !is_kept;
    relink(leaves ? from : UINT64_MAX, leaves ? passed : 0);
    for (int i = 0; i < run.depth && leaves; i++)
        if (model.call[i].in == was)
            model.call[i].in = -1;
        else
            model.call[i].start += passed;
    for (int i = 0; i < run.depth && is_kept; i++)
        if (model.call[i].in == was)
            model.call[i].in = 0;
    model.in = to;
    model.turned = model.program;
}

static void hold(int n)
{
    model.is_slow[n] = rnd(2);
    dp_mem_fail_after(run.fails_at);
    int rc = dp_held_new(&run.rec, (uint64_t)n, model.is_slow[n] ? 0 : 1000000000000, now);
    dp_mem_fail_after(-1);
    model.is_there[n] = rc == 0;
    run.failed += rc == DP_E_NOMEM;
    if (rc == 0)
        turn(n, false);
    else
        dp_rec_flush(&run.rec, now);
}

static void keep(int n)
{
    for (size_t i = 0; i < paths.count; i++) {
        sums[0][i].calls += sums[n][i].calls;
        sums[0][i].real += sums[n][i].real;
        sums[0][i].ops += sums[n][i].ops;
        if (sums[n][i].longest > sums[0][i].longest)
            sums[0][i].longest = sums[n][i].longest;
    }
    ended[0] += ended[n];
}

static void settle(int n)
{
    bool is_slow = dp_held_is_slow(&run.rec, (uint64_t)n, now);
    if (model.in == n)
        turn(0, is_slow);
    else
        dp_rec_flush(&run.rec, now);
    dp_held_end(&run.rec, (uint64_t)n, is_slow);
    if (is_slow)
        keep(n);
    run.kept += is_slow;
    run.dropped += !is_slow;
    memset(sums[n], 0, paths.count * sizeof sums[n][0]);
    ended[n] = 0;
    model.is_there[n] = false;
}

static void stretch(void)
{
    int n = 1 + (int)rnd(HELD);
    if (!model.is_there[n])
        hold(n);
    else if (rnd(2))
        settle(n);
    else
        turn(rnd(3) ? n : 0, false);
    run.rec.marks.left = now;
    passes();
}

static void stop_or_start(void)
{
    if (run.rec.paused) {
        dp_rec_unpause(&run.rec, now);
        for (int i = 0; i < run.depth; i++)
            dp_rec_resume(&run.rec, model.call[i].id, &run.call[i], DP_REC_ELSEWHERE);
    } else {
        dp_rec_pause(&run.rec, now);
        for (int i = 0; i < run.depth; i++) {
            run.call[i].caller = run.rec.marks.cur;
            model.call[i].in = -1;
        }
    }
    run.rec.marks.left = now;
    passes();
}

struct play {
    uint32_t with;
    bool lines, pauses;
    unsigned cuts;              /* one in so many events; 0: none */
    size_t contexts;
    long fails_at;
};

static void event(const struct play *how)
{
    bool lines = how->lines;
    passes();
    if (rnd(20) == 0)
        stretch();
    if (how->pauses && rnd(50) == 0)
        stop_or_start();
    if (how->cuts && rnd(how->cuts) == 0) {
        if (rnd(2)) {
            dp_rec_want(&run.rec);          /* the cut is in the middle of the next mark */
        } else {
            dp_rec_save(&run.rec, now);
            run.rec.marks.left = now;
            passes();
        }
    }
    if (lines && rnd(3) == 0)
        statement();
    else if (run.depth < DEPTH && (!run.depth || rnd(2)))
        enter();
    else if (run.depth)
        leave();
    run.rec.marks.left = now;
}

static void begin(const struct play *how, struct dp_writer *w)
{
    struct dp_rec_how with = { .contexts = how->contexts, .tree = true, .ops = &ops,
                               .lines = how->lines ? &run.lines : NULL, .line_times = how->lines };
    memset(&run, 0, sizeof run);
    memset(&model, 0, sizeof model);
    memset(sums, 0, sizeof sums);
    memset(ended, 0, sizeof ended);
    memset(got, 0, sizeof got);
    random_state = how->with;
    now = 1000;
    run.how = how->lines ? DP_REC_TREE | DP_REC_LINES : DP_REC_TREE;
    run.fails_at = how->fails_at;
    dp_pool_init(&paths);
    dp_live_init(&run.live, NULL, 0);
    dp_writer_init(w, 10000000, sink, NULL);
    dp_rec_init(&run.rec, &with, w, &still, NULL);
    run.rec.saving.save = cut;
    for (uint32_t n = 2; how->lines && n < 2 + LINES; n++)
        dp_lines_know(&run.lines, n, &(struct dp_line_place){ .site = n });
    dp_rec_open(&run.rec, &run.live);
    run.rec.marks.left = now;
    model.line[0] = DP_LINE_REST;
    if (how->lines)
        statement();
}

static void finish(struct dp_writer *w)
{
    for (int n = 1; n <= HELD && !run.rec.over; n++)
        if (model.is_there[n])
            settle(n);
    dp_rec_flush(&run.rec, now);
    if (!run.rec.over)
        gather();
    dp_rec_release(&run.rec);
    dp_lines_release(&run.lines);
    dp_live_release(&run.live);
    dp_writer_release(w);
}

static void play(struct play how)
{
    struct dp_writer w;
    begin(&how, &w);
    for (int i = 0; i < EVENTS && !run.rec.over; i++)
        event(&how);
    finish(&w);
}

static void same(const char *what)
{
    same_sums(sums[0], got, what);
    is_u(run.ended, ended[0], "... and as many calls in the histograms as have ended");
    is_u(run.wrong_times, 0, "... and the header's times are those of the contexts");
    ok(run.kept > 50 && run.dropped > 50, "%u stretches were kept, %u dropped", run.kept,
       run.dropped);
    dp_pool_release(&paths);
}

/* At the limit contexts are shared, but no call and no time is lost. */
static void limited(unsigned cuts)
{
    play((struct play){ .with = 11, .cuts = cuts, .contexts = 20, .fails_at = -1 });
    same_in_all(sums[0], got, "a limit of contexts");
    ok(run.most_contexts >= 20 && run.most_contexts <= 20 + 4 * SUBS,
       "... and it holds for each slice (%u)", run.most_contexts);
    dp_pool_release(&paths);
}

/* A million stretches that are dropped take the memory of one. */
static void many(void)
{
    struct dp_writer w;
    long before = 0;
    begin(&(struct play){ .with = 1, .lines = true, .contexts = 1 << 20, .fails_at = -1 }, &w);
    for (int i = 0; i < 1000000; i++) {
        dp_held_new(&run.rec, 1, 1000000000000, now);
        dp_held_turn(&run.rec, 1, now);
        enter();
        enter();
        leave();
        leave();
        dp_held_turn(&run.rec, 0, now);
        dp_held_end(&run.rec, 1, false);
        if (i == 100)
            before = dp_mem_live();
    }
    is_i(dp_mem_live(), before, "a million stretches take the memory of one");
    ok(run.rec.cct.count == 1 && !run.rec.cct.root->real, "... and leave nothing");
    finish(&w);
    dp_pool_release(&paths);
}

/* A child knows nothing of the stretches that its parent holds back. */
static void tripped(void *arg)
{
    (void)arg;
    dp_rec_release(&run.rec);
    dp_rec_open(&run.rec, &run.live);
}

static void forked(void)
{
    struct dp_writer w;
    begin(&(struct play){ .with = 1, .contexts = 1 << 20, .fails_at = -1 }, &w);
    run.rec.saving.tripped = tripped;
    hold(1);
    hold(2);
    enter();
    uint64_t parents = run.rec.saving.held_from;
    dp_rec_restart(&run.rec);
    run.depth = 0;
    now += 100;
    enter();
    ok(!dp_held_is(&run.rec, 1) && !dp_held_number(&run.rec) && run.rec.cct.count == 2
           && run.rec.cct.root->real == 100,
       "a child records from its beginning on, and holds nothing back (%llu)",
       (unsigned long long)parents);
    memset(&model.is_there, 0, sizeof model.is_there);
    finish(&w);
    dp_pool_release(&paths);
}

int main(void)
{
    for (uint32_t with = 1; with <= 4; with++) {
        struct play how = { .with = with, .contexts = 1 << 20, .fails_at = -1 };
        play(how);
        same("contexts");
        how.lines = true;
        play(how);
        same("contexts and statements");
        how.pauses = true;
        play(how);
        same("with pauses");
        how.cuts = 20;
        play(how);
        ok(run.cuts > 100, "%u cuts", run.cuts);
        same("in slices");
    }
    limited(0);
    limited(50);
    many();
    forked();
    int failed = 0;
    for (long n = 0; n < 12; n++) {
        play((struct play){ .with = 3, .lines = true, .cuts = 500, .contexts = 1 << 20,
                            .fails_at = n });
        failed += run.failed > 0;
        dp_pool_release(&paths);
    }
    ok(failed > 0, "without memory nothing is held back, or recording ends (%d of 12)", failed);
    is_i(dp_mem_live(), 0, "all memory is freed");
    return tap_done();
}
