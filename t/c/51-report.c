/* dprofreport's table: no memory at any place, output that cannot be written, and chains
 * whose parts add up. */
#include "tap.h"
#include "host.h"
#include "dp_chain.h"
#include "dp_edges.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_overhead.h"
#include "dp_table.h"
#include "dprof/report.h"
#include "dprof/rows.h"

#include <unistd.h>

static const char stacks[] =
    "A::a;A::b;B::c 50\nA::a;A::b 30\nA::a;A::d;B::c 15\nA::a;A::b;A::a;A::b 7\n(program)"
    " 5\nB::c;B::c;B::c 3\nA::d;A::a 1\n";

/* With places, and with statements: m::a calls m::b on line 2, and m::b m::a on line 5. */
static const char lined[] =
    "#fOrTyTwO\n$hz=100;\n$dprof_format='tree 1';\n$dprof_lines='time';\n"
    "$rrun_utime=0; $rrun_stime=0; $rrun_rtime=0;\nPART3\n"
    "& 1 m a m.pl:1\n& 2 m b m.pl:4\n"
    "= 0 0 1 0 0 1 0 0\n"
    "= 1 1 1 0 0 20 0 0 at=m.pl:9\n= 2 2 3 0 0 30 0 0 at=m.pl:2\n= 3 1 4 0 0 7 0 0 at=m.pl:5\n"
    "= 4 2 6 0 0 2 0 0 at=m.pl:2\n"
    "#f m.pl\n#l 1 1 1 0 0 5\n#l 2 1 5 0 0 22\n#l 5 2 9 0 0 32\n#l 9 0 1 0 0 1\n";
static const struct dp_report_name wanted[] = { { "m.pl:2", 6 }, { "m::b", 4 }, { "no", 2 } };

static struct dp_prof *of(const char *path, const char *text)
{
    struct dp_prof *prof = dp_prof_new();
    dp_prof_phases(prof);
    dp_prof_detail(prof);
    dp_prof_declare_unit(prof, "s");
    dp_prof_add_mem(prof, path, text, strlen(text), 0);
    return prof;
}

enum { SHAPES = 16 };

static struct dp_report shape(int k)
{
    struct dp_report how;
    memset(&how, 0, sizeof how);
    how.over.n_keys = 1;
    how.over.keys[0] = k % 2 ? DP_K_PACKAGE : DP_K_SUB;
    if (k % 3 == 1) {
        how.over.n_keys = 2;
        how.over.keys[1] = k % 2 ? DP_K_SUB : DP_K_SRCLINE;
        how.hierarchy = k > 4;
    }
    how.fields[how.n_fields++] = DP_FIELD_CHILDREN;
    how.fields[how.n_fields++] = DP_FIELD_SELF;
    for (size_t i = 0; i < how.over.n_keys; i++)
        how.fields[how.n_fields++] = DP_FIELD_KEY + (int)i;
    if (k > 11)
        how.fields[how.n_fields++] = DP_FIELD_HOT;
    how.over.relative = k % 4 == 3;
    how.over.max_stack = k % 5 == 4 ? 2 : 0;
    how.chain = k % 5;
    how.chain_value = k % 3;
    how.caller_order = k & 1;
    how.histogram = k == 6;
    how.format = k % 2 ? DP_JSON : DP_TEXT;
    if (k >= 10 && k < 14) {
        how.edges_of = "A::b";
        how.edges_of_len = 4;
        how.callees = k & 1;
    }
    if (k == 12 || k == 13) {
        how.edges_of_lines = wanted;
        how.n_edges_of_lines = DP_ARRAY_LEN(wanted);
    }
    return how;
}

/* The allocation after n more ones fails, for every possible n. */
static void no_memory(const struct dp_part *sides, int first)
{
    long failed = 0, odd = 0, kept = 0, endless = 0;
    for (int k = first; k < SHAPES; k++) {
        struct dp_report how = shape(k);
        long before = (long)dp_mem_live(), n, good = 0;
        /* some can be done without (sorting); many in a row: none was left to fail */
        for (n = 0; good < 50 && n < 20000; n++) {
            dp_mem_fail_after(n);
            long rc = dp_report_print(sides, 2, &how, &counting);
            dp_mem_fail_after(-1);
            good = rc == DP_E_NOMEM ? 0 : good + 1;
            failed += rc == DP_E_NOMEM;
            odd += rc < 0 && rc != DP_E_NOMEM;
            kept += (long)dp_mem_live() != before;
        }
        endless += n == 20000;
    }
    ok(failed > (SHAPES - first) * 20, "memory that ends is said so");
    is_i(odd + endless, 0, "and nothing else is");
    is_i(kept, 0, "nothing kept");
}

