/* Error codes and the record that carries an error's detail to the caller.
 * The core reports; only the host prints or dies. */
#ifndef DP_ERR_H
#define DP_ERR_H

#include "dp_base.h"
#include "dprof/error.h"

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
