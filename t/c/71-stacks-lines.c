/* Own values of stacks by line: what statements tell, what frames have beyond them, and sums that
 * are those of the frames, in profiles at random, too. The shares of single frames in these lines:
 * each frame has its own values, and each line what it has. */
#include "tap.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_prof.h"
#include "dp_stacks_lines.h"
#include "dp_stacks_apportion.h"

#include <stdlib.h>

static const char head[] =
    "#fOrTyTwO\n$hz=1000;\n$dprof_format='tree 1'; $dprof_counters='ops:ops'; $rrun_utime=1;"
    " $rrun_stime=0; $rrun_rtime=1; $dprof_lines='time';"
    " $dprof_script='a.pl';\n\nPART3\n";

static struct dp_prof *of(const char *text)
{
    static char all[1 << 18];
    int n = snprintf(all, sizeof all, "%s%s", head, text);
    struct dp_prof *prof = dp_prof_new();
    is_i(dp_prof_add_mem(prof, "memory", all, (size_t)n, 0), 0, "read");
    return prof;
}

static const size_t counters[2], ends[1] = { 1 }, two_ends[1] = { 2 };
static const struct dp_stacks_column columns[3] = { { DP_T_REAL, NULL }, { DP_M_COUNTER, counters },
                                                    { DP_M_CALLS, NULL } };

static struct dp_stacks_how plain(void)
{
    return (struct dp_stacks_how){ .columns = columns, .n_columns = 3, .by_sub = 1, .by_site = 1 };
}

/* The lines as text: "NAME FILE:LINE REAL OPS CALLS", one each. */
static const char *text_of(const struct dp_stacks *s, const struct dp_stacks_lines *l)
{
    static char text[4096];
    size_t at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < l->count; i++) {
        const struct dp_stacks_line *line = &l->lines[i];
        const struct dp_name *name = &s->names[line->name].text;
        at += (size_t)snprintf(text + at, sizeof text - at, "%.*s %.*s:%lu %lu %lu %lu\n",
                               (int)name->len, name->ptr, (int)line->file.len, line->file.ptr,
                               (unsigned long)line->line,
                               (unsigned long)dp_stacks_line_self(l, i, 0),
                               (unsigned long)dp_stacks_line_self(l, i, 1),
                               (unsigned long)dp_stacks_line_self(l, i, 2));
    }
    return text;
}

/* What phases and parts have is the program's. */
static uint32_t name_of(const struct dp_stacks *s, uint32_t frame)
{
    uint32_t name = s->frames[frame].name, program = 0;
    if (s->names[name].kind != DP_KIND_PHASE && s->names[name].kind != DP_KIND_PART)
        return name;
    while (s->names[program].kind != DP_KIND_PROGRAM)
        program++;
    return program;
}

/* Are the values of the lines of each name those of its frames, and the lines in order? */
static bool is_true(const struct dp_stacks *s, const struct dp_stacks_lines *l)
{
    uint64_t *sums = calloc(s->n_names * s->n_columns + 1, sizeof *sums);
    bool good = true;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t name = name_of(s, i);
        for (size_t c = 0; c < s->n_columns; c++)
            sums[name * s->n_columns + c] += dp_stacks_self(s, i, c);
    }
    for (size_t i = 0; i < l->count; i++) {
        const struct dp_stacks_line *a = &l->lines[i], *b = &l->lines[i - (i > 0)];
        int order = dp_name_compare(&b->file, &a->file);
        good = good && (!i || b->name < a->name
                        || (b->name == a->name && (order < 0 || (!order && b->line < a->line))));
        for (size_t c = 0; c < s->n_columns; c++)
            sums[a->name * s->n_columns + c] -= dp_stacks_line_self(l, i, c);
    }
    for (size_t k = 0; k < s->n_names * s->n_columns; k++)
        good = good && !sums[k];
    free(sums);
    return good;
}

