/* Trees and pieces: lines to contexts, errors and their places, what killed
 * processes left, and no memory. */
#include "tap.h"
#include "pieces.h"
#include "dp_flat.h"
#include "dp_mem.h"
#include "dp_prof.h"
#include "dp_reader_pieces.h"
#include "dp_select.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <zlib.h>

#define RRUN "$rrun_utime=0; $rrun_stime=0; $rrun_rtime=0;\n"
#define HEAD "#fOrTyTwO\n$hz=100;\n$dprof_format='tree 1';\n$dprof_counters='ops:ops x';\n" RRUN "PART3\n"
#define NAMES "& 1 m a m.pl:1\n& 2 m b m.pl:2\n"

static struct dp_buf out, image;
static struct dp_outcome o;

static int collect(void *ctx, const void *ptr, size_t len)
{
    dp_buf_add(ctx, ptr, len);
    return 0;
}

/* The tree lines that the profile is written as: from & on. */
static const char *written(const struct dp_prof *prof)
{
    struct dp_host host = { &out, collect, NULL };
    struct dp_write_how how = { "x", 0 };
    dp_buf_clear(&out);
    if (dp_prof_write(prof, &how, &host) < 0)
        return "could not be written";
    const char *text = dp_buf_cstr(&out), *part = strstr(text, "PART3\n");
    return part ? part + 6 : "no PART3";
}

static struct dp_prof *of_mem(const char *ptr, size_t len, unsigned flags)
{
    struct dp_prof *prof = dp_prof_new();
    dp_prof_detail(prof);
    dp_prof_add_mem(prof, "t", ptr, len, flags);
    dp_prof_outcome(prof, 0, &o);
    return prof;
}

/* What a file comes to, and its outcome in o; the message is borrowed from `kept`. */
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
    is_s(tree(NAMES "= 0 0 1 1 2 3 0 0 4 5\n= 1 1 6 7 8 9 20 10 11 12 at=m.pl:9 folded=3 new=1\n= 2 2 1 1 1 1 1 1 1 1\n"
              "= 1 1 1 1 1 1 1 0 1 1\n= 1 2 1 1 0 1 0 0 0 0\nh 1 0:5 3:7\n"),
         NAMES "= 0 0 1 1 2 3 0 0 4 5\n= 1 1 1 1 1 1 1 0 1 1\n= 1 1 6 7 8 9 20 10 11 12 at=m.pl:9 folded=3\n= 2 2 1 1 1 1 1 1 1 1\n"
         "= 1 2 1 1 0 1 0 0 0 0\nh 1 0:5 3:7\n", "all that a tree can hold, in order");
    is_i(o.code, 0, "and it is whole");
    is_u(o.contexts, 5, "five contexts");
    ok(o.tree, "a tree");
    is_s(tree("&  2 m b m.pl:2\r\n#x\n\n& 1 m a m.pl:1\n= 0\t0 1 1 2 3 0 0 4 5 \r\n= 1 1 6 7 8 9 9 1 11 12\n= 1 1 6 7 8 9 30 2 11 12\n"
              "= 0 0 0 1 1 1 0 0 0 0\nh 1 1:1\nh 1 1:2 60:4\n"),
         NAMES "= 0 0 1 2 3 4 0 0 4 5\n= 1 1 12 14 16 18 30 1 22 24\nh 1 1:3 47:4\n", "what comes twice is added; blanks, CRLF");
    is_s(tree("& 9 m b m.pl:2\n& 7 m a m.pl:1\n= 0 0 0 0 0 0 0 0 0 0\n= 1 9 1 0 0 1 1 1 0 0 77 k=v\n"),
         NAMES "= 0 0 1 0 0 0 0 0 0 0\n= 1 2 1 0 0 1 1 1 0 0\n", "numbers anew; more columns are skipped");
    is_s(tree("& 1 m __ANON__ m.pl:1 seq=7 in=m::x\n& 2 m __ANON__ m.pl:1 seq=9 in=m::a\n= 0 0 1 0 0 0 0 0 0 0\n= 1 2 1 0 0 0 0 0 0 0\n"),
         "& 1 m __ANON__ m.pl:1 seq=1 in=m::x\n& 2 m __ANON__ m.pl:1 seq=2 in=m::a\n= 0 0 1 0 0 0 0 0 0 0\n= 1 2 1 0 0 0 0 0 0 0\n",
         "nameless subs of one place stay apart");
}

