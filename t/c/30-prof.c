/* The model: sums, recursion, depth, several files, packed contexts, and allocations that fail. */
#include "tap.h"
#include "dp_buf.h"
#include "dp_flat.h"
#include "dp_mem.h"
#include "dp_prof.h"
#include "dp_prof_pack.h"
#include "dp_names.h"
#include "dprof/trace.h"

#include <stdlib.h>

#define RRUN "$rrun_utime=0; $rrun_stime=0; $rrun_rtime=0;\n"
#define HEAD "#fOrTyTwO\n$hz=100;\n" RRUN "PART2\n"

static struct dp_row rows[64];
static long n_rows;

static struct dp_prof *of(const char *text)
{
    struct dp_prof *prof = dp_prof_new();
    dp_prof_add_mem(prof, "t", text, strlen(text), 0);
    return prof;
}

/* Fills rows, by real time. */
static void flat(const struct dp_prof *prof, const char *only)
{
    struct dp_classic how;
    memset(&how, 0, sizeof how);
    how.time = DP_T_REAL;
    how.order = DP_UNSORTED;
    how.program = 1;
    how.rows = 64;
    struct dp_names *names = dp_names_new(prof, 0);
    how.only = only ? dp_names_find(names, only, strlen(only)) : -1;
    n_rows = dp_flat_rows(prof, names, &how, rows, 64);
    dp_names_free(names);
}

static void recursion(void)
{
    struct dp_prof *prof = of(
        HEAD "& 2 m a\n& 3 m b\n@ 0 0 1\n+ 2\n@ 0 0 10\n+ 3\n@ 0 0 100\n+ 2\n@ 0 0 1000\n"
             "- 2\n- 3\n@ 0 0 10000\n- 2\n@ 0 0 100000\n");
    flat(prof, NULL);
    is_i(n_rows, 3, "there are two subs and the program");
    is_u(rows[0].incl, 111111, "the program's inclusive time is the total");
    is_u(rows[0].self, 100001, "the program's own time is that of no sub");
    is_u(rows[1].calls, 2, "a was called twice");
    is_u(rows[1].self, 11010, "a's own");
    is_u(rows[1].incl, 11110, "a's inclusive, once");
    is_u(rows[2].incl, 1100, "b's inclusive time is right");
    is_u(dp_prof_total(prof, DP_T_REAL), 111111, "the total is right");
    flat(prof, "m::b");
    is_u(rows[0].self + rows[1].self, 1100, "-g keeps b and what it called");
    is_i(n_rows, 2, "-g keeps nothing else");
    dp_prof_free(prof);
}

static void jumps(void)
{
    struct dp_prof *prof = of(HEAD "& 2 m a\n& 3 m b\n& 4 m c\n+ 4\n@ 0 0 1\n+ 2\n@ 0 0 10\n* 3\n@"
                                   " 0 0 100\n- 2\n@ 0 0 1000\n- 4\n");
    struct dp_outcome o;
    flat(prof, NULL);
    dp_prof_outcome(prof, 0, &o);
    is_i(o.code, 0, "goto is no error");
    is_u(o.odd_pairs, 0, "the exit after goto is no odd pair");
    is_u(rows[2].incl, 10, "a had the time before the goto");
    is_u(rows[3].incl, 100, "b has the time after the goto");
    is_u(rows[1].incl, 1111, "c has all of the time");
    is_u(o.open_count, 0, "nothing is left open");
    dp_prof_free(prof);
    prof = of(HEAD "& 2 m a\n& 3 m b\n+ 2\n+ 3\n- 2\n- 2\n- 2\n+ 2\n");
    dp_prof_outcome(prof, 0, &o);
    is_u(o.odd_pairs, 1, "an exit that names another sub is counted");
    is_i(o.code, DP_E_SYNTAX, "an exit too many is an error");
    is_u(o.line, 11, "the error has its line");
    ok(strstr(o.message, "missing an enter time stamp") != NULL, "the error has its text");
    dp_prof_free(prof);
    prof = dp_prof_new();
    const char *text = HEAD "& 2 m a\n- 2\n+ 2\n+ 2\n";
    is_i(dp_prof_add_mem(prof, "t", text, strlen(text), DP_FORCE), 0, "forced");
    dp_prof_outcome(prof, 0, &o);
    is_u(o.open_count, 2, "two calls are left open");
    is_u(o.open_listed, 2, "the open calls are listed");
    dp_prof_free(prof);
}

