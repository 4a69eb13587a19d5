/* Trees and pieces: lines become contexts, errors have their places; files that killed processes
 * left; allocations that fail. */
#include "tap.h"
#include "pieces.h"
#include "dp_flat.h"
#include "dp_mem.h"
#include "dp_prof.h"
#include "dp_pieces.h"
#include "dp_names.h"
#include "dprof/trace.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#define RRUN "$rrun_utime=0; $rrun_stime=0; $rrun_rtime=0;\n"
#define HEAD "#fOrTyTwO\n$hz=100;\n$dprof_format='tree 1';\n" \
    "$dprof_counters='ops:ops x';\n" RRUN "PART3\n"
#define NAMES "& 1 m a m.pl:1\n& 2 m b m.pl:2\n"

static struct dp_buf out;
static struct image image;
static struct dp_outcome o;

static int collect(void *ctx, const void *ptr, size_t len)
{
    dp_buf_add(ctx, ptr, len);
    return 0;
}

/* Returns the tree lines that the profile is written as: from & on. */
static const char *written(const struct dp_prof *prof)
{
    struct dp_host host = { &out, collect, NULL };
    struct dp_write_how how = { .version = "x" };
    dp_buf_clear(&out);
    if (dp_prof_write(prof, &how, &host) < 0)
        return "could not be written";
    /* 31-whole.c tries the last line */
    char *text = (char *)(uintptr_t)dp_buf_cstr(&out), *part = strstr(text, "PART3\n"),
         *end = strstr(text, "\n# end lines=");
    if (!part || !end)
        return "no PART3, or no end";
    end[1] = '\0';
    return part + 6;
}

static struct dp_prof *of_mem(const char *ptr, size_t len, unsigned flags)
{
    struct dp_prof *prof = dp_prof_new();
    dp_prof_detail(prof);
    dp_prof_add_mem(prof, "t", ptr, len, flags);
    dp_prof_outcome(prof, 0, &o);
    return prof;
}

/* Returns the tree that a file becomes, and its outcome in o; the message is borrowed from `kept`.
 * */
static char kept[300];

static const char *comes_to(const char *ptr, size_t len)
{
    struct dp_prof *prof = of_mem(ptr, len, 0);
    const char *text = written(prof);
    snprintf(kept, sizeof kept, "%s", o.message);
    o.message = kept;
    dp_prof_free(prof);
    return text;
}

static const char *tree(const char *lines)
{
    static char text[4096];
    int n = snprintf(text, sizeof text, HEAD "%s", lines);
    return comes_to(text, (size_t)n);
}

static void lines(void)
{
    is_s(tree(NAMES "= 0 0 1 1 2 3 0 0 4 5\n= 1 1 6 7 8 9 20 10 11 12 at=m.pl:9 folded=3 new=1\n="
                    " 2 2 1 1 1 1 1 1 1 1\n"
                    "= 1 1 1 1 1 1 1 0 1 1\n= 1 2 1 1 0 1 0 0 0 0\nh 1 0:5 3:7\n"),
         NAMES "= 0 0 1 1 2 3 0 0 4 5\n= 1 1 1 1 1 1 1 0 1 1\n= 1 1 6 7 8 9 20 10 11 12 at=m.pl:9"
               " folded=3\n= 2 2 1 1 1 1 1 1 1 1\n"
               "= 1 2 1 1 0 1 0 0 0 0\nh 1 0:5 3:7\n",
         "a tree of all fields is read and sorted");
    is_i(o.code, 0, "it is whole");
    is_u(o.contexts, 5, "five contexts");
    ok(o.tree, "the outcome says that it is a tree");
    is_s(tree("&  2 m b m.pl:2\r\n#x\n\n& 1 m a m.pl:1\n= 0\t0 1 1 2 3 0 0 4 5 \r\n= 1 1 6 7 8 9 9"
              " 1 11 12 folded=4\n= 1 1 6 7 8 9 30 2 11 12 folded=5\n"
              "= 0 0 0 1 1 1 0 0 0 0\nh 1 1:1\nh 1 1:2 60:4\n"),
         NAMES "= 0 0 1 2 3 4 0 0 4 5\n= 1 1 12 14 16 18 30 1 22 24 folded=9\nh 1 1:3 47:4\n",
         "repeated contexts are added up; blanks and CRLF are skipped");
    is_s(tree("& 9 m b m.pl:2\n& 7 m a m.pl:1\n= 0 0 0 0 0 0 0 0 0 0\n= 1 9 1 0 0 1 1 1 0 0 77"
              " k=v\n"),
         NAMES "= 0 0 1 0 0 0 0 0 0 0\n= 1 2 1 0 0 1 1 1 0 0\n",
         "ids are numbered again; further columns are skipped");
    is_s(tree("& 1 m __ANON__ m.pl:1 seq=7 in=m::x\n& 2 m __ANON__ m.pl:1 seq=9 in=m::a\n= 0 0 1 0"
              " 0 0 0 0 0 0\n= 1 2 1 0 0 0 0 0 0 0\n"),
         "& 1 m __ANON__ m.pl:1 seq=1 in=m::x\n& 2 m __ANON__ m.pl:1 seq=2 in=m::a\n= 0 0 1 0 0 0"
         " 0 0 0 0\n= 1 2 1 0 0 0 0 0 0 0\n",
         "nameless subs of one place stay apart");
}

static void fails(const char *lines, int code, uint64_t line, uint64_t byte, const char *message)
{
    tree(lines);
    is_i(o.code, code, "%s", message);
    is_u(o.line, line, "the error has its line");
    is_u(o.byte, strlen(HEAD) + byte, "the error has its byte");
    ok(strncmp(o.message, message, strlen(message)) == 0, "the error has its text: %s", o.message);
}

