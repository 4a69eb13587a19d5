/* What a table is printed as, and what stands above it. */
#ifndef DPROF_TABLE_H
#define DPROF_TABLE_H

#include "dprof/list.h"

#define DP_FORMAT_LIST(X) \
    X(DP_TEXT, "text") X(DP_CSV, "csv") X(DP_JSON, "json") X(DP_MARKDOWN, "markdown") \
    X(DP_HTML, "html") \
    /* these are no tables: they tell of a gate */ \
    X(DP_TAP, "tap") X(DP_JUNIT, "junit") X(DP_GITHUB, "github")
DP_ENUM(dp_format, DP_FORMAT_LIST);

/* A fact of the whole: label for people, key for machines. */
struct dp_report_fact {
    const char *label, *key, *text;
    size_t len;
};

/* How it is printed; DP_PRINT_OPTIONS are part of the options of a report and of a comparison. */
#define DP_PRINT_OPTIONS(X) \
    X(ENUM, format, dp_format) \
    X(TEXT, separator)          /* text with this between the fields */ \
    X(TEXT, title) \
    X(FLAG, quiet) \
    X(FLAG, colour) \
    X(LIST, facts, dp_report_fact)

#endif
