/* The memory of a target, and the stack of a made-up perl in it: first as perl would have it, then
 * with each of its words wrong. Nothing that is read may be trusted. Then the perls of its threads,
 * by the control blocks of two C libraries. */
#include "tap.h"
#include "random.h"
#include "dp_mem.h"
#include "made.h"

/* Most readings of one look: a page is read once, but pages share places. */
enum { MOST_READINGS = 100000 };

static struct made m;
static struct dp_buf args;

static const char *name_of(uint32_t n)
{
    return n == DP_MAP_NONE ? "none" : dp_pool_name(&m.code.names, n)->ptr;
}

static void begin(unsigned series, bool threads)
{
    made_init(&m, series, threads);
    if (made_open(&m) < 0)
        abort();
    dp_buf_clear(&args);
}

/* ---- as perl has it ---- */

static void right(unsigned series, bool threads)
{
    begin(series, threads);
    is_i(made_look(&m, &args), 1, "5.%u%s: the stack fits", series, threads ? " threads" : "");
    is_u(m.stack.n, 4, "all contexts");
    is_i(m.stack.mended, 0, "as they are");
    is_s(name_of(dp_stack_name(&m.stack, 0, 0)), "main f p.pl:20", "the name of a sub by a glob");
    is_s(name_of(dp_stack_name(&m.stack, 2, 0)), "Pack g p.pl:30", "the name of a sub by itself");
    is_s(name_of(dp_leaf_name(&m.leafs)), "List::Util sum - kind=xs", "the XS sub that runs");
    is_s(dp_leaf_op(&m.leafs), "entersub", "the op that runs");
    char want[100];
    dp_addr object = dp_target_pointer(&m.target, m.args_body + m.perl.at.av_alloc);
    object = dp_target_pointer(&m.target, object + 2 * WORD);
    object = dp_target_pointer(&m.target, object + m.perl.at.sv_u);
    snprintf(want, sizeof want, "('text', 3, main(0x%llx), undef)", (unsigned long long)object);
    is_s(dp_buf_cstr(&args), want, "the arguments, and the one that was shifted off");
    is_i(made_look(&m, &args), 1, "a second look");
    const uint64_t readings = m.target.readings, anew = m.code.read_anew;
    is_i(made_look(&m, &args), 1, "a third look");
    ok(m.target.readings - readings <= 10 && m.code.read_anew == anew,
       "reads little, and nothing anew (%llu readings)",
       (unsigned long long)(m.target.readings - readings));
    struct dp_buf text;
    dp_buf_init(&text);
    struct dp_sampled_head head = { "1", "r", "p.pl", "1", 1, 1, 0, 100, 0, 0 };
    is_i(dp_sampled_write(&m.sampled, &head, &text), 0, "the profile is written");
    ok(strstr(dp_buf_cstr(&text), "main f p.pl:20") && strstr(dp_buf_cstr(&text), "List::Util sum"),
       "and has the subs");
    dp_buf_release(&text);
    made_release(&m);
}

/* A state in the middle of a call: the context is pushed, and the caller's statement still runs. */
static void mended(void)
{
    begin(36, true);
    made_put(&m, DP_PERL_VAR(&m.perl, m.interpreter, curcop), m.g_cop, WORD);
    is_i(made_look(&m, &args), 1, "an eval that has not begun");
    is_i(m.stack.mended, -1, "is left out");
    made_put(&m, DP_PERL_VAR(&m.perl, m.interpreter, curcop), m.main_cop, WORD);
    is_i(made_look(&m, &args), 1, "the statement of the main program");
    is_i(m.stack.mended, -4, "leaves out all contexts");
    made_put(&m, m.g_cop + m.perl.at.op_sibparent, m.f_root, WORD);
    made_put(&m, DP_PERL_VAR(&m.perl, m.interpreter, curcop), m.eval_cop, WORD);
    is_i(made_look(&m, &args), 0, "a statement in another sub's tree: given up");
    made_release(&m);
    begin(36, true);
    dp_addr other = made_cop(&m, "p.pl", 40);
    made_code(&m, "leavesub", other, made_op(&m, "const", false));
    made_put(&m, DP_PERL_VAR(&m.perl, m.interpreter, curcop), other, WORD);
    is_i(made_look(&m, &args), 0, "a statement of a sub that does not run: given up");
    made_put(&m, DP_PERL_VAR(&m.perl, m.interpreter, parser), 0x10000, WORD);
    is_i(made_look(&m, &args), 1, "while perl compiles:");
    is_u(m.stack.curcop, DP_PERL_VAR(&m.perl, m.interpreter, compiling), "the compiler runs");
    made_release(&m);
}

