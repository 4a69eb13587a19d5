/* Prints calls one by one, straight from the file: -T and -t of dprofpp. */
#ifndef DPROF_TRACE_H
#define DPROF_TRACE_H

#include "dprof/profile.h"

struct dp_trace;

#define DP_TRACE_OPTIONS(X) \
    X(FLAG, fold)               /* -t */ \
    X(FLAG, phases)             /* a line where a phase begins */ \
    X(LABELS, label_flags) \
    X(FLAG, force)              /* like DP_FORCE */ \
    X(NAME, only)               /* -g */
struct dp_trace_how { DP_TRACE_OPTIONS(DP_MEMBER) };

/* Make a printer of calls, or NULL if memory is short, and free it. */
struct dp_trace *dp_trace_new(const struct dp_trace_how *how, const struct dp_host *host);
void dp_trace_free(struct dp_trace *trace);
/* Reads a file and prints its calls in the meantime. Returns its outcome's code. */
int dp_trace_add(struct dp_trace *trace, const char *path);
int dp_trace_add_mem(struct dp_trace *trace, const char *path, const void *ptr, size_t len);
void dp_trace_outcome(const struct dp_trace *trace, struct dp_outcome *out);
/* The names, as from dp_names_new. */
struct dp_names *dp_names_of_trace(const struct dp_trace *trace, unsigned label_flags);

#endif
