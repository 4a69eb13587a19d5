#include "dp_rec.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_rec_sample.h"

#include <string.h>

#define CHECK_AT(field, at)  DP_CHECK(field, offsetof(struct dp_live_state, field) == (at))
CHECK_AT(run, 0);
CHECK_AT(pid, DP_PIECE_RUN + 8 * DP_PIECE_S_PID);
CHECK_AT(tid, DP_PIECE_RUN + 8 * DP_PIECE_S_TID);
CHECK_AT(hz, DP_PIECE_RUN + 8 * DP_PIECE_S_HZ);
CHECK_AT(rate, DP_PIECE_RUN + 8 * DP_PIECE_S_RATE);
CHECK_AT(marks, DP_PIECE_RUN + 8 * DP_PIECE_S_MARKS);
CHECK_AT(tree, DP_PIECE_RUN + 8 * DP_PIECE_S_TREE);
CHECK_AT(ops, DP_PIECE_RUN + 8 * DP_PIECE_S_OPS);
CHECK_AT(pending, DP_PIECE_RUN + 8 * DP_PIECE_S_USER);
CHECK_AT(n_counts, DP_PIECE_RUN + 8 * DP_PIECE_S_COUNTS);
CHECK_AT(pending_counts, DP_PIECE_RUN + 8 * DP_PIECE_S_PENDING);
DP_CHECK(state, sizeof(struct dp_live_state) == DP_PIECE_RUN + 8 * DP_PIECE_S_WORDS);

/* The figures of the adaptive reading of the CPU clock; the manual's section
 * "How time is measured" tells what they are good for. */
enum {
    FIRST_MEASURE_NS = 5000000, LAST_MEASURE_NS = 125000000,
    LONG_GAP_NS = 5000,         /* a gap this long is worth a system call: the CPU clock is read */
    RELAXED_GAP_NS = 20000,     /* the same for programs that do not wait */
    DEADLINE_NS = 1000000,      /* read at least this often */
    WAITED_NS = 1000,           /* less waiting than this is noise */
    CARRY_NS = 2000,            /* noise of one reading */
    YOUNG_NS = 50000000,        /* so long the rate is still being learnt */
    WINDOW_NS = 1000000000,     /* a mark is written after this time at the latest */
    PAIR_GAP_NS = 10000000,     /* in a gap this long the counter may have stepped */
    PERIOD_READS = 20,          /* more readings than this in a period are too many */
    NOISE_NS = 20000,           /* a stretch that takes so much longer than usual is disturbed */
    SAMPLE = 8                  /* the clock is read after one of so many gaps that are passed over
                                 * */
};

static uint64_t stamps(const struct dp_rec *rec, double ns)
{
    return (uint64_t)(ns * rec->rate);
}

static void set_thresholds(struct dp_rec *rec)
{
    rec->long_gap = stamps(rec, LONG_GAP_NS);
    if (!rec->long_gap)
        rec->long_gap = 1;
    if (rec->debt)
        rec->long_gap = 0;      /* each gap takes the slow way until the debt is paid */
    rec->ns_mult = (uint64_t)(4294967296.0 / rec->rate);
    if (rec->state)
        rec->state->rate = rec->rate;
}

/* Computes the rate: the longer the time since the first pair, the better. */
static void learn_rate(struct dp_rec *rec, uint64_t stamp, uint64_t mono)
{
    uint64_t passed = mono - rec->first_mono;
    if (rec->host->rate != 0 || mono <= rec->first_mono || stamp <= rec->first_stamp)
        return;
    if (passed >= LONG_GAP_NS * 10) {
        rec->rate = (double)(stamp - rec->first_stamp) / (double)passed;
        set_thresholds(rec);
    }
    rec->young = passed < YOUNG_NS;
}

/* Opens a stretch of marks whose waiting will be known at the next reading. */
static void open_reading(struct dp_rec *rec, uint64_t gap, uint64_t wait)
{
    rec->cpu_rec = (size_t)(rec->pos - rec->window);
    rec->pos[0] = DP_RAW_WORD(DP_RAW_CPU, 0);
    rec->pos[DP_RAW_LONG_GAP] = gap;
    rec->pos[DP_RAW_LONG_WAIT] = wait;
    rec->pos[DP_RAW_SHORT_SUM] = 0;
    rec->pos[DP_RAW_SHORT_WAIT] = 0;
    rec->pos = dp_rec_put_counts(rec, rec->pos + DP_RAW_CPU_WORDS);
}

