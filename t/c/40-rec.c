/* The recorder's core on a simulated machine, which knows at every moment how long it waited and
 * computed; the text must have the same. */
#include "machine.h"
#include "random.h"
#include "tap.h"
#include "dp_buf.h"
#include "dp_live.h"
#include "dp_mem.h"
#include "dp_rec.h"
#include "dp_rec_mark.h"
#include "dp_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sums { double user, sys, real; size_t marks; };

static struct sums read_text(const char *p)
{
    struct sums s = { 0, 0, 0, 0 };
    for (; *p; p = strchr(p, '\n') + 1) {
        unsigned long long u, y, r;
        if (sscanf(p, "@ %llu %llu %llu\n", &u, &y, &r) == 3) {
            s.user += (double)u;
            s.sys += (double)y;
            s.real += (double)r;
        } else if (strchr("+-*/", *p)) {
            s.marks++;
        }
    }
    return s;
}

/* Makes a recorder of a sub, main::f, that writes to memory. */
static void begin(struct dp_rec *rec, const struct dp_rec_how *how, struct machine *m,
                  struct dp_writer *w, struct dp_live *live, struct dp_buf *text)
{
    dp_buf_init(text);
    dp_live_init(live, NULL, 0);
    dp_writer_init(w, 10000000, sink, text);
    dp_writer_name(w, "main f -", 8);
    dp_rec_init(rec, how, w, &machine, m);
    dp_rec_open(rec, live);
}

static void end(struct dp_rec *rec, struct dp_writer *w, struct dp_live *live, struct dp_buf *text)
{
    dp_rec_release(rec);
    dp_live_release(live);
    dp_writer_release(w);
    dp_buf_release(text);
}

/* Simulates a program of short and long gaps; a share of them are waits. */
static void simulate(const char *what, size_t words, uint32_t longest_ns, uint32_t wait_percent,
                     bool tree)
{
    struct machine m = { 0, 0 };
    struct dp_rec rec;
    struct dp_writer w;
    struct dp_live live;
    struct dp_buf text;
    struct dp_rec_how how = { .words = words, .contexts = 1000, .tree = tree };
    struct dp_cct_call call;
    double program = 0, computed = 0;

    dp_buf_init(&text);
    dp_live_init(&live, NULL, 0);
    ok(dp_writer_init(&w, 10000000, sink, &text) == 0, "%s: a writer is made", what);
    dp_writer_name(&w, "main f -", 8);
    dp_rec_init(&rec, &how, &w, &machine, &m);
    ok(dp_rec_open(&rec, &live) == 0, "%s: a window is opened", what);
    const int n = 40000;
    rec.marks.left = stamp(&m);
    for (int i = 0; i < n; i++) {
        double gap = rnd(8) ? 20 + rnd(400) : 20 + rnd(longest_ns);
        double cpu = gap > 3000 && rnd(100) < wait_percent ? gap / 10 : gap;
        m.ns += gap;
        m.cpu += cpu;
        program += gap;
        computed += cpu;
        uint64_t now = stamp(&m);
        m.ns += 15;             /* the hook */
        m.cpu += 15;
        dp_rec_mark(&rec, i & 1 ? DP_RAW_LEAVE : DP_RAW_ENTER, 1, &call, now, tree);
        rec.marks.left = stamp(&m);
    }
    dp_rec_flush(&rec, stamp(&m));
    dp_writer_finish(&w);
    struct sums s = { 0, 0, 0, 0 };
    if (tree) {
        struct dp_pool names;
        dp_pool_init(&names);
        dp_pool_intern(&names, "main f -", 8);
        struct dp_cct_text out = { .ticks_per_stamp = dp_rec_ticks_per_stamp(&rec),
                                   .names = &names };
        ok(dp_cct_write(&rec.cct, &out, &text) == 0, "%s: the tree is written", what);
        s.user = (double)out.user;
        s.sys = (double)out.sys;
        s.real = (double)out.real;
        ok(strstr(dp_buf_cstr(&text), "\n= 1 1 20000 ") != NULL,
                "%s: 20,000 calls are in one context",
           what);
        dp_pool_release(&names);
    } else {
        s = read_text(dp_buf_cstr(&text));
        ok(s.marks == (size_t)n, "%s: all marks are there (%zu)", what, s.marks);
    }
    double real = program / 100, cpu = computed / 100;
    ok(s.real > real * 0.9995 && s.real < real * 1.0005,
            "%s: real time is right: %.0f of %.0f ticks", what,
       s.real, real);
    ok(s.user + s.sys > cpu * 0.99 && s.user + s.sys < cpu * 1.01,
       "%s: CPU time %.0f of %.0f ticks", what, s.user + s.sys, cpu);
    ok(s.sys > cpu * 0.24 && s.sys < cpu * 0.26, "%s: a quarter is system time: %.0f", what, s.sys);
    uint64_t own_cpu, own_real;
    dp_rec_own(&rec, stamp(&m), &own_cpu, &own_real);
    if (!tree) {
        double all = m.cpu / 100;
        ok((double)own_cpu + s.user + s.sys > all * 0.99
               && (double)own_cpu + s.user + s.sys < all * 1.01,
           "%s: with its own time, all of the process' (%.0f of %.0f)", what,
           (double)own_cpu + s.user + s.sys, all);
    }
    end(&rec, &w, &live, &text);
}

