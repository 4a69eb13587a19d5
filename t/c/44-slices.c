/* A recording in slices against a naive model. At random cuts, all slices together have the calls,
 * times, ops and statements of the whole; without memory, and at the limit of contexts. */
#include "random.h"
#include "sums.h"
#include "tap.h"
#include "dp_err.h"
#include "dp_live.h"
#include "dp_mem.h"
#include "dp_rec.h"
#include "dp_rec_mark.h"
#include "dp_writer.h"

#include <string.h>

static struct sum want[MOST], got[MOST];

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
    gather_contexts(&run.rec, got);
    gather_lines(&run.lines, got);
    run.ended += gather_ended(&run.rec);
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
        for (int i = 0; i < run.depth; i++)     /* as dpx_life.c does */
            run.call[i].caller = run.rec.marks.cur;
        return;
    }
    for (int i = 0; i < run.depth && !run.rec.saving.stopped; i++)
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
    now += gap;
    ops += n;
    model.program += gap;
    struct sum *sum = of(want, model.path[run.depth]);
    sum->real += gap;
    sum->ops += n;
    sum = of_line(want, model.line[run.depth]);
    sum->real += lines ? gap : 0;
    sum->ops += lines ? n : 0;
}

static void statement(void)
{
    uint32_t number = 2 + rnd(LINES);
    of_line(want, number)->calls++;
    dp_rec_statement_slow(&run.rec, number, now);
    model.line[run.depth] = number;
}

static void enter(int how)
{
    int d = run.depth;
    run.id[d] = 1 + rnd(SUBS);
    dp_rec_mark(&run.rec, DP_RAW_ENTER, run.id[d], &run.call[d], now, how);
    path_to(model.path[d + 1], model.path[d], run.id[d], how & DP_REC_LINES ? model.line[d] : 0);
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
            run.rec.marks.left = now;
            passes(lines);
        }
    }
    if (lines && rnd(3) == 0)
        statement();
    else if (run.depth < DEPTH && (!run.depth || rnd(2)))
        enter(how);
    else if (run.depth)
        leave(how);
    run.rec.marks.left = now;
}

static void play(uint32_t with, bool lines, unsigned one_in, size_t contexts, long fails_at)
{
    struct dp_writer w;
    struct dp_rec_how how = { .contexts = contexts, .tree = true, .ops = &ops,
                              .lines = lines ? &run.lines : NULL, .line_times = lines };
    memset(&run, 0, sizeof run);
    memset(&model, 0, sizeof model);
    memset(want, 0, sizeof want);
    memset(got, 0, sizeof got);
    random_state = with;
    now = 1000;
    run.fails_at = fails_at;
    dp_pool_init(&paths);
    dp_live_init(&run.live, NULL, 0);
    dp_writer_init(&w, 10000000, sink, NULL);
    dp_rec_init(&run.rec, &how, &w, &still, NULL);
    run.rec.saving.save = cut;
    for (uint32_t n = 2; lines && n < 2 + LINES; n++)
        dp_lines_know(&run.lines, n, &(struct dp_line_place){ .site = n });
    dp_rec_open(&run.rec, &run.live);
    run.rec.marks.left = now;
    model.line[0] = DP_LINE_REST;
    if (lines)
        statement();
    for (int i = 0; i < EVENTS; i++)
        event(lines ? DP_REC_TREE | DP_REC_LINES : DP_REC_TREE, one_in);
    dp_rec_flush(&run.rec, now);
    if (!run.rec.over)
        gather();
    dp_rec_release(&run.rec);
    dp_lines_release(&run.lines);
    dp_live_release(&run.live);
    dp_writer_release(&w);
}

static void same(const char *what)
{
    same_sums(want, got, what);
    is_u(run.ended, model.ended, "... and as many calls in the histograms as have ended");
    dp_pool_release(&paths);
}

/* At the limit contexts are shared, but no call and no time is lost. */
static void limited(unsigned one_in)
{
    play(11, false, one_in, 20, -1);
    same_in_all(want, got, "a limit of contexts");
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