/* A line that cannot be read is left out, a context with all below it; the rest counts. */
static void left_out(void)
{
    static char text[2000];
    is_s(tree(NAMES "= 0 0 1 0 0 1 0 0 0 0\n= 1 1 x 7 8 9 20 10 11 12\n= 2 2 1 1 1 1 1 1 1 1\n"
                    "= 3 9 1 1 1 1 1 1 1 1\n= 1 2 1 1 0 1 0 0 0 0\n= 2 1 1 1 0 1 1 1 0 0\n"
                    "h 1 64:1\nh 2 0:5\n"),
         NAMES "= 0 0 1 0 0 1 0 0 0 0\n= 1 2 1 1 0 1 0 0 0 0\n= 2 1 1 1 0 1 1 1 0 0\nh 2 0:5\n",
         "lines that cannot be read are left out");
    ok(o.code == DP_E_TRUNCATED && o.fault_count == 2 && o.line == 10 && o.fault[1].line == 15,
       "... and the outcome has them: %s", o.message);
    for (int n = DP_FAULTS; n <= DP_FAULTS + 1; n++) {
        strcpy(text, NAMES "= 0 0 1 0 0 1 0 0 0 0\n= 1 2 1 1 0 1 0 0 0 0\n");
        for (int i = 0; i < n; i++)
            strcat(text, "h 3 1:1\n");
        strcat(text, "= 1 1 1 1 0 1 0 0 0 0\n");
        tree(text);
        ok(o.code == (n > DP_FAULTS ? DP_E_SYNTAX : DP_E_TRUNCATED)
               && o.contexts == (n > DP_FAULTS ? 2 : 3),
           "a file with %d such lines is %s", n, n > DP_FAULTS ? "an error" : "read to its end");
    }
}

static void errors(void)
{
    const char *root = NAMES "= 0 0 1 0 0 0 0 0 0 0\n";
    static char text[600];
    static const struct { const char *line, *message; int code; } bad[] = {
        { "= 2 1 1 0 0 0 0 0 0 0\n", "Bad profile: = 2 1", DP_E_SYNTAX },  /* a level is skipped */
        /* There is no such sub. */
        { "= 1 3 1 0 0 0 0 0 0 0\n", "Bad profile: = 1 3", DP_E_TRUNCATED },
        /* The root is below the root. */
        { "= 1 0 1 0 0 0 0 0 0 0\n", "Bad profile: = 1 0", DP_E_TRUNCATED },
        { "= 0 1 1 0 0 0 0 0 0 0\n", "Bad profile: = 0 1", DP_E_SYNTAX },
        /* A counter is missing. */
        { "= 1 1 1 0 0 0 0 0 0\n", "Bad profile: = 1 1", DP_E_TRUNCATED },
        { "= 1 1 1 0 0 -1 0 0 0 0\n", "Bad profile: = 1 1", DP_E_TRUNCATED },
        { "= 1 1 99999999999999999999 0 0 0 0 0 0 0\n", "Bad profile: = 1 1", DP_E_TRUNCATED },
        /* A counter is below zero. */
        { "= 1 1 1 0 0 0 0 0 0 18446744073709451586\n", "Bad profile: = 1 1", DP_E_TRUNCATED },
        { "= 1 1 1 0 0 4611686018427387904 0 0 0 0\n", "Bad profile: = 1 1", DP_E_TRUNCATED },
        { "= 4294967296 1 1 0 0 0 0 0 0 0\n", "Bad profile: = 42", DP_E_SYNTAX },
        { "h 3 1:1\n", "Bad profile: h 3", DP_E_TRUNCATED },
        { "h 1 64:1\n", "Bad profile: h 1", DP_E_TRUNCATED },
        { "h 1 1\n", "Bad profile: h 1 1", DP_E_TRUNCATED },
        { "+ 1\n", "Bad profile: + 1", DP_E_SYNTAX },
        { "& 1 m\n", "Bad profile: & 1 m", DP_E_SYNTAX },
        { "= 1 1 1 0 0", "the last line is not whole", DP_E_TRUNCATED },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, "%s%s", root, bad[i].line);
        fails(text, bad[i].code, 10, strlen(root), bad[i].message);
    }
    fails("= 1 1 1 0 0 0 0 0 0 0\n", DP_E_SYNTAX, 7, 0, "Bad profile: = 1 1");
    snprintf(text, sizeof text, "%s& 3 p p - kind=phase\n%s%s%s", root, "= 1 3 1 0 0 0 0 0 0 0\n",
             "= 1 1 1 0 0 0 0 0 0 0\n", "= 2 3 1 0 0 0 0 0 0 0\n");
    fails(text, DP_E_SYNTAX, 13, strlen(root) + 65,
          "Bad profile: a phase is right below the root: = 2 3 1");
    snprintf(text, sizeof text, "%s%s%s", root, "= 1 1 1 0 0 4611686018427387903 0 0 0 0\n",
             "= 1 2 1 0 0 1 0 0 0 0\n");
    fails(text, DP_E_LIMIT, 11, strlen(root) + 40, "the times add up to more than fits");
    tree("= 0 0 1 0 0 0 0 0 0 0\n= 3 1");
    is_i(o.code, DP_E_TRUNCATED, "a tree that breaks off is truncated");
    const char *newer = "#fOrTyTwO\n$dprof_format='tree 2';\nPART3\n";
    comes_to(newer, strlen(newer));
    is_i(o.code, DP_E_VERSION, "a newer format is refused");
    ok(strstr(o.message, "'tree 2'") && strstr(o.message, "'tree 1'"),
            "the error names both formats: %s",
       o.message);
}

