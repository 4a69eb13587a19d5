/* callgrind.out: each kind of line, call graphs as contexts, and files that are damaged. */
#include "foreign.h"
#include "random.h"
#include "dp_callgraph.h"

#include <stdlib.h>

#define HEAD "version: 1\ncreator: x\npositions: line\nevents: Ir\n"

/* Files that are read, by what is tried. */
static const struct tree_case {
    const char *what, *body, *want;
    const char *place;          /* value of the sub of that number; NULL: not checked */
    uint32_t sub;
} trees[] = {
    /* ---- lines ---- */
    { "costs",
      "\nfl=m.c\nfn=main\n16 4\n17 3\n",
      "[=0][main=7] 1/Ir",
      "m.c:0", 0 },
    { "blanks, comments, hexadecimal costs, none",
      "fn=a\n1 5\n\n# x\n2 7 \r\n3 0x10\n4\ntotals: 28\n",
      "[=0][a=28] 1/Ir" },
    { "numbered names, relative positions",
      "fl=(1) m.c\nfn=(1) a\n1 5\nfn=(2) b x\n+1 6\nfn=(1)\n* 7\nfl=(2) n.c\nfn=(1)\n-3 1\n"
      "fl=(1)\nfn=(3) (program)\n1 1\n",
      "[=0][(program)=1][a=1][b x=6][a=12] 1/Ir" },
    { "inlined code is the function's",
      "fl=a.c\nfn=a\n1 5\nfi=b.h\n2 6\nfe=a.c\n3 7\nfi=c.h\n8 1\nfn=b\n9 2\n",
      "[=0][b=2][a=19] 1/Ir",
      "a.c:0", 1 },
    { "jumps are skipped, their names are not",
      "fn=a\njump=3 +2\n1\n1 5\njcnd=1/2 +4\n* \n2 6\njfi=(1) j.c\njfn=(1) jj\njump=1 1\n2\n"
      "fn=(1)\n4 1\n",
      "[=0][jj=1][a=11] 1/Ir" },
    { "code without names, by its object",
      "ob=(1) x.so\nfl=(1) ???\nfn=(1) 0x10\n1 5\nob=(2) y.so\nfn=(1)\n1 6\n",
      "[=0][0x10=6][0x10=5] 1/Ir",
      "y.so:0", 1 },
    { "costs before any name",
      "7 5\nfn=a\n1 6\n",
      "[=0][a=6][(no name)=5] 1/Ir" },
    /* ---- calls ---- */
    { "a call",
      "fl=m.c\nfn=main\n16 4\ncfn=f\ncalls=3 20\n17 30\nfn=f\n20 30\n",
      "[=0][main=4][main;f=30x3] 1/Ir",
      "m.c:20", 1 },
    { "a callee's file counts once",
      "fl=m.c\nfn=main\n16 4\ncfi=f.c\ncfn=f\ncalls=3 +4\n+1 30\ncfn=f\ncalls=2 20\n17 5\n"
      "fl=f.c\nfn=f\n20 30\nfl=m.c\nfn=f\n20 5\n",
      "[=0][main=4][main;f=5x2][main;f=30x3] 1/Ir" },
    { "calls of what has no costs",
      "fn=main\n1 0\ncob=o\ncfl=x\ncfn=f\ncalls=1 0\n1 7\ncfn=main\ncalls=4 1\n1 9\n",
      "[=0][main=0][main;f=0x1][main;main=0x4] 1/Ir" },
    { "two positions",
      "positions: instr line\nfl=m.c\nfn=main\n0x4005d0 16 4\ncfn=f\ncalls=3 0x400600 20\n"
      "+5 * 30\nfn=f\n0x400600 20 30\n",
      "[=0][main=4][main;f=30x3] 1/Ir",
      "m.c:20", 1 },
    { "and no line",
      "positions: instr\nfl=m.c\nfn=main\n0x4005d0 4\ncfn=f\ncalls=3 0x400600\n0x4005d0 30\n"
      "fn=f\n0x400600 30\n",
      "[=0][main=4][main;f=30x3] 1/Ir",
      "m.c:0", 1 },
    /* ---- graphs ---- */
    { "shares of callers",
      "fn=main\n1 0\ncfn=a\ncalls=2 1\n1 300\ncfn=b\ncalls=1 1\n1 100\nfn=a\n1 100\ncfn=c\n"
      "calls=4 1\n1 200\nfn=b\n1 0\ncfn=c\ncalls=2 1\n1 100\nfn=c\n1 210\ncfn=d\ncalls=9 1\n"
      "1 90\nfn=d\n1 90\n",
      "[=0][main=0][main;b=0x1][main;a=100x2][main;a;c=140x4][main;b;c=70x2][main;b;c;d=30x3]"
      "[main;a;c;d=60x6] 1/Ir" },
    { "what nobody claims is below the root",
      "fn=main\n1 5\ncfn=a\ncalls=2 1\n1 30\nfn=a\n1 100\nfn=b\n1 7\n",
      "[=0][b=7][main=5][main;a=30x2][a=70] 1/Ir" },
    { "what is claimed and not there is left out",
      "fn=main\n1 5\ncfn=a\ncalls=2 1\n1 30\nfn=a\n1 10\n",
      "[=0][main=5][main;a=10x2] 1/Ir" },
    { "direct recursion",
      "fn=f\n1 100\ncfn=f\ncalls=9 1\n1 450\nfn=main\n1 1\ncfn=f\ncalls=1 1\n1 100\n",
      "[=0][main=1][main;f=100x1][main;f;f=0x9] 1/Ir" },
    { "mutual recursion",
      "fn=main\n1 1\ncfn=f\ncalls=1 1\n1 100\nfn=f\n1 60\ncfn=g\ncalls=3 1\n1 60\nfn=g\n1 40\n"
      "cfn=f\ncalls=2 1\n1 20\n",
      "[=0][main=1][main;f=60x1][main;f;g=40x3][main;f;g;f=0x2] 1/Ir" },
    { "... that nobody has called",
      "fn=f\n1 60\ncfn=g\ncalls=3 1\n1 60\nfn=g\n1 40\ncfn=f\ncalls=2 1\n1 20\n",
      "[=0][f=60][f;g=40x3][f;g;f=0x2] 1/Ir" },
};