/* Prepares shares. Returns 0 or a DP_E. */
static int spread_out(struct dp_stacks_apportion *w, const struct dp_stacks *s,
                      const struct dp_stacks_how *how)
{
    struct dp_stacks_ends stack_ends;
    uint32_t *depth = NULL;
    int rc = dp_stacks_depths(s, &depth, &stack_ends);
    rc = rc < 0 ? rc : dp_stacks_apportion_init(w, s, how, depth);
    dp_mem_free(depth);
    return rc;
}

/* Takes the shares of a frame off the values of the frame and its lines. */
static bool take_shares(struct dp_stacks_apportion *w, uint32_t frame, uint64_t *has,
                        uint64_t *lines)
{
    const struct dp_stacks *s = w->s;
    uint32_t name = name_of(s, frame);
    bool good = true;
    for (size_t n = dp_stacks_apportion_next(w, frame), k = 0; k < n; k++) {
        const struct dp_stacks_share *share = &w->shares[k];
        bool whole = share->line == DP_STACKS_NONE, any = false;
        good = good && (whole ? n == 1 : w->lines.lines[share->line].name == name);
        for (size_t c = 0; c < s->n_columns; c++) {
            any = any || share->self[c];
            has[c] -= share->self[c];
            if (!whole)
                lines[share->line * s->n_columns + c] -= share->self[c];
        }
        good = good && any;
    }
    return good;
}

/* Have frames their own values in their shares, and lines what they have? */
static bool is_spread(const struct dp_stacks *s, const struct dp_stacks_how *how, size_t *shared)
{
    struct dp_stacks_apportion w;
    size_t columns = s->n_columns;
    if (spread_out(&w, s, how) < 0 || !w.used)
        return false;
    size_t n = w.lines.count * columns;
    uint64_t *lines = calloc(n + 1, sizeof *lines), has[3];
    bool good = true;
    memcpy(lines, w.lines.self, n * sizeof *lines);
    for (uint32_t i = 0; i < s->count; i++) {
        memcpy(has, &s->self[i * columns], columns * sizeof *has);
        good = good && take_shares(&w, i, has, lines) && !has[0] && !has[1] && !has[2];
    }
    for (size_t i = 0; i < w.lines.count; i++)
        for (size_t c = 0; c < columns && !w.whole[w.lines.lines[i].name]; c++)
            good = good && !lines[i * columns + c];
    *shared += w.lines.count;
    free(lines);
    dp_stacks_apportion_release(&w);
    return good;
}

static void lines_are(struct dp_part *parts, size_t n_parts, const struct dp_stacks_how *how,
                      bool statements, const char *want, const char *what)
{
    struct dp_diff_side side = { "x", parts, n_parts > 1 ? two_ends : ends, 1, 0 };
    struct dp_stacks s;
    struct dp_stacks_lines l;
    is_i(dp_stacks_make(&s, &side, 1, how), 0, "%s: stacks", what);
    is_i(dp_stacks_lines_make(&l, &s, how, statements), 0, "lines");
    is_s(text_of(&s, &l), want, "%s", what);
    ok(is_true(&s, &l), "as much as the frames have");
    dp_stacks_lines_release(&l);
    dp_stacks_release(&s);
}

/* ---- the values of a line ---- */

/* f calls an XS sub on line 3, and g, which a file of another name has a line of. lib/B.pm is
 * loaded by f: what it has in no sub ran there. */
static const char subs[] = "& 1 A f lib/A.pm:1\n& 2 A g lib/A.pm:7\n& 3 X s - kind=xs\n"
                           "& 4 CORE open - kind=builtin\n";
static const char tree[] =
    "= 0 0 1 0 0 10 0 0 100\n"
    "= 1 1 2 0 0 60 0 0 600 at=a.pl:5\n"
    "= 2 2 3 0 0 20 0 0 200 at=lib/A.pm:3\n"
    "= 2 3 4 0 0 30 0 0 300 at=lib/A.pm:3\n"
    "= 2 3 1 0 0 5 0 0 50 at=lib/B.pm:2\n"
    "= 1 4 1 0 0 7 0 0 70 at=a.pl:6\n"
    "#f a.pl\n#l 5 0 1 0 0 6 60\n#l 6 0 1 0 0 9 90\n"
    "#f lib/A.pm\n#l 1 1 2 0 0 11 110\n#l 3 1 2 0 0 40 400\n#l 3 1 2 0 0 30 300 later=1\n"
    "#l 8 2 3 0 0 15 150\n"
    "#f lib/B.pm\n#l 2 0 1 0 0 12 120\n#l 3 0 1 0 0 4 40\n"
    "#f other\n#l 7 2 3 0 0 5 50\n";
