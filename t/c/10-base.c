/* Numbers, text, sorting, sources. */
#include "tap.h"
#include "dp_base64.h"
#include "dp_err.h"
#include "dp_fmt.h"
#include "dp_io.h"
#include "dp_mem.h"
#include "dp_num.h"
#include "dp_pool.h"
#include "dp_sort.h"
#include "dp_text.h"

#include <locale.h>
#include <stdlib.h>
#include <zlib.h>

static void numbers(void)
{
    char buf[32];
    bool good = true;
    for (uint64_t n = 0; n < 10000000 && good; n += n < 2000 ? 1 : 997) {
        uint64_t got = 0;
        memset(buf, '9', sizeof buf);
        int len = snprintf(buf, sizeof buf, "%llu", (unsigned long long)n);
        buf[len] = n & 1 ? '\n' : ' ';
        good = dp_num_short(buf, &got) == (unsigned)len && got == n;
    }
    ok(good, "numbers of 1 to 7 digits are read, whatever follows");
    uint64_t v = 7;
    is_u(dp_num_short("12345678 ", &v), 0, "8 digits are not short");
    is_u(dp_num_short(" 1       ", &v), 0, "a blank is no digit");
    is_u(dp_num_short("/1       ", &v), 0, "the character below the digits is none");
    is_u(dp_num_short(":1       ", &v), 0, "the character above the digits is none");
    ok(dp_num_dec("9223372036854775807", 19, &v) && v == INT64_MAX, "2^63-1 fits");
    ok(!dp_num_dec("9223372036854775808", 19, &v), "2^63 is too large");
    ok(!dp_num_dec("", 0, &v) && !dp_num_dec("1x", 2, &v), "an empty or odd text is no number");
    ok(dp_num_hex("ffffffffffffffff", 16, &v) && v == UINT64_MAX, "hexadecimal 2^64-1 fits");
    ok(!dp_num_hex("10000000000000000", 17, &v), "hexadecimal 2^64 is too large");
}

/* Fields of all lengths, with any byte at any place, agree with encoding byte by byte. */
static void fields(void)
{
    struct dp_buf got, want;
    char name[40];
    bool good = true, back = true;
    dp_buf_init(&got);
    dp_buf_init(&want);
    for (size_t len = 1; len < 28; len++)
        for (size_t at = 0; at < len; at++)
            for (int c = 0; c < 256; c++) {
                memset(name, len & 1 ? 'z' : 0x80, len);
                name[at] = (char)c;
                name[len - 1 - at] = (char)(at & 1 ? name[len - 1 - at] : c ^ 0x80);
                dp_buf_clear(&got);
                dp_buf_clear(&want);
                dp_fmt_field(&got, name, len);
                for (size_t i = 0; i < len; i++) {
                    unsigned char b = (unsigned char)name[i];
                    if (b <= 0x20 || b == 0x7f || b == '%')
                        dp_buf_addf(&want, "%%%02X", b);
                    else
                        dp_buf_addc(&want, (char)b);
                }
                good = good && got.len == want.len && memcmp(got.ptr, want.ptr, got.len) == 0;
                dp_buf_clear(&want);
                dp_fmt_unfield(&want, got.ptr, got.len);
                back = back && want.len == len && memcmp(want.ptr, name, len) == 0;
            }
    ok(good, "fields: no byte is encoded without need");
    ok(back, "fields: decoding gives them back");
    dp_buf_clear(&want);
    dp_fmt_unfield(&want, "%", 1);
    ok(want.len == 0, "fields: a lone % is an empty field");
    dp_fmt_unfield(&want, "%4%4g%4A%", 9);
    ok(want.len == 7 && memcmp(want.ptr, "%4%4gJ%", 7) == 0,
            "fields: a % that begins no code stays");
    dp_buf_release(&got);
    dp_buf_release(&want);
}

static void place_is(const char *field, const char *file, uint64_t line)
{
    struct dp_fmt_place at = dp_fmt_place(field, strlen(field));
    ok(at.len == strlen(file) && memcmp(at.file, file, at.len) == 0 && at.line == line,
       "place: %s", field);
}

static void places(void)
{
    place_is("a.pl:12", "a.pl", 12);
    place_is("c:/a:b.pm:7", "c:/a:b.pm", 7);
    place_is("a.pl", "a.pl", 0);
    place_is("a.pl:", "a.pl:", 0);
    place_is(":3", "", 3);
    place_is("", "", 0);
}

/* Names that differ in one byte, or in their length alone, have ids of their own. */
static int add_to(void *ctx, const void *ptr, size_t n)
{
    dp_buf_add(ctx, ptr, n);
    return 0;
}

