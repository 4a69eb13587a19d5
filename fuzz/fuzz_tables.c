/* dprofpp's and dprofreport's views of any bytes. */
#include "fuzz.h"
#include "dp_flat.h"
#include "dp_render.h"
#include "dp_names.h"
#include "dp_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- dprofpp ---- */

static struct dp_classic classic(struct fuzz *f, const struct dp_prof *prof)
{
    static const size_t rows[] = { 1000000, 0, 1, 15 }, widths[] = { 80, 0, 1, 40 };
    struct dp_classic how = {
        .time = f->c.kind & 3, .order = (int)fuzz_pick(f, 5), .reverse = fuzz_flip(f),
        .inclusive = fuzz_flip(f),
        .no_header = fuzz_flip(f), .program = fuzz_flip(f), .human = fuzz_flip(f),
        .summed = fuzz_flip(f),
        .rows = rows[fuzz_pick(f, 4)], .width = widths[fuzz_pick(f, 4)], .only = -1,
    };
    size_t len;
    if (f->c.kind & 4 && dp_prof_counter(prof, 0, &len)) {
        how.counter = 1;
        how.counter_label = "x";
    }
    return how;
}

static void sums(struct fuzz *f, const struct dp_prof *prof, struct dp_names *names)
{
    int time = f->c.kind & 3;
    struct dp_classic how = { .only = -1, .rows = 1000000, .time = time, .program = 1 };
    struct dp_flat flat;
    int rc = dp_flat_make(&flat, prof, names, &how);
    if (!GOOD(f, rc == 0))
        return;
    uint64_t sum = 0;
    for (size_t i = 0; i < flat.count; i++) {
        CHECK(flat.rows[i].incl >= flat.rows[i].self);
        CHECK(flat.rows[i].incl <= flat.total);
        sum += flat.rows[i].self;
    }
    CHECK(sum == flat.total && sum == dp_prof_total(prof, time));
    dp_flat_release(&flat);
}

static void table(struct fuzz *f, bool merged)
{
    struct dp_host host = fuzz_host(f);
    struct dp_prof *prof = fuzz_read(f, f->size, 0);
    struct dp_names *names = prof ? dp_names_new(prof, fuzz_pick(f, 8)) : NULL;
    if (GOOD(f, names)) {
        struct dp_classic how = classic(f, prof);
        size_t n = dp_names_count(names);
        unsigned char *roles = fuzz_flip(f) ? malloc(n + 1) : NULL;
        for (size_t i = 0; roles && i < n; i++)
            roles[i] = (unsigned char)fuzz_pick(f, 4);
        how.roles = roles;
        if (roles && fuzz_flip(f)) {
            how.group = "g\x1b\n";
            how.group_len = 3;
        }
        if (merged && n && fuzz_flip(f))
            how.only = (long)fuzz_pick(f, (uint32_t)n);
        int rc = merged ? dp_classic_merged(prof, names, &how, &host)
                        : dp_classic_flat(prof, names, &how, &host);
        if (PRINTED(f, rc))
            fuzz_check_text(false);
        free(roles);
        if (!merged)
            sums(f, prof, names);
    }
    dp_names_free(names);
    dp_prof_free(prof);
}

void fuzz_flat(struct fuzz *f) { table(f, false); }
void fuzz_merged(struct fuzz *f) { table(f, true); }

void fuzz_trace(struct fuzz *f)
{
    struct dp_host host = fuzz_host(f);
    struct dp_trace_how how = {
        .fold = f->c.kind & 1, .phases = f->c.kind >> 1 & 1, .force = f->c.reading & 1,
        .label_flags = fuzz_pick(f, 8),
        .only = f->c.kind & 4 ? "main::foo" : NULL, .only_len = 9,
    };
    struct dp_trace *trace = dp_trace_new(&how, &host);
    if (!GOOD(f, trace))
        return;
    struct dp_outcome o;
    int rc = dp_trace_add_mem(trace, "fuzz", f->data, f->size);
    dp_trace_outcome(trace, &o);
    CHECK(o.code == rc || f->starved);
    fuzz_check_text(false);
    dp_trace_free(trace);
}