void dp_rec_anchor(struct dp_rec *rec)
{
    uint64_t stamp = rec->host->stamp(rec->host_arg);
    uint64_t cpu_ns = rec->host->cpu_ns(rec->host_arg);
    rec->cpu_used += cpu_ns > rec->cpu_ns ? cpu_ns - rec->cpu_ns : 0;
    rec->cpu_ns = cpu_ns;
    rec->cpu_stamp = stamp;
    rec->cpu_program = rec->program;
    rec->deadline = stamp + stamps(rec, DEADLINE_NS);
}

static void start(struct dp_rec *rec)
{
    rec->program = rec->settled = rec->sampled = 0;
    rec->carry = 0;
    rec->debt = 0;
    rec->dropped = 0;
    rec->err = 0;
    rec->trip = false;
    rec->wanted = 0;            /* a signal to the parent is none to a forked child */
    rec->cpu_used = 0;
    rec->relaxed = false;
    rec->reads = rec->waits = rec->skipped = 0;
    rec->idle = 0;
    rec->total_user_us = rec->total_sys_us = 0;
    rec->host->split(rec->host_arg, &rec->user_us, &rec->sys_us);
    rec->host->pair(rec->host_arg, &rec->pair_stamp, &rec->pair_mono);
    rec->first_stamp = rec->written = rec->saved = rec->split_stamp = rec->pair_stamp;
    rec->began = rec->first_stamp;
    rec->first_mono = rec->pair_mono;
    set_thresholds(rec);
    dp_rec_anchor(rec);
    rec->cpu_used = 0;
    rec->split_ns = 0;
    rec->period_end = rec->deadline;
    rec->ops_seen = rec->line_ops_seen = *rec->ops;
    dp_rec_skip_counts(rec);
    memcpy(rec->counts_sampled, rec->counts_seen, sizeof rec->counts_seen);
    rec->left = rec->paused_at = rec->host->stamp(rec->host_arg);
}

/* A call's cost is taken off where a gap ends. Where statements are read once, a gap may begin at a
 * call and end at a statement: then each end has its half. */
static void take_costs(struct dp_rec *rec)
{
    bool once = rec->how.line_times && rec->how.reads_once;
    if (rec->host->costs)
        rec->host->costs(rec->host_arg, &rec->call_cost, &rec->line_cost);
    rec->lag = once ? rec->line_cost : 0;
    rec->call_lag = once ? rec->call_cost / 2 : 0;
    rec->zero = rec->call_cost - rec->call_lag;
}

/* A neighbour of the processor may have spoiled the first measurement; so it is made again 5, 25
 * and 125 ms later. */
static void measure_again(struct dp_rec *rec, uint64_t now)
{
    if (now < rec->measure_at)
        return;
    take_costs(rec);
    double passed = (double)(now - rec->first_stamp) / rec->rate;
    rec->measure_at = passed < LAST_MEASURE_NS / 2
                      ? rec->first_stamp + stamps(rec, passed * 5) : UINT64_MAX;
}

void dp_rec_init(struct dp_rec *rec, const struct dp_rec_how *how, struct dp_writer *writer,
                 const struct dp_rec_host *host, void *host_arg)
{
    static const uint64_t no_ops = 0;
    memset(rec, 0, sizeof *rec);
    rec->how = *how;
    rec->line = (struct dp_stmt *)rec->no_line;
    rec->how.words *= 1 + how->n_counts;
    rec->writer = writer;
    writer->n_counts = how->n_counts;
    rec->host = host;
    rec->host_arg = host_arg;
    rec->ops = how->ops ? how->ops : &no_ops;
    rec->rate = host->rate;
    if (rec->rate == 0) {
        /* This is a first estimate; learn_rate makes it better. */
        uint64_t stamp, mono, stamp2, mono2;
        host->pair(host_arg, &stamp, &mono);
        do
            host->pair(host_arg, &stamp2, &mono2);
        while (mono2 - mono < LONG_GAP_NS * 4);
        rec->rate = (double)(stamp2 - stamp) / (double)(mono2 - mono);
        rec->young = true;
    }
    take_costs(rec);
    start(rec);
    rec->measure_at = host->costs ? rec->first_stamp + stamps(rec, FIRST_MEASURE_NS) : UINT64_MAX;
}

/* Puts down a mark of any kind, and its counters. Returns its end. */
static uint64_t *put_mark(struct dp_rec *rec, uint64_t mark)
{
    *rec->pos = mark;
    return dp_rec_put_counts(rec, rec->pos + 1);
}

static void clear_window(struct dp_rec *rec)
{
    /* To a reader of what a killed process has left, the first 0 is the end of the window. */
    if (rec->pos > rec->window)
        memset(rec->window, 0, (size_t)(rec->pos - rec->window) * sizeof *rec->window);
    rec->pos = rec->window;
    rec->end = rec->window + rec->how.words;
    open_reading(rec, 0, 0);
}

