#include "dp_rec_sample.h"
#include "dp_rec_mark.h"

/* A sample waits for the end of the op that runs at the tick. Ops that take long would have too
 * much if they were charged up to there. */
uint64_t dp_rec_sample_over(struct dp_rec *rec)
{
    uint64_t more = rec->samples.unassigned.stamps, most;
    if (!more)
        return 0;
    rec->samples.unassigned.stamps = 0;
    most = rec->samples.unassigned.node->real - rec->samples.unassigned.node->wait;
    more = more < most ? more : most;
    most = rec->samples.unassigned.line->real - rec->samples.unassigned.line->wait;
    more = more < most ? more : most;
    rec->samples.unassigned.node->real -= more;
    rec->samples.unassigned.line->real -= more;
    rec->marks.cur->real += more;
    rec->marks.line->real += more;
    return more;
}

/* Makes the tree keep when a sample's code ran: from the last sample up to now. The usual time
 * between samples has four units, so that a sample that comes early has a whole unit, too. Charging
 * the sample may end the slice, so this comes first. */
static void keep_when(struct dp_rec *rec, const struct dp_cct_node *node, uint64_t now)
{
    enum { UNITS = 4 };
    const struct dp_marks *marks = &rec->marks;
    if (!rec->how.sample || node == rec->cct.idle || now <= marks->left)
        return;
    if (!rec->samples.unit) {
        double unit = rec->clock.rate * 1e9 / (double)rec->how.sample / UNITS;
        rec->samples.unit = unit > 1 ? (uint64_t)unit : 1;
    }
    dp_when_add(&rec->cct.when, node->number, marks->program / rec->samples.unit,
                (marks->program + now - marks->left) / rec->samples.unit);
}

/* Charges a context and a statement with all since the last sample. Returns the stamps, and sets
 * *cpu to those of CPU time. Returns 0 if recording has ended, or sums began anew. */
static uint64_t charge_sample(struct dp_rec *rec, struct dp_cct_node *node, uint32_t line,
                              uint64_t now, uint64_t *cpu)
{
    rec->marks.cur = node;
    if (rec->how.lines)
        rec->marks.line = dp_lines_get(rec->how.lines, line);
    const struct dp_stmt *stmt = rec->marks.line;
    uint64_t program = rec->marks.program, waited = stmt->wait;
    keep_when(rec, node, now);
    rec->marks.deadline = 0;          /* each sample reads the CPU clock */
    dp_rec_charge_all(rec, now);
    uint64_t gap = rec->marks.program - program;
    if (rec->marks.cur != node || rec->marks.line != stmt || stmt->wait < waited)
        return 0;
    waited = stmt->wait - waited;
    *cpu = gap > waited ? gap - waited : 0;
    return gap;
}

struct dp_when_text dp_rec_sample_when(struct dp_rec *rec)
{
    double ticks = dp_rec_ticks_per_stamp(rec);
    return (struct dp_when_text){
        .ticks = (double)rec->samples.unit * ticks,
        .zero = (double)rec->samples.since * ticks,
    };
}

/* Leaves CPU time of the sample that was charged just now to the next one. */
static void leave_unassigned(struct dp_rec *rec, uint64_t stamps)
{
    rec->samples.unassigned.node = rec->marks.cur;
    rec->samples.unassigned.line = rec->marks.line;
    rec->samples.unassigned.stamps = stamps;
}

void dp_rec_sample(struct dp_rec *rec, struct dp_cct_node *node, uint32_t line, uint64_t now,
                   uint64_t late)
{
    uint64_t cpu, gap = charge_sample(rec, node, line, now, &cpu);
    if (!gap)
        return;
    dp_rec_sample_over(rec);
    double stamps = (double)late * rec->clock.rate, most = (double)gap;
    leave_unassigned(rec, (uint64_t)((stamps < most ? stamps : most) * ((double)cpu / most)));
}

/* Takes a sample of an op that waited; own: the nanoseconds of CPU time that the op used. No sample
 * has seen what ran before the wait, and what follows it is not the op's either: both go to the
 * next sample, or to the phase if there is none. */
void dp_rec_sample_wait(struct dp_rec *rec, struct dp_cct_node *node, uint32_t line, uint64_t now,
                        uint64_t own)
{
    uint64_t cpu, gap = charge_sample(rec, node, line, now, &cpu);
    if (!gap)
        return;
    uint64_t most = (uint64_t)((double)own * rec->clock.rate), more = dp_rec_sample_over(rec);
    leave_unassigned(rec, more + (cpu > most ? cpu - most : 0));
    rec->marks.cur = dp_rec_base(rec);
    if (rec->how.lines)
        rec->marks.line = dp_lines_get(rec->how.lines, DP_LINE_REST);
}

/* ---- statements, beside a tree of calls ---- */

/* Charges a statement with all that contexts were charged with since the last sample. */
static void take_sampled(struct dp_rec *rec, struct dp_stmt *to)
{
    struct dp_stmt *since = rec->marks.line;
    to->real += rec->marks.program - rec->samples.program;
    to->wait += since->wait;
    to->sys += since->sys;
    since->wait = since->sys = 0;
    to->ops += *rec->marks.ops - rec->marks.line_ops_seen;
    rec->marks.line_ops_seen = *rec->marks.ops;
    rec->samples.program = rec->marks.program;
    for (size_t i = 0; i < rec->how.n_counted; i++) {
        to->counts[i] += rec->marks.counts_seen[i] - rec->samples.counts[i];
        rec->samples.counts[i] = rec->marks.counts_seen[i];
    }
}

void dp_rec_sample_end(struct dp_rec *rec)
{
    if (rec->how.line_samples && !rec->over)
        take_sampled(rec, rec->how.lines->rest);
}

void dp_rec_sample_line(struct dp_rec *rec, uint32_t line, uint64_t now)
{
    rec->marks.deadline = 0;
    dp_rec_charge_all(rec, now);
    if (!rec->over)             /* else, there are no statements any more */
        take_sampled(rec, dp_lines_get(rec->how.lines, line));
}
