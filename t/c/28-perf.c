/* The text of perf script: samples in every form, names, events, and what is no such text. */
#include "foreign.h"

#include <stdlib.h>

#define HEAD "perl  5820 57488.665706:     250000 cpu-clock: \n"
#define NS " 1000000000/s no calls"

/* An empty line follows the text. */
static void read_is(const char *text, const char *want, const char *what)
{
    static char whole[1 << 12];
    snprintf(whole, sizeof whole, "%s\n", text);
    is_s(told_of_text(whole), want, "%s", what);
    is_i(out.code, 0, "... without a fault: %s", out.message);
}

static void cut(void)
{
    is_s(told_of_text("x 1 7.5: 3 cycles: \n\t1 f (/x)\n"), "[=0][x=0][x;f=3] 1/cycles no calls",
         "a stack without an empty line counts");
    is_i(out.code, DP_E_TRUNCATED, "... and may be a part of one: %s", out.message);
    is_s(told_of_text("x 1 7.5: 3 cycles: 5 f (/x)\nx 1 7.6: 4 cycles: 5 f (/x)\n"),
         "[=0][x=0][x;f=7] 1/cycles no calls", "no call chains");
    is_i(out.code, 0, "... have no empty lines");
    told_of_text("x 1 7.5: 3 cycles: 5 f (/x)\nx 1 7.6: 4 cycles: 5 f (/x)");
    is_i(out.code, DP_E_TRUNCATED, "the last line has no end");
}

static void samples(void)
{
    read_is(HEAD "\t  1462a f+0xa (/x)\n\t 0 main+0x0 (/x)\n\n"
            HEAD "\t  1462b f+0xb (/x)\n\t 0 main+0x0 (/x)\n\n"
            "perl  5820 57488.7:  100 cpu-clock: \n\t 5 main+0x2 (/x)\n",
            "[=0][perl=0][perl;main=100][perl;main;f=500000]" NS, "call chains");
    read_is("# comment\n\n   perl 15534 59162.75:    2000000 cpu-clock:    5564 it+0x677 (/p)\n"
            "   perl 15534 59162.76:    1000000 cpu-clock:    5565 it (/p)\r\n",
            "[=0][perl=0][perl;it=3000000]" NS, "no call chains");
    read_is("a b 12/13 [001] 7.5: cycles: \n\t1 f (/x)\n\na b 12/14 [002] 7.6: cycles: \n"
            "\t1 f (/x)\n\n", "[=0][a_b=0][a_b;f=2] 1/cycles no calls", "no periods");
    read_is("V8 Worker 7 3 cycles:\n\t1 f (/x)\n", "[=0][V8_Worker=0][V8_Worker;f=3]"
            " 1/cycles no calls", "no time");
    read_is("x 2 2 7.5: 3 cycles:u: \n\t1 f (/x)\n\nx 2 2 7.6: 9 sched:sw: prev=x next=y\n"
            "\t1 g (/x)\n\n", "[=0{0}][x_2=0{0}][x_2;f=3{0}][x_2;g=0{9}] 1/cycles_u no calls"
            " sched_sw", "several events; numbers in a command");
    read_is("x -1 7.5: 3 cycles: \n\nx 2 7.6: 5 cycles: \n\n", "[=0][x=8] 1/cycles no calls",
            "no frames");
    read_is("x 1 7.5: 30 task-clock:u: \n\t1 f (/x)\n\nx 1 7.5: 2 faults: \n\t1 f (/x)\n",
            "[=0{0}][x=0{0}][x;f=30{2}]" NS " faults", "a clock and a counter");
    read_is("x 1 7.5: cpu-clock: \n\t1 f (/x)\n", "[=0][x=0][x;f=1] 1/cpu-clock no calls",
            "a clock without periods");
}

static void named(const char *frame, const char *want)
{
    char text[400], full[400];
    snprintf(text, sizeof text, "x 1 7.5: 3 cycles: \n\tff %s\n", frame);
    snprintf(full, sizeof full, "[=0][x%s%s=3] 1/cycles no calls", *want ? "=0][x;" : "", want);
    read_is(text, full, frame);
}