static void read_trees(void)
{
    for (size_t i = 0; i < DP_ARRAY_LEN(trees); i++) {
        const struct tree_case *c = &trees[i];
        char text[2048];
        snprintf(text, sizeof text, HEAD "%s", c->body);
        is_s(told_of_text(text), c->want, "%s", c->what);
        is_i(out.code, 0, "... without a fault: %s", out.message);
        if (c->place)
            is_s(place_of(c->sub), c->place, "... its place");
    }
}

/* Own costs by line: the body behind HEAD, and the lines that come out. */
static const struct { const char *what, *body, *want; } lined[] = {
    { "lines", "fl=m.c\nfn=main\n16 4\n17 3\n16 5\n", "[m.c:16 main=9][m.c:17 main=3]" },
    { "relative ones", "fl=m.c\nfn=main\n16 4\n+2 3\n* 1\n-18 2\n0x10 1\n",
      "[m.c:16 main=5][m.c:18 main=4][- main=2]" },
    { "what is inlined, by its file",
      "fl=a.c\nfn=a\n1 5\nfi=b.h\n2 6\nfe=a.c\n3 7\nfi=b.h\n2 1\nfn=b\n1 2\n",
      "[a.c:1 a=5][b.h:2 a=7][a.c:3 a=7][a.c:1 b=2]" },
    { "calls have none", "fl=m.c\nfn=main\n16 4\ncfn=f\ncalls=3 20\n17 30\nfn=f\n20 30\n",
      "[m.c:16 main=4][m.c:20 f=30]" },
    { "nor have jumps, but what is behind them",
      "fl=m.c\nfn=a\njump=3 +2\n1\n+1 5\n", "[m.c:2 a=5]" },
    { "code without a file",
      "ob=x.so\nfl=???\nfn=f\n1 5\nfl=y.c\nfn=g\n0 6\n3 1\n",
      "[- f=5][- g=6][y.c:3 g=1]" },
    { "no line that is known", "ob=x.so\nfl=???\nfn=f\n1 5\nfl=y.c\nfn=g\n0 6\n", "" },
    { "nothing costs nothing", "fl=m.c\nfn=f\n1 0\n2\n3 4\n", "[m.c:3 f=4]" },
    { "names with blanks", "fl=a b%.c:1\nfn=f\n7 4\n", "[a%20b%25.c:1:7 f=4]" },
    { "lines of instructions",
      "positions: instr line\nfl=m.c\nfn=f\n0x40 16 4\n+4 * 3\n+4 +1 2\n",
      "[m.c:16 f=7][m.c:17 f=2]" },
    { "instructions without lines", "positions: instr\nfl=m.c\nfn=f\n0x40 4\n", "" },
    { "parts of a file", "fl=m.c\nfn=f\n3 4\npart: 2\nevents: Ir\nfl=m.c\nfn=f\n3 5\n",
      "[m.c:3 f=9]" },
    { "lines that are too great", "fl=m.c\nfn=f\n3 1\n-4 4\n4294967299 5\n2147483647 7\n",
      "[m.c:3 f=1][- f=9][m.c:2147483647 f=7]" },
};

