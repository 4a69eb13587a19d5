/* The header of a profile: `$name=value;` statements, parsed and never evaluated. */
#ifndef DP_HEADER_H
#define DP_HEADER_H

#include "dp_base.h"
#include "dp_err.h"
#include "dp_fmt.h"
#include "dp_pool.h"

/* The values of a header besides the classic recorder's: X(name, merge, kept), where $dprof_NAME is
 * the name in the file. merge: how the values of several files are merged. kept: the last enum
 * dp_write_kind (dprof/profile.h) with which a merged file has the value. A merged file has them in
 * this order. */
#define DP_HEADER_NAMES(X) \
    /* flags, which are set if one file has them */ \
    X(attached, ANY, COUNTERS) X(limit_reached, ANY, COUNTERS) X(runops_taken, ANY, COUNTERS) \
    X(events_lost, ANY, COUNTERS) \
    X(counters_only, ANY, COUNTERS) \
    /* values that all files must share */ \
    X(clock, SAME, BASELINE) X(detail, SAME, COUNTERS) X(hash_seed, SAME, COUNTERS) \
    X(line_hz, SAME, BASELINE) \
    X(only, SAME, COUNTERS) X(options, SAME, COUNTERS) X(perl, SAME, COUNTERS) \
    X(of_run, SAME, ALL) X(outside, SAME, ALL) X(perturb_keys, SAME, COUNTERS) X(pid, SAME, ALL) \
    X(ppid, SAME, ALL) \
    X(run, SAME, ALL) X(script, SAME, COUNTERS) X(skip, SAME, COUNTERS) X(start, SAME, ALL) \
    X(tid, SAME, ALL) X(time, SAME, COUNTERS) \
    /* counts, and then ticks, which are added */ \
    X(behind, COUNT, BASELINE) X(given_up, COUNT, BASELINE) X(mended, COUNT, BASELINE) \
    X(spans_cut, COUNT, COUNTERS) X(spans_other, COUNT, COUNTERS) \
    X(before_cpu, SUM, BASELINE) X(dropped_cpu, SUM, BASELINE) X(own_cpu, SUM, BASELINE) \
    X(own_real, SUM, BASELINE) \
    /* values of one file alone, or values that another line has */ \
    X(clock_line, OWN, ALL) X(clock_zero, OWN, ALL) X(complete, OWN, ALL) X(counters, OWN, ALL) \
    X(end, OWN, ALL) X(events_missing, OWN, ALL) X(folded, OWN, ALL) X(format, OWN, ALL) \
    X(inherited, OWN, ALL) X(lines, OWN, ALL) X(saved, OWN, ALL) X(shares, OWN, ALL) \
    X(slice, OWN, ALL) X(stopped, OWN, ALL) X(unit, OWN, ALL) X(unwritten, OWN, ALL) \
    X(when, OWN, ALL)

struct dp_var {
    const char *name;           /* without the `$`; NUL-terminated */
    const char *value;          /* unquoted, %XX decoded; NUL-terminated */
    size_t len;                 /* length of value */
};

struct dp_header {
    struct dp_pool pool;        /* owns names and values */
    struct dp_var *vars;        /* in order of the file; the last one of a name counts */
    size_t count, cap;
    uint64_t hz;                /* dp_header_finish sets this and the following fields */
    unsigned version;           /* 0: the classic recorder's format */
    bool tree;                  /* the file is not a trace */
    bool folded;                /* folded stacks, which have no header */
    const char *foreign;        /* format of another tool's file, which has no header of ours; NULL:
                                 * our format, or folded stacks */
    bool ordered;               /* contexts of another tool's file come in order of time */
    bool no_calls;              /* the file lacks the numbers of calls */
    const char *unit;           /* unit of times from other profilers: "s", "calls", some other
                                 * count, "" if unknown. NULL: no such times */
    const char *declared;       /* set by the caller before reading: the unit of folded stacks.
                                 * Borrowed, or NULL */
    bool pairs;                 /* set by the caller: folded stacks may have two counts on each
                                 * line; the first is the counter DP_FMT_BEFORE */
    bool chart;                 /* set by the caller: an earlier context is reused for later stacks
                                 * only if it continues */
    bool may_be_empty;          /* set by the caller: a file without any line counts as folded
                                 * stacks */
    uint64_t over[3], over_tests;
    uint64_t rrun[3];
    bool ended;                 /* the recording is complete */
    uint64_t total_marks;
    bool has_marks;
    uint64_t inherited;
    struct dp_var counters[DP_FMT_COUNTERS];    /* of a tree: name with unit, in order; parts of one
                                                 * value */
    size_t n_counters;
};

/* Make an empty header, and free what a header holds. */
void dp_header_init(struct dp_header *head);
void dp_header_release(struct dp_header *head);

/* Parses one line of the header, without its end. Returns 0, DP_E_NOMEM, or DP_E_SYNTAX: then the
 * part before the fault is kept, and the rest is skipped. */
int dp_header_line(struct dp_header *head, const char *ptr, size_t len);

/* Adds a variable. Returns 0 or DP_E_NOMEM. */
int dp_header_add(struct dp_header *head, const char *name, const char *value);

/* Is this the name of a unit: s, ms, us, ns, or a word for a count? *hz: number of units in a
 * second; 1 if the unit is not a time. */
bool dp_header_unit(const char *name, uint64_t *hz, bool *time);

/* Sets the numbers from the variables. Returns 0, DP_E_VERSION for a newer format, or DP_E_SYNTAX
 * for an impossible clock; the message goes to err. */
int dp_header_finish(struct dp_header *head, struct dp_err *err);

/* Reads a whole number; a fraction is cut. Returns false if there is no number. */
bool dp_header_number(const struct dp_header *head, const char *name, uint64_t *out);

/* The start of a process, nanoseconds since 1970; 0: unknown. */
uint64_t dp_header_start(const struct dp_header *head);

/* The value of a name, or NULL; borrowed. */
const char *dp_header_get(const struct dp_header *head, const char *name);

enum { DP_UNIT_MAX = 31 };      /* bytes of a unit's name */

#endif
