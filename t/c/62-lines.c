/* Lines that are the same: texts and numbers at random, without memory at any place; profiles of
 * several sides, hostile places among them. */
#include "tap.h"
#include "dp_err.h"
#include "dp_line_align.h"
#include "dp_line_pair_make.h"
#include "dp_mem.h"
#include "dp_prof.h"

#include <stdlib.h>
#include <string.h>

static unsigned seed = 1;
static unsigned any(unsigned n) { return (seed = seed * 1103515245 + 12345) / 65536 % n; }

/* ---- sequences ---- */

enum { MOST = 60 };

/* The pairs of a plain table: the length of the longest common sequence. */
static size_t longest(const uint32_t *a, size_t n, const uint32_t *b, size_t m)
{
    size_t row[MOST + 1] = { 0 };
    for (size_t i = 0; i < n; i++) {
        size_t before = 0;
        for (size_t j = 0; j < m; j++) {
            size_t above = row[j + 1];
            row[j + 1] = a[i] == b[j] ? before + 1 : row[j] > above ? row[j] : above;
            before = above;
        }
    }
    return row[m];
}

static void sequences(void)
{
    int wrong = 0;
    size_t pairs = 0, most = 0;
    for (int round = 0; round < 4000; round++) {
        uint32_t a[MOST], b[MOST], to[MOST], words = 1 + any(40);
        size_t n = any(MOST), m = any(MOST), last = 0;
        for (size_t i = 0; i < n; i++)
            a[i] = any(words);
        for (size_t j = 0; j < m; j++)
            b[j] = j < n && any(10) ? a[j] : any(words);
        wrong += dp_words_align(a, n, b, m, words, to) != 0;
        for (size_t j = 0; j < m; j++)
            if (to[j] != DP_ALIGN_NONE) {
                wrong += to[j] >= n || to[j] + 1 <= last || a[to[j]] != b[j];
                last = to[j] + 1;
                pairs++;
            }
        most += longest(a, n, b, m);
    }
    is_i(wrong, 0, "equal words pair, in order");
    ok(pairs <= most && 20 * pairs > 19 * most, "nearly as many as could: %lu of %lu",
       (unsigned long)pairs, (unsigned long)most);
}

static void numbers(void)
{
    int wrong = 0;
    for (int round = 0; round < 4000; round++) {
        struct dp_line_seen a[MOST], b[MOST];
        uint32_t to[MOST];
        size_t n = any(MOST), m = any(MOST), last = 0, pairs = 0;
        for (size_t i = 0; i < n; i++)
            a[i] = (struct dp_line_seen){ (i ? a[i - 1].number : 0) + 1 + any(3), any(5) };
        for (size_t j = 0; j < m; j++)
            b[j] = (struct dp_line_seen){ (j ? b[j - 1].number : 0) + 1 + any(3), any(5) };
        wrong += dp_lines_align(a, n, b, m, to) != 0;
        for (size_t j = 0; j < m; j++)
            if (to[j] != DP_ALIGN_NONE) {
                wrong += to[j] >= n || to[j] + 1 <= last;
                last = to[j] + 1;
                pairs++;
            }
        wrong += dp_lines_align(a, n, a, n, to) != 0;
        for (size_t j = 0; j < n; j++)
            wrong += to[j] != j;
        wrong += (n && m) && !pairs;
    }
    is_i(wrong, 0, "lines without texts pair in order, and with themselves");
    /* 10 10 10 40 10 and 10 10 10 40 40 10: the inserted one is the second of 40 */
    const struct dp_line_seen old[] = { { 1, 10 }, { 2, 10 }, { 3, 40 }, { 5, 9 } },
                              new[] = { { 1, 10 }, { 2, 10 }, { 3, 40 }, { 4, 41 }, { 6, 9 } };
    uint32_t to[5];
    dp_lines_align(old, 4, new, 5, to);
    ok(to[0] == 0 && to[1] == 1 && to[2] == 2 && to[3] == DP_ALIGN_NONE && to[4] == 3,
       "counts tell which one was inserted");
}

/* ---- profiles ---- */

static const char head[] =
    "#fOrTyTwO\n$hz=1000;\n$dprof_format='tree 1'; $dprof_lines='count'; $rrun_utime=1;"
    " $rrun_stime=0; $rrun_rtime=1; $dprof_complete=1; $dprof_script='%s';\n\nPART3\n"
    "& 1 main f %s:2\n& 2 main g %s:8\n= 0 0 1 0 0 0 0 0\n= 1 1 1 0 0 0 0 0 at=%s:9\n"
    "= 1 2 1 0 0 0 0 0 at=odd\n#f %s size=%d crc=%x\n";