/* f: 11 + 40 + 30 - 30 = 51 of 60: 9 ran in lib/B.pm, and stand at its first line. The program: 6 +
 * 9 - 7 = 8 of 10: 2 of the 12 - 5 + 4 = 11 that lib/B.pm has remain for it. */
static const char all_lines[] =
    "(program) a.pl:5 6 60 0\n(program) a.pl:6 2 20 0\n"
    "(program) lib/B.pm:2 1 12 0\n(program) lib/B.pm:3 1 8 0\n"
    "A::f lib/A.pm:1 20 200 2\nA::f lib/A.pm:3 40 400 0\n"
    "A::g lib/A.pm:7 0 0 3\nA::g lib/A.pm:8 15 150 0\nA::g other:7 5 50 0\n"
    "CORE:open :0 7 70 1\nX::s :0 35 350 5\n";

static struct dp_prof *some(void)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s", subs, tree);
    return of(text);
}

static void statements(void)
{
    struct dp_prof *prof = some();
    struct dp_part part = { .prof = prof };
    struct dp_stacks_how how = plain();
    lines_are(&part, 1, &how, true, all_lines, "statements");
    how.by_sub = 0;
    lines_are(&part, 1, &how, true, all_lines, "by name");
    static const char first[] = "(program) :0 10 100 0\nA::f lib/A.pm:1 60 600 2\n"
                                "A::g lib/A.pm:7 20 200 3\nCORE:open :0 7 70 1\nX::s :0 35 350 5\n";
    lines_are(&part, 1, &how, false, first, "without statements");
    how.by_site = 0;
    lines_are(&part, 1, &how, true, first, "without places");
    how.by_site = 1;
    how.no_program = 1;
    lines_are(&part, 1, &how, true, strchr(all_lines, 'A'), "without the program");
    dp_prof_free(prof);
}

/* The values of subs that are left out count for their callers: XS subs where they are called,
 * Perl's at the first line of the caller. */
static void filters(void)
{
    struct dp_prof *prof = some();
    unsigned char shown[8];
    struct dp_part part = { .prof = prof, .flags = shown };
    struct dp_stacks_how how = plain();
    memset(shown, DP_F_SHOWN, sizeof shown);
    for (uint32_t i = 0; i < dp_subs_count(&prof->subs); i++)
        if (prof->subs.subs[i].xs)
            shown[i] = 0;
    lines_are(&part, 1, &how, true,
              "(program) a.pl:5 6 60 0\n(program) a.pl:6 2 20 0\n"
              "(program) lib/B.pm:2 1 15 0\n(program) lib/B.pm:3 1 5 0\n"
              "A::f lib/A.pm:1 25 250 7\nA::f lib/A.pm:3 70 700 0\n"
              "A::g lib/A.pm:7 0 0 3\nA::g lib/A.pm:8 15 150 0\nA::g other:7 5 50 0\n"
              "CORE:open :0 7 70 1\n",
              "without XS subs");
    dp_prof_free(prof);
}