static void lines(void)
{
    char text[512];
    for (size_t i = 0; i < DP_ARRAY_LEN(lined); i++) {
        snprintf(text, sizeof text, HEAD "%s", lined[i].body);
        is_s(lines_of(text, strlen(text)), lined[i].want, "%s", lined[i].what);
        is_s(lines_told(), *lined[i].want ? "time" : "none", "... which is told");
    }
    snprintf(text, sizeof text, "version: 1\nevent: T : cpu (us)\nevents: T Dr\nfl=m.c\nfn=f\n"
                                "3 4 1\n4 0 2\n");
    is_s(lines_of(text, strlen(text)), "[m.c:3 f=4000{1}][m.c:4 f=0{2}]", "times and counters");
}

static void kinds(void)
{
    is_s(told_of_text("# callgrind format\nevents: Ir Dr sysTime\nfn=a\n1 5 3\n2 1 1 1\n"),
         "[=0{0 0}][a=6{4 1}] 1/Ir Dr sysTime", "events");
    is_s(told_of_text("desc: x\ncmd: y\nevents: Ir Dr\nfl=f\nfn=a\n1 5 3\nsummary: 5 3\n"),
         "[=0{0}][a=5{3}] 1/Ir no calls Dr", "cachegrind knows no calls");
    is_s(told_of_text("version: 1\ncreator: xdebug 3\nevents: Time_(10ns) Memory_(bytes)\n\nfl=(1) "
                      "php:internal\nfn=(1) php::strlen\n9 12 640\n"),
         "[=0{0}][php::strlen=120{640}] 1000000000/s Memory:bytes", "Xdebug's units");
    is_s(told_of_text("version: 1\nevent: Cpu : cpu (nanoseconds)\nevent: W : wall (ms)\n"
                      "event: Ops : ops (count)\nevent: L : a long text (s)\n"
                      "event: Sum = Cpu + W : Sum of (both)\nevents: Cpu W Ops L\nfn=a\n"
                      "1 7 2 3 4\ncfn=b\ncalls=2 1\n1 70 0 30 0\nfn=b\n1 70 0 30 0\n"),
         "[=0{0 0}][a=7/2000000{3 4}][a;b=70/0x2{30 0}] 1000000000/s ops L", "described events");
    is_s(told_of_text(HEAD "fn=(1) a\n1 5\ntotals: 5\npart: 2\nevents:  Ir \nfn=(1)\n1 6\n"),
         "[=0][a=11] 1/Ir", "two parts");
}

/* Xdebug's memory may go down. That value is lost, and no more. */
static void below_0(void)
{
    static const char text[] = "version: 1\ncreator: xdebug 3\nevents: Time_(10ns) Memory_(bytes)\n"
        "fl=a.php\nfn=f\n3 50 400\n4 7 -0\nfn={main}\n1 100 -464\ncfn=f\ncalls=1 0 0\n1 50 -7\n";
    is_s(told_of_text(text), "[=0{0}][{main}=1000{0}][{main};f=500x1{0}][f=70{400}] 1000000000/s"
         " Memory:bytes", "all that is not below 0");
    is_i(out.code, DP_E_SYNTAX, "which is told");
    is_u(out.fault_count, 2, "of each value");
    is_s(out.message, "a cost is below 0, and is left out: -464", "%s", out.message);
    is_u(out.line, 9, "with its line");
    is_u(out.fault[1].line, 12, "and that of the next one");
    is_u(out.marks + out.contexts > 0, 1, "contexts are there");
}