static void traces(void)
{
#define TRACE "#fOrTyTwO\n$hz=100;\n$dprof_format='trace 1';\n" \
    "$rrun_utime=50; $rrun_stime=0; $rrun_rtime=100;\nPART2\n"
    const char *text = TRACE "& 2 m a m.pl:1\n& 3 m b m.pl:2\n@ 1 0 1\n+ 2\n@ 2 0 2\n+ 3\n@ 4 0"
                             " 4\n- 3\n+ 3\n@ 8 0 8\n- 3\n@ 16 0 16\nPART3\n"
                             "& 1 m b m.pl:2\n& 2 m a m.pl:1\n= 0 0 0 0 0 5 0 0\n= 1 2 1 0 0 20 30"
                             " 30\n= 2 1 1 0 0 7 7 7\nh 1 26:1\n";
    is_s(comes_to(text, strlen(text)),
         NAMES "= 0 0 1 20 0 43 0 0\n= 1 1 2 18 0 38 30 30\n= 2 2 3 12 0 19 8 4\nh 2 25:1 26:2\n",
         "a trace and the tree it goes on as are added up");
    is_i(o.code, 0, "it is whole though subs were running");
    is_u(o.open_count, 0, "nothing is open");
    is_u(o.marks, 5, "the marks of the trace are counted");
    struct dp_trace_how how = { .fold = 0 };
    struct dp_host host = { &out, collect, NULL };
    struct dp_trace *t = dp_trace_new(&how, &host);
    dp_buf_clear(&out);
    is_i(dp_trace_add_mem(t, "t", text, strlen(text)), DP_E_TRUNCATED,
         "its list of calls ends where the tree begins");
    is_s(dp_buf_cstr(&out), "m::a\n   m::b\n   m::b\n", "calls before the tree are listed");
    is_i(dp_trace_add_mem(t, "t", HEAD, strlen(HEAD)), DP_E_ARG, "a tree has no order of calls");
    dp_trace_outcome(t, &o);
    ok(strstr(o.message, "use -S") != NULL, "the message says what to do: %s", o.message);
    dp_trace_free(t);
    text = TRACE "& 2 m a m.pl:1\n& 3 m b m.pl:2\n+ 2\n@ 0 0 1\n* 3\n@ 0 0 9\n- 2\n+ 2\n+ 2\n@ 0 0"
                 " 3\n/ 2\n- 2\n";
    is_s(comes_to(text, strlen(text)),
         NAMES "= 0 0 1 50 0 87 0 0\n= 1 1 2 0 0 1 3 1\n= 2 1 1 0 0 3 3 3\n= 1 2 1 0 0 9 9 9\n"
               "h 1 23:1 24:2\nh 2 26:1\n",
         "a trace gives call times and histograms: goto, recursion, exceptions");
}

/* ---- pieces ---- */

#define THREE "& 1 m a m.pl:1\n& 2 m b m.pl:2\n& 3 m c m.pl:3\n"

static struct dp_prof *of_image(const struct image *im)
{
    struct dp_file_mem mem = { im->text.ptr, im->left.ptr, im->text.len, im->left.len };
    struct dp_prof *prof = dp_prof_new();
    dp_prof_detail(prof);
    dp_prof_add_left(prof, "t", &mem, 0);
    dp_prof_outcome(prof, 0, &o);
    return prof;
}

static const char *image_to(void)
{
    struct dp_prof *prof = of_image(&image);
    const char *text = written(prof);
    snprintf(kept, sizeof kept, "%s", o.message);
    o.message = kept;
    dp_prof_free(prof);
    return text;
}

static void pieces(void)
{
    const char *all = THREE "= 0 0 1 10 0 10 0 0\n= 1 1 1 90 0 100 0 0\n= 2 1 1 7 0 7 7 7\n= 2 2 1"
                            " 230 0 250 5250 5250\n"
                            "= 3 3 1 1000 0 5000 5000 5000\nh 1 2:1\nh 2 12:1\nh 3 12:1\n";
    image_trace(&image);
    is_s(image_to(), all, "marks that are not in the text come from the pieces");
    is_i(o.code, DP_E_TRUNCATED, "a killed process's profile is truncated");
    ok(!strcmp(o.message, "the recording did not come to its end"),
            "the message gives the reason: %s", o.message);
    is_u(o.open_count, 1, "one call is open");
    is_u(o.marks, 6, "all marks are counted");

    /* The process was killed while it wrote: two of the marks are in the text already. */
    image.text.len -= strlen("@ 20 0 2");
    dp_buf_adds(&image.text,
                "@ 90 0 100\n+ 2\n@ 180 0 200\n& 3 m c m.pl:3\n+ 3\n@ 1000 0 5000\n- ");
    is_s(image_to(), all, "marks in text and pieces count once");
    is_u(o.marks, 6, "all marks are counted once");

    image_trace(&image);
    image.text.len -= strlen("@ 20 0 2");
    dp_buf_adds(&image.text, "@ 90 0 100\n+ 2\n@ 180 0 200\n& 3 m c m.pl:3\n+ 3\n@ 1000 0 5000\n-"
                             " 3\n@ 50 0 50\n* 1\n@ 7 0 7\n/ 2\n- 1\n+ 1\n");
    image_to();
    ok(o.marks == 8 && o.code == DP_E_TRUNCATED,
       "a text that has grown since its pieces were read counts once");

    image_trace(&image);
    image.text.ptr[strstr(image.text.ptr, "1.2.3") - image.text.ptr] = '2';
    image_to();
    ok(o.marks == 1 && o.code == DP_E_TRUNCATED, "pieces of another run do not count");
    image_trace(&image);
    image.text.ptr[strstr(image.text.ptr, "pid=7") - image.text.ptr + 4] = '8';
    image_to();
    ok(o.marks == 1 && o.code == DP_E_TRUNCATED, "pieces of another process do not count");
    image_trace(&image);
    dp_buf_clear(&image.text);
    dp_buf_adds(&image.text,
                "#fOrTyTwO\n$dprof_run='1.2.3';\n" RRUN "PART2\n& 1 m a m.pl:1\n+ 1\n- 1\n");
    image_to();
    ok(o.marks == 2 && o.code == 0, "pieces do not count if the text has its end");

    image_tree(&image);
    is_s(image_to(),
         NAMES "= 0 0 1 1000 0 1000 0 0 0\n= 1 2 3 360 40 500 500 1 30\n= 2 1 4 60 0 60 60 1 40\n"
               "= 3 2 5 7 0 7 7 1 50 folded=9\nh 1 4:4\nh 2 0:5 9:3\n",
         "a tree is in the pieces; names may come after the nodes");
    is_i(o.code, DP_E_TRUNCATED, "a tree in pieces is truncated, too");
    is_u(o.contexts, 4, "its contexts are counted");

    /* The text is a trace, the pieces have a tree: nothing in the text says so. */
    struct dp_cct_node nodes[] = { image_node(1, 0, 0, 0, 5), image_node(2, 1, 2, 0, 6),
                                   image_node(3, 2, 1, 2, 7) };
    uint64_t words[] = { raw(100, DP_RAW_ENTER, 2), 0 };
    image_text(&image, IMAGE_HEAD NAMES "@ 1 0 1\n+ 2\n@ 2 0 2\n+ 1\n- 1\n");
    image_state(&image, 3, true, false);
    image_piece(&image, DP_LIVE_MARKS, 0, words, sizeof words);
    image_piece(&image, DP_LIVE_NODES, 0, nodes, sizeof nodes);
    is_s(image_to(), NAMES "= 0 0 1 6 0 6 0 0\n= 1 2 1 8 0 8 0 0\n= 2 1 3 7 0 7 7 1\nh 1 0:1\n",
         "a trace that had become a tree is added up");
}

