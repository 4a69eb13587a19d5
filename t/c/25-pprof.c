/* pprof's profile.proto: each field that is read, values, and files that are damaged. */
#include "foreign.h"
#include "random.h"

/* ---- a small writer ---- */

static struct dp_buf file, message;
static int n_strings;

static void varint(struct dp_buf *to, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        dp_buf_addc(to, (char)(v | 0x80));
    dp_buf_addc(to, (char)v);
}

static void number(struct dp_buf *to, unsigned field, uint64_t v)
{
    varint(to, field << 3);
    varint(to, v);
}

static void bytes(struct dp_buf *to, unsigned field, const void *ptr, size_t len)
{
    varint(to, field << 3 | 2);
    varint(to, len);
    dp_buf_add(to, ptr, len);
}

/* The message so far becomes a field of the file. */
static void put(unsigned field)
{
    bytes(&file, field, message.ptr, message.len);
    dp_buf_clear(&message);
}

static void begin(void)
{
    dp_buf_clear(&file);
    dp_buf_clear(&message);
    n_strings = 0;
}

static int string(const char *s)
{
    bytes(&file, 6, s, strlen(s));
    return n_strings++;
}

static void type(uint64_t name, uint64_t unit)
{
    number(&message, 1, name);
    number(&message, 2, unit);
    put(1);
}

/* locations, callees first, and values: both end with a 0; values + 1. */
static void sample_part(const uint64_t *locations, const uint64_t *values, bool packed)
{
    struct dp_buf list;
    dp_buf_init(&list);
    for (int k = 0; k < 2; k++) {
        dp_buf_clear(&list);
        for (const uint64_t *v = k ? values : locations; *v; v++)
            if (packed)
                varint(&list, *v - (unsigned)k);
            else
                number(&message, k ? 2 : 1, *v - (unsigned)k);
        if (packed)
            bytes(&message, k ? 2 : 1, list.ptr ? list.ptr : "", list.len);
    }
    dp_buf_release(&list);
}

#define LIST(...) (const uint64_t[]){ __VA_ARGS__, 0 }

static void sample(const uint64_t *locations, const uint64_t *values)
{
    sample_part(locations, values, true);
    put(2);
}

static void function(uint64_t id, uint64_t name, uint64_t file_name, uint64_t line)
{
    number(&message, 1, id);
    number(&message, 2, name);
    number(&message, 4, file_name);
    number(&message, 5, line);
    put(5);
}

/* Functions, callees first; the first of them are inlined into the last one. */
static void location(uint64_t id, const uint64_t *functions)
{
    struct dp_buf line;
    dp_buf_init(&line);
    number(&message, 1, id);
    for (; *functions; functions++) {
        dp_buf_clear(&line);
        number(&line, 1, *functions);
        number(&line, 2, 77);
        bytes(&message, 4, line.ptr, line.len);
    }
    put(4);
    dp_buf_release(&line);
}

/* Strings 1 to 5 are a, b, c, main.pl, and the type's name; functions and locations 1 to 3 are a, b
 * and c. */
static void usual(const char *name, const char *unit)
{
    string("");
    string("a");
    string("N::b");
    string("c");
    string("main.pl");
    type(5, 6);
    string(name);
    string(unit);
    for (uint64_t i = 1; i <= 3; i++) {
        function(i, i, 4, 10 * i);
        location(i, LIST(i));
    }
}

static const char *told_now(void) { return told_of(file.ptr, file.len); }

static void is_fault(uint64_t byte, const char *text)
{
    fault_is(file.ptr, file.len, 0, byte, text);
}

/* ---- tests ---- */

static void stacks(void)
{
    begin();
    usual("cpu", "nanoseconds");
    sample(LIST(1), LIST(4));
    sample(LIST(3, 2, 1), LIST(6));
    sample(LIST(2, 1), LIST(8));
    sample(LIST(3, 2, 1), LIST(11));
    is_s(told_now(), "[=0][a=3][a;N::b=7][a;N::b;c=15] 1000000000/s no calls", "stacks");
    is_i(out.code, 0, "nothing is wrong");
    is_u(out.contexts, 4, "four samples");
    is_s(place_of(1), "main.pl:20", "a place");
    ok(!out.folded && !out.marks, "they are no folded stacks");
    sample((const uint64_t[]){ 0 }, LIST(3));
    is_s(told_now(), "[=2][a=3][a;N::b=7][a;N::b;c=15] 1000000000/s no calls", "the root's");
    sample_part(LIST(2, 2), LIST(2), false);
    put(2);
    is_s(told_now(), "[=2][a=3][a;N::b=7][a;N::b;c=15][N::b=0][N::b;N::b=1] 1000000000/s no calls",
         "recursion; numbers one by one");
}

