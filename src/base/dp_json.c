#include "dp_json.h"
#include "dp_char.h"
#include "dp_err.h"
#include "dp_num.h"

#include <string.h>

/* The tokens that may follow. */
enum { VALUE, VALUE_OR_END, KEY, KEY_OR_END, COLON, COMMA_OR_END, NOTHING };

void dp_json_init(struct dp_json *json, dp_json_fill *fill, void *ctx, size_t longest)
{
    memset(json, 0, sizeof *json);
    json->fill = fill;
    json->ctx = ctx;
    json->longest = longest;
    json->line = 1;
    json->expect = VALUE;
    dp_buf_init(&json->text);
}

void dp_json_release(struct dp_json *json)
{
    dp_buf_release(&json->text);
}

static DP_COLD int bad(struct dp_json *json, int code, const char *what)
{
    json->what = what;
    return code;
}

/* Returns the next byte, without consuming it, after asking fill for more bytes; -1 at the end, or
 * less for an error: see error_of. */
static DP_NOINLINE int refill(struct dp_json *json)
{
    long got = json->fill(json->ctx, &json->begin);
    json->ptr = json->begin;
    json->end = json->begin + (got > 0 ? got : 0);
    return got > 0 ? (unsigned char)*json->ptr : got < 0 ? (int)got - 1 : -1;
}

/* Returns the next byte, as refill does. */
DP_INLINE int peek(struct dp_json *json)
{
    return DP_LIKELY(json->ptr < json->end) ? (unsigned char)*json->ptr : refill(json);
}

/* Returns the DP_E that a byte below 0 stands for; the end is DP_E_TRUNCATED, because a token is
 * not complete. */
static int error_of(int byte)
{
    return byte < -1 ? byte + 1 : DP_E_TRUNCATED;
}

/* Returns the next byte that is not white space, as peek does, and consumes the white space before
 * it. */
static int peek_token(struct dp_json *json)
{
    for (;;) {
        int c = peek(json);
        if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
            return c;
        json->line += c == '\n';
        json->ptr++;
    }
}

/* ---- strings ---- */

/* Reads the four digits after \u into *out. Returns 0 or a DP_E. */
static int read_hex4(struct dp_json *json, unsigned *out)
{
    unsigned v = 0;
    for (int i = 0; i < 4; i++) {
        int c = peek(json), digit = dp_num_hexdigit((char)c);
        if (c < 0)
            return error_of(c);
        if (digit < 0)
            return bad(json, DP_E_SYNTAX, "\\u without four hexadecimal digits");
        v = v << 4 | (unsigned)digit;
        json->ptr++;
    }
    *out = v;
    return 0;
}