/* ---- counters ---- */

enum { COUNTERS = 3 };

/* Reads the counts of a text outside of all subs and in f. */
static void read_counts(const char *p, uint64_t of[2][COUNTERS])
{
    uint64_t wait[COUNTERS] = { 0, 0, 0 };
    memset(of, 0, 2 * sizeof of[0]);
    for (; *p; p = strchr(p, '\n') + 1) {
        unsigned long long u, y, r, c[COUNTERS];
        if (sscanf(p, "@ %llu %llu %llu %llu %llu %llu\n", &u, &y, &r, &c[0], &c[1], &c[2]) == 6)
            for (int k = 0; k < COUNTERS; k++)
                wait[k] += c[k];
        else if (*p == '+' || *p == '-')
            for (int k = 0; k < COUNTERS; k++) {
                of[*p == '-'][k] += wait[k];
                wait[k] = 0;
            }
        else if (sscanf(p, "= 0 0 %*u %*u %*u %*u %*u %*u %llu %llu %llu", &c[0], &c[1], &c[2]) == 3
                 || sscanf(p, "= 1 1 %*u %*u %*u %*u %*u %*u %llu %llu %llu", &c[0], &c[1], &c[2])
                        == 3)
            for (int k = 0; k < COUNTERS; k++)
                of[p[2] - '0'][k] += c[k];
    }
    for (int k = 0; k < COUNTERS; k++)
        of[0][k] += wait[k];            /* after the last mark nothing runs */
}

/* Totals of the program grow at random; each growth belongs to the sub that runs, be the gap short
 * or long, in the middle of writing, saving, and going on as a tree; but not while recording is
 * stopped. */
static void counting(const char *what, size_t words, int to_tree_at, bool tree)
{
    struct machine m = { 0, 0 };
    struct dp_rec rec;
    struct dp_writer w;
    struct dp_live live;
    struct dp_buf text;
    uint64_t total[COUNTERS] = { 7, 8, 9 }, want[2][COUNTERS], got[2][COUNTERS];
    const int how_marks = DP_REC_COUNTS | (tree ? DP_REC_TREE : 0);
    struct dp_rec_how how = {
        .words = words, .contexts = 1000, .tree = tree, .counts = total, .n_counts = COUNTERS,
        .n_counted = COUNTERS
    };
    struct dp_cct_call call;

    memset(want, 0, sizeof want);
    begin(&rec, &how, &m, &w, &live, &text);
    for (int i = 0; i < 20000; i++) {
        double gap = rnd(8) ? 20 + rnd(400) : 20 + rnd(20000);
        m.ns += gap;
        m.cpu += gap;
        for (int k = 0; k < COUNTERS; k++) {
            uint64_t more = rnd(3) ? 0 : rnd(4) ? rnd(100) : UINT64_C(1000000000) * rnd(1000);
            total[k] += more;
            want[i & 1][k] += more;
        }
        dp_rec_mark(&rec, i & 1 ? DP_RAW_LEAVE : DP_RAW_ENTER, 1, &call, stamp(&m), how_marks);
        rec.marks.left = stamp(&m);
        if (rnd(1000) == 0) {
            dp_rec_save(&rec, stamp(&m));
            rec.marks.left = stamp(&m);
        }
        if (i == to_tree_at) {
            dp_rec_flush(&rec, stamp(&m));
            dp_rec_to_tree(&rec);
        }
        if ((i & 1) && rnd(500) == 0) {
            dp_rec_pause(&rec, stamp(&m));
            total[0] += 1000;
            dp_rec_unpause(&rec, stamp(&m));
            rec.marks.left = stamp(&m);
        }
    }
    total[1] += 5;
    want[0][1] += 5;
    dp_rec_flush(&rec, stamp(&m));
    dp_writer_finish(&w);
    if (rec.tree) {
        struct dp_pool names;
        dp_pool_init(&names);
        dp_pool_intern(&names, "main f -", 8);
        struct dp_cct_text out = { .ticks_per_stamp = dp_rec_ticks_per_stamp(&rec),
                                   .names = &names };
        dp_cct_write(&rec.cct, &out, &text);
        dp_pool_release(&names);
    }
    read_counts(dp_buf_cstr(&text), got);
    bool same = memcmp(got, want, sizeof got) == 0;
    ok(same, "%s: every count is where it belongs", what);
    for (int k = 0; k < COUNTERS && !same; k++)
        printf("# %llu and %llu, wanted %llu and %llu\n", (unsigned long long)got[0][k],
               (unsigned long long)got[1][k], (unsigned long long)want[0][k],
               (unsigned long long)want[1][k]);
    end(&rec, &w, &live, &text);
}

