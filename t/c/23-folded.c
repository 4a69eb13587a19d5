/* Folded stacks: which texts are folded stacks, every kind of line, and the contexts that prefixes
 * share. */
#include "tap.h"
#include "dp_flat.h"
#include "dp_mem.h"
#include "dp_prof.h"
#include "dp_reader_folded.h"
#include "dp_reader_formats.h"
#include "dp_names.h"

#include <inttypes.h>
#include <stdlib.h>

static void kind_is(const char *text, int kind, const char *what)
{
    is_i(dp_reader_folded_kind(text, strlen(text), true), kind, "%s", what);
}

static void kinds(void)
{
    kind_is("a;b 5\n", DP_FOLDED_ONE, "a stack");
    kind_is("a 5", DP_FOLDED_ONE, "without its line's end");
    kind_is("\n# x\n#\n\r\n  \na;b 5\r\n", DP_FOLDED_ONE, "behind comments and empty lines");
    kind_is("#a;b 5\n", DP_FOLDED_ONE, "a name that begins with #");
    kind_is("a -5\n", DP_FOLDED_ONE, "a count that is no good");
    kind_is("a 1e-5\n", DP_FOLDED_ONE, "nor this one");
    kind_is("a b 12.5\n", DP_FOLDED_ONE, "a fraction");
    kind_is("a;b 5 7\nc 0 1\n", DP_FOLDED_TWO, "two counts");
    kind_is("a;b 5 7\nc 1\n", DP_FOLDED_ONE, "a name that ends with a number");
    kind_is("", DP_FOLDED_EMPTY, "nothing");
    kind_is("# x 5\n \n", DP_FOLDED_EMPTY, "a comment alone");
    kind_is("hello\na 5\n", DP_FOLDED_BAD, "a first line that is none");
    kind_is("hello\nworld\na 5\n", DP_FOLDED_NOT, "text");
    kind_is("5\n", DP_FOLDED_NOT, "a number");
    kind_is("  5\n", DP_FOLDED_NOT, "a number behind blanks");
    kind_is("a;b 5x\n", DP_FOLDED_NOT, "almost a number");
    kind_is("a .\n", DP_FOLDED_NOT, "a point");
    kind_is("a e5\n", DP_FOLDED_NOT, "an exponent");
    kind_is("a nan\n", DP_FOLDED_NOT, "a word");
    is_i(dp_reader_folded_kind("a\0b 5\n", 6, true), DP_FOLDED_NOT, "bytes");
    is_i(dp_reader_folded_kind("a 5", 3, false), DP_FOLDED_MORE, "a line that may go on");
}

static struct dp_buf told;

/* Every context as CALLER;SUB=TICKS, in the order they came to be. */
static void tell(const struct dp_prof *prof)
{
    struct dp_buf path;
    dp_buf_init(&path);
    dp_buf_clear(&told);
    for (uint32_t i = 0; i < prof->count; i++) {
        uint32_t chain[64], n = 0;
        for (uint32_t at = i; at && n < 64; at = prof->nodes[at].parent)
            chain[n++] = at;
        dp_buf_addc(&told, '[');
        while (n--) {
            dp_subs_label(&prof->subs, prof->nodes[chain[n]].sub, 0, &told);
            dp_buf_adds(&told, n ? ";" : "");
        }
        const struct dp_node *node = &prof->nodes[i];
        dp_buf_addf(&told, "=%" PRIu64 "]", node->self[DP_REAL]);
        if (node->self[DP_USER] != node->self[DP_REAL] || node->self[DP_SYSTEM])
            dp_buf_adds(&told, "!");
        if (i && node->calls)
            dp_buf_addf(&told, "x%" PRIu64, node->calls);
    }
    dp_buf_release(&path);
}

static struct dp_outcome out;

static const char *told_with(const char *unit, const char *text, size_t len)
{
    static struct dp_prof *prof;
    dp_prof_free(prof);             /* the outcome of the last one is borrowed */
    prof = NULL;
    if (!text)
        return "";
    prof = dp_prof_new();
    if (unit)
        is_i(dp_prof_declare_unit(prof, unit), 0, "declared: %s", unit);
    dp_prof_add_mem(prof, "x", text, len, 0);
    dp_prof_outcome(prof, 0, &out);
    tell(prof);
    dp_buf_addf(&told, " %" PRIu64 "/%s", dp_prof_hz(prof), dp_prof_unit(prof));
    return dp_buf_cstr(&told);
}