/* The samples first, the strings last, or between others; unknown fields. */
static void order(void)
{
    begin();
    sample(LIST(2), LIST(8));
    location(2, LIST(1));
    number(&file, 9, UINT64_C(1790000000000000000));
    string("");
    string("f");
    function(1, 1, 0, 0);
    dp_buf_add(&file, "\xfd\x7f" "abcd", 6);    /* 32 bits */
    dp_buf_add(&file, "\xf9\x7f" "abcdefgh", 10);       /* 64 bits */
    number(&file, 2000, 1);
    type(2, 3);
    string("wall");
    string("milliseconds");
    is_s(told_now(), "[=0][f=7000000] 1000000000/s no calls", "any order");
}

static void kinds(void)
{
    begin();
    usual("cpu", "nanoseconds");
    type(string("wall"), string("microseconds"));
    type(string("calls"), string("count"));
    type(string("ops"), string("count"));
    type(string("heap"), string("bytes"));
    type(string("delay"), string("seconds"));
    type(string("odd name:x"), 0);
    sample(LIST(1), LIST(6, 3, 4, 5, 1001, 3, 8));
    is_s(told_now(), "[=0{0 0 0 0}][a=5/2000x3{4 1000 2 7}] 1000000000/s ops heap:bytes"
                     " delay:seconds odd_name:x:", "all kinds of values");
    begin();
    usual("inuse_objects", "count");
    type(string("inuse_space"), string("bytes"));
    sample(LIST(1), LIST(3, 501));
    is_s(told_now(), "[=0{0 0}][a=500{2 500}] 1/bytes no calls inuse_objects"
                     " inuse_space:bytes", "no time: the last");
    number(&file, 14, 5);
    is_s(told_now(), "[=0{0}][a=2{500}] 1/inuse_objects no calls inuse_space:bytes",
         "or what is to be shown first");
    begin();
    usual("contentions", "count");
    type(string("delay"), string("nanoseconds"));
    sample(LIST(1), LIST(3, 501));
    is_s(told_now(), "[=0{0}][a=500{2}] 1000000000/s no calls contentions", "some time");
    begin();
    usual("calls", "count");
    sample(LIST(1), LIST(3));
    is_s(told_now(), "[=0][a=2x2] 1/calls", "calls alone");
    begin();
    usual("1 x", "s/s");
    sample(LIST(1), LIST(3));
    is_s(told_now(), "[=0{0}][a=2{2}] 1/s_s no calls 1_x:s/s", "a unit as a word");
    begin();
    usual("ms", "count");
    sample(LIST(1), LIST(3));
    is_s(told_now(), "[=0{0}][a=2{2}] 1/values no calls ms",
         "no unit of time, though it is called so");
}

static void many_kinds(void)
{
    uint64_t values[80] = { 0 };
    begin();
    usual("cpu", "ns");
    for (int i = 0; i < 20; i++)
        type(string("x"), 0);
    for (int i = 0; i < 21; i++)
        values[i] = 2;
    sample(LIST(1), values);
    is_s(told_now(), "[=0{0}][a=1{1}] 1000000000/s no calls x",
         "more counters than columns, all of one name");
    for (int i = 21; i < 65; i++)
        type(1, 0);
    told_now();
    is_s(out.message, "there are more than 64 kinds of values", "more than fit");
}

static void names(void)
{
    begin();
    usual("cpu", "ns");
    function(4, string("(program)"), 0, 0);
    location(4, LIST(4));
    location(5, LIST(3, 2, 1));
    number(&message, 1, 9);
    number(&message, 5, (uint64_t)string("/lib/libc.so"));
    put(3);
    number(&message, 1, 6);
    number(&message, 2, 9);
    number(&message, 3, 0xdeadbeef);
    put(4);
    function(5, 0, 0, 0);
    location(7, LIST(5));
    number(&message, 1, 6);
    number(&message, 3, (uint64_t)string("system"));
    put(5);
    location(8, LIST(6));
    sample(LIST(1, 4), LIST(2));
    sample(LIST(4, 1), LIST(3));
    sample(LIST(5, 1), LIST(4));
    sample(LIST(6), LIST(5));
    sample(LIST(7), LIST(6));
    sample(LIST(8), LIST(7));
    is_s(told_now(), "[=0][a=1][a;(program)=2][a;a=0][a;a;N::b=0][a;a;N::b;c=3][0xdeadbeef=4]"
                     "[(no name)=5][system=6] 1000000000/s no calls",
         "the root; inlined subs; addresses; no name; names of a linker");
    is_s(place_of(4), "/lib/libc.so:0", "an address's file");
}

