/* Names of frames as perf prints them, without parameters. */
#ifndef DP_PERF_NAME_H
#define DP_PERF_NAME_H

#include "dp_buf.h"
#include "dp_reader.h"

/* Without +0xOFFSET at the end. */
struct dp_text dp_perf_no_offset(struct dp_text name);

/* Appends a name as people know it: without the parameters of a C++ or Java function, without
 * quotes, and with a colon for each semicolon, as stackcollapse-perf.pl does; nothing of (perl),
 * which is the name of a process. java: the command is java, whose class names lose the L in
 * front. */
void dp_perf_name(struct dp_buf *to, struct dp_text name, bool java);

/* Appends what code without a name is called: [FILE], or [unknown]. */
void dp_perf_unknown(struct dp_buf *to, struct dp_text file);

/* Takes the last function off a frame of Java that has inlined functions: OUTER->INNER. What is
 * left in *name is its caller, and empty behind the last one. Other names are one function. */
struct dp_text dp_perf_inlined(struct dp_text *name, bool java);

#endif