static const char *read_text(const char *text) { return told_with(NULL, text, strlen(text)); }

static void lines(void)
{
    is_s(read_text("a;b 5\na 2\n"), "[=0][a=2][a;b=5] 1/", "stacks");
    is_i(out.code, 0, "nothing is wrong");
    is_u(out.contexts, 2, "two stacks");
    ok(out.folded && !out.marks, "and it is known what they are");
    is_s(read_text("a;b 5\r\na 2"), "[=0][a=2][a;b=5] 1/", "CRLF; no end of the last line");
    is_s(read_text("\xef\xbb\xbf" "a 5\n"), "[=0][a=5] 1/", "a mark in front");
    is_s(read_text("a;b 5\n\n# a 7\n  \na;b\t2 \n"), "[=0][a=0][a;b=7] 1/",
         "comments, empty lines, a tab, a blank behind");
    is_s(read_text("(program) 3\na 1\n(program);a 2\nb;(program) 4\n"),
         "[=3][a=3][b=0][b;(program)=4] 1/", "the root");
    is_s(read_text(";a 1\na; 2\n;;a;;b;; 3\n; 4\n;a;;b 5\n"), "[=4][a=3][a;b=8] 1/",
         "empty frames are none");
    is_s(read_text("foo(int, char);java.lang.Object x;[unknown];f_[k];g+0x12 2\n"),
         "[=0][foo(int, char)=0][foo(int, char);java.lang.Object x=0][foo(int,"
         " char);java.lang.Object x;[unknown]=0]"
         "[foo(int, char);java.lang.Object x;[unknown];f_[k]=0][foo(int, char);java.lang.Object"
         " x;[unknown];f_[k];g+0x12=2] 1/",
         "names as they are");
    is_s(read_text("f(int; char) 2\n"), "[=0][f(int=0][f(int; char)=2] 1/",
         "a semicolon in brackets is one");
    is_s(read_text("a 1\nthread 12 5\n"), "[=0][a=1][thread 12=5] 1/",
         "a name that ends with a number");
    is_s(read_text("::a 1\na:: 2\na::b::c 3\nCORE:print 4\nCORE::die 5\n"),
         "[=0][::a=1][a::=2][a::b::c=3][CORE:print=4][CORE::die=5] 1/", "colons");
    is_s(read_text("a%3Bb;c%25%41%20%zz% 1\n"), "[=0][a;b=0][a;b;c%%41%20%zz%=1] 1/",
         "escapes, as few as can be");
    is_s(read_text("a 0\nb;c 0\n"), "[=0][a=0][b=0][b;c=0] 1/", "no ticks");
    is_s(read_text("a 0000000000000000000007\n"), "[=0][a=7] 1/", "zeros in front");
    is_s(read_text("a 4611686018427387902\n"), "[=0][a=4611686018427387902] 1/", "a large count");
    is_s(told_with(NULL, "a 1\nb\0c\xff 2\n", 11), "[=0][a=1][b", "any bytes in a name");
}

static void prefixes(void)
{
    is_s(read_text("a;b 1\na;bc 2\na;b;c 3\na;b 4\na 5\nab 6\na;b;c;d 7\na;b;cc 8\na;b;c 9\n"),
         "[=0][a=5][a;b=5][a;bc=2][a;b;c=12][ab=6][a;b;c;d=7][a;b;cc=8] 1/",
         "names that begin alike");
    is_s(read_text("a;a;a 1\na;a 2\na 4\na;a;a;a 8\n"), "[=0][a=4][a;a=2][a;a;a=1][a;a;a;a=8] 1/",
         "recursion");
    is_s(read_text("aaaaaaaa;bbbbbbbb;c 1\naaaaaaaa;bbbbbbbb;d 2\naaaaaaaa;bbbbbbbd;d 3\n"),
         "[=0][aaaaaaaa=0][aaaaaaaa;bbbbbbbb=0][aaaaaaaa;bbbbbbbb;c=1][aaaaaaaa;bbbbbbbb;d=2]["
         "aaaaaaaa;bbbbbbbd=0]"
         "[aaaaaaaa;bbbbbbbd;d=3] 1/",
         "by words of eight");
    is_s(read_text("a;b 1\nrubbish\na;c 2\n"), "[=0][a=0][a;b=1][a;c=2] 1/",
         "across a line that is none");
}

