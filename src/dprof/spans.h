/* Spans as rows: what the time was spent on, by text, and what was executed again and again. */
#ifndef DPROF_SPANS_H
#define DPROF_SPANS_H

#include "dprof/entry.h"

#define DP_SPANS_OPTIONS(X) \
    X(ENUM, metric, dp_metric) \
    X(LABELS, label_flags) \
    X(TEXT, kind)               /* only this kind of span; NULL: all */ \
    X(SIZE, repeated)           /* a path that executes a text more often is handed over */
struct dp_spans_how { DP_SPANS_OPTIONS(DP_MEMBER) };

/* Texts are borrowed until the function returns. Values are ticks of dp_prof_hz, or counts. */
struct dp_span_text {
    const char *ptr;
    size_t len;
};

/* A kind of spans. */
struct dp_span_kind {
    struct dp_span_text kind;
    uint64_t texts, calls;
    uint64_t incl;              /* with callees; a span in a span of its kind counts once */
};

/* The calls of a kind of spans in one phase. */
struct dp_span_phase {
    struct dp_span_text kind, phase;    /* phase: empty if the profile has none */
    uint64_t calls;
};

/* All calls of the spans with one kind, text and place. */
struct dp_span_row {
    struct dp_span_text kind, text, file;
    uint64_t line;
    uint64_t calls, self, incl; /* incl: with callees; recursion counts once */
    uint64_t longest;           /* real ticks of one call; 0: unknown */
    uint64_t rows;              /* rows that the statement has given, plus 1; 0: unknown */
    struct dp_span_text caller; /* nearest one outside of libraries, with the most time */
    uint64_t callers;           /* number of different ones */
};

/* A text that one path executes again and again in one phase. */
struct dp_span_repeat {
    struct dp_span_text kind, text, phase;      /* phase: empty if the profile has none */
    uint64_t calls;
    uint64_t begun;             /* of a phase that the program marks: number of requests, or how
                                 * often the phase began; else 1 */
    const struct dp_span_text *path;            /* callers, from the outermost to the nearest */
    size_t n_path;
    const struct dp_span_text *own;             /* those of them outside of libraries */
    size_t n_own;
};

struct dp_spans_to {
    int (*kind)(void *ctx, const struct dp_span_kind *kind);
    int (*phase)(void *ctx, const struct dp_span_phase *phase);
    int (*row)(void *ctx, const struct dp_span_row *row);
    int (*repeat)(void *ctx, const struct dp_span_repeat *repeat);
    void *ctx;
};

/* Hands over the kinds, those with the greatest inclusive value first, their calls by phase, in the
 * order of the profile, the rows, ordered like the kinds, and then what repeats, the most calls
 * first. The profile's filters decide which spans are handed over. Returns
 * 0, a negative DP_E, or the result of a function if that is not 0. */
int dp_spans_each(const struct dp_part *part, const struct dp_spans_how *how,
                  const struct dp_spans_to *to);

#endif