/* Two parts: the same subs, values added. Phases: what they have is the program's. */
static void several(void)
{
    struct dp_prof *prof = some(), *phases = dp_prof_new();
    static const char text[] = "& 1 % main - kind=phase\n& 2 A f lib/A.pm:1\n"
        "= 0 0 1 0 0 3 0 0 30\n= 1 1 1 0 0 4 0 0 40\n= 2 2 1 0 0 5 0 0 50 at=a.pl:9\n"
        "#f %\n#l 0 0 0 0 0 3 30\n#f a.pl\n#l 9 0 1 0 0 4 40\n"
        "#f lib/A.pm\n#l 2 1 1 0 0 1 10\n#l 4 2 1 0 0 5 50\n";
    char all[2048];
    int n = snprintf(all, sizeof all, "%s%s", head, text);
    dp_prof_phases(phases);
    is_i(dp_prof_add_mem(phases, "memory", all, (size_t)n, 0), 0, "read");
    struct dp_part parts[2] = { { .prof = phases }, { .prof = prof } };
    struct dp_stacks_how how = plain();
    lines_are(parts, 1, &how, true,
              "(program) :0 3 30 0\n(program) a.pl:9 4 40 0\nA::f lib/A.pm:1 0 0 1\n"
              "A::f lib/A.pm:4 5 50 0\n",
              "phases");
    how.by_part = 1;
    parts[0].prof = prof;
    lines_are(parts, 2, &how, true,
              "(program) a.pl:5 12 120 0\n(program) a.pl:6 4 40 0\n"
              "(program) lib/B.pm:2 2 25 0\n(program) lib/B.pm:3 2 15 0\n"
              "A::f lib/A.pm:1 40 400 4\nA::f lib/A.pm:3 80 800 0\n"
              "A::g lib/A.pm:7 0 0 6\nA::g lib/A.pm:8 30 300 0\nA::g other:7 10 100 0\n"
              "CORE:open :0 14 140 2\nX::s :0 70 700 10\n",
              "two parts");
    dp_prof_free(prof);
    dp_prof_free(phases);
}

/* ---- at random ---- */

static unsigned seed = 71;
static unsigned any(unsigned n) { return (seed = seed * 1103515245 + 12345) / 65536 % n; }

static size_t add(char *to, size_t at, size_t room, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    at += (size_t)vsnprintf(to + at, room - at, fmt, ap);
    va_end(ap);
    return at;
}

static const char *a_file(void)
{
    static const char *const files[] = { "a.pl", "lib/A.pm", "%0a", "(eval%201)" };
    return files[any(4)];
}

/* A tree, and statements that have nothing to do with it. */
static struct dp_prof *random_profile(void)
{
    static char text[1 << 16];
    size_t at = 0, room = sizeof text;
    unsigned n_subs = 1 + any(6), depth = 0;
    for (unsigned i = 1; i <= n_subs; i++)
        at = any(4) ? add(text, at, room, "& %x A n%u %s:%u\n", i, any(3), a_file(), 1 + any(4))
                    : add(text, at, room, "& %x A x%u - kind=xs\n", i, i);
    at = add(text, at, room, "= 0 0 1 0 0 %u 0 0 %u\n", any(50), any(50));
    for (unsigned i = 0; i < 60; i++) {
        depth = 1 + any(depth + 1);
        at = add(text, at, room, "= %u %x %u 0 0 %u 0 0 %u", depth, 1 + any(n_subs), any(4),
                 any(100), any(100));
        at = any(5) ? add(text, at, room, " at=%s:%u\n", a_file(), 1 + any(4))
                    : add(text, at, room, "\n");
    }
    for (unsigned i = 0; i < 30; i++) {
        if (!(i % 5))
            at = add(text, at, room, "#f %s\n", a_file());
        at = add(text, at, room, "#l %u %x %u 0 0 %u %u\n", 1 + any(4), any(n_subs + 1), any(9),
                 any(100), any(100));
    }
    char all[1 << 16];
    int len = snprintf(all, sizeof all, "%s%s", head, text);
    struct dp_prof *prof = dp_prof_new();
    return dp_prof_add_mem(prof, "memory", all, (size_t)len, 0) == 0 ? prof : NULL;
}

