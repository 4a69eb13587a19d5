#include "dp_rec_save.h"
#include "dp_err.h"
#include "dp_rec_clock.h"
#include "dp_rec_mark.h"
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

/* Puts a mark of any kind, and its counters, into the window. Returns its end. */
uint64_t *dp_rec_save_put_mark(struct dp_rec *rec, uint64_t mark)
{
    *rec->marks.pos = mark;
    return dp_rec_put_counts(rec, rec->marks.pos + 1);
}

/* Opens a stretch of marks whose waiting will be known at the next reading. gap, wait: the long gap
 * before the stretch, and how much of it waited. */
void dp_rec_save_open_reading(struct dp_rec *rec, uint64_t gap, uint64_t wait)
{
    rec->saving.cpu_rec = (size_t)(rec->marks.pos - rec->saving.window);
    rec->marks.pos[0] = DP_RAW_WORD(DP_RAW_CPU, 0);
    rec->marks.pos[DP_RAW_LONG_GAP] = gap;
    rec->marks.pos[DP_RAW_LONG_WAIT] = wait;
    rec->marks.pos[DP_RAW_SHORT_SUM] = 0;
    rec->marks.pos[DP_RAW_SHORT_WAIT] = 0;
    rec->marks.pos = dp_rec_put_counts(rec, rec->marks.pos + DP_RAW_CPU_WORDS);
}

/* Writes into the stretch of short gaps that ends here how long it waited. */
void dp_rec_save_close_reading(struct dp_rec *rec)
{
    struct dp_rec_saving *saving = &rec->saving;
    saving->window[saving->cpu_rec + DP_RAW_SHORT_SUM] = rec->clock.short_sum;
    saving->window[saving->cpu_rec + DP_RAW_SHORT_WAIT] = rec->clock.short_wait;
}

void dp_rec_save_clear_window(struct dp_rec *rec)
{
    struct dp_rec_saving *saving = &rec->saving;
    /* A reader of what a killed process has left takes the first 0 for the end of the window. */
    if (rec->marks.pos > saving->window)
        memset(saving->window, 0,
               (size_t)(rec->marks.pos - saving->window) * sizeof *saving->window);
    rec->marks.pos = saving->window;
    rec->marks.end = saving->window + rec->how.words;
    dp_rec_save_open_reading(rec, 0, 0);
}

int dp_rec_save_open_state(struct dp_rec *rec)
{
    struct dp_rec_saving *saving = &rec->saving;
    saving->state = dp_live_add(saving->live, DP_LIVE_STATE, sizeof *saving->state);
    if (!saving->state)
        return DP_E_NOMEM;
    saving->state->hz = rec->writer->hz;
    saving->state->rate = rec->clock.rate;
    saving->state->tree = rec->tree;
    saving->state->ops = rec->how.ops != NULL;
    saving->state->n_counts = rec->how.n_counts;
    return 0;
}

/* Notes in the pieces, for their readers, what the text has. */
void dp_rec_save_tell_state(struct dp_rec *rec)
{
    struct dp_rec_saving *saving = &rec->saving;
    saving->state->pending = rec->writer->pending;
    memcpy(saving->state->pending_counts, rec->writer->pending_counts,
           sizeof saving->state->pending_counts);
    saving->state->marks = rec->writer->marks;
}

/* Hands the window to the writer and starts a new one. Returns 0 or the first error of the
 * recording. */
