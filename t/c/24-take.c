/* Parts of a profile are taken and written: a phase, the calls below a sub in it; paths that are
 * replaced; counters only; allocations that fail. */
#include "tap.h"
#include "dp_mem.h"
#include "dp_prof.h"

#include <string.h>

/* Two phases; p has frames that ran before (0 calls), the marker, a block, and a thread's sub. */
#define FILE_TEXT \
    "#fOrTyTwO\n$hz=100;\n$dprof_format='tree 1';\n" \
    "$dprof_run='r'; $dprof_pid=7; $dprof_script='/w/t/a.t'; " \
    "$dprof_perl='5.36.0'; $dprof_own_cpu=9;\n" \
    "$dprof_counters='ops:ops cycles:cycles svs:SVs';\n" \
    "$rrun_utime=0; $rrun_stime=0; $rrun_rtime=0;\nPART3\n" \
    "& 1 % p - kind=phase\n& 2 % q - kind=phase\n& 3 D mark - kind=xs\n" \
    "& 4 m a /w/lib/m.pm:1\n& 5 m b /usr/lib/n.pm:2\n& 6 m block /w/t/a.t:3\n" \
    "& 7 m outer /w/t/a.t:4\n& 8 m thread /w/t/a.t:5\n" \
    "= 0 0 1 1 1 1 0 0 1 1 1\n" \
    "= 1 1 1 2 2 2 0 0 2 2 2\n" \
    "= 2 7 0 3 3 3 0 0 3 3 3\n" \
    "= 3 3 1 4 4 4 0 0 4 4 4\n" \
    "= 4 6 1 5 5 5 9 9 5 5 5\n" \
    "= 5 4 2 6 6 6 8 1 6 6 6 at=/w/t/a.t:3\n" \
    "= 6 5 3 7 7 7 7 1 7 7 7\n" \
    "= 2 8 1 8 8 8 7 7 8 8 8\n" \
    "= 3 4 1 9 9 9 0 0 9 9 9\n" \
    "= 1 2 1 1 1 1 0 0 1 1 1\n" \
    "= 2 4 5 1 1 1 0 0 1 1 1\n" \
    "h 4 3:7\n"

static struct dp_buf out;

static int collect(void *ctx, const void *ptr, size_t len)
{
    dp_buf_add(ctx, ptr, len);
    return 0;
}

static const struct dp_base bases[] = {
    { "/w/", "", 3, 0 }, { "/w/lib/", "L/", 7, 2 }, { "/usr/lib/", "", 9, 0 }, { "/u", "no", 2, 2 }
};

static struct dp_prof *empty(void)
{
    struct dp_prof *prof = dp_prof_new();
    if (prof) {
        dp_prof_detail(prof);
        dp_prof_phases(prof);
    }
    return prof;
}

/* Takes a part of the file, and writes it. Returns the code; out has the text. */
static int part(const struct dp_take *what, int kind)
{
    static const char *const repeat[] = { "ops", "svs" };
    struct dp_write_how how = { .version = "x", .kind = kind, .counters = repeat, .n_counters = 2 };
    struct dp_host host = { &out, collect, NULL };
    struct dp_prof *from = empty(), *to = empty();
    char message[240];
    dp_buf_clear(&out);
    int rc = from && to ? dp_prof_add_mem(from, "t", FILE_TEXT, sizeof FILE_TEXT - 1, 0)
                        : DP_E_NOMEM;
    if (rc == 0)
        rc = dp_prof_take(to, from, what, message);
    if (rc == 0)
        rc = dp_prof_write(to, &how, &host);
    if (rc == 0 && out.err)
        rc = out.err;
    dp_prof_free(from);
    dp_prof_free(to);
    return rc;
}

static const char *lines(const struct dp_take *what, int kind)
{
    int rc = part(what, kind);
    if (rc < 0)
        return rc == DP_E_ARG ? "refused" : "failed";
    /* 31-whole.c tries the last line */
    char *text = (char *)(uintptr_t)dp_buf_cstr(&out), *at = strstr(text, "PART3\n"),
         *end = strstr(text, "\n# end lines=");
    if (!at || !end)
        return "no PART3, or no end";
    end[1] = '\0';
    return at + 6;
}

static bool has(const char *word) { return strstr(dp_buf_cstr(&out), word) != NULL; }