/* The path of the input as a file without a name. NULL if the system has no such files. */
static const char *as_file(const struct fuzz *f)
{
    static char path[40];
    static int fd = -1;
    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)f->size) < 0
        || pwrite(fd, f->data, f->size, 0) != (ssize_t)f->size)
        return NULL;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path;
}

void fuzz_dump(struct fuzz *f)
{
    struct dp_host host = fuzz_host(f);
    const char *path = as_file(f);
    char message[240];
    if (!path)
        return;
    int rc = dp_dump(path, &host, message);
    CHECK(rc == 0 || rc == DP_E_TRUNCATED || rc == DP_E_IO || f->starved);
    fuzz_check_text(false);
}

/* Reads files by path, alone and several at once, and reads every fact about a file. */
void fuzz_files(struct fuzz *f)
{
    const char *path = as_file(f);
    struct dp_prof *profs[2] = { dp_prof_new(), dp_prof_new() };
    if (path && GOOD(f, profs[0] && profs[1])) {
        struct dp_read_job jobs[3] = { { profs[0], path, f->c.reading & 1 },
                                       { profs[0], path, 1 },
                                       { profs[1], path, 0 } };
        struct dp_host host = fuzz_host(f);
        if (f->c.kind & 1) {
            dp_prof_add_header(profs[0], path);
        } else if (f->c.kind & 2) {
            dp_prof_add_all(jobs, 3, 2, &host);
            CHECK(dp_prof_files(profs[1]) == 1 || f->starved);
        } else {
            dp_prof_add(profs[0], path, f->c.reading & 1, &host);
        }
        for (size_t i = 0; i < dp_prof_files(profs[0]); i++) {
            struct dp_outcome o;
            const char *name, *value;
            size_t len;
            dp_prof_outcome(profs[0], i, &o);
            CHECK(o.message && (o.code == 0) == !*o.message);
            CHECK(o.fault_count == 0 || o.code);
            struct dp_sub_info info;
            for (size_t k = 0; k < o.open_listed; k++)
                CHECK(dp_prof_sub(profs[0], o.open_subs[k], &info));
            for (size_t k = 0; k < 2 * o.odd_pairs; k++)
                CHECK(o.odd[k] == UINT32_MAX || dp_prof_sub(profs[0], o.odd[k], &info));
            for (size_t k = 0; dp_prof_var(profs[0], i, k, &name, &value, &len); k++)
                CHECK(*name && value && value[len] == '\0');
        }
        dp_prof_contexts(profs[0]);
        dp_prof_counters_differ(profs[0]);
    }
    dp_prof_free(profs[0]);
    dp_prof_free(profs[1]);
}

/* ---- dprofreport ---- */

static const char *const separators[] = { NULL, "", ",", "\t", "|", ";x", " ", "::" };

/* Flags of all subs, and of the program outside of them. */
static unsigned char *flags_of(struct fuzz *f, const struct dp_prof *prof)
{
    size_t n = dp_subs_count(&prof->subs) + 1;
    unsigned char *flags = malloc(n);
    for (size_t i = 0; flags && i < n; i++)
        flags[i] = (unsigned char)(DP_F_SHOWN | fuzz_pick(f, 8));
    return flags;
}

static void over(struct fuzz *f, struct dp_report_how *how)
{
    static const size_t stacks[] = { 0, 0, 1, 3 };
    how->label_flags = fuzz_pick(f, 8);
    how->n_keys = 1;
    how->keys[0] = DP_K_SUB;
    if (fuzz_flip(f)) {
        uint32_t mask = fuzz_pick(f, 256) | fuzz_pick(f, 2) << 8;
        how->n_keys = 0;
        for (int k = 0; k < dp_key_count && how->n_keys < 4; k++)
            if (mask >> k & 1)
                how->keys[how->n_keys++] = k;
        if (!how->n_keys)
            how->keys[how->n_keys++] = DP_K_SRCLINE;
    }
    how->max_stack = stacks[fuzz_pick(f, 4)];
    how->relative = fuzz_flip(f);
    how->no_children = fuzz_flip(f);
}

static bool has_key(const struct dp_report_how *how, enum dp_key key)
{
    for (size_t i = 0; i < how->n_keys; i++)
        if (how->keys[i] == key)
            return true;
    return false;
}