static void odd_pieces(void)
{
    uint64_t words[] = { raw(1, DP_RAW_ENTER, 1), raw(1, DP_RAW_ENTER, 2), raw(1, DP_RAW_LEAVE, 2),
                         raw(1, DP_RAW_ENTER, 9), raw(1, DP_RAW_LEAVE, 9) };
    image_text(&image, IMAGE_HEAD "& 1 m a m.pl:1\n& 3 m c m.pl:3\n");
    image_state(&image, 0, false, false);
    image_piece(&image, DP_LIVE_MARKS, 0, words, sizeof words);
    ok(strstr(image_to(), "(no%20name)")
           && strstr(image_to(), "= 1 2 1 1 0 1 0 0\n= 2 1 1 1 0 1 1 1\n"),
       "a sub without a name gets one: %s", out.ptr);
    is_i(o.code, DP_E_SYNTAX, "a sub without a name is an error");
    is_u(o.marks, 3, "reading goes on up to ids that are not yet named");
    words[1] = raw(1, DP_RAW_ENTER, 3);
    image_text(&image, IMAGE_HEAD "& 1 m a m.pl:1\n& 3 m c m.pl:3\n");
    image_state(&image, 0, false, false);
    image_piece(&image, DP_LIVE_MARKS, 0, words, sizeof words);
    image_to();
    is_i(o.code, DP_E_TRUNCATED, "marks whose names are not there yet truncate the profile");
    ok(strstr(o.message, "did last is left out") != NULL,
            "the message says that they are left out: %s", o.message);

    words[1] = raw(1, (enum dp_raw_kind)DP_RAW_KINDS, 1);
    image_text(&image, IMAGE_HEAD "& 1 m a m.pl:1\n");
    image_state(&image, 0, false, false);
    image_piece(&image, DP_LIVE_MARKS, 0, words, 2 * sizeof *words);
    image_to();
    ok(o.code == DP_E_SYNTAX && strstr(o.message, "a mark of kind 7"),
       "an unknown kind of mark is an error: %s", o.message);
    is_u(o.marks, 1, "an unknown kind is no mark");

    image_trace(&image);
    const size_t state = 0, marks = 2 * DP_PIECE_ALIGN;
    uint64_t size = 4097, huge = UINT64_C(1) << 50;
    double rate = 0;
    char *p = image.left.ptr;
    memcpy(p + marks + 16, &size, 8);
    image_to();
    ok(o.code == DP_E_SYNTAX && strstr(o.message, "at byte 8192"),
            "a piece of an odd size is an error: %s",
       o.message);
    is_u(o.marks, 1, "marks before the odd piece are there");
    memcpy(p + marks + 16, &huge, 8);
    image_to();
    is_i(o.code, DP_E_SYNTAX, "a piece of a huge size is an error");
    size = 1 << 20;
    memcpy(p + marks + 16, &size, 8);
    image_to();
    ok(o.code == DP_E_TRUNCATED && o.marks == 6,
            "a piece larger than the file is read as far as it goes");
    p[marks + 8] = 99;
    image_to();
    ok(o.code == DP_E_TRUNCATED && o.marks == 1, "a piece of an unknown kind is skipped");
    image_trace(&image);
    memcpy(p + state + 24 + offsetof(struct dp_live_state, rate), &rate, 8);
    image_to();
    is_i(o.code, DP_E_SYNTAX, "pieces without a clock are an error");
    image_trace(&image);
    p[marks] = 'x';
    p[marks + 5] = p[marks + 6] = 'x';
    image_to();
    ok(o.code == DP_E_SYNTAX && o.marks == 1,
            "bytes that are no piece are an error: %s", o.message);
    image_trace(&image);
    uint64_t next = DP_LIVE_MAGIC + 1;
    memcpy(p + state, &next, sizeof next);
    image_to();
    ok(o.code == DP_E_TRUNCATED && strstr(o.message, "another version"),
            "pieces of another version are left out: %s",
       o.message);
    image_trace(&image);
    for (int i = 0; i < 4; i++) {
        char c = p[state + i];
        p[state + i] = p[state + 7 - i];
        p[state + 7 - i] = c;
    }
    image_to();
    ok(o.code == DP_E_TRUNCATED && strstr(o.message, "another kind of machine"),
       "pieces of another byte order are left out");
    bool good = true;
    for (size_t n = 0; n < 4 * DP_PIECE_ALIGN && good; n += n < 200 ? 1 : 97) {
        image_trace(&image);
        image.left.len = n;
        image_to();
        good = o.code == DP_E_TRUNCATED;
        image_tree(&image);
        image.left.len = n;
        image_to();
        good = good && o.code == DP_E_TRUNCATED;
    }
    ok(good, "pieces may be cut anywhere: %s", o.message);
    struct dp_cct_node nodes[] = { image_node(1, 0, 0, 0, 5), image_node(2, 2, 1, 0, 6),
                                   image_node(UINT32_MAX, 1, 1, 2, 7), image_node(3, 1, 1, 1, 8) };
    image_text(&image, IMAGE_TREE);
    image_state(&image, 0, true, true);
    image_piece(&image, DP_LIVE_NAMES, 0, NAMES, sizeof NAMES);
    image_piece(&image, DP_LIVE_NODES, 0, nodes, sizeof nodes);
    is_s(image_to(), NAMES "= 0 0 1 5 0 5 0 0 0\n= 1 1 1 8 0 8 8 1 10\n",
         "impossible contexts are left out");
    is_i(o.code, DP_E_SYNTAX, "impossible contexts are an error");

    static const char names[] = "& 1 % p - kind=phase\n& 2 m b m.pl:2\n";
    uint64_t phase[] = { raw(1, DP_RAW_PHASE, 1), raw(1, DP_RAW_ENTER, 2), raw(1, DP_RAW_ENTER, 1),
                         raw(1, DP_RAW_LEAVE, 1) };
    image_text(&image, IMAGE_HEAD);
    dp_buf_adds(&image.text, names);
    image_state(&image, 0, false, false);
    image_piece(&image, DP_LIVE_MARKS, 0, phase, sizeof phase);
    ok(strstr(image_to(), "= 1 3 1 1 0 1 0 0\n= 2 1 1 1 0 1 1 1\n"),
            "a call of a phase is counted: %s",
       out.ptr);
    ok(o.code == DP_E_SYNTAX && strstr(o.message, "1 is a phase"),
            "a call of a phase is an error: %s", o.message);
    phase[2] = raw(1, DP_RAW_ENTER, 2);
    image_text(&image, IMAGE_HEAD);
    dp_buf_adds(&image.text, names);
    image_state(&image, 0, false, false);
    image_piece(&image, DP_LIVE_MARKS, 0, phase, sizeof phase);
    image_to();
    is_i(o.code, DP_E_TRUNCATED, "the beginning of a phase is no call");
    struct dp_cct_node below[] = { image_node(1, 0, 0, 0, 5), image_node(2, 1, 1, 1, 6),
                                   image_node(3, 2, 2, 2, 7), image_node(4, 3, 1, 1, 8) };
    for (int nested = 0; nested < 2; nested++) {
        image_text(&image, IMAGE_TREE);
        image_state(&image, 0, true, true);
        image_piece(&image, DP_LIVE_NAMES, 0, names, sizeof names - 1);
        image_piece(&image, DP_LIVE_NODES, 0, below, sizeof below - (nested ? 0 : sizeof *below));
        image_to();
        is_i(o.code, nested ? DP_E_SYNTAX : DP_E_TRUNCATED, "a phase below %s",
             nested ? "a sub" : "the root");
    }
}

