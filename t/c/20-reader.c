/* Lines become events, whatever their shape; errors have their places. */
#include "tap.h"
#include "dp_buf.h"
#include "dp_reader.h"
#include "dp_reader_formats.h"

#include <inttypes.h>
#include <stdlib.h>

#define HEAD "#fOrTyTwO\n$hz=100;\n$XS_VERSION='x';\n" \
    "$rrun_utime=0; $rrun_stime=0; $rrun_rtime=0;\nPART2\n"

/* Everything that the reader reports to a consumer, as text. */
static struct dp_buf told;
static struct dp_err err;
static struct dp_read_info info;
static uint32_t subs;

static int64_t on_sub(void *ctx, const struct dp_subdef *d)
{
    (void)ctx;
    dp_buf_addf(&told, "[%.*s|%.*s|%.*s:%" PRIu64 "|%.*s|%.*s|%d|%" PRIu64 "]", (int)d->package.len,
                d->package.ptr, (int)d->name.len, d->name.ptr, (int)d->file.len, d->file.ptr,
                d->line, (int)d->autoload.len, d->autoload.ptr, (int)d->in.len, d->in.ptr, d->xs,
                d->seq);
    return subs++;
}

static int on_events(void *ctx, struct dp_event *ev, uint64_t *counts, size_t n, size_t *bad,
                     struct dp_err *e)
{
    (void)ctx;
    (void)counts;
    (void)bad;
    (void)e;
    for (size_t i = 0; i < n; i++) {
        if (ev[i].op < DP_OP_ENTER && !ev[i].t[0] && !ev[i].t[1] && !ev[i].t[2])
            continue;
        dp_buf_addf(&told, "%c%d(%" PRIu64 ",%" PRIu64 ",%" PRIu64 ")", "tr+-/*"[ev[i].op],
                    (int)ev[i].sub, ev[i].t[0], ev[i].t[1], ev[i].t[2]);
    }
    return 0;
}

static const char *read_mem(const char *text, size_t len, int *code)
{
    struct dp_consumer to = { .sub = on_sub, .events = on_events };
    struct dp_source src;
    struct dp_header head;
    dp_buf_clear(&told);
    dp_err_init(&err);
    dp_header_init(&head);
    subs = 0;
    dp_source_mem(&src, text, len);
    int rc = dp_reader_run(&src, NULL, dp_import_find, &to, &head, &info, &err);
    dp_source_close(&src);
    dp_header_release(&head);
    if (code)
        *code = rc;
    return dp_buf_cstr(&told);
}

static const char *trace(const char *lines, int *code)
{
    static char text[8192];
    snprintf(text, sizeof text, "%s%s", HEAD, lines);
    return read_mem(text, strlen(text), code);
}

static void shapes(void)
{
    int rc;
    is_s(trace("& 2 main bar\n@ 1 2 3\n+ 2\n@ 4 5 6\n- 2\n", &rc),
         "[main|bar|:0|||0|0]+0(1,2,3)-0(4,5,6)", "lines of the new style are read");
    is_i(rc, 0, "the new style ends without an error");
    is_u(info.marks, 2, "two marks are counted");
    is_s(trace("& 2 main bar\r\n@ 1 2 3\r\n+ 2\r\n- 2\r\n", &rc),
         "[main|bar|:0|||0|0]+0(1,2,3)-0(0,0,0)", "lines that end in CRLF are read");
    is_s(trace("&  2\tmain bar\n@  1  2  3 \n +\t2 \n\n# x\n", &rc), "[main|bar|:0|||0|0]+0(1,2,3)",
         "blanks, comments and empty lines are skipped");
    is_s(trace("& 2 a b\n@ 1 1 1\n@ 2 2 2\n+ 2\n@ 9 9 9\n", &rc),
         "[a|b|:0|||0|0]+0(3,3,3)t-1(9,9,9)",
                 "times between marks add up; the last come as a tail");
    is_s(trace("& 2 a b\n@ 1 2 3 77 88 99\n+ 2\n", &rc), "[a|b|:0|||0|0]+0(1,2,3)",
         "further columns are skipped");
    is_s(trace("& 2 a b\n@ 12345678 2 1234567890\n+ 2\n", &rc),
         "[a|b|:0|||0|0]+0(12345678,2,1234567890)", "long numbers are read");
    is_s(trace("& 2 a b\n@ -5 2 3\n+ 2\n", &rc), "[a|b|:0|||0|0]+0(0,2,3)",
         "a negative time counts as 0");
    is_s(trace("& 0002 a b\n+ 2\n+ 02\n- 0002\n& AbC c d\n+ abc\n+ ABC\n", &rc),
         "[a|b|:0|||0|0][c|d|:0|||0|0]+0(0,0,0)+0(0,0,0)-0(0,0,0)+1(0,0,0)+1(0,0,0)",
         "ids are compared as numbers");
    is_s(trace("& ffffffffffffffff a b\n+ ffffffffffffffff\n- ffffffffffffffff\n", &rc),
         "[a|b|:0|||0|0]+0(0,0,0)-0(0,0,0)", "an id of 64 bits is read");
    is_s(trace("& 2 a b\n+ 2\n* 2\n/ 2\n- 99\n", &rc),
         "[a|b|:0|||0|0]+0(0,0,0)*0(0,0,0)/0(0,0,0)--1(0,0,0)",
         "all kinds of marks are read; an exit may have an unknown id");
    is_s(trace("& 2 main x lib/a:b.pm:12 kind=xs autoload=M::AUTOLOAD in=M::f seq=9 new=1\n", &rc),
         "[main|x|lib/a:b.pm:12|M::AUTOLOAD|M::f|1|9]", "extra fields are read");
    is_s(trace("+ 5 6 7 A::B::c\n- 9 6 9 A::B::c\n", &rc), "[A::B|c|:0|||0|0]+0(0,0,0)-0(4,0,2)",
         "lines of the old style are read");
    is_s(trace("+ 5 6 7 A::c\n@ 1 1 1\n- 9 8 9 A::c\n+ 1 1 1 A::c\n- 2 1 1 A::c\n", &rc),
         "[A|c|:0|||0|0]+0(0,0,0)-0(4,2,2)+0(0,0,0)-0(1,0,0)",
                 "both styles mix; a clock set back counts as 0");
    is_s(trace("& 2 a b\n+ 2\n@ 1 1 1\n+ & Devel::DProf::write\n@ 50 50 50\n- &"
               " Devel::DProf::write\n@ 2 2 2\n- 2\n",
               &rc),
         "[a|b|:0|||0|0]+0(0,0,0)-0(3,3,3)", "the recorder's own writing is left out");
    is_u(info.marks, 2, "the recorder's own writing is no mark");
    is_s(trace("+ & X::y\n- & X::y\n", &rc), "[X|y|:0|||0|0]+0(0,0,0)-0(0,0,0)",
            "a mark may have a name");
}