/* ---- saving ---- */

static struct {
    struct dp_rec *rec;
    unsigned one_in;            /* one call in so many gets a signal; 0: none */
    unsigned long asked, served, saves;
} signals;

/* Stands for code that a signal may interrupt. */
static void interruptible(void)
{
    if (signals.one_in && rnd(signals.one_in) == 0) {
        signals.asked++;
        dp_rec_want(signals.rec);
    }
}

static uint64_t stamp_s(void *m) { interruptible(); return stamp(m); }
static uint64_t cpu_ns_s(void *m) { interruptible(); return cpu_ns(m); }
static void pair_s(void *m, uint64_t *s, uint64_t *mono)
{
    interruptible();
    pair(m, s, mono);
    interruptible();
}
static void split_s(void *m, uint64_t *user, uint64_t *sys)
{
    interruptible();
    split(m, user, sys);
}

static int sink_s(void *buf, const char *ptr, size_t len)
{
    interruptible();
    return sink(buf, ptr, len);
}

static struct machine saver;

static void saved(void *arg)
{
    (void)arg;
    signals.served = signals.asked;
    signals.saves++;
    /* Saving works and waits for the disk. */
    saver.ns += 900000;
    saver.cpu += 300000;
    interruptible();
}

/* A signal comes at any moment, in the middle of whatever the recorder does: the next mark saves.
 * The time of saving is not the program's. */
