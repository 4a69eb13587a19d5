/* The text of perf script: samples in every form, names, events, and texts that are no such
 * output. */
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
            "\t1 g (/x)\n\n", "[=0{0 0}][x_2=0{0 0}][x_2;f=3{3 0}][x_2;g=0{0 9}]"
            " 1/cycles_u no calls cycles:u: sched:sw:", "several events; numbers in a command");
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
    named("(anonymous namespace)::f(int)+0x2 (/x)", "(anonymous namespace)::f");
    named("x::(anonymous namespace)::f(int)+0x2 (/x)", "x::(anonymous namespace)::f");
    named("net/http.(*Client).Do+0x3 (/x)", "net/http.(*Client).Do");
    named("a;b \"q' (/x)", "a:b q");
    named("(perl) (/x)", "");
    is_s(told_of_text("java 1 7.5: 3 cycles: \n\t1 Lorg/x/Y;::run+0x1 (/tmp/perf.map)\n"),
         "[=0][java=0][java;org/x/Y:::run=3] 1/cycles no calls", "Java's names");
}

/* Parameters stand in the brackets at the end. */
static void brackets(void)
{
    named("std::function<void (int)>::operator()(int) const (/x)",
          "std::function<void (int)>::operator()");
    named("std::function<void (char)>::operator()(char) const (/x)",
          "std::function<void (char)>::operator()");
    named("S::operator() (/x)", "S::operator()");
    named("S::operator->() const (/x)", "S::operator->");
    named("main::{lambda(int)#1}::operator()(int) const (/x)",
          "main::{lambda(int)#1}::operator()");
    named("f(void (*)(int), std::function<void (int)>) (/x)", "f");
    named("f(int)::g() && (/x)", "f(int)::g");
    named("f(int) [clone .cold] (/x)", "f");
    named("f(int) const [clone .constprop.0] (/x)", "f");
    named("f(int) (.isra.0) (/x)", "f");
    named("g[abi:cxx11](int) (/x)", "g[abi:cxx11]");
    named("decltype(auto) h<int>(int) (/x)", "decltype(auto) h<int>");
    named("x::(anonymous namespace) (/x)", "x::(anonymous namespace)");
    named("void (anonymous namespace)::f<int>(int) (/x)", "void (anonymous namespace)::f<int>");
    named("main.(*T).f-fm (/x)", "main.(*T).f-fm");
    named("<(A, B) as core::ops::Fn<()>>::call (/x)", "<(A, B) as core::ops::Fn<()>>::call");
    named("void [app] app.Program::Main(string[])[PreJIT] (/memfd:x (deleted))",
          "void [app] app.Program::Main");
    named("LazyCompile:*fetch file:///x (copy)/a.js:1:2 (/tmp/perf-1.map)",
          "LazyCompile:*fetch file:///x (copy)/a.js:1:2");
    named("RegExp:^(a|b) (/tmp/perf-1.map)", "RegExp:^(a|b)");
    named("RegExp:((x) (/tmp/perf-1.map)", "RegExp:((x)");
    named("Lx/Y;::m(Lx/Z;I)Lx/Z; (/tmp/perf-1.map)", "Lx/Y:::m");
    named("Lx/Y;.m(II)[[J (/tmp/perf-1.map)", "Lx/Y:.m");
    named("Lx/Y;.m(II)Lx/much/too/lo (/tmp/perf-1.map)", "Lx/Y:.m");
    named("Lx/Y;.m(Lx/much/too/lo (/tmp/perf-1.map)", "Lx/Y:.m");
    named("call(v8::Isolate*, v8::Handle<void (v8:: (/x)", "call");
    named("Lx/Y;::m->Lx/Z;::<init> (/tmp/perf-1.map)", "Lx/Y:::m=0][x;Lx/Y:::m;Lx/Z:::<init>");
    named("p->q (/x)", "p->q");
    named("a) (/x)", "a)");
    named("() (/x)", "");
}

