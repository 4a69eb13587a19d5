/* Marks: the functions that hooks inline. dp_rec.h has the struct that they share with the
 * recorder, and the functions that hosts call outside of hooks. */
#ifndef DP_REC_MARK_H
#define DP_REC_MARK_H

#include "dp_rec.h"

/* The slow ways of a mark, without counters and with them. They return 0 or the writer's error. */
int dp_rec_mark_slow(struct dp_rec *rec, uint32_t word, struct dp_cct_call *call, uint64_t now);
int dp_rec_mark_slow_counted(struct dp_rec *rec, uint32_t word, struct dp_cct_call *call,
                             uint64_t now);
void dp_rec_gap_slow(struct dp_rec *rec, uint64_t now, enum dp_rec_at at);

/* The program's time since the last leaving; a huge number if the counter has stepped back. */
DP_INLINE uint64_t dp_rec_gap(const struct dp_rec *rec, uint64_t now)
{
    uint64_t gap = now - rec->marks.left;
    return gap > rec->marks.reading_cost ? gap - rec->marks.reading_cost : 0;
}

/* How a recording began. Callers pass constants, so that nothing is tested at run time. DP_REC_HOST
 * and the bits above it are the host's own; a further bit of the recorder's moves DP_REC_HOST
 * up. */
enum { DP_REC_TREE = 1, DP_REC_COUNTS = 2, DP_REC_LINES = 4, DP_REC_HOST = 8 };

/* A further bit, for the end of a call of an XS sub or a builtin: in a tree, nothing is taken off
 * the gap that the mark ends. The readings on both sides of C code add so little to the program's
 * time that it is enough to take their cost off the gap behind the call (HACKING, "nothing is taken
 * off the gap of an XS call"). */
enum { DP_REC_OF_C = 256 };

/* What a counter has counted since the last mark. */
DP_INLINE uint64_t dp_rec_counted(struct dp_rec *rec, size_t i)
{
    uint64_t n = rec->how.counts[i], d = n - rec->marks.counts_seen[i];
    rec->marks.counts_seen[i] = n;
    return d;
}

/* Puts the counts since the last mark behind a mark. Returns the end. */
DP_INLINE uint64_t *dp_rec_put_counts(struct dp_rec *rec, uint64_t *pos)
{
    for (size_t i = 0; i < rec->how.n_counted; i++)
        *pos++ = dp_rec_counted(rec, i);
    return pos;
}

/* Charges the counts since the last mark to a tree's running context and statement. */
DP_INLINE void dp_rec_charge_counts(struct dp_rec *rec, const int way)
{
    for (size_t i = 0; i < rec->how.n_counted; i++) {
        uint64_t n = dp_rec_counted(rec, i);
        rec->marks.cur->counts[i] += n;
        if ((way & DP_REC_LINES) && !rec->paused)
            rec->marks.line->counts[i] += n;
    }
}

/* Charges the counts up to now to nothing. */
DP_INLINE void dp_rec_skip_counts(struct dp_rec *rec)
{
    for (size_t i = 0; i < rec->how.n_counted; i++) {
        rec->samples.counts[i] += rec->how.counts[i] - rec->marks.counts_seen[i];
        rec->marks.counts_seen[i] = rec->how.counts[i];
    }
}

/* A mark of a trace that arrived at stamp now. The caller sets rec->marks.left to a
 * fresh stamp when it is about to leave. */
DP_INLINE void dp_rec_trace(struct dp_rec *rec, enum dp_raw_kind kind, uint32_t id,
                            struct dp_cct_call *call, uint64_t now, const int way)
{
    uint64_t gap = dp_rec_gap(rec, now);
    uint32_t word = DP_RAW_WORD(kind, id);
    uint64_t *pos = rec->marks.pos;

    /* A counter that stepped back gives a huge gap and goes the slow way too. */
    if (DP_UNLIKELY(gap >= rec->marks.long_gap) || DP_UNLIKELY(now >= rec->marks.deadline)
        || DP_UNLIKELY(pos >= rec->marks.end)) {
        if (way & DP_REC_COUNTS)
            dp_rec_mark_slow_counted(rec, word, call, now);
        else
            dp_rec_mark_slow(rec, word, call, now);
        return;
    }
    *pos = gap << 32 | word;
    rec->marks.pos = way & DP_REC_COUNTS ? dp_rec_put_counts(rec, pos + 1) : pos + 1;
    rec->marks.program += gap;
}