/* A tree was saved, and the pieces have a newer one, with other names and ids first. */
static void saved_tree(void)
{
    static const char saved[] =
        "& 1 m b m.pl:2\n= 0 0 1 2 0 2 0 0 7\n= 1 1 3 4 0 4 4 1 8\nh 1 1:3\n";
    static const char here[] =
        "& 1 m b m.pl:2\n= 0 0 1 2 0 2 0 0 7\n= 1 1 3 4 0 4 4 1 8\nh 1 1:3\n";
    struct dp_cct_node nodes[] = { image_node(1, 0, 0, 0, 5), image_node(2, 1, 1, 1, 6),
                                   image_node(3, 1, 2, 9, 7) };
    static const char newer[] = NAMES
        "= 0 0 1 5 0 5 0 0 0\n= 1 1 1 6 0 6 6 1 10\n= 1 2 9 7 0 7 7 1 90\n";
    image_text(&image, IMAGE_TREE);
    dp_buf_adds(&image.text, saved);
    is_s(image_to(), here, "a copy of a saved tree is read");
    is_i(o.code, DP_E_TRUNCATED, "a saved tree is truncated");
    image_state(&image, 0, true, true);
    image_piece(&image, DP_LIVE_NAMES, 0, NAMES, sizeof NAMES);
    image_piece(&image, DP_LIVE_NODES, 0, nodes, sizeof nodes);
    is_s(image_to(), newer, "a newer tree in the pieces replaces the saved one");
    is_u(o.contexts, 3, "no context counts twice");

    /* The saved tree comes after a trace. */
    image.text.len = 0;
    dp_buf_adds(&image.text, IMAGE_HEAD NAMES "@ 1 0 1\n+ 2\n@ 2 0 2\n+ 1\n- 1\nPART3\n");
    dp_buf_adds(&image.text, saved);
    ok(strstr(image_to(), "= 1 1 1 6 0 6") && strstr(dp_buf_cstr(&out), "= 1 2 10 9 0 9")
           && o.marks == 3 && o.contexts == 3,
       "a saved tree behind a trace: %s", dp_buf_cstr(&out));

    image_text(&image, IMAGE_TREE);
    dp_buf_adds(&image.text, saved);
    image_state(&image, 0, true, true);
    image_piece(&image, DP_LIVE_NAMES, 0, NAMES, sizeof NAMES);
    image_piece(&image, DP_LIVE_NODES, 0, nodes, sizeof nodes);
    size_t whole = image.left.len;
    image_piece(&image, DP_LIVE_HISTOGRAMS, 0, nodes, sizeof nodes);
    image.left.ptr[whole + 16] = 1;
    ok(strstr(image_to(), "= 0 0 1 2 0 2 0 0 7\n= 1 2 3 4 0 4 4 1 8\n") && o.contexts == 2
           && o.code == DP_E_SYNTAX,
       "damaged pieces: the saved tree is the better one: %s", dp_buf_cstr(&out));

    /* The process ended normally: the header says so, whatever the pieces have. */
    image_text(&image, "#fOrTyTwO\n$hz=1000000000;\n$dprof_format='tree 1';"
                       " $dprof_counters='ops:ops'; $dprof_run='1.2.3'; $dprof_pid=7;\n"
                       "$rrun_utime=6; $rrun_stime=0; $rrun_rtime=6; $dprof_complete=1;\nPART3\n");
    dp_buf_adds(&image.text, saved);
    image_state(&image, 0, true, true);
    image_piece(&image, DP_LIVE_NODES, 0, nodes, sizeof nodes);
    is_s(image_to(), here, "a complete tree is read as it is");
    is_i(o.code, 0, "a complete tree needs no pieces");
    image_text(&image, "#fOrTyTwO\n$hz=1000000000;\n$dprof_format='trace 1'; $dprof_run='1.2.3';"
                       " $dprof_pid=7; $dprof_tid=0;\n"
                       "$rrun_utime=9; $rrun_stime=0; $rrun_rtime=9; $dprof_saved=1;\nPART2\n" NAMES
                       "@ 1 0 1\n+ 2\n");
    is_s(image_to(), NAMES "= 0 0 1 1 0 1 0 0\n= 1 2 1 0 0 0 0 0\n",
         "a saved trace gets no time from its header");
    is_i(o.code, DP_E_TRUNCATED, "a saved trace is truncated");
}

