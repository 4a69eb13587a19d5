#include "dp_pmu_terms.h"
#include "dp_num.h"
#include "dp_text.h"

#include <string.h>

/* Reads a decimal number of at most three digits at *p, and moves *p behind it. */
static bool read_digits(const char **p, unsigned *out)
{
    size_t n = strspn(*p, "0123456789");
    uint64_t v;
    if (n > 3 || !dp_num_dec(*p, n, &v))
        return false;
    *p += n;
    *out = (unsigned)v;
    return true;
}

bool dp_pmu_format_parse(struct dp_pmu_format *format, const char *text)
{
    if (strncmp(text, "config", 6) != 0)
        return false;
    unsigned config = 0;
    uint64_t bits = 0;
    text += 6;
    if (*text != ':' && !read_digits(&text, &config))
        return false;
    do {
        unsigned from, to;
        text++;
        if (!read_digits(&text, &from))
            return false;
        to = from;
        if (*text == '-' && (text++, !read_digits(&text, &to)))
            return false;
        if (from > to || to > 63)
            return false;
        bits |= (UINT64_MAX >> (63 - (to - from))) << from;
    } while (*text == ',');
    if (*text)
        return false;
    format->config = config;
    format->bits = bits;
    return true;
}

uint64_t dp_pmu_format_max(const struct dp_pmu_format *format)
{
    uint64_t max = 0;
    for (uint64_t bits = format->bits; bits; bits &= bits - 1)
        max = max << 1 | 1;
    return max;
}

/* Sets the bits of a term in the words of an event's configuration. Returns false if the value does
 * not fit. perf ors the bits of a term that comes twice: 3 and then 30 are 31, which no user wants.
 * Here the later one counts. */
bool dp_pmu_format_put(const struct dp_pmu_format *format, uint64_t value, uint64_t config[3])
{
    if (format->config > 2 || value > dp_pmu_format_max(format))
        return false;
    uint64_t to = config[format->config] & ~format->bits;
    for (uint64_t bits = format->bits; bits; bits &= bits - 1, value >>= 1)
        if (value & 1)
            to |= bits & (~bits + 1);
    config[format->config] = to;
    return true;
}

/* Removes blanks and tabs at both ends of a text. */
static void trim_blanks(const char **p, size_t *len)
{
    while (*len && ((*p)[0] == ' ' || (*p)[0] == '\t'))
        ++*p, --*len;
    while (*len && ((*p)[*len - 1] == ' ' || (*p)[*len - 1] == '\t'))
        --*len;
}

/* The length of the term at p: up to a comma outside of quotes, or the end. */
static size_t term_length(const char *p, const char *end)
{
    bool quoted = false;
    const char *q = p;
    for (; q < end && (quoted || *q != ','); q++)
        if (*q == '\'' && (quoted || memchr(q + 1, '\'', (size_t)(end - q) - 1)))
            quoted = !quoted;
    return (size_t)(q - p);
}

/* Splits KEY=VALUE or KEY; value is NULL without a =. Blanks around both, and quotes around the
 * value, are left out. */
static void split_term(struct dp_pmu_term *t, const char *p, size_t n)
{
    const char *is = memchr(p, '=', n);
    t->key = p;
    t->key_len = is ? (size_t)(is - p) : n;
    t->value = is ? is + 1 : NULL;
    t->value_len = is ? n - t->key_len - 1 : 0;
    trim_blanks(&t->key, &t->key_len);
    if (!is)
        return;
    trim_blanks(&t->value, &t->value_len);
    if (t->value_len >= 2 && t->value[0] == '\'' && t->value[t->value_len - 1] == '\'') {
        t->value++;
        t->value_len -= 2;
    }
}

bool dp_pmu_term_next(const char **p, const char *end, struct dp_pmu_term *t)
{
    while (*p < end) {
        size_t n = term_length(*p, end);
        split_term(t, *p, n);
        *p += n + (*p + n < end);
        if (t->key_len || t->value)
            return true;
    }
    return false;
}

bool dp_pmu_term_is(const struct dp_pmu_term *t, const char *key)
{
    return strlen(key) == t->key_len && dp_text_alike(key, t->key, t->key_len);
}

bool dp_pmu_number(const char *text, size_t len, uint64_t *out)
{
    if (len > 2 && text[0] == '0' && (text[1] | 0x20) == 'x')
        return dp_num_hex(text + 2, len - 2, out);
    return dp_num_dec(text, len, out);
}

bool dp_pmu_raw(const char *text, size_t len, uint64_t *out)
{
    if (len < 2 || (text[0] | 0x20) != 'r')
        return false;
    text++, len--;
    if (len > 2 && text[0] == '0' && (text[1] | 0x20) == 'x')
        text += 2, len -= 2;
    return dp_num_hex(text, len, out);
}