/* Charges the ops since the last mark to a tree's running context. */
DP_INLINE void dp_rec_charge_ops(struct dp_rec *rec)
{
    uint64_t ops = *rec->marks.ops;
    rec->marks.cur->ops += ops - rec->marks.ops_seen;
    rec->marks.ops_seen = ops;
}

/* Charges the ops since the last mark to a tree's running statement. */
DP_INLINE void dp_rec_charge_line_ops(struct dp_rec *rec)
{
    uint64_t ops = *rec->marks.ops;
    rec->marks.line->ops += ops - rec->marks.line_ops_seen;
    rec->marks.line_ops_seen = ops;
}

/* Adds to the running context all program time since it was charged last. With lines, a statement
 * that begins does not touch the context. So the context gets all program time since it was charged
 * last only now. */
DP_INLINE void dp_rec_settle(struct dp_rec *rec)
{
    rec->marks.cur->real += rec->marks.program - rec->marks.settled;
    rec->marks.settled = rec->marks.program;
}

/* Charges the gap, the ops and the other counters. at is a constant: passing the call itself to the
 * slow way would cost each call an instruction. */
DP_INLINE void dp_rec_charge(struct dp_rec *rec, uint64_t now, const enum dp_rec_at at,
                             const int way)
{
    bool slow = false;
    uint64_t gap = way & DP_REC_OF_C ? now - rec->marks.left : dp_rec_gap(rec, now);
    if (DP_UNLIKELY(gap >= rec->marks.long_gap) || DP_UNLIKELY(now >= rec->marks.deadline)) {
        if (way & DP_REC_COUNTS)
            rec->worked = true;
        dp_rec_gap_slow(rec, now, at);
        slow = true;
    } else {
        rec->marks.program += gap;
        if (way & DP_REC_LINES) {
            rec->marks.line->real += gap;
            dp_rec_settle(rec);
        } else {
            rec->marks.cur->real += gap;
        }
    }
    dp_rec_charge_ops(rec);
    if ((way & DP_REC_LINES) && !(slow && rec->paused))
        dp_rec_charge_line_ops(rec);
    if (way & DP_REC_COUNTS)
        dp_rec_charge_counts(rec, way);
}

/* Goes on with the statement of this number. The caller has charged all time that has passed. */
DP_INLINE void dp_rec_go_on_line(struct dp_rec *rec, uint32_t number)
{
    struct dp_lines *lines = rec->how.lines;
    if (DP_LIKELY(number < lines->n && lines->at[number]))
        rec->marks.line = lines->at[number];
    else if (lines->n)
        rec->marks.line = dp_lines_get(lines, number);
}

/* Charges the running statement, while its sub goes on. ops: the value of *rec->marks.ops, which
 * the host has at hand; any number if no ops are kept. Returns false if nothing has been done
 * because the CPU clock is due; then dp_rec_charge_all does it. */
DP_INLINE bool dp_rec_charge_line(struct dp_rec *rec, uint64_t now, uint64_t ops, const int way)
{
    uint64_t gap = now - rec->marks.left;         /* a negative number is a huge one here */
    if (DP_UNLIKELY(gap >= rec->marks.long_gap) || DP_UNLIKELY(now >= rec->marks.deadline))
        return false;
    struct dp_stmt *line = rec->marks.line;
    uint64_t ran = ops - rec->marks.line_ops_seen;
    DP_COMPUTE(ran);            /* so that it is added in one instruction */
    rec->marks.line_ops_seen = ops;
    rec->marks.program += gap;
    line->real += gap;
    line->ops += ran;
    if (way & DP_REC_COUNTS)
        dp_rec_charge_counts(rec, way);
    return true;
}

/* Begins a statement that has run before. Returns false if nothing has been done; then the caller
 * calls dp_rec_statement_slow. */
DP_INLINE bool dp_rec_statement(struct dp_rec *rec, struct dp_stmt *line, uint64_t now,
                                uint64_t ops, const int way)
{
    if (!dp_rec_charge_line(rec, now, ops, way))
        return false;
    line->count++;
    rec->marks.line = line;
    return true;
}

/* With reads_once: leaves a hook after dp_rec_charge_line or dp_rec_statement, which took a few
 * instructions. now: the arrival stamp. */