static void fractions(void)
{
    is_s(read_text("a 1\nb 12.5\na 3\n"), "[=0][a=40][b=125] 10/", "finer ticks");
    is_s(read_text("a 1.00\nb 2.\nc .\n"), "[=0][a=1][b=2] 1/", "no need for them");
    is_s(read_text("a 1.5\nb 0.0625\nc 2\n"), "[=0][a=15000][b=625][c=20000] 10000/",
         "finer twice");
    is_s(read_text("a 0.1234567885\nb 1\n"), "[=0][a=123456789][b=1000000000] 1000000000/",
         "what is too fine is rounded");
    is_s(told_with("us", "a 1.23456789\n", 13), "[=0][a=1234568] 1000000000000/s",
         "to what ticks there can be");
    read_text("a 4611686018427387\nb 0.0001\n");
    is_i(out.code, DP_E_LIMIT, "ticks that do not fit");
}

static void units(void)
{
    is_s(told_with("ms", "a 5\n", 4), "[=0][a=5] 1000/s", "ms");
    is_s(told_with("us", "a 5\n", 4), "[=0][a=5] 1000000/s", "us");
    is_s(told_with("ns", "a 5\n", 4), "[=0][a=5] 1000000000/s", "ns");
    is_s(told_with("s", "a 5\n", 4), "[=0][a=5] 1/s", "s");
    is_s(told_with("samples", "a 5\n", 4), "[=0][a=5] 1/samples", "samples");
    is_s(told_with("calls", "a;b 5\na 2.0\nb 1.5\n", 18), "[=0][a=2]x2[a;b=5]x5 1/calls", "calls");
    is_s(out.message, "the count is no whole number of calls: 1.5", "which are whole");
    struct dp_prof *prof = dp_prof_new();
    ok(dp_prof_declare_unit(prof, "") == DP_E_ARG && dp_prof_declare_unit(prof, "a b") == DP_E_ARG
       && dp_prof_declare_unit(prof, "12345678901234567890123456789012") == DP_E_ARG
       && dp_prof_declare_unit(prof, "a1234567890123456789012345678901") == DP_E_ARG, "no units");
    is_i(dp_prof_declare_unit(prof, "a123456789012345678901234567890"), 0, "a long one");
    const char *trace = "#fOrTyTwO\n$hz=100;\n$rrun_utime=0; $rrun_stime=0;"
                        " $rrun_rtime=0;\nPART2\n& 2 a b\n@ 1 1 1\n+ 2\n";
    dp_prof_add_mem(prof, "t", trace, strlen(trace), 0);
    is_i(dp_prof_add_mem(prof, "f", "a 5\n", 4, 0), DP_E_ARG, "another unit");
    dp_prof_outcome(prof, 1, &out);
    ok(strstr(out.message, "a123456789012345678901234567890, those of the other files in s"),
       "is named: %s", out.message);
    ok(!dp_prof_no_calls(prof), "and nothing of it was taken");
    dp_prof_free(prof);
    prof = dp_prof_new();
    dp_prof_declare_unit(prof, "ms");
    dp_prof_add_mem(prof, "t", trace, strlen(trace), 0);
    is_i(dp_prof_add_mem(prof, "f", "a 5\n", 4, 0), 0, "times and times");
    is_u(dp_prof_hz(prof), 1000, "at common ticks");
    is_u(dp_prof_total(prof, DP_T_REAL), 15, "add up");
    ok(dp_prof_no_calls(prof), "and it is known that calls are missing");
    dp_prof_free(prof);
}

static void fault(const char *line, const char *message)
{
    char text[256];
    snprintf(text, sizeof text, "a;b 1\n%s\na;c 2\n", line);
    is_s(read_text(text), "[=0][a=0][a;b=1][a;c=2] 1/", "the others count: %s", line);
    is_i(out.code, DP_E_SYNTAX, "a fault");
    is_u(out.fault_count, 1, "one");
    is_u(out.line, 2, "its line");
    is_u(out.byte, 6, "its byte");
    is_s(out.message, message, "its text");
}