static void saving(const char *what, size_t words, unsigned one_in, uint64_t checkpoint, bool tree)
{
    struct dp_rec_host host = { 0, NULL, stamp_s, cpu_ns_s, pair_s, split_s };
    struct dp_rec rec;
    struct dp_writer w;
    struct dp_live live;
    struct dp_buf text;
    struct dp_rec_how how = {
        .words = words, .contexts = 1000, .tree = tree, .checkpoint = checkpoint
    };
    struct dp_cct_call call;
    double program = 0, computed = 0;

    memset(&signals, 0, sizeof signals);
    memset(&saver, 0, sizeof saver);
    dp_buf_init(&text);
    dp_live_init(&live, NULL, 0);
    dp_writer_init(&w, 10000000, sink_s, &text);
    dp_writer_name(&w, "main f -", 8);
    dp_rec_init(&rec, &how, &w, &host, &saver);
    dp_rec_open(&rec, &live);
    rec.saving.save = saved;
    signals.rec = &rec;
    signals.one_in = one_in;
    const int n = 40000;
    bool prompt = true;
    size_t marks = 0;
    rec.marks.left = stamp(&saver);
    for (int i = 0; i < n; i++) {
        double gap = rnd(8) ? 20 + rnd(400) : 20 + rnd(60000);
        double cpu = gap > 10000 && rnd(2) ? gap / 10 : gap;
        if (checkpoint && rnd(200) == 0)
            gap += 50000000;
        if (rnd(400) == 0)
            interruptible();            /* in the program */
        saver.ns += gap;
        saver.cpu += cpu;
        program += gap;
        computed += cpu;
        unsigned long before = signals.asked;
        dp_rec_mark(&rec, i & 1 ? DP_RAW_LEAVE : DP_RAW_ENTER, 1, &call, stamp(&saver), tree);
        prompt = prompt && signals.served >= before;
        rec.marks.left = stamp(&saver);
    }
    ok(prompt && (!one_in || signals.saves > 100),
       "%s: each signal is served by the next mark (%lu, %lu saves)", what, signals.asked,
       signals.saves);
    double due = saver.ns / 1e9 / (double)checkpoint;
    ok(!checkpoint || ((double)signals.saves <= due && (double)signals.saves > due * 0.9 - 1),
       "%s: %lu saves in %.1f s", what, signals.saves, saver.ns / 1e9);
    unsigned long before = signals.saves;
    dp_rec_save(&rec, stamp(&saver));
    ok(signals.saves == before + 1, "%s: a save on demand is made", what);
    rec.marks.left = stamp(&saver);
    signals.one_in = 0;
    dp_rec_flush(&rec, stamp(&saver));
    dp_writer_finish(&w);
    struct sums s = { 0, 0, 0, 0 };
    if (tree) {
        struct dp_pool names;
        dp_pool_init(&names);
        dp_pool_intern(&names, "main f -", 8);
        struct dp_cct_text out = { .ticks_per_stamp = dp_rec_ticks_per_stamp(&rec),
                                   .names = &names };
        dp_cct_write(&rec.cct, &out, &text);
        s.user = (double)out.user;
        s.sys = (double)out.sys;
        s.real = (double)out.real;
        marks = strstr(dp_buf_cstr(&text), "\n= 1 1 20000 ") ? (size_t)n : 0;
        dp_pool_release(&names);
    } else {
        s = read_text(dp_buf_cstr(&text));
        marks = s.marks;
    }
    double real = program / 100, cpu = computed / 100;
    ok(marks == (size_t)n, "%s: all calls are there", what);
    ok(s.real > real * 0.9995 && s.real < real * 1.0005,
            "%s: real time is right: %.0f of %.0f ticks", what,
       s.real, real);
    ok(s.user + s.sys > cpu * 0.99 && s.user + s.sys < cpu * 1.01,
       "%s: CPU time %.0f of %.0f ticks", what, s.user + s.sys, cpu);
    ok(s.sys > cpu * 0.23 && s.sys < cpu * 0.27, "%s: a quarter is system time: %.0f", what, s.sys);
    end(&rec, &w, &live, &text);
}

static void one_mark_at_a_time(void)
{
    simulate("each at once", 0, 2000, 0, false);
}

/* A call for which there is no memory is the root's; the next one of that sub gets a context of its
 * own, if there is memory by then. */
static void starved(void)
{
    struct dp_live live;
    struct dp_cct cct;
    struct dp_cct_node idle = { 0 };
    uint32_t lost = 0, own = 0;
    dp_live_init(&live, NULL, 0);
    ok(dp_cct_init(&cct, &live, &idle, 1 << 20, 0) == 0, "starved: a tree");
    for (uint32_t id = 1; id <= 1000; id++) {
        dp_mem_fail_after(0);
        const struct dp_cct_node *without = dp_cct_child(&cct, cct.root, id, 0);
        dp_mem_fail_after(-1);
        const struct dp_cct_node *node = dp_cct_child(&cct, cct.root, id, 0);
        lost += without == cct.root;
        own += node != cct.root && node->id == id && node->number == id + 1;
    }
    ok(lost > 0 && lost < 1000, "some calls had no memory, others needed none");
    is_i(own, 1000, "all subs have contexts when there is memory again");
    dp_cct_release(&cct);
    dp_live_release(&live);
}

/* The program goes on for so long, waits for a part of that, and executes ops. */
static void go_on(struct machine *m, uint64_t *ops, double ns, double wait, uint64_t n)
{
    m->ns += ns;
    m->cpu += ns - wait;
    *ops += n;
}

/* A sub whose op mostly takes 300 ns: a gap that takes much longer is noise; a longer gap with more
 * ops is not, nor is one that waits. */
