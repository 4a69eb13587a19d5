/* A recording gives up at any event, the first and the last included, in each way of recording. The
 * program's events go on, or end there, and all memory is freed. */
#include "random.h"
#include "still.h"
#include "tap.h"
#include "dp_err.h"
#include "dp_held.h"
#include "dp_live.h"
#include "dp_mem.h"
#include "dp_rec.h"
#include "dp_rec_mark.h"
#include "dp_rec_sample.h"
#include "dp_writer.h"

#include <string.h>

enum { SUBS = 3, DEPTH = 5, ROUNDS = 40, AFTER = 30, STATEMENTS = 4 };

enum kind {
    ENTER, LEAVE, STATEMENT, SAMPLE, PHASE, STOP, START, HOLD, TURN, SETTLE, SAVE, WANT, FLUSH,
    FORK, KINDS
};
static const char *const kind_name[KINDS] = {
    "a call", "its end", "a statement", "a sample", "a phase", "a stop", "a start", "a stretch",
    "a turn", "its settling", "a save", "a wanted save", "a flush", "a fork"
};

enum way { TRACE, TREE, LINES_TIME, LINES_COUNT, SAMPLES, TO_TREE, WAYS };
static const char *const way_name[WAYS] = {
    "a trace", "a tree", "lines", "counted lines", "samples", "a trace that becomes a tree"
};

static struct {
    enum way way;
    struct dp_rec rec;
    struct dp_lines lines;
    struct dp_live live;
    struct dp_writer writer;
    struct dp_cct_call call[DEPTH];
    int depth, how;
    bool gives_up;              /* the next call of the host does */
} run;

/* ---- what the host does ---- */

static void give_up(void)
{
    run.gives_up = false;
    dp_rec_give_up(&run.rec);
    for (int i = 0; i < run.depth; i++)
        run.call[i].caller = run.rec.marks.cur;
    dp_live_release(&run.live);
}

static void relink(uint64_t start)
{
    for (int i = 0; i < run.depth && run.rec.tree; i++)
        if (run.rec.paused)
            run.call[i].caller = run.rec.marks.cur;
        else
            dp_rec_resume(&run.rec, 1, &run.call[i], start);
}

static void cut(void *arg)
{
    (void)arg;
    if (run.gives_up) {
        give_up();
    } else if (run.rec.how.tree) {
        dp_rec_keep_line(&run.rec);
        dp_live_release(&run.live);
        dp_live_init(&run.live, NULL, 0);
        if (dp_rec_renew(&run.rec) < 0)
            give_up();
        else if (!run.rec.saving.stopped)
            relink(0);
    }
}

static void tripped(void *arg)
{
    (void)arg;
    dp_rec_untrip(&run.rec);
    dp_rec_release(&run.rec);
    dp_live_release(&run.live);
    dp_live_init(&run.live, NULL, 0);
    if (run.gives_up || dp_rec_open(&run.rec, &run.live) < 0)
        give_up();
    else
        relink(DP_REC_ELSEWHERE);
}

static void flushed(void *arg)
{
    (void)arg;
    if (run.way == TO_TREE && !run.rec.tree && dp_rec_to_tree(&run.rec) == 0)
        relink(DP_REC_ELSEWHERE);
}

/* ---- the program ---- */

static void mark(enum kind kind)
{
    if (kind == ENTER && run.depth < DEPTH) {
        dp_rec_mark(&run.rec, DP_RAW_ENTER, 1 + rnd(SUBS), &run.call[run.depth], now, run.how);
        run.depth++;
    } else if (kind == LEAVE && run.depth) {
        struct dp_cct_call *call = &run.call[run.depth - 1];
        dp_rec_mark(&run.rec, DP_RAW_LEAVE, 1, call, now, run.how);
        if (run.how & DP_REC_LINES)
            dp_rec_go_on_line(&run.rec, call->line);
        run.depth--;
    }
}

/* Does the first work of a child. While recording is stopped only its next start does that. */
static void get_ready(void)
{
    if (run.rec.saving.trip && !run.rec.paused)
        tripped(NULL);
}

static void turn(uint64_t to)
{
    dp_held_turn(&run.rec, to, now);
    if (!run.rec.over)
        relink(DP_REC_ELSEWHERE);
}

static void hold(enum kind kind)
{
    get_ready();
    if (!run.rec.tree || run.rec.over || run.rec.saving.trip)
        return;                 /* dpx_held.c asks */
    if (kind == HOLD && !dp_held_is(&run.rec, 1)) {
        if (dp_held_new(&run.rec, 1, rnd(2) ? 0 : 1000000000, now) == 0)
            turn(1);
    } else if (kind == TURN && dp_held_is(&run.rec, 1)) {
        turn(!dp_held_number(&run.rec));
    } else if (kind == SETTLE && dp_held_is(&run.rec, 1)) {
        if (dp_held_number(&run.rec))
            turn(0);
        if (!run.rec.over)
            dp_held_end(&run.rec, 1, dp_held_is_slow(&run.rec, 1, now));
    }
}