static void phases(void)
{
    struct dp_buf label;
    dp_buf_init(&label);
    begin();
    usual("cpu", "ns");
    int key = string("phase"), run = string("RUN"), other = string("other");
    sample_part(LIST(1), LIST(3), true);
    number(&label, 1, (uint64_t)key);
    number(&label, 2, (uint64_t)run);
    bytes(&message, 3, label.ptr, label.len);
    put(2);
    dp_buf_clear(&label);
    number(&label, 1, (uint64_t)other);
    number(&label, 2, (uint64_t)run);
    sample_part(LIST(1), LIST(5), true);
    bytes(&message, 3, label.ptr, label.len);
    put(2);
    is_s(told_now(), "[=0][(RUN)=0][(RUN);a=2][a=4] 1000000000/s no calls",
         "a phase; another label");
    dp_buf_release(&label);
}

static void faults(void)
{
    begin();
    usual("cpu", "ns");
    size_t len = file.len;
    sample(LIST(7), LIST(3));
    is_fault(len + 2, "it refers to location 7, which it does not have");
    file.len = len;
    sample(LIST(1), LIST(3, 4));
    is_fault(len + 2, "a sample has 2 values, and the file 1 kinds");
    file.len = len;
    sample(LIST(1), (const uint64_t[]){ 0 });
    is_fault(len + 2, "a sample has 0 values, and the file 1 kinds");
    file.len = len;
    sample(LIST(1), LIST((uint64_t)-4));
    is_fault(len + 2 + 3 + 2, "a sample's value is negative: this is the difference of two"
                              " profiles; give the two that it was made of");
    file.len = len;
    sample(LIST(1), LIST(UINT64_C(1) << 62 | 1));
    is_fault(len + 2, "the times add up to more than fits");
    file.len = len;
    sample(LIST(1), LIST(UINT64_C(1) << 61 | 1));
    sample(LIST(1), LIST(UINT64_C(1) << 61 | 1));
    told_now();
    is_i(out.code, DP_E_LIMIT, "a sum that does not fit");
    file.len = len;
    location(4, LIST(9));
    sample(LIST(4), LIST(3));
    told_now();
    is_s(out.message, "it refers to function 9, which it does not have", "no function");
    file.len = len;
    function(4, 99, 0, 0);
    location(4, LIST(4));
    sample(LIST(4), LIST(3));
    told_now();
    is_s(out.message, "it refers to string 99, but it has 7 strings", "no string");
    file.len = len;
    dp_buf_add(&file, "\x12\x20", 2);
    is_fault(len, "it is cut off or damaged: this is no whole field of a pprof file");
    file.len = len;
    number(&file, 4, 5);
    told_now();
    is_s(out.message, "field 4 of a pprof file is a number", "a number in place of a message");
    begin();
    usual("cpu", "seconds");
    sample(LIST(1), LIST(UINT64_C(18446744074) + 1));
    told_now();
    is_s(out.message, "the times add up to more than fits", "seconds that do not fit");
    begin();
    usual("cpu", "seconds");
    sample(LIST(1), LIST(UINT64_C(4611686017) + 1));
    is_s(told_now(), "[=0][a=4611686017000000000] 1000000000/s no calls", "seconds that fit");
    begin();
    string("");
    string("x");
    told_now();
    is_s(out.message, "it does not tell what its values are", "no types");
}

/* A location of one line of a function. */
static void location_at(uint64_t id, uint64_t of, uint64_t line)
{
    struct dp_buf bytes_of;
    dp_buf_init(&bytes_of);
    number(&bytes_of, 1, of);
    number(&bytes_of, 2, line);
    number(&message, 1, id);
    bytes(&message, 4, bytes_of.ptr, bytes_of.len);
    put(4);
    dp_buf_release(&bytes_of);
}

