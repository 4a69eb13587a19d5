/* JSON, token by token, of any length and in memory of fixed size. Strict: what RFC 8259 does not
 * have is an error. Nothing here recurses. */
#ifndef DP_JSON_H
#define DP_JSON_H

#include "dp_base.h"
#include "dp_buf.h"

enum dp_json_kind {
    DP_JSON_END,                /* behind the one value that a text is */
    DP_JSON_OBJECT, DP_JSON_OBJECT_END, DP_JSON_ARRAY, DP_JSON_ARRAY_END,
    DP_JSON_KEY,                /* its value follows */
    DP_JSON_STRING, DP_JSON_NUMBER, DP_JSON_TRUE, DP_JSON_FALSE, DP_JSON_NULL
};

enum { DP_JSON_DEPTH = 64 };    /* the most that are open at a time */

/* Gives the next bytes, which stay where they are until the next call. Returns how many, 0 at the
 * end, or a negative DP_E. */
typedef long dp_json_fill(void *ctx, const char **ptr);

struct dp_json {
    dp_json_fill *fill;
    void *ctx;
    size_t longest;             /* bytes of a string */
    const char *begin, *ptr, *end;      /* the bytes that fill has given; ptr: the next one */
    uint64_t line;              /* number of the line at ptr */
    uint64_t arrays;            /* a bit for each that is open: it is an array */
    unsigned depth;
    int expect;
    const char *what;           /* what is wrong, after DP_E_SYNTAX and DP_E_LIMIT */
    struct dp_buf text;         /* of a key, a string or a number; escapes decoded */
};

void dp_json_init(struct dp_json *json, dp_json_fill *fill, void *ctx, size_t longest);
void dp_json_release(struct dp_json *json);

/* The kind of the next token; or DP_E_SYNTAX, DP_E_LIMIT (too deep, too long), DP_E_TRUNCATED (the
 * text ends within its value), DP_E_NOMEM, or what fill has returned. */
int dp_json_next(struct dp_json *json);

/* Goes on behind the value that begins with the token read last: to the end of an object or an
 * array. Returns 0 or a DP_E. */
int dp_json_skip(struct dp_json *json, int kind);

/* The text of the last token is this. */
bool dp_json_is(const struct dp_json *json, const char *str);

/* The number read last, times 10^decimals, rounded to the nearest, halves up. False if that is
 * 2^62 or more, or less than -2^62. */
bool dp_json_scaled(const struct dp_json *json, unsigned decimals, int64_t *out);

#endif
