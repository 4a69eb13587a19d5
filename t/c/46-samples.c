/* Samples on a simulated machine, which knows what ran. Each op has its share of the time, however
 * long its samples wait for its end, and waits have no CPU time of others. */
#include "machine.h"
#include "random.h"
#include "tap.h"
#include "dp_live.h"
#include "dp_rec.h"
#include "dp_rec_sample.h"
#include "dp_writer.h"

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

int main(void)
{
    late_samples();
    waits();
    return tap_done();
}