/* Runs the vectors of RFC 4648, section 10, and longer texts there and back, written in parts. */
static void base64(void)
{
    static const char *const vectors[] = {
        "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy",
    };
    struct dp_buf text, back;
    struct dp_base64 b;
    char bytes[2000];
    bool good = true;
    dp_buf_init(&text);
    dp_buf_init(&back);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7919 >> 3);
    for (size_t n = 0; n < DP_ARRAY_LEN(vectors); n++) {
        dp_buf_clear(&text);
        dp_base64_init(&b, add_to, &text);
        dp_base64_write(&b, "foobar", n);
        dp_base64_end(&b);
        ok(strcmp(dp_buf_cstr(&text), vectors[n]) == 0, "base64: %s", vectors[n]);
    }
    for (size_t n = 1; n < sizeof bytes; n += 37) {
        dp_buf_clear(&text);
        dp_buf_clear(&back);
        dp_base64_init(&b, add_to, &text);
        dp_base64_write(&b, bytes, n / 3);
        dp_base64_write(&b, bytes + n / 3, n - n / 3);
        dp_base64_end(&b);
        good = good && dp_base64_decode(&back, text.ptr, text.len) == 0 && back.len == n
               && memcmp(back.ptr, bytes, n) == 0;
    }
    ok(good, "base64: decoding gives the bytes back");
    ok(dp_base64_decode(&back, "Zm9", 3) == DP_E_SYNTAX
       && dp_base64_decode(&back, "Zm=v", 4) == DP_E_SYNTAX
       && dp_base64_decode(&back, "Z===", 4) == DP_E_SYNTAX
       && dp_base64_decode(&back, "Zm9\n", 4) == DP_E_SYNTAX, "base64: invalid text is refused");
    dp_buf_release(&text);
    dp_buf_release(&back);
}

static void pool(void)
{
    struct dp_pool pool;
    char name[40] = { 0 };
    uint32_t n = 0;
    bool good = true;
    dp_pool_init(&pool);
    for (size_t len = 0; len < 30; len++, n++)
        good = good && dp_pool_intern(&pool, name, len) == n;
    for (size_t at = 0; at < 30; at++)
        for (unsigned c = 1; c < 256; c++, n++) {
            memset(name, 0, sizeof name);
            name[at] = (char)c;
            good = good && dp_pool_intern(&pool, name, 30) == n;
        }
    for (size_t at = 0, i = 30; at < 30; at++)
        for (unsigned c = 1; c < 256; c++, i++) {
            memset(name, 0, sizeof name);
            name[at] = (char)c;
            good = good && dp_pool_lookup(&pool, name, 30) == i;
        }
    ok(good, "a pool keeps names that differ little");
    dp_pool_release(&pool);
}

static const char *escaped(const char *s, size_t len)
{
    static struct dp_buf buf;
    dp_buf_clear(&buf);
    dp_text_escape(&buf, s, len);
    return dp_buf_cstr(&buf);
}

static void text(void)
{
    is_s(escaped("a\x1b[31m", 6), "a\\x1b[31m", "an escape character is escaped");
    is_s(escaped("\0\t\n\x7f", 4), "\\x00\\x09\\x0a\\x7f", "control bytes are escaped");
    is_s(escaped("\xc3\xa9", 2), "\xc3\xa9", "UTF-8 stays");
    is_s(escaped("\xc2\x9b", 2), "\\x{9b}", "a C1 control is escaped");
    is_s(escaped("\xe2\x80\xae", 3), "\\x{202e}", "a direction mark is escaped");
    is_s(escaped("\xff\xc3", 2), "\\xff\\xc3", "broken UTF-8 is escaped");
    is_s(escaped("\xe0\x80\x80", 3), "\\xe0\\x80\\x80", "overlong");
    is_s(escaped("\xed\xa0\x80", 3), "\\xed\\xa0\\x80", "surrogate");
    is_u(dp_text_break("Foo::Bar::baz", 13, 20), 13, "a name that fits is not broken");
    is_u(dp_text_break("Foo::Bar::baz", 13, 10), 10, "a name breaks after ::");
    is_u(dp_text_break("abcdefghij", 10, 4), 4, "a name without :: breaks at the width");
    is_u(dp_text_break("\xc3\xa9\xc3\xa9\xc3\xa9", 6, 2), 4,
            "the width counts characters, not bytes");
}

static int by_value(const void *ctx, uint32_t a, uint32_t b)
{
    const int *v = ctx;
    return v[a] != v[b] ? (v[a] < v[b] ? -1 : 1) : a < b ? -1 : a > b;
}