/* What perf script -F leaves out and adds. */
static void fields(void)
{
    static const char cycles[] = "[=0][x=0][x;g=0][x;g;f=2] 1/cycles no calls",
        samples_are[] = "[=0][x=0][x;g=0][x;g;f=2] 1/samples no calls";
#define STACK "\t               1 f+0x1 (/x)\n\t               2 g+0x2 (/x)\n\n"
#define TWICE(head) head "\n" STACK head "\n" STACK
    read_is(TWICE("x 920/920   [000] U      1032.706420:   cycles: "), cycles, "a mode");
    read_is(TWICE("x 920  1032.706420: "), samples_are, "no event");
    read_is(TWICE("x  1032.706420:   cycles: "), cycles, "no id");
    read_is(TWICE("x [001]  1032.706420:   cycles: "), cycles, "a processor and no id");
    read_is(TWICE("x   920 cycles: "), cycles, "no time");
    read_is(TWICE("x   920 "), samples_are, "neither time nor event");
    read_is(TWICE("x   cycles: "), cycles, "neither id nor time");
    read_is(TWICE("x "), samples_are, "the command alone");
    read_is("x 9 7.5: cycles: \n\t            115c f+0x1\n  x.c:5\n\t    7f00d30f2ad7 [unknown]\n"
            "  x.c:7 (inlined)\n", "[=0][x=0][x;[unknown]=0][x;[unknown];f=1] 1/cycles no calls",
            "no files, but lines of source");
    read_is("x 9 7.5: cycles: \n\t            115c\n", "[=0][x=0][x;[unknown]=1] 1/cycles no calls",
            "addresses only");
    read_is("x 9 7.5: cycles: \n\t            115c (/usr/lib/y.so+0x115c)\n",
            "[=0][x=0][x;[y.so]=1] 1/cycles no calls", "addresses and files");
    read_is("x 9 7.5: cycles: \n\t            115c f\n 0x40051a/0x400510/P/-/-/0 \n"
            " ABI:2    AX:0x5\n\t0000000000400510\tinsn: 55 48\n",
            "[=0][x=0][x;f=1] 1/cycles no calls", "branches, registers, instructions");
    read_is("    x   561      562257c6515c a::f (/x)\n    x   562      562257c6515c a::f (/x)\n",
            "[=0][x=0][x;a::f=2] 1/samples no calls", "an id and a frame in one line");
    read_is("    x   561   5 cycles:      562257c6515c a::f\n    x   562   6 cycles:  "
            "ffffffff9b201293 f\n", "[=0][x=0][x;a::f=5][x;f=6] 1/cycles no calls",
            "no time, no files, no stacks");
    read_is("x 19983 cycles:\nffffffff8103d0ca f ([kernel.kallsyms])\n7f722d142778 La/B;::g "
            "(/tmp/perf-1.map)\n\nx 19983 cycles:\n7f722d142778 La/B;::g (/tmp/perf-1.map)\n",
            "[=0][x=0][x;La/B:::g=1][x;La/B:::g;f=1] 1/cycles no calls",
            "stacks without indentation");
    read_is("    y 95 [001] 184.19: kmem:kfree: call_site=ff ptr=(nil)\n"
            "    z 96 [001] 184.20: kmem:mm_page_free: page=0xff pfn=7\n\n"
            "    z 96 [001] 184.20: kmem:kfree: call_site=ff ptr=(nil)\n",
            "[=0{0 0}][y=1{1 0}][z=1{1 1}] 1/kmem_kfree no calls kmem:kfree: kmem:mm_page_free:",
            "tracepoints: names with colons are kept");
}

/* Messages of perf may stand before the first stack. */
static void warnings(void)
{
    read_is("Failed to open /tmp/perf-1.map, continuing without symbols\n\nProcessed 12 events and "
            "lost 3 \nWarning:\nx 920 7.5: cycles: \n\t1 f (/x)\n",
            "[=0][x=0][x;f=1] 1/cycles no calls", "warnings");
    read_is("[kernel.kallsyms] with build id 12 not found \nx \n\t1 f (/x)\n\nx \n\t1 f (/x)\n",
            "[=0][x=0][x;f=2] 1/samples no calls", "warnings before weak lines");
    static const char *const lacking[] = {
        "1.000100:     250000 cpu-clock:", "920/920 [001] 1.000100:     250000 cpu-clock:", "920 ",
        "cpu-clock: ", "",
    };
    for (size_t i = 0; i < sizeof lacking / sizeof *lacking; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "# x\n%s\n\t    55d0a0001000 f+0x10 (/opt/x/app)\n  f.c:10\n\n", lacking[i]);
        fault_is(text, strlen(text), 3, strlen(lacking[i]) + 5,
                 "no command stands before this stack; `perf script -F comm,tid,time,period,event,"
                 "ip,sym,dso' prints all that is needed: \t    55d0a0001000 f+0x10 (/opt/x/app)");
    }
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
    brackets();
    fields();
    warnings();
    others();
    faults();
    cut_anywhere(text, sizeof text - 1);
    change_anywhere(text, sizeof text - 1);
    starve(text, sizeof text - 1);
    return foreign_done();
}