/* Appends a character, which must be below 0x110000, as UTF-8. */
static void add_utf8(struct dp_buf *buf, unsigned c)
{
    if (c < 0x80) {
        dp_buf_addc(buf, (char)c);
        return;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char first[] = { 0, 0xc0, 0xe0, 0xf0 };
    dp_buf_addc(buf, (char)(first[more] | c >> (6 * more)));
    while (more-- > 0)
        dp_buf_addc(buf, (char)(0x80 | (c >> (6 * more) & 0x3f)));
}

/* Decodes \uXXXX, and appends the character. high: the first half of a surrogate pair that stands
 * just before it, or 0; a first half is not appended, but becomes *high. A half without the other
 * becomes U+FFFD. Returns 0 or a DP_E. */
static int read_unicode(struct dp_json *json, unsigned *high)
{
    unsigned c = 0;
    int rc = read_hex4(json, &c);
    if (rc < 0)
        return rc;
    if (*high && c >= 0xdc00 && c < 0xe000) {
        add_utf8(&json->text, 0x10000 + ((*high - 0xd800) << 10) + (c - 0xdc00));
        *high = 0;
        return 0;
    }
    if (*high)
        add_utf8(&json->text, 0xfffd);
    *high = c >= 0xd800 && c < 0xdc00 ? c : 0;
    if (!*high)
        add_utf8(&json->text, c >= 0xdc00 && c < 0xe000 ? 0xfffd : c);
    return 0;
}

/* Reads what follows a backslash, and appends what it stands for; before that, U+FFFD for a lone
 * *high. high: as for read_unicode. Returns 0 or a DP_E. */
static int read_escape(struct dp_json *json, unsigned *high)
{
    static const char codes[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    int c = peek(json);
    if (c < 0)
        return error_of(c);
    json->ptr++;
    if (c == 'u')
        return read_unicode(json, high);
    const char *code = c ? strchr(codes, c) : NULL;
    if (!code)
        return bad(json, DP_E_SYNTAX, "an escape that is none");
    if (*high)
        add_utf8(&json->text, 0xfffd);
    *high = 0;
    dp_buf_addc(&json->text, bytes[code - codes]);
    return 0;
}

/* Adds the bytes up to a quote, a backslash, or the end of the bytes read so far; before these,
 * U+FFFD for a lone *high. Returns 0 or a DP_E. */
static int add_plain(struct dp_json *json, unsigned *high)
{
    const char *from = json->ptr;
    while (json->ptr < json->end && *json->ptr != '"' && *json->ptr != '\\') {
        if ((unsigned char)*json->ptr < 0x20)
            return bad(json, DP_E_SYNTAX, "a control byte in a string");
        json->ptr++;
    }
    if (json->ptr > from && *high) {
        add_utf8(&json->text, 0xfffd);
        *high = 0;
    }
    dp_buf_add(&json->text, from, (size_t)(json->ptr - from));
    return 0;
}

/* Reads a string into json->text; json->ptr is at its first quote. Returns DP_JSON_STRING or a
 * DP_E. */
static int read_string(struct dp_json *json)
{
    unsigned high = 0;
    int c, rc = 0;
    json->ptr++;
    while (rc == 0 && (c = peek(json)) != '"') {
        if (c < 0)
            return error_of(c);
        if (c == '\\') {
            json->ptr++;
            rc = read_escape(json, &high);
        } else {
            rc = add_plain(json, &high);
        }
        if (rc == 0 && json->text.len > json->longest)
            return bad(json, DP_E_LIMIT, "a string is too long");
    }
    if (rc < 0)
        return rc;
    json->ptr++;
    if (high)
        add_utf8(&json->text, 0xfffd);
    return json->text.err ? DP_E_NOMEM : DP_JSON_STRING;
}

/* ---- numbers and words ---- */

/* Appends digits to the token's text, as far as it is not too long. Returns whether there were
 * any. */
static bool take_digits(struct dp_json *json)
{
    bool some = false;
    for (int c; (c = peek(json)) >= 0 && dp_is_digit((char)c); some = true) {
        if (json->text.len <= json->longest)
            dp_buf_addc(&json->text, (char)c);
        json->ptr++;
    }
    return some;
}

/* Appends the next byte to the token's text if it is this one. Returns whether it was. */
static bool take_byte(struct dp_json *json, int byte)
{
    if (peek(json) != byte)
        return false;
    dp_buf_addc(&json->text, (char)byte);
    json->ptr++;
    return true;
}

/* Reads a number as JSON allows it. json->text keeps its digits, from which dp_json_scaled computes
 * the value. Returns DP_JSON_NUMBER or a DP_E. */
static int read_number(struct dp_json *json)
{
    take_byte(json, '-');
    bool good = take_byte(json, '0') || take_digits(json);
    if (good && take_byte(json, '.'))
        good = take_digits(json);
    if (good && (take_byte(json, 'e') || take_byte(json, 'E'))) {
        if (!take_byte(json, '-'))
            take_byte(json, '+');
        good = take_digits(json);
    }
    int c = peek(json);
    if (c < -1)
        return error_of(c);
    if (!good && c == -1)
        return DP_E_TRUNCATED;
    if (!good)
        return bad(json, DP_E_SYNTAX, "a number that is none");
    if (json->text.len > json->longest)
        return bad(json, DP_E_LIMIT, "a number is too long");
    return json->text.err ? DP_E_NOMEM : DP_JSON_NUMBER;
}

/* Reads one of true, false and null, which is given as text. Returns its kind, or a DP_E. */
static int read_word(struct dp_json *json, const char *text, int kind)
{
    for (; *text; text++, json->ptr++) {
        int c = peek(json);
        if (c < 0)
            return error_of(c);
        if (c != (unsigned char)*text)
            return bad(json, DP_E_SYNTAX, "a word that is none of true, false and null");
    }
    return kind;
}

/* ---- nesting ---- */

static bool in_array(const struct dp_json *json)
{
    return json->depth && (json->arrays >> (json->depth - 1) & 1);
}

static int after_value(const struct dp_json *json)
{
    return json->depth ? COMMA_OR_END : NOTHING;
}

/* Begins an array or an object: notes it in the stack of bits. Returns the token, or DP_E_LIMIT. */
static int open_one(struct dp_json *json, bool array)
{
    if (json->depth == DP_JSON_DEPTH)
        return bad(json, DP_E_LIMIT, "it is nested too deeply");
    uint64_t bit = UINT64_C(1) << json->depth++;
    json->arrays = array ? json->arrays | bit : json->arrays & ~bit;
    json->expect = array ? VALUE_OR_END : KEY_OR_END;
    json->ptr++;
    return array ? DP_JSON_ARRAY : DP_JSON_OBJECT;
}

/* Ends the innermost array or object. Returns the token. */
static int close_one(struct dp_json *json)
{
    bool array = in_array(json);
    json->depth--;
    json->ptr++;
    json->expect = after_value(json);
    return array ? DP_JSON_ARRAY_END : DP_JSON_OBJECT_END;
}

/* Reads a value that begins with c, or the beginning of an object or an array. Returns its kind or
 * a DP_E. */
static int read_value(struct dp_json *json, int c)
{
    if (c == '{' || c == '[')
        return open_one(json, c == '[');
    json->expect = after_value(json);
    if (c == '"')
        return read_string(json);
    if (c == '-' || (c >= 0 && dp_is_digit((char)c)))
        return read_number(json);
    if (c == 't')
        return read_word(json, "true", DP_JSON_TRUE);
    if (c == 'f')
        return read_word(json, "false", DP_JSON_FALSE);
    if (c == 'n')
        return read_word(json, "null", DP_JSON_NULL);
    return bad(json, DP_E_SYNTAX, "there is no value where one should be");
}

/* Reads the name of a member, which begins with c, and the colon behind it. Returns DP_JSON_KEY or
 * a DP_E. The text may be gone when the value is read. */
static int read_key(struct dp_json *json, int c)
{
    if (c != '"')
        return bad(json, DP_E_SYNTAX, "there is no name where one should be");
    int rc = read_string(json);
    if (rc < 0)
        return rc;
    c = peek_token(json);
    if (c < 0)
        return error_of(c);
    if (c != ':')
        return bad(json, DP_E_SYNTAX, "there is no colon behind a name");
    json->ptr++;
    json->expect = VALUE;
    return DP_JSON_KEY;
}

int dp_json_next(struct dp_json *json)
{
    dp_buf_clear(&json->text);
    int c = peek_token(json);
    if (json->expect == NOTHING)
        return c == -1 ? DP_JSON_END
                : c < 0 ? error_of(c) : bad(json, DP_E_SYNTAX, "something follows behind the end");
    if (c < 0)
        return error_of(c);
    if (json->expect == COMMA_OR_END && c == ',') {
        json->ptr++;
        json->expect = in_array(json) ? VALUE : KEY;
        if ((c = peek_token(json)) < 0)
            return error_of(c);
    } else if (json->expect == COMMA_OR_END || json->expect == VALUE_OR_END
               || json->expect == KEY_OR_END) {
        if (c == (in_array(json) ? ']' : '}'))
            return close_one(json);
        if (json->expect == COMMA_OR_END)
            return bad(json, DP_E_SYNTAX, "there is neither a comma nor an end behind a value");
    }
    return json->expect == KEY || json->expect == KEY_OR_END ? read_key(json, c)
            : read_value(json, c);
}

int dp_json_skip(struct dp_json *json, int kind)
{
    unsigned depth = json->depth;
    if (kind < 0)
        return kind;
    if (kind != DP_JSON_OBJECT && kind != DP_JSON_ARRAY)
        return 0;
    while (json->depth >= depth)
        if ((kind = dp_json_next(json)) < 0)
            return kind;
    return 0;
}

bool dp_json_is(const struct dp_json *json, const char *str)
{
    return json->text.len == strlen(str)
           && (!json->text.len || memcmp(json->text.ptr, str, json->text.len) == 0);
}

/* Returns the exponent after the digits at p; beyond 9999 all are equivalent. */
static long exponent(const char *p, const char *end)
{
    long e = 0;
    bool minus = p < end && *p == '-';
    for (p += p < end && (*p == '-' || *p == '+'); p < end; p++)
        e = e < 9999 ? e * 10 + (*p - '0') : e;
    return minus ? -e : e;
}

bool dp_json_scaled(const struct dp_json *json, unsigned decimals, int64_t *out)
{
    const uint64_t most = UINT64_C(1) << 62;
    const char *p = json->text.ptr, *end = p + json->text.len, *stop = p;
    bool minus = *p == '-', up = false, below = false;
    while (stop < end && *stop != 'e' && *stop != 'E')
        stop++;
    /* position of the result's point, in digits from the first one */
    long left = (long)decimals + (stop < end ? exponent(stop + 1, end) : 0);
    const char *point = memchr(p, '.', (size_t)(stop - p));
    left += (point ? point : stop) - p - minus;
    uint64_t v = 0;
    bool any = false;
    for (p += minus; p < stop; p++) {
        if (*p == '.')
            continue;
        if (left-- > 0) {
            any = any || *p != '0';
            if (v > (most - (uint64_t)(*p - '0')) / 10)
                return false;
            v = v * 10 + (uint64_t)(*p - '0');
        } else if (left == -1) {
            up = *p >= '5';
            below = *p > '5';
        } else {
            below = below || *p != '0';
        }
    }
    for (; any && left > 0; left--) {
        if (v > most / 10)
            return false;
        v *= 10;
    }
    /* halves are rounded up, also those of negative numbers */
    if (up && (!minus || below))
        v++;
    if (v >= most)
        return false;
    *out = minus ? -(int64_t)v : (int64_t)v;
    return true;
}