/* The calls from lines: place, both subs, calls, inclusive ticks. */
static void lines(const struct dp_part *side)
{
    static const struct { const char *site, *caller, *callee; unsigned calls, incl; } want[2][4] = {
        { { "m.pl:2", "m::a", "m::b", 9, 39 } },                      /* callers of m::b */
        { { "m.pl:2", "m::a", "m::b", 9, 39 }, { "m.pl:5", "m::b", "m::a", 4, 9 } }
    };
    struct dp_report_how how = { .n_keys = 1, .keys = { DP_K_SUB }, .metric = DP_T_REAL };
    struct dp_overhead over;
    struct dp_edges e;
    is_i(dp_overhead_make(&over, side, 1, &how), 0, "a profile with lines");
    for (int callees = 0; callees < 2; callees++) {
        is_i(dp_edges_of_lines(&e, &over, side, wanted, DP_ARRAY_LEN(wanted), callees), 0, "edges");
        is_u(e.count, callees ? 2 : 1, callees ? "callees" : "callers");
        for (size_t i = 0; i < e.count && i < 4; i++) {
            const char *name = dp_pool_name(&over.values, e.edges[i].name)->ptr,
                       *of = dp_pool_name(&over.values, e.edges[i].of)->ptr;
            is_s(callees ? of : name, want[callees][i].caller, "the line's sub");
            is_s(callees ? name : of, want[callees][i].callee, "the called sub");
            is_s(dp_pool_name(&over.values, e.edges[i].site)->ptr, want[callees][i].site, "line");
            is_u(e.edges[i].calls, want[callees][i].calls, "calls");
            is_u(e.edges[i].incl, want[callees][i].incl, "what they cost, recursion once");
        }
        dp_edges_release(&e);
    }
    dp_overhead_release(&over);
}

static int add_edge(void *ctx, const struct dp_edge_row *row)
{
    uint64_t *sum = ctx;
    *sum += row->name_len ? row->incl : 0;
    return 0;
}

static int stop_at_once(void *ctx, const struct dp_edge_row *row)
{
    (void)ctx;
    return row->name_len ? DP_E_HOST : 0;
}

/* Edges as rows; without memory, too. */
static void edges(const struct dp_part *side)
{
    struct dp_report_how how = { .n_keys = 1, .keys = { DP_K_SUB } };
    uint64_t sum = 0;
    long failed = 0, odd = 0, before = (long)dp_mem_live();
    is_i(dp_edge_rows(side, 1, &how, "B::c", 4, 0, add_edge, &sum), 0, "callers");
    is_u(sum / dp_prof_hz(side->prof), 50 + 15 + 3 + 3, "have what they cost, recursion once");
    is_i(dp_edge_rows(side, 1, &how, "no", 2, 1, add_edge, &sum), DP_E_ARG, "no such sub");
    is_i(dp_edge_rows(side, 1, &how, "B::c", 4, 0, stop_at_once, NULL), DP_E_HOST,
         "a host that stops it");
    for (long n = 0, good = 0; good < 50 && n < 20000; n++) {
        dp_mem_fail_after(n);
        int rc = dp_edge_rows(side, 1, &how, "A::a", 4, n & 1, add_edge, &sum);
        dp_mem_fail_after(-1);
        good = rc == 0 ? good + 1 : 0;
        failed += rc == DP_E_NOMEM;
        odd += rc != 0 && rc != DP_E_NOMEM;
    }
    ok(failed > 15, "no memory at %ld places", failed);
    is_i(odd, 0, "is said so");
    is_i((long)dp_mem_live(), before, "and nothing is left behind");
}

/* The values of a node of a chain are its kids' and its own, at every level; together they are the
 * row's. */