/* The node below which calls begin. */
struct dp_cct_node *dp_rec_base(struct dp_rec *rec)
{
    return rec->phase ? dp_cct_child(&rec->cct, rec->cct.root, rec->phase, 0) : rec->cct.root;
}

void dp_rec_rebase(struct dp_rec *rec)
{
    if (rec->tree)
        rec->cur = rec->paused ? rec->cct.idle : dp_rec_base(rec);
}

/* phase_begins: the phase begins with the tree; where a trace goes on as a tree, it may have begun
 * before. */
static void begin_tree(struct dp_rec *rec, bool phase_begins)
{
    rec->links++;
    rec->late.stamps = 0;
    rec->cur = dp_rec_base(rec);
    rec->cur->calls += rec->phase != 0 && phase_begins;
    rec->told = rec->phase;
}

/* Between samples, no_line keeps what the next one takes. */
static void go_on_line_before(struct dp_rec *rec)
{
    if (rec->how.line_samples)
        memset(rec->no_line, 0, sizeof rec->no_line);
    else
        rec->line = dp_lines_get(rec->how.lines, rec->line_before);
}

static int open_lines(struct dp_rec *rec)
{
    int rc = dp_lines_open(rec->how.lines, rec->live, rec->how.n_counts);
    if (rc == 0)
        go_on_line_before(rec);
    return rc;
}

static int open_state(struct dp_rec *rec)
{
    rec->state = dp_live_add(rec->live, DP_LIVE_STATE, sizeof *rec->state);
    if (!rec->state)
        return DP_E_NOMEM;
    rec->state->hz = rec->writer->hz;
    rec->state->rate = rec->rate;
    rec->state->tree = rec->tree;
    rec->state->ops = rec->how.ops != NULL;
    rec->state->n_counts = rec->how.n_counts;
    return 0;
}

static int init_tree(struct dp_rec *rec)
{
    return dp_cct_init(&rec->cct, rec->live, (struct dp_cct_node *)rec->nowhere,
                       rec->how.contexts, rec->how.n_counts);
}

int dp_rec_open(struct dp_rec *rec, struct dp_live *live)
{
    rec->live = live;
    rec->tree = rec->how.tree;
    if (open_state(rec) < 0)
        return DP_E_NOMEM;
    if (rec->tree) {
        int rc = init_tree(rec);
        if (rc == 0 && rec->how.lines)
            rc = open_lines(rec);
        if (rc == 0)
            begin_tree(rec, true);
        return rc;
    }
    rec->window = dp_live_add(live, DP_LIVE_MARKS,
                              (rec->how.words + DP_REC_SLACK) * sizeof *rec->window);
    if (!rec->window)
        return DP_E_NOMEM;
    rec->pos = rec->window;
    clear_window(rec);
    if (rec->phase)
        rec->pos = put_mark(rec, DP_RAW_WORD(DP_RAW_PHASE, rec->phase));
    rec->told = rec->phase;
    return 0;
}

void dp_rec_shrink(struct dp_rec *rec, size_t words)
{
    rec->aged = NULL;
    rec->how.words = words * (1 + rec->how.n_counts);
    if (!rec->tree && rec->window)
        rec->end = rec->window + rec->how.words;
    dp_rec_rearm(rec);
}

void dp_rec_release(struct dp_rec *rec)
{
    if (rec->on_held)
        rec->on_held->forget(rec);
    if (rec->tree)
        dp_cct_release(&rec->cct);
    rec->window = rec->pos = rec->end = NULL;
    rec->state = NULL;
    rec->live = NULL;
    rec->cur = NULL;
    rec->late.stamps = 0;
}

static uint32_t no_site(void *arg)
{
    (void)arg;
    return 0;
}

/* The recorder stays paused for good: each mark takes the slow way, and ends there; marks of a tree
 * find the node that has no children. */
void dp_rec_give_up(struct dp_rec *rec)
{
    rec->tree |= rec->how.tree;
    dp_rec_release(rec);
    rec->tree = rec->how.tree;
    rec->cur = rec->cct.idle = (struct dp_cct_node *)rec->nowhere;
    rec->line = (struct dp_stmt *)rec->no_line;
    if (rec->how.site)          /* the mark that goes on has no interpreter to ask */
        rec->how.site = no_site;
    if (rec->how.lines)
        rec->how.lines->open = rec->how.lines->n = 0;
    rec->err = DP_E_NOMEM;
    rec->over = rec->paused = true;
    rec->links++;
    rec->trip = false;
    rec->wanted = 0;
    rec->deadline = 0;
}

void dp_rec_restart(struct dp_rec *rec)
{
    if (rec->on_held)
        rec->on_held->leave(rec);
    rec->state = NULL;
    rec->line = (struct dp_stmt *)rec->no_line;
    if (rec->how.lines)
        rec->how.lines->open = rec->how.lines->n = 0;
    start(rec);
    dp_rec_trip(rec);
}

