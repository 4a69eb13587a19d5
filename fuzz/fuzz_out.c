/* The output of the views: it goes into a buffer, which the next view uses again, and is parsed as
 * its readers would. */
#include "fuzz.h"
#include "dp_table.h"
#include "dp_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    char *ptr;
    size_t len, cap;
    size_t most;                /* beyond this, no more is taken */
    bool full;
} out;

static int take(void *ctx, const void *ptr, size_t len)
{
    (void)ctx;
    if (len > out.most - out.len) {
        out.full = true;
        return -1;
    }
    if (out.len + len > out.cap) {
        out.cap = (out.len + len) * 2;
        out.ptr = realloc(out.ptr, out.cap);
        if (!out.ptr)
            abort();
    }
    memcpy(out.ptr + out.len, ptr, len);
    out.len += len;
    return 0;
}

struct dp_host fuzz_host(struct fuzz *f)
{
    out.len = 0;
    out.full = false;
    out.most = f->c.starve >= 16 && f->c.starve < 24 ? f->c.starve * 100 : SIZE_MAX;
    return (struct dp_host){ NULL, take, NULL };
}

bool fuzz_printed(const struct fuzz *f, long rc, const char *file, int line)
{
    if (out.full) {
        if (rc >= 0)
            fuzz_not_so("what cannot be written is an error", file, line);
        return false;
    }
    if (f->several && rc == DP_E_LIMIT)
        return false;
    return fuzz_good(f, rc >= 0, "it is printed", file, line);
}

const char *fuzz_printed_text(size_t *len)
{
    *len = out.len;
    return out.ptr ? out.ptr : "";
}

/* ---- for people ---- */

/* The length of a colour's escape; 0: there is none. */
static size_t colour_at(const char *ptr, size_t len)
{
    size_t i = 2;
    if (len < 3 || ptr[0] != '\x1b' || ptr[1] != '[')
        return 0;
    while (i < len && ((ptr[i] >= '0' && ptr[i] <= '9') || ptr[i] == ';'))
        i++;
    return i < len && ptr[i] == 'm' ? i + 1 : 0;
}

#define ONES UINT64_C(0x0101010101010101)

void fuzz_check_text(bool colour)
{
    const char *ptr = out.ptr, *end = ptr + out.len;
    while (ptr < end) {
        /* a page has 100 kilobytes of scripts: plain bytes are skipped eight at a time */
        uint64_t eight;
        for (; end - ptr >= 8; ptr += 8) {
            memcpy(&eight, ptr, 8);
            /* a byte has its top bit set, or is below a blank, or is DEL */
            if ((eight | (eight - ONES * ' ') | (eight + ONES)) & ONES * 0x80)
                break;
        }
        if (ptr == end)
            break;
        unsigned char c = (unsigned char)*ptr;
        if ((c >= ' ' && c < 0x7f) || c == '\n' || c == '\t') {
            ptr++;
            continue;
        }
        size_t n = dp_text_char(ptr, (size_t)(end - ptr));
        if (colour && c == 0x1b) {
            n = colour_at(ptr, (size_t)(end - ptr));
            CHECK(n > 0);
        } else {
            CHECK(n > 0 && !dp_text_is_unseen(ptr, n));
        }
        ptr += n;
    }
}

void fuzz_check_bytes(void)
{
    for (size_t i = 0; i < out.len; i++)
        CHECK(((unsigned char)out.ptr[i] >= ' ' && out.ptr[i] != 0x7f) || out.ptr[i] == '\n');
}

/* ---- JSON ---- */

struct reader {
    const char *p, *end;
};

static void blanks(struct reader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\n'))
        r->p++;
}

