/* Any bytes as a profile: one view of it, which the input picks itself. Nothing may crash, leak or
 * go out of bounds, and the output must be consistent. The fuzzer, the mutator and the replay share
 * this file. */
#include "fuzz.h"
#include "dp_mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#  include <malloc.h>
#endif

/* Words for fuzz/mutate.c. */
extern const char *const fuzz_words[];
const char *const fuzz_words[] = {
    "+ ", "- ", "* ", "/ ", "@ ", "& ", "\n", "\r\n", "+ & Devel::DProf::write\n",
    "18446744073709551615", "4503599627370495",
    "$hz=", "PART2\n", "'", "%", "ffffffffffffffff", "__ANON__", "#", "= ", "h ", "PART3\n",
    "at=x:1", "folded=9", " 0",
    "$dprof_counters='ops:ops';", ";", " 12\n", ".5\n", " 0.0000001\n", "(program)", "%3B", " -1",
    "a;b;c 3\n",
    "$dprof_unit='samples';", " kind=phase", " % p - kind=phase\n", " kind=xs", " kind=builtin",
    " autoload=x", " in=x", " seq=2",
    "BEGIN", "\x1b[31m", "%1B", "\xc2\x9b", "\xe2\x80\xae", "<", "&", "\"", ",", "|", "]]>", "\\",
    "main::", NULL
};

static const struct {
    const char *name;
    void (*look)(struct fuzz *f);
    unsigned ways;              /* in which fuzz_all shows an input */
} views[] = {
    { "flat", fuzz_flat, 8 }, { "merged", fuzz_merged, 6 }, { "trace", fuzz_trace, 8 },
    { "dump", fuzz_dump, 1 },
    { "report", fuzz_report, 20 }, { "edges", fuzz_edges, 10 },
    { "diff", fuzz_diff, 16 }, { "diff-same", fuzz_diff_same, 16 },
    { "diff-tree", fuzz_diff_tree, 15 }, { "gate", fuzz_gate, 16 },
    { "labels", fuzz_labels, 4 },
    { "fold", fuzz_fold, 8 }, { "export", fuzz_export, 8 }, { "chrome", fuzz_calls, 8 },
    { "stacks", fuzz_stacks, 8 },
    { "svg", fuzz_svg, 12 }, { "page", fuzz_page, 4 },
    { "chart", fuzz_chart, 8 }, { "layout", fuzz_layout, 8 },
    { "write", fuzz_write, 12 }, { "merge", fuzz_merge, 6 }, { "take", fuzz_take, 12 },
    { "files", fuzz_files, 4 }, { "lines", fuzz_lines, 8 },
};
enum { VIEWS = sizeof views / sizeof *views };

/* The input that is being shown, for messages. */
static const struct fuzz *now;

static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint32_t fuzz_pick(struct fuzz *f, uint32_t n)
{
    uint32_t of = f->asked < FUZZ_MORE ? f->c.more[f->asked++] : (uint32_t)(next(&f->state) >> 32);
    return of % n;
}

/* ---- what must hold ---- */

void fuzz_not_so(const char *what, const char *file, int line)
{
    fprintf(stderr, "not so: %s (%s:%d), view %s, choice", what, file, line,
            now ? now->name : "none");
    for (size_t i = 0; now && i < sizeof now->c; i++)
        fprintf(stderr, " %02x", ((const uint8_t *)&now->c)[i]);
    fprintf(stderr, "\n");
    if (getenv("FUZZ_SHOW")) {
        size_t len;
        const char *text = fuzz_printed_text(&len);
        fwrite(text, 1, len, stderr);
    }
    abort();
}

bool fuzz_good(const struct fuzz *f, bool so, const char *what, const char *file, int line)
{
    if (!so && !f->starved)
        fuzz_not_so(what, file, line);
    return so;
}

/* ---- profiles ---- */

