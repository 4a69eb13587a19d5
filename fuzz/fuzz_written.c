/* Writes profiles of any bytes: read back, they are the same. */
#include "fuzz.h"
#include "dp_mem.h"

#include <stdlib.h>
#include <string.h>

/* A text that is kept while others are printed. */
struct text {
    char *ptr;
    size_t len;
};

static bool write_to(struct fuzz *f, struct text *text, const struct dp_prof *prof,
                     const struct dp_write_how *how)
{
    struct dp_host host = fuzz_host(f);
    text->ptr = NULL;
    int rc = dp_prof_write(prof, how, &host);
    if (!PRINTED(f, rc))
        return false;
    const char *ptr = fuzz_printed_text(&text->len);
    text->ptr = malloc(text->len + 1);
    if (!text->ptr)
        abort();
    memcpy(text->ptr, ptr, text->len);
    text->ptr[text->len] = '\0';
    return true;
}

static bool equal(const struct text *a, const struct text *b)
{
    return a->len == b->len && memcmp(a->ptr, b->ptr, a->len) == 0;
}

/* Reads a text as the tools read profiles to be merged. NULL if memory is short. */
static struct dp_prof *again(struct fuzz *f, const struct text *text, bool phases)
{
    struct dp_prof *prof = dp_prof_new();
    if (!GOOD(f, prof))
        return NULL;
    dp_prof_detail(prof);
    if (phases)
        dp_prof_phases(prof);
    int code = dp_prof_add_mem(prof, "written", text->ptr, text->len, 0);
    if (!GOOD(f, code == 0)) {
        dp_prof_free(prof);
        return NULL;
    }
    return prof;
}

static uint64_t counted(const struct dp_prof *prof, const char *name, size_t len)
{
    size_t n;
    const char *other;
    for (size_t k = 0; (other = dp_prof_counter(prof, k, &n)); k++)
        if (n == len && memcmp(other, name, n) == 0)
            return dp_prof_counted(prof, k);
    CHECK(!"the counter is there");
    return 0;
}

static void same_totals(const struct dp_prof *one, const struct dp_prof *two, int kind)
{
    size_t len;
    const char *name;
    CHECK(dp_prof_calls(one) == dp_prof_calls(two));
    for (int t = 0; t < DP_M_CALLS; t++)
        CHECK(dp_prof_total(two, t) == (kind == DP_WRITE_COUNTERS ? 0 : dp_prof_total(one, t)));
    if (kind == DP_WRITE_COUNTERS)
        return;
    CHECK(dp_prof_hz(one) == dp_prof_hz(two) && strcmp(dp_prof_unit(one), dp_prof_unit(two)) == 0);
    for (size_t k = 0; (name = dp_prof_counter(one, k, &len)); k++)
        if (!dp_prof_counter_lacks(one, k))
            CHECK(dp_prof_counted(one, k) == counted(two, name, len));
}

static const char *const repeat[] = { "ops", "svs", "a" };

/* Is it a file that holds no process? Such a file is not the same when it is read back. */
static bool is_nothing(const struct text *text)
{
    return strstr(text->ptr, "$dprof_merged=0;") != NULL;
}

static void round_trip(struct fuzz *f, const struct dp_prof *one, bool phases)
{
    struct dp_write_how how = {
        .version = "x", .gzip = f->c.kind / 3 & 1, .kind = f->c.kind % 3, .counters = repeat,
        .n_counters = 3,
    };
    struct text first = { NULL, 0 }, second = { NULL, 0 };
    struct dp_prof *two = write_to(f, &first, one, &how) ? again(f, &first, phases) : NULL;
    if (two) {
        same_totals(one, two, how.kind);
        if (write_to(f, &second, two, &how) && !how.gzip && !f->starved)
            CHECK(is_nothing(&first) || equal(&first, &second));
    }
    dp_prof_free(two);
    free(first.ptr);
    free(second.ptr);
}

void fuzz_write(struct fuzz *f)
{
    bool phases = fuzz_flip(f);
    struct dp_prof *one = fuzz_read(f, f->size, FUZZ_DETAIL | (phases ? FUZZ_PHASES : 0));
    if (GOOD(f, one))
        round_trip(f, one, one->by_phase);
    dp_prof_free(one);
}