static void noise(void)
{
    struct machine m = { 0, 0 };
    struct dp_rec rec;
    struct dp_writer w;
    struct dp_live live;
    struct dp_buf text;
    uint64_t ops = 0, total[2] = { 0, 0 };
    struct dp_rec_how how = {
        .contexts = 1000, .tree = true, .counts = total, .n_counts = 2, .ops = &ops, .noise = 2
    };
    struct dp_cct_call call;
    static const struct { double ns, wait; uint64_t ops; unsigned least, most; } stretches[] = {
        { 90000, 0, 100, 0, 0 },            /* the first: the sub is unknown */
        { 30000, 0, 300, 0, 0 }, { 30000, 0, 100, 0, 0 }, { 30000, 0, 100, 0, 0 },
        { 30000, 0, 100, 0, 0 }, { 30000, 0, 100, 0, 0 }, { 30000, 0, 100, 0, 0 },
        { 30000, 0, 100, 0, 0 }, { 30000, 0, 100, 0, 0 }, { 30000, 0, 100, 0, 0 },
        { 100000, 0, 100, 64000, 72000 },   /* one of 100 us in place of some 31 */
        { 110000, 0, 350, 0, 0 },           /* as many more ops */
        { 45000, 0, 100, 0, 0 },            /* not so much more */
        { 230000, 200000, 100, 0, 0 },      /* it has waited */
        { 9000, 0, 20, 0, 0 }
    };
    int wrong = 0;
    begin(&rec, &how, &m, &w, &live, &text);
    rec.marks.left = stamp(&m);
    for (size_t i = 0; i < sizeof stretches / sizeof *stretches; i++) {
        dp_rec_mark(&rec, DP_RAW_ENTER, 1, &call, stamp(&m), DP_REC_TREE);
        struct dp_cct_node *node = rec.marks.cur;
        uint64_t before = node->counts[1];
        rec.marks.left = stamp(&m);
        go_on(&m, &ops, stretches[i].ns, stretches[i].wait, stretches[i].ops);
        dp_rec_mark(&rec, DP_RAW_LEAVE, 1, &call, stamp(&m), DP_REC_TREE);
        rec.marks.left = stamp(&m);
        uint64_t more = node->counts[1] - before;
        if (more < stretches[i].least || more > stretches[i].most) {
            printf("# stretch %zu: noise %llu\n", i, (unsigned long long)more);
            wrong++;
        }
        wrong += node->counts[0] != 0;
    }
    is_i(wrong, 0, "noise is what took 20 us more than its ops mostly do");
    end(&rec, &w, &live, &text);
}

/* The cost of readings, as the host has measured it last. */
static struct { uint64_t call, line; unsigned asked; } measured;

static void costs(void *m, uint64_t *call, uint64_t *line)
{
    (void)m;
    measured.asked++;
    *call = measured.call;
    *line = measured.line;
}

struct lines_rec {
    struct dp_rec rec;
    struct dp_lines lines;
    struct dp_live live;
    struct dp_writer w;
};

/* A recorder of two statements, 2 and 3, whose hooks read the counter once, or twice. */
static void begin_lines(struct lines_rec *l, bool once, struct machine *m)
{
    static struct dp_rec_host host;
    static const uint64_t ops = 0;
    struct dp_rec_how how = {
        .contexts = 1000, .tree = true, .lines = &l->lines, .line_times = true, .reads_once = once,
        .ops = &ops
    };
    host = machine;
    host.costs = costs;
    measured.call = 16;
    measured.line = 10;
    measured.asked = 0;
    memset(&l->lines, 0, sizeof l->lines);
    for (uint32_t n = 2; n <= 3; n++)
        dp_lines_know(&l->lines, n, &(struct dp_line_place){ .site = n });
    dp_live_init(&l->live, NULL, 0);
    dp_writer_init(&l->w, 10000000, sink, NULL);
    dp_rec_init(&l->rec, &how, &l->w, &host, m);
    dp_rec_open(&l->rec, &l->live);
}

static void end_lines(struct lines_rec *l)
{
    dp_rec_release(&l->rec);
    dp_lines_release(&l->lines);
    dp_live_release(&l->live);
    dp_writer_release(&l->w);
}

/* A call may have another place than the statement that runs, and a call that replaces another one
 * keeps its place. */
