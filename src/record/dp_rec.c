#include "dp_rec.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_rec_clock.h"
#include "dp_rec_mark.h"
#include "dp_rec_sample.h"
#include "dp_rec_save.h"

#include <string.h>

enum { NOISE_NS = 20000 };      /* a gap that takes so much longer than usual was disturbed */

/* Begins the time of a recording, or of a forked child's: sums and remainders are 0, and clocks and
 * counts are read, so that the first gap begins here. */
static void start_clocks(struct dp_rec *rec)
{
    struct dp_rec_clock *clock = &rec->clock;
    rec->marks.program = rec->marks.settled = rec->samples.program = 0;
    clock->carry = 0;
    clock->debt = 0;
    clock->dropped = 0;
    rec->saving.err = 0;
    rec->saving.trip = false;
    rec->saving.wanted = 0;            /* a signal to the parent is not for a forked child */
    clock->cpu_used = 0;
    clock->relaxed = false;
    clock->reads = clock->waits = clock->skipped = 0;
    clock->idle = 0;
    clock->total_user_us = clock->total_sys_us = 0;
    rec->host->split(rec->host_arg, &clock->user_us, &clock->sys_us);
    rec->host->pair(rec->host_arg, &clock->pair_stamp, &clock->pair_mono);
    clock->first_stamp = clock->split_stamp = clock->pair_stamp;
    rec->saving.written = rec->saving.saved = clock->pair_stamp;
    clock->began = clock->first_stamp;
    clock->first_mono = clock->pair_mono;
    dp_rec_clock_thresholds(rec);
    dp_rec_anchor(rec);
    clock->cpu_used = 0;
    clock->split_ns = 0;
    clock->period_end = rec->marks.deadline;
    rec->marks.ops_seen = rec->marks.line_ops_seen = *rec->marks.ops;
    dp_rec_skip_counts(rec);
    memcpy(rec->samples.counts, rec->marks.counts_seen, sizeof rec->marks.counts_seen);
    rec->marks.left = clock->paused_at = rec->host->stamp(rec->host_arg);
}

void dp_rec_init(struct dp_rec *rec, const struct dp_rec_how *how, struct dp_writer *writer,
                 const struct dp_rec_host *host, void *host_arg)
{
    static const uint64_t no_ops = 0;
    memset(rec, 0, sizeof *rec);
    rec->how = *how;
    rec->marks.line = (struct dp_stmt *)rec->no_line;
    rec->how.words *= 1 + how->n_counts;
    rec->writer = writer;
    writer->n_counts = how->n_counts;
    rec->host = host;
    rec->host_arg = host_arg;
    rec->marks.ops = how->ops ? how->ops : &no_ops;
    dp_rec_clock_begin(rec);
    start_clocks(rec);
    rec->clock.measure_at = UINT64_MAX;
    if (host->costs)
        rec->clock.measure_at = rec->clock.first_stamp
                                + dp_rec_clock_stamps(rec, DP_REC_FIRST_MEASURE_NS);
}

/* The context from which outermost calls are made. */
struct dp_cct_node *dp_rec_base(struct dp_rec *rec)
{
    return rec->phase ? dp_cct_child(&rec->cct, rec->cct.root, rec->phase, 0) : rec->cct.root;
}

void dp_rec_rebase(struct dp_rec *rec)
{
    if (rec->tree)
        rec->marks.cur = rec->paused ? rec->cct.idle : dp_rec_base(rec);
}

/* Sets up the recorder for a new, empty tree, at the root or in the running phase. phase_begins:
 * false if the phase began before the tree, in a trace or slice that the tree continues. */
static void begin_tree(struct dp_rec *rec, bool phase_begins)
{
    rec->relinks++;
    rec->samples.unassigned.stamps = 0;
    rec->samples.since = rec->marks.program;
    rec->marks.cur = dp_rec_base(rec);
    rec->marks.cur->calls += rec->phase != 0 && phase_begins;
    rec->known_phase = rec->phase;
}

/* Goes on with the statement that ran before. With samples of statements, no_line collects the
 * costs for the next sample. */
static void go_on_line_before(struct dp_rec *rec)
{
    if (rec->how.line_samples)
        memset(rec->no_line, 0, sizeof rec->no_line);
    else
        rec->marks.line = dp_lines_get(rec->how.lines, rec->line_before);
}

/* Makes the table of statements. Returns 0 or a DP_E. */
static int open_lines(struct dp_rec *rec)
{
    int rc = dp_lines_open(rec->how.lines, rec->saving.live, rec->how.n_counts);
    if (rc == 0)
        go_on_line_before(rec);
    return rc;
}