static void fails(const char *lines, int code, uint64_t line, uint64_t byte, const char *message)
{
    tree(lines);
    is_i(o.code, code, "%s", message);
    is_u(o.line, line, "its line");
    is_u(o.byte, strlen(HEAD) + byte, "its byte");
    ok(strncmp(o.message, message, strlen(message)) == 0, "its text: %s", o.message);
}

static void errors(void)
{
    const char *root = NAMES "= 0 0 1 0 0 0 0 0 0 0\n";
    static char text[600];
    static const struct { const char *line, *message; int code; } bad[] = {
        { "= 2 1 1 0 0 0 0 0 0 0\n", "Bad profile: = 2 1", DP_E_SYNTAX },              /* a jump */
        { "= 1 3 1 0 0 0 0 0 0 0\n", "Bad profile: = 1 3", DP_E_SYNTAX },              /* no such sub */
        { "= 1 0 1 0 0 0 0 0 0 0\n", "Bad profile: = 1 0", DP_E_SYNTAX },              /* the root below the root */
        { "= 0 1 1 0 0 0 0 0 0 0\n", "Bad profile: = 0 1", DP_E_SYNTAX },
        { "= 1 1 1 0 0 0 0 0 0\n", "Bad profile: = 1 1", DP_E_SYNTAX },                /* a counter is missing */
        { "= 1 1 1 0 0 -1 0 0 0 0\n", "Bad profile: = 1 1", DP_E_SYNTAX },
        { "= 1 1 99999999999999999999 0 0 0 0 0 0 0\n", "Bad profile: = 1 1", DP_E_SYNTAX },
        { "= 1 1 1 0 0 4611686018427387904 0 0 0 0\n", "Bad profile: = 1 1", DP_E_SYNTAX },
        { "= 4294967296 1 1 0 0 0 0 0 0 0\n", "Bad profile: = 42", DP_E_SYNTAX },
        { "h 3 1:1\n", "Bad profile: h 3", DP_E_SYNTAX },
        { "h 1 64:1\n", "Bad profile: h 1", DP_E_SYNTAX },
        { "h 1 1\n", "Bad profile: h 1 1", DP_E_SYNTAX },
        { "+ 1\n", "Bad profile: + 1", DP_E_SYNTAX },
        { "& 1 m\n", "Bad profile: & 1 m", DP_E_SYNTAX },
        { "= 1 1 1 0 0", "the last line is not whole", DP_E_TRUNCATED },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, "%s%s", root, bad[i].line);
        fails(text, bad[i].code, 10, strlen(root), bad[i].message);
    }
    fails("= 1 1 1 0 0 0 0 0 0 0\n", DP_E_SYNTAX, 7, 0, "Bad profile: = 1 1");
    snprintf(text, sizeof text, "%s%s%s", root, "= 1 1 1 0 0 4611686018427387903 0 0 0 0\n", "= 1 2 1 0 0 1 0 0 0 0\n");
    fails(text, DP_E_LIMIT, 11, strlen(root) + 40, "the times add up to more than fits");
    tree("= 0 0 1 0 0 0 0 0 0 0\n= 3 1");
    is_i(o.code, DP_E_TRUNCATED, "a tree that breaks off");
    const char *newer = "#fOrTyTwO\n$dprof_format='tree 2';\nPART3\n";
    comes_to(newer, strlen(newer));
    is_i(o.code, DP_E_VERSION, "newer");
    ok(strstr(o.message, "'tree 2'") && strstr(o.message, "'tree 1'"), "both are named: %s", o.message);
}