static void at_random(void)
{
    int wrong = 0, unshared = 0;
    size_t lines = 0, shared = 0;
    for (int round = 0; round < 500; round++) {
        struct dp_prof *profs[2] = { random_profile(), random_profile() };
        unsigned char shown[8];
        struct dp_part parts[2] = { { .prof = profs[0] }, { .prof = profs[1] } };
        struct dp_diff_side side = { "x", parts, two_ends, 1, 0 };
        struct dp_stacks_how how = plain();
        how.by_sub = any(2);
        how.by_part = any(2);
        how.recursion = any(2);
        for (size_t i = 0; i < sizeof shown; i++)
            shown[i] = any(4) ? DP_F_SHOWN : 0;
        if (any(2))
            parts[0].flags = parts[1].flags = shown;
        struct dp_stacks s;
        struct dp_stacks_lines l;
        if (!profs[0] || !profs[1] || dp_stacks_make(&s, &side, 1, &how) < 0) {
            wrong++;
            continue;
        }
        wrong += dp_stacks_lines_make(&l, &s, &how, true) < 0 || !is_true(&s, &l);
        unshared += !is_spread(&s, &how, &shared);
        lines += l.count;
        dp_stacks_lines_release(&l);
        dp_stacks_release(&s);
        dp_prof_free(profs[0]);
        dp_prof_free(profs[1]);
    }
    is_i(wrong, 0, "profiles at random: lines have what frames have");
    ok(lines > 5000, "many lines: %lu", (unsigned long)lines);
    is_i(unshared, 0, "and their shares are what frames and lines have");
    is_u(shared, lines, "of all lines");
}

/* ---- shares of frames ---- */

/* The shares of each frame in turn as text: "FRAME FILE:LINE REAL OPS" each. */
static const char *shares_of(const struct dp_stacks *s, const struct dp_stacks_how *how)
{
    static char text[4096];
    struct dp_stacks_apportion w;
    size_t at = add(text, 0, sizeof text, "");
    if (spread_out(&w, s, how) < 0)
        return "no memory";
    for (uint32_t i = 0; w.used && i < s->count; i++)
        for (size_t n = dp_stacks_apportion_next(&w, i), k = 0; k < n; k++) {
            const struct dp_stacks_share *share = &w.shares[k];
            static const struct dp_stacks_line first = { 0, { "first", 5 }, 0 };
            const struct dp_stacks_line *line = share->line == DP_STACKS_NONE
                                                    ? &first : &w.lines.lines[share->line];
            at = add(text, at, sizeof text, "%u %.*s:%lu %lu %lu\n", i, (int)line->file.len,
                     line->file.ptr, (unsigned long)line->line, (unsigned long)share->self[0],
                     (unsigned long)share->self[1]);
        }
    dp_stacks_apportion_release(&w);
    return text;
}

static void shares_are(const char *profile, const struct dp_stacks_how *how, const char *want,
                       const char *what)
{
    struct dp_prof *prof = of(profile);
    struct dp_part part = { .prof = prof };
    struct dp_diff_side side = { "x", &part, ends, 1, 0 };
    struct dp_stacks s;
    is_i(dp_stacks_make(&s, &side, 1, how), 0, "stacks");
    is_s(shares_of(&s, how), want, "%s", what);
    dp_stacks_release(&s);
    dp_prof_free(prof);
}

/* f has three lines of 10, 20 and 30, and two frames of 24 and 36: in proportion, to the unit. */
static void proportion(void)
{
    static const char two_frames[] =
        "& 1 A f lib/A.pm:1\n& 2 A g lib/A.pm:9\n"
        "= 0 0 1 0 0 0 0 0 0\n= 1 1 1 0 0 24 0 0 240\n= 1 2 1 0 0 0 0 0 7\n"
        "= 2 1 1 0 0 36 0 0 360\n"
        "#f lib/A.pm\n#l 2 1 1 0 0 10 100\n#l 3 1 1 0 0 20 200\n#l 4 1 1 0 0 30 300\n";
    struct dp_stacks_how how = plain();
    how.n_columns = 2;
    shares_are(two_frames, &how,
               "1 lib/A.pm:2 4 40\n1 lib/A.pm:3 8 80\n1 lib/A.pm:4 12 120\n"
               "2 lib/A.pm:9 0 7\n"
               "3 lib/A.pm:2 6 60\n3 lib/A.pm:3 12 120\n3 lib/A.pm:4 18 180\n",
               "in proportion");
    how.by_site = 0;
    shares_are(two_frames, &how, "", "not used without places");
    how.by_site = 1;
    how.phase = "main";
    shares_are(two_frames, &how, "", "nor of one phase");
}

