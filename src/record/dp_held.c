#include "dp_held.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_rec_mark.h"

#include <string.h>

enum { CONTEXTS_MOST = 16384 };     /* a bigger tree is freed, not kept for the next stretch */

struct dp_held {
    struct dp_held *next;
    uint64_t number;
    uint64_t began, limit;      /* stamps */
    /* The stretch's tree; while the stretch is recorded, the file's. */
    struct dp_cct cct;
    struct dp_lines lines;
    struct dp_live live;
    /* The time that it has used: `passed` in the slice of `renewals`, `before` in earlier ones. */
    uint64_t renewals;
    uint64_t passed, before;    /* stamps, without pauses */
    uint64_t cpu, dropped;
    struct dp_cct_node *cur;    /* of its tree: what ran when it stepped aside */
    struct dp_stmt *line;
    bool stopped;
};

/* ---- made and freed ---- */

/* Frees a held stretch and all that it has recorded. */
static void free_held(struct dp_held *held)
{
    dp_cct_release(&held->cct);
    dp_lines_release_part(&held->lines);
    dp_live_release(&held->live);
    dp_mem_free(held);
}

/* Makes an empty tree for a stretch that is held back, in ordinary memory. Returns NULL if memory
 * is short. */
static struct dp_held *make_held(const struct dp_rec *rec)
{
    struct dp_held *held = dp_mem_zalloc(sizeof *held);
    if (!held)
        return NULL;
    dp_live_init(&held->live, NULL, 0);
    if (dp_cct_init(&held->cct, &held->live, rec->cct.idle, rec->how.contexts,
                    rec->how.n_counts) == 0
        && (!rec->how.lines
            || dp_lines_open_part(&held->lines, &held->live, rec->how.n_counts) == 0))
        return held;
    free_held(held);
    return NULL;
}

/* Keeps the memory of a stretch for the next one. */
static void keep_spare(struct dp_rec *rec, struct dp_held *held)
{
    if (rec->saving.spare_held || held->cct.count > CONTEXTS_MOST) {
        free_held(held);
        return;
    }
    dp_cct_clear(&held->cct);
    if (rec->how.lines)
        dp_lines_open_part(&held->lines, &held->live, rec->how.n_counts);
    rec->saving.spare_held = held;
}

/* Returns the held stretch with a number, or NULL. */
static struct dp_held *find_held(const struct dp_rec *rec, uint64_t number)
{
    struct dp_held *held = rec->saving.all_held;
    while (held && held->number != number)
        held = held->next;
    return held;
}

bool dp_held_is(const struct dp_rec *rec, uint64_t number)
{
    return !number || find_held(rec, number);
}

struct dp_cct *dp_held_file_tree(struct dp_rec *rec)
{
    return rec->saving.held ? &rec->saving.held->cct : &rec->cct;
}

uint64_t dp_held_number(const struct dp_rec *rec)
{
    return rec->saving.held ? rec->saving.held->number : 0;
}

uint64_t dp_held_any(const struct dp_rec *rec)
{
    return rec->saving.all_held ? rec->saving.all_held->number : 0;
}

/* ---- turns ---- */

/* Exchanges the trees and statements of recorder and stretch, and nothing else. */
static void swap_trees(struct dp_rec *rec, struct dp_held *held)
{
    struct dp_cct cct = rec->cct;
    rec->cct = held->cct;
    held->cct = cct;
    rec->samples.unassigned.stamps = 0;       /* it belongs to a sample in the other tree */
    if (rec->how.lines)
        dp_lines_swap(rec->how.lines, &held->lines);
}

/* Adds the time of a held stretch up to the last dp_rec_renew() to its time before, because the
 * clocks have begun anew there. */
static void note_renewal(struct dp_held *held, const struct dp_rec *rec)
{
    if (held->renewals != rec->saving.renewals) {
        held->before += held->passed;
        held->passed = 0;
        held->renewals = rec->saving.renewals;
    }
}

/* Goes back to the file's tree, where the time of the stretch counts as a pause. The caller has
 * charged all time up to stamp now. */
static void leave_held(struct dp_rec *rec, uint64_t now)
{
    struct dp_held *held = rec->saving.held;
    const struct dp_rec_account *was = &rec->saving.account;
    uint64_t all = now - was->since, paused = rec->clock.idle - was->idle;
    note_renewal(held, rec);
    held->passed += all > paused ? all - paused : 0;
    held->cpu += rec->clock.cpu_used - was->cpu_used;
    held->dropped += rec->clock.dropped - was->dropped;
    rec->clock.idle = was->idle + all;
    rec->clock.cpu_used = rec->clock.split_ns = was->cpu_used;
    rec->clock.dropped = was->dropped;
    rec->saving.held = NULL;
    swap_trees(rec, held);
}

/* Makes the recorder record into a held stretch from now on: swaps its trees in, and notes the
 * clocks. */
static void enter_held(struct dp_rec *rec, struct dp_held *held, uint64_t now)
{
    rec->saving.account = (struct dp_rec_account){ now, rec->clock.idle, rec->clock.cpu_used,
                                                   rec->clock.dropped };
    rec->clock.split_ns = rec->clock.cpu_used;
    rec->saving.held = held;
    swap_trees(rec, held);
}

/* Charges all time up to stamp now, and pauses the recorder. */
static void charge_and_pause(struct dp_rec *rec, uint64_t now)
{
    if (rec->paused) {
        rec->clock.idle += now - rec->clock.paused_at;
        rec->clock.paused_at = now;
        return;
    }
    rec->marks.deadline = 0;          /* so that the CPU clock is read, too */
    dp_rec_charge_all(rec, now);
    dp_rec_split(rec, now);
    rec->marks.left = now;
    dp_rec_pause(rec, now);
}

