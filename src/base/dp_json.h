/* Reads JSON token by token, of any length, in memory of fixed size. Strict: everything outside of
 * RFC 8259 is an error. Nothing here recurses. */
#ifndef DP_JSON_H
#define DP_JSON_H

#include "dp_base.h"
#include "dp_buf.h"

enum dp_json_kind {
    DP_JSON_END,                /* after the single value of a text */
    DP_JSON_OBJECT, DP_JSON_OBJECT_END, DP_JSON_ARRAY, DP_JSON_ARRAY_END,
    DP_JSON_KEY,                /* its value follows */
    DP_JSON_STRING, DP_JSON_NUMBER, DP_JSON_TRUE, DP_JSON_FALSE, DP_JSON_NULL
};

enum { DP_JSON_DEPTH = 64 };    /* largest number of open objects and arrays */

/* Provides the next bytes, which stay in place until the next call. Returns their number, 0 at the
 * end, or a negative DP_E. */
typedef long dp_json_fill(void *ctx, const char **ptr);

struct dp_json {
    dp_json_fill *fill;
    void *ctx;
    size_t longest;             /* of a string, in bytes */
    const char *begin, *ptr, *end;      /* the bytes from fill; ptr: the next one */
    uint64_t line;              /* number of the line at ptr */
    uint64_t arrays;            /* a bit for each open object or array: it is an array */
    unsigned depth;
    int expect;
    const char *what;           /* what is wrong, after DP_E_SYNTAX and DP_E_LIMIT */
    struct dp_buf text;         /* of a key, a string or a number; escapes are decoded */
};

/* Begins to read JSON from bytes that fill(ctx, ...) provides. longest: bytes of the longest text
 * that is accepted. */
void dp_json_init(struct dp_json *json, dp_json_fill *fill, void *ctx, size_t longest);
void dp_json_release(struct dp_json *json);

/* Reads the next token. Returns its kind; DP_E_SYNTAX, DP_E_LIMIT (too deep, too long),
 * DP_E_TRUNCATED (the text ends within its value), DP_E_NOMEM, or the error of fill. */
int dp_json_next(struct dp_json *json);

/* Skips the rest of the value that begins with the last token: to the end of an object or an array.
 * Returns 0 or a DP_E. */
int dp_json_skip(struct dp_json *json, int kind);

/* Is the text of the last token equal to str? */
bool dp_json_is(const struct dp_json *json, const char *str);

/* Sets *out to the last number, multiplied by 10^decimals, rounded to the nearest, halves up.
 * Returns false if the result is 2^62 or more, or -2^62 or less. */
bool dp_json_scaled(const struct dp_json *json, unsigned decimals, int64_t *out);

#endif
