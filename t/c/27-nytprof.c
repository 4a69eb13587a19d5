/* nytprof.out: each kind of record, calls that return in any order, and files that are damaged. */
#include "foreign.h"
#include "random.h"
#include "dp_returns.h"

#include <stdlib.h>
#include <zlib.h>

static struct dp_buf file;
static bool swap;               /* times in the other byte order */

static void u(uint32_t n)
{
    if (n >= 0x10000000) {
        dp_buf_addc(&file, (char)0xff);
        dp_buf_addc(&file, (char)(n >> 24));
    } else if (n >= 0x200000) {
        dp_buf_addc(&file, (char)(n >> 24 | 0xe0));
    }
    if (n >= 0x200000)
        dp_buf_addc(&file, (char)(n >> 16));
    else if (n >= 0x4000)
        dp_buf_addc(&file, (char)(n >> 16 | 0xc0));
    if (n >= 0x4000)
        dp_buf_addc(&file, (char)(n >> 8));
    else if (n >= 0x80)
        dp_buf_addc(&file, (char)(n >> 8 | 0x80));
    dp_buf_addc(&file, (char)n);
}

static void nv(double v)
{
    char bytes[sizeof v];
    memcpy(bytes, &v, sizeof v);
    for (size_t i = 0; i < sizeof v; i++)
        dp_buf_addc(&file, bytes[swap ? sizeof v - 1 - i : i]);
}

static void str(const char *s)
{
    dp_buf_addc(&file, '\'');
    u((uint32_t)strlen(s));
    dp_buf_adds(&file, s);
}

static void begin(uint32_t hz)
{
    dp_buf_clear(&file);
    dp_buf_addf(&file, "NYTProf 5 0\n#made\n:application=a.pl\n:nv_size=8\n:ticks_per_sec=%u\n"
                       "!calls=1\n", hz);
    dp_buf_addc(&file, 'P');
    u(77);
    u(1);
    nv(1700000000);
}

static void end(void)
{
    dp_buf_addc(&file, 'p');
    u(77);
    nv(1700000001);
}

static void fid(uint32_t n, const char *name)
{
    dp_buf_addc(&file, '@');
    for (uint32_t i = 0; i < 6; i++)
        u(i ? 0 : n);
    str(name);
}

static void statement(uint32_t file_number, uint32_t at, uint32_t ticks)
{
    dp_buf_addc(&file, '+');
    u(ticks);
    u(file_number);
    u(at);
}

static void line(uint32_t ticks) { statement(1, 5, ticks); }

static void back(uint32_t depth, double ticks, const char *name)
{
    dp_buf_addc(&file, '<');
    u(depth);
    nv(0);
    nv(ticks);
    str(name);
}

static void range(uint32_t fid, const char *name, uint32_t first, uint32_t last)
{
    dp_buf_addc(&file, 's');
    u(fid);
    str(name);
    u(first);
    u(last);
}

static void info(uint32_t fid, const char *name, uint32_t first)
{
    range(fid, name, first, first + 3);
}

static void sums(uint32_t fid, const char *caller, uint32_t count, double incl, double own,
                 const char *callee)
{
    dp_buf_addc(&file, 'c');
    u(fid);
    u(fid ? 7 : 0);
    str(caller);
    u(count);
    nv(incl);
    nv(own);
    nv(0);
    u(0);
    str(callee);
}

static void reads(const char *want, const char *what)
{
    is_s(told_of(file.ptr, file.len), want, "%s", what);
    is_i(out.code, 0, "... without a fault: %s", out.message);
}

#define NS " 1000000000/s"