/* Folded stacks whose first frames are words of callgrind's headers. */
static void not_callgrind(void)
{
    static const struct { const char *text, *want; } stacks[] = {
        { "version: 1\nmain;f 2\n", "[=0][version:=1][main=0][main;f=2] 1/ no calls" },
        { "version: 1\ncreator: 2\nevents: 3\n",
          "[=0][version:=1][creator:=2][events:=3] 1/ no calls" },
        { "version: 1\nmain;f 2\nevents: x;y 3\n",
          "[=0][version:=1][main=0][main;f=2][events: x=0][events: x;y=3] 1/ no calls" },
        { "creator: x;main 5\ndesc: y 6\n", "[=0][creator: x=0][creator: x;main=5][desc: y=6]"
          " 1/ no calls" },
        { "events: Ir 5\nevents: Ir;f 1e3\n", "" },
    };
    for (size_t i = 0; i < DP_ARRAY_LEN(stacks); i++) {
        told_of_text(stacks[i].text);
        if (*stacks[i].want)
            is_s(told.ptr, stacks[i].want, "no callgrind: %zu", i);
        is_s(out.message, *stacks[i].want ? "" : "the count is no decimal number: 1e3", "%s",
             out.message);
    }
    is_s(told_of_text("cmd: a 5\nversion: 1\nevents: Ir\nfn=f\n1 7\n"), "[=0][f=7] 1/Ir",
         "headers that end with numbers");
}

/* The error behind `fn=a', and its line and byte. */
static const struct {
    const char *body;
    uint64_t line, byte;
    const char *message;
} wrong[] = {
    { "1 2 3", 1, 0, "there are more costs than events: 2 3" },
    { "1 x", 1, 0, "this is no cost: x" },
    { "1 -", 1, 0, "this is no cost: -" },
    { "1 -x", 1, 0, "this is no cost: -x" },
    { "1 99999999999999999999", 1, 0, "this is no cost: 99999999999999999999" },
    { "1 4611686018427387904", 1, 0, "the costs add up to more than fits" },
    { "1 4611686018427387000\n1 5000", 2, 22, "the costs add up to more than fits" },
    { "12x 3", 1, 0, "this is no position: 12x 3" },
    { "-x 3", 1, 0, "this is no position: -x 3" },
    { "hello", 1, 0, "this is no line of callgrind's format: hello" },
    { "hello=5", 1, 0, "this is no line of callgrind's format: hello=5" },
    { "fn=(7)", 1, 0, "no name was given for this number: (7)" },
    { "fn=(99999999999999999999)", 1, 0,
      "the number of this name is too large: (99999999999999999999)" },
    { "calls=x 5", 1, 0, "this is no number of calls: x 5" },
    { "calls=1 5", 1, 0, "there is no line `cfn=' before these calls: 1 5" },
    { "cfn=b\ncalls=1 x", 2, 6, "this is no position: x" },
    { "events: Dr", 1, 0, "this part of the file has other events than the first one: Dr" },
    { "positions: a b c d", 1, 0, "there are more than three positions: a b c d" },
    { "positions:", 1, 0, "there is no position: " },
};

static void faults(void)
{
    for (size_t i = 0; i < DP_ARRAY_LEN(wrong); i++) {
        char text[512];
        snprintf(text, sizeof text, HEAD "fn=a\n%s\n1 1\n", wrong[i].body);
        fault_is(text, strlen(text), 5 + wrong[i].line, strlen(HEAD) + 5 + wrong[i].byte,
                 wrong[i].message);
    }
    fault_is("version: 1\ncreator: x\n", 22, 3, 22, "there is no line `events:'");
    fault_is("version: 1\nevents:\n", 19, 2, 11, "there is no event: ");
    fault_is("version: 1\nfn=a\nevents: Ir\n", 27, 2, 11,
             "this is no line of a header, and there was no line `events:': fn=a");
    told_of_text(HEAD "fn=a\n1 5\ncfn=b\ncalls=2 1\n");
    is_i(out.code, DP_E_TRUNCATED, "the cost of a call is missing");
    is_u(prof->count, 1, "and nothing was read");
    /* 8 callers, each with 2^61 below the same function */
    struct dp_buf text;
    dp_buf_init(&text);
    dp_buf_adds(&text, HEAD "fn=f\n1 1\n");
    for (int i = 0; i < 8; i++)
        dp_buf_addf(&text, "fn=c%d\n1 0\ncfn=f\ncalls=1 1\n1 2305843009213693952\n", i);
    told_of(text.ptr, text.len);
    is_s(out.message, "the values add up to more than fits", "%s", out.message);
    dp_buf_release(&text);
}

