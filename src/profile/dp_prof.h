/* Builds a profile from events: subs and the calling context tree. Views derive everything else
 * (flat tables, edges, totals) from the tree. */
#ifndef DP_PROF_H
#define DP_PROF_H

#include "dp_base.h"
#include "dp_file.h"
#include "dp_fmt.h"
#include "dp_map.h"
#include "dp_origin.h"
#include "dp_requests.h"
#include "dp_subs.h"
#include "dp_window.h"
#include "dprof/profile.h"

/* A calling context: a sub, called in the context `parent`. A parent's number is less than its
 * kids' numbers, and nodes are numbered in the order of their first entry. 0 is the root,
 * `(program)`, which has no sub. 0 also means "none" in kid and sibling. */
struct dp_node {
    uint32_t callee;            /* distinguishes kids: the sub, or a sub and a place */
    uint32_t hint;              /* the kid that was entered last */
    uint32_t succ;              /* the sibling that was entered next after this node the last
                                 * time */
    uint32_t parent;
    uint64_t calls;
    uint64_t self[DP_METRICS];  /* ticks; an event touches the node up to here, on one cache line */
    uint32_t kid;               /* first kid created; its siblings follow, in no order */
    uint32_t sibling;
    uint32_t sub;
    uint32_t site;              /* place of the call: number in sites, from 1 up; 0: unknown */
                                /* 64 bytes: nodes do not straddle lines */
};

/* Further values of a node from a tree, or from a trace whose reader asks for detail. */
struct dp_extra {
    uint64_t longest;           /* inclusive real ticks of one call */
    uint64_t shortest;          /* plus 1; 0: no call ended */
    uint64_t folded;            /* number of further calls that this node stands for */
};

/* The source of a file when it was recorded. */
struct dp_prof_source {
    uint64_t size;
    uint32_t crc;
    bool differs;               /* files of the profile had different ones */
    char *packed;               /* text as in the file (dp_base64.h); NULL: not kept */
    size_t packed_len;
};

/* The cost of a statement. The calls from it have contexts with its place. */
struct dp_prof_line {
    uint32_t site;              /* FILE:LINE: number in sites, from 1 up; 0: unknown */
    uint32_t sub;               /* sub that contains it; DP_PROF_NO_SUB: none */
    uint32_t later;             /* number of the sub's statements that follow it on the same line */
    uint32_t next;              /* next statement of this place and sub; DP_MAP_NONE: none */
    uint64_t count;             /* how often it ran */
    uint64_t self[DP_METRICS];  /* ticks, including XS subs, builtins and spans */
};

/* The beginning of a stretch of time, and the caller's own time at that moment. */
struct dp_span {
    uint64_t start, caller;
};

struct dp_counter {
    const char *name;           /* name and unit, as in the header */
    size_t len;
    bool lacking;               /* a file lacked it */
    unsigned share;             /* share of the time during which it was counted, in tenths of a
                                 * percent; the least of all files */
};

/* The state of the file that is being read. Its events are added to the profile. */
struct dp_intake {
    struct dp_file *file;
    const struct dp_host *host;
    struct dp_frame *stack;     /* stack[0] is the root and never ends */
    size_t depth, stack_cap;    /* depth: frames above the root */
    uint64_t scale;             /* factor from the file's ticks to the profile's */
    bool has_head;
    bool has_cost;
    bool starting;              /* the start-up of a trace is running, and is left out */
    uint64_t *starts;           /* for detail, by depth: `now` when the call began;
                                 * DP_PROF_NO_CALL */
    size_t starts_cap;
    uint64_t now;               /* real ticks since the beginning of the file */
    uint64_t suspended;         /* number of exits to come for calls that have not ended */
    uint64_t root_calls;        /* calls of the root according to the file's tree */
    uint32_t column[DP_FMT_COUNTERS];   /* by counter of the file: the counter here; UINT32_MAX: not
                                         * kept */
    bool alone;                 /* the profile was empty when this file began */
};

struct dp_packed;

