/* Lines of source in several profiles: which are the same. */
#ifndef DPROF_LINE_PAIR_H
#define DPROF_LINE_PAIR_H

#include "dprof/list.h"

/* The text of a source as a side recorded it: its size and CRC-32 are those in the profile, which
 * is the caller's to see to. All is borrowed. */
struct dp_source_text {
    size_t side;
    const char *file;           /* as dp_line_row has it */
    size_t file_len;
    const char *ptr;            /* bytes */
    size_t len;
};

/* What became of a line since the baseline. */
#define DP_FATE_LIST(X) \
    X(DP_FATE_UNKNOWN, "unknown")   /* so are the sources: lines are paired by their distances */ \
    X(DP_FATE_KEPT, "kept") \
    X(DP_FATE_MOVED, "moved")   /* past others */ \
    X(DP_FATE_INSERTED, "inserted") \
    X(DP_FATE_DELETED, "deleted")
DP_ENUM(dp_fate, DP_FATE_LIST);

/* Which line of the text a each line of the text b is: to[j] is the number, from 1 up, of the line
 * of a that the line j + 1 of b is; 0: it was inserted. Lines are the same if they differ in white
 * space at their ends alone. *to is the caller's to free, by dp_line_texts_free, *n how many there
 * are: the lines of b. Returns 0 or DP_E_NOMEM. */
int dp_line_texts(const char *a, size_t a_len, const char *b, size_t b_len, uint32_t **to,
                  size_t *n);
void dp_line_texts_free(uint32_t *to);

#endif
