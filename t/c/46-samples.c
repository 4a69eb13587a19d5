/* Samples on a simulated machine, which knows what ran. Each op has its share of the time, however
 * long its samples wait for its end, and waits have no CPU time of others. Trees keep when samples
 * ran. */
#include "machine.h"
#include "random.h"
#include "tap.h"
#include "dp_live.h"
#include "dp_mem.h"
#include "dp_rec.h"
#include "dp_rec_sample.h"
#include "dp_when.h"
#include "dp_writer.h"

#include <string.h>

struct recorder {
    struct machine m;
    struct dp_rec rec;
    struct dp_writer w;
    struct dp_live live;
};

static void begin(struct recorder *r)
{
    static const struct dp_rec_how how = { .contexts = 100, .tree = true };
    r->m = (struct machine){ 0, 0 };
    dp_live_init(&r->live, NULL, 0);
    dp_writer_init(&r->w, 10000000, sink, NULL);
    dp_rec_init(&r->rec, &how, &r->w, &machine, &r->m);
    dp_rec_open(&r->rec, &r->live);
}

static void end(struct recorder *r)
{
    dp_rec_release(&r->rec);
    dp_live_release(&r->live);
    dp_writer_release(&r->w);
}

/* Five ops of 400 us take turns with many of 1 us; a sample waits for the end of its op. Returns
 * the share of the long ones in the time; told: the recorder knows how late samples are. */
static double share_of_long_ops(bool told)
{
    double tick = 0, last;
    struct recorder r;
    begin(&r);
    struct dp_cct_node *node[2] = { dp_cct_child(&r.rec.cct, r.rec.cct.root, 1, 0),
                                    dp_cct_child(&r.rec.cct, r.rec.cct.root, 2, 0) };
    for (int op = 0; op < 4000 * 2005; op++) {
        bool is_long = op % 2005 >= 2000;
        r.m.ns += is_long ? 400000 : 1000;
        r.m.cpu += is_long ? 400000 : 1000;
        if (r.m.ns < tick)
            continue;
        for (last = tick; tick <= r.m.ns; tick += 750000 + rnd(500000))
            last = tick;
        dp_rec_sample(&r.rec, node[is_long], 0, stamp(&r.m), told ? (uint64_t)(r.m.ns - last) : 0);
        r.rec.marks.left = stamp(&r.m);
    }
    ok(node[0]->real + node[1]->real == r.rec.marks.program,
       "samples: contexts have what has passed");
    double share = (double)node[1]->real / (double)r.rec.marks.program;
    end(&r);
    return share;
}

static void late_samples(void)
{
    double share = share_of_long_ops(true), naive = share_of_long_ops(false);
    ok(share > 0.485 && share < 0.515, "long ops have their share, which is half: %f", share);
    ok(naive > 0.53, "... and would have more, were a sample not late: %f", naive);
}

/* Requests of 3 ms of CPU time, with 50 ms between them, and a tick each 10 ms or so. Returns the
 * CPU time, in percent, that the waits have; told: the recorder knows that they wait. */
static double share_of_waits(bool told)
{
    double tick = 0;
    struct recorder r;
    begin(&r);
    struct dp_cct_node *work = dp_cct_child(&r.rec.cct, r.rec.cct.root, 1, 0);
    struct dp_cct_node *wait = dp_cct_child(&r.rec.cct, r.rec.cct.root, 2, 0);
    for (int op = 0; op < 3000 * 31; op++) {
        bool waits = op % 31 == 30;
        r.m.ns += waits ? 50000000 : 100000;
        r.m.cpu += waits ? 0 : 100000;
        if (r.m.ns < tick)
            continue;
        while (tick <= r.m.ns)
            tick += 7500000 + rnd(5000000);
        if (waits && told)
            dp_rec_sample_wait(&r.rec, wait, 0, stamp(&r.m), 0);
        else
            dp_rec_sample(&r.rec, waits ? wait : work, 0, stamp(&r.m), 0);
        r.rec.marks.left = stamp(&r.m);
    }
    uint64_t all = r.rec.marks.program - (work->wait + wait->wait + r.rec.cct.root->wait);
    ok(work->real + wait->real + r.rec.cct.root->real == r.rec.marks.program, "waits: sums stay");
    double share = 100 * (double)(wait->real - wait->wait) / (double)all;
    end(&r);
    return share;
}

static void waits(void)
{
    double share = share_of_waits(true), naive = share_of_waits(false);
    ok(share < 1, "what waits has no CPU time: %f %%", share);
    ok(naive > 50, "... and would have that of what ran before: %f %%", naive);
}

/* ---- when samples ran ---- */

static uint64_t length_of(const struct dp_when *when, uint32_t node)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < when->n; i++)
        sum += when->at[i].node == node ? (when->at[i].to - when->at[i].from) << when->halved : 0;
    return sum;
}

/* Two contexts take turns, one for three units and the other for five: many more stretches than are
 * kept. */
