/* JSON token by token: every kind, strings, numbers, what is no JSON; in pieces of any size. */
#include "tap.h"
#include "dp_err.h"
#include "dp_json.h"
#include "dp_mem.h"

#include <inttypes.h>

struct source {
    const char *ptr;
    size_t left, piece;
};

static long give(void *ctx, const char **ptr)
{
    struct source *s = ctx;
    size_t n = s->left < s->piece ? s->left : s->piece;
    *ptr = s->ptr;
    s->ptr += n;
    s->left -= n;
    return (long)n;
}

static struct dp_buf told;

/* All tokens as text, then the error or nothing. */
static const char *tokens(const char *text, size_t piece)
{
    static const char *const marks[] = { ".", "{", "}", "[", "]", "k:", "s:", "n:", "T", "F", "0" };
    struct source s = { text, strlen(text), piece };
    struct dp_json json;
    int kind;
    dp_json_init(&json, give, &s, 40);
    dp_buf_clear(&told);
    while ((kind = dp_json_next(&json)) > DP_JSON_END) {
        dp_buf_adds(&told, marks[kind]);
        if (kind >= DP_JSON_KEY && kind <= DP_JSON_NUMBER) {
            dp_buf_add(&told, json.text.ptr, json.text.len);
            dp_buf_addc(&told, ' ');
        }
    }
    if (kind < 0)
        dp_buf_addf(&told, "!%d %s at %" PRIu64 ":%zu", kind, json.what ? json.what : "",
                    json.line, (size_t)(s.ptr - text) - (size_t)(json.end - json.ptr));
    dp_json_release(&json);
    return dp_buf_cstr(&told);
}

static void same(const char *text, const char *want)
{
    bool good = true;
    for (size_t piece = 1; piece < 20; piece++)
        good = good && strcmp(tokens(text, piece), want) == 0;
    ok(good, "in pieces: %s", text);
    is_s(tokens(text, 1000), want, "at once");
}

static void texts(void)
{
    same("{}", "{}");
    same(" [ ] \n", "[]");
    same("[1,-2.5e+3,true,false,null,\"x\"]", "[n:1 n:-2.5e+3 TF0s:x ]");
    same("{\"a\" : {\"b\":[[],{}]},\r\n\t\"\":0}", "{k:a {k:b [[]{}]}k: n:0 }");
    same("\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20AC\"",
         "s:a\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac ");
    same("\"\\ud83d\\ude00\\ud83dx\\ude00\\ud83d\\ud83d\\ude00\\ud83d\\n\\ud83d\"",
         "s:\xf0\x9f\x98\x80\xef\xbf\xbdx\xef\xbf\xbd\xef\xbf\xbd\xf0\x9f\x98\x80\xef\xbf\xbd\n"
         "\xef\xbf\xbd ");
    same("\"\xff\xc3\xa9\"", "s:\xff\xc3\xa9 ");
    same("0", "n:0 ");
    same("-0.10", "n:-0.10 ");
}

static void faults(void)
{
    same("", "!-4  at 1:0");
    same("[", "[!-4  at 1:1");
    same("[1,", "[n:1 !-4  at 1:3");
    same("[1,]", "[n:1 !-3 there is no value where one should be at 1:3");
    same("[,1]", "[!-3 there is no value where one should be at 1:1");
    same("[1 2]", "[n:1 !-3 there is neither a comma nor an end behind a value at 1:3");
    same("[1}", "[n:1 !-3 there is neither a comma nor an end behind a value at 1:2");
    same("{1:2}", "{!-3 there is no name where one should be at 1:1");
    same("{\"a\",", "{!-3 there is no colon behind a name at 1:4");
    same("{\"a\":1,}", "{k:a n:1 !-3 there is no name where one should be at 1:7");
    same("{\"a\":}", "{k:a !-3 there is no value where one should be at 1:5");
    same("{\"a\"", "{!-4  at 1:4");
    same("[]\n\n x", "[]!-3 something follows behind the end at 3:5");
    same("tru", "!-4  at 1:3");
    same("trux", "!-3 a word that is none of true, false and null at 1:3");
    same("01", "n:0 !-3 something follows behind the end at 1:1");
    same("-", "!-4  at 1:1");
    same("-x", "!-3 a number that is none at 1:1");
    same("1.x", "!-3 a number that is none at 1:2");
    same("1e+]", "!-3 a number that is none at 1:3");
    same("\"a\nb\"", "!-3 a control byte in a string at 1:2");
    same("\"\\x\"", "!-3 an escape that is none at 1:3");
    same("\"\\u12g4\"", "!-3 \\u without four hexadecimal digits at 1:5");
    same("\"\\", "!-4  at 1:2");
    ok(strncmp(tokens("\"12345678901234567890123456789012345678901\"", 5),
               "!-7 a string is too long", 24) == 0, "a long string");
    ok(strncmp(tokens("12345678901234567890123456789012345678901", 5),
               "!-7 a number is too long", 24) == 0, "a long number");
    char deep[DP_JSON_DEPTH + 3];
    memset(deep, '[', sizeof deep);
    deep[DP_JSON_DEPTH + 1] = '\0';
    tokens(deep, 7);
    ok(strstr(told.ptr, "!-7 it is nested too deeply"), "a deep one");
    deep[DP_JSON_DEPTH] = '\0';
    tokens(deep, 7);
    ok(strstr(told.ptr, "!-4 "), "... and the deepest that can be read");
}

