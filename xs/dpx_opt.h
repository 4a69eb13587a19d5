/* The options of the recorder: one table (dpx_opt.c) serves the import list, the environment, the
 * help and the file's header. A new option needs a field here, a row in the table, and the code
 * that it is for. */
#ifndef DPX_OPT_H
#define DPX_OPT_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_err.h"
#include "dprof/lines.h"

enum { DPX_BUFFER = 1 << 14 };  /* marks in memory by default */

enum dpx_start { DPX_START_BEGIN, DPX_START_MAIN, DPX_START_MARK, DPX_START_NO };

struct dpx_options {
    uint64_t tree;          /* 0 trace, 1 tree */
    const char *out;        /* NULL: the default name */
    uint64_t ticks;         /* per second */
    uint64_t buffer;        /* marks */
    uint64_t limit;         /* bytes of a trace; 0: none */
    uint64_t contexts;      /* nodes of a tree */
    uint64_t callsites;     /* 0, 1 */
    uint64_t lines;         /* enum dp_lines_known */
    uint64_t sample;        /* samples a second; 0: calls are recorded */
    uint64_t source;        /* 0, 1: keep the text of sources, with lines */
    uint64_t ops;           /* 0, 1: count them, in a tree */
    uint64_t layout;        /* of dpx_layout */
    uint64_t fork, threads; /* 0 no, 1 yes */
    uint64_t start;         /* enum dpx_start */
    const char *only, *skip;    /* regexes; NULL: none */
    uint64_t builtins;      /* 0 no, 1 the slow ones */
    uint64_t compress;      /* 0 no, 1..9: zlib's level */
    uint64_t checkpoint;    /* seconds; 0: none */
    uint64_t slice;         /* seconds; 0: none */
    const char *spool;      /* a directory; NULL: no slices */
    uint64_t spool_limit;   /* bytes of what it holds; 0: none */
    const char *signal;     /* NULL: none */
    const char *toggle;     /* NULL: none */
    const char *events;     /* a list; NULL: none */
    const char *clock;      /* NULL: the best */
};

/* Sets the defaults. */
void dpx_options_init(struct dpx_options *opt);

/* Takes NAME=VALUE, or a bare word that says enough (tree, trace). The strings
 * are borrowed. Returns 0, or DP_E_ARG with a message that says what may have been meant. */
int dpx_options_take(struct dpx_options *opt, const char *item, struct dp_err *err);

/* Takes the options of the environment: PERL_DPROF_NAME for each option, and the classic names.
 * safe: takes only those that cannot make a privileged program write elsewhere. */
int dpx_options_environment(struct dpx_options *opt, bool safe, struct dp_err *err);

/* Writes the table as a help for people. */
void dpx_options_help(struct dp_buf *to);

/* Copies the texts, for the life of the process. Returns 0 or DP_E_NOMEM. */
int dpx_options_keep(struct dpx_options *opt);

/* Writes the options in force as assignments of a header line: $dprof_options, which has no texts,
 * and those texts that tell what was recorded. */
void dpx_options_header(const struct dpx_options *opt, struct dp_buf *to);

#endif