static void costs(void)
{
    /* A pair costs 3 ticks: 1.5 a mark, 1 and 2 in turn; never more than there is. */
    struct dp_prof *prof = of(
        "#fOrTyTwO\n$hz=100;\n$over_utime=0;$over_stime=0;$over_rtime=30;$over_tests=10;\n"
        "$rrun_utime=0;$rrun_stime=0;$rrun_rtime=116;\nPART2\n"
        "& 2 m a\n@ 0 0 10\n+ 2\n@ 0 0 1\n- 2\n+ 2\n@ 0 0 100\n- 2\n");
    flat(prof, NULL);
    is_u(rows[1].self, 0 + 98, "the sub's time is without overhead: 1-1 and 100-2");
    is_u(rows[0].self, 9 + 5, "the program's time is 10-1, and 5 that the header has");
    is_u(dp_prof_total(prof, DP_T_REAL), 112, "the total is the sum");
    dp_prof_free(prof);
}

static void several(void)
{
    struct dp_prof *prof = of(HEAD "& 2 m a\n@ 0 0 1\n+ 2\n@ 0 0 3\n- 2\n");
    const char *fine = "#fOrTyTwO\n$hz=150;\n" RRUN "PART2\n& 9 m a\n@ 0 0 1\n+ 9\n@ 0 0 5\n- 9\n";
    is_i(dp_prof_add_mem(prof, "u", fine, strlen(fine), 0), 0, "a second file is added");
    is_u(dp_prof_hz(prof), 300, "the rate is a common multiple");
    flat(prof, NULL);
    is_i(n_rows, 2, "the same sub of two files is one row");
    is_u(rows[1].self, 3 * 3 + 5 * 2, "sums of two rates are exact");
    is_u(rows[1].calls, 2, "calls");
    is_u(rows[0].self, 3 + 2, "the program's own times add up");
    is_u(rows[0].calls, 2, "the program counts once for each file");
    const char *odd = "#fOrTyTwO\n$hz=999999999989;\n" RRUN "PART2\n";
    is_i(dp_prof_add_mem(prof, "v", odd, strlen(odd), 0), DP_E_LIMIT,
            "a rate without a common multiple is refused");
    is_u(dp_prof_hz(prof), 300, "a refused file does not change the rate");
    dp_prof_free(prof);
}

static void inherited(void)
{
    struct dp_prof *prof = of("#fOrTyTwO\n$hz=100;\n$dprof_inherited=2;\n" RRUN
                              "PART2\n& 2 m a\n+ 2\n+ 2\n+ 2\n@ 0 0 7\n- 2\n- 2\n- 2\n");
    flat(prof, NULL);
    is_u(rows[1].calls, 1, "frames of the parent are no calls");
    is_u(rows[1].incl, 7, "frames of the parent have their time");
    dp_prof_free(prof);
}

static void deep(void)
{
    enum { N = 1000000 };
    size_t cap = (size_t)N * 20 + 200, n = 0;
    char *text = malloc(cap);
    n += (size_t)sprintf(text, "%s& 2 m a\n", HEAD);
    for (int i = 0; i < N; i++)
        n += (size_t)sprintf(text + n, "@ 0 0 1\n+ 2\n");
    for (int i = 0; i < N; i++)
        n += (size_t)sprintf(text + n, "- 2\n");
    struct dp_prof *prof = dp_prof_new();
    is_i(dp_prof_add_mem(prof, "deep", text, n, 0), 0, "a stack a million deep is read");
    flat(prof, NULL);
    is_u(rows[1].calls, N, "deep calls are counted");
    is_u(rows[1].incl, N - 1, "deep inclusive time is right");
    is_u(dp_prof_contexts(prof), N + 1, "contexts");
    dp_prof_free(prof);
    /* Endless recursion ends at the limit, and so does what comes before it. */
    struct dp_trace_how how = { .fold = 0 };
    (void)how;
    free(text);
}