/* Each frame of a deep recursion would be six stacks, which are too long together. The other sub
 * has its lines. */
static void no_room(void)
{
    enum { DEPTH = 2000 };
    static char text[1 << 17];
    size_t at = 0, room = sizeof text;
    at = add(text, at, room, "& 1 A f lib/A.pm:1\n& 2 A g lib/A.pm:9\n= 0 0 1 0 0 0 0 0 0\n"
                             "= 1 2 1 0 0 2 0 0 0\n");
    for (int i = 1; i <= DEPTH; i++)
        at = add(text, at, room, "= %d 1 1 0 0 6 0 0 0\n", i);
    at = add(text, at, room, "#f lib/A.pm\n");
    for (int i = 2; i <= 7; i++)
        at = add(text, at, room, "#l %d 1 1 0 0 %d 0\n", i, DEPTH);
    add(text, at, room, "#l 9 2 1 0 0 1 0\n#l 10 2 1 0 0 1 0\n");
    struct dp_prof *prof = of(text);
    struct dp_part part = { .prof = prof };
    struct dp_diff_side side = { "x", &part, ends, 1, 0 };
    struct dp_stacks_how how = plain();
    struct dp_stacks s;
    struct dp_stacks_apportion w;
    is_i(dp_stacks_make(&s, &side, 1, &how), 0, "stacks");
    is_i(spread_out(&w, &s, &how), 0, "a deep recursion");
    size_t whole = 0, shares = 0;
    for (uint32_t i = 0; w.used && i < s.count; i++) {
        size_t n = dp_stacks_apportion_next(&w, i);
        shares += n;
        whole += n && w.shares[0].line == DP_STACKS_NONE;
    }
    is_u(shares, DEPTH + 2, "a frame of it has all at its first line, one of the other in two");
    is_u(whole, DEPTH, "and no other");
    dp_stacks_apportion_release(&w);
    dp_stacks_release(&s);
    dp_prof_free(prof);
}

static void no_memory(void)
{
    struct dp_prof *prof = some();
    struct dp_part part = { .prof = prof };
    struct dp_diff_side side = { "x", &part, ends, 1, 0 };
    struct dp_stacks_how how = plain();
    struct dp_stacks s;
    struct dp_stacks_lines l;
    int rc = dp_stacks_make(&s, &side, 1, &how), wrong = 0;
    long before = dp_mem_live(), n = 0;
    is_i(rc, 0, "stacks");
    for (rc = DP_E_NOMEM; rc < 0 && n < 1000; n++) {
        dp_mem_fail_after(n);
        rc = dp_stacks_lines_make(&l, &s, &how, true);
        dp_mem_fail_after(-1);
        wrong += rc != 0 && (rc != DP_E_NOMEM || dp_mem_live() != before);
    }
    is_i(wrong, 0, "no memory at %ld places: an error, and nothing is left behind", n - 1);
    is_s(text_of(&s, &l), all_lines, "and then the lines");
    dp_stacks_lines_release(&l);
    struct dp_stacks_apportion w;
    before = dp_mem_live();
    for (rc = DP_E_NOMEM, n = wrong = 0; rc < 0 && n < 1000; n++) {
        dp_mem_fail_after(n);
        rc = spread_out(&w, &s, &how);
        dp_mem_fail_after(-1);
        wrong += rc != 0 && (rc != DP_E_NOMEM || dp_mem_live() != before);
    }
    is_i(wrong, 0, "nor of shares at %ld places", n - 1);
    dp_stacks_apportion_release(&w);
    dp_stacks_release(&s);
    dp_prof_free(prof);
}

int main(void)
{
    statements();
    filters();
    several();
    at_random();
    proportion();
    no_room();
    no_memory();
    is_i(dp_mem_live(), 0, "all memory is given back");
    return tap_done();
}