/* Statements by line: how often, how long, in which sub. */
static void statements(void)
{
    begin(10000000);
    fid(1, "a.pl");
    fid(2, "(eval 3)[a.pl:9]");
    statement(1, 1, 500);
    statement(1, 4, 70);
    statement(1, 5, 30);
    dp_buf_addc(&file, '-');
    statement(1, 4, 20);
    back(2, 30, "main::in");
    back(1, 90, "main::out");
    statement(1, 8, 10);
    statement(1, 10, UINT32_MAX);       /* less than nothing */
    statement(2, 1, 6);
    statement(7, 1, 5);
    statement(1, 0, 4);
    info(1, "main::in", 5);             /* 5 to 8, within 3 to 6: as it may be on one line */
    info(1, "main::out", 3);
    info(1, "main::never", 10);
    end();
    is_s(lines_of(file.ptr, file.len),
         "[- -=899x2][a.pl:1 -=49922x1][a.pl:4 main::out=8986x1][a.pl:5 main::in=2996x1]"
         "[a.pl:8 main::in=998x1][a.pl:10 -=0x1][(eval%203):1 -=599x1]",
         "lines: 64400 ns are shared in proportion to 645 ticks");
    is_s(lines_told(), "time", "... which is told");
    begin(10000000);
    fid(1, "a.pl");
    statement(1, 1, 100);
    statement(1, 4, 300);
    back(1, 800, "main::f");
    info(1, "main::f", 3);
    end();
    is_s(lines_of(file.ptr, file.len), "[a.pl:1 -=20000x1][a.pl:4 main::f=60000x1]",
         "subs that took more than their statements: in proportion");
    begin(10000000);
    fid(1, "a.pl");
    back(1, 800, "main::f");
    info(1, "main::f", 3);
    end();
    is_s(lines_of(file.ptr, file.len), "", "no statements");
    is_s(lines_told(), "none", "... and none is told of");
    begin(10000000);
    fid(1, "a.pl");
    statement(1, 1, 100);
    statement(1, 4, 300);
    info(1, "main::f", 3);
    sums(1, "main::RUNTIME", 2, 0.00003, 0.00003, "main::f");
    end();
    is_s(lines_of(file.ptr, file.len), "[a.pl:1 -=10000x1][a.pl:4 main::f=30000x1]",
         "with sums by place");
    begin(10000000);
    fid(1, "a.pl");
    fid(2, "b.pl");
    statement(1, 4, 10);
    statement(1, 8, 20);
    statement(2, 4, 30);
    statement(2, 8, 40);
    back(1, 10, "main::in");
    back(1, 10, "main::out");
    back(1, 10, "main::late");
    back(1, 10, "main::other");
    range(1, "main::in", 3, 5);
    range(1, "main::out", 3, 90);
    range(1, "main::late", 60, 70);
    range(2, "main::other", 7, 9);
    end();
    is_s(lines_of(file.ptr, file.len),
         "[a.pl:4 main::in=1000x1][a.pl:8 main::out=2000x1][b.pl:4 -=3000x1]"
         "[b.pl:8 main::other=4000x1]", "subs that begin on one line; each file has its own");
}

static void calls(void)
{
    begin(10000000);
    fid(1, "a.pl");
    line(2000);
    back(2, 30, "main::leaf");
    back(2, 40, "main::leaf");
    back(1, 100, "main::top");
    back(1, 5, "main::leaf");
    info(1, "main::top", 3);
    info(1, "main::never", 30);
    end();
    reads("[=182500][main::leaf=500x1][main::top=10000x1][main::top;main::leaf=7000x2]" NS,
          "callees come before their callers");
    is_s(place_of(1), "a.pl:3", "the place is at the end");
    begin(1000000);
    back(3, 1, "m::c");
    back(2, 2, "m::b");
    back(2, 4, "m::b");
    back(1, 8, "m::a");
    back(3, 16, "m::c");
    back(3, 32, "m::d");
    back(2, 64, "m::b");
    back(1, 128, "m::a");
    end();
    reads("[=999745000][m::a=136000x2][m::a;m::b=70000x3][m::a;m::b;m::d=32000x1]"
          "[m::a;m::b;m::c=17000x2]" NS,
          "equal contexts are one; without statements, what the process took is the program's");
    begin(1000000);
    line(1);
    back(3, 1, "r");
    back(2, 2, "r");
    back(1, 4, "r");
    end();
    reads("[=0][r=4000x1][r;r=2000x1][r;r;r=1000x1]" NS, "recursion");
    begin(1000000);
    line(100);
    back(5, 1, "e");
    back(3, 2, "c");
    back(2, 4, "b");
    back(7, 8, "g");
    end();
    reads("[=85000][b=4000x1][b;c=2000x1][b;c;e=1000x1][g=8000x1]" NS,
          "what has not returned is left out, and its callees stand in its place");
    begin(1000000);
    line(100);
    back(1, -7, "a");
    back(1, 3, "b");
    back(1, 5, "a");
    end();
    reads("[=99000][b=3000x1][a=0x2]" NS, "a time less than 0 is none");
    begin(300);
    back(1, 100, "a");
    end();
    reads("[=666666667][a=333333333x1]" NS, "ticks that make no whole nanoseconds");
}