struct dp_prof {
    struct dp_subs subs;
    struct dp_node *nodes;
    size_t count, cap;
    struct dp_map kids;         /* parent << 32 | callee -> node, for all but first kids */
    size_t mapped;              /* first node that is not in the map; many files are read without a
                                 * single lookup */
    bool detail;                /* traces have extras, too */
    bool by_phase;              /* phases are kids of the root, and contexts below them */
    bool only_main;             /* the phase BEGIN is left out */
    struct dp_pool sites;       /* FILE:LINE as in files */
    struct dp_map sited;        /* site << 32 | sub -> callee */
    struct dp_extra *extra;     /* by node; nodes beyond its end have none */
    size_t extra_cap;
    uint64_t *counts;           /* n_counters by node; nodes beyond its end have none */
    size_t counts_cap;
    struct dp_counter counters[DP_FMT_COUNTERS];    /* of the first file */
    size_t n_counters;
    bool has_counters;          /* the first file has been read */
    bool counters_differ;
    struct dp_pool texts;       /* names of counters */
    uint32_t *histogram_of;     /* by sub: number from 1 up; 0: none */
    size_t histogram_of_cap;
    uint64_t (*histograms)[DP_FMT_BUCKETS];
    size_t histograms_count, histograms_cap;
    uint64_t *rows;             /* by sub: rows that the statement of a span has given, plus 1; 0:
                                 * unknown. Subs beyond its end have none */
    size_t rows_cap;
    struct dp_pool server;      /* names of subs above the application */
    struct dp_pool held;        /* lines #h without their mark: who holds values */
    struct dp_pool request_names;
    struct dp_requests *requests;       /* by name */
    size_t requests_cap;
    struct dp_origin origin;
    struct dp_prof_line *lines; /* costs of statements */
    size_t n_lines, lines_cap;
    bool line_times;            /* lines have times, and not only counts */
    uint64_t *line_counts;      /* n_counters by line; lines beyond its end have none */
    size_t line_counts_cap;
    struct dp_pool sources;     /* files with known sources, with the names that places have */
    struct dp_prof_source *source;      /* by source */
    size_t source_cap;
    struct dp_map lined;        /* site << 32 | sub -> the last line of these */
    uint64_t hz;                /* 0 before the first file */
    char unit[DP_UNIT_MAX + 1]; /* of all times; "s" if they are times */
    bool no_calls;              /* a part of the profile comes from other tools, and has no calls */
    bool chart;                 /* contexts are stretches of time; hint is the last kid */
    enum dp_metric chart_time;
    uint64_t chart_now;         /* ticks of the chart since its beginning */
    struct dp_span *spans;      /* by node, without the root */
    size_t spans_cap;
    bool pairs;                 /* folded stacks may have two counts on each line */
    bool may_be_empty;          /* folded stacks may have no line at all */
    bool paired;                /* folded stacks have two counts on each line; the second one is a
                                 * counter, in ticks */
    bool is_declared;           /* the unit of folded stacks is declared */
    char declared[DP_UNIT_MAX + 1];
    uint64_t total[DP_METRICS];
    struct dp_file *files;
    size_t n_files, files_cap;
    struct dp_window *window;   /* or NULL */
    bool waits;                 /* contexts are packed after its files have been read in parallel */
    struct dp_packed *packed;   /* packed contexts (dp_prof_pack.h), which replace nodes; else
                                 * NULL */
    struct dp_intake in;
};

#define DP_PROF_NO_CALL UINT64_MAX  /* a frame of the parent process */
#define DP_PROF_NO_SUB UINT32_MAX   /* the root's sub */

/* The ticks of one kind of time, from user, system and real ticks; 0 if the metric is not a
 * time. */
static inline uint64_t dp_prof_ticks(const uint64_t t[DP_METRICS], enum dp_metric time)
{
    switch (time) {
#define DP_PROF_TICKS(id, word, text, title, user, system, real) \
    case id: return user * t[DP_USER] + system * t[DP_SYSTEM] + real * t[DP_REAL];
    DP_METRIC_LIST(DP_PROF_TICKS)
#undef DP_PROF_TICKS
    }
    return 0;
}

/* Walks in preorder without a stack. Returns the node after `at` in the subtree of top, or 0 at the
 * end. *up is the number of levels that it went up before it went down or sideways. */
uint32_t dp_prof_next(const struct dp_prof *prof, uint32_t top, uint32_t at, uint32_t *up);

/* The histogram of a sub: DP_FMT_BUCKETS counts, or NULL. */
const uint64_t *dp_prof_histogram(const struct dp_prof *prof, uint32_t sub);
/* The rows that the statement of a span has given, plus 1; 0: unknown. */
static inline uint64_t dp_prof_rows(const struct dp_prof *prof, uint32_t sub)
{
    return sub < prof->rows_cap ? prof->rows[sub] : 0;
}
/* A node's values beyond calls and times; all 0 if unknown. */
struct dp_extra dp_prof_extra(const struct dp_prof *prof, uint32_t node);
/* A node's own value of a counter. */
static inline uint64_t dp_prof_count(const struct dp_prof *prof, uint32_t node, size_t counter)
{
    size_t at = (size_t)node * prof->n_counters + counter;
    return at < prof->counts_cap ? prof->counts[at] : 0;
}

/* The number of a place, FILE:LINE as in files; 0 for an empty one; or a negative DP_E. */
int64_t dp_prof_site(struct dp_prof *prof, const char *ptr, size_t len);

/* Adds a profile's totals to sum, in ticks of hz. Returns false if the sum exceeds the limit of a
 * profile: values computed from these times would be wrong. */
bool dp_prof_fits(const struct dp_prof *prof, uint64_t hz, uint64_t sum[DP_METRICS]);

/* Is the sub the phase that ends where the main program begins? */
bool dp_prof_is_startup(const struct dp_prof *prof, uint32_t sub);

/* Adds a profile like dp_prof_add_mem, with the .live that the process left. */
int dp_prof_add_left(struct dp_prof *prof, const char *path, const struct dp_file_mem *mem,
                     unsigned flags);

#endif