/* Makes a sub whose root is at an address, and the main program's sort call it. */
static dp_addr sub_at(dp_addr root, const char *name, unsigned line, dp_addr *cop)
{
    dp_addr pack = made_stash(&m, "Pack"), hek = made_hek(&m, name);
    *cop = made_cop(&m, "p.pl", line);
    size_t used = m.used;
    m.used = root - MADE_BASE;
    made_code(&m, "leavesub", *cop, made_op(&m, "const", false));
    root = m.f_list - 96;
    m.used = used;
    return made_cv(&m, hek, pack, m.perl.at.CVf_NAMED, *cop, root);
}

static int call(dp_addr cv, dp_addr cop)
{
    made_put(&m, m.cx_sort + m.perl.at.cx_cv, cv, WORD);
    made_put(&m, m.cx_sort + m.perl.at.cx_size + m.perl.at.cx_oldcop, cop, WORD);
    return made_look(&m, &args);
}

/* A sub that ends has no CV for a moment. Its name is still known, whatever others have the same
 * place in a table. */
static void popped(void)
{
    enum { TABLE = 1 << 14, ROOM = 512 };
    dp_addr one = 0, other = 0, first, last, cop1, cop2;
    begin(36, true);
    first = MADE_BASE + m.used + 8 * ROOM;
    last = MADE_BASE + MADE_SIZE - ROOM;
    for (dp_addr a = first; a < last && !one; a += 16)
        for (dp_addr b = a + ROOM; b < last && !one; b += 16)
            if (dp_map_hash(a + 96) % TABLE == dp_map_hash(b + 96) % TABLE)
                one = a, other = b;
    ok(one && other, "two addresses with the same place");
    dp_addr h = sub_at(one, "h", 50, &cop1), k = sub_at(other, "k", 60, &cop2);
    is_i(call(h, cop1), 1, "a sub");
    is_i(call(k, cop2), 1, "another one");
    is_i(call(h, cop1), 1, "the first one again");
    is_i(call(0, cop1), 1, "which ends");
    is_s(name_of(dp_stack_name(&m.stack, 2, cop1)), "Pack h p.pl:50", "and has its name");
    made_release(&m);
}

/* Does the program around perl run? */
static void outside(void)
{
    begin(36, true);
    made_put(&m, DP_PERL_VAR(&m.perl, m.interpreter, op), 0, WORD);
    is_i(made_look(&m, &args), 1, "no op runs, between two calls of a sort's block");
    ok(!dp_stack_is_outside(&m.stack), "which is perl's own time");
    dp_addr compiling = DP_PERL_VAR(&m.perl, m.interpreter, compiling);
    made_put(&m, DP_PERL_VAR(&m.perl, m.interpreter, curcop), compiling, WORD);
    made_look(&m, &args);
    ok(dp_stack_is_outside(&m.stack), "the program around perl has the compiler's statement");
    made_put(&m, DP_PERL_VAR(&m.perl, m.interpreter, parser), 0x10000, WORD);
    made_look(&m, &args);
    ok(!dp_stack_is_outside(&m.stack), "and so has the compiler");
    made_release(&m);
}

