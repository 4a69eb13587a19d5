/* Names of frames as perf prints them, reduced to what people know. */
#ifndef DP_PERF_NAME_H
#define DP_PERF_NAME_H

#include "dp_buf.h"
#include "dp_reader.h"

/* A name without +0xOFFSET at its end. */
struct dp_text dp_perf_no_offset(struct dp_text name);

/* Appends a name without the parameters of a C++ or Java function, without quotes, and with a colon
 * for each semicolon, as stackcollapse-perf.pl does. Appends nothing for (perl), the name of a
 * process. java: the command is java; class names lose the leading L. */
void dp_perf_name(struct dp_buf *to, struct dp_text name, bool java);

/* Appends the name of code without a name: [FILE], or [unknown]. */
void dp_perf_unknown(struct dp_buf *to, struct dp_text file);

/* Removes the last function from a Java frame with inlined functions: OUTER->INNER. The remaining
 * *name is its caller; it is empty after the last one. Other names are one function. */
struct dp_text dp_perf_inlined(struct dp_text *name, bool java);

#endif