/* Makes the empty calling context tree. Returns 0 or a DP_E. */
static int init_tree(struct dp_rec *rec)
{
    return dp_cct_init(&rec->cct, rec->saving.live, (struct dp_cct_node *)rec->nowhere,
                       rec->how.contexts, rec->how.n_counts);
}

int dp_rec_open(struct dp_rec *rec, struct dp_live *live)
{
    rec->saving.live = live;
    rec->tree = rec->how.tree;
    if (dp_rec_save_open_state(rec) < 0)
        return DP_E_NOMEM;
    if (rec->tree) {
        int rc = init_tree(rec);
        if (rc == 0 && rec->how.lines)
            rc = open_lines(rec);
        if (rc == 0)
            begin_tree(rec, true);
        return rc;
    }
    rec->saving.window = dp_live_add(live, DP_LIVE_MARKS,
                              (rec->how.words + DP_REC_SLACK) * sizeof *rec->saving.window);
    if (!rec->saving.window)
        return DP_E_NOMEM;
    rec->marks.pos = rec->saving.window;
    dp_rec_save_clear_window(rec);
    if (rec->phase)
        rec->marks.pos = dp_rec_save_put_mark(rec, DP_RAW_WORD(DP_RAW_PHASE, rec->phase));
    rec->known_phase = rec->phase;
    return 0;
}

void dp_rec_shrink(struct dp_rec *rec, size_t words)
{
    rec->saving.on_first_second = NULL;
    rec->how.words = words * (1 + rec->how.n_counts);
    if (!rec->tree && rec->saving.window)
        rec->marks.end = rec->saving.window + rec->how.words;
    dp_rec_rearm(rec);
}

void dp_rec_release(struct dp_rec *rec)
{
    if (rec->saving.on_held)
        rec->saving.on_held->forget(rec);
    if (rec->tree)
        dp_cct_release(&rec->cct);
    rec->saving.window = rec->marks.pos = rec->marks.end = NULL;
    rec->saving.state = NULL;
    rec->saving.live = NULL;
    rec->marks.cur = NULL;
    rec->samples.unassigned.stamps = 0;
}

static uint32_t no_site(void *arg)
{
    (void)arg;
    return 0;
}

/* The recorder stays paused for good: each mark takes the slow way, and ends there; marks of a tree
 * find a node that has no children. */
void dp_rec_give_up(struct dp_rec *rec)
{
    rec->tree |= rec->how.tree;
    dp_rec_release(rec);
    rec->tree = rec->how.tree;
    rec->marks.cur = rec->cct.idle = (struct dp_cct_node *)rec->nowhere;
    rec->marks.line = (struct dp_stmt *)rec->no_line;
    if (rec->how.site)          /* the current mark has no interpreter to ask */
        rec->how.site = no_site;
    if (rec->how.lines)
        rec->how.lines->open = rec->how.lines->n = 0;
    rec->saving.err = DP_E_NOMEM;
    rec->over = rec->paused = true;
    rec->relinks++;
    rec->saving.trip = false;
    rec->saving.wanted = 0;
    rec->marks.deadline = 0;
}

void dp_rec_restart(struct dp_rec *rec)
{
    if (rec->saving.on_held)
        rec->saving.on_held->leave(rec);
    rec->saving.state = NULL;
    rec->marks.line = (struct dp_stmt *)rec->no_line;
    if (rec->how.lines)
        rec->how.lines->open = rec->how.lines->n = 0;
    start_clocks(rec);
    dp_rec_trip(rec);
}

/* Calls the host's function rec->saving.tripped, if dp_rec_trip() was called since the last
 * time. */
static void run_trip(struct dp_rec *rec)
{
    if (rec->saving.trip) {
        dp_rec_untrip(rec);
        dp_rec_clock_thresholds(rec);
        rec->marks.deadline = rec->clock.cpu_stamp + dp_rec_clock_stamps(rec, DP_REC_DEADLINE_NS);
        rec->saving.tripped(rec->saving.arg);
    }
}

/* Takes in a mark while the recorder is paused. Nothing counts while paused, but a save may be
 * wanted. Returns 0 or the writer's error. */
static int paused_event(struct dp_rec *rec, uint64_t now)
{
    const struct dp_rec_saving *saving = &rec->saving;
    return saving->wanted && !saving->trip && !rec->over ? dp_rec_save(rec, now) : saving->err;
}

/* ---- trace ---- */

/* Adds a gap to the program's time, and reads the CPU clock if that is due. Returns the part of the
 * gap that the next mark itself carries. */