static void traces(void)
{
#define TRACE "#fOrTyTwO\n$hz=100;\n$dprof_format='trace 1';\n$rrun_utime=50; $rrun_stime=0; $rrun_rtime=100;\nPART2\n"
    const char *text = TRACE "& 2 m a m.pl:1\n& 3 m b m.pl:2\n@ 1 0 1\n+ 2\n@ 2 0 2\n+ 3\n@ 4 0 4\n- 3\n+ 3\n@ 8 0 8\n- 3\n@ 16 0 16\nPART3\n"
        "& 1 m b m.pl:2\n& 2 m a m.pl:1\n= 0 0 0 0 0 5 0 0\n= 1 2 1 0 0 20 30 30\n= 2 1 1 0 0 7 7 7\nh 1 26:1\n";
    is_s(comes_to(text, strlen(text)),
         NAMES "= 0 0 1 20 0 43 0 0\n= 1 1 2 18 0 38 30 30\n= 2 2 3 12 0 19 8 4\nh 2 25:1 26:2\n", "a trace that goes on as a tree");
    is_i(o.code, 0, "is whole, whatever was running");
    is_u(o.open, 0, "nothing is open");
    is_u(o.marks, 5, "its marks");
    struct dp_trace_how how = { 0, 0, 0, NULL, 0 };
    struct dp_host host = { &out, collect, NULL };
    struct dp_trace *t = dp_trace_new(&how, &host);
    dp_buf_clear(&out);
    is_i(dp_trace_add_mem(t, "t", text, strlen(text)), DP_E_TRUNCATED, "its calls one by one end there");
    is_s(dp_buf_cstr(&out), "m::a\n   m::b\n   m::b\n", "those that there are");
    is_i(dp_trace_add_mem(t, "t", HEAD, strlen(HEAD)), DP_E_ARG, "a tree has no order of calls");
    dp_trace_outcome(t, &o);
    ok(strstr(o.message, "use -S") != NULL, "it says what to do: %s", o.message);
    dp_trace_free(t);
    text = TRACE "& 2 m a m.pl:1\n& 3 m b m.pl:2\n+ 2\n@ 0 0 1\n* 3\n@ 0 0 9\n- 2\n+ 2\n+ 2\n@ 0 0 3\n/ 2\n- 2\n";
    is_s(comes_to(text, strlen(text)), NAMES "= 0 0 1 50 0 87 0 0\n= 1 1 2 0 0 1 3 1\n= 2 1 1 0 0 3 3 3\n= 1 2 1 0 0 9 9 9\n"
         "h 1 23:1 24:2\nh 2 26:1\n", "spans and histograms of a trace: goto, recursion, exceptions");
}

/* ---- pieces ---- */

static void layout(void)
{
    is_u(sizeof(struct dp_live_head), DP_PIECE_HEAD, "the head");
    is_u(DP_LIVE_ALIGN, DP_PIECE_ALIGN, "where it stands");
    ok(DP_LIVE_MAGIC == DP_PIECE_MAGIC, "its magic");
    is_u(sizeof(struct dp_cct_node), DP_PIECE_NODE, "a node");
    is_u(sizeof(struct dp_cct_histogram), DP_PIECE_HISTOGRAM, "a histogram");
    is_u(sizeof(struct dp_live_state), 8 * DP_PIECE_S_WORDS, "the state");
    is_u(DP_RAW_CPU_WORDS, DP_PIECE_CPU_WORDS, "a reading of the CPU clock");
    is_u(DP_RAW_ID_BITS, DP_PIECE_ID_BITS, "bits of an id");
    ok((int)DP_RAW_CPU == (int)DP_PIECE_CPU && (int)DP_CCT_BUCKETS == (int)DP_FMT_BUCKETS, "kinds, buckets");
#define AT(field, at) is_u(offsetof(struct dp_cct_node, field), at, "a node's " #field)
    AT(number, DP_PIECE_N_NUMBER);
    AT(parent, DP_PIECE_N_PARENT);
    AT(id, DP_PIECE_N_ID);
    AT(calls, DP_PIECE_N_CALLS);
    AT(real, DP_PIECE_N_REAL);
    AT(wait, DP_PIECE_N_WAIT);
    AT(sys, DP_PIECE_N_SYS);
    AT(ops, DP_PIECE_N_OPS);
    AT(longest, DP_PIECE_N_LONGEST);
    AT(shortest, DP_PIECE_N_SHORTEST);
    AT(folded, DP_PIECE_N_FOLDED);
    is_u(offsetof(struct dp_live_state, tree), 8 * DP_PIECE_S_TREE, "the state's tree");
    is_u(offsetof(struct dp_live_state, marks), 8 * DP_PIECE_S_MARKS, "the state's marks");
}