static void places(void)
{
    enum { HOW = DP_REC_TREE | DP_REC_LINES };
    struct machine m = { 0, 0 };
    struct lines_rec l;
    struct dp_cct_call call;

    begin_lines(&l, false, &m);
    uint64_t now = stamp(&m);
    struct dp_stmt *a = dp_lines_get(&l.lines, 2);
    l.rec.marks.left = now;
    l.rec.marks.deadline = UINT64_MAX;
    dp_rec_statement(&l.rec, a, now, 0, HOW);
    l.rec.marks.left = now;
    struct dp_cct_node *outer = l.rec.marks.cur;
    dp_rec_enter_at(&l.rec, 1, 3, &call, now + 100 + l.rec.marks.reading_cost, HOW);
    is_u(a->real, 100, "what has passed before a call is the statement's");
    ok(l.rec.marks.cur->up == outer && l.rec.marks.cur->site == 3,
       "the call is at the place that it is given");
    is_u(call.line, 2, "the statement is known");
    dp_rec_mark(&l.rec, DP_RAW_GOTO, 2, &call, l.rec.marks.left = now + 100, HOW);
    ok(l.rec.marks.cur->up == outer && l.rec.marks.cur->id == 2 && l.rec.marks.cur->site == 3,
       "a call that replaces it has the same place");
    dp_rec_mark(&l.rec, DP_RAW_LEAVE, 2, &call, l.rec.marks.left = now + 100, HOW);
    ok(l.rec.marks.cur == outer && l.rec.marks.line == a, "the statement goes on behind it");
    l.rec.marks.left = now + 100;
    dp_rec_mark(&l.rec, DP_RAW_ENTER, 1, &call, now + 100, HOW);
    is_u(l.rec.marks.cur->site, 2, "another call is at the statement that runs");
    end_lines(&l);
}

/* The cost of a hook that reads the counter once is taken off the gap behind it. */
static void one_reading(void)
{
    enum { HOW = DP_REC_TREE | DP_REC_LINES };
    struct machine m = { 0, 0 };
    struct lines_rec l;
    struct dp_cct_call call;

    begin_lines(&l, false, &m);
    ok(l.rec.marks.statement_cost == 0 && l.rec.marks.reading_cost == 16,
       "with two readings only gaps that end at calls lose any");
    end_lines(&l);

    begin_lines(&l, true, &m);
    is_u(l.rec.marks.statement_cost, 10,
         "a gap that begins with a statement loses what one of statements costs");
    ok(l.rec.marks.leaving_cost == 8 && l.rec.marks.reading_cost == 8,
       "each end at a call loses half of what a call costs");
    uint64_t now = stamp(&m);
    struct dp_stmt *a = dp_lines_get(&l.lines, 2), *b = dp_lines_get(&l.lines, 3);
    l.rec.marks.left = now;
    l.rec.marks.deadline = UINT64_MAX;
    ok(dp_rec_statement(&l.rec, a, now, 0, HOW), "a statement begins");
    uint64_t before = l.rec.marks.program;
    dp_rec_leave_statement(&l.rec, now);
    now += 100;
    ok(dp_rec_statement(&l.rec, b, now, 7, HOW), "the next one begins");
    is_u(a->real, 100 - 10, "the hook's part is no statement's time");
    is_u(a->ops, 7, "its ops are");
    dp_rec_leave_statement(&l.rec, now);
    now += 9;
    ok(!dp_rec_statement(&l.rec, a, now, 7, HOW), "what is shorter than that part is a slow case");
    dp_rec_statement_slow(&l.rec, 2, now);
    is_u(b->real, 0, "and is no time");
    l.rec.marks.left = now;
    l.rec.marks.deadline = UINT64_MAX;
    dp_rec_leave_statement(&l.rec, now);
    now += 60;
    dp_rec_mark(&l.rec, DP_RAW_ENTER, 1, &call, now, HOW);
    is_u(a->real, 90 + 60 - 10 - 8, "at a call its reading is taken off, too");
    is_u(l.rec.marks.program - before, a->real + b->real, "the lines have what has passed");
    is_u(call.caller->real, a->real + b->real, "the context has the same");
    dp_rec_leave(&l.rec, now);
    now += 60;
    dp_rec_mark(&l.rec, DP_RAW_LEAVE, 1, &call, now, HOW);
    is_u(call.caller->last->real, 60 - 16, "a gap from a call to its end loses both parts");
    ok(a->count == 2 && b->count == 1, "each statement is counted");
    end_lines(&l);
}