/* Limits a profile to stretches of a trace's time. */
static void window(struct fuzz *f, struct dp_prof *prof, bool percent)
{
    static const double cuts[] = { 0, 1e-9, 0.001, 0.5, 1, 20, 50, 99.5, 100, 1e6, 1e18 };
    struct dp_range ranges[2];
    uint32_t at = fuzz_pick(f, 8), count = 1 + fuzz_pick(f, 2);
    for (uint32_t i = 0; i < count; i++, at++) {
        ranges[i] = (struct dp_range){ cuts[at], cuts[at + 1], percent };
        if (percent && cuts[at + 1] > 100)
            ranges[i].to = 100;
    }
    if (count > 1 && ranges[1].from >= ranges[1].to)
        count = 1;
    GOOD(f, dp_prof_window(prof, ranges, count) == 0);
}

struct dp_file_mem fuzz_mem(const struct fuzz *f, size_t size)
{
    const uint8_t *data = f->data;
    bool has_left = size > 4 && data[0] == '#' && f->c.reading < 0xc0;
    const uint8_t *nul = has_left ? memchr(data, 0, size - 1) : NULL;
    size_t text = nul ? (size_t)(nul - data) : size;
    return (struct dp_file_mem){ data, nul ? nul + 1 : NULL, text, nul ? size - text - 1 : 0 };
}

struct dp_prof *fuzz_read(struct fuzz *f, size_t size, unsigned what)
{
    static const char *const units[] = { "s", "ms", "us", "ns", "calls", "samples" };
    unsigned how = what & FUZZ_PLAIN ? 0 : f->c.reading >> 1 & 15;
    unsigned flags = size < f->size ? DP_FORCE : f->c.reading & 1;
    struct dp_prof *prof = dp_prof_new();
    if (!prof)
        return NULL;
    if (what & FUZZ_CHART)
        dp_prof_chart(prof, f->c.kind & 3);
    if (what & FUZZ_PAIRS)
        dp_prof_pairs(prof);
    if (what & FUZZ_DETAIL || how >= 14)
        dp_prof_detail(prof);
    if (what & FUZZ_PHASES || how == 7 || how == 8 || how == 12)
        dp_prof_phases(prof);
    if (how == 8 || how == 9)
        dp_prof_only_main(prof);
    if (how == 10 || how == 11 || how == 12)
        window(f, prof, how == 11);
    if (how == 13)
        CHECK(dp_prof_declare_unit(prof, units[(f->c.reading >> 5) % 6]) == 0);
    struct dp_file_mem mem = fuzz_mem(f, size);
    dp_prof_add_left(prof, "fuzz", &mem, flags);
    if (how == 6 && !(what & FUZZ_CHART))
        dp_prof_add_mem(prof, "again", mem.ptr, mem.len, flags);
    return prof;
}

const char *fuzz_label(struct fuzz *f, const struct dp_prof *prof, unsigned label_flags,
                       size_t *len)
{
    static char text[256];
    struct dp_names *names = dp_names_new(prof, label_flags);
    size_t n = names ? dp_names_count(names) : 0;
    uint32_t of = fuzz_pick(f, 256);
    const char *label = n && of ? dp_names_get(names, of % n, len) : NULL;
    if (!label || *len >= sizeof text)
        label = "x", *len = 1;
    memcpy(text, label, *len);
    text[*len] = '\0';
    dp_names_free(names);
    return text;
}

enum dp_metric fuzz_metric(struct fuzz *f, const struct dp_prof *prof, size_t *counter)
{
    uint32_t m = fuzz_pick(f, 8);
    size_t len;
    *counter = fuzz_pick(f, 3);
    if (m < DP_M_COUNTER)
        return (enum dp_metric)m;
    return dp_prof_counter(prof, *counter, &len) && !dp_prof_counter_lacks(prof, *counter)
               ? DP_M_COUNTER
               : DP_T_CPU;
}

/* ---- the choice ---- */