#define THREE "& 1 m a m.pl:1\n& 2 m b m.pl:2\n& 3 m c m.pl:3\n"

static const char *image_to(void) { return comes_to(image.ptr, image.len); }

static void pieces(void)
{
    const char *all = THREE "= 0 0 1 10 0 10 0 0\n= 1 1 1 90 0 100 0 0\n= 2 1 1 7 0 7 7 7\n= 2 2 1 230 0 250 5250 5250\n"
                      "= 3 3 1 1000 0 5000 5000 5000\nh 1 2:1\nh 2 12:1\nh 3 12:1\n";
    image_trace(&image);
    is_s(image_to(), all, "what is not in the text is in the pieces");
    is_i(o.code, DP_E_TRUNCATED, "it was cut short");
    ok(!strcmp(o.message, "the process did not come to its end"), "for a reason: %s", o.message);
    is_u(o.open, 1, "a call had not ended");
    is_u(o.marks, 6, "all marks");

    /* killed while it wrote: two of the marks are in the text already */
    char *text = NULL;
    struct dp_buf copy;
    dp_buf_init(&copy);
    dp_buf_add(&copy, image.ptr, image.len);
    const char *more = "@ 90 0 100\n+ 2\n@ 180 0 200\n& 3 m c m.pl:3\n+ 3\n@ 1000 0 50";
    text = copy.ptr + strlen(IMAGE_HEAD "& 1 m a m.pl:1\n& 2 m b m.pl:2\n@ 10 0 10\n+ 1\n");
    memset(text, 0, 40);
    memcpy(text, more, strlen(more));
    is_s(comes_to(copy.ptr, copy.len), THREE "= 0 0 1 10 0 10 0 0\n= 1 1 1 90 0 100 0 0\n= 2 1 1 7 0 7 7 7\n"
         "= 2 2 1 230 0 250 5250 5250\n= 3 3 1 1000 0 5000 5000 5000\nh 1 2:1\nh 2 12:1\nh 3 12:1\n", "and none counts twice");
    is_u(o.marks, 6, "all marks once");
    dp_buf_release(&copy);

    image_tree(&image);
    is_s(image_to(), NAMES "= 0 0 1 1000 0 1000 0 0 0\n= 1 2 3 360 40 500 500 1 30\n= 2 1 4 60 0 60 60 1 40\n"
         "= 3 2 5 7 0 7 7 1 50 folded=9\nh 1 4:4\nh 2 0:5 9:3\n", "a tree; names behind the nodes");
    is_i(o.code, DP_E_TRUNCATED, "was cut short, too");
    is_u(o.contexts, 4, "its contexts");

    /* from a trace's text to a tree in pieces: nothing in the text says so */
    struct dp_cct_node nodes[] = { image_node(1, 0, 0, 0, 5), image_node(2, 1, 2, 0, 6), image_node(3, 2, 1, 2, 7) };
    uint64_t words[] = { raw(100, DP_RAW_ENTER, 2), 0 };
    image_text(&image, IMAGE_HEAD NAMES "@ 1 0 1\n+ 2\n@ 2 0 2\n+ 1\n- 1\n");
    image_state(&image, 3, true, false);
    image_piece(&image, DP_LIVE_MARKS, 0, words, sizeof words);
    image_piece(&image, DP_LIVE_NODES, 0, nodes, sizeof nodes);
    is_s(image_to(), NAMES "= 0 0 1 6 0 6 0 0\n= 1 2 1 8 0 8 0 0\n= 2 1 3 7 0 7 7 0\nh 1 0:1\n", "a trace that had become a tree");
}