static void skips(void)
{
    const char *text = "{\"a\":[1,{\"b\":[[]]},2],\"c\":7,\"d\":{}}";
    struct source s = { text, strlen(text), 3 };
    struct dp_json json;
    dp_json_init(&json, give, &s, 40);
    is_i(dp_json_next(&json), DP_JSON_OBJECT, "an object");
    is_i(dp_json_next(&json), DP_JSON_KEY, "a key");
    ok(dp_json_is(&json, "a") && !dp_json_is(&json, "ab") && !dp_json_is(&json, ""), "its name");
    is_i(dp_json_skip(&json, dp_json_next(&json)), 0, "its value is skipped");
    is_i(dp_json_next(&json), DP_JSON_KEY, "another key");
    is_i(dp_json_skip(&json, dp_json_next(&json)), 0, "a number is skipped");
    is_i(dp_json_next(&json), DP_JSON_KEY, "a third one");
    is_i(dp_json_skip(&json, dp_json_next(&json)), 0, "an empty object is skipped");
    is_i(dp_json_next(&json), DP_JSON_OBJECT_END, "the end of it all");
    is_i(dp_json_next(&json), DP_JSON_END, "... and of the text");
    is_i(dp_json_next(&json), DP_JSON_END, "which stays");
    dp_json_release(&json);
}

static void scaled(const char *text, unsigned decimals, int64_t want)
{
    struct source s = { text, strlen(text), 100 };
    struct dp_json json;
    int64_t got = -99;
    dp_json_init(&json, give, &s, 400);
    dp_json_next(&json);
    ok(dp_json_scaled(&json, decimals, &got) == (want != -99), "%s fits", text);
    is_i(got, want, "%s with %u decimals", text, decimals);
    dp_json_release(&json);
}

static void numbers(void)
{
    scaled("0", 0, 0);
    scaled("12", 0, 12);
    scaled("12", 3, 12000);
    scaled("1.5", 0, 2);
    scaled("1.49999", 0, 1);
    scaled("-1.5", 0, -1);
    scaled("-1.51", 0, -2);
    scaled("-1.4", 0, -1);
    scaled("0.0005", 3, 1);
    scaled("0.00049", 3, 0);
    scaled("1.0e3", 0, 1000);
    scaled("1234.5e-2", 1, 123);
    scaled("5e-1", 0, 1);
    scaled("5e-2", 0, 0);
    scaled("9e-99999", 9, 0);
    scaled("0e99999", 9, 0);
    scaled("4611686018427387903", 0, INT64_C(4611686018427387903));
    scaled("4611686018427387904", 0, -99);
    scaled("4611686018427387903.5", 0, -99);
    scaled("-4611686018427387903", 0, -INT64_C(4611686018427387903));
    scaled("1e19", 0, -99);
    scaled("1e99999999999", 0, -99);
    scaled("10000000000", 9, -99);
    scaled("0.000000000000000000000000000000012e32", 0, 1);
}

static void no_memory(void)
{
    long n = 0;
    int rc = DP_E_NOMEM;
    for (; rc == DP_E_NOMEM && n < 100; n++) {
        struct source s = { "[\"abc\",12]", 10, 4 };
        struct dp_json json;
        dp_json_init(&json, give, &s, 40);
        dp_mem_fail_after(n);
        while ((rc = dp_json_next(&json)) > 0)
            ;
        dp_mem_fail_after(-1);
        dp_json_release(&json);
    }
    ok(n > 1 && rc == 0, "each allocation of %ld may fail", n);
}

int main(void)
{
    dp_buf_init(&told);
    texts();
    faults();
    skips();
    numbers();
    no_memory();
    dp_buf_release(&told);
    is_i(dp_mem_live(), 0, "all memory is freed");
    return tap_done();
}