static void report(struct fuzz *f, bool edges)
{
    static const double limits[] = { 0, 0, 0.5, 50 };
    static const size_t rows[] = { 0, 0, 1, 5 }, frames[] = { 0, 0, 1, 4 };
    static const struct dp_report_fact fact = { "Command", "command", "x\x1b[31m\n\"<&|\xff", 12 };
    struct dp_report how = { .format = f->c.kind % 5, .title = "t<&\x1b" };
    struct dp_host host = fuzz_host(f);
    unsigned what = 0;
    if (!edges)
        over(f, &how.over);
    else
        how.over.n_keys = 1;
    how.histogram = !edges && fuzz_pick(f, 4) == 0;
    if (has_key(&how.over, DP_K_PHASE))
        what |= FUZZ_PHASES;
    if (how.histogram)
        what |= FUZZ_DETAIL;
    struct dp_prof *one = fuzz_read(f, f->size, what);
    struct dp_prof *two = fuzz_pick(f, 3) == 0 ? fuzz_read(f, f->size / 2, what) : NULL;
    if (!GOOD(f, one)) {
        dp_prof_free(two);
        return;
    }
    uint32_t mask = fuzz_pick(f, 1 << dp_field_count) | 1;
    for (int k = 0; k < dp_field_count; k++)
        if (mask >> k & 1)
            how.fields[how.n_fields++] = k;
    for (size_t k = 0; k < how.over.n_keys; k++)
        how.fields[how.n_fields++] = DP_FIELD_KEY + (int)k;
    how.percent_limit = limits[fuzz_pick(f, 4)];
    how.rows = rows[fuzz_pick(f, 4)];
    how.hierarchy = !edges && fuzz_flip(f);
    how.chain = !edges && fuzz_flip(f) ? (int)fuzz_pick(f, 5) : 0;
    how.chain_value = (int)fuzz_pick(f, 3);
    how.caller_order = fuzz_flip(f);
    how.threshold = limits[fuzz_pick(f, 4)];
    how.print_limit = frames[fuzz_pick(f, 4)];
    how.separator = separators[fuzz_pick(f, 8)];
    how.quiet = fuzz_pick(f, 4) == 0;
    how.colour = fuzz_pick(f, 4) == 0;
    how.facts = &fact;
    how.n_facts = fuzz_pick(f, 2);
    how.callees = fuzz_flip(f);
    f->several = two != NULL;
    struct dp_part sides[2] = { { .prof = one, .script = "a.pl", .pid = "7", .thread = "0" },
                                     { .prof = two, .script = "\xc3\xa4" } };
    how.over.metric = fuzz_metric(f, one, &sides[0].counter);
    if (two && (how.over.metric >= DP_M_COUNTER || dp_prof_hz(two) != dp_prof_hz(one))) {
        dp_prof_free(two);
        two = NULL;
    }
    unsigned char *flags = fuzz_pick(f, 3) == 0 ? flags_of(f, one) : NULL;
    sides[0].flags = flags;
    how.over.exclude_other = flags && fuzz_flip(f);
    struct dp_report_name wanted[2] = { { NULL, 0 }, { "a.pl:3", 6 } };
    if (edges)
        how.edges_of = fuzz_label(f, one, how.over.label_flags, &how.edges_of_len);
    if (edges && fuzz_flip(f)) {
        wanted[0] = (struct dp_report_name){ how.edges_of, how.edges_of_len };
        how.edges_of_lines = wanted;
        how.n_edges_of_lines = 2;
    }
    long rc = dp_report_print(sides, 1 + (two != NULL), &how, &host);
    bool separated = how.format == DP_TEXT && how.separator && *how.separator;
    if (!(edges && rc == DP_E_ARG) && PRINTED(f, rc)) {
        fuzz_check_format(how.format, how.colour, separated);
        CHECK(!how.rows || rc <= (long)how.rows || how.hierarchy);
    }
    free(flags);
    dp_prof_free(one);
    dp_prof_free(two);
}

void fuzz_report(struct fuzz *f) { report(f, false); }
void fuzz_edges(struct fuzz *f) { report(f, true); }