static void faults(void)
{
    fault("rubbish", "there is no count at the end of the line: rubbish");
    fault("a;b c", "there is no count at the end of the line: a;b c");
    fault("7", "there is no stack before the count: 7");
    fault("  7", "there is no stack before the count:   7");
    fault("a -7", "the count is negative: -7");
    fault("a -0.5", "the count is negative: -0.5");
    fault("a +7", "the count is no decimal number: +7");
    fault("a .5", "the count is no decimal number: .5");
    fault("a 1e3", "the count is no decimal number: 1e3");
    fault("a 1.2.3", "the count is no decimal number: 1.2.3");
    fault("a 0x1f", "the count is no decimal number: 0x1f");
    fault("a nan", "the count is no decimal number: nan");
    fault("a -Inf", "the count is no decimal number: -Inf");
    fault("a infer", "there is no count at the end of the line: a infer");
    fault("a 4611686018427387904", "the count is too large: 4611686018427387904");
    fault("a 99999999999999999999999999", "the count is too large: 99999999999999999999999999");
    char many[512] = "a 1\n";
    for (int i = 0; i < 25; i++)
        strcat(many, i % 2 ? "b 2\n" : "bad line\n");
    is_s(read_text(many), "[=0][a=1][b=24] 1/", "many faults");
    is_u(out.fault_count, 13, "counted");
    is_u(out.fault[9].line, 20, "ten of them named");
    is_s(out.fault[9].message, out.message, "with their texts");
    strcat(many, "bad line\n");
    read_text(many);
    is_i(out.code, DP_E_NOTPROFILE, "more of them than stacks: it is none");
    read_text("PERFILE2\n");
    is_i(out.code, DP_E_NOTPROFILE, "another profiler's file");
    ok(strstr(out.message, "perf"), "%s", out.message);
    read_text("a 3 5\nb 0 1\n");
    is_i(out.code, DP_E_ARG, "two counts");
    ok(strstr(out.message, "two counts on each line"), "%s", out.message);
    read_text("");
    is_i(out.code, DP_E_NOTPROFILE, "an empty file");
    is_s(out.message, "it is empty", "says so");
    read_text("a 4611686018427387000\nb 4611686018427387000\n");
    is_i(out.code, DP_E_LIMIT, "a sum that does not fit");
    is_u(out.line, 2, "where");
}

/* Lines that do not fit into the buffer, and stacks as deep as they come. */
static void large(void)
{
    size_t frames = 200000;
    char *text = malloc(frames * 8 + 100);
    size_t n = 0;
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < frames; i++)
            n += (size_t)sprintf(text + n, i ? ";f" : "f");
        n += (size_t)sprintf(text + n, " %d\n", 1 + (int)round);
    }
    struct dp_prof *prof = dp_prof_new();
    is_i(dp_prof_add_mem(prof, "deep", text, n, 0), 0, "a deep stack");
    is_u(prof->count, frames + 1, "all its frames");
    is_u(prof->nodes[frames].self[DP_REAL], 3, "and its ticks");
    dp_prof_free(prof);
    size_t len = DP_LIMIT_LINE + 100;
    char *line = malloc(len);
    memset(line, 'x', len);
    memcpy(line, "a 5\n", 4);
    prof = dp_prof_new();
    is_i(dp_prof_add_mem(prof, "long", line, len, 0), DP_E_LIMIT, "a line without an end");
    is_u(dp_prof_total(prof, DP_T_REAL), 5, "what came before it counts");
    dp_prof_free(prof);
    free(line);
    free(text);
}

struct slow { const char *p; size_t left; };

static long one_byte(void *ctx, void *buf, size_t n)
{
    struct slow *s = ctx;
    if (!n || !s->left)
        return 0;
    *(char *)buf = *s->p++;
    s->left--;
    return 1;
}

static int64_t on_sub(void *ctx, const struct dp_subdef *def)
{
    (void)def;
    return (*(int64_t *)ctx)++;
}