int dp_rec_save_write_window(struct dp_rec *rec, uint64_t now)
{
    struct dp_rec_saving *saving = &rec->saving;
    struct dp_rec_clock *clock = &rec->clock;
    uint64_t stamp, mono;
    dp_rec_clock_read(rec, 0, now);
    dp_rec_save_close_reading(rec);
    rec->host->pair(rec->host_arg, &stamp, &mono);
    dp_rec_clock_learn(rec, stamp, mono);
    double ns_per_stamp = stamp > clock->pair_stamp && mono > clock->pair_mono
        ? (double)(mono - clock->pair_mono) / (double)(stamp - clock->pair_stamp) : 1 / clock->rate;
    double ticks_per_ns = (double)rec->writer->hz / 1e9;
    /* A reader would take the remains of a window that was lost in the middle of an event for
     * marks. */
    int rc = saving->live->lost ? DP_E_IO
        : dp_writer_window(rec->writer, saving->window, (size_t)(rec->marks.pos - saving->window),
                           ns_per_stamp * ticks_per_ns, dp_rec_clock_sys_share(rec));
    if (rc < 0 && !saving->err)
        saving->err = rc;
    /* The order matters: if the process is killed in between, a reader finds these marks only in
     * the text. */
    dp_rec_save_clear_window(rec);
    dp_rec_save_tell_state(rec);
    rec->host->split(rec->host_arg, &clock->user_us, &clock->sys_us);
    clock->pair_stamp = stamp;
    clock->pair_mono = mono;
    saving->written = stamp;
    dp_rec_anchor(rec);
    if (saving->flushed)
        saving->flushed(saving->arg);
    return saving->err;
}

bool dp_rec_save_is_due(const struct dp_rec *rec, uint64_t now)
{
    return rec->how.checkpoint && now > rec->saving.saved
           && now - rec->saving.saved
              >= dp_rec_clock_stamps(rec, (double)rec->how.checkpoint * 1e9);
}

/* The caller has taken in all that has passed. The time of the saving, and of its waiting for the
 * disk, must not look like the program's. */
void dp_rec_save_now(struct dp_rec *rec, uint64_t now)
{
    struct dp_rec_saving *saving = &rec->saving;
    struct dp_rec_clock *clock = &rec->clock;
    __atomic_store_n(&saving->wanted, 0, __ATOMIC_SEQ_CST);
    saving->saved = now;
    if (rec->tree) {
        dp_rec_charge_ops(rec);
        if (rec->how.line_times)
            dp_rec_charge_line_ops(rec);
        dp_rec_charge_counts(rec, rec->how.line_times ? DP_REC_LINES : 0);
        dp_rec_split(rec, now);
        dp_rec_sample_end(rec);
    }
    if (saving->save) {
        if (saving->on_held)
            saving->on_held->step_aside(rec);
        saving->save(saving->arg);
        if (saving->on_held)
            saving->on_held->step_back(rec);
    }
    rec->host->split(rec->host_arg, &clock->user_us, &clock->sys_us);
    dp_rec_anchor(rec);
    clock->split_ns = clock->cpu_used;
}

int dp_rec_flush(struct dp_rec *rec, uint64_t now)
{
    struct dp_rec_saving *saving = &rec->saving;
    if (rec->over || (rec->paused && rec->tree))
        return saving->err;
    if (rec->paused) {
        dp_rec_unpause(rec, now);
        dp_rec_save_write_window(rec, rec->host->stamp(rec->host_arg));
        dp_rec_pause(rec, now);
        return saving->err;
    }
    if (rec->tree) {
        rec->marks.deadline = 0;
        dp_rec_charge_all(rec, now);
        dp_rec_sample_end(rec);
        return saving->err;
    }
    uint64_t gap = dp_rec_clock_gap(rec, now);
    uint64_t wait = dp_rec_clock_read(rec, gap, now);
    dp_rec_save_close_reading(rec);
    dp_rec_save_open_reading(rec, gap, wait);
    dp_rec_save_write_window(rec, now);
    dp_rec_rearm(rec);
    return saving->err;
}

int dp_rec_save(struct dp_rec *rec, uint64_t now)
{
    struct dp_rec_saving *saving = &rec->saving;
    bool paused = rec->paused;
    if (rec->over)
        return saving->err;
    if (paused)
        dp_rec_unpause(rec, now);
    saving->stopped = paused;
    saving->wanted = 0;            /* else a tree would be saved twice */
    saving->saved = now;
    dp_rec_flush(rec, now);
    dp_rec_save_now(rec, now);
    saving->stopped = false;
    if (paused)
        dp_rec_pause(rec, rec->marks.left = rec->host->stamp(rec->host_arg));
    dp_rec_rearm(rec);
    return saving->err;
}
