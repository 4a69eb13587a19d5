/* Numbers in text: fast for the short ones that fill a trace, and never beyond the 16 readable
 * bytes that a reader keeps after its data. Also products that need more than 64 bits. */
#ifndef DP_NUM_H
#define DP_NUM_H

#include "dp_char.h"
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && defined(__GNUC__)
#  define DP_NUM_SWAR 1
#endif

/* DP_NUM_PORTABLE: the code for 32-bit machines, for a test. */
#if defined(__SIZEOF_INT128__) && !defined(DP_NUM_PORTABLE)
#  define DP_NUM_INT128 1
#endif

/* Reads a decimal number of 1 to 7 digits at p. Returns its length, or 0 if there is none or a
 * longer one. Eight bytes at p must be readable. */
DP_INLINE unsigned dp_num_short(const char *p, uint64_t *out)
{
#ifdef DP_NUM_SWAR
    uint64_t x;
    memcpy(&x, p, 8);
    x ^= UINT64_C(0x3030303030303030);
    /* the lowest marked byte is the first that is not a digit; a carry changes only bytes above
     * it */
    uint64_t other = ((x + UINT64_C(0x7676767676767676)) | x) & UINT64_C(0x8080808080808080);
    if (DP_UNLIKELY(!other))
        return 0;
    unsigned n = (unsigned)__builtin_ctzll(other) >> 3;
    if (DP_UNLIKELY(!n))
        return 0;
    x <<= 64 - 8 * n;
    x = (x & UINT64_C(0x0f0f0f0f0f0f0f0f)) * 2561 >> 8;
    x = (x & UINT64_C(0x00ff00ff00ff00ff)) * 6553601 >> 16;
    *out = (x & UINT64_C(0x0000ffff0000ffff)) * UINT64_C(42949672960001) >> 32;
    return n;
#else
    uint64_t v = 0;
    unsigned n = 0;
    while (n < 8 && (unsigned char)(p[n] - '0') < 10)
        v = v * 10 + (uint64_t)(p[n++] - '0');
    *out = v;
    return n < 8 ? n : 0;
#endif
}

/* The value of a hexadecimal digit, or -1. */
static inline int dp_num_hexdigit(char c)
{
    if (dp_is_digit(c))
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Is the text meant as a number, right or wrong? Signs, fractions and exponents look like one. */
static inline bool dp_num_is_like(const char *p, size_t len)
{
    size_t i = len && (*p == '-' || *p == '+'), digits = 0;
    for (; i < len && ((unsigned char)(p[i] - '0') < 10 || p[i] == '.'); i++)
        digits += p[i] != '.';
    if (digits && i + 1 < len && (p[i] | 0x20) == 'e') {
        i += 1 + (p[i + 1] == '-' || p[i + 1] == '+');
        while (i < len && (unsigned char)(p[i] - '0') < 10)
            i++;
    }
    return digits && i == len;
}

/* Reads all of ptr..len as a decimal number. Returns false if it is not one, or is above 2^63. */
static inline bool dp_num_dec(const char *ptr, size_t len, uint64_t *out)
{
    uint64_t v = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned d = (unsigned char)(ptr[i] - '0');
        if (d > 9 || v > (UINT64_MAX / 2 - d) / 10)
            return false;
        v = v * 10 + d;
    }
    *out = v;
    return len > 0;
}

/* Reads all of ptr..len as a hexadecimal number. */
static inline bool dp_num_hex(const char *ptr, size_t len, uint64_t *out)
{
    uint64_t v = 0;
    for (size_t i = 0; i < len; i++) {
        int d = dp_num_hexdigit(ptr[i]);
        if (d < 0 || v >> 60)
            return false;
        v = v << 4 | (uint64_t)d;
    }
    *out = v;
    return len > 0;
}

/* Returns a * b / 2^32, cut off to 64 bits. */
static inline uint64_t dp_num_mul_shift32(uint64_t a, uint64_t b)
{
#ifdef DP_NUM_INT128
    return (uint64_t)(((unsigned __int128)a * b) >> 32);
#else
    uint64_t a_high = a >> 32, a_low = (uint32_t)a, b_high = b >> 32, b_low = (uint32_t)b;
    return (a_high * b_high << 32) + a_high * b_low + a_low * b_high + (a_low * b_low >> 32);
#endif
}

/* Returns a * b / c, rounded down, for b <= c and c > 0: never more than a. */
static inline uint64_t dp_num_mul_div(uint64_t a, uint64_t b, uint64_t c)
{
#ifdef DP_NUM_INT128
    return (uint64_t)((unsigned __int128)a * b / c);
#else
    /* bit by bit of a, from the top: quotient and remainder of (bits so far) * b / c */
    uint64_t quotient = 0, rest = 0, whole = b / c, b_rest = b % c;
    for (int bit = 63; bit >= 0; bit--) {
        bool over = rest >= c - rest;           /* 2 * rest >= c, which may not fit */
        rest = over ? rest - (c - rest) : rest + rest;
        quotient = quotient << 1 | over;
        if (a >> bit & 1) {
            over = rest >= c - b_rest;
            rest = over ? rest - (c - b_rest) : rest + b_rest;
            quotient += over + whole;
        }
    }
    return quotient;
#endif
}

/* Computes a * b / c, rounded to the nearest, halves up, for c > 0. Returns false if that is 2^63
 * or more. */
static inline bool dp_num_scale(uint64_t a, uint64_t b, uint64_t c, uint64_t *out)
{
    uint64_t whole = b / c, part = b % c, quotient = part ? dp_num_mul_div(a, part, c) : 0;
    uint64_t rest = a * part - quotient * c;    /* less than c, despite the overflow of 64 bits */
    if (whole && a > UINT64_MAX / 2 / whole)
        return false;
    quotient += rest >= c - rest;
    if (quotient > UINT64_MAX / 2 - a * whole)
        return false;
    *out = a * whole + quotient;
    return true;
}

/* The whole number nearest to v, halves up. More than 2^63 becomes 2^63; less than 0, or NAN,
 * becomes 0: a cast would be undefined. */
static inline uint64_t dp_num_round(double v)
{
    return v >= 9223372036854775807.0 ? UINT64_MAX / 2 : v > 0 ? (uint64_t)(v + 0.5) : 0;
}

#endif
