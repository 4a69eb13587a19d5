#include "dp_err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void dp_err_init(struct dp_err *err)
{
    memset(err, 0, sizeof *err);
}

/* Sets the error, unless one is set already: the first error stays. Returns the code. */
static int set_error(struct dp_err *err, int code, uint64_t line, uint64_t byte,
                     const char *fmt, va_list ap)
{
    if (!err || err->code)
        return code;
    err->code = code;
    err->line = line;
    err->byte = byte;
    vsnprintf(err->message, sizeof err->message, fmt, ap);
    return code;
}

int dp_err_set(struct dp_err *err, int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    set_error(err, code, 0, 0, fmt, ap);
    va_end(ap);
    return code;
}

int dp_err_at(struct dp_err *err, int code, uint64_t line, uint64_t byte,
              const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    set_error(err, code, line, byte, fmt, ap);
    va_end(ap);
    return code;
}

const char *dp_err_text(int code)
{
    switch (code) {
#define DP_ERR_CASE(name, value, text) case name: return text;
    DP_ERRORS(DP_ERR_CASE)
#undef DP_ERR_CASE
    }
    return "no error";
}
