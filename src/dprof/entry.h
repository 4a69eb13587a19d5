/* What the tables of dprofreport and dprofdiff are made from: sort keys, filters, profiles. */
#ifndef DPROF_ENTRY_H
#define DPROF_ENTRY_H

#include "dprof/line_pair.h"
#include "dprof/pair.h"
#include "dprof/profile.h"

/* Sort keys: the word of -s; title, key and least width of the column. */
#define DP_KEY_LIST(X) \
    X(DP_K_SUB,     "sub",     "Symbol",        "symbol",  6) \
    X(DP_K_PACKAGE, "package", "Package",       "package", 7) \
    X(DP_K_SCRIPT,  "script",  "Script",        "script",  6) \
    X(DP_K_PID,     "pid",     "Pid",           "pid",     5) \
    X(DP_K_THREAD,  "thread",  "Thread",        "thread",  6) \
    X(DP_K_SRCLINE, "srcline", "Source:Line",   "srcline", 11) \
    X(DP_K_PHASE,   "phase",   "Phase",         "phase",   5) \
    X(DP_K_CALLER,  "caller",  "Caller",        "caller",  6) \
    X(DP_K_PARENT,  "parent",  "Parent symbol", "parent",  13)
DP_ENUM(dp_key, DP_KEY_LIST);

/* By sub; one more element is for the time outside of all subs. */
enum dp_filter {
    DP_F_SHOWN = 1,             /* passes the filters */
    DP_F_PARENT = 2,            /* matches --parent */
    DP_F_CUT = 4                /* --ignore-callees: its callees count as its own */
};

/* A profile with its filters; it has dp_prof_phases if the phase is needed. All is borrowed. */
struct dp_part {
    const struct dp_prof *prof;
    const unsigned char *flags;     /* NULL: all are shown */
    const char *script, *pid, *thread;  /* of its file; UTF-8 */
    size_t counter;                 /* if the metric is a counter: its number in this profile */
    const struct dp_pairs *pairs;   /* paired names, and the number of this profile among them;
                                     * NULL: label_flags */
    size_t pair;
    const struct dp_line_pairs *lines;  /* paired names of lines; NULL: as in files */
};

#define DP_REPORT_HOW_OPTIONS(X) \
    X(ENUM, metric, dp_metric) \
    X(LABELS, label_flags) \
    X(ENUMS, keys, dp_key) \
    X(SIZE, max_stack)          /* frames; deeper ones count for the last one. 0: no limit */ \
    /* percent of the shown entries: of their Self if no_children, else of all that passed through \
     * them */ \
    X(FLAG, relative) \
    X(FLAG, exclude_other)      /* only entries that match --parent */ \
    X(FLAG, by_self)            /* sort by Self, not Children */ \
    X(FLAG, no_children)        /* the same, and entries without Self are left out */
struct dp_report_how {
    DP_REPORT_HOW_OPTIONS(DP_MEMBER)
    uint64_t hz;                /* least ticks per second; 0: the finest of the sides' */
    int no_lines;               /* DP_K_SRCLINE is the line where a sub begins, even if lines have
                                 * costs */
};

#endif