static void sites_and_pending(void)
{
    struct dp_cct_node nodes[] = { image_node(1, 0, 0, 0, 5), image_node(2, 1, 1, 1, 6),
                                   image_node(3, 1, 1, 9, 7), image_node(4, 1, 1, 2, 8) };
    nodes[1].site = 2;
    nodes[2].site = 1;
    nodes[3].site = 3;
    image_text(&image, IMAGE_TREE);
    image_state(&image, 0, true, true);
    image_piece(&image, DP_LIVE_NAMES, 0, NAMES, sizeof NAMES);
    image_piece(&image, DP_LIVE_SITES, 0, "a%20b:1\n", 9);
    image_piece(&image, DP_LIVE_NODES, 0, nodes, sizeof nodes);
    image_piece(&image, DP_LIVE_SITES, 1, "m.pl:7\nm.pl", 12);
    is_s(image_to(),
         NAMES "= 0 0 1 5 0 5 0 0 0\n= 1 1 2 8 0 8 8 1 20\n= 1 1 9 7 0 7 7 1 90 at=a%20b:1\n= 1 1"
               " 1 6 0 6 6 1 10 at=m.pl:7\n",
         "call sites come from pieces; one that was being added is left out");

    struct dp_live_state state = {
        .run = "1.2.3", .pid = 7, .hz = 1000000000, .rate = 1, .marks = 1, .pending = { 30, 5, 50 }
    };
    uint64_t words[] = { raw(100, DP_RAW_LEAVE, 1) };
    for (int round = 0; round < 4; round++) {
        image_text(&image, IMAGE_HEAD NAMES "@ 1 0 1\n+ 1\n");
        if (round == 1 || round == 3)
            dp_buf_adds(&image.text, "@ 130 5 150\n- 1\n");
        else if (round == 2)
            dp_buf_adds(&image.text, "@ 130 5 150\n-");
        image_piece(&image, DP_LIVE_STATE, 0, &state, sizeof state);
        image_piece(&image, DP_LIVE_MARKS, 0, words, round == 3 ? 0 : sizeof words);
        is_s(image_to(), NAMES "= 0 0 1 1 0 1 0 0\n= 1 1 1 130 5 150 150 150\nh 1 7:1\n",
             "pending time is counted once, %s",
             round == 0 ? "in the state"
             : round == 1 ? "in the text by now"
             : round == 2 ? "half in the text"
                          : "all in the text, and the state not yet told");
    }
}

/* Counters are in the text, in pieces, and split where a process was killed. */
static void counted_pieces(void)
{
    const char *all = THREE
        "= 0 0 1 10 0 10 0 0 1000 2000\n= 1 1 1 100 0 100 0 0 14 24\n= 2 2 1 250 0 250 5250 5250 7"
        " 9\n= 3 3 1 1000 0 5000 5000 5000 100 200\nh 2 12:1\nh 3 12:1\n";
    image_counted(&image);
    is_s(image_to(), all, "counters of marks come from the pieces");
    image.text.len -= strlen("@ 20 0 2");
    dp_buf_adds(&image.text, "@ 100 0 100 14 24\n+ 2\n@ 200 0 200 0 2\n& 3 m c m.pl:3\n+ 3\n@ 1000"
                             " 0 5000 100 200\n- ");
    is_s(image_to(), all, "counters in text and pieces count once");
    image_counted_tree(&image);
    is_s(image_to(),
         NAMES "= 0 0 1 1000 0 1000 0 0 0 1 2\n= 1 2 3 500 0 500 500 1 30 30 40\n= 2 1 4 60 0 60"
               " 60 1 40 500 600\n",
         "counters of contexts come from the pieces");
    image_counted(&image);
    struct dp_live_state *state =
        (struct dp_live_state *)(void *)(image.left.ptr + sizeof(struct dp_live_head));
    state->n_counts = UINT64_MAX;
    image_to();
    ok(o.code < 0, "an impossible number of counters is an error: %s", o.message);
}