static void odd_pieces(void)
{
    uint64_t words[] = { raw(1, DP_RAW_ENTER, 1), raw(1, DP_RAW_ENTER, 2), raw(1, DP_RAW_LEAVE, 2), raw(1, DP_RAW_ENTER, 9), raw(1, DP_RAW_LEAVE, 9) };
    image_text(&image, IMAGE_HEAD "& 1 m a m.pl:1\n& 3 m c m.pl:3\n");
    image_state(&image, 0, false, false);
    image_piece(&image, DP_LIVE_MARKS, 0, words, sizeof words);
    ok(strstr(image_to(), "(no%20name)") && strstr(image_to(), "= 1 2 1 1 0 1 0 0\n= 2 1 1 1 0 1 1 1\n"), "a sub without a name: %s", out.ptr);
    is_i(o.code, DP_E_SYNTAX, "is an error");
    is_u(o.marks, 3, "and goes on, up to ids that are yet to be named");
    words[1] = raw(1, DP_RAW_ENTER, 3);
    image_text(&image, IMAGE_HEAD "& 1 m a m.pl:1\n& 3 m c m.pl:3\n");
    image_state(&image, 0, false, false);
    image_piece(&image, DP_LIVE_MARKS, 0, words, sizeof words);
    image_to();
    is_i(o.code, DP_E_TRUNCATED, "names that are not there yet");
    ok(strstr(o.message, "without a name yet") != NULL, "are told of: %s", o.message);

    image_trace(&image);
    size_t state = DP_LIVE_ALIGN, marks = 3 * DP_LIVE_ALIGN;
    uint64_t size = 4097, huge = UINT64_C(1) << 50, none = 0;
    double rate = 0;
    memcpy(image.ptr + marks + 16, &size, 8);
    image_to();
    is_i(o.code, DP_E_SYNTAX, "a piece of an odd size");
    is_u(o.byte, marks, "its place");
    is_u(o.marks, 1, "what came before is there");
    memcpy(image.ptr + marks + 16, &huge, 8);
    image_to();
    is_i(o.code, DP_E_SYNTAX, "of a huge one");
    image_trace(&image);
    size = 1 << 20;
    memcpy(image.ptr + marks + 16, &size, 8);
    image_to();
    ok(o.code == DP_E_TRUNCATED && o.marks == 6, "larger than the file");
    image.ptr[marks + 8] = 99;
    image_to();
    ok(o.code == DP_E_TRUNCATED && o.marks == 1, "of a kind to come");
    image_trace(&image);
    memcpy(image.ptr + state + 24 + 8, &rate, 8);
    image_to();
    is_i(o.code, DP_E_SYNTAX, "no clock");
    image_trace(&image);
    memcpy(image.ptr + state, &none, 8);
    image.ptr[state] = 'x';
    image_to();
    ok(o.code == DP_E_SYNTAX && o.byte == state, "no piece: %s", o.message);
    image_trace(&image);
    image.ptr[state] = 2;
    image_to();
    ok(o.code == DP_E_TRUNCATED && strstr(o.message, "another version"), "of another version: %s", o.message);
    image_trace(&image);
    for (int i = 0; i < 4; i++) {
        char c = image.ptr[state + i];
        image.ptr[state + i] = image.ptr[state + 7 - i];
        image.ptr[state + 7 - i] = c;
    }
    image_to();
    ok(o.code == DP_E_TRUNCATED && strstr(o.message, "another kind of machine"), "of another byte order");
    image_trace(&image);
    image.ptr[state - 1] = 'x';
    image_to();
    ok(o.code == DP_E_SYNTAX && strstr(o.message, "Bad profile: @ 20 0 2"), "a line with NULs in it: %s", o.message);
    for (size_t n = strlen(IMAGE_HEAD), good = 1; n <= 4 * DP_LIVE_ALIGN; n += n < state + 100 ? 1 : 97) {
        image_trace(&image);
        image_tree(&image);
        comes_to(image.ptr, n);
        good = good && o.code == DP_E_TRUNCATED;
        if (!good || n + 97 > 4 * DP_LIVE_ALIGN) {
            ok(good, "cut anywhere (%zu): %s", n, o.message);
            break;
        }
    }
    struct dp_cct_node nodes[] = { image_node(1, 0, 0, 0, 5), image_node(2, 2, 1, 0, 6), image_node(77, 1, 1, 2, 7), image_node(3, 1, 1, 1, 8) };
    image_text(&image, IMAGE_TREE NAMES);
    image_state(&image, 0, true, true);
    image_piece(&image, DP_LIVE_NODES, 0, nodes, sizeof nodes);
    is_s(image_to(), NAMES "= 0 0 1 5 0 5 0 0 0\n= 1 1 1 8 0 8 8 1 10\n", "contexts that cannot be are left out");
    is_i(o.code, DP_E_SYNTAX, "and are an error");
    image_text(&image, IMAGE_TREE NAMES "= 0 0 1 2 0 2 0 0 0\n");
    image_state(&image, 0, true, true);
    image_piece(&image, DP_LIVE_NODES, 0, nodes, sizeof *nodes);
    is_s(image_to(), NAMES "= 0 0 1 2 0 2 0 0 0\n", "a text that has the tree already");
}