/* ---- hostile ---- */

/* Looks several times, and says whether that ends and returns what it may. */
static bool survives(int looks)
{
    bool good = true;
    for (int i = 0; i < looks && good; i++) {
        uint64_t before = m.readings;
        dp_buf_clear(&args);
        int rc = made_look(&m, &args);
        good = (rc == 1 || rc == 0 || rc == DP_E_IO) && m.readings - before < MOST_READINGS
               && m.stack.n <= DP_STACK_CONTEXTS + DP_STACK_POPPED;
    }
    struct dp_buf text;
    dp_buf_init(&text);
    struct dp_sampled_head head = { "1", "r", "p.pl", "1", 1, 1, 0, 100, 0, 0 };
    good = dp_sampled_write(&m.sampled, &head, &text) == 0 && good;
    dp_buf_release(&text);
    return good;
}

#define AT(where, field) (m.where + m.perl.at.field)
/* One wrong word: done at once, and between any two of the first readings. */
#define WRONG(what, where, value, size) do { \
    bool good_ = true; \
    for (uint64_t when_ = 0; when_ < 12; when_++) \
        for (int threads_ = 0; threads_ < 2; threads_++) { \
            begin(36, threads_); \
            made_change(&m, when_, (where), (uint64_t)(value), (size)); \
            good_ = survives(3) && good_; \
            made_release(&m); \
        } \
    ok(good_, "%s", (what)); } while (0)

static void hostile(void)
{
    WRONG("si_prev leads to itself", AT(si_sort, si_prev), m.si_sort, 8);
    WRONG("si_prev leads back", AT(si_main, si_prev), m.si_sort, 8);
    WRONG("and no stackinfo is the last", AT(si_main, si_type), 3, 4);
    WRONG("si_prev leads nowhere", AT(si_sort, si_prev), -1, 8);
    WRONG("si_cxix is 2^31-1", AT(si_sort, si_cxix), INT32_MAX, 4);
    WRONG("si_cxix is -5", AT(si_sort, si_cxix), -5, 4);
    WRONG("si_cxix is -2^31", AT(si_main, si_cxix), INT32_MIN, 4);
    WRONG("si_cxmax is 2^31-1", AT(si_sort, si_cxmax), INT32_MAX, 4);
    WRONG("si_cxmax is -1", AT(si_sort, si_cxmax), -1, 4);
    WRONG("the contexts are at the end of memory", AT(si_sort, si_cxstack), -8, 8);
    WRONG("the length of a name is -1", AT(f_name, hek_len), -1, 4);
    WRONG("the length of a name is 2^31-1", AT(f_name, hek_len), INT32_MAX, 4);
    WRONG("the length of a name is just too long", AT(f_name, hek_len), 4097, 4);
    WRONG("the size of a package is 2^64-1", AT(stash_body, hv_max), -1, 8);
    WRONG("a package without a body", AT(stash, sv_any), 0, 8);
    WRONG("a package is its own body", AT(stash, sv_any), m.stash, 8);
    WRONG("a statement is its own parent", AT(g_cop, op_sibparent), m.g_cop, 8);
    WRONG("a root's parent is its statement", AT(g_root, op_sibparent), m.g_cop, 8);
    WRONG("a statement's file leads nowhere", AT(g_cop, cop_file), 0x10, 8);
    WRONG("a statement's file is at the end of memory", AT(g_cop, cop_file), -1, 8);
    WRONG("a statement's file has no end", AT(g_cop, cop_file), MADE_BASE + MADE_SIZE - 1, 8);
    WRONG("a sub is its own body", AT(f, sv_any), m.f, 8);
    WRONG("a sub's padlist is at 0", AT(f_body, cv_padlist), 0, 8);
    WRONG("a sub's padlist is at the end of memory", AT(f_body, cv_padlist), -8, 8);
    WRONG("a sub is outside of itself", AT(f_body, cv_outside), m.f, 8);
    WRONG("an anonymous sub", AT(f_body, cv_flags), m.perl.at.CVf_ANON, 4);
    WRONG("a sub without a glob", AT(f_body, cv_gv), 0, 8);
    WRONG("a sub that begins nowhere", AT(f_body, cv_start), 0x123456789abc, 8);
    WRONG("an argument list of 2^62 entries", AT(args_body, av_fill), INT64_C(1) << 62, 8);
    WRONG("an argument list of -2 entries", AT(args_body, av_fill), -2, 8);
    WRONG("arguments that lead nowhere", AT(args_body, av_alloc), 8, 8);
    WRONG("an op is its own kid", AT(list, op_first), m.list, 8);
    WRONG("kids in a circle", AT(rv2cv, op_first), m.entersub, 8);
    WRONG("siblings in a circle", AT(entersub, op_sibparent), m.eval_cop, 8);
    WRONG("and no parent", AT(entersub, op_bits) + 1, 0x40, 1);
    WRONG("no statement", DP_PERL_VAR(&m.perl, m.interpreter, curcop), 0, 8);
    WRONG("no stackinfo", DP_PERL_VAR(&m.perl, m.interpreter, curstackinfo), 0, 8);
    WRONG("no op", DP_PERL_VAR(&m.perl, m.interpreter, op), 7, 8);
    WRONG("a pad at the end of memory", DP_PERL_VAR(&m.perl, m.interpreter, curpad), -24, 8);
    WRONG("a phase of no perl", DP_PERL_VAR(&m.perl, m.interpreter, phase), -1, 4);
}