static void stop_or_start(enum kind kind)
{
    get_ready();
    if (kind == STOP && !run.rec.paused) {
        dp_rec_pause(&run.rec, now);
        relink(0);
    } else if (kind == START && run.rec.paused) {
        dp_rec_unpause(&run.rec, now);
        if (run.rec.saving.trip)
            tripped(NULL);
        else
            relink(DP_REC_ELSEWHERE);
    }
}

static void statement(enum kind kind)
{
    uint32_t number = DP_LINE_REST + 1 + rnd(STATEMENTS);
    if (kind == STATEMENT && run.rec.how.lines)
        dp_rec_statement_slow(&run.rec, number, now);
    else if (kind == SAMPLE && run.way == SAMPLES && !run.rec.paused && !run.rec.saving.trip)
        dp_rec_sample_line(&run.rec, number, now);
}

static void fork_child(void)
{
    if (run.rec.over)
        return;                 /* a recording that has ended does not go on in a child */
    dp_rec_keep_line(&run.rec);
    dp_rec_restart(&run.rec);
}

static void event(enum kind kind)
{
    now += 1 + (rnd(4) ? rnd(300) : rnd(9000));
    ops += rnd(5);
    mark(kind);
    if (kind == HOLD || kind == TURN || kind == SETTLE)
        hold(kind);
    if (kind == STOP || kind == START)
        stop_or_start(kind);
    statement(kind);
    if (kind == PHASE) {
        dp_rec_phase(&run.rec, SUBS + 1 + rnd(2), now);
        relink(0);
    } else if (kind == SAVE && !run.rec.saving.trip) {
        dp_rec_save(&run.rec, now);
    } else if (kind == WANT) {
        dp_rec_want(&run.rec);
    } else if (kind == FLUSH && !run.rec.saving.trip) {
        dp_rec_flush(&run.rec, now);
    } else if (kind == FORK) {
        fork_child();
    }
    run.rec.marks.left = now;
}

static void begin(enum way way)
{
    static const char name[] = "m f m:1";
    bool lines = way == LINES_TIME || way == LINES_COUNT || way == SAMPLES;
    struct dp_rec_how how = {
        .words = 64, .contexts = 1 << 10, .tree = way != TRACE && way != TO_TREE, .ops = &ops,
        .lines = lines ? &run.lines : NULL, .line_times = way == LINES_TIME,
        .line_samples = way == SAMPLES,
    };
    memset(&run, 0, sizeof run);
    run.way = way;
    run.how = (how.tree ? DP_REC_TREE : 0) | (how.line_times ? DP_REC_LINES : 0);
    now = 1000;
    dp_live_init(&run.live, NULL, 0);
    dp_writer_init(&run.writer, 10000000, sink, NULL);
    for (uint32_t id = 1; id <= SUBS + 2; id++)
        dp_writer_name(&run.writer, name, strlen(name));
    dp_rec_init(&run.rec, &how, &run.writer, &still, NULL);
    run.rec.saving.save = cut;
    run.rec.saving.tripped = tripped;
    run.rec.saving.flushed = flushed;
    for (uint32_t n = 1; lines && n <= STATEMENTS; n++)
        dp_lines_know(&run.lines, DP_LINE_REST + n, &(struct dp_line_place){ .site = n });
    dp_rec_open(&run.rec, &run.live);
    run.rec.marks.left = now;
}

/* Events of all kinds at random; then recording gives up at one of this kind, and events go on or
 * end. */
static void play(enum way way, enum kind last, uint32_t with, bool inside, int after)
{
    random_state = with;
    begin(way);
    for (unsigned i = rnd(60); i > 0; i--)
        event((enum kind)rnd(KINDS));
    run.gives_up = inside;
    event(last);
    if (!run.rec.over)
        give_up();
    run.rec.marks.left = now;
    while (after-- > 0)
        event((enum kind)rnd(KINDS));
    dp_rec_flush(&run.rec, now);
    dp_rec_release(&run.rec);
    dp_lines_release(&run.lines);
    dp_live_release(&run.live);
    dp_writer_release(&run.writer);
}

int main(void)
{
    for (int way = 0; way < WAYS; way++)
        for (int kind = 0; kind < KINDS; kind++) {
            long left = 0;
            for (uint32_t with = 1; with <= ROUNDS; with++) {
                play((enum way)way, (enum kind)kind, with, with % 2, 0);
                play((enum way)way, (enum kind)kind, with, with % 2, AFTER);
                left += dp_mem_live();
            }
            ok(left == 0, "%s gives up at %s: all memory is freed", way_name[way], kind_name[kind]);
        }
    return tap_done();
}