static void escapes(void)
{
    int rc;
    const char *text = "#fOrTyTwO\n$dprof_format='trace 1';\nPART2\n& 2 % a%20b%25%1B lib/%0a.pm:3"
                       " in=x%3By\n+ 2\n";
    is_s(read_mem(text, strlen(text), &rc), "[|a b%\x1b|lib/\n.pm:3||x;y|0|0]+0(0,0,0)",
         "%XX is decoded in new files");
    is_s(trace("& 2 % a%20\n", &rc), "[%|a%20|:0|||0|0]", "%XX is not decoded in classic files");
}

static void fails(const char *lines, int code, uint64_t line, uint64_t byte, const char *message)
{
    int rc;
    trace(lines, &rc);
    is_i(rc, code, "%s", message);
    is_u(err.line, line, "the error has its line");
    is_u(err.byte, byte, "the error has its byte");
    ok(strncmp(err.message, message, strlen(message)) == 0,
            "the error has its text: %s", err.message);
}

static void errors(void)
{
    const uint64_t at = strlen(HEAD);
    fails("& 2 a b\n+ 2\nrubbish\n+ 2\n", DP_E_SYNTAX, 8, at + 12, "Bad profile: rubbish");
    fails("+ 2\n", DP_E_SYNTAX, 6, at, "Bad profile: + 2");
    fails("& 2 a b\n@ 1 2\n", DP_E_SYNTAX, 7, at + 8, "Bad profile: @ 1 2");
    fails("@ 1 2 x\n", DP_E_SYNTAX, 6, at, "Bad profile: @ 1 2 x");
    fails("@ 1  2\n", DP_E_SYNTAX, 6, at, "Bad profile: @ 1  2");
    fails("& 2 a\n", DP_E_SYNTAX, 6, at, "Bad profile: & 2 a");
    fails("& g a b\n", DP_E_SYNTAX, 6, at, "Bad profile: & g a b");
    fails("@ 4503599627370496 0 0\n", DP_E_SYNTAX, 6, at, "Bad profile: @ 4503599627370496");
    fails("& 2 p p - kind=phase\n+ 2\n", DP_E_SYNTAX, 7, at + 21,
          "Bad profile: a phase is no sub to be called: + 2");
    fails("& 2 p p - kind=phase\n& 3 a b\n@ 1 1 1\n+ 3\n@ 1 1 1\n* 2\n", DP_E_SYNTAX, 11, at + 49,
          "Bad profile: a phase is no sub to be called: * 2");
    fails("& 7654321 p p - kind=phase\n+ 7654321\n", DP_E_SYNTAX, 7, at + 27,
          "Bad profile: a phase is no sub to be called: + 7654321");
    fails("& 2 p p - kind=phase\n& 2 a b\n+ 2\n& 2 p p - kind=phase\n- 2\n+ 2\n", DP_E_SYNTAX,
          11, at + 58, "Bad profile: a phase is no sub to be called: + 2");
    fails("& 2 a b\n+ 2\n- 2", DP_E_TRUNCATED, 8, at + 12, "the last line is not whole");
    int rc;
    is_s(trace("& 2 a b\n+ 2\n- 2", &rc), "[a|b|:0|||0|0]+0(0,0,0)",
            "whole lines before a cut are read");
    is_s(trace("& 2 a b\n+ 2\nbad\n- 2\n", &rc), "[a|b|:0|||0|0]+0(0,0,0)",
         "lines before an error are read");
    read_mem("", 0, &rc);
    is_i(rc, DP_E_NOTPROFILE, "an empty file is no profile");
    read_mem("#fOrTyTwOx\n", 11, &rc);
    is_i(rc, DP_E_NOTPROFILE, "another first line is no profile");
    read_mem("#fOrTyTwO\n$hz=100;\n", 19, &rc);
    is_i(rc, DP_E_TRUNCATED, "a header alone is truncated");
    const char *newer = "#fOrTyTwO\n$dprof_format='trace 2';\nPART2\n";
    read_mem(newer, strlen(newer), &rc);
    is_i(rc, DP_E_VERSION, "a newer format is refused");
    ok(strstr(err.message, "'trace 2'") && strstr(err.message, "'trace 1'"),
            "the error names both formats: %s",
       err.message);
    const char *hz = "#fOrTyTwO\n$hz=0;\nPART2\n";
    read_mem(hz, strlen(hz), &rc);
    is_i(rc, DP_E_SYNTAX, "a rate of 0 is an error");
    const char *code =
        "#fOrTyTwO\n$hz=100; system('x');\n$rrun_utime=0;$rrun_stime=0;$rrun_rtime=0\nPART2\n& 2 a"
        " b\n+ 2\n";
    is_s(read_mem(code, strlen(code), &rc), "[a|b|:0|||0|0]+0(0,0,0)",
         "code in a header is skipped");
    ok(rc == 0 && info.bad_header && info.header_err.line == 2, "code in a header is reported");
}