/* Op trees that are circles through many statements, which all contexts name. */
static void circles(void)
{
    enum { N = 200 };
    begin(36, true);
    m.perl.at.cx_size = 104;
    dp_addr contexts = made_room(&m, N * m.perl.at.cx_size);
    for (unsigned i = 0; i < N; i++)
        made_cx(&m, contexts + i * m.perl.at.cx_size, m.perl.at.CXt_SUB,
                MADE_BASE + 0x800 + 8 * i, m.f, 0);
    made_put(&m, AT(si_sort, si_cxstack), contexts, 8);
    made_put(&m, AT(si_sort, si_cxix), N - 1, 4);
    made_put(&m, AT(si_sort, si_cxmax), N - 1, 4);
    for (unsigned i = 0; i < 400; i++) {
        /* an op each 8 bytes: its type is a null's where the one before it has its sibling */
        made_put(&m, MADE_BASE + 0x800 + 8 * i, MADE_BASE + 0x800 + 8 * ((i * 7 + 5) % 300), 8);
    }
    ok(survives(2), "statements in circles");
    made_release(&m);
}

/* Words that are wrong at random, at random times. */
static void random_changes(void)
{
    bool good = true;
    int fitting = 0;
    for (int round = 0; round < 1000 && good; round++) {
        begin(round & 2 ? 36 : 26, round & 1);
        for (unsigned n = 1 + rnd(12); n--;) {
            uint64_t kind = rnd(4), at = 8 * rnd((unsigned)m.used / 8), value;
            value = kind == 0 ? MADE_BASE + 8 * rnd((unsigned)m.used / 8)
                    : kind == 1 ? rnd(64) : kind == 2 ? (uint64_t)-(int64_t)rnd(64)
                    : ((uint64_t)rnd(INT32_MAX) << 33 | rnd(INT32_MAX));
            made_change(&m, rnd(30), MADE_BASE + at + 4 * rnd(2), value,
                        rnd(2) ? 8 : 4);
        }
        good = survives(4);
        fitting += m.sampled.samples != 0;
        made_release(&m);
    }
    ok(good, "1,000 memories with words that are wrong");
    ok(fitting > 300 && fitting < 1000, "some fit, some do not: %d do", fitting);
}

/* ---- pages ---- */