static const char text_a[] = "1\nsub f {\n  two;\n  three;\n  four;\n}\nsub g {\n  five;\n}\n";
static const char text_b[] = "sub g {\n five;\n more;\n}\nsub f {\n four;\n two;\n three;\n}\n";

static struct dp_prof *profile(const char *file, int size, unsigned crc, const char *lines)
{
    char text[2048];
    int n = snprintf(text, sizeof text, head, file, file, file, file, file, size, crc);
    n += snprintf(text + n, sizeof text - (size_t)n, "%s", lines);
    struct dp_prof *prof = dp_prof_new();
    dp_prof_add_mem(prof, "memory", text, (size_t)n, 0);
    return prof;
}

static const struct dp_prof *profs[3];
static struct dp_source_text texts[3];

static int paired(struct dp_line_pairs *lp, struct dp_pairs *subs, size_t n_texts)
{
    const struct dp_pair_how how = { DP_LABEL_SEPARATE, NULL, 0, NULL, 0 };
    struct dp_pair_side sides[3];
    for (uint32_t i = 0; i < 3; i++)
        sides[i] = (struct dp_pair_side){ profs[i], i };
    memset(lp, 0, sizeof *lp);
    int rc = dp_pairs_make(subs, sides, 3, &how);
    return rc < 0 ? rc : dp_line_pairs_make(lp, subs, texts, n_texts, &how);
}

static uint64_t number(const struct dp_line_pairs *lp, const char *label, uint32_t side)
{
    const struct dp_name name = { label, strlen(label) };
    const struct dp_paired_line *line = dp_line_pairs_find(lp, &name);
    return line ? dp_line_number(lp, (uint32_t)(line - lp->lines), side) : 0;
}

static enum dp_fate fate(const struct dp_line_pairs *lp, const char *label)
{
    const struct dp_name name = { label, strlen(label) };
    const struct dp_paired_line *line = dp_line_pairs_find(lp, &name);
    return line ? line->fate : DP_FATE_UNKNOWN;
}

static void profiles(void)
{
    struct dp_line_pairs lp;
    struct dp_pairs subs;
    long before = dp_mem_live();
    is_i(paired(&lp, &subs, 3), 0, "three sides pair");
    is_u(number(&lp, "b.pl:2", 0), 8, "a sub that has moved: its line");
    is_u(number(&lp, "b.pl:6", 0), 5, "a line that has moved in it");
    is_u(number(&lp, "b.pl:8", 0), 4, "... and one that has not");
    is_u(number(&lp, "b.pl:3", 0), 0, "one that was inserted");
    is_i(fate(&lp, "b.pl:3"), DP_FATE_INSERTED, "... and is told to be so");
    is_i(fate(&lp, "b.pl:1 (old)"), DP_FATE_DELETED, "one that was deleted has its number still");
    is_u(number(&lp, "b.pl:6", 1), 5, "the second side is as the first");
    dp_line_pairs_release(&lp);
    dp_pairs_release(&subs);
    is_i(paired(&lp, &subs, 0), 0, "without texts");
    is_u(lp.n_guessed, 1, "it is told that they are not known");
    dp_line_pairs_release(&lp);
    dp_pairs_release(&subs);
    int failures = 0, wrong = 0;
    for (size_t n_texts = 0; n_texts <= 3; n_texts += 3)
        for (long n = 0;; n++) {
            dp_mem_fail_after(n);
            int rc = paired(&lp, &subs, n_texts);
            dp_mem_fail_after(-1);
            wrong += rc != 0 && rc != DP_E_NOMEM;
            if (lp.profs)
                dp_line_pairs_release(&lp);
            dp_pairs_release(&subs);
            if (rc == 0)
                break;
            failures++;
            wrong += dp_mem_live() != before;
        }
    is_i(wrong, 0, "each allocation fails once: out of memory, and nothing is lost");
    ok(failures > 100, "... of many: %d", failures);
}

int main(void)
{
    static const char lines[] = "#l 1 0 1\n#l 3 1 1\n#l 4 1 2\n#l 5 1 3\n#l 8 2 4\n";
    sequences();
    numbers();
    profs[0] = profile("a.pl", (int)strlen(text_a), 1, lines);
    profs[1] = profile("a.pl", (int)strlen(text_a), 1, lines);
    profs[2] = profile("b.pl", (int)strlen(text_b), 2,
                       "#l 2 2 1\n#l 3 2 1\n#l 6 1 2\n#l 7 1 3\n#l 8 1 3\n");
    for (size_t i = 0; i < 3; i++)
        texts[i] = (struct dp_source_text){ i, i < 2 ? "a.pl" : "b.pl", 4, i < 2 ? text_a : text_b,
                                            strlen(i < 2 ? text_a : text_b) };
    profiles();
    for (size_t i = 0; i < 3; i++)
        dp_prof_free((struct dp_prof *)profs[i]);
    return tap_done();
}