/* ---- random programs ---- */

enum { SUBS = 12, CONTEXTS = 300, KINDS = 3 };

/* The costs of a program: own values, inclusive values of calls, their number. */
struct graph {
    uint64_t own[SUBS][KINDS], all[SUBS][SUBS][KINDS], calls[SUBS][SUBS], below[SUBS][KINDS];
};

/* A tree of calls without recursion: a sub calls only subs behind it. */
static void run(struct graph *g, unsigned most)
{
    static uint64_t value[CONTEXTS][KINDS];
    static int sub[CONTEXTS], parent[CONTEXTS];
    memset(g, 0, sizeof *g);
    for (int i = 0; i < CONTEXTS; i++) {
        do
            parent[i] = i ? (int)rnd((unsigned)i) : -1;
        while (i && sub[parent[i]] == SUBS - 1);
        sub[i] = i ? sub[parent[i]] + 1 + (int)rnd((unsigned)(SUBS - 1 - sub[parent[i]])) : 0;
        for (int k = 0; k < KINDS; k++)
            g->own[sub[i]][k] += value[i][k] = rnd(3) ? rnd(most) : 0;
    }
    for (int i = CONTEXTS; i-- > 0;)
        for (int k = 0; k < KINDS; k++) {
            g->below[sub[i]][k] += value[i][k];
            if (i) {
                g->all[sub[parent[i]]][sub[i]][k] += value[i][k];
                value[parent[i]][k] += value[i][k];
                g->calls[sub[parent[i]]][sub[i]] += k == 0;
            }
        }
}

static void write_graph(const struct graph *g, struct dp_buf *to)
{
    dp_buf_adds(to, "version: 1\nevents: A B C\n");
    for (int n = 0; n < SUBS; n++) {
        int i = n * 5 % SUBS;
        dp_buf_addf(to, "fn=f%d\n1 %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", i, g->own[i][0],
                    g->own[i][1], g->own[i][2]);
        for (int j = 0; j < SUBS; j++)
            if (g->calls[i][j])
                dp_buf_addf(to, "cfn=f%d\ncalls=%" PRIu64 " 1\n1 %" PRIu64 " %" PRIu64 " %" PRIu64
                                "\n", j, g->calls[i][j], g->all[i][j][0], g->all[i][j][1],
                            g->all[i][j][2]);
    }
}

static int number_of(uint32_t node)
{
    struct dp_buf label;
    if (!node)
        return -1;
    dp_buf_init(&label);
    dp_subs_label(&prof->subs, prof->nodes[node].sub, 0, &label);
    int n = atoi(dp_buf_cstr(&label) + 1);
    dp_buf_release(&label);
    return n;
}

/* The same for the profile that was read. */
static void add_up(struct graph *g)
{
    uint64_t (*value)[KINDS] = calloc(prof->count, sizeof *value);
    memset(g, 0, sizeof *g);
    for (uint32_t i = (uint32_t)prof->count; i-- > 0;)
        value[i][0] = prof->nodes[i].self[DP_REAL], value[i][1] = dp_prof_count(prof, i, 0),
        value[i][2] = dp_prof_count(prof, i, 1);
    for (uint32_t i = (uint32_t)prof->count; i-- > 1;) {
        uint32_t up = prof->nodes[i].parent;
        int sub = number_of(i), caller = number_of(up);
        for (int k = 0; k < KINDS; k++) {
            g->below[sub][k] += value[i][k];
            if (caller >= 0)
                g->all[caller][sub][k] += value[i][k];
            value[up][k] += value[i][k];
        }
        if (caller >= 0)
            g->calls[caller][sub] += prof->nodes[i].calls;
        g->own[sub][0] += prof->nodes[i].self[DP_REAL];
        g->own[sub][1] += dp_prof_count(prof, i, 0);
        g->own[sub][2] += dp_prof_count(prof, i, 1);
    }
    free(value);
}

