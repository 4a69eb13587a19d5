/* The costs of lines of source: the statements on them (dp_prof.h), and the calls from them, which
 * contexts show by their places. Without statements, lines have only their calls. */
#ifndef DP_SRCLINES_H
#define DP_SRCLINES_H

#include "dp_base.h"
#include "dp_prof.h"

struct dp_srcline {
    uint32_t site;              /* FILE:LINE: number in prof->sites, from 1 up; 0: unknown */
    uint32_t sub;               /* if lines are separated by sub; DP_PROF_NO_SUB: none */
    uint64_t count;             /* how often its statements ran */
    uint32_t statements;        /* number of known statements */
    uint64_t self[DP_METRICS];
    uint64_t incl[DP_METRICS];  /* including the subs that it calls; recursion counts once */
    uint64_t calls;             /* number of calls from the line */
    uint32_t first_call;        /* its calls: calls[first_call] and the n_calls - 1 after it */
    uint32_t n_calls;
};

/* The calls of one sub from a line. */
struct dp_srccall {
    uint32_t line;              /* index of the line */
    uint32_t sub;
    uint64_t calls;
    uint64_t incl[DP_METRICS];
};

struct dp_srclines {
    struct dp_srcline *lines;   /* by file, line, then subs in the order of the profile */
    size_t count;
    struct dp_srccall *calls;   /* by line, the longest first */
    size_t n_calls;
    uint64_t *counts;           /* n_counters by line: self */
    uint64_t *incl_counts;      /* n_counters by line: inclusive */
    uint64_t *call_counts;      /* n_counters by call: including the sub's callees */
};

/* Splits a place into FILE and LINE, as in the file of the profile. */
void dp_srclines_place(const struct dp_prof *prof, uint32_t site, const char **file, size_t *len,
                       uint64_t *line);

/* The sub whose code made a call: the nearest caller that is a Perl sub; DP_PROF_NO_SUB: none. */
uint32_t dp_srclines_caller(const struct dp_prof *prof, uint32_t node);

/* Makes the lines. by_sub: keeps the values of several subs on a line separate. Returns 0 or
 * DP_E_NOMEM; the caller releases *s. */
int dp_srclines_make(struct dp_srclines *s, const struct dp_prof *prof, bool by_sub);
void dp_srclines_release(struct dp_srclines *s);

#endif