static void look(struct fuzz *f)
{
    size_t v = f->c.view % VIEWS;
    f->name = views[v].name;
    f->asked = 0;
    f->several = false;
    f->starved = f->c.starve < 16;
    memcpy(&f->state, f->c.more, sizeof f->state);
    now = f;
    /* number of allocations that succeed first: in all views those of reading come first */
    if (f->starved)
        dp_mem_fail_after((f->c.starve & 3) * 64 + f->c.more[FUZZ_MORE - 1]);
    views[v].look(f);
    dp_mem_fail_after(-1);
    CHECK(dp_mem_live() == 0);
    now = NULL;
}

static bool has_choice(const uint8_t *data, size_t n)
{
    size_t len = strlen(FUZZ_MARK) + sizeof(struct fuzz_choice);
    return n >= len && memcmp(data + n - len, FUZZ_MARK, strlen(FUZZ_MARK)) == 0;
}

static struct fuzz of(const uint8_t *data, size_t size)
{
    struct fuzz f = { .data = data, .size = size };
    if (has_choice(data, size)) {
        memcpy(&f.c, data + size - sizeof f.c, sizeof f.c);
        f.size -= strlen(FUZZ_MARK) + sizeof f.c;
        return f;
    }
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * UINT64_C(0x100000001b3);
    for (size_t i = 0; i < sizeof f.c; i++)
        ((uint8_t *)&f.c)[i] = (uint8_t)(next(&hash) >> 32);
    return f;
}

size_t fuzz_choose(uint8_t *data, size_t n, size_t max, uint64_t random)
{
    size_t mark = strlen(FUZZ_MARK), len = mark + sizeof(struct fuzz_choice);
    bool has = has_choice(data, n);
    if (!has && n + len > max)
        return n;
    if (!has) {
        memcpy(data + n, FUZZ_MARK, mark);
        n += len;
    }
    /* mostly one byte of the choice is changed, so that similar ways are tried */
    if (has && random & 3)
        data[n - 1 - (random >> 2) % sizeof(struct fuzz_choice)] = (uint8_t)(random >> 8);
    else
        for (size_t i = 0; i < sizeof(struct fuzz_choice); i++)
            data[n - 1 - i] = (uint8_t)(next(&random) >> 32);
    return n;
}

/* Sets up malloc once: large blocks, which every view needs, are kept and not given back to the
 * system each time. */
static void prepare(void)
{
    static bool done;
    if (done)
        return;
    done = true;
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 26);
    mallopt(M_TRIM_THRESHOLD, 1 << 28);
#endif
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz f = of(data, size);
    prepare();
    look(&f);
    return 0;
}

void fuzz_all(const uint8_t *data, size_t size)
{
    struct fuzz f = of(data, size);
    prepare();
    look(&f);                   /* the view that a fuzzer has seen */
    for (unsigned v = 0; v < VIEWS; v++)
        for (unsigned way = 0; way < views[v].ways; way++) {
            uint64_t state = way;
            /* the first two ways are the usual ones: without and with DP_FORCE */
            f.c = (struct fuzz_choice){ .view = (uint8_t)v, .kind = (uint8_t)way, .starve = 255 };
            for (size_t i = 0; i < FUZZ_MORE && way > 1; i++)
                f.c.more[i] = (uint8_t)(next(&state) >> 32);
            f.c.reading = (uint8_t)(way > 1 ? (next(&state) >> 32 & 0xfe) | (way & 1) : way);
            look(&f);
        }
}

#ifdef FUZZ_LIBFUZZER
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

/* Changes either the profile or the choice behind it. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    uint8_t choice[sizeof FUZZ_MARK - 1 + sizeof(struct fuzz_choice)];
    uint64_t random = seed;
    if (!has_choice(data, size) || next(&random) % 4 == 0)
        return fuzz_choose(data, size, max, next(&random));
    memcpy(choice, data + size - sizeof choice, sizeof choice);
    size = LLVMFuzzerMutate(data, size - sizeof choice, max - sizeof choice);
    memcpy(data + size, choice, sizeof choice);
    return size + sizeof choice;
}
#endif

/* Makes sanitizers cheaper: they keep little for their reports, as the input can be replayed. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=8:malloc_context_size=6:allocator_release_to_os_interval_ms=-1";
}