static int swallow(void *ctx, const void *ptr, size_t len)
{
    (void)ptr;
    *(size_t *)ctx += len;
    return 0;
}

/* Does everything once. Returns whether memory sufficed. */
static bool everything(const char *text, size_t len)
{
    size_t bytes = 0;
    struct dp_host host = { &bytes, swallow, NULL };
    struct dp_classic how;
    memset(&how, 0, sizeof how);
    how.only = -1;
    how.rows = 100;
    bool good = false;
    struct dp_names *names = NULL;
    struct dp_trace *trace = NULL;
    struct dp_trace_how t = { .fold = 1, .label_flags = 3, .only = "main::run", .only_len = 9 };
    struct dp_prof *prof = dp_prof_new();
    if (!prof)
        return false;
    int rc = dp_prof_add_mem(prof, "t", text, len, 0);
    if (rc == DP_E_NOMEM)
        goto out;
    if (!(names = dp_names_new(prof, 3)))
        goto out;
    if (dp_classic_flat(prof, names, &how, &host) < 0
        || dp_classic_merged(prof, names, &how, &host) < 0)
        goto out;
    if (!(trace = dp_trace_new(&t, &host)) || dp_trace_add_mem(trace, "t", text, len) == DP_E_NOMEM)
        goto out;
    good = rc == 0;
out:
    dp_trace_free(trace);
    dp_names_free(names);
    dp_prof_free(prof);
    return good;
}

static void no_memory(const char *path)
{
    static char text[1 << 16];
    FILE *in = fopen(path, "rb");
    size_t len = in ? fread(text, 1, sizeof text, in) : 0;
    if (in)
        fclose(in);
    long n = 0;
    bool good = false, clean = true;
    for (; n < 2000 && !good; n++) {
        dp_mem_fail_after(n);
        good = everything(text, len);
        dp_mem_fail_after(-1);
        clean = clean && dp_mem_live() == 0;
    }
    ok(len > 0 && good && n > 20, "%s: every allocation failed once (%ld)", path, n);
    ok(clean, "no failure leaks");
}

/* A file may have no outcome: a call that reads several files says so. */
static void no_outcome(void)
{
    struct dp_prof *prof = dp_prof_new();
    struct dp_read_job jobs[2] = { { prof, "/nowhere/1", 0 }, { prof, "/nowhere/2", 0 } };
    dp_mem_fail_after(0);
    int rc = dp_prof_add_all(jobs, 2, 1, NULL);
    dp_mem_fail_after(-1);
    is_i(rc, DP_E_NOMEM, "a file without memory for its outcome is an error");
    is_u(dp_prof_files(prof), 1, "the other file has its outcome");
    is_i(dp_prof_add_all(jobs, 1, 1, NULL), 0,
            "an error that an outcome has is not returned again");
    dp_prof_free(prof);
}

/* ---- packed contexts ---- */

static int append(void *ctx, const void *ptr, size_t len)
{
    dp_buf_add(ctx, ptr, len);
    return 0;
}

/* The tree of a profile, as text; the caller releases it. */
static struct dp_buf tree_of(const struct dp_prof *prof)
{
    struct dp_buf text;
    struct dp_host host = { &text, append, NULL };
    struct dp_write_how how;
    memset(&how, 0, sizeof how);
    how.version = "1";
    dp_buf_init(&text);
    dp_prof_write(prof, &how, &host);
    return text;
}