static uint64_t take_gap(struct dp_rec *rec, uint64_t now)
{
    bool is_long;
    uint64_t gap = dp_rec_clock_gap(rec, now);
    if (!dp_rec_clock_is_due(rec, gap, &is_long, now))
        return gap;
    uint64_t long_gap = is_long ? gap : 0;
    uint64_t wait = dp_rec_clock_read(rec, long_gap, now);
    dp_rec_save_close_reading(rec);
    dp_rec_clock_judge(rec, long_gap, wait, now);
    if (!is_long) {
        /* The gap belongs to the stretch that was just closed. */
        rec->saving.window[rec->saving.cpu_rec + DP_RAW_SHORT_SUM] -= gap;
        uint64_t *short_wait = &rec->saving.window[rec->saving.cpu_rec + DP_RAW_SHORT_WAIT];
        wait = *short_wait < gap ? *short_wait : gap;
        *short_wait -= wait;
    }
    dp_rec_save_open_reading(rec, gap, wait);
    return 0;
}

/* Takes in an entry or a return outside of the fast path: while recording is paused, when something
 * else asked for attention, when the buffer of the trace is full, or when the window's time is
 * over. word: kind and id, as a mark holds them; call: the new call of an entry, else NULL. Returns
 * 0 or the writer's error. */
DP_INLINE int mark_slow(struct dp_rec *rec, uint32_t word, struct dp_cct_call *call, uint64_t now,
                        const int way)
{
    struct dp_rec_saving *saving = &rec->saving;
    if (rec->paused) {
        if (call)
            call->start = rec->marks.program;
        return paused_event(rec, now);
    }
    run_trip(rec);
    if (rec->over)
        return saving->err;
    if (rec->tree) {
        /* the recording began as a trace */
        dp_rec_mark(rec, (enum dp_raw_kind)(word >> DP_RAW_ID_BITS), word & DP_RAW_ID_MAX, call,
                    now, DP_REC_TREE | way);
        return saving->err;
    }
    uint64_t gap = take_gap(rec, now);
    rec->marks.pos = dp_rec_save_put_mark(rec, gap << 32 | word);
    if (rec->marks.pos >= rec->marks.end || saving->wanted
        || now - saving->written >= dp_rec_clock_stamps(rec, DP_REC_WINDOW_NS))
        dp_rec_save_write_window(rec, now);
    if (saving->wanted)
        dp_rec_save_now(rec, now);
    dp_rec_rearm(rec);
    return saving->err;
}

int dp_rec_mark_slow(struct dp_rec *rec, uint32_t word, struct dp_cct_call *call, uint64_t now)
{
    return mark_slow(rec, word, call, now, 0);
}

int dp_rec_mark_slow_counted(struct dp_rec *rec, uint32_t word, struct dp_cct_call *call,
                             uint64_t now)
{
    rec->worked = true;
    return mark_slow(rec, word, call, now, DP_REC_COUNTS);
}

/* ---- tree ---- */

/* The totals of a context (or statement) before the current gap, from which its usual speed
 * follows. */
struct usual {
    uint64_t busy, ops;         /* stamps of CPU time */
    uint64_t *noise;            /* noise in them, in ns */
    uint64_t passed;            /* ops in the gap */
};

/* What noise is judged by: the CPU time and ops so far of the running statement, or of the context
 * if statements have no times, and the ops in the gap. */
static struct usual usual_of(const struct dp_rec *rec)
{
    struct dp_cct_node *node = rec->marks.cur;
    struct dp_stmt *line = rec->marks.line;
    if (rec->how.line_times)
        return (struct usual){ line->real - line->wait, line->ops,
                               &line->counts[rec->how.noise - 1],
                               *rec->marks.ops - rec->marks.line_ops_seen };
    return (struct usual){ node->real - node->wait, node->ops,
                           &node->counts[rec->how.noise - 1],
                           *rec->marks.ops - rec->marks.ops_seen };
}

/* Interrupts of the kernel, and of a hypervisor, take some ten microseconds each, and vary most
 * between runs. They cannot be seen from here, but they show as a gap that took much longer than
 * its ops usually do. of: the totals before the gap; busy: the gap's stamps of CPU time. */
static void note_noise(struct dp_rec *rec, const struct usual *of, uint64_t busy)
{
    double noise = (double)*of->noise * rec->clock.rate;
    double usual = of->ops ? ((double)of->busy - noise) / (double)of->ops : 0;
    double more = (double)busy - usual * (double)of->passed;
    if (!of->ops || more < NOISE_NS * rec->clock.rate)
        return;
    uint64_t ns = (uint64_t)(more / rec->clock.rate);
    rec->marks.cur->counts[rec->how.noise - 1] += ns;
    if (rec->how.line_times)
        rec->marks.line->counts[rec->how.noise - 1] += ns;
}

