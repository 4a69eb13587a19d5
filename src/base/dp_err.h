/* Error codes and the record with an error's details for the caller. The core reports; only the
 * host prints or dies. */
#ifndef DP_ERR_H
#define DP_ERR_H

#include "dp_base.h"
#include "dprof/error.h"

/* An error. line: 1-based, 0 if lines have no meaning. byte: offset from the start of the
 * uncompressed data. message: a complete clause, without newline. */
struct dp_err {
    int code;
    uint64_t line;
    uint64_t byte;
    char message[240];
};

void dp_err_init(struct dp_err *err);

/* Stores the details unless some are stored already: the first error is the cause. Returns code, so
 * that `return dp_err_set(...)` works. err may be NULL. */
int dp_err_set(struct dp_err *err, int code, const char *fmt, ...) DP_PRINTF(3, 4);

/* Sets a message like dp_err_set, with the place in the input. */
int dp_err_at(struct dp_err *err, int code, uint64_t line, uint64_t byte,
              const char *fmt, ...) DP_PRINTF(5, 6);

/* The text of a code; never NULL. */
const char *dp_err_text(int code);

#endif