/* The same bytes in small portions, as a pipe may give them. */
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

static uint64_t count_marks(size_t step, uint64_t *contexts)
{
    struct portions p = { image.ptr, image.len, step };
    struct dp_source src;
    struct dp_header head;
    struct dp_read_info info;
    struct dp_err err;
    struct dp_prof *prof = dp_prof_new();
    struct dp_consumer to;
    dp_err_init(&err);
    dp_header_init(&head);
    dp_source_fn(&src, give, &p);
    dp_prof_consumer(prof, &to);
    to.header = NULL;
    struct dp_file file;
    dp_file_init(&file, "t", 0);
    prof->file = &file;
    int rc = dp_reader_run(&src, &to, &head, &info, &err);
    dp_source_close(&src);
    dp_header_release(&head);
    dp_file_release(&file);
    prof->file = NULL;
    dp_prof_free(prof);
    *contexts = info.contexts;
    return rc == DP_E_TRUNCATED ? info.marks : 999;
}

static void portions(void)
{
    bool good = true;
    uint64_t contexts;
    for (size_t step = 1; step < 5000 && good; step = step * 3 + 1) {
        image_trace(&image);
        good = count_marks(step, &contexts) == 6;
        image_tree(&image);
        good = good && count_marks(step, &contexts) == 0 && contexts == 4;
    }
    ok(good, "in portions");
    /* packed */
    static unsigned char packed[65536];
    image_trace(&image);
    z_stream z;
    memset(&z, 0, sizeof z);
    deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    z.next_in = (unsigned char *)image.ptr;
    z.avail_in = (uInt)image.len;
    z.next_out = packed;
    z.avail_out = sizeof packed;
    deflate(&z, Z_FINISH);
    size_t n = z.total_out;
    deflateEnd(&z);
    comes_to((char *)packed, n);
    ok(o.code == DP_E_TRUNCATED && o.marks == 6, "packed");
    comes_to((char *)packed, n - 20);
    ok(o.code == DP_E_TRUNCATED, "packed, and cut: %s", o.message);
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
        "#fOrTyTwO\n$hz=100;\n$dprof_format='tree 1';\n$dprof_counters='x ops:ops y';\n$dprof_run='r'; $dprof_perl='5.36.0'; $dprof_own_cpu=5;\n"
        RRUN "PART3\n" NAMES "= 0 0 1 1 2 3 0 0 4 5 6\n= 1 1 2 7 8 9 20 10 11 12 13\n= 1 2 2 7 8 9 0 0 11 12 13 at=m.pl:3\nh 1 3:7\n",
        "#fOrTyTwO\n$hz=150;\n$dprof_format='tree 1';\n$dprof_counters='ops:ops x';\n$dprof_run='r'; $dprof_perl='5.36.1'; $dprof_own_cpu=7;\n"
        RRUN "PART3\n& 1 m __ANON__ m.pl:1\n& 2 m b m.pl:2\n= 0 0 3 1 2 3 0 0 4 5\n= 1 1 2 7 8 9 20 10 11 12\n= 2 1 1 1 1 1 3 0 0 0\nh 2 3:7\n",
        "#fOrTyTwO\n$hz=100;\n$dprof_format='trace 1';\n$dprof_run='r'; $dprof_perl='5.36.0'; $dprof_limit_reached=1;\n"
        "$dprof_counters='x ops:ops';\nPART2\n& 9 m __ANON__ m.pl:1 in=m::a\n& 8 m a m.pl:1\n+ 9\n@ 0 0 5\n+ 8\n@ 0 0 1\n- 8\n- 9\n",
    };
    const char *abc[] = { files[0], files[1], files[2] }, *cba[] = { files[2], files[1], files[0] };
    char *one = merged(abc, 3), *two = merged(cba, 3);
    is_s(two, one, "any order");
    char *bc = merged(abc + 1, 2);
    const char *grouped[] = { files[0], bc };
    char *three = merged(grouped, 2);
    is_s(three, one, "any grouping");
    const char *self[] = { one };
    char *four = merged(self, 1);
    is_s(four, one, "read and written again");
    ok(strstr(one, "$hz=300;") && strstr(one, "$dprof_merged=3;\n$dprof_cut=1;\n$dprof_limit_reached=1;\n$dprof_run='r';\n$dprof_own_cpu=29;\n")
       && strstr(one, "$dprof_counters='ops:ops x';"), "the header: %s", one);
    ok(strstr(one, "= 0 0 5 5 10 15 0 0 9 8\n") != NULL, "the sums");
    free(one);
    free(two);
    free(three);
    free(four);
    free(bc);
    const char *odd = "#fOrTyTwO\n$hz=999999999989;\n" RRUN "PART2\n";
    struct dp_prof *all = of_mem(files[0], strlen(files[0]), 0), *other = of_mem(odd, strlen(odd), 0);
    char message[240];
    is_i(dp_prof_merge(all, other, message), DP_E_LIMIT, "ticks that go with nothing");
    is_u(dp_prof_hz(all), 100, "leave the rest alone");
    dp_prof_free(other);
    other = dp_prof_new();
    is_i(dp_prof_merge(all, other, message), DP_E_ARG - DP_E_ARG, "nothing is nothing");
    dp_prof_free(other);
    dp_prof_free(all);
}

