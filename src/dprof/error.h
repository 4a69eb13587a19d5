/* The error codes that functions return. */
#ifndef DPROF_ERROR_H
#define DPROF_ERROR_H

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

#endif