static void pages(void)
{
    char bytes[32];
    begin(36, true);
    made_put(&m, MADE_BASE, 0x1122334455667788, 8);
    is_u(dp_target_pointer(&m.target, MADE_BASE), 0x1122334455667788, "a pointer");
    is_u(dp_target_u32(&m.target, MADE_BASE + 4), 0x11223344, "a number");
    uint64_t before = m.readings;
    made_put(&m, MADE_BASE, 1, 8);
    is_u(dp_target_pointer(&m.target, MADE_BASE), 0x1122334455667788, "one look reads once");
    is_u(m.readings, before, "no reading");
    dp_target_look(&m.target);
    is_u(dp_target_pointer(&m.target, MADE_BASE), 1, "the next look reads anew");
    m.target.look = UINT32_MAX;
    dp_target_look(&m.target);
    is_u(m.target.look, 1, "looks begin again after 2^32");
    made_put(&m, MADE_BASE, 2, 8);
    ok(!dp_target_get(&m.target, MADE_BASE + MADE_SIZE - 8, bytes, 16), "over the end");
    ok(!dp_target_get(&m.target, UINT64_MAX - 3, bytes, 16), "over the end of all addresses");
    ok(!dp_target_get(&m.target, 8, bytes, 8), "the first page is never there");
    ok(dp_target_get(&m.target, MADE_BASE + 4090, bytes, 16), "over two pages");
    struct dp_buf text;
    dp_buf_init(&text);
    ok(!dp_target_string(&m.target, MADE_BASE + MADE_SIZE - 1, 100, &text)
       || !text.len, "a text at the end");
    memset(m.bytes + MADE_SIZE - 16, 'x', 16);
    dp_target_look(&m.target);
    ok(!dp_target_string(&m.target, MADE_BASE + MADE_SIZE - 16, 100, &text) && !text.len,
       "a text without an end");
    ok(!dp_target_string(&m.target, MADE_BASE + MADE_SIZE - 16, 4, &text) && !text.len,
       "a text that is too long");
    dp_buf_release(&text);
    struct dp_target_part parts[1];
    ok(!dp_target_read(&m.target, parts, DP_TARGET_PARTS + 1), "too many parts at once");
    made_release(&m);
}

/* ---- threads ---- */

enum { KEY = 5, NO_KEY = 130, MOST = 4 };     /* neither library has as many keys as NO_KEY */

/* A made-up process of some threads, whose C library has a control block for each. */
struct made_threads {
    struct dp_thread list[MOST];
    struct dp_threads threads;
    struct dp_regions regions;
    dp_addr block[MOST], key, in[MOST];
};

static int open_nothing(void *from, const struct dp_regions *regions,
                        const struct dp_region *region)
{
    (void)from, (void)regions, (void)region;
    return -1;
}

enum libc { GLIBC, GLIBC_LINKS, MUSL };     /* GLIBC_LINKS: its blocks lack their own addresses */

enum { GLIBC_NEXT = 0x2c0, GLIBC_BEFORE = 0x2c8, GLIBC_TID = 0x2d0, GLIBC_VALUES = 0x510 };

/* Makes a control block of glibc's that is in no list yet, and the values of the first 32 keys. */
static dp_addr glibc_block(uint32_t tid, dp_addr interpreter, bool has_self)
{
    enum { SELF_AGAIN = 16, PAIR = 16 };
    dp_addr block = made_room(&m, GLIBC_VALUES + WORD);
    dp_addr values = made_room(&m, (NO_KEY + 1) * PAIR);
    made_put(&m, block, has_self ? block : 0, WORD);
    made_put(&m, block + SELF_AGAIN, has_self ? block : 0, WORD);
    made_put(&m, block + GLIBC_TID, tid, 4);
    made_put(&m, block + GLIBC_VALUES, values, WORD);
    made_put(&m, values + PAIR * KEY + WORD, interpreter, WORD);
    made_put(&m, values + PAIR * NO_KEY + WORD, interpreter, WORD);
    return block;
}

