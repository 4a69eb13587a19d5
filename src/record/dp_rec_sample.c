#include "dp_rec_sample.h"

/* The longer an op takes, the longer its samples wait for its end. Charged up to there, such ops
 * would have too much. */
uint64_t dp_rec_sample_over(struct dp_rec *rec)
{
    uint64_t more = rec->late.stamps, most;
    if (!more)
        return 0;
    rec->late.stamps = 0;
    most = rec->late.node->real - rec->late.node->wait;
    more = more < most ? more : most;
    most = rec->late.line->real - rec->late.line->wait;
    more = more < most ? more : most;
    rec->late.node->real -= more;
    rec->late.line->real -= more;
    rec->cur->real += more;
    rec->line->real += more;
    return more;
}

/* Charges a sample. Returns how many stamps it has, and at cpu, those of CPU time; 0: none, since
 * recording has ended, or sums begin anew. */
static uint64_t charge_sample(struct dp_rec *rec, struct dp_cct_node *node, uint32_t line,
                              uint64_t now, uint64_t *cpu)
{
    rec->cur = node;
    if (rec->how.lines)
        rec->line = dp_lines_get(rec->how.lines, line);
    const struct dp_stmt *of = rec->line;
    uint64_t program = rec->program, waited = of->wait;
    rec->deadline = 0;          /* each sample reads the CPU clock */
    dp_rec_charge_all(rec, now);
    uint64_t gap = rec->program - program;
    if (rec->cur != node || rec->line != of || of->wait < waited)
        return 0;
    waited = of->wait - waited;
    *cpu = gap > waited ? gap - waited : 0;
    return gap;
}

/* The next sample takes this over from the one that was charged just now. */
static void leave_over(struct dp_rec *rec, uint64_t stamps)
{
    rec->late.node = rec->cur;
    rec->late.line = rec->line;
    rec->late.stamps = stamps;
}

void dp_rec_sample(struct dp_rec *rec, struct dp_cct_node *node, uint32_t line, uint64_t now,
                   uint64_t late)
{
    uint64_t cpu, gap = charge_sample(rec, node, line, now, &cpu);
    if (!gap)
        return;
    dp_rec_sample_over(rec);
    double stamps = (double)late * rec->rate, most = (double)gap;
    leave_over(rec, (uint64_t)((stamps < most ? stamps : most) * ((double)cpu / most)));
}

/* What ran before the wait is not known, and what follows it is not the op's either: that is the
 * next sample's, or the phase's if there is none. */
void dp_rec_sample_wait(struct dp_rec *rec, struct dp_cct_node *node, uint32_t line, uint64_t now,
                        uint64_t own)
{
    uint64_t cpu, gap = charge_sample(rec, node, line, now, &cpu);
    if (!gap)
        return;
    uint64_t most = (uint64_t)((double)own * rec->rate), more = dp_rec_sample_over(rec);
    leave_over(rec, more + (cpu > most ? cpu - most : 0));
    rec->cur = dp_rec_base(rec);
    if (rec->how.lines)
        rec->line = dp_lines_get(rec->how.lines, DP_LINE_REST);
}

/* ---- statements, beside a tree of calls ---- */

/* Charges a statement with what has passed since the last sample, and is taken in by contexts. */
static void take_sampled(struct dp_rec *rec, struct dp_stmt *to)
{
    struct dp_stmt *since = rec->line;
    to->real += rec->program - rec->sampled;
    to->wait += since->wait;
    to->sys += since->sys;
    since->wait = since->sys = 0;
    to->ops += *rec->ops - rec->line_ops_seen;
    rec->line_ops_seen = *rec->ops;
    rec->sampled = rec->program;
    for (size_t i = 0; i < rec->how.n_counted; i++) {
        to->counts[i] += rec->counts_seen[i] - rec->counts_sampled[i];
        rec->counts_sampled[i] = rec->counts_seen[i];
    }
}

void dp_rec_sample_end(struct dp_rec *rec)
{
    if (rec->how.line_samples && !rec->over)
        take_sampled(rec, rec->how.lines->rest);
}

void dp_rec_sample_line(struct dp_rec *rec, uint32_t line, uint64_t now)
{
    rec->deadline = 0;
    dp_rec_charge_all(rec, now);
    if (!rec->over)             /* else, there are no statements any more */
        take_sampled(rec, dp_lines_get(rec->how.lines, line));
}