/* Reads the CPU clock at the end of a gap (0: there was no gap) that ended at stamp now and is part
 * of rec->program already, and splits the waiting since the last reading. Returns how much of the
 * gap was waiting. */
static uint64_t read_cpu(struct dp_rec *rec, uint64_t gap, uint64_t now)
{
    /* The same arrival may be passed again after a reading that was part of a save. */
    if (now < rec->cpu_stamp)
        now = rec->cpu_stamp;
    /* Since `now` the recorder was at work: all of that was CPU time. */
    uint64_t before = rec->host->stamp(rec->host_arg);
    uint64_t late = before > now ? (uint64_t)((double)(before - now) / rec->rate) : 0;
    uint64_t cpu_ns = rec->host->cpu_ns(rec->host_arg);
    cpu_ns -= late < cpu_ns ? late : 0;
    if (DP_UNLIKELY(rec->young)) {
        uint64_t stamp, mono;
        rec->host->pair(rec->host_arg, &stamp, &mono);
        learn_rate(rec, stamp, mono);
    }
    bool same_thread = cpu_ns >= rec->cpu_ns;
    uint64_t used_ns = same_thread ? cpu_ns - rec->cpu_ns : 0;
    int64_t wait = (int64_t)(now - rec->cpu_stamp) - (int64_t)((double)used_ns * rec->rate + 0.5)
                 - rec->carry;
    if (!same_thread)
        wait = 0;           /* the interpreter went on in another thread */
    rec->cpu_used += used_ns;
    uint64_t shorts = rec->program - gap - rec->cpu_program;
    uint64_t of_gap = 0, of_shorts = 0;

    rec->carry = 0;
    if (wait < 0) {
        /* There was more CPU time than time. Some of that is noise of the two readings, which evens
         * out. What is more than noise belongs to no gap: a later gap that sleeps must not inherit
         * it. */
        int64_t most = (int64_t)stamps(rec, CARRY_NS);
        rec->carry = -wait < most ? -wait : most;
        rec->dropped += (uint64_t)(-wait - rec->carry);
    } else {
        of_gap = (uint64_t)wait < gap ? (uint64_t)wait : gap;
        of_shorts = (uint64_t)wait - of_gap;
        if (of_shorts > shorts)
            of_shorts = shorts;         /* the rest was the recorder's waiting */
    }
    rec->short_sum = shorts;
    rec->short_wait = of_shorts;
    rec->cpu_ns = cpu_ns;
    rec->cpu_stamp = now;
    rec->cpu_program = rec->program;
    rec->deadline = now + stamps(rec, DEADLINE_NS);
    return of_gap;
}

/* Programs with many gaps of 5 to 20 us of pure computing would pay for a reading at each; for
 * them, most of these gaps are taken for computing without a reading. */
static bool passes_over(struct dp_rec *rec, uint64_t gap)
{
    return rec->relaxed && gap < stamps(rec, RELAXED_GAP_NS) && ++rec->skipped % SAMPLE != 0;
}

static void judge(struct dp_rec *rec, uint64_t gap, uint64_t wait, uint64_t now)
{
    if (gap && gap < stamps(rec, RELAXED_GAP_NS)) {
        rec->reads++;
        if (wait > stamps(rec, WAITED_NS))
            rec->waits++;
    }
    if (now < rec->period_end)
        return;
    bool waiting = rec->waits * 10 >= rec->reads && rec->waits;
    if (rec->relaxed ? waiting : rec->reads > PERIOD_READS && !waiting)
        rec->relaxed = !rec->relaxed;
    rec->reads = rec->waits = 0;
    rec->period_end = now + stamps(rec, DEADLINE_NS);
    measure_again(rec, now);
}

/* The counter may go on or step while the machine is suspended or migrated; the monotonic clock
 * does not. Returns the gap as that clock has it. */
static uint64_t true_gap(struct dp_rec *rec, uint64_t gap)
{
    uint64_t stamp, mono;
    rec->host->pair(rec->host_arg, &stamp, &mono);
    double to_gap = (double)(rec->left - rec->pair_stamp) / rec->rate;
    double ns = (double)(mono - rec->pair_mono) - to_gap;
    double want = ns > 0 ? ns * rec->rate : 0;
    double off = (double)gap - want;
    if (off < want / 100 && -off < want / 100)
        return gap;
    uint64_t fixed = (uint64_t)want;
    /* The surplus of the stamps is moved out of the window. */
    rec->account.since += gap - fixed;
    rec->pair_stamp += gap - fixed;
    rec->first_stamp += gap - fixed;
    rec->began += gap - fixed;
    rec->cpu_stamp += gap - fixed;
    return fixed;
}