static void sums(const struct dp_part *sides)
{
    long wrong = 0, rows = 0;
    for (int k = 0; k < 24; k++) {
        struct dp_overhead over;
        struct dp_chains chains;
        struct dp_report_how how = { .n_keys = 1,
                                   .keys = { k & 1 ? DP_K_PACKAGE : DP_K_SUB },
                                   .no_children = k & 2 };
        struct dp_chain_how c = { .caller_order = k & 4,
                                  .of = k & 2 ? DP_CHAIN_SELF : DP_CHAIN_CHILDREN,
                                  .fractal = k >= 16,
                                  .threshold = k >= 8 ? 10 : 0 };
        if (dp_overhead_make(&over, sides, 2, &how) < 0
            || dp_chains_init(&chains, &over, c.of, 0) < 0) {
            wrong++;
            continue;
        }
        for (size_t r = 0; r < over.n_rows; r++, rows++) {
            struct dp_chain chain;
            if (dp_chain_make(&chain, &chains, over.rows[r].entry, &c) < 0) {
                wrong++;
                continue;
            }
            wrong += chain.nodes[0].value != (k & 2 ? over.rows[r].self : over.rows[r].children);
            for (uint32_t n = 0; n < chain.count; n++) {
                uint64_t sum = chain.nodes[n].own;
                for (uint32_t kid = chain.nodes[n].kid; kid; kid = chain.nodes[kid].sibling)
                    sum += chain.nodes[kid].value;
                wrong += sum != chain.nodes[n].value;
            }
            dp_chain_release(&chain);
        }
        dp_chains_release(&chains);
        dp_overhead_release(&over);
    }
    ok(rows > 60, "chains");
    is_i(wrong, 0, "add up at every level");
}

/* Subs that call each other as deep as there are subs: each chain from the program on down costs
 * what it is long. Were it as deep as its sub stands, this took a quarter of an hour. */
static void deep(void)
{
    enum { DEPTH = 300000, FRAMES = 3 };
    struct dp_buf text;
    dp_buf_init(&text);
    for (int i = 0; i < DEPTH; i++)
        dp_buf_addf(&text, "%sA::f%d", i ? ";" : "", i);
    dp_buf_adds(&text, " 5\n");
    struct dp_prof *prof = of("deep", dp_buf_cstr(&text));
    struct dp_part side = { .prof = prof };
    struct dp_report_how how = { .n_keys = 1, .keys = { DP_K_SUB } };
    struct dp_chain_how c = { .caller_order = true, .of = DP_CHAIN_CHILDREN };
    struct dp_overhead over;
    struct dp_chains chains;
    long wrong = 0, rows = 0;
    alarm(300);
    if (dp_overhead_make(&over, &side, 1, &how) == 0) {
        if (dp_chains_init(&chains, &over, c.of, FRAMES) == 0) {
            for (size_t r = 0; r < over.n_rows; r++, rows++) {
                struct dp_chain chain;
                if (dp_chain_make(&chain, &chains, over.rows[r].entry, &c) < 0)
                    break;
                wrong += chain.count > FRAMES + 1 || chain.nodes[0].value != 5
                         || chain.nodes[chain.count - 1].value != 5;
                dp_chain_release(&chain);
            }
            dp_chains_release(&chains);
        }
        dp_overhead_release(&over);
    }
    alarm(0);
    is_i(rows, DEPTH + 1, "a deep stack of many subs: a chain for each");
    is_i(wrong, 0, "that is as long as was asked for");
    dp_prof_free(prof);
    dp_buf_release(&text);
}

int main(void)
{
    long before = (long)dp_mem_live();
    struct dp_prof *one = of("one", stacks), *two = of("two", "A::a;B::c;A::a 9\nC::z 4\n");
    unsigned char flags[16];
    memset(flags, DP_F_SHOWN, sizeof flags);
    flags[1] |= DP_F_CUT | DP_F_PARENT;
    flags[2] = 0;
    struct dp_part sides[2] = { { .prof = one, .script = "x" },
                                     { .prof = two, .flags = flags } };
    struct dp_prof *with_lines = of("lined", lined);
    struct dp_part lined_sides[2] = { { .prof = with_lines }, sides[1] };
    no_memory(sides, 0);
    no_memory(lined_sides, 12);
    lines(lined_sides);
    sums(sides);
    edges(sides);
    deep();
    struct dp_report how = shape(1);
    is_i(dp_report_print(sides, 2, &how, &refusing), DP_E_IO, "output that cannot be written");
    how.edges_of = "none";
    how.edges_of_len = 4;
    is_i(dp_report_print(sides, 2, &how, &counting), DP_E_ARG, "no such sub");
    ok(printed > 1000, "printed");
    dp_prof_free(one);
    dp_prof_free(two);
    dp_prof_free(with_lines);
    is_i((long)dp_mem_live(), before, "nothing kept at the end");
    return tap_done();
}