static struct dp_prof *empty(bool phases)
{
    struct dp_prof *prof = dp_prof_new();
    if (prof)
        dp_prof_detail(prof);
    if (prof && phases)
        dp_prof_phases(prof);
    return prof;
}

/* Merging adds profiles, in any order. */
void fuzz_merge(struct fuzz *f)
{
    static const struct dp_write_how how = { .version = "x" };
    bool phases = f->c.kind & 1;
    struct dp_prof *one = fuzz_read(f, f->size, FUZZ_DETAIL | (phases ? FUZZ_PHASES : 0)), *two;
    phases = one && one->by_phase;
    two = fuzz_read(f, f->c.kind & 2 ? f->size : f->size * fuzz_pick(f, 32) / 32,
                    FUZZ_DETAIL | FUZZ_PLAIN | (phases ? FUZZ_PHASES : 0));
    struct dp_prof *all = empty(phases), *other = empty(phases);
    struct text a = { NULL, 0 }, b = { NULL, 0 };
    char message[240];
    if (GOOD(f, one && two && all && other && two->by_phase == phases)) {
        int rc = dp_prof_merge(all, one, message);
        GOOD(f, rc == 0);
        int left = dp_prof_merge(all, two, message), right = dp_prof_merge(other, two, message);
        GOOD(f, right == 0);
        right = dp_prof_merge(other, one, message);
        GOOD(f, left == right && (left == 0 || left == DP_E_LIMIT || left == DP_E_ARG));
        if (left == 0 && right == 0 && write_to(f, &a, all, &how) && write_to(f, &b, other, &how)
            && !f->starved) {
            CHECK(is_nothing(&a) || equal(&a, &b));
            CHECK(dp_prof_calls(all) == dp_prof_calls(one) + dp_prof_calls(two));
            struct dp_prof *back = again(f, &a, phases);
            if (back)
                same_totals(all, back, DP_WRITE_ALL);
            dp_prof_free(back);
        }
    }
    free(a.ptr);
    free(b.ptr);
    dp_prof_free(one);
    dp_prof_free(two);
    dp_prof_free(all);
    dp_prof_free(other);
}

/* The name of a phase that the profile has, or of one that it does not have. */
static const char *phase_of(struct fuzz *f, const struct dp_prof *prof, char *to, size_t cap)
{
    uint32_t skip = fuzz_pick(f, 4);
    for (uint32_t i = 0; i < dp_subs_count(&prof->subs); i++) {
        const struct dp_name *name = dp_subs_text(&prof->subs, prof->subs.subs[i].name);
        if (!prof->subs.subs[i].phase || name->len >= cap || skip-- > 0)
            continue;
        memcpy(to, name->ptr, name->len);
        to[name->len] = '\0';
        return to;
    }
    return "p";
}

/* Takes a part of a profile, or all of it as a baseline does. */
void fuzz_take(struct fuzz *f)
{
    static const struct dp_base bases[] = {
        { "/w/", "", 3, 0 }, { "/w/lib/", "L/", 7, 2 }, { "lib/", "", 4, 0 }, { "/u", "no", 2, 2 }
    };
    struct dp_prof *from = fuzz_read(f, f->size, FUZZ_DETAIL | FUZZ_PHASES), *part = empty(true);
    struct dp_take what = { NULL, NULL, bases, fuzz_pick(f, 5) };
    char phase[100], message[240] = "";
    if (GOOD(f, from && part)) {
        size_t len;
        if (fuzz_flip(f))
            what.phase = phase_of(f, from, phase, sizeof phase);
        if (what.phase && fuzz_flip(f))
            what.below = fuzz_label(f, from, 0, &len);
        int rc = dp_prof_take(part, from, &what, message);
        GOOD(f, rc == 0 || (what.phase && rc == DP_E_ARG && *message));
        if (rc == 0) {
            if (!what.phase && !f->starved)
                CHECK(dp_prof_calls(part) == dp_prof_calls(from)
                      && dp_prof_total(part, DP_T_REAL) == dp_prof_total(from, DP_T_REAL));
            round_trip(f, part, true);
        }
    }
    dp_prof_free(from);
    dp_prof_free(part);
}