DP_INLINE void dp_rec_leave_statement(struct dp_rec *rec, uint64_t now)
{
    rec->marks.left = now + rec->marks.statement_cost;
}

/* With reads_once: leaves a hook after any other function. now: a fresh stamp. */
DP_INLINE void dp_rec_leave(struct dp_rec *rec, uint64_t now)
{
    rec->marks.left = now + rec->marks.leaving_cost;
}

/* Begins any statement whose place is known, at arrival stamp now. */
void dp_rec_statement_slow(struct dp_rec *rec, uint32_t number, uint64_t now);

/* The context of a tree from which outermost calls are made: the phase's, else the root. */
struct dp_cct_node *dp_rec_base(struct dp_rec *rec);

/* Charges all that a tree keeps, with or without times of statements. */
void dp_rec_charge_all(struct dp_rec *rec, uint64_t now);

/* Returns the context of a call, after it has asked the host for the number of the place of the
 * call. The number goes into call->site. */
struct dp_cct_node *dp_rec_child_at_site(struct dp_rec *rec, uint32_t id,
                                         struct dp_cct_call *call);

/* The context of a call whose place is in call->site. */
struct dp_cct_node *dp_rec_child_at(struct dp_rec *rec, uint32_t id,
                                    const struct dp_cct_call *call);

/* Begins a call in a tree. has_place: call->site is the place of the call, where places are
 * kept. */
DP_INLINE void dp_rec_tree_enter(struct dp_rec *rec, uint32_t id, struct dp_cct_call *call,
                                 uint64_t now, const int way, const bool has_place)
{
    dp_rec_charge(rec, now, DP_REC_AT_BEGIN, way);
    struct dp_cct_node *cur = rec->marks.cur, *child = cur->last;
    size_t contexts = rec->cct.count;
    if (way & DP_REC_LINES) {
        uint32_t site = has_place ? call->site : rec->marks.line->site;
        call->site = site;
        if (DP_UNLIKELY(!child || child->id != id || child->site != site))
            child = dp_cct_child(&rec->cct, cur, id, site);
    } else if (DP_UNLIKELY(rec->how.site != NULL)) {
        child = has_place ? dp_rec_child_at(rec, id, call) : dp_rec_child_at_site(rec, id, call);
    } else if (DP_UNLIKELY(!child || child->id != id)) {
        child = dp_cct_child(&rec->cct, cur, id, 0);
    }
    if ((way & DP_REC_COUNTS) && rec->cct.count != contexts)
        rec->worked = true;
    child->calls++;
    call->caller = cur;
    call->start = rec->marks.program;
    if (way & DP_REC_LINES)
        call->line = rec->marks.line->number;
    rec->marks.cur = child;
}

DP_INLINE void dp_rec_tree_leave(struct dp_rec *rec, struct dp_cct_call *call, uint64_t now,
                                 const enum dp_rec_at at, const int way)
{
    dp_rec_charge(rec, now, at, way);
    dp_cct_ended(rec->marks.cur, rec->marks.program - call->start, rec->marks.ns_mult);
    rec->marks.cur = call->caller;
    if (way & DP_REC_LINES)
        dp_rec_go_on_line(rec, call->line);
}

/* Records, with the times of statements, the mark of a call that begins at another place than the
 * running statement. */
void dp_rec_enter_at(struct dp_rec *rec, uint32_t id, uint32_t site, struct dp_cct_call *call,
                     uint64_t now, int way);

/* The mark of a call that begins, ends or is replaced; a call that replaces another one keeps its
 * place. way is a constant: the bits with which the recording began. */
DP_INLINE void dp_rec_mark(struct dp_rec *rec, enum dp_raw_kind kind, uint32_t id,
                           struct dp_cct_call *call, uint64_t now, const int way)
{
    if (!(way & DP_REC_TREE)) {
        dp_rec_trace(rec, kind, id, call, now, way);
    } else if (kind == DP_RAW_ENTER) {
        dp_rec_tree_enter(rec, id, call, now, way, false);
    } else {
        dp_rec_tree_leave(rec, call, now, kind == DP_RAW_GOTO ? DP_REC_AT_GOTO : DP_REC_AT_END,
                          way);
        if (kind == DP_RAW_GOTO)
            dp_rec_tree_enter(rec, id, call, rec->marks.left = now, way, true);
    }
}

#endif