void dp_held_turn(struct dp_rec *rec, uint64_t number, uint64_t now)
{
    bool paused = rec->paused;
    charge_and_pause(rec, now);
    if (rec->over)              /* a file was due, and there was no memory */
        return;
    struct dp_held *next = number ? find_held(rec, number) : NULL;
    uint32_t line = rec->marks.line->number;
    if (rec->saving.held)
        leave_held(rec, now);
    if (next)
        enter_held(rec, next, now);
    rec->saving.held_from = rec->marks.program;
    rec->marks.cur = rec->cct.idle;
    if (rec->how.lines) {
        if (!rec->how.line_samples)
            rec->marks.line = dp_lines_get(rec->how.lines, line);
        rec->how.lines->open = 0;
    }
    rec->relinks++;
    if (paused)
        rec->known_phase = 0;   /* the phase begins in the tree when the pause ends */
    else
        dp_rec_unpause(rec, now);
}

/* ---- the end ---- */

/* The time of a stretch that is kept is no pause any more. The file begins earlier by the time that
 * the stretch has used in earlier slices. */
static void account_for(struct dp_rec *rec, struct dp_held *held)
{
    uint64_t *idle = rec->saving.held ? &rec->saving.account.idle : &rec->clock.idle;
    uint64_t here = held->passed < *idle ? held->passed : *idle;
    *idle -= here;
    rec->clock.began -= held->before + held->passed - here;
    if (rec->saving.held) {
        rec->saving.account.cpu_used += held->cpu;
        rec->saving.account.dropped += held->dropped;
        rec->clock.idle -= here;      /* the stretch that runs counts its time from there on */
    }
    rec->clock.cpu_used += held->cpu;
    rec->clock.split_ns += held->cpu;
    rec->clock.dropped += held->dropped;
}

/* Adds the tree of a held stretch to the file's tree, whichever of the trees is in use. */
static void add_held(struct dp_rec *rec, struct dp_held *held)
{
    struct dp_held *other = rec->saving.held;
    if (other)
        swap_trees(rec, other); /* the file's tree is needed, for a moment */
    dp_cct_add(&rec->cct, &held->cct);
    if (rec->how.lines)
        dp_lines_add(rec->how.lines, &held->lines);
    if (other)
        swap_trees(rec, other);
    note_renewal(held, rec);
    account_for(rec, held);
}

bool dp_held_is_slow(const struct dp_rec *rec, uint64_t number, uint64_t now)
{
    const struct dp_held *held = find_held(rec, number);
    return now >= held->began && now - held->began >= held->limit;
}

void dp_held_end(struct dp_rec *rec, uint64_t number, bool is_kept)
{
    struct dp_held **at = &rec->saving.all_held;
    while ((*at)->number != number)
        at = &(*at)->next;
    struct dp_held *held = *at;
    *at = held->next;
    if (is_kept)
        add_held(rec, held);
    keep_spare(rec, held);
}

/* ---- callbacks of the recorder, and the beginning ---- */

/* Gives the recorder the file's tree while the file is written. */
static void step_aside(struct dp_rec *rec)
{
    struct dp_held *held = rec->saving.held;
    if (!held)
        return;
    held->cur = rec->marks.cur;
    held->line = rec->marks.line;
    rec->marks.cur = rec->cct.root;   /* the host may ask for its id */
    dp_rec_anchor(rec);
    leave_held(rec, rec->host->stamp(rec->host_arg));
    rec->saving.aside = held;
    held->stopped = rec->saving.stopped;
    rec->saving.stopped = true;        /* no running call belongs to the file's tree */
}

/* Gives the recorder the stretch's tree again. The host may have renewed the file's tree meanwhile,
 * or have given up. */
static void step_back(struct dp_rec *rec)
{
    struct dp_held *held = rec->saving.aside;
    if (!held)
        return;
    rec->saving.aside = NULL;
    dp_rec_anchor(rec);
    enter_held(rec, held, rec->host->stamp(rec->host_arg));
    rec->marks.cur = held->cur;
    rec->marks.line = held->line;
    rec->saving.stopped = held->stopped;
}

/* Gives the recorder the file's tree for good, and touches no node of it. */
static void leave_for_good(struct dp_rec *rec)
{
    if (rec->saving.held)
        swap_trees(rec, rec->saving.held);
    rec->saving.held = NULL;
}

/* Drops all held stretches with their trees, and goes back to the file's tree. */
static void forget_all(struct dp_rec *rec)
{
    leave_for_good(rec);
    rec->saving.aside = NULL;
    if (rec->saving.spare_held)
        free_held(rec->saving.spare_held);
    rec->saving.spare_held = NULL;
    while (rec->saving.all_held) {
        struct dp_held *next = rec->saving.all_held->next;
        free_held(rec->saving.all_held);
        rec->saving.all_held = next;
    }
}

static const struct dp_rec_held on_held = { step_aside, step_back, leave_for_good, forget_all };

int dp_held_new(struct dp_rec *rec, uint64_t number, uint64_t ns, uint64_t now)
{
    struct dp_held *held = rec->saving.spare_held ? rec->saving.spare_held : make_held(rec);
    if (!held)
        return DP_E_NOMEM;
    rec->saving.spare_held = NULL;
    rec->saving.on_held = &on_held;
    double limit = (double)ns * rec->clock.rate;
    held->number = number;
    held->began = now;
    held->limit = limit < 1e18 ? (uint64_t)limit : (uint64_t)1e18;
    held->renewals = rec->saving.renewals;
    held->passed = held->before = held->cpu = held->dropped = 0;
    held->next = rec->saving.all_held;
    rec->saving.all_held = held;
    return 0;
}