static void names(void)
{
    named("f+0x1f (/usr/lib/x.so)", "f");
    named("f+0xzz (/x)", "f+0xzz");
    named("+0x1f (/x)", "");
    named("f (inlined)", "f");
    named("f+0x1 (/memfd:x (deleted))", "f");
    named("[unknown] (/usr/lib/libc.so.6)", "[libc.so.6]");
    named("[unknown] ([unknown])", "[unknown]");
    named("[unknown] (/tmp/)", "[unknown]");
    named("asm_x+0x1 ([kernel.kallsyms])", "asm_x");
    named("a::b(int, char)+0x1 (/x)", "a::b");
    named("(anonymous namespace)::f(int)+0x2 (/x)", "");
    named("x::(anonymous namespace)::f(int)+0x2 (/x)", "x::(anonymous namespace)::f");
    named("net/http.(*Client).Do+0x3 (/x)", "net/http.(*Client).Do");
    named("a;b \"q' (/x)", "a:b q");
    named("(perl) (/x)", "");
    is_s(told_of_text("java 1 7.5: 3 cycles: \n\t1 Lorg/x/Y;::run+0x1 (/tmp/perf.map)\n"),
         "[=0][java=0][java;org/x/Y:::run=3] 1/cycles no calls", "Java's names");
}

static void others(void)
{
    static const char *const texts[] = {
        "main;a 5\nmain;b 6\n", "x 1 7.5: 3 cycles: \nno frame\n", "perl 1 2\n", "a 1 b:\nhello\n",
        "  1 7.5: 3 cycles: \n\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        told_of_text(texts[i]);
        ok(out.code != 0 || !strstr(told.ptr, "cycles"), "not perf's: %s", out.message);
    }
}

static void faults(void)
{
    char text[400];
    const char *bad = HEAD "\t1 f (/x)\n\nhello\n";
    fault_is(bad, strlen(bad), 4, strlen(bad) - 6, "this is neither a sample nor a frame: hello");
    bad = HEAD "\t1 f (/x)\n\n\t1 f (/x)\n";
    fault_is(bad, strlen(bad), 4, strlen(bad) - 10,
             "this is neither a sample nor a frame: \t1 f (/x)");
    snprintf(text, sizeof text, HEAD "\t1 f (/x)\n\n%070d\n", 7);
    told_of_text(text);
    ok(strlen(out.message) == 102 && strstr(out.message, "0 ..."), "a long line is cut: %s",
       out.message);
    bad = "x 1 7.5: 4611686018427387904 cycles: \n\t1 f (/x)\n\n";
    told_of_text(bad);
    is_i(out.code, DP_E_LIMIT, "a large period: %s", out.message);
    bad = "x 1 7.5: 4611686018427387903 cycles: \n\nx 1 7.5: 1 cycles: \n\n";
    told_of_text(bad);
    is_i(out.code, DP_E_LIMIT, "large periods: %s", out.message);
    is_u(out.line, 4, "their line");
    struct dp_buf all;
    dp_buf_init(&all);
    for (int i = 0; i < 65; i++)
        dp_buf_addf(&all, "x 1 7.5: 1 e%d: \n\n", i);
    told_of(all.ptr, all.len);
    is_s(out.message, "there are more than 64 events", "%s", out.message);
    dp_buf_release(&all);
}

int main(void)
{
    static const char text[] =
        "# ========\n" HEAD "\t  1462a f+0xa (/x)\n\t 0 [unknown] (/y/z.so)\n\n"
        "a b 12/13 [001] 7.5: 2 page-faults:u: \n\t1 n::g(int) (/x)\n\n";
    samples();
    cut();
    names();
    others();
    faults();
    cut_anywhere(text, sizeof text - 1);
    change_anywhere(text, sizeof text - 1);
    starve(text, sizeof text - 1);
    return foreign_done();
}