static int64_t on_context(void *ctx, const struct dp_context *c, struct dp_err *err)
{
    (void)ctx;
    (void)err;
    return c->sub == DP_SUB_NONE ? 0 : (int64_t)c->sub + 1;
}

static int on_events(void *ctx, struct dp_event *ev, uint64_t *counts, size_t n, size_t *bad,
                     struct dp_err *err)
{
    (void)ctx, (void)ev, (void)counts, (void)n, (void)bad, (void)err;
    return 0;
}

static void piecemeal(void)
{
    const char *text = "# x\na;b 5\na;c 7\n";
    struct slow slow = { text, strlen(text) };
    int64_t subs = 0;
    struct dp_consumer to = {
        .ctx = &subs, .sub = on_sub, .context = on_context, .events = on_events
    };
    struct dp_source src;
    struct dp_header head;
    struct dp_read_info info;
    struct dp_err err;
    dp_err_init(&err);
    dp_header_init(&head);
    dp_source_fn(&src, one_byte, &slow);
    is_i(dp_reader_run(&src, NULL, dp_import_find, &to, &head, &info, &err), 0, "byte by byte");
    is_u(info.contexts, 2, "the stacks");
    is_u((uint64_t)subs, 3, "the names");
    ok(head.folded && strcmp(head.unit, "") == 0, "its header");
    is_s(dp_header_get(&head, "dprof_format"), "folded", "its format");
    dp_source_close(&src);
    dp_header_release(&head);
}

static int collect(void *ctx, const void *ptr, size_t len)
{
    dp_buf_add(ctx, ptr, len);
    return 0;
}

static void written(void)
{
    const char *text = "(program) 3\nA::a;b 1.5\nA::a;c 2\n";
    struct dp_prof *prof = dp_prof_new(), *again = dp_prof_new();
    struct dp_buf tree;
    struct dp_host host = { &tree, collect, NULL };
    struct dp_write_how how = { .version = "x" };
    char message[240];
    dp_buf_init(&tree);
    dp_prof_detail(prof);
    dp_prof_detail(again);
    dp_prof_declare_unit(prof, "samples");
    dp_prof_add_mem(prof, "x", text, strlen(text), 0);
    is_i(dp_prof_write(prof, &how, &host), 0, "written as a tree");
    is_i(dp_prof_add_mem(again, "y", tree.ptr, tree.len, 0), 0, "and read");
    is_s(dp_prof_unit(again), "samples", "with its unit");
    ok(dp_prof_no_calls(again), "without calls");
    is_u(dp_prof_total(again, DP_T_CPU), 65, "all of it");
    is_i(dp_prof_merge(again, prof, message), 0, "merged");
    is_u(dp_prof_total(again, DP_T_CPU), 130, "is twice");
    struct dp_prof *other = dp_prof_new();
    dp_prof_detail(other);
    dp_prof_add_mem(other, "x", text, strlen(text), 0);
    is_i(dp_prof_merge(again, other, message), DP_E_ARG, "not with another unit");
    ok(strstr(message, "an unknown unit"), "%s", message);
    dp_prof_free(other);
    dp_prof_free(prof);
    dp_prof_free(again);
    dp_buf_release(&tree);
}

static void memory(void)
{
    const char *text = "a%3B;b;c 1.5\na;d 2\nbad\n";
    long n = 0;
    bool done = false;
    for (; !done && n < 500; n++) {
        dp_mem_fail_after(n);
        struct dp_prof *prof = dp_prof_new();
        int rc = prof ? dp_prof_add_mem(prof, "x", text, strlen(text), 0) : DP_E_NOMEM;
        dp_mem_fail_after(-1);
        done = rc == DP_E_SYNTAX;
        if (!done && rc != DP_E_NOMEM)
            ok(false, "allocation %ld: %d", n, rc);
        dp_prof_free(prof);
    }
    ok(done && n > 10, "each allocation of %ld may fail", n);
}

int main(void)
{
    dp_buf_init(&told);
    kinds();
    lines();
    prefixes();
    fractions();
    units();
    faults();
    large();
    piecemeal();
    written();
    memory();
    told_with(NULL, NULL, 0);
    dp_buf_release(&told);
    is_i(dp_mem_live(), 0, "all memory is freed");
    return tap_done();
}