/* Own values by line: those of the innermost sub of a sample's innermost location. */
static void lines(void)
{
    begin();
    usual("cpu", "ns");
    location_at(4, 1, 12);
    location_at(5, 2, 13);
    location_at(6, 2, 14);
    sample(LIST(5, 4), LIST(5));
    sample(LIST(6, 4), LIST(6));
    sample(LIST(4), LIST(7));
    sample(LIST(5, 6, 4), LIST(10));
    is_s(lines_of(file.ptr, file.len), "[main.pl:13 N::b=13][main.pl:14 N::b=5][main.pl:12 a=6]",
         "lines of the innermost location");
    is_s(lines_told(), "time", "... which is told");
    begin();
    usual("cpu", "ns");
    location(4, LIST(3, 2, 1));
    number(&message, 1, 5);
    number(&message, 3, 64);
    put(4);
    sample(LIST(4, 1), LIST(5));
    sample(LIST(5, 4), LIST(6));
    sample(LIST(0), LIST(8));
    is_s(lines_of(file.ptr, file.len), "[main.pl:77 c=4][- 0x40=5][- -=7]",
         "what is inlined; an address has no line, and no frame no sub");
    begin();
    usual("alloc_space", "bytes");
    type(1, 0);
    function(7, (uint64_t)string("(program)"), 4, 0);
    function(8, 2, 0, 0);
    location_at(4, 7, 3);
    location_at(5, 8, 9);
    location_at(6, 1, 0);
    sample(LIST(4), LIST(5, 2));
    sample(LIST(4, 4), LIST(4, 1));
    sample(LIST(5, 4), LIST(6, 1));
    sample(LIST(6), LIST(1, 8));
    is_s(lines_of(file.ptr, file.len),
         "[main.pl:3 -=1{4}][main.pl:3 (program)=0{3}][- N::b=0{5}][- a=7{0}]",
         "of the program, of no file, of no line; counters");
    begin();
    usual("cpu", "ns");
    sample(LIST(1), LIST(5));
    is_s(lines_of(file.ptr, file.len), "[main.pl:77 a=4]", "one line");
    begin();
    usual("cpu", "ns");
    location_at(4, 1, 0);
    sample(LIST(4), LIST(5));
    is_s(lines_of(file.ptr, file.len), "", "none is known");
    is_s(lines_told(), "none", "... and none is told of");
    begin();
    usual("cpu", "ns");
    function(8, 2, 0, 0);
    location_at(4, 8, 9);
    location_at(5, 0, 9);
    sample(LIST(4), LIST(5));
    sample(LIST(5), LIST(6));
    is_s(lines_of(file.ptr, file.len), "", "lines of no file, and of no function");
    is_s(lines_told(), "none", "... are none");
}

/* Random stacks of lines 1 to 9 of the functions 1 to 3, against sums by the leaf. */
static void random_lines(void)
{
    bool same = true;
    for (int n = 0; n < 200 && same; n++) {
        uint64_t sum[4][10] = { { 0 } };
        begin();
        usual("cpu", "ns");
        for (uint64_t f = 1; f <= 3; f++)
            for (uint64_t l = 1; l <= 9; l++)
                location_at(10 * f + l, f, l);
        for (int i = 0; i < 50; i++) {
            uint64_t stack[6] = { 0 }, depth = 1 + rnd(5), value = rnd(100);
            for (uint64_t k = 0; k < depth; k++)
                stack[k] = 10 * (1 + rnd(3)) + 1 + rnd(9);
            sample(stack, LIST(value + 1));
            sum[stack[0] / 10][stack[0] % 10] += value;
        }
        told_of(file.ptr, file.len);
        same = out.code == 0;
        for (uint32_t i = 0; i < prof->n_lines; i++) {
            const struct dp_prof_line *line = &prof->lines[i];
            struct dp_buf label;
            int number = -1;
            dp_buf_init(&label);
            dp_subs_label(&prof->subs, line->sub, 0, &label);
            const char *name = dp_buf_cstr(&label);
            sscanf(dp_pool_name(&prof->sites, line->site - 1)->ptr, "main.pl:%d", &number);
            sum[*name == 'a' ? 1 : *name == 'N' ? 2 : 3][number] -= line->self[DP_USER];
            dp_buf_release(&label);
        }
        for (int f = 1; f <= 3; f++)
            for (int l = 1; l <= 9; l++)
                same = same && sum[f][l] == 0;
    }
    ok(same, "lines have what the samples that end there have");
}

/* One of everything. */
static void damaged(void)
{
    struct dp_buf label;
    dp_buf_init(&label);
    begin();
    usual("cpu", "ns");
    number(&message, 1, 1);
    number(&message, 5, 4);
    put(3);
    location(4, LIST(3, 2));
    number(&message, 1, 5);
    number(&message, 2, 1);
    number(&message, 3, 64);
    put(4);
    number(&label, 1, (uint64_t)string("phase"));
    number(&label, 2, 1);
    sample_part(LIST(4, 5, 1), LIST(9), true);
    bytes(&message, 3, label.ptr, label.len);
    put(2);
    is_s(told_now(), "[=0][(a)=0][(a);a=0][(a);a;0x40=0][(a);a;0x40;N::b=0][(a);a;0x40;N::b;c=8]"
                     " 1000000000/s no calls", "one of everything");
    struct dp_buf copy = file;
    dp_buf_init(&file);
    cut_anywhere(copy.ptr, copy.len);
    change_anywhere(copy.ptr, copy.len);
    starve(copy.ptr, copy.len);
    dp_buf_release(&copy);
    dp_buf_release(&label);
}

int main(void)
{
    dp_buf_init(&told);
    dp_buf_init(&file);
    dp_buf_init(&message);
    stacks();
    order();
    kinds();
    many_kinds();
    names();
    phases();
    faults();
    lines();
    random_lines();
    damaged();
    dp_buf_release(&file);
    dp_buf_release(&message);
    return foreign_done();
}
