#include "dp_text.h"
#include "dp_char.h"
#include "dprof/profile.h"

#include <stdio.h>
#include <string.h>

/* The length of the well-formed UTF-8 character at p, 0 if there is none. len is at least 1. */
static size_t utf8_length(const unsigned char *p, size_t len)
{
    size_t n;
    if (p[0] < 0x80)
        return 1;
    if (p[0] >= 0xc2 && p[0] <= 0xdf)
        n = 2;
    else if (p[0] >= 0xe0 && p[0] <= 0xef)
        n = 3;
    else if (p[0] >= 0xf0 && p[0] <= 0xf4)
        n = 4;
    else
        return 0;
    if (len < n)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f)
        || (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}

/* Is it a C1 control, as dangerous to a terminal as ESC, or a mark that changes the direction of
 * writing and so makes a name look like another? */
static bool is_unseen(const unsigned char *p, size_t n)
{
    if (n == 2)
        return p[0] == 0xc2 && p[1] < 0xa0;
    if (n == 3 && p[0] == 0xe2)
        return (p[1] == 0x80 && (p[2] >= 0xa8 && p[2] <= 0xae))
               || (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9);
    return false;
}

size_t dp_text_char(const char *ptr, size_t len)
{
    return len ? utf8_length((const unsigned char *)ptr, len) : 0;
}

uint32_t dp_text_code(const char *ptr, size_t n)
{
    const unsigned char *p = (const unsigned char *)ptr;
    uint32_t c = n == 1 ? p[0] : p[0] & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++)
        c = c << 6 | (p[i] & 0x3fu);
    return c;
}

bool dp_text_is_unseen(const char *ptr, size_t n)
{
    const unsigned char *p = (const unsigned char *)ptr;
    return n == 1 ? p[0] < 0x20 || p[0] == 0x7f : is_unseen(p, n);
}

size_t dp_text_plain(const char *ptr, size_t len)
{
    size_t i = 0;
    while (i < len && (unsigned char)(ptr[i] - 0x20) < 0x5f)
        i++;
    return i;
}

/* Makes one piece of output at p. Returns its length; *used: number of bytes of the input. */
static size_t make_piece(const unsigned char *p, size_t len, char out[16], size_t *used)
{
    static const char hex[] = "0123456789abcdef";
    size_t n = utf8_length(p, len);
    if (n == 0 || (n == 1 && (p[0] < 0x20 || p[0] == 0x7f))) {
        *used = 1;
        memcpy(out, "\\x", 2);
        out[2] = hex[p[0] >> 4];
        out[3] = hex[p[0] & 15];
        return 4;
    }
    *used = n;
    if (n == 1 || !is_unseen(p, n)) {
        memcpy(out, p, n);
        return n;
    }
    unsigned c = n == 2 ? (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu)
                        : (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
    size_t at = 0;
    memcpy(out, "\\x{", 3);
    at = 3;
    for (int shift = c > 0xff ? 12 : 4; shift >= 0; shift -= 4)
        out[at++] = hex[c >> shift & 15];
    out[at++] = '}';
    return at;
}

size_t dp_escape(const char *ptr, size_t len, char *to, size_t cap)
{
    const unsigned char *p = (const unsigned char *)ptr;
    size_t total = 0, used;
    char out[16];
    for (size_t i = 0; i < len; i += used) {
        size_t n = make_piece(p + i, len - i, out, &used);
        if (n <= cap - total && total <= cap)
            memcpy(to + total, out, n);
        else
            break;
        total += n;
    }
    return total;
}

/* Shows the beginning of a name: the bytes themselves as far as they are plain, or else one piece,
 * in out. n is its length, used the number of bytes of ptr that it represents. */
static const char *shown_piece(const char *ptr, size_t len, char *out, size_t *n, size_t *used)
{
    *n = *used = dp_text_plain(ptr, len);
    if (*used)
        return ptr;
    *n = make_piece((const unsigned char *)ptr, len, out, used);
    return out;
}

void dp_text_escape(struct dp_buf *buf, const char *ptr, size_t len)
{
    size_t n, used;
    char out[16];
    for (size_t i = 0; i < len; i += used) {
        const char *text = shown_piece(ptr + i, len - i, out, &n, &used);
        dp_buf_add(buf, text, n);
    }
}

void dp_text_print(struct dp_sink *sink, const char *ptr, size_t len)
{
    size_t n, used;
    char out[16];
    for (size_t i = 0; i < len; i += used) {
        const char *text = shown_piece(ptr + i, len - i, out, &n, &used);
        dp_sink_add(sink, text, n);
    }
}

/* The entity of a byte in markup; NULL: no entity is needed. */
static const char *entity_of(char c, unsigned flags)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return flags & DP_MARKUP_APOSTROPHE ? "&#39;" : NULL;
    case '\n': return flags & DP_MARKUP_LINES ? "\n" : NULL;
    }
    return NULL;
}