/* How the process' CPU time of this window splits into user and system. */
static double sys_share(struct dp_rec *rec)
{
    uint64_t user, sys;
    rec->host->split(rec->host_arg, &user, &sys);
    uint64_t du = user > rec->user_us ? user - rec->user_us : 0;
    uint64_t ds = sys > rec->sys_us ? sys - rec->sys_us : 0;
    rec->total_user_us += du;
    rec->total_sys_us += ds;
    rec->user_us = user;
    rec->sys_us = sys;
    /* A short window says little by itself, because the kernel counts in ticks. */
    if (du + ds < 1000) {
        du = rec->total_user_us;
        ds = rec->total_sys_us;
    }
    return du + ds ? (double)ds / (double)(du + ds) : 0;
}

/* Writes into the stretch of short gaps that ends here how long it waited. */
static void close_reading(struct dp_rec *rec)
{
    rec->window[rec->cpu_rec + DP_RAW_SHORT_SUM] = rec->short_sum;
    rec->window[rec->cpu_rec + DP_RAW_SHORT_WAIT] = rec->short_wait;
}

/* Tells readers of the pieces what the text has. */
static void tell_state(struct dp_rec *rec)
{
    rec->state->pending = rec->writer->pending;
    memcpy(rec->state->pending_counts, rec->writer->pending_counts,
           sizeof rec->state->pending_counts);
    rec->state->marks = rec->writer->marks;
}

/* Hands the window over and starts a new one. */
static int write_window(struct dp_rec *rec, uint64_t now)
{
    uint64_t stamp, mono;
    read_cpu(rec, 0, now);
    close_reading(rec);
    rec->host->pair(rec->host_arg, &stamp, &mono);
    learn_rate(rec, stamp, mono);
    double ns_per_stamp = stamp > rec->pair_stamp && mono > rec->pair_mono
        ? (double)(mono - rec->pair_mono) / (double)(stamp - rec->pair_stamp) : 1 / rec->rate;
    double ticks_per_ns = (double)rec->writer->hz / 1e9;
    /* The remains of a window that was lost in the middle of an event would be taken for marks. */
    int rc = rec->live->lost ? DP_E_IO
        : dp_writer_window(rec->writer, rec->window, (size_t)(rec->pos - rec->window),
                           ns_per_stamp * ticks_per_ns, sys_share(rec));
    if (rc < 0 && !rec->err)
        rec->err = rc;
    /* The order matters: if the process is killed in between, a reader finds these marks only in
     * the text. */
    clear_window(rec);
    tell_state(rec);
    rec->host->split(rec->host_arg, &rec->user_us, &rec->sys_us);
    rec->pair_stamp = stamp;
    rec->pair_mono = mono;
    rec->written = stamp;
    dp_rec_anchor(rec);
    if (rec->flushed)
        rec->flushed(rec->arg);
    return rec->err;
}

/* The kernel charges a tick to what it finds running. A reading once in a while does the same: it
 * charges what was counted since the last one to the context that it finds running. */
void dp_rec_split(struct dp_rec *rec, uint64_t now)
{
    double share = sys_share(rec);
    uint64_t sys = (uint64_t)((double)(rec->cpu_used - rec->split_ns) * rec->rate * share);
    rec->cur->sys += sys;
    rec->line->sys += sys;
    rec->split_stamp = now;
    rec->split_ns = rec->cpu_used;
}

/* All that has passed is taken in already. The time of the saving, and of its waiting for the disk,
 * must not look like the program's. */
static void save(struct dp_rec *rec, uint64_t now)
{
    __atomic_store_n(&rec->wanted, 0, __ATOMIC_SEQ_CST);
    rec->saved = now;
    if (rec->tree) {
        dp_rec_charge_ops(rec);
        if (rec->how.line_times)
            dp_rec_charge_line_ops(rec);
        dp_rec_charge_counts(rec, rec->how.line_times ? DP_REC_LINES : 0);
        dp_rec_split(rec, now);
        dp_rec_sample_end(rec);
    }
    if (rec->save) {
        if (rec->on_held)
            rec->on_held->step_aside(rec);
        rec->save(rec->arg);
        if (rec->on_held)
            rec->on_held->step_back(rec);
    }
    rec->host->split(rec->host_arg, &rec->user_us, &rec->sys_us);
    dp_rec_anchor(rec);
    rec->split_ns = rec->cpu_used;
}

static uint64_t gap_up_to(struct dp_rec *rec, uint64_t now)
{
    uint64_t gap = now > rec->left ? dp_rec_gap(rec, now) : 0;
    if (gap >= stamps(rec, PAIR_GAP_NS))
        gap = true_gap(rec, gap);
    rec->program += gap;
    return gap;
}

