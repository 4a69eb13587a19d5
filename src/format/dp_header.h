/* The header of a profile: `$name=value;` statements, parsed and never
 * evaluated. */
#ifndef DP_HEADER_H
#define DP_HEADER_H

#include "dp_base.h"
#include "dp_err.h"
#include "dp_fmt.h"
#include "dp_pool.h"

/* What a header tells beside the classic recorder's names: X(name, merge, kept), where $dprof_NAME
 * is the name. merge: what several files tell of it when they are merged. kept: the last enum
 * dp_write_kind (dprof/profile.h) of a merged file that has it. A merged file has them in this
 * order. */
#define DP_HEADER_NAMES(X) \
    /* flags: it is enough that one file has it */ \
    X(limit_reached, ANY, COUNTERS) X(runops_taken, ANY, COUNTERS) X(events_lost, ANY, COUNTERS) \
    X(counters_only, ANY, COUNTERS) \
    /* values, where all files have the same */ \
    X(clock, SAME, BASELINE) X(hash_seed, SAME, COUNTERS) X(line_hz, SAME, BASELINE) \
    X(only, SAME, COUNTERS) X(options, SAME, COUNTERS) X(perl, SAME, COUNTERS) \
    X(perturb_keys, SAME, COUNTERS) X(pid, SAME, ALL) X(ppid, SAME, ALL) X(run, SAME, ALL) \
    X(script, SAME, COUNTERS) X(skip, SAME, COUNTERS) X(start, SAME, ALL) X(tid, SAME, ALL) \
    /* ticks */ \
    X(before_cpu, SUM, BASELINE) X(dropped_cpu, SUM, BASELINE) X(own_cpu, SUM, BASELINE) \
    X(own_real, SUM, BASELINE) \
    /* of one file, or another line tells it */ \
    X(clock_line, OWN, ALL) X(clock_zero, OWN, ALL) X(complete, OWN, ALL) X(counters, OWN, ALL) \
    X(end, OWN, ALL) X(events_missing, OWN, ALL) X(folded, OWN, ALL) X(format, OWN, ALL) \
    X(inherited, OWN, ALL) X(lines, OWN, ALL) X(saved, OWN, ALL) X(shares, OWN, ALL) \
    X(slice, OWN, ALL) X(stopped, OWN, ALL) X(unit, OWN, ALL)

struct dp_var {
    const char *name;           /* without the `$`; NUL-terminated */
    const char *value;          /* unquoted, %XX decoded; NUL-terminated */
    size_t len;                 /* of value */
};

struct dp_header {
    struct dp_pool pool;        /* owns names and values */
    struct dp_var *vars;        /* in order of the file; a later one of the same name counts */
    size_t count, cap;
    uint64_t hz;                /* from here on set by dp_header_finish */
    unsigned version;           /* 0: of the classic recorder */
    bool tree;                  /* no trace */
    bool folded;                /* folded stacks: there was no header */
    const char *foreign;        /* another tool's file: its format; there was no header. NULL: it is
                                 * ours, or folded stacks */
    bool ordered;               /* .. whose contexts come in the order of time */
    bool no_calls;              /* it does not tell the number of calls */
    const char *unit;           /* the unit of times that came from other profilers: "s", "calls",
                                 * some other count, "" if it is unknown. NULL: there are none */
    const char *declared;       /* set by the caller before the reading: the unit of folded stacks.
                                 * Borrowed, or NULL */
    bool pairs;                 /* set by the caller: folded stacks may have two counts on each
                                 * line, of which the first is the counter DP_FMT_BEFORE */
    bool chart;                 /* set by the caller: what was seen before is no context of later
                                 * stacks, unless it goes on */
    bool may_be_empty;          /* set by the caller: a file without any line is folded stacks */
    uint64_t over[3], over_tests;
    uint64_t rrun[3];
    bool ended;                 /* the recording came to its end */
    uint64_t total_marks;
    bool has_marks;
    uint64_t inherited;
    struct dp_var counters[DP_FMT_COUNTERS];    /* a tree's: name with unit, in
                                                 * order; parts of one value */
    size_t n_counters;
};

void dp_header_init(struct dp_header *head);
void dp_header_release(struct dp_header *head);

/* Takes one line of the header, without its end. Returns 0, DP_E_NOMEM, or DP_E_SYNTAX: then what
 * stood before the fault is kept, and the rest is skipped. */
int dp_header_line(struct dp_header *head, const char *ptr, size_t len);

/* Adds a variable. Returns 0 or DP_E_NOMEM. */
int dp_header_add(struct dp_header *head, const char *name, const char *value);

/* Is it the name of a unit: s, ms, us, ns, or a word for what is counted? *hz: how many of the unit
 * make a second; 1 if it is no time. */
bool dp_header_unit(const char *name, uint64_t *hz, bool *time);

/* Reads the numbers off the variables. DP_E_VERSION for a newer format,
 * DP_E_SYNTAX for a clock that makes no sense; the message goes to err. */
int dp_header_finish(struct dp_header *head, struct dp_err *err);

/* A whole number; of a fraction, what stands before the point. Returns false if there is no
 * number. */
bool dp_header_number(const struct dp_header *head, const char *name, uint64_t *out);

/* When a process began, nanoseconds since 1970; 0: not known. */
uint64_t dp_header_start(const struct dp_header *head);

/* The value of a name, or NULL; borrowed. */
const char *dp_header_get(const struct dp_header *head, const char *name);

enum { DP_UNIT_MAX = 31 };      /* bytes of a unit's name */

#endif