/* Returns what markup shows for a character that is not plain: an escape, a numeric entity, or the
 * character itself. *n: the length of the result; *used: the bytes of the character. */
static const char *marked_up(const char *ptr, size_t len, char out[16], size_t *n, size_t *used,
                             unsigned flags)
{
    const char *text = shown_piece(ptr, len, out, n, used);
    if (flags & DP_MARKUP_XML && *n == 3 && memcmp(text, "\xef\xbf", 2) == 0
        && (text[2] == '\xbe' || text[2] == '\xbf'))
        *n = (size_t)snprintf(out, 16, "\\x{fff%c}", text[2] == '\xbe' ? 'e' : 'f');
    else if (flags & DP_MARKUP_ASCII && *text != '\\')
        *n = (size_t)snprintf(out, 16, "&#%lu;", (unsigned long)dp_text_code(text, *n));
    return text;
}

void dp_text_markup(dp_write_fn *to, void *ctx, const char *ptr, size_t len, unsigned flags)
{
    size_t n, used;
    char out[16];
    for (size_t i = 0; i < len; i += used) {
        const char *text = entity_of(ptr[i], flags);
        if (text) {
            n = strlen(text);
            used = 1;
        } else if (dp_text_plain(ptr + i, 1)) {
            text = ptr + i;
            for (n = 1; i + n < len && dp_text_plain(text + n, 1) && !entity_of(text[n], flags);)
                n++;
            used = n;
        } else {
            text = marked_up(ptr + i, len - i, out, &n, &used, flags);
        }
        to(ctx, text, n);
    }
}

/* The number of characters in valid UTF-8. */
static size_t count_characters(const char *ptr, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += ((unsigned char)ptr[i] & 0xc0) != 0x80;
    return n;
}

/* Ranges that approximate Unicode's tables: wide ones are East Asian writing, and pictures that
 * people put into names; combining ones are accents, vowel signs and selectors. */
struct range { uint32_t first, last; };

static const struct range wide[] = {
    { 0x1100, 0x115f }, { 0x231a, 0x231b }, { 0x23e9, 0x23ec }, { 0x25fd, 0x25fe },
    { 0x2614, 0x2615 },
    { 0x2648, 0x2653 }, { 0x26aa, 0x26ab }, { 0x26bd, 0x26be }, { 0x26c4, 0x26c5 },
    { 0x2705, 0x2705 },
    { 0x270a, 0x270b }, { 0x2728, 0x2728 }, { 0x274c, 0x274c }, { 0x2753, 0x2755 },
    { 0x2795, 0x2797 },
    { 0x2b1b, 0x2b1c }, { 0x2e80, 0x303e }, { 0x3041, 0xa4cf }, { 0xa960, 0xa97c },
    { 0xac00, 0xd7a3 },
    { 0xf900, 0xfaff }, { 0xfe30, 0xfe6f }, { 0xff00, 0xff60 }, { 0xffe0, 0xffe6 },
    { 0x1f300, 0x1f64f },
    { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1faff }, { 0x20000, 0x3fffd },
};