static bool at(struct reader *r, char c)
{
    blanks(r);
    if (r->p >= r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

static void string(struct reader *r)
{
    CHECK(at(r, '"'));
    while (r->p < r->end && *r->p != '"') {
        CHECK((unsigned char)*r->p >= ' ');
        if (*r->p++ != '\\')
            continue;
        CHECK(r->p < r->end && strchr("\"\\/bfnrtu", *r->p));
        if (*r->p++ == 'u')
            for (int i = 0; i < 4; i++, r->p++)
                CHECK(r->p < r->end && strchr("0123456789abcdefABCDEF", *r->p) && *r->p);
    }
    CHECK(at(r, '"'));
}

static void number(struct reader *r)
{
    const char *start = r->p;
    if (*r->p == '-')
        r->p++;
    const char *digits = r->p;
    while (r->p < r->end && ((*r->p >= '0' && *r->p <= '9') || strchr(".eE+-", *r->p)) && *r->p)
        r->p++;
    CHECK(r->p > digits && *digits >= '0' && *digits <= '9');
    CHECK(*digits != '0' || r->p == digits + 1 || digits[1] == '.' || digits[1] == 'e');
    CHECK(r->p - start < 400);
}

static void value(struct reader *r, int depth)
{
    blanks(r);
    CHECK(r->p < r->end && depth < 1000);
    size_t left = (size_t)(r->end - r->p);
    char open = *r->p;
    if (open == '"') {
        string(r);
    } else if (open == '{' || open == '[') {
        char close = open == '{' ? '}' : ']';
        r->p++;
        if (at(r, close))
            return;
        do {
            if (open == '{') {
                string(r);
                CHECK(at(r, ':'));
            }
            value(r, depth + 1);
        } while (at(r, ','));
        CHECK(at(r, close));
    } else if (left >= 4 && (memcmp(r->p, "null", 4) == 0 || memcmp(r->p, "true", 4) == 0)) {
        r->p += 4;
    } else if (left >= 5 && memcmp(r->p, "false", 5) == 0) {
        r->p += 5;
    } else {
        number(r);
    }
}

void fuzz_check_json(void)
{
    struct reader r = { out.ptr, out.ptr + out.len };
    value(&r, 0);
    blanks(&r);
    CHECK(r.p == r.end);
}

/* ---- CSV ---- */

/* All records have the same number of fields. */
void fuzz_check_csv(void)
{
    const char *p = out.ptr, *end = p + out.len;
    size_t fields = 0, n = 1;
    while (p < end) {
        if (*p == '"') {
            for (p++; p < end && (*p != '"' || (p + 1 < end && p[1] == '"')); p++)
                p += *p == '"';
            CHECK(p < end);
            p++;
            CHECK(p < end && (*p == ',' || *p == '\n'));
        }
        while (p < end && *p != ',' && *p != '\n')
            CHECK(*p++ != '"');
        CHECK(p < end);
        if (*p++ == ',') {
            n++;
            continue;
        }
        CHECK(!fields || n == fields);
        fields = n;
        n = 1;
    }
    CHECK(n == 1);
}

/* ---- markup ---- */

static bool begins(const char *p, const char *end, const char *with)
{
    size_t n = strlen(with);
    return (size_t)(end - p) >= n && memcmp(p, with, n) == 0;
}

static const char *behind(const char *p, const char *end, const char *what)
{
    const char *found = memmem(p, (size_t)(end - p), what, strlen(what));
    CHECK(found);
    return found + strlen(what);
}

static bool is_size(const char *name, size_t len)
{
    return (len == 5 && memcmp(name, "width", 5) == 0)
           || (len == 6 && memcmp(name, "height", 6) == 0);
}

/* Reads attributes up to the tag's end; *alone: the tag has no end tag. */
static const char *attributes(const char *p, const char *end, bool *alone)
{
    for (;;) {
        while (p < end && (*p == ' ' || *p == '\n'))
            p++;
        CHECK(p < end);
        if (*p == '>' || *p == '/') {
            *alone = *p == '/';
            p += *alone;
            CHECK(p < end && *p == '>');
            return p + 1;
        }
        const char *name = p;
        while (p < end && *p != '=' && *p != ' ' && *p != '>' && *p != '"' && *p != '<')
            p++;
        CHECK(p < end && p > name && *p != '"' && *p != '<');
        size_t len = (size_t)(p - name);
        if (*p != '=')
            continue;           /* some of HTML's have no value */
        CHECK(++p < end);
        if (*p != '"') {        /* and some values have no quotes */
            while (p < end && *p != ' ' && *p != '>' && *p != '"' && *p != '<')
                p++;
            continue;
        }
        const char *start = ++p;
        for (; p < end && *p != '"'; p++)
            CHECK(*p != '<');
        CHECK(p < end);
        if (is_size(name, len))
            CHECK(*start != '-' && *start != 'n' && *start != 'i');
        p++;
        CHECK(p < end && (*p == ' ' || *p == '>' || *p == '/' || *p == '?' || *p == '\n'));
    }
}

/* An ampersand begins an entity. */
static void entity(const char *p, const char *end)
{
    const char *q = p + 1;
    while (q < end && q - p < 12
           && ((*q >= 'a' && *q <= 'z') || (*q >= 'A' && *q <= 'Z') || (*q >= '0' && *q <= '9')
               || *q == '#'))
        q++;
    CHECK(q < end && *q == ';' && q > p + 1);
}

/* HTML's tags that have no end. */
static bool is_void(const char *name, size_t len)
{
    static const char *const names[] = { "meta", "br", "input", "link", "hr", "img", "col" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
            return true;
    return false;
}

void fuzz_check_markup(void)
{
    enum { DEEP = 64 };
    struct { const char *name; size_t len; } open[DEEP];
    const char *p = out.ptr, *end = p + out.len;
    size_t depth = 0;
    bool html = out.len > 9 && (begins(p, end, "<!doctype") || begins(p, end, "<!DOCTYPE html"));
    while (p < end) {
        if (*p != '<') {
            if (*p == '&')
                entity(p, end);
            p++;
        } else if (begins(p, end, "<!--")) {
            p = behind(p, end, "-->");
        } else if (begins(p, end, "<![CDATA[")) {
            p = behind(p, end, "]]>");
        } else if (begins(p, end, "<!") || begins(p, end, "<?")) {
            p = behind(p, end, ">");
        } else {
            bool close = begins(p, end, "</"), alone = false;
            const char *name = p += 1 + close;
            while (p < end && *p != ' ' && *p != '>' && *p != '/' && *p != '\n')
                p++;
            size_t len = (size_t)(p - name);
            CHECK(len > 0);
            p = attributes(p, end, &alone);
            if (close) {
                if (html && depth
                    && !(open[depth - 1].len == len
                         && memcmp(open[depth - 1].name, name, len) == 0))
                    continue;   /* the end tag of an element that needs none */
                CHECK(depth > 0 && open[depth - 1].len == len
                      && memcmp(open[depth - 1].name, name, len) == 0);
                depth--;
            } else if (html && len == 6 && memcmp(name, "script", 6) == 0) {
                p = behind(p, end, "</script>");
            } else if (html && len == 5 && memcmp(name, "style", 5) == 0) {
                p = behind(p, end, "</style>");
            } else if (!alone && !is_void(name, len)) {
                CHECK(depth < DEEP);
                open[depth].name = name;
                open[depth++].len = len;
            }
        }
    }
    CHECK(html || depth == 0);
}

void fuzz_check_format(int format, bool colour, bool separator)
{
    fuzz_check_text(colour && format == DP_TEXT);
    if (format == DP_JSON)
        fuzz_check_json();
    else if (format == DP_CSV && !separator)
        fuzz_check_csv();
    else if (format == DP_HTML || format == DP_JUNIT)
        fuzz_check_markup();
}