/* Is the CPU clock to be read at the end of a gap? */
static bool reads_now(struct dp_rec *rec, uint64_t gap, bool *is_long, uint64_t now)
{
    *is_long = gap >= stamps(rec, LONG_GAP_NS);
    return now >= rec->deadline || (*is_long && !passes_over(rec, gap));
}

static void run_trip(struct dp_rec *rec)
{
    if (rec->trip) {
        dp_rec_untrip(rec);
        set_thresholds(rec);
        rec->deadline = rec->cpu_stamp + stamps(rec, DEADLINE_NS);
        rec->tripped(rec->arg);
    }
}

/* Nothing counts while paused, but somebody may want the file. */
static int paused_event(struct dp_rec *rec, uint64_t now)
{
    return rec->wanted && !rec->trip && !rec->over ? dp_rec_save(rec, now) : rec->err;
}

/* ---- trace ---- */

/* Adds a gap to the program's time, with a reading of the CPU clock if that is due. Returns the
 * part that the next mark carries itself. */
static uint64_t take_gap(struct dp_rec *rec, uint64_t now)
{
    bool is_long;
    uint64_t gap = gap_up_to(rec, now);
    if (!reads_now(rec, gap, &is_long, now))
        return gap;
    uint64_t of = is_long ? gap : 0;
    uint64_t wait = read_cpu(rec, of, now);
    close_reading(rec);
    judge(rec, of, wait, now);
    if (!is_long) {
        /* The gap belongs to the stretch that was just closed. */
        rec->window[rec->cpu_rec + DP_RAW_SHORT_SUM] -= gap;
        uint64_t *of_shorts = &rec->window[rec->cpu_rec + DP_RAW_SHORT_WAIT];
        wait = *of_shorts < gap ? *of_shorts : gap;
        *of_shorts -= wait;
    }
    open_reading(rec, gap, wait);
    return 0;
}