static const struct range combining[] = {
    { 0x300, 0x36f }, { 0x483, 0x489 }, { 0x591, 0x5bd }, { 0x610, 0x61a }, { 0x64b, 0x65f },
    { 0x670, 0x670 },
    { 0x6d6, 0x6dc }, { 0x93c, 0x93c }, { 0x941, 0x948 }, { 0x94d, 0x94d }, { 0xe31, 0xe31 },
    { 0xe34, 0xe3a },
    { 0xe47, 0xe4e }, { 0x1160, 0x11ff }, { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff },
    { 0x200b, 0x200f },
    { 0x20d0, 0x20ff }, { 0x302a, 0x302d }, { 0x3099, 0x309a }, { 0xfe00, 0xfe0f },
    { 0xfe20, 0xfe2f },
    { 0xfeff, 0xfeff }, { 0x1f3fb, 0x1f3ff }, { 0xe0100, 0xe01ef },
};

/* Is the character in one of n ranges, which are ascending? */
static bool is_in_ranges(uint32_t c, const struct range *r, size_t n)
{
    size_t from = 0;
    while (from < n) {
        size_t mid = (from + n) / 2;
        if (c < r[mid].first)
            n = mid;
        else if (c > r[mid].last)
            from = mid + 1;
        else
            return true;
    }
    return false;
}

size_t dp_text_columns(const char *ptr, size_t len)
{
    size_t columns = 0, n;
    for (size_t i = 0; i < len; i += n) {
        n = dp_text_plain(ptr + i, len - i);
        columns += n;
        if (n)
            continue;
        n = dp_text_char(ptr + i, len - i);
        if (n < 2) {
            n = 1;
            columns++;
            continue;
        }
        uint32_t c = dp_text_code(ptr + i, n);
        if (c < 0x300)
            columns++;
        else if (!is_in_ranges(c, combining, DP_ARRAY_LEN(combining)))
            columns += is_in_ranges(c, wide, DP_ARRAY_LEN(wide)) ? 2 : 1;
    }
    return columns;
}

size_t dp_text_break(const char *ptr, size_t len, size_t room)
{
    if (count_characters(ptr, len) <= room)
        return len;
    size_t i = 0, chars = 0, good = 0;
    for (; i < len; i++) {
        if (((unsigned char)ptr[i] & 0xc0) != 0x80 && chars++ == room)
            break;
        if (i >= 1 && ptr[i] == ':' && ptr[i - 1] == ':' && chars >= (room + 1) / 2)
            good = i + 1;
    }
    return good ? good : i ? i : 1;
}

static unsigned char lower_case(char c)
{
    return (unsigned char)(dp_is_upper(c) ? c | 0x20 : c);
}

bool dp_text_alike(const char *a, const char *b, size_t len)
{
    for (; len; len--, a++, b++) {
        if (lower_case(*a) != lower_case(*b))
            return false;
        if (!*a)
            break;
    }
    return true;
}

void dp_text_point(char *number)
{
    char *to = number;
    for (const char *p = number; *p; p++)
        if (dp_is_digit(*p) || *p == '-' || *p == '+' || *p == ' ' || *p == 'e')
            *to++ = *p;
        else if (to == number || to[-1] != '.')     /* may be more than one byte */
            *to++ = '.';
    *to = '\0';
}

size_t dp_text_real(char *to, size_t size, double v, unsigned decimals)
{
    snprintf(to, size, "%.*f", (int)decimals, v);
    dp_text_point(to);
    return strlen(to);
}

bool dp_text_holds(const char *ptr, size_t len, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= len; i++)
        if (memcmp(ptr + i, word, n) == 0)
            return true;
    return false;
}

size_t dp_text_package(const char *ptr, size_t len)
{
    const char *bracket = memchr(ptr, '[', len);
    size_t end = bracket && bracket > ptr ? (size_t)(bracket - ptr) : len;
    for (size_t i = end; i > 2; i--)
        if (ptr[i - 1] == ':' && ptr[i - 2] == ':')
            return i - 2;
    return 0;
}
