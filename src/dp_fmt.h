/* The words and bounds of the file format (lib/Devel/DProf/Format.pod), shared
 * by whoever writes it and whoever reads it. */
#ifndef DP_FMT_H
#define DP_FMT_H

#include "dp_base.h"

#define DP_FMT_MAGIC      "#fOrTyTwO"
#define DP_FMT_PART2      "PART2"
#define DP_FMT_WRITE      "Devel::DProf::write"     /* the classic recorder's bracket */
#define DP_FMT_TRACE      "trace"
#define DP_FMT_PROGRAM    "(program)"

enum {
    DP_FMT_TRACE_VERSION = 1,
    DP_FMT_HZ_DEFAULT    = 100,         /* where a header has none */
    DP_FMT_HZ_RECORDED   = 10000000     /* what the recorder writes: 100 ns */
};

/* Times in the order of an `@` line's columns. */
enum dp_metric { DP_USER, DP_SYSTEM, DP_REAL, DP_METRICS };

/* What a hostile file may make a reader hold. */
#define DP_LIMIT_LINE      ((size_t)16 << 20)       /* bytes of a line */
#define DP_LIMIT_HEADER    ((size_t)1 << 20)        /* bytes of a header */
#define DP_LIMIT_VARS      1024                     /* names kept of a header */
#define DP_LIMIT_IDS       ((uint32_t)1 << 22)      /* ids of a file */
#define DP_LIMIT_NODES     ((uint32_t)1 << 23)      /* calling contexts of a profile */
#define DP_LIMIT_DEPTH     ((uint32_t)1 << 24)      /* frames on a stack */
#define DP_LIMIT_HZ        UINT64_C(1000000000000)
#define DP_LIMIT_INTERVAL  (UINT64_C(1) << 52)      /* ticks of one `@` line */
#define DP_LIMIT_TOTAL     (UINT64_C(1) << 62)      /* ticks of a profile */

#endif
