/* The words of the file format that writers and readers share; the format
 * itself is described in lib/Devel/DProf/Format.pod. */
#ifndef DP_FMT_H
#define DP_FMT_H

#define DP_FMT_MAGIC        "#fOrTyTwO\n"
#define DP_FMT_MAGIC_LEN    10
#define DP_FMT_TRACE        "trace"
#define DP_FMT_TRACE_VERSION 1

/* Ticks per second that the recorder writes unless told otherwise: 100 ns. */
#define DP_FMT_HZ           10000000u

#endif
