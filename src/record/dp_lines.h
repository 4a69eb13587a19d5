/* What each statement costs: how often it ran, and the time and events that passed while it did.
 * A statement is known by a number that the host gives it, one for all interpreters of the
 * process. What was counted stands in live pieces of the profile's file (dp_live.h), so that it
 * survives the process.
 *
 * Each gap that a context is charged with (dp_rec.h) is charged to the statement that runs, too.
 * So the sums of both are equal. */
#ifndef DP_LINES_H
#define DP_LINES_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_fmt.h"
#include "dp_live.h"
#include "dp_pool.h"

/* What a statement touches each time it runs is in its first 32 bytes, which are in one cache
 * line. */
struct dp_stmt {
    uint32_t number;            /* the host's, from 1 up; 0: free */
    uint32_t site;              /* FILE:LINE, from 1 up; 0: unknown */
    uint64_t count;
    uint64_t real;              /* stamps that passed */
    uint64_t ops;
    uint64_t wait, sys;         /* stamps of `real` that were waited, were spent in the kernel */
    uint32_t sub;               /* id of the sub that it stands in; 0: in none */
    uint32_t later;             /* so many statements follow it on the same line */
    uint64_t counts[];          /* of each counter */
};

/* What is known of a statement; it outlives the pieces. */
struct dp_line_place {
    uint32_t site, sub, later;          /* as above; site 0: nothing is known of it */
};

/* What a source was when its first statement ran. */
struct dp_line_source {
    uint64_t size;
    uint32_t crc;               /* that of gzip */
    bool known;
    char *packed;               /* its text (dp_base64.h); NULL: it is not kept */
    size_t packed_len;
};

struct dp_lines {
    struct dp_stmt **at;        /* by number; NULL: not yet charged with anything */
    size_t open;                /* dp_lines_look finds numbers below this; 0: it finds none */
    size_t n, at_cap;
    struct dp_line_place *places;       /* by number */
    size_t places_cap;
    struct dp_pool files;       /* as sites have them */
    struct dp_line_source *sources;     /* by file */
    size_t sources_cap;
    uint32_t seen;              /* the file that was seen last */
    struct dp_stmt *rest;       /* takes what no statement is known for */
    struct dp_live *live;
    struct dp_stmt *free;       /* unused rest of the newest piece */
    size_t free_count, count;
    size_t n_counts, size;      /* counters of a statement; its bytes */
    bool is_part;               /* can be cleared: `made` is kept */
    struct dp_stmt **made;      /* in the order in which they were charged first; those from `count`
                                 * up are to be used again */
    size_t made_count, made_cap;
    bool texts;                 /* sources are kept; the host sets it before the first statement */
};

enum { DP_LINE_REST = 1 };      /* the number of `rest`; the host's begin above */

/* The struct is all 0 before the first call, but for `texts`. live is borrowed; n_counts: counters
 * beside the ops. What was charged before is forgotten; the places stay. Returns 0, or
 * DP_E_NOMEM. */
int dp_lines_open(struct dp_lines *lines, struct dp_live *live, size_t n_counts);
void dp_lines_release(struct dp_lines *lines);

/* Begins anew, in new pieces of live; the old ones may be gone by then. The statements that were
 * charged with something stay known. Returns 0 or DP_E_NOMEM. */
int dp_lines_renew(struct dp_lines *lines);

/* A part: what the same statements cost in a stretch that is recorded apart. The places and sources
 * stay with the whole. dp_lines_open_part also begins a part anew, in the memory that there is. */
int dp_lines_open_part(struct dp_lines *part, struct dp_live *live, size_t n_counts);
void dp_lines_release_part(struct dp_lines *part);

/* What is charged goes to the part from now on, which is where the whole was; a second call takes
 * that back. */
void dp_lines_swap(struct dp_lines *lines, struct dp_lines *part);

/* Adds what a part has to the whole. */
void dp_lines_add(struct dp_lines *lines, const struct dp_lines *part);

/* The statement of this number, or NULL: the host has to tell its place first. */
DP_INLINE struct dp_stmt *dp_lines_look(const struct dp_lines *lines, uint32_t number)
{
    return number < lines->open ? lines->at[number] : NULL;
}

/* Has the host told the place of this number? */
bool dp_lines_is_known(const struct dp_lines *lines, uint32_t number);

/* Tells the place of a statement; its site is not 0. Returns 0 or DP_E_NOMEM. */
int dp_lines_know(struct dp_lines *lines, uint32_t number, const struct dp_line_place *place);

/* A statement of a file, whose name is this field of a line, has been seen; path: its name as the
 * program has it. The first time, the file is looked at, so that a reader can tell whether the
 * source has changed since. Only regular files are read; what cannot be read stays unknown. */
void dp_lines_see(struct dp_lines *lines, const char *field, size_t len, const char *path);

/* The statement of a number whose place is known; `rest` where it is not, or memory is short. */
struct dp_stmt *dp_lines_get(struct dp_lines *lines, uint32_t number);

/* Appends what is known of the files that were seen (Format.pod, "#f"), in the order of their
 * names. first: so many files need no line of their own, but where the & lines of the tree name
 * them and no #f line does; the tree begins at that byte of out. Returns 0 or DP_E_NOMEM. */
int dp_lines_write_sources(const struct dp_lines *lines, size_t first, size_t tree,
                           struct dp_buf *out);

/* How statements are written. */
struct dp_lines_text {
    const uint32_t *rank;       /* of ids of subs: their numbers in the file */
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