static void programs(void)
{
    static const unsigned most[] = { 2, 10, 1000, 1000000, 1u << 30 };
    static struct graph was, is;
    bool same = true, smaller = false;
    for (int n = 0; n < 200 && same; n++) {
        struct dp_buf text;
        dp_buf_init(&text);
        run(&was, most[n % 5]);
        write_graph(&was, &text);
        told_of(text.ptr, text.len);
        add_up(&is);
        same = out.code == 0 && memcmp(&was, &is, sizeof is) == 0;
        smaller = smaller || prof->count < CONTEXTS / 2;
        dp_buf_release(&text);
    }
    ok(same, "own and inclusive values, those of calls, and their numbers, are the program's");
}

enum { FILES = 3, LINES = 9 };

/* Costs of random lines, written in random ways, and their sums. */
static void write_lines(struct dp_buf *to, uint64_t sum[FILES][SUBS][LINES])
{
    uint64_t line = 0;
    for (int i = 0; i < 200; i++) {
        static int file, home, sub;
        uint64_t next = 1 + rnd(LINES - 1), cost = rnd(3) ? rnd(100) : 0;
        if (!i || rnd(4) == 0) {
            file = home = (int)rnd(FILES);
            sub = (int)rnd(SUBS);
            dp_buf_addf(to, "fl=%d.c\nfn=f%d\n", home, sub);
        } else if (rnd(4) == 0) {
            file = (int)rnd(FILES);
            dp_buf_addf(to, "%s=%d.c\n", file == home ? "fe" : "fi", file);
        }
        if (rnd(5) == 0) {
            dp_buf_addf(to, "cfn=f0\ncalls=1 1\n%d 7\n", (int)next);
        } else {
            bool same = i && next == line, relative = i && rnd(2);
            if (same && relative)
                dp_buf_addf(to, "* %" PRIu64 "\n", cost);
            else if (relative)
                dp_buf_addf(to, "%+d %" PRIu64 "\n", (int)next - (int)line, cost);
            else
                dp_buf_addf(to, "%" PRIu64 " %" PRIu64 "\n", next, cost);
            /* a function is known by the file where it begins */
            sum[file][sub][next] += cost;
        }
        line = next;
    }
}

static void random_lines(void)
{
    bool same = true;
    for (int n = 0; n < 200 && same; n++) {
        uint64_t sum[FILES][SUBS][LINES] = { { { 0 } } };
        struct dp_buf text;
        dp_buf_init(&text);
        dp_buf_adds(&text, HEAD);
        write_lines(&text, sum);
        told_of(text.ptr, text.len);
        same = out.code == 0;
        for (uint32_t i = 0; i < prof->n_lines; i++) {
            const struct dp_prof_line *line = &prof->lines[i];
            int file = -1, number = -1;
            struct dp_buf label;
            dp_buf_init(&label);
            dp_subs_label(&prof->subs, line->sub, 0, &label);
            sscanf(dp_pool_name(&prof->sites, line->site - 1)->ptr, "%d.c:%d", &file, &number);
            sum[file][atoi(dp_buf_cstr(&label) + 1)][number] -= line->self[DP_REAL];
            dp_buf_release(&label);
        }
        for (int f = 0; f < FILES; f++)
            for (int s = 0; s < SUBS; s++)
                for (int l = 0; l < LINES; l++)
                    same = same && sum[f][s][l] == 0;
        dp_buf_release(&text);
    }
    ok(same, "what lines cost is what the program did");
}