/* Reads the columns of counters in a trace's text. */
static void counted_text(void)
{
    static const char head[] =
        "#fOrTyTwO\n$hz=10;\n$dprof_format='trace 1'; $dprof_counters='a:a b:u:b';\n" RRUN
        "PART2\n" NAMES;
    char text[1000];
    snprintf(
        text, sizeof text,
        "%s@ 1 0 1 5 6\n+ 1\n@ 0 0 0 0 7\n+ 2\n@ 2 0 2 1\n@ 1 0 1 2 3 4\n- 2\n@ 0 0 0 8 0\n- 1\n",
        head);
    struct dp_prof *prof = of_mem(text, strlen(text), 0);
    const char *got = written(prof);
    ok(strstr(got, "\n= 0 0 1 1 0 1 0 0 5 6\n= 1 1 1 0 0 0 3 3 8 7\n= 2 2 1 3 0 3 3 3 3 3\n")
           != NULL,
       "columns that are missing are 0, further ones nothing: %s", got);
    size_t len;
    ok(!strncmp(dp_prof_counter(prof, 1, &len), "b:u:b", len) && len == 5,
       "a counter's name may have a colon before its unit");
    dp_prof_free(prof);
    snprintf(text, sizeof text, "%s@ 1 0 1 999999999999999 1234567890123456\n"
             "@ 1 0 1 1234567890123456 1\n@ 000000000000000001 0 1 0 12345678901234567\n+ 1\n- 1\n",
             head);
    prof = of_mem(text, strlen(text), 0);
    got = written(prof);
    ok(strstr(got, "\n= 0 0 1 3 0 3 0 0 2234567890123455 13580246791358024\n") != NULL,
       "numbers of 15 and more digits are read exactly: %s", got);
    dp_prof_free(prof);
    snprintf(text, sizeof text, "%s@ 1 0 1 5 x\n+ 1\n", head);
    prof = of_mem(text, strlen(text), 0);
    dp_prof_outcome(prof, 0, &o);
    ok(o.code == DP_E_SYNTAX && strstr(o.message, "@ 1 0 1 5 x"),
       "what is no number is an error: %s", o.message);
    dp_prof_free(prof);
    snprintf(text, sizeof text,
             "%s@ 1 0 1 9000000000000000000 0\n@ 1 0 1 9000000000000000000 0\n+ 1\n- 1\n", head);
    prof = of_mem(text, strlen(text), 0);
    dp_prof_outcome(prof, 0, &o);
    ok(o.code < 0, "a counter that does not fit is an error: %s", o.message);
    dp_prof_free(prof);
}

/* Gives the same bytes in small portions. */
struct portions {
    const char *ptr;
    size_t left, step;
};

static long give(void *ctx, void *buf, size_t n)
{
    struct portions *p = ctx;
    if (n > p->step)
        n = p->step;
    if (n > p->left)
        n = p->left;
    memcpy(buf, p->ptr, n);
    p->ptr += n;
    p->left -= n;
    return (long)n;
}

static void portions(void)
{
    bool good = true;
    for (size_t step = 1; step < 70000 && good; step = step * 3 + 1) {
        image_tree(&image);
        struct portions p = { image.left.ptr, image.left.len, step };
        struct dp_source src;
        struct dp_pieces pieces, state;
        dp_pieces_init(&pieces);
        dp_pieces_init(&state);
        dp_source_fn(&src, give, &p);
        good = dp_pieces_read(&pieces, &src) == 0 && pieces.err.code == 0;
        dp_source_close(&src);
        good = good && pieces.nodes.len == 4 * DP_PIECE_N_COUNTS
               && pieces.histograms.len == 2 * DP_PIECE_HISTOGRAM && pieces.names.len == 30
               && pieces.has_state && pieces.marks.len == 0;
        p = (struct portions){ image.left.ptr, image.left.len, step };
        dp_source_fn(&src, give, &p);
        good = good && dp_pieces_read_names(&state, &src) == 0
               && !memcmp(state.state, pieces.state, sizeof state.state) && !state.nodes.len;
        dp_source_close(&src);
        dp_pieces_release(&pieces);
        dp_pieces_release(&state);
    }
    ok(good, "pieces are read in portions");
}

/* ---- merging ---- */

static char *merged(const char *const *files, size_t n)
{
    struct dp_prof *all = dp_prof_new();
    char message[240];
    dp_prof_detail(all);
    for (size_t i = 0; i < n; i++) {
        struct dp_prof *one = of_mem(files[i], strlen(files[i]), 0);
        if (dp_prof_merge(all, one, message) < 0)
            printf("# %s\n", message);
        dp_prof_free(one);
    }
    written(all);
    dp_prof_free(all);
    return strdup(dp_buf_cstr(&out));
}

static void merging(void)
{
    static const char *const files[] = {
        "#fOrTyTwO\n$hz=100;\n$dprof_format='tree 1';\n$dprof_counters='x ops:ops"
        " y';\n$dprof_run='r'; $dprof_perl='5.36.0'; $dprof_own_cpu=5;\n"
        RRUN "PART3\n" NAMES "= 0 0 1 1 2 3 0 0 4 5 6\n= 1 1 2 7 8 9 20 10 11 12 13\n= 1 2 2 7 8 9"
                             " 0 0 11 12 13 at=m.pl:3\nh 1 3:7\n",
        "#fOrTyTwO\n$hz=150;\n$dprof_format='tree 1';\n$dprof_counters='ops:ops"
        " x';\n$dprof_run='r'; $dprof_perl='5.36.1'; $dprof_own_cpu=7;\n"
        RRUN "PART3\n& 1 m __ANON__ m.pl:1\n& 2 m b m.pl:2\n= 0 0 3 1 2 3 0 0 4 5\n= 1 1 2 7 8 9"
             " 20 10 11 12\n= 2 1 1 1 1 1 3 0 0 0\nh 2 3:7\n",
        "#fOrTyTwO\n$hz=100;\n$dprof_format='trace 1';\n$dprof_run='r'; $dprof_perl='5.36.0';"
        " $dprof_limit_reached=1;\n"
        "$dprof_counters='x ops:ops';\nPART2\n& 9 m __ANON__ m.pl:1 in=m::a\n& 8 m a m.pl:1\n+"
        " 9\n@ 0 0 5\n+ 8\n@ 0 0 1\n- 8\n- 9\n",
    };
    const char *abc[] = { files[0], files[1], files[2] }, *cba[] = { files[2], files[1], files[0] };
    char *one = merged(abc, 3), *two = merged(cba, 3);
    is_s(two, one, "files merge alike in any order");
    char *bc = merged(abc + 1, 2);
    const char *grouped[] = { files[0], bc };
    char *three = merged(grouped, 2);
    is_s(three, one, "files merge alike in any grouping");
    const char *self[] = { one };
    char *four = merged(self, 1);
    is_s(four, one, "reading and writing change nothing");
    ok(strstr(one, "$hz=300;")
           && strstr(one, "$dprof_merged=3;\n$dprof_cut=1;\n$dprof_limit_reached=1;\n$dprof_run='r'"
                          ";\n$dprof_own_cpu=29;\n")
           && strstr(one, "$dprof_counters='ops:ops x';"),
       "the merged header has rate, counts and counters: %s", one);
    ok(strstr(one, "= 0 0 3 5 10 15 0 0 9 9\n") != NULL, "the merged root has the sums");
    free(one);
    free(two);
    free(three);
    free(four);
    free(bc);
    const char *odd = "#fOrTyTwO\n$hz=999999999989;\n" RRUN "PART2\n";
    struct dp_prof *all = of_mem(files[0], strlen(files[0]), 0),
                   *other = of_mem(odd, strlen(odd), 0);
    char message[240];
    is_i(dp_prof_merge(all, other, message), DP_E_LIMIT,
            "a rate without a common multiple is refused");
    is_u(dp_prof_hz(all), 100, "a refused file does not change the rate");
    dp_prof_free(other);
    other = dp_prof_new();
    is_i(dp_prof_merge(all, other, message), DP_E_ARG - DP_E_ARG,
            "merging an empty profile succeeds");
    dp_prof_free(other);
    dp_prof_free(all);
}