DP_INLINE int mark_slow(struct dp_rec *rec, uint32_t word, struct dp_cct_call *call, uint64_t now,
                        const int how)
{
    if (rec->paused) {
        if (call)
            call->start = rec->program;
        return paused_event(rec, now);
    }
    run_trip(rec);
    if (rec->over)
        return rec->err;
    if (rec->tree) {
        /* began as a trace */
        dp_rec_mark(rec, (enum dp_raw_kind)(word >> DP_RAW_ID_BITS), word & DP_RAW_ID_MAX, call,
                    now, DP_REC_TREE | how);
        return rec->err;
    }
    uint64_t gap = take_gap(rec, now);
    rec->pos = put_mark(rec, gap << 32 | word);
    if (rec->pos >= rec->end || now - rec->written >= stamps(rec, WINDOW_NS) || rec->wanted)
        write_window(rec, now);
    if (rec->wanted)
        save(rec, now);
    dp_rec_rearm(rec);
    return rec->err;
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

static bool checkpoint_is_due(const struct dp_rec *rec, uint64_t now)
{
    return rec->how.checkpoint && now > rec->saved
           && now - rec->saved >= stamps(rec, (double)rec->how.checkpoint * 1e9);
}

/* What the context, or the statement, of a gap has had before it. */
struct usual {
    uint64_t busy, ops;         /* stamps of CPU time */
    uint64_t *noise;            /* ns of that which were noise */
    uint64_t passed;            /* ops in the gap */
};

static struct usual usual_of(const struct dp_rec *rec)
{
    struct dp_cct_node *node = rec->cur;
    struct dp_stmt *line = rec->line;
    if (rec->how.line_times)
        return (struct usual){ line->real - line->wait, line->ops,
                               &line->counts[rec->how.noise - 1],
                               *rec->ops - rec->line_ops_seen };
    return (struct usual){ node->real - node->wait, node->ops,
                           &node->counts[rec->how.noise - 1],
                           *rec->ops - rec->ops_seen };
}

/* Interrupts of the kernel, and of whoever runs this machine beside others, take some ten
 * microseconds each, and are what repeats least in the time of a sub. They cannot be seen from
 * here, but a stretch that took much longer than its ops do elsewhere can. `of`: as it was before
 * the gap of so many stamps of CPU time. */
static void note_noise(struct dp_rec *rec, const struct usual *of, uint64_t busy)
{
    double noise = (double)*of->noise * rec->rate;
    double usual = of->ops ? ((double)of->busy - noise) / (double)of->ops : 0;
    double more = (double)busy - usual * (double)of->passed;
    if (!of->ops || more < NOISE_NS * rec->rate)
        return;
    uint64_t ns = (uint64_t)(more / rec->rate);
    rec->cur->counts[rec->how.noise - 1] += ns;
    if (rec->how.line_times)
        rec->line->counts[rec->how.noise - 1] += ns;
}

void dp_rec_gap_slow(struct dp_rec *rec, uint64_t now, enum dp_rec_at at)
{
    bool is_long;
    if (rec->paused) {
        paused_event(rec, now);
        return;
    }
    run_trip(rec);
    if (rec->over)
        return;
    uint64_t gap = gap_up_to(rec, now), wait = 0;
    struct usual usual = { 0 };
    if (rec->how.noise)
        usual = usual_of(rec);
    if (rec->how.line_times)
        dp_rec_settle(rec);
    else
        rec->cur->real += gap;
    rec->line->real += gap;
    if (reads_now(rec, gap, &is_long, now)) {
        wait = read_cpu(rec, is_long ? gap : 0, now);
        judge(rec, is_long ? gap : 0, wait, now);
        rec->debt += rec->short_wait;
        if (now - rec->split_stamp >= stamps(rec, DEADLINE_NS))
            dp_rec_split(rec, now);
    }
    if (rec->debt) {
        uint64_t more = rec->debt < gap - wait ? rec->debt : gap - wait;
        wait += more;
        rec->debt -= more;
    }
    set_thresholds(rec);
    if (usual.noise)
        note_noise(rec, &usual, gap - wait);
    rec->cur->wait += wait;
    rec->line->wait += wait;
    if (rec->aged && now - rec->first_stamp >= stamps(rec, WINDOW_NS)) {
        void (*aged)(void *) = rec->aged;
        rec->aged = NULL;
        aged(rec->arg);
    }
    if (rec->wanted || checkpoint_is_due(rec, now)) {
        rec->at = at;
        save(rec, now);
        rec->at = DP_REC_AT_NO_MARK;
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
    struct dp_cct_node *child = rec->cur->last;
    uint32_t site = call->site;
    if (child && child->id == id && child->site == site)
        return child;
    return dp_cct_child(&rec->cct, rec->cur, id, site);
}

void dp_rec_enter_at(struct dp_rec *rec, uint32_t id, uint32_t site, struct dp_cct_call *call,
                     uint64_t now, int how)
{
    call->site = site;
    dp_rec_tree_enter(rec, id, call, now, how, true);
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
    rec->line = dp_lines_get(rec->how.lines, number);
    if (!rec->paused)
        rec->line->count++;
}

void dp_rec_resume(struct dp_rec *rec, uint32_t id, struct dp_cct_call *call, uint64_t start)
{
    call->caller = rec->cur;
    call->start = start;
    bool has_site = rec->how.site || (rec->how.lines && !rec->how.line_samples);
    uint32_t site = has_site && rec->how.tree ? call->site : 0;
    call->site = site;
    rec->cur = start == DP_REC_ELSEWHERE ? dp_cct_resumed(&rec->cct, rec->cur, id, site)
                                         : dp_cct_child(&rec->cct, rec->cur, id, site);
}

int dp_rec_to_tree(struct dp_rec *rec)
{
    int rc = init_tree(rec);
    if (rc < 0)
        return rc;
    /* No further window follows the time that is still pending, so it is written now. */
    rc = dp_writer_finish(rec->writer);
    if (rc < 0 && !rec->err)
        rec->err = rc;
    rec->tree = true;
    tell_state(rec);
    rec->state->tree = 1;
    begin_tree(rec, rec->told != rec->phase);
    rec->end = rec->window;         /* all marks go the slow way */
    rec->ops_seen = rec->line_ops_seen = *rec->ops;
    dp_rec_skip_counts(rec);
    return 0;
}

/* ---- phases, and stretches that do not count ---- */

void dp_rec_announce(struct dp_rec *rec, enum dp_raw_kind kind, size_t n, uint64_t now)
{
    dp_rec_mark_slow_counted(rec, DP_RAW_WORD(kind, n & DP_RAW_ID_MAX), NULL, now);
    rec->left = now;
}

void dp_rec_phase(struct dp_rec *rec, uint32_t id, uint64_t now)
{
    if (!rec->paused)
        run_trip(rec);              /* a child begins in the phase that it was forked in */
    rec->phase = id;
    if (rec->paused)
        return;
    rec->told = id;
    if (!rec->tree) {
        dp_rec_mark_slow_counted(rec, DP_RAW_WORD(DP_RAW_PHASE, id), NULL, now);
    } else {
        dp_rec_charge_all(rec, now);
        dp_rec_sample_over(rec);
        begin_tree(rec, true);
    }
    rec->left = now;
}

void dp_rec_pause(struct dp_rec *rec, uint64_t now)
{
    if (rec->tree) {
        /* read the CPU clock: the next reading counts from the end of the pause */
        rec->deadline = 0;
        dp_rec_charge_all(rec, now);
        dp_rec_sample_end(rec);
        rec->cur = rec->cct.idle;
    }
    if (rec->how.lines)
        rec->how.lines->open = 0;
    rec->links++;
    rec->paused = true;
    rec->paused_at = now;
    rec->end = NULL;
    rec->deadline = 0;          /* every mark takes the slow way, and ends there */
}

void dp_rec_unpause(struct dp_rec *rec, uint64_t now)
{
    if (rec->over)
        return;
    if (rec->how.lines)
        rec->how.lines->open = rec->how.lines->n;
    rec->paused = false;
    rec->links++;
    rec->idle += now - rec->paused_at;
    uint64_t used = rec->cpu_used;
    dp_rec_anchor(rec);
    rec->cpu_used = used;
    rec->host->split(rec->host_arg, &rec->user_us, &rec->sys_us);
    if (rec->trip)
        dp_rec_trip(rec);
    else
        dp_rec_untrip(rec);
    rec->ops_seen = rec->line_ops_seen = *rec->ops;
    dp_rec_skip_counts(rec);
    rec->left = now;
    if (rec->trip)                      /* in a child that still has its parent's state */
        return;
    if (rec->told != rec->phase)
        dp_rec_phase(rec, rec->phase, now);
    else if (rec->tree)
        rec->cur = dp_rec_base(rec);
}

int dp_rec_flush(struct dp_rec *rec, uint64_t now)
{
    if (rec->over || (rec->paused && rec->tree))
        return rec->err;
    if (rec->paused) {
        dp_rec_unpause(rec, now);
        write_window(rec, rec->host->stamp(rec->host_arg));
        dp_rec_pause(rec, now);
        return rec->err;
    }
    if (rec->tree) {
        rec->deadline = 0;
        dp_rec_charge_all(rec, now);
        dp_rec_sample_end(rec);
        return rec->err;
    }
    uint64_t gap = gap_up_to(rec, now);
    uint64_t wait = read_cpu(rec, gap, now);
    close_reading(rec);
    open_reading(rec, gap, wait);
    write_window(rec, now);
    dp_rec_rearm(rec);
    return rec->err;
}

int dp_rec_save(struct dp_rec *rec, uint64_t now)
{
    bool paused = rec->paused;
    if (rec->over)
        return rec->err;
    if (paused)
        dp_rec_unpause(rec, now);
    rec->stopped = paused;
    rec->wanted = 0;            /* else a tree would be saved twice */
    rec->saved = now;
    dp_rec_flush(rec, now);
    save(rec, now);
    rec->stopped = false;
    if (paused)
        dp_rec_pause(rec, rec->left = rec->host->stamp(rec->host_arg));
    dp_rec_rearm(rec);
    return rec->err;
}

/* Clocks, counters and what is known of them go on; sums begin anew. */
int dp_rec_renew(struct dp_rec *rec)
{
    if (open_state(rec) < 0 || dp_cct_renew(&rec->cct) < 0)
        return DP_E_NOMEM;
    if (rec->how.lines) {
        if (dp_lines_renew(rec->how.lines) < 0)
            return DP_E_NOMEM;
        go_on_line_before(rec);
    }
    begin_tree(rec, false);
    rec->renewed++;
    if (rec->paused)
        rec->cur = rec->cct.idle;
    dp_rec_anchor(rec);
    memset(&rec->writer->sums, 0, sizeof rec->writer->sums);
    rec->cpu_used = rec->split_ns = 0;
    rec->dropped = rec->idle = 0;
    rec->began = rec->host->stamp(rec->host_arg);
    return 0;
}

void dp_rec_own(const struct dp_rec *rec, uint64_t now, uint64_t *cpu, uint64_t *real)
{
    double ticks_per_ns = (double)rec->writer->hz / 1e9;
    uint64_t cpu_ns = rec->host->cpu_ns(rec->host_arg);
    uint64_t since = cpu_ns > rec->cpu_ns ? cpu_ns - rec->cpu_ns : 0;
    double used = (double)(rec->cpu_used + (rec->paused ? 0 : since)) * ticks_per_ns;
    double passed = (double)(now - rec->began - dp_rec_idle(rec, now)) / rec->rate
                    * ticks_per_ns;
    double in_program = (double)(rec->writer->sums.user + rec->writer->sums.sys);
    double real_program = (double)rec->writer->sums.real;
    *cpu = used > in_program ? (uint64_t)(used - in_program) : 0;
    *real = passed > real_program ? (uint64_t)(passed - real_program) : 0;
}

double dp_rec_ticks_per_stamp(struct dp_rec *rec)
{
    uint64_t stamp, mono;
    rec->host->pair(rec->host_arg, &stamp, &mono);
    learn_rate(rec, stamp, mono);
    return (double)rec->writer->hz / 1e9 / rec->rate;
}