static void names(void)
{
    static const struct { const char *name, *want, *place; } list[] = {
        { "A::B::c", "A::B::c", "x.pm:40" }, { "c", "c", "x.pm:40" },
        { "main::__ANON__[lib/Foo::Bar.pm:12]", "main::__ANON__", "lib/Foo::Bar.pm:12" },
        { "P::__ANON__[(eval 3)[x.pl:7]:2]", "P::__ANON__", "(eval 3):2" },
        { "P::__ANON__[x]", "P::__ANON__[x]", "x.pm:40" },
        { "P::BEGIN@12", "P::BEGIN", "x.pm:40" }, { "P::BEGIN@12.3", "P::BEGIN", "x.pm:40" },
        { "P::BEGIN@", "P::BEGIN@", "x.pm:40" }, { "P::BEGIN@1x", "P::BEGIN@1x", "x.pm:40" },
        { "P::CORE:print", "CORE:print", ":0" }, { "P::Q::CORE:ftdir", "CORE:-d", ":0" },
        { "CORE::prtf", "CORE:printf", ":0" }, { "P::CORE:", "P::CORE:", "x.pm:40" },
    };
    char want[200];
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        begin(1000000000);
        line(1);
        fid(3, "x.pm");
        back(1, 1, list[i].name);
        info(3, list[i].name, 40);
        end();
        snprintf(want, sizeof want, "[=0][%s=1x1]" NS, list[i].want);
        reads(want, list[i].name);
        is_s(place_of(0), list[i].place, "... and its place");
    }
    begin(1000000000);
    line(2);
    fid(3, "(eval 5)[x.pm:9]");
    back(1, 1, "m::f");
    back(1, 1, "m::xs");
    info(3, "m::f", 2);
    back(1, 1, "m::CORE:sort");
    sums(0, "", 0, 0, 0, "m::xs");
    sums(0, "", 0, 0, 0, "m::CORE:sort");
    info(0, "m::xs", 0);
    end();
    reads("[=0][CORE:sort=1x1][m::xs=1x1][m::f=1x1]" NS, "a string eval's sub, an XS sub");
    is_s(place_of(0), "(eval 5):2", "the first's place");
    ok(prof->subs.subs[1].xs && !prof->subs.subs[0].xs, "the second is one of XS");
    ok(prof->subs.subs[2].builtin && !prof->subs.subs[2].xs, "a builtin is none");
}

static void graph(void)
{
    begin(10000000);
    line(2000);
    sums(1, "main::RUNTIME", 2, 0.0001, 0.00002, "main::a");
    sums(1, "main::a", 6, 0.00008, 0.00008, "main::b");
    sums(1, "main::NULL", 1, 0.00004, 0.00004, "main::b");
    sums(0, "", 0, 0, 0, "main::b");
    end();
    reads("[=60000][main::b=40000x1][main::a=20000x2][main::a;main::b=80000x6]" NS,
          "sums by place, where calls are not told");
    begin(10000000);
    line(2000);
    back(1, 100, "main::a");
    sums(1, "main::RUNTIME", 1, 0.00001, 0.00001, "main::a");
    end();
    reads("[=190000][main::a=10000x1]" NS, "... and only there");
}