/* Circles within circles: own values and the total are true all the same. */
static void circles(void)
{
    bool same = true;
    for (int n = 0; n < 200 && same; n++) {
        struct dp_buf text;
        uint64_t total = 0, own[8] = { 0 }, seen[8] = { 0 }, calls = 0, counted = 0;
        dp_buf_init(&text);
        dp_buf_adds(&text, HEAD);
        for (int i = 0; i < 8; i++) {
            total += own[i] = rnd(50);
            dp_buf_addf(&text, "fn=f%d\n1 %" PRIu64 "\n", i, own[i]);
            for (int j = 0; j < 8; j++)
                if (rnd(3) == 0) {
                    uint64_t times = 1 + rnd(9);
                    calls += times;
                    dp_buf_addf(&text, "cfn=f%d\ncalls=%" PRIu64 " 1\n1 %u\n", j, times,
                                rnd(n % 2 ? 200 : 20000));
                }
        }
        told_of(text.ptr, text.len);
        for (uint32_t i = 1; i < prof->count; i++) {
            seen[number_of(i)] += prof->nodes[i].self[DP_USER];
            counted += prof->nodes[i].calls;
        }
        same = out.code == 0 && memcmp(own, seen, sizeof own) == 0
               && dp_prof_total(prof, DP_T_REAL) == total && calls == counted;
        dp_buf_release(&text);
    }
    ok(same, "recursion of any kind: own values, calls, the total");
}

/* A ladder: each rung calls both of the next, so there are 2^40 ways down. */
static void ladder(void)
{
    struct dp_buf text;
    dp_buf_init(&text);
    dp_buf_adds(&text, HEAD);
    for (int i = 0; i < 40; i++)
        for (int side = 0; side < 2; side++) {
            uint64_t each = (UINT64_C(1000000) << (40 - i)) - 1000000;  /* below one of the next */
            dp_buf_addf(&text, "fn=f%d%c\n1 2000000\n", i, "ab"[side]);
            for (int to = 0; to < 2 && i < 39; to++)
                dp_buf_addf(&text, "cfn=f%d%c\ncalls=1 1\n1 %" PRIu64 "\n", i + 1, "ab"[to], each);
        }
    read_file(text.ptr, text.len);
    is_i(out.code, 0, "a ladder: %s", out.message);
    is_u(dp_prof_total(prof, DP_T_CPU), 160000000, "all of its own values");
    ok(prof->count < 1 << 19, "fewer contexts than ways: %zu", prof->count);
    dp_buf_release(&text);
}

/* A circle of calls with costs that no function has, each a little more than the one before: if
 * each caller on the way had a context of its own, there would be one for each pair of
 * functions. */
static void ring(void)
{
    enum { AROUND = 5000 };
    struct dp_buf text;
    dp_buf_init(&text);
    dp_buf_adds(&text, HEAD);
    for (int i = 0; i < AROUND; i++)
        dp_buf_addf(&text, "fn=f%d\n1 2\ncfn=f%d\ncalls=1 1\n1 %d\n", i, (i + 1) % AROUND,
                    1000000 + i);
    read_file(text.ptr, text.len);
    is_i(out.code, 0, "a ring: %s", out.message);
    is_u(dp_prof_total(prof, DP_T_CPU), 2 * AROUND, "all of its own values");
    ok(prof->count < 1 << 22, "fewer contexts than pairs of functions: %zu", prof->count);
    dp_buf_release(&text);
}

static void damaged(void)
{
    const char *text = "# callgrind format\nversion: 1\npositions: instr line\n"
                       "event: T : cpu (ns)\nevents: T Ir\n\nob=(1) o\nfl=(1) m.c\nfn=(1) main\n"
                       "0x10 1 5 6\ncob=(2) p\ncfi=(2) f.c\ncfn=(2) f\ncalls=3 0x20 9\n+1 +1 7 9\n"
                       "jcnd=1/2 +1 *\n* *\nfi=(2)\n+2 -1 1 1\nfl=(2)\nfn=(2)\n0x20 9 7 9\n"
                       "cfn=(2)\ncalls=4 0x20 9\n* * 7 9\n\npart: 2\nevents: T Ir\nfn=(1)\n1 2 3\n"
                       "totals: 13 16\n";
    is_s(told_of_text(text), "[=0{0}][main=3{0}][main=6{7}][main;f=7x3{9}][main;f;f=0x4{0}]"
                             " 1000000000/s Ir", "one of everything");
    cut_anywhere(text, strlen(text));
    change_anywhere(text, strlen(text));
    starve(text, strlen(text));
}

int main(void)
{
    dp_buf_init(&told);
    read_trees();
    lines();
    kinds();
    below_0();
    not_callgrind();
    faults();
    programs();
    random_lines();
    circles();
    ladder();
    ring();
    damaged();
    return foreign_done();
}