enum { MUSL_BEFORE = 16, MUSL_NEXT = 24, MUSL_TID = 48, MUSL_VALUES = 128 };

/* Makes a control block of musl's that is in no ring yet, and the values of all keys. As with musl,
 * its address is a multiple of 8 only. */
static dp_addr musl_block(uint32_t tid, dp_addr interpreter)
{
    dp_addr block = made_room(&m, MUSL_VALUES + 2 * WORD) + WORD;
    dp_addr values = made_room(&m, (NO_KEY + 1) * WORD);
    made_put(&m, block, block, WORD);
    made_put(&m, block + MUSL_TID, tid, 4);
    made_put(&m, block + MUSL_VALUES, values, WORD);
    made_put(&m, values + WORD * KEY, interpreter, WORD);
    made_put(&m, values + WORD * NO_KEY, interpreter, WORD);
    return block;
}

/* Begins a process with n threads. Its numbers are 100, 101 ...; the last one runs no perl. */
static void begin_threads(struct made_threads *t, size_t n, enum libc libc)
{
    begin(36, true);
    t->threads = (struct dp_threads){ t->list, n, MOST };
    t->key = made_room(&m, 4);
    made_put(&m, t->key, KEY, 4);
    m.perl.symbols[DP_PERL_thr_key] = t->key;
    for (size_t i = 0; i < n; i++) {
        uint32_t tid = 100 + (uint32_t)i;
        dp_addr interpreter = i + 1 < n || n == 1 ? m.interpreter : 0;
        t->list[i] = (struct dp_thread){ (pid_t)tid, (pid_t)tid, 0 };
        t->block[i] = libc == MUSL ? musl_block(tid, interpreter)
                                   : glibc_block(tid, interpreter, libc == GLIBC);
    }
    for (size_t i = 0; libc != GLIBC && i < n; i++) {
        dp_addr next = t->block[(i + 1) % n], before = t->block[(i + n - 1) % n];
        /* glibc's links lead to links, musl's to blocks */
        size_t links = libc == MUSL ? 0 : GLIBC_NEXT;
        made_put(&m, t->block[i] + (links ? links : MUSL_NEXT), next + links, WORD);
        made_put(&m, t->block[i] + (links ? GLIBC_BEFORE : MUSL_BEFORE), before + links, WORD);
    }
    dp_regions_init(&t->regions);
}

static void end_threads(struct made_threads *t)
{
    dp_regions_release(&t->regions);
    made_release(&m);
}

static size_t find_threads(struct made_threads *t)
{
    dp_target_look(&m.target);
    return dp_perl_threads(&m.perl, &t->regions, open_nothing, NULL, &t->threads, t->in);
}

static void add_region(struct made_threads *t, dp_addr start, dp_addr end, const char *path)
{
    struct dp_region r = { start, end, 0, 0, true };
    if (dp_regions_add(&t->regions, &r, path, strlen(path)) < 0)
        abort();
}

static void threads(enum libc kind)
{
    static const char *const names[] = { "glibc", "glibc of arm64", "musl" };
    const char *libc = names[kind];
    struct made_threads t;
    begin_threads(&t, 3, kind);
    is_u(find_threads(&t), 0, "%s: no mapping, no thread", libc);
    add_region(&t, MADE_BASE, MADE_BASE + MADE_SIZE, "");
    is_u(find_threads(&t), 2, "%s: each thread that runs perl is found", libc);
    ok(t.in[0] == m.interpreter && t.in[1] == m.interpreter && !t.in[2], "%s: with its interpreter",
       libc);
    made_put(&m, t.key, NO_KEY, 4);
    is_u(find_threads(&t), 0, "%s: a key that the library cannot have", libc);
    made_put(&m, t.key, KEY, 4);
    t.list[0].inner = 77;
    is_u(find_threads(&t), 1, "%s: the block of a thread that is not listed does not count", libc);
    dp_regions_release(&t.regions);
    dp_regions_init(&t.regions);
    t.list[1].tls = t.block[1];
    is_u(find_threads(&t), 1, "%s: a core file leads to the block itself", libc);
    is_u(t.in[1], m.interpreter, "%s: of its thread", libc);
    end_threads(&t);
    begin_threads(&t, 1, kind);
    add_region(&t, MADE_BASE, MADE_BASE + MADE_SIZE, "");
    is_u(find_threads(&t), 1, "%s: a process of one thread", libc);
    end_threads(&t);
}