/* In a tree, nothing is taken off the gap of C code, and the gap behind it loses as much as
 * others. */
static void gap_of_c(bool once)
{
    enum { HOW = DP_REC_TREE | DP_REC_LINES };
    const char *what = once ? "one reading" : "two readings";
    struct machine m = { 0, 0 };
    struct lines_rec l;
    struct dp_cct_call call;

    begin_lines(&l, once, &m);
    uint64_t now = stamp(&m);
    struct dp_cct_node *outer = l.rec.marks.cur;
    l.rec.marks.deadline = UINT64_MAX;
    l.rec.marks.left = now;
    dp_rec_mark(&l.rec, DP_RAW_ENTER, 1, &call, now += 100, HOW);
    is_u(outer->real, 100 - l.rec.marks.reading_cost,
         "%s: the gap before the call loses its end's part", what);
    l.rec.marks.left = now;
    dp_rec_mark(&l.rec, DP_RAW_LEAVE, 1, &call, now += 60, HOW | DP_REC_OF_C);
    is_u(outer->last->real, 60, "%s: the gap of the call loses nothing", what);
    dp_rec_leave(&l.rec, now);
    dp_rec_mark(&l.rec, DP_RAW_ENTER, 1, &call, now += 100, HOW);
    is_u(outer->real, 200 - l.rec.marks.reading_cost - 16, "%s: the gap behind it loses all",
         what);
    l.rec.marks.left = now;
    dp_rec_mark(&l.rec, DP_RAW_LEAVE, 1, &call, now += 5, HOW | DP_REC_OF_C);
    is_u(outer->last->real, 65, "%s: C code that is shorter than a reading's cost counts", what);
    is_u(l.rec.marks.program, outer->real + outer->last->real, "%s: the program has the sum", what);
    end_lines(&l);
}

/* The costs are measured again 5, 25 and 125 ms after the beginning. */
static void measured_again(void)
{
    struct machine m = { 0, 0 };
    struct lines_rec l;
    struct dp_cct_call call;
    uint64_t began, at[8];

    begin_lines(&l, false, &m);
    began = m.ns;
    measured.call = 4;
    for (unsigned asked = 1; m.ns - began < 1000000000;) {
        l.rec.marks.left = stamp(&m);
        m.ns += 500000;
        m.cpu += 500000;
        dp_rec_mark(&l.rec, DP_RAW_ENTER, 1, &call, stamp(&m), DP_REC_TREE | DP_REC_LINES);
        l.rec.marks.left = stamp(&m);
        dp_rec_mark(&l.rec, DP_RAW_LEAVE, 1, &call, stamp(&m), DP_REC_TREE | DP_REC_LINES);
        if (measured.asked != asked && asked < 8)
            at[asked++] = (m.ns - began) / 1000000;
    }
    is_u(measured.asked, 4, "costs are measured four times");
    ok(at[1] >= 5 && at[1] <= 7, "again after 5 ms");
    ok(at[2] >= 25 && at[2] <= 36, "again after 25 ms");
    ok(at[3] >= 125 && at[3] <= 182, "again after 125 ms");
    is_u(l.rec.marks.reading_cost, 4, "the new cost is taken off");
    end_lines(&l);
}

int main(void)
{
    starved();
    measured_again();
    places();
    one_reading();
    gap_of_c(false);
    gap_of_c(true);
    noise();
    counting("counters of a trace", 1 << 10, -1, false);
    counting("each mark written at once", 0, -1, false);
    counting("a trace that goes on as a tree", 100, 9999, false);
    counting("counters of a tree", 0, -1, true);
    simulate("short gaps", 1000, 500, 0, false);
    simulate("long computing", 1000, 60000, 0, false);
    simulate("long waiting", 1000, 60000, 100, false);
    simulate("both", 16384, 200000, 50, false);
    one_mark_at_a_time();
    simulate("tree, short gaps", 0, 500, 0, true);
    simulate("tree, both", 0, 200000, 50, true);
    saving("trace and signals", 500, 60, 0, false);
    saving("one window, few signals", 16384, 60, 0, false);
    saving("tree and signals", 0, 100, 0, true);
    saving("checkpoints", 0, 0, 1, true);
    return tap_done();
}