static void sorting(void)
{
    enum { N = 1000 };
    static int v[N];
    static uint32_t index[N];
    bool good = true;
    for (int i = 0; i < N; i++) {
        v[i] = i * 7919 % 251;
        index[i] = (uint32_t)i;
    }
    for (size_t n = 0; n <= N; n += n < 10 ? 1 : 99) {
        for (uint32_t i = 0; i < n; i++)
            index[i] = i;
        dp_sort_u32(index, n, by_value, v);
        for (size_t i = 1; i < n; i++)
            good = good && by_value(v, index[i - 1], index[i]) < 0;
    }
    ok(good, "the sort orders all values");
}

struct three { int n; char c; };

static int by_n(const void *ctx, uint32_t a, uint32_t b)
{
    const struct three *v = ctx;
    return v[a].n < v[b].n ? -1 : v[a].n > v[b].n;
}

static void sorting_arrays(void)
{
    static const struct three as_it_was[] = { { 3, 'c' }, { 1, 'a' }, { 4, 'd' }, { 2, 'b' } };
    struct three v[4];
    long live = dp_mem_live();
    int rc = DP_E_NOMEM;
    for (long n = 0; rc == DP_E_NOMEM && n < 9; n++) {
        memcpy(v, as_it_was, sizeof v);
        dp_mem_fail_after(n);
        rc = dp_sort_array(v, 4, sizeof *v, by_n, v);
        dp_mem_fail_after(-1);
        if (rc < 0)
            ok(rc == DP_E_NOMEM && v[0].n == 3 && v[3].n == 2, "no memory: the array stays");
    }
    is_i(rc, 0, "an array is sorted");
    ok(v[0].c == 'a' && v[1].c == 'b' && v[2].c == 'c' && v[3].c == 'd', "its elements are whole");
    is_i(dp_sort_array(NULL, 0, sizeof *v, by_n, NULL), 0, "so is one of no elements");
    is_i(dp_mem_live(), live, "nothing is left");
}

/* Gives one byte at a time, as a slow pipe might. */
struct drip { const char *p; size_t n; };
static long drip(void *ctx, void *buf, size_t n)
{
    struct drip *d = ctx;
    if (!d->n || !n)
        return 0;
    *(char *)buf = *d->p++;
    d->n--;
    return 1;
}

static size_t read_all(struct dp_source *src, char *to, size_t cap, int *rc, struct dp_err *err)
{
    size_t n = 0;
    long got;
    dp_err_init(err);
    while ((got = dp_source_read(src, to + n, cap - n < 7 ? cap - n : 7, err)) > 0)
        n += (size_t)got;
    *rc = (int)got;
    dp_source_close(src);
    return n;
}

static size_t gzip(const char *s, size_t n, char *to, size_t cap)
{
    z_stream z;
    memset(&z, 0, sizeof z);
    deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    z.next_in = (Bytef *)(uintptr_t)s;
    z.avail_in = (uInt)n;
    z.next_out = (Bytef *)to;
    z.avail_out = (uInt)cap;
    deflate(&z, Z_FINISH);
    deflateEnd(&z);
    return cap - z.avail_out;
}

static void sources(void)
{
    static char plain[5000], packed[20000], out[20000];
    struct dp_source src;
    struct dp_err err;
    int rc;
    for (size_t i = 0; i < sizeof plain; i++)
        plain[i] = (char)('a' + i * i % 23);
    dp_source_mem(&src, plain, sizeof plain);
    ok(read_all(&src, out, sizeof out, &rc, &err) == sizeof plain
           && !memcmp(out, plain, sizeof plain),
       "memory is read");
    dp_source_mem(&src, plain, 1);
    ok(read_all(&src, out, sizeof out, &rc, &err) == 1 && rc == 0, "a single byte is read");
    dp_source_mem(&src, plain, 0);
    ok(read_all(&src, out, sizeof out, &rc, &err) == 0 && rc == 0, "an empty text is read");
    size_t n = gzip(plain, sizeof plain, packed, sizeof packed);
    dp_source_mem(&src, packed, n);
    ok(read_all(&src, out, sizeof out, &rc, &err) == sizeof plain
           && !memcmp(out, plain, sizeof plain),
       "gzip is read");
    struct drip d = { packed, n };
    dp_source_fn(&src, drip, &d);
    ok(read_all(&src, out, sizeof out, &rc, &err) == sizeof plain && rc == 0,
            "gzip is read byte by byte");
    dp_source_mem(&src, packed, n / 2);
    read_all(&src, out, sizeof out, &rc, &err);
    is_i(rc, DP_E_TRUNCATED, "gzip cut short is truncated");
    memcpy(packed + n, packed, n);
    dp_source_mem(&src, packed, 2 * n);
    is_u(read_all(&src, out, sizeof out, &rc, &err), 2 * sizeof plain,
            "two members of gzip are read");
    memset(packed + n, 0, 100);
    dp_source_mem(&src, packed, n + 100);
    is_u(read_all(&src, out, sizeof out, &rc, &err), sizeof plain, "zeros after gzip are skipped");
    packed[n / 2] ^= 0x55;
    dp_source_mem(&src, packed, n);
    read_all(&src, out, sizeof out, &rc, &err);
    is_i(rc, DP_E_IO, "damaged gzip is an error");
    is_i(dp_source_open(&src, "/nonexistent/file"), DP_E_IO, "a missing file is an error");
}