/* ---- no memory ---- */

static bool everything(const char *ptr, size_t len)
{
    struct dp_buf text;
    struct dp_host host = { &text, collect, NULL };
    struct dp_write_how how = { "x", 1 };
    char message[240];
    bool good = false;
    dp_buf_init(&text);
    struct dp_prof *prof = dp_prof_new(), *all = dp_prof_new();
    if (!prof || !all)
        goto out;
    dp_prof_detail(prof);
    dp_prof_detail(all);
    int rc = dp_prof_add_mem(prof, "t", ptr, len, 0);
    if (rc == DP_E_NOMEM || dp_prof_merge(all, prof, message) < 0 || dp_prof_write(all, &how, &host) < 0 || text.err)
        goto out;
    good = rc == 0 || rc == DP_E_TRUNCATED;
out:
    dp_prof_free(prof);
    dp_prof_free(all);
    dp_buf_release(&text);
    return good;
}

static void no_memory(const char *what, const char *ptr, size_t len)
{
    long n = 0;
    bool good = false, clean = true;
    long before = dp_mem_live();
    for (; n < 2000 && !good; n++) {
        dp_mem_fail_after(n);
        good = everything(ptr, len);
        dp_mem_fail_after(-1);
        clean = clean && dp_mem_live() == before;
    }
    ok(good && n > 30, "%s: every allocation failed once (%ld)", what, n);
    ok(clean, "and nothing leaked");
}

int main(void)
{
    dp_buf_init(&out);
    dp_buf_init(&image);
    lines();
    errors();
    traces();
    layout();
    pieces();
    odd_pieces();
    portions();
    merging();
    static const char text[] = HEAD NAMES "= 0 0 1 1 2 3 0 0 4 5\n= 1 1 6 7 8 9 20 10 11 12 at=m.pl:9 folded=3\n= 1 1 1 1 1 1 1 0 1 1\nh 1 0:5 3:7\n";
    no_memory("a tree", text, sizeof text - 1);
    image_trace(&image);
    no_memory("pieces of a trace", image.ptr, image.len);
    image_tree(&image);
    no_memory("pieces of a tree", image.ptr, image.len);
    dp_buf_release(&out);
    dp_buf_release(&image);
    is_i(dp_mem_live(), 0, "nothing is left");
    return tap_done();
}