void dp_rec_gap_slow(struct dp_rec *rec, uint64_t now, enum dp_rec_at at)
{
    struct dp_rec_saving *saving = &rec->saving;
    struct dp_rec_clock *clock = &rec->clock;
    bool is_long;
    if (rec->paused) {
        paused_event(rec, now);
        return;
    }
    run_trip(rec);
    if (rec->over)
        return;
    uint64_t gap = dp_rec_clock_gap(rec, now), wait = 0;
    struct usual usual = { 0 };
    if (rec->how.noise)
        usual = usual_of(rec);
    if (rec->how.line_times)
        dp_rec_settle(rec);
    else
        rec->marks.cur->real += gap;
    rec->marks.line->real += gap;
    if (dp_rec_clock_is_due(rec, gap, &is_long, now)) {
        wait = dp_rec_clock_read(rec, is_long ? gap : 0, now);
        dp_rec_clock_judge(rec, is_long ? gap : 0, wait, now);
        clock->debt += clock->short_wait;
        if (now - clock->split_stamp >= dp_rec_clock_stamps(rec, DP_REC_DEADLINE_NS))
            dp_rec_split(rec, now);
    }
    if (clock->debt) {
        uint64_t more = clock->debt < gap - wait ? clock->debt : gap - wait;
        wait += more;
        clock->debt -= more;
    }
    dp_rec_clock_thresholds(rec);
    if (usual.noise)
        note_noise(rec, &usual, gap - wait);
    rec->marks.cur->wait += wait;
    rec->marks.line->wait += wait;
    if (saving->on_first_second
        && now - clock->first_stamp >= dp_rec_clock_stamps(rec, DP_REC_WINDOW_NS)) {
        void (*on_first_second)(void *) = saving->on_first_second;
        saving->on_first_second = NULL;
        on_first_second(saving->arg);
    }
    if (saving->wanted || dp_rec_save_is_due(rec, now)) {
        saving->mark_at = at;
        dp_rec_save_now(rec, now);
        saving->mark_at = DP_REC_AT_NO_MARK;
    }
    dp_rec_rearm(rec);
}

struct dp_cct_node *dp_rec_child_at_site(struct dp_rec *rec, uint32_t id,
                                         struct dp_cct_call *call)
{
    call->site = rec->how.site(rec->host_arg);
    return dp_rec_child_at(rec, id, call);
}

struct dp_cct_node *dp_rec_child_at(struct dp_rec *rec, uint32_t id, const struct dp_cct_call *call)
{
    struct dp_cct_node *child = rec->marks.cur->last;
    uint32_t site = call->site;
    if (child && child->id == id && child->site == site)
        return child;
    return dp_cct_child(&rec->cct, rec->marks.cur, id, site);
}

void dp_rec_enter_at(struct dp_rec *rec, uint32_t id, uint32_t site, struct dp_cct_call *call,
                     uint64_t now, int way)
{
    call->site = site;
    dp_rec_tree_enter(rec, id, call, now, way, true);
}

void dp_rec_charge_all(struct dp_rec *rec, uint64_t now)
{
    if (rec->how.line_times)
        dp_rec_charge(rec, now, DP_REC_AT_NO_MARK, DP_REC_COUNTS | DP_REC_LINES);
    else
        dp_rec_charge(rec, now, DP_REC_AT_NO_MARK, DP_REC_COUNTS);
}

void dp_rec_statement_slow(struct dp_rec *rec, uint32_t number, uint64_t now)
{
    dp_rec_charge_all(rec, now);
    if (rec->over)
        return;
    rec->marks.line = dp_lines_get(rec->how.lines, number);
    if (!rec->paused)
        rec->marks.line->count++;
}

void dp_rec_resume(struct dp_rec *rec, uint32_t id, struct dp_cct_call *call, uint64_t start)
{
    call->caller = rec->marks.cur;
    call->start = start;
    bool has_site = rec->how.site || (rec->how.lines && !rec->how.line_samples);
    uint32_t site = has_site && rec->how.tree ? call->site : 0;
    call->site = site;
    rec->marks.cur = start == DP_REC_ELSEWHERE ? dp_cct_resumed(&rec->cct, rec->marks.cur, id, site)
                                         : dp_cct_child(&rec->cct, rec->marks.cur, id, site);
}

