/* The costs of each statement: how often it ran, and the time and events that passed meanwhile. The
 * host gives each statement a number, the same in all interpreters of the process. The costs stand
 * in live pieces of the profile's file (dp_live.h), so they survive the process.
 *
 * Each gap that a context is charged with (dp_rec.h) is charged to the running statement, too. So
 * the sums of both are equal. */
#ifndef DP_LINES_H
#define DP_LINES_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_fmt.h"
#include "dp_live.h"
#include "dp_pool.h"

/* The fields that change each time a statement runs are in its first 32 bytes, in one cache
 * line. */
struct dp_stmt {
    uint32_t number;            /* the host's number, from 1 up; 0: free */
    uint32_t site;              /* FILE:LINE, from 1 up; 0: unknown */
    uint64_t count;
    uint64_t real;              /* stamps that passed */
    uint64_t ops;
    uint64_t wait, sys;         /* stamps of `real` that were waited, were in the kernel */
    uint32_t sub;               /* id of its sub; 0: it is in none */
    uint32_t later;             /* number of statements behind it on the same line */
    uint64_t counts[];          /* one for each counter */
};

/* The place of a statement, which outlives the pieces. */
struct dp_line_place {
    uint32_t site, sub, later;          /* as above; site 0: the place is unknown */
};

/* The state of a source file when its first statement ran. */
struct dp_line_source {
    uint64_t size;
    uint32_t crc;               /* as gzip has it */
    bool known;
    char *packed;               /* its packed text (dp_base64.h); NULL: not kept */
    size_t packed_len;
};

struct dp_lines {
    struct dp_stmt **at;        /* by number; NULL: not yet charged with anything */
    size_t open;                /* dp_lines_look finds numbers below this; 0: it finds none */
    size_t n, at_cap;
    struct dp_line_place *places;       /* by number */
    size_t places_cap;
    struct dp_pool files;       /* names of source files, as sites have them */
    struct dp_line_source *sources;     /* by file */
    size_t sources_cap;
    uint32_t seen;              /* number of the file seen last */
    struct dp_stmt *rest;       /* the statement for costs of no known one */
    struct dp_live *live;
    struct dp_stmt *free;       /* unused rest of the newest piece */
    size_t free_count, count;
    size_t n_counts, size;      /* counters in a statement; bytes of a statement */
    bool is_part;               /* a part, which can be cleared: `made` is kept */
    struct dp_stmt **made;      /* statements in the order of their first charge; those from `count`
                                 * on are free to use again */
    size_t made_count, made_cap;
    bool texts;                 /* texts of sources are kept; the host sets this before the first
                                 * statement */
};

enum { DP_LINE_REST = 1 };      /* the number of `rest`; the host's numbers are greater */

/* Begins with no costs; the places stay. The struct is all 0 before the first call, but for
 * `texts`. live is borrowed; n_counts: counters beside the ops. Returns 0 or DP_E_NOMEM. */
int dp_lines_open(struct dp_lines *lines, struct dp_live *live, size_t n_counts);
void dp_lines_release(struct dp_lines *lines);

/* Begins with no costs, in new pieces of live; the old pieces may be gone already. The statements
 * that had costs exist again, without costs. Returns 0 or DP_E_NOMEM. */
int dp_lines_renew(struct dp_lines *lines);

/* A part: the costs of the same statements in a stretch that is recorded apart. The whole keeps
 * places and sources. dp_lines_open_part also empties a part, whose memory it uses again, and
 * returns 0 or DP_E_NOMEM. */
int dp_lines_open_part(struct dp_lines *part, struct dp_live *live, size_t n_counts);
void dp_lines_release_part(struct dp_lines *part);

/* Exchanges the costs of whole and part, so that the part is charged from now on. A second call
 * undoes that. */
void dp_lines_swap(struct dp_lines *lines, struct dp_lines *part);

/* Adds the costs of a part to the whole. */
void dp_lines_add(struct dp_lines *lines, const struct dp_lines *part);

/* The statement of this number; NULL if it has no costs yet, or if nothing is recorded now. */
DP_INLINE struct dp_stmt *dp_lines_look(const struct dp_lines *lines, uint32_t number)
{
    return number < lines->open ? lines->at[number] : NULL;
}

/* Is the place of this number known? */
bool dp_lines_is_known(const struct dp_lines *lines, uint32_t number);

/* Sets the place of a statement; its site is not 0. Returns 0 or DP_E_NOMEM. */
int dp_lines_know(struct dp_lines *lines, uint32_t number, const struct dp_line_place *place);

/* Notes that a statement of a file was seen. field: the file's name as profiles have it; path: its
 * name as the program has it. The first time, the file is read, so that readers of the profile
 * notice if the source changes later. Only regular files are read; a file that cannot be read stays
 * unknown. */
void dp_lines_see(struct dp_lines *lines, const char *field, size_t len, const char *path);

/* The statement of a number; `rest` if its place is unknown or memory is short. */
struct dp_stmt *dp_lines_get(struct dp_lines *lines, uint32_t number);

/* Appends #f lines (Format.pod) for the files that were seen, in the order of their names. The
 * first `first` files get one only if an & line of the tree names them and no #f line does; the
 * tree begins at byte `tree` of out. Returns 0 or DP_E_NOMEM. */
int dp_lines_write_sources(const struct dp_lines *lines, size_t first, size_t tree,
                           struct dp_buf *out);

/* How statements are written. */
struct dp_lines_text {
    const uint32_t *rank;       /* by id of a sub: its number in the file */
    const struct dp_pool *sites;
    double ticks_per_stamp;
    bool ops, no_times, counts_only;    /* counts_only: neither times nor events */
    /* The sums of the contexts, in ticks: the lines add up to the same. */
    uint64_t real, cpu, sys;
};

/* Appends the statements (Format.pod, "#f" and "#l"), in the order of files, lines and subs.
 * Returns 0 or DP_E_NOMEM. */
int dp_lines_write(const struct dp_lines *lines, const struct dp_lines_text *how,
                   struct dp_buf *out);

#endif
