/* The last line of a file, which has the sums of all lines: of traces and of trees, right, wrong,
 * missing, damaged. */
#include "tap.h"
#include "dp_buf.h"
#include "dp_fmt.h"
#include "dp_mem.h"
#include "dp_prof.h"

#define HEAD(format, more) \
    "#fOrTyTwO\n$hz=100;\n$dprof_format='" format " 1';\n" more \
    "$rrun_utime=3; $rrun_stime=0; $rrun_rtime=5;\n"
#define TRACE "& 1 m a\n@ 1 0 2\n+ 1\n@ 2 0 3\n- 1\n"
#define TREE "& 1 m a -\n= 0 0 1 1 0 2 0 0\n= 1 1 7 2 0 3 3 3\n"
#define END "$dprof_end=1;\n"

static int code_of(const char *text)
{
    struct dp_prof *prof = dp_prof_new();
    struct dp_outcome outcome;
    dp_prof_add_mem(prof, "t", text, strlen(text), 0);
    dp_prof_outcome(prof, 0, &outcome);
    int code = outcome.code;
    dp_prof_free(prof);
    return code;
}

static void traces(void)
{
    const char *head = HEAD("trace", END) "PART2\n" TRACE;
    struct dp_buf text;
    const struct { const char *line, *name; int code; } ends[] = {
        { "# end marks=2 user=3 system=0 real=5\n", "the sums are right", 0 },
        { "# end marks=2 user=3 system=0 real=5 later=7\n", "an unknown sum is skipped", 0 },
        { "# end marks=2\n", "a sum may be left out", 0 },
        { "", "the line is missing", DP_E_TRUNCATED },
        { "# end\n", "the line has no sum", DP_E_TRUNCATED },
        { "# ending marks=2\n", "it is another comment", DP_E_TRUNCATED },
        { "# end marks=3 user=3 system=0 real=5\n", "a mark is missing", DP_E_TRUNCATED },
        { "# end marks=2 user=3 system=0 real=6\n", "time is missing", DP_E_TRUNCATED },
        { "# end marks=2 user=3 system=0 real=\n", "a sum is no number", DP_E_TRUNCATED },
        { "# end marks=2 user=3 system=0 real=5", "the line is cut", DP_E_TRUNCATED },
    };
    for (size_t i = 0; i < DP_ARRAY_LEN(ends); i++) {
        dp_buf_init(&text);
        dp_buf_adds(&text, head);
        dp_buf_adds(&text, ends[i].line);
        is_i(code_of(dp_buf_cstr(&text)), ends[i].code, ends[i].name);
        dp_buf_release(&text);
    }
    is_i(code_of(HEAD("trace", "") "PART2\n" TRACE), 0, "a file may say that it has no such line");
}

static void trees(void)
{
    is_i(code_of(HEAD("tree", END) "PART3\n" TREE
                 "# end lines=3 calls=8 user=3 system=0 real=5\n"), 0, "a tree: all is right");
    is_i(code_of(HEAD("tree", END) "PART3\n" TREE "# a comment\n"
                 "# end lines=4 calls=8 user=3 system=0 real=5\n"), 0, "comments are lines");
    is_i(code_of(HEAD("tree", END) "PART3\n" TREE
                 "# end lines=4 calls=8 user=3 system=0 real=5\n"), DP_E_TRUNCATED,
         "a line is missing");
    is_i(code_of(HEAD("tree", END) "PART3\n" TREE
                 "# end lines=3 calls=9 user=3 system=0 real=5\n"), DP_E_TRUNCATED,
         "a call is missing");
    is_i(code_of(HEAD("trace", END) "PART2\n" TRACE "PART3\n" TREE
                 "# end lines=3 calls=8 user=3 system=0 real=5\n"), 0,
         "behind a trace the sums are those of the tree");
    is_i(code_of(HEAD("tree", "$dprof_complete=1;\n") "PART3\n& 1 m a -\n= 0 0 1 1 0 2 0 0\n"),
         DP_E_TRUNCATED, "without the line the header's times are compared");
    is_i(code_of(HEAD("tree", "$dprof_complete=1;\n") "PART3\n" TREE), 0, "... which are right");
}

static void written(void)
{
    const uint64_t sums[DP_FMT_SUMS] = { 1, 2, 3, 4, 5, UINT64_MAX };
    struct dp_buf text;
    dp_buf_init(&text);
    dp_fmt_end(&text, sums, false);
    is_s(dp_buf_cstr(&text), "# end marks=1 user=4 system=5 real=18446744073709551615\n",
           "a trace's line");
    dp_buf_clear(&text);
    dp_fmt_end(&text, sums, true);
    is_s(dp_buf_cstr(&text),
           "# end lines=2 calls=3 user=4 system=5 real=18446744073709551615\n", "a tree's line");
    is_u(dp_fmt_lines("a\n\nb\n", 5), 3, "lines are counted");
    is_u(dp_fmt_lines("", 0), 0, "... also none");
    dp_buf_release(&text);
}

int main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    traces();
    trees();
    written();
    is_i(dp_mem_live(), 0, "no memory is left");
    return tap_done();
}