void dp_rec_resume_here(struct dp_rec *rec, uint32_t id, struct dp_cct_call *call)
{
    call->site = rec->how.line_times ? rec->marks.line->site
                 : rec->how.site ? rec->how.site(rec->host_arg) : 0;
    call->line = rec->marks.line->number;
    dp_rec_resume(rec, id, call, DP_REC_ELSEWHERE);
}

int dp_rec_to_tree(struct dp_rec *rec)
{
    int rc = init_tree(rec);
    if (rc < 0)
        return rc;
    /* No further window follows to take the time that is still pending, so write it now. */
    rc = dp_writer_finish(rec->writer);
    if (rc < 0 && !rec->saving.err)
        rec->saving.err = rc;
    rec->tree = true;
    dp_rec_save_tell_state(rec);
    rec->saving.state->tree = 1;
    begin_tree(rec, rec->known_phase != rec->phase);
    rec->marks.end = rec->saving.window;         /* all marks go the slow way */
    rec->marks.ops_seen = rec->marks.line_ops_seen = *rec->marks.ops;
    dp_rec_skip_counts(rec);
    return 0;
}

/* ---- phases and pauses ---- */

void dp_rec_announce(struct dp_rec *rec, enum dp_raw_kind kind, size_t n, uint64_t now)
{
    dp_rec_mark_slow_counted(rec, DP_RAW_WORD(kind, n & DP_RAW_ID_MAX), NULL, now);
    rec->marks.left = now;
}

void dp_rec_phase(struct dp_rec *rec, uint32_t id, uint64_t now)
{
    if (!rec->paused)
        run_trip(rec);              /* a child begins in the phase of the fork */
    rec->phase = id;
    if (rec->paused)
        return;
    rec->known_phase = id;
    if (!rec->tree) {
        dp_rec_mark_slow_counted(rec, DP_RAW_WORD(DP_RAW_PHASE, id), NULL, now);
    } else {
        dp_rec_charge_all(rec, now);
        dp_rec_sample_over(rec);
        begin_tree(rec, true);
    }
    rec->marks.left = now;
}

void dp_rec_pause(struct dp_rec *rec, uint64_t now)
{
    if (rec->tree) {
        /* read the CPU clock: the next reading counts from the end of the pause */
        rec->marks.deadline = 0;
        dp_rec_charge_all(rec, now);
        dp_rec_sample_end(rec);
        rec->marks.cur = rec->cct.idle;
    }
    if (rec->how.lines)
        rec->how.lines->open = 0;
    rec->relinks++;
    rec->paused = true;
    rec->clock.paused_at = now;
    rec->marks.end = NULL;
    rec->marks.deadline = 0;          /* every mark takes the slow way, and ends there */
}

void dp_rec_unpause(struct dp_rec *rec, uint64_t now)
{
    struct dp_rec_clock *clock = &rec->clock;
    if (rec->over)
        return;
    if (rec->how.lines)
        rec->how.lines->open = rec->how.lines->n;
    rec->paused = false;
    rec->relinks++;
    clock->idle += now - clock->paused_at;
    uint64_t used = clock->cpu_used;
    dp_rec_anchor(rec);
    clock->cpu_used = used;
    rec->host->split(rec->host_arg, &clock->user_us, &clock->sys_us);
    if (rec->saving.trip)
        dp_rec_trip(rec);
    else
        dp_rec_untrip(rec);
    rec->marks.ops_seen = rec->marks.line_ops_seen = *rec->marks.ops;
    dp_rec_skip_counts(rec);
    rec->marks.left = now;
    if (rec->saving.trip)                      /* a forked child still has its parent's state */
        return;
    if (rec->known_phase != rec->phase)
        dp_rec_phase(rec, rec->phase, now);
    else if (rec->tree)
        rec->marks.cur = dp_rec_base(rec);
}

/* Clocks, counters and their rate go on; sums begin anew. */
int dp_rec_renew(struct dp_rec *rec)
{
    struct dp_rec_clock *clock = &rec->clock;
    if (dp_rec_save_open_state(rec) < 0 || dp_cct_renew(&rec->cct) < 0)
        return DP_E_NOMEM;
    if (rec->how.lines) {
        if (dp_lines_renew(rec->how.lines) < 0)
            return DP_E_NOMEM;
        go_on_line_before(rec);
    }
    begin_tree(rec, false);
    rec->saving.renewals++;
    if (rec->paused)
        rec->marks.cur = rec->cct.idle;
    dp_rec_anchor(rec);
    memset(&rec->writer->sums, 0, sizeof rec->writer->sums);
    clock->cpu_used = clock->split_ns = 0;
    clock->dropped = clock->idle = 0;
    clock->began = rec->host->stamp(rec->host_arg);
    return 0;
}
