/* dprofreport's view: entries and their shares, call chains, callers and callees. */
#ifndef DPROF_REPORT_H
#define DPROF_REPORT_H

#include "dprof/entry.h"
#include "dprof/table.h"

/* The columns besides the sort keys: the word of -F, and another one for it; title, key and least
 * width of the column. */
#define DP_FIELD_LIST(X) \
    X(DP_FIELD_CHILDREN,       "overhead_children", "children", "Children", "children_pct", 8) \
    X(DP_FIELD_SELF,           "overhead",          "self",     "Self",     "self_pct",     8) \
    X(DP_FIELD_CALLS,          "calls",             "sample",   "Calls",    "calls",        10) \
    X(DP_FIELD_CHILDREN_VALUE, "period_children",   "", "Children total",   "children",     14) \
    X(DP_FIELD_SELF_VALUE,     "period",            "", "Self total",       "self",         12) \
    X(DP_FIELD_AVERAGE,        "avg",               "", "Avg/call",         "avg_per_call", 10) \
    X(DP_FIELD_MIN,            "min",               "", "Min real s",       "min_per_call", 10) \
    X(DP_FIELD_MAX,            "max",               "", "Max real s",       "max_per_call", 10) \
    X(DP_FIELD_SELF_TIME,      "self_time",         "", "Self time",        "self_time",    9) \
    X(DP_FIELD_CHILDREN_TIME,  "incl_time",         "", "Incl. time",       "incl_time",    10) \
    X(DP_FIELD_HOT_SHARE,      "hot_share",         "", "Of self",        "hot_pct",      8) \
    X(DP_FIELD_HOT,            "hot",               "", "Hottest line",   "hot",          12)
DP_ENUM(dp_field, DP_FIELD_LIST);

enum {
    DP_FIELD_KEY = dp_field_count,      /* plus k: the k-th of the report's sort keys */
    DP_REPORT_FIELDS = dp_field_count + dp_key_count
};

#define DP_CHAIN_LIST(X) \
    X(DP_CHAIN_NONE, "none") X(DP_CHAIN_GRAPH, "graph") X(DP_CHAIN_FRACTAL, "fractal") \
    X(DP_CHAIN_FLAT, "flat") X(DP_CHAIN_FOLDED, "folded")
DP_ENUM(dp_chain_type, DP_CHAIN_LIST);

#define DP_CHAIN_VALUE_LIST(X) \
    X(DP_CHAIN_PERCENT, "percent") X(DP_CHAIN_PERIOD, "period") X(DP_CHAIN_COUNT, "count")
DP_ENUM(dp_chain_value, DP_CHAIN_VALUE_LIST);

struct dp_report_name {
    const char *ptr;
    size_t len;
};

#define DP_REPORT_OPTIONS(X) \
    X(PART, over, dp_report_how) \
    X(NUMBERS, fields, DP_REPORT_FIELDS)    /* enum dp_field or DP_FIELD_KEY + k, in order */ \
    X(REAL, percent_limit)      /* entries with less, of Children or else of Self, are left \
                                 * out */ \
    X(SIZE, rows)               /* largest number; 0: all */ \
    X(FLAG, answer)             /* text: a line for the total, times with units, and after the \
                                 * rows what was left out */ \
    X(FLAG, histogram)          /* below each entry: numbers of calls by duration */ \
    X(FLAG, hierarchy)          /* keys below one another */ \
    /* call chains */ \
    X(ENUM, chain, dp_chain_type) \
    X(ENUM, chain_value, dp_chain_value) \
    X(FLAG, caller_order) \
    X(REAL, threshold) \
    X(SIZE, print_limit)        /* number of frames to print; 0: no limit */ \
    /* --callers and --callees in place of the table: the sub; NULL: neither */ \
    X(NAME, edges_of) \
    X(FLAG, callees) \
    /* the same by line: labels of subs, and for callees also FILE:LINE of lines; any of them may \
     * be missing */ \
    X(LIST, edges_of_lines, dp_report_name) \
    X(SIZE, width)              /* of the terminal that text is for; 0: as wide as it gets */ \
    DP_PRINT_OPTIONS(X)
/* With over.no_children, entries without a value of their own are left out. */
struct dp_report { DP_REPORT_OPTIONS(DP_MEMBER) };

/* Prints the report. Returns the number of rows, or a negative DP_E; DP_E_ARG if no sub has the
 * name edges_of. */
long dp_report_print(const struct dp_part *sides, size_t n, const struct dp_report *how,
                     const struct dp_host *host);

#endif