static void packed(void)
{
    begin(10000000);
    size_t head = (size_t)(strchr(file.ptr, 'P') - file.ptr);
    head = (size_t)(strstr(file.ptr, "calls=1\n") - file.ptr) + 8;
    line(2000);
    back(2, 30, "main::leaf");
    back(1, 100, "main::top");
    end();
    static char text[4096];
    uLongf n = sizeof text - head - 1;
    memcpy(text, file.ptr, head);
    text[head] = 'z';
    compress((Bytef *)text + head + 1, &n, (const Bytef *)file.ptr + head, file.len - head);
    memcpy(text + head + 1 + n, "#\n# Compressed\n", 15);
    size_t len = head + 1 + n;
    const char *want = "[=187000][main::top=10000x1][main::top;main::leaf=3000x1]" NS;
    is_s(told_of(text, len + 15), want, "packed");
    is_i(out.code, 0, "... without a fault: %s", out.message);
    told_of(text, len - 5);
    is_i(out.code, DP_E_TRUNCATED, "packed, and broken off: %s", out.message);
    is_s(out.message, "the compressed data break off", "its text");
    is_u(prof->count, 3, "what came before is there");
    cut_anywhere(text, len);
    starve(text, len);
    text[len] = 'z';
    is_s(told_of(text, len + 1), want, "what follows a packed part is not looked at");
    swap = true;
    begin(10000000);
    line(2000);
    back(1, 100, "main::top");
    end();
    swap = false;
    reads("[=190000][main::top=10000x1]" NS, "a machine of the other byte order");
}

static void clocks(void)
{
    begin(1000000);
    dp_buf_adds(&file, "!usecputime=1\n");
    back(1, 5, "a");
    end();
    told_of(file.ptr, file.len);
    is_i(out.code, 0, "CPU time");
    begin(1000000);
    back(1, 5, "a");
    dp_buf_adds(&file, "-S");
    u(1);
    u(2);
    str("source");
    dp_buf_addc(&file, '>');
    u(1);
    u(0xfffffff0);
    dp_buf_addc(&file, '*');
    u(0xffffffff);              /* -1 */
    for (int i = 0; i < 4; i++)
        u(1);
    end();
    reads("[=0][a=5000x1]" NS, "records that tell nothing of calls");
}

static void fault(uint64_t byte, const char *message)
{
    fault_is(file.ptr, file.len, 0, byte, message);
}

static void cut(const char *message, const char *what)
{
    told_of(file.ptr, file.len);
    is_i(out.code, DP_E_TRUNCATED, "%s", what);
    is_s(out.message, message, "its text");
    is_u(prof->count, 2, "what was read is there");
}