static void many_stretches(void)
{
    struct dp_when when = { NULL, 0, 0, 0 };
    const uint64_t turns = 20 * DP_WHEN_MOST;
    for (uint64_t i = 0; i < turns; i++) {
        dp_when_add(&when, 1, i * 8, i * 8 + 3);
        dp_when_add(&when, 2, i * 8 + 3, i * 8 + 8);
    }
    ok(when.n <= DP_WHEN_MOST && when.n > DP_WHEN_MOST / 8, "when: there are %lu stretches",
       (unsigned long)when.n);
    uint64_t all = length_of(&when, 1) + length_of(&when, 2);
    double share = (double)length_of(&when, 1) / (double)all;
    ok(all > 7 * turns, "when: most of the time is kept: %.3f", (double)all / (double)(8 * turns));
    ok(share > 0.35 && share < 0.40, "when: a context has its share, which is 0.375: %.4f", share);
    ok(when.at[when.n - 1].to << when.halved <= turns * 8, "when: the time axis stays");
    dp_when_release(&when);
}

static void equal_stretches(void)
{
    struct dp_when when = { NULL, 0, 0, 0 };
    for (uint64_t i = 0; i < 1000; i++)
        dp_when_add(&when, 7, i * 4, i * 4 + 4);
    dp_when_add(&when, 7, 5000, 5000);
    ok(when.n == 1 && when.at[0].from == 0 && when.at[0].to == 4000,
       "when: stretches of one context that touch are one");
    dp_when_clear(&when);
    ok(!when.n, "when: cleared");
    dp_when_release(&when);
}

/* A model of what dp_when_write prints: the stretches of a context, by time. */
static void written(void)
{
    struct dp_when when = { NULL, 0, 0, 0 };
    struct dp_when_text how = { .ticks = 2.5, .zero = 50, .unit = 5 };
    struct dp_buf out;
    dp_when_add(&when, 2, 60, 80);
    dp_when_add(&when, 1, 20, 40);      /* (20 * 2.5 - 50) / 5 = 0, up to 10 */
    dp_when_add(&when, 2, 40, 60);      /* 10, up to 20; what was added first follows it */
    dp_when_add(&when, 1, 100, 110);    /* 40, up to 45 */
    dp_when_add(&when, 1, 0, 10);       /* before the file's beginning */
    struct dp_when_stretch *sorted = dp_when_sorted(&when);
    static const char *const expected[] = { "", " when=0+10,30+5", " when=10+10,0+10", "" };
    for (uint32_t node = 0; node < 4; node++) {
        dp_buf_init(&out);
        dp_when_write(sorted, when.n, when.halved, node, &how, &out);
        ok(strcmp(dp_buf_cstr(&out), expected[node]) == 0, "when: context %u has%s", node,
           dp_buf_cstr(&out));
        dp_buf_release(&out);
    }
    dp_mem_free(sorted);
    dp_when_release(&when);
}

/* Memory that is short loses stretches, and nothing else. */
static void short_memory(void)
{
    for (long n = 0; n < 12; n++) {
        struct dp_when when = { NULL, 0, 0, 0 };
        long before = dp_mem_live();
        dp_mem_fail_after(n);
        for (uint64_t i = 0; i < 5000; i++)
            dp_when_add(&when, 1 + i % 2, i * 4, i * 4 + 4);
        dp_mem_free(dp_when_sorted(&when));
        dp_mem_fail_after(-1);
        dp_when_release(&when);
        ok(dp_mem_live() == before, "when: allocation %ld fails, and nothing leaks", n);
    }
}

/* A tree that is added to another one takes its times along. */
static void added_tree(void)
{
    struct recorder to, from;
    begin(&to);
    begin(&from);
    dp_cct_child(&to.rec.cct, to.rec.cct.root, 9, 0);
    struct dp_cct_node *a = dp_cct_child(&from.rec.cct, from.rec.cct.root, 1, 0),
                       *b = dp_cct_child(&from.rec.cct, a, 2, 0);
    a->real = b->real = 100;
    dp_when_add(&from.rec.cct.when, a->number, 0, 16);
    dp_when_add(&from.rec.cct.when, b->number, 16, 32);
    dp_cct_add(&to.rec.cct, &from.rec.cct);
    const struct dp_when *when = &to.rec.cct.when;
    ok(when->n == 2 && to.rec.cct.nodes[when->at[0].node - 1]->id == 1
       && to.rec.cct.nodes[when->at[1].node - 1]->id == 2 && when->at[1].from == 16,
       "when: a tree that is added has its times in the other");
    dp_cct_clear(&from.rec.cct);
    ok(!from.rec.cct.when.n, "when: a cleared tree has none");
    end(&from);
    end(&to);
}

int main(void)
{
    late_samples();
    waits();
    many_stretches();
    equal_stretches();
    written();
    short_memory();
    added_tree();
    return tap_done();
}