static bool same_tree(const struct dp_prof *a, const struct dp_prof *b)
{
    struct dp_buf x = tree_of(a), y = tree_of(b);
    bool same = x.len > 0 && x.len == y.len && memcmp(x.ptr, y.ptr, x.len) == 0;
    dp_buf_release(&x);
    dp_buf_release(&y);
    return same;
}

static struct dp_prof *of_file(const char *path)
{
    struct dp_prof *prof = dp_prof_new();
    dp_prof_detail(prof);
    dp_prof_add(prof, path, 0, NULL);
    return prof;
}

static void packed(const char *path, const char *further)
{
    struct dp_prof *prof = of_file(path), *own = of_file(path), copy;
    size_t subs = dp_subs_count(&own->subs);
    is_i(dp_prof_pack(own), 0, "%s: packed", path);
    ok(own->packed && !own->nodes && dp_prof_contexts(own) == dp_prof_contexts(prof)
           && dp_subs_count(&own->subs) == subs, "its contexts are, and still counted");
    is_i(dp_prof_unpacked(&copy, own), 0, "there is a copy");
    bool same = true;
    for (uint32_t n = 0; n < copy.count; n++) {
        copy.nodes[n].hint = prof->nodes[n].hint;       /* only of use while a file is read */
        copy.nodes[n].succ = prof->nodes[n].succ;
        struct dp_extra x = dp_prof_extra(prof, n), y = dp_prof_extra(&copy, n);
        same = same && x.longest == y.longest && x.shortest == y.shortest && x.folded == y.folded;
        for (size_t k = 0; k < prof->n_counters; k++)
            same = same && dp_prof_count(prof, n, k) == dp_prof_count(&copy, n, k);
    }
    ok(same && memcmp(copy.nodes, prof->nodes, copy.count * sizeof *copy.nodes) == 0,
       "whose contexts are the same");
    dp_prof_release_unpacked(&copy);
    is_i(dp_prof_unpack(own), 0, "unpacked");
    ok(!own->packed && same_tree(prof, own), "it is what it was");
    dp_prof_add(prof, further, 0, NULL);
    dp_prof_add(own, further, 0, NULL);
    ok(same_tree(prof, own), "and takes further files as before");
    dp_prof_free(prof);
    dp_prof_free(own);
}

/* Whatever fails, the profile is as it was, packed or not. */
static void packed_no_memory(const char *path)
{
    struct dp_prof *prof = of_file(path), *own = of_file(path);
    bool states = true;
    int n, rc = -1;
    for (n = 0; rc < 0 && n < 100; n++) {
        dp_mem_fail_after(n);
        rc = dp_prof_pack(own);
        states = states && !own->packed == (rc < 0);
    }
    for (rc = -1, n = 0; rc < 0 && n < 1000; n++) {
        dp_mem_fail_after(n);
        rc = dp_prof_unpack(own);
        states = states && !own->packed == (rc == 0);
    }
    dp_mem_fail_after(-1);
    ok(rc == 0 && n > 5 && states, "%s: packed and unpacked when memory is there again", path);
    ok(same_tree(prof, own), "and the profile is the same");
    dp_prof_free(prof);
    dp_prof_free(own);
}

int main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    recursion();
    jumps();
    costs();
    several();
    no_outcome();
    inherited();
    deep();
    packed("../t/corpus/tree", "../t/corpus/ours");
    packed("../t/corpus/counters", "../t/corpus/counters");
    packed("../t/corpus/spans", "../t/corpus/spans");
    packed("../t/data/shop-new.out", "../t/data/shop-old.out");
    packed("../t/corpus/folded", "../t/corpus/folded");
    packed_no_memory("../t/data/shop-new.out");
    no_memory("../t/data/ours.out");
    no_memory("../t/corpus/ours.gz");
    no_memory("../t/corpus/spans");
    is_i(dp_mem_live(), 0, "no memory is left");
    return tap_done();
}