/* ---- allocations that fail ---- */

static bool everything(const struct dp_file_mem *mem)
{
    struct dp_buf text;
    struct dp_host host = { &text, collect, NULL };
    struct dp_write_how how = { .version = "x", .gzip = 1 };
    char message[240];
    bool good = false;
    dp_buf_init(&text);
    struct dp_prof *prof = dp_prof_new(), *all = dp_prof_new();
    if (!prof || !all)
        goto out;
    dp_prof_detail(prof);
    dp_prof_detail(all);
    int rc = dp_prof_add_left(prof, "t", mem, 0);
    if (rc == DP_E_NOMEM || dp_prof_merge(all, prof, message) < 0
        || dp_prof_write(all, &how, &host) < 0 || text.err)
        goto out;
    good = rc == 0 || rc == DP_E_TRUNCATED;
out:
    dp_prof_free(prof);
    dp_prof_free(all);
    dp_buf_release(&text);
    return good;
}

static void no_memory(const char *what, const struct dp_file_mem *mem)
{
    long n = 0;
    bool good = false, clean = true;
    long before = dp_mem_live();
    for (; n < 2000 && !good; n++) {
        dp_mem_fail_after(n);
        good = everything(mem);
        dp_mem_fail_after(-1);
        clean = clean && dp_mem_live() == before;
    }
    ok(good && n > 10, "%s: every allocation failed once (%ld)", what, n);
    ok(clean, "no failure leaks");
}

static bool save(const char *path, const struct dp_buf *bytes)
{
    FILE *to = fopen(path, "wb");
    return to && fwrite(bytes->ptr, 1, bytes->len, to) == bytes->len && fclose(to) == 0;
}

/* By path: with little memory, too, the pieces of a killed process are not overlooked. */
static void no_memory_beside(void)
{
    char path[] = "/tmp/21-tree-XXXXXX", left[sizeof path + sizeof DP_FMT_LIVE];
    int fd = mkstemp(path);
    snprintf(left, sizeof left, "%s" DP_FMT_LIVE, path);
    int code = DP_E_NOMEM;
    uint64_t marks = 0;
    image_trace(&image);
    ok(fd >= 0 && save(path, &image.text) && save(left, &image.left), "two files are written");
    close(fd);
    for (long n = 0; n < 500 && code == DP_E_NOMEM; n++) {
        dp_mem_fail_after(-1);
        struct dp_prof *prof = dp_prof_new();
        dp_mem_fail_after(n);
        code = dp_prof_add(prof, path, 0, NULL);
        dp_mem_fail_after(-1);
        if (code != DP_E_NOMEM) {
            dp_prof_outcome(prof, 0, &o);
            marks = o.marks;
        }
        dp_prof_free(prof);
    }
    is_i(code, DP_E_TRUNCATED, "the profile is read once memory suffices");
    is_u(marks, 6, "... with the marks of the pieces");
    remove(path);
    remove(left);
}

int main(void)
{
    dp_buf_init(&out);
    dp_buf_init(&image.text);
    dp_buf_init(&image.left);
    lines();
    left_out();
    errors();
    traces();
    pieces();
    odd_pieces();
    saved_tree();
    no_memory_beside();
    sites_and_pending();
    portions();
    counted_pieces();
    counted_text();
    merging();
    static const char text[] = HEAD NAMES
        "= 0 0 1 1 2 3 0 0 4 5\n= 1 1 6 7 8 9 20 10 11 12 at=m.pl:9 folded=3\n= 1 1 1 1 1 1 1 0 1"
        " 1\nh 1 0:5 3:7\n";
    no_memory("a tree", &(struct dp_file_mem){ text, NULL, sizeof text - 1, 0 });
    image_trace(&image);
    no_memory("pieces of a trace", &(struct dp_file_mem){ image.text.ptr, image.left.ptr,
                                                          image.text.len, image.left.len });
    image_tree(&image);
    no_memory("pieces of a tree", &(struct dp_file_mem){ image.text.ptr, image.left.ptr,
                                                         image.text.len, image.left.len });
    dp_buf_release(&out);
    dp_buf_release(&image.text);
    dp_buf_release(&image.left);
    is_i(dp_mem_live(), 0, "no memory is left");
    return tap_done();
}
