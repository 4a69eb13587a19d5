/* Error codes and the record that carries an error's detail to the caller.
 * The core reports; only the host prints or dies. */
#ifndef DP_ERR_H
#define DP_ERR_H

#include "dp_base.h"

/* One list gives the codes and their texts. A fallible function returns 0 or a
 * count on success and one of these, all negative, on failure. */
#define DP_ERRORS(X) \
    X(DP_E_NOMEM,      -1, "out of memory") \
    X(DP_E_IO,         -2, "input/output error") \
    X(DP_E_SYNTAX,     -3, "garbled profile") \
    X(DP_E_TRUNCATED,  -4, "profile cut short") \
    X(DP_E_NOTPROFILE, -5, "not a perl profile") \
    X(DP_E_VERSION,    -6, "profile of a newer format") \
    X(DP_E_LIMIT,      -7, "a limit was reached") \
    X(DP_E_ARG,        -8, "bad argument") \
    X(DP_E_HOST,       -9, "stopped by the host")

enum dp_code {
    DP_OK = 0,
#define DP_ERR_ENUM(name, value, text) name = value,
    DP_ERRORS(DP_ERR_ENUM)
#undef DP_ERR_ENUM
    DP_E_LAST_ = -100
};

/* line: 1-based, 0 where lines mean nothing. byte: offset from the start of
 * the uncompressed data. message: a whole sentence part, no newline. */
struct dp_err {
    int code;
    uint64_t line;
    uint64_t byte;
    char message[240];
};

void dp_err_init(struct dp_err *err);

/* Writes the detail unless one is there already: the first error is the cause.
 * Returns code, so that `return dp_err_set(...)` works. err may be NULL. */
int dp_err_set(struct dp_err *err, int code, const char *fmt, ...) DP_PRINTF(3, 4);

/* As dp_err_set, with the place in the input. */
int dp_err_at(struct dp_err *err, int code, uint64_t line, uint64_t byte,
              const char *fmt, ...) DP_PRINTF(5, 6);

/* The text of a code; never NULL. */
const char *dp_err_text(int code);

#endif