static void phases(void)
{
    static const struct dp_take block = { "p", "D::mark", NULL, 0 };
    is_s(lines(&block, DP_WRITE_ALL),
         "& 1 m a /w/lib/m.pm:1\n& 2 m b /usr/lib/n.pm:2\n& 3 m thread /w/t/a.t:5\n"
         "= 0 0 1 5 5 5 9 9 5 5 5\n"
         "= 1 1 2 6 6 6 8 1 6 6 6 at=/w/t/a.t:3\n"
         "= 2 2 3 7 7 7 7 1 7 7 7\n"
         "= 1 3 1 8 8 8 7 7 8 8 8\n"
         "= 2 1 1 9 9 9 0 0 9 9 9\n", "what is below a sub in a phase is taken");
    ok(has("$rrun_utime=35; $rrun_stime=35; $rrun_rtime=35;"), "totals are those of the part");
    ok(!has("own_cpu"), "times of the process are left out");
    static const struct dp_take whole = { "q", NULL, NULL, 0 };
    is_s(lines(&whole, DP_WRITE_ALL),
         "& 1 m a /w/lib/m.pm:1\n= 0 0 1 1 1 1 0 0 1 1 1\n= 1 1 5 1 1 1 0 0 1 1 1\n",
                 "a phase is taken");
    static const struct dp_take none = { "x", NULL, NULL, 0 },
                                nothing = { "q", "D::mark", NULL, 0 };
    is_s(lines(&none, DP_WRITE_ALL), "refused", "an unknown phase is refused");
    is_s(lines(&nothing, DP_WRITE_ALL),
         "& 1 m a /w/lib/m.pm:1\n= 0 0 0 0 0 0 0 0 0 0 0\n= 1 1 5 1 1 1 0 0 1 1 1\n",
         "a phase without the sub has what was called before");
}

static void paths(void)
{
    static const struct dp_take what = { NULL, NULL, bases, 4 };
    const char *text = lines(&what, DP_WRITE_ALL);
    ok(strstr(text, "m a L/m.pm:1\n") != NULL, "the longest prefix of a path counts");
    ok(strstr(text, "m b n.pm:2\n") != NULL, "another prefix is replaced");
    ok(strstr(text, " at=t/a.t:3\n") != NULL, "places of calls are replaced");
    ok(has("$dprof_script='t/a.t';"), "the path of the script is replaced");
    ok(has("$dprof_pid=7;") && has("$XS_VERSION='DProf x';"), "the header has process and version");
    ok(strstr(text, "h ") != NULL, "histograms are written");
}

static void kinds(void)
{
    static const struct dp_take what = { NULL, NULL, bases, 4 };
    const char *text = lines(&what, DP_WRITE_BASELINE);
    ok(strstr(text, "= 2 4 1 8 8 8 7 7") == NULL && strstr(text, " 7 7 7 7 1 7 ") != NULL,
       "a baseline has times");
    ok(!has("dprof_pid") && !has("dprof_run") && !has("XS_VERSION") && has("$dprof_own_cpu=9;"),
       "a baseline has no process and no run");
    text = lines(&what, DP_WRITE_COUNTERS);
    ok(has("$dprof_counters='ops:ops svs:SVs';\n"), "counters only: those that repeat are kept");
    ok(has("$dprof_counters_only=1;\n") && has("$hz=10000000;\n") && has("$rrun_utime=0;"),
       "counters only: the header has no times");
    ok(strstr(text, " 3 0 0 0 0 0 7 7\n") != NULL, "counters only: no line has times");
    ok(strstr(text, "\nh ") == NULL && !has("own_cpu"), "counters only: there are no histograms");
}

static void no_memory(const char *name, const struct dp_take *what)
{
    struct dp_buf whole;
    dp_buf_init(&whole);
    part(what, DP_WRITE_COUNTERS);
    dp_buf_add(&whole, out.ptr, out.len);
    dp_buf_release(&out);
    long n = 0, before = dp_mem_live();
    int rc = DP_E_NOMEM;
    bool clean = true, same = false;
    for (; n < 2000 && rc == DP_E_NOMEM; n++) {
        dp_mem_fail_after(n);
        rc = part(what, DP_WRITE_COUNTERS);
        dp_mem_fail_after(-1);
        same = rc == 0 && out.len == whole.len && memcmp(out.ptr, whole.ptr, out.len) == 0;
        dp_buf_release(&out);
        clean = clean && dp_mem_live() == before;
    }
    ok(rc == 0 && n > 10, "%s: every allocation failed once (%ld)", name, n);
    ok(same, "a successful part is whole");
    ok(clean, "no failure leaks");
    dp_buf_release(&whole);
}

int main(void)
{
    dp_buf_init(&out);
    phases();
    paths();
    kinds();
    no_memory("a phase", &(struct dp_take){ "p", "D::mark", bases, 4 });
    no_memory("all", &(struct dp_take){ NULL, NULL, bases, 4 });
    dp_buf_release(&out);
    is_i(dp_mem_live(), 0, "no memory is left");
    return tap_done();
}
