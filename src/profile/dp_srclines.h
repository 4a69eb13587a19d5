/* What lines of source cost: the statements on them (dp_prof.h), and the calls made from them,
 * which contexts tell by their places. Where there are no statements, lines have their calls
 * alone. */
#ifndef DP_SRCLINES_H
#define DP_SRCLINES_H

#include "dp_base.h"
#include "dp_prof.h"

struct dp_srcline {
    uint32_t site;              /* FILE:LINE: number in prof->sites, from 1 up; 0: not known */
    uint32_t sub;               /* where lines are told apart by sub; DP_PROF_NO_SUB: none */
    uint64_t count;             /* how often its statements ran */
    uint32_t statements;        /* so many are known */
    uint64_t self[DP_METRICS];
    uint64_t incl[DP_METRICS];  /* with the subs that it calls; recursion counts once */
    uint64_t calls;             /* made from it */
    uint32_t first_call;        /* its calls: calls[first_call] and the n_calls - 1 behind it */
    uint32_t n_calls;
};

/* Calls of one sub from a line. */
struct dp_srccall {
    uint32_t line;              /* index of it */
    uint32_t sub;
    uint64_t calls;
    uint64_t incl[DP_METRICS];
};

struct dp_srclines {
    struct dp_srcline *lines;   /* by file, line, then the subs in the order of the profile */
    size_t count;
    struct dp_srccall *calls;   /* by line, the longest first */
    size_t n_calls;
    uint64_t *counts;           /* n_counters by line: self */
    uint64_t *incl_counts;      /* the same: inclusive */
    uint64_t *call_counts;      /* n_counters by call: with what the sub calls */
};

/* FILE and LINE of a place, as the file of the profile has them. */
void dp_srclines_place(const struct dp_prof *prof, uint32_t site, const char **file, size_t *len,
                       uint64_t *line);

/* The sub whose code made a call: the nearest caller that is Perl's; DP_PROF_NO_SUB: none. */
uint32_t dp_srclines_caller(const struct dp_prof *prof, uint32_t node);

/* by_sub: what several subs have on a line stays apart. Returns 0 or DP_E_NOMEM; the caller
 * releases it. */
int dp_srclines_make(struct dp_srclines *s, const struct dp_prof *prof, bool by_sub);
void dp_srclines_release(struct dp_srclines *s);

#endif
