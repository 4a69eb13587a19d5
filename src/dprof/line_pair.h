/* Lines of source in several profiles, and which of them are the same. */
#ifndef DPROF_LINE_PAIR_H
#define DPROF_LINE_PAIR_H

#include "dprof/list.h"

/* The text of a source as a side recorded it. The caller ensures that its size and CRC-32 are those
 * in the profile. All is borrowed. */
struct dp_source_text {
    size_t side;
    const char *file;           /* as in dp_line_row */
    size_t file_len;
    const char *ptr;            /* length in bytes */
    size_t len;
};

/* The fate of a line since the baseline. */
#define DP_FATE_LIST(X) \
    X(DP_FATE_UNKNOWN, "unknown")   /* the sources are unknown: lines are paired by their \
                                     * distances */ \
    X(DP_FATE_KEPT, "kept") \
    X(DP_FATE_MOVED, "moved")   /* past other lines */ \
    X(DP_FATE_INSERTED, "inserted") \
    X(DP_FATE_DELETED, "deleted")
DP_ENUM(dp_fate, DP_FATE_LIST);

/* Pairs the lines of two texts: to[j] is the number, from 1 up, of the line of a that the line j +
 * 1 of b is; 0: it was inserted. Lines are equal if they differ only in white space at their ends.
 * The caller frees *to with dp_line_texts_free; *n is the number of its elements: the lines of b.
 * Returns 0 or DP_E_NOMEM. */
int dp_line_texts(const char *a, size_t a_len, const char *b, size_t b_len, uint32_t **to,
                  size_t *n);
void dp_line_texts_free(uint32_t *to);

#endif