static void faults(void)
{
    const char *text = "NYTProf 4 0\n";
    fault_is(text, strlen(text), 1, 0,
             "this is version 4 of NYTProf's format; version 5 can be read");
    text = "NYTProf 99999999999999999999 0\n";
    fault_is(text, strlen(text), 1, 0, "this is no version of NYTProf's format");
    text = "NYTProf 5 0\n:nv_size=16\n";
    fault_is(text, strlen(text), 0, 12,
             "its times are numbers of 16 bytes, as perls with long doubles write them; only those"
             " of 8 can be read");
    text = "NYTProf 5 0\n:ticks_per_sec=0\n";
    fault_is(text, strlen(text), 0, 12, "this is no number of ticks per second: 0");
    begin(1000000);
    size_t at = file.len;
    dp_buf_addc(&file, 'x');
    fault(at, "no record begins with the byte 0x78");
    file.len = at;
    back(1, 5, "a");
    file.ptr[file.len - 3] = 'a';
    fault(at + 18, "there is no text where one should be");
    file.len = at;
    back(1, 1e300, "a");
    fault(at, "the time of a call is 1e+300 ticks");
    file.len = at;
    back(1, -1e16, "a");
    fault(at, "the time of a call is -1e+16 ticks");
    file.len = at;
    dp_buf_adds(&file, "s\1'\377\177\377\377\377");
    fault(at + 8, "a text has 2147483647 bytes");
    file.len = at;
    dp_buf_adds(&file, "zz");
    told_of(file.ptr, file.len);
    ok(out.code < 0, "no zlib: %s", out.message);
    file.len = at;
    back(1, 5, "a");
    cut("the recording did not come to its end", "without an end");
    dp_buf_add(&file, "+\1", 2);
    cut("the file ends within a record", "within a record");
    is_u(out.byte, file.len - 2, "where it begins");
    begin(1000000);
    for (int i = 0; i < 3000; i++)
        back(1, 4e15, "a");
    told_of(file.ptr, file.len);
    is_i(out.code, DP_E_LIMIT, "times that are too long together: %s", out.message);
}

/* A naive tree of random calls beside what their returns make. */
enum { SUBS = 4, DEEP = 6, PATHS = 1 << 14 };

static size_t made;             /* calls */
static uint64_t want_calls[PATHS], want_ticks[PATHS];

/* Calls a sub; path: the numbers of the subs, from the program on, as digits of 5. */
static void call(struct dp_returns *t, uint32_t depth, uint32_t path)
{
    for (uint32_t n = rnd(4); n && depth < DEEP - 1; n--)
        call(t, depth + 1, path * (SUBS + 1) + 1 + rnd(SUBS));
    uint32_t ticks = rnd(100);
    want_calls[path]++;
    want_ticks[path] += ticks;
    if (dp_returns_add(t, depth, path % (SUBS + 1) - 1, ticks) == 0)
        made++;
}

static void random_calls(void)
{
    struct dp_returns t;
    static uint32_t path[PATHS];
    bool good = true;
    for (int round = 0; round < 50; round++) {
        memset(want_calls, 0, sizeof want_calls);
        memset(want_ticks, 0, sizeof want_ticks);
        dp_returns_init(&t);
        for (uint32_t n = 1 + rnd(40); n; n--)
            call(&t, 1, 1 + rnd(SUBS));
        good = good && dp_returns_end(&t) == 0;
        path[0] = 0;
        for (uint32_t n = 0; (n = dp_returns_next(&t, n)) != 0 && good;) {
            uint32_t at = path[n] = path[t.nodes[n].parent] * (SUBS + 1) + t.nodes[n].sub + 1;
            good = at < PATHS && want_calls[at] == t.nodes[n].calls
                   && want_ticks[at] == (uint64_t)t.nodes[n].ticks;
            want_calls[at] = 0;
        }
        for (uint32_t i = 0; i < PATHS; i++)
            good = good && !want_calls[i];
        dp_returns_release(&t);
    }
    ok(good && made > 1000, "random calls, %zu of them, against a naive tree", made);
}

int main(void)
{
    dp_buf_init(&file);
    calls();
    statements();
    names();
    graph();
    packed();
    clocks();
    faults();
    random_calls();
    begin(10000000);
    fid(1, "a.pl");
    line(2000);
    back(2, 30, "main::leaf");
    back(1, 100, "main::__ANON__[a.pl:3]");
    info(1, "main::leaf", 3);
    sums(1, "main::RUNTIME", 1, 0.00001, 0.00001, "main::leaf");
    end();
    char *all = malloc(file.len);
    size_t len = file.len;
    memcpy(all, file.ptr, len);
    cut_anywhere(all, len);
    change_anywhere(all, len);
    starve(all, len);
    free(all);
    dp_buf_release(&file);
    return foreign_done();
}
