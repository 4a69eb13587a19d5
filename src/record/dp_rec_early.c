#include "dp_rec_early.h"
#include "dp_rec_mark.h"

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Moves stamps from one statement to another. */
static void move_stamps(struct dp_stmt *from, struct dp_stmt *to, uint64_t real, uint64_t wait)
{
    from->real -= real;
    from->wait -= wait;
    to->real += real;
    to->wait += wait;
}

/* The stamps from the beginning of statement i to that of the next one. */
static uint64_t stretch_of(const struct dp_rec_early *early, size_t i)
{
    return early[i + 1].passed - early[i].passed;
}

/* Spreads the time since the fork. The statement that forked has been charged with all of it:
 * `real` stamps, `wait` of them waited. The program has most probably waited in the longest
 * stretch: one reading of the CPU clock shows how long it has waited, and not when. */
static void spread_time(struct dp_rec *rec, struct dp_stmt *forked,
                        const struct dp_rec_early *early, size_t n, uint64_t real, uint64_t wait)
{
    size_t longest = 0;
    for (size_t i = 1; i + 1 < n; i++)
        if (stretch_of(early, i) > stretch_of(early, longest))
            longest = i;
    bool waited = n > 1 && stretch_of(early, longest) > early[0].passed;
    for (size_t i = 0; i + 1 < n; i++) {
        uint64_t part = least(stretch_of(early, i), real);
        move_stamps(forked, dp_lines_get(rec->how.lines, early[i].number), part,
                    waited && i == longest ? least(wait, part) : 0);
        real -= part;
    }
}

void dp_rec_take_early(struct dp_rec *rec, const struct dp_rec_early *early, size_t n)
{
    struct dp_stmt *forked = rec->marks.line;
    if (!n || rec->over || rec->paused)
        return;
    if (rec->how.line_times) {
        uint64_t real = forked->real, wait = forked->wait;
        dp_rec_gap_slow(rec, rec->marks.left + early[n - 1].passed, DP_REC_AT_NO_MARK);
        if (rec->over)
            return;
        rec->marks.left += early[n - 1].passed;
        spread_time(rec, forked, early, n, forked->real - real, forked->wait - wait);
    }
    for (size_t i = 0; i < n; i++) {
        if (rec->how.line_times) {
            rec->marks.line->ops += early[i].ops - rec->marks.line_ops_seen;
            rec->marks.line_ops_seen = early[i].ops;
        }
        rec->marks.line = dp_lines_get(rec->how.lines, early[i].number);
        rec->marks.line->count++;
    }
}
