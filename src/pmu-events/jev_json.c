#include "jev_json.h"

#include <string.h>

void jev_json_init(struct jev_json *json, struct jev *jev, const char *path, const char *data,
                   size_t len)
{
    json->jev = jev;
    json->path = path;
    json->ptr = data;
    json->end = data + len;
    json->line = 1;
}

const char *jev_json_kind(enum jev_kind kind)
{
    static const char *const kinds[] = {
        "the end of the file", "an array", "the end of an array", "an object",
        "the end of an object", "a string", "a number or a word without quotes"
    };
    return kinds[kind];
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',' || c == ':';
}

static bool is_inside_word(char c)
{
    return !is_blank(c) && !strchr("[]{}\"", c) && c > ' ' && c < 0x7f;
}

/* Reports a byte that JSON does not allow outside of strings. */
static int wrong_byte(struct jev_json *json)
{
    return jev_fail(json->jev, json->path, json->line, "byte 0x%02x outside of a string",
                    (unsigned)(unsigned char)*json->ptr);
}

/* Reads a string; json->ptr is after its first quote. */
static int read_string(struct jev_json *json, struct jev_token *token)
{
    const char *p = json->ptr, *end = json->end;
    for (; p < end && *p != '"'; p++) {
        if (*p == '\n')
            json->line++;
        else if (*p == '\0')
            return jev_fail(json->jev, json->path, json->line, "a NUL byte in a string");
        else if (*p == '\\') {
            if (++p == end)
                break;
            if (*p == '\0' || !strchr("\"\\/bfnrtu", *p))
                return jev_fail(json->jev, json->path, json->line,
                                "no such escape in a string: \\ and byte 0x%02x",
                                (unsigned)(unsigned char)*p);
        }
    }
    if (p >= end)
        return jev_fail(json->jev, json->path, token->line, "a string without end");
    token->kind = JEV_STRING;
    token->ptr = json->ptr;
    token->len = (size_t)(p - json->ptr);
    json->ptr = p + 1;
    return 0;
}

/* Reads a number or a word without quotes, up to the next blank, bracket or quote. */
static int read_word(struct jev_json *json, struct jev_token *token)
{
    const char *p = json->ptr;
    while (p < json->end && is_inside_word(*p))
        p++;
    if (p == json->ptr)
        return wrong_byte(json);
    token->kind = JEV_WORD;
    token->ptr = json->ptr;
    token->len = (size_t)(p - json->ptr);
    json->ptr = p;
    return 0;
}

int jev_json_next(struct jev_json *json, struct jev_token *token)
{
    static const char brackets[] = "[]{}";
    for (; json->ptr < json->end && is_blank(*json->ptr); json->ptr++)
        json->line += *json->ptr == '\n';
    token->line = json->line;
    token->ptr = json->ptr;
    token->len = 0;
    token->kind = JEV_END;
    if (json->ptr == json->end)
        return 0;
    if (*json->ptr == '\0')
        return wrong_byte(json);
    const char *bracket = strchr(brackets, *json->ptr);
    if (bracket) {
        token->kind = (enum jev_kind)(JEV_ARRAY + (bracket - brackets));
        json->ptr++;
        return 0;
    }
    if (*json->ptr != '"')
        return read_word(json, token);
    json->ptr++;
    return read_string(json, token);
}

/* The value of four hexadecimal digits, or -1. */
static long hex4(const char *p, const char *end)
{
    long v = 0;
    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = p[i] | 0x20;
        if (p[i] >= '0' && p[i] <= '9')
            v = v * 16 + (p[i] - '0');
        else if (c >= 'a' && c <= 'f')
            v = v * 16 + (c - 'a' + 10);
        else
            return -1;
    }
    return v;
}

/* Appends a character as UTF-8. */
static void add_utf8(struct jev *jev, struct jev_text *out, long c)
{
    char buf[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; c >>= 6)
        buf[i] = (char)(0x80 | (c & 0x3f));
    buf[0] = (char)(n == 1 ? c : (0xf00 >> n & 0xff) | c);
    jev_add(jev, out, buf, n);
}

/* Decodes the digits after \u, at p. Returns where to continue, or NULL with an error noted. */
static const char *unicode(struct jev_json *json, const struct jev_token *token, const char *p,
                           struct jev_text *out)
{
    const char *end = token->ptr + token->len;
    long c = hex4(p, end), low;
    if (c <= 0) {
        jev_fail(json->jev, json->path, token->line,
                 c < 0 ? "\\u without four hexadecimal digits" : "\\u0000 in a string");
        return NULL;
    }
    p += 4;
    if (c >= 0xd800 && c < 0xdc00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u'
        && (low = hex4(p + 2, end)) >= 0xdc00 && low < 0xe000) {
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        p += 6;
    }
    add_utf8(json->jev, out, c >= 0xd800 && c < 0xe000 ? 0xfffd : c);
    return p;
}

static bool is_break(char c) { return c == '\t' || c == '\n' || c == '\r'; }

/* Replaces the tab or line end at p and the blanks around it by one blank; the blanks before it are
 * removed from the text, down to `start`. */
static const char *flatten(struct jev *jev, const char *p, const char *end, struct jev_text *out,
                           size_t start)
{
    while (p < end && (is_break(*p) || *p == ' '))
        p++;
    while (out->len > start && out->ptr[out->len - 1] == ' ')
        out->len--;
    jev_add(jev, out, " ", 1);
    return p;
}

int jev_json_decode(struct jev_json *json, const struct jev_token *token, bool flat,
                    struct jev_text *out)
{
    static const char letters[] = "bfnrt\"\\/", bytes[] = "\b\f\n\r\t\"\\/";
    const char *p = token->ptr, *end = p + token->len;
    size_t start = out->len;
    while (p < end) {
        const char *from = p;
        while (p < end && *p != '\\' && !(flat && is_break(*p)))
            p++;
        jev_add(json->jev, out, from, (size_t)(p - from));
        if (p == end)
            break;
        if (*p != '\\') {
            p = flatten(json->jev, p, end, out, start);
            continue;
        }
        p++;
        if (*p == 'u') {
            p = unicode(json, token, p + 1, out);
            if (!p)
                return -1;
        } else {
            jev_add(json->jev, out, bytes + (strchr(letters, *p) - letters), 1);
            p++;
        }
    }
    return jev_failed(json->jev) ? -1 : 0;
}