/* The ring of musl's blocks. */
static void ring(void)
{
    struct made_threads t;
    begin_threads(&t, 4, MUSL);
    add_region(&t, t.block[2], t.block[2] + MUSL_VALUES, "/lib/ld-musl-x86_64.so.1");
    is_u(find_threads(&t), 3, "one block in the library leads to all others");
    made_put(&m, t.block[0] + MUSL_BEFORE, 0x10, WORD);
    is_u(find_threads(&t), 1, "a block whose neighbours do not lead back is none");
    ok(!t.in[0] && !t.in[1] && t.in[2], "and ends the ring");
    made_put(&m, t.block[0] + MUSL_BEFORE, t.block[3], WORD);
    made_put(&m, t.block[1] + MUSL_NEXT, t.block[3], WORD);
    is_u(find_threads(&t), 0, "nor if only the one behind it does");
    made_put(&m, t.block[1] + MUSL_NEXT, t.block[2], WORD);
    made_put(&m, t.block[2] + MUSL_TID, 100, 4);
    is_u(find_threads(&t), 2, "two blocks of one thread count once");
    end_threads(&t);
    begin_threads(&t, 3, MUSL);
    add_region(&t, t.block[0], t.block[0] + MUSL_VALUES, "/var/data");
    is_u(find_threads(&t), 0, "the mapping of another file has no blocks");
    end_threads(&t);
}

/* The list of glibc's blocks. */
static void links(void)
{
    struct made_threads t;
    begin_threads(&t, 4, GLIBC_LINKS);
    add_region(&t, MADE_BASE, MADE_BASE + MADE_SIZE, "");
    made_put(&m, t.block[0] + GLIBC_BEFORE, 0x10, WORD);
    is_u(find_threads(&t), 2, "a block whose neighbour before cannot be read is none");
    ok(!t.in[0] && t.in[1] && t.in[2], "others are");
    made_put(&m, t.block[0] + GLIBC_BEFORE, t.block[3] + GLIBC_NEXT, WORD);
    made_put(&m, t.block[0] + GLIBC_NEXT, t.block[2] + GLIBC_NEXT, WORD);
    is_u(find_threads(&t), 1, "nor is one whose neighbour behind does not lead back");
    made_put(&m, t.block[0] + GLIBC_NEXT, t.block[1] + GLIBC_NEXT, WORD);
    made_put(&m, t.block[1] + GLIBC_TID, 100, 4);
    is_u(find_threads(&t), 2, "two blocks of one thread count once");
    end_threads(&t);
}

int main(void)
{
    const uint16_t one = 1;
    if (sizeof(void *) != 8 || *(const char *)&one != 1)
        return tap_done();      /* the table of layouts is for others */
    dp_buf_init(&args);
    for (unsigned series = 26; series <= 44; series += 2)
        for (int threads = 0; threads < 2; threads++)
            right(series, threads);
    mended();
    outside();
    popped();
    hostile();
    circles();
    random_changes();
    pages();
    threads(GLIBC);
    threads(GLIBC_LINKS);
    threads(MUSL);
    ring();
    links();
    dp_buf_release(&args);
    is_i(dp_mem_live(), 0, "all memory is freed");
    return tap_done();
}