/* The slow path and the fast one read a long trace alike. */
static void fast_is_slow(void)
{
    static char fast[600000], slow[900000];
    size_t f = 0, s = 0;
    f += (size_t)sprintf(fast, "%s", HEAD);
    s += (size_t)sprintf(slow, "%s", HEAD);
    unsigned r = 1;
    for (int i = 0; i < 300; i++) {
        f += (size_t)sprintf(fast + f, "& %x a s%d\n", i * i, i);
        s += (size_t)sprintf(slow + s, "& %x a s%d\n", i * i, i);
    }
    for (int i = 0; i < 20000; i++) {
        unsigned t[3];
        for (int k = 0; k < 3; k++) {
            r = r * 1103515245 + 12345;
            t[k] = (r >> 8) % ((r >> 4) % 7 == 0 ? 10000000u : (r >> 4) % 3 ? 10u : 1000u);
        }
        int id = (int)((r >> 9) % 300);
        char c = "+-*/"[(r >> 5) % 4];
        if ((r >> 3) % 5) {
            f += (size_t)sprintf(fast + f, "@ %u %u %u\n", t[0], t[1], t[2]);
            s += (size_t)sprintf(slow + s, "@ %u %u %u \r\n", t[0], t[1], t[2]);
        }
        f += (size_t)sprintf(fast + f, "%c %x\n", c, id * id);
        s += (size_t)sprintf(slow + s, "%c  %x x\r\n", c, id * id);
    }
    int rc1, rc2;
    char *one = strdup(read_mem(fast, f, &rc1));
    const char *two = read_mem(slow, s, &rc2);
    ok(rc1 == 0 && rc2 == 0 && strlen(one) > 100000 && strcmp(one, two) == 0,
       "the fast path gives the events of the slow path");
    free(one);
}

/* The answer is the same wherever the buffer ends. */
static void cuts(void)
{
    size_t n = 300000;
    char *text = malloc(n + 200);
    bool good = true;
    for (size_t pad = 0; pad < 64 && good; pad++) {
        size_t len = (size_t)sprintf(text, "%s& 2 a b\n#", HEAD);
        size_t target = 128 * 1024 - 40 + pad;
        while (len < target)
            text[len++] = 'x';
        len += (size_t)sprintf(text + len, "\n@ 1 2 3\n+ 2\n@ 44 555 6666\n- 2\n");
        int rc;
        const char *got = read_mem(text, len, &rc);
        good = rc == 0 && !strcmp(got, "[a|b|:0|||0|0]+0(1,2,3)-0(44,555,6666)");
    }
    ok(good, "lines may cross the buffer's end or be longer than it");
    free(text);
}

int main(void)
{
    shapes();
    escapes();
    errors();
    fast_is_slow();
    cuts();
    dp_buf_release(&told);
    return tap_done();
}