/* Nothing here depends on the locale. Without these two locales, that of C is tried. */
static void locales(void)
{
    static const char *const names[] = { "C", "tr_TR.UTF-8", "de_DE.UTF-8" };
    for (size_t i = 0; i < DP_ARRAY_LEN(names); i++) {
        const char *in = setlocale(LC_ALL, names[i]);
        in = in ? in : "none";
        ok(dp_text_alike("MINOR-FAULTS", "minor-faults", 12), "%s: capitals do not matter", in);
        ok(dp_text_alike("Iz", "iZ", 3), "%s: a comparison with the NUL is of the whole", in);
        ok(dp_text_alike("abc", "abd", 2) && !dp_text_alike("abc", "abd", 3),
           "%s: as many as asked for", in);
        ok(!dp_text_alike("ab", "abc", 3) && !dp_text_alike("abc", "ab", 3),
           "%s: and not past an end", in);
        ok(!dp_text_alike("[", "{", 1) && !dp_text_alike("@", "`", 1),
                "%s: only letters have capitals", in);
        char number[32];
        snprintf(number, sizeof number, "%8.3f", -12.25);
        dp_text_point(number);
        is_s(number, " -12.250", "%s: a point in a number", in);
    }
    setlocale(LC_ALL, "C");
    char wide[] = "1\xd9\xab" "5e+06";
    dp_text_point(wide);
    is_s(wide, "1.5e+06", "a decimal point of more than one byte becomes a point");
}

/* Returns the key whose dp_map_hash is h. */
static uint64_t key_of_hash(uint64_t h)
{
    h ^= h >> 33;
    h *= UINT64_C(0x9cb4b2f8129337db);
    h ^= h >> 33;
    h *= UINT64_C(0x4f74430c22a54005);
    return h ^ h >> 33;
}

/* Keys and names that an attacker chose to collide, knowing the hash and not its seed, do not
 * collide. */
static void chosen(void)
{
    enum { KEYS = 50000, NAMES = 1 << 14 };
    struct dp_map map;
    struct dp_pool pool;
    size_t furthest = 0, wrong = 0, shared = 0;
    dp_map_init(&map);
    for (uint32_t i = 0; i < KEYS; i++) {
        struct dp_map_slot *slot = dp_map_put(&map, key_of_hash((uint64_t)i << 40));
        wrong += !slot || slot->value != DP_MAP_NONE;
        if (slot)
            slot->value = i;
    }
    for (uint32_t i = 0; i < KEYS; i++) {
        uint64_t key = key_of_hash((uint64_t)i << 40);
        const struct dp_map_slot *slot = dp_map_find(&map, key);
        size_t far = slot ? ((size_t)(slot - map.slots) - dp_map_home(&map, key)) & map.mask
                          : map.mask;
        wrong += dp_map_hash(key) != (uint64_t)i << 40 || !slot || slot->value != i;
        furthest = far > furthest ? far : furthest;
    }
    is_u(wrong, 0, "keys of one hash are kept");
    ok(furthest < 1000, "keys of one hash are found in few steps: %zu", furthest);
    dp_map_release(&map);

    /* These are differences that words of an unseeded product cancel, one by one. */
    dp_pool_init(&pool);
    for (uint32_t i = 0; i < NAMES; i++) {
        uint64_t words[28];
        for (int k = 0; k < 14; k++) {
            words[2 * k] = UINT64_C(0x3132333435363738) ^ (uint64_t)(i >> k & 1) << 63;
            words[2 * k + 1] = UINT64_C(0x3132333435363738)
                               ^ (i >> k & 1 ? UINT64_C(1) << 63 | UINT64_C(1) << 31 : 0);
        }
        wrong += dp_pool_intern(&pool, (const char *)words, sizeof words) != i;
    }
    for (uint32_t i = 0; i < NAMES; i++)
        shared += pool.next[i] != DP_MAP_NONE;
    is_u(wrong, 0, "chosen names are kept");
    ok(shared < 10, "few chosen names share a hash: %zu", shared);
    dp_pool_release(&pool);
}

int main(void)
{
    locales();
    numbers();
    fields();
    places();
    base64();
    pool();
    chosen();
    text();
    sorting();
    sorting_arrays();
    sources();
    return tap_done();
}
